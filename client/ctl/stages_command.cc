#include <httplib.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/units.h"
#include "client/ctl/command.h"
#include "client/ctl/metrics_text.h"

namespace gatherd::client {
namespace {

constexpr char kDefaultMetrics[] = "localhost:7401";
constexpr int kTimeoutSeconds = 10;

absl::StatusOr<std::string> FetchMetrics(const std::string& address) {
  httplib::Client http("http://" + address);
  if (!http.is_valid()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--metrics: \"", address, "\"; allowed is HOST:PORT"));
  }
  http.set_connection_timeout(kTimeoutSeconds);
  http.set_read_timeout(kTimeoutSeconds);
  const httplib::Result reply = http.Get("/metrics");
  if (!reply) {
    return absl::UnavailableError(
        absl::StrCat("http://", address, "/metrics could not be read: ",
                     httplib::to_string(reply.error()), " failed"));
  }
  if (reply->status != 200) {
    return absl::UnavailableError(
        absl::StrCat("http://", address, "/metrics: status ", reply->status));
  }
  return reply->body;
}

absl::StatusOr<std::vector<StageTimes>> ParseStages(const std::string& text) {
  std::vector<StageTimes> stages;
  for (const absl::string_view name : {"decode", "queue", "device", "encode"}) {
    const std::string label = absl::StrCat("stage=\"", name, "\"");
    auto times = FindHistogram(text, "gatherd_stage_duration_seconds", {label});
    if (!times.ok()) return times.status();
    stages.push_back({std::string(name), *std::move(times)});
  }
  auto calls = FindHistogram(text, "grpc_server_handling_seconds",
                             {"grpc_method=\"Lookup\"", "grpc_type=\"unary\"",
                              "grpc_service=\"gatherd.v1.EmbeddingService\""});
  if (!calls.ok()) return calls.status();
  stages.push_back({"whole Lookup", *std::move(calls)});
  return stages;
}

absl::StatusOr<std::vector<StageTimes>> FetchStages(
    const std::string& address) {
  const absl::StatusOr<std::string> text = FetchMetrics(address);
  if (!text.ok()) return text.status();
  return ParseStages(*text);
}

}  // namespace

Outcome RunStages(const CommandInput& input) {
  const std::string address =
      input.line.Get("metrics").value_or(kDefaultMetrics);
  absl::Duration interval;
  if (const auto text = input.line.Get("interval"); text.has_value()) {
    const absl::StatusOr<absl::Duration> parsed = ParseDuration(*text);
    if (!parsed.ok() || *parsed <= absl::ZeroDuration()) {
      return Outcome::Misused(absl::InvalidArgumentError(absl::StrCat(
          "--interval: \"", *text, "\"; allowed is a duration such as 10s")));
    }
    interval = *parsed;
  }
  if (input.line.Has("address") && !input.line.Has("metrics")) {
    return Outcome::Misused(absl::InvalidArgumentError(
        "stages reads no gRPC address: name the server's metrics_address by "
        "--metrics=HOST:PORT"));
  }
  auto stages = FetchStages(address);
  if (stages.ok() && interval > absl::ZeroDuration()) {
    absl::SleepFor(interval);
    const auto earlier = *std::move(stages);
    stages = FetchStages(address);
    for (size_t i = 0; stages.ok() && i < earlier.size(); ++i) {
      absl::Status status = (*stages)[i].times.Subtract(earlier[i].times);
      if (!status.ok()) stages = std::move(status);
    }
  }
  if (absl::IsInvalidArgument(stages.status())) {
    return Outcome::Misused(stages.status());
  }
  if (!stages.ok()) return Outcome::Failed(stages.status());
  return Outcome::Done(RenderStages(*stages, input.format));
}

}  // namespace gatherd::client
