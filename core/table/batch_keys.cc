#include "core/table/batch_keys.h"

#include "absl/strings/str_cat.h"
#include "core/base/hash.h"

namespace gatherd {
namespace {

// A power of two, at most half full.
size_t NumBuckets(size_t num_keys) {
  size_t num = 4;
  while (num < 2 * num_keys) num *= 2;
  return num;
}

}  // namespace

BatchKeys::BatchKeys(absl::Span<const int64_t> keys, uint64_t seed)
    : seed_(seed), buckets_(NumBuckets(keys.size()), kNone) {
  distinct_.reserve(keys.size());
  first_.reserve(keys.size());
  last_.reserve(keys.size());
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) {
      __builtin_prefetch(&buckets_[Home(keys[i + kAhead])], 1);
    }
    const uint32_t position = static_cast<uint32_t>(i);
    size_t bucket = Home(keys[i]);
    while (buckets_[bucket] != kNone &&
           distinct_[buckets_[bucket]] != keys[i]) {
      bucket = (bucket + 1) & (buckets_.size() - 1);
    }
    if (buckets_[bucket] == kNone) {
      buckets_[bucket] = static_cast<uint32_t>(distinct_.size());
      distinct_.push_back(keys[i]);
      first_.push_back(position);
      last_.push_back(position);
      continue;
    }
    if (next_.empty()) next_.assign(keys.size(), kNone);
    uint32_t& last = last_[buckets_[bucket]];
    next_[last] = position;
    last = position;
  }
}

uint32_t BatchKeys::Find(int64_t key) const {
  size_t bucket = Home(key);
  while (buckets_[bucket] != kNone) {
    if (distinct_[buckets_[bucket]] == key) return buckets_[bucket];
    bucket = (bucket + 1) & (buckets_.size() - 1);
  }
  return kNone;
}

size_t BatchKeys::Home(int64_t key) const {
  return MixKey(key, seed_) & (buckets_.size() - 1);
}

absl::Status CheckNumKeys(const TableSpec& spec, size_t num_keys) {
  if (num_keys < BatchKeys::kMaxKeys) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("table \"", spec.name, "\": a batch of ", num_keys,
                   " keys; at most ", BatchKeys::kMaxKeys - 1, " are allowed"));
}

}  // namespace gatherd
