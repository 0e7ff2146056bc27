// A Client that looks up, for tests that end and start its servers meanwhile.
// A program of its own: gRPC's servers in the same process would read the
// client's sockets for it.
//
// usage: lookup_loop ADDRESS blocking|async MAX_ATTEMPTS PAUSE_MS
//
// Looks up in table "words", one call after the other with pauses between
// them, until standard input ends. After each call a line goes to standard
// output: `ok`, or why it failed.
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/synchronization/notification.h"
#include "client/client.h"

namespace gatherd::client {
namespace {

constexpr int64_t kKeys[] = {1, 99};

absl::Status LookUp(Client& client) {
  return client.Lookup({{"words", kKeys}}).status();
}

absl::Status StartAndWait(Client& client) {
  absl::Status status;
  absl::Notification done;
  client.LookupAsync({{"words", kKeys}},
                     [&](const absl::StatusOr<LookupReply>& reply) {
                       status = reply.status();
                       done.Notify();
                     });
  done.WaitForNotification();
  return status;
}

bool InputEndsWithin(int milliseconds) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, milliseconds) > 0;
}

int Run(const std::string& address, const std::string& way, int max_attempts,
        int pause_ms) {
  ClientOptions options;
  options.connection.address = address;
  options.timeout = absl::Seconds(1);
  options.max_attempts = max_attempts;
  const auto client = Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }
  do {
    const absl::Status status =
        way == "async" ? StartAndWait(**client) : LookUp(**client);
    std::cout << (status.ok() ? "ok" : status.ToString()) << std::endl;
  } while (!InputEndsWithin(pause_ms));
  return 0;
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  int max_attempts = 0;
  int pause_ms = 0;
  if (argc != 5 || !absl::SimpleAtoi(argv[3], &max_attempts) ||
      !absl::SimpleAtoi(argv[4], &pause_ms)) {
    return 2;
  }
  return gatherd::client::Run(argv[1], argv[2], max_attempts, pause_ms);
}
