// Arithmetic on sizes that come from configurations, files and clients, where
// a product may pass 2^64. Rows, bytes and offsets are uint64_t everywhere.
#ifndef GATHERD_CORE_BASE_SIZES_H_
#define GATHERD_CORE_BASE_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace gatherd {

// Each gives nullopt if the result is above 2^64 - 1.
constexpr std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<uint64_t> CheckedMul(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The least multiple of `alignment`, which is not 0, that is at least `value`.
constexpr std::optional<uint64_t> CheckedAlignUp(uint64_t value,
                                                 uint64_t alignment) {
  const uint64_t excess = value % alignment;
  return excess == 0 ? value : CheckedAdd(value, alignment - excess);
}

// a / b rounded up; b is not 0. Cannot overflow.
constexpr uint64_t CeilDiv(uint64_t a, uint64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

// CheckedAlignUp for sizes that are known to be far from 2^64.
constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return CeilDiv(value, alignment) * alignment;
}

// For people: "512 B", "64 MiB", "1.50 GiB". Whole numbers are exact, others
// have two digits behind the point.
std::string HumanBytes(uint64_t bytes);

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_SIZES_H_
