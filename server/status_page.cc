#include "server/status_page.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/version.h"

namespace gatherd {
namespace {

constexpr char kHead[] =
    R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>gatherd</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; margin-bottom: 1.5em; }
th, td { padding: 0.3em 0.9em; border-bottom: 1px solid #ddd; }
th { text-align: left; } td.n, th.n { text-align: right; }
</style></head><body>
)";

std::string Mebibytes(uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

uint64_t MemoryBytes(const TableStats& stats) {
  uint64_t bytes = 0;
  for (const TierStats& tier : stats.tiers) bytes += tier.memory_bytes;
  return bytes;
}

std::string Tiers(const TableStats& stats) {
  std::string tiers;
  for (const TierStats& tier : stats.tiers) {
    absl::StrAppend(&tiers, tiers.empty() ? "" : ", ",
                    std::string(TierKindName(tier.kind)));
  }
  return tiers;
}

// Names of tables have no characters that HTML gives a meaning.
void AppendTables(const ServingContext& context, std::string* page) {
  absl::StrAppend(
      page,
      "<h2>Tables</h2>\n<table><tr><th>table<th>state<th>type<th class=n>dim"
      "<th>keys<th>tiers<th class=n>rows<th class=n>revision<th class=n>memory"
      "<th class=n>keys looked up</tr>\n");
  for (const auto& entry : context.catalog.entries()) {
    const TableSpec& spec = entry->spec();
    const TableStats stats = entry->Stats();
    absl::StrAppend(page, "<tr><td>", spec.name, "<td>",
                    entry->ready() ? "ready" : "loading", "<td>",
                    std::string(DataTypeName(spec.data_type)), "<td class=n>",
                    spec.dim, "<td>",
                    std::string(KeySpaceName(spec.key_space)));
    absl::StrAppend(page, "<td>", Tiers(stats), "<td class=n>", stats.num_rows,
                    "<td class=n>", stats.revision, "<td class=n>",
                    Mebibytes(MemoryBytes(stats)), "<td class=n>",
                    context.metrics.tables().num_looked_up(*entry), "</tr>\n");
  }
  absl::StrAppend(page, "</table>\n");
}

void AppendMethods(const ServingContext& context, std::string* page) {
  const RpcMetrics& rpcs = context.metrics.rpcs();
  absl::StrAppend(page,
                  "<h2>Calls</h2>\n<table><tr><th>method<th class=n>started"
                  "<th class=n>OK<th class=n>failed</tr>\n");
  for (size_t i = 0; i < kNumRpcMethods; ++i) {
    const auto method = static_cast<RpcMethod>(i);
    const uint64_t num_ok = rpcs.num_handled(method, absl::StatusCode::kOk);
    uint64_t num_failed = 0;
    for (size_t code = 1; code < kNumRpcCodes; ++code) {
      num_failed +=
          rpcs.num_handled(method, static_cast<absl::StatusCode>(code));
    }
    absl::StrAppend(page, "<tr><td>", std::string(RpcMethodName(method)),
                    "<td class=n>", rpcs.num_started(method), "<td class=n>",
                    num_ok);
    absl::StrAppend(page, "<td class=n>", num_failed, "</tr>\n");
  }
  absl::StrAppend(page, "</table>\n");
}

}  // namespace

const char* ServingPhaseName(ServingPhase phase) {
  switch (phase) {
    case ServingPhase::kLoading:
      return "loading";
    case ServingPhase::kServing:
      return "serving";
    case ServingPhase::kDraining:
    case ServingPhase::kRefusing:
      return "draining";
  }
  return "unknown";
}

std::string RenderStatusPage(const ServingContext& context,
                             const std::string& backend) {
  std::string page = kHead;
  absl::StrAppend(&page, "<h1>gatherd ", kGatherdVersion, "</h1>\n<p>",
                  ServingPhaseName(context.state.phase()), " on the ", backend,
                  " backend; ", context.admission.num_requests(),
                  " requests with ", Mebibytes(context.admission.num_bytes()),
                  " in flight, ", context.dispatcher.num_queued(),
                  " waiting.</p>\n");
  AppendTables(context, &page);
  AppendMethods(context, &page);
  absl::StrAppend(&page, "<p><a href=\"metrics\">metrics</a>, ",
                  "<a href=\"readyz\">readyz</a>, ",
                  "<a href=\"livez\">livez</a></p>\n</body></html>\n");
  return page;
}

}  // namespace gatherd
