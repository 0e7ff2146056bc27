// A .npy file, seen as rows: the elements of all dimensions but the first.
#ifndef GATHERD_CORE_NPY_NPY_FILE_H_
#define GATHERD_CORE_NPY_NPY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/npy/input_file.h"
#include "core/npy/npy_header.h"

namespace gatherd {

// Reading is thread-safe. Errors are INVALID_ARGUMENT and name file, offset
// and reason.
class NpyFile {
 public:
  // The file must be as long as its header says, neither shorter nor longer,
  // and have `num_dimensions` dimensions, at least 1.
  static absl::StatusOr<NpyFile> Open(const std::string& path,
                                      size_t num_dimensions);

  const std::string& path() const { return file_.path(); }
  const NpyHeader& header() const { return header_; }
  uint64_t num_rows() const { return header_.shape[0]; }
  uint64_t row_elements() const { return row_elements_; }
  uint64_t row_bytes() const {
    return row_elements_ * NpyTypeBytes(header_.type);
  }
  // Where a row begins in the file; of num_rows() the end.
  uint64_t RowOffset(uint64_t row) const {
    return header_.data_offset + row * row_bytes();
  }

  // Fills `out`, whole rows, from row `first`, all of which exist.
  absl::Status ReadRows(uint64_t first, absl::Span<std::byte> out) const {
    return file_.Read(RowOffset(first), out);
  }

  // See InputFile.
  absl::Status CheckUnchanged() const { return file_.CheckUnchanged(); }

 private:
  NpyFile(InputFile file, NpyHeader header);

  InputFile file_;
  NpyHeader header_;
  uint64_t row_elements_ = 1;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_NPY_NPY_FILE_H_
