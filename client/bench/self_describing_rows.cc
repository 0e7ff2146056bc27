#include "client/bench/self_describing_rows.h"

namespace gatherd::client {
namespace {

// splitmix64 (Steele, Lea, Flood 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class Elements {
 public:
  Elements(int64_t key, uint64_t version, size_t dim)
      : seed_(Mix(static_cast<uint64_t>(key)) ^ Mix(~version)),
        largest_(seed_ % dim) {}

  float operator[](size_t i) const {
    if (i == largest_) return 127;
    return static_cast<float>(static_cast<int>(Mix(seed_ + i) % 255) - 127);
  }

 private:
  const uint64_t seed_;
  const uint64_t largest_;
};

}  // namespace

void WriteSelfDescribingRow(int64_t key, uint64_t version, size_t dim,
                            float* values) {
  const Elements elements(key, version, dim);
  for (size_t i = 0; i < dim; ++i) values[i] = elements[i];
}

bool IsSelfDescribingRow(int64_t key, uint64_t version, size_t dim,
                         const float* values) {
  const Elements elements(key, version, dim);
  for (size_t i = 0; i < dim; ++i) {
    if (values[i] != elements[i]) return false;
  }
  return true;
}

}  // namespace gatherd::client
