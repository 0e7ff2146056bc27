// What a benchmark asks the server for: the shape of its requests, and the
// requests themselves, encoded beforehand so that sending one costs nothing
// but the sending.
#ifndef GATHERD_CLIENT_BENCH_WORKLOAD_H_
#define GATHERD_CLIENT_BENCH_WORKLOAD_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/requests.h"

namespace gatherd::client {

struct Workload {
  std::vector<TableInfo> tables;  // every call asks all of them
  size_t keys_per_call = 256;     // of each table
  uint64_t rows = 0;              // keys are in [0, rows)
  std::optional<double> zipf;     // none: uniform
  Pooling pooling = Pooling::kNone;
  size_t hotness = 1;  // keys of one bag
  std::optional<DataType> output_type;
  double read_fraction = 1.0;  // the others are updates
  UpdateMode update_mode = UpdateMode::kSet;
  uint64_t seed = 1;
};

struct EncodedRequest {
  grpc::ByteBuffer message;
  size_t num_keys = 0;
  // What a right reply has at least: the rows' bytes.
  size_t min_reply_bytes = 0;
};

struct EncodedRequests {
  std::vector<EncodedRequest> lookups;  // none if nothing is read
  std::vector<EncodedRequest> updates;  // none if nothing is written
};

// As many different requests of each kind as make the keys cover the table,
// within bounds; they are then sent again and again in turn.
EncodedRequests Encode(const Workload& workload);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_WORKLOAD_H_
