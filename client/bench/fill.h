// Writes a table's rows before a benchmark reads them.
#ifndef GATHERD_CLIENT_BENCH_FILL_H_
#define GATHERD_CLIENT_BENCH_FILL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "client/client.h"

namespace gatherd::client {

// Random values for the keys [0, rows).
absl::Status Fill(Client& client, const TableInfo& table, uint64_t rows);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_FILL_H_
