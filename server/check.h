// What `gatherd --check` prints: the effective configuration, and the memory
// that every table will take on each device. Touches no GPU.
#ifndef GATHERD_SERVER_CHECK_H_
#define GATHERD_SERVER_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config.h"

namespace gatherd {

// YAML documents: the configuration, then one for each backend that `devices`
// may choose, with the memory of every table, tier and device. `num_gpus`, at
// least 1, counts where `devices` lists none. docs/configuration.md describes
// the format. INVALID_ARGUMENT naming the table if one cannot be laid out on
// that many GPUs.
absl::StatusOr<std::string> CheckReport(const Config& config,
                                        uint32_t num_gpus);

// What a start warns of, too: overrides of nothing, access that is too open.
// One line each.
std::vector<std::string> StartWarnings(const Config& config);

// What does not stop the start for certain, but looks wrong from here: source
// files that are not there, tables that this version does not put on GPUs. One
// line each.
std::vector<std::string> CheckWarnings(const Config& config);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CHECK_H_
