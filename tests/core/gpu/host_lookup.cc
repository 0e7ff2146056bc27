// Lookups. Nothing is allocated once a thread has seen its largest batch.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/kernels/stamp.h"
#include "core/rows/row_kernels.h"
#include "tests/core/gpu/host_launches.h"
#include "tests/core/gpu/host_table.h"

namespace gatherd::kernels::host {
namespace {

// One key of a batch that is answered here, or not (no row).
using FoundRows = std::vector<HostRow>;

void CountKey(const LookupBatch& batch, int segment, uint32_t key,
              const HostRow& found) {
  const LookupSegment& s = batch.segments[segment];
  LookupCounters* counters =
      batch.counters == nullptr ? nullptr : batch.counters + segment;
  if (found.shard == kNoShard) {
    s.missing[key / 32] |= 1U << (key % 32);
    if (counters != nullptr) ++counters->num_missing;
  } else if (counters != nullptr && s.table.shards.num_shards > 1) {
    ++(found.shard == batch.this_shard ? counters->num_local
                                       : counters->num_remote);
  }
}

void StampUse(const TableRef& table, const HostRow& found) {
  if (table.stamps == nullptr || found.shard == kNoShard) return;
  const uint32_t shard = static_cast<uint32_t>(found.shard);
  const uint32_t old = GetStamp(table, shard, found.slot);
  SetStamp(table, shard, found.slot, StampOfUse(old, table.now));
}

void FindRows(const LookupBatch& batch, FoundRows& rows) {
  rows.clear();
  for (int i = 0; i < batch.num_segments; ++i) {
    const LookupSegment& s = batch.segments[i];
    for (uint32_t k = 0; k < s.num_keys; ++k) {
      HostRow found;
      if (batch.only_shard == kAllShards ||
          OwnerOf(s.table, s.keys[k]) == batch.only_shard) {
        found = s.table.index == nullptr ? FindDenseRow(s.table, s.keys[k])
                                         : FindHashedRow(s.table, s.keys[k]);
        CountKey(batch, i, k, found);
        StampUse(s.table, found);
      }
      rows.push_back(found);
    }
  }
}

void WriteRows(const LookupSegment& s, const HostRow* rows) {
  const DataType to = DataTypeOf(s.output_type);
  const ConvertRowFn convert = GetConvertRow(DataTypeOf(s.table_type), to);
  const size_t row_bytes = RowBytes(to, s.dim);
  auto* output = static_cast<std::byte*>(s.output);
  for (uint32_t k = 0; k < s.num_keys; ++k) {
    if (rows[k].row == nullptr) continue;
    convert(rows[k].row, output + k * row_bytes, s.dim);
  }
}

void PoolBag(const LookupSegment& s, const HostRow* rows, uint32_t begin,
             uint32_t end, std::vector<float>& sum) {
  const DataType type = DataTypeOf(s.table_type);
  std::fill(sum.begin(), sum.end(), 0.0F);
  float total_weight = 0;
  for (uint32_t k = begin; k < end; ++k) {
    if (s.weights != nullptr) {
      GetAddWeightedRow(type)(rows[k].row, s.weights[k], sum.data(), s.dim);
      total_weight += s.weights[k];
    } else {
      GetAddRow(type)(rows[k].row, sum.data(), s.dim);
    }
  }
  if (s.pooling != PoolingMode::kMean) return;
  if (s.weights == nullptr) total_weight = static_cast<float>(end - begin);
  if (total_weight == 0) {
    std::fill(sum.begin(), sum.end(), 0.0F);
  } else {
    DivideRow(sum.data(), total_weight, s.dim);
  }
}

void PoolRows(const LookupSegment& s, const HostRow* rows) {
  thread_local std::vector<float> sum;
  sum.resize(s.dim);
  const DataType to = DataTypeOf(s.output_type);
  const ConvertRowFn convert = GetConvertRow(DataType::kFloat32, to);
  const size_t row_bytes = RowBytes(to, s.dim);
  auto* output = static_cast<std::byte*>(s.output);
  for (uint32_t b = 0; b < s.num_bags; ++b) {
    const uint32_t end = b + 1 < s.num_bags ? s.offsets[b + 1] : s.num_keys;
    PoolBag(s, rows, s.offsets[b], end, sum);
    convert(reinterpret_cast<const std::byte*>(sum.data()),
            output + b * row_bytes, s.dim);
  }
}

void WriteOutputs(const LookupBatch& batch, const FoundRows& found) {
  const ScopedDenseRows use(DenseRowsUse::kShared);
  const HostRow* rows = found.data();
  for (int i = 0; i < batch.num_segments; ++i) {
    const LookupSegment& s = batch.segments[i];
    if (s.pooling == PoolingMode::kNone) {
      WriteRows(s, rows);
    } else {
      PoolRows(s, rows);
    }
    rows += s.num_keys;
  }
}

// Moves what was counted to the host and leaves zeros.
void SendReport(const LookupBatch& batch) {
  bool any_missing = false;
  for (int i = 0; i < batch.num_segments; ++i) {
    any_missing = any_missing || batch.counters[i].num_missing != 0;
    batch.host_counters[i] = batch.counters[i];
    batch.counters[i] = {};
  }
  if (any_missing) {
    const size_t num_bytes = batch.num_missing_words * sizeof(uint32_t);
    std::memcpy(batch.host_missing, batch.missing_words, num_bytes);
    std::memset(batch.missing_words, 0, num_bytes);
  }
  __atomic_store_n(batch.done, batch.sequence, __ATOMIC_RELEASE);
}

}  // namespace

void Lookup(const LookupBatch& batch, const LookupHooks& hooks) {
  thread_local FoundRows rows;
  FindRows(batch, rows);
  if (hooks.before_rows != nullptr) hooks.before_rows(batch);
  WriteOutputs(batch, rows);
  if (hooks.before_report != nullptr) hooks.before_report(batch);
  if (batch.done != nullptr) SendReport(batch);
}

}  // namespace gatherd::kernels::host
