// A table spread over several servers with gatherd's C++ client: writes rows
// and finds them again. docs/scaling.md shows it beside sharded.py, which does
// the same.
//
// usage: sharded SERVER SERVER..., each a HOST:PORT
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/sharded_client.h"

namespace {

using gatherd::client::AsBytes;
using gatherd::client::LostKeys;
using gatherd::client::Pooling;
using gatherd::client::ShardedClient;
using gatherd::client::ShardedClientOptions;
using gatherd::client::TableRows;
using gatherd::client::TableUpdate;

constexpr size_t kDim = 16;

absl::Status Run(const std::vector<std::string>& addresses) {
  ShardedClientOptions options;
  options.servers = addresses;
  options.lost_keys = LostKeys::kMissing;
  const auto client = ShardedClient::Create(options);
  if (!client.ok()) return client.status();

  std::vector<int64_t> keys;
  for (int64_t key = 0; key < 1000; ++key) keys.push_back(key);
  const std::vector<float> ones(keys.size() * kDim, 1.0F);
  TableUpdate update{"users", keys};
  update.values = AsBytes(ones);
  const auto updated = (*client)->Update({update});
  if (!updated.ok()) return updated.status();
  std::cout << "written: " << (*updated)[0].num_inserted << '\n';

  const uint32_t offsets[] = {0, 500};
  const auto reply = (*client)->Lookup(
      {{"users", keys}, {"users", keys, Pooling::kSum, offsets}});
  if (!reply.ok()) return reply.status();
  const TableRows& rows = reply->tables[0];
  for (const std::string& server : reply->lost_servers) {
    std::cout << "keys of " << server << " count as missing\n";
  }
  std::cout << "found: " << rows.num_rows() - rows.num_missing()
            << ", sum of a bag: " << reply->tables[1].Floats(1)[0] << '\n';
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::cerr << status << '\n';
  return 1;
}
