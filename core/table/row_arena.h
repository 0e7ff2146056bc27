// The rows of a table in one block of memory: slots of equal size, numbered
// from 0. Rows of whole cache lines begin at one.
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
#include <utility>

#include "core/base/sizes.h"
#include "core/table/host_memory.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct ArenaLayout {
  uint64_t num_slots = 0;  // slot 0, one a row, and the spare ones
  uint32_t num_spare = 0;
  uint64_t stride = 0;  // bytes from slot to slot

  uint64_t num_bytes() const { return num_slots * stride; }

  // An update needs spare slots for the new values of existing rows, and waits
  // for a grace period when all are used up. Rows / 32 keep a table within
  // 1.05 times its row bytes, and 64 Ki are enough for any batch.
  static ArenaLayout For(const TableSpec& spec) {
    const uint64_t rows = spec.rows();
    const uint64_t spare =
        std::min({std::max<uint64_t>(rows / 32, 4), uint64_t{65536},
                  uint64_t{0xffff'ffff} - rows});
    ArenaLayout layout;
    layout.num_slots = 1 + rows + spare;
    layout.num_spare = static_cast<uint32_t>(spare);
    layout.stride = AlignUp(spec.row_bytes(), sizeof(uint32_t));
    return layout;
  }
};

class RowArena {
 public:
  static constexpr uint32_t kDefaultSlot = 0;

  // `memory` has layout.num_bytes().
  RowArena(const ArenaLayout& layout, HostMemory memory)
      : layout_(layout), memory_(std::move(memory)), base_(memory_.data()) {}

  std::byte* row(uint32_t number) const {
    return base_ + number * layout_.stride;
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
  static constexpr uint64_t kMaxFetchedBytes = 512;

  // Names the line of the slot's last byte, too, which may be one of the
  // others. No loop: its end is guessed wrong once another branch nearby was,
  // which cost lookups in a dense table 5 ns a key.
  template <typename Visit>
  void ForEachLine(uint32_t number, const Visit& visit) const {
    const std::byte* const begin = row(number);
    visit(begin);
    visit(begin + last_fetched_);
    switch (last_fetched_ / kCacheLine) {
      default:
        visit(begin + 7 * kCacheLine);
        [[fallthrough]];
      case 6:
        visit(begin + 6 * kCacheLine);
        [[fallthrough]];
      case 5:
        visit(begin + 5 * kCacheLine);
        [[fallthrough]];
      case 4:
        visit(begin + 4 * kCacheLine);
        [[fallthrough]];
      case 3:
        visit(begin + 3 * kCacheLine);
        [[fallthrough]];
      case 2:
        visit(begin + 2 * kCacheLine);
        [[fallthrough]];
      case 1:
        visit(begin + 1 * kCacheLine);
        [[fallthrough]];
      case 0:
        break;
    }
    // GCC takes a function that does nothing but prefetch for one without any
    // effect and leaves out the calls to it: lookups among 1 M rows of 256
    // bytes then take 15 ns a key longer.
    asm volatile("");
  }

  const ArenaLayout layout_;
  // The last byte of a slot that is fetched, counted from its first.
  const uint64_t last_fetched_ = std::min(layout_.stride, kMaxFetchedBytes) - 1;
  const HostMemory memory_;
  std::byte* const base_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_ROW_ARENA_H_
