// Update and Erase, parsed and written by protobuf.
#include <google/protobuf/arena.h>
#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <utility>

#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/request_checks.h"
#include "server/request_codec.h"
#include "server/request_parts.h"

namespace gatherd {
namespace {

// The longest result: a header, four counts and a revision.
constexpr uint64_t kUpdateResultBytes = 2 + 4 * 6 + 11;
constexpr uint64_t kEraseResultBytes = 2 + 6 + 11;

// What Update and Erase have in common: a list of tables and keys.
template <typename Part>
class WriteParts {
 public:
  absl::Status Parse(const grpc::ByteBuffer& bytes, std::string_view request,
                     std::string_view field, uint64_t result_bytes,
                     const Catalog& catalog, const RequestLimits& limits) {
    field_ = field;
    absl::Status status = ParseParts(bytes, request, field, result_bytes,
                                     limits, &arena_, &parts_);
    if (!status.ok()) return status;
    reply_bytes_ = parts_.size() * result_bytes;
    return FindTables(catalog, limits);
  }

  RequestPart name(size_t part) const {
    return {field_, part, parts_[part]->table()};
  }
  size_t size() const { return parts_.size(); }
  const Part& operator[](size_t part) const { return *parts_[part]; }
  absl::Span<const int64_t> keys(size_t part) const {
    return {parts_[part]->keys().data(),
            static_cast<size_t>(parts_[part]->keys_size())};
  }
  absl::Span<const CatalogEntry* const> entries() const { return entries_; }
  uint64_t num_keys() const { return num_keys_; }
  uint64_t reply_bytes() const { return reply_bytes_; }

 private:
  absl::Status FindTables(const Catalog& catalog, const RequestLimits& limits) {
    entries_.reserve(parts_.size());
    size_t too_many_at = 0;
    for (size_t part = 0; part < parts_.size(); ++part) {
      auto entry = FindWritableTable(catalog, name(part));
      if (!entry.ok()) return entry.status();
      entries_.push_back(*entry);
      if (num_keys_ <= limits.max_keys_per_request) too_many_at = part;
      num_keys_ += parts_[part]->keys_size();
    }
    if (num_keys_ <= limits.max_keys_per_request) return absl::OkStatus();
    return TooManyKeys(name(too_many_at), num_keys_, limits);
  }

  google::protobuf::Arena arena_;
  std::string_view field_;
  std::vector<const Part*> parts_;
  std::vector<const CatalogEntry*> entries_;
  uint64_t num_keys_ = 0;
  uint64_t reply_bytes_ = 0;
};

class ProtoDecodedUpdate final : public DecodedUpdate {
 public:
  absl::Status Init(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits) {
    absl::Status status =
        parts_.Parse(bytes, "gatherd.v1.UpdateRequest", "updates",
                     kUpdateResultBytes, catalog, limits);
    for (size_t part = 0; status.ok() && part < parts_.size(); ++part) {
      status = ReadPart(part);
    }
    return status;
  }

  absl::Span<const CatalogEntry* const> entries() const override {
    return parts_.entries();
  }
  uint64_t num_keys() const override { return parts_.num_keys(); }
  uint64_t reply_bytes() const override { return parts_.reply_bytes(); }
  absl::Span<const TableUpdateBatch> batches() const override {
    return batches_;
  }

 private:
  absl::Status ReadPart(size_t index) {
    const RequestPart name = parts_.name(index);
    const v1::TableUpdate& part = parts_[index];
    const CatalogEntry& entry = *parts_.entries()[index];
    const auto type = CheckDataType(name, "data_type", part.data_type(),
                                    entry.spec().data_type);
    if (!type.ok()) return type.status();
    const auto mode = CheckUpdateMode(name, part.mode());
    if (!mode.ok()) return mode.status();
    absl::Status status = CheckValuesBytes(
        name, part.values().size(), part.keys_size(), *type, entry.spec().dim);
    if (!status.ok()) return status;

    TableUpdateBatch& batch = batches_.emplace_back();
    batch.table = entry.table();
    batch.batch.keys = parts_.keys(index);
    batch.batch.data_type = *type;
    batch.batch.values =
        reinterpret_cast<const std::byte*>(part.values().data());
    batch.batch.mode = *mode;
    return absl::OkStatus();
  }

  WriteParts<v1::TableUpdate> parts_;
  std::vector<TableUpdateBatch> batches_;
};

class ProtoDecodedErase final : public DecodedErase {
 public:
  absl::Status Init(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits) {
    return parts_.Parse(bytes, "gatherd.v1.EraseRequest", "erases",
                        kEraseResultBytes, catalog, limits);
  }

  absl::Span<const CatalogEntry* const> entries() const override {
    return parts_.entries();
  }
  uint64_t num_keys() const override { return parts_.num_keys(); }
  uint64_t reply_bytes() const override { return parts_.reply_bytes(); }
  absl::Span<const int64_t> keys(size_t part) const override {
    return parts_.keys(part);
  }

 private:
  WriteParts<v1::TableErase> parts_;
};

template <typename Result, typename Base>
absl::StatusOr<std::unique_ptr<Base>> DecodeAs(const grpc::ByteBuffer& bytes,
                                               const Catalog& catalog,
                                               const RequestLimits& limits) {
  auto decoded = std::make_unique<Result>();
  absl::Status status = decoded->Init(bytes, catalog, limits);
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
    const RequestLimits& limits) {
  return DecodeAs<ProtoDecodedUpdate, DecodedUpdate>(bytes, catalog, limits);
}

absl::StatusOr<std::unique_ptr<DecodedErase>> DecodedErase::Decode(
    const grpc::ByteBuffer& bytes, const Catalog& catalog,
    const RequestLimits& limits) {
  return DecodeAs<ProtoDecodedErase, DecodedErase>(bytes, catalog, limits);
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
