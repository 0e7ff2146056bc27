// The tables of the CUDA backend keep the contract without a GPU: devices and
// kernels are plain functions, and all that is between them and the contract is
// the engine's own. Streams have threads, so that ThreadSanitizer sees what the
// engine does not wait for: buffers used again, windows of dense tables.
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/gpu_table_kinds.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd {
namespace {

constexpr uint64_t kTableBytes = uint64_t{1} << 30;

// With one device; three that share their memory; two that cannot.
std::vector<TableKind> MakeKinds() {
  // For as long as this process.
  static auto* const cuda = new FakeCuda(3, FakeStreams::kInThreads);
  std::vector<TableKind> kinds;
  for (const int num_devices : {1, 3, 2}) {
    if (num_devices == 2) cuda->no_access = {{0, 1}, {1, 0}};
    GpuNode* const node = MakeTestNode(cuda->api(), kernels::HostKernels(),
                                       num_devices, kTableBytes)
                              .release();
    for (TableKind& kind : GpuTableKinds(*node)) {
      if (num_devices == 2) kind.name += " apart";
      kinds.push_back(std::move(kind));
    }
  }
  return kinds;
}

}  // namespace

const std::vector<TableKind>& TableKinds() {
  static const auto* const kinds = new std::vector<TableKind>(MakeKinds());
  return *kinds;
}

}  // namespace gatherd
