// Reads a table's source in blocks of rows, converted to the table's type.
#ifndef GATHERD_CORE_CATALOG_SOURCE_READER_H_
#define GATHERD_CORE_CATALOG_SOURCE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/catalog/source_spec.h"
#include "core/npy/npy_file.h"
#include "core/rows/row_kernels.h"
#include "core/table/table_spec.h"

namespace gatherd {

// Some rows of a source; a buffer that is filled again and again.
struct SourceBlock {
  // `memory` outlives it.
  explicit SourceBlock(std::pmr::memory_resource* memory)
      : keys(memory), values(memory) {}

  uint64_t first_row = 0;
  std::pmr::vector<int64_t> keys;
  std::pmr::vector<std::byte> values;  // one row of the table's type per key
  std::vector<std::byte> raw;          // as in the file, before conversion
};

// Thread-safe once made. Errors are INVALID_ARGUMENT and name file, offset and
// reason.
class SourceReader {
 public:
  // Opens the files and checks types, shapes and sizes against `spec`. Blocks
  // take up to `block_bytes`, in the file and in the table, if a row does.
  static absl::StatusOr<SourceReader> Open(const SourceSpec& source,
                                           const TableSpec& spec,
                                           uint64_t block_bytes);

  uint64_t num_rows() const { return rows_.num_rows(); }
  uint64_t block_rows() const { return block_rows_; }
  uint64_t num_blocks() const;

  // Fills *block with the rows from index * block_rows().
  absl::Status ReadBlock(uint64_t index, SourceBlock* block) const;

  // Whether the files are still as they were opened.
  absl::Status CheckUnchanged() const;

  // Where a row stands, for messages: "FILE: offset N".
  std::string Place(uint64_t row) const;

  // What an operator should know of the files: "... narrowed to float32".
  std::vector<std::string> Notes() const;

 private:
  SourceReader(NpyFile rows, std::optional<NpyFile> keys, const TableSpec& spec,
               uint64_t block_bytes);

  absl::Status ReadKeys(uint64_t first, SourceBlock* block) const;
  absl::Status ReadValues(uint64_t first, SourceBlock* block) const;

  NpyFile rows_;
  std::optional<NpyFile> keys_;  // none: row numbers
  uint32_t dim_;
  DataType data_type_;  // of the table
  uint64_t block_rows_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_SOURCE_READER_H_
