#include "core/exec/chunk_runner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/core/exec/fake_table.h"
#include "tests/core/exec/lookup_request.h"

namespace gatherd {
namespace {

// Runs all chunks in random order and merges their results.
absl::Status RunShuffled(LookupJob& job, uint64_t chunk_work,
                         std::mt19937_64& random) {
  std::vector<LookupChunk> chunks;
  for (ChunkCursor cursor(job, chunk_work); !cursor.AtEnd();) {
    chunks.push_back(cursor.Next());
  }
  std::shuffle(chunks.begin(), chunks.end(), random);
  for (LookupSegment& segment : job.segments) {
    segment.result = EmptyLookupResult();
  }
  ChunkRunner runner;
  for (const LookupChunk& chunk : chunks) {
    LookupResult part;
    absl::Status status = runner.Run(job, chunk, &part);
    if (!status.ok()) return status;
    if (chunk.is_part) {
      MergeLookupResult(part, &job.segments[chunk.first_segment].result);
    }
  }
  return absl::OkStatus();
}

TEST_CASE("Bags whose missing bits share a byte are answered apart") {
  FakeTable table;
  LookupRequest request;
  request.AddBags(table, {3, 3, 3, 3, 3, 3, 3, 3});
  std::mt19937_64 random(2);
  REQUIRE(RunShuffled(request.job, 3, random).ok());
  CHECK(table.num_lookups() == 8);
  request.CheckAnswer();
}

TEST_CASE("Chunks in any order give the answer of one lookup") {
  std::mt19937_64 random(3);
  FakeTable table(3);
  for (int round = 0; round < 500; ++round) {
    LookupRequest request;
    const size_t num_segments = random() % 5;
    for (size_t i = 0; i < num_segments; ++i) {
      request.AddRandom(table, 300, random);
    }
    REQUIRE(RunShuffled(request.job, 1 + random() % 100, random).ok());
    request.CheckAnswer();
  }
}

TEST_CASE("The revision is that of the part that read first") {
  FakeTable table;
  LookupRequest request;
  request.AddKeys(table, 64);
  std::mt19937_64 random(4);
  REQUIRE(RunShuffled(request.job, 8, random).ok());
  CHECK(table.num_lookups() == 8);
  CHECK(request.job.segments[0].result.revision == 1);
}

TEST_CASE("The error of a table is the error of the chunk") {
  FakeTable table;
  table.on_lookup = [](const LookupBatch& batch) {
    return batch.keys[0] == 16 ? absl::UnavailableError("store is down")
                               : absl::OkStatus();
  };
  std::mt19937_64 random(5);
  LookupRequest part;
  part.AddKeys(table, 64);
  CHECK(absl::IsUnavailable(RunShuffled(part.job, 8, random)));
  LookupRequest whole;
  whole.AddKeys(table, 4, /*first=*/16);
  CHECK(absl::IsUnavailable(RunShuffled(whole.job, 8, random)));
}

}  // namespace
}  // namespace gatherd
