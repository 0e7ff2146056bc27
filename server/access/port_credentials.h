// gRPC's credentials for a port: TLS whose certificates may change, and a
// decision about each call before its message is read.
#ifndef GATHERD_SERVER_ACCESS_PORT_CREDENTIALS_H_
#define GATHERD_SERVER_ACCESS_PORT_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

namespace grpc {
class ServerCredentials;
}

namespace gatherd {

class AccessControl;
class ServerCertificates;

struct PortCredentialsOptions {
  ServerCertificates* certificates = nullptr;  // nullptr: plaintext
  const AccessControl* control = nullptr;      // nullptr: no call needs a token
  // Told of each call that `control` refused: the method's path and why. On
  // gRPC's threads.
  std::function<void(std::string_view path, const absl::Status& status)>
      on_refusal;
};

// For one server with one port, which `certificates` and `control` outlive.
std::shared_ptr<grpc::ServerCredentials> MakePortCredentials(
    PortCredentialsOptions options);

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_PORT_CREDENTIALS_H_
