#include "core/exec/missing_bits.h"

namespace gatherd {

void OrBits(const uint8_t* part, size_t num_bits, size_t first, uint8_t* bits) {
  for (size_t i = 0; i < num_bits; i += 8) {
    const unsigned byte = part[i / 8];
    if (byte == 0) continue;
    const unsigned shifted = byte << (first % 8);
    uint8_t* const at = bits + (first + i) / 8;
    const auto low = static_cast<uint8_t>(shifted);
    const auto high = static_cast<uint8_t>(shifted >> 8);
    // Relaxed: the job's end is what publishes them.
    if (low != 0) __atomic_fetch_or(at, low, __ATOMIC_RELAXED);
    if (high != 0) __atomic_fetch_or(at + 1, high, __ATOMIC_RELAXED);
  }
}

}  // namespace gatherd
