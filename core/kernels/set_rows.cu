// A warp takes 32 positions and writes the rows of those that stand for their
// keys: copied in units of up to 16 bytes, four a lane in flight, or converted.
// A key moves its 16 bytes of target, the value read and the row written.
#include "core/kernels/update.h"
#include "core/kernels/value_rows.cuh"
#include "core/kernels/write_rows.h"

namespace gatherd::kernels {
namespace {

constexpr int kWarpsPerBlock = kWriteThreads / kWarpSize;

struct CopyList {
  const char* from[kWarpSize];
  char* to[kWarpSize];
};

template <class Unit>
__device__ __forceinline__ void CopyUnits(const CopyList& list, unsigned count,
                                          unsigned units_per_row,
                                          unsigned magic, unsigned lane) {
  constexpr int kInFlight = 4;
  const unsigned total = count * units_per_row;
  for (unsigned start = lane; start < total; start += kWarpSize * kInFlight) {
    Unit v[kInFlight];
    Unit* to[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize;
      to[u] = nullptr;
      if (i < total) {
        const unsigned r = FastDivide(i, units_per_row, magic);
        const unsigned unit = i - r * units_per_row;
        v[u] = __ldcs(reinterpret_cast<const Unit*>(list.from[r]) + unit);
        to[u] = reinterpret_cast<Unit*>(list.to[r]) + unit;
      }
    }
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      if (to[u] != nullptr) *to[u] = v[u];
    }
  }
}

struct ValueSource {
  RowFormat format;
  const char* row;
  float scale;
  __device__ void Load(unsigned p, bool active, float* v) const {
    if (active) format.Add(row, scale, p, v);
  }
};

__device__ __noinline__ void ConvertList(const WriteBatch& b,
                                         const CopyList& list, unsigned count,
                                         unsigned lane) {
  const RowFormat format = ValueFormat(b);
  const unsigned lanes = LanesPerRow(b.dim);
  for (unsigned first = 0; first < count; first += kWarpSize / lanes) {
    const unsigned r = first + lane / lanes;
    const bool live = r < count;
    const char* row = list.from[live ? r : 0];
    const ValueSource source = {format, row, live ? format.ScaleOf(row) : 0};
    StoreFloats(source, TableFormat(b), list.to[live ? r : 0], live, lanes);
  }
}

struct UnitDivision {
  unsigned unit;  // bytes
  unsigned units_per_row;
  unsigned magic;
};

__global__ void __launch_bounds__(kWriteThreads)
    SetRowsKernel(const __grid_constant__ WriteBatch batch,
                  const UnitDivision units, const uint32_t* free_rows) {
  __shared__ CopyList lists[kWarpsPerBlock];
  CopyList& list = lists[threadIdx.x / kWarpSize];
  const unsigned lane = threadIdx.x % kWarpSize;
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  WriteTarget target = {kNoPlace, 0, 0, 0};
  if (i < batch.num_keys) target = batch.workspace.targets[i];
  const bool written = target.place != kNoPlace;
  const unsigned all = __ballot_sync(kFullWarp, written);
  if (all == 0) return;
  if (written) {
    const unsigned rank = __popc(all & ((1u << lane) - 1));
    list.from[rank] = static_cast<const char*>(batch.values) +
                      uint64_t{i} * RowBytesOf(batch.value_type, batch.dim);
    list.to[rank] = RowUpdateOf(batch, target, i, free_rows).row;
  }
  __syncwarp();
  const unsigned count = __popc(all);
  if (batch.value_type != batch.table_type) {
    return ConvertList(batch, list, count, lane);
  }
  switch (units.unit) {
    case 16:
      return CopyUnits<int4>(list, count, units.units_per_row, units.magic,
                             lane);
    case 4:
      return CopyUnits<unsigned>(list, count, units.units_per_row, units.magic,
                                 lane);
    case 2:
      return CopyUnits<unsigned short>(list, count, units.units_per_row,
                                       units.magic, lane);
    default:
      return CopyUnits<unsigned char>(list, count, units.units_per_row,
                                      units.magic, lane);
  }
}

}  // namespace

cudaError_t SetRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         cudaStream_t stream) {
  const unsigned row_bytes = RowBytesOf(batch.value_type, batch.dim);
  UnitDivision units;
  units.unit = CommonUnit(row_bytes, 16);
  units.units_per_row = row_bytes / units.unit;
  // FastDivide: exact for 32 rows of up to 32 KiB.
  units.magic = units.units_per_row == 1
                    ? 0
                    : static_cast<unsigned>(
                          ((uint64_t{1} << 32) + units.units_per_row - 1) /
                          units.units_per_row);
  SetRowsKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(
      batch, units, free_rows);
  return cudaGetLastError();
}

cudaError_t WriteRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                           cudaStream_t stream) {
  if (batch.num_keys == 0) return cudaSuccess;
  return batch.mode == WriteMode::kAdd ? AddRowsAsync(batch, free_rows, stream)
                                       : SetRowsAsync(batch, free_rows, stream);
}

}  // namespace gatherd::kernels
