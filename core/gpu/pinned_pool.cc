#include "core/gpu/pinned_pool.h"

#include <algorithm>

#include "core/base/sizes.h"

namespace gatherd {
namespace {

// No cache holds more than this part of the pages; all together an eighth.
constexpr uint64_t kCachePart = 128;

std::byte* AlignToPage(std::byte* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  return memory + (AlignUp(address, PinnedPool::kPageBytes) - address);
}

uint32_t WholePages(const std::byte* memory, size_t num_bytes,
                    const std::byte* aligned) {
  const size_t skipped = aligned - memory;
  if (skipped >= num_bytes) return 0;
  return static_cast<uint32_t>((num_bytes - skipped) / PinnedPool::kPageBytes);
}

// The sizes of blocks are numbered 0 for 1 page, 1 for 2, 2 for 3, then 4, 6,
// 8, 12, ...: 2^k has number 2 k - 1, and 3 * 2^(k - 1), behind it, 2 k.
struct BlockSize {
  size_t index;
  uint32_t num_pages;
};

constexpr uint32_t PagesOfSize(size_t index) {
  if (index == 0) return 1;
  return index % 2 == 1 ? uint32_t{1} << (index + 1) / 2
                        : uint32_t{3} << (index / 2 - 1);
}

// The least size of block that holds so many bytes, less than 2^43.
BlockSize BlockSizeFor(size_t num_bytes) {
  const auto pages = static_cast<uint32_t>(
      std::max<uint64_t>(1, CeilDiv(num_bytes, PinnedPool::kPageBytes)));
  if (pages == 1) return {0, 1};
  const uint32_t log2 = 31 - __builtin_clz(pages);
  const uint32_t power = uint32_t{1} << log2;
  if (pages == power) return {2 * log2 - 1, power};
  if (pages <= power + power / 2) return {2 * log2, power + power / 2};
  return {2 * log2 + 1, power * 2};
}

// Threads are dealt out to the caches in turn; more threads than caches share.
size_t CacheOfThread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t number =
      next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

PinnedPool::PinnedPool(std::byte* memory, size_t num_bytes,
                       std::pmr::memory_resource* upstream)
    : memory_(AlignToPage(memory)),
      num_pages_(WholePages(memory, num_bytes, memory_)),
      max_cached_pages_(num_pages_ / kCachePart),
      upstream_(upstream),
      pages_(num_pages_) {}

bool PinnedPool::Contains(const void* memory) const {
  // As numbers: the pointer may be of any other block.
  const auto offset = reinterpret_cast<uintptr_t>(memory) -
                      reinterpret_cast<uintptr_t>(memory_);
  return offset < uint64_t{num_pages_} * kPageBytes;
}

PinnedPoolStats PinnedPool::Stats() const {
  uint64_t num_free = 0;
  for (const Cache& cache : caches_) {
    absl::MutexLock lock(&cache.mutex);
    num_free += cache.num_pages;
  }
  {
    absl::MutexLock lock(&mutex_);
    num_free += pages_.num_free();
  }
  PinnedPoolStats stats;
  stats.capacity_bytes = uint64_t{num_pages_} * kPageBytes;
  // Blocks that moved from a cache to the pages meanwhile count twice as free.
  stats.used_bytes =
      stats.capacity_bytes -
      std::min<uint64_t>(num_free * kPageBytes, stats.capacity_bytes);
  stats.num_upstream = num_upstream_.load(std::memory_order_relaxed);
  return stats;
}

void* PinnedPool::do_allocate(size_t num_bytes, size_t alignment) {
  if (alignment <= kPageBytes &&
      num_bytes <= uint64_t{num_pages_} * kPageBytes) {
    const BlockSize size = BlockSizeFor(num_bytes);
    uint32_t first = 0;
    if (TakeFromCache(size.index, &first) ||
        TakePages(size.num_pages, &first)) {
      return memory_ + uint64_t{first} * kPageBytes;
    }
  }
  num_upstream_.fetch_add(1, std::memory_order_relaxed);
  return upstream_->allocate(num_bytes, alignment);
}

void PinnedPool::do_deallocate(void* memory, size_t num_bytes,
                               size_t alignment) {
  if (!Contains(memory)) {
    upstream_->deallocate(memory, num_bytes, alignment);
    return;
  }
  const BlockSize size = BlockSizeFor(num_bytes);
  const auto first = static_cast<uint32_t>(
      (static_cast<std::byte*>(memory) - memory_) / kPageBytes);
  if (GiveToCache(size.index, first)) return;
  absl::MutexLock lock(&mutex_);
  pages_.GiveBack(first, size.num_pages);
}

bool PinnedPool::TakeFromCache(size_t size_index, uint32_t* first) {
  if (size_index >= kNumCachedSizes) return false;
  Cache& cache = caches_[CacheOfThread() % kNumCaches];
  absl::MutexLock lock(&cache.mutex);
  Cache::Blocks& blocks = cache.sizes[size_index];
  if (blocks.count == 0) return false;
  *first = blocks.first_pages[--blocks.count];
  cache.num_pages -= PagesOfSize(size_index);
  return true;
}

bool PinnedPool::GiveToCache(size_t size_index, uint32_t first) {
  if (size_index >= kNumCachedSizes) return false;
  const uint32_t num_pages = PagesOfSize(size_index);
  Cache& cache = caches_[CacheOfThread() % kNumCaches];
  absl::MutexLock lock(&cache.mutex);
  Cache::Blocks& blocks = cache.sizes[size_index];
  if (blocks.count == kCacheBlocks ||
      cache.num_pages + num_pages > max_cached_pages_) {
    return false;
  }
  blocks.first_pages[blocks.count++] = first;
  cache.num_pages += num_pages;
  return true;
}

bool PinnedPool::TakePages(uint32_t num_pages, uint32_t* first) {
  for (const bool again : {false, true}) {
    if (again) EmptyCaches();
    absl::MutexLock lock(&mutex_);
    const auto taken = pages_.Take(num_pages);
    if (taken.has_value()) {
      *first = *taken;
      return true;
    }
  }
  return false;
}

void PinnedPool::EmptyCaches() {
  for (Cache& cache : caches_) {
    std::array<Cache::Blocks, kNumCachedSizes> sizes;
    {
      absl::MutexLock lock(&cache.mutex);
      if (cache.num_pages == 0) continue;
      sizes = cache.sizes;
      for (Cache::Blocks& blocks : cache.sizes) blocks.count = 0;
      cache.num_pages = 0;
    }
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < kNumCachedSizes; ++i) {
      for (uint32_t j = 0; j < sizes[i].count; ++j) {
        pages_.GiveBack(sizes[i].first_pages[j], PagesOfSize(i));
      }
    }
  }
}

}  // namespace gatherd
