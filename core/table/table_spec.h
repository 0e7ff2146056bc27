// What a table is: the part of the configuration that the engine needs.
// Plain values; a spec is checked once, by ValidateTableSpec, before any
// table is made of it, and never changes afterwards.
#ifndef GATHERD_CORE_TABLE_TABLE_SPEC_H_
#define GATHERD_CORE_TABLE_TABLE_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/base/data_type.h"

namespace gatherd {

enum class KeySpace : uint8_t {
  kDense,   // keys are row numbers 0 ... rows-1; every row exists
  kHashed,  // any signed 64-bit value; none is reserved
};

enum class Eviction : uint8_t {
  kNone,  // an update that does not fit is refused and changes nothing
  kLru,
  kLfu,
};

enum class MissingKeyPolicy : uint8_t {
  kDefaultRow,
  kError,
};

enum class TierKind : uint8_t { kGpu, kHost, kRocksDb, kRedis };

enum class Spread : uint8_t {
  kSharded,     // rows divided over all GPUs
  kReplicated,  // a private cache on each GPU
};

struct TierSpec {
  TierKind kind = TierKind::kHost;
  uint64_t rows = 0;  // 0: unbounded, of stores alone
  Spread spread = Spread::kSharded;
};

struct TableSpec {
  std::string name;  // [A-Za-z0-9_.-]{1,128}
  uint32_t dim = 0;  // 1 ... kMaxDim
  DataType data_type = DataType::kFloat32;
  KeySpace key_space = KeySpace::kHashed;
  // Fastest first; the last holds every row, those above cache the hottest.
  std::vector<TierSpec> tiers;
  Eviction eviction = Eviction::kNone;  // of the last tier
  float default_value = 0;              // every element of the default row
  MissingKeyPolicy missing_key_policy = MissingKeyPolicy::kDefaultRow;
  bool read_only = false;

  // Rows of the last tier: the table's size if dense, its bound if hashed.
  uint64_t rows() const { return tiers.back().rows; }
  size_t row_bytes() const { return RowBytes(data_type, dim); }
};

inline constexpr size_t kMaxTiers = 4;
// Of a tier in memory: rows are numbered with 32 bits, 0 for no row.
inline constexpr uint64_t kMaxTierRows = 0xffff'fffe;
inline constexpr size_t kMaxTableNameBytes = 128;

std::string_view KeySpaceName(KeySpace key_space);  // "dense", "hashed"
std::string_view TierKindName(TierKind kind);       // "gpu", "host", ...
std::string_view EvictionName(Eviction eviction);   // "none", "lru", "lfu"

// INVALID_ARGUMENT naming table, setting, value and what is allowed.
absl::Status ValidateTableSpec(const TableSpec& spec);

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_TABLE_SPEC_H_
