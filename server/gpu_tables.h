// What the configuration allows for tables and the CUDA backend does not have.
#ifndef GATHERD_SERVER_GPU_TABLES_H_
#define GATHERD_SERVER_GPU_TABLES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/catalog/catalog.h"

namespace gatherd {

// UNIMPLEMENTED naming the first table that GPUs cannot have, its setting and
// what is allowed.
absl::Status CheckGpuTables(absl::Span<const CatalogTableSpec> tables);

}  // namespace gatherd

#endif  // GATHERD_SERVER_GPU_TABLES_H_
