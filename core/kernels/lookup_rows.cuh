// Rows to output without pooling: device side. The rows of a warp's keys are
// given by a list in shared memory: the address of row i and the place, counted
// in rows, where it goes.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_ROWS_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_ROWS_CUH_

#include "core/kernels/batch_params.cuh"
#include "core/kernels/store.cuh"

namespace gatherd::kernels {

struct RowList {
  const char* rows[kWarpSize];
  uint32_t places[kWarpSize];
};

// Copies `count` rows in units of Unit. kInFlight units a lane are loaded
// before the first is stored.
template <class Unit, bool kRelaxed, int kInFlight>
__device__ __forceinline__ void CopyRows(const RowList& list, unsigned count,
                                         unsigned units_per_row, unsigned magic,
                                         char* out, unsigned lane) {
  const unsigned total = count * units_per_row;
  for (unsigned start = 0; start < total; start += kWarpSize * kInFlight) {
    Unit v[kInFlight];
    Unit* to[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize + lane;
      to[u] = nullptr;
      if (i < total) {
        const unsigned r = FastDivide(i, units_per_row, magic);
        const unsigned unit = i - r * units_per_row;
        const Unit* from = reinterpret_cast<const Unit*>(list.rows[r]) + unit;
        if constexpr (sizeof(Unit) == 16) {
          v[u] = LoadPart<kRelaxed>(from);
        } else {
          // Narrow units are of odd sizes: volatile is relaxed, and enough.
          v[u] = *const_cast<const volatile Unit*>(from);
        }
        to[u] = reinterpret_cast<Unit*>(out) +
                static_cast<uint64_t>(list.places[r]) * units_per_row + unit;
      }
    }
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      if (to[u] != nullptr) __stcs(to[u], v[u]);
    }
  }
}

// The same for rows of 16-byte parts that go one after another: list.places
// is not looked at.
template <bool kRelaxed, int kInFlight>
__device__ __forceinline__ void CopyAllRows(const RowList& list, unsigned count,
                                            unsigned parts_per_row,
                                            unsigned magic, char* out,
                                            unsigned lane) {
  const unsigned total = count * parts_per_row;
  for (unsigned start = lane; start < total; start += kWarpSize * kInFlight) {
    int4 v[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize;
      if (i < total) {
        const unsigned r = FastDivide(i, parts_per_row, magic);
        v[u] = LoadPart<kRelaxed>(reinterpret_cast<const int4*>(list.rows[r]) +
                                  (i - r * parts_per_row));
      }
    }
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize;
      if (i < total) __stcs(reinterpret_cast<int4*>(out) + i, v[u]);
    }
  }
}

// Converts `count` rows: a group of lanes a row, a 16-byte part a lane at a
// time.
template <class Row, bool kRelaxed>
__device__ __noinline__ void ConvertRows(const RowList& list, unsigned count,
                                         unsigned dim, ElementType type,
                                         unsigned row_bytes, unsigned unit,
                                         char* out, unsigned lane) {
  constexpr int kElements = Row::kElements;
  const unsigned num_parts = (dim + kElements - 1) / kElements;
  unsigned group = 1;
  while (group < num_parts && group < kWarpSize) group *= 2;
  const unsigned per_pass = kWarpSize / group;
  const unsigned in_group = lane & (group - 1);
  const unsigned element_bytes = type == ElementType::kFloat32 ? 4
                                 : type == ElementType::kInt8  ? 1
                                                               : 2;
  for (unsigned first = 0; first < count; first += per_pass) {
    const unsigned r = first + lane / group;
    const bool live = r < count;
    const char* row = live ? list.rows[r] : list.rows[0];
    char* to =
        out + static_cast<uint64_t>(live ? list.places[r] : 0) * row_bytes;
    const float scale = Row::kHasScale ? LoadScale<kRelaxed>(row, dim) : 0.0f;
    float new_scale = 0;
    if (type == ElementType::kInt8) {
      for (unsigned p = in_group; p < num_parts; p += group) {
        float v[kElements];
        Row::Unpack(LoadPart<kRelaxed>(reinterpret_cast<const int4*>(row) + p),
                    scale, v);
#pragma unroll
        for (int i = 0; i < kElements; i++) {
          if (p * kElements + i < dim) {
            new_scale = fmaxf(new_scale, FiniteMagnitude(v[i]));
          }
        }
      }
      for (unsigned d = 1; d < group; d *= 2) {
        new_scale = fmaxf(new_scale, __shfl_xor_sync(kFullWarp, new_scale, d));
      }
      new_scale = __fdiv_rn(new_scale, 127.0f);
    }
    if (!live) continue;  // no shuffles below
    for (unsigned p = in_group; p < num_parts; p += group) {
      float v[kElements];
      Row::Unpack(LoadPart<kRelaxed>(reinterpret_cast<const int4*>(row) + p),
                  scale, v);
      const unsigned left = dim - p * kElements;
      const unsigned n = left < kElements ? left : kElements;
      char* at = to + p * kElements * element_bytes;
      if (type == ElementType::kInt8) {
        StoreQuantized<kElements>(at, v, new_scale, n);
      } else {
        StoreElements<kElements>(type, at, v, n, unit);
      }
    }
    if (type == ElementType::kInt8 && in_group == 0) {
      StoreScale(to + dim, new_scale);
    }
  }
}

template <bool kRelaxed>
__device__ __noinline__ void ConvertRowsOf(const LookupSegment& s,
                                           const RowList& list, unsigned count,
                                           unsigned row_bytes, char* out,
                                           unsigned lane) {
  const unsigned unit = CommonUnit(row_bytes, 16);
  switch (s.table_type) {
    case ElementType::kFloat32:
      return ConvertRows<Float32Row, kRelaxed>(
          list, count, s.dim, s.output_type, row_bytes, unit, out, lane);
    case ElementType::kFloat16:
      return ConvertRows<Float16Row, kRelaxed>(
          list, count, s.dim, s.output_type, row_bytes, unit, out, lane);
    case ElementType::kBFloat16:
      return ConvertRows<BFloat16Row, kRelaxed>(
          list, count, s.dim, s.output_type, row_bytes, unit, out, lane);
    case ElementType::kInt8:
      return ConvertRows<Int8Row, kRelaxed>(list, count, s.dim, s.output_type,
                                            row_bytes, unit, out, lane);
  }
}

// Rows of any types, first_row being that of place 0.
template <bool kRelaxed, int kInFlight>
__device__ __forceinline__ void WriteAnyRows(const SegmentParams& params,
                                             const RowList& list,
                                             unsigned count, uint32_t first_row,
                                             unsigned lane) {
  const LookupSegment& s = params.segment;
  const unsigned row_bytes = OutputRowBytes(s);
  char* out = static_cast<char*>(s.output) +
              static_cast<uint64_t>(first_row) * row_bytes;
  if (s.table_type != s.output_type) {
    ConvertRowsOf<kRelaxed>(s, list, count, row_bytes, out, lane);
    return;
  }
  const unsigned magic = params.unit_magic;
  switch (CommonUnit(row_bytes, 16)) {
    case 16:
      return CopyRows<int4, kRelaxed, kInFlight>(list, count, row_bytes / 16,
                                                 magic, out, lane);
    case 4:
      return CopyRows<unsigned, kRelaxed, 4>(list, count, row_bytes / 4, magic,
                                             out, lane);
    case 2:
      return CopyRows<unsigned short, kRelaxed, 4>(list, count, row_bytes / 2,
                                                   magic, out, lane);
    default:
      return CopyRows<unsigned char, kRelaxed, 4>(list, count, row_bytes, magic,
                                                  out, lane);
  }
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_ROWS_CUH_
