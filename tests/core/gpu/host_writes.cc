// The steps of a write.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/kernels/dedup.h"
#include "core/kernels/key_place.h"
#include "core/kernels/stamp.h"
#include "core/rows/row_kernels.h"
#include "tests/core/gpu/host_index.h"
#include "tests/core/gpu/host_launches.h"
#include "tests/core/gpu/host_table.h"

namespace gatherd::kernels::host {
namespace {

bool IsOwned(const WriteBatch& batch, int64_t key) {
  return OwnerOf(batch.table, key) == static_cast<int32_t>(batch.shard);
}

// The slot of a key in the table of distinct keys, or that where it is to go.
// A slot holds a position plus one, or zero.
uint32_t SlotOf(const WriteBatch& batch, int64_t key) {
  const uint32_t mask = NumDedupSlots(batch.num_keys) - 1;
  uint32_t slot = static_cast<uint32_t>(MixKey(key, batch.table.seed)) & mask;
  for (;; slot = (slot + 1) & mask) {
    const uint32_t held = batch.workspace.dedup[slot];
    if (held == 0 || batch.keys[held - 1] == key) return slot;
  }
}

// Calls step(position, target) for the positions that have a place.
template <typename Step>
void ForEachTarget(const WriteBatch& batch, Step step) {
  for (uint32_t i = 0; i < batch.num_keys; ++i) {
    const WriteTarget& target = batch.workspace.targets[i];
    if (target.place != kNoPlace) step(i, target);
  }
}

uint32_t NewSlot(const WriteBatch& batch, const WriteTarget& target,
                 const uint32_t* free_rows) {
  const uint32_t first =
      target.row == kNewRow ? batch.counters->num_existing : 0;
  return free_rows[first + target.rank];
}

// The old row, which ADD starts from, and the one to be written.
struct RowUpdate {
  const std::byte* old_row;
  std::byte* row;
};

RowUpdate RowUpdateOf(const WriteBatch& batch, uint32_t position,
                      const WriteTarget& target, const uint32_t* free_rows) {
  if (batch.table.index == nullptr) {
    std::byte* row = FindDenseRow(batch.table, batch.keys[position]).row;
    return {row, row};
  }
  std::byte* row =
      RowInSlot(batch.table, batch.shard, NewSlot(batch, target, free_rows));
  if (target.row == kNewRow) {
    return {reinterpret_cast<const std::byte*>(batch.table.default_row), row};
  }
  return {RowInSlot(batch.table, batch.shard, target.row), row};
}

const std::byte* ValueAt(const WriteBatch& batch, uint32_t position) {
  return static_cast<const std::byte*>(batch.values) +
         position * RowBytes(DataTypeOf(batch.value_type), batch.dim);
}

void SetRows(const WriteBatch& batch, const uint32_t* free_rows) {
  const ConvertRowFn convert =
      GetConvertRow(DataTypeOf(batch.value_type), DataTypeOf(batch.table_type));
  ForEachTarget(batch, [&](uint32_t i, const WriteTarget& target) {
    convert(ValueAt(batch, i), RowUpdateOf(batch, i, target, free_rows).row,
            batch.dim);
  });
}

void AddRows(const WriteBatch& batch, const uint32_t* free_rows) {
  const AddRowFn add_value = GetAddRow(DataTypeOf(batch.value_type));
  const AddRowFn add_row = GetAddRow(DataTypeOf(batch.table_type));
  const ConvertRowFn convert =
      GetConvertRow(DataType::kFloat32, DataTypeOf(batch.table_type));
  // The old rows first, as the real ones do.
  std::unordered_map<int64_t, std::vector<float>> sums;
  ForEachTarget(batch, [&](uint32_t i, const WriteTarget& target) {
    std::vector<float>& sum = sums[batch.keys[i]];
    sum.resize(batch.dim);
    add_row(RowUpdateOf(batch, i, target, free_rows).old_row, sum.data(),
            batch.dim);
  });
  for (uint32_t i = 0; i < batch.num_keys; ++i) {
    const auto sum = sums.find(batch.keys[i]);
    if (sum == sums.end()) continue;
    add_value(ValueAt(batch, i), sum->second.data(), batch.dim);
  }
  ForEachTarget(batch, [&](uint32_t i, const WriteTarget& target) {
    const std::vector<float>& sum = sums.at(batch.keys[i]);
    const RowUpdate update = RowUpdateOf(batch, i, target, free_rows);
    convert(reinterpret_cast<const std::byte*>(sum.data()), update.row,
            batch.dim);
  });
}

// The place of a key's entry, which may have moved to make room for another.
uint32_t PlaceNow(const HostIndex& index, int64_t key,
                  const WriteTarget& target) {
  return index.Find(key, target.row == kNewRow ? kFilling : kValid).place;
}

}  // namespace

void Deduplicate(const WriteBatch& batch) {
  if (batch.num_keys == 0) return;
  std::fill_n(batch.workspace.dedup, NumDedupSlots(batch.num_keys), 0);
  for (uint32_t i = 0; i < batch.num_keys; ++i) {
    if (!IsOwned(batch, batch.keys[i])) continue;
    batch.workspace.dedup[SlotOf(batch, batch.keys[i])] = i + 1;
  }
}

void Select(const WriteBatch& batch, const Selection& selection) {
  uint32_t& count = *selection.count;
  count = 0;
  for (uint32_t i = 0; i < batch.num_keys; ++i) {
    const int64_t key = batch.keys[i];
    if (!IsOwned(batch, key)) continue;
    if (batch.workspace.dedup[SlotOf(batch, key)] != i + 1) continue;
    selection.positions[count] = i;
    selection.keys[count] = key;
    ++count;
  }
}

void FetchRows(const HostRows& values, const uint32_t* positions,
               uint32_t count, void* to) {
  for (uint32_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<std::byte*>(to) + uint64_t{i} * values.row_bytes,
                static_cast<const std::byte*>(values.rows) +
                    uint64_t{positions[i]} * values.row_bytes,
                values.row_bytes);
  }
}

void FindTargets(const WriteBatch& batch) {
  WriteCounters& counters = *batch.counters;
  counters = {};
  const bool hashed = batch.table.index != nullptr;
  const bool inserts = hashed && batch.mode != WriteMode::kSetExisting;
  HostIndex index(batch.table, batch.shard);
  std::vector<uint32_t> absent;
  for (uint32_t i = 0; i < batch.num_keys; ++i) {
    WriteTarget& target = batch.workspace.targets[i];
    target = {kNoPlace, 0, 0, 0};
    const int64_t key = batch.keys[i];
    if (!IsOwned(batch, key)) continue;
    if (batch.workspace.dedup[SlotOf(batch, key)] != i + 1) continue;
    HostIndex::Found found;
    if (hashed) {
      found = index.Find(key, kValid);
    } else if (FindDenseRow(batch.table, key).shard != kNoShard) {
      found = {0, 0};
    }
    if (found.place != HostIndex::kNowhere) {
      target = {found.place, found.row, counters.num_existing++, 0};
    } else if (inserts) {
      absent.push_back(i);
    } else {
      ++counters.num_skipped;
    }
  }
  counters.num_absent = static_cast<uint32_t>(absent.size());
  for (const uint32_t i : absent) {
    const uint32_t place = index.Insert(batch.keys[i], 0, kFilling);
    if (place == HostIndex::kNowhere) {
      ++counters.num_failed;
    } else {
      batch.workspace.targets[i] = {place, kNewRow, counters.num_inserted++, 0};
    }
  }
}

void Undo(const WriteBatch& batch) {
  HostIndex index(batch.table, batch.shard);
  ForEachTarget(batch, [&](uint32_t i, const WriteTarget& target) {
    if (target.row != kNewRow) return;
    index.Remove(PlaceNow(index, batch.keys[i], target));
  });
}

void WriteRows(const WriteBatch& batch, const uint32_t* free_rows) {
  const auto write = batch.mode == WriteMode::kAdd ? AddRows : SetRows;
  if (batch.table.index != nullptr) return write(batch, free_rows);
  const ScopedDenseRows rows(DenseRowsUse::kExclusive);
  write(batch, free_rows);
}

void Publish(const WriteBatch& batch, const uint32_t* free_rows,
             uint32_t* retired) {
  const TableRef& table = batch.table;
  if (table.index == nullptr) return;
  HostIndex index(table, batch.shard);
  ForEachTarget(batch, [&](uint32_t i, const WriteTarget& target) {
    const uint32_t slot = NewSlot(batch, target, free_rows);
    const bool is_new = target.row == kNewRow;
    if (table.stamps != nullptr) {
      const uint32_t old =
          is_new ? 0 : GetStamp(table, batch.shard, target.row);
      SetStamp(table, batch.shard, slot, StampOfUse(old, table.now));
      if (!is_new) SetStamp(table, batch.shard, target.row, 0);
    }
    index.SetRow(PlaceNow(index, batch.keys[i], target), slot);
    if (!is_new) retired[target.rank] = target.row;
  });
}

void Erase(const WriteBatch& batch, uint32_t* retired) {
  const TableRef& table = batch.table;
  if (table.index == nullptr) {
    const ScopedDenseRows rows(DenseRowsUse::kExclusive);
    ForEachTarget(batch, [&](uint32_t i, const WriteTarget&) {
      std::memcpy(FindDenseRow(table, batch.keys[i]).row, table.default_row,
                  table.row_stride);
    });
    return;
  }
  HostIndex index(table, batch.shard);
  ForEachTarget(batch, [&](uint32_t, const WriteTarget& target) {
    index.Remove(target.place);
    retired[target.rank] = target.row;
    if (table.stamps != nullptr) {
      SetStamp(table, batch.shard, target.row, 0);
    }
  });
}

}  // namespace gatherd::kernels::host
