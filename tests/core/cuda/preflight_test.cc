#include "core/cuda/preflight.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

using Strings = std::vector<std::string>;

absl::StatusOr<PreflightReport> Run(FakeCuda& fake) {
  std::vector<DeviceId> devices;
  for (int i = 0; i < fake.num_devices(); ++i) devices.push_back(DeviceId{i});
  return RunPreflight(fake.api(), fake.kernels(), devices);
}

TEST_CASE("Where every device reaches every other, rows are shared") {
  for (const size_t num_devices : {1, 2, 3, 8}) {
    FakeCuda fake(static_cast<int>(num_devices));
    const auto report = Run(fake);
    REQUIRE(report.ok());
    CHECK(report->access == VmmAccess::kShared);
    CHECK(report->devices.size() == num_devices);
    CHECK(report->peers.size() == num_devices * (num_devices - 1));
    for (const PeerCheck& peer : report->peers) {
      CHECK(peer.can_access);
      CHECK(peer.native_atomics);
      CHECK(peer.problem.empty());
    }
    CHECK(fake.Live() == Strings{});
    CHECK(fake.misuses() == Strings{});
  }
}

TEST_CASE("The report is told in lines") {
  FakeCuda fake(2);
  const auto report = Run(fake);
  REQUIRE(report.ok());
  CHECK(report->Lines() ==
        Strings{"device 0: Fake H200, 140 GiB, 132 multiprocessors, compute "
                "9.0, PCI 0000:10:00.0, NUMA node 0",
                "device 1: Fake H200, 140 GiB, 132 multiprocessors, compute "
                "9.0, PCI 0000:11:00.0, NUMA node 1",
                "each of 2 devices reads and writes the memory of all, with "
                "native atomics: rows are read wherever they are"});
}

TEST_CASE("Without peer access each device answers for its own rows") {
  FakeCuda fake(3);
  fake.no_access = {{0, 2}};
  const auto report = Run(fake);
  REQUIRE(report.ok());
  CHECK(report->access == VmmAccess::kOwnerOnly);
  const Strings lines = report->Lines();
  REQUIRE(lines.size() > 4);
  CHECK(lines[3] ==
        "device 0 cannot use the memory of device 2: no peer access");
  CHECK(lines.back() == "each device answers for its own rows");
  CHECK(fake.Live() == Strings{});
}

// Known elsewhere: peer access is reported, yet data comes back zero.
TEST_CASE("Peer access that loses data is found out, in either direction") {
  for (const auto& pair : {std::pair(0, 1), std::pair(1, 0)}) {
    FakeCuda fake(2);
    fake.loses_writes = {pair};
    const auto report = Run(fake);
    REQUIRE(report.ok());
    CHECK(report->access == VmmAccess::kOwnerOnly);
    const std::string from = "device " + std::to_string(pair.first);
    const std::string to = "device " + std::to_string(pair.second);
    CHECK(report->Lines()[2] == from + " cannot use the memory of " + to +
                                    ": " + from + " wrote 524288 words and " +
                                    to + " read 524288 of them wrong");
    CHECK(fake.Live() == Strings{});
  }
}

TEST_CASE("A device that fails on its own memory is an error") {
  FakeCuda fake(2);
  fake.loses_writes = {{1, 1}};
  const absl::Status status = Run(fake).status();
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK_THAT(std::string(status.message()), Catch::Contains("device 1"));
}

TEST_CASE("A device that is not there is named") {
  FakeCuda fake(2);
  const DeviceId devices[] = {DeviceId{0}, DeviceId{5}};
  const absl::Status status =
      RunPreflight(fake.api(), fake.kernels(), devices).status();
  CHECK(status.code() == absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(status.message()), Catch::Contains("device 5"));
}

TEST_CASE("One device of several is checked alone") {
  FakeCuda fake(2);
  const DeviceId device{1};
  const auto report = RunPreflight(fake.api(), fake.kernels(), {&device, 1});
  REQUIRE(report.ok());
  CHECK(report->access == VmmAccess::kShared);
  CHECK(report->peers.empty());
  CHECK(report->devices.front().id == device);
  CHECK(report->Lines().size() == 1);
}

void FailAtEveryCall(int num_devices) {
  int num_calls = 0;
  {
    FakeCuda fake(num_devices);
    REQUIRE(Run(fake).ok());
    num_calls = fake.num_calls();
  }
  for (int number = 1; number <= num_calls; ++number) {
    FakeCuda fake(num_devices);
    fake.FailCall(number);
    const auto report = Run(fake);
    const std::string call = fake.failed_call()->name;
    INFO("call " << number << ", " << call << ": " << report.status());
    CHECK(fake.Live() == Strings{});
    CHECK(fake.misuses() == Strings{});
    // An error, or the problem of a pair; but for going back to the device
    // that was current before.
    if (!report.ok()) {
      CHECK_THAT(std::string(report.status().message()), Catch::Contains(call));
    } else if (report->access == VmmAccess::kShared) {
      CHECK(call == "cudaSetDevice");
    }
  }
}

TEST_CASE("A preflight that fails at any call leaves nothing behind") {
  for (const int num_devices : {1, 2, 3}) FailAtEveryCall(num_devices);
}

}  // namespace
}  // namespace gatherd
