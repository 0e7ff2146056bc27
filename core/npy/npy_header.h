// The header of a .npy file: what numpy.save writes before the elements.
//
//   offset 0   "\x93NUMPY", one byte major and one byte minor version
//   offset 8   length of the text: 2 bytes (version 1.0) or 4 bytes (2.0),
//              little-endian
//   then       the text, a Python dictionary literal of exactly 'descr',
//              'fortran_order' and 'shape', padded with blanks
//   then       the elements, row-major
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef GATHERD_CORE_NPY_NPY_HEADER_H_
#define GATHERD_CORE_NPY_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gatherd {

// All little-endian.
enum class NpyType : uint8_t { kFloat16, kFloat32, kFloat64, kInt32, kInt64 };

size_t NpyTypeBytes(NpyType type);
std::string NpyTypeName(NpyType type);  // "float16", ...

struct NpyHeader {
  NpyType type = NpyType::kFloat32;
  std::vector<uint64_t> shape;  // (): one element
  uint64_t data_offset = 0;
  // Of all elements. The product of all lengths of `shape` that are not 0 and
  // the element's bytes fits 64 bits, too.
  uint64_t data_bytes = 0;

  std::string ShapeText() const;  // as Python writes it: "(3,)", "(3, 4)"
};

// Longer headers are refused: ours have some hundred bytes.
inline constexpr size_t kMaxNpyHeaderBytes = 64 << 10;

// Reads the header at the beginning of `file`, which is the whole file or at
// least kMaxNpyHeaderBytes of it; what follows the header is not looked at.
// INVALID_ARGUMENT "offset N: reason" for anything that is no row-major array
// of one of the types above in version 1.0 or 2.0.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view file);

}  // namespace gatherd

#endif  // GATHERD_CORE_NPY_NPY_HEADER_H_
