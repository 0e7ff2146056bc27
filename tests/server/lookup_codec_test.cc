#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "core/exec/dispatcher.h"
#include "core/table/cpu_table.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/request_codec.h"
#include "tests/server/counting_memory.h"
#include "tests/server/specs.h"
#include "tests/server/wire.h"

namespace gatherd {
namespace {

using Catch::Contains;

// A catalog of `words` (hashed, dim 2) and `rows` (dense, dim 3, 10 rows),
// both ready, and `late`, which is still loading.
class LookupCodec {
 public:
  LookupCodec() {
    CatalogTableSpec strict = HashedSpec("strict", 2, 10);
    strict.table.missing_key_policy = MissingKeyPolicy::kError;
    catalog_ =
        *Catalog::Create({HashedSpec("words", 2, 100), DenseSpec("rows", 3, 10),
                          HashedSpec("late", 2, 10), strict});
    for (const auto& entry : catalog_->entries()) {
      REQUIRE(entry->MakeTable(&CreateCpuTable).ok());
      if (entry->spec().name != "late") entry->set_ready();
    }
    Put("words", 7, {1, 2});
    Put("words", 8, {3, 4});
  }

  void Put(const char* table, int64_t key, std::vector<float> row) {
    UpdateBatch batch;
    batch.keys = {&key, 1};
    batch.values = reinterpret_cast<const std::byte*>(row.data());
    REQUIRE(Update(*catalog_->Find(table)->table(), batch).ok());
  }

  v1::TableLookup* Add(const char* table, std::vector<int64_t> keys) {
    v1::TableLookup* part = request.add_lookups();
    part->set_table(table);
    for (int64_t key : keys) part->add_keys(key);
    return part;
  }

  absl::StatusOr<std::unique_ptr<DecodedLookup>> Decode(
      ReplyMemory memory = HeapReplyMemory()) {
    return DecodedLookup::Decode(ToBytes(request), *catalog_, limits,
                                 std::move(memory));
  }
  absl::Status Refusal() { return Decode().status(); }

  absl::StatusOr<v1::LookupResponse> Answer() {
    auto decoded = Decode();
    if (!decoded.ok()) return decoded.status();
    auto segments = (*decoded)->AllocateReply({});
    RunSegments(segments);
    grpc::ByteBuffer reply;
    absl::Status status = (*decoded)->EncodeReply(segments, &reply);
    if (!status.ok()) return status;
    CHECK(reply.Length() <= (*decoded)->reply_bytes());
    decoded->reset();  // the reply stands on its own
    return FromBytes<v1::LookupResponse>(reply);
  }

  // One result a segment, as tables give them.
  static void RunSegments(std::vector<LookupSegment>& segments) {
    for (LookupSegment& segment : segments) {
      segment.result = *segment.table->Lookup(segment.batch, segment.output);
    }
  }

  RequestLimits limits{1 << 20, 1000};
  v1::LookupRequest request;

 private:
  std::unique_ptr<Catalog> catalog_;
};

std::vector<float> Floats(const std::string& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

TEST_CASE_METHOD(LookupCodec, "an empty lookup request has an empty answer") {
  const auto reply = Answer();
  REQUIRE(reply.ok());
  CHECK(reply->results_size() == 0);
}

TEST_CASE_METHOD(LookupCodec, "rows come in the order of parts and keys") {
  Add("words", {8, 7, 8});
  Add("rows", {});
  Add("words", {7});
  const auto reply = Answer();
  REQUIRE(reply.ok());
  REQUIRE(reply->results_size() == 3);
  const v1::TableRows& first = reply->results(0);
  CHECK(first.data_type() == v1::DATA_TYPE_FLOAT32);
  CHECK(first.dim() == 2);
  CHECK(first.num_rows() == 3);
  CHECK(Floats(first.values()) == std::vector<float>{3, 4, 1, 2, 3, 4});
  CHECK(first.missing().empty());
  CHECK(first.num_missing() == 0);
  CHECK(first.revision() == 2);
  CHECK(reply->results(1).num_rows() == 0);
  CHECK(reply->results(1).dim() == 3);
  CHECK(reply->results(1).values().empty());
  CHECK(Floats(reply->results(2).values()) == std::vector<float>{1, 2});
}

TEST_CASE_METHOD(LookupCodec, "missing keys have a bit each and are counted") {
  Add("words", {7, 1, 8, 7, 7, 7, 7, 7, 2, 3});
  const auto reply = Answer();
  REQUIRE(reply.ok());
  CHECK(reply->results(0).num_missing() == 3);
  CHECK(reply->results(0).missing() == std::string("\x02\x03", 2));
}

TEST_CASE_METHOD(LookupCodec, "rows too large to copy reach the reply whole") {
  std::vector<int64_t> keys(400, 7);
  Add("words", {8});
  Add("words", keys);
  Add("words", {8});
  const auto reply = Answer();
  REQUIRE(reply.ok());
  REQUIRE(reply->results_size() == 3);
  const auto floats = Floats(reply->results(1).values());
  REQUIRE(floats.size() == 800);
  CHECK(floats[798] == 1);
  CHECK(floats[799] == 2);
  CHECK(Floats(reply->results(2).values()) == std::vector<float>{3, 4});
}

TEST_CASE_METHOD(LookupCodec, "pooling has a row a bag, in another type") {
  v1::TableLookup* part = Add("words", {7, 8, 8});
  part->set_pooling(v1::POOLING_SUM);
  for (uint32_t offset : {0, 0, 2, 3}) part->add_offsets(offset);
  for (float weight : {1.f, 2.f, 3.f}) part->add_weights(weight);
  part->set_output_type(v1::DATA_TYPE_BFLOAT16);
  const auto reply = Answer();
  REQUIRE(reply.ok());
  CHECK(reply->results(0).num_rows() == 4);
  CHECK(reply->results(0).data_type() == v1::DATA_TYPE_BFLOAT16);
  // Empty, 1 + 2 * 3 and 2 + 2 * 4, 3 * 3 and 3 * 4, empty.
  CHECK(reply->results(0).values() ==
        std::string("\0\0\0\0\xe0\x40\x20\x41\x10\x41\x40\x41\0\0\0\0", 16));
}

TEST_CASE_METHOD(LookupCodec, "pooling over nothing is legal") {
  Add("words", {})->set_pooling(v1::POOLING_MEAN);
  v1::TableLookup* part = Add("words", {});
  part->set_pooling(v1::POOLING_MEAN);
  part->add_offsets(0);
  const auto reply = Answer();
  REQUIRE(reply.ok());
  CHECK(reply->results(0).num_rows() == 0);
  CHECK(Floats(reply->results(1).values()) == std::vector<float>{0, 0});
}

TEST_CASE_METHOD(LookupCodec, "a missing key is an error where it is said so") {
  SECTION("by the request") {
    Add("words", {7, 1, 2})
        ->set_missing_key_policy(v1::MISSING_KEY_POLICY_ERROR);
    const auto reply = Answer();
    CHECK(absl::IsNotFound(reply.status()));
    CHECK_THAT(reply.status().ToString(), Contains("\"words\""));
    CHECK_THAT(reply.status().ToString(), Contains("key 1 "));
    CHECK_THAT(reply.status().ToString(), Contains("2 missing"));
  }
  SECTION("by the table") {
    Add("strict", {-5});
    CHECK(absl::IsNotFound(Answer().status()));
  }
  SECTION("unless the request says otherwise") {
    Add("strict", {-5})
        ->set_missing_key_policy(v1::MISSING_KEY_POLICY_DEFAULT_ROW);
    CHECK(Answer().ok());
  }
}

struct Refused {
  absl::StatusCode code;
  std::vector<std::string> words;
};

void CheckRefused(const absl::Status& status, const Refused& expected) {
  CHECK(status.code() == expected.code);
  for (const std::string& word : expected.words) {
    CHECK_THAT(std::string(status.message()), Contains(word));
  }
}

TEST_CASE_METHOD(LookupCodec, "bytes that are no lookup request are refused") {
  const auto decode = [&](const std::string& bytes) {
    return DecodedLookup::Decode(ToBytes(bytes), *Catalog::Create({}).value(),
                                 limits, HeapReplyMemory())
        .status();
  };
  for (const std::string& bytes :
       {std::string("\xff"), std::string("\x0a\x05\x0a"),
        std::string("\x0a\x02\x0a\xff"), std::string("\0", 1),
        std::string("\x0a\x02\x0c\x0c"), std::string("\x0a\x03\x0a\x01\xff"),
        std::string("\x0c")}) {
    CheckRefused(decode(bytes), {absl::StatusCode::kInvalidArgument,
                                 {"gatherd.v1.LookupRequest"}});
  }
  CHECK(decode("\x10\x05").ok());  // a field that we do not know
}

TEST_CASE_METHOD(LookupCodec, "tables that cannot be asked are named") {
  SECTION("unknown") {
    Add("words", {7});
    Add("wrods", {7});
    CheckRefused(Refusal(), {absl::StatusCode::kNotFound, {"\"wrods\""}});
  }
  SECTION("unknown, with a long name") {
    Add(std::string(100'000, 'x').c_str(), {});
    CHECK(absl::IsNotFound(Refusal()));
    CHECK(Refusal().message().size() < 300);
  }
  SECTION("loading") {
    Add("late", {7});
    CheckRefused(Refusal(),
                 {absl::StatusCode::kUnavailable, {"\"late\"", "loading"}});
  }
}

TEST_CASE_METHOD(LookupCodec, "keys are limited over all tables together") {
  limits.max_keys_per_request = 5;
  Add("words", {1, 2, 3});
  Add("rows", {1, 2});
  CHECK(Decode().ok());
  Add("words", {1, 2});
  CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                           {"\"words\"", "keys", "7", "5"}});
}

TEST_CASE_METHOD(LookupCodec, "a reply over the limit is refused beforehand") {
  std::vector<int64_t> keys(500, 7);
  Add("words", keys);
  limits.max_message_bytes = 4000 + 128;
  CHECK(Decode().ok());
  limits.max_message_bytes = 4000;
  CheckRefused(Refusal(), {absl::StatusCode::kResourceExhausted,
                           {"\"words\"", "4000", "server.max_message_bytes"}});
}

TEST_CASE_METHOD(LookupCodec, "a reply of many bags is refused beforehand") {
  v1::TableLookup* part = Add("rows", {});
  part->set_pooling(v1::POOLING_SUM);
  for (int i = 0; i < 100'000; ++i) part->add_offsets(0);
  CHECK(absl::IsResourceExhausted(Refusal()));
}

TEST_CASE_METHOD(LookupCodec, "a request of millions of parts is refused") {
  limits.max_message_bytes = 100'000;
  std::string bytes;
  for (int i = 0; i < 50'000; ++i) bytes.append("\x0a\0", 2);
  const auto decoded = DecodedLookup::Decode(
      ToBytes(bytes), *Catalog::Create({}).value(), limits, HeapReplyMemory());
  CHECK(absl::IsResourceExhausted(decoded.status()));
}

TEST_CASE_METHOD(LookupCodec, "numbers of no enum value are refused") {
  v1::TableLookup* part = Add("words", {7});
  SECTION("pooling") {
    part->set_pooling(static_cast<v1::Pooling>(3));
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                             {"\"words\"", "pooling", "3", "2"}});
  }
  SECTION("output_type") {
    part->set_output_type(static_cast<v1::DataType>(5));
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                             {"\"words\"", "output_type", "5", "4"}});
  }
  SECTION("missing_key_policy") {
    part->set_missing_key_policy(static_cast<v1::MissingKeyPolicy>(-1));
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                             {"\"words\"", "missing_key_policy", "-1", "2"}});
  }
}

TEST_CASE_METHOD(LookupCodec, "offsets and weights are checked") {
  v1::TableLookup* part = Add("words", {7, 8, 7});
  const auto refused = [&](std::vector<std::string> words) {
    words.push_back("\"words\"");
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument, words});
  };
  SECTION("offsets without pooling") {
    part->add_offsets(0);
    refused({"offsets", "1", "0"});
  }
  SECTION("weights without pooling") {
    part->add_weights(1);
    refused({"weights", "1", "0"});
  }
  SECTION("pooling without offsets") {
    part->set_pooling(v1::POOLING_SUM);
    refused({"offsets", "0", "3 keys"});
  }
  SECTION("the first offset is not 0") {
    part->set_pooling(v1::POOLING_SUM);
    part->add_offsets(1);
    refused({"offsets[0]", "1", "expected 0"});
  }
  SECTION("an offset falls") {
    part->set_pooling(v1::POOLING_SUM);
    for (uint32_t offset : {0, 2, 1}) part->add_offsets(offset);
    refused({"offsets[2] is 1", "2"});
  }
  SECTION("an offset lies behind the keys") {
    part->set_pooling(v1::POOLING_SUM);
    for (uint32_t offset : {0, 3, 4}) part->add_offsets(offset);
    refused({"offsets[2] is 4", "3"});
  }
  SECTION("too few weights") {
    part->set_pooling(v1::POOLING_MEAN);
    part->add_offsets(0);
    part->add_weights(1);
    part->add_weights(1);
    refused({"weights", "2", "3"});
  }
}

TEST_CASE_METHOD(LookupCodec, "a reply keeps its memory alive") {
  v1::TableLookup* part = Add("words", {});
  for (int i = 0; i < 200; ++i) part->add_keys(7);  // too many to be copied
  MemoryCounts counts;
  grpc::ByteBuffer reply;
  {
    auto decoded = Decode(std::make_shared<CountingMemory>(counts));
    REQUIRE(decoded.ok());
    CHECK(counts.taken == 1);  // the request's
    auto segments = (*decoded)->AllocateReply({});
    CHECK(counts.taken == 2);
    RunSegments(segments);
    REQUIRE((*decoded)->EncodeReply(segments, &reply).ok());
  }
  CHECK(counts.given_back == 1);
  CHECK_FALSE(counts.destroyed);
  const auto response = FromBytes<v1::LookupResponse>(reply);
  REQUIRE(response.results_size() == 1);
  CHECK(Floats(response.results(0).values()).back() == 2);
  reply.Clear();
  CHECK(counts.given_back == 2);
  CHECK(counts.destroyed);
}

TEST_CASE_METHOD(LookupCodec, "a reply of one table is two slices") {
  v1::TableLookup* part = Add("words", {1});        // a missing key
  for (int i = 0; i < 200; ++i) part->add_keys(7);  // too many to be copied
  auto decoded = Decode();
  REQUIRE(decoded.ok());
  auto segments = (*decoded)->AllocateReply({});
  RunSegments(segments);
  grpc::ByteBuffer reply;
  REQUIRE((*decoded)->EncodeReply(segments, &reply).ok());
  std::vector<grpc::Slice> slices;
  REQUIRE(reply.Dump(&slices).ok());
  REQUIRE(slices.size() == 2);
  CHECK(slices[1].size() == 201 * 2 * sizeof(float));
}

TEST_CASE_METHOD(LookupCodec, "keys of 32 bits stand for the same numbers") {
  v1::TableLookup* part = Add("words", {});
  for (uint32_t key : {8u, 7u, 0xffff'ffffu}) part->add_keys32(key);
  SECTION("alone") {
    Put("words", 0xffff'ffff, {5, 6});
    const auto reply = Answer();
    REQUIRE(reply.ok());
    CHECK(Floats(reply->results(0).values()) ==
          std::vector<float>{3, 4, 1, 2, 5, 6});
    CHECK(reply->results(0).num_missing() == 0);
  }
  SECTION("more than a block of them") {
    for (uint32_t key = 0; key < 700; ++key) part->add_keys32(key);
    const auto decoded = Decode();
    REQUIRE(decoded.ok());
    const auto segments = (*decoded)->AllocateReply({});
    REQUIRE(segments[0].batch.keys.size() == 703);
    for (int64_t i = 0; i < 700; ++i) CHECK(segments[0].batch.keys[3 + i] == i);
  }
  SECTION("but not beside others") {
    part->add_keys(7);
    part->add_keys(8);
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                             {"\"words\"", "keys32", "3", "2 keys"}});
  }
  SECTION("within the limit of keys") {
    limits.max_keys_per_request = 2;
    CheckRefused(Refusal(), {absl::StatusCode::kInvalidArgument,
                             {"\"words\"", "keys", "3", "2"}});
  }
}

TEST_CASE_METHOD(LookupCodec, "what is decoded lies in pieces of cache lines") {
  for (int i = 0; i < 2; ++i) {
    v1::TableLookup* part = Add("words", {7, 8, 9});
    part->set_pooling(v1::POOLING_SUM);
    for (uint32_t offset : {0, 2}) part->add_offsets(offset);
    for (float weight : {1.f, 2.f, 3.f}) part->add_weights(weight);
  }
  auto decoded = Decode();
  REQUIRE(decoded.ok());
  for (const LookupSegment& segment : (*decoded)->AllocateReply({})) {
    CHECK(reinterpret_cast<uintptr_t>(segment.batch.keys.data()) % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(segment.batch.offsets.data()) % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(segment.batch.weights.data()) % 64 == 0);
    CHECK(segment.batch.keys == absl::Span<const int64_t>({7, 8, 9}));
    CHECK(segment.batch.offsets == absl::Span<const uint32_t>({0, 2}));
    CHECK(segment.batch.weights == absl::Span<const float>({1, 2, 3}));
  }
}

}  // namespace
}  // namespace gatherd
