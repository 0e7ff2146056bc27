#include "server/access/port_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpcpp/security/server_credentials.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "server/access/access_control.h"
#include "server/access/server_certificates.h"

// This uses gRPC's C interface. Of the C++ one, the classes that watch files
// drop the old certificate before they know that the new one is good, and the
// ones that see a call's headers exist for TLS alone.
namespace gatherd {
namespace {

std::string_view ViewOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
          GRPC_SLICE_LENGTH(slice)};
}

// What gRPC asks before each handshake, under a lock of its own.
grpc_ssl_certificate_config_reload_status FetchCertificates(
    void* certificates, grpc_ssl_server_certificate_config** config) {
  const std::optional<CertificateTexts> texts =
      static_cast<ServerCertificates*>(certificates)->TakeNew();
  if (!texts.has_value()) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair = {texts->key.c_str(),
                                           texts->certificate.c_str()};
  // gRPC aborts without any authority here. Where clients are not asked for a
  // certificate, whatever stands there is never used.
  const std::string& authorities =
      texts->client_ca.empty() ? texts->certificate : texts->client_ca;
  *config =
      grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

// What a call's headers say that matters here.
struct CallHeaders {
  std::string_view path;
  absl::InlinedVector<std::string_view, 1> authorization;
  const grpc_metadata* token = nullptr;
};

CallHeaders FindHeaders(const grpc_metadata* headers, size_t num_headers) {
  CallHeaders found;
  for (size_t i = 0; i < num_headers; ++i) {
    const std::string_view key = ViewOf(headers[i].key);
    if (key == ":path") {
      found.path = ViewOf(headers[i].value);
    } else if (key == "authorization") {
      found.authorization.push_back(ViewOf(headers[i].value));
      found.token = &headers[i];
    }
  }
  return found;
}

// A call's headers have come, its message has not been read.
void CheckCall(void* state, grpc_auth_context*, const grpc_metadata* headers,
               size_t num_headers, grpc_process_auth_metadata_done_cb done,
               void* done_data) {
  const auto& options = *static_cast<const PortCredentialsOptions*>(state);
  const CallHeaders found = FindHeaders(headers, num_headers);
  const absl::Status status =
      options.control->Check(found.path, found.authorization);
  if (!status.ok()) options.on_refusal(found.path, status);
  // The token goes no further: who handles the call does not see it.
  done(done_data, found.token, found.token == nullptr ? 0 : 1, nullptr, 0,
       static_cast<grpc_status_code>(status.code()),
       status.ok() ? nullptr : std::string(status.message()).c_str());
}

class PortCredentials final : public grpc::ServerCredentials {
 public:
  explicit PortCredentials(PortCredentialsOptions options)
      : options_(std::move(options)) {}

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    grpc_server_credentials* credentials = Make();
    const int port =
        grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);  // the server keeps its own
    return port;
  }

  grpc_server_credentials* Make() const {
    grpc_server_credentials* credentials =
        options_.certificates == nullptr
            ? grpc_insecure_server_credentials_create()
            : MakeTls();
    if (options_.control != nullptr) {
      const auto destroy = [](void* options) {
        delete static_cast<PortCredentialsOptions*>(options);
      };
      grpc_server_credentials_set_auth_metadata_processor(
          credentials,
          {&CheckCall, destroy, new PortCredentialsOptions(options_)});
    }
    return credentials;
  }

  grpc_server_credentials* MakeTls() const {
    return grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            options_.certificates->demands_client_certificates()
                ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            &FetchCertificates, options_.certificates));
  }

  const PortCredentialsOptions options_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakePortCredentials(
    PortCredentialsOptions options) {
  return std::make_shared<PortCredentials>(std::move(options));
}

}  // namespace gatherd
