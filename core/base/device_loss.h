// Errors after which a device is of no more use to this process: its context is
// lost with every table in it. They carry a mark, since no code of a status
// says as much.
#ifndef GATHERD_CORE_BASE_DEVICE_LOSS_H_
#define GATHERD_CORE_BASE_DEVICE_LOSS_H_

#include "absl/status/status.h"

namespace gatherd {

// `status`, which is not OK, with the mark.
absl::Status MarkDeviceLoss(absl::Status status);

bool IsDeviceLoss(const absl::Status& status);

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_DEVICE_LOSS_H_
