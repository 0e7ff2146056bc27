// The benchmark's self-check: writers rewrite and erase self-describing rows
// while readers look them up, and every row of every reply is checked.
#ifndef GATHERD_CLIENT_BENCH_VERIFY_H_
#define GATHERD_CLIENT_BENCH_VERIFY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace gatherd::client {

struct VerifyOptions {
  TableInfo table;    // its rows with keys in [0, rows) are overwritten
  uint64_t rows = 0;  // all of which fit
  size_t keys_per_call = 64;
  int num_writers = 2;
  int num_readers = 4;
  absl::Duration duration = absl::Seconds(10);
};

struct VerifyResult {
  uint64_t num_lookups = 0;
  uint64_t num_updates = 0;
  uint64_t num_erases = 0;
  uint64_t num_rows_checked = 0;
  // Rows that were checked and found wrong: of an earlier version than the
  // last that was acknowledged before the lookup began, or of no version.
  uint64_t num_stale = 0;
  uint64_t num_torn = 0;
  std::string first_wrong;  // says which row, and what was expected
  // Calls that failed, by code. A key whose write failed is not written again:
  // the write may have happened, or may happen later.
  std::map<std::string, uint64_t> errors;
  uint64_t num_keys_retired = 0;

  bool ok() const { return num_stale == 0 && num_torn == 0; }
};

// Blocks for the duration. Fails if the first writing of all rows does.
absl::StatusOr<VerifyResult> Verify(Client& client,
                                    const VerifyOptions& options);

std::string VerifyText(const VerifyResult& result);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_VERIFY_H_
