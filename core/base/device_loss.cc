#include "core/base/device_loss.h"

#include "absl/strings/cord.h"

namespace gatherd {
namespace {

// Of the status's payload. No client sees it.
constexpr char kTypeUrl[] = "gatherd/device_loss";

}  // namespace

absl::Status MarkDeviceLoss(absl::Status status) {
  status.SetPayload(kTypeUrl, absl::Cord());
  return status;
}

bool IsDeviceLoss(const absl::Status& status) {
  return status.GetPayload(kTypeUrl).has_value();
}

}  // namespace gatherd
