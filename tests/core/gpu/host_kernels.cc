#include "tests/core/gpu/host_kernels.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "core/kernels/dedup.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_launches.h"

namespace gatherd::kernels {
namespace {

LookupHooks& Hooks() {
  static auto* const hooks = new LookupHooks;
  return *hooks;
}

cudaError_t Launch(const char* name, const LookupBatch& batch,
                   cudaStream_t stream) {
  if (batch.num_segments < 1 || batch.num_segments > kMaxSegments) {
    return cudaErrorInvalidValue;
  }
  if (FakeCuda::LaunchesAtOnce()) {
    return FakeCuda::Launch(name, stream,
                            [&] { host::Lookup(batch, Hooks()); });
  }
  std::vector<LookupSegment> segments(batch.segments,
                                      batch.segments + batch.num_segments);
  return FakeCuda::Launch(
      name, stream, [segments = std::move(segments), copy = batch]() mutable {
        copy.segments = segments.data();
        host::Lookup(copy, Hooks());
      });
}

cudaError_t LaunchLookup(const LookupBatch& batch, cudaStream_t stream) {
  return Launch("LaunchLookup", batch, stream);
}

// In whatever order.
cudaError_t LaunchPush(const LookupBatch& batch, cudaStream_t stream) {
  if (batch.only_shard == kAllShards) return cudaErrorInvalidValue;
  return Launch("LaunchPush", batch, stream);
}

// Sums need no memory here.
uint64_t DedupBytes(uint32_t num_keys) {
  return NumDedupSlots(num_keys) * sizeof(uint32_t);
}

uint64_t WriteWorkspaceBytes(uint32_t num_keys, uint32_t, WorkspaceFor) {
  return DedupBytes(num_keys) + num_keys * sizeof(WriteTarget);
}

WriteWorkspace DivideWorkspace(void* memory, uint32_t num_keys, uint32_t,
                               WorkspaceFor) {
  WriteWorkspace workspace;
  workspace.dedup = static_cast<uint32_t*>(memory);
  workspace.targets = reinterpret_cast<WriteTarget*>(
      static_cast<std::byte*>(memory) + DedupBytes(num_keys));
  return workspace;
}

cudaError_t DeduplicateAsync(const WriteBatch& batch, cudaStream_t stream) {
  return FakeCuda::Launch("DeduplicateAsync", stream,
                          [=] { host::Deduplicate(batch); });
}

cudaError_t SelectAsync(const WriteBatch& batch, const Selection& selection,
                        cudaStream_t stream) {
  return FakeCuda::Launch("SelectAsync", stream,
                          [=] { host::Select(batch, selection); });
}

cudaError_t FetchRowsAsync(const HostRows& values, const uint32_t* positions,
                           uint32_t count, void* to, cudaStream_t stream) {
  return FakeCuda::Launch("FetchRowsAsync", stream, [=] {
    host::FetchRows(values, positions, count, to);
  });
}

cudaError_t FindTargetsAsync(const WriteBatch& batch, cudaStream_t stream) {
  return FakeCuda::Launch("FindTargetsAsync", stream,
                          [=] { host::FindTargets(batch); });
}

cudaError_t UndoAsync(const WriteBatch& batch, cudaStream_t stream) {
  return FakeCuda::Launch("UndoAsync", stream, [=] { host::Undo(batch); });
}

cudaError_t WriteRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                           cudaStream_t stream) {
  return FakeCuda::Launch("WriteRowsAsync", stream,
                          [=] { host::WriteRows(batch, free_rows); });
}

cudaError_t PublishAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         uint32_t* retired, cudaStream_t stream) {
  return FakeCuda::Launch("PublishAsync", stream,
                          [=] { host::Publish(batch, free_rows, retired); });
}

cudaError_t EraseAsync(const WriteBatch& batch, uint32_t* retired,
                       cudaStream_t stream) {
  return FakeCuda::Launch("EraseAsync", stream,
                          [=] { host::Erase(batch, retired); });
}

cudaError_t EvictAsync(const WriteBatch& batch, const EvictionRequest& request,
                       cudaStream_t stream) {
  return FakeCuda::Launch("EvictAsync", stream,
                          [=] { host::Evict(batch, request); });
}

cudaError_t CopyToFirstAsync(const TableRef& table, uint32_t shard,
                             const SettleList& list, cudaStream_t stream) {
  return FakeCuda::Launch("CopyToFirstAsync", stream,
                          [=] { host::CopyToFirst(table, shard, list); });
}

cudaError_t RemoveSecondsAsync(const TableRef& table, uint32_t shard,
                               const SettleList& list, cudaStream_t stream) {
  return FakeCuda::Launch("RemoveSecondsAsync", stream,
                          [=] { host::RemoveSeconds(table, shard, list); });
}

cudaError_t FillRowsAsync(void* rows, uint64_t num_rows, const void* row,
                          uint32_t row_stride, cudaStream_t stream) {
  return FakeCuda::Launch("FillRowsAsync", stream, [=] {
    auto* to = static_cast<std::byte*>(rows);
    for (uint64_t i = 0; i < num_rows; ++i, to += row_stride) {
      std::memcpy(to, row, row_stride);
    }
  });
}

cudaError_t IotaAsync(uint32_t* out, uint32_t count, uint32_t first,
                      cudaStream_t stream) {
  return FakeCuda::Launch("IotaAsync", stream, [=] {
    for (uint32_t i = 0; i < count; ++i) out[i] = first + i;
  });
}

KernelApi MakeApi() {
  KernelApi api;
  api.LaunchLookup = LaunchLookup;
  api.LaunchPush = LaunchPush;
  api.WriteWorkspaceBytes = WriteWorkspaceBytes;
  api.DivideWorkspace = DivideWorkspace;
  api.SelectAsync = SelectAsync;
  api.FetchRowsAsync = FetchRowsAsync;
  api.DeduplicateAsync = DeduplicateAsync;
  api.FindTargetsAsync = FindTargetsAsync;
  api.UndoAsync = UndoAsync;
  api.WriteRowsAsync = WriteRowsAsync;
  api.PublishAsync = PublishAsync;
  api.EraseAsync = EraseAsync;
  api.EvictAsync = EvictAsync;
  api.CopyToFirstAsync = CopyToFirstAsync;
  api.RemoveSecondsAsync = RemoveSecondsAsync;
  api.FillRowsAsync = FillRowsAsync;
  api.IotaAsync = IotaAsync;
  api.FillPatternAsync = FakeCuda::kernels().fill;
  api.CountWrongWordsAsync = FakeCuda::kernels().count_wrong;
  return api;
}

}  // namespace

const KernelApi& HostKernels() {
  static const KernelApi api = MakeApi();
  return api;
}

ScopedLookupHooks::ScopedLookupHooks(LookupHooks hooks) {
  Hooks() = std::move(hooks);
}

ScopedLookupHooks::~ScopedLookupHooks() { Hooks() = {}; }

}  // namespace gatherd::kernels
