#include "client/sharded_lookup.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gatherd::client {
namespace {

absl::Status Invalid(const TableLookup& lookup, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("table \"", std::string(lookup.table), "\": ", what));
}

absl::Status CheckOffsets(const TableLookup& lookup, size_t num_keys) {
  if (lookup.offsets.empty()) {
    if (num_keys == 0) return absl::OkStatus();
    return Invalid(lookup, absl::StrCat("offsets is empty, but there are ",
                                        num_keys, " keys"));
  }
  uint32_t last = 0;
  for (const uint32_t offset : lookup.offsets) {
    if (offset < last || offset > num_keys) {
      return Invalid(lookup, absl::StrCat("offsets has ", offset, " after ",
                                          last, " for ", num_keys, " keys"));
    }
    last = offset;
  }
  if (lookup.offsets[0] == 0) return absl::OkStatus();
  return Invalid(lookup, absl::StrCat("offsets[0] is ", lookup.offsets[0],
                                      "; it must be 0"));
}

absl::Status Check(const TableLookup& lookup) {
  const size_t num_keys = lookup.keys.size() + lookup.keys32.size();
  if (!lookup.weights.empty() && lookup.weights.size() != num_keys) {
    return Invalid(lookup, absl::StrCat("weights has ", lookup.weights.size(),
                                        " values for ", num_keys, " keys"));
  }
  if (lookup.pooling == Pooling::kNone) {
    if (lookup.offsets.empty() && lookup.weights.empty()) {
      return absl::OkStatus();
    }
    return Invalid(lookup, "offsets and weights are for pooling");
  }
  if (lookup.output_type.value_or(DataType::kFloat32) != DataType::kFloat32) {
    return Invalid(lookup,
                   "pooled rows of several servers are added up as float32, "
                   "which is the only output_type they have");
  }
  return CheckOffsets(lookup, num_keys);
}

}  // namespace

absl::StatusOr<ShardedLookup> ShardedLookup::Create(const TableLookup& lookup,
                                                    const Rendezvous& owners,
                                                    size_t num_servers) {
  if (absl::Status status = Check(lookup); !status.ok()) return status;
  absl::StatusOr<std::vector<KeyPart>> keys =
      SplitKeys(lookup.table, lookup.keys, lookup.keys32, owners, num_servers);
  if (!keys.ok()) return keys.status();
  ShardedLookup sharded(lookup);
  sharded.parts_.resize(num_servers);
  for (size_t i = 0; i < num_servers; ++i) {
    sharded.parts_[i].keys = std::move((*keys)[i]);
    if (sharded.IsPooled()) sharded.FillBags(sharded.parts_[i]);
  }
  return sharded;
}

void ShardedLookup::FillBags(Part& part) const {
  const std::vector<uint32_t>& places = part.keys.places;
  uint32_t bag = 0;
  for (uint32_t i = 0; i < places.size(); ++i) {
    while (bag + 1 < lookup_.offsets.size() &&
           lookup_.offsets[bag + 1] <= places[i]) {
      ++bag;
    }
    if (part.bags.empty() || part.bags.back() != bag) {
      part.bags.push_back(bag);
      part.offsets.push_back(i);
    }
    if (!lookup_.weights.empty()) {
      part.weights.push_back(lookup_.weights[places[i]]);
    }
  }
}

TableLookup ShardedLookup::Request(size_t server) const {
  const Part& part = parts_[server];
  TableLookup request = lookup_;
  request.keys = part.keys.keys;
  request.keys32 = part.keys.keys32;
  if (IsPooled()) {
    request.pooling = Pooling::kSum;
    request.offsets = part.offsets;
    request.weights = part.weights;
    request.output_type = DataType::kFloat32;
  }
  return request;
}

absl::StatusOr<TableRows> ShardedLookup::Merge(
    absl::Span<const TableRows* const> answers, const TableShape& known,
    std::vector<std::byte>* values, std::string* missing) const {
  absl::StatusOr<TableRows::Fields> fields = FindShape(answers, known);
  if (!fields.ok()) return fields.status();
  const size_t num_rows = IsPooled() ? lookup_.offsets.size() : num_keys();
  values->resize(num_rows * RowBytes(fields->data_type, fields->dim));
  std::vector<float> sums(IsPooled() ? num_rows * fields->dim : 0);
  std::vector<float> weights(IsPooled() ? num_rows : 0);
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == nullptr) continue;
    if (IsPooled()) {
      AddBags(parts_[i], *answers[i], sums.data(), weights);
    } else {
      Scatter(parts_[i], *answers[i], values->data());
    }
  }
  if (lookup_.pooling == Pooling::kMean) {
    for (size_t i = 0; i < sums.size(); ++i) {
      const float weight = weights[i / fields->dim];
      sums[i] = weight == 0 ? 0 : sums[i] / weight;
    }
  }
  if (!sums.empty()) {
    std::memcpy(values->data(), sums.data(), sums.size() * sizeof(float));
  }
  fields->num_missing = MergeMissing(answers, missing);
  fields->missing = *missing;
  fields->num_rows = static_cast<uint32_t>(num_rows);
  fields->values = {reinterpret_cast<const char*>(values->data()),
                    values->size()};
  return TableRows::Create(*fields);
}

absl::StatusOr<TableRows::Fields> ShardedLookup::FindShape(
    absl::Span<const TableRows* const> answers, const TableShape& known) const {
  TableRows::Fields fields;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == nullptr) continue;
    const TableRows& rows = *answers[i];
    const Part& part = parts_[i];
    if (rows.num_rows() != (IsPooled() ? part.bags : part.keys.places).size()) {
      return absl::InternalError(absl::StrCat(
          "table \"", std::string(lookup_.table), "\": a server answered ",
          rows.num_rows(), " rows to ", part.keys.places.size(), " keys"));
    }
    if (fields.dim != 0 &&
        (fields.dim != rows.dim() || fields.data_type != rows.data_type())) {
      return absl::FailedPreconditionError(absl::StrCat(
          "table \"", std::string(lookup_.table),
          "\" is not the same on all servers: ",
          std::string(DataTypeName(fields.data_type)), " of dim ", fields.dim,
          ", and ", std::string(DataTypeName(rows.data_type())), " of dim ",
          rows.dim()));
    }
    fields.dim = rows.dim();
    fields.data_type = rows.data_type();
  }
  if (fields.dim != 0) return fields;
  const std::optional<DataType> type = IsPooled() ? DataType::kFloat32
                                       : lookup_.output_type.has_value()
                                           ? lookup_.output_type
                                           : known.data_type;
  if (known.dim == 0 || !type.has_value()) {
    return absl::UnavailableError(
        absl::StrCat("table \"", std::string(lookup_.table),
                     "\": its keys are on lost servers alone, and no earlier "
                     "answer tells what its rows look like"));
  }
  fields.dim = known.dim;
  fields.data_type = *type;
  return fields;
}

uint32_t ShardedLookup::MergeMissing(absl::Span<const TableRows* const> answers,
                                     std::string* missing) const {
  uint32_t num_missing = 0;
  const auto mark = [&](uint32_t place) {
    if (missing->empty()) missing->assign((num_keys() + 7) / 8, '\0');
    char& byte = (*missing)[place >> 3];
    byte = static_cast<char>(byte | 1 << (place & 7));
    ++num_missing;
  };
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::vector<uint32_t>& places = parts_[i].keys.places;
    if (answers[i] != nullptr && answers[i]->num_missing() == 0) continue;
    for (size_t j = 0; j < places.size(); ++j) {
      if (answers[i] == nullptr || answers[i]->IsMissing(j)) mark(places[j]);
    }
  }
  return num_missing;
}

void ShardedLookup::Scatter(const Part& part, const TableRows& rows,
                            std::byte* values) const {
  const size_t row_bytes = rows.row_bytes();
  rows.VisitRuns([&](uint32_t first_row, absl::Span<const std::byte> bytes) {
    for (size_t i = 0; i * row_bytes < bytes.size(); ++i) {
      std::memcpy(values + part.keys.places[first_row + i] * row_bytes,
                  bytes.data() + i * row_bytes, row_bytes);
    }
  });
}

void ShardedLookup::AddBags(const Part& part, const TableRows& rows,
                            float* sums, std::vector<float>& weights) const {
  const size_t dim = rows.dim();
  std::vector<float> row(dim);
  for (size_t i = 0; i < part.bags.size(); ++i) {
    rows.ReadFloats(i, row.data());
    float* sum = sums + part.bags[i] * dim;
    for (size_t j = 0; j < dim; ++j) sum[j] += row[j];
    const size_t end = i + 1 < part.bags.size() ? part.offsets[i + 1]
                                                : part.keys.places.size();
    float& weight = weights[part.bags[i]];
    for (size_t j = part.offsets[i]; j < end; ++j) {
      weight += part.weights.empty() ? 1 : part.weights[j];
    }
  }
}

}  // namespace gatherd::client
