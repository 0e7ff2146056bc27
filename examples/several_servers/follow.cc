// Calls servers that have the same tables in turn, for a while. From the root
// of the tree, with Bazel's //examples/several_servers:follow:
//
//   follow ipv4:127.0.0.1:7400,127.0.0.1:7500 examples/service_config.json 10
//
// With gRPC's own stub; the library //client needs no service configuration.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "proto/gatherd/v1/gatherd.grpc.pb.h"

namespace {

using Clock = std::chrono::system_clock;

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& target,
                                           const std::string& service_config) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(service_config);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 12000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 12000);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                   arguments);
}

bool LookUp(gatherd::v1::EmbeddingService::Stub& stub) {
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + std::chrono::seconds(5));
  gatherd::v1::LookupResponse reply;
  const grpc::Status status = stub.Lookup(&context, {}, &reply);
  if (!status.ok()) std::cerr << status.error_message() << '\n';
  return status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: follow TARGET SERVICE_CONFIG_FILE SECONDS\n";
    return 2;
  }
  std::ifstream file(argv[2]);
  const std::string service_config((std::istreambuf_iterator<char>(file)),
                                   std::istreambuf_iterator<char>());
  const auto stub = gatherd::v1::EmbeddingService::NewStub(
      OpenChannel(argv[1], service_config));
  const Clock::time_point end =
      Clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  int num_calls = 0;
  int num_failed = 0;
  while (Clock::now() < end) {
    ++num_calls;
    if (!LookUp(*stub)) ++num_failed;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::cout << num_calls << " calls, " << num_failed << " failed\n";
  return 0;
}
