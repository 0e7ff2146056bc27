// Rows of values as floats, eight elements (an octet) at a time, and back into
// rows of a table: device side.
#ifndef GATHERD_CORE_KERNELS_VALUE_ROWS_CUH_
#define GATHERD_CORE_KERNELS_VALUE_ROWS_CUH_

#include "core/kernels/store.cuh"
#include "core/kernels/write_batch.cuh"

namespace gatherd::kernels {

inline constexpr unsigned kOctet = 8;

__host__ __device__ inline unsigned NumOctets(unsigned dim) {
  return (dim + kOctet - 1) / kOctet;
}

// Rows in one format: a table's, or the values of a request.
struct RowFormat {
  ElementType type;
  unsigned dim;
  unsigned unit;  // what rows are aligned to: 16, 4, 2 or 1

  __device__ float ScaleOf(const char* row) const {
    if (type != ElementType::kInt8) return 0;
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++) {
      bits |= static_cast<uint32_t>(static_cast<uint8_t>(row[dim + i]))
              << (8 * i);
    }
    return __uint_as_float(bits);
  }

  // Adds octet `p` of a row to `sums`.
  __device__ void Add(const char* row, float scale, unsigned p,
                      float* sums) const {
    const unsigned first = p * kOctet;
    const unsigned n = min(kOctet, dim - first);
    const bool whole = n == kOctet && unit == 16;
    float v[kOctet] = {};
    if (type == ElementType::kFloat32) {
      if (whole) {
        const int4* parts = reinterpret_cast<const int4*>(row) + 2 * p;
        const int4 low = parts[0], high = parts[1];
        Float32Row::Unpack(low, 0, v);
        Float32Row::Unpack(high, 0, v + 4);
      } else {
#pragma unroll
        for (unsigned i = 0; i < kOctet; i++) {
          if (i < n) v[i] = reinterpret_cast<const float*>(row)[first + i];
        }
      }
    } else if (type == ElementType::kInt8) {
#pragma unroll
      for (unsigned i = 0; i < kOctet; i++) {
        if (i < n) {
          v[i] = __fmul_rn(
              static_cast<float>(static_cast<int8_t>(row[first + i])), scale);
        }
      }
    } else {
      int4 part = {0, 0, 0, 0};
      if (whole) {
        part = reinterpret_cast<const int4*>(row)[p];
      } else {
        uint16_t* halves = reinterpret_cast<uint16_t*>(&part);
#pragma unroll
        for (unsigned i = 0; i < kOctet; i++) {
          if (i < n) {
            halves[i] = reinterpret_cast<const uint16_t*>(row)[first + i];
          }
        }
      }
      if (type == ElementType::kFloat16) {
        Float16Row::Unpack(part, 0, v);
      } else {
        BFloat16Row::Unpack(part, 0, v);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kOctet; i++) sums[i] += v[i];
  }
};

__host__ __device__ inline RowFormat TableFormat(const WriteBatch& b) {
  return {b.table_type, b.dim, 16};
}

__host__ __device__ inline RowFormat ValueFormat(const WriteBatch& b) {
  return {b.value_type, b.dim, CommonUnit(RowBytesOf(b.value_type, b.dim), 16)};
}

// The lanes that work on one row together: a power of two.
__host__ __device__ inline unsigned LanesPerRow(unsigned dim) {
  unsigned lanes = 1;
  while (lanes < NumOctets(dim) && lanes < kWarpSize) lanes *= 2;
  return lanes;
}

__device__ __forceinline__ void Clear(float* octet) {
#pragma unroll
  for (unsigned i = 0; i < kOctet; i++) octet[i] = -0.0f;
}

// Stores a row of a table, given by source.Load(p, active, values). All lanes
// of a warp call at once, each group of `lanes` lanes for a row of its own,
// which is stored if `live`. Load adds to what it is given: -0, which adds
// nothing to any number, -0 included.
template <class Source>
__device__ __forceinline__ void StoreFloats(const Source& source,
                                            const RowFormat& format, char* to,
                                            bool live, unsigned lanes) {
  const unsigned in_group = threadIdx.x & (lanes - 1);
  const unsigned num_octets = NumOctets(format.dim);
  const bool quantized = format.type == ElementType::kInt8;
  float scale = 0;
  if (quantized) {
    for (unsigned first = 0; first < num_octets; first += lanes) {
      const unsigned p = first + in_group;
      float v[kOctet];
      Clear(v);
      source.Load(p, live && p < num_octets, v);
#pragma unroll
      for (unsigned i = 0; i < kOctet; i++) {
        if (p * kOctet + i < format.dim) {
          scale = fmaxf(scale, FiniteMagnitude(v[i]));
        }
      }
    }
    for (unsigned d = 1; d < lanes; d *= 2) {
      scale = fmaxf(scale, __shfl_xor_sync(kFullWarp, scale, d));
    }
    scale = __fdiv_rn(scale, 127.0f);
  }
  const unsigned element_bytes = RowBytesOf(format.type, 8) / 8;
  for (unsigned first = 0; first < num_octets; first += lanes) {
    const unsigned p = first + in_group;
    const bool active = live && p < num_octets;
    float v[kOctet];
    Clear(v);
    source.Load(p, active, v);
    if (!active) continue;
    const unsigned n = min(kOctet, format.dim - p * kOctet);
    char* at = to + p * kOctet * element_bytes;
    if (quantized) {
      StoreQuantized<kOctet>(at, v, scale, n);
    } else {
      StoreElements<kOctet>(format.type, at, v, n, 16);
    }
  }
  if (quantized && live && in_group == 0) StoreScale(to + format.dim, scale);
}

// The addresses of one key's row: the old one, which ADD starts from, and the
// one to be written. The same for dense tables.
struct RowUpdate {
  const char* old_row;
  char* row;
};

__device__ __forceinline__ RowUpdate RowUpdateOf(const WriteBatch& b,
                                                 const WriteTarget& target,
                                                 uint32_t position,
                                                 const uint32_t* free_rows) {
  if (b.table.index == nullptr) {
    const char* row = FindDense(b.table, b.keys[position]).row;
    return {row, const_cast<char*>(row)};
  }
  const bool is_new = target.row == kNewRow;
  const uint32_t row =
      free_rows[target.rank + (is_new ? b.counters->num_existing : 0)];
  return {is_new ? b.table.default_row : ShardRow(b, target.row),
          ShardRow(b, row)};
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_VALUE_ROWS_CUH_
