// Traffic of a ShardedClient for tests that end and start servers meanwhile.
//
// usage: sharded_traffic fail|missing SERVER...
//
// Writes self-describing rows to table "words" (hashed, dim 4), then looks them
// up until standard input ends. Rows that are missing without a lost server are
// those of a server that has started anew: they are written again. Every 100 ms
// a line with counts goes to standard output:
//   calls=N failed=N partial=N wrong=N missing=N first_error=TEXT
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/sharded_client.h"

namespace gatherd::client {
namespace {

constexpr int64_t kNumKeys = 2000;
constexpr size_t kKeysPerCall = 100;
constexpr int kDim = 4;

struct Counts {
  int64_t num_calls = 0;
  int64_t num_failed = 0;
  int64_t num_partial = 0;  // some server was lost
  int64_t num_wrong = 0;    // rows that nobody wrote under that key
  int64_t num_missing = 0;  // keys, though no server was lost
  std::string first_error;
};

std::vector<float> RowOf(int64_t key) {
  const auto first = static_cast<float>(key);
  return {first, -first, first + 1, 7};
}

absl::Status Write(ShardedClient& client, const std::vector<int64_t>& keys) {
  std::vector<float> values;
  for (const int64_t key : keys) {
    for (const float value : RowOf(key)) values.push_back(value);
  }
  TableUpdate update{"words", keys};
  update.values = AsBytes(values);
  return client.Update({update}).status();
}

void CountRows(const std::vector<int64_t>& keys,
               const ShardedLookupReply& reply, Counts& counts,
               std::vector<int64_t>& missing) {
  const TableRows& rows = reply.tables[0];
  const bool is_partial = !reply.lost_servers.empty();
  counts.num_partial += is_partial ? 1 : 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::vector<float> expected =
        rows.IsMissing(i) ? std::vector<float>(kDim) : RowOf(keys[i]);
    if (rows.Floats(i) != expected) ++counts.num_wrong;
    if (rows.IsMissing(i) && !is_partial) missing.push_back(keys[i]);
  }
  counts.num_missing += static_cast<int64_t>(missing.size());
}

void LookUp(ShardedClient& client, std::mt19937_64& random, Counts& counts) {
  std::vector<int64_t> keys(kKeysPerCall);
  for (int64_t& key : keys) {
    key = static_cast<int64_t>(random() % kNumKeys) - kNumKeys / 2;
  }
  ++counts.num_calls;
  const auto reply = client.Lookup({{"words", keys}});
  if (!reply.ok()) {
    ++counts.num_failed;
    if (counts.first_error.empty()) {
      counts.first_error = reply.status().ToString();
    }
    return;
  }
  std::vector<int64_t> missing;
  CountRows(keys, *reply, counts, missing);
  // What it says is of no use: the server may be gone again.
  if (!missing.empty()) Write(client, missing).IgnoreError();
}

void Print(const Counts& counts) {
  std::cout << "calls=" << counts.num_calls << " failed=" << counts.num_failed
            << " partial=" << counts.num_partial
            << " wrong=" << counts.num_wrong
            << " missing=" << counts.num_missing
            << " first_error=" << counts.first_error << std::endl;
}

bool InputHasEnded() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

int Run(const std::vector<std::string>& arguments) {
  ShardedClientOptions options;
  options.lost_keys =
      arguments[0] == "missing" ? LostKeys::kMissing : LostKeys::kFail;
  options.servers.assign(arguments.begin() + 1, arguments.end());
  options.client.timeout = absl::Seconds(2);
  options.client.max_attempts = 2;
  options.client.backoff.initial = absl::Milliseconds(10);
  const auto client = ShardedClient::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < kNumKeys; ++i) keys.push_back(i - kNumKeys / 2);
  if (const absl::Status status = Write(**client, keys); !status.ok()) {
    std::cerr << status << '\n';
    return 1;
  }
  std::mt19937_64 random(1);
  Counts counts;
  absl::Time next_line = absl::Now();
  while (!InputHasEnded()) {
    LookUp(**client, random, counts);
    if (absl::Now() < next_line) continue;
    Print(counts);
    next_line += absl::Milliseconds(100);
  }
  Print(counts);
  return 0;
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return gatherd::client::Run({argv + 1, argv + argc});
}
