// What a kernel must know of one table: trivially copyable views, passed by
// value; the owners live on the host (core/table). All addresses are device
// addresses in the node's shared range, valid on every GPU of the node.
#ifndef GATHERD_CORE_KERNELS_TABLE_REF_H_
#define GATHERD_CORE_KERNELS_TABLE_REF_H_

#include <cstdint>

namespace gatherd::kernels {

// One place of a hashed table's index. 16 bytes that move as a whole.
struct alignas(16) IndexEntry {
  int64_t key;
  uint32_t row;   // in the shard's row array; meaningless unless kValid
  uint32_t meta;  // the state in the low two bits, kProtected; in entry 0 of a
                  // bucket the count of keys that overflowed to their second
                  // bucket is kept from bit kOverflowShift up
};

inline constexpr uint32_t kEmpty = 0;
inline constexpr uint32_t kFilling = 1;  // taken, not yet to be seen
inline constexpr uint32_t kValid = 2;
inline constexpr uint32_t kStateMask = 3;
inline constexpr uint32_t kProtected = 4;  // set within EvictAsync alone
inline constexpr uint32_t kOverflowShift = 16;

// A bucket is one 128-byte line.
inline constexpr int kEntriesPerBucket = 8;

// Divides numbers below 2^58 by 1 ... 64 without a division.
struct ShardDivider {
  uint64_t magic = 0;  // ceil(2^64 / num_shards); 0 for one shard
  uint32_t num_shards = 1;
};

inline ShardDivider MakeShardDivider(uint32_t num_shards) {
  ShardDivider divider;
  divider.num_shards = num_shards;
  if (num_shards > 1) divider.magic = ~uint64_t{0} / num_shards + 1;
  return divider;
}

// Stripes of this many rows of a dense table go round the shards.
inline constexpr int kStripeShift = 6;

struct TableRef {
  const char* rows = nullptr;         // shard 0's row array
  const IndexEntry* index = nullptr;  // shard 0's; null if dense
  const char* default_row = nullptr;  // row_stride bytes on this GPU
  uint64_t rows_shard_bytes = 0;      // from one shard's rows to the next's
  uint64_t index_shard_bytes = 0;
  uint64_t num_rows = 0;     // dense: keys are 0 ... num_rows - 1
  uint64_t seed = 0;         // hashed
  uint32_t num_buckets = 0;  // hashed: of each shard
  uint32_t row_stride = 0;   // bytes, a multiple of 16
  ShardDivider shards;
  // Of tables that evict: when, or how often, each row slot was used, which
  // lookups write and eviction reads; shard 0's. Null for others.
  uint32_t* stamps = nullptr;
  uint64_t stamps_shard_bytes = 0;
  // What rows that are found or written are stamped with (LRU); 0: their uses
  // are counted instead (LFU), up to the largest number.
  uint32_t now = 0;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_TABLE_REF_H_
