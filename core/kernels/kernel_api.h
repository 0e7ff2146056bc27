// Everything that the engine launches on GPUs, as one table of function
// pointers: an entry bears the name of the function that it stands for, in the
// header of which it is described.
//
// RealKernels is the one of the machine. Tests without a GPU pass a table of
// plain functions.
#ifndef GATHERD_CORE_KERNELS_KERNEL_API_H_
#define GATHERD_CORE_KERNELS_KERNEL_API_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/evict.h"
#include "core/kernels/lookup.h"
#include "core/kernels/select.h"
#include "core/kernels/settle.h"
#include "core/kernels/table_ref.h"
#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

struct KernelApi {
  // lookup.h
  cudaError_t (*LaunchLookup)(const LookupBatch&, cudaStream_t) = nullptr;
  cudaError_t (*LaunchPush)(const LookupBatch&, cudaStream_t) = nullptr;

  // write_batch.h. The sizes depend on the GPU: a device must be current.
  uint64_t (*WriteWorkspaceBytes)(uint32_t num_keys, uint32_t dim,
                                  WorkspaceFor) = nullptr;
  WriteWorkspace (*DivideWorkspace)(void* memory, uint32_t num_keys,
                                    uint32_t dim, WorkspaceFor) = nullptr;

  // select.h
  cudaError_t (*SelectAsync)(const WriteBatch&, const Selection&,
                             cudaStream_t) = nullptr;
  cudaError_t (*FetchRowsAsync)(const HostRows&, const uint32_t* positions,
                                uint32_t count, void* to,
                                cudaStream_t) = nullptr;

  // dedup.h and update.h
  cudaError_t (*DeduplicateAsync)(const WriteBatch&, cudaStream_t) = nullptr;
  cudaError_t (*FindTargetsAsync)(const WriteBatch&, cudaStream_t) = nullptr;
  cudaError_t (*UndoAsync)(const WriteBatch&, cudaStream_t) = nullptr;
  cudaError_t (*WriteRowsAsync)(const WriteBatch&, const uint32_t* free_rows,
                                cudaStream_t) = nullptr;
  cudaError_t (*PublishAsync)(const WriteBatch&, const uint32_t* free_rows,
                              uint32_t* retired, cudaStream_t) = nullptr;
  cudaError_t (*EraseAsync)(const WriteBatch&, uint32_t* retired,
                            cudaStream_t) = nullptr;

  // evict.h
  cudaError_t (*EvictAsync)(const WriteBatch&, const EvictionRequest&,
                            cudaStream_t) = nullptr;

  // settle.h
  cudaError_t (*CopyToFirstAsync)(const TableRef&, uint32_t shard,
                                  const SettleList&, cudaStream_t) = nullptr;
  cudaError_t (*RemoveSecondsAsync)(const TableRef&, uint32_t shard,
                                    const SettleList&, cudaStream_t) = nullptr;

  // fill.h
  cudaError_t (*FillRowsAsync)(void* rows, uint64_t num_rows, const void* row,
                               uint32_t row_stride, cudaStream_t) = nullptr;
  cudaError_t (*IotaAsync)(uint32_t* out, uint32_t count, uint32_t first,
                           cudaStream_t) = nullptr;

  // pattern.h
  cudaError_t (*FillPatternAsync)(uint32_t* words, uint64_t num_words,
                                  uint32_t seed, cudaStream_t) = nullptr;
  cudaError_t (*CountWrongWordsAsync)(const uint32_t* words, uint64_t num_words,
                                      uint32_t seed, uint32_t* num_wrong,
                                      cudaStream_t) = nullptr;
};

const KernelApi& RealKernels();

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_KERNEL_API_H_
