// Eviction and settling: the passes over a shard's index.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/kernels/key_place.h"
#include "core/kernels/stamp.h"
#include "tests/core/gpu/host_index.h"
#include "tests/core/gpu/host_launches.h"
#include "tests/core/gpu/host_table.h"

namespace gatherd::kernels::host {
namespace {

class Eviction {
 public:
  Eviction(const WriteBatch& batch, const EvictionRequest& request)
      : batch_(batch), request_(request), index_(batch.table, batch.shard) {}

  void Run() {
    *request_.num_evicted = 0;
    if (request_.num_rows == 0) return;
    Protect(true);
    if (index_.num_places() <= kExactPlaces) {
      EvictColdest();
    } else {
      EvictSampled();
    }
    if (batch_.table.now == 0) Halve();
    Protect(false);
  }

 private:
  // In the order of leaving.
  struct Candidate {
    uint32_t warmth;
    uint32_t row;
    uint32_t place;
    bool operator<(const Candidate& other) const {
      return std::pair(warmth, row) < std::pair(other.warmth, other.row);
    }
  };

  void Protect(bool is_protected) {
    for (uint32_t i = 0; i < batch_.num_keys; ++i) {
      const uint32_t place = batch_.workspace.targets[i].place;
      if (place != kNoPlace) index_.SetProtected(place, is_protected);
    }
  }

  std::optional<Candidate> CandidateAt(uint32_t place) const {
    const IndexEntry entry = index_.Load(place);
    if ((entry.meta & (kStateMask | kProtected)) != kValid) return {};
    const uint32_t stamp = GetStamp(batch_.table, batch_.shard, entry.row);
    return Candidate{~Coldness(stamp, batch_.table.now), entry.row, place};
  }

  void Remove(const Candidate& candidate) {
    index_.Remove(candidate.place);
    SetStamp(batch_.table, batch_.shard, candidate.row, 0);
    request_.retired[(*request_.num_evicted)++] = candidate.row;
  }

  void EvictColdest() {
    std::vector<Candidate> candidates;
    for (uint32_t place = 0; place < index_.num_places(); ++place) {
      const auto candidate = CandidateAt(place);
      if (candidate.has_value()) candidates.push_back(*candidate);
    }
    std::sort(candidates.begin(), candidates.end());
    for (const Candidate& candidate : candidates) {
      if (*request_.num_evicted == request_.num_rows) return;
      Remove(candidate);
    }
  }

  // The coldest in four buckets.
  bool EvictOneOfDraw(uint64_t draw) {
    std::optional<Candidate> coldest;
    for (uint64_t i = 0; i < 4; ++i) {
      const uint64_t random =
          MixKey(static_cast<int64_t>(draw * 4 + i), request_.seed);
      const uint32_t bucket = ScaleTo(static_cast<uint32_t>(random >> 32),
                                      batch_.table.num_buckets);
      for (uint32_t k = 0; k < kEntriesPerBucket; ++k) {
        const auto candidate = CandidateAt(bucket * kEntriesPerBucket + k);
        if (!candidate.has_value()) continue;
        if (!coldest.has_value() || candidate->warmth < coldest->warmth) {
          coldest = candidate;
        }
      }
    }
    if (coldest.has_value()) Remove(*coldest);
    return coldest.has_value();
  }

  void EvictSampled() {
    constexpr uint64_t kMaxDraws = 8;
    for (uint64_t number = 0; number < request_.num_rows; ++number) {
      uint64_t draw = number * kMaxDraws;
      const uint64_t end = draw + kMaxDraws;
      while (draw < end && !EvictOneOfDraw(draw)) ++draw;
    }
    const uint32_t num_places = index_.num_places();
    const uint32_t start =
        ScaleTo(static_cast<uint32_t>(MixKey(0, request_.seed)), num_places);
    for (uint64_t i = 0; i < num_places; ++i) {
      if (*request_.num_evicted == request_.num_rows) return;
      const auto candidate =
          CandidateAt(static_cast<uint32_t>((start + i) % num_places));
      if (candidate.has_value()) Remove(*candidate);
    }
  }

  void Halve() {
    const uint32_t num_places = index_.num_places();
    const uint32_t count = std::min(request_.num_rows, num_places);
    for (uint64_t i = 0; i < count; ++i) {
      const IndexEntry entry =
          index_.Load(static_cast<uint32_t>((request_.sweep + i) % num_places));
      if ((entry.meta & kStateMask) != kValid) continue;
      const uint32_t stamp = GetStamp(batch_.table, batch_.shard, entry.row);
      SetStamp(batch_.table, batch_.shard, entry.row, HalvedStamp(stamp));
    }
  }

  const WriteBatch& batch_;
  const EvictionRequest& request_;
  HostIndex index_;
};

}  // namespace

void Evict(const WriteBatch& batch, const EvictionRequest& request) {
  Eviction(batch, request).Run();
}

void CopyToFirst(const TableRef& table, uint32_t shard,
                 const SettleList& list) {
  HostIndex index(table, shard);
  *list.count = 0;
  for (uint32_t place = 0; place < index.num_places(); ++place) {
    // Further ones are counted, but stay; a GPU may count more of them.
    if (*list.count == list.capacity) return;
    if (index.CopyToFirst(place)) list.places[(*list.count)++] = place;
  }
}

void RemoveSeconds(const TableRef& table, uint32_t shard,
                   const SettleList& list) {
  HostIndex index(table, shard);
  for (uint32_t i = 0; i < *list.count; ++i) index.Remove(list.places[i]);
}

}  // namespace gatherd::kernels::host
