// What a server says of the tables that a benchmark asks.
#ifndef GATHERD_CLIENT_BENCH_FIND_TABLES_H_
#define GATHERD_CLIENT_BENCH_FIND_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"

namespace gatherd::client {

// In the order of `names`. NOT_FOUND naming the first that does not exist.
absl::StatusOr<std::vector<TableInfo>> FindTables(
    Client& client, const std::vector<std::string>& names);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_FIND_TABLES_H_
