// What the plain kernels share: where rows, stamps and owners of keys are.
#ifndef GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_
#define GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "core/base/data_type.h"
#include "core/kernels/lookup.h"
#include "core/kernels/table_ref.h"
#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

inline constexpr int32_t kNoShard = -1;

// As the lookup kernels find it. The default row has no shard.
struct HostRow {
  std::byte* row = nullptr;
  int32_t shard = kNoShard;
  uint32_t slot = 0;  // hashed tables only
};
HostRow FindDenseRow(const TableRef& table, int64_t key);
HostRow FindHashedRow(const TableRef& table, int64_t key);

// That of a key out of a dense table's range is 0.
int32_t OwnerOf(const TableRef& table, int64_t key);

std::byte* RowInSlot(const TableRef& table, uint32_t shard, uint32_t slot);

// Relaxed: stamps order nothing.
uint32_t GetStamp(const TableRef& table, uint32_t shard, uint32_t slot);
void SetStamp(const TableRef& table, uint32_t shard, uint32_t slot,
              uint32_t stamp);

// The numbers are the same.
inline DataType DataTypeOf(ElementType type) {
  return static_cast<DataType>(type);
}

// Held by whoever reads (shared) or writes rows of dense tables. On a GPU
// events keep them apart, which pass at once here.
absl::Mutex& DenseRowsMutex();

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_
