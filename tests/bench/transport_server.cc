// Answers Lookup with bytes of memory and no lookup, to compare ways to set up
// a gRPC server: tests/bench/transport_bench runs it.
//
//   transport_server --address=A[,B...] [--row-bytes=N] [--listeners=N]
//       [--queues=N --threads=N] [--arguments=NAME=INT,...]
//       [--certificate=FILE --key=FILE]
//
// Every address is listened on. --listeners: servers that share each address
// (SO_REUSEPORT). --queues: completion queues of the asynchronous interface,
// each with --threads threads; without them it is the callback interface.
// Runs until it is killed.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cli/flags.h"
#include "tests/bench/transport_flags.h"

namespace gatherd {
namespace {

constexpr size_t kPoolBytes = size_t{256} << 20;
constexpr size_t kMaxHeadBytes = 16;

// Replies of a LookupResponse with one table's values. Thread-safe.
class Replies {
 public:
  explicit Replies(size_t row_bytes) : row_bytes_(row_bytes) {}

  grpc::ByteBuffer To(const grpc::ByteBuffer& request) {
    const size_t bytes =
        std::min(request.Length() / sizeof(int64_t) * row_bytes_, kPoolBytes);
    std::string values = SizedField(4, bytes);
    const std::string results = SizedField(1, values.size() + bytes);
    // Another part of the pool each time: a real reply is not in the caches.
    const size_t at = next_.fetch_add(bytes) % (pool_.size() - bytes + 1);
    const grpc::Slice slices[] = {
        grpc::Slice(results + values),
        grpc::Slice(pool_.data() + at, bytes, grpc::Slice::STATIC_SLICE)};
    return grpc::ByteBuffer(slices, 2);
  }

 private:
  static std::string SizedField(int number, size_t size) {
    std::string head(1, static_cast<char>(number << 3 | 2));
    for (; size >= 128; size >>= 7) {
      head.push_back(static_cast<char>(size | 128));
    }
    head.push_back(static_cast<char>(size));
    return head;
  }

  const size_t row_bytes_;
  const std::string pool_ = std::string(kPoolBytes, 'x');
  std::atomic<size_t> next_{0};
};

class CallbackService final : public grpc::CallbackGenericService {
 public:
  explicit CallbackService(Replies& replies) : replies_(replies) {}

 private:
  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(Replies& replies) : replies_(replies) {
      StartRead(&request_);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      reply_ = replies_.To(request_);
      StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    Replies& replies_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer reply_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Call(replies_);
  }

  Replies& replies_;
};

// Owns itself; each asks for the next one when a call has come.
class AsyncCall {
 public:
  AsyncCall(grpc::AsyncGenericService& service,
            grpc::ServerCompletionQueue& queue, Replies& replies)
      : service_(service), queue_(queue), replies_(replies) {
    service_.RequestCall(&context_, &stream_, &queue_, &queue_, this);
  }

  void Proceed(bool ok) {
    if (!ok || state_ == State::kAnswered) {
      delete this;
    } else if (state_ == State::kWaiting) {
      new AsyncCall(service_, queue_, replies_);
      state_ = State::kReading;
      stream_.Read(&request_, this);
    } else {
      state_ = State::kAnswered;
      stream_.WriteAndFinish(replies_.To(request_), grpc::WriteOptions(),
                             grpc::Status::OK, this);
    }
  }

 private:
  enum class State { kWaiting, kReading, kAnswered };

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  Replies& replies_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  grpc::ByteBuffer request_;
  State state_ = State::kWaiting;
};

void Drive(grpc::ServerCompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) static_cast<AsyncCall*>(tag)->Proceed(ok);
}

struct Options {
  std::vector<std::string> addresses;
  std::shared_ptr<grpc::ServerCredentials> credentials;
  std::string arguments;
  int num_queues = 0;
  int threads_a_queue = 1;
};

// Never taken apart: the process is killed.
struct Listener {
  explicit Listener(Replies& replies) : callbacks(replies) {}

  CallbackService callbacks;
  grpc::AsyncGenericService calls;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
  std::vector<std::thread> threads;
  std::unique_ptr<grpc::Server> server;
};

bool Start(const Options& options, Replies& replies, Listener* listener) {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  for (const auto& [name, value] : TransportArguments(options.arguments)) {
    builder.AddChannelArgument(name, value);
  }
  for (const std::string& address : options.addresses) {
    builder.AddListeningPort(address, options.credentials);
  }
  if (options.num_queues == 0) {
    builder.RegisterCallbackGenericService(&listener->callbacks);
  } else {
    builder.RegisterAsyncGenericService(&listener->calls);
  }
  for (int i = 0; i < options.num_queues; ++i) {
    listener->queues.push_back(builder.AddCompletionQueue());
  }
  listener->server = builder.BuildAndStart();
  if (listener->server == nullptr) return false;
  for (auto& queue : listener->queues) {
    for (int i = 0; i < options.threads_a_queue; ++i) {
      new AsyncCall(listener->calls, *queue, replies);
      listener->threads.emplace_back([&queue] { Drive(*queue); });
    }
  }
  return true;
}

int Run(int argc, char** argv) {
  const auto flags = CommandLine::Parse(argc, argv,
                                        {{"address"},
                                         {"row-bytes"},
                                         {"listeners"},
                                         {"queues"},
                                         {"threads"},
                                         {"arguments"},
                                         {"certificate"},
                                         {"key"}});
  if (!flags.ok()) {
    std::fprintf(stderr, "%s\n", flags.status().ToString().c_str());
    return 2;
  }
  Options options;
  options.addresses = absl::StrSplit(flags->Get("address").value_or(""), ',');
  options.arguments = flags->Get("arguments").value_or("");
  options.num_queues = NumberOf(*flags, "queues", 0);
  options.threads_a_queue = NumberOf(*flags, "threads", 1);
  options.credentials = grpc::InsecureServerCredentials();
  if (flags->Has("certificate")) {
    grpc::SslServerCredentialsOptions tls;
    tls.pem_key_cert_pairs.push_back({ContentOf(flags->Get("key").value_or("")),
                                      ContentOf(*flags->Get("certificate"))});
    options.credentials = grpc::SslServerCredentials(tls);
  }
  Replies replies(NumberOf(*flags, "row-bytes", 256));
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int i = 0; i < NumberOf(*flags, "listeners", 1); ++i) {
    listeners.push_back(std::make_unique<Listener>(replies));
    if (!Start(options, replies, listeners.back().get())) return 1;
  }
  std::this_thread::sleep_for(std::chrono::hours(24));
  return 0;
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) { return gatherd::Run(argc, argv); }
