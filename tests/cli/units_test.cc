#include "cli/units.h"

#include <string>

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

using Catch::Matchers::Contains;

constexpr uint64_t kMaxUint64 = ~uint64_t{0};

// What `result`, which is an error, says.
template <typename T>
std::string Refusal(const absl::StatusOr<T>& result) {
  CHECK(result.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(result.status().message());
}

TEST_CASE("Byte sizes are plain or take binary units") {
  CHECK(ParseByteSize("0").value() == 0);
  CHECK(ParseByteSize("4096").value() == 4096);
  CHECK(ParseByteSize("1KiB").value() == 1024);
  CHECK(ParseByteSize("64MiB").value() == uint64_t{64} << 20);
  CHECK(ParseByteSize("3GiB").value() == uint64_t{3} << 30);
  CHECK(ParseByteSize("007TiB").value() == uint64_t{7} << 40);
  CHECK(ParseByteSize("18446744073709551615").value() == kMaxUint64);
  CHECK(ParseByteSize("16777215TiB").value() == uint64_t{16777215} << 40);
}

TEST_CASE("Row counts are plain or take powers of 1000") {
  CHECK(ParseRowCount("0").value() == 0);
  CHECK(ParseRowCount("12").value() == 12);
  CHECK(ParseRowCount("10K").value() == 10'000);
  CHECK(ParseRowCount("100M").value() == 100'000'000);
  CHECK(ParseRowCount("5G").value() == 5'000'000'000);
  CHECK(ParseRowCount("18446744073G").value() == 18'446'744'073'000'000'000U);
}

TEST_CASE("Durations take a unit, but for 0") {
  CHECK(ParseDuration("0").value() == absl::ZeroDuration());
  CHECK(ParseDuration("0s").value() == absl::ZeroDuration());
  CHECK(ParseDuration("200us").value() == absl::Microseconds(200));
  CHECK(ParseDuration("250ms").value() == absl::Milliseconds(250));
  CHECK(ParseDuration("10s").value() == absl::Seconds(10));
  CHECK(ParseDuration("5m").value() == absl::Minutes(5));
  CHECK(ParseDuration("9223372036s").value() == absl::Seconds(9223372036));
}

TEST_CASE("Anything else is refused") {
  for (const char* text :
       {"", " ", "KiB", "-1", "+1", " 1", "1 ", "1 KiB", "1kib", "1KB", "1K",
        "1.5GiB", "0x10", "1e6", "1KiBx", "1_000", "1PiB", "ten"}) {
    CAPTURE(text);
    CHECK_THAT(Refusal(ParseByteSize(text)), Contains("KiB, MiB, GiB or TiB"));
  }
  for (const char* text :
       {"", "M", "-5", "10k", "1KiB", "1.5M", "1T", "10 M"}) {
    CAPTURE(text);
    CHECK_THAT(Refusal(ParseRowCount(text)), Contains("K, M or G"));
  }
  for (const char* text :
       {"", "5", "00", "s", "-1s", "1.5s", "1h", "1min", "1 s", "1ns", "1S"}) {
    CAPTURE(text);
    CHECK_THAT(Refusal(ParseDuration(text)), Contains("us, ms, s or m"));
  }
  CHECK(Refusal(ParseByteSize("64MB")) ==
        "\"64MB\" is no size: give a whole number of bytes, or one with KiB, "
        "MiB, GiB or TiB, such as 64MiB");
}

TEST_CASE("What is too large is refused, not cut off") {
  CHECK(Refusal(ParseByteSize("18446744073709551616")) ==
        "\"18446744073709551616\" is too large for a size: at most "
        "18446744073709551615 bytes");
  for (const char* text : {"16777216TiB", "99999999999999999999999999GiB",
                           // Its digits come back to 0 more than once.
                           "1844674407370955161600000000000000000000000"}) {
    CAPTURE(text);
    CHECK_THAT(Refusal(ParseByteSize(text)), Contains("too large"));
  }
  CHECK_THAT(Refusal(ParseRowCount("18446744074G")), Contains("too large"));
  CHECK_THAT(Refusal(ParseDuration("9223372037s")), Contains("too large"));
  CHECK_THAT(Refusal(ParseDuration("18446744073709551615m")),
             Contains("too large"));
  // Nonsense is called nonsense, however long its number.
  CHECK_THAT(Refusal(ParseByteSize("99999999999999999999999999XB")),
             Contains("is no size"));
}

}  // namespace
}  // namespace gatherd
