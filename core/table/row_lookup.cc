#include "core/table/row_lookup.h"

#include <algorithm>

#include "core/rows/row_kernels.h"
#include "core/table/bag_pooler.h"
#include "core/table/dense_index.h"
#include "core/table/epoch.h"
#include "core/table/hashed_index.h"
#include "core/table/slot_stamps.h"

namespace gatherd {
namespace {

// Keys and row bytes read in one stay in the epoch domain: a writer that has
// used up its spare slots waits for that long at most, some tens of µs.
constexpr size_t kStayKeys = 512;
constexpr size_t kStayBytes = size_t{256} << 10;

// Takes keys through the steps of a lookup (slot_index.h), one key a step at a
// time, so that memory always has something to fetch and never more than a core
// can wait for: about two dozen lines, beyond which it stands still.
template <typename Index>
class RowStream {
 public:
  RowStream(TableStorage& storage, absl::Span<const int64_t> keys,
            uint8_t* missing)
      : arena_(storage.arena),
        index_(static_cast<const Index&>(*storage.index)),
        stamps_(storage.stamps.get()),
        epochs_(storage.epochs),
        keys_(keys),
        missing_(missing) {}

  // Calls `consume` with the row of each key, in order; the default row of
  // those that are missing. Returns how many are.
  template <typename Consume>
  uint64_t ForEach(const Consume& consume) {
    if (keys_.empty()) return 0;
    for (size_t i = 0; i < kFindAfter; ++i) Begin(i);
    EpochGuard guard(epochs_);
    const size_t stay =
        std::clamp<size_t>(kStayBytes / arena_.layout().stride, 1, kStayKeys);
    for (size_t first = 0; first < keys_.size(); first += stay) {
      if (first > 0) guard.Reenter();
      if (stamps_ != nullptr) now_ = stamps_->Tick();
      RunStay(first, std::min(first + stay, keys_.size()), consume);
    }
    return num_missing_;
  }

 private:
  using Search = typename Index::Search;

  // How many keys a step is behind Begin, FindFirst and FindFirst.
  static constexpr size_t kFindAfter = 24;
  static constexpr size_t kFetchAfter = 16;
  static constexpr size_t kFinishAfter = 32;
  static constexpr size_t kSearches = 64;  // under way; a power of two
  static_assert(kFetchAfter < kFinishAfter);
  static_assert(kFindAfter + kFinishAfter < kSearches);

  Search* search(size_t number) { return &searches_[number % kSearches]; }

  // The keys from `first` up to `last`, within one stay in the epoch domain.
  template <typename Consume>
  void RunStay(size_t first, size_t last, const Consume& consume) {
    for (size_t i = first; i < last; ++i) {
      Begin(i + kFindAfter);
      index_.FindFirst(search(i));
      if (i - first < kFetchAfter) continue;
      Fetch(i - kFetchAfter);
      if (i - first < kFinishAfter) continue;
      Finish(i - kFinishAfter, consume);
    }
    const size_t num = last - first;
    for (size_t i = num - std::min(num, kFetchAfter); i < num; ++i) {
      Fetch(first + i);
    }
    for (size_t i = num - std::min(num, kFinishAfter); i < num; ++i) {
      Finish(first + i, consume);
    }
  }

  // Behind the last key: does something harmless, without a branch.
  void Begin(size_t number) {
    index_.Begin(keys_[std::min(number, keys_.size() - 1)], search(number));
  }

  void Fetch(size_t number) {
    Search* const search = this->search(number);
    index_.FindRest(search);
    arena_.PrefetchToRead(search->slot);
    if (stamps_ != nullptr) stamps_->Prefetch(search->slot);
  }

  template <typename Consume>
  void Finish(size_t number, const Consume& consume) {
    Search* const search = this->search(number);
    if (!index_.Exists(*search)) {
      ++num_missing_;
      missing_[number / 8] |= static_cast<uint8_t>(1 << number % 8);
    }
    consume(arena_.row(search->slot));
    if (stamps_ != nullptr && search->slot != RowArena::kDefaultSlot) {
      stamps_->Touch(search->slot, now_);
    }
  }

  const RowArena& arena_;
  const Index& index_;
  SlotStamps* const stamps_;  // nullptr: nothing is evicted
  EpochDomain& epochs_;
  const absl::Span<const int64_t> keys_;
  uint8_t* const missing_;
  uint64_t num_missing_ = 0;
  uint32_t now_ = 0;  // for stamps
  Search searches_[kSearches];
};

// See RowStream::ForEach.
template <typename Consume>
uint64_t ForEachRow(TableStorage& storage, const LookupBatch& batch,
                    uint8_t* missing, const Consume& consume) {
  if (storage.spec.key_space == KeySpace::kDense) {
    return RowStream<DenseIndex>(storage, batch.keys, missing).ForEach(consume);
  }
  return RowStream<HashedIndex>(storage, batch.keys, missing).ForEach(consume);
}

uint64_t CopyRows(TableStorage& storage, const LookupBatch& batch,
                  const LookupOutput& output) {
  const size_t dim = storage.spec.dim;
  const size_t out_bytes = RowBytes(batch.output_type, storage.spec.dim);
  const ConvertRowFn convert =
      GetConvertRow(storage.spec.data_type, batch.output_type);
  std::byte* out = output.rows;
  return ForEachRow(storage, batch, output.missing, [&](const std::byte* row) {
    convert(row, out, dim);
    out += out_bytes;
  });
}

uint64_t PoolRows(TableStorage& storage, const LookupBatch& batch,
                  const LookupOutput& output) {
  BagPooler pooler(storage.spec, batch, output.rows);
  const uint64_t num_missing =
      ForEachRow(storage, batch, output.missing,
                 [&](const std::byte* row) { pooler.Add(row); });
  pooler.Finish();
  return num_missing;
}

// The first tier with room for all rows has them; the last one always does.
size_t TierOfRows(const TableStorage& storage) {
  const uint64_t rows = storage.num_rows.load(std::memory_order_relaxed);
  const auto& tiers = storage.spec.tiers;
  size_t tier = 0;
  while (tier + 1 < tiers.size() && tiers[tier].rows < rows) ++tier;
  return tier;
}

}  // namespace

LookupResult LookupRows(TableStorage& storage, const LookupBatch& batch,
                        const LookupOutput& output) {
  LookupResult result;
  // Before any row: what this revision wrote is then seen.
  result.revision = storage.revision.load(std::memory_order_acquire);
  result.num_missing = batch.pooling == Pooling::kNone
                           ? CopyRows(storage, batch, output)
                           : PoolRows(storage, batch, output);
  result.tier_hits[TierOfRows(storage)] =
      batch.keys.size() - result.num_missing;
  return result;
}

}  // namespace gatherd
