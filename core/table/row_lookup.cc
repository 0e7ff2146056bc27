#include "core/table/row_lookup.h"

#include <algorithm>
#include <cstring>

#include "core/rows/row_kernels.h"
#include "core/table/bag_pooler.h"
#include "core/table/epoch.h"

namespace gatherd {
namespace {

// Keys and row bytes read in one stay in the epoch domain: a writer that has
// used up its spare slots waits for that long at most, some tens of µs.
constexpr size_t kStayKeys = 512;
constexpr size_t kStayBytes = size_t{256} << 10;

// Runs the rows of `keys` through three steps: while one group of keys is
// being consumed, the next one's rows and the one after's index entries are
// on their way from memory.
class RowStream {
 public:
  RowStream(TableStorage& storage, absl::Span<const int64_t> keys,
            uint8_t* missing)
      : storage_(storage),
        arena_(storage.arena),
        index_(*storage.index),
        keys_(keys),
        missing_(missing),
        num_groups_((keys.size() + KeyGroup::kMaxKeys - 1) /
                    KeyGroup::kMaxKeys),
        groups_a_stay_(GroupsAStay(arena_.layout().stride)) {}

  // Calls `consume` with the row of each key, in order; the default row of
  // those that are missing. Returns how many are.
  template <typename Consume>
  uint64_t ForEach(const Consume& consume) {
    if (num_groups_ == 0) return 0;
    Prefetch(0);
    EpochGuard guard(storage_.epochs);
    for (size_t number = 0; number < num_groups_; ++number) {
      const bool new_stay = number % groups_a_stay_ == 0;
      if (number + 1 < num_groups_) Prefetch(number + 1);
      if (new_stay) {
        if (number > 0) {
          Finish(number - 1, consume);
          guard.Reenter();
        }
        if (storage_.evicts()) now_ = storage_.stamps->Tick();
      }
      Find(number);
      if (!new_stay) Finish(number - 1, consume);
    }
    Finish(num_groups_ - 1, consume);
    return num_missing_;
  }

 private:
  static size_t GroupsAStay(size_t stride) {
    const size_t keys = std::min(kStayKeys, kStayBytes / stride);
    return std::max<size_t>(1, keys / KeyGroup::kMaxKeys);
  }

  KeyGroup& group(size_t number) { return groups_[number % 3]; }

  void Prefetch(size_t number) {
    KeyGroup& group = this->group(number);
    group.keys = keys_.subspan(number * KeyGroup::kMaxKeys, KeyGroup::kMaxKeys);
    index_.Prefetch(group);
  }

  void Find(size_t number) {
    KeyGroup& group = this->group(number);
    index_.Find(group);
    for (size_t i = 0; i < group.keys.size(); ++i) {
      arena_.PrefetchToRead(group.slots[i]);
    }
    if (!storage_.evicts()) return;
    for (size_t i = 0; i < group.keys.size(); ++i) {
      storage_.stamps->Prefetch(group.slots[i]);
    }
  }

  template <typename Consume>
  void Finish(size_t number, const Consume& consume) {
    KeyGroup& group = this->group(number);
    index_.Confirm(group);
    for (size_t i = 0; i < group.keys.size(); ++i) {
      consume(arena_.row(group.slots[i]));
    }
    if (storage_.evicts()) TouchStamps(group);
    MarkMissing(number, group);
  }

  void TouchStamps(const KeyGroup& group) const {
    for (size_t i = 0; i < group.keys.size(); ++i) {
      if (group.slots[i] == RowArena::kDefaultSlot) continue;
      storage_.stamps->Touch(group.slots[i], now_);
    }
  }

  void MarkMissing(size_t number, const KeyGroup& group) {
    const size_t num_keys = group.keys.size();
    const uint32_t all = ~uint32_t{0} >> (32 - num_keys);
    const uint32_t missing = all & ~group.found;
    if (missing == 0) return;
    num_missing_ += __builtin_popcount(missing);
    std::memcpy(missing_ + number * (KeyGroup::kMaxKeys / 8), &missing,
                (num_keys + 7) / 8);
  }

  TableStorage& storage_;
  const RowArena& arena_;
  const SlotIndex& index_;
  const absl::Span<const int64_t> keys_;
  uint8_t* const missing_;
  const size_t num_groups_;
  const size_t groups_a_stay_;
  uint64_t num_missing_ = 0;
  uint32_t now_ = 0;  // for stamps
  KeyGroup groups_[3];
};

uint64_t CopyRows(TableStorage& storage, const LookupBatch& batch,
                  const LookupOutput& output) {
  const size_t dim = storage.spec.dim;
  const size_t out_bytes = RowBytes(batch.output_type, storage.spec.dim);
  const ConvertRowFn convert =
      GetConvertRow(storage.spec.data_type, batch.output_type);
  std::byte* out = output.rows;
  return RowStream(storage, batch.keys, output.missing)
      .ForEach([&](const std::byte* row) {
        convert(row, out, dim);
        out += out_bytes;
      });
}

uint64_t PoolRows(TableStorage& storage, const LookupBatch& batch,
                  const LookupOutput& output) {
  BagPooler pooler(storage.spec, batch, output.rows);
  const uint64_t num_missing =
      RowStream(storage, batch.keys, output.missing)
          .ForEach([&](const std::byte* row) { pooler.Add(row); });
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
