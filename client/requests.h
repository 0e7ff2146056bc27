// What the client library's calls take and give, as plain structs. Names and
// meaning are those of proto/gatherd/v1/gatherd.proto. Requests borrow what
// they point at until the call has returned. They may give `keys32` instead of
// `keys`, for half the bytes.
#ifndef GATHERD_CLIENT_REQUESTS_H_
#define GATHERD_CLIENT_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "core/base/data_type.h"

namespace gatherd::client {

// The numbers of these enums are those of the proto.
enum class Pooling : uint8_t { kNone = 0, kSum = 1, kMean = 2 };
enum class MissingKeyPolicy : uint8_t {
  kTable = 0,  // as the table is configured
  kDefaultRow = 1,
  kError = 2,
};
enum class UpdateMode : uint8_t { kSet = 0, kAdd = 1, kSetExisting = 2 };

struct TableLookup {
  std::string_view table;
  absl::Span<const int64_t> keys;
  Pooling pooling = Pooling::kNone;
  absl::Span<const uint32_t> offsets = {};  // starts of bags; pooling only
  absl::Span<const float> weights = {};     // none or one a key; pooling only
  std::optional<DataType> output_type = std::nullopt;  // none: the table's
  MissingKeyPolicy missing_key_policy = MissingKeyPolicy::kTable;
  absl::Span<const uint32_t> keys32 = {};
};

struct TableUpdate {
  std::string_view table;
  absl::Span<const int64_t> keys;
  DataType data_type = DataType::kFloat32;  // of `values`
  absl::Span<const std::byte> values = {};  // one row a key, no padding
  UpdateMode mode = UpdateMode::kSet;
  absl::Span<const uint32_t> keys32 = {};
};

struct TableErase {
  std::string_view table;
  absl::Span<const int64_t> keys;
  absl::Span<const uint32_t> keys32 = {};
};

struct UpdateResult {
  uint32_t num_updated = 0;
  uint32_t num_inserted = 0;
  uint32_t num_skipped = 0;
  uint32_t num_evicted = 0;
  uint64_t revision = 0;
};

struct EraseResult {
  uint32_t num_erased = 0;
  uint64_t revision = 0;
};

struct TierInfo {
  std::string kind;
  uint64_t capacity_rows = 0;  // 0: unbounded
  uint64_t num_rows = 0;
  uint64_t memory_bytes = 0;
  std::vector<uint64_t> rows_per_device;
};

struct TableInfo {
  std::string name;
  DataType data_type = DataType::kFloat32;
  uint32_t dim = 0;
  std::string key_space;  // "dense" or "hashed"
  uint64_t num_rows = 0;
  uint64_t revision = 0;
  std::vector<TierInfo> tiers;
};

struct ServerInfo {
  std::string version;
  std::string backend;
  std::vector<std::string> devices;
  uint64_t max_keys_per_request = 0;
  uint64_t max_message_bytes = 0;
};

// Float rows as the bytes that an update takes.
inline absl::Span<const std::byte> AsBytes(absl::Span<const float> values) {
  return {reinterpret_cast<const std::byte*>(values.data()),
          values.size() * sizeof(float)};
}

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_REQUESTS_H_
