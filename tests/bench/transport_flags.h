// What the flags of transport_server and transport_client mean.
#ifndef GATHERD_TESTS_BENCH_TRANSPORT_FLAGS_H_
#define GATHERD_TESTS_BENCH_TRANSPORT_FLAGS_H_

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cli/flags.h"

namespace gatherd {

// `fallback` where the flag is missing or no number.
inline int NumberOf(const CommandLine& flags, std::string_view name,
                    int fallback) {
  int value = 0;
  const auto text = flags.Get(name);
  return text.has_value() && absl::SimpleAtoi(*text, &value) ? value : fallback;
}

// Of `name=1,name=2`: arguments of gRPC, of which all here are numbers.
inline std::vector<std::pair<std::string, int>> TransportArguments(
    const std::string& text) {
  std::vector<std::pair<std::string, int>> arguments;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipEmpty()))) {
    const std::pair<std::string, std::string> argument =
        absl::StrSplit(part, '=');
    int value = 0;
    if (!absl::SimpleAtoi(argument.second, &value)) continue;
    arguments.emplace_back(argument.first, value);
  }
  return arguments;
}

inline std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_BENCH_TRANSPORT_FLAGS_H_
