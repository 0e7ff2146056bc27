// Between the client library's structs and the proto's messages.
#ifndef GATHERD_CLIENT_MESSAGES_H_
#define GATHERD_CLIENT_MESSAGES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/requests.h"
#include "proto/gatherd/v1/gatherd.pb.h"

namespace gatherd::client {

v1::LookupRequest ToMessage(absl::Span<const TableLookup> lookups);
v1::UpdateRequest ToMessage(absl::Span<const TableUpdate> updates);
v1::EraseRequest ToMessage(absl::Span<const TableErase> erases);

// INTERNAL if a reply has another number of results than was asked for.
absl::Status CheckNumResults(size_t num_results, size_t num_requests);

// INTERNAL if the response does not fit the request.
absl::StatusOr<std::vector<UpdateResult>> FromMessage(
    const v1::UpdateResponse& response, size_t num_updates);
absl::StatusOr<std::vector<EraseResult>> FromMessage(
    const v1::EraseResponse& response, size_t num_erases);
std::vector<TableInfo> FromMessage(const v1::ListTablesResponse& response);
ServerInfo FromMessage(const v1::GetServerInfoResponse& response);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_MESSAGES_H_
