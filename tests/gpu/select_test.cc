// Lists of a write's keys by owner, and rows that are fetched from the host.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "core/kernels/key_place.h"
#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {
namespace {

// Host memory that devices read.
class Pinned {
 public:
  explicit Pinned(uint64_t num_bytes) {
    Check(Platform().cuda.cudaHostAlloc(
              &data_, num_bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "pinning");
  }
  ~Pinned() { Platform().cuda.cudaFreeHost(data_); }
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

uint32_t OwnerOf(const TableRef& table, int64_t key) {
  if (table.index != nullptr) return PlaceOf(key, table).shard;
  const auto row = static_cast<uint64_t>(key);
  if (row >= table.num_rows) return 0;
  return static_cast<uint32_t>((row >> kStripeShift) % table.shards.num_shards);
}

TEST_CASE("each shard lists the last positions of its keys in order") {
  const bool hashed = GENERATE(true, false);
  const uint32_t num_shards = GENERATE(1u, 2u, 5u);
  const uint32_t num_keys = GENERATE(0u, 1u, 300u, 100000u);
  CAPTURE(hashed, num_shards, num_keys);
  std::mt19937_64 random(num_keys + num_shards);
  std::vector<int64_t> keys(num_keys);
  for (int64_t& key : keys) {
    // Many of them twice or more, some out of the range of a dense table.
    key = static_cast<int64_t>(random() % 60000) - 5000;
  }
  const DeviceArray<int64_t> device_keys(keys);
  const DeviceArray<IndexEntry> index(kEntriesPerBucket);
  DeviceArray<char> workspace(Platform().kernels.WriteWorkspaceBytes(
      num_keys + 1, 1, WorkspaceFor::kSet));
  WriteBatch batch;
  batch.table.index = hashed ? index.data() : nullptr;
  batch.table.num_buckets = hashed ? 1 : 0;
  batch.table.num_rows = hashed ? 0 : 50000;
  batch.table.seed = 99;
  batch.table.shards = MakeShardDivider(num_shards);
  batch.keys = device_keys.data();
  batch.num_keys = num_keys;
  batch.workspace = Platform().kernels.DivideWorkspace(
      workspace.data(), num_keys + 1, 1, WorkspaceFor::kSet);
  const DeviceArray<uint32_t> positions(num_keys);
  const DeviceArray<int64_t> selected(num_keys);
  DeviceArray<uint32_t> count(1);
  count.Fill(0x55);
  const Selection selection = {positions.data(), selected.data(), count.data()};
  const Stream stream;
  for (uint32_t shard = 0; shard < num_shards; shard++) {
    std::map<int64_t, uint32_t> last;
    for (uint32_t i = 0; i < num_keys; i++) {
      if (OwnerOf(batch.table, keys[i]) == shard) last[keys[i]] = i;
    }
    std::map<uint32_t, int64_t> expected;  // by position
    for (const auto& [key, position] : last) expected[position] = key;
    batch.shard = shard;
    REQUIRE(Platform().kernels.DeduplicateAsync(batch, stream.get()) ==
            cudaSuccess);
    REQUIRE(Platform().kernels.SelectAsync(batch, selection, stream.get()) ==
            cudaSuccess);
    stream.Synchronize("selecting");
    const std::vector<uint32_t> listed = positions.Read();
    const std::vector<int64_t> listed_keys = selected.Read();
    REQUIRE(count.Read()[0] == expected.size());
    size_t num_wrong = 0;
    size_t i = 0;
    for (const auto& [position, key] : expected) {
      if (listed[i] != position || listed_keys[i] != key) num_wrong++;
      i++;
    }
    CHECK(num_wrong == 0);
  }
}

TEST_CASE("rows are fetched from the host by their positions") {
  const uint32_t row_bytes = GENERATE(1u, 6u, 20u, 256u, 1040u, 32772u);
  const uint32_t shift = GENERATE(0u, 2u, 4u);  // of the first row
  const uint32_t count = GENERATE(0u, 1u, 77u, 500u);
  if (row_bytes % 2 != 0 && shift != 0) return;
  CAPTURE(row_bytes, shift, count);
  const uint32_t num_rows = 2 * count + 1;
  const Pinned rows(uint64_t{num_rows} * row_bytes + shift);
  std::mt19937 random(row_bytes);
  for (uint64_t i = 0; i < uint64_t{num_rows} * row_bytes; i++) {
    rows.data()[shift + i] = static_cast<char>(random());
  }
  std::vector<uint32_t> positions(count);
  for (uint32_t& position : positions) {
    position = static_cast<uint32_t>(random() % num_rows);
  }
  const DeviceArray<uint32_t> device_positions(positions);
  DeviceArray<char> fetched(uint64_t{count} * row_bytes + 16);
  fetched.Fill(0x33);
  const Stream stream;
  REQUIRE(Platform().kernels.FetchRowsAsync(
              {rows.data() + shift, row_bytes}, device_positions.data(), count,
              fetched.data(), stream.get()) == cudaSuccess);
  stream.Synchronize("selecting");
  std::vector<char> expected;
  for (const uint32_t position : positions) {
    const char* const row =
        rows.data() + shift + uint64_t{position} * row_bytes;
    expected.insert(expected.end(), row, row + row_bytes);
  }
  expected.insert(expected.end(), 16, 0x33);
  CHECK((fetched.Read() == expected));
}

}  // namespace
}  // namespace gatherd::kernels
