#include "client/ctl/render.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace gatherd::client {
namespace {

// Keeps the order in which the fields are written here.
using Json = nlohmann::ordered_json;

constexpr size_t kMaxTextValues = 16;
constexpr size_t kCutTextValues = 8;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The shortest text that reads back as the same float32.
std::string FloatText(float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

// JSON numbers are float64: the one nearest to the short text, so that 0.1
// stays 0.1.
Json FloatJson(float value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = FloatText(value);
  double wide = 0;
  std::from_chars(text.data(), text.data() + text.size(), wide);
  return wide;
}

absl::string_view HealthName(Health health) {
  switch (health) {
    case Health::kServing:
      return "SERVING";
    case Health::kNotServing:
      return "NOT_SERVING";
    case Health::kUnknown:
      break;
  }
  return "UNKNOWN";
}

Json TierJson(const TierInfo& tier) {
  Json json = {{"kind", tier.kind},
               {"capacity_rows", tier.capacity_rows},
               {"num_rows", tier.num_rows},
               {"memory_bytes", tier.memory_bytes}};
  if (!tier.rows_per_device.empty()) {
    json["rows_per_device"] = tier.rows_per_device;
  }
  return json;
}

Json TableJson(const TableInfo& table) {
  Json tiers = Json::array();
  for (const TierInfo& tier : table.tiers) tiers.push_back(TierJson(tier));
  return {{"name", table.name},
          {"data_type", std::string(DataTypeName(table.data_type))},
          {"dim", table.dim},
          {"key_space", table.key_space},
          {"num_rows", table.num_rows},
          {"revision", table.revision},
          {"tiers", tiers}};
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double scaled = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (scaled >= 1024 && unit + 1 < std::size(kUnits)) {
    scaled /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", scaled, kUnits[unit]);
}

std::string TierText(const TierInfo& tier) {
  std::string text = absl::StrCat("  ", tier.kind, ": ", tier.num_rows);
  if (tier.capacity_rows != 0) absl::StrAppend(&text, "/", tier.capacity_rows);
  absl::StrAppend(&text, " rows, ", BytesText(tier.memory_bytes));
  if (!tier.rows_per_device.empty()) {
    absl::StrAppend(
        &text, "; rows per device: ", absl::StrJoin(tier.rows_per_device, " "));
  }
  return text + "\n";
}

std::string KeyText(const NamedKey& key) {
  if (!absl::StartsWith(key.text, "fnv:")) return absl::StrCat(key.key);
  return absl::StrCat(key.key, " (", key.text, ")");
}

std::string ValuesText(absl::Span<const float> values) {
  const bool cut = values.size() > kMaxTextValues;
  std::string text = absl::StrJoin(
      values.subspan(0, cut ? kCutTextValues : values.size()), " ",
      [](std::string* out, float value) { out->append(FloatText(value)); });
  if (cut) absl::StrAppend(&text, " ... (", values.size(), " values)");
  return text;
}

std::string RowsText(absl::Span<const NamedKey> keys, const TableRows& rows) {
  size_t width = 0;
  for (const NamedKey& key : keys) {
    width = std::max(width, KeyText(key).size());
  }
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StrAppendFormat(
        &text, "%-*s  %-7s  %s\n", static_cast<int>(width), KeyText(keys[i]),
        rows.IsMissing(i) ? "missing" : "found", ValuesText(rows.Floats(i)));
  }
  return text;
}

Json RowJson(const NamedKey& key, const TableRows& rows, size_t i) {
  Json values = Json::array();
  for (const float value : rows.Floats(i)) values.push_back(FloatJson(value));
  Json row = {{"key", key.key}};
  if (absl::StartsWith(key.text, "fnv:"))
    row["text"] = std::string(key.text.substr(4));
  row["missing"] = rows.IsMissing(i);
  row["values"] = std::move(values);
  return row;
}

}  // namespace

std::string RenderInfo(const ServerInfo& info, Format format) {
  if (format == Format::kJson) {
    return Dump({{"version", info.version},
                 {"backend", info.backend},
                 {"devices", info.devices},
                 {"max_keys_per_request", info.max_keys_per_request},
                 {"max_message_bytes", info.max_message_bytes}});
  }
  std::string text = absl::StrFormat(
      "version               %s\n"
      "backend               %s\n"
      "max_keys_per_request  %d\n"
      "max_message_bytes     %d (%s)\n",
      info.version, info.backend, info.max_keys_per_request,
      info.max_message_bytes, BytesText(info.max_message_bytes));
  for (const std::string& device : info.devices) {
    absl::StrAppend(&text, "device                ", device, "\n");
  }
  return text;
}

std::string RenderTables(absl::Span<const TableInfo> tables, Format format) {
  if (format == Format::kJson) {
    Json json = Json::array();
    for (const TableInfo& table : tables) json.push_back(TableJson(table));
    return Dump({{"tables", json}});
  }
  if (tables.empty()) return "no tables\n";
  std::string text;
  for (const TableInfo& table : tables) {
    absl::StrAppend(&text, table.name, ": ", table.key_space, ", ",
                    std::string(DataTypeName(table.data_type)), ", dim ",
                    table.dim, ", ", table.num_rows, " rows, revision ",
                    table.revision, "\n");
    for (const TierInfo& tier : table.tiers) text += TierText(tier);
  }
  return text;
}

std::string RenderStages(absl::Span<const StageTimes> stages, Format format) {
  Json json = Json::array();
  std::string text = absl::StrFormat("%-12s  %12s  %10s  %10s  %10s\n", "stage",
                                     "requests", "mean us", "p50 us", "p99 us");
  for (const StageTimes& stage : stages) {
    const HistogramSeries& times = stage.times;
    const double mean_us = 1e6 * times.Mean();
    const double p50_us = 1e6 * times.Quantile(0.5);
    const double p99_us = 1e6 * times.Quantile(0.99);
    json.push_back({{"stage", stage.name},
                    {"requests", static_cast<uint64_t>(times.count)},
                    {"mean_us", mean_us},
                    {"p50_us", p50_us},
                    {"p99_us", p99_us}});
    absl::StrAppendFormat(&text, "%-12s  %12.0f  %10.1f  %10.1f  %10.1f\n",
                          stage.name, times.count, mean_us, p50_us, p99_us);
  }
  return format == Format::kJson ? Dump({{"stages", json}}) : text;
}

std::string RenderHealth(Health health, Format format) {
  if (format == Format::kJson)
    return Dump({{"status", std::string(HealthName(health))}});
  return absl::StrCat(HealthName(health), "\n");
}

std::string RenderRows(absl::string_view table, absl::Span<const NamedKey> keys,
                       const TableRows& rows, Format format) {
  if (format == Format::kText) return RowsText(keys, rows);
  Json json = Json::array();
  for (size_t i = 0; i < keys.size(); ++i) {
    json.push_back(RowJson(keys[i], rows, i));
  }
  return Dump({{"table", std::string(table)},
               {"data_type", std::string(DataTypeName(rows.data_type()))},
               {"dim", rows.dim()},
               {"num_missing", rows.num_missing()},
               {"revision", rows.revision()},
               {"rows", json}});
}

std::string RenderUpdate(absl::string_view table, const UpdateResult& result,
                         Format format) {
  if (format == Format::kJson) {
    return Dump({{"table", std::string(table)},
                 {"num_updated", result.num_updated},
                 {"num_inserted", result.num_inserted},
                 {"num_skipped", result.num_skipped},
                 {"num_evicted", result.num_evicted},
                 {"revision", result.revision}});
  }
  return absl::StrFormat(
      "%d updated, %d inserted, %d skipped, %d evicted; revision %d\n",
      result.num_updated, result.num_inserted, result.num_skipped,
      result.num_evicted, result.revision);
}

std::string RenderErase(absl::string_view table, const EraseResult& result,
                        Format format) {
  if (format == Format::kJson) {
    return Dump({{"table", std::string(table)},
                 {"num_erased", result.num_erased},
                 {"revision", result.revision}});
  }
  return absl::StrFormat("%d erased; revision %d\n", result.num_erased,
                         result.revision);
}

std::string RenderLoad(absl::string_view table, const LoadResult& result,
                       Format format) {
  if (format == Format::kJson) {
    Json json = {{"table", std::string(table)},
                 {"num_rows", result.num_rows},
                 {"num_requests", result.num_requests},
                 {"num_updated", result.num_updated},
                 {"num_inserted", result.num_inserted},
                 {"num_skipped", result.num_skipped},
                 {"num_evicted", result.num_evicted},
                 {"revision", result.revision}};
    if (!result.note.empty()) json["note"] = result.note;
    return Dump(json);
  }
  std::string text = absl::StrFormat(
      "%d rows in %d requests: %d updated, %d inserted, %d skipped, "
      "%d evicted; revision %d\n",
      result.num_rows, result.num_requests, result.num_updated,
      result.num_inserted, result.num_skipped, result.num_evicted,
      result.revision);
  if (!result.note.empty()) absl::StrAppend(&text, "note: ", result.note, "\n");
  return text;
}

}  // namespace gatherd::client
