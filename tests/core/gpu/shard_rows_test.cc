#include "core/gpu/shard_rows.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/cuda/device_id.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

using Rows = std::vector<uint32_t>;

// Slots of a shard on a fake device, whose memory is the test's own.
class Shard {
 public:
  explicit Shard(uint64_t num_slots)
      : ring_(AllOf(num_slots)),
        stream_(*CudaStream::Create(cuda_.api(), DeviceId{0},
                                    StreamPriority::kLow)),
        rows(ring_.data(), num_slots, epochs) {}

  Rows Take(uint32_t count) {
    Rows scratch(count);
    const auto taken = rows.Take(count, scratch.data(), stream_.view());
    REQUIRE(taken.ok());
    return Rows(*taken, *taken + count);
  }

  void Retire(const Rows& gone) {
    REQUIRE(rows.Retire(gone.data(), static_cast<uint32_t>(gone.size()),
                        stream_.view())
                .ok());
  }

  EpochDomain epochs;

 private:
  static Rows AllOf(uint64_t num_slots) {
    Rows all(num_slots);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }

  FakeCuda cuda_{1};
  Rows ring_;
  const CudaStream stream_;

 public:
  ShardRows rows;
};

TEST_CASE("all slots are free at first, and each is taken once") {
  Shard shard(10);
  CHECK(shard.rows.num_free() == 10);
  const Rows first = shard.Take(4);
  const Rows second = shard.Take(6);
  std::set<uint32_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  CHECK(all.size() == 10);
  CHECK(shard.rows.num_free() == 0);
  CHECK(shard.rows.Reserve(0).ok());
  CHECK(absl::IsInternal(shard.rows.Reserve(1)));
}

TEST_CASE("retired slots are free when the lookups of their time have ended") {
  Shard shard(4);
  const Rows taken = shard.Take(4);
  std::optional<EpochGuard> lookup(std::in_place, shard.epochs);
  shard.Retire({taken[1], taken[2]});
  CHECK(shard.rows.num_quarantined() == 2);
  // Not even sealed: nothing to wait for.
  CHECK(absl::IsInternal(shard.rows.Reserve(1)));
  shard.rows.Seal(shard.epochs.Advance());
  CHECK(shard.rows.Reserve(0).ok());
  CHECK(shard.rows.num_free() == 0);
  lookup.reset();
  CHECK(shard.rows.Reserve(0).ok());
  CHECK(shard.rows.num_free() == 2);
  CHECK(shard.rows.num_quarantined() == 0);
  CHECK(shard.Take(2) == Rows{taken[1], taken[2]});
}

TEST_CASE("who needs slots waits for the oldest quarantine alone") {
  Shard shard(4);
  const Rows taken = shard.Take(4);
  std::optional<EpochGuard> early(std::in_place, shard.epochs);
  shard.Retire({taken[0]});
  shard.rows.Seal(shard.epochs.Advance());
  const EpochGuard late(shard.epochs);
  shard.Retire({taken[1]});
  shard.rows.Seal(shard.epochs.Advance());

  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    absl::SleepFor(absl::Milliseconds(20));
    is_over = true;
    early.reset();
  });
  CHECK(shard.rows.Reserve(1).ok());
  CHECK(is_over);
  CHECK(shard.rows.num_free() == 1);
  CHECK(shard.rows.num_quarantined() == 1);
  reader.join();
}

TEST_CASE("slots come and go round the ring without one being lost") {
  std::mt19937 random(3);
  Shard shard(37);
  std::deque<Rows> used;
  std::set<uint32_t> in_use;
  for (int round = 0; round < 2000; ++round) {
    REQUIRE(shard.rows.num_free() + shard.rows.num_quarantined() +
                in_use.size() ==
            37);
    if (random() % 2 == 0 || used.empty()) {
      const uint32_t count = 1 + static_cast<uint32_t>(random() % 12);
      if (count > 37 - in_use.size()) continue;
      REQUIRE(shard.rows.Reserve(count).ok());
      used.push_back(shard.Take(count));
      for (const uint32_t row : used.back()) {
        REQUIRE(row < 37);
        REQUIRE(in_use.insert(row).second);
      }
    } else {
      shard.Retire(used.front());
      for (const uint32_t row : used.front()) in_use.erase(row);
      used.pop_front();
      shard.rows.Seal(shard.epochs.Advance());
    }
  }
}

}  // namespace
}  // namespace gatherd
