#include "core/gpu/pinned_pool.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace gatherd {
namespace {

constexpr size_t kPage = PinnedPool::kPageBytes;

// What a pool takes from elsewhere, counted; it may be out of memory.
class Upstream final : public std::pmr::memory_resource {
 public:
  std::atomic<int> num_blocks{0};

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    ++num_blocks;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    --num_blocks;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

class Pool {
 public:
  explicit Pool(size_t num_pages)
      : memory_(new std::byte[num_pages * kPage + kPage]),
        pool(AlignedPart(), num_pages * kPage, &upstream) {}

  std::byte* AlignedPart() {
    void* start = memory_.get();
    size_t space = 2 * kPage;
    return static_cast<std::byte*>(std::align(kPage, kPage, start, space));
  }

 private:
  const std::unique_ptr<std::byte[]> memory_;

 public:
  Upstream upstream;
  PinnedPool pool;
};

TEST_CASE("Blocks are aligned, apart and inside") {
  Pool p(64);
  void* const a = p.pool.allocate(100, 64);
  void* const b = p.pool.allocate(5000, 64);
  void* const c = p.pool.allocate(0, 64);
  CHECK(reinterpret_cast<uintptr_t>(a) % kPage == 0);
  CHECK(p.pool.Contains(a));
  CHECK(p.pool.Contains(b));
  CHECK(p.pool.Contains(c));
  std::memset(a, 1, 100);
  std::memset(b, 2, 5000);
  CHECK(*static_cast<char*>(a) == 1);
  CHECK(p.pool.Stats().capacity_bytes == 64 * kPage);
  CHECK(p.pool.Stats().used_bytes == 4 * kPage);
  p.pool.deallocate(a, 100, 64);
  p.pool.deallocate(b, 5000, 64);
  p.pool.deallocate(c, 0, 64);
  CHECK(p.pool.Stats().used_bytes == 0);
  CHECK(p.pool.Stats().num_upstream == 0);
}

TEST_CASE("A block has less than half as much again as was asked for") {
  Pool p(1 << 12);
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const size_t bytes = kPage + 1 + random() % (1000 * kPage);
    void* const block = p.pool.allocate(bytes, 64);
    const uint64_t used = p.pool.Stats().used_bytes;
    p.pool.deallocate(block, bytes, 64);
    REQUIRE(used >= bytes);
    REQUIRE(used < bytes + bytes / 2 + kPage);
    REQUIRE(p.pool.Stats().used_bytes == 0);
  }
  CHECK(p.upstream.num_blocks == 0);
}

TEST_CASE("What does not fit comes from upstream and goes back there") {
  Pool p(8);
  void* const all = p.pool.allocate(8 * kPage, 64);
  CHECK(p.pool.Contains(all));
  void* const more = p.pool.allocate(1, 64);
  CHECK_FALSE(p.pool.Contains(more));
  void* const larger = p.pool.allocate(9 * kPage, 64);
  CHECK_FALSE(p.pool.Contains(larger));
  CHECK(p.upstream.num_blocks == 2);
  CHECK(p.pool.Stats().num_upstream == 2);
  p.pool.deallocate(larger, 9 * kPage, 64);
  p.pool.deallocate(more, 1, 64);
  p.pool.deallocate(all, 8 * kPage, 64);
  CHECK(p.upstream.num_blocks == 0);
  void* const again = p.pool.allocate(8 * kPage, 64);
  CHECK(p.pool.Contains(again));
  p.pool.deallocate(again, 8 * kPage, 64);
}

TEST_CASE("An alignment above a page comes from upstream") {
  Pool p(8);
  void* const block = p.pool.allocate(100, 2 * kPage);
  CHECK_FALSE(p.pool.Contains(block));
  p.pool.deallocate(block, 100, 2 * kPage);
}

TEST_CASE("Parts of pages at the ends are left alone") {
  Pool outer(8);
  std::byte* const start = outer.AlignedPart() + 64;
  PinnedPool pool(start, 4 * kPage, std::pmr::null_memory_resource());
  CHECK(pool.Stats().capacity_bytes == 3 * kPage);
  CHECK_FALSE(pool.Contains(start));
  CHECK(pool.Contains(outer.AlignedPart() + kPage));
  CHECK(pool.Contains(outer.AlignedPart() + 4 * kPage - 1));
  CHECK_FALSE(pool.Contains(outer.AlignedPart() + 4 * kPage));
  PinnedPool none(start, 100, std::pmr::null_memory_resource());
  CHECK(none.Stats().capacity_bytes == 0);
}

TEST_CASE("Cached blocks are given up when memory runs short") {
  constexpr size_t kNumPages = 1 << 10;
  Pool p(kNumPages);
  // Eight pages may stay in a cache; they cut up the one large block.
  std::vector<void*> pages;
  for (int i = 0; i < 8; ++i) pages.push_back(p.pool.allocate(kPage, 64));
  for (void* page : pages) p.pool.deallocate(page, kPage, 64);
  void* const all = p.pool.allocate(kNumPages * kPage, 64);
  CHECK(p.pool.Contains(all));
  p.pool.deallocate(all, kNumPages * kPage, 64);
}

// Takes and gives back blocks of random sizes, each written at both ends and
// checked before it goes.
void TakeAndGiveBack(PinnedPool& pool, uint32_t seed, int num_steps,
                     std::atomic<int>& num_wrong) {
  struct Block {
    std::byte* memory;
    size_t bytes;
    std::byte mark;
  };
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  const auto give_back = [&](const Block& block) {
    if (block.memory[0] != block.mark ||
        block.memory[block.bytes - 1] != block.mark) {
      ++num_wrong;
    }
    pool.deallocate(block.memory, block.bytes, 64);
  };
  for (int step = 0; step < num_steps; ++step) {
    if (blocks.size() < 4 || (blocks.size() < 32 && random() % 2 == 0)) {
      // As many of each magnitude, up to 4 MiB.
      const size_t bytes = 1 + random() % (size_t{1} << (random() % 23));
      Block block = {static_cast<std::byte*>(pool.allocate(bytes, 64)), bytes,
                     static_cast<std::byte>(random())};
      block.memory[0] = block.memory[bytes - 1] = block.mark;
      blocks.push_back(block);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      give_back(blocks.back());
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) give_back(block);
}

TEST_CASE("Threads share a pool, and leave it in one piece") {
  constexpr size_t kNumPages = 1 << 13;  // 32 MiB: sometimes not enough
  Pool p(kNumPages);
  std::atomic<int> num_wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 20; ++i) {
    threads.emplace_back(
        [&p, &num_wrong, i] { TakeAndGiveBack(p.pool, i, 3000, num_wrong); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(num_wrong == 0);
  CHECK(p.pool.Stats().num_upstream > 0);
  CHECK(p.upstream.num_blocks == 0);
  CHECK(p.pool.Stats().used_bytes == 0);
  void* const all = p.pool.allocate(kNumPages * kPage, 64);
  CHECK(p.pool.Contains(all));
  p.pool.deallocate(all, kNumPages * kPage, 64);
}

TEST_CASE("Blocks may be given back by other threads than took them") {
  constexpr size_t kNumPages = 1 << 10;
  Pool p(kNumPages);
  std::vector<void*> blocks;
  std::thread([&] {
    for (size_t i = 0; i < kNumPages; ++i) {
      blocks.push_back(p.pool.allocate(kPage, 64));
    }
  }).join();
  CHECK(p.upstream.num_blocks == 0);
  std::thread([&] {
    for (void* block : blocks) p.pool.deallocate(block, kPage, 64);
  }).join();
  void* const all = p.pool.allocate(kNumPages * kPage, 64);
  CHECK(p.pool.Contains(all));
  p.pool.deallocate(all, kNumPages * kPage, 64);
}

}  // namespace
}  // namespace gatherd
