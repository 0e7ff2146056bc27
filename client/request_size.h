// How many rows fit into one update.
#ifndef GATHERD_CLIENT_REQUEST_SIZE_H_
#define GATHERD_CLIENT_REQUEST_SIZE_H_

#include <cstddef>

#include "client/requests.h"

namespace gatherd::client {

// Rows of `row_bytes` that an update of one table may have: at least 1, within
// the server's limits, and not so many that a request takes long.
size_t RowsPerRequest(const ServerInfo& server, size_t row_bytes);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_REQUEST_SIZE_H_
