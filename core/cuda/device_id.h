// The number that CUDA knows a device by, from 0.
#ifndef GATHERD_CORE_CUDA_DEVICE_ID_H_
#define GATHERD_CORE_CUDA_DEVICE_ID_H_

namespace gatherd {

enum class DeviceId : int {};

constexpr int Ordinal(DeviceId device) { return static_cast<int>(device); }

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_DEVICE_ID_H_
