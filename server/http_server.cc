#include "server/http_server.h"

#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/connection_listener.h"
#include "server/connection_threads.h"
#include "server/http_stream.h"

namespace gatherd {
namespace {

// One connection more ends the oldest, so that clients that open many and say
// nothing keep nobody out.
constexpr size_t kMaxConnections = 512;
// More than connections: those that were ended take a moment to leave.
constexpr size_t kMaxThreads = kMaxConnections + 64;
constexpr size_t kKeptThreads = 4;
constexpr size_t kMaxWaitingConnections = 64;
constexpr absl::Duration kReadTime = absl::Seconds(2);
constexpr absl::Duration kWriteTime = absl::Seconds(10);
constexpr size_t kMaxRequestBytes = 64 << 10;

// The sockets that are being served.
class OpenConnections {
 public:
  // To be removed by what this returns, before `fd` is closed.
  int64_t Add(int fd) {
    absl::MutexLock lock(&mutex_);
    const int64_t id = next_id_++;
    open_.emplace(id, fd);
    if (stopped_) EndOldest();
    while (open_.size() > kMaxConnections) EndOldest();
    return id;
  }

  void Remove(int64_t id) {
    absl::MutexLock lock(&mutex_);
    open_.erase(id);
  }

  // Ends all, and those to come.
  void Stop() {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    while (!open_.empty()) EndOldest();
  }

 private:
  void EndOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    shutdown(open_.begin()->second, SHUT_RDWR);
    open_.erase(open_.begin());
  }

  absl::Mutex mutex_;
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, int> open_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

// httplib reads and answers, and does not listen. Serves one request a
// connection: one that is kept alive would keep a thread while it rests, and
// pages are asked for seconds apart.
class OneRequestServer final : public httplib::Server {
 public:
  void ServeAndClose(int fd) {
    const int64_t id = connections_.Add(fd);
    HttpStream stream(fd, kReadTime, kWriteTime);
    bool is_closed = false;
    process_request(stream, /*close_connection=*/true, is_closed, nullptr);
    connections_.Remove(id);
    shutdown(fd, SHUT_RDWR);
    close(fd);
  }

  // Waits for nobody who sends or reads slowly.
  void EndConnections() { connections_.Stop(); }

 private:
  OpenConnections connections_;
};

ConnectionThreads::Options ThreadOptions() {
  ConnectionThreads::Options options;
  options.max_threads = kMaxThreads;
  options.kept_threads = kKeptThreads;
  options.max_waiting = kMaxWaitingConnections;
  return options;
}

class HttpServerImpl final : public HttpServer {
 public:
  explicit HttpServerImpl(HttpPages pages) : pages_(std::move(pages)) {
    server_.set_payload_max_length(kMaxRequestBytes);
    // Before routing, which would match paths by regular expressions.
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return Answer(request, response);
        });
  }

  ~HttpServerImpl() override {
    if (listener_ == nullptr) return;
    server_.EndConnections();
    listener_->Stop();
    threads_.Shutdown();
  }

  absl::Status Start(const std::string& address) {
    auto listener = ConnectionListener::Listen(address, {});
    if (!listener.ok()) return listener.status();
    listener_ = *std::move(listener);
    listener_->Start([this](int fd) {
      threads_.Enqueue([this, fd] { server_.ServeAndClose(fd); });
    });
    return absl::OkStatus();
  }

  const std::string& address() const override { return listener_->address(); }

 private:
  httplib::Server::HandlerResponse Answer(const httplib::Request& request,
                                          httplib::Response& response) {
    const auto page = pages_.find(request.path);
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (page == pages_.end() || !is_read) {
      response.status = page == pages_.end() ? 404 : 405;
      response.set_content(
          page == pages_.end() ? "not found\n" : "method not allowed\n",
          "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    }
    HttpPage answer = page->second();
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) {
      response.set_header(name.c_str(), value);
    }
    response.set_content(std::move(answer.body), answer.content_type.c_str());
    return httplib::Server::HandlerResponse::Handled;
  }

  const HttpPages pages_;
  OneRequestServer server_;
  ConnectionThreads threads_{ThreadOptions()};
  std::unique_ptr<ConnectionListener> listener_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(
    const std::string& address, HttpPages pages) {
  auto server = std::make_unique<HttpServerImpl>(std::move(pages));
  absl::Status status = server->Start(address);
  if (!status.ok()) return status;
  return server;
}

}  // namespace gatherd
