#include "server/access/server_certificates.h"

#include <vector>

#include "absl/time/clock.h"
#include "server/access/file_text.h"
#include "server/access/pem_check.h"
#include "server/log.h"

namespace gatherd {

absl::StatusOr<CertificateTexts> ReadCertificates(const TlsConfig& config) {
  absl::StatusOr<std::string> certificate = ReadFileText(config.certificate);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ReadFileText(config.key);
  if (!key.ok()) return key.status();
  absl::StatusOr<std::string> client_ca = std::string();
  if (!config.client_ca.empty()) {
    client_ca = ReadFileText(config.client_ca);
    if (!client_ca.ok()) return client_ca.status();
    const absl::Status status =
        CheckAuthorities({config.client_ca, *client_ca});
    if (!status.ok()) return status;
  }
  const absl::StatusOr<ValidTime> valid =
      CheckIdentity({config.certificate, *certificate}, {config.key, *key});
  if (!valid.ok()) return valid.status();
  return CertificateTexts{*std::move(certificate), *std::move(key),
                          *std::move(client_ca), valid->from, valid->until};
}

FileChanges ChangesOf(const TlsConfig& config) {
  std::vector<std::string> paths = {config.certificate, config.key};
  if (!config.client_ca.empty()) paths.push_back(config.client_ca);
  return FileChanges(std::move(paths));
}

absl::StatusOr<std::unique_ptr<ServerCertificates>> ServerCertificates::Create(
    const TlsConfig& config) {
  absl::StatusOr<CertificateTexts> texts = ReadCertificates(config);
  if (!texts.ok()) return texts.status();
  std::unique_ptr<ServerCertificates> certificates(
      new ServerCertificates(config));
  certificates->Publish(*std::move(texts));
  return certificates;
}

std::optional<CertificateTexts> ServerCertificates::TakeNew() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(new_texts_, std::nullopt);
}

void ServerCertificates::ReadAgain() {
  absl::StatusOr<CertificateTexts> texts = ReadCertificates(config_);
  is_stale_.store(!texts.ok(), std::memory_order_relaxed);
  if (!texts.ok()) {
    Log(LogLevel::kWarning, "certificates not read again, the old ones stay",
        {{"reason", std::string(texts.status().message())}});
    return;
  }
  Publish(*std::move(texts));
}

void ServerCertificates::Publish(CertificateTexts texts) {
  Log(LogLevel::kInfo, "certificate read",
      {{"file", config_.certificate},
       {"valid_until", absl::FormatTime(texts.valid_until)}});
  const absl::Time now = absl::Now();
  if (now < texts.valid_from || now > texts.valid_until) {
    Log(LogLevel::kWarning,
        "the certificate is out of date, so clients will refuse it",
        {{"file", config_.certificate}});
  }
  absl::MutexLock lock(&mutex_);
  valid_until_ = texts.valid_until;
  new_texts_ = std::move(texts);
}

}  // namespace gatherd
