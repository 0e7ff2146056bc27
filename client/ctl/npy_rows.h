// The rows of a .npy file with their keys, in the form that an update takes.
#ifndef GATHERD_CLIENT_CTL_NPY_ROWS_H_
#define GATHERD_CLIENT_CTL_NPY_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/data_type.h"
#include "core/npy/npy_file.h"

namespace gatherd::client {

// Errors are INVALID_ARGUMENT and name the file.
class NpyRows {
 public:
  // Rows: float32, float16 or float64 (narrowed to float32) of two dimensions.
  // Keys: int64 or int32, one a row; without a file of keys, row i has key i.
  static absl::StatusOr<NpyRows> Open(
      const std::string& rows_path,
      const std::optional<std::string>& keys_path);

  uint64_t num_rows() const { return rows_.num_rows(); }
  uint64_t dim() const { return rows_.row_elements(); }
  bool has_keys() const { return keys_.has_value(); }
  bool is_narrowed() const;
  // Of what Read gives.
  DataType data_type() const;

  // Rows [first, first + num), all of which exist.
  absl::Status Read(uint64_t first, size_t num, std::vector<int64_t>& keys,
                    std::vector<std::byte>& values) const;

  // Whether the files are still what they were when they were opened.
  absl::Status CheckUnchanged() const;

 private:
  NpyRows(NpyFile rows, std::optional<NpyFile> keys)
      : rows_(std::move(rows)), keys_(std::move(keys)) {}

  absl::Status ReadKeys(uint64_t first, std::vector<int64_t>& keys) const;

  NpyFile rows_;
  std::optional<NpyFile> keys_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CTL_NPY_ROWS_H_
