// Part of the codec: protobuf's wire format, read where the transport put it,
// in slices that cut a message anywhere.
//
// Takes and refuses what protobuf's own parser does. A read that fails leaves
// the reader unusable: bytes that are no message are not read on.
#ifndef GATHERD_SERVER_WIRE_READER_H_
#define GATHERD_SERVER_WIRE_READER_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace gatherd {

// Tags of fields that are written so: a varint, 8 bytes, a size and so many
// bytes, 4 bytes.
constexpr uint32_t VarintTag(int field) { return field << 3; }
constexpr uint32_t Fixed64Tag(int field) { return field << 3 | 1; }
constexpr uint32_t SizedTag(int field) { return field << 3 | 2; }
constexpr uint32_t Fixed32Tag(int field) { return field << 3 | 5; }

// A place in the slices, cheap to copy. The slices outlive it.
class WireReader {
 public:
  // Groups and messages inside one another, the request itself not counted.
  static constexpr int kMaxDepth = 100;

  WireReader() = default;  // of no bytes
  explicit WireReader(absl::Span<const grpc::Slice> slices);

  // Of the message at hand: at first all bytes.
  bool AtEnd() const { return left_ == 0; }
  uint64_t num_left() const { return left_; }

  bool ReadTag(uint32_t* tag) {
    uint64_t value = 0;
    if (!ReadVarint(kMaxTagBytes, &value)) return false;
    *tag = static_cast<uint32_t>(value);
    return true;
  }
  bool ReadVarint(uint64_t* value) {
    return ReadVarint(kMaxVarintBytes, value);
  }
  // As enums are read: the low 32 bits.
  bool ReadEnum(int* number);
  // Of bytes that follow, and are there.
  bool ReadSize(uint64_t* size) {
    return ReadVarint(kMaxSizeBytes, size) && *size <= left_;
  }

  // `num_bytes` are num_left() at most, of these three.
  void Skip(uint64_t num_bytes);
  void Copy(uint64_t num_bytes, void* to);
  // The next bytes if they lie in one slice, else null. Does not pass them.
  const uint8_t* Peek(uint64_t num_bytes);

  // The field behind `tag`, whatever it is; `depth` more levels are allowed
  // in it. False for the end of a group, too.
  bool SkipField(uint32_t tag, int depth);

  // A sized field: `read` shall take all of it, as the message at hand.
  template <typename Read>
  bool ReadSized(Read read) {
    uint64_t size = 0;
    if (!ReadSize(&size)) return false;
    const uint64_t behind = left_ - size;
    left_ = size;
    if (!read() || left_ != 0) return false;
    left_ = behind;
    return true;
  }

  // The fields of the message at hand: `read_field(tag)` takes what follows.
  template <typename ReadField>
  bool ReadFields(ReadField read_field) {
    while (left_ != 0) {
      uint32_t tag = 0;
      if (!ReadTag(&tag) || !read_field(tag)) return false;
    }
    return true;
  }

  // All that is left, which is varints: adds how many; writes the low 32 bits
  // of each to *to, and moves it on.
  bool CountVarints(uint64_t* count);
  bool ReadVarints(uint32_t** to);

 private:
  static constexpr int kMaxTagBytes = 5;
  static constexpr int kMaxSizeBytes = 5;
  static constexpr int kMaxVarintBytes = 10;

  // What is left of the slice at hand; not 0 unless at the end.
  size_t NumAtHand();
  void Advance(size_t num_bytes) {
    at_ += num_bytes;
    left_ -= num_bytes;
  }
  bool ReadByte(uint8_t* byte);
  // Of one byte, as most are, in line.
  bool ReadVarint(int max_bytes, uint64_t* value) {
    if (left_ == 0 || at_ == slice_end_ || *at_ >= 0x80) {
      return ReadLongVarint(max_bytes, value);
    }
    *value = *at_;
    Advance(1);
    return true;
  }
  bool ReadLongVarint(int max_bytes, uint64_t* value);
  bool SkipGroup(uint32_t start_tag, int depth);

  const uint8_t* at_ = nullptr;
  const uint8_t* slice_end_ = nullptr;
  const grpc::Slice* next_slice_ = nullptr;
  uint64_t left_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_WIRE_READER_H_
