// What becomes of the error codes of CUDA calls.
//
// A failed memory allocation is RESOURCE_EXHAUSTED, a device that is not there
// NOT_FOUND, a machine without a usable GPU or driver FAILED_PRECONDITION, all
// else INTERNAL. The message names device, call, size and CUDA's own word:
// "device 1: cudaMalloc of 3 GiB: cudaErrorMemoryAllocation (out of memory)".
// An error that CUDA answers every later call with is a device loss (see
// core/base/device_loss.h).
#ifndef GATHERD_CORE_CUDA_CUDA_STATUS_H_
#define GATHERD_CORE_CUDA_CUDA_STATUS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

// For the message. The name must live as long as the call itself.
struct CudaCall {
  const char* name;
  std::optional<DeviceId> device = std::nullopt;
  std::optional<uint64_t> num_bytes = std::nullopt;
};

// Neither is for success. The first makes the runtime forget the error, which a
// later launch would otherwise seem to have caused.
absl::Status CudaFailure(const CudaApi& api, cudaError_t error,
                         const CudaCall& call);
absl::Status CudaFailure(const CudaApi& api, CUresult error,
                         const CudaCall& call);

inline absl::Status CudaStatus(const CudaApi& api, cudaError_t error,
                               const CudaCall& call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return CudaFailure(api, error, call);
}

inline absl::Status CudaStatus(const CudaApi& api, CUresult error,
                               const CudaCall& call) {
  if (error == CUDA_SUCCESS) return absl::OkStatus();
  return CudaFailure(api, error, call);
}

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_CUDA_STATUS_H_
