// Tables on GPUs for the contract suite: on real devices, or on the fake of
// CUDA with kernels of the host.
#ifndef GATHERD_TESTS_CORE_GPU_GPU_TABLE_KINDS_H_
#define GATHERD_TESTS_CORE_GPU_GPU_TABLE_KINDS_H_

#include <memory>
#include <vector>

#include "core/cuda/cuda_api.h"
#include "core/gpu/gpu_node.h"
#include "core/kernels/kernel_api.h"
#include "tests/core/table/table_contract.h"

namespace gatherd {

// A node over the first `num_devices` devices with room for some tables of
// `table_bytes` in all on each, and workspace for any write.
std::unique_ptr<GpuNode> MakeTestNode(const CudaApi& api,
                                      const kernels::KernelApi& kernels,
                                      int num_devices, uint64_t table_bytes);

// Dense and hashed tables of `node`, which lives as long as the kinds.
std::vector<TableKind> GpuTableKinds(GpuNode& node);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_GPU_GPU_TABLE_KINDS_H_
