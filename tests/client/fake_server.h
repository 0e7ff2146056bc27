// A server for client tests: one process-wide fake of EmbeddingService,
// TableService and health over plain maps, with failures on demand. It keeps
// just enough of the contract for clients to be tested against; the real
// server has its own tests.
#ifndef GATHERD_TESTS_CLIENT_FAKE_SERVER_H_
#define GATHERD_TESTS_CLIENT_FAKE_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatherd::client {

// One table of float32 rows; absent keys give zeros.
struct FakeTable {
  uint32_t dim = 0;
  bool dense = false;
  std::map<int64_t, std::vector<float>> rows;
  uint64_t revision = 0;
};

struct FakeServerOptions {
  std::string address = "127.0.0.1:0";
  uint64_t max_keys_per_request = 1000;
  uint64_t max_message_bytes = 64 << 20;
  // PEM texts; without a certificate the server speaks plaintext.
  std::string certificate;
  std::string key;
  std::string client_ca;  // demands a certificate of clients
};

// Thread-safe. Starts with a hashed table "words" of dim 4 and a dense table
// "items" of dim 2 and 10 rows.
class FakeServer {
 public:
  explicit FakeServer(const FakeServerOptions& options = {});
  ~FakeServer();

  const std::string& address() const { return address_; }

  // The next `num_calls` calls of any method fail with this gRPC code.
  void FailNext(int num_calls, int code, const std::string& message);
  // Every call waits this long, or until it is cancelled.
  void DelayCalls(int milliseconds);
  void SetServing(bool serving);
  // From now on, lookups return rows that nobody wrote.
  void SpoilRows();
  // After `num_calls` more, updates are acknowledged but not done.
  void LoseUpdates(int num_calls);

  FakeTable GetTable(const std::string& name) const;
  // Calls seen since the start, failed ones included.
  int num_calls() const;
  // The `authorization` metadata of the last call, empty if it had none.
  std::string last_authorization() const;
  // The number of keys of each update so far.
  std::vector<int> update_sizes() const;

 private:
  class Service;
  struct Servers;

  std::string address_;
  std::unique_ptr<Servers> servers_;
};

}  // namespace gatherd::client

#endif  // GATHERD_TESTS_CLIENT_FAKE_SERVER_H_
