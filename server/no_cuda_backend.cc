// For builds without the CUDA Toolkit.
#include "server/cuda_backend.h"

namespace gatherd {

bool CudaIsBuilt() { return false; }

absl::StatusOr<Backend> CudaBackend(
    absl::Span<const int> /*devices*/,
    absl::Span<const CatalogTableSpec> /*tables*/,
    const ServerConfig& /*server*/) {
  return absl::FailedPreconditionError(
      "this program was built without the CUDA Toolkit");
}

}  // namespace gatherd
