// Hands out pieces of one block of memory, for buffers that come and go with
// requests and would be slow to pin one by one. What does not fit comes from
// another resource. Thread-safe.
//
// Blocks have 2^k or 3 * 2^k pages of 4 KiB, so a block of more than a page has
// less than half as much again as was asked for. Below are two layers:
//   - caches, one a few threads: up to kCacheBlocks blocks of each size up to
//     kMaxCachedBytes, an eighth of the memory at most, all caches together;
//   - behind them BuddyPages under one mutex, which joins free neighbours at
//     once.
// Fragmentation is bounded by what is in use: whenever no free block is large
// enough, the caches are emptied and the search repeated before anything is
// taken from elsewhere, so that no free page stays cut up because of buffers
// that are gone.
#ifndef GATHERD_CORE_GPU_PINNED_POOL_H_
#define GATHERD_CORE_GPU_PINNED_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/gpu/buddy_pages.h"

namespace gatherd {

struct PinnedPoolStats {
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;    // in whole blocks
  uint64_t num_upstream = 0;  // allocations that did not fit, since the start
};

class PinnedPool final : public std::pmr::memory_resource {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kMaxCachedBytes = size_t{1} << 20;
  static constexpr size_t kCacheBlocks = 8;

  // Borrows the memory, of which it uses whole pages, and `upstream`; both
  // outlive it. Less than 8 TiB.
  PinnedPool(std::byte* memory, size_t num_bytes,
             std::pmr::memory_resource* upstream);

  // Whether what begins there came out of the block, and not from upstream.
  bool Contains(const void* memory) const;

  PinnedPoolStats Stats() const;

 private:
  static constexpr size_t kNumCaches = 16;
  // 1, 2, 3, 4, 6, 8, 12, ... 256 pages.
  static constexpr size_t kNumCachedSizes = 16;

  struct alignas(64) Cache {
    mutable absl::Mutex mutex;
    uint64_t num_pages ABSL_GUARDED_BY(mutex) = 0;
    struct Blocks {
      uint32_t count = 0;
      std::array<uint32_t, kCacheBlocks> first_pages;
    };
    std::array<Blocks, kNumCachedSizes> sizes ABSL_GUARDED_BY(mutex);
  };

  void* do_allocate(size_t num_bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t num_bytes, size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  // Of and to this thread's cache. False: it has none, or no room.
  bool TakeFromCache(size_t size_index, uint32_t* first);
  bool GiveToCache(size_t size_index, uint32_t first);
  bool TakePages(uint32_t num_pages, uint32_t* first);
  void EmptyCaches();

  std::byte* const memory_;  // at a multiple of kPageBytes
  const uint32_t num_pages_;
  const uint64_t max_cached_pages_;  // of each cache
  std::pmr::memory_resource* const upstream_;

  std::array<Cache, kNumCaches> caches_;
  // Taken with no cache's mutex held.
  mutable absl::Mutex mutex_;
  BuddyPages pages_ ABSL_GUARDED_BY(mutex_);

  std::atomic<uint64_t> num_upstream_{0};  // relaxed: a figure
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_PINNED_POOL_H_
