// The rows of a table in one block of memory: slots of equal size, numbered
// from 0, each with its key (hashed tables) and its row.
//
// A slot is written by the table's writer while no lookup can reach it, and
// never changes while one can: that is the rule that keeps rows whole, and it
// is the writer's to keep (SlotPool, EpochDomain). The arena only knows where
// things are.
//
// Slot 0 holds the default row, for ever.
#ifndef GATHERD_CORE_TABLE_ROW_ARENA_H_
#define GATHERD_CORE_TABLE_ROW_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/table/host_memory.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct ArenaLayout {
  uint64_t num_slots = 0;  // slot 0, one a row, and the spare ones
  uint32_t num_spare = 0;
  uint32_t row_offset = 0;  // of the row in its slot, behind the key
  uint64_t stride = 0;      // bytes from slot to slot

  uint64_t num_bytes() const { return num_slots * stride; }

  // An update needs spare slots for the new values of existing rows, and waits
  // for a grace period when all are used up. Rows / 32 keep a table within
  // 1.05 times its row bytes, and 64 Ki are enough for any batch.
  static ArenaLayout For(const TableSpec& spec) {
    const uint64_t rows = spec.rows();
    const uint64_t spare =
        std::min({std::max<uint64_t>(rows / 32, 4), uint64_t{65536},
                  uint64_t{0xffff'ffff} - rows});
    const bool has_keys = spec.key_space == KeySpace::kHashed;
    ArenaLayout layout;
    layout.num_slots = 1 + rows + spare;
    layout.num_spare = static_cast<uint32_t>(spare);
    layout.row_offset = has_keys ? sizeof(int64_t) : 0;
    const uint64_t unit = has_keys ? sizeof(int64_t) : sizeof(uint32_t);
    layout.stride =
        (layout.row_offset + spec.row_bytes() + unit - 1) / unit * unit;
    return layout;
  }
};

class RowArena {
 public:
  static constexpr uint32_t kDefaultSlot = 0;

  // `memory` has layout.num_bytes().
  RowArena(const ArenaLayout& layout, HostMemory memory)
      : layout_(layout), memory_(std::move(memory)), base_(memory_.data()) {}

  std::byte* slot(uint32_t number) const {
    return base_ + number * layout_.stride;
  }
  std::byte* row(uint32_t number) const {
    return slot(number) + layout_.row_offset;
  }
  // The keys of hashed tables alone stand in slots.
  bool has_keys() const { return layout_.row_offset != 0; }
  int64_t key(uint32_t number) const {
    int64_t key;
    std::memcpy(&key, slot(number), sizeof(key));
    return key;
  }
  void set_key(uint32_t number, int64_t key) const {
    std::memcpy(slot(number), &key, sizeof(key));
  }

  // Fetches the lines of a slot, or the first ones of a long one: the processor
  // itself follows a row that is being read.
  void PrefetchToRead(uint32_t number) const {
    ForEachLine(number, [](const std::byte* p) { __builtin_prefetch(p, 0); });
  }
  void PrefetchToWrite(uint32_t number) const {
    ForEachLine(number, [](const std::byte* p) { __builtin_prefetch(p, 1); });
  }

  const ArenaLayout& layout() const { return layout_; }
  uint64_t num_bytes() const { return memory_.num_bytes(); }

 private:
  static constexpr uint64_t kCacheLine = 64;
  static constexpr uint64_t kMaxLines = 8;

  // The block starts at a line, so offsets tell where lines begin.
  template <typename Visit>
  void ForEachLine(uint32_t number, const Visit& visit) const {
    const uint64_t begin = number * layout_.stride;
    const uint64_t first = begin / kCacheLine * kCacheLine;
    const uint64_t end =
        std::min(begin + layout_.stride, first + kMaxLines * kCacheLine);
    for (uint64_t i = first; i < end; i += kCacheLine) visit(base_ + i);
    // GCC takes a function that does nothing but prefetch for one without any
    // effect and leaves out the calls to it. Among 1 M rows of 256 bytes a
    // lookup then takes 39 ns a key instead of 23 in a dense table, 58 instead
    // of 44 in a hashed one.
    asm volatile("");
  }

  const ArenaLayout layout_;
  const HostMemory memory_;
  std::byte* const base_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_ROW_ARENA_H_
