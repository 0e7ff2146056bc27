#include "core/cuda/cuda_status.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/device_loss.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

absl::StatusCode CodeOf(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return absl::StatusCode::kResourceExhausted;
    case cudaErrorInvalidDevice:
      return absl::StatusCode::kNotFound;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::StatusCode CodeOf(CUresult error) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case CUDA_ERROR_INVALID_DEVICE:
      return absl::StatusCode::kNotFound;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Those of which CUDA says that the process has to end for CUDA to work again,
// and of hardware that is no more to be had.
bool LosesDevice(cudaError_t error) {
  switch (error) {
    case cudaErrorAssert:
    case cudaErrorContained:
    case cudaErrorECCUncorrectable:
    case cudaErrorExternalDevice:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorMpsRpcFailure:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

std::string Describe(const CudaCall& call) {
  std::string text;
  if (call.device.has_value()) {
    absl::StrAppend(&text, "device ", Ordinal(*call.device), ": ");
  }
  absl::StrAppend(&text, call.name);
  if (call.num_bytes.has_value()) {
    absl::StrAppend(&text, " of ", HumanBytes(*call.num_bytes));
  }
  return text;
}

}  // namespace

absl::Status CudaFailure(const CudaApi& api, cudaError_t error,
                         const CudaCall& call) {
  (void)api.cudaGetLastError();
  absl::Status status(
      CodeOf(error),
      absl::StrCat(Describe(call), ": ", api.cudaGetErrorName(error), " (",
                   api.cudaGetErrorString(error), ")"));
  return LosesDevice(error) ? MarkDeviceLoss(std::move(status)) : status;
}

absl::Status CudaFailure(const CudaApi& api, CUresult error,
                         const CudaCall& call) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(error, &name) != CUDA_SUCCESS ||
      api.cuGetErrorString(error, &text) != CUDA_SUCCESS) {
    return absl::Status(CodeOf(error),
                        absl::StrCat(Describe(call), ": CUresult ", error));
  }
  return absl::Status(
      CodeOf(error), absl::StrCat(Describe(call), ": ", name, " (", text, ")"));
}

}  // namespace gatherd
