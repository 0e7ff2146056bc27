// What the GPUs of a node can do together, found out by trying, at start.
//
// A driver may report peer access where data then comes back wrong (a virtual
// machine, an IOMMU): so each device writes a pattern into each other's memory
// through a VmmBuffer, and reads one from there.
#ifndef GATHERD_CORE_CUDA_PREFLIGHT_H_
#define GATHERD_CORE_CUDA_PREFLIGHT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device.h"
#include "core/cuda/device_id.h"
#include "core/cuda/vmm_buffer.h"

namespace gatherd {

// The kernels, handed in since this folder has none: those of
// core/kernels/pattern.h.
struct PatternKernels {
  cudaError_t (*fill)(uint32_t* words, uint64_t num_words, uint32_t seed,
                      cudaStream_t stream);
  cudaError_t (*count_wrong)(const uint32_t* words, uint64_t num_words,
                             uint32_t seed, uint32_t* num_wrong,
                             cudaStream_t stream);
};

// How one device reaches another's memory.
struct PeerCheck {
  DeviceId from{};              // whose kernels ran
  DeviceId to{};                // whose memory it was
  bool can_access = false;      // what the driver says
  bool native_atomics = false;  // what the driver says
  std::string problem;          // why it cannot be used; empty: it can
};

struct PreflightReport {
  std::vector<DeviceInfo> devices;
  std::vector<PeerCheck> peers;  // every ordered pair
  // kShared if every pair can be used, as with one device alone; else each
  // device answers for its own rows.
  VmmAccess access = VmmAccess::kOwnerOnly;

  // For a log: a line for each device, for the pairs, and for the outcome.
  std::vector<std::string> Lines() const;
};

// Takes some MiB on each of `devices` (different ones, at least one) while it
// runs: about 10 ms a pair, and the time to set up this process on each.
// NOT_FOUND for a device that is not there, FAILED_PRECONDITION without a GPU;
// an error, too, if a device cannot even use its own memory. That two cannot
// reach each other is none: it is in the report.
absl::StatusOr<PreflightReport> RunPreflight(
    const CudaApi& api, const PatternKernels& kernels,
    absl::Span<const DeviceId> devices);

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_PREFLIGHT_H_
