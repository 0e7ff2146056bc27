// Any bytes, in slices cut anywhere, taken for each of the three requests: our
// reader takes what protobuf's parser takes, and finds the same in it.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/reply_memory.h"
#include "server/request_fields.h"
#include "server/request_memory.h"
#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

using std::string_literals::operator""s;
using v1::EraseRequest;
using v1::LookupRequest;
using v1::TableErase;
using v1::TableLookup;
using v1::TableUpdate;
using v1::UpdateRequest;

// Bit by bit: a NaN is not equal to itself.
template <typename T, typename Repeated>
void RequireSame(const Elements<T>& elements, const Repeated& expected) {
  FuzzRequire(elements.count == static_cast<uint64_t>(expected.size()));
  if (elements.count == 0) return;
  FuzzRequire(std::memcmp(elements.data, expected.data(),
                          elements.count * sizeof(T)) == 0);
}

template <typename Message>
void RequireSameShared(const EraseFields& fields, const Message& expected) {
  FuzzRequire(fields.table == expected.table());
  const auto& narrow = expected.keys32();
  FuzzRequire(fields.num_keys32 == static_cast<uint64_t>(narrow.size()));
  if (fields.num_keys32 == 0) return RequireSame(fields.keys, expected.keys());
  FuzzRequire(fields.keys.count == fields.num_keys32 + expected.keys_size());
  // Requests with both are refused: the order of keys is that of the bytes.
  if (fields.keys.count > fields.num_keys32) return;
  FuzzRequire(std::equal(narrow.begin(), narrow.end(), fields.keys.data));
}

void RequireSame(const EraseFields& fields, const TableErase& expected) {
  RequireSameShared(fields, expected);
}

void RequireSame(const LookupFields& fields, const TableLookup& expected) {
  RequireSameShared(fields, expected);
  RequireSame(fields.offsets, expected.offsets());
  RequireSame(fields.weights, expected.weights());
  FuzzRequire(fields.pooling == expected.pooling());
  FuzzRequire(fields.output_type == expected.output_type());
  FuzzRequire(fields.missing_key_policy == expected.missing_key_policy());
}

void RequireSame(const UpdateFields& fields, const TableUpdate& expected) {
  RequireSameShared(fields, expected);
  RequireSame(fields.values, expected.values());
  FuzzRequire(fields.data_type == expected.data_type());
  FuzzRequire(fields.mode == expected.mode());
}

template <typename Fields, typename Parts>
void RequireSameParts(const std::vector<grpc::Slice>& slices, bool parses,
                      const Parts& expected) {
  NameCopies names;
  std::vector<Fields> parts;
  const bool ok = MeasureRequest(slices, &names, &parts, [] { return true; });
  FuzzRequire(ok == parses);
  if (!ok) return;
  RequestMemory memory;
  for (const Fields& part : parts) AddBytes(part, &memory);
  memory.Allocate(HeapReplyMemory());
  for (Fields& part : parts) Fill(&part, &memory);
  FuzzRequire(parts.size() == static_cast<size_t>(expected.size()));
  for (int i = 0; i < expected.size(); ++i) RequireSame(parts[i], expected[i]);
}

// Pieces whose lengths the bytes themselves decide, some of them empty.
std::vector<grpc::Slice> InSlices(const uint8_t* data, size_t size) {
  std::vector<grpc::Slice> slices;
  size_t at = 0;
  for (size_t i = 0; at < size; ++i) {
    const uint8_t byte = data[i % size];
    const size_t piece =
        std::min<size_t>(byte % 8 < 6 ? byte / 4 : byte % 8, size - at);
    // An empty one now and then, but not for ever.
    slices.emplace_back(data + at,
                        i % 2 == 0 ? piece : std::max<size_t>(piece, 1));
    at += slices.back().size();
  }
  return slices;
}

std::string Sized(int field, const std::string& body) {
  // Sizes below 128, in two bytes as no encoder writes them.
  return std::string{static_cast<char>(field << 3 | 2),
                     static_cast<char>(body.size() | 0x80), '\0'} +
         body;
}

std::string Part(const std::string& body) { return Sized(1, body); }

// A request of a part of each kind, written as encoders write it.
std::string PlainSeed() {
  LookupRequest request;
  TableLookup* part = request.add_lookups();
  part->set_table("w\xc3\xb6rter");
  for (int64_t key : {-1, 63, 64, 5}) part->add_keys(key);
  part->set_pooling(v1::POOLING_MEAN);
  for (uint32_t offset : {0u, 1u, 300u, 70'000u, ~0u}) {
    part->add_offsets(offset);
  }
  for (float weight : {1.f, 0.f, -1.f, 2.f}) part->add_weights(weight);
  part->set_output_type(v1::DATA_TYPE_BFLOAT16);
  part->set_missing_key_policy(v1::MISSING_KEY_POLICY_ERROR);
  return request.SerializeAsString();
}

std::string UpdateSeed() {
  UpdateRequest request;
  TableUpdate* part = request.add_updates();
  part->set_table("t");
  part->add_keys(7);
  part->set_data_type(v1::DATA_TYPE_INT8);
  part->set_values(std::string(40, '\x3f'));
  part->set_mode(v1::UPDATE_MODE_ADD);
  return request.SerializeAsString();
}

// What encoders do not write, but parsers must take, and a bit beyond.
std::vector<std::string> OddParts() {
  const std::string key(8, '\x05');
  const std::string ten_bytes = std::string(9, '\xff') + '\x7f';
  const std::string group = "\x7b\x08\x01\x7c";
  return {
      // Packed, alone and in pieces; no whole key at the end.
      Sized(2, key) + "\x11" + key + Sized(2, key + key) + Sized(2, ""),
      Sized(5, "12345678") + "\x2d" + "1234",
      Sized(2, key + "1234567"),
      Sized(8, key + "\xff\xff\xff\xff") + "\x45" + "1234" + Sized(8, ""),
      Sized(8, key) + Sized(2, key),
      Sized(8, key + "1"),
      // Varints of any length; of a byte too many; cut short.
      Sized(4, "\x05" + ten_bytes + "\x80\x01"),
      "\x20\x03" + Sized(4, "\x04") + "\x20" + ten_bytes,
      Sized(4, "\x05\xff" + ten_bytes),
      Sized(4, "\x01\x80"),
      // Scalars given twice, and above 32 bits.
      "\x18" + ten_bytes + "\x30\x80\x80\x00\x38\x01\x38\x02"s,
      // Names given twice; a surrogate, the last characters, a long form.
      Sized(1, "one") + Sized(1, "two"),
      Sized(1, "\xed\xa0\x80") + Sized(1, "two"),
      Sized(1, "\xf4\x8f\xbf\xbf\xef\xbf\xbe"),
      Sized(1, "\xc0\x80"),
      // Groups; one that ends another; an end alone.
      group + group + "\x7b" + group + "\x7c",
      "\x7b\x74",
      "\x7c",
      // Tags of five bytes and more, of more than 32 bits, of no field.
      "\x80\x80\x80\x80\x10\x01"s,
      "\x92\x80\x80\x80\x00\x08"s + key,
      "\x92\x80\x80\x80\x80\x00\x08"s + key,
      "\x92\x80\x80\x80\x70\x08"s + key,
      "\x02\x00"s,
      "\x00"s,
      // Sizes of five bytes and more, of 2 GiB.
      "\x22\x80\x80\x80\x80\x00"s,
      "\x22\x80\x80\x80\x80\x80\x00"s,
      "\x7a\xff\xff\xff\xff\x07"s,
      // Other wire types than the fields have; one that is none.
      "\x09" + key + "\x10\x09\x25" + "1234",
      Sized(3, "\x01") + Sized(6, "") + Sized(4, "values"),
      "\x0e",
  };
}

// Groups, one inside the other.
std::string Nested(size_t depth) {
  return std::string(depth, '\x7b') + std::string(depth, '\x7c');
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds = {PlainSeed(), UpdateSeed(), "", Nested(100),
                                    Nested(101)};
  for (size_t depth : {98, 99, 100}) {
    const std::string body = Nested(depth);
    seeds.push_back({'\x0a', static_cast<char>((body.size() & 127) | 128),
                     static_cast<char>(body.size() >> 7)});
    seeds.back() += body;
  }
  std::string all;
  for (const std::string& part : OddParts()) {
    seeds.push_back(Part(part));
    all += Part(part);
  }
  seeds.push_back(all);
  return seeds;
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gatherd;
  google::protobuf::SetLogHandler(nullptr);  // it names strings that are none
  const std::vector<grpc::Slice> slices = InSlices(data, size);
  const int num_bytes = static_cast<int>(size);
  LookupRequest lookup;
  bool parses = lookup.ParseFromArray(data, num_bytes);
  RequireSameParts<LookupFields>(slices, parses, lookup.lookups());
  UpdateRequest update;
  parses = update.ParseFromArray(data, num_bytes);
  RequireSameParts<UpdateFields>(slices, parses, update.updates());
  EraseRequest erase;
  parses = erase.ParseFromArray(data, num_bytes);
  RequireSameParts<EraseFields>(slices, parses, erase.erases());
  return 0;
}
