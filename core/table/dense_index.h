// The index of a dense table: one atomic slot number a row. All keys in range
// exist; those never written share the default slot.
#ifndef GATHERD_CORE_TABLE_DENSE_INDEX_H_
#define GATHERD_CORE_TABLE_DENSE_INDEX_H_

#include <atomic>
#include <cstdint>

#include "core/table/host_memory.h"
#include "core/table/row_arena.h"
#include "core/table/slot_index.h"

namespace gatherd {

class DenseIndex final : public SlotIndex {
 public:
  static uint64_t NumBytes(uint64_t rows) { return rows * sizeof(uint32_t); }

  // `memory` is zeroed and has NumBytes(rows).
  DenseIndex(uint64_t rows, HostMemory memory);

  // The steps of a lookup: see SlotIndex.
  struct Search {
    int64_t key;
    uint32_t slot;
  };
  void Begin(int64_t key, Search* search) const {
    search->key = key;
    if (Accepts(key)) __builtin_prefetch(&slots_[key]);
  }
  void FindFirst(Search* search) const { search->slot = SlotOf(search->key); }
  void FindRest(Search*) const {}
  bool Exists(const Search& search) const { return Accepts(search.key); }

  void Prefetch(KeyGroup& group) const override;
  void Find(KeyGroup& group) const override;
  bool Accepts(int64_t key) const override { return Row(key) < rows_; }
  uint32_t SlotOf(int64_t key) const override {
    if (!Accepts(key)) return RowArena::kDefaultSlot;
    return slots_[key].load(std::memory_order_acquire);
  }
  uint32_t Put(int64_t key, uint32_t slot) override;
  uint32_t Remove(int64_t key) override;
  size_t List(uint64_t* cursor, absl::Span<int64_t> keys,
              absl::Span<uint32_t> slots) const override;
  void PrefetchList(uint64_t, size_t) const override {}  // one after the other
  uint64_t list_end() const override { return rows_; }
  uint64_t num_bytes() const override { return memory_.num_bytes(); }

 private:
  // A negative key becomes a number above any row's.
  static uint64_t Row(int64_t key) { return static_cast<uint64_t>(key); }

  const uint64_t rows_;
  const HostMemory memory_;
  // Release/acquire: whoever loads a slot number sees the row in the slot.
  std::atomic<uint32_t>* const slots_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_DENSE_INDEX_H_
