// Which ranges of 0 ... size-1 are free. First fit: the lowest range with room
// is cut at its beginning; neighbours grow together again when given back.
#ifndef GATHERD_CORE_CUDA_FREE_RANGES_H_
#define GATHERD_CORE_CUDA_FREE_RANGES_H_

#include <cstdint>
#include <map>
#include <optional>

namespace gatherd {

class FreeRanges {
 public:
  explicit FreeRanges(uint64_t size);

  // The beginning of `size` > 0 units that are now taken; none if no free range
  // is as long. Time: linear in the number of free ranges.
  std::optional<uint64_t> Take(uint64_t size);
  // What one Take returned, with the same size.
  void GiveBack(uint64_t begin, uint64_t size);

  uint64_t total() const { return total_; }
  uint64_t largest() const;
  uint64_t num_ranges() const { return ranges_.size(); }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin to size, never neighbours
  uint64_t total_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_FREE_RANGES_H_
