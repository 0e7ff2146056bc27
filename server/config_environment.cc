#include "server/config_environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "server/config_field.h"
#include "server/config_server.h"

namespace gatherd {
namespace {

constexpr std::string_view kPrefix = "GATHERD_SERVER_";

bool IsOverridable(const ConfigField<ServerConfig>& field) {
  // The keys that are maps are written as nothing where they are left out.
  return !field.write(ServerConfig()).empty();
}

// What the kubelet sets for Services: _SERVICE_HOST, _SERVICE_PORT[_NAME],
// _PORT, _PORT_7400_TCP[_ADDR|_PORT|_PROTO].
bool IsKubernetesVariable(const std::string& variable) {
  static const auto& pattern = *new std::regex(
      "GATHERD_SERVER_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT"
      "(_[0-9]+_(TCP|UDP|SCTP)(_ADDR|_PORT|_PROTO)?)?)");
  return std::regex_match(variable, pattern);
}

}  // namespace

std::string EnvironmentVariableOf(std::string_view key) {
  std::string variable(kPrefix);
  for (const char c : key) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

absl::Status ApplyEnvironment(ServerConfig& server) {
  for (const ConfigField<ServerConfig>& field : ServerFields()) {
    if (!IsOverridable(field)) continue;
    const std::string variable = EnvironmentVariableOf(field.key);
    const char* text = std::getenv(variable.c_str());
    if (text == nullptr) continue;
    ConfigEntry entry;
    entry.key = field.key;
    entry.value.kind = ConfigNode::Kind::kScalar;
    entry.value.text = text;
    const absl::Status status = field.read({entry, field.allowed}, server);
    if (!status.ok()) {
      return absl::InvalidArgumentError(variable + ": " +
                                        std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> EnvironmentWarnings() {
  std::vector<std::string> variables;
  for (const ConfigField<ServerConfig>& field : ServerFields()) {
    if (IsOverridable(field))
      variables.push_back(EnvironmentVariableOf(field.key));
  }
  // Without what all have in common, which would make all of them near.
  std::vector<std::string_view> known;
  for (const std::string_view variable : variables) {
    known.push_back(variable.substr(kPrefix.size()));
  }
  std::vector<std::string> warnings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name(*variable, std::strcspn(*variable, "="));
    if (name.rfind(kPrefix, 0) != 0 || IsKubernetesVariable(name)) continue;
    const std::string_view suffix =
        std::string_view(name).substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), suffix) != known.end()) continue;
    const std::string_view nearest = NearestWord(suffix, known);
    warnings.push_back(name + " overrides nothing" +
                       (nearest.empty() ? std::string()
                                        : "; perhaps " + std::string(kPrefix) +
                                              std::string(nearest)));
  }
  std::sort(warnings.begin(), warnings.end());
  return warnings;
}

}  // namespace gatherd
