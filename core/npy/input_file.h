// A regular file, open for reading at any offset.
//
// Files are read with pread, not mapped: when somebody truncates a mapped file,
// or its network storage fails, a look at the missing part kills the whole
// process with SIGBUS, whereas pread returns short or an error. The copy that a
// mapping would save is small beside converting and indexing the rows.
#ifndef GATHERD_CORE_NPY_INPUT_FILE_H_
#define GATHERD_CORE_NPY_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace gatherd {

// Owns the descriptor. Reading is thread-safe. Errors are INVALID_ARGUMENT and
// name the file and, where there is one, the offset.
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& path() const { return path_; }
  // When it was opened.
  uint64_t size() const { return size_; }

  // Fills `out` from `offset`.
  absl::Status Read(uint64_t offset, absl::Span<std::byte> out) const;

  // Whether size and time of modification are still those of Open: then what
  // was read in between belongs together.
  absl::Status CheckUnchanged() const;

 private:
  InputFile(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;  // -1: moved from
  uint64_t size_ = 0;
  timespec modified_ = {};
};

}  // namespace gatherd

#endif  // GATHERD_CORE_NPY_INPUT_FILE_H_
