#include "core/table/slot_pool.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace gatherd {
namespace {

TableSpec Spec(uint64_t rows) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = 1;
  spec.tiers = {{.kind = TierKind::kHost, .rows = rows}};
  return spec;
}

RowArena ArenaOf(const TableSpec& spec) {
  const ArenaLayout layout = ArenaLayout::For(spec);
  return RowArena(layout, *HostMemory::Create(layout.num_bytes()));
}

TEST_CASE("a slot comes back after its readers have left") {
  const RowArena arena = ArenaOf(Spec(10));
  EpochDomain epochs;
  SlotPool pool(arena, epochs);
  const uint32_t slot = pool.Take();
  CHECK(slot != RowArena::kDefaultSlot);
  {
    EpochGuard reader(epochs);
    pool.Retire(slot);
    pool.Poll();
    pool.Poll();
    CHECK(pool.num_retired() == 1);
    CHECK(pool.Take() != slot);
  }
  pool.Poll();
  CHECK(pool.num_retired() == 0);
  CHECK(pool.Take() == slot);
}

TEST_CASE("every slot is given out once, however they come back") {
  constexpr uint64_t kRows = 100;
  const RowArena arena = ArenaOf(Spec(kRows));
  EpochDomain epochs;
  SlotPool pool(arena, epochs);
  std::set<uint32_t> in_use;
  for (int round = 0; round < 5; ++round) {
    while (in_use.size() < kRows) {
      const uint32_t peeked = pool.Peek(0);
      const uint32_t slot = pool.Take();
      CHECK((peeked == 0 || peeked == slot || pool.num_retired() == 0));
      CHECK(slot >= 1);
      CHECK(slot < arena.layout().num_slots);
      REQUIRE(in_use.insert(slot).second);
    }
    // All at once: many more than the lists hold.
    for (const uint32_t slot : in_use) pool.Retire(slot);
    in_use.clear();
    if (round % 2 == 0) pool.Poll();
  }
}

TEST_CASE("spare slots let a full table be written again") {
  constexpr uint64_t kRows = 50;
  const RowArena arena = ArenaOf(Spec(kRows));
  EpochDomain epochs;
  SlotPool pool(arena, epochs);
  std::vector<uint32_t> live;
  for (uint64_t i = 0; i < kRows; ++i) live.push_back(pool.Take());
  for (int i = 0; i < 1000; ++i) {
    const uint32_t fresh = pool.Take();
    CHECK(std::find(live.begin(), live.end(), fresh) == live.end());
    std::swap(live[i % kRows], live.back());
    pool.Retire(live.back());
    live.back() = fresh;
  }
  CHECK(pool.num_used() <= arena.layout().num_slots);
}

}  // namespace
}  // namespace gatherd
