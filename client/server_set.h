// The servers that tables are spread over, and who of them owns which key.
#ifndef GATHERD_CLIENT_SERVER_SET_H_
#define GATHERD_CLIENT_SERVER_SET_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/rendezvous.h"

namespace gatherd::client {

// At least one. Never changes.
struct ServerSet {
  std::vector<std::string> names;  // which are their addresses, too
  std::vector<std::shared_ptr<Client>> clients;
  Rendezvous owners;
};

// The names of all servers there are now.
using ServerNames = std::function<absl::StatusOr<std::vector<std::string>>()>;

// The IP:PORT of every address that `name`, a HOST:PORT, has now.
absl::StatusOr<std::vector<std::string>> ResolveAll(const std::string& name);

// Thread-safe.
class ServerSets {
 public:
  // `options.connection.address` is each server's name. Asks for the names now
  // and then, on a thread of its own, every `interval`; never again if that is
  // infinite. What is wrong with the first names is returned; later ones that
  // cannot be had, or used, leave the set as it is.
  static absl::StatusOr<std::unique_ptr<ServerSets>> Create(
      ClientOptions options, ServerNames names, absl::Duration interval);

  ~ServerSets();

  // Clients live as long as a set that has them is held, so not by callbacks.
  std::shared_ptr<const ServerSet> Current() const;

 private:
  ServerSets(ClientOptions options, ServerNames names);

  absl::Status Refresh();
  void RefreshEvery(absl::Duration interval);

  const ClientOptions options_;
  const ServerNames names_;

  mutable absl::Mutex mutex_;
  std::shared_ptr<const ServerSet> current_ ABSL_GUARDED_BY(mutex_);
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread refresher_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_SERVER_SET_H_
