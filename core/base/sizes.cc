#include "core/base/sizes.h"

#include <cstdio>

namespace gatherd {
namespace {

constexpr const char* kUnits[] = {"B",   "KiB", "MiB", "GiB",
                                  "TiB", "PiB", "EiB"};
constexpr int kNumUnits = sizeof(kUnits) / sizeof(kUnits[0]);

}  // namespace

std::string HumanBytes(uint64_t bytes) {
  int unit = 0;
  while (unit + 1 < kNumUnits && (bytes >> (10 * (unit + 1))) != 0) ++unit;
  const uint64_t unit_bytes = uint64_t{1} << (10 * unit);
  if (bytes % unit_bytes == 0) {
    return std::to_string(bytes / unit_bytes) + " " + kUnits[unit];
  }
  double count = static_cast<double>(bytes) / static_cast<double>(unit_bytes);
  // 1023.999 KiB would be printed as 1024.00 KiB.
  if (count >= 1023.995 && unit + 1 < kNumUnits) {
    ++unit;
    count /= 1024;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %s", count, kUnits[unit]);
  return text;
}

}  // namespace gatherd
