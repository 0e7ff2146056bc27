// The runtime's functions.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "testing/sanitizers.h"
#include "tests/core/cuda/fake_calls.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

// ThreadSanitizer reads what it knows of every page that is freed, used or not,
// but drops what it knows of pages that are unmapped.
constexpr size_t kMinMappedBytes =
    kUnderThreadSanitizer ? size_t{1} << 20 : SIZE_MAX;

// Pages appear on first use, here, too.
void* NewMemory(size_t num_bytes, size_t alignment) {
  void* data = nullptr;
  if (num_bytes >= kMinMappedBytes) {
    data = MapPages(num_bytes);
    if (data == nullptr) std::abort();
  } else if (posix_memalign(&data, alignment, num_bytes) != 0) {
    std::abort();
  }
  FillWithGarbage(data, num_bytes);
  return data;
}

void DropMemory(void* data, size_t num_bytes) {
  if (num_bytes >= kMinMappedBytes) {
    munmap(data, num_bytes);
  } else {
    std::free(data);
  }
}

template <typename T>
T NewHandle() {
  return reinterpret_cast<T>(new int(0));
}

template <typename T>
void DropHandle(T handle) {
  delete reinterpret_cast<int*>(handle);
}

}  // namespace

void* MapPages(size_t num_bytes) {
  void* data = mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  madvise(data, num_bytes, MADV_NOHUGEPAGE);  // few pages are touched
  return data;
}

void FillWithGarbage(void* data, size_t num_bytes) {
  // ThreadSanitizer takes three pages for each, and races need no garbage.
  constexpr size_t kMaxBytes = kUnderThreadSanitizer ? 1 << 12 : 1 << 20;
  std::memset(data, 0xa5, std::min(num_bytes, kMaxBytes));
}

// By the names that they have in the table.
struct FakeRuntime {
  static FakeCuda& fake() { return *FakeCuda::fake_; }

  static cudaError_t cudaGetDeviceCount(int* count) {
    const cudaError_t error = FakeCuda::Start("cudaGetDeviceCount");
    *count = fake().num_devices();
    return *count == 0 ? fake().Fail(cudaErrorNoDevice) : error;
  }

  static cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties,
                                             int device) {
    std::memset(properties, 0, sizeof(*properties));
    std::snprintf(properties->name, sizeof(properties->name), "Fake H200");
    properties->totalGlobalMem = fake().device(device).total_bytes;
    properties->multiProcessorCount = 132;
    properties->major = 9;
    return FakeCuda::Start("cudaGetDeviceProperties", device);
  }

  // Asked for the NUMA node alone, which need not be known.
  static cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr,
                                            int device) {
    *value = device;
    return cudaSuccess;
  }

  static cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
    std::snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0",
                  16 + device);
    return FakeCuda::Start("cudaDeviceGetPCIBusId", device);
  }

  static cudaError_t cudaGetDevice(int* device) {
    *device = FakeCuda::current_;
    return FakeCuda::Start("cudaGetDevice");
  }

  static cudaError_t cudaSetDevice(int device) {
    const cudaError_t error = FakeCuda::Start("cudaSetDevice", device);
    if (error != cudaSuccess) return error;
    if (device < 0 || device >= fake().num_devices()) {
      return fake().Fail(cudaErrorInvalidDevice);
    }
    FakeCuda::current_ = device;
    return cudaSuccess;
  }

  static cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    const FakeCuda::Device& device = fake().device(FakeCuda::current_);
    *free_bytes = device.total_bytes - device.used_bytes;
    *total_bytes = device.total_bytes;
    return FakeCuda::Start("cudaMemGetInfo", FakeCuda::current_);
  }

  static cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to) {
    *can = fake().no_access.count({from, to}) == 0 ? 1 : 0;
    return FakeCuda::Start("cudaDeviceCanAccessPeer", from);
  }

  static cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr,
                                               int from, int to) {
    *value = fake().no_access.count({from, to}) == 0 ? 1 : 0;
    return FakeCuda::Start("cudaDeviceGetP2PAttribute", from);
  }

  static cudaError_t cudaDeviceGetStreamPriorityRange(int* least,
                                                      int* greatest) {
    *least = 0;
    *greatest = -5;
    return FakeCuda::Start("cudaDeviceGetStreamPriorityRange",
                           FakeCuda::current_);
  }

  static cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream,
                                                  unsigned flags,
                                                  int priority) {
    const cudaError_t error =
        FakeCuda::Start("cudaStreamCreateWithPriority", FakeCuda::current_);
    if (error != cudaSuccess) return error;
    if (flags != cudaStreamNonBlocking) fake().Misuse("a blocking stream");
    fake().last_priority_ = priority;
    *stream = NewHandle<cudaStream_t>();
    fake().streams_[*stream] =
        std::make_shared<FakeStream>(FakeCuda::current_, fake().mode_);
    return cudaSuccess;
  }

  static cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    std::shared_ptr<FakeStream> destroyed;  // last: it waits
    absl::MutexLock lock(&fake().mutex_);
    const auto found = fake().streams_.find(stream);
    if (found == fake().streams_.end()) {
      fake().Misuse("a stream destroyed that is none");
    } else {
      destroyed = found->second;
      fake().streams_.erase(found);
      DropHandle(stream);
    }
    return cudaSuccess;
  }

  static cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                         unsigned) {
    const cudaError_t error = FakeCuda::OnStream("cudaStreamWaitEvent", stream);
    if (error != cudaSuccess) return error;
    fake().events_.at(event)->HoldUp(*fake().streams_.at(stream));
    return cudaSuccess;
  }

  static cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const cudaError_t error = FakeCuda::OnStream("cudaStreamQuery", stream);
    if (error != cudaSuccess) return error;
    return fake().streams_.at(stream)->IsIdle()
               ? cudaSuccess
               : fake().Fail(cudaErrorNotReady);
  }

  static cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FakeCuda::FindStream("cudaStreamSynchronize", stream, &found);
    if (error == cudaSuccess) found->Synchronize();
    return error;
  }

  static cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    const cudaError_t error =
        FakeCuda::Start("cudaEventCreateWithFlags", FakeCuda::current_);
    if (error != cudaSuccess) return error;
    *event = NewHandle<cudaEvent_t>();
    fake().events_[*event] = std::make_shared<FakeEvent>(FakeCuda::current_);
    return cudaSuccess;
  }

  static cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (fake().events_.erase(event) == 0) {
      fake().Misuse("an event destroyed that is none");
    } else {
      DropHandle(event);
    }
    return cudaSuccess;
  }

  static cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const cudaError_t error = FakeCuda::OnStream("cudaEventRecord", stream);
    if (error != cudaSuccess) return error;
    FakeEvent& recorded = *fake().events_.at(event);
    FakeStream& on = *fake().streams_.at(stream);
    if (recorded.device() != on.device()) {
      fake().Misuse("an event recorded on another device's stream");
    }
    recorded.RecordOn(on);
    return cudaSuccess;
  }

  static cudaError_t cudaEventQuery(cudaEvent_t event) {
    FakeEvent& asked = *fake().events_.at(event);
    const cudaError_t error = FakeCuda::Start("cudaEventQuery", asked.device());
    if (error != cudaSuccess) return error;
    return fake().events_pass && asked.HasPassed()
               ? cudaSuccess
               : fake().Fail(cudaErrorNotReady);
  }

  static cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    std::shared_ptr<FakeEvent> found;
    {
      absl::MutexLock lock(&fake().mutex_);
      found = fake().events_.at(event);
      const cudaError_t error =
          FakeCuda::Start("cudaEventSynchronize", found->device());
      if (error != cudaSuccess) return error;
    }
    found->Synchronize();
    return cudaSuccess;
  }

  static cudaError_t cudaHostAlloc(void** data, size_t num_bytes,
                                   unsigned flags) {
    const cudaError_t error =
        FakeCuda::Start("cudaHostAlloc", FakeCuda::current_, num_bytes,
                        cudaErrorMemoryAllocation);
    if (error != cudaSuccess) return error;
    if (flags != (cudaHostAllocPortable | cudaHostAllocMapped)) {
      fake().Misuse("pinned memory that not every device can use");
    }
    *data = NewMemory(num_bytes, 4096);
    fake().host_[*data] = num_bytes;
    return cudaSuccess;
  }

  static cudaError_t cudaFreeHost(void* data) {
    FakeCuda::Drain();
    absl::MutexLock lock(&fake().mutex_);
    const auto found = fake().host_.find(data);
    if (found == fake().host_.end()) {
      fake().Misuse("pinned memory freed that is none");
      return cudaSuccess;
    }
    DropMemory(data, found->second);
    fake().host_.erase(found);
    return cudaSuccess;
  }

  static cudaError_t cudaMalloc(void** data, size_t num_bytes) {
    const cudaError_t error = FakeCuda::Start(
        "cudaMalloc", FakeCuda::current_, num_bytes, cudaErrorMemoryAllocation);
    if (error != cudaSuccess) return error;
    *data = NewMemory(num_bytes, 256);
    fake().memory_[*data] = {FakeCuda::current_, num_bytes};
    fake().device(FakeCuda::current_).used_bytes += num_bytes;
    return cudaSuccess;
  }

  static cudaError_t cudaFree(void* data) {
    FakeCuda::Drain();
    absl::MutexLock lock(&fake().mutex_);
    const auto found = fake().memory_.find(data);
    if (found == fake().memory_.end()) {
      fake().Misuse("device memory freed that is none");
      return cudaSuccess;
    }
    const auto [device, num_bytes] = found->second;
    fake().device(device).used_bytes -= num_bytes;
    fake().memory_.erase(found);
    DropMemory(data, num_bytes);
    return cudaSuccess;
  }

  static cudaError_t cudaMemcpyAsync(void* to, const void* from,
                                     size_t num_bytes, cudaMemcpyKind,
                                     cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FakeCuda::FindStream("cudaMemcpyAsync", stream, &found, num_bytes);
    if (error == cudaSuccess && num_bytes != 0) {
      found->Do([=] { std::memmove(to, from, num_bytes); });
    }
    return error;
  }

  static cudaError_t cudaMemsetAsync(void* to, int value, size_t num_bytes,
                                     cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FakeCuda::FindStream("cudaMemsetAsync", stream, &found, num_bytes);
    if (error == cudaSuccess && num_bytes != 0) {
      found->Do([=] { std::memset(to, value, num_bytes); });
    }
    return error;
  }

  static cudaError_t cudaGetLastError() {
    return std::exchange(FakeCuda::last_error_, cudaSuccess);
  }

  static const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
  static const char* cudaGetErrorString(cudaError_t) { return "made up"; }

  static void FillIn(CudaApi* api) {
    api->cudaGetDeviceCount = FakeCuda::Locked<cudaGetDeviceCount>;
    api->cudaGetDeviceProperties = FakeCuda::Locked<cudaGetDeviceProperties>;
    api->cudaDeviceGetAttribute = FakeCuda::Locked<cudaDeviceGetAttribute>;
    api->cudaDeviceGetPCIBusId = FakeCuda::Locked<cudaDeviceGetPCIBusId>;
    api->cudaGetDevice = FakeCuda::Locked<cudaGetDevice>;
    api->cudaSetDevice = FakeCuda::Locked<cudaSetDevice>;
    api->cudaMemGetInfo = FakeCuda::Locked<cudaMemGetInfo>;
    api->cudaDeviceCanAccessPeer = FakeCuda::Locked<cudaDeviceCanAccessPeer>;
    api->cudaDeviceGetP2PAttribute =
        FakeCuda::Locked<cudaDeviceGetP2PAttribute>;
    api->cudaDeviceGetStreamPriorityRange =
        FakeCuda::Locked<cudaDeviceGetStreamPriorityRange>;
    api->cudaStreamCreateWithPriority =
        FakeCuda::Locked<cudaStreamCreateWithPriority>;
    api->cudaStreamDestroy = cudaStreamDestroy;
    api->cudaStreamWaitEvent = FakeCuda::Locked<cudaStreamWaitEvent>;
    api->cudaStreamQuery = FakeCuda::Locked<cudaStreamQuery>;
    api->cudaStreamSynchronize = cudaStreamSynchronize;
    api->cudaEventCreateWithFlags = FakeCuda::Locked<cudaEventCreateWithFlags>;
    api->cudaEventDestroy = FakeCuda::Locked<cudaEventDestroy>;
    api->cudaEventRecord = FakeCuda::Locked<cudaEventRecord>;
    api->cudaEventQuery = FakeCuda::Locked<cudaEventQuery>;
    api->cudaEventSynchronize = cudaEventSynchronize;
    api->cudaHostAlloc = FakeCuda::Locked<cudaHostAlloc>;
    api->cudaFreeHost = cudaFreeHost;
    api->cudaMalloc = FakeCuda::Locked<cudaMalloc>;
    api->cudaFree = cudaFree;
    api->cudaMemcpyAsync = cudaMemcpyAsync;
    api->cudaMemsetAsync = cudaMemsetAsync;
    api->cudaGetLastError = cudaGetLastError;
    api->cudaGetErrorName = cudaGetErrorName;
    api->cudaGetErrorString = cudaGetErrorString;
  }
};

void FillInFakeRuntime(CudaApi* api) { FakeRuntime::FillIn(api); }

}  // namespace gatherd
