// What a configuration says about access, looked at before a start.
#ifndef GATHERD_SERVER_ACCESS_ACCESS_CHECK_H_
#define GATHERD_SERVER_ACCESS_ACCESS_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config.h"

namespace gatherd {

// Reads the files of `tls` and `auth` as a start does. INVALID_ARGUMENT naming
// the one that is wrong, and where.
absl::Status CheckAccessFiles(const ServerConfig& config);

// What an operator should know before others find out: who may do more than is
// wise. One sentence each.
std::vector<std::string> AccessWarnings(const ServerConfig& config);

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_ACCESS_CHECK_H_
