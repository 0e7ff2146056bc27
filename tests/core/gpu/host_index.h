// The index of one shard of a hashed table, as the kernels keep it, by plain
// code: the same two buckets, overflow counts and moves, one key at a time.
//
// Any number of threads may call Find beside one that writes the shard, which
// may call all there is. Find reads buckets as wholes, entries are written so.
#ifndef GATHERD_TESTS_CORE_GPU_HOST_INDEX_H_
#define GATHERD_TESTS_CORE_GPU_HOST_INDEX_H_

#include <cstdint>

#include "core/kernels/key_place.h"
#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

class HostIndex {
 public:
  static constexpr uint32_t kNowhere = 0xffffffffu;

  HostIndex(const TableRef& table, uint32_t shard);

  uint32_t num_places() const { return table_.num_buckets * kEntriesPerBucket; }

  // The place of a key whose entry is in `state`, or kNowhere.
  struct Found {
    uint32_t place = kNowhere;
    uint32_t row = 0;
  };
  Found Find(int64_t key, uint32_t state) const;

  // The writer's:
  IndexEntry Load(uint32_t place) const;
  // Puts an absent key somewhere; kNowhere if no place was found.
  uint32_t Insert(int64_t key, uint32_t row, uint32_t state);
  void SetRow(uint32_t place, uint32_t row);  // and makes it kValid
  void Remove(uint32_t place);
  void SetProtected(uint32_t place, bool is_protected);

  // An entry in its second bucket, copied to its first if there is room.
  bool CopyToFirst(uint32_t place);

 private:
  void Store(uint32_t place, const IndexEntry& entry);
  Found FindInBucket(uint32_t bucket, int64_t key, uint32_t state,
                     bool* overflowed) const;
  // Replaces all but the bits that belong to the place.
  void Put(uint32_t place, int64_t key, uint32_t row, uint32_t state);
  uint32_t TakePlace(uint32_t bucket, int64_t key, uint32_t row,
                     uint32_t state);
  void AddOverflow(uint32_t bucket, int delta);
  uint32_t Displace(int num_moves, uint32_t bucket, int64_t key, uint32_t row,
                    uint32_t state);

  const TableRef table_;
  IndexEntry* const entries_;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_CORE_GPU_HOST_INDEX_H_
