#include "server/config_table.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/data_type.h"
#include "server/config_tiers.h"
#include "server/config_value.h"

namespace gatherd {
namespace {

template <typename Enum>
using Words = std::vector<std::pair<std::string_view, Enum>>;

const Words<DataType>& DataTypes() {
  static const auto& words =
      *new Words<DataType>{{"float32", DataType::kFloat32},
                           {"float16", DataType::kFloat16},
                           {"bfloat16", DataType::kBFloat16},
                           {"int8", DataType::kInt8}};
  return words;
}

const Words<KeySpace>& KeySpaces() {
  static const auto& words = *new Words<KeySpace>{{"hashed", KeySpace::kHashed},
                                                  {"dense", KeySpace::kDense}};
  return words;
}

const Words<Eviction>& Evictions() {
  static const auto& words = *new Words<Eviction>{{"none", Eviction::kNone},
                                                  {"lru", Eviction::kLru},
                                                  {"lfu", Eviction::kLfu}};
  return words;
}

const Words<MissingKeyPolicy>& MissingKeyPolicies() {
  static const auto& words = *new Words<MissingKeyPolicy>{
      {"default_row", MissingKeyPolicy::kDefaultRow},
      {"error", MissingKeyPolicy::kError}};
  return words;
}

// The largest finite number of a type. int8 has a float32 scale a row.
float LargestOf(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return 65504.0f;
    case DataType::kBFloat16:
      return 0x1.FEp127f;
    case DataType::kFloat32:
    case DataType::kInt8:
      break;
  }
  return std::numeric_limits<float>::max();
}

bool IsTableName(std::string_view name) {
  constexpr char kCharacters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !name.empty() && name.size() <= kMaxTableNameBytes &&
         name.find_first_not_of(kCharacters) == std::string_view::npos;
}

absl::Status ReadName(const ConfigValue& value, CatalogTableSpec& table) {
  if (!IsTableName(value.node().text)) return value.Refuse();
  return ReadText(value, table.table.name);
}

absl::Status ReadDim(const ConfigValue& value, CatalogTableSpec& table) {
  uint64_t dim = 0;
  auto status = ReadInteger(value, {1, kMaxDim}, dim);
  table.table.dim = static_cast<uint32_t>(dim);
  return status;
}

const std::vector<ConfigField<float>>& DefaultRowFields() {
  static const auto& fields = *new std::vector<ConfigField<float>>{
      {"constant", "a number that the table's data_type can hold",
       [](const ConfigValue& value, float& constant) {
         return ReadNumber(value, std::numeric_limits<float>::max(), constant);
       },
       [](const float& constant) { return WriteNumber(constant); },
       ConfigField<float>::Presence::kRequired},
  };
  return fields;
}

absl::Status ReadDefaultRow(const ConfigValue& value, CatalogTableSpec& table) {
  float& constant = table.table.default_value;
  if (value.node().kind == ConfigNode::Kind::kMap) {
    return ReadSection(value.node(), "default_row", DefaultRowFields(),
                       constant);
  }
  if (value.node().text != "zeros") return value.Refuse();
  constant = 0;
  return absl::OkStatus();
}

std::string WriteDefaultRow(const CatalogTableSpec& table) {
  const float constant = table.table.default_value;
  if (constant == 0 && !std::signbit(constant)) return "zeros";
  return "{constant: " + WriteNumber(constant) + "}";
}

absl::Status ReadPath(const ConfigValue& value, std::string& path) {
  const std::string& text = value.node().text;
  if (text.empty() || text.find('\0') != std::string::npos) {
    return value.Refuse();
  }
  return ReadText(value, path);
}

std::string WritePath(const std::string& path) {
  return path.empty() ? "" : WriteText(path);
}

std::string WriteSource(const CatalogTableSpec& table) {
  if (table.source.empty()) return "";
  return WriteFlow(SourceFields(), table.source);
}

// What one field alone cannot know.
absl::Status CheckTogether(const ConfigNode& node,
                           const CatalogTableSpec& table) {
  const TableSpec& spec = table.table;
  const bool is_dense = spec.key_space == KeySpace::kDense;
  if (is_dense && spec.eviction != Eviction::kNone) {
    return node.Find("eviction")
        ->position.Error(absl::StrFormat("`eviction` is `%s` but `key_space` "
                                         "is dense, where every row stays; "
                                         "allowed: none",
                                         EvictionName(spec.eviction)));
  }
  const float limit = LargestOf(spec.data_type);
  if (spec.default_value > limit || spec.default_value < -limit) {
    const ConfigNode* constant = node.Find("default_row")->Find("constant");
    return constant->position.Error(absl::StrFormat(
        "`constant` is `%s`; allowed for %s: -%g to %g", constant->text,
        DataTypeName(spec.data_type), limit, limit));
  }
  const ConfigNode* source = node.Find("source");
  if (source == nullptr) return absl::OkStatus();
  const ConfigNode* keys = source->Find("keys");
  if (is_dense && keys != nullptr) {
    return keys->position.Error(
        "`keys` of a dense table, whose keys are row numbers; allowed: `rows` "
        "alone");
  }
  if (!is_dense && keys == nullptr) {
    return source->position.Error(
        "source lacks the key `keys`, which a hashed table needs; allowed: a "
        "path to a .npy file of int64 or int32");
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<ConfigField<SourceSpec>>& SourceFields() {
  static const auto& fields = *new std::vector<ConfigField<SourceSpec>>{
      {"rows", "a path to a .npy file",
       [](const ConfigValue& value, SourceSpec& source) {
         return ReadPath(value, source.rows_path);
       },
       [](const SourceSpec& source) { return WritePath(source.rows_path); },
       ConfigField<SourceSpec>::Presence::kRequired},
      {"keys", "a path to a .npy file",
       [](const ConfigValue& value, SourceSpec& source) {
         return ReadPath(value, source.keys_path);
       },
       [](const SourceSpec& source) { return WritePath(source.keys_path); }},
  };
  return fields;
}

const std::vector<ConfigField<CatalogTableSpec>>& TableFields() {
  using Spec = CatalogTableSpec;
  constexpr auto kRequired = ConfigField<Spec>::Presence::kRequired;
  static const auto& fields = *new std::vector<ConfigField<Spec>>{
      {"name", "1 to 128 of the characters A-Z a-z 0-9 _ . -", ReadName,
       [](const Spec& table) { return WriteText(table.table.name); },
       kRequired},
      {"dim", "1 to 8192", ReadDim,
       [](const Spec& table) { return std::to_string(table.table.dim); },
       kRequired},
      {"data_type", "float32, float16, bfloat16 or int8",
       [](const ConfigValue& value, Spec& table) {
         return ReadWord(value, DataTypes(), table.table.data_type);
       },
       [](const Spec& table) {
         return WriteWord(DataTypes(), table.table.data_type);
       }},
      {"key_space", "hashed or dense",
       [](const ConfigValue& value, Spec& table) {
         return ReadWord(value, KeySpaces(), table.table.key_space);
       },
       [](const Spec& table) {
         return WriteWord(KeySpaces(), table.table.key_space);
       }},
      {"tiers",
       "a list of tiers, fastest first, as in [{gpu: {rows: 10M}}, {host: "
       "{rows: 100M}}]",
       [](const ConfigValue& value, Spec& table) {
         return ReadTiers(value, table.table.tiers);
       },
       [](const Spec& table) { return WriteTiers(table.table.tiers); },
       kRequired},
      {"eviction", "none, lru or lfu",
       [](const ConfigValue& value, Spec& table) {
         return ReadWord(value, Evictions(), table.table.eviction);
       },
       [](const Spec& table) {
         return WriteWord(Evictions(), table.table.eviction);
       }},
      {"default_row", "zeros, or a number as in {constant: 0.1}",
       ReadDefaultRow, WriteDefaultRow},
      {"missing_key_policy", "default_row or error",
       [](const ConfigValue& value, Spec& table) {
         return ReadWord(value, MissingKeyPolicies(),
                         table.table.missing_key_policy);
       },
       [](const Spec& table) {
         return WriteWord(MissingKeyPolicies(), table.table.missing_key_policy);
       }},
      {"read_only", "true or false",
       [](const ConfigValue& value, Spec& table) {
         return ReadBool(value, table.table.read_only);
       },
       [](const Spec& table) { return WriteBool(table.table.read_only); }},
      {"source", "files as in {rows: words.npy, keys: keys.npy}",
       [](const ConfigValue& value, Spec& table) {
         return ReadSection(value.node(), "source", SourceFields(),
                            table.source);
       },
       WriteSource},
  };
  return fields;
}

absl::Status ReadTable(const ConfigNode& node, CatalogTableSpec& table) {
  if (auto status = ReadSection(node, "the table", TableFields(), table);
      !status.ok()) {
    return status;
  }
  if (auto status = CheckTogether(node, table); !status.ok()) return status;
  // The engine's own check has the last word.
  const absl::Status valid = ValidateTableSpec(table.table);
  return valid.ok() ? valid : node.position.Error(std::string(valid.message()));
}

}  // namespace gatherd
