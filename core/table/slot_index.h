// Finds the slot of a key: what a dense and a hashed table differ in.
//
// Lookups take keys through steps, with steps of other keys in between, so that
// the memory each step needs has arrived when its turn comes. The two kinds of
// index have them inline and under the same names, for row_lookup, which is
// compiled for each:
//   Begin      fetches what FindFirst will read
//   FindFirst  finds most keys, and fetches what FindRest needs for the others
//   FindRest   finds the others
//   Exists     whether the key has a row
// They may run at any time beside the writer; all but Begin, and the use of the
// slot found, belong into one stay in the table's epoch domain.
//
// The functions below are for the table's writer, one thread at a time. It goes
// through groups of keys, in the same way: Prefetch, Find.
#ifndef GATHERD_CORE_TABLE_SLOT_INDEX_H_
#define GATHERD_CORE_TABLE_SLOT_INDEX_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace gatherd {

// Some keys of a write.
struct KeyGroup {
  static constexpr size_t kMaxKeys = 32;

  absl::Span<const int64_t> keys;  // at most kMaxKeys
  uint64_t places[kMaxKeys];       // the index's own
  uint32_t slots[kMaxKeys];        // kDefaultSlot where there is no row
  uint32_t found;                  // bit i: keys[i] exists
};

class SlotIndex {
 public:
  virtual ~SlotIndex() = default;

  // Fetches what Find will read.
  virtual void Prefetch(KeyGroup& group) const = 0;
  // Fills slots and found.
  virtual void Find(KeyGroup& group) const = 0;

  // Whether a row can exist under `key` at all.
  virtual bool Accepts(int64_t key) const = 0;
  // The slot of `key`, or kDefaultSlot.
  virtual uint32_t SlotOf(int64_t key) const = 0;

  // Makes `slot`, filled before, the row of `key`, which the index accepts,
  // and returns the slot that was, or kDefaultSlot. Lookups see one or the
  // other.
  virtual uint32_t Put(int64_t key, uint32_t slot) = 0;
  // Returns the slot that was, or kDefaultSlot.
  virtual uint32_t Remove(int64_t key) = 0;

  // Writes slots of existing keys, in no particular order and from `*cursor`
  // on, to `keys` and `slots` (as many as both have room for, at least
  // kMinListRoom) and moves the cursor, which is 0 at the beginning. Returns
  // how many; 0 at the end.
  static constexpr size_t kMinListRoom = 5;
  virtual size_t List(uint64_t* cursor, absl::Span<int64_t> keys,
                      absl::Span<uint32_t> slots) const = 0;
  // Fetches what List will read from `cursor` on for about `num_rows` rows.
  virtual void PrefetchList(uint64_t cursor, size_t num_rows) const = 0;
  // A cursor may be any number below this.
  virtual uint64_t list_end() const = 0;

  virtual uint64_t num_bytes() const = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_SLOT_INDEX_H_
