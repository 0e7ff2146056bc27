#include "client/ctl/render.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::json;

// The one JSON object on the one line that is printed.
Json Parse(const std::string& text) {
  CHECK(text.back() == '\n');
  Json json = Json::parse(text);
  CHECK(json.is_object());
  return json;
}

class Rows {
 public:
  Rows(uint32_t dim, const std::vector<float>& values,
       const std::string& missing)
      : values_(reinterpret_cast<const char*>(values.data()),
                values.size() * sizeof(float)),
        missing_(missing) {
    fields_.dim = dim;
    fields_.num_rows = static_cast<uint32_t>(values.size() / dim);
    fields_.values = values_;
    fields_.missing = missing_;
    fields_.num_missing = missing.empty() ? 0 : 1;
    fields_.revision = 12;
  }

  TableRows Get() const { return *TableRows::Create(fields_); }

 private:
  std::string values_;
  std::string missing_;
  TableRows::Fields fields_;
};

}  // namespace

TEST_CASE("Rows as JSON have every key, bit and value") {
  const Rows rows(2, {0.1f, -3, 0, 0}, "\x02");
  const NamedKey keys[] = {{-5, "fnv:the"}, {6, "6"}};
  const Json json = Parse(RenderRows("words", keys, rows.Get(), Format::kJson));
  CHECK(json["table"] == "words");
  CHECK(json["data_type"] == "float32");
  CHECK(json["dim"] == 2);
  CHECK(json["num_missing"] == 1);
  CHECK(json["revision"] == 12);
  REQUIRE(json["rows"].size() == 2);
  CHECK(json["rows"][0]["key"] == -5);
  CHECK(json["rows"][0]["text"] == "the");
  CHECK(json["rows"][0]["missing"] == false);
  CHECK(json["rows"][0]["values"] == Json({0.1, -3.0}));
  CHECK(json["rows"][1]["key"] == 6);
  CHECK(json["rows"][1].count("text") == 0);
  CHECK(json["rows"][1]["missing"] == true);
}

TEST_CASE("Keys keep all 64 bits in JSON") {
  const Rows rows(1, {0, 0}, "");
  const NamedKey keys[] = {{std::numeric_limits<int64_t>::min(), ""},
                           {std::numeric_limits<int64_t>::max(), ""}};
  const std::string text = RenderRows("words", keys, rows.Get(), Format::kJson);
  CHECK(text.find("-9223372036854775808") != std::string::npos);
  CHECK(text.find("9223372036854775807") != std::string::npos);
}

TEST_CASE("Values that are no numbers are null in JSON and words in text") {
  const Rows rows(2,
                  {std::numeric_limits<float>::quiet_NaN(),
                   -std::numeric_limits<float>::infinity()},
                  "");
  const NamedKey keys[] = {{1, "1"}};
  const Json json = Parse(RenderRows("words", keys, rows.Get(), Format::kJson));
  CHECK(json["rows"][0]["values"] == Json({nullptr, nullptr}));
  CHECK(RenderRows("words", keys, rows.Get(), Format::kText) ==
        "1  found    nan -inf\n");
}

TEST_CASE("A key that is no UTF-8 still gives JSON") {
  const Rows rows(1, {1}, "");
  const NamedKey keys[] = {{1, "fnv:\xff"}};
  Parse(RenderRows("words", keys, rows.Get(), Format::kJson));
}

TEST_CASE("Rows as text line up, and name what is missing") {
  const Rows rows(2, {0.1f, -3, 0, 0}, "\x02");
  const NamedKey keys[] = {{-5, "fnv:the"}, {6, "6"}};
  CHECK(RenderRows("words", keys, rows.Get(), Format::kText) ==
        "-5 (fnv:the)  found    0.1 -3\n"
        "6             missing  0 0\n");
}

TEST_CASE("Long rows are cut in text, not in JSON") {
  const NamedKey keys[] = {{1, "1"}};
  const Rows sixteen(16, std::vector<float>(16, 2), "");
  CHECK(RenderRows("t", keys, sixteen.Get(), Format::kText) ==
        "1  found    2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n");
  const Rows seventeen(17, std::vector<float>(17, 2), "");
  CHECK(RenderRows("t", keys, seventeen.Get(), Format::kText) ==
        "1  found    2 2 2 2 2 2 2 2 ... (17 values)\n");
  const Json json =
      Parse(RenderRows("t", keys, seventeen.Get(), Format::kJson));
  CHECK(json["rows"][0]["values"].size() == 17);
}

TEST_CASE("Tables and their tiers") {
  TableInfo table;
  table.name = "words";
  table.data_type = DataType::kInt8;
  table.dim = 100;
  table.key_space = "hashed";
  table.num_rows = 20'000;
  table.revision = 3;
  table.tiers = {{"gpu", 0, 500, 3 << 20, {250, 250}},
                 {"host", 40'000, 20'000, 2048, {}}};
  CHECK(RenderTables({table}, Format::kText) ==
        "words: hashed, int8, dim 100, 20000 rows, revision 3\n"
        "  gpu: 500 rows, 3.0 MiB; rows per device: 250 250\n"
        "  host: 20000/40000 rows, 2.0 KiB\n");
  const Json json = Parse(RenderTables({table}, Format::kJson));
  CHECK(json["tables"][0]["data_type"] == "int8");
  CHECK(json["tables"][0]["tiers"][0]["rows_per_device"] == Json({250, 250}));
  CHECK(json["tables"][0]["tiers"][1]["capacity_rows"] == 40'000);

  CHECK(RenderTables({}, Format::kText) == "no tables\n");
  CHECK(Parse(RenderTables({}, Format::kJson))["tables"] == Json::array());
}

TEST_CASE("Server, health and counts") {
  ServerInfo info;
  info.version = "1.2.3";
  info.backend = "cpu";
  info.max_keys_per_request = 1'000'000;
  info.max_message_bytes = 64 << 20;
  const Json json = Parse(RenderInfo(info, Format::kJson));
  CHECK(json["version"] == "1.2.3");
  CHECK(json["devices"] == Json::array());
  CHECK(json["max_message_bytes"] == 64 << 20);
  CHECK(RenderInfo(info, Format::kText).find("67108864 (64.0 MiB)") !=
        std::string::npos);

  CHECK(RenderHealth(Health::kServing, Format::kText) == "SERVING\n");
  CHECK(Parse(RenderHealth(Health::kNotServing, Format::kJson))["status"] ==
        "NOT_SERVING");

  CHECK(RenderUpdate("t", {1, 2, 3, 4, 5}, Format::kText) ==
        "1 updated, 2 inserted, 3 skipped, 4 evicted; revision 5\n");
  CHECK(Parse(RenderUpdate("t", {1, 2, 3, 4, 5}, Format::kJson)) ==
        Json({{"table", "t"},
              {"num_updated", 1},
              {"num_inserted", 2},
              {"num_skipped", 3},
              {"num_evicted", 4},
              {"revision", 5}}));
  CHECK(RenderErase("t", {6, 7}, Format::kText) == "6 erased; revision 7\n");
  CHECK(Parse(RenderErase("t", {6, 7}, Format::kJson))["num_erased"] == 6);

  LoadResult load;
  load.num_rows = 10;
  load.num_inserted = 10;
  load.note = "narrowed";
  CHECK(Parse(RenderLoad("t", load, Format::kJson))["note"] == "narrowed");
  CHECK(RenderLoad("t", load, Format::kText).find("note: narrowed\n") !=
        std::string::npos);
}

TEST_CASE("Stages are shown in microseconds") {
  HistogramSeries times;
  times.buckets = {{1e-5, 50}, {3e-5, 100}, {INFINITY, 100}};
  times.count = 100;
  times.sum = 1.5e-3;
  const StageTimes stages[] = {{"decode", times}, {"queue", {}}};
  const std::string text = RenderStages(stages, Format::kText);
  CHECK_THAT(text, Contains("decode                 100        15.0        10.0"
                            "        29.6\n"));
  CHECK_THAT(text, Contains("queue                    0         0.0"));
  const Json json = Parse(RenderStages(stages, Format::kJson));
  REQUIRE(json["stages"].size() == 2);
  CHECK(json["stages"][0]["stage"] == "decode");
  CHECK(json["stages"][0]["requests"] == 100);
  CHECK(json["stages"][0]["mean_us"].get<double>() == Approx(15));
  CHECK(json["stages"][0]["p50_us"].get<double>() == Approx(10));
  CHECK(json["stages"][0]["p99_us"].get<double>() == Approx(29.6));
}

}  // namespace gatherd::client
