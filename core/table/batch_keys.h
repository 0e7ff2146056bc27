// The distinct keys of one write batch, and where each stands in it.
#ifndef GATHERD_CORE_TABLE_BATCH_KEYS_H_
#define GATHERD_CORE_TABLE_BATCH_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/table/table_spec.h"

namespace gatherd {

class BatchKeys {
 public:
  static constexpr uint32_t kNone = 0xffff'ffff;
  // Positions are 32-bit.
  static constexpr size_t kMaxKeys = kNone;

  // `seed` is secret: a client must not be able to make keys collide.
  BatchKeys(absl::Span<const int64_t> keys, uint64_t seed);

  // In order of first occurrence.
  const std::vector<int64_t>& keys() const { return distinct_; }

  // Positions in the batch of keys()[i].
  uint32_t first(size_t i) const { return first_[i]; }
  uint32_t last(size_t i) const { return last_[i]; }
  // The next position of the key that stands at `position`, or kNone.
  uint32_t next(uint32_t position) const {
    return next_.empty() ? kNone : next_[position];
  }

  // The number of `key` in keys(), or kNone.
  uint32_t Find(int64_t key) const;

 private:
  size_t Home(int64_t key) const;

  const uint64_t seed_;
  std::vector<int64_t> distinct_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> last_;
  std::vector<uint32_t> next_;     // empty if no key stands twice
  std::vector<uint32_t> buckets_;  // open addressing: numbers in keys()
};

// OK, or INVALID_ARGUMENT naming table and limit if a batch has too many keys.
absl::Status CheckNumKeys(const TableSpec& spec, size_t num_keys);

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_BATCH_KEYS_H_
