// Cuts a write into steps that a write context has room for. Pure.
//
// This is how the host does it, for writes that devices do not cut themselves
// (write_selection.h): ADDs, and writes of which little would be left.
//
// A write that fits is one step as it stands: kernels find out which position
// stands for each distinct key. A larger one is sorted out here, so that no key
// is in two steps: of a SET or an erase one position a key is left, the last;
// the positions of an ADD are grouped by key, and those of a key keep their
// order. Only a key with more positions than a step has room for is added up,
// and converted to the table's type, in parts.
#ifndef GATHERD_CORE_GPU_WRITE_STEPS_H_
#define GATHERD_CORE_GPU_WRITE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace gatherd {

struct WriteStep {
  static constexpr uint32_t kNotSelected = 0xffff'ffff;

  uint32_t num_keys = 0;  // positions, not always of different keys
  // Where in the write they are; empty: the write is this step as it stands.
  absl::Span<const uint32_t> positions;
  // Its first key is the last of the step before, which has counted it.
  bool continues_key = false;
  // Its number, where devices cut the write (write_selection.h) and know its
  // positions; then they are not here.
  uint32_t part = kNotSelected;

  bool is_selected() const { return part != kNotSelected; }
  uint32_t position(uint32_t i) const {
    return positions.empty() ? i : positions[i];
  }
};

struct WriteStepsOptions {
  // The most of one step, both at least 1: distinct keys, and positions.
  uint32_t step_keys = 1;
  uint32_t step_positions = 1;  // at least step_keys
  uint64_t seed = 0;            // secret: keys must not be made to collide
  bool adds = false;
  // Of distinct keys, for tables that evict; at least step_keys.
  uint64_t max_keys = std::numeric_limits<uint64_t>::max();
};

class WriteSteps {
 public:
  // `keys`: less than 2^32 - 1, borrowed for the call alone.
  WriteSteps(absl::Span<const int64_t> keys, const WriteStepsOptions& options);
  // Steps that devices have cut.
  explicit WriteSteps(std::vector<WriteStep> selected)
      : steps_(std::move(selected)) {}
  WriteSteps(WriteSteps&&) = default;  // spans point into heap memory
  WriteSteps& operator=(WriteSteps&&) = delete;

  const std::vector<WriteStep>& steps() const { return steps_; }
  // Where there are more than max_keys distinct keys, those that stand last are
  // written and these, one position a key, are not: rows of which writing one
  // key after the other would leave nothing.
  const std::vector<WriteStep>& surplus() const { return surplus_; }

 private:
  void Sort(absl::Span<const int64_t> keys, const WriteStepsOptions& options);

  std::vector<uint32_t> positions_;
  std::vector<uint32_t> surplus_positions_;
  std::vector<WriteStep> steps_;
  std::vector<WriteStep> surplus_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_WRITE_STEPS_H_
