// Host memory that every device reads and writes by itself, at the address that
// the host has it at.
#ifndef GATHERD_CORE_CUDA_PINNED_BUFFER_H_
#define GATHERD_CORE_CUDA_PINNED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

class PinnedBuffer {
 public:
  // `num_bytes` > 0, of any content, aligned to a page. On the NUMA node where
  // this thread runs. Any device may use it; `device` is the one whose context
  // makes it, so that no other is set up for that. Pinning is slow, up to half
  // a second a GiB: not for the path of a request.
  static absl::StatusOr<PinnedBuffer> Create(const CudaApi& api,
                                             DeviceId device,
                                             uint64_t num_bytes);

  std::byte* data() const { return data_.get(); }
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Free {
    const CudaApi* api;
    void operator()(std::byte* data) const;
  };
  using Data = std::unique_ptr<std::byte, Free>;

  PinnedBuffer(Data data, uint64_t num_bytes)
      : data_(std::move(data)), num_bytes_(num_bytes) {}

  Data data_;
  uint64_t num_bytes_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_PINNED_BUFFER_H_
