#include "core/catalog/source_reader.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/data_type.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

// A block of narrow rows has no more of them than one of rows of so many bytes.
constexpr uint64_t kMinRowBytes = 256;

absl::Status Refuse(const std::string& place, const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", reason));
}

bool IsFloat(NpyType type) {
  return type != NpyType::kInt32 && type != NpyType::kInt64;
}

std::string PlaceIn(const NpyFile& file, uint64_t row) {
  return absl::StrCat(file.path(), ": offset ", file.RowOffset(row));
}

absl::StatusOr<NpyFile> OpenRows(const std::string& path,
                                 const TableSpec& spec) {
  absl::StatusOr<NpyFile> file = NpyFile::Open(path, /*num_dimensions=*/2);
  if (!file.ok()) return file;
  const std::string header = absl::StrCat(path, ": offset 0");
  if (!IsFloat(file->header().type)) {
    return Refuse(header,
                  absl::StrCat("rows of ", NpyTypeName(file->header().type),
                               "; float32, float16 or float64 is read"));
  }
  if (file->row_elements() != spec.dim) {
    return Refuse(header, absl::StrCat("shape ", file->header().ShapeText(),
                                       " has rows of ", file->row_elements(),
                                       " elements, table \"", spec.name,
                                       "\" has dim ", spec.dim));
  }
  if (spec.key_space == KeySpace::kDense && file->num_rows() > spec.rows()) {
    return Refuse(PlaceIn(*file, spec.rows()),
                  absl::StrCat("shape ", file->header().ShapeText(), " has ",
                               file->num_rows(), " rows, table \"", spec.name,
                               "\" has ", spec.rows(),
                               " (`rows` of its last "
                               "tier)"));
  }
  return file;
}

absl::StatusOr<NpyFile> OpenKeys(const std::string& path, const NpyFile& rows) {
  absl::StatusOr<NpyFile> file = NpyFile::Open(path, /*num_dimensions=*/1);
  if (!file.ok()) return file;
  const std::string header = absl::StrCat(path, ": offset 0");
  if (IsFloat(file->header().type)) {
    return Refuse(header,
                  absl::StrCat("keys of ", NpyTypeName(file->header().type),
                               "; int64 or int32 is read"));
  }
  if (file->num_rows() != rows.num_rows()) {
    return Refuse(PlaceIn(*file, std::min(file->num_rows(), rows.num_rows())),
                  absl::StrCat(file->num_rows(), " keys for the ",
                               rows.num_rows(), " rows of ", rows.path()));
  }
  return file;
}

// Overflow gives infinity, as the processor's conversion does.
void NarrowRow(const std::byte* in, float* out, size_t dim) {
  for (size_t i = 0; i < dim; ++i) {
    double value;
    std::memcpy(&value, in + i * sizeof(double), sizeof(double));
    out[i] = static_cast<float>(value);
  }
}

}  // namespace

absl::StatusOr<SourceReader> SourceReader::Open(const SourceSpec& source,
                                                const TableSpec& spec,
                                                uint64_t block_bytes) {
  const bool needs_keys = spec.key_space == KeySpace::kHashed;
  if (needs_keys && source.keys_path.empty()) {
    return Refuse(source.rows_path,
                  absl::StrCat("table \"", spec.name,
                               "\" is hashed: its source needs `keys`"));
  }
  if (!needs_keys && !source.keys_path.empty()) {
    return Refuse(source.keys_path,
                  absl::StrCat("table \"", spec.name,
                               "\" is dense: its source has no `keys`, they "
                               "are the row numbers"));
  }
  absl::StatusOr<NpyFile> rows = OpenRows(source.rows_path, spec);
  if (!rows.ok()) return std::move(rows).status();
  std::optional<NpyFile> keys;
  if (needs_keys) {
    absl::StatusOr<NpyFile> file = OpenKeys(source.keys_path, *rows);
    if (!file.ok()) return std::move(file).status();
    keys = *std::move(file);
  }
  return SourceReader(*std::move(rows), std::move(keys), spec, block_bytes);
}

SourceReader::SourceReader(NpyFile rows, std::optional<NpyFile> keys,
                           const TableSpec& spec, uint64_t block_bytes)
    : rows_(std::move(rows)),
      keys_(std::move(keys)),
      dim_(spec.dim),
      data_type_(spec.data_type),
      block_rows_(std::max<uint64_t>(
          1, block_bytes / std::max({kMinRowBytes, rows_.row_bytes(),
                                     uint64_t{spec.row_bytes()}}))) {}

uint64_t SourceReader::num_blocks() const {
  return CeilDiv(num_rows(), block_rows_);
}

absl::Status SourceReader::ReadBlock(uint64_t index, SourceBlock* block) const {
  const uint64_t first = index * block_rows_;
  block->first_row = first;
  block->keys.resize(std::min(block_rows_, num_rows() - first));
  absl::Status status = ReadKeys(first, block);
  if (!status.ok()) return status;
  return ReadValues(first, block);
}

absl::Status SourceReader::ReadKeys(uint64_t first, SourceBlock* block) const {
  std::pmr::vector<int64_t>& keys = block->keys;
  if (!keys_.has_value()) {
    std::iota(keys.begin(), keys.end(), static_cast<int64_t>(first));
    return absl::OkStatus();
  }
  if (keys_->header().type == NpyType::kInt64) {
    return keys_->ReadRows(first, {reinterpret_cast<std::byte*>(keys.data()),
                                   keys.size() * sizeof(int64_t)});
  }
  block->raw.resize(keys.size() * sizeof(int32_t));
  absl::Status status = keys_->ReadRows(first, absl::MakeSpan(block->raw));
  for (size_t i = 0; i < keys.size(); ++i) {
    int32_t key;
    std::memcpy(&key, block->raw.data() + i * sizeof(key), sizeof(key));
    keys[i] = key;
  }
  return status;
}

absl::Status SourceReader::ReadValues(uint64_t first,
                                      SourceBlock* block) const {
  const NpyType type = rows_.header().type;
  const DataType from =
      type == NpyType::kFloat16 ? DataType::kFloat16 : DataType::kFloat32;
  const size_t row_bytes = RowBytes(data_type_, dim_);
  const size_t raw_bytes = rows_.row_bytes();
  const size_t num_rows = block->keys.size();
  block->values.resize(num_rows * row_bytes);
  if (type != NpyType::kFloat64 && from == data_type_) {
    return rows_.ReadRows(first, absl::MakeSpan(block->values));
  }

  block->raw.resize(num_rows * raw_bytes);
  absl::Status status = rows_.ReadRows(first, absl::MakeSpan(block->raw));
  if (!status.ok()) return status;
  const ConvertRowFn convert = GetConvertRow(from, data_type_);
  std::vector<float> narrowed(type == NpyType::kFloat64 ? dim_ : 0);
  for (size_t i = 0; i < num_rows; ++i) {
    const std::byte* in = block->raw.data() + i * raw_bytes;
    if (type == NpyType::kFloat64) {
      NarrowRow(in, narrowed.data(), dim_);
      in = reinterpret_cast<const std::byte*>(narrowed.data());
    }
    convert(in, block->values.data() + i * row_bytes, dim_);
  }
  return absl::OkStatus();
}

absl::Status SourceReader::CheckUnchanged() const {
  absl::Status status = rows_.CheckUnchanged();
  if (status.ok() && keys_.has_value()) status = keys_->CheckUnchanged();
  return status;
}

std::string SourceReader::Place(uint64_t row) const {
  return PlaceIn(rows_, row);
}

std::vector<std::string> SourceReader::Notes() const {
  std::vector<std::string> notes;
  if (rows_.header().type == NpyType::kFloat64) {
    notes.push_back(
        absl::StrCat(rows_.path(), ": float64 narrowed to float32"));
  }
  if (keys_.has_value() && keys_->header().type == NpyType::kInt32) {
    notes.push_back(
        absl::StrCat(keys_->path(), ": int32 keys widened to int64"));
  }
  return notes;
}

}  // namespace gatherd
