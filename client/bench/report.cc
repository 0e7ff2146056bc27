#include "client/bench/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gatherd::client {
namespace {

using Json = nlohmann::ordered_json;

const char* PoolingName(Pooling pooling) {
  switch (pooling) {
    case Pooling::kNone:
      return "none";
    case Pooling::kSum:
      return "sum";
    case Pooling::kMean:
      return "mean";
  }
  return "unknown";
}

double PerSecond(uint64_t num, const LoadResult& result) {
  return static_cast<double>(num) / result.seconds;
}

std::string MethodText(const char* name, const MethodResult& method,
                       const LoadResult& result) {
  if (method.num_calls == 0 && method.latency.max_us == 0) return "";
  const LatencySummary& latency = method.latency;
  return absl::StrFormat(
      "  %s: %.0f calls/s, %.4g M keys/s, %.4g GB/s; us: p50 %.0f, p90 %.0f, "
      "p99 %.0f, p99.9 %.0f, max %.0f\n",
      name, PerSecond(method.num_calls, result),
      PerSecond(method.num_keys, result) / 1e6,
      PerSecond(method.num_bytes, result) / 1e9, latency.p50_us, latency.p90_us,
      latency.p99_us, latency.p999_us, latency.max_us);
}

Json MethodJson(const MethodResult& method, const LoadResult& result) {
  const LatencySummary& latency = method.latency;
  return {{"calls", method.num_calls},
          {"calls_per_s", PerSecond(method.num_calls, result)},
          {"keys_per_s", PerSecond(method.num_keys, result)},
          {"bytes_per_s", PerSecond(method.num_bytes, result)},
          {"latency_us",
           {{"mean", latency.mean_us},
            {"p50", latency.p50_us},
            {"p90", latency.p90_us},
            {"p99", latency.p99_us},
            {"p99.9", latency.p999_us},
            {"max", latency.max_us}}}};
}

Json RunJson(const Run& run) {
  const LoadResult& result = run.result;
  Json json;
  json["loop"] = run.calls_per_s.has_value() ? "open" : "closed";
  if (run.calls_per_s.has_value()) {
    json["offered_calls_per_s"] = *run.calls_per_s;
  }
  json["callers"] = run.num_callers;
  json["processes"] = run.num_processes;
  json["seconds"] = result.seconds;
  json["lookup"] = MethodJson(result.lookups, result);
  json["update"] = MethodJson(result.updates, result);
  json["errors"] = result.errors;
  json["short_replies"] = result.num_short;
  json["unsent"] = result.num_unsent;
  json["client_cpu_cores"] = result.client_cpu_s / result.seconds;
  return json;
}

Json WorkloadJson(const Workload& workload) {
  Json tables = Json::array();
  for (const TableInfo& table : workload.tables) {
    tables.push_back(
        {{"name", table.name},
         {"dim", table.dim},
         {"data_type", std::string(DataTypeName(table.data_type))}});
  }
  Json json = {{"tables", tables},
               {"keys_per_call", workload.keys_per_call},
               {"rows", workload.rows}};
  json["zipf"] = workload.zipf.has_value() ? Json(*workload.zipf) : Json();
  json["pooling"] = PoolingName(workload.pooling);
  json["hotness"] = workload.hotness;
  json["output_type"] =
      workload.output_type.has_value()
          ? Json(std::string(DataTypeName(*workload.output_type)))
          : Json();
  json["read_fraction"] = workload.read_fraction;
  return json;
}

}  // namespace

std::string DescribeWorkload(const Workload& workload) {
  std::string text;
  for (const TableInfo& table : workload.tables) {
    absl::StrAppend(&text, text.empty() ? "" : " + ", workload.keys_per_call,
                    " keys of ", table.name, " (dim ", table.dim, " ",
                    std::string(DataTypeName(table.data_type)), ")");
  }
  absl::StrAppend(&text, " a call, over ", workload.rows, " rows, ");
  absl::StrAppend(&text, workload.zipf.has_value()
                             ? absl::StrCat("Zipf ", *workload.zipf)
                             : "uniform");
  if (workload.pooling != Pooling::kNone) {
    absl::StrAppend(&text, ", ", PoolingName(workload.pooling), " of ",
                    workload.hotness);
  }
  if (workload.output_type.has_value()) {
    absl::StrAppend(&text, ", as ",
                    std::string(DataTypeName(*workload.output_type)));
  }
  if (workload.read_fraction < 1) {
    absl::StrAppend(&text, ", ", workload.read_fraction * 100, " % lookups");
  }
  return text;
}

std::string RunText(const Run& run) {
  const LoadResult& result = run.result;
  std::string text =
      run.calls_per_s.has_value()
          ? absl::StrFormat("open loop, %.6g calls/s offered\n",
                            *run.calls_per_s)
          : absl::StrFormat("closed loop, %d callers\n", run.num_callers);
  if (run.num_processes > 1) {
    text.insert(text.size() - 1,
                absl::StrCat(", ", run.num_processes, " processes"));
  }
  text += MethodText("lookup", result.lookups, result);
  text += MethodText("update", result.updates, result);
  for (const auto& [code, count] : result.errors) {
    absl::StrAppend(&text, "  errors: ", count, " ", code, "\n");
  }
  if (!result.first_error.empty()) {
    absl::StrAppend(&text, "  first error: ", result.first_error, "\n");
  }
  if (result.num_short > 0) {
    absl::StrAppend(&text, "  replies too short: ", result.num_short, "\n");
  }
  if (result.num_unsent > 0) {
    absl::StrAppend(&text, "  due but never sent: ", result.num_unsent, "\n");
  }
  absl::StrAppendFormat(&text, "  this client used %.2f cores\n",
                        result.client_cpu_s / result.seconds);
  return text;
}

std::string RunsJson(const Workload& workload, absl::Span<const Run> runs) {
  Json json = {{"workload", WorkloadJson(workload)}};
  json["runs"] = Json::array();
  for (const Run& run : runs) json["runs"].push_back(RunJson(run));
  return json.dump(2) + "\n";
}

std::string RunsCsv(const Workload& workload, absl::Span<const Run> runs) {
  std::string csv =
      "offered_calls_per_s,answered_calls_per_s,keys_per_s,mean_us,p50_us,"
      "p90_us,p99_us,p99.9_us,max_us,errors,unsent\n";
  for (const Run& run : runs) {
    const LoadResult& result = run.result;
    const LatencySummary& latency = MainMethod(workload, result).latency;
    uint64_t num_errors = 0;
    for (const auto& [code, count] : result.errors) num_errors += count;
    absl::StrAppendFormat(
        &csv, "%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%d,%d\n",
        run.calls_per_s.has_value() ? absl::StrFormat("%.1f", *run.calls_per_s)
                                    : "",
        AnsweredPerSecond(result),
        PerSecond(result.lookups.num_keys + result.updates.num_keys, result),
        latency.mean_us, latency.p50_us, latency.p90_us, latency.p99_us,
        latency.p999_us, latency.max_us, num_errors, result.num_unsent);
  }
  return csv;
}

const MethodResult& MainMethod(const Workload& workload,
                               const LoadResult& result) {
  return workload.read_fraction > 0 ? result.lookups : result.updates;
}

const Run& MedianRun(const Workload& workload, absl::Span<const Run> runs) {
  std::vector<const Run*> by_p99;
  for (const Run& run : runs) by_p99.push_back(&run);
  const auto middle = by_p99.begin() + (by_p99.size() - 1) / 2;
  std::nth_element(by_p99.begin(), middle, by_p99.end(),
                   [&workload](const Run* a, const Run* b) {
                     return MainMethod(workload, a->result).latency.p99_us <
                            MainMethod(workload, b->result).latency.p99_us;
                   });
  return **middle;
}

double AnsweredPerSecond(const LoadResult& result) {
  return PerSecond(result.lookups.num_calls + result.updates.num_calls, result);
}

}  // namespace gatherd::client
