#include "tests/gpu/write_rig.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gatherd::kernels {
namespace {

uint32_t Stride(const RigOptions& o) {
  return (RowBytes(o.type, o.dim) + 15) / 16 * 16;
}

uint16_t BFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>(bits >> 16);  // exact for what tests store
}

float FromBFloat16(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// Normal numbers only.
uint16_t Float16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value == 0) return 0;
  const uint32_t sign = bits >> 31 << 15;
  const uint32_t exponent = ((bits >> 23) & 255) - 127 + 15;
  return static_cast<uint16_t>(sign | exponent << 10 | (bits >> 13 & 1023));
}

float FromFloat16(uint16_t half) {
  if ((half & 0x7fff) == 0) return 0;
  const uint32_t bits = static_cast<uint32_t>(half >> 15) << 31 |
                        ((half >> 10 & 31u) - 15 + 127) << 23 |
                        (half & 1023u) << 13;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace

uint32_t RowBytes(ElementType type, uint32_t dim) {
  if (type == ElementType::kFloat32) return dim * 4;
  return type == ElementType::kInt8 ? dim + 4 : dim * 2;
}

std::vector<char> MakeRow(ElementType type, uint32_t dim, float base) {
  std::vector<char> row(RowBytes(type, dim));
  for (uint32_t i = 0; i < dim; i++) {
    const uint16_t half =
        type == ElementType::kFloat16 ? Float16(base) : BFloat16(base);
    if (type == ElementType::kFloat32) {
      std::memcpy(&row[i * 4], &base, 4);
    } else if (type == ElementType::kInt8) {
      row[i] = 127;
    } else {
      std::memcpy(&row[i * 2], &half, 2);
    }
  }
  const float scale = base / 127;
  if (type == ElementType::kInt8) std::memcpy(&row[dim], &scale, 4);
  return row;
}

std::vector<float> ReadRow(ElementType type, uint32_t dim, const char* row) {
  std::vector<float> values(dim);
  float scale = 0;
  if (type == ElementType::kInt8) std::memcpy(&scale, row + dim, 4);
  for (uint32_t i = 0; i < dim; i++) {
    uint16_t half;
    switch (type) {
      case ElementType::kFloat32:
        std::memcpy(&values[i], row + 4 * i, 4);
        break;
      case ElementType::kInt8:
        values[i] = static_cast<signed char>(row[i]) * scale;
        break;
      default:
        std::memcpy(&half, row + 2 * i, 2);
        values[i] = type == ElementType::kFloat16 ? FromFloat16(half)
                                                  : FromBFloat16(half);
    }
  }
  return values;
}

WriteRig::WriteRig(const RigOptions& options)
    : options_(options),
      rows_(options.num_rows * options.num_shards * Stride(options)),
      index_(uint64_t{options.num_buckets} * kEntriesPerBucket *
             options.num_shards),
      stamps_(options.has_stamps ? options.num_rows * options.num_shards : 0),
      default_row_(Stride(options)),
      workspace_(Platform().kernels.WriteWorkspaceBytes(
          options.max_keys, options.dim, WorkspaceFor::kAdd)),
      keys_(options.max_keys),
      values_(uint64_t{options.max_keys} * (options.dim * 4 + 4)),
      counters_(1),
      taken_(options.max_keys),
      retired_(options.max_keys),
      settle_places_(options.max_keys),
      settle_count_(1) {
  rows_.Fill(0x7b);
  stamps_.Fill(0);
  index_.Fill(0);
  std::vector<char> row =
      MakeRow(options.type, options.dim, options.default_value);
  row.resize(Stride(options));
  Copy(default_row_.data(), row.data(), row.size());
  table_.rows = rows_.data();
  table_.default_row = default_row_.data();
  table_.row_stride = Stride(options);
  table_.seed = 0x1234567;
  table_.shards = MakeShardDivider(options.num_shards);
  table_.rows_shard_bytes = options.num_rows * Stride(options);
  table_.index_shard_bytes =
      uint64_t{options.num_buckets} * kEntriesPerBucket * sizeof(IndexEntry);
  free_rows_.resize(options.num_shards);
  if (options.hashed) {
    table_.index = index_.data();
    table_.num_buckets = options.num_buckets;
    if (options.has_stamps) table_.stamps = stamps_.data();
    table_.stamps_shard_bytes = options.num_rows * sizeof(uint32_t);
    for (std::vector<uint32_t>& rows : free_rows_) {
      for (uint64_t i = options.num_rows; i > 0; i--) {
        rows.push_back(static_cast<uint32_t>(i - 1));
      }
    }
  } else {
    table_.num_rows = options.num_rows;
    Check(Platform().kernels.FillRowsAsync(
              rows_.data(), options.num_rows * options.num_shards,
              default_row_.data(), Stride(options), stream_.get()),
          "default rows");
    Synchronize();
  }
}

void WriteRig::Synchronize() { stream_.Synchronize("a write"); }

WriteBatch WriteRig::MakeBatch(const std::vector<int64_t>& keys, WriteMode mode,
                               uint32_t shard) {
  WriteBatch b;
  b.shard = shard;
  b.table = table_;
  b.keys = keys_.data();
  b.values = values_.data();
  b.num_keys = static_cast<uint32_t>(keys.size());
  b.dim = options_.dim;
  b.table_type = options_.type;
  b.mode = mode;
  b.workspace = Platform().kernels.DivideWorkspace(
      workspace_.data(), options_.max_keys, options_.dim, WorkspaceFor::kAdd);
  b.counters = counters_.data();
  Copy(keys_.data(), keys.data(), keys.size() * 8);
  Check(Platform().kernels.DeduplicateAsync(b, stream_.get()), "dedup");
  Check(Platform().kernels.FindTargetsAsync(b, stream_.get()), "find");
  return b;
}

WriteCounters WriteRig::ReadCounters() {
  Synchronize();
  return counters_.Read()[0];
}

std::vector<uint32_t> WriteRig::Retire(uint32_t count, uint32_t shard) {
  Synchronize();
  std::vector<uint32_t> rows(count);
  Copy(rows.data(), retired_.data(), count * sizeof(uint32_t));
  wait_for_lookups();
  std::vector<uint32_t>& free_rows = free_rows_[shard];
  free_rows.insert(free_rows.begin(), rows.begin(), rows.end());
  return rows;
}

WriteCounters WriteRig::Update(const std::vector<int64_t>& keys,
                               const std::vector<char>& values,
                               ElementType value_type, WriteMode mode,
                               bool refuse) {
  Copy(values_.data(), values.data(), values.size());
  WriteCounters sum = {};
  for (uint32_t shard = 0; shard < options_.num_shards; shard++) {
    WriteBatch b = MakeBatch(keys, mode, shard);
    b.value_type = value_type;
    const WriteCounters counters = ReadCounters();
    sum.num_existing += counters.num_existing;
    sum.num_inserted += counters.num_inserted;
    sum.num_skipped += counters.num_skipped;
    sum.num_failed += counters.num_failed;
    if (refuse || counters.num_failed != 0) {
      Check(Platform().kernels.UndoAsync(b, stream_.get()), "undo");
      Synchronize();
    } else {
      WriteShard(b, counters);
    }
  }
  return sum;
}

void WriteRig::WriteShard(const WriteBatch& b, const WriteCounters& counters) {
  const uint32_t num_rows = counters.num_existing + counters.num_inserted;
  if (options_.hashed) {
    std::vector<uint32_t>& free_rows = free_rows_[b.shard];
    if (free_rows.size() < num_rows) {
      std::fprintf(stderr, "out of row slots\n");
      std::exit(1);
    }
    const std::vector<uint32_t> taken(free_rows.end() - num_rows,
                                      free_rows.end());
    free_rows.resize(free_rows.size() - num_rows);
    Copy(taken_.data(), taken.data(), num_rows * sizeof(uint32_t));
  }
  Check(Platform().kernels.WriteRowsAsync(b, taken_.data(), stream_.get()),
        "write");
  Check(Platform().kernels.PublishAsync(b, taken_.data(), retired_.data(),
                                        stream_.get()),
        "publish");
  Synchronize();
  if (options_.hashed) Retire(counters.num_existing, b.shard);
}

uint32_t WriteRig::Erase(const std::vector<int64_t>& keys) {
  uint32_t num_erased = 0;
  for (uint32_t shard = 0; shard < options_.num_shards; shard++) {
    const WriteBatch b = MakeBatch(keys, WriteMode::kSetExisting, shard);
    const WriteCounters counters = ReadCounters();
    Check(Platform().kernels.EraseAsync(b, retired_.data(), stream_.get()),
          "erase");
    Synchronize();
    if (options_.hashed) Retire(counters.num_existing, shard);
    num_erased += counters.num_existing;
  }
  return num_erased;
}

std::vector<uint32_t> WriteRig::Evict(uint32_t shard,
                                      const std::vector<int64_t>& keys,
                                      EvictionRequest request) {
  const WriteBatch b = MakeBatch(keys, WriteMode::kSetExisting, shard);
  DeviceArray<uint32_t> num_evicted(1);
  request.retired = retired_.data();
  request.num_evicted = num_evicted.data();
  Check(Platform().kernels.EvictAsync(b, request, stream_.get()), "evict");
  Synchronize();
  return Retire(num_evicted.Read()[0], shard);
}

std::vector<uint32_t> WriteRig::ReadStamps(uint32_t shard) const {
  std::vector<uint32_t> stamps(options_.num_rows);
  Copy(stamps.data(), stamps_.data() + shard * options_.num_rows,
       stamps.size() * sizeof(uint32_t));
  return stamps;
}

void WriteRig::WriteStamps(uint32_t shard,
                           const std::vector<uint32_t>& stamps) {
  Copy(stamps_.data() + shard * options_.num_rows, stamps.data(),
       stamps.size() * sizeof(uint32_t));
}

std::vector<IndexEntry> WriteRig::ReadEntries(uint32_t shard) const {
  const uint64_t num_entries =
      uint64_t{options_.num_buckets} * kEntriesPerBucket;
  std::vector<IndexEntry> entries(num_entries);
  Copy(entries.data(), index_.data() + shard * num_entries,
       num_entries * sizeof(IndexEntry));
  return entries;
}

std::map<int64_t, uint32_t> WriteRig::ReadIndex(uint32_t shard) const {
  std::map<int64_t, uint32_t> rows;
  for (const IndexEntry& entry : ReadEntries(shard)) {
    if ((entry.meta & kStateMask) == kValid) rows[entry.key] = entry.row;
  }
  return rows;
}

uint64_t WriteRig::num_free() const {
  uint64_t sum = 0;
  for (const std::vector<uint32_t>& rows : free_rows_) sum += rows.size();
  return sum;
}

uint32_t WriteRig::Settle() {
  SettleList list;
  list.places = settle_places_.data();
  list.count = settle_count_.data();
  list.capacity = options_.max_keys;
  uint32_t sum = 0;
  for (uint32_t shard = 0; shard < options_.num_shards; shard++) {
    Check(
        Platform().kernels.CopyToFirstAsync(table_, shard, list, stream_.get()),
        "settle");
    Synchronize();
    wait_for_lookups();
    Check(Platform().kernels.RemoveSecondsAsync(table_, shard, list,
                                                stream_.get()),
          "settle");
    Synchronize();
    sum += settle_count_.Read()[0];
  }
  return sum;
}

std::vector<char> WriteRig::Lookup(const std::vector<int64_t>& keys,
                                   ElementType type,
                                   std::vector<bool>* missing) {
  const uint32_t num_words = static_cast<uint32_t>(keys.size() + 31) / 32;
  const DeviceArray<int64_t> device_keys(keys);
  DeviceArray<char> output(keys.size() * RowBytes(type, options_.dim));
  DeviceArray<uint32_t> bits(num_words);
  output.Fill(0x55);
  bits.Fill(0);
  LookupSegment s;
  s.table = table_;
  s.keys = device_keys.data();
  s.output = output.data();
  s.missing = bits.data();
  s.num_keys = static_cast<uint32_t>(keys.size());
  s.dim = options_.dim;
  s.table_type = options_.type;
  s.output_type = type;
  LookupBatch batch;
  batch.segments = &s;
  batch.num_segments = 1;
  Check(Platform().kernels.LaunchLookup(batch, stream_.get()), "lookup");
  Synchronize();
  const std::vector<uint32_t> words = bits.Read();
  missing->assign(keys.size(), false);
  for (size_t i = 0; i < keys.size(); i++) {
    (*missing)[i] = ((words[i / 32] >> (i % 32)) & 1) != 0;
  }
  return output.Read();
}

WriteRig::IndexUse WriteRig::CountIndex() const {
  IndexUse use;
  const std::vector<IndexEntry> entries = index_.Read();
  for (size_t i = 0; i < entries.size(); i++) {
    const uint32_t state = entries[i].meta & kStateMask;
    if (state == kValid) use.num_valid++;
    if (state == kFilling) use.num_filling++;
    if ((entries[i].meta & kProtected) != 0) use.num_protected++;
    use.overflows += entries[i].meta >> kOverflowShift;
  }
  return use;
}

}  // namespace gatherd::kernels
