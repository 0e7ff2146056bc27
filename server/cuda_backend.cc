#include "server/cuda_backend.h"

namespace gatherd {

bool CudaIsBuilt() { return true; }

absl::StatusOr<Backend> CudaBackend(
    absl::Span<const int> /*devices*/,
    absl::Span<const CatalogTableSpec> /*tables*/,
    const ServerConfig& /*server*/) {
  return absl::FailedPreconditionError("this version has no CUDA engine yet");
}

}  // namespace gatherd
