// Lookup: requests are read in place; replies are written so that rows stay
// where the engine has put them.
#include <grpcpp/support/byte_buffer.h>

#include <cstring>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/reply_block.h"
#include "server/request_checks.h"
#include "server/request_codec.h"
#include "server/request_parts.h"
#include "server/wire_writer.h"

namespace gatherd {
namespace {

using v1::TableRows;

// Rows of up to so many bytes are copied between their neighbours: the
// transport handles one slice sooner than three.
constexpr size_t kMaxCopiedBytes = 1024;

// What a result takes besides nothing at all: its data_type, dim and revision.
constexpr uint64_t kMinResultBytes = 8;
constexpr uint64_t kMaxVarintBytes = 10;

constexpr RequestKind kLookups = {"gatherd.v1.LookupRequest", "lookups",
                                  kMinResultBytes, &FindTable};

class WireDecodedLookup final : public DecodedLookup {
 public:
  absl::Status Init(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits, ReplyMemory memory);

  absl::Span<const CatalogEntry* const> entries() const override {
    return parts_.entries();
  }
  uint64_t num_keys() const override { return parts_.num_keys(); }
  uint64_t reply_bytes() const override { return reply_bytes_; }
  std::vector<LookupSegment> AllocateReply(AdmissionTicket ticket) override;
  absl::Status EncodeReply(absl::Span<const LookupSegment> segments,
                           grpc::ByteBuffer* reply) override;

 private:
  const TableSpec& SpecOf(size_t part) const {
    return parts_.entries()[part]->spec();
  }
  uint64_t RowBytesOf(size_t part) const {
    return batches_[part].num_output_rows() *
           RowBytes(batches_[part].output_type, SpecOf(part).dim);
  }
  uint64_t PaddedRowBytesOf(size_t part) const {
    return AlignUp(RowBytesOf(part), ReplyBlock::kAlignment);
  }

  absl::Status ReadPart(size_t part);
  uint64_t MaxResultBytes(size_t part) const;
  void EncodeResult(size_t part, const LookupSegment& segment,
                    std::string* text, std::vector<grpc::Slice>* slices);
  absl::Status MissingKeyError(size_t part, const LookupSegment& segment) const;

  RequestParts<LookupFields> parts_{kLookups};
  // In step, one each a part of the request.
  absl::InlinedVector<LookupBatch, kInlinedParts> batches_;
  absl::InlinedVector<MissingKeyPolicy, kInlinedParts> policies_;
  uint64_t reply_bytes_ = 0;
  ReplyMemory memory_;  // until the reply is allocated
  ReplyBlockPtr block_;
};

absl::Status WireDecodedLookup::Init(const grpc::ByteBuffer& bytes,
                                     const Catalog& catalog,
                                     const RequestLimits& limits,
                                     ReplyMemory memory) {
  memory_ = std::move(memory);
  absl::Status status = parts_.Read(bytes, catalog, limits, memory_);
  batches_.reserve(parts_.size());
  policies_.reserve(parts_.size());
  for (size_t part = 0; status.ok() && part < parts_.size(); ++part) {
    status = ReadPart(part);
  }
  if (!status.ok()) return status;
  size_t largest = 0;
  for (size_t part = 0; part < parts_.size(); ++part) {
    reply_bytes_ += MaxResultBytes(part);
    if (RowBytesOf(part) > RowBytesOf(largest)) largest = part;
  }
  if (reply_bytes_ > limits.max_message_bytes) {
    return ReplyTooLarge(parts_.name(largest), reply_bytes_, limits);
  }
  return absl::OkStatus();
}

absl::Status WireDecodedLookup::ReadPart(size_t index) {
  const RequestPart name = parts_.name(index);
  const LookupFields& part = parts_[index];
  const TableSpec& spec = SpecOf(index);
  const auto pooling = CheckPooling(name, part.pooling);
  if (!pooling.ok()) return pooling.status();
  const auto type =
      CheckDataType(name, "output_type", part.output_type, spec.data_type);
  if (!type.ok()) return type.status();
  const auto policy = CheckMissingKeyPolicy(name, part.missing_key_policy,
                                            spec.missing_key_policy);
  if (!policy.ok()) return policy.status();

  LookupBatch batch;
  batch.keys = part.keys.span();
  batch.pooling = *pooling;
  batch.offsets = part.offsets.span();
  batch.weights = part.weights.span();
  batch.output_type = *type;
  absl::Status status = CheckBags(name, batch);
  if (!status.ok()) return status;
  batches_.push_back(batch);
  policies_.push_back(*policy);
  return absl::OkStatus();
}

uint64_t WireDecodedLookup::MaxResultBytes(size_t part) const {
  const LookupBatch& batch = batches_[part];
  const uint64_t num_keys = batch.keys.size();
  // No overflow: bags are fewer than a message has bytes, 2 GiB at most, and
  // rows have at most 32 KiB.
  const uint64_t content =
      NumberFieldBytes(static_cast<uint64_t>(batch.output_type)) +
      NumberFieldBytes(SpecOf(part).dim) +
      NumberFieldBytes(batch.num_output_rows()) +
      SizedFieldBytes(RowBytesOf(part)) + SizedFieldBytes((num_keys + 7) / 8) +
      NumberFieldBytes(num_keys) + 1 + kMaxVarintBytes;
  return SizedFieldBytes(content);
}

std::vector<LookupSegment> WireDecodedLookup::AllocateReply(
    AdmissionTicket ticket) {
  uint64_t rows_bytes = 0;
  uint64_t missing_bytes = 0;
  for (size_t part = 0; part < parts_.size(); ++part) {
    rows_bytes += PaddedRowBytesOf(part);
    missing_bytes += (batches_[part].keys.size() + 7) / 8;
  }
  block_.reset(new ReplyBlock(rows_bytes + missing_bytes, std::move(memory_),
                              std::move(ticket)));
  std::byte* rows = block_->bytes();
  std::byte* missing = rows + rows_bytes;
  std::memset(missing, 0, missing_bytes);

  std::vector<LookupSegment> segments(parts_.size());
  for (size_t part = 0; part < parts_.size(); ++part) {
    LookupSegment& segment = segments[part];
    segment.table = parts_.entries()[part]->table();
    segment.batch = batches_[part];
    segment.output.rows = rows;
    segment.output.missing = reinterpret_cast<uint8_t*>(missing);
    rows += PaddedRowBytesOf(part);
    missing += (batches_[part].keys.size() + 7) / 8;
  }
  return segments;
}

absl::Status WireDecodedLookup::EncodeReply(
    absl::Span<const LookupSegment> segments, grpc::ByteBuffer* reply) {
  for (size_t part = 0; part < segments.size(); ++part) {
    if (policies_[part] == MissingKeyPolicy::kError &&
        segments[part].result.num_missing > 0) {
      return MissingKeyError(part, segments[part]);
    }
  }
  std::string text;
  std::vector<grpc::Slice> slices;
  for (size_t part = 0; part < segments.size(); ++part) {
    EncodeResult(part, segments[part], &text, &slices);
  }
  if (!text.empty() || slices.empty()) slices.emplace_back(text);
  *reply = grpc::ByteBuffer(slices.data(), slices.size());
  return absl::OkStatus();
}

// Everything but large rows goes into `text`, which becomes a slice when such
// rows come. Fields may stand in any order: rows stand last, so that a reply of
// one table is two slices.
void WireDecodedLookup::EncodeResult(size_t part, const LookupSegment& segment,
                                     std::string* text,
                                     std::vector<grpc::Slice>* slices) {
  const LookupBatch& batch = segment.batch;
  const LookupResult& result = segment.result;
  const uint64_t rows_bytes = RowBytesOf(part);

  std::string head;
  AppendNumberField(TableRows::kDataTypeFieldNumber,
                    static_cast<uint64_t>(batch.output_type), &head);
  AppendNumberField(TableRows::kDimFieldNumber, SpecOf(part).dim, &head);
  AppendNumberField(TableRows::kNumRowsFieldNumber, batch.num_output_rows(),
                    &head);
  if (result.num_missing > 0) {
    const size_t missing_bytes = (batch.keys.size() + 7) / 8;
    AppendSizedFieldHeader(TableRows::kMissingFieldNumber, missing_bytes,
                           &head);
    head.append(reinterpret_cast<const char*>(segment.output.missing),
                missing_bytes);
  }
  AppendNumberField(TableRows::kNumMissingFieldNumber, result.num_missing,
                    &head);
  AppendNumberField(TableRows::kRevisionFieldNumber, result.revision, &head);
  if (rows_bytes > 0) {
    AppendSizedFieldHeader(TableRows::kValuesFieldNumber, rows_bytes, &head);
  }

  AppendSizedFieldHeader(v1::LookupResponse::kResultsFieldNumber,
                         head.size() + rows_bytes, text);
  text->append(head);
  if (rows_bytes <= kMaxCopiedBytes) {
    text->append(reinterpret_cast<const char*>(segment.output.rows),
                 rows_bytes);
  } else {
    slices->emplace_back(*text);
    text->clear();
    slices->push_back(block_->MakeSlice(segment.output.rows, rows_bytes));
  }
}

absl::Status WireDecodedLookup::MissingKeyError(
    size_t part, const LookupSegment& segment) const {
  const absl::Span<const int64_t> keys = segment.batch.keys;
  size_t first = 0;
  while (first + 1 < keys.size() &&
         (segment.output.missing[first / 8] >> (first % 8) & 1) == 0) {
    ++first;
  }
  return absl::NotFoundError(
      absl::StrCat(PartPrefix(parts_.name(part)), "key ", keys[first],
                   " is missing, the first of ", segment.result.num_missing,
                   " missing among ", keys.size()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecodedLookup>> DecodedLookup::Decode(
    const grpc::ByteBuffer& bytes, const Catalog& catalog,
    const RequestLimits& limits, ReplyMemory memory) {
  auto decoded = std::make_unique<WireDecodedLookup>();
  absl::Status status =
      decoded->Init(bytes, catalog, limits, std::move(memory));
  if (!status.ok()) return status;
  return decoded;
}

}  // namespace gatherd
