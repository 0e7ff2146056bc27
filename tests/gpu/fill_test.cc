// Rows and lists that are filled, and what lies behind them.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {
namespace {

TEST_CASE("rows are filled with one row") {
  const uint32_t row_stride = GENERATE(16, 48, 1040, 32768);
  const uint64_t num_rows = GENERATE(0, 1, 77, 3000);
  CAPTURE(row_stride, num_rows);
  std::vector<uint32_t> row(row_stride / 4);
  for (uint32_t i = 0; i < row.size(); i++) row[i] = i * 2654435761u;
  const DeviceArray<uint32_t> device_row(row);
  DeviceArray<uint32_t> rows((num_rows + 1) * row.size());
  rows.Fill(0x11);
  const Stream stream;
  REQUIRE(Platform().kernels.FillRowsAsync(rows.data(), num_rows,
                                           device_row.data(), row_stride,
                                           stream.get()) == cudaSuccess);
  stream.Synchronize("filling");
  const std::vector<uint32_t> filled = rows.Read();
  uint64_t num_wrong = 0;
  for (uint64_t i = 0; i < filled.size(); i++) {
    const bool is_behind = i >= num_rows * row.size();
    if (filled[i] != (is_behind ? 0x11111111u : row[i % row.size()])) {
      num_wrong++;
    }
  }
  CHECK(num_wrong == 0);
}

TEST_CASE("lists count up") {
  const uint32_t count = GENERATE(0, 1, 255, 1000000);
  CAPTURE(count);
  DeviceArray<uint32_t> list(count + 1);
  list.Fill(0);
  const Stream stream;
  REQUIRE(Platform().kernels.IotaAsync(list.data(), count, 5, stream.get()) ==
          cudaSuccess);
  stream.Synchronize("filling");
  std::vector<uint32_t> expected(count + 1);
  for (uint32_t i = 0; i < count; i++) expected[i] = 5 + i;
  CHECK((list.Read() == expected));
}

}  // namespace
}  // namespace gatherd::kernels
