#include "client/backoff.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace gatherd::client {

TEST_CASE("Waits grow, are jittered, and stay below their bound") {
  std::mt19937_64 random(1);
  BackoffOptions options;
  options.initial = absl::Milliseconds(10);
  options.max = absl::Milliseconds(50);
  absl::Duration smallest = absl::InfiniteDuration();
  absl::Duration largest = absl::ZeroDuration();
  for (int round = 0; round < 1000; ++round) {
    Backoff backoff(options, random);
    for (const int bound_ms : {10, 20, 40, 50, 50}) {
      const absl::Duration wait = backoff.Next();
      CHECK(wait >= absl::Milliseconds(bound_ms) / 2);
      CHECK(wait <= absl::Milliseconds(bound_ms));
    }
    const absl::Duration last = backoff.Next();
    smallest = std::min(smallest, last);
    largest = std::max(largest, last);
  }
  CHECK(smallest < absl::Milliseconds(26));
  CHECK(largest > absl::Milliseconds(49));
}

}  // namespace gatherd::client
