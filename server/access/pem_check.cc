#include "server/access/pem_check.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

template <auto free_function>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};

using Bio = std::unique_ptr<BIO, Free<&BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<&SSL_CTX_free>>;

// Instead of OpenSSL's own, which asks at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

absl::Status Wrong(const PemFile& file, const char* what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(file.path, ": ", what, reason == nullptr ? "" : ": ",
                   reason == nullptr ? "" : reason));
}

Bio ReaderOf(const PemFile& file) {
  return Bio(
      BIO_new_mem_buf(file.text.data(), static_cast<int>(file.text.size())));
}

absl::StatusOr<std::vector<Certificate>> ReadChain(const PemFile& file) {
  ERR_clear_error();
  const Bio reader = ReaderOf(file);
  std::vector<Certificate> chain;
  while (auto* next =
             PEM_read_bio_X509(reader.get(), nullptr, NoPassphrase, nullptr)) {
    chain.emplace_back(next);
  }
  // The end of the file is an error to OpenSSL, too.
  const unsigned long error = ERR_peek_last_error();
  const bool at_end = ERR_GET_LIB(error) == ERR_LIB_PEM &&
                      ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (!at_end) return Wrong(file, "a certificate cannot be read");
  ERR_clear_error();
  if (chain.empty()) return Wrong(file, "holds no PEM certificate");
  return chain;
}

absl::Time ToTime(const ASN1_TIME* time, absl::Time if_unreadable) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return if_unreadable;
  return absl::FromTimeT(timegm(&parts));
}

}  // namespace

absl::StatusOr<ValidTime> CheckIdentity(const PemFile& certificate,
                                        const PemFile& key) {
  const absl::StatusOr<std::vector<Certificate>> chain = ReadChain(certificate);
  if (!chain.ok()) return chain.status();
  const Key private_key(PEM_read_bio_PrivateKey(ReaderOf(key).get(), nullptr,
                                                NoPassphrase, nullptr));
  if (private_key == nullptr) {
    return Wrong(key, "holds no PEM private key that needs no passphrase");
  }
  // A context refuses what is too weak, as the server's own would.
  const Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError("no TLS context");
  X509* leaf = chain->front().get();
  if (SSL_CTX_use_certificate(context.get(), leaf) != 1) {
    return Wrong(certificate, "the certificate cannot be used");
  }
  if (X509_check_private_key(leaf, private_key.get()) != 1) {
    return Wrong(key,
                 absl::StrCat("is not the key of ", certificate.path).c_str());
  }
  if (SSL_CTX_use_PrivateKey(context.get(), private_key.get()) != 1) {
    return Wrong(key, "the key cannot be used");
  }
  return ValidTime{ToTime(X509_get0_notBefore(leaf), absl::InfinitePast()),
                   ToTime(X509_get0_notAfter(leaf), absl::InfiniteFuture())};
}

absl::Status CheckAuthorities(const PemFile& file) {
  return ReadChain(file).status();
}

}  // namespace gatherd
