// What lookups leave behind in tables that evict.
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/lookup_questions.h"
#include "tests/gpu/lookup_rig.h"

namespace gatherd::kernels {
namespace {

// A table and the stamps of its row slots.
class StampedTable {
 public:
  StampedTable(Kind kind, uint32_t dim)
      : table_(MakeTable(kind, ElementType::kFloat32, dim, 1000)),
        num_slots_(table_->options().num_rows),
        stamps_(num_slots_ * table_->options().num_shards) {
    table_->ref().stamps = stamps_.data();
    table_->ref().stamps_shard_bytes = num_slots_ * sizeof(uint32_t);
    stamps_.Fill(0);
  }

  TestTable& table() { return *table_; }
  void FillStamps(int byte) { stamps_.Fill(byte); }

  // Requires of every slot that `check` likes its stamp and how often `asked`
  // has its key.
  template <class Check>
  void RequireStamps(const std::vector<int64_t>& asked, const Check& check) {
    std::map<std::pair<uint32_t, uint32_t>, int> uses;
    for (const int64_t key : asked) {
      const TestTable::Place* const place = table_->Find(key);
      if (place != nullptr) uses[{place->shard, place->slot}]++;
    }
    const std::vector<uint32_t> stamps = stamps_.Read();
    size_t num_wrong = 0;
    for (uint64_t i = 0; i < stamps.size(); i++) {
      const auto found = uses.find({static_cast<uint32_t>(i / num_slots_),
                                    static_cast<uint32_t>(i % num_slots_)});
      if (!check(stamps[i], found == uses.end() ? 0 : found->second)) {
        num_wrong++;
      }
    }
    REQUIRE(num_wrong == 0);
  }

 private:
  std::unique_ptr<TestTable> table_;
  uint64_t num_slots_;
  DeviceArray<uint32_t> stamps_;
};

TEST_CASE("lookups stamp the rows they find") {
  LookupRig rig;
  StampedTable stamped(GENERATE(Kind::kHashed, Kind::kShardedHashed),
                       GENERATE(8, 13, 600));
  TestTable& table = stamped.table();
  const auto output = GENERATE(ElementType::kFloat32, ElementType::kInt8);
  const Question rows = RowsOf(table, output, 300, 1);
  const Question bags = BagsOf(table, output, 200, PoolingMode::kSum, false, 2);
  std::vector<int64_t> asked = rows.keys;
  asked.insert(asked.end(), bags.keys.begin() + bags.offsets[0],
               bags.keys.end());

  table.ref().now = 77;
  rig.Check({rows, bags});
  stamped.RequireStamps(asked, [](uint32_t stamp, int uses) {
    return stamp == (uses != 0 ? 77u : 0u);
  });

  BatchOptions split;
  split.split = true;
  table.ref().now = 78;
  rig.Check({rows}, split);
  stamped.RequireStamps(rows.keys, [](uint32_t stamp, int uses) {
    return uses != 0 ? stamp == 78 : stamp == 77 || stamp == 0;
  });
}

TEST_CASE("lookups count the uses of the rows they find") {
  LookupRig rig;
  StampedTable stamped(GENERATE(Kind::kHashed, Kind::kShardedHashed), 20);
  TestTable& table = stamped.table();
  table.ref().now = 0;
  Question distinct = RowsOf(table, ElementType::kFloat32, 0, 1);
  distinct.keys = table.PresentKeys();
  distinct.keys.resize(distinct.keys.size() / 2);
  for (int round = 0; round < 3; round++) rig.Check({distinct});
  stamped.RequireStamps(distinct.keys, [](uint32_t stamp, int uses) {
    return stamp == (uses != 0 ? 3u : 0u);
  });
  Question bags = distinct;
  bags.pooling = PoolingMode::kMean;
  for (uint32_t at = 0; at < bags.keys.size(); at += 9) {
    bags.offsets.push_back(at);
  }
  rig.Check({bags});
  stamped.RequireStamps(distinct.keys, [](uint32_t stamp, int uses) {
    return stamp == (uses != 0 ? 4u : 0u);
  });
  // Of repeated keys some uses may be lost.
  const Question repeated = RowsOf(table, ElementType::kFloat16, 3000, 3);
  stamped.FillStamps(0);
  rig.Check({repeated});
  stamped.RequireStamps(repeated.keys, [](uint32_t stamp, int uses) {
    return uses == 0 ? stamp == 0
                     : stamp >= 1 && stamp <= static_cast<uint32_t>(uses);
  });
  stamped.FillStamps(0xff);
  rig.Check({repeated});
  stamped.RequireStamps(repeated.keys,
                        [](uint32_t stamp, int) { return stamp == ~0u; });
}

}  // namespace
}  // namespace gatherd::kernels
