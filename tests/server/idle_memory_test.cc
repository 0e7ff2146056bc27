#include "server/idle_memory.h"

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

TEST_CASE("memory is given back once, when nothing was in flight for a while") {
  Admission admission(1000);
  int num_given_back = 0;
  IdleMemory memory(admission, absl::Seconds(5), [&] { ++num_given_back; });
  absl::Time now = absl::UnixEpoch();
  const auto look_for = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) memory.Look(now += absl::Seconds(1));
    return num_given_back;
  };
  CHECK(look_for(20) == 0);  // nobody has asked for anything yet
  auto ticket = admission.Admit(1, "t");
  REQUIRE(ticket.ok());
  CHECK(look_for(20) == 0);  // one request that takes long
  *ticket = AdmissionTicket();
  CHECK(look_for(4) == 0);
  CHECK(look_for(1) == 1);
  CHECK(look_for(20) == 1);
  for (int i = 0; i < 10; ++i) {  // short ones, between the looks
    REQUIRE(admission.Admit(1, "t").ok());
    CHECK(look_for(3) == 1);
  }
  CHECK(look_for(10) == 2);
}

}  // namespace
}  // namespace gatherd
