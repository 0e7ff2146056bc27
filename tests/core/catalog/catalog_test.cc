#include "core/catalog/catalog.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/catalog/map_table.h"

namespace gatherd {
namespace {

CatalogTableSpec Spec(const std::string& name) {
  CatalogTableSpec spec;
  spec.table = MapTableSpec(1, 10);
  spec.table.name = name;
  return spec;
}

absl::StatusOr<std::unique_ptr<Table>> MakeMapTable(const TableSpec& spec) {
  return std::make_unique<MapTable>(spec);
}

// One part: keys `first`, `first` + 1, ... all get the row `value`.
struct Part {
  Part(MapTable* table, int64_t first, size_t num_keys, float value)
      : values(num_keys, value) {
    for (size_t i = 0; i < num_keys; ++i) {
      keys.push_back(first + static_cast<int64_t>(i));
    }
    batch.table = table;
    batch.batch.keys = keys;
    batch.batch.values = reinterpret_cast<const std::byte*>(values.data());
  }

  std::vector<int64_t> keys;
  std::vector<float> values;
  TableUpdateBatch batch;
};

TEST_CASE("A catalog finds its tables by name") {
  const CatalogTableSpec specs[] = {Spec("b"), Spec("a"), Spec("c")};
  auto catalog = Catalog::Create(specs);
  REQUIRE(catalog.ok());
  REQUIRE((*catalog)->entries().size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CatalogEntry* entry = (*catalog)->entries()[i].get();
    CHECK(entry->index() == i);
    CHECK(entry->spec().name == specs[i].table.name);
    CHECK((*catalog)->Find(specs[i].table.name) == entry);
  }
  CHECK((*catalog)->Find("") == nullptr);
  CHECK((*catalog)->Find("d") == nullptr);
  CHECK((*catalog)->Find("aa") == nullptr);
}

TEST_CASE("A catalog may be empty") {
  auto catalog = Catalog::Create({});
  REQUIRE(catalog.ok());
  CHECK((*catalog)->entries().empty());
  CHECK((*catalog)->Find("a") == nullptr);
}

TEST_CASE("A name stands once in a catalog") {
  const CatalogTableSpec specs[] = {Spec("a"), Spec("b"), Spec("a")};
  const auto catalog = Catalog::Create(specs);
  CHECK(absl::IsAlreadyExists(catalog.status()));
  CHECK_THAT(std::string(catalog.status().message()),
             Catch::Matchers::Contains("\"a\""));
}

TEST_CASE("A table is published once it is made") {
  const CatalogTableSpec spec = Spec("a");
  auto catalog = *Catalog::Create({&spec, 1});
  CatalogEntry& entry = *catalog->entries()[0];
  CHECK(entry.table() == nullptr);
  CHECK(absl::IsResourceExhausted(entry.MakeTable([](const TableSpec&) {
    return absl::ResourceExhaustedError("memory");
  })));
  CHECK(entry.table() == nullptr);
  REQUIRE(entry.MakeTable(MakeMapTable).ok());
  REQUIRE(entry.table() != nullptr);
  CHECK(entry.table()->spec().name == "a");
  CHECK_FALSE(entry.ready());
  entry.set_ready();
  CHECK(entry.ready());
}

TEST_CASE("Parts of one table take effect in order") {
  MapTable a(MapTableSpec(1, 10));
  MapTable b(MapTableSpec(1, 10));
  const Part parts[] = {
      {&a, 0, 2, 1.0f}, {&b, 5, 1, 2.0f}, {&a, 1, 3, 3.0f}, {&b, 5, 1, 4.0f}};
  std::vector<TableUpdateBatch> batches;
  for (const Part& part : parts) batches.push_back(part.batch);
  const auto results = UpdateTables(batches);
  REQUIRE(results.ok());
  REQUIRE(results->size() == 4);
  CHECK((*results)[0].num_inserted == 2);
  CHECK((*results)[1].num_inserted == 1);
  CHECK((*results)[2].num_inserted == 2);
  CHECK((*results)[2].num_updated == 1);
  CHECK((*results)[2].revision == 2);
  CHECK((*results)[3].num_updated == 1);
  CHECK(a.Row<float>(0)[0] == 1);
  CHECK(a.Row<float>(1)[0] == 3);
  CHECK(b.Row<float>(5)[0] == 4);
}

TEST_CASE("No part takes effect if one does not fit") {
  MapTable a(MapTableSpec(1, 10));
  MapTable b(MapTableSpec(1, 10));
  // Whichever comes first in memory, the full one is once the other.
  for (const auto& [fits, full] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Part parts[] = {{fits, 0, 2, 1.0f},
                          {full, 0, 6, 2.0f},
                          {full, 6, 5, 2.0f}};  // fits without the part before
    std::vector<TableUpdateBatch> batches;
    for (const Part& part : parts) batches.push_back(part.batch);
    CHECK(absl::IsResourceExhausted(UpdateTables(batches).status()));
    CHECK(a.rows().empty());
    CHECK(b.rows().empty());
  }
}

TEST_CASE("An update of nothing is answered") {
  const auto results = UpdateTables({});
  REQUIRE(results.ok());
  CHECK(results->empty());
}

TEST_CASE("Updates of the same tables in any order do not wait for ever") {
  MapTable a(MapTableSpec(1, 10));
  MapTable b(MapTableSpec(1, 10));
  constexpr int kRounds = 2000;
  const auto update = [](MapTable* first, MapTable* second, float value) {
    for (int round = 0; round < kRounds; ++round) {
      const Part parts[] = {{first, 0, 1, value}, {second, 0, 1, value}};
      const TableUpdateBatch batches[] = {parts[0].batch, parts[1].batch};
      if (!UpdateTables(batches).ok()) return;
      std::this_thread::yield();
    }
  };
  std::thread forward(update, &a, &b, 1.0f);
  std::thread backward(update, &b, &a, 2.0f);
  forward.join();
  backward.join();
  CHECK(a.num_updates() == 2 * kRounds);
  CHECK(b.num_updates() == 2 * kRounds);
}

}  // namespace
}  // namespace gatherd
