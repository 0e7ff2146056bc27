// Small files of secrets: read whole.
#ifndef GATHERD_SERVER_ACCESS_FILE_TEXT_H_
#define GATHERD_SERVER_ACCESS_FILE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace gatherd {

// INVALID_ARGUMENT "PATH: why" if there is no such file, it cannot be read or
// is larger than 1 MiB. What it holds is never in the message.
absl::StatusOr<std::string> ReadFileText(const std::string& path);

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_FILE_TEXT_H_
