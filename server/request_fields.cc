#include "server/request_fields.h"

#include <algorithm>
#include <array>

#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/utf8.h"

namespace gatherd {
namespace {

using v1::TableErase;
using v1::TableLookup;
using v1::TableUpdate;

// Of every part.
constexpr int kTable = TableErase::kTableFieldNumber;
constexpr int kKeys = TableErase::kKeysFieldNumber;
constexpr int kKeys32 = TableErase::kKeys32FieldNumber;
static_assert(kTable == TableLookup::kTableFieldNumber &&
              kTable == TableUpdate::kTableFieldNumber);
static_assert(kKeys == TableLookup::kKeysFieldNumber &&
              kKeys == TableUpdate::kKeysFieldNumber);
static_assert(kKeys32 == TableLookup::kKeys32FieldNumber &&
              kKeys32 == TableUpdate::kKeys32FieldNumber);

// Below a part, which is itself below the request.
constexpr int kPartDepth = WireReader::kMaxDepth - 1;

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool ReadName(WireReader& in, NameCopies* copies, std::string_view* name) {
  return in.ReadSized([&] {
    const uint64_t size = in.num_left();
    if (const uint8_t* const at = in.Peek(size)) {
      *name = {reinterpret_cast<const char*>(at), size};
      in.Skip(size);
    } else {
      std::string& copy = copies->emplace_front(size, '\0');
      in.Copy(size, copy.data());
      *name = copy;
    }
    return IsUtf8(*name);
  });
}

template <typename T>
bool CountPacked(WireReader& in, uint64_t* count) {
  return in.ReadSized([&] {
    const uint64_t size = in.num_left();
    *count += size / sizeof(T);
    in.Skip(size);
    return size % sizeof(T) == 0;
  });
}

template <typename T>
bool CountOne(WireReader& in, uint64_t* count) {
  if (in.num_left() < sizeof(T)) return false;
  ++*count;
  in.Skip(sizeof(T));
  return true;
}

// The fields of every part, and those that are unknown.
bool MeasureField(WireReader& in, uint32_t tag, NameCopies* names,
                  EraseFields* fields) {
  switch (tag) {
    case SizedTag(kTable):
      return ReadName(in, names, &fields->table);
    case SizedTag(kKeys):
      return CountPacked<int64_t>(in, &fields->keys.count);
    case Fixed64Tag(kKeys):
      return CountOne<int64_t>(in, &fields->keys.count);
    case SizedTag(kKeys32):
      return CountPacked<uint32_t>(in, &fields->num_keys32);
    case Fixed32Tag(kKeys32):
      return CountOne<uint32_t>(in, &fields->num_keys32);
    default:
      return in.SkipField(tag, kPartDepth);
  }
}

bool MeasureField(WireReader& in, uint32_t tag, NameCopies* names,
                  LookupFields* fields) {
  uint64_t skipped = 0;
  switch (tag) {
    case VarintTag(TableLookup::kPoolingFieldNumber):
      return in.ReadEnum(&fields->pooling);
    case SizedTag(TableLookup::kOffsetsFieldNumber):
      return in.ReadSized(
          [&] { return in.CountVarints(&fields->offsets.count); });
    case VarintTag(TableLookup::kOffsetsFieldNumber):
      ++fields->offsets.count;
      return in.ReadVarint(&skipped);
    case SizedTag(TableLookup::kWeightsFieldNumber):
      return CountPacked<float>(in, &fields->weights.count);
    case Fixed32Tag(TableLookup::kWeightsFieldNumber):
      return CountOne<float>(in, &fields->weights.count);
    case VarintTag(TableLookup::kOutputTypeFieldNumber):
      return in.ReadEnum(&fields->output_type);
    case VarintTag(TableLookup::kMissingKeyPolicyFieldNumber):
      return in.ReadEnum(&fields->missing_key_policy);
    default:
      return MeasureField(in, tag, names, static_cast<EraseFields*>(fields));
  }
}

bool MeasureField(WireReader& in, uint32_t tag, NameCopies* names,
                  UpdateFields* fields) {
  switch (tag) {
    case VarintTag(TableUpdate::kDataTypeFieldNumber):
      return in.ReadEnum(&fields->data_type);
    case SizedTag(TableUpdate::kValuesFieldNumber):
      return in.ReadSized([&] {
        fields->values.count = in.num_left();
        fields->values_at = in;
        in.Skip(in.num_left());
        return true;
      });
    case VarintTag(TableUpdate::kModeFieldNumber):
      return in.ReadEnum(&fields->mode);
    default:
      return MeasureField(in, tag, names, static_cast<EraseFields*>(fields));
  }
}

template <typename Fields>
bool MeasureFields(WireReader& in, NameCopies* names, Fields* fields) {
  fields->body = in;
  const bool ok = in.ReadFields(
      [&](uint32_t tag) { return MeasureField(in, tag, names, fields); });
  fields->keys.count += fields->num_keys32;
  return ok;
}

// Bytes that were measured cannot be malformed: what reads them to copy does
// not ask again.

template <typename T>
void CopyPacked(WireReader& in, T** to) {
  uint64_t size = 0;
  in.ReadSize(&size);
  in.Copy(size, *to);
  *to += size / sizeof(T);
}

template <typename T>
void CopyOne(WireReader& in, T** to) {
  in.Copy(sizeof(T), *to);
  ++*to;
}

// As unsigned numbers, in blocks.
void CopyKeys32(WireReader& in, uint64_t count, int64_t** to) {
  std::array<uint32_t, 256> block;
  while (count > 0) {
    const uint64_t num = std::min<uint64_t>(count, block.size());
    in.Copy(num * sizeof(uint32_t), block.data());
    *to = std::copy_n(block.data(), num, *to);
    count -= num;
  }
}

void CopyOffset(WireReader& in, uint32_t** to) {
  uint64_t offset = 0;
  in.ReadVarint(&offset);
  *(*to)++ = static_cast<uint32_t>(offset);
}

void CopyKeys(const EraseFields& fields) {
  WireReader in = fields.body;
  int64_t* keys = fields.keys.data;
  uint64_t size = 0;
  in.ReadFields([&](uint32_t tag) {
    switch (tag) {
      case SizedTag(kKeys):
        CopyPacked(in, &keys);
        return true;
      case Fixed64Tag(kKeys):
        CopyOne(in, &keys);
        return true;
      case SizedTag(kKeys32):
        in.ReadSize(&size);
        CopyKeys32(in, size / sizeof(uint32_t), &keys);
        return true;
      case Fixed32Tag(kKeys32):
        CopyKeys32(in, 1, &keys);
        return true;
      default:
        return in.SkipField(tag, kPartDepth);
    }
  });
}

void CopyBags(const LookupFields& fields) {
  WireReader in = fields.body;
  uint32_t* offsets = fields.offsets.data;
  float* weights = fields.weights.data;
  in.ReadFields([&](uint32_t tag) {
    switch (tag) {
      case SizedTag(TableLookup::kOffsetsFieldNumber):
        return in.ReadSized([&] { return in.ReadVarints(&offsets); });
      case VarintTag(TableLookup::kOffsetsFieldNumber):
        CopyOffset(in, &offsets);
        return true;
      case SizedTag(TableLookup::kWeightsFieldNumber):
        CopyPacked(in, &weights);
        return true;
      case Fixed32Tag(TableLookup::kWeightsFieldNumber):
        CopyOne(in, &weights);
        return true;
      default:
        return in.SkipField(tag, kPartDepth);
    }
  });
}

template <typename T>
void Take(Elements<T>* elements, RequestMemory* memory) {
  elements->data =
      reinterpret_cast<T*>(memory->TakeBytes(elements->count * sizeof(T)));
}

bool IsInOneSlice(const UpdateFields& fields) {
  WireReader in = fields.values_at;
  return in.Peek(fields.values.count) != nullptr;
}

}  // namespace

bool Measure(WireReader& in, NameCopies* names, LookupFields* fields) {
  return MeasureFields(in, names, fields);
}

bool Measure(WireReader& in, NameCopies* names, UpdateFields* fields) {
  return MeasureFields(in, names, fields);
}

bool Measure(WireReader& in, NameCopies* names, EraseFields* fields) {
  return MeasureFields(in, names, fields);
}

void AddBytes(const EraseFields& fields, RequestMemory* memory) {
  memory->AddBytes(fields.keys.count * sizeof(int64_t));
}

void AddBytes(const LookupFields& fields, RequestMemory* memory) {
  AddBytes(static_cast<const EraseFields&>(fields), memory);
  memory->AddBytes(fields.offsets.count * sizeof(uint32_t));
  memory->AddBytes(fields.weights.count * sizeof(float));
}

void AddBytes(const UpdateFields& fields, RequestMemory* memory) {
  AddBytes(static_cast<const EraseFields&>(fields), memory);
  if (!IsInOneSlice(fields)) memory->AddBytes(fields.values.count);
}

void Fill(EraseFields* fields, RequestMemory* memory) {
  Take(&fields->keys, memory);
  CopyKeys(*fields);
}

void Fill(LookupFields* fields, RequestMemory* memory) {
  Fill(static_cast<EraseFields*>(fields), memory);
  if (fields->offsets.count == 0 && fields->weights.count == 0) return;
  Take(&fields->offsets, memory);
  Take(&fields->weights, memory);
  CopyBags(*fields);
}

void Fill(UpdateFields* fields, RequestMemory* memory) {
  Fill(static_cast<EraseFields*>(fields), memory);
  WireReader in = fields->values_at;
  const uint64_t size = fields->values.count;
  if (const uint8_t* const at = in.Peek(size)) {
    fields->values.data = reinterpret_cast<const std::byte*>(at);
  } else {
    std::byte* const copy = memory->TakeBytes(size);
    in.Copy(size, copy);
    fields->values.data = copy;
  }
}

}  // namespace gatherd
