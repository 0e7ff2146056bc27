#include "client/server_set.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gatherd::client {
namespace {

absl::Status CheckNames(const std::vector<std::string>& names) {
  if (names.empty()) return absl::InvalidArgumentError("there is no server");
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("server \"", *twice, "\" is named twice"));
}

// Of the kind that an address lookup gives.
std::string NumericName(const addrinfo& found) {
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  if (getnameinfo(found.ai_addr, found.ai_addrlen, host, sizeof host, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  return found.ai_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                     : absl::StrCat(host, ":", port);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ResolveAll(const std::string& name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\" is no HOST:PORT"));
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;  // or each address comes several times
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* first = nullptr;
  if (const int error =
          getaddrinfo(name.substr(0, colon).c_str(),
                      name.substr(colon + 1).c_str(), &hints, &first);
      error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", name, ": ", gai_strerror(error)));
  }
  const auto free_list = absl::MakeCleanup([first] { freeaddrinfo(first); });
  std::vector<std::string> names;
  for (const addrinfo* found = first; found != nullptr;
       found = found->ai_next) {
    names.push_back(NumericName(*found));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

ServerSets::ServerSets(ClientOptions options, ServerNames names)
    : options_(std::move(options)), names_(std::move(names)) {}

absl::StatusOr<std::unique_ptr<ServerSets>> ServerSets::Create(
    ClientOptions options, ServerNames names, absl::Duration interval) {
  std::unique_ptr<ServerSets> sets(
      new ServerSets(std::move(options), std::move(names)));
  if (absl::Status status = sets->Refresh(); !status.ok()) return status;
  if (interval != absl::InfiniteDuration()) {
    sets->refresher_ =
        std::thread(&ServerSets::RefreshEvery, sets.get(), interval);
  }
  return sets;
}

ServerSets::~ServerSets() {
  {
    absl::MutexLock lock(&mutex_);
    is_closing_ = true;
  }
  if (refresher_.joinable()) refresher_.join();
}

std::shared_ptr<const ServerSet> ServerSets::Current() const {
  absl::MutexLock lock(&mutex_);
  return current_;
}

// Names that stay keep their clients, and so their connections.
absl::Status ServerSets::Refresh() {
  absl::StatusOr<std::vector<std::string>> names = names_();
  if (!names.ok()) return names.status();
  if (absl::Status status = CheckNames(*names); !status.ok()) return status;
  const std::shared_ptr<const ServerSet> old = Current();
  if (old != nullptr && old->names == *names) return absl::OkStatus();
  std::vector<std::shared_ptr<Client>> clients;
  for (const std::string& name : *names) {
    if (old != nullptr) {
      const auto kept = std::find(old->names.begin(), old->names.end(), name);
      if (kept != old->names.end()) {
        clients.push_back(old->clients[kept - old->names.begin()]);
        continue;
      }
    }
    ClientOptions options = options_;
    options.connection.address = name;
    absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
    if (!client.ok()) return client.status();
    clients.push_back(*std::move(client));
  }
  Rendezvous owners(*names);
  const auto set = std::make_shared<const ServerSet>(
      ServerSet{*std::move(names), std::move(clients), std::move(owners)});
  absl::MutexLock lock(&mutex_);
  current_ = set;  // `old` outlives the lock: what it ends may take a while
  return absl::OkStatus();
}

void ServerSets::RefreshEvery(absl::Duration interval) {
  const auto is_closing = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_closing_;
  };
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&is_closing), interval)) {
        return;
      }
    }
    Refresh().IgnoreError();  // the set stays as it is
  }
}

}  // namespace gatherd::client
