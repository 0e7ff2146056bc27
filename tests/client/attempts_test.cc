#include "client/attempts.h"

#include <catch2/catch.hpp>
#include <string>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

AttemptsOptions Options(absl::Duration timeout, int max_attempts) {
  AttemptsOptions options;
  options.timeout = timeout;
  options.max_attempts = max_attempts;
  options.backoff.initial = absl::Seconds(1);
  return options;
}

const absl::Status kGone = absl::UnavailableError("gone");

}  // namespace

TEST_CASE("There are as many attempts as allowed") {
  for (const int max_attempts : {1, 2, 5}) {
    Attempts attempts(Options(absl::Hours(1), max_attempts));
    int num_attempts = 1;
    while (attempts.WaitAfter(kGone).has_value()) ++num_attempts;
    CHECK(num_attempts == max_attempts);
  }
}

TEST_CASE("UNAVAILABLE alone has another attempt") {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "because");
    Attempts attempts(Options(absl::Hours(1), 5));
    INFO(status);
    CHECK(attempts.WaitAfter(status).has_value() ==
          absl::IsUnavailable(status));
  }
}

TEST_CASE("No attempt begins behind the deadline") {
  // Half a second at least is waited for the second one.
  Attempts attempts(Options(absl::Milliseconds(400), 5));
  CHECK_FALSE(attempts.WaitAfter(kGone).has_value());
  CHECK(attempts.Result(kGone) == kGone);
}

TEST_CASE("A call that runs out of time says what went wrong before") {
  Attempts attempts(Options(absl::Hours(1), 5));
  const absl::Status late = absl::DeadlineExceededError("late");
  CHECK(attempts.Result(late) == late);
  REQUIRE(attempts.WaitAfter(kGone).has_value());
  for (const absl::Status& last : {late, absl::CancelledError("late")}) {
    const absl::Status result = attempts.Result(last);
    CHECK(result.code() == last.code());
    CHECK_THAT(std::string(result.message()),
               Contains("late") && Contains("UNAVAILABLE: gone"));
  }
  // These speak for themselves.
  const absl::Status refused = absl::InvalidArgumentError("no such table");
  CHECK(attempts.Result(refused) == refused);
  CHECK(attempts.Result(absl::OkStatus()).ok());
}

}  // namespace gatherd::client
