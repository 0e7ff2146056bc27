// Part of the codec: a request as a list of parts, `repeated PART = 1`, which
// all three requests are.
//
// Parts are measured one by one, so that a message of millions of empty ones is
// refused before it has become a hundred times as large in memory.
#ifndef GATHERD_SERVER_REQUEST_PARTS_H_
#define GATHERD_SERVER_REQUEST_PARTS_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/request_checks.h"
#include "server/request_codec.h"
#include "server/request_fields.h"
#include "server/request_memory.h"
#include "server/wire_reader.h"

namespace gatherd {

// Requests of up to so many parts take no memory for lists of them.
inline constexpr size_t kInlinedParts = 2;

// What the requests differ in. All static.
struct RequestKind {
  std::string_view message;  // "gatherd.v1.LookupRequest"
  std::string_view field;    // "lookups"
  // A part's share of the reply is so much or more.
  uint64_t min_result_bytes = 0;
  absl::StatusOr<const CatalogEntry*> (*find_table)(const Catalog& catalog,
                                                    const RequestPart& part);
};

// `Fields` are LookupFields, UpdateFields or EraseFields.
template <typename Fields>
class RequestParts {
 public:
  explicit RequestParts(const RequestKind& kind) : kind_(kind) {}

  // Call once. Refuses bytes that are no such request, tables that cannot be
  // asked, too many keys and keys of both kinds; what else the fields say is
  // not judged. Borrows nothing: the bytes are held by reference.
  absl::Status Read(const grpc::ByteBuffer& bytes, const Catalog& catalog,
                    const RequestLimits& limits, ReplyMemory memory) {
    // gRPC hands on a call without its message when that was over the limit
    // (and when the client sent none). The client has got gRPC's own text.
    if (!bytes.Valid() || !bytes.Dump(&slices_).ok()) return NoMessage(limits);
    absl::Status status = MeasureParts(limits);
    if (status.ok()) status = FindTables(catalog, limits);
    if (status.ok()) status = CheckKeys();
    if (status.ok()) FillParts(std::move(memory));
    return status;
  }

  // The parts, in order.
  size_t size() const { return parts_.size(); }
  const Fields& operator[](size_t part) const { return parts_[part]; }
  RequestPart name(size_t part) const {
    return {kind_.field, part, parts_[part].table};
  }
  absl::Span<const CatalogEntry* const> entries() const { return entries_; }
  uint64_t num_keys() const { return num_keys_; }

 private:
  absl::Status MeasureParts(const RequestLimits& limits) {
    absl::Status refused;
    const bool ok = MeasureRequest(slices_, &names_, &parts_, [&] {
      refused = CheckNumParts(limits);
      return refused.ok();
    });
    if (ok || !refused.ok()) return refused;
    return absl::InvalidArgumentError(
        absl::StrCat("the ", WireReader(slices_).num_left(),
                     " bytes given are no ", std::string(kind_.message)));
  }

  absl::Status CheckNumParts(const RequestLimits& limits) const {
    const uint64_t reply_bytes = parts_.size() * kind_.min_result_bytes;
    if (reply_bytes <= limits.max_message_bytes) return absl::OkStatus();
    return ReplyTooLarge(name(parts_.size() - 1), reply_bytes, limits);
  }

  absl::Status FindTables(const Catalog& catalog, const RequestLimits& limits) {
    entries_.reserve(parts_.size());
    size_t too_many_at = 0;
    for (size_t part = 0; part < parts_.size(); ++part) {
      auto entry = kind_.find_table(catalog, name(part));
      if (!entry.ok()) return entry.status();
      entries_.push_back(*entry);
      if (num_keys_ <= limits.max_keys_per_request) too_many_at = part;
      num_keys_ += parts_[part].keys.count;
    }
    if (num_keys_ <= limits.max_keys_per_request) return absl::OkStatus();
    return TooManyKeys(name(too_many_at), num_keys_, limits);
  }

  absl::Status CheckKeys() const {
    absl::Status status;
    for (size_t part = 0; status.ok() && part < parts_.size(); ++part) {
      status = CheckKeyFields(name(part), parts_[part].keys.count,
                              parts_[part].num_keys32);
    }
    return status;
  }

  void FillParts(ReplyMemory memory) {
    for (const Fields& part : parts_) AddBytes(part, &memory_);
    memory_.Allocate(std::move(memory));
    for (Fields& part : parts_) Fill(&part, &memory_);
  }

  const RequestKind& kind_;
  std::vector<grpc::Slice> slices_;
  NameCopies names_;
  RequestMemory memory_;
  // In step, one each a part of the request.
  absl::InlinedVector<Fields, kInlinedParts> parts_;
  absl::InlinedVector<const CatalogEntry*, kInlinedParts> entries_;
  uint64_t num_keys_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_PARTS_H_
