// Part of the codec: protobuf's wire format, written field by field.
#ifndef GATHERD_SERVER_WIRE_WRITER_H_
#define GATHERD_SERVER_WIRE_WRITER_H_

#include <cstdint>
#include <string>

namespace gatherd {

constexpr size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

// Fields have numbers up to 15: tags of one byte. A number that is 0 is not
// written, as proto3 has it.
constexpr size_t NumberFieldBytes(uint64_t value) {
  return value == 0 ? 0 : 1 + VarintBytes(value);
}

inline void AppendNumberField(int field, uint64_t value, std::string* out) {
  if (value == 0) return;
  out->push_back(static_cast<char>(field << 3));
  AppendVarint(value, out);
}

// The same for bytes and messages, whose content follows this header.
constexpr size_t SizedFieldBytes(uint64_t size) {
  return size == 0 ? 0 : 1 + VarintBytes(size) + size;
}

inline void AppendSizedFieldHeader(int field, uint64_t size, std::string* out) {
  out->push_back(static_cast<char>(field << 3 | 2));
  AppendVarint(size, out);
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_WIRE_WRITER_H_
