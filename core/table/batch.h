// What goes into and comes out of one operation on one table. All spans and
// pointers are borrowed and must stay valid until the operation has ended.
#ifndef GATHERD_CORE_TABLE_BATCH_H_
#define GATHERD_CORE_TABLE_BATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "core/base/data_type.h"
#include "core/table/table_spec.h"

namespace gatherd {

enum class Pooling : uint8_t { kNone, kSum, kMean };

// A lookup without pooling gives one row per key in the order of keys; with
// pooling one row per bag. Bag i covers keys [offsets[i], offsets[i + 1]), the
// last ends with the keys. A missing key gives (adds) the default row.
//
// The caller has checked: offsets empty unless pooling, non-decreasing, first
// 0 and none above keys.size(); weights empty or one per key, pooling only.
struct LookupBatch {
  absl::Span<const int64_t> keys;
  Pooling pooling = Pooling::kNone;
  absl::Span<const uint32_t> offsets;
  absl::Span<const float> weights;
  DataType output_type = DataType::kFloat32;

  size_t num_output_rows() const {
    return pooling == Pooling::kNone ? keys.size() : offsets.size();
  }
};

struct LookupOutput {
  // num_output_rows() rows of RowBytes(output_type, dim), no padding.
  std::byte* rows = nullptr;
  // (keys.size() + 7) / 8 bytes, zeroed by the caller. Bit (i & 7) of byte
  // (i >> 3) is set where key i is missing.
  uint8_t* missing = nullptr;
};

struct LookupResult {
  uint64_t num_missing = 0;
  // Every write acknowledged up to this revision is visible in the rows.
  uint64_t revision = 0;
  // Keys found in each tier, fastest first. A key is looked for in the tiers
  // above the one that has it, too: those count it as a miss.
  std::array<uint64_t, kMaxTiers> tier_hits{};
};

enum class UpdateMode : uint8_t {
  kSet,          // insert or overwrite; of duplicates the last wins
  kAdd,          // add in float32, from the default row if absent
  kSetExisting,  // overwrite keys already present, skip the others
};

struct UpdateBatch {
  absl::Span<const int64_t> keys;
  DataType data_type = DataType::kFloat32;  // of values
  const std::byte* values = nullptr;        // keys.size() rows, no padding
  UpdateMode mode = UpdateMode::kSet;
};

// Each counts distinct keys of one UpdateBatch.
struct UpdateResult {
  uint64_t num_updated = 0;
  uint64_t num_inserted = 0;
  uint64_t num_skipped = 0;  // absent under kSetExisting, or out of range
  uint64_t num_evicted = 0;
  uint64_t revision = 0;
};

struct EraseResult {
  uint64_t num_erased = 0;  // distinct keys that existed
  uint64_t revision = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_BATCH_H_
