// Rows of a hashed table that go out as they are, 32 keys a warp: device side.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_ROWS_HASHED_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_ROWS_HASHED_CUH_

#include "core/kernels/batch_params.cuh"
#include "core/kernels/find_hashed.cuh"
#include "core/kernels/lookup_rows.cuh"
#include "core/kernels/lookup_shape.cuh"

namespace gatherd::kernels {

__device__ __forceinline__ KeyFate FateOf(const RowPlace& place, bool mine,
                                          int32_t this_shard) {
  if (!mine) return KeyFate::kNoKey;
  return place.shard == kNoShard     ? KeyFate::kMissing
         : place.shard == this_shard ? KeyFate::kLocal
                                     : KeyFate::kRemote;
}

// Finds 8, 16 or 32 keys of a warp.
template <Reach kReach>
__device__ __forceinline__ RowPlace FindSome(const TableRef& t, unsigned num,
                                             int64_t key, bool mine,
                                             unsigned lane) {
  if (num == kWarpSize) return FindHashed<8, kReach>(t, key, mine, lane);
  if (num == 16) return FindHashed<4, kReach>(t, key, mine, lane);
  return FindHashed<2, kReach>(t, key, mine, lane);
}

// Sets the bits of a warp's keys that are missing, `first` being its first.
__device__ __forceinline__ void NoteMissing(const LookupSegment& s,
                                            KeyFate fate, uint32_t first,
                                            unsigned lane) {
  const unsigned missing = __ballot_sync(kFullWarp, fate == KeyFate::kMissing);
  // A word is shared by warps of fewer than 32 keys.
  if (missing != 0 && lane == 0) {
    atomicOr(s.missing + first / 32, missing << (first % 32));
  }
}

// One round of parts on their way from listed rows to their places.
template <int kInFlight>
class PartsInFlight {
 public:
  // How many parts one round takes.
  static constexpr unsigned kParts = kWarpSize * kInFlight;

  // Parts start, start + 1, ... of all rows, up to `end`.
  __device__ __forceinline__ void Load(const RowList& list,
                                       const SegmentParams& params,
                                       unsigned start, unsigned end,
                                       unsigned lane) {
    const unsigned parts_per_row = params.units_per_row;
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize + lane;
      if (i >= end) continue;
      const unsigned r = FastDivide(i, parts_per_row, params.unit_magic);
      const unsigned part = i - r * parts_per_row;
      parts_[u] =
          LoadRelaxed(reinterpret_cast<const int4*>(list.rows[r]) + part);
      places_[u] = list.places[r] * parts_per_row + part;
    }
  }

  // With the `start` and `end` of Load.
  __device__ __forceinline__ void Store(int4* out, unsigned start, unsigned end,
                                        unsigned lane) const {
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kWarpSize + lane;
      if (i < end) __stcs(out + places_[u], parts_[u]);
    }
  }

 private:
  int4 parts_[kInFlight];
  unsigned places_[kInFlight];
};

// Of nearly every 32 keys at load 0.9 some are in their second buckets. Their
// rows are listed last, and the first round of the others is on its way while
// those buckets are looked at. `mine`: this lane has a key, whose row goes to
// the output's row first + at; the lanes that have come first.
template <Reach kReach>
__device__ __forceinline__ RowPlace CopyHashedRows(const SegmentParams& params,
                                                   uint32_t first, int64_t key,
                                                   uint32_t at, bool mine,
                                                   RowList& list,
                                                   unsigned lane) {
  constexpr int kSecondSteps = 2;  // eight keys; seldom are there more
  using Round = PartsInFlight<kHashedInFlight>;
  const LookupSegment& s = params.segment;
  const TableRef& t = s.table;
  FirstLook look = LookInFirst<kWarpSize / 4, kReach>(t, key, mine, lane);
  FenceFind<kReach>(t);
  const unsigned all = __ballot_sync(kFullWarp, mine);
  const unsigned todo = __ballot_sync(kFullWarp, mine && look.again);
  const unsigned known = all & ~todo;
  const bool is_known = (known >> lane & 1) != 0;
  const unsigned below = (1u << lane) - 1;
  const unsigned listed_at =
      is_known ? __popc(known & below) : __popc(known) + __popc(todo & below);
  RowPlace place = HashedRow(t, look.place.shard, look.found);
  if (mine) {
    list.rows[listed_at] = place.row;
    list.places[listed_at] = at;
  }
  const SecondLook<kSecondSteps> second(look.index, look.place.second, todo,
                                        lane);
  __syncwarp();

  const unsigned parts = params.units_per_row;
  int4* const out =
      static_cast<int4*>(s.output) + static_cast<uint64_t>(first) * parts;
  const unsigned total = __popc(all) * parts;
  const unsigned end = min(__popc(known) * parts, Round::kParts);
  Round round;
  round.Load(list, params, 0, end, lane);
  if (todo != 0) {
    look.found = second.Finish(key, look.found, lane);
    if (second.rest() != 0) {
      look.found = FindInSecond(look.index, key, look.place.second,
                                second.rest(), look.found, lane);
    }
    // Before the stores, for which it would wait.
    FenceFind<kReach>(t);
    place = HashedRow(t, look.place.shard, look.found);
    if (mine && !is_known) list.rows[listed_at] = place.row;
    __syncwarp();
  }
  round.Store(out, 0, end, lane);
  for (unsigned start = end; start < total; start += Round::kParts) {
    round.Load(list, params, start, total, lane);
    round.Store(out, start, total, lane);
  }
  return place;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_ROWS_HASHED_CUH_
