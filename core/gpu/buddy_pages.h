// Divides a row of pages into blocks by the buddy scheme: a block of 2^k pages
// starts at a multiple of 2^k, and two halves that are both free become one
// block again at once. Pure arithmetic on page numbers. Not thread-safe.
#ifndef GATHERD_CORE_GPU_BUDDY_PAGES_H_
#define GATHERD_CORE_GPU_BUDDY_PAGES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gatherd {

class BuddyPages {
 public:
  explicit BuddyPages(uint32_t num_pages);

  // The first page of a block of `num_pages`, which is 2^k or 3 * 2^k. Three
  // quarters of a block are taken as a whole one of which the last quarter is
  // given back. Nothing if no free block is large enough.
  std::optional<uint32_t> Take(uint32_t num_pages);

  // A block that Take gave, with the number of pages that it was asked for.
  void GiveBack(uint32_t first, uint32_t num_pages);

  uint32_t num_free() const { return num_free_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint8_t kNotFree = 0xff;

  struct Page {
    // Of the first page of a free block: the block's order, and its neighbours
    // in the list of free blocks of that order.
    uint8_t order = kNotFree;
    uint32_t next = kNone;
    uint32_t previous = kNone;
  };

  std::optional<uint32_t> TakeBlock(uint32_t order);
  void GiveBackBlock(uint32_t first, uint32_t order);
  void Link(uint32_t first, uint32_t order);
  void Unlink(uint32_t first);

  std::vector<Page> pages_;
  std::array<uint32_t, 32> heads_;  // of the lists, by order
  uint32_t nonempty_orders_ = 0;    // a bit each
  uint32_t num_free_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_BUDDY_PAGES_H_
