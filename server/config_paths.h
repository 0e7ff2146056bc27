// Relative paths of a configuration start at the folder of its file.
#ifndef GATHERD_SERVER_CONFIG_PATHS_H_
#define GATHERD_SERVER_CONFIG_PATHS_H_

#include <optional>
#include <string>
#include <string_view>

#include "server/config.h"

namespace gatherd {

struct UnusablePath {
  std::string_view key;  // of `server`
  std::string message;   // what is wrong, and what is allowed
};

// Makes every path of `config`, which was read from `file`, absolute. Unusable
// is the path of a Unix socket that becomes too long by this.
std::optional<UnusablePath> ResolvePaths(const std::string& file,
                                         Config& config);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_PATHS_H_
