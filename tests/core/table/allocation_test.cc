// Lookups take no memory: every allocation of this program is counted.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <vector>

#include "core/table/cpu_table.h"

namespace {

thread_local uint64_t num_allocations = 0;

void* Allocate(size_t size) {
  ++num_allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace gatherd {
namespace {

TEST_CASE("a lookup allocates nothing") {
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    for (const bool evicts : {false, true}) {
      if (evicts && key_space == KeySpace::kDense) continue;
      TableSpec spec;
      spec.name = "words";
      spec.dim = 16;
      spec.data_type = DataType::kInt8;
      spec.key_space = key_space;
      spec.eviction = evicts ? Eviction::kLru : Eviction::kNone;
      spec.tiers = {{.kind = TierKind::kHost, .rows = 1000}};
      auto table = CreateCpuTable(spec);
      REQUIRE(table.ok());
      std::vector<int64_t> keys;
      for (int64_t i = 0; i < 1000; ++i) keys.push_back(i);
      const std::vector<float> values(16 * keys.size(), 1);
      UpdateBatch update;
      update.keys = absl::MakeConstSpan(keys).first(500);
      update.values = reinterpret_cast<const std::byte*>(values.data());
      REQUIRE(Update(**table, update).ok());

      std::vector<std::byte> rows(1000 * 64);
      std::vector<uint8_t> missing(1000 / 8);
      const std::vector<uint32_t> offsets = {0, 10, 500};
      LookupBatch batch;
      batch.keys = keys;
      LookupBatch pooled = batch;
      pooled.offsets = offsets;
      pooled.pooling = Pooling::kMean;
      const uint64_t before = num_allocations;
      const bool ok =
          (*table)->Lookup(batch, {rows.data(), missing.data()}).ok() &&
          (*table)->Lookup(pooled, {rows.data(), missing.data()}).ok();
      CHECK(num_allocations == before);
      CHECK(ok);
    }
  }
}

}  // namespace
}  // namespace gatherd
