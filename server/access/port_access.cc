#include "server/access/port_access.h"

#include <grpcpp/security/server_credentials.h>

#include <utility>
#include <vector>

#include "server/access/file_changes.h"
#include "server/access/port_credentials.h"

namespace gatherd {

absl::StatusOr<std::unique_ptr<PortAccess>> PortAccess::Create(
    const ServerConfig& config) {
  std::unique_ptr<PortAccess> access(new PortAccess);
  std::vector<FileWatcher::Watched> watched;
  if (config.tls.has_value()) {
    FileChanges changes = ChangesOf(*config.tls);
    auto certificates = ServerCertificates::Create(*config.tls);
    if (!certificates.ok()) return certificates.status();
    access->certificates_ = *std::move(certificates);
    watched.push_back({std::move(changes), [it = access->certificates_.get()] {
                         it->ReadAgain();
                       }});
  }
  if (config.auth.has_value()) {
    FileChanges changes = ChangesOf(*config.auth);
    auto control = AccessControl::Create(*config.auth);
    if (!control.ok()) return control.status();
    access->control_ = *std::move(control);
    watched.push_back({std::move(changes),
                       [it = access->control_.get()] { it->ReadAgain(); }});
  }
  if (!watched.empty()) {
    access->watcher_ = std::make_unique<FileWatcher>(std::move(watched));
  }
  return access;
}

AccessStats PortAccess::Stats() const {
  AccessStats stats;
  if (certificates_ != nullptr) {
    stats.certificate_valid_until = certificates_->valid_until();
    stats.certificates_stale = certificates_->is_stale();
  }
  if (control_ != nullptr) stats.tokens_stale = control_->is_stale();
  return stats;
}

std::shared_ptr<grpc::ServerCredentials> PortAccess::Credentials(
    std::function<void(std::string_view, const absl::Status&)> on_refusal) {
  if (certificates_ == nullptr && control_ == nullptr) {
    return grpc::InsecureServerCredentials();
  }
  return MakePortCredentials(
      {certificates_.get(), control_.get(), std::move(on_refusal)});
}

}  // namespace gatherd
