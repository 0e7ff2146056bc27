#include "testing/skip.h"

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

void SkipEarly(bool* reached_end) {
  GATHERD_SKIP("because");
  *reached_end = true;
}

TEST_CASE("A skip returns at once and leaves its reason once") {
  bool reached_end = false;
  SkipEarly(&reached_end);
  CHECK_FALSE(reached_end);
  CHECK(TakeSkipReason() == "because");
  CHECK(TakeSkipReason().empty());
}

}  // namespace
}  // namespace gatherd
