// Bits of missing keys, as LookupOutput has them.
#ifndef GATHERD_CORE_EXEC_MISSING_BITS_H_
#define GATHERD_CORE_EXEC_MISSING_BITS_H_

#include <cstddef>
#include <cstdint>

namespace gatherd {

// bits[first + i] |= part[i] for each of `num_bits`; those of the last byte of
// `part` beyond them are 0. Other threads may set other bits of the same bytes.
void OrBits(const uint8_t* part, size_t num_bits, size_t first, uint8_t* bits);

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_MISSING_BITS_H_
