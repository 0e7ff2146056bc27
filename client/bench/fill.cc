#include "client/bench/fill.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "absl/random/distributions.h"
#include "client/request_size.h"

namespace gatherd::client {

absl::Status Fill(Client& client, const TableInfo& table, uint64_t rows) {
  const absl::StatusOr<ServerInfo> server = client.GetServerInfo();
  if (!server.ok()) return server.status();
  const size_t max_rows =
      RowsPerRequest(*server, RowBytes(DataType::kFloat32, table.dim));
  std::mt19937_64 random(1);
  for (uint64_t first = 0; first < rows; first += max_rows) {
    std::vector<int64_t> keys(std::min<uint64_t>(max_rows, rows - first));
    std::iota(keys.begin(), keys.end(), static_cast<int64_t>(first));
    std::vector<float> values(keys.size() * table.dim);
    for (float& value : values) value = absl::Uniform(random, -1.0f, 1.0f);
    const auto result = client.Update(
        {{table.name, keys, DataType::kFloat32, AsBytes(values)}});
    if (!result.ok()) return result.status();
  }
  return absl::OkStatus();
}

}  // namespace gatherd::client
