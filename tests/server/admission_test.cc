#include "server/admission.h"

#include <catch2/catch.hpp>
#include <memory>

namespace gatherd {
namespace {

TEST_CASE("bytes are admitted up to the limit and given back") {
  Admission admission(100);
  auto first = admission.Admit(60, "a");
  REQUIRE(first.ok());
  CHECK(admission.num_bytes() == 60);
  CHECK(absl::IsResourceExhausted(admission.Admit(41, "a").status()));
  auto second = admission.Admit(40, "a");
  REQUIRE(second.ok());
  CHECK(admission.num_requests() == 2);
  *first = AdmissionTicket();
  CHECK(admission.num_bytes() == 40);
  CHECK(admission.num_requests() == 1);
}

TEST_CASE("a request that is too large by itself is refused without overflow") {
  Admission admission(100);
  const auto refused = admission.Admit(~uint64_t{0}, "words");
  CHECK(absl::IsResourceExhausted(refused.status()));
  CHECK(admission.num_bytes() == 0);
}

TEST_CASE("a ticket may outlive its admission") {
  auto admission = std::make_unique<Admission>(100);
  AdmissionTicket ticket = *admission->Admit(1, "a");
  admission.reset();
}

}  // namespace
}  // namespace gatherd
