#include "server/fault.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/log.h"

namespace gatherd {
namespace {

// Unique in this process and, most likely, among all.
std::string NewFaultId() {
  static const uint64_t process = [] {
    std::random_device device;
    return (uint64_t{device()} << 32) | device();
  }();
  static std::atomic<uint64_t> next{1};
  return absl::StrCat(absl::Hex(process, absl::kZeroPad16), "-",
                      absl::Hex(next.fetch_add(1, std::memory_order_relaxed)));
}

}  // namespace

absl::Status ReportIfFault(std::string_view method, absl::Status status) {
  if (status.code() != absl::StatusCode::kInternal &&
      status.code() != absl::StatusCode::kUnknown) {
    return status;
  }
  const std::string id = NewFaultId();
  Log(LogLevel::kError, "request failed by a fault of the server",
      {{"fault", id},
       {"method", method},
       {"reason", std::string(status.message())}});
  return absl::InternalError(
      absl::StrCat("a fault of the server; its log says more under ", id));
}

absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> work) {
  try {
    return work();
  } catch (const std::exception& exception) {
    return absl::InternalError(exception.what());
  } catch (...) {
    return absl::InternalError("an unknown exception");
  }
}

}  // namespace gatherd
