#include "client/bench/find_tables.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace gatherd::client {

absl::StatusOr<std::vector<TableInfo>> FindTables(
    Client& client, const std::vector<std::string>& names) {
  absl::StatusOr<std::vector<TableInfo>> all = client.ListTables();
  if (!all.ok()) return all.status();
  std::vector<TableInfo> found;
  for (const std::string& name : names) {
    const auto table =
        std::find_if(all->begin(), all->end(),
                     [&](const TableInfo& info) { return info.name == name; });
    if (table == all->end()) {
      return absl::NotFoundError(
          absl::StrCat("table \"", name, "\" does not exist"));
    }
    found.push_back(*table);
  }
  return found;
}

}  // namespace gatherd::client
