// Part of the codec: what can be wrong with a part of a request, and how it is
// said. A message names the part, its table, the field, the number given and
// the number expected or allowed.
#ifndef GATHERD_SERVER_REQUEST_CHECKS_H_
#define GATHERD_SERVER_REQUEST_CHECKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/catalog/catalog.h"
#include "core/table/batch.h"
#include "server/request_codec.h"

namespace gatherd {

// A part as messages name it.
struct RequestPart {
  std::string_view field;  // "lookups", "updates" or "erases"
  size_t index = 0;
  std::string_view table;  // as the client wrote it
};

// `lookups[2] (table "words"): `; a long name is cut.
std::string PartPrefix(const RequestPart& part);

absl::Status InvalidPart(const RequestPart& part, std::string_view problem);

// A table that may be asked. NOT_FOUND or UNAVAILABLE.
absl::StatusOr<const CatalogEntry*> FindTable(const Catalog& catalog,
                                              const RequestPart& part);
// One that may be written, too. FAILED_PRECONDITION.
absl::StatusOr<const CatalogEntry*> FindWritableTable(const Catalog& catalog,
                                                      const RequestPart& part);

// `part` is where the keys of the request became too many.
absl::Status TooManyKeys(const RequestPart& part, uint64_t num_keys,
                         const RequestLimits& limits);
absl::Status ReplyTooLarge(const RequestPart& part, uint64_t reply_bytes,
                           const RequestLimits& limits);

// Numbers as they came off the wire.
absl::StatusOr<DataType> CheckDataType(const RequestPart& part,
                                       std::string_view field, int number,
                                       DataType if_unspecified);
absl::StatusOr<Pooling> CheckPooling(const RequestPart& part, int number);
absl::StatusOr<MissingKeyPolicy> CheckMissingKeyPolicy(
    const RequestPart& part, int number, MissingKeyPolicy if_unspecified);
absl::StatusOr<UpdateMode> CheckUpdateMode(const RequestPart& part, int number);

// Of one part's keys, those that came as keys32.
absl::Status CheckKeyFields(const RequestPart& part, uint64_t num_keys,
                            uint64_t num_keys32);

// Offsets and weights against keys and pooling.
absl::Status CheckBags(const RequestPart& part, const LookupBatch& batch);

absl::Status CheckValuesBytes(const RequestPart& part, uint64_t num_bytes,
                              uint64_t num_keys, DataType type, uint32_t dim);

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_CHECKS_H_
