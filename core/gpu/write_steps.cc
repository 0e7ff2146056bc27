#include "core/gpu/write_steps.h"

#include <algorithm>

#include "core/table/batch_keys.h"

namespace gatherd {
namespace {

// The position from which on the last `max_keys` distinct keys have their last
// one; 0 if there are no more than that.
uint32_t FirstKept(const BatchKeys& distinct, uint64_t max_keys) {
  const size_t num_keys = distinct.keys().size();
  if (num_keys <= max_keys) return 0;
  std::vector<uint32_t> last(num_keys);
  for (size_t i = 0; i < num_keys; ++i) last[i] = distinct.last(i);
  const auto first_kept =
      last.begin() + static_cast<ptrdiff_t>(num_keys - max_keys);
  std::nth_element(last.begin(), first_kept, last.end());
  return *first_kept;
}

// Makes steps of groups of positions, one group a key.
class StepCutter {
 public:
  explicit StepCutter(const WriteStepsOptions& options) : options_(options) {}

  // The positions up to `end` that are in no group yet are the next one.
  void AddGroup(size_t end) {
    if (num_keys_ == options_.step_keys ||
        end - begin_ > options_.step_positions) {
      EndStep(last_end_);
    }
    while (end - begin_ > options_.step_positions) {
      EndStep(begin_ + options_.step_positions);
      continues_key_ = true;
    }
    ++num_keys_;
    last_end_ = end;
  }

  std::vector<WriteStep> Finish(const std::vector<uint32_t>& positions) {
    EndStep(last_end_);
    std::vector<WriteStep> steps;
    for (const Cut& cut : cuts_) {
      WriteStep& step = steps.emplace_back();
      step.positions = absl::MakeConstSpan(positions).subspan(
          cut.begin, cut.end - cut.begin);
      step.num_keys = static_cast<uint32_t>(step.positions.size());
      step.continues_key = cut.continues_key;
    }
    return steps;
  }

 private:
  struct Cut {
    size_t begin;
    size_t end;
    bool continues_key;
  };

  void EndStep(size_t end) {
    if (end > begin_) cuts_.push_back({begin_, end, continues_key_});
    begin_ = end;
    num_keys_ = 0;
    continues_key_ = false;
  }

  const WriteStepsOptions& options_;
  std::vector<Cut> cuts_;
  size_t begin_ = 0;     // of the step
  size_t last_end_ = 0;  // of the last group
  uint32_t num_keys_ = 0;
  bool continues_key_ = false;
};

}  // namespace

WriteSteps::WriteSteps(absl::Span<const int64_t> keys,
                       const WriteStepsOptions& options) {
  if (keys.size() > options.step_keys) {
    Sort(keys, options);
  } else if (!keys.empty()) {
    steps_.emplace_back().num_keys = static_cast<uint32_t>(keys.size());
  }
}

void WriteSteps::Sort(absl::Span<const int64_t> keys,
                      const WriteStepsOptions& options) {
  const BatchKeys distinct(keys, options.seed);
  const uint32_t first_kept = FirstKept(distinct, options.max_keys);
  positions_.reserve(options.adds ? keys.size() : distinct.keys().size());
  StepCutter steps(options);
  StepCutter surplus(options);
  for (size_t i = 0; i < distinct.keys().size(); ++i) {
    if (distinct.last(i) < first_kept) {
      surplus_positions_.push_back(distinct.last(i));
      surplus.AddGroup(surplus_positions_.size());
      continue;
    }
    uint32_t position = options.adds ? distinct.first(i) : distinct.last(i);
    for (; position != BatchKeys::kNone; position = distinct.next(position)) {
      positions_.push_back(position);
    }
    steps.AddGroup(positions_.size());
  }
  steps_ = steps.Finish(positions_);
  surplus_ = surplus.Finish(surplus_positions_);
}

}  // namespace gatherd
