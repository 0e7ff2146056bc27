#include "client/ctl/arguments.h"
#include "client/ctl/command.h"

namespace gatherd::client {

Outcome RunLookup(const CommandInput& input) {
  const std::string& table = input.words[0];
  const absl::Span<const std::string> words = input.words.subspan(1);
  const absl::StatusOr<std::vector<int64_t>> keys = ParseKeys(words);
  if (!keys.ok()) return Outcome::Misused(keys.status());

  // A missing key is an answer here, whatever the table's policy.
  TableLookup lookup{table, *keys};
  lookup.missing_key_policy = MissingKeyPolicy::kDefaultRow;
  const absl::StatusOr<LookupReply> reply = input.client.Lookup({lookup});
  if (!reply.ok()) return Outcome::Failed(reply.status());
  const TableRows& rows = (*reply)[0];
  if (rows.num_rows() != keys->size()) {
    return Outcome::Failed(
        absl::InternalError("reply: has not one row for each key"));
  }

  std::vector<NamedKey> named;
  for (size_t i = 0; i < keys->size(); ++i) {
    named.push_back({(*keys)[i], words[i]});
  }
  return Outcome::Done(RenderRows(table, named, rows, input.format));
}

Outcome RunUpdate(const CommandInput& input) {
  const std::string& table = input.words[0];
  const absl::StatusOr<UpdateMode> mode =
      ParseUpdateMode(input.line.Get("mode").value_or("set"));
  if (!mode.ok()) return Outcome::Misused(mode.status());
  const absl::StatusOr<RowArguments> rows = ParseRows(input.words.subspan(1));
  if (!rows.ok()) return Outcome::Misused(rows.status());

  const auto results = input.client.Update(
      {{table, rows->keys, DataType::kFloat32, AsBytes(rows->values), *mode}});
  if (!results.ok()) return Outcome::Failed(results.status());
  return Outcome::Done(RenderUpdate(table, (*results)[0], input.format));
}

Outcome RunErase(const CommandInput& input) {
  const std::string& table = input.words[0];
  const absl::StatusOr<std::vector<int64_t>> keys =
      ParseKeys(input.words.subspan(1));
  if (!keys.ok()) return Outcome::Misused(keys.status());

  const auto results = input.client.Erase({{table, *keys}});
  if (!results.ok()) return Outcome::Failed(results.status());
  return Outcome::Done(RenderErase(table, (*results)[0], input.format));
}

}  // namespace gatherd::client
