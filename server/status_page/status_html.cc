#include "server/status_page/status_html.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/recent_refusals.h"
#include "server/status_page/links_html.h"
#include "server/status_page/page_files.h"
#include "server/status_page/status_text.h"

namespace gatherd {
namespace {

using Json = nlohmann::ordered_json;

// How a value is written; page.js knows them by these names.
enum class Format {
  kText,
  kCount,
  kBytes,
  kPercent,
  kDuration,
  kUptime,
  kShards,
  kRate,
  kProse,  // text of any length, of a row's own line where it is narrow
  kTime
};
constexpr const char* kFormatNames[] = {
    "text",   "count",  "bytes", "percent", "duration",
    "uptime", "shards", "rate",  "prose",   "time"};

struct Column {
  const char* title;
  const char* field;
  Format format = Format::kCount;
};

// A bar for each device, as long as its share of the fullest.
std::string ShardsHtml(const Json& shards) {
  uint64_t most = 1;
  for (const Json& shard : shards) {
    most = std::max(most, shard.at("rows").get<uint64_t>());
  }
  std::string html;
  for (const Json& shard : shards) {
    const auto rows = shard.at("rows").get<uint64_t>();
    const std::string text = absl::StrCat("GPU ", shard.at("device").get<int>(),
                                          ": ", CountText(rows));
    absl::StrAppend(&html, "<span class=\"shard\"><meter max=\"", most,
                    "\" value=\"", rows, "\" aria-label=\"", text,
                    "\"></meter> ", text, "</span>");
  }
  return html.empty() ? "–" : html;
}

std::string ValueHtml(const Json& value, Format format) {
  if (value.is_null()) return "–";
  switch (format) {
    case Format::kText:
    case Format::kProse:
      return HtmlText(value.is_string() ? value.get<std::string>()
                                        : value.dump());
    case Format::kCount:
      return CountText(value.get<uint64_t>());
    case Format::kBytes:
      return BytesText(value.get<uint64_t>());
    case Format::kPercent:
      return PercentText(value.get<double>());
    case Format::kDuration:
      return DurationText(value.get<double>());
    case Format::kUptime:
      return UptimeText(value.get<uint64_t>());
    case Format::kShards:
      return ShardsHtml(value);
    case Format::kTime:
      return TimeText(value.get<int64_t>());
    case Format::kRate:  // takes two documents: the script's
      return "–";
  }
  return "";
}

// An element's attributes and content, for the value at a JSON pointer.
std::string Bound(const Json& status, const std::string& pointer,
                  Format format) {
  const Json::json_pointer place(pointer);
  return absl::StrCat(
      " data-at=\"", pointer, "\" data-as=\"",
      kFormatNames[static_cast<size_t>(format)], "\">",
      ValueHtml(status.contains(place) ? status.at(place) : Json(), format));
}

// The head of the page: names and values.
std::string FactsHtml(const Json& status, const std::vector<Column>& facts) {
  std::string html = "<dl>";
  for (const Column& fact : facts) {
    absl::StrAppend(&html, "<div><dt>", fact.title, "</dt><dd",
                    Bound(status, absl::StrCat("/", fact.field), fact.format),
                    "</dd></div>\n");
  }
  return absl::StrCat(html, "</dl>\n");
}

// Attributes of an element that is hidden while the document has no value at a
// JSON pointer, or while it has one.
std::string ShownIf(const Json& status, const std::string& pointer) {
  return absl::StrCat(
      " data-if=\"", pointer, "\"",
      status.contains(Json::json_pointer(pointer)) ? "" : " hidden");
}

std::string ShownUnless(const Json& status, const std::string& pointer) {
  return absl::StrCat(
      " data-unless=\"", pointer, "\"",
      status.contains(Json::json_pointer(pointer)) ? " hidden" : "");
}

// A row for each element of an array of the document; its first column names
// the row. The roles are those that the elements have anyway: they stay when
// the style shows rows as blocks on narrow screens. `most_rows`, if not 0: the
// array grows up to so many, rows for which are there and hidden.
std::string TableHtml(const Json& status, const char* array,
                      const char* caption, const std::vector<Column>& columns,
                      size_t most_rows = 0) {
  std::string html =
      absl::StrCat("<table role=\"table\"><caption>", caption,
                   "</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">");
  for (const Column& column : columns) {
    absl::StrAppend(&html, "<th role=\"columnheader\" scope=\"col\" data-as=\"",
                    kFormatNames[static_cast<size_t>(column.format)], "\">",
                    column.title, "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody role=\"rowgroup\">\n");
  const size_t num_rows = std::max(most_rows, status.at(array).size());
  for (size_t row = 0; row < num_rows; ++row) {
    const std::string place = absl::StrCat("/", array, "/", row);
    absl::StrAppend(&html, "<tr role=\"row\"",
                    most_rows == 0 ? "" : ShownIf(status, place), ">");
    for (size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      const char* open =
          i == 0 ? "<th role=\"rowheader\" scope=\"row\"" : "<td role=\"cell\"";
      absl::StrAppend(&html, open, " data-label=\"", column.title, "\"");
      absl::StrAppend(
          &html,
          Bound(status, absl::StrCat(place, "/", column.field), column.format),
          i == 0 ? "</th>" : "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody></table>\n");
}

std::string TablesHtml(const Json& status) {
  return absl::StrCat(
      TableHtml(status, "tables", "What each table is and holds",
                {{"table", "name", Format::kText},
                 {"state", "state", Format::kText},
                 {"keys", "key_space", Format::kText},
                 {"type", "data_type", Format::kText},
                 {"dim", "dim"},
                 {"rows", "rows"},
                 {"memory", "memory_bytes", Format::kBytes},
                 {"revision", "revision"},
                 {"keys found", "found"},
                 {"keys missing", "missing"},
                 {"keys updated", "updated"},
                 {"keys inserted", "inserted"},
                 {"keys erased", "erased"}}),
      TableHtml(status, "tiers", "Where their rows are",
                {{"table", "table", Format::kText},
                 {"tier", "tier", Format::kText},
                 {"rows", "rows"},
                 {"capacity", "capacity_rows"},
                 {"memory", "memory_bytes", Format::kBytes},
                 {"hit rate", "hit_rate", Format::kPercent},
                 {"evictions", "evictions"},
                 {"rows per device", "rows_per_device", Format::kShards}}));
}

std::string DevicesHtml(const Json& status) {
  if (status.at("devices").empty()) return "";
  return absl::StrCat(
      "<section aria-labelledby=\"devices\"><h2 id=\"devices\">Devices</h2>\n",
      TableHtml(status, "devices", "GPUs, and the rows that each has read",
                {{"GPU", "device"},
                 {"description", "description", Format::kText},
                 {"memory used", "used_bytes", Format::kBytes},
                 {"memory free", "free_bytes", Format::kBytes},
                 {"local rows", "rows_read_local"},
                 {"remote rows", "rows_read_remote"}}),
      LinksHtml(status.at("links")), "</section>\n");
}

std::string RequestsHtml(const Json& status) {
  return absl::StrCat(
      TableHtml(status, "methods", "Calls since the start, by method",
                {{"method", "name", Format::kText},
                 {"started", "started"},
                 {"OK", "ok"},
                 {"failed", "failed"},
                 {"requests", "requests"},
                 {"keys", "keys"},
                 {"p50", "p50_seconds", Format::kDuration},
                 {"p99", "p99_seconds", Format::kDuration}}),
      TableHtml(status, "stages", "Stages of requests since the start",
                {{"stage", "name", Format::kText},
                 {"times", "count"},
                 {"mean", "mean_seconds", Format::kDuration}}),
      TableHtml(status, "refusals", "Requests refused, by reason",
                {{"reason", "reason", Format::kText},
                 {"since the start", "total"},
                 {"in the last minute", "total", Format::kRate}}));
}

// Rows for as many as there can be: the script fills and shows them as refusals
// come.
std::string RefusalsHtml(const Json& status) {
  return absl::StrCat(
      "<p", ShownUnless(status, "/recent_refusals/0"),
      ">None since the start.</p>\n<div", ShownIf(status, "/recent_refusals/0"),
      ">",
      TableHtml(status, "recent_refusals",
                "The last calls refused or failed, the newest first",
                {{"time", "time_us", Format::kTime},
                 {"method", "method", Format::kText},
                 {"code", "code", Format::kText},
                 {"reason", "text", Format::kProse}},
                RecentRefusals::kMaxListed),
      "<p>Of each code at most ", RecentRefusals::kMaxPerSecond,
      " a second are listed; left out since the start: <b",
      Bound(status, "/recent_refusals_left_out", Format::kCount),
      "</b></p></div>\n");
}

}  // namespace

std::string RenderStatusHtml(const Json& status) {
  return absl::StrReplaceAll(
      kStatusPageTemplate,
      {{"{{start}}", status.at("start_time_us").dump()},
       {"{{facts}}",
        FactsHtml(status,
                  {{"phase", "phase", Format::kText},
                   {"version", "version", Format::kText},
                   {"backend", "backend", Format::kText},
                   {"address", "address", Format::kText},
                   {"up for", "uptime_seconds", Format::kUptime},
                   {"requests in flight", "inflight_requests"},
                   {"bytes in flight", "inflight_bytes", Format::kBytes},
                   {"queue", "queue_requests"}})},
       {"{{tables}}", TablesHtml(status)},
       {"{{devices}}", DevicesHtml(status)},
       {"{{requests}}", RequestsHtml(status)},
       {"{{refusals}}", RefusalsHtml(status)}});
}

}  // namespace gatherd
