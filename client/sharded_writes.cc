#include "client/sharded_writes.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gatherd::client {

absl::StatusOr<ShardedUpdate> ShardedUpdate::Create(const TableUpdate& update,
                                                    const Rendezvous& owners,
                                                    size_t num_servers) {
  const size_t num_keys = update.keys.size() + update.keys32.size();
  const size_t num_bytes = update.values.size();
  if (num_keys == 0 ? num_bytes > 0 : num_bytes % num_keys != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("table \"", std::string(update.table), "\": values has ",
                     num_bytes, " bytes, which are not ", num_keys, " rows"));
  }
  absl::StatusOr<std::vector<KeyPart>> parts =
      SplitKeys(update.table, update.keys, update.keys32, owners, num_servers);
  if (!parts.ok()) return parts.status();
  ShardedUpdate sharded(update);
  sharded.parts_ = *std::move(parts);
  sharded.values_.resize(num_servers);
  const size_t row_bytes = num_keys == 0 ? 0 : num_bytes / num_keys;
  for (size_t i = 0; i < num_servers; ++i) {
    std::vector<std::byte>& values = sharded.values_[i];
    values.reserve(sharded.parts_[i].places.size() * row_bytes);
    for (const uint32_t place : sharded.parts_[i].places) {
      const auto row = update.values.subspan(place * row_bytes, row_bytes);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return sharded;
}

TableUpdate ShardedUpdate::Request(size_t server) const {
  TableUpdate request = update_;
  request.keys = parts_[server].keys;
  request.keys32 = parts_[server].keys32;
  request.values = values_[server];
  return request;
}

absl::StatusOr<ShardedErase> ShardedErase::Create(const TableErase& erase,
                                                  const Rendezvous& owners,
                                                  size_t num_servers) {
  absl::StatusOr<std::vector<KeyPart>> parts =
      SplitKeys(erase.table, erase.keys, erase.keys32, owners, num_servers);
  if (!parts.ok()) return parts.status();
  ShardedErase sharded(erase);
  sharded.parts_ = *std::move(parts);
  return sharded;
}

TableErase ShardedErase::Request(size_t server) const {
  return {erase_.table, parts_[server].keys, parts_[server].keys32};
}

}  // namespace gatherd::client
