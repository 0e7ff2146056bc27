// What the plain kernels share: where rows, stamps and owners of keys are.
#ifndef GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_
#define GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_

#include <cstddef>
#include <cstdint>

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

// Keeps those who read rows of dense tables (kShared) and those who write them
// apart for as long as it lives where nothing else does: on a GPU events do, as
// they do here where streams have threads.
enum class DenseRowsUse { kShared, kExclusive };
class ScopedDenseRows {
 public:
  explicit ScopedDenseRows(DenseRowsUse use);
  ScopedDenseRows(const ScopedDenseRows&) = delete;
  ScopedDenseRows& operator=(const ScopedDenseRows&) = delete;
  ~ScopedDenseRows();

 private:
  const DenseRowsUse use_;
  const bool holds_;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_CORE_GPU_HOST_TABLE_H_
