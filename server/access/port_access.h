// Who may use the gRPC port: its certificates, its tokens, and the thread that
// has them read again when their files change.
#ifndef GATHERD_SERVER_ACCESS_PORT_ACCESS_H_
#define GATHERD_SERVER_ACCESS_PORT_ACCESS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/access_control.h"
#include "server/access/access_stats.h"
#include "server/access/file_watcher.h"
#include "server/access/server_certificates.h"
#include "server/config.h"

namespace grpc {
class ServerCredentials;
}

namespace gatherd {

class PortAccess {
 public:
  // Reads the files that `config` names. INVALID_ARGUMENT naming the one that
  // is wrong.
  static absl::StatusOr<std::unique_ptr<PortAccess>> Create(
      const ServerConfig& config);

  // For one server, which this outlives. `on_refusal` runs on gRPC's threads
  // for each call that is refused: the method's path, and why.
  std::shared_ptr<grpc::ServerCredentials> Credentials(
      std::function<void(std::string_view, const absl::Status&)> on_refusal);

  // Thread-safe.
  AccessStats Stats() const;

 private:
  PortAccess() = default;

  std::unique_ptr<ServerCertificates> certificates_;  // nullptr: plaintext
  std::unique_ptr<AccessControl> control_;            // nullptr: no tokens
  std::unique_ptr<FileWatcher> watcher_;  // first to go; nullptr: no files
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_PORT_ACCESS_H_
