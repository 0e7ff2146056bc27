#include "client/ctl/arguments.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace gatherd::client {

TEST_CASE("Keys are signed 64-bit numbers") {
  CHECK(*ParseKey("0") == 0);
  CHECK(*ParseKey("-1") == -1);
  CHECK(*ParseKey("9223372036854775807") ==
        std::numeric_limits<int64_t>::max());
  CHECK(*ParseKey("-9223372036854775808") ==
        std::numeric_limits<int64_t>::min());
  for (const char* wrong :
       {"", " ", "x", "1x", "1.5", "0x10", "1e3", "9223372036854775808",
        "-9223372036854775809", "FNV:the", "fnv"}) {
    INFO(wrong);
    const absl::StatusOr<int64_t> key = ParseKey(wrong);
    CHECK(absl::IsInvalidArgument(key.status()));
    CHECK(std::string(key.status().message()).find(wrong) != std::string::npos);
  }
}

TEST_CASE("fnv:TEXT is the FNV-1a 64 of the text's bytes") {
  // The offset basis, and known answers of the algorithm's authors.
  CHECK(*ParseKey("fnv:") == static_cast<int64_t>(0xcbf29ce484222325u));
  CHECK(*ParseKey("fnv:a") == static_cast<int64_t>(0xaf63dc4c8601ec8cu));
  CHECK(*ParseKey("fnv:foobar") == static_cast<int64_t>(0x85944171f73967e8u));
  // Bytes above 127 are not negative numbers.
  CHECK(*ParseKey("fnv:\xc3\xa9") == static_cast<int64_t>(0x0ac21707b7181e01u));
  CHECK(*ParseKey("fnv:1") != 1);
}

TEST_CASE("Rows are a key and its values") {
  const std::vector<std::string> words = {"7=1,-2.5,3e2", "-8=0,0,0",
                                          "fnv:a=b=1,2,nan"};
  const absl::StatusOr<RowArguments> rows = ParseRows(words);
  REQUIRE(rows.ok());
  CHECK(rows->keys == std::vector<int64_t>{7, -8, *ParseKey("fnv:a=b")});
  REQUIRE(rows->values.size() == 9);
  CHECK(rows->values[1] == -2.5f);
  CHECK(rows->values[2] == 300.0f);
  CHECK(std::isnan(rows->values[8]));
}

TEST_CASE("Infinity must be meant") {
  CHECK(std::isinf(ParseRows({{"1=inf"}})->values[0]));
  CHECK(std::isinf(ParseRows({{"1=-Infinity"}})->values[0]));
  CHECK(absl::IsInvalidArgument(ParseRows({{"1=1e39"}}).status()));
}

TEST_CASE("Rows that are none are refused") {
  for (const char* wrong : {"", "7", "7=", "=1", "7=1,", "7=,1", "7=1;2", "x=1",
                            "7=one", "7=1 2"}) {
    INFO(wrong);
    const std::vector<std::string> words = {wrong};
    CHECK(absl::IsInvalidArgument(ParseRows(words).status()));
  }
}

TEST_CASE("Rows of different lengths are refused") {
  // The server sees only the sum, which might fit by accident.
  const std::vector<std::string> words = {"1=1,2,3", "2=1,2,3,4,5"};
  CHECK(absl::IsInvalidArgument(ParseRows(words).status()));
}

TEST_CASE("Modes are the words of the contract") {
  CHECK(*ParseUpdateMode("set") == UpdateMode::kSet);
  CHECK(*ParseUpdateMode("add") == UpdateMode::kAdd);
  CHECK(*ParseUpdateMode("set_existing") == UpdateMode::kSetExisting);
  CHECK(absl::IsInvalidArgument(ParseUpdateMode("SET").status()));
}

}  // namespace gatherd::client
