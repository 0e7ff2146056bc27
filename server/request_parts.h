// Part of the codec: takes a request's bytes apart. All three requests are a
// list of parts, `repeated PART = 1`, and nothing else.
//
// Parts are parsed one by one, so that a message of millions of empty ones is
// refused before it has become a hundred times as large in memory.
#ifndef GATHERD_SERVER_REQUEST_PARTS_H_
#define GATHERD_SERVER_REQUEST_PARTS_H_

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/request_checks.h"
#include "server/request_codec.h"

namespace gatherd {

// gRPC hands on a call without its message when that was over the limit (and
// when the client sent none). The client has got gRPC's own text by then.
inline absl::Status NoMessage(const RequestLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no message, or one over ", limits.max_message_bytes,
                   " bytes (server.max_message_bytes)"));
}

template <typename Part>
bool ReadPart(google::protobuf::io::CodedInputStream& in, Part* part) {
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size)) return false;
  const auto limit = in.PushLimit(size);
  const bool parsed = part->MergeFromCodedStream(&in) &&
                      in.ConsumedEntireMessage() && in.BytesUntilLimit() == 0;
  in.PopLimit(limit);
  return parsed;
}

// Appends the parts, which live on `arena`. A part's share of the reply is
// `reply_bytes_per_part` or more. INVALID_ARGUMENT, or RESOURCE_EXHAUSTED for
// a reply that is too large by the number of its parts alone.
template <typename Part>
absl::Status ParseParts(const grpc::ByteBuffer& bytes, std::string_view request,
                        std::string_view field, uint64_t reply_bytes_per_part,
                        const RequestLimits& limits,
                        google::protobuf::Arena* arena,
                        std::vector<const Part*>* parts) {
  using google::protobuf::internal::WireFormatLite;
  constexpr uint32_t kPartTag =
      WireFormatLite::MakeTag(1, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  const absl::Status unparsable = absl::InvalidArgumentError(absl::StrCat(
      "the ", bytes.Length(), " bytes given are no ", std::string(request)));
  if (!bytes.Valid()) return NoMessage(limits);

  grpc::ByteBuffer buffer = bytes;  // a reference, not a copy
  grpc::ProtoBufferReader reader(&buffer);
  google::protobuf::io::CodedInputStream in(&reader);
  while (const uint32_t tag = in.ReadTag()) {
    if (tag != kPartTag) {
      if (!WireFormatLite::SkipField(&in, tag)) return unparsable;
      continue;
    }
    auto* part = google::protobuf::Arena::CreateMessage<Part>(arena);
    if (!ReadPart(in, part)) return unparsable;
    parts->push_back(part);
    const uint64_t reply_bytes = parts->size() * reply_bytes_per_part;
    if (reply_bytes > limits.max_message_bytes) {
      return ReplyTooLarge({field, parts->size() - 1, part->table()},
                           reply_bytes, limits);
    }
  }
  return in.ConsumedEntireMessage() ? absl::OkStatus() : unparsable;
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_PARTS_H_
