#include "core/shard/gpu_layout.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/shard/shard_plan.h"

namespace gatherd {
namespace {

// Nine tenths of the index's entries are in use when the shard is full. Beyond
// that, inserts search long and begin to fail (docs/gpu_engine.md). Two buckets
// more: the least in which a key has two to choose from.
constexpr uint64_t kLoadTenths = 9;
constexpr uint64_t kExtraBuckets = 2;

// Entries and row slots have 32-bit numbers, of which the kernels of writes
// keep the last ones for other meanings (core/kernels/write_batch.h).
constexpr uint64_t kMaxShardEntries = 0xffff'fffe;
constexpr uint64_t kMaxShardSlots = 0xffff'ffff;

constexpr uint64_t kFreeListEntryBytes = 4;
constexpr uint64_t kStampBytes = 4;

uint64_t RowsPerShard(const TableSpec& spec, uint32_t num_shards) {
  const uint64_t rows = spec.tiers.front().rows;
  if (spec.key_space == KeySpace::kHashed) {
    return HashedRowsPerDevice(rows, num_shards);
  }
  // The first device has the most: stripes go round from there.
  return DenseRowsOnDevice(rows, DeviceIndex{0}, num_shards);
}

uint32_t StepKeys(const TableSpec& spec, const GpuTableLayout& layout) {
  const uint64_t value_bytes =
      std::max<uint64_t>(layout.row_stride, uint64_t{4} * spec.dim);
  return static_cast<uint32_t>(
      std::max<uint64_t>(1, std::min({kMaxStepKeys, kMaxStepBytes / value_bytes,
                                      layout.rows_per_shard})));
}

absl::Status TooManyRows(const TableSpec& spec, uint64_t number,
                         const char* things, uint64_t limit,
                         uint32_t num_devices) {
  return absl::InvalidArgumentError(absl::StrCat(
      "table \"", spec.name, "\": `rows` of tier gpu is ",
      spec.tiers.front().rows, ", which makes ", number, " ", things,
      " on each of ", num_devices, " GPUs; at most ", limit, " are allowed"));
}

// An array of so many bytes, rounded up, which it also adds to the sum.
bool AddArray(uint64_t count, uint64_t bytes_each, uint64_t* array_bytes,
              uint64_t* sum) {
  const auto bytes = CheckedMul(count, bytes_each);
  const auto aligned =
      bytes ? CheckedAlignUp(*bytes, kGpuArrayAlignment) : std::nullopt;
  const auto new_sum = aligned ? CheckedAdd(*sum, *aligned) : std::nullopt;
  if (!new_sum) return false;
  *array_bytes = *aligned;
  *sum = *new_sum;
  return true;
}

}  // namespace

bool IsOnGpu(const TableSpec& spec) {
  return spec.tiers.front().kind == TierKind::kGpu;
}

absl::Status CheckGpuTableSpec(const TableSpec& spec) {
  absl::Status status = ValidateTableSpec(spec);
  if (!status.ok()) return status;
  const TierSpec& tier = spec.tiers.front();
  if (!IsOnGpu(spec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("table \"", spec.name, "\": its first tier is ",
                     std::string(TierKindName(tier.kind)), ", not gpu"));
  }
  if (spec.tiers.size() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        "table \"", spec.name, "\": `tiers` has gpu above ",
        std::string(TierKindName(spec.tiers[1].kind)),
        "; this version has no caches on GPUs: allowed is gpu alone, or host "
        "alone, or devices: cpu, where tiers are one"));
  }
  if (tier.spread == Spread::kReplicated) {
    return absl::UnimplementedError(absl::StrCat(
        "table \"", spec.name,
        "\": `spread` of its only tier is replicated, which is for caches; "
        "allowed is sharded"));
  }
  return absl::OkStatus();
}

absl::StatusOr<GpuTableLayout> PlanGpuTable(const TableSpec& spec,
                                            uint32_t num_devices) {
  if (spec.tiers.empty() || !IsOnGpu(spec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("table \"", spec.name, "\": `tiers` begins with no gpu"));
  }
  const bool is_cache = spec.tiers.size() > 1;
  GpuTableLayout layout;
  layout.hashed = spec.key_space == KeySpace::kHashed || is_cache;
  layout.num_shards =
      spec.tiers.front().spread == Spread::kReplicated ? 1 : num_devices;
  layout.row_stride =
      static_cast<uint32_t>(AlignUp(spec.row_bytes(), kGpuRowAlignment));
  layout.rows_per_shard = RowsPerShard(spec, layout.num_shards);
  layout.step_keys = StepKeys(spec, layout);
  layout.slots_per_shard = layout.rows_per_shard +
                           (layout.hashed ? uint64_t{2} : 0) * layout.step_keys;

  if (layout.hashed) {
    const uint64_t buckets =
        CeilDiv(layout.rows_per_shard * 10, kLoadTenths * kGpuBucketEntries) +
        kExtraBuckets;
    const uint64_t entries = buckets * kGpuBucketEntries;
    if (entries > kMaxShardEntries) {
      return TooManyRows(spec, entries, "places of the index", kMaxShardEntries,
                         num_devices);
    }
    layout.buckets_per_shard = static_cast<uint32_t>(buckets);
  }
  if (layout.slots_per_shard > kMaxShardSlots) {
    return TooManyRows(spec, layout.slots_per_shard, "places for rows",
                       kMaxShardSlots, num_devices);
  }

  const uint64_t listed_slots = layout.hashed ? layout.slots_per_shard : 0;
  const bool evicts = is_cache || spec.eviction != Eviction::kNone;
  uint64_t* const sum = &layout.bytes_per_device;
  if (!AddArray(layout.slots_per_shard, layout.row_stride, &layout.rows_bytes,
                sum) ||
      !AddArray(layout.buckets_per_shard, kGpuBucketBytes, &layout.index_bytes,
                sum) ||
      !AddArray(listed_slots, kFreeListEntryBytes, &layout.free_list_bytes,
                sum) ||
      !AddArray(evicts ? listed_slots : 0, kStampBytes, &layout.stamps_bytes,
                sum)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "table \"", spec.name, "\": a GPU's part has more than 2^64 bytes"));
  }
  return layout;
}

}  // namespace gatherd
