#include "client/bench/workload.h"

#include <catch2/catch.hpp>
#include <set>

#include "proto/gatherd/v1/gatherd.pb.h"

namespace gatherd::client {
namespace {

template <typename Message>
Message Decode(const EncodedRequest& request) {
  std::vector<grpc::Slice> slices;
  REQUIRE(request.message.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  Message message;
  REQUIRE(message.ParseFromString(bytes));
  return message;
}

Workload TwoTables() {
  Workload workload;
  workload.tables.resize(2);
  workload.tables[0].name = "a";
  workload.tables[0].dim = 8;
  workload.tables[1].name = "b";
  workload.tables[1].dim = 3;
  workload.tables[1].data_type = DataType::kInt8;
  workload.keys_per_call = 10;
  workload.rows = 100;
  return workload;
}

}  // namespace

TEST_CASE("A lookup asks every table for its keys") {
  const EncodedRequests requests = Encode(TwoTables());
  CHECK(requests.updates.empty());
  REQUIRE(requests.lookups.size() == 40);  // four keys to each row
  std::set<int64_t> keys;
  for (const EncodedRequest& request : requests.lookups) {
    CHECK(request.num_keys == 20);
    CHECK(request.min_reply_bytes == 10 * 32 + 10 * 7);
    const auto message = Decode<v1::LookupRequest>(request);
    REQUIRE(message.lookups_size() == 2);
    CHECK(message.lookups(0).table() == "a");
    CHECK(message.lookups(1).table() == "b");
    for (const v1::TableLookup& lookup : message.lookups()) {
      CHECK(lookup.keys_size() == 10);
      CHECK(lookup.pooling() == v1::POOLING_NONE);
      keys.insert(lookup.keys().begin(), lookup.keys().end());
    }
  }
  CHECK(*keys.begin() >= 0);
  CHECK(*keys.rbegin() < 100);
  CHECK(keys.size() > 95);
}

TEST_CASE("Pooled lookups have bags of the hotness, the last one shorter") {
  Workload workload = TwoTables();
  workload.pooling = Pooling::kSum;
  workload.hotness = 4;
  workload.output_type = DataType::kFloat16;
  const EncodedRequests requests = Encode(workload);
  const auto message = Decode<v1::LookupRequest>(requests.lookups[0]);
  const v1::TableLookup& lookup = message.lookups(0);
  CHECK(lookup.pooling() == v1::POOLING_SUM);
  CHECK(lookup.output_type() == v1::DATA_TYPE_FLOAT16);
  CHECK(
      std::vector<uint32_t>(lookup.offsets().begin(), lookup.offsets().end()) ==
      std::vector<uint32_t>{0, 4, 8});
  CHECK(requests.lookups[0].min_reply_bytes == 3 * 16 + 3 * 6);
}

TEST_CASE("Updates bring a row for each key") {
  Workload workload = TwoTables();
  workload.read_fraction = 0;
  workload.update_mode = UpdateMode::kAdd;
  const EncodedRequests requests = Encode(workload);
  CHECK(requests.lookups.empty());
  REQUIRE_FALSE(requests.updates.empty());
  const auto message = Decode<v1::UpdateRequest>(requests.updates[0]);
  REQUIRE(message.updates_size() == 2);
  CHECK(message.updates(0).mode() == v1::UPDATE_MODE_ADD);
  CHECK(message.updates(0).values().size() == 10 * 8 * sizeof(float));
  CHECK(message.updates(1).values().size() == 10 * 3 * sizeof(float));
}

TEST_CASE("A mix has both kinds, and seeds tell workloads apart") {
  Workload workload = TwoTables();
  workload.read_fraction = 0.5;
  const EncodedRequests first = Encode(workload);
  CHECK_FALSE(first.lookups.empty());
  CHECK_FALSE(first.updates.empty());
  workload.seed = 2;
  const EncodedRequests second = Encode(workload);
  CHECK(Decode<v1::LookupRequest>(first.lookups[0]).SerializeAsString() !=
        Decode<v1::LookupRequest>(second.lookups[0]).SerializeAsString());
}

TEST_CASE("Calls of no keys are legal") {
  Workload workload = TwoTables();
  workload.keys_per_call = 0;
  workload.pooling = Pooling::kMean;
  const EncodedRequests requests = Encode(workload);
  CHECK(requests.lookups[0].num_keys == 0);
  CHECK(requests.lookups[0].min_reply_bytes == 0);
}

}  // namespace gatherd::client
