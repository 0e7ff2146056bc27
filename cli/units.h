// Numbers with units, as configuration and command lines write them: decimal
// digits, then the unit, without sign, fraction or space. Errors are
// INVALID_ARGUMENT and say what was given and what is allowed, but not where.
#ifndef GATHERD_CLI_UNITS_H_
#define GATHERD_CLI_UNITS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gatherd {

// A plain number of bytes or one with KiB, MiB, GiB, TiB.
absl::StatusOr<uint64_t> ParseByteSize(std::string_view text);
// A plain number of rows or one with K, M, G (powers of 1000).
absl::StatusOr<uint64_t> ParseRowCount(std::string_view text);
// A number with us, ms, s or m; 0 needs no unit. At most 2^63 - 1 nanoseconds,
// some 292 years, so that it fits every clock.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view text);

}  // namespace gatherd

#endif  // GATHERD_CLI_UNITS_H_
