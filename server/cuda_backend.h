// The CUDA backend, or in builds without the CUDA Toolkit what stands for it:
// no_cuda_backend.cc.
#ifndef GATHERD_SERVER_CUDA_BACKEND_H_
#define GATHERD_SERVER_CUDA_BACKEND_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/catalog/catalog.h"
#include "server/backend.h"
#include "server/config.h"

namespace gatherd {

bool CudaIsBuilt();

// The GPUs numbered `devices`, or every one if it is empty, with memory taken
// for `tables` and for the replies that `server` allows. Errors as of
// SelectBackend; first those of devices, so that a machine without a GPU says
// so, whatever the tables are.
absl::StatusOr<Backend> CudaBackend(absl::Span<const int> devices,
                                    absl::Span<const CatalogTableSpec> tables,
                                    const ServerConfig& server);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CUDA_BACKEND_H_
