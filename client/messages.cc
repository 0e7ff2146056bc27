#include "client/messages.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gatherd::client {
namespace {

v1::DataType ToMessage(DataType type) {
  return static_cast<v1::DataType>(type);
}

// Of any request.
template <typename Request, typename Message>
void SetKeys(const Request& request, Message* message) {
  message->mutable_keys()->Add(request.keys.begin(), request.keys.end());
  message->mutable_keys32()->Add(request.keys32.begin(), request.keys32.end());
}

TierInfo FromMessage(const v1::TierInfo& message) {
  TierInfo tier;
  tier.kind = message.kind();
  tier.capacity_rows = message.capacity_rows();
  tier.num_rows = message.num_rows();
  tier.memory_bytes = message.memory_bytes();
  tier.rows_per_device.assign(message.rows_per_device().begin(),
                              message.rows_per_device().end());
  return tier;
}

}  // namespace

v1::LookupRequest ToMessage(absl::Span<const TableLookup> lookups) {
  v1::LookupRequest request;
  for (const TableLookup& lookup : lookups) {
    v1::TableLookup* message = request.add_lookups();
    message->set_table(std::string(lookup.table));
    SetKeys(lookup, message);
    message->set_pooling(static_cast<v1::Pooling>(lookup.pooling));
    message->mutable_offsets()->Add(lookup.offsets.begin(),
                                    lookup.offsets.end());
    message->mutable_weights()->Add(lookup.weights.begin(),
                                    lookup.weights.end());
    if (lookup.output_type.has_value()) {
      message->set_output_type(ToMessage(*lookup.output_type));
    }
    message->set_missing_key_policy(
        static_cast<v1::MissingKeyPolicy>(lookup.missing_key_policy));
  }
  return request;
}

v1::UpdateRequest ToMessage(absl::Span<const TableUpdate> updates) {
  v1::UpdateRequest request;
  for (const TableUpdate& update : updates) {
    v1::TableUpdate* message = request.add_updates();
    message->set_table(std::string(update.table));
    SetKeys(update, message);
    message->set_data_type(ToMessage(update.data_type));
    message->set_values(update.values.data(), update.values.size());
    message->set_mode(static_cast<v1::UpdateMode>(update.mode));
  }
  return request;
}

v1::EraseRequest ToMessage(absl::Span<const TableErase> erases) {
  v1::EraseRequest request;
  for (const TableErase& erase : erases) {
    v1::TableErase* message = request.add_erases();
    message->set_table(std::string(erase.table));
    SetKeys(erase, message);
  }
  return request;
}

absl::Status CheckNumResults(size_t num_results, size_t num_requests) {
  if (num_results == num_requests) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "reply: has ", num_results, " results for ", num_requests, " requests"));
}

absl::StatusOr<std::vector<UpdateResult>> FromMessage(
    const v1::UpdateResponse& response, size_t num_updates) {
  if (absl::Status status =
          CheckNumResults(response.results_size(), num_updates);
      !status.ok()) {
    return status;
  }
  std::vector<UpdateResult> results;
  for (const v1::UpdateResult& message : response.results()) {
    UpdateResult& result = results.emplace_back();
    result.num_updated = message.num_updated();
    result.num_inserted = message.num_inserted();
    result.num_skipped = message.num_skipped();
    result.num_evicted = message.num_evicted();
    result.revision = message.revision();
  }
  return results;
}

absl::StatusOr<std::vector<EraseResult>> FromMessage(
    const v1::EraseResponse& response, size_t num_erases) {
  if (absl::Status status =
          CheckNumResults(response.results_size(), num_erases);
      !status.ok()) {
    return status;
  }
  std::vector<EraseResult> results;
  for (const v1::EraseResult& message : response.results()) {
    results.push_back({message.num_erased(), message.revision()});
  }
  return results;
}

std::vector<TableInfo> FromMessage(const v1::ListTablesResponse& response) {
  std::vector<TableInfo> tables;
  for (const v1::TableInfo& message : response.tables()) {
    TableInfo& table = tables.emplace_back();
    table.name = message.name();
    table.data_type = static_cast<DataType>(message.data_type());
    table.dim = message.dim();
    table.key_space = message.key_space();
    table.num_rows = message.num_rows();
    table.revision = message.revision();
    for (const v1::TierInfo& tier : message.tiers()) {
      table.tiers.push_back(FromMessage(tier));
    }
  }
  return tables;
}

ServerInfo FromMessage(const v1::GetServerInfoResponse& response) {
  ServerInfo info;
  info.version = response.version();
  info.backend = response.backend();
  info.devices.assign(response.devices().begin(), response.devices().end());
  info.max_keys_per_request = response.max_keys_per_request();
  info.max_message_bytes = response.max_message_bytes();
  return info;
}

}  // namespace gatherd::client
