#include "testing/skip.h"

#include <utility>

namespace gatherd {
namespace {

std::string& SkipReason() {
  static auto& reason = *new std::string;
  return reason;
}

}  // namespace

void MarkTestCaseSkipped(std::string reason) {
  SkipReason() = reason.empty() ? "no reason given" : std::move(reason);
}

std::string TakeSkipReason() { return std::exchange(SkipReason(), {}); }

}  // namespace gatherd
