// Keys and rows as gatherctl's command line writes them. Pure.
#ifndef GATHERD_CLIENT_CTL_ARGUMENTS_H_
#define GATHERD_CLIENT_CTL_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/requests.h"

namespace gatherd::client {

// A KEY: a signed 64-bit number, or fnv:TEXT for the FNV-1a 64 of TEXT's bytes.
// INVALID_ARGUMENT quoting what is wrong, as everywhere below.
absl::StatusOr<int64_t> ParseKey(absl::string_view text);
absl::StatusOr<std::vector<int64_t>> ParseKeys(
    absl::Span<const std::string> words);

struct RowArguments {
  std::vector<int64_t> keys;
  std::vector<float> values;  // row by row
};

// KEY=v1,v2,… for each row; all with the same number of values. The last "="
// parts them, since the TEXT of a key may have its own.
absl::StatusOr<RowArguments> ParseRows(absl::Span<const std::string> words);

// set, add, set_existing.
absl::StatusOr<UpdateMode> ParseUpdateMode(absl::string_view text);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CTL_ARGUMENTS_H_
