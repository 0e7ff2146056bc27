#include "client/messages.h"

#include <catch2/catch.hpp>
#include <vector>

namespace gatherd::client {
namespace {

TEST_CASE("Keys of 32 bits take half the bytes") {
  const std::vector<int64_t> keys(1000, 7);
  const std::vector<uint32_t> keys32(1000, 7);
  TableLookup wide{"words", keys};
  TableLookup narrow{"words", {}};
  narrow.keys32 = keys32;
  const v1::LookupRequest request = ToMessage({narrow});
  CHECK(request.lookups(0).keys_size() == 0);
  REQUIRE(request.lookups(0).keys32_size() == 1000);
  CHECK(request.lookups(0).keys32(999) == 7);
  CHECK(ToMessage({wide}).ByteSizeLong() == request.ByteSizeLong() + 4000);
}

TEST_CASE("Writes may have keys of 32 bits") {
  const uint32_t keys32[] = {0xffff'ffff};
  TableUpdate update{"words", {}};
  update.keys32 = keys32;
  CHECK(ToMessage({update}).updates(0).keys32(0) == 0xffff'ffff);
  TableErase erase{"words", {}};
  erase.keys32 = keys32;
  CHECK(ToMessage({erase}).erases(0).keys32(0) == 0xffff'ffff);
}

}  // namespace
}  // namespace gatherd::client
