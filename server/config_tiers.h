// The tiers of a table in the configuration.
#ifndef GATHERD_SERVER_CONFIG_TIERS_H_
#define GATHERD_SERVER_CONFIG_TIERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/table/table_spec.h"
#include "server/config_field.h"

namespace gatherd {

// The options of a tier in memory, `kind` being kGpu or kHost.
const std::vector<ConfigField<TierSpec>>& TierFields(TierKind kind);

// A list of maps of one key, a tier's kind, with its options.
absl::Status ReadTiers(const ConfigValue& value, std::vector<TierSpec>& tiers);
std::string WriteTiers(const std::vector<TierSpec>& tiers);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_TIERS_H_
