#include "core/table/table_spec.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

bool IsStore(TierKind kind) {
  return kind == TierKind::kRocksDb || kind == TierKind::kRedis;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

// Debian's absl::string_view is not std::string_view.
std::string Name(TierKind kind) { return std::string(TierKindName(kind)); }
std::string Name(Eviction eviction) {
  return std::string(EvictionName(eviction));
}

// table "x": `setting` ..., in one form for all refusals.
template <typename... Parts>
absl::Status Refuse(const TableSpec& spec, const Parts&... parts) {
  return absl::InvalidArgumentError(
      absl::StrCat("table \"", spec.name, "\": ", parts...));
}

absl::Status CheckName(const TableSpec& spec) {
  const std::string& name = spec.name;
  if (!name.empty() && name.size() <= kMaxTableNameBytes &&
      std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return absl::OkStatus();
  }
  return Refuse(spec, "`name` has ", name.size(), " bytes; 1 to ",
                kMaxTableNameBytes,
                " of the characters A-Z a-z 0-9 _ . - are allowed");
}

absl::Status CheckRows(const TableSpec& spec) {
  if (spec.dim < 1 || spec.dim > kMaxDim) {
    return Refuse(spec, "`dim` is ", spec.dim, "; 1 to ", kMaxDim,
                  " are allowed");
  }
  if (!std::isfinite(spec.default_value)) {
    return Refuse(spec, "`default_row` is ", spec.default_value,
                  "; a finite number is allowed");
  }
  return absl::OkStatus();
}

absl::Status CheckTier(const TableSpec& spec, size_t i) {
  const TierSpec& tier = spec.tiers[i];
  const std::string kind = Name(tier.kind);
  if (i > 0 && tier.kind <= spec.tiers[i - 1].kind) {
    return Refuse(spec, "`tiers` has ", kind, " below ",
                  Name(spec.tiers[i - 1].kind),
                  "; allowed is each kind once, in the order gpu, host, then "
                  "rocksdb or redis");
  }
  if (IsStore(tier.kind)) {
    if (i + 1 < spec.tiers.size()) {
      return Refuse(spec, "`tiers` has ", kind,
                    " above another tier; a store is the last one");
    }
    return absl::OkStatus();
  }
  if (tier.rows < 1 || tier.rows > kMaxTierRows) {
    return Refuse(spec, "`rows` of tier ", kind, " is ", tier.rows, "; 1 to ",
                  kMaxTierRows, " are allowed");
  }
  if (tier.kind != TierKind::kGpu && tier.spread != Spread::kSharded) {
    return Refuse(spec, "`spread` of tier ", kind,
                  " is replicated; a setting of gpu tiers alone");
  }
  return absl::OkStatus();
}

absl::Status CheckTiers(const TableSpec& spec) {
  if (spec.tiers.empty() || spec.tiers.size() > kMaxTiers) {
    return Refuse(spec, "`tiers` has ", spec.tiers.size(), " entries; 1 to ",
                  kMaxTiers, " are allowed");
  }
  for (size_t i = 0; i < spec.tiers.size(); ++i) {
    if (auto status = CheckTier(spec, i); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckCombination(const TableSpec& spec) {
  const std::string last = Name(spec.tiers.back().kind);
  if (spec.key_space == KeySpace::kDense) {
    if (spec.rows() == 0) {
      return Refuse(spec, "`rows` of tier ", last,
                    " is missing; a dense table takes its size from it");
    }
    if (spec.eviction != Eviction::kNone) {
      return Refuse(spec, "`eviction` is ", Name(spec.eviction),
                    "; a dense table, in which every row exists, allows none "
                    "alone");
    }
  }
  if (spec.eviction != Eviction::kNone && spec.rows() == 0) {
    return Refuse(spec, "`eviction` is ", Name(spec.eviction),
                  " but the last tier, ", last,
                  ", has no `rows` to bound it; set them or none");
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view KeySpaceName(KeySpace key_space) {
  switch (key_space) {
    case KeySpace::kDense:
      return "dense";
    case KeySpace::kHashed:
      return "hashed";
  }
  return "unknown";
}

std::string_view TierKindName(TierKind kind) {
  switch (kind) {
    case TierKind::kGpu:
      return "gpu";
    case TierKind::kHost:
      return "host";
    case TierKind::kRocksDb:
      return "rocksdb";
    case TierKind::kRedis:
      return "redis";
  }
  return "unknown";
}

std::string_view EvictionName(Eviction eviction) {
  switch (eviction) {
    case Eviction::kNone:
      return "none";
    case Eviction::kLru:
      return "lru";
    case Eviction::kLfu:
      return "lfu";
  }
  return "unknown";
}

absl::Status ValidateTableSpec(const TableSpec& spec) {
  for (auto check : {CheckName, CheckRows, CheckTiers, CheckCombination}) {
    if (auto status = check(spec); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gatherd
