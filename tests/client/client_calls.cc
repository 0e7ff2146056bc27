// A Client that calls as it is told to, for tests that end and start its
// servers meanwhile. A program of its own: gRPC's servers in the same process
// would read the client's sockets for it.
//
// usage: client_calls ADDRESS blocking|async MAX_ATTEMPTS
//
// For each line of standard input, `lookup` or `add`, it calls table "words"
// (dim 2), with a deadline of a second, and writes a line to standard output:
// `ok`, or why the call failed.
#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/synchronization/notification.h"
#include "client/client.h"

namespace gatherd::client {
namespace {

constexpr int64_t kKeys[] = {1, 99};
constexpr float kValues[] = {1, 1, 1, 1};

TableUpdate Addition() {
  TableUpdate update{"words", kKeys};
  update.values = AsBytes(kValues);
  update.mode = UpdateMode::kAdd;
  return update;
}

absl::Status Block(Client& client, const std::string& call) {
  if (call == "add") return client.Update({Addition()}).status();
  return client.Lookup({{"words", kKeys}}).status();
}

absl::Status StartAndWait(Client& client, const std::string& call) {
  absl::Status status;
  absl::Notification done;
  const auto end = [&](const auto& reply) {
    status = reply.status();
    done.Notify();
  };
  if (call == "add") {
    client.UpdateAsync({Addition()}, end);
  } else {
    client.LookupAsync({{"words", kKeys}}, end);
  }
  done.WaitForNotification();
  return status;
}

int Run(const std::string& address, const std::string& way, int max_attempts) {
  ClientOptions options;
  options.connection.address = address;
  options.timeout = absl::Seconds(1);
  options.max_attempts = max_attempts;
  const auto client = Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }
  std::string call;
  while (std::getline(std::cin, call)) {
    const absl::Status status =
        way == "async" ? StartAndWait(**client, call) : Block(**client, call);
    std::cout << (status.ok() ? "ok" : status.ToString()) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  int max_attempts = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[3], &max_attempts)) return 2;
  return gatherd::client::Run(argv[1], argv[2], max_attempts);
}
