#include "client/request_size.h"

#include <catch2/catch.hpp>

namespace gatherd::client {
namespace {

size_t Rows(uint64_t max_keys, uint64_t max_message_bytes, size_t row_bytes) {
  ServerInfo server;
  server.max_keys_per_request = max_keys;
  server.max_message_bytes = max_message_bytes;
  return RowsPerRequest(server, row_bytes);
}

}  // namespace

TEST_CASE("Requests keep within the server's limits") {
  CHECK(Rows(1'000'000, 64 << 20, 256) == 15'883);
  CHECK(Rows(100, 64 << 20, 256) == 100);
  CHECK(Rows(1'000'000, 1 << 20, 256) == 3'968);
}

TEST_CASE("One row is tried even if it is too large, for the server to say") {
  CHECK(Rows(1'000'000, 100, 32 << 10) == 1);
}

}  // namespace gatherd::client
