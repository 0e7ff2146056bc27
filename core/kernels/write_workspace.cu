// Divides a write's workspace into its arrays.
#include "core/kernels/dedup.h"
#include "core/kernels/value_rows.cuh"
#include "core/kernels/write_batch.h"
#include "core/kernels/write_rows.h"

namespace gatherd::kernels {
namespace {

class Divider {
 public:
  explicit Divider(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <class T>
  T* Take(uint64_t count) {
    char* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return reinterpret_cast<T*>(at);
  }

  uint64_t used() const { return used_; }

 private:
  char* memory_;
  uint64_t used_ = 0;
};

WriteWorkspace Divide(Divider* divider, uint32_t num_keys, uint32_t dim,
                      WorkspaceFor use) {
  WriteWorkspace w;
  w.dedup = divider->Take<uint32_t>(NumDedupSlots(num_keys));
  w.targets = divider->Take<WriteTarget>(num_keys);
  if (use == WorkspaceFor::kSet) return w;
  for (uint32_t*& slots : w.sort_slots) {
    slots = divider->Take<uint32_t>(num_keys);
  }
  for (uint32_t*& positions : w.sort_positions) {
    positions = divider->Take<uint32_t>(num_keys);
  }
  w.sort_scratch_bytes = AddSortBytes(num_keys);
  w.sort_scratch = divider->Take<char>(w.sort_scratch_bytes);
  w.partial_sums =
      divider->Take<float>(NumPartialSums(num_keys) * NumOctets(dim) * kOctet);
  return w;
}

}  // namespace

uint64_t WriteWorkspaceBytes(uint32_t num_keys, uint32_t dim,
                             WorkspaceFor use) {
  Divider divider(nullptr);
  Divide(&divider, num_keys, dim, use);
  return divider.used();
}

WriteWorkspace DivideWorkspace(void* memory, uint32_t num_keys, uint32_t dim,
                               WorkspaceFor use) {
  Divider divider(memory);
  return Divide(&divider, num_keys, dim, use);
}

}  // namespace gatherd::kernels
