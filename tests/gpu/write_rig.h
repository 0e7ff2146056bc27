// A table in device memory, written by the steps of
// core/kernels/update.h the way the engine drives them.
#ifndef GATHERD_TESTS_GPU_WRITE_RIG_H_
#define GATHERD_TESTS_GPU_WRITE_RIG_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/kernels/evict.h"
#include "core/kernels/write_batch.h"
#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {

struct RigOptions {
  bool hashed = true;
  uint64_t num_rows = 0;  // dense: the range; hashed: row slots, spare included
  uint32_t num_buckets = 0;  // hashed
  uint32_t num_shards = 1;   // all in one GPU's memory, each of this size
  uint32_t dim = 8;
  ElementType type = ElementType::kFloat32;
  uint32_t max_keys = 1 << 16;  // of one write
  float default_value = 0;
  bool has_stamps = false;  // hashed
};

class WriteRig {
 public:
  explicit WriteRig(const RigOptions& options);

  // Blocks. `values` are rows of `value_type`. On num_failed != 0, or if
  // `refuse` is set, the write is undone.
  WriteCounters Update(const std::vector<int64_t>& keys,
                       const std::vector<char>& values, ElementType value_type,
                       WriteMode mode, bool refuse = false);
  uint32_t Erase(const std::vector<int64_t>& keys);
  uint32_t Settle();  // entries moved

  // From one shard, on behalf of a write of `keys`. The row slots that are free
  // again, in the order given.
  std::vector<uint32_t> Evict(uint32_t shard, const std::vector<int64_t>& keys,
                              EvictionRequest request);

  // See TableRef. With stamps only.
  void set_now(uint32_t now) { table_.now = now; }
  std::vector<uint32_t> ReadStamps(uint32_t shard) const;
  void WriteStamps(uint32_t shard, const std::vector<uint32_t>& stamps);

  // The keys that the index holds, and the row slots of each.
  std::map<int64_t, uint32_t> ReadIndex(uint32_t shard) const;
  // All entries, in order.
  std::vector<IndexEntry> ReadEntries(uint32_t shard) const;

  // Rows of `type`; missing[i] tells of key i. Thread-safe on a stream of one's
  // own.
  std::vector<char> Lookup(const std::vector<int64_t>& keys, ElementType type,
                           std::vector<bool>* missing);

  // The valid entries in the index, and those in their second bucket.
  struct IndexUse {
    uint64_t num_valid = 0;
    uint64_t num_filling = 0;
    uint64_t num_protected = 0;
    uint64_t overflows = 0;  // the sum of all counts
  };
  IndexUse CountIndex() const;

  // Called where the engine waits for the lookups in flight; the default does
  // nothing.
  std::function<void()> wait_for_lookups = [] {};

  const TableRef& table() const { return table_; }
  uint64_t num_free() const;  // row slots of all shards

 private:
  WriteBatch MakeBatch(const std::vector<int64_t>& keys, WriteMode mode,
                       uint32_t shard);
  void WriteShard(const WriteBatch& batch, const WriteCounters& counters);
  WriteCounters ReadCounters();
  std::vector<uint32_t> Retire(uint32_t count, uint32_t shard);
  void Synchronize();

  const RigOptions options_;
  TableRef table_;
  DeviceArray<char> rows_;
  DeviceArray<IndexEntry> index_;
  DeviceArray<uint32_t> stamps_;
  DeviceArray<char> default_row_;
  DeviceArray<char> workspace_;
  DeviceArray<int64_t> keys_;
  DeviceArray<char> values_;
  DeviceArray<WriteCounters> counters_;
  DeviceArray<uint32_t> taken_;
  DeviceArray<uint32_t> retired_;
  DeviceArray<uint32_t> settle_places_;
  DeviceArray<uint32_t> settle_count_;
  const Stream stream_;
  std::vector<std::vector<uint32_t>> free_rows_;  // by shard
};

uint32_t RowBytes(ElementType type, uint32_t dim);

// Exact for small whole numbers in all types: every value of a row is
// `base`; int8 rows hold 127 at scale base / 127, which is not exact but close.
std::vector<char> MakeRow(ElementType type, uint32_t dim, float base);
std::vector<float> ReadRow(ElementType type, uint32_t dim, const char* row);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_WRITE_RIG_H_
