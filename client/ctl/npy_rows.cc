#include "client/ctl/npy_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace gatherd::client {
namespace {

template <typename T>
absl::Span<std::byte> WritableBytes(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          values.size() * sizeof(T)};
}

bool IsRowType(NpyType type) {
  return type == NpyType::kFloat32 || type == NpyType::kFloat16 ||
         type == NpyType::kFloat64;
}

bool IsKeyType(NpyType type) {
  return type == NpyType::kInt64 || type == NpyType::kInt32;
}

}  // namespace

absl::StatusOr<NpyRows> NpyRows::Open(
    const std::string& rows_path, const std::optional<std::string>& keys_path) {
  absl::StatusOr<NpyFile> rows = NpyFile::Open(rows_path, 2);
  if (!rows.ok()) return rows.status();
  if (!IsRowType(rows->header().type)) {
    return absl::InvalidArgumentError(absl::StrCat(
        rows_path, ": elements are ", NpyTypeName(rows->header().type),
        "; rows are float32, float16 or float64"));
  }
  if (!keys_path.has_value()) return NpyRows(*std::move(rows), std::nullopt);

  absl::StatusOr<NpyFile> keys = NpyFile::Open(*keys_path, 1);
  if (!keys.ok()) return keys.status();
  if (!IsKeyType(keys->header().type)) {
    return absl::InvalidArgumentError(absl::StrCat(
        *keys_path, ": elements are ", NpyTypeName(keys->header().type),
        "; keys are int64 or int32"));
  }
  if (keys->num_rows() != rows->num_rows()) {
    return absl::InvalidArgumentError(
        absl::StrCat(*keys_path, ": has ", keys->num_rows(), " keys; ",
                     rows_path, " has ", rows->num_rows(), " rows"));
  }
  return NpyRows(*std::move(rows), *std::move(keys));
}

bool NpyRows::is_narrowed() const {
  return rows_.header().type == NpyType::kFloat64;
}

DataType NpyRows::data_type() const {
  return rows_.header().type == NpyType::kFloat16 ? DataType::kFloat16
                                                  : DataType::kFloat32;
}

absl::Status NpyRows::Read(uint64_t first, size_t num,
                           std::vector<int64_t>& keys,
                           std::vector<std::byte>& values) const {
  keys.resize(num);
  if (absl::Status status = ReadKeys(first, keys); !status.ok()) return status;
  if (!is_narrowed()) {
    values.resize(num * rows_.row_bytes());
    return rows_.ReadRows(first, absl::MakeSpan(values));
  }
  std::vector<double> wide(num * dim());
  if (absl::Status status = rows_.ReadRows(first, WritableBytes(wide));
      !status.ok()) {
    return status;
  }
  std::vector<float> narrow(wide.size());
  std::transform(wide.begin(), wide.end(), narrow.begin(),
                 [](double value) { return static_cast<float>(value); });
  values.resize(narrow.size() * sizeof(float));
  std::memcpy(values.data(), narrow.data(), values.size());
  return absl::OkStatus();
}

absl::Status NpyRows::ReadKeys(uint64_t first,
                               std::vector<int64_t>& keys) const {
  if (!keys_.has_value()) {
    std::iota(keys.begin(), keys.end(), static_cast<int64_t>(first));
    return absl::OkStatus();
  }
  if (keys_->header().type == NpyType::kInt64) {
    return keys_->ReadRows(first, WritableBytes(keys));
  }
  std::vector<int32_t> narrow(keys.size());
  absl::Status status = keys_->ReadRows(first, WritableBytes(narrow));
  std::copy(narrow.begin(), narrow.end(), keys.begin());
  return status;
}

absl::Status NpyRows::CheckUnchanged() const {
  if (absl::Status status = rows_.CheckUnchanged(); !status.ok()) {
    return status;
  }
  return keys_.has_value() ? keys_->CheckUnchanged() : absl::OkStatus();
}

}  // namespace gatherd::client
