#include "server/access/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

absl::Status Unreadable(const std::string& path, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

}  // namespace

absl::StatusOr<std::string> ReadFileText(const std::string& path) {
  // Not blocking: what has become a pipe must not hold up its reader.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Unreadable(path, std::strerror(errno));
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  struct stat info {};
  if (fstat(fd, &info) != 0) return Unreadable(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return Unreadable(path, "is not a file");

  std::string text(kMaxBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Unreadable(path, std::strerror(errno));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxBytes) return Unreadable(path, "is larger than 1 MiB");
  text.resize(size);
  return text;
}

}  // namespace gatherd
