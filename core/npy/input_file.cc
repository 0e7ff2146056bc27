#include "core/npy/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

absl::Status Refuse(const std::string& path, const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", reason));
}

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

}  // namespace

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  // Not blocking: opening a pipe would wait for a writer.
  const int descriptor =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return Refuse(path, absl::StrCat("cannot be opened: ", ErrorText(errno)));
  }
  InputFile file(path, descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    return Refuse(path, absl::StrCat("cannot be read: ", ErrorText(errno)));
  }
  if (S_ISDIR(status.st_mode)) return Refuse(path, "is a directory");
  if (!S_ISREG(status.st_mode)) return Refuse(path, "is no regular file");
  file.size_ = static_cast<uint64_t>(status.st_size);
  file.modified_ = status.st_mtim;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      modified_(other.modified_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(modified_, other.modified_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status InputFile::Read(uint64_t offset, absl::Span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t num_read =
        pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (num_read < 0 && errno == EINTR) continue;
    if (num_read < 0) {
      return Refuse(path_, absl::StrCat("offset ", offset, ": cannot be read: ",
                                        ErrorText(errno)));
    }
    if (num_read == 0) {
      return Refuse(path_,
                    absl::StrCat("offset ", offset, ": the file ends here, ",
                                 out.size(), " bytes too early"));
    }
    offset += static_cast<uint64_t>(num_read);
    out.remove_prefix(static_cast<size_t>(num_read));
  }
  return absl::OkStatus();
}

absl::Status InputFile::CheckUnchanged() const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0) {
    return Refuse(path_, absl::StrCat("cannot be read: ", ErrorText(errno)));
  }
  if (static_cast<uint64_t>(status.st_size) != size_ ||
      status.st_mtim.tv_sec != modified_.tv_sec ||
      status.st_mtim.tv_nsec != modified_.tv_nsec) {
    return Refuse(path_, "was changed while it was read");
  }
  return absl::OkStatus();
}

}  // namespace gatherd
