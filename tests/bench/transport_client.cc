// Asks for Lookups in a closed loop and prints what came, as JSON; bytes go
// both ways as they are, so that little of what is measured is the client.
//
//   transport_client --address=A[,B...] --callers=N --keys=N --seconds=S
//       [--channels=N] [--table=NAME] [--rows=N] [--row-bytes=N]
//       [--arguments=NAME=INT,...] [--ca=FILE]
//
// Callers and channels take the addresses in turn. --channels: connections that
// the callers share; without it each has its own.
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "cli/flags.h"
#include "tests/bench/transport_flags.h"

namespace gatherd {
namespace {

constexpr int kRequestsACaller = 16;

struct Options {
  std::string table;
  int num_callers = 1;
  int num_keys = 64;
  int64_t num_rows = 1'000'000;
  double seconds = 1;
  size_t reply_bytes = 0;  // at least
};

// What a caller has seen.
struct Calls {
  std::vector<double> micros;
  int num_failed = 0;
};

void AppendSized(int number, const std::string& body, std::string* out) {
  out->push_back(static_cast<char>(number << 3 | 2));
  size_t size = body.size();
  for (; size >= 128; size >>= 7) {
    out->push_back(static_cast<char>(size | 128));
  }
  out->push_back(static_cast<char>(size));
  out->append(body);
}

grpc::ByteBuffer MakeRequest(const Options& options, std::mt19937_64& random) {
  std::string keys;
  std::uniform_int_distribution<int64_t> key(0, options.num_rows - 1);
  for (int i = 0; i < options.num_keys; ++i) {
    const int64_t value = key(random);
    keys.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  std::string lookup, request;
  AppendSized(1, options.table, &lookup);
  AppendSized(2, keys, &lookup);
  AppendSized(1, lookup, &request);
  const grpc::Slice slice(request);
  return grpc::ByteBuffer(&slice, 1);
}

void Call(const Options& options, grpc::GenericStub& stub, int seed,
          absl::Time end, Calls* calls) {
  std::mt19937_64 random(seed);
  std::vector<grpc::ByteBuffer> requests;
  for (int i = 0; i < kRequestsACaller; ++i) {
    requests.push_back(MakeRequest(options, random));
  }
  for (int i = 0;; ++i) {
    const absl::Time begin = absl::Now();
    if (begin > end) return;
    grpc::ClientContext context;
    grpc::ByteBuffer reply;
    grpc::Status status;
    absl::Notification done;
    stub.UnaryCall(&context, "/gatherd.v1.EmbeddingService/Lookup", {},
                   &requests[i % kRequestsACaller], &reply,
                   [&](grpc::Status result) {
                     status = std::move(result);
                     done.Notify();
                   });
    done.WaitForNotification();
    if (!status.ok() || reply.Length() < options.reply_bytes) {
      ++calls->num_failed;
      std::fprintf(stderr, "%s\n", status.error_message().c_str());
      return;
    }
    calls->micros.push_back(absl::ToDoubleMicroseconds(absl::Now() - begin));
  }
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Print(const Options& options, std::vector<double> micros, int num_failed,
           double seconds, double cpu_seconds) {
  std::sort(micros.begin(), micros.end());
  const auto num_calls = static_cast<double>(micros.size());
  const auto percentile = [&](double part) {
    const auto at = static_cast<size_t>(part * num_calls);
    return micros.empty() ? 0 : micros[std::min(at, micros.size() - 1)];
  };
  const double num_keys = num_calls * options.num_keys;
  std::printf(
      "{\"callers\": %d, \"keys_per_call\": %d, \"calls_per_s\": %.0f, "
      "\"keys_per_s\": %.0f, \"p50_us\": %.0f, \"p99_us\": %.0f, "
      "\"client_cpu_ns\": %.1f, \"failed\": %d}\n",
      options.num_callers, options.num_keys, num_calls / seconds,
      num_keys / seconds, percentile(0.5), percentile(0.99),
      cpu_seconds / std::max(1.0, num_keys) * 1e9, num_failed);
}

int Run(int argc, char** argv) {
  const auto flags = CommandLine::Parse(argc, argv,
                                        {{"address"},
                                         {"callers"},
                                         {"keys"},
                                         {"seconds"},
                                         {"channels"},
                                         {"table"},
                                         {"rows"},
                                         {"row-bytes"},
                                         {"arguments"},
                                         {"ca"}});
  if (!flags.ok()) {
    std::fprintf(stderr, "%s\n", flags.status().ToString().c_str());
    return 2;
  }
  Options options;
  options.table = flags->Get("table").value_or("bench");
  options.num_callers = NumberOf(*flags, "callers", 1);
  options.num_keys = NumberOf(*flags, "keys", 64);
  options.num_rows = NumberOf(*flags, "rows", 1'000'000);
  (void)absl::SimpleAtod(flags->Get("seconds").value_or("1"), &options.seconds);
  options.reply_bytes =
      size_t{1} * options.num_keys * NumberOf(*flags, "row-bytes", 0);

  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  for (const auto& [name, value] :
       TransportArguments(flags->Get("arguments").value_or(""))) {
    arguments.SetInt(name, value);
  }
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (flags->Has("ca")) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = ContentOf(*flags->Get("ca"));
    credentials = grpc::SslCredentials(tls);
  }
  const std::vector<std::string> addresses =
      absl::StrSplit(flags->Get("address").value_or(""), ',');
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs;
  for (int i = 0; i < NumberOf(*flags, "channels", options.num_callers); ++i) {
    stubs.push_back(
        std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
            addresses[i % addresses.size()], credentials, arguments)));
  }

  std::vector<Calls> calls(options.num_callers);
  std::vector<std::thread> threads;
  const double cpu = CpuSeconds();
  const absl::Time begin = absl::Now();
  for (int i = 0; i < options.num_callers; ++i) {
    threads.emplace_back([&, i] {
      Call(options, *stubs[i % stubs.size()], i + 1,
           begin + absl::Seconds(options.seconds), &calls[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  std::vector<double> micros;
  int num_failed = 0;
  for (const Calls& some : calls) {
    micros.insert(micros.end(), some.micros.begin(), some.micros.end());
    num_failed += some.num_failed;
  }
  Print(options, std::move(micros), num_failed, seconds, CpuSeconds() - cpu);
  return num_failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) { return gatherd::Run(argc, argv); }
