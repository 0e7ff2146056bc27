#include "core/gpu/write_scratch.h"

#include "core/base/sizes.h"

namespace gatherd {
namespace {

using kernels::WorkspaceFor;

constexpr uint64_t kAlignment = 256;

// Deals out memory that may not be there yet.
class Cutter {
 public:
  explicit Cutter(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* Take(uint64_t count) {
    std::byte* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += AlignUp(count * sizeof(T), kAlignment);
    return reinterpret_cast<T*>(at);
  }

  uint64_t used() const { return used_; }

 private:
  std::byte* const memory_;
  uint64_t used_ = 0;
};

kernels::WriteWorkspace CutWorkspace(Cutter& cutter,
                                     const kernels::KernelApi& kernels,
                                     uint32_t num_keys, uint32_t dim,
                                     WorkspaceFor use) {
  std::byte* const memory =
      cutter.Take<std::byte>(kernels.WriteWorkspaceBytes(num_keys, dim, use));
  if (memory == nullptr) return {};
  return kernels.DivideWorkspace(memory, num_keys, dim, use);
}

WriteScratch Cut(Cutter& cutter, const kernels::KernelApi& kernels,
                 const WriteShape& shape) {
  const uint32_t num_keys = shape.num_keys;
  WriteScratch scratch;
  scratch.keys = cutter.Take<int64_t>(num_keys);
  scratch.values_bytes = num_keys * shape.value_bytes;
  for (std::byte*& values : scratch.values) {
    values = cutter.Take<std::byte>(scratch.values_bytes);
  }
  scratch.retired = cutter.Take<uint32_t>(num_keys);
  scratch.taken = cutter.Take<uint32_t>(num_keys);
  scratch.counters = cutter.Take<kernels::WriteCounters>(1);
  scratch.num_listed = cutter.Take<uint32_t>(1);
  scratch.workspace =
      CutWorkspace(cutter, kernels, num_keys, shape.dim, WorkspaceFor::kAdd);
  scratch.all_keys = cutter.Take<int64_t>(kMaxSelectedKeys);
  scratch.all_workspace = CutWorkspace(cutter, kernels, kMaxSelectedKeys,
                                       shape.dim, WorkspaceFor::kSet);
  scratch.selection.positions = cutter.Take<uint32_t>(kMaxSelectedKeys);
  scratch.selection.keys = cutter.Take<int64_t>(kMaxSelectedKeys);
  scratch.selection.count = cutter.Take<uint32_t>(1);
  return scratch;
}

}  // namespace

uint64_t WriteScratchBytes(const kernels::KernelApi& kernels,
                           const WriteShape& shape) {
  Cutter cutter(nullptr);
  Cut(cutter, kernels, shape);
  return cutter.used();
}

WriteScratch DivideScratch(std::byte* memory, const kernels::KernelApi& kernels,
                           const WriteShape& shape) {
  Cutter cutter(memory);
  return Cut(cutter, kernels, shape);
}

}  // namespace gatherd
