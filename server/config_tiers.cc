#include "server/config_tiers.h"

#include <utility>

#include "server/config_value.h"

namespace gatherd {
namespace {

const std::vector<std::pair<std::string_view, Spread>>& Spreads() {
  static const auto& words =
      *new std::vector<std::pair<std::string_view, Spread>>{
          {"sharded", Spread::kSharded}, {"replicated", Spread::kReplicated}};
  return words;
}

ConfigField<TierSpec> RowsField() {
  return {"rows", "1 to 4294967294, with K, M or G as in 10M",
          [](const ConfigValue& value, TierSpec& tier) {
            return ReadRowCount(value, {1, kMaxTierRows}, tier.rows);
          },
          [](const TierSpec& tier) { return WriteRowCount(tier.rows); },
          ConfigField<TierSpec>::Presence::kRequired};
}

ConfigField<TierSpec> SpreadField() {
  return {
      "spread", "sharded or replicated",
      [](const ConfigValue& value, TierSpec& tier) {
        return ReadWord(value, Spreads(), tier.spread);
      },
      [](const TierSpec& tier) { return WriteWord(Spreads(), tier.spread); }};
}

constexpr char kOrder[] =
    "; allowed: each kind once, in the order gpu, host, and below them one of "
    "rocksdb and redis";

absl::Status ReadTier(const ConfigNode& node, std::vector<TierSpec>& tiers) {
  if (node.kind != ConfigNode::Kind::kMap || node.entries.size() != 1) {
    return node.position.Error(
        "a tier is " +
        (node.kind == ConfigNode::Kind::kMap ? "a map of other than one key"
                                             : node.Describe()) +
        "; allowed: one kind with its options, as in gpu: {rows: 10M}");
  }
  const ConfigEntry& entry = node.entries[0];
  const ConfigValue value = {entry, ""};
  TierSpec tier;
  if (entry.key == "gpu") {
    tier.kind = TierKind::kGpu;
  } else if (entry.key == "host") {
    tier.kind = TierKind::kHost;
  } else if (entry.key == "rocksdb" || entry.key == "redis") {
    return value.RefuseForNow();
  } else {
    return RefuseUnknownKey(entry, "a tier",
                            {"gpu", "host", "rocksdb", "redis"});
  }
  if (!tiers.empty() && tier.kind <= tiers.back().kind) {
    return entry.key_position.Error(
        "tier `" + entry.key + "` stands below `" +
        std::string(TierKindName(tiers.back().kind)) + "`" + kOrder);
  }
  tiers.push_back(tier);
  return ReadSection(entry.value, "tier `" + entry.key + "`",
                     TierFields(tier.kind), tiers.back());
}

}  // namespace

const std::vector<ConfigField<TierSpec>>& TierFields(TierKind kind) {
  using Fields = std::vector<ConfigField<TierSpec>>;
  static const auto& gpu = *new Fields{RowsField(), SpreadField()};
  static const auto& host = *new Fields{RowsField()};
  return kind == TierKind::kGpu ? gpu : host;
}

absl::Status ReadTiers(const ConfigValue& value, std::vector<TierSpec>& tiers) {
  const ConfigNode& list = value.node();
  if (list.kind != ConfigNode::Kind::kList || list.items.empty()) {
    return value.Refuse();
  }
  for (const ConfigNode& item : list.items) {
    if (auto status = ReadTier(item, tiers); !status.ok()) return status;
  }
  if (tiers.back().spread != Spread::kSharded) {
    const ConfigNode& options = list.items.back().entries[0].value;
    return options.Find("spread")->position.Error(
        "`spread` of the last tier, which holds every row once, is "
        "`replicated`; allowed: sharded, or a host tier below this one");
  }
  return absl::OkStatus();
}

std::string WriteTiers(const std::vector<TierSpec>& tiers) {
  std::string out;
  for (const TierSpec& tier : tiers) {
    out.append("\n      - ").append(TierKindName(tier.kind)).append(": ");
    out.append(WriteFlow(TierFields(tier.kind), tier));
  }
  return out;
}

}  // namespace gatherd
