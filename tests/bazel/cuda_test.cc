#include <cuda_runtime_api.h>

#include <catch2/catch.hpp>

#include "tests/bazel/add_one.h"

TEST_CASE("A kernel built by cuda_library runs") {
  void* memory = nullptr;
  REQUIRE(cudaMallocManaged(&memory, 3 * sizeof(float)) == cudaSuccess);
  auto* values = static_cast<float*>(memory);
  for (int i = 0; i < 3; ++i) values[i] = static_cast<float>(i);
  REQUIRE(gatherd::AddOneAsync(values, 3, nullptr) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values[0] == 1.0F);
  CHECK(values[2] == 3.0F);
  CHECK(cudaFree(memory) == cudaSuccess);
}
