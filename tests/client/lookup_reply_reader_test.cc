#include "client/lookup_reply_reader.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "proto/gatherd/v1/gatherd.pb.h"

namespace gatherd::client {
namespace {

// `bytes` in slices as a transport might deliver them.
grpc::ByteBuffer InSlices(const std::string& bytes, std::mt19937& random,
                          size_t max_slices) {
  std::vector<size_t> ends(max_slices == 0 ? 0 : random() % max_slices);
  for (size_t& end : ends) end = random() % (bytes.size() + 1);
  ends.push_back(bytes.size());
  std::sort(ends.begin(), ends.end());
  std::vector<grpc::Slice> slices;
  size_t begin = 0;
  for (const size_t end : ends) {
    slices.emplace_back(bytes.data() + begin, end - begin);
    begin = end;
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

uint32_t Draw(std::mt19937& random) { return static_cast<uint32_t>(random()); }

std::string RandomBytes(size_t num_bytes, std::mt19937& random) {
  std::string bytes(num_bytes, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void FillTable(v1::TableRows* table, std::mt19937& random) {
  const auto type = static_cast<DataType>(1 + random() % kNumDataTypes);
  const uint32_t dim = 1 + Draw(random) % 70;
  const uint32_t num_rows = Draw(random) % 60;
  table->set_data_type(static_cast<v1::DataType>(type));
  table->set_dim(dim);
  table->set_num_rows(num_rows);
  table->set_values(RandomBytes(num_rows * RowBytes(type, dim), random));
  if (random() % 2 == 0) table->set_missing(RandomBytes(random() % 9, random));
  table->set_num_missing(Draw(random));
  table->set_revision(uint64_t{Draw(random)} << (random() % 33));
}

bool Equal(absl::Span<const std::byte> bytes, std::string_view expected) {
  return bytes.size() == expected.size() &&
         std::equal(bytes.begin(), bytes.end(),
                    reinterpret_cast<const std::byte*>(expected.data()));
}

// What is found is what protobuf reads.
void CheckSame(const TableRows& found, const v1::TableRows& expected) {
  CHECK(static_cast<int>(found.data_type()) == expected.data_type());
  CHECK(found.dim() == expected.dim());
  REQUIRE(found.num_rows() == expected.num_rows());
  CHECK(found.num_missing() == expected.num_missing());
  CHECK(found.revision() == expected.revision());
  const std::string_view values = expected.values();
  const size_t row_bytes = found.row_bytes();
  for (size_t i = 0; i < found.num_rows(); ++i) {
    REQUIRE(Equal(found.row(i), values.substr(i * row_bytes, row_bytes)));
  }
  std::vector<std::byte> copy(values.size());
  found.CopyRows(copy.data());
  CHECK(Equal(copy, values));
  const std::string& missing = expected.missing();
  for (size_t i = 0; i < missing.size() * 8 + 9; ++i) {
    const bool bit =
        i / 8 < missing.size() && (missing[i / 8] >> (i % 8) & 1) != 0;
    REQUIRE(found.IsMissing(i) == bit);
  }
}

// What protobuf makes of it, if that makes sense.
std::optional<v1::LookupResponse> Expected(const std::string& bytes,
                                           size_t num_lookups) {
  v1::LookupResponse response;
  if (!response.ParseFromString(bytes) ||
      static_cast<size_t>(response.results_size()) != num_lookups) {
    return std::nullopt;
  }
  for (const v1::TableRows& table : response.results()) {
    TableRows::Fields fields;
    if (table.data_type() < 0 || table.data_type() > 255) return std::nullopt;
    fields.data_type = static_cast<DataType>(table.data_type());
    fields.dim = table.dim();
    fields.num_rows = table.num_rows();
    if (!TableRows::CheckSizes(fields, table.values().size()).ok()) {
      return std::nullopt;
    }
  }
  return response;
}

}  // namespace

TEST_CASE("A reply is read as protobuf reads it, in whatever slices it comes") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    v1::LookupResponse response;
    const size_t num_tables = random() % 5;
    for (size_t i = 0; i < num_tables; ++i) {
      FillTable(response.add_results(), random);
    }
    const std::string bytes = response.SerializeAsString();
    auto reply = ReadLookupReply(InSlices(bytes, random, 30), num_tables);
    REQUIRE(reply.ok());
    // Rows outlive the reply that they were read from, with any copy of it.
    const LookupReply copy = *std::move(reply);
    reply = absl::UnknownError("gone");
    REQUIRE(copy.size() == num_tables);
    for (size_t i = 0; i < num_tables; ++i) {
      CheckSame(copy[i], response.results(static_cast<int>(i)));
    }
  }
}

TEST_CASE("Rows in one slice are not copied") {
  v1::LookupResponse response;
  v1::TableRows* table = response.add_results();
  table->set_data_type(v1::DATA_TYPE_FLOAT32);
  table->set_dim(64);
  table->set_num_rows(100);
  table->set_values(std::string(100 * 256, 'x'));
  const std::string bytes = response.SerializeAsString();
  const grpc::Slice slice(bytes.data(), bytes.size(),
                          grpc::Slice::STATIC_SLICE);
  const auto reply = ReadLookupReply(grpc::ByteBuffer(&slice, 1), 1);
  REQUIRE(reply.ok());
  const auto* row = reinterpret_cast<const char*>((*reply)[0].row(99).data());
  CHECK(row > bytes.data());
  CHECK(row + 256 <= bytes.data() + bytes.size());
  int num_runs = 0;
  (*reply)[0].VisitRuns(
      [&](uint32_t, absl::Span<const std::byte>) { ++num_runs; });
  CHECK(num_runs == 1);
}

TEST_CASE("Unknown fields are skipped, and the last of a field counts") {
  std::mt19937 random(2);
  v1::LookupResponse response;
  FillTable(response.add_results(), random);
  std::string table = response.results(0).SerializeAsString();
  // Fields 100 to 103 of each wire type; then other rows and revisions.
  const std::string unknown(
      "\xa0\x06\x96\x01\xa9\x06"
      "12345678"
      "\xb2\x06\x03xyz\xbd\x06"
      "1234",
      26);
  v1::TableRows earlier;
  earlier.set_values("that do not count");
  earlier.set_revision(1);
  earlier.set_num_missing(3);
  table = unknown + earlier.SerializeAsString() + table + unknown;
  v1::LookupResponse whole;
  std::string bytes = unknown + "\x0a";
  for (size_t left = table.size(); left > 0; left >>= 7) {
    bytes.push_back(static_cast<char>((left & 0x7f) | (left > 127 ? 0x80 : 0)));
  }
  bytes += table + unknown;
  REQUIRE(whole.ParseFromString(bytes));
  for (int round = 0; round < 50; ++round) {
    const auto reply = ReadLookupReply(InSlices(bytes, random, 10), 1);
    REQUIRE(reply.ok());
    CheckSame((*reply)[0], whole.results(0));
  }
}

TEST_CASE("Broken replies are refused where protobuf refuses them") {
  std::mt19937 random(3);
  int num_refused = 0, num_read = 0;
  for (int round = 0; round < 5000; ++round) {
    v1::LookupResponse response;
    for (size_t i = random() % 3; i > 0; --i) {
      FillTable(response.add_results(), random);
    }
    std::string bytes = response.SerializeAsString();
    if (bytes.empty()) continue;
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    // Near the front, where the fields are rather than the rows.
    for (size_t i = random() % 3; i > 0 && !bytes.empty(); --i) {
      bytes[random() % std::min<size_t>(bytes.size(), 12)] =
          static_cast<char>(random());
    }
    const auto num_lookups = static_cast<size_t>(response.results_size());
    const auto expected = Expected(bytes, num_lookups);
    const auto reply = ReadLookupReply(InSlices(bytes, random, 6), num_lookups);
    if (!reply.ok()) {
      CHECK(absl::IsInternal(reply.status()));
      REQUIRE_FALSE(expected.has_value());
      ++num_refused;
      continue;
    }
    REQUIRE(expected.has_value());
    for (size_t i = 0; i < num_lookups; ++i) {
      CheckSame((*reply)[i], expected->results(static_cast<int>(i)));
    }
    ++num_read;
  }
  CHECK(num_refused > 500);
  CHECK(num_read > 500);
}

TEST_CASE("A reply to another number of lookups is refused") {
  v1::LookupResponse response;
  std::mt19937 random(4);
  FillTable(response.add_results(), random);
  const std::string bytes = response.SerializeAsString();
  for (const size_t num_lookups : {size_t{0}, size_t{2}}) {
    const auto reply = ReadLookupReply(InSlices(bytes, random, 3), num_lookups);
    CHECK(absl::IsInternal(reply.status()));
  }
}

}  // namespace gatherd::client
