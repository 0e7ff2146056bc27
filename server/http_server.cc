#include "server/http_server.h"

#include <httplib.h>

#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "server/listen_address.h"

namespace gatherd {
namespace {

// A connection keeps its thread while it is open: enough that probes do not
// wait behind a dozen scrapers and browsers.
constexpr int kNumThreads = 32;
constexpr size_t kMaxWaitingConnections = 64;
constexpr time_t kTimeoutSeconds = 2;
constexpr size_t kMaxRequestBytes = 64 << 10;

// httplib's own pool queues connections without bound; here the thread that
// accepts them waits, and the kernel's backlog is the bound.
class BoundedPool final : public httplib::TaskQueue {
 public:
  BoundedPool() {
    for (int i = 0; i < kNumThreads; ++i) {
      threads_.emplace_back([this] { Run(); });
    }
  }

  void enqueue(std::function<void()> task) override {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &BoundedPool::HasRoom));
    tasks_.push_back(std::move(task));
  }

  void shutdown() override {
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return tasks_.size() < kMaxWaitingConnections;
  }
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !tasks_.empty() || stopping_;
  }

  void Run() {
    while (true) {
      std::function<void()> task;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &BoundedPool::HasWork));
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// SO_REUSEADDR alone: httplib would set SO_REUSEPORT, and two servers could
// share a port unawares.
void SetSocketOptions(int fd) {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

class HttpServerImpl final : public HttpServer {
 public:
  explicit HttpServerImpl(HttpPages pages) : pages_(std::move(pages)) {
    server_.new_task_queue = [] { return new BoundedPool; };
    server_.set_socket_options(&SetSocketOptions);
    server_.set_read_timeout(kTimeoutSeconds);
    server_.set_write_timeout(kTimeoutSeconds);
    server_.set_keep_alive_timeout(kTimeoutSeconds);
    server_.set_payload_max_length(kMaxRequestBytes);
    server_.set_tcp_nodelay(true);
    // Before routing, which would match paths by regular expressions.
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return Answer(request, response);
        });
  }

  ~HttpServerImpl() override {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  absl::Status Start(const std::string& address) {
    const auto where = ParseHostPort(address);
    if (!where.ok()) return where.status();
    int port = where->port;
    const bool bound = port == 0
                           ? (port = server_.bind_to_any_port(where->host)) > 0
                           : server_.bind_to_port(where->host, port);
    if (!bound) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", address,
                       ": the address is in use or cannot be used here"));
    }
    address_ = WithPort(address, port);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() does nothing to a server that does not run yet.
    while (!server_.is_running()) absl::SleepFor(absl::Milliseconds(1));
    return absl::OkStatus();
  }

  const std::string& address() const override { return address_; }

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
  httplib::Server server_;
  std::string address_;
  std::thread thread_;
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
