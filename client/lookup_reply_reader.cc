#include "client/lookup_reply_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "client/messages.h"
#include "client/row_runs.h"
#include "proto/gatherd/v1/gatherd.pb.h"

namespace gatherd::client {
namespace {

using google::protobuf::internal::WireFormatLite;  // what generated code uses
using google::protobuf::io::CodedInputStream;
using Piece = absl::Span<const std::byte>;

constexpr uint32_t Tag(int field, WireFormatLite::WireType type) {
  return WireFormatLite::MakeTag(field, type);
}

constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;

// Deques, for what lies in them stays where it is.
struct Memory {
  grpc::ByteBuffer buffer;
  std::deque<RowRuns> runs;
  std::deque<std::string> missing;  // those that came in several pieces
};

// The bytes of a field as they lie in the buffer.
bool ReadPieces(CodedInputStream& input, std::vector<Piece>* pieces) {
  pieces->clear();
  uint32_t left = 0;
  if (!input.ReadVarint32(&left)) return false;
  while (left > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!input.GetDirectBufferPointer(&data, &size)) return false;
    const uint32_t num_bytes = std::min(left, static_cast<uint32_t>(size));
    pieces->push_back({static_cast<const std::byte*>(data), num_bytes});
    if (!input.Skip(static_cast<int>(num_bytes))) return false;
    left -= num_bytes;
  }
  return true;
}

std::string_view AsText(Piece piece) {
  return {reinterpret_cast<const char*>(piece.data()), piece.size()};
}

std::string_view Joined(absl::Span<const Piece> pieces, Memory& memory) {
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return AsText(pieces[0]);
  std::string& text = memory.missing.emplace_back();
  for (const Piece& piece : pieces) text.append(AsText(piece));
  return text;
}

// Of one TableRows; `values` are its rows. As in protobuf, the last occurrence
// of a field counts.
bool ReadFields(CodedInputStream& input, Memory& memory,
                TableRows::Fields* fields, std::vector<Piece>* values) {
  using Message = v1::TableRows;
  std::vector<Piece> missing;
  uint64_t number = 0;
  const auto read = [&](auto* field) {
    if (!input.ReadVarint64(&number)) return false;
    *field = static_cast<std::remove_pointer_t<decltype(field)>>(number);
    return true;
  };
  uint32_t data_type = 0;
  while (const uint32_t tag = input.ReadTag()) {
    bool ok = false;
    switch (tag) {
      case Tag(Message::kDataTypeFieldNumber, kVarint):
        ok = read(&data_type);
        break;
      case Tag(Message::kDimFieldNumber, kVarint):
        ok = read(&fields->dim);
        break;
      case Tag(Message::kNumRowsFieldNumber, kVarint):
        ok = read(&fields->num_rows);
        break;
      case Tag(Message::kValuesFieldNumber, kBytes):
        ok = ReadPieces(input, values);
        break;
      case Tag(Message::kMissingFieldNumber, kBytes):
        ok = ReadPieces(input, &missing);
        break;
      case Tag(Message::kNumMissingFieldNumber, kVarint):
        ok = read(&fields->num_missing);
        break;
      case Tag(Message::kRevisionFieldNumber, kVarint):
        ok = read(&fields->revision);
        break;
      default:
        ok = WireFormatLite::SkipField(&input, tag);
    }
    if (!ok) return false;
  }
  // An enum of one byte: what does not fit must not become one that is known.
  fields->data_type = static_cast<DataType>(std::min(data_type, 255U));
  fields->missing = Joined(missing, memory);
  return input.ConsumedEntireMessage();
}

absl::Status Malformed() {
  return absl::InternalError("reply: is no LookupResponse");
}

absl::StatusOr<TableRows> ReadTable(CodedInputStream& input, Memory& memory,
                                    std::vector<Piece>& values) {
  uint32_t num_bytes = 0;
  if (!input.ReadVarint32(&num_bytes)) return Malformed();
  const auto limit = input.PushLimit(static_cast<int>(num_bytes));
  TableRows::Fields fields;
  values.clear();
  if (!ReadFields(input, memory, &fields, &values) ||
      input.BytesUntilLimit() != 0) {
    return Malformed();
  }
  input.PopLimit(limit);
  uint64_t num_value_bytes = 0;
  for (const Piece& piece : values) num_value_bytes += piece.size();
  if (absl::Status status = TableRows::CheckSizes(fields, num_value_bytes);
      !status.ok()) {
    return status;
  }
  if (values.size() == 1) {
    fields.values = AsText(values[0]);
  } else {
    const size_t row_bytes = RowBytes(fields.data_type, fields.dim);
    fields.runs = memory.runs.emplace_back(values, row_bytes).runs();
  }
  return TableRows::Create(fields);
}

}  // namespace

absl::StatusOr<LookupReply> ReadLookupReply(grpc::ByteBuffer buffer,
                                            size_t num_lookups) {
  auto memory = std::make_shared<Memory>();
  memory->buffer = std::move(buffer);
  grpc::ProtoBufferReader reader(&memory->buffer);
  CodedInputStream input(&reader);
  std::vector<TableRows> tables;
  tables.reserve(num_lookups);
  std::vector<Piece> values;
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != Tag(v1::LookupResponse::kResultsFieldNumber, kBytes)) {
      if (!WireFormatLite::SkipField(&input, tag)) return Malformed();
      continue;
    }
    const absl::StatusOr<TableRows> table = ReadTable(input, *memory, values);
    if (!table.ok()) return table.status();
    tables.push_back(*table);
  }
  if (!input.ConsumedEntireMessage()) return Malformed();
  if (absl::Status status = CheckNumResults(tables.size(), num_lookups);
      !status.ok()) {
    return status;
  }
  return LookupReply(std::move(memory), std::move(tables));
}

}  // namespace gatherd::client
