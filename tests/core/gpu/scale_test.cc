#include <catch2/catch.hpp>
#include <vector>

#include "tests/bench/gpu_scale_node.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd {

TEST_CASE("the engine's part of the scaling benchmark runs on four devices") {
  FakeCuda cuda(4);
  std::vector<DeviceId> devices;
  for (int i = 0; i < 4; ++i) devices.push_back(DeviceId{i});
  const KeySpace key_space = GENERATE(KeySpace::kDense, KeySpace::kHashed);
  ScaleShape shape;
  shape.rows_per_device = 500;
  shape.dim = 4;
  shape.write_keys = 700;
  shape.block_keys = 100;
  shape.num_small_writes = 10;
  shape.call_keys = 50;
  shape.num_callers = 3;
  shape.duration = absl::Milliseconds(20);
  const auto figures = MeasureNode(cuda.api(), kernels::HostKernels(), devices,
                                   key_space, shape);
  REQUIRE(figures.ok());
  CHECK(figures->size() == 12);
  for (const auto& [name, value] : *figures) {
    CAPTURE(name);
    CHECK(value > 0);
  }
}

}  // namespace gatherd
