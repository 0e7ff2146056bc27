#include "server/wire_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace gatherd {
namespace {

using std::string_literals::operator""s;

std::vector<grpc::Slice> Slices(const std::vector<std::string>& pieces) {
  std::vector<grpc::Slice> slices;
  for (const std::string& piece : pieces) slices.emplace_back(piece);
  return slices;
}

TEST_CASE("bytes are read over the ends of slices") {
  const auto slices = Slices({"", "\xac", "",
                              "\x02"
                              "abc",
                              "defg", ""});
  WireReader in(slices);
  CHECK(in.num_left() == 9);
  uint64_t value = 0;
  REQUIRE(in.ReadVarint(&value));
  CHECK(value == 300);
  const uint8_t* const at = in.Peek(3);
  REQUIRE(at != nullptr);
  CHECK(std::string(at, at + 3) == "abc");
  CHECK(in.Peek(4) == nullptr);
  in.Skip(1);
  std::string copy(5, '\0');
  in.Copy(5, copy.data());
  CHECK(copy == "bcdef");
  CHECK_FALSE(in.AtEnd());
  in.Skip(1);
  CHECK(in.AtEnd());
  CHECK_FALSE(in.ReadVarint(&value));
}

TEST_CASE("a sized field is read to its end and no further") {
  const auto slices = Slices({"\x02", "abc"});
  const auto read = [&](uint64_t num_bytes) {
    WireReader in(slices);
    return in.ReadSized([&] {
      if (in.num_left() < num_bytes) return false;
      in.Skip(num_bytes);
      return true;
    });
  };
  CHECK_FALSE(read(1));
  CHECK(read(2));
  CHECK_FALSE(read(3));
}

TEST_CASE("varints are counted and read alike, wherever slices end") {
  const std::string bytes =
      "\x00\x05\xff\xff\x03\xac\x02\xff\xff\xff\xff\x0f"s +
      "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x07\x81\x00\x01\x02\x03\x04"s;
  const std::vector<uint32_t> expected = {0, 5, 65535, 300, 0xffffffff, 0,
                                          7, 1, 1,     2,   3,          4};
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto slices = Slices({bytes.substr(0, cut), bytes.substr(cut)});
    WireReader counting(slices);
    uint64_t count = 0;
    REQUIRE(counting.CountVarints(&count));
    REQUIRE(count == expected.size());
    WireReader in(slices);
    std::vector<uint32_t> values(count);
    uint32_t* to = values.data();
    REQUIRE(in.ReadVarints(&to));
    CHECK(to == values.data() + count);
    CHECK(values == expected);
  }
}

TEST_CASE("a varint of eleven bytes is none") {
  const auto slices = Slices({std::string(10, '\xff') + '\x01'});
  WireReader in(slices);
  uint64_t count = 0;
  CHECK_FALSE(in.CountVarints(&count));
}

}  // namespace
}  // namespace gatherd
