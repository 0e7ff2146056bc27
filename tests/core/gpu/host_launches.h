// The plain kernels behind HostKernels, by the names of those that they stand
// for; without what a launch as such does (host_kernels.cc).
#ifndef GATHERD_TESTS_CORE_GPU_HOST_LAUNCHES_H_
#define GATHERD_TESTS_CORE_GPU_HOST_LAUNCHES_H_

#include <cstdint>

#include "core/kernels/evict.h"
#include "core/kernels/lookup.h"
#include "core/kernels/select.h"
#include "core/kernels/settle.h"
#include "core/kernels/write_batch.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd::kernels::host {

void Lookup(const LookupBatch& batch, const LookupHooks& hooks);

void Deduplicate(const WriteBatch& batch);
void Select(const WriteBatch& batch, const Selection& selection);
void FetchRows(const HostRows& values, const uint32_t* positions,
               uint32_t count, void* to);
void FindTargets(const WriteBatch& batch);
void Undo(const WriteBatch& batch);
void WriteRows(const WriteBatch& batch, const uint32_t* free_rows);
void Publish(const WriteBatch& batch, const uint32_t* free_rows,
             uint32_t* retired);
void Erase(const WriteBatch& batch, uint32_t* retired);

void Evict(const WriteBatch& batch, const EvictionRequest& request);

void CopyToFirst(const TableRef& table, uint32_t shard, const SettleList& list);
void RemoveSeconds(const TableRef& table, uint32_t shard,
                   const SettleList& list);

}  // namespace gatherd::kernels::host

#endif  // GATHERD_TESTS_CORE_GPU_HOST_LAUNCHES_H_
