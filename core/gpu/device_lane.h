// What a lookup context has on one device: a stream, counters that kernels
// fill, and pinned memory where the last block of a batch reports them.
#ifndef GATHERD_CORE_GPU_DEVICE_LANE_H_
#define GATHERD_CORE_GPU_DEVICE_LANE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/device_index.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_buffer.h"
#include "core/cuda/device_id.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"
#include "core/kernels/kernel_api.h"
#include "core/kernels/lookup.h"

namespace gatherd {

class DeviceLane {
 public:
  // For batches of up to `num_words` words of missing bits.
  static absl::StatusOr<DeviceLane> Create(const CudaApi& api,
                                           DeviceIndex index, DeviceId device,
                                           size_t num_words);

  DeviceIndex index() const { return index_; }
  StreamView stream() const { return stream_.view(); }
  uint32_t* missing_words() const;  // on the device

  // Launches `batch`, of which segments, shards and num_missing_words are set.
  // It reports `sequence` once all is written.
  absl::Status Launch(const CudaApi& api, const kernels::KernelApi& kernels,
                      kernels::LookupBatch batch, uint64_t sequence);

  // What was reported last. Acquire: what the batch has written can be read.
  uint64_t reported() const;
  const kernels::LookupCounters& counters(int segment) const;
  // Valid where some counter says that a key is missing.
  const uint32_t* reported_words() const;

 private:
  DeviceLane(DeviceIndex index, CudaStream stream, DeviceBuffer device,
             PinnedBuffer report)
      : index_(index),
        stream_(std::move(stream)),
        device_(std::move(device)),
        report_(std::move(report)) {}

  DeviceIndex index_;
  CudaStream stream_;
  DeviceBuffer device_;  // counters, blocks left, missing words; zero
  PinnedBuffer report_;  // sequence, counters, missing words
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_DEVICE_LANE_H_
