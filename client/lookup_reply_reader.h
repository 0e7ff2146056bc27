// Reads a LookupResponse where it lies: rows are not copied.
#ifndef GATHERD_CLIENT_LOOKUP_REPLY_READER_H_
#define GATHERD_CLIENT_LOOKUP_REPLY_READER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>

#include "absl/status/statusor.h"
#include "client/table_rows.h"

namespace gatherd::client {

// The answer to `num_lookups` lookups, which keeps `buffer`. INTERNAL if it is
// no LookupResponse, contradicts itself or has another number of results.
absl::StatusOr<LookupReply> ReadLookupReply(grpc::ByteBuffer buffer,
                                            size_t num_lookups);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_LOOKUP_REPLY_READER_H_
