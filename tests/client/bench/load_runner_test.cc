// What a process of several does; gatherbench_test.cc has the processes.
#include "client/bench/load_runner.h"

#include <catch2/catch.hpp>

namespace gatherd::client {

TEST_CASE("Shares add up to the load") {
  LoadOptions load;
  load.num_callers = 11;
  load.num_channels = 5;
  load.calls_per_s = 300;
  for (const int num : {1, 2, 3, 4, 11}) {
    LoadOptions sum;
    sum.num_callers = 0;
    double calls_per_s = 0;
    for (int i = 0; i < num; ++i) {
      const LoadOptions share = ShareOf(load, i, num);
      CHECK(share.num_callers >= 11 / num);
      CHECK(share.num_callers <= 11 / num + 1);
      CHECK(share.num_channels >= 1);
      sum.num_callers += share.num_callers;
      calls_per_s += *share.calls_per_s;
    }
    CHECK(sum.num_callers == 11);
    CHECK(calls_per_s == Approx(300));
  }
}

TEST_CASE("No two processes draw the same arrivals") {
  const LoadOptions load;
  CHECK(ShareOf(load, 0, 2).seed != ShareOf(load, 1, 2).seed);
}

}  // namespace gatherd::client
