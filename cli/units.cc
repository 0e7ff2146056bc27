#include "cli/units.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// One kind of quantity, and how to speak of it.
struct Quantity {
  const char* noun;
  const char* allowed;
  const char* most;
  uint64_t limit;  // of the number times its unit
  absl::Span<const Unit> units;
};

constexpr uint64_t kMaxUint64 = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

constexpr Unit kByteUnits[] = {{"", 1},
                               {"KiB", uint64_t{1} << 10},
                               {"MiB", uint64_t{1} << 20},
                               {"GiB", uint64_t{1} << 30},
                               {"TiB", uint64_t{1} << 40}};
constexpr Unit kRowUnits[] = {
    {"", 1}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}};
// In nanoseconds.
constexpr Unit kTimeUnits[] = {{"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000}};

const Quantity kByteSize = {
    "size",
    "a whole number of bytes, or one with KiB, MiB, GiB or TiB, such as 64MiB",
    "18446744073709551615 bytes", kMaxUint64, kByteUnits};
const Quantity kRowCount = {
    "number of rows",
    "a whole number, or one with K, M or G (powers of 1000), such as 10M",
    "18446744073709551615", kMaxUint64, kRowUnits};
const Quantity kDuration = {
    "duration", "a whole number with us, ms, s or m, such as 250ms, or 0",
    "9223372036 s", kMaxInt64, kTimeUnits};

absl::Status Malformed(std::string_view text, const Quantity& quantity) {
  return absl::InvalidArgumentError(absl::StrCat("\"", std::string(text),
                                                 "\" is no ", quantity.noun,
                                                 ": give ", quantity.allowed));
}

absl::Status TooLarge(std::string_view text, const Quantity& quantity) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(text), "\" is too large for a ",
                   quantity.noun, ": at most ", quantity.most));
}

absl::StatusOr<uint64_t> Parse(std::string_view text,
                               const Quantity& quantity) {
  size_t num_digits = 0;
  bool fits = true;
  uint64_t number = 0;
  for (; num_digits < text.size(); ++num_digits) {
    const char c = text[num_digits];
    if (c < '0' || c > '9') break;
    const auto shifted = CheckedMul(number, 10);
    const auto next = shifted
                          ? CheckedAdd(*shifted, static_cast<uint64_t>(c - '0'))
                          : std::nullopt;
    fits = fits && next.has_value();
    number = next.value_or(0);
  }
  if (num_digits == 0) return Malformed(text, quantity);

  const std::string_view name = text.substr(num_digits);
  for (const Unit& unit : quantity.units) {
    if (unit.name != name) continue;
    const auto product = CheckedMul(number, unit.factor);
    if (!fits || !product || *product > quantity.limit) {
      return TooLarge(text, quantity);
    }
    return *product;
  }
  return Malformed(text, quantity);
}

}  // namespace

absl::StatusOr<uint64_t> ParseByteSize(std::string_view text) {
  return Parse(text, kByteSize);
}

absl::StatusOr<uint64_t> ParseRowCount(std::string_view text) {
  return Parse(text, kRowCount);
}

absl::StatusOr<absl::Duration> ParseDuration(std::string_view text) {
  if (text == "0") return absl::ZeroDuration();
  const absl::StatusOr<uint64_t> nanoseconds = Parse(text, kDuration);
  if (!nanoseconds.ok()) return nanoseconds.status();
  return absl::Nanoseconds(static_cast<int64_t>(*nanoseconds));
}

}  // namespace gatherd
