// The driver's functions.
#include <sys/mman.h>

#include <cstdint>

#include "tests/core/cuda/fake_calls.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {

// By the names that they have in the table.
struct FakeDriver {
  static FakeCuda& fake() { return *FakeCuda::fake_; }

  static CUresult cuMemGetAllocationGranularity(
      size_t* granularity, const CUmemAllocationProp* properties,
      CUmemAllocationGranularity_flags) {
    const int device = properties->location.id;
    *granularity = fake().device(device).granularity;
    return fake().Begin({"cuMemGetAllocationGranularity", device, {}})
               ? CUDA_ERROR_UNKNOWN
               : CUDA_SUCCESS;
  }

  static CUresult cuMemCreate(CUmemGenericAllocationHandle* handle,
                              size_t num_bytes,
                              const CUmemAllocationProp* properties,
                              unsigned long long) {
    const int device = properties->location.id;
    if (fake().Begin({"cuMemCreate", device, num_bytes})) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (num_bytes == 0 || num_bytes % fake().device(device).granularity != 0) {
      fake().Misuse("a size that is no multiple of the granularity");
    }
    if (properties->requestedHandleTypes !=
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      fake().Misuse("memory that cannot be shared by file descriptor");
    }
    *handle = fake().next_handle_++;
    fake().physical_[*handle] = {device, num_bytes, true};
    fake().device(device).used_bytes += num_bytes;
    return CUDA_SUCCESS;
  }

  static CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    const auto found = fake().physical_.find(handle);
    if (found == fake().physical_.end() || !found->second.is_held) {
      fake().Misuse("physical memory released that is none");
      return CUDA_SUCCESS;
    }
    found->second.is_held = false;
    fake().DropIfUnused(handle);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemExportToShareableHandle(
      void* file_descriptor, CUmemGenericAllocationHandle handle,
      CUmemAllocationHandleType, unsigned long long) {
    const FakeCuda::Physical& physical = fake().physical_.at(handle);
    *static_cast<int*>(file_descriptor) = 77;
    return fake().Begin({"cuMemExportToShareableHandle", physical.device,
                         physical.num_bytes})
               ? CUDA_ERROR_UNKNOWN
               : CUDA_SUCCESS;
  }

  static CUresult cuMemAddressReserve(CUdeviceptr* address, size_t num_bytes,
                                      size_t alignment, CUdeviceptr,
                                      unsigned long long) {
    if (fake().Begin({"cuMemAddressReserve", {}, num_bytes})) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if ((alignment & (alignment - 1)) != 0) {
      fake().Misuse("an alignment that is no power of two");
    }
    void* data = MapPages(num_bytes);
    if (data == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(data);
    fake().ranges_[*address] = num_bytes;
    return CUDA_SUCCESS;
  }

  static CUresult cuMemAddressFree(CUdeviceptr address, size_t num_bytes) {
    const auto found = fake().ranges_.find(address);
    if (found == fake().ranges_.end() || found->second != num_bytes) {
      fake().Misuse("addresses freed that are not reserved");
      return CUDA_SUCCESS;
    }
    const auto mapped = fake().mapped_.lower_bound(address);
    if (mapped != fake().mapped_.end() && mapped->first < address + num_bytes) {
      fake().Misuse("addresses freed while something is mapped there");
    }
    fake().ranges_.erase(found);
    munmap(reinterpret_cast<void*>(address), num_bytes);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemMap(CUdeviceptr address, size_t num_bytes, size_t,
                           CUmemGenericAllocationHandle handle,
                           unsigned long long) {
    const FakeCuda::Physical& physical = fake().physical_.at(handle);
    if (fake().Begin({"cuMemMap", physical.device, num_bytes})) {
      return CUDA_ERROR_UNKNOWN;
    }
    auto range = fake().ranges_.upper_bound(address);
    if (range == fake().ranges_.begin() || num_bytes != physical.num_bytes) {
      fake().Misuse("mapped outside of a range, or in part");
      return CUDA_ERROR_INVALID_VALUE;
    }
    --range;
    const uint64_t offset = address - range->first;
    if (offset % fake().device(physical.device).granularity != 0 ||
        offset + num_bytes > range->second) {
      fake().Misuse("mapped at a wrong offset");
    }
    const auto next = fake().mapped_.lower_bound(address);
    if (next != fake().mapped_.end() && next->first < address + num_bytes) {
      fake().Misuse("mapped over another mapping");
    }
    fake().mapped_[address] = {num_bytes, handle, {}};
    FillWithGarbage(reinterpret_cast<void*>(address), num_bytes);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemUnmap(CUdeviceptr address, size_t num_bytes) {
    const auto found = fake().mapped_.find(address);
    if (found == fake().mapped_.end() || found->second.num_bytes != num_bytes) {
      fake().Misuse("unmapped what is not mapped");
      return CUDA_SUCCESS;
    }
    const uint64_t handle = found->second.handle;
    fake().mapped_.erase(found);
    fake().DropIfUnused(handle);
    return CUDA_SUCCESS;
  }

  static CUresult cuMemSetAccess(CUdeviceptr address, size_t num_bytes,
                                 const CUmemAccessDesc* grants,
                                 size_t num_grants) {
    FakeCuda::Mapped& mapped = fake().mapped_.at(address);
    const int owner = fake().physical_.at(mapped.handle).device;
    if (fake().Begin({"cuMemSetAccess", owner, num_bytes})) {
      return CUDA_ERROR_UNKNOWN;
    }
    for (size_t i = 0; i < num_grants; ++i) {
      const int device = grants[i].location.id;
      if (fake().no_access.count({device, owner}) != 0) {
        fake().Misuse("access for a device that cannot have it");
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

  static void FillIn(CudaApi* api) {
    api->cuMemGetAllocationGranularity =
        FakeCuda::Locked<cuMemGetAllocationGranularity>;
    api->cuMemCreate = FakeCuda::Locked<cuMemCreate>;
    api->cuMemRelease = FakeCuda::Locked<cuMemRelease>;
    api->cuMemExportToShareableHandle =
        FakeCuda::Locked<cuMemExportToShareableHandle>;
    api->cuMemAddressReserve = FakeCuda::Locked<cuMemAddressReserve>;
    api->cuMemAddressFree = FakeCuda::Locked<cuMemAddressFree>;
    api->cuMemMap = FakeCuda::Locked<cuMemMap>;
    api->cuMemUnmap = FakeCuda::Locked<cuMemUnmap>;
    api->cuMemSetAccess = FakeCuda::Locked<cuMemSetAccess>;
    api->cuGetErrorName = cuGetErrorName;
    api->cuGetErrorString = cuGetErrorString;
  }
};

void FillInFakeDriver(CudaApi* api) { FakeDriver::FillIn(api); }

}  // namespace gatherd
