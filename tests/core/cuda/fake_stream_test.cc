// The fake's streams that have threads: what waits for what.
#include "tests/core/cuda/fake_stream.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/synchronization/notification.h"
#include "core/cuda/cuda_api.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

cudaStream_t NewStream(const FakeCuda& fake) {
  cudaStream_t stream = nullptr;
  REQUIRE(fake.api().cudaStreamCreateWithPriority(
              &stream, cudaStreamNonBlocking, 0) == cudaSuccess);
  return stream;
}

TEST_CASE("A stream does its work in order, later") {
  FakeCuda fake(1, FakeStreams::kInThreads);
  const CudaApi& api = fake.api();
  CHECK_FALSE(FakeCuda::LaunchesAtOnce());
  const cudaStream_t stream = NewStream(fake);
  absl::Notification go;
  std::string done;
  CHECK(FakeCuda::Launch("first", stream, [&] {
          go.WaitForNotification();
          done += 'a';
        }) == cudaSuccess);
  CHECK(FakeCuda::Launch("second", stream, [&] { done += 'b'; }) ==
        cudaSuccess);
  CHECK(api.cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(api.cudaGetLastError() == cudaErrorNotReady);
  go.Notify();
  CHECK(api.cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(done == "ab");
  CHECK(api.cudaStreamQuery(stream) == cudaSuccess);
  // Destroying lets the work end.
  FakeCuda::Launch("third", stream, [&] { done += 'c'; });
  api.cudaStreamDestroy(stream);
  CHECK(done == "abc");
  CHECK(fake.misuses().empty());
  CHECK(fake.Live().empty());
}

TEST_CASE("An event holds up another stream, and passes after the work") {
  FakeCuda fake(1, FakeStreams::kInThreads);
  const CudaApi& api = fake.api();
  const cudaStream_t first = NewStream(fake);
  const cudaStream_t second = NewStream(fake);
  cudaEvent_t event = nullptr;
  REQUIRE(api.cudaEventCreateWithFlags(&event, cudaEventDisableTiming) ==
          cudaSuccess);
  CHECK(api.cudaEventQuery(event) == cudaSuccess);  // of nothing
  absl::Notification go;
  std::string done;
  FakeCuda::Launch("first", first, [&] {
    go.WaitForNotification();
    done += 'a';
  });
  CHECK(api.cudaEventRecord(event, first) == cudaSuccess);
  CHECK(api.cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  FakeCuda::Launch("second", second, [&] { done += 'b'; });
  CHECK(api.cudaEventQuery(event) == cudaErrorNotReady);
  go.Notify();
  CHECK(api.cudaEventSynchronize(event) == cudaSuccess);
  CHECK(api.cudaEventQuery(event) == cudaSuccess);
  CHECK(api.cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(done == "ab");
  api.cudaEventDestroy(event);
  api.cudaStreamDestroy(first);
  api.cudaStreamDestroy(second);
}

TEST_CASE("Copies and fills take their turn, and freeing waits for them") {
  const auto mode = GENERATE(FakeStreams::kAtOnce, FakeStreams::kInThreads);
  FakeCuda fake(1, mode);
  const CudaApi& api = fake.api();
  const cudaStream_t stream = NewStream(fake);
  void* data = nullptr;
  REQUIRE(api.cudaMalloc(&data, 64) == cudaSuccess);
  char out[2] = {};
  api.cudaMemsetAsync(data, 'x', 64, stream);
  api.cudaMemcpyAsync(out, data, 2, cudaMemcpyDefault, stream);
  api.cudaFree(data);
  CHECK(std::string(out, 2) == "xx");
  api.cudaStreamDestroy(stream);
  CHECK(fake.Live().empty());
}

}  // namespace
}  // namespace gatherd
