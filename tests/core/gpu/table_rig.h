// A node of fake devices with one table, and short words for what tests of the
// write path do with it.
#ifndef GATHERD_TESTS_CORE_GPU_TABLE_RIG_H_
#define GATHERD_TESTS_CORE_GPU_TABLE_RIG_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/gpu_table.h"
#include "core/gpu/table_state.h"
#include "core/kernels/kernel_api.h"
#include "core/table/table.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {

// "words", on GPUs.
TableSpec RigSpec(KeySpace key_space, uint64_t rows, uint32_t dim = 1,
                  Eviction eviction = Eviction::kNone);

class TableRig {
 public:
  // Both tables of functions outlive the rig. One write context.
  TableRig(FakeCuda& cuda, int num_devices, const TableSpec& spec,
           const kernels::KernelApi& kernels);
  // With the kernels of the host.
  TableRig(FakeCuda& cuda, int num_devices, const TableSpec& spec);

  GpuNode& node() { return *node_; }
  Table& table() { return *table_; }
  TableState& state() { return static_cast<GpuTable&>(*table_).state(); }

  // The first element of the row of keys[i] is values[i], the others are 0.
  absl::StatusOr<UpdateResult> Write(const std::vector<int64_t>& keys,
                                     const std::vector<float>& values,
                                     UpdateMode mode = UpdateMode::kSet);
  absl::StatusOr<UpdateResult> SetToKeys(const std::vector<int64_t>& keys);
  // The same from memory that devices read by themselves.
  absl::StatusOr<UpdateResult> WritePinned(const std::vector<int64_t>& keys,
                                           const std::vector<float>& values,
                                           UpdateMode mode = UpdateMode::kSet);

  // The first elements of the rows; -1 where there is none.
  std::vector<float> Read(const std::vector<int64_t>& keys);
  size_t NumPresent(const std::vector<int64_t>& keys);

 private:
  std::unique_ptr<GpuNode> node_;
  std::unique_ptr<Table> table_;
};

// first, first + 1, ... : `count` of them.
std::vector<int64_t> KeyRange(int64_t first, size_t count);
std::vector<float> ToFloats(const std::vector<int64_t>& keys);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_GPU_TABLE_RIG_H_
