// When, or how often, the rows of a table that evicts were used: device side.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_

#include "core/kernels/lookup.cuh"

namespace gatherd::kernels {

// Whether this use is to be counted, and as how many. Hot rows are in nearly
// every warp, which would all write the same word: a million keys by Zipf's law
// took five times as long. So of a row that was used often only one use in 16,
// or in 256, is counted, for all.
struct CountedUses {
  static constexpr uint32_t kOften = 256;
  static constexpr uint32_t kVeryOften = 1 << 14;

  static __device__ __forceinline__ uint32_t Step(uint32_t stamp) {
    if (stamp < kOften) return 1;
    const uint32_t step = stamp < kVeryOften ? 16 : 256;
    const uint32_t random =
        (static_cast<uint32_t>(clock()) + threadIdx.x) * 0x9e3779b1u >> 24;
    return random % step == 0 ? step : 0;
  }
};

// The stamp of one row. Made before the row is read and written after it, so
// that the copy does not wait for the old stamp. Plain loads and stores: of
// uses at the same moment, some may not be counted.
class RowStamp {
 public:
  __device__ __forceinline__ RowStamp(const TableRef& t, const RowPlace& place,
                                      bool used)
      : now_(t.now) {
    if (!used || t.stamps == nullptr || place.shard == kNoShard) return;
    stamp_ = reinterpret_cast<uint32_t*>(reinterpret_cast<uint64_t>(t.stamps) +
                                         place.shard * t.stamps_shard_bytes) +
             place.slot;
    old_ = __ldcg(stamp_);
  }

  __device__ __forceinline__ void Write() const {
    if (stamp_ == nullptr) return;
    uint32_t next = now_;
    if (now_ == 0) {
      const uint32_t step = CountedUses::Step(old_);
      next = old_ > ~step ? ~0u : old_ + step;
    }
    if (next != old_) *stamp_ = next;
  }

 private:
  uint32_t* stamp_ = nullptr;  // null: nothing to do
  uint32_t old_ = 0;
  const uint32_t now_;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_STAMPS_CUH_
