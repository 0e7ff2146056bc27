// Drives the fuzzer that it is linked with: its seeds, what is left of them
// when they are cut short, and random mutations of them.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

constexpr int kRounds = 50'000;
constexpr size_t kMaxInputBytes = 4096;

void Run(const std::string& input) {
  // On the heap and of exact size, so that ASan sees a read past it.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Changes one place of *input.
void Mutate(const std::vector<std::string>& seeds, std::mt19937_64& random,
            std::string* input) {
  const size_t place = random() % (input->size() + 1);
  const size_t length = random() % 8;
  switch (random() % 6) {
    case 0:  // flip a bit
      if (place < input->size()) {
        (*input)[place] =
            static_cast<char>((*input)[place] ^ 1 << random() % 8);
      }
      break;
    case 1:  // another byte
      if (place < input->size()) (*input)[place] = static_cast<char>(random());
      break;
    case 2:
      input->erase(place, length);
      break;
    case 3:  // bytes of its own
      input->insert(place,
                    input->substr(random() % (input->size() + 1), length));
      break;
    case 4:
      input->insert(place, 1, static_cast<char>(random()));
      break;
    case 5: {  // bytes of another seed
      const std::string& seed = seeds[random() % seeds.size()];
      input->replace(place, length,
                     seed.substr(random() % (seed.size() + 1), length));
      break;
    }
  }
}

TEST_CASE("Seeds, and seeds cut short") {
  for (const std::string& seed : FuzzSeeds()) {
    for (size_t size = 0; size < seed.size(); ++size) {
      Run(seed.substr(0, size));
    }
    Run(seed);
  }
}

TEST_CASE("Mutations of the seeds") {
  std::mt19937_64 random(1);
  const std::vector<std::string> seeds = FuzzSeeds();
  for (int round = 0; round < kRounds; ++round) {
    std::string input = seeds[random() % seeds.size()];
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      Mutate(seeds, random, &input);
    }
    input.resize(std::min(input.size(), kMaxInputBytes));
    Run(input);
  }
}

}  // namespace
}  // namespace gatherd
