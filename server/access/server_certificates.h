// What the gRPC port shows and demands under TLS: certificate and key, and who
// signs the certificates of clients. Read from files, again when they change;
// gRPC asks for them at each handshake, so connections that stand are left
// alone.
#ifndef GATHERD_SERVER_ACCESS_SERVER_CERTIFICATES_H_
#define GATHERD_SERVER_ACCESS_SERVER_CERTIFICATES_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/file_changes.h"
#include "server/config.h"

namespace gatherd {

// PEM texts that belong together, checked.
struct CertificateTexts {
  std::string
      certificate;  // of the server, then of those between it and a root
  std::string key;
  std::string client_ca;  // empty: clients need no certificate
  absl::Time valid_from;
  absl::Time valid_until;
};

// INVALID_ARGUMENT naming the file that cannot be read, holds no certificate or
// key, or does not fit the others. Certificates that are out of date pass.
absl::StatusOr<CertificateTexts> ReadCertificates(const TlsConfig& config);

// What is to be watched for ReadAgain.
FileChanges ChangesOf(const TlsConfig& config);

// For one port. Thread-safe, but for ReadAgain, which one thread may call.
class ServerCertificates {
 public:
  static absl::StatusOr<std::unique_ptr<ServerCertificates>> Create(
      const TlsConfig& config);

  bool demands_client_certificates() const {
    return !config_.client_ca.empty();
  }

  // What has not been taken yet; none if that was the newest.
  std::optional<CertificateTexts> TakeNew();

  // Files that are wrong are logged, and the old ones stay in force.
  void ReadAgain();
  // Whether that was so the last time.
  bool is_stale() const { return is_stale_.load(std::memory_order_relaxed); }

  // Of what is in force.
  absl::Time valid_until() const {
    absl::MutexLock lock(&mutex_);
    return valid_until_;
  }

 private:
  explicit ServerCertificates(TlsConfig config) : config_(std::move(config)) {}

  void Publish(CertificateTexts texts);

  const TlsConfig config_;
  std::atomic<bool> is_stale_{false};  // relaxed: for metrics
  mutable absl::Mutex mutex_;
  absl::Time valid_until_ ABSL_GUARDED_BY(mutex_);
  std::optional<CertificateTexts> new_texts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_SERVER_CERTIFICATES_H_
