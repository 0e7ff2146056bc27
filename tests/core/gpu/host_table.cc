#include "tests/core/gpu/host_table.h"

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/kernels/key_place.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_index.h"

namespace gatherd::kernels {
namespace {

std::byte* Address(const void* base, uint64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uint64_t>(base) +
                                      offset);
}

absl::Mutex& DenseRowsMutex() {
  static auto* const mutex = new absl::Mutex;
  return *mutex;
}

uint32_t* StampAt(const TableRef& table, uint32_t shard, uint32_t slot) {
  return reinterpret_cast<uint32_t*>(Address(
      table.stamps,
      shard * table.stamps_shard_bytes + uint64_t{slot} * sizeof(uint32_t)));
}

}  // namespace

HostRow FindDenseRow(const TableRef& table, int64_t key) {
  const uint64_t row = static_cast<uint64_t>(key);
  if (row >= table.num_rows) return {Address(table.default_row, 0)};
  const uint64_t stripe = row >> kStripeShift;
  const uint64_t in_stripe = row % (uint64_t{1} << kStripeShift);
  const uint64_t shard = stripe % table.shards.num_shards;
  const uint64_t slot =
      (stripe / table.shards.num_shards << kStripeShift) | in_stripe;
  return {Address(table.rows,
                  shard * table.rows_shard_bytes + slot * table.row_stride),
          static_cast<int32_t>(shard)};
}

HostRow FindHashedRow(const TableRef& table, int64_t key) {
  const uint32_t shard = PlaceOf(key, table).shard;
  const HostIndex::Found found = HostIndex(table, shard).Find(key, kValid);
  if (found.place == HostIndex::kNowhere) {
    return {Address(table.default_row, 0)};
  }
  return {RowInSlot(table, shard, found.row), static_cast<int32_t>(shard),
          found.row};
}

int32_t OwnerOf(const TableRef& table, int64_t key) {
  if (table.index != nullptr) {
    return static_cast<int32_t>(PlaceOf(key, table).shard);
  }
  const int32_t shard = FindDenseRow(table, key).shard;
  return shard == kNoShard ? 0 : shard;
}

std::byte* RowInSlot(const TableRef& table, uint32_t shard, uint32_t slot) {
  return Address(table.rows, shard * table.rows_shard_bytes +
                                 uint64_t{slot} * table.row_stride);
}

uint32_t GetStamp(const TableRef& table, uint32_t shard, uint32_t slot) {
  return __atomic_load_n(StampAt(table, shard, slot), __ATOMIC_RELAXED);
}

void SetStamp(const TableRef& table, uint32_t shard, uint32_t slot,
              uint32_t stamp) {
  __atomic_store_n(StampAt(table, shard, slot), stamp, __ATOMIC_RELAXED);
}

ScopedDenseRows::ScopedDenseRows(DenseRowsUse use)
    ABSL_NO_THREAD_SAFETY_ANALYSIS : use_(use),
                                     holds_(FakeCuda::LaunchesAtOnce()) {
  if (!holds_) return;
  if (use_ == DenseRowsUse::kShared) {
    DenseRowsMutex().ReaderLock();
  } else {
    DenseRowsMutex().Lock();
  }
}

ScopedDenseRows::~ScopedDenseRows() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (!holds_) return;
  if (use_ == DenseRowsUse::kShared) {
    DenseRowsMutex().ReaderUnlock();
  } else {
    DenseRowsMutex().Unlock();
  }
}

}  // namespace gatherd::kernels
