#include "client/row_runs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace gatherd::client {
namespace {

using Piece = absl::Span<const std::byte>;

// `bytes` cut behind each of `ends`, and at the end.
std::vector<Piece> Cut(const std::vector<std::byte>& bytes,
                       const std::vector<size_t>& ends) {
  std::vector<Piece> pieces;
  size_t begin = 0;
  for (const size_t end : ends) {
    pieces.push_back(absl::MakeConstSpan(bytes).subspan(begin, end - begin));
    begin = end;
  }
  pieces.push_back(absl::MakeConstSpan(bytes).subspan(begin));
  return pieces;
}

std::vector<std::byte> Numbered(size_t num_bytes) {
  std::vector<std::byte> bytes(num_bytes);
  for (size_t i = 0; i < num_bytes; ++i) bytes[i] = std::byte(i * 7 + i / 251);
  return bytes;
}

// The rows in order, without a gap, and their bytes.
void CheckRows(const RowRuns& runs, const std::vector<std::byte>& expected,
               size_t row_bytes) {
  std::vector<std::byte> found;
  for (const RowRun& run : runs.runs()) {
    CHECK(run.first_row * row_bytes == found.size());
    CHECK(run.bytes.size() % row_bytes == 0);
    CHECK_FALSE(run.bytes.empty());
    found.insert(found.end(), run.bytes.begin(), run.bytes.end());
  }
  CHECK(found == expected);
}

}  // namespace

TEST_CASE("Rows that no cut goes through are not copied") {
  const std::vector<std::byte> bytes = Numbered(40);
  const RowRuns runs(Cut(bytes, {8, 24}), 4);
  REQUIRE(runs.runs().size() == 3);
  for (const RowRun& run : runs.runs()) {
    CHECK(run.bytes.data() == bytes.data() + run.first_row * 4);
  }
  CheckRows(runs, bytes, 4);
}

TEST_CASE("A row that is cut is copied, and only that") {
  const std::vector<std::byte> bytes = Numbered(40);
  const RowRuns runs(Cut(bytes, {10}), 4);
  REQUIRE(runs.runs().size() == 3);
  CHECK(runs.runs()[0].bytes.data() == bytes.data());
  CHECK(runs.runs()[0].bytes.size() == 8);
  CHECK(runs.runs()[1].bytes.size() == 4);
  CHECK(runs.runs()[2].bytes.data() == bytes.data() + 12);
  CheckRows(runs, bytes, 4);
}

TEST_CASE("A row may lie in many pieces, some of them empty") {
  const std::vector<std::byte> bytes = Numbered(24);
  CheckRows(RowRuns(Cut(bytes, {1, 1, 2, 3, 9, 9, 15, 16, 23}), 8), bytes, 8);
  CheckRows(RowRuns(Cut(bytes, {0, 3, 11, 24}), 24), bytes, 24);
}

TEST_CASE("Rows are whole wherever they are cut") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const size_t row_bytes = 1 + random() % 40;
    const std::vector<std::byte> bytes = Numbered(row_bytes * (random() % 60));
    std::vector<size_t> ends(random() % 20);
    for (size_t& end : ends) end = random() % (bytes.size() + 1);
    std::sort(ends.begin(), ends.end());
    RowRuns runs(Cut(bytes, ends), row_bytes);
    const RowRuns moved = std::move(runs);
    CheckRows(moved, bytes, row_bytes);
  }
}

}  // namespace gatherd::client
