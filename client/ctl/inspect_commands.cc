#include "client/ctl/command.h"

namespace gatherd::client {

Outcome RunInfo(const CommandInput& input) {
  const absl::StatusOr<ServerInfo> info = input.client.GetServerInfo();
  if (!info.ok()) return Outcome::Failed(info.status());
  return Outcome::Done(RenderInfo(*info, input.format));
}

Outcome RunTables(const CommandInput& input) {
  const auto tables = input.client.ListTables();
  if (!tables.ok()) return Outcome::Failed(tables.status());
  return Outcome::Done(RenderTables(*tables, input.format));
}

Outcome RunHealth(const CommandInput& input) {
  const absl::StatusOr<Health> health = input.client.CheckHealth();
  if (!health.ok()) return Outcome::Failed(health.status());
  Outcome outcome = Outcome::Done(RenderHealth(*health, input.format));
  if (*health != Health::kServing) {
    outcome.kind = Outcome::kFailed;
    outcome.status = absl::UnavailableError("the server is not serving");
  }
  return outcome;
}

}  // namespace gatherd::client
