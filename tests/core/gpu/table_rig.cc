#include "tests/core/gpu/table_rig.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "absl/types/span.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd {

TableSpec RigSpec(KeySpace key_space, uint64_t rows, uint32_t dim,
                  Eviction eviction) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = dim;
  spec.key_space = key_space;
  spec.tiers = {{.kind = TierKind::kGpu, .rows = rows}};
  spec.eviction = eviction;
  return spec;
}

TableRig::TableRig(FakeCuda& cuda, int num_devices, const TableSpec& spec)
    : TableRig(cuda, num_devices, spec, kernels::HostKernels()) {}

TableRig::TableRig(FakeCuda& cuda, int num_devices, const TableSpec& spec,
                   const kernels::KernelApi& kernels) {
  GpuNodeOptions options;
  for (int i = 0; i < num_devices; ++i) options.devices.push_back(DeviceId{i});
  options.reply_bytes = uint64_t{64} << 20;
  options.max_bag_keys = 1000;
  options.num_write_contexts = 1;
  REQUIRE(PlanTables({&spec, 1}, &options).ok());
  auto node = GpuNode::Create(cuda.api(), kernels, options);
  REQUIRE(node.ok());
  node_ = *std::move(node);
  auto table = GpuTable::Create(*node_, spec);
  REQUIRE(table.ok());
  table_ = *std::move(table);
}

absl::StatusOr<UpdateResult> TableRig::Write(const std::vector<int64_t>& keys,
                                             const std::vector<float>& values,
                                             UpdateMode mode) {
  const size_t dim = table_->spec().dim;
  std::vector<float> rows(keys.size() * dim);
  for (size_t i = 0; i < keys.size(); ++i) rows[i * dim] = values[i];
  UpdateBatch batch;
  batch.keys = keys;
  batch.values = reinterpret_cast<const std::byte*>(rows.data());
  batch.mode = mode;
  return Update(*table_, batch);
}

absl::StatusOr<UpdateResult> TableRig::WritePinned(
    const std::vector<int64_t>& keys, const std::vector<float>& values,
    UpdateMode mode) {
  const size_t dim = table_->spec().dim;
  const size_t rows_bytes = keys.size() * dim * sizeof(float);
  REQUIRE(rows_bytes + keys.size() * sizeof(int64_t) <=
          node_->reply_memory().size());
  auto* const rows = reinterpret_cast<float*>(node_->reply_memory().data());
  auto* const pinned_keys =
      reinterpret_cast<int64_t*>(rows + keys.size() * dim);
  std::fill_n(rows, keys.size() * dim, 0.0f);
  for (size_t i = 0; i < keys.size(); ++i) {
    rows[i * dim] = values[i];
    pinned_keys[i] = keys[i];
  }
  UpdateBatch batch;
  batch.keys = {pinned_keys, keys.size()};
  batch.values = reinterpret_cast<const std::byte*>(rows);
  batch.mode = mode;
  return Update(*table_, batch);
}

absl::StatusOr<UpdateResult> TableRig::SetToKeys(
    const std::vector<int64_t>& keys) {
  return Write(keys, ToFloats(keys));
}

std::vector<float> TableRig::Read(const std::vector<int64_t>& keys) {
  // Of the widest rows a few at a time: sanitizers take long for new pages.
  constexpr size_t kMaxFloats = size_t{2} << 20;
  const size_t dim = table_->spec().dim;
  const size_t max_keys = std::min(keys.size(), kMaxFloats / dim);
  std::vector<float> rows(max_keys * dim);
  std::vector<uint8_t> missing((max_keys + 7) / 8);
  const LookupOutput output = {reinterpret_cast<std::byte*>(rows.data()),
                               missing.data()};
  std::vector<float> first;
  while (first.size() < keys.size()) {
    LookupBatch batch;
    batch.keys = absl::MakeSpan(keys).subspan(first.size(), max_keys);
    std::fill(missing.begin(), missing.end(), 0);
    REQUIRE(table_->Lookup(batch, output).ok());
    for (size_t i = 0; i < batch.keys.size(); ++i) {
      const bool is_missing = (missing[i / 8] >> (i % 8) & 1) != 0;
      first.push_back(is_missing ? -1 : rows[i * dim]);
    }
  }
  return first;
}

size_t TableRig::NumPresent(const std::vector<int64_t>& keys) {
  const std::vector<float> values = Read(keys);
  return keys.size() -
         static_cast<size_t>(std::count(values.begin(), values.end(), -1.0f));
}

std::vector<int64_t> KeyRange(int64_t first, size_t count) {
  std::vector<int64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

std::vector<float> ToFloats(const std::vector<int64_t>& keys) {
  return {keys.begin(), keys.end()};
}

}  // namespace gatherd
