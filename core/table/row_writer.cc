#include "core/table/row_writer.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/table/update_run.h"

namespace gatherd {
namespace {

bool Inserts(const UpdateBatch& batch) {
  return batch.mode != UpdateMode::kSetExisting;
}

}  // namespace

RowWriter::RowWriter(TableStorage& storage)
    : storage_(storage), pool_(storage.arena, storage.epochs) {}

absl::Status RowWriter::CheckRoom(absl::Span<const UpdateBatch> batches,
                                  absl::Span<const BatchKeys> keys) const {
  const TableSpec& spec = storage_.spec;
  if (spec.key_space == KeySpace::kDense || storage_.evicts()) {
    return absl::OkStatus();
  }
  const uint64_t num_rows = storage_.num_rows.load(std::memory_order_relaxed);
  uint64_t at_most = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (Inserts(batches[i])) at_most += keys[i].keys().size();
  }
  if (at_most <= spec.rows() - num_rows) return absl::OkStatus();
  const uint64_t num_new = CountNew(batches, keys);
  if (num_new <= spec.rows() - num_rows) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "table \"", spec.name, "\" is full: the update brings ", num_new,
      " new keys to ", num_rows, " rows, of which `rows` allows ", spec.rows(),
      " and `eviction: none` lets none go"));
}

uint64_t RowWriter::CountNew(absl::Span<const UpdateBatch> batches,
                             absl::Span<const BatchKeys> keys) const {
  if (batches.size() == 1) return CountAbsent(keys[0].keys());
  absl::flat_hash_set<int64_t> all;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!Inserts(batches[i])) continue;
    all.insert(keys[i].keys().begin(), keys[i].keys().end());
  }
  return CountAbsent(std::vector<int64_t>(all.begin(), all.end()));
}

uint64_t RowWriter::CountAbsent(absl::Span<const int64_t> keys) const {
  uint64_t num_absent = 0;
  KeyGroup group;
  for (size_t begin = 0; begin < keys.size(); begin += KeyGroup::kMaxKeys) {
    group.keys = keys.subspan(begin, KeyGroup::kMaxKeys);
    storage_.index->Prefetch(group);
    storage_.index->Find(group);
    num_absent += group.keys.size() - __builtin_popcount(group.found);
  }
  return num_absent;
}

UpdateResult RowWriter::Update(const UpdateBatch& batch,
                               const BatchKeys& keys) {
  UpdateResult result;
  if (!batch.keys.empty()) {
    result = UpdateRun(storage_, pool_, eviction_, batch, keys).Run();
    pool_.Poll();
    PublishRevision();
  }
  result.revision = storage_.revision.load(std::memory_order_relaxed);
  return result;
}

EraseResult RowWriter::Erase(const BatchKeys& keys) {
  EraseResult result;
  if (!keys.keys().empty()) {
    for (const int64_t key : keys.keys()) {
      result.num_erased += EraseKey(key) ? 1 : 0;
    }
    pool_.Poll();
    PublishRevision();
  }
  result.revision = storage_.revision.load(std::memory_order_relaxed);
  return result;
}

// Whether there was a row. In a dense table there always is, and one that was
// never written has nothing to give back.
bool RowWriter::EraseKey(int64_t key) {
  if (!storage_.index->Accepts(key)) return false;
  const uint32_t slot = storage_.index->Remove(key);
  const bool is_dense = storage_.spec.key_space == KeySpace::kDense;
  if (slot == RowArena::kDefaultSlot) return is_dense;
  pool_.Retire(slot);
  if (!is_dense) storage_.num_rows.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

uint64_t RowWriter::PublishRevision() {
  return storage_.revision.fetch_add(1, std::memory_order_release) + 1;
}

}  // namespace gatherd
