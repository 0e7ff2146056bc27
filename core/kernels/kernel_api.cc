#include "core/kernels/kernel_api.h"

#include "core/kernels/dedup.h"
#include "core/kernels/fill.h"
#include "core/kernels/pattern.h"
#include "core/kernels/select.h"
#include "core/kernels/update.h"

namespace gatherd::kernels {

const KernelApi& RealKernels() {
  static constexpr KernelApi kApi = {
      LaunchLookup, LaunchPush,       WriteWorkspaceBytes,  DivideWorkspace,
      SelectAsync,  FetchRowsAsync,   DeduplicateAsync,     FindTargetsAsync,
      UndoAsync,    WriteRowsAsync,   PublishAsync,         EraseAsync,
      EvictAsync,   CopyToFirstAsync, RemoveSecondsAsync,   FillRowsAsync,
      IotaAsync,    FillPatternAsync, CountWrongWordsAsync,
  };
  return kApi;
}

}  // namespace gatherd::kernels
