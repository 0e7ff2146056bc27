#include "client/bench/workload.h"

#include <algorithm>
#include <random>

#include "absl/random/distributions.h"
#include "client/bench/key_generator.h"
#include "client/messages.h"

namespace gatherd::client {
namespace {

// Of all encoded requests of one kind.
constexpr size_t kMaxEncodedBytes = 128 << 20;
constexpr size_t kMinRequests = 16;
constexpr size_t kMaxRequests = 4096;

KeyGenerator MakeGenerator(const Workload& workload) {
  return workload.zipf.has_value() ? KeyGenerator(workload.rows, *workload.zipf)
                                   : KeyGenerator(workload.rows);
}

// Enough requests for four keys to each row, in so far as they fit.
size_t NumRequests(const Workload& workload, size_t request_bytes) {
  const uint64_t covering =
      4 * workload.rows / std::max<size_t>(1, workload.keys_per_call);
  const size_t fitting = kMaxEncodedBytes / std::max<size_t>(1, request_bytes);
  return std::clamp<size_t>(std::min<uint64_t>(covering, fitting), kMinRequests,
                            kMaxRequests);
}

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

class Encoder {
 public:
  explicit Encoder(const Workload& workload)
      : workload_(workload),
        random_(workload.seed),
        keys_(MakeGenerator(workload)) {
    if (workload.pooling == Pooling::kNone) return;
    for (size_t at = 0; at < workload.keys_per_call; at += workload.hotness) {
      offsets_.push_back(static_cast<uint32_t>(at));
    }
  }

  EncodedRequest Lookup() {
    std::vector<std::vector<int64_t>> keys;
    std::vector<TableLookup> lookups;
    EncodedRequest request;
    keys.reserve(workload_.tables.size());
    for (const TableInfo& table : workload_.tables) {
      keys.push_back(Keys());
      TableLookup& lookup =
          lookups.emplace_back(TableLookup{table.name, keys.back()});
      lookup.pooling = workload_.pooling;
      lookup.offsets = offsets_;
      lookup.output_type = workload_.output_type;
      const size_t num_rows = workload_.pooling == Pooling::kNone
                                  ? keys.back().size()
                                  : offsets_.size();
      request.num_keys += keys.back().size();
      request.min_reply_bytes +=
          num_rows *
          RowBytes(workload_.output_type.value_or(table.data_type), table.dim);
    }
    request.message = ToBuffer(ToMessage(absl::MakeConstSpan(lookups)));
    return request;
  }

  EncodedRequest Update() {
    std::vector<std::vector<int64_t>> keys;
    std::vector<std::vector<float>> values;
    std::vector<TableUpdate> updates;
    EncodedRequest request;
    for (const TableInfo& table : workload_.tables) {
      keys.push_back(Keys());
      values.push_back(Values(keys.back().size() * table.dim));
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      updates.push_back({workload_.tables[i].name, keys[i], DataType::kFloat32,
                         AsBytes(values[i]), workload_.update_mode});
      request.num_keys += keys[i].size();
    }
    request.message = ToBuffer(ToMessage(absl::MakeConstSpan(updates)));
    return request;
  }

 private:
  std::vector<int64_t> Keys() {
    std::vector<int64_t> keys(workload_.keys_per_call);
    for (int64_t& key : keys) key = keys_.Next(random_);
    return keys;
  }

  std::vector<float> Values(size_t num) {
    std::vector<float> values(num);
    for (float& value : values) value = absl::Uniform(random_, -1.0f, 1.0f);
    return values;
  }

  const Workload& workload_;
  std::mt19937_64 random_;
  KeyGenerator keys_;
  std::vector<uint32_t> offsets_;
};

}  // namespace

EncodedRequests Encode(const Workload& workload) {
  Encoder encoder(workload);
  EncodedRequests requests;
  if (workload.read_fraction > 0) {
    requests.lookups.push_back(encoder.Lookup());
    const size_t num =
        NumRequests(workload, requests.lookups[0].message.Length());
    while (requests.lookups.size() < num) {
      requests.lookups.push_back(encoder.Lookup());
    }
  }
  if (workload.read_fraction < 1) {
    requests.updates.push_back(encoder.Update());
    const size_t num =
        NumRequests(workload, requests.updates[0].message.Length());
    while (requests.updates.size() < num) {
      requests.updates.push_back(encoder.Update());
    }
  }
  return requests;
}

}  // namespace gatherd::client
