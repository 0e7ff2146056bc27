#include "core/cuda/cuda_api.h"

namespace gatherd {
namespace {

template <typename... Args>
CUresult NoDriver(Args... /*unused*/) {
  return CUDA_ERROR_NOT_INITIALIZED;
}

// `version`: of CUDA, as 1000 * major + 10 * minor, that brought the function
// in the form of `entry`. The newest form of it may be another one.
template <typename... Args>
void LookUp(const char* symbol, unsigned version,
            CUresult (**entry)(Args... args)) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      symbol, &address, version, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    *entry = NoDriver<Args...>;
    return;
  }
  *entry = reinterpret_cast<CUresult (*)(Args...)>(address);
}

void SetRuntime(CudaApi* api) {
  api->cudaGetDeviceCount = cudaGetDeviceCount;
  api->cudaGetDeviceProperties = cudaGetDeviceProperties;
  api->cudaDeviceGetAttribute = cudaDeviceGetAttribute;
  api->cudaDeviceGetPCIBusId = cudaDeviceGetPCIBusId;
  api->cudaGetDevice = cudaGetDevice;
  api->cudaSetDevice = cudaSetDevice;
  api->cudaMemGetInfo = cudaMemGetInfo;
  api->cudaDeviceCanAccessPeer = cudaDeviceCanAccessPeer;
  api->cudaDeviceGetP2PAttribute = cudaDeviceGetP2PAttribute;
  api->cudaDeviceGetStreamPriorityRange = cudaDeviceGetStreamPriorityRange;
  api->cudaStreamCreateWithPriority = cudaStreamCreateWithPriority;
  api->cudaStreamDestroy = cudaStreamDestroy;
  api->cudaStreamWaitEvent = cudaStreamWaitEvent;
  api->cudaStreamQuery = cudaStreamQuery;
  api->cudaStreamSynchronize = cudaStreamSynchronize;
  api->cudaEventCreateWithFlags = cudaEventCreateWithFlags;
  api->cudaEventDestroy = cudaEventDestroy;
  api->cudaEventRecord = cudaEventRecord;
  api->cudaEventQuery = cudaEventQuery;
  api->cudaEventSynchronize = cudaEventSynchronize;
  api->cudaHostAlloc = cudaHostAlloc;
  api->cudaFreeHost = cudaFreeHost;
  api->cudaMalloc = cudaMalloc;
  api->cudaFree = cudaFree;
  api->cudaMemcpyAsync = cudaMemcpyAsync;
  api->cudaMemsetAsync = cudaMemsetAsync;
  api->cudaGetLastError = cudaGetLastError;
  api->cudaGetErrorName = cudaGetErrorName;
  api->cudaGetErrorString = cudaGetErrorString;
}

void SetDriver(CudaApi* api) {
  constexpr unsigned kVmm = 10020;
  LookUp("cuMemGetAllocationGranularity", kVmm,
         &api->cuMemGetAllocationGranularity);
  LookUp("cuMemCreate", kVmm, &api->cuMemCreate);
  LookUp("cuMemRelease", kVmm, &api->cuMemRelease);
  LookUp("cuMemExportToShareableHandle", kVmm,
         &api->cuMemExportToShareableHandle);
  LookUp("cuMemAddressReserve", kVmm, &api->cuMemAddressReserve);
  LookUp("cuMemAddressFree", kVmm, &api->cuMemAddressFree);
  LookUp("cuMemMap", kVmm, &api->cuMemMap);
  LookUp("cuMemUnmap", kVmm, &api->cuMemUnmap);
  LookUp("cuMemSetAccess", kVmm, &api->cuMemSetAccess);
  constexpr unsigned kErrors = 6000;
  LookUp("cuGetErrorName", kErrors, &api->cuGetErrorName);
  LookUp("cuGetErrorString", kErrors, &api->cuGetErrorString);
}

}  // namespace

const CudaApi& RealCudaApi() {
  static const CudaApi api = [] {
    CudaApi real;
    SetRuntime(&real);
    SetDriver(&real);
    return real;
  }();
  return api;
}

}  // namespace gatherd
