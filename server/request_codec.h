// The wire codec: bytes of a request of EmbeddingService to something that the
// engine can carry out, and its results to the bytes of a reply. Nobody else
// sees how these messages are written.
//
// Decode answers everything that is wrong with a request by itself, before
// anything is looked up or written (docs/api.md lists the answers):
//   INVALID_ARGUMENT    bytes that are no such request, wrong sizes, offsets,
//                       weights, types, enum values, too many keys
//   NOT_FOUND           an unknown table
//   UNAVAILABLE         a table that is still loading
//   FAILED_PRECONDITION a write to a read-only table
//   RESOURCE_EXHAUSTED  a reply that would be over max_message_bytes
//
// Keys and the like are copied once, from the slices of `bytes` to `memory`,
// which a lookup takes for its reply, too; values of an update stay in their
// slice if it is one. What is decoded holds the slices.
#ifndef GATHERD_SERVER_REQUEST_CODEC_H_
#define GATHERD_SERVER_REQUEST_CODEC_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/catalog/catalog.h"
#include "core/exec/dispatcher.h"
#include "core/table/batch.h"
#include "server/admission.h"
#include "server/reply_memory.h"

namespace grpc {
class ByteBuffer;
}

namespace gatherd {

struct RequestLimits {
  uint64_t max_message_bytes = 0;
  uint64_t max_keys_per_request = 0;
};

// Of a call that gRPC hands on without its message.
absl::Status NoMessage(const RequestLimits& limits);

class DecodedLookup {
 public:
  static absl::StatusOr<std::unique_ptr<DecodedLookup>> Decode(
      const grpc::ByteBuffer& bytes, const Catalog& catalog,
      const RequestLimits& limits, ReplyMemory memory);
  virtual ~DecodedLookup() = default;

  // The parts of the request, in order.
  virtual absl::Span<const CatalogEntry* const> entries() const = 0;
  virtual uint64_t num_keys() const = 0;
  // At most what the reply will take.
  virtual uint64_t reply_bytes() const = 0;

  // The segments write into the reply's own memory. The ticket is held until
  // the request and the last slice of the reply are gone. Call once.
  virtual std::vector<LookupSegment> AllocateReply(AdmissionTicket ticket) = 0;

  // The reply, without copying rows. NOT_FOUND naming table, first missing key
  // and their number, where a missing key is an error. Call once.
  virtual absl::Status EncodeReply(absl::Span<const LookupSegment> segments,
                                   grpc::ByteBuffer* reply) = 0;
};

class DecodedUpdate {
 public:
  static absl::StatusOr<std::unique_ptr<DecodedUpdate>> Decode(
      const grpc::ByteBuffer& bytes, const Catalog& catalog,
      const RequestLimits& limits, ReplyMemory memory);
  virtual ~DecodedUpdate() = default;

  virtual absl::Span<const CatalogEntry* const> entries() const = 0;
  virtual uint64_t num_keys() const = 0;
  virtual uint64_t reply_bytes() const = 0;
  // Borrowed from this.
  virtual absl::Span<const TableUpdateBatch> batches() const = 0;
};

class DecodedErase {
 public:
  static absl::StatusOr<std::unique_ptr<DecodedErase>> Decode(
      const grpc::ByteBuffer& bytes, const Catalog& catalog,
      const RequestLimits& limits, ReplyMemory memory);
  virtual ~DecodedErase() = default;

  virtual absl::Span<const CatalogEntry* const> entries() const = 0;
  virtual uint64_t num_keys() const = 0;
  virtual uint64_t reply_bytes() const = 0;
  // A part's keys, borrowed from this.
  virtual absl::Span<const int64_t> keys(size_t part) const = 0;
};

void EncodeReply(absl::Span<const UpdateResult> results,
                 grpc::ByteBuffer* reply);
void EncodeReply(absl::Span<const EraseResult> results,
                 grpc::ByteBuffer* reply);

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_CODEC_H_
