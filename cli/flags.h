// Command lines of our programs: `--name=value`, `--switch` and words, in any
// order. Anything that starts with "--" is a flag, so a word may be a negative
// number; after "--" everything is a word.
#ifndef GATHERD_CLI_FLAGS_H_
#define GATHERD_CLI_FLAGS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace gatherd {

struct FlagSpec {
  std::string_view name;  // without dashes
  bool takes_value = true;
};

class CommandLine {
 public:
  // INVALID_ARGUMENT naming the flag that is unknown, given twice, lacks its
  // value, or has one it does not take.
  static absl::StatusOr<CommandLine> Parse(int argc, const char* const* argv,
                                           absl::Span<const FlagSpec> flags);

  bool Has(std::string_view name) const;
  std::optional<std::string> Get(std::string_view name) const;
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
};

}  // namespace gatherd

#endif  // GATHERD_CLI_FLAGS_H_
