// Vectors of items and users with gatherd's C++ client. docs/clients.md says
// how to run it, and shows it beside items.py, which does the same.
#include <cstdint>
#include <future>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"

namespace {

using gatherd::DataType;
using gatherd::client::AsBytes;
using gatherd::client::CallOptions;
using gatherd::client::Client;
using gatherd::client::ClientOptions;
using gatherd::client::LookupReply;
using gatherd::client::MissingKeyPolicy;
using gatherd::client::PendingCall;
using gatherd::client::Pooling;
using gatherd::client::TableLookup;
using gatherd::client::TableRows;
using gatherd::client::TableUpdate;
using gatherd::client::UpdateMode;

constexpr size_t kNumItems = 25'000;
constexpr size_t kDim = 64;

absl::Status Write(Client& client, absl::Span<const int64_t> keys) {
  std::vector<float> values(keys.size() * kDim);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform;
  for (float& value : values) value = uniform(random);
  constexpr size_t kPart = 10'000;
  for (size_t i = 0; i < keys.size(); i += kPart) {
    TableUpdate update{"items", keys.subspan(i, kPart)};
    update.values = AsBytes(absl::MakeConstSpan(values).subspan(
        i * kDim, update.keys.size() * kDim));
    const auto result = client.Update({update});
    if (!result.ok()) return result.status();
  }
  const int64_t users[] = {7, 8};
  const std::vector<float> ones(2 * 16, 1.0F);
  return client
      .Update({{"users", users, DataType::kFloat32, AsBytes(ones),
                UpdateMode::kSet}})
      .status();
}

absl::Status LookUp(Client& client) {
  const int64_t keys[] = {3, 1, -5};
  const auto reply = client.Lookup({{"items", keys}});
  if (!reply.ok()) return reply.status();
  const TableRows& rows = (*reply)[0];
  const std::vector<float> first = rows.Floats(0);
  std::cout << rows.num_rows() << " rows of " << first.size()
            << ", missing: " << rows.IsMissing(0) << rows.IsMissing(1)
            << rows.IsMissing(2) << '\n';
  return absl::OkStatus();
}

absl::Status LookUpPooled(Client& client) {
  // Two bags: keys[0:3] and keys[3:5].
  const int64_t keys[] = {3, 1, 2, 9, 9};
  const uint32_t offsets[] = {0, 3};
  const float weights[] = {0.5, 0.25, 0.25, 1, 1};
  TableLookup lookup{"items", keys, Pooling::kSum, offsets, weights};
  lookup.output_type = DataType::kFloat32;
  const auto pooled = client.Lookup({lookup});
  if (!pooled.ok()) return pooled.status();
  std::cout << (*pooled)[0].num_rows() << " bags, revision of several writes: "
            << ((*pooled)[0].revision() >= 3) << '\n';
  return absl::OkStatus();
}

absl::Status LookUpSeveral(Client& client) {
  const int64_t user[] = {7};
  const int64_t items[] = {3, 1, 2};
  TableLookup of_items{"items", items};
  of_items.output_type = DataType::kInt8;
  const auto reply = client.Lookup({{"users", user}, of_items});
  if (!reply.ok()) return reply.status();
  const std::vector<float> weights = (*reply)[0].Floats(0);
  for (uint32_t i = 0; i < (*reply)[1].num_rows(); ++i) {
    const std::vector<float> item = (*reply)[1].Floats(i);
    const float score =
        std::inner_product(weights.begin(), weights.end(), item.begin(), 0.0F);
    std::cout << (score > 0 ? "scored " : "no score ");
  }
  std::cout << '\n';
  return absl::OkStatus();
}

absl::Status LookUpWithoutWaiting(Client& client) {
  const int64_t keys[] = {3, 1, 2};
  std::promise<absl::StatusOr<LookupReply>> promise;
  const PendingCall call = client.LookupAsync(
      {{"items", keys}}, [&promise](absl::StatusOr<LookupReply> reply) {
        promise.set_value(std::move(reply));
      });
  // ... something else, or call.Cancel() ...
  const absl::StatusOr<LookupReply> reply = promise.get_future().get();
  if (!reply.ok()) return reply.status();
  size_t num_bytes = 0;
  (*reply)[0].VisitRuns([&](uint32_t, absl::Span<const std::byte> rows) {
    // Whole rows, where they arrived; the first number is the first row's.
    num_bytes += rows.size();
  });
  std::cout << num_bytes << " bytes\n";
  return absl::OkStatus();
}

void Fail(Client& client) {
  const int64_t keys[] = {-5};
  TableLookup lookup{"items", keys};
  lookup.missing_key_policy = MissingKeyPolicy::kError;
  CallOptions options;
  options.timeout = absl::Milliseconds(500);
  options.max_attempts = 1;
  const auto reply = client.Lookup({lookup}, options);
  if (!reply.ok()) {
    std::cout << absl::StatusCodeToString(reply.status().code()) << '\n';
  }
}

absl::Status Run(const std::string& address) {
  ClientOptions options;
  options.connection.address = address;
  options.timeout = absl::Seconds(5);
  const auto client = Client::Create(options);
  if (!client.ok()) return client.status();

  std::vector<int64_t> keys(kNumItems);
  std::iota(keys.begin(), keys.end(), 0);
  for (const absl::Status& status :
       {Write(**client, keys), LookUp(**client), LookUpPooled(**client),
        LookUpSeveral(**client), LookUpWithoutWaiting(**client)}) {
    if (!status.ok()) return status;
  }
  Fail(**client);
  const auto erased = (*client)->Erase({{"items", keys}});
  if (!erased.ok()) return erased.status();
  std::cout << "erased: " << (*erased)[0].num_erased << '\n';
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "localhost:7400");
  if (status.ok()) return 0;
  std::cerr << status << '\n';
  return 1;
}
