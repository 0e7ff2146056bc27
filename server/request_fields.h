// Part of the codec: what the messages of a request say, without building them.
//
// A part is read twice: Measure checks its bytes, takes the scalars and counts
// the elements; once there is memory for so many, Fill copies each to its place
// there. In between the request can be judged as a whole.
#ifndef GATHERD_SERVER_REQUEST_FIELDS_H_
#define GATHERD_SERVER_REQUEST_FIELDS_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "server/request_memory.h"
#include "server/wire_reader.h"

namespace gatherd {

// The elements of a repeated field; `data` once they are filled.
template <typename T>
struct Elements {
  uint64_t count = 0;
  T* data = nullptr;

  absl::Span<const T> span() const { return {data, count}; }
};

// TableErase, and what every part has.
struct EraseFields {
  WireReader body;
  std::string_view table;  // in the slices, or in NameCopies
  Elements<int64_t> keys;
  uint64_t num_keys32 = 0;  // of these, given as keys32: all or none
};

struct LookupFields : EraseFields {
  int pooling = 0;  // enums may have any number
  int output_type = 0;
  int missing_key_policy = 0;
  Elements<uint32_t> offsets;
  Elements<float> weights;
};

struct UpdateFields : EraseFields {
  int data_type = 0;
  int mode = 0;
  Elements<const std::byte> values;
  WireReader values_at;
};

// Names of tables that lie in two slices or more.
using NameCopies = std::forward_list<std::string>;

// Takes the body of a part, which `in` shall have as its message at hand, but
// for its elements, which are counted alone. False: it is no such message.
bool Measure(WireReader& in, NameCopies* names, LookupFields* fields);
bool Measure(WireReader& in, NameCopies* names, UpdateFields* fields);
bool Measure(WireReader& in, NameCopies* names, EraseFields* fields);

// Appends all parts of a request to a vector, measured; `on_part()` runs behind
// each. False if the bytes are no request, or as soon as `on_part` says so.
template <typename Parts, typename OnPart>
bool MeasureRequest(absl::Span<const grpc::Slice> slices, NameCopies* names,
                    Parts* parts, OnPart on_part) {
  constexpr uint32_t kPartTag = SizedTag(1);  // in all three requests
  WireReader in(slices);
  return in.ReadFields([&](uint32_t tag) {
    if (tag != kPartTag) return in.SkipField(tag, WireReader::kMaxDepth);
    auto& part = parts->emplace_back();
    return in.ReadSized([&] { return Measure(in, names, &part); }) && on_part();
  });
}

// The bytes that Fill will take of `memory`.
void AddBytes(const LookupFields& fields, RequestMemory* memory);
void AddBytes(const UpdateFields& fields, RequestMemory* memory);
void AddBytes(const EraseFields& fields, RequestMemory* memory);

// Copies the elements of a measured part. Values of an update that lie in one
// slice stay there, at any alignment.
void Fill(LookupFields* fields, RequestMemory* memory);
void Fill(UpdateFields* fields, RequestMemory* memory);
void Fill(EraseFields* fields, RequestMemory* memory);

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_FIELDS_H_
