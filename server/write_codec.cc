// Update and Erase: requests are read in place, replies written by protobuf.
#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/request_checks.h"
#include "server/request_codec.h"
#include "server/request_parts.h"

namespace gatherd {
namespace {

// The longest result: a header, four counts and a revision.
constexpr uint64_t kUpdateResultBytes = 2 + 4 * 6 + 11;
constexpr uint64_t kEraseResultBytes = 2 + 6 + 11;

constexpr RequestKind kUpdates = {"gatherd.v1.UpdateRequest", "updates",
                                  kUpdateResultBytes, &FindWritableTable};
constexpr RequestKind kErases = {"gatherd.v1.EraseRequest", "erases",
                                 kEraseResultBytes, &FindWritableTable};

class WireDecodedUpdate final : public DecodedUpdate {
 public:
  absl::Status Init(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits, ReplyMemory memory) {
    absl::Status status =
        parts_.Read(bytes, catalog, limits, std::move(memory));
    for (size_t part = 0; status.ok() && part < parts_.size(); ++part) {
      status = ReadPart(part);
    }
    return status;
  }

  absl::Span<const CatalogEntry* const> entries() const override {
    return parts_.entries();
  }
  uint64_t num_keys() const override { return parts_.num_keys(); }
  uint64_t reply_bytes() const override {
    return parts_.size() * kUpdateResultBytes;
  }
  absl::Span<const TableUpdateBatch> batches() const override {
    return batches_;
  }

 private:
  absl::Status ReadPart(size_t index) {
    const RequestPart name = parts_.name(index);
    const UpdateFields& part = parts_[index];
    const CatalogEntry& entry = *parts_.entries()[index];
    const auto type = CheckDataType(name, "data_type", part.data_type,
                                    entry.spec().data_type);
    if (!type.ok()) return type.status();
    const auto mode = CheckUpdateMode(name, part.mode);
    if (!mode.ok()) return mode.status();
    absl::Status status = CheckValuesBytes(
        name, part.values.count, part.keys.count, *type, entry.spec().dim);
    if (!status.ok()) return status;

    TableUpdateBatch& batch = batches_.emplace_back();
    batch.table = entry.table();
    batch.batch.keys = part.keys.span();
    batch.batch.data_type = *type;
    batch.batch.values = part.values.data;
    batch.batch.mode = *mode;
    return absl::OkStatus();
  }

  RequestParts<UpdateFields> parts_{kUpdates};
  absl::InlinedVector<TableUpdateBatch, kInlinedParts> batches_;
};

class WireDecodedErase final : public DecodedErase {
 public:
  absl::Status Init(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits, ReplyMemory memory) {
    return parts_.Read(bytes, catalog, limits, std::move(memory));
  }

  absl::Span<const CatalogEntry* const> entries() const override {
    return parts_.entries();
  }
  uint64_t num_keys() const override { return parts_.num_keys(); }
  uint64_t reply_bytes() const override {
    return parts_.size() * kEraseResultBytes;
  }
  absl::Span<const int64_t> keys(size_t part) const override {
    return parts_[part].keys.span();
  }

 private:
  RequestParts<EraseFields> parts_{kErases};
};

template <typename Result, typename Base>
absl::StatusOr<std::unique_ptr<Base>> DecodeAs(const grpc::ByteBuffer& bytes,
                                               const Catalog& catalog,
                                               const RequestLimits& limits,
                                               ReplyMemory memory) {
  auto decoded = std::make_unique<Result>();
  absl::Status status =
      decoded->Init(bytes, catalog, limits, std::move(memory));
  if (!status.ok()) return status;
  return decoded;
}

// Counts are of keys in one message: they fit 32 bits.
uint32_t Count(uint64_t count) { return static_cast<uint32_t>(count); }

void SetReply(const google::protobuf::MessageLite& message,
              grpc::ByteBuffer* reply) {
  const grpc::Slice slice(message.SerializeAsString());
  *reply = grpc::ByteBuffer(&slice, 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecodedUpdate>> DecodedUpdate::Decode(
    const grpc::ByteBuffer& bytes, const Catalog& catalog,
    const RequestLimits& limits, ReplyMemory memory) {
  return DecodeAs<WireDecodedUpdate, DecodedUpdate>(bytes, catalog, limits,
                                                    std::move(memory));
}

absl::StatusOr<std::unique_ptr<DecodedErase>> DecodedErase::Decode(
    const grpc::ByteBuffer& bytes, const Catalog& catalog,
    const RequestLimits& limits, ReplyMemory memory) {
  return DecodeAs<WireDecodedErase, DecodedErase>(bytes, catalog, limits,
                                                  std::move(memory));
}

void EncodeReply(absl::Span<const UpdateResult> results,
                 grpc::ByteBuffer* reply) {
  v1::UpdateResponse response;
  for (const UpdateResult& result : results) {
    v1::UpdateResult& out = *response.add_results();
    out.set_num_updated(Count(result.num_updated));
    out.set_num_inserted(Count(result.num_inserted));
    out.set_num_skipped(Count(result.num_skipped));
    out.set_num_evicted(Count(result.num_evicted));
    out.set_revision(result.revision);
  }
  SetReply(response, reply);
}

void EncodeReply(absl::Span<const EraseResult> results,
                 grpc::ByteBuffer* reply) {
  v1::EraseResponse response;
  for (const EraseResult& result : results) {
    v1::EraseResult& out = *response.add_results();
    out.set_num_erased(Count(result.num_erased));
    out.set_revision(result.revision);
  }
  SetReply(response, reply);
}

}  // namespace gatherd
