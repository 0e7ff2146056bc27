// Which of a node's devices: its number in the list that the tables are spread
// over.
#ifndef GATHERD_CORE_BASE_DEVICE_INDEX_H_
#define GATHERD_CORE_BASE_DEVICE_INDEX_H_

#include <cstdint>

namespace gatherd {

// Position of a device in the list of a node's devices, from 0. Not the number
// that the driver knows it by: that is DeviceId of core/cuda.
enum class DeviceIndex : uint32_t {};

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_DEVICE_INDEX_H_
