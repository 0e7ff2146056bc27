#include "core/base/sizes.h"

#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST_CASE("Checked sums and products are exact up to 2^64 - 1") {
  CHECK(CheckedAdd(2, 3) == 5);
  CHECK(CheckedAdd(kMax, 0) == kMax);
  CHECK(CheckedAdd(kMax, 1) == std::nullopt);
  CHECK(CheckedMul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1) ==
        kMax - ((uint64_t{1} << 32) - 1));
  CHECK(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32) == std::nullopt);
  CHECK(CheckedMul(0, kMax) == 0);
}

TEST_CASE("Aligning and dividing round up without overflow") {
  CHECK(CheckedAlignUp(0, 16) == 0);
  CHECK(CheckedAlignUp(16, 16) == 16);
  CHECK(CheckedAlignUp(17, 16) == 32);
  CHECK(CheckedAlignUp(kMax - 15, 16) == kMax - 15);
  CHECK(CheckedAlignUp(kMax - 14, 16) == std::nullopt);
  CHECK(AlignUp(0, 16) == 0);
  CHECK(AlignUp(16, 16) == 16);
  CHECK(AlignUp(17, 24) == 24);
  CHECK(CeilDiv(0, 7) == 0);
  CHECK(CeilDiv(14, 7) == 2);
  CHECK(CeilDiv(15, 7) == 3);
  CHECK(CeilDiv(kMax, 2) == uint64_t{1} << 63);
}

TEST_CASE("HumanBytes is exact for whole units, else has two digits") {
  CHECK(HumanBytes(0) == "0 B");
  CHECK(HumanBytes(1023) == "1023 B");
  CHECK(HumanBytes(1024) == "1 KiB");
  CHECK(HumanBytes(1536) == "1.50 KiB");
  CHECK(HumanBytes(uint64_t{64} << 20) == "64 MiB");
  CHECK(HumanBytes((uint64_t{1} << 20) - 1) == "1.00 MiB");
  CHECK(HumanBytes((uint64_t{3} << 40) + (uint64_t{1} << 39)) == "3.50 TiB");
  CHECK(HumanBytes(kMax) == "16.00 EiB");
}

}  // namespace
}  // namespace gatherd
