#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ctl/command.h"
#include "client/ctl/npy_rows.h"
#include "client/request_size.h"

namespace gatherd::client {
namespace {

absl::StatusOr<TableInfo> FindTable(Client& client, const std::string& name) {
  absl::StatusOr<std::vector<TableInfo>> tables = client.ListTables();
  if (!tables.ok()) return tables.status();
  for (TableInfo& table : *tables) {
    if (table.name == name) return std::move(table);
  }
  return absl::NotFoundError(
      absl::StrCat("table \"", name, "\" does not exist"));
}

absl::Status CheckFits(const NpyRows& rows, const std::string& path,
                       const TableInfo& table) {
  const std::string prefix =
      absl::StrCat(path, " and table \"", table.name, "\": ");
  if (rows.dim() != table.dim) {
    return absl::InvalidArgumentError(
        absl::StrCat(prefix, "rows have ", rows.dim(), " values; the table's ",
                     "dim is ", table.dim));
  }
  if (!rows.has_keys() && rows.num_rows() > table.num_rows) {
    return absl::InvalidArgumentError(
        absl::StrCat(prefix, "the file has ", rows.num_rows(),
                     " rows; the table has room for ", table.num_rows));
  }
  return absl::OkStatus();
}

void Add(const UpdateResult& result, LoadResult& sum) {
  ++sum.num_requests;
  sum.num_updated += result.num_updated;
  sum.num_inserted += result.num_inserted;
  sum.num_skipped += result.num_skipped;
  sum.num_evicted += result.num_evicted;
  sum.revision = result.revision;
}

// Whoever reads the error must know that the rows before it are written.
absl::Status AfterRows(uint64_t num_rows, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " (after ", num_rows,
                                   " rows were written)"));
}

Outcome WriteRows(Client& client, const TableInfo& table, const NpyRows& rows,
                  size_t rows_per_request, Format format) {
  LoadResult sum;
  std::vector<int64_t> keys;
  std::vector<std::byte> values;
  while (sum.num_rows < rows.num_rows()) {
    const size_t num = static_cast<size_t>(
        std::min<uint64_t>(rows_per_request, rows.num_rows() - sum.num_rows));
    if (absl::Status status = rows.Read(sum.num_rows, num, keys, values);
        !status.ok()) {
      return Outcome::Failed(AfterRows(sum.num_rows, status));
    }
    const auto results =
        client.Update({{table.name, keys, rows.data_type(), values}});
    if (!results.ok()) {
      return Outcome::Failed(AfterRows(sum.num_rows, results.status()));
    }
    Add((*results)[0], sum);
    sum.num_rows += num;
  }
  if (absl::Status status = rows.CheckUnchanged(); !status.ok()) {
    return Outcome::Failed(AfterRows(sum.num_rows, status));
  }
  if (rows.is_narrowed()) sum.note = "float64 values were rounded to float32";
  return Outcome::Done(RenderLoad(table.name, sum, format));
}

}  // namespace

Outcome RunLoad(const CommandInput& input) {
  const std::string& path = input.words[1];
  const absl::StatusOr<NpyRows> rows =
      NpyRows::Open(path, input.line.Get("keys"));
  if (!rows.ok()) return Outcome::Failed(rows.status());

  const absl::StatusOr<TableInfo> table =
      FindTable(input.client, input.words[0]);
  if (!table.ok()) return Outcome::Failed(table.status());
  if (!rows->has_keys() && table->key_space != "dense") {
    return Outcome::Misused(absl::InvalidArgumentError(
        absl::StrCat("table \"", table->name, "\" is ", table->key_space,
                     ": its rows need --keys")));
  }
  if (absl::Status status = CheckFits(*rows, path, *table); !status.ok()) {
    return Outcome::Failed(status);
  }

  const absl::StatusOr<ServerInfo> info = input.client.GetServerInfo();
  if (!info.ok()) return Outcome::Failed(info.status());
  const size_t row_bytes = RowBytes(rows->data_type(), table->dim);
  return WriteRows(input.client, *table, *rows,
                   RowsPerRequest(*info, row_bytes), input.format);
}

Outcome RunSave(const CommandInput&) {
  return Outcome::Failed(
      absl::UnimplementedError("save comes with a later version"));
}

}  // namespace gatherd::client
