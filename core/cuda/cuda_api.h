// Everything that this folder asks of CUDA, as one table of function pointers:
// an entry bears the name of the function that it stands for.
//
// RealCudaApi is the one of the machine. Tests pass a table of their own, make
// any call fail and count what is left. Each owner keeps a pointer to the table
// it was made with, which must therefore outlive it.
#ifndef GATHERD_CORE_CUDA_CUDA_API_H_
#define GATHERD_CORE_CUDA_CUDA_API_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace gatherd {

struct CudaApi {
  // Devices.
  cudaError_t (*cudaGetDeviceCount)(int*) = nullptr;
  cudaError_t (*cudaGetDeviceProperties)(cudaDeviceProp*, int) = nullptr;
  cudaError_t (*cudaDeviceGetAttribute)(int*, cudaDeviceAttr, int) = nullptr;
  cudaError_t (*cudaDeviceGetPCIBusId)(char*, int, int) = nullptr;
  cudaError_t (*cudaGetDevice)(int*) = nullptr;
  cudaError_t (*cudaSetDevice)(int) = nullptr;
  cudaError_t (*cudaMemGetInfo)(size_t*, size_t*) = nullptr;
  cudaError_t (*cudaDeviceCanAccessPeer)(int*, int, int) = nullptr;
  cudaError_t (*cudaDeviceGetP2PAttribute)(int*, cudaDeviceP2PAttr, int,
                                           int) = nullptr;

  // Streams and events.
  cudaError_t (*cudaDeviceGetStreamPriorityRange)(int*, int*) = nullptr;
  cudaError_t (*cudaStreamCreateWithPriority)(cudaStream_t*, unsigned,
                                              int) = nullptr;
  cudaError_t (*cudaStreamDestroy)(cudaStream_t) = nullptr;
  cudaError_t (*cudaStreamWaitEvent)(cudaStream_t, cudaEvent_t,
                                     unsigned) = nullptr;
  cudaError_t (*cudaStreamQuery)(cudaStream_t) = nullptr;
  cudaError_t (*cudaStreamSynchronize)(cudaStream_t) = nullptr;
  cudaError_t (*cudaEventCreateWithFlags)(cudaEvent_t*, unsigned) = nullptr;
  cudaError_t (*cudaEventDestroy)(cudaEvent_t) = nullptr;
  cudaError_t (*cudaEventRecord)(cudaEvent_t, cudaStream_t) = nullptr;
  cudaError_t (*cudaEventQuery)(cudaEvent_t) = nullptr;
  cudaError_t (*cudaEventSynchronize)(cudaEvent_t) = nullptr;

  // Memory.
  cudaError_t (*cudaHostAlloc)(void**, size_t, unsigned) = nullptr;
  cudaError_t (*cudaFreeHost)(void*) = nullptr;
  cudaError_t (*cudaMalloc)(void**, size_t) = nullptr;
  cudaError_t (*cudaFree)(void*) = nullptr;
  cudaError_t (*cudaMemcpyAsync)(void*, const void*, size_t, cudaMemcpyKind,
                                 cudaStream_t) = nullptr;
  cudaError_t (*cudaMemsetAsync)(void*, int, size_t, cudaStream_t) = nullptr;

  // Errors. cudaGetLastError also forgets the error, if that can be.
  cudaError_t (*cudaGetLastError)() = nullptr;
  const char* (*cudaGetErrorName)(cudaError_t) = nullptr;
  const char* (*cudaGetErrorString)(cudaError_t) = nullptr;

  // The driver's virtual memory management, and the names of its errors.
  CUresult (*cuMemGetAllocationGranularity)(size_t*, const CUmemAllocationProp*,
                                            CUmemAllocationGranularity_flags) =
      nullptr;
  CUresult (*cuMemCreate)(CUmemGenericAllocationHandle*, size_t,
                          const CUmemAllocationProp*,
                          unsigned long long) = nullptr;
  CUresult (*cuMemRelease)(CUmemGenericAllocationHandle) = nullptr;
  CUresult (*cuMemExportToShareableHandle)(void*, CUmemGenericAllocationHandle,
                                           CUmemAllocationHandleType,
                                           unsigned long long) = nullptr;
  CUresult (*cuMemAddressReserve)(CUdeviceptr*, size_t, size_t, CUdeviceptr,
                                  unsigned long long) = nullptr;
  CUresult (*cuMemAddressFree)(CUdeviceptr, size_t) = nullptr;
  CUresult (*cuMemMap)(CUdeviceptr, size_t, size_t,
                       CUmemGenericAllocationHandle,
                       unsigned long long) = nullptr;
  CUresult (*cuMemUnmap)(CUdeviceptr, size_t) = nullptr;
  CUresult (*cuMemSetAccess)(CUdeviceptr, size_t, const CUmemAccessDesc*,
                             size_t) = nullptr;
  CUresult (*cuGetErrorName)(CUresult, const char**) = nullptr;
  CUresult (*cuGetErrorString)(CUresult, const char**) = nullptr;
};

// The runtime, linked in, and the driver's functions, looked up by the first
// call. Where there is no driver all is there, too: the runtime's calls return
// its errors, the driver's CUDA_ERROR_NOT_INITIALIZED. From any thread.
const CudaApi& RealCudaApi();

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_CUDA_API_H_
