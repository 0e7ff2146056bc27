// Loads, stores and compare-and-swaps with the memory orders that the index
// protocol needs, as PTX has them and CUDA C++ does not for 16 bytes.
#ifndef GATHERD_CORE_KERNELS_MEMORY_ORDER_CUH_
#define GATHERD_CORE_KERNELS_MEMORY_ORDER_CUH_

#include <cstdint>

#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

union EntryBits {
  IndexEntry entry;
  ulonglong2 words;
  __device__ EntryBits() {}
};

// One atomic 16-byte load.
__device__ __forceinline__ IndexEntry LoadEntry(const IndexEntry* p) {
  EntryBits bits;
  asm volatile(
      "{\n\t.reg .b128 v;\n\t"
      "ld.relaxed.sys.global.b128 v, [%2];\n\t"
      "mov.b128 {%0, %1}, v;\n\t}"
      : "=l"(bits.words.x), "=l"(bits.words.y)
      : "l"(p)
      : "memory");
  return bits.entry;
}

// One atomic 16-byte store.
__device__ __forceinline__ void StoreEntry(IndexEntry* p,
                                           const IndexEntry& entry) {
  EntryBits bits;
  bits.entry = entry;
  asm volatile(
      "{\n\t.reg .b128 v;\n\t"
      "mov.b128 v, {%1, %2};\n\t"
      "st.relaxed.sys.global.b128 [%0], v;\n\t}"
      :
      : "l"(p), "l"(bits.words.x), "l"(bits.words.y)
      : "memory");
}

// 16 bytes of a row, past L1: a slot that was freed and used again within the
// life of a kernel must not come back from a line read earlier.
__device__ __forceinline__ int4 LoadRelaxed(const int4* p) {
  int4 v;
  asm volatile("ld.relaxed.sys.global.v4.s32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

// 16 bytes of a row that nobody writes while this kernel runs.
__device__ __forceinline__ int4 LoadConstant(const int4* p) {
  int4 v;
  asm("ld.global.nc.L1::no_allocate.v4.s32 {%0,%1,%2,%3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(p));
  return v;
}

// One 4-byte word of a row, in either way.
template <bool kRelaxed>
__device__ __forceinline__ uint32_t LoadWord(const char* p) {
  uint32_t v;
  if (kRelaxed) {
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  } else {
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  }
  return v;
}

template <bool kRelaxed>
__device__ __forceinline__ int4 LoadPart(const int4* p) {
  return kRelaxed ? LoadRelaxed(p) : LoadConstant(p);
}

__device__ __forceinline__ void FenceAcquireRelease() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// Among all that read and write a table: those of one shard run on its GPU.
__device__ __forceinline__ void FenceTable(const TableRef& t) {
  if (t.shards.num_shards == 1) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  } else {
    FenceAcquireRelease();
  }
}

// Returns what was there; equal to `expected` if it was replaced.
__device__ __forceinline__ IndexEntry CompareAndSwapEntry(IndexEntry* p,
                                                          IndexEntry expected,
                                                          IndexEntry desired) {
  EntryBits e, d, old;
  e.entry = expected;
  d.entry = desired;
  asm volatile(
      "{\n\t.reg .b128 e, d, o;\n\t"
      "mov.b128 e, {%3, %4};\n\t"
      "mov.b128 d, {%5, %6};\n\t"
      "atom.relaxed.sys.global.cas.b128 o, [%2], e, d;\n\t"
      "mov.b128 {%0, %1}, o;\n\t}"
      : "=l"(old.words.x), "=l"(old.words.y)
      : "l"(p), "l"(e.words.x), "l"(e.words.y), "l"(d.words.x), "l"(d.words.y)
      : "memory");
  return old.entry;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_MEMORY_ORDER_CUH_
