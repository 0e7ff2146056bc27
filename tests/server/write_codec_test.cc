#include <catch2/catch.hpp>

#include <string>

#include "core/table/cpu_table.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "server/request_codec.h"
#include "tests/server/specs.h"
#include "tests/server/wire.h"

namespace gatherd {
namespace {

using Catch::Contains;

class WriteCodec {
 public:
  WriteCodec() {
    CatalogTableSpec frozen = HashedSpec("frozen", 2, 10);
    frozen.table.read_only = true;
    catalog_ = *Catalog::Create(
        {HashedSpec("words", 2, 100), HashedSpec("late", 2, 10), frozen});
    for (const auto& entry : catalog_->entries()) {
      REQUIRE(entry->MakeTable(&CreateCpuTable).ok());
      if (entry->spec().name != "late") entry->set_ready();
    }
  }

  v1::TableUpdate* AddUpdate(const char* table, std::vector<int64_t> keys,
                             size_t values_bytes) {
    v1::TableUpdate* part = update.add_updates();
    part->set_table(table);
    for (int64_t key : keys) part->add_keys(key);
    part->set_values(std::string(values_bytes, '\0'));
    return part;
  }
  v1::TableErase* AddErase(const char* table, std::vector<int64_t> keys) {
    v1::TableErase* part = erase.add_erases();
    part->set_table(table);
    for (int64_t key : keys) part->add_keys(key);
    return part;
  }

  absl::StatusOr<std::unique_ptr<DecodedUpdate>> DecodeUpdate() {
    return DecodedUpdate::Decode(ToBytes(update), *catalog_, limits,
                                 HeapReplyMemory());
  }
  absl::StatusOr<std::unique_ptr<DecodedErase>> DecodeErase() {
    return DecodedErase::Decode(ToBytes(erase), *catalog_, limits,
                                HeapReplyMemory());
  }

  void CheckUpdateRefused(absl::StatusCode code,
                          const std::vector<std::string>& words) {
    const absl::Status status = DecodeUpdate().status();
    CHECK(status.code() == code);
    for (const std::string& word : words) {
      CHECK_THAT(std::string(status.message()), Contains(word));
    }
  }

  RequestLimits limits{1 << 20, 1000};
  v1::UpdateRequest update;
  v1::EraseRequest erase;

 private:
  std::unique_ptr<Catalog> catalog_;
};

TEST_CASE_METHOD(WriteCodec, "an empty write request is legal") {
  CHECK(DecodeUpdate().ok());
  CHECK(DecodeErase().ok());
}

TEST_CASE_METHOD(WriteCodec, "an update is decoded part by part") {
  AddUpdate("words", {1, 2}, 16)->set_mode(v1::UPDATE_MODE_ADD);
  AddUpdate("words", {3}, 4)->set_data_type(v1::DATA_TYPE_FLOAT16);
  AddUpdate("words", {4}, 6)->set_data_type(v1::DATA_TYPE_INT8);
  const auto decoded = DecodeUpdate();
  REQUIRE(decoded.ok());
  CHECK((*decoded)->num_keys() == 4);
  const auto batches = (*decoded)->batches();
  REQUIRE(batches.size() == 3);
  CHECK(batches[0].batch.mode == UpdateMode::kAdd);
  CHECK(batches[0].batch.data_type == DataType::kFloat32);  // the table's own
  CHECK(batches[0].batch.keys == absl::Span<const int64_t>({1, 2}));
  CHECK(batches[1].batch.data_type == DataType::kFloat16);
  CHECK(batches[2].batch.data_type == DataType::kInt8);
  CHECK(batches[2].batch.mode == UpdateMode::kSet);
}

TEST_CASE_METHOD(WriteCodec, "writes take keys of 32 bits") {
  AddUpdate("words", {}, 8)->add_keys32(0xffff'ffff);
  const auto updates = DecodeUpdate();
  REQUIRE(updates.ok());
  CHECK((*updates)->batches()[0].batch.keys ==
        absl::Span<const int64_t>({0xffff'ffff}));
  AddErase("words", {})->add_keys32(5);
  const auto erases = DecodeErase();
  REQUIRE(erases.ok());
  CHECK((*erases)->keys(0) == absl::Span<const int64_t>({5}));
  AddErase("words", {5})->add_keys32(5);
  CHECK(absl::IsInvalidArgument(DecodeErase().status()));
}

TEST_CASE_METHOD(WriteCodec, "an update that is wrong is refused") {
  SECTION("values of the wrong size") {
    AddUpdate("words", {1, 2}, 15);
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "values", "15", "16"});
  }
  SECTION("values of the wrong size for their type") {
    AddUpdate("words", {1}, 8)->set_data_type(v1::DATA_TYPE_INT8);
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "values", "8", "6"});
  }
  SECTION("values without keys") {
    AddUpdate("words", {}, 8);
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "values", "8", "0"});
  }
  SECTION("no such type") {
    AddUpdate("words", {1}, 8)->set_data_type(static_cast<v1::DataType>(9));
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "data_type", "9", "4"});
  }
  SECTION("no such mode") {
    AddUpdate("words", {1}, 8)->set_mode(static_cast<v1::UpdateMode>(3));
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "mode", "3", "2"});
  }
  SECTION("too many keys") {
    limits.max_keys_per_request = 1;
    AddUpdate("words", {1, 2}, 16);
    CheckUpdateRefused(absl::StatusCode::kInvalidArgument,
                       {"\"words\"", "keys", "2", "1"});
  }
  SECTION("an unknown table") {
    AddUpdate("wrods", {1}, 8);
    CheckUpdateRefused(absl::StatusCode::kNotFound, {"\"wrods\""});
  }
  SECTION("a table that is read only") {
    AddUpdate("frozen", {1}, 8);
    CheckUpdateRefused(absl::StatusCode::kFailedPrecondition, {"\"frozen\""});
  }
  SECTION("a table that is loading") {
    AddUpdate("late", {1}, 8);
    CheckUpdateRefused(absl::StatusCode::kUnavailable, {"\"late\"", "loading"});
  }
}

TEST_CASE_METHOD(WriteCodec, "an erase is decoded and refused alike") {
  AddErase("words", {5, 6});
  const auto decoded = DecodeErase();
  REQUIRE(decoded.ok());
  CHECK((*decoded)->num_keys() == 2);
  CHECK((*decoded)->keys(0) == absl::Span<const int64_t>({5, 6}));
  limits.max_keys_per_request = 1;
  CHECK(absl::IsInvalidArgument(DecodeErase().status()));
  limits.max_keys_per_request = 10;
  AddErase("frozen", {5});
  CHECK(absl::IsFailedPrecondition(DecodeErase().status()));
}

TEST_CASE_METHOD(WriteCodec, "bytes that are no write request are refused") {
  const grpc::ByteBuffer garbage = ToBytes("garbage");
  const auto catalog = *Catalog::Create({});
  CHECK_THAT(DecodedUpdate::Decode(garbage, *catalog, limits, HeapReplyMemory())
                 .status()
                 .ToString(),
             Contains("gatherd.v1.UpdateRequest"));
  CHECK_THAT(DecodedErase::Decode(garbage, *catalog, limits, HeapReplyMemory())
                 .status()
                 .ToString(),
             Contains("gatherd.v1.EraseRequest"));
}

TEST_CASE("results of writes are encoded field by field") {
  grpc::ByteBuffer reply;
  UpdateResult updated;
  updated.num_updated = 1;
  updated.num_inserted = 2;
  updated.num_skipped = 3;
  updated.num_evicted = 4;
  updated.revision = 5;
  EncodeReply({updated, UpdateResult{}}, &reply);
  const auto updates = FromBytes<v1::UpdateResponse>(reply);
  REQUIRE(updates.results_size() == 2);
  CHECK(updates.results(0).ShortDebugString() ==
        "num_updated: 1 num_inserted: 2 num_skipped: 3 num_evicted: 4 "
        "revision: 5");
  EraseResult erased;
  erased.num_erased = 6;
  erased.revision = 7;
  EncodeReply(absl::Span<const EraseResult>(&erased, 1), &reply);
  CHECK(FromBytes<v1::EraseResponse>(reply).results(0).ShortDebugString() ==
        "num_erased: 6 revision: 7");
}

}  // namespace
}  // namespace gatherd
