#include "core/exec/chunk_cursor.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/core/exec/fake_table.h"
#include "tests/core/exec/lookup_request.h"

namespace gatherd {
namespace {

std::vector<LookupChunk> AllChunks(const LookupJob& job, uint64_t chunk_work) {
  std::vector<LookupChunk> chunks;
  for (ChunkCursor cursor(job, chunk_work); !cursor.AtEnd();) {
    chunks.push_back(cursor.Next());
  }
  return chunks;
}

size_t FirstKey(const LookupBatch& batch, size_t row) {
  if (batch.pooling == Pooling::kNone) return row;
  return row == batch.offsets.size() ? batch.keys.size() : batch.offsets[row];
}

TEST_CASE("A cursor over no job is at its end") {
  CHECK(ChunkCursor().AtEnd());
  CHECK(ChunkCursor(LookupJob(), 8).AtEnd());
}

TEST_CASE("Small segments share a chunk") {
  FakeTable table;
  LookupRequest request;
  for (const size_t num_keys : {3, 0, 4, 1, 8, 8}) {
    request.AddKeys(table, num_keys);
  }
  const std::vector<LookupChunk> chunks = AllChunks(request.job, 8);
  REQUIRE(chunks.size() == 4);
  CHECK(chunks[0].last_segment == 3);  // 3 + 1 for the empty one + 4
  CHECK(chunks[1].last_segment == 4);
  CHECK(chunks[2].last_segment == 5);
  CHECK(chunks[3].last_segment == 6);
  for (const LookupChunk& chunk : chunks) CHECK_FALSE(chunk.is_part);
}

TEST_CASE("A large segment is divided evenly, at multiples of 8 keys") {
  FakeTable table;
  LookupRequest request;
  request.AddKeys(table, 9001);
  const std::vector<LookupChunk> chunks = AllChunks(request.job, 8192);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].is_part);
  CHECK(chunks[0].first_row == 0);
  CHECK(chunks[0].last_row == 4504);
  CHECK(chunks[1].first_row == 4504);
  CHECK(chunks[1].last_row == 9001);
}

TEST_CASE("Chunks of wide rows have fewer keys") {
  FakeTable narrow(128);
  FakeTable wide(129);
  LookupRequest request;
  request.AddKeys(narrow, 64);
  request.AddKeys(wide, 64);
  CHECK(LookupWork(request.job.segments[0]) == 64);
  CHECK(LookupWork(request.job.segments[1]) == 128);
  CHECK(AllChunks(request.job, 64).size() == 3);
}

TEST_CASE("Bags stay whole") {
  FakeTable table;
  LookupRequest request;
  request.AddBags(table, {5, 100, 1, 1, 1, 1, 1});
  const std::vector<LookupChunk> chunks = AllChunks(request.job, 10);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].last_row == 2);
  CHECK(chunks[1].last_row == 7);
}

TEST_CASE("A million empty bags are neither one chunk nor a million") {
  FakeTable table;
  for (const size_t num_keys : {0, 1, 100}) {
    LookupRequest request;
    std::vector<size_t> bags(1'000'000);
    for (size_t i = 0; i < num_keys; ++i) bags[i] = 1;
    request.AddBags(table, bags);
    const size_t num_chunks = AllChunks(request.job, 8192).size();
    CHECK(num_chunks >= 1'000'000 / 8192);
    CHECK(num_chunks <= 2 * (1'000'000 / 8192 + 1));
  }
}

TEST_CASE("Chunks cover every row once and stay near the limit") {
  std::mt19937_64 random(1);
  FakeTable table(200);  // two units of work a key
  for (int round = 0; round < 500; ++round) {
    LookupRequest request;
    const size_t num_segments = random() % 6;
    for (size_t i = 0; i < num_segments; ++i) {
      request.AddRandom(table, 300, random);
    }
    const uint64_t chunk_work = 1 + random() % 200;

    size_t segment = 0;
    size_t row = 0;
    for (const LookupChunk& chunk : AllChunks(request.job, chunk_work)) {
      REQUIRE(chunk.first_segment == segment);
      if (!chunk.is_part) {
        REQUIRE(row == 0);
        REQUIRE(chunk.last_segment > segment);
        uint64_t work = 0;
        for (; segment < chunk.last_segment; ++segment) {
          work += LookupWork(request.job.segments[segment]);
        }
        CHECK(work <= chunk_work);
        continue;
      }
      const LookupBatch& batch = request.job.segments[segment].batch;
      REQUIRE(chunk.first_row == row);
      REQUIRE(chunk.last_row > row);
      const size_t num_keys =
          FirstKey(batch, chunk.last_row) - FirstKey(batch, row);
      if (batch.pooling == Pooling::kNone) {
        CHECK(chunk.first_row % 8 == 0);
        CHECK(2 * num_keys < chunk_work + 2 * 8);
      } else {  // all but its last bag are below the limit
        const size_t all_but_last =
            FirstKey(batch, chunk.last_row - 1) - FirstKey(batch, row);
        CHECK(2 * all_but_last <= chunk_work);
      }
      row = chunk.last_row;
      if (row == batch.num_output_rows()) {
        ++segment;
        row = 0;
      }
    }
    CHECK(segment == num_segments);
    CHECK(row == 0);
  }
}

}  // namespace
}  // namespace gatherd
