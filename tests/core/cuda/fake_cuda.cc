#include "tests/core/cuda/fake_cuda.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace gatherd {
namespace {

FakeCuda* g_fake = nullptr;

thread_local int t_current_device = 0;
thread_local cudaError_t t_last_error = cudaSuccess;

// New memory is not zero: whoever counts on that shall notice.
void FillWithGarbage(void* data, size_t num_bytes) {
  constexpr size_t kMaxBytes = 1 << 20;
  std::memset(data, 0xa5, std::min(num_bytes, kMaxBytes));
}

// Pages appear on first use, here, too.
void* NewMemory(size_t num_bytes, size_t alignment) {
  void* data = nullptr;
  if (posix_memalign(&data, alignment, num_bytes) != 0) std::abort();
  FillWithGarbage(data, num_bytes);
  return data;
}

template <typename T>
T NewHandle() {
  return reinterpret_cast<T>(new int(0));
}

template <typename T>
void DropHandle(T handle) {
  delete reinterpret_cast<int*>(handle);
}

// One word in this many stands for all: tests run these kernels often.
constexpr uint32_t kWordStep = 65536;

uint32_t PatternWord(uint32_t seed, uint64_t index) {
  return seed * 0x9e3779b9U + static_cast<uint32_t>(index);
}

}  // namespace

// The functions behind the table, by the names that they have there.
struct FakeCalls {
  template <auto kCall, typename... Args>
  static auto Locked(Args... args) {
    absl::MutexLock lock(&g_fake->mutex_);
    return kCall(args...);
  }

  // A call of the runtime that may fail with `error`.
  static cudaError_t Start(const char* name, std::optional<int> device = {},
                           std::optional<uint64_t> num_bytes = {},
                           cudaError_t error = cudaErrorUnknown) {
    return g_fake->Begin({name, device, num_bytes}) ? g_fake->Fail(error)
                                                    : cudaSuccess;
  }

  static cudaError_t OnStream(const char* name, cudaStream_t stream,
                              std::optional<uint64_t> num_bytes = {}) {
    const auto found = g_fake->streams_.find(stream);
    if (found == g_fake->streams_.end()) {
      g_fake->Misuse(absl::StrCat(name, " on a stream that is none"));
      return g_fake->Fail(cudaErrorInvalidResourceHandle);
    }
    return Start(name, found->second->device(), num_bytes);
  }

  // The same, for work that is done without the mutex: `*found` may wait, and
  // its work must not be ordered by what others call.
  static cudaError_t FindStream(const char* name, cudaStream_t stream,
                                std::shared_ptr<FakeStream>* found,
                                std::optional<uint64_t> num_bytes = {}) {
    absl::MutexLock lock(&g_fake->mutex_);
    const cudaError_t error = OnStream(name, stream, num_bytes);
    if (error == cudaSuccess) *found = g_fake->streams_.at(stream);
    return error;
  }

  // Giving memory back waits for what any device is doing.
  static void Drain() {
    std::vector<std::shared_ptr<FakeStream>> streams;
    {
      absl::MutexLock lock(&g_fake->mutex_);
      for (const auto& [handle, stream] : g_fake->streams_) {
        streams.push_back(stream);
      }
    }
    for (const auto& stream : streams) stream->Synchronize();
  }

  static cudaError_t cudaGetDeviceCount(int* count) {
    const cudaError_t error = Start("cudaGetDeviceCount");
    *count = g_fake->num_devices();
    return *count == 0 ? g_fake->Fail(cudaErrorNoDevice) : error;
  }

  static cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties,
                                             int device) {
    std::memset(properties, 0, sizeof(*properties));
    std::snprintf(properties->name, sizeof(properties->name), "Fake H200");
    properties->totalGlobalMem = g_fake->device(device).total_bytes;
    properties->multiProcessorCount = 132;
    properties->major = 9;
    return Start("cudaGetDeviceProperties", device);
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
    return Start("cudaDeviceGetPCIBusId", device);
  }

  static cudaError_t cudaGetDevice(int* device) {
    *device = t_current_device;
    return Start("cudaGetDevice");
  }

  static cudaError_t cudaSetDevice(int device) {
    const cudaError_t error = Start("cudaSetDevice", device);
    if (error != cudaSuccess) return error;
    if (device < 0 || device >= g_fake->num_devices()) {
      return g_fake->Fail(cudaErrorInvalidDevice);
    }
    t_current_device = device;
    return cudaSuccess;
  }

  static cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    const FakeCuda::Device& device = g_fake->device(t_current_device);
    *free_bytes = device.total_bytes - device.used_bytes;
    *total_bytes = device.total_bytes;
    return Start("cudaMemGetInfo", t_current_device);
  }

  static cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to) {
    *can = g_fake->no_access.count({from, to}) == 0 ? 1 : 0;
    return Start("cudaDeviceCanAccessPeer", from);
  }

  static cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr,
                                               int from, int to) {
    *value = g_fake->no_access.count({from, to}) == 0 ? 1 : 0;
    return Start("cudaDeviceGetP2PAttribute", from);
  }

  static cudaError_t cudaDeviceGetStreamPriorityRange(int* least,
                                                      int* greatest) {
    *least = 0;
    *greatest = -5;
    return Start("cudaDeviceGetStreamPriorityRange", t_current_device);
  }

  static cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream,
                                                  unsigned flags,
                                                  int priority) {
    const cudaError_t error =
        Start("cudaStreamCreateWithPriority", t_current_device);
    if (error != cudaSuccess) return error;
    if (flags != cudaStreamNonBlocking) g_fake->Misuse("a blocking stream");
    g_fake->last_priority_ = priority;
    *stream = NewHandle<cudaStream_t>();
    g_fake->streams_[*stream] =
        std::make_shared<FakeStream>(t_current_device, g_fake->mode_);
    return cudaSuccess;
  }

  static cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    std::shared_ptr<FakeStream> destroyed;  // last: it waits
    absl::MutexLock lock(&g_fake->mutex_);
    const auto found = g_fake->streams_.find(stream);
    if (found == g_fake->streams_.end()) {
      g_fake->Misuse("a stream destroyed that is none");
    } else {
      destroyed = found->second;
      g_fake->streams_.erase(found);
      DropHandle(stream);
    }
    return cudaSuccess;
  }

  static cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                         unsigned) {
    const cudaError_t error = OnStream("cudaStreamWaitEvent", stream);
    if (error != cudaSuccess) return error;
    g_fake->events_.at(event)->HoldUp(*g_fake->streams_.at(stream));
    return cudaSuccess;
  }

  static cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const cudaError_t error = OnStream("cudaStreamQuery", stream);
    if (error != cudaSuccess) return error;
    return g_fake->streams_.at(stream)->IsIdle()
               ? cudaSuccess
               : g_fake->Fail(cudaErrorNotReady);
  }

  static cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FindStream("cudaStreamSynchronize", stream, &found);
    if (error == cudaSuccess) found->Synchronize();
    return error;
  }

  static cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    const cudaError_t error =
        Start("cudaEventCreateWithFlags", t_current_device);
    if (error != cudaSuccess) return error;
    *event = NewHandle<cudaEvent_t>();
    g_fake->events_[*event] = std::make_shared<FakeEvent>(t_current_device);
    return cudaSuccess;
  }

  static cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (g_fake->events_.erase(event) == 0) {
      g_fake->Misuse("an event destroyed that is none");
    } else {
      DropHandle(event);
    }
    return cudaSuccess;
  }

  static cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const cudaError_t error = OnStream("cudaEventRecord", stream);
    if (error != cudaSuccess) return error;
    FakeEvent& recorded = *g_fake->events_.at(event);
    FakeStream& on = *g_fake->streams_.at(stream);
    if (recorded.device() != on.device()) {
      g_fake->Misuse("an event recorded on another device's stream");
    }
    recorded.RecordOn(on);
    return cudaSuccess;
  }

  static cudaError_t cudaEventQuery(cudaEvent_t event) {
    FakeEvent& asked = *g_fake->events_.at(event);
    const cudaError_t error = Start("cudaEventQuery", asked.device());
    if (error != cudaSuccess) return error;
    return g_fake->events_pass && asked.HasPassed()
               ? cudaSuccess
               : g_fake->Fail(cudaErrorNotReady);
  }

  static cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    std::shared_ptr<FakeEvent> found;
    {
      absl::MutexLock lock(&g_fake->mutex_);
      found = g_fake->events_.at(event);
      const cudaError_t error = Start("cudaEventSynchronize", found->device());
      if (error != cudaSuccess) return error;
    }
    found->Synchronize();
    return cudaSuccess;
  }

  static cudaError_t cudaHostAlloc(void** data, size_t num_bytes,
                                   unsigned flags) {
    const cudaError_t error = Start("cudaHostAlloc", t_current_device,
                                    num_bytes, cudaErrorMemoryAllocation);
    if (error != cudaSuccess) return error;
    if (flags != (cudaHostAllocPortable | cudaHostAllocMapped)) {
      g_fake->Misuse("pinned memory that not every device can use");
    }
    *data = NewMemory(num_bytes, 4096);
    g_fake->host_[*data] = num_bytes;
    return cudaSuccess;
  }

  static cudaError_t cudaFreeHost(void* data) {
    Drain();
    absl::MutexLock lock(&g_fake->mutex_);
    if (g_fake->host_.erase(data) == 0) {
      g_fake->Misuse("pinned memory freed that is none");
    } else {
      std::free(data);
    }
    return cudaSuccess;
  }

  static cudaError_t cudaMalloc(void** data, size_t num_bytes) {
    const cudaError_t error = Start("cudaMalloc", t_current_device, num_bytes,
                                    cudaErrorMemoryAllocation);
    if (error != cudaSuccess) return error;
    *data = NewMemory(num_bytes, 256);
    g_fake->memory_[*data] = {t_current_device, num_bytes};
    g_fake->device(t_current_device).used_bytes += num_bytes;
    return cudaSuccess;
  }

  static cudaError_t cudaFree(void* data) {
    Drain();
    absl::MutexLock lock(&g_fake->mutex_);
    const auto found = g_fake->memory_.find(data);
    if (found == g_fake->memory_.end()) {
      g_fake->Misuse("device memory freed that is none");
      return cudaSuccess;
    }
    g_fake->device(found->second.first).used_bytes -= found->second.second;
    g_fake->memory_.erase(found);
    std::free(data);
    return cudaSuccess;
  }

  static cudaError_t cudaMemcpyAsync(void* to, const void* from,
                                     size_t num_bytes, cudaMemcpyKind,
                                     cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FindStream("cudaMemcpyAsync", stream, &found, num_bytes);
    if (error == cudaSuccess && num_bytes != 0) {
      found->Do([=] { std::memmove(to, from, num_bytes); });
    }
    return error;
  }

  static cudaError_t cudaMemsetAsync(void* to, int value, size_t num_bytes,
                                     cudaStream_t stream) {
    std::shared_ptr<FakeStream> found;
    const cudaError_t error =
        FindStream("cudaMemsetAsync", stream, &found, num_bytes);
    if (error == cudaSuccess && num_bytes != 0) {
      found->Do([=] { std::memset(to, value, num_bytes); });
    }
    return error;
  }

  static cudaError_t cudaGetLastError() {
    return std::exchange(t_last_error, cudaSuccess);
  }

  static const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
  static const char* cudaGetErrorString(cudaError_t) { return "made up"; }

  static CUresult cuMemGetAllocationGranularity(
      size_t* granularity, const CUmemAllocationProp* properties,
      CUmemAllocationGranularity_flags) {
    const int device = properties->location.id;
    *granularity = g_fake->device(device).granularity;
    return g_fake->Begin({"cuMemGetAllocationGranularity", device, {}})
               ? CUDA_ERROR_UNKNOWN
               : CUDA_SUCCESS;
  }

  static CUresult cuMemCreate(CUmemGenericAllocationHandle* handle,
                              size_t num_bytes,
                              const CUmemAllocationProp* properties,
                              unsigned long long) {
    const int device = properties->location.id;
    if (g_fake->Begin({"cuMemCreate", device, num_bytes})) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (num_bytes == 0 || num_bytes % g_fake->device(device).granularity != 0) {
      g_fake->Misuse("a size that is no multiple of the granularity");
    }
    if (properties->requestedHandleTypes !=
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      g_fake->Misuse("memory that cannot be shared by file descriptor");
    }
    *handle = g_fake->next_handle_++;
    g_fake->physical_[*handle] = {device, num_bytes, true};
    g_fake->device(device).used_bytes += num_bytes;
    return CUDA_SUCCESS;
  }

  static CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    const auto found = g_fake->physical_.find(handle);
    if (found == g_fake->physical_.end() || !found->second.is_held) {
      g_fake->Misuse("physical memory released that is none");
      return CUDA_SUCCESS;
    }
    found->second.is_held = false;
    g_fake->DropIfUnused(handle);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemExportToShareableHandle(
      void* file_descriptor, CUmemGenericAllocationHandle handle,
      CUmemAllocationHandleType, unsigned long long) {
    const FakeCuda::Physical& physical = g_fake->physical_.at(handle);
    *static_cast<int*>(file_descriptor) = 77;
    return g_fake->Begin({"cuMemExportToShareableHandle", physical.device,
                          physical.num_bytes})
               ? CUDA_ERROR_UNKNOWN
               : CUDA_SUCCESS;
  }

  static CUresult cuMemAddressReserve(CUdeviceptr* address, size_t num_bytes,
                                      size_t alignment, CUdeviceptr,
                                      unsigned long long) {
    if (g_fake->Begin({"cuMemAddressReserve", {}, num_bytes})) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if ((alignment & (alignment - 1)) != 0) {
      g_fake->Misuse("an alignment that is no power of two");
    }
    void* data = mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    madvise(data, num_bytes, MADV_NOHUGEPAGE);  // few pages are touched
    *address = reinterpret_cast<CUdeviceptr>(data);
    g_fake->ranges_[*address] = num_bytes;
    return CUDA_SUCCESS;
  }

  static CUresult cuMemAddressFree(CUdeviceptr address, size_t num_bytes) {
    const auto found = g_fake->ranges_.find(address);
    if (found == g_fake->ranges_.end() || found->second != num_bytes) {
      g_fake->Misuse("addresses freed that are not reserved");
      return CUDA_SUCCESS;
    }
    const auto mapped = g_fake->mapped_.lower_bound(address);
    if (mapped != g_fake->mapped_.end() &&
        mapped->first < address + num_bytes) {
      g_fake->Misuse("addresses freed while something is mapped there");
    }
    g_fake->ranges_.erase(found);
    munmap(reinterpret_cast<void*>(address), num_bytes);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemMap(CUdeviceptr address, size_t num_bytes, size_t,
                           CUmemGenericAllocationHandle handle,
                           unsigned long long) {
    const FakeCuda::Physical& physical = g_fake->physical_.at(handle);
    if (g_fake->Begin({"cuMemMap", physical.device, num_bytes})) {
      return CUDA_ERROR_UNKNOWN;
    }
    auto range = g_fake->ranges_.upper_bound(address);
    if (range == g_fake->ranges_.begin() || num_bytes != physical.num_bytes) {
      g_fake->Misuse("mapped outside of a range, or in part");
      return CUDA_ERROR_INVALID_VALUE;
    }
    --range;
    const uint64_t offset = address - range->first;
    if (offset % g_fake->device(physical.device).granularity != 0 ||
        offset + num_bytes > range->second) {
      g_fake->Misuse("mapped at a wrong offset");
    }
    const auto next = g_fake->mapped_.lower_bound(address);
    if (next != g_fake->mapped_.end() && next->first < address + num_bytes) {
      g_fake->Misuse("mapped over another mapping");
    }
    g_fake->mapped_[address] = {num_bytes, handle, {}};
    FillWithGarbage(reinterpret_cast<void*>(address), num_bytes);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemUnmap(CUdeviceptr address, size_t num_bytes) {
    const auto found = g_fake->mapped_.find(address);
    if (found == g_fake->mapped_.end() ||
        found->second.num_bytes != num_bytes) {
      g_fake->Misuse("unmapped what is not mapped");
      return CUDA_SUCCESS;
    }
    const uint64_t handle = found->second.handle;
    g_fake->mapped_.erase(found);
    g_fake->DropIfUnused(handle);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemSetAccess(CUdeviceptr address, size_t num_bytes,
                                 const CUmemAccessDesc* grants,
                                 size_t num_grants) {
    FakeCuda::Mapped& mapped = g_fake->mapped_.at(address);
    const int owner = g_fake->physical_.at(mapped.handle).device;
    if (g_fake->Begin({"cuMemSetAccess", owner, num_bytes})) {
      return CUDA_ERROR_UNKNOWN;
    }
    for (size_t i = 0; i < num_grants; ++i) {
      const int device = grants[i].location.id;
      if (g_fake->no_access.count({device, owner}) != 0) {
        g_fake->Misuse("access for a device that cannot have it");
        return CUDA_ERROR_INVALID_DEVICE;
      }
      mapped.granted.insert(device);
    }
    return CUDA_SUCCESS;
  }

  static CUresult cuGetErrorName(CUresult, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
  }

  static CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "made up";
    return CUDA_SUCCESS;
  }

  // Where a kernel on `stream` reads or writes `words`; nullptr: it faults.
  static const FakeCuda::Mapped* Launch(const uint32_t* words,
                                        cudaStream_t stream) {
    const int device = g_fake->streams_.at(stream)->device();
    if (t_current_device != device) g_fake->Misuse("launched elsewhere");
    return g_fake->Reach(device, reinterpret_cast<uint64_t>(words));
  }

  static cudaError_t FillPattern(uint32_t* words, uint64_t num_words,
                                 uint32_t seed, cudaStream_t stream) {
    const cudaError_t error = OnStream("the kernel that writes a pattern",
                                       stream, num_words * sizeof(uint32_t));
    if (error != cudaSuccess) return error;
    const FakeCuda::Mapped* memory = Launch(words, stream);
    if (memory == nullptr) return g_fake->Fail(cudaErrorIllegalAddress);
    const int owner = g_fake->physical_.at(memory->handle).device;
    if (g_fake->loses_writes.count({t_current_device, owner}) != 0) {
      return cudaSuccess;
    }
    g_fake->streams_.at(stream)->Do([=] {
      for (uint64_t i = 0; i < num_words; i += kWordStep) {
        words[i] = PatternWord(seed, i);
      }
    });
    return cudaSuccess;
  }

  static cudaError_t CountWrong(const uint32_t* words, uint64_t num_words,
                                uint32_t seed, uint32_t* num_wrong,
                                cudaStream_t stream) {
    const cudaError_t error = OnStream("the kernel that reads a pattern",
                                       stream, num_words * sizeof(uint32_t));
    if (error != cudaSuccess) return error;
    if (Launch(words, stream) == nullptr) {
      return g_fake->Fail(cudaErrorIllegalAddress);
    }
    g_fake->streams_.at(stream)->Do([=] {
      *num_wrong = 0;
      for (uint64_t i = 0; i < num_words; i += kWordStep) {
        if (words[i] != PatternWord(seed, i)) *num_wrong += kWordStep;
      }
    });
    return cudaSuccess;
  }

  static CudaApi Table() {
    CudaApi api;
    api.cudaGetDeviceCount = Locked<cudaGetDeviceCount>;
    api.cudaGetDeviceProperties = Locked<cudaGetDeviceProperties>;
    api.cudaDeviceGetAttribute = Locked<cudaDeviceGetAttribute>;
    api.cudaDeviceGetPCIBusId = Locked<cudaDeviceGetPCIBusId>;
    api.cudaGetDevice = Locked<cudaGetDevice>;
    api.cudaSetDevice = Locked<cudaSetDevice>;
    api.cudaMemGetInfo = Locked<cudaMemGetInfo>;
    api.cudaDeviceCanAccessPeer = Locked<cudaDeviceCanAccessPeer>;
    api.cudaDeviceGetP2PAttribute = Locked<cudaDeviceGetP2PAttribute>;
    api.cudaDeviceGetStreamPriorityRange =
        Locked<cudaDeviceGetStreamPriorityRange>;
    api.cudaStreamCreateWithPriority = Locked<cudaStreamCreateWithPriority>;
    api.cudaStreamDestroy = cudaStreamDestroy;
    api.cudaStreamWaitEvent = Locked<cudaStreamWaitEvent>;
    api.cudaStreamQuery = Locked<cudaStreamQuery>;
    api.cudaStreamSynchronize = cudaStreamSynchronize;
    api.cudaEventCreateWithFlags = Locked<cudaEventCreateWithFlags>;
    api.cudaEventDestroy = Locked<cudaEventDestroy>;
    api.cudaEventRecord = Locked<cudaEventRecord>;
    api.cudaEventQuery = Locked<cudaEventQuery>;
    api.cudaEventSynchronize = cudaEventSynchronize;
    api.cudaHostAlloc = Locked<cudaHostAlloc>;
    api.cudaFreeHost = cudaFreeHost;
    api.cudaMalloc = Locked<cudaMalloc>;
    api.cudaFree = cudaFree;
    api.cudaMemcpyAsync = cudaMemcpyAsync;
    api.cudaMemsetAsync = cudaMemsetAsync;
    api.cudaGetLastError = cudaGetLastError;
    api.cudaGetErrorName = cudaGetErrorName;
    api.cudaGetErrorString = cudaGetErrorString;
    api.cuMemGetAllocationGranularity = Locked<cuMemGetAllocationGranularity>;
    api.cuMemCreate = Locked<cuMemCreate>;
    api.cuMemRelease = Locked<cuMemRelease>;
    api.cuMemExportToShareableHandle = Locked<cuMemExportToShareableHandle>;
    api.cuMemAddressReserve = Locked<cuMemAddressReserve>;
    api.cuMemAddressFree = Locked<cuMemAddressFree>;
    api.cuMemMap = Locked<cuMemMap>;
    api.cuMemUnmap = Locked<cuMemUnmap>;
    api.cuMemSetAccess = Locked<cuMemSetAccess>;
    api.cuGetErrorName = cuGetErrorName;
    api.cuGetErrorString = cuGetErrorString;
    return api;
  }
};

FakeCuda::FakeCuda(int num_devices, FakeStreams mode)
    : mode_(mode),
      api_(FakeCalls::Table()),
      devices_(static_cast<size_t>(num_devices)) {
  if (g_fake != nullptr) std::abort();
  g_fake = this;
  t_current_device = 0;
  t_last_error = cudaSuccess;
}

FakeCuda::~FakeCuda() {
  FakeCalls::Drain();
  g_fake = nullptr;
}

PatternKernels FakeCuda::kernels() {
  return {FakeCalls::Locked<FakeCalls::FillPattern>,
          FakeCalls::Locked<FakeCalls::CountWrong>};
}

cudaError_t FakeCuda::StartKernel(const char* name, cudaStream_t stream,
                                  std::shared_ptr<FakeStream>* on) {
  if (g_fake == nullptr) return cudaSuccess;
  const cudaError_t error = FakeCalls::FindStream(name, stream, on);
  if (error == cudaSuccess && (*on)->device() != t_current_device) {
    absl::MutexLock lock(&g_fake->mutex_);
    g_fake->Misuse(absl::StrCat(name, " launched elsewhere"));
  }
  return error;
}

bool FakeCuda::LaunchesAtOnce() {
  return g_fake == nullptr || g_fake->mode_ == FakeStreams::kAtOnce;
}

bool FakeCuda::has_last_error() const { return t_last_error != cudaSuccess; }

int FakeCuda::current_device() const { return t_current_device; }

bool FakeCuda::Begin(Call call) {
  if (++num_calls_ != failing_call_) return false;
  failed_call_ = std::move(call);
  return true;
}

cudaError_t FakeCuda::Fail(cudaError_t error) {
  t_last_error = error;
  return error;
}

void FakeCuda::DropIfUnused(uint64_t handle) {
  const Physical& physical = physical_.at(handle);
  const bool is_mapped = std::any_of(
      mapped_.begin(), mapped_.end(),
      [handle](const auto& mapped) { return mapped.second.handle == handle; });
  if (physical.is_held || is_mapped) return;
  device(physical.device).used_bytes -= physical.num_bytes;
  physical_.erase(handle);
}

const FakeCuda::Mapped* FakeCuda::Reach(int device, uint64_t address) const {
  auto mapped = mapped_.upper_bound(address);
  if (mapped == mapped_.begin()) return nullptr;
  --mapped;
  const bool is_inside = address < mapped->first + mapped->second.num_bytes;
  return is_inside && mapped->second.granted.count(device) != 0
             ? &mapped->second
             : nullptr;
}

std::vector<std::string> FakeCuda::Live() const {
  const std::pair<const char*, size_t> counts[] = {
      {"streams", streams_.size()},
      {"events", events_.size()},
      {"pinned buffers", host_.size()},
      {"device buffers", memory_.size()},
      {"pieces of physical memory", physical_.size()},
      {"address ranges", ranges_.size()},
      {"mappings", mapped_.size()},
  };
  std::vector<std::string> live;
  for (const auto& [name, count] : counts) {
    if (count != 0) live.push_back(absl::StrCat(count, " ", name));
  }
  return live;
}

}  // namespace gatherd
