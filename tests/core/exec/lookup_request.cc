#include "tests/core/exec/lookup_request.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <utility>

namespace gatherd {

void LookupRequest::Add(FakeTable& table,
                        std::unique_ptr<SegmentBuffers> buffers) {
  LookupSegment segment;
  segment.table = &table;
  segment.batch.keys = buffers->keys;
  if (!buffers->offsets.empty()) segment.batch.pooling = Pooling::kSum;
  segment.batch.offsets = buffers->offsets;
  segment.batch.weights = buffers->weights;
  buffers->rows.resize(segment.batch.num_output_rows() * table.spec().dim);
  buffers->missing.resize((buffers->keys.size() + 7) / 8);
  segment.output.rows = reinterpret_cast<std::byte*>(buffers->rows.data());
  segment.output.missing = buffers->missing.data();
  job.segments.push_back(segment);
  buffers_.push_back(std::move(buffers));
}

void LookupRequest::AddKeys(FakeTable& table, size_t num_keys, int64_t first) {
  auto buffers = std::make_unique<SegmentBuffers>();
  buffers->keys.resize(num_keys);
  std::iota(buffers->keys.begin(), buffers->keys.end(), first);
  Add(table, std::move(buffers));
}

void LookupRequest::AddBags(FakeTable& table,
                            const std::vector<size_t>& bag_keys) {
  auto buffers = std::make_unique<SegmentBuffers>();
  for (const size_t num_keys : bag_keys) {
    buffers->offsets.push_back(static_cast<uint32_t>(buffers->keys.size()));
    for (size_t i = 0; i < num_keys; ++i) {
      buffers->keys.push_back(static_cast<int64_t>(buffers->keys.size()));
    }
  }
  Add(table, std::move(buffers));
}

void LookupRequest::AddRandom(FakeTable& table, size_t max_keys,
                              std::mt19937_64& random) {
  auto buffers = std::make_unique<SegmentBuffers>();
  buffers->keys.resize(random() % (max_keys + 1));
  for (int64_t& key : buffers->keys) {
    key = static_cast<int64_t>(random() % 1000) - 500;
  }
  if (random() % 2 == 0) {
    const uint64_t max_bag_keys = 1 + random() % 40;
    for (size_t begin = 0;;) {
      buffers->offsets.push_back(static_cast<uint32_t>(begin));
      if (begin == buffers->keys.size() && random() % 4 == 0) break;
      begin = std::min<size_t>(buffers->keys.size(),
                               begin + random() % (max_bag_keys + 1));
    }
    if (random() % 2 == 0) {
      buffers->weights.assign(buffers->keys.size(), 1.0f);
      for (float& weight : buffers->weights) {
        weight = static_cast<float>(random() % 4);
      }
    }
  }
  Add(table, std::move(buffers));
}

void LookupRequest::CheckAnswer() const {
  for (size_t i = 0; i < job.segments.size(); ++i) {
    const LookupSegment& segment = job.segments[i];
    const SegmentBuffers& buffers = *buffers_[i];
    FakeTable reference(segment.table->spec().dim);
    std::vector<float> rows(buffers.rows.size());
    std::vector<uint8_t> missing(buffers.missing.size());
    const LookupResult expected = *reference.Lookup(
        segment.batch,
        {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
    CHECK(buffers.rows == rows);
    CHECK(buffers.missing == missing);
    CHECK(segment.result.num_missing == expected.num_missing);
    CHECK(segment.result.tier_hits == expected.tier_hits);
  }
}

}  // namespace gatherd
