// Random numbers for tests that draw millions of them.
#ifndef GATHERD_TESTING_RANDOM_FLOATS_H_
#define GATHERD_TESTING_RANDOM_FLOATS_H_

#include <cstdint>

namespace gatherd {

// Of mean 0 and variance 1, and normal but for the tails: none is beyond 3.5.
// `random` gives 32 random bits or more. (std::normal_distribution takes
// logarithms of long doubles, for longer than tables take to be tested.)
template <typename Random>
float RandomNormal(Random& random) {
  constexpr float kVarianceOne = 1.7320508f;  // four draws have a third
  int32_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    sum += static_cast<int32_t>((bits & 0xffff) + (bits >> 16));
  }
  return kVarianceOne * (static_cast<float>(sum) / 65536 - 2);
}

}  // namespace gatherd

#endif  // GATHERD_TESTING_RANDOM_FLOATS_H_
