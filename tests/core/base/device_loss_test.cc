#include "core/base/device_loss.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"

namespace gatherd {
namespace {

TEST_CASE("the loss of a device is told from other errors") {
  const absl::Status error = absl::InternalError("device 1: broken");
  CHECK_FALSE(IsDeviceLoss(absl::OkStatus()));
  CHECK_FALSE(IsDeviceLoss(error));

  const absl::Status loss = MarkDeviceLoss(error);
  CHECK(IsDeviceLoss(loss));
  CHECK(loss.code() == error.code());
  CHECK(loss.message() == error.message());
}

}  // namespace
}  // namespace gatherd
