#include "server/request_checks.h"

#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

// A name from the wire is valid UTF-8 of any length.
std::string_view CutName(std::string_view name) {
  if (name.size() <= kMaxTableNameBytes) return name;
  size_t end = kMaxTableNameBytes;
  while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

std::string QuotedTable(const RequestPart& part) {
  return absl::StrCat("table \"", std::string(CutName(part.table)), "\"");
}

absl::Status UnknownEnumNumber(const RequestPart& part, std::string_view field,
                               int number, int last) {
  return InvalidPart(part, absl::StrCat(std::string(field), " is ", number,
                                        ", expected 0 to ", last));
}

absl::Status CheckOffsets(const RequestPart& part, const LookupBatch& batch) {
  const uint64_t num_keys = batch.keys.size();
  uint32_t previous = 0;
  for (size_t i = 0; i < batch.offsets.size(); ++i) {
    const uint32_t offset = batch.offsets[i];
    if (i == 0 && offset != 0) {
      return InvalidPart(
          part, absl::StrCat("offsets[0] is ", offset, ", expected 0"));
    }
    if (offset < previous) {
      return InvalidPart(part, absl::StrCat("offsets[", i, "] is ", offset,
                                            ", expected at least ", previous,
                                            " as offsets[", i - 1, "]"));
    }
    if (offset > num_keys) {
      return InvalidPart(part, absl::StrCat("offsets[", i, "] is ", offset,
                                            ", expected at most ", num_keys,
                                            ", the number of keys"));
    }
    previous = offset;
  }
  return absl::OkStatus();
}

}  // namespace

std::string PartPrefix(const RequestPart& part) {
  return absl::StrCat(std::string(part.field), "[", part.index, "] (",
                      QuotedTable(part), "): ");
}

absl::Status NoMessage(const RequestLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no message, or one over ", limits.max_message_bytes,
                   " bytes (server.max_message_bytes)"));
}

absl::Status InvalidPart(const RequestPart& part, std::string_view problem) {
  return absl::InvalidArgumentError(PartPrefix(part).append(problem));
}

absl::StatusOr<const CatalogEntry*> FindTable(const Catalog& catalog,
                                              const RequestPart& part) {
  const CatalogEntry* entry = catalog.Find(part.table);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(QuotedTable(part), " is not served here"));
  }
  if (!entry->ready()) {
    return absl::UnavailableError(
        absl::StrCat(QuotedTable(part), " is still loading"));
  }
  return entry;
}

absl::StatusOr<const CatalogEntry*> FindWritableTable(const Catalog& catalog,
                                                      const RequestPart& part) {
  absl::StatusOr<const CatalogEntry*> entry = FindTable(catalog, part);
  if (entry.ok() && (*entry)->spec().read_only) {
    return absl::FailedPreconditionError(
        absl::StrCat(QuotedTable(part), " is read_only"));
  }
  return entry;
}

absl::Status TooManyKeys(const RequestPart& part, uint64_t num_keys,
                         const RequestLimits& limits) {
  return InvalidPart(
      part, absl::StrCat("keys: ", num_keys, " in this request, at most ",
                         limits.max_keys_per_request,
                         " allowed (server.max_keys_per_request)"));
}

absl::Status ReplyTooLarge(const RequestPart& part, uint64_t reply_bytes,
                           const RequestLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat(PartPrefix(part), "the reply would take ", reply_bytes,
                   " bytes, at most ", limits.max_message_bytes,
                   " allowed (server.max_message_bytes)"));
}

absl::StatusOr<DataType> CheckDataType(const RequestPart& part,
                                       std::string_view field, int number,
                                       DataType if_unspecified) {
  if (number == 0) return if_unspecified;
  if (number < 0 || number > kNumDataTypes) {
    return UnknownEnumNumber(part, field, number, kNumDataTypes);
  }
  return static_cast<DataType>(number);
}

absl::StatusOr<Pooling> CheckPooling(const RequestPart& part, int number) {
  switch (number) {
    case 0:
      return Pooling::kNone;
    case 1:
      return Pooling::kSum;
    case 2:
      return Pooling::kMean;
    default:
      return UnknownEnumNumber(part, "pooling", number, 2);
  }
}

absl::StatusOr<MissingKeyPolicy> CheckMissingKeyPolicy(
    const RequestPart& part, int number, MissingKeyPolicy if_unspecified) {
  switch (number) {
    case 0:
      return if_unspecified;
    case 1:
      return MissingKeyPolicy::kDefaultRow;
    case 2:
      return MissingKeyPolicy::kError;
    default:
      return UnknownEnumNumber(part, "missing_key_policy", number, 2);
  }
}

absl::StatusOr<UpdateMode> CheckUpdateMode(const RequestPart& part,
                                           int number) {
  switch (number) {
    case 0:
      return UpdateMode::kSet;
    case 1:
      return UpdateMode::kAdd;
    case 2:
      return UpdateMode::kSetExisting;
    default:
      return UnknownEnumNumber(part, "mode", number, 2);
  }
}

absl::Status CheckKeyFields(const RequestPart& part, uint64_t num_keys,
                            uint64_t num_keys32) {
  if (num_keys32 == 0 || num_keys32 == num_keys) return absl::OkStatus();
  return InvalidPart(
      part, absl::StrCat("keys32: ", num_keys32, " given, expected 0 beside ",
                         num_keys - num_keys32, " keys"));
}

absl::Status CheckBags(const RequestPart& part, const LookupBatch& batch) {
  const size_t num_offsets = batch.offsets.size();
  const size_t num_weights = batch.weights.size();
  const size_t num_keys = batch.keys.size();
  if (batch.pooling == Pooling::kNone) {
    if (num_offsets > 0) {
      return InvalidPart(part, absl::StrCat("offsets: ", num_offsets,
                                            " given, expected 0 as pooling is "
                                            "not set"));
    }
    if (num_weights > 0) {
      return InvalidPart(part, absl::StrCat("weights: ", num_weights,
                                            " given, expected 0 as pooling is "
                                            "not set"));
    }
    return absl::OkStatus();
  }
  if (num_offsets == 0 && num_keys > 0) {
    return InvalidPart(part, absl::StrCat("offsets: 0 given, expected at least "
                                          "1 for ",
                                          num_keys, " keys under pooling"));
  }
  if (num_weights != 0 && num_weights != num_keys) {
    return InvalidPart(
        part, absl::StrCat("weights: ", num_weights, " given, expected ",
                           num_keys, ", one for each key, or 0"));
  }
  return CheckOffsets(part, batch);
}

absl::Status CheckValuesBytes(const RequestPart& part, uint64_t num_bytes,
                              uint64_t num_keys, DataType type, uint32_t dim) {
  const uint64_t row_bytes = RowBytes(type, dim);
  // Keys were counted: they are fewer than a message has bytes.
  const uint64_t expected = num_keys * row_bytes;
  if (num_bytes == expected) return absl::OkStatus();
  return InvalidPart(
      part,
      absl::StrCat("values: ", num_bytes, " bytes given, expected ", expected,
                   " for ", num_keys, " keys of ", row_bytes, " bytes (",
                   std::string(DataTypeName(type)), ", dim ", dim, ")"));
}

}  // namespace gatherd
