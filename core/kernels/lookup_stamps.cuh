// When, or how often, the rows of a table that evicts were used: device side.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_

#include "core/kernels/lookup.cuh"

namespace gatherd::kernels {

// The stamp of one row. Made before the row is read and written after it, so
// that the copy does not wait for the old stamp. Plain loads and stores: of
// uses at the same moment, some may not be counted.
class RowStamp {
 public:
  __device__ __forceinline__ RowStamp(const TableRef& t, const RowPlace& place,
                                      bool used)
      : now_(t.now) {
    if (!used || t.stamps == nullptr || place.shard == kNoShard) return;
    stamp_ = reinterpret_cast<volatile uint32_t*>(
                 reinterpret_cast<uint64_t>(t.stamps) +
                 place.shard * t.stamps_shard_bytes) +
             place.slot;
    old_ = *stamp_;
  }

  __device__ __forceinline__ void Write() const {
    if (stamp_ == nullptr) return;
    uint32_t next = now_;
    if (next == 0) next = old_ == ~0u ? old_ : old_ + 1;
    if (next != old_) *stamp_ = next;
  }

 private:
  volatile uint32_t* stamp_ = nullptr;  // null: nothing to do
  uint32_t old_ = 0;
  const uint32_t now_;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_
