// Word vectors with gatherd's C++ client: lookup, pooled lookup, update, erase.
//
//   tools/quickstart --keep        # leaves a server running
//   bazel run //examples/cpp:words -- localhost:7400
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/client.h"
#include "core/base/fnv1a.h"

namespace {

using gatherd::client::AsBytes;
using gatherd::client::Client;
using gatherd::client::ClientOptions;
using gatherd::client::MissingKeyPolicy;
using gatherd::client::Pooling;
using gatherd::client::TableLookup;
using gatherd::client::TableRows;
using gatherd::client::TableUpdate;

// Any 64-bit number is a key; this table's are hashes of words.
int64_t Key(const std::string& word) { return gatherd::Fnv1a64(word); }

void Print(const std::string& what, const std::vector<float>& row) {
  std::cout << what << ": " << row[0] << ' ' << row[1] << ' ' << row[2]
            << " ... (" << row.size() << " values)\n";
}

absl::Status LookUp(Client& client) {
  const std::vector<std::string> words = {"king", "queen", "zyzzyvas"};
  std::vector<int64_t> keys;
  for (const std::string& word : words) keys.push_back(Key(word));

  const auto reply = client.Lookup({{"words", keys}});
  if (!reply.ok()) return reply.status();
  const TableRows& rows = (*reply)[0];
  for (size_t i = 0; i < words.size(); ++i) {
    if (rows.IsMissing(i)) {
      std::cout << words[i] << ": missing\n";
    } else {
      Print(words[i], rows.Floats(i));
    }
  }
  return absl::OkStatus();
}

// The mean of each bag of words, computed by the server: two rows travel here,
// not five.
absl::StatusOr<std::vector<float>> LookUpMeans(Client& client) {
  const std::vector<int64_t> keys = {Key("king"), Key("queen"), Key("paris"),
                                     Key("london"), Key("tokyo")};
  const std::vector<uint32_t> offsets = {0, 2};  // where each bag starts
  TableLookup lookup{"words", keys};
  lookup.pooling = Pooling::kMean;
  lookup.offsets = offsets;
  lookup.missing_key_policy = MissingKeyPolicy::kError;
  const auto reply = client.Lookup({lookup});
  if (!reply.ok()) return reply.status();
  Print("mean of king, queen", (*reply)[0].Floats(0));
  Print("mean of paris, london, tokyo", (*reply)[0].Floats(1));
  return (*reply)[0].Floats(0);
}

absl::Status WriteAndErase(Client& client, const std::vector<float>& row) {
  const std::vector<int64_t> keys = {Key("a word of our own")};
  TableUpdate update{"words", keys};
  update.values = AsBytes(row);  // one row for each key
  const auto updated = client.Update({update});
  if (!updated.ok()) return updated.status();
  std::cout << "inserted " << (*updated)[0].num_inserted << ", updated "
            << (*updated)[0].num_updated << '\n';

  const auto reply = client.Lookup({{"words", keys}});
  if (!reply.ok()) return reply.status();
  if ((*reply)[0].Floats(0) != row) {
    return absl::InternalError("the row is not what was written");
  }

  const auto erased = client.Erase({{"words", keys}});
  if (!erased.ok()) return erased.status();
  std::cout << "erased " << (*erased)[0].num_erased << '\n';
  return absl::OkStatus();
}

absl::Status Run(const std::string& address) {
  ClientOptions options;
  options.connection.address = address;
  options.timeout = absl::Seconds(5);  // of each call, its retries included
  const auto client = Client::Create(options);
  if (!client.ok()) return client.status();

  if (absl::Status status = LookUp(**client); !status.ok()) return status;
  const auto mean = LookUpMeans(**client);
  if (!mean.ok()) return mean.status();
  return WriteAndErase(**client, *mean);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "localhost:7400");
  if (status.ok()) return 0;
  std::cerr << status << '\n';
  return 1;
}
