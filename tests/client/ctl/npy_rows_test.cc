#include "client/ctl/npy_rows.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/client/npy_text.h"
#include "tests/client/run_program.h"

namespace gatherd::client {
namespace {

std::string Written(const std::string& text) {
  std::string path = TemporaryPath("file.npy");
  WriteFile(path, text);
  return path;
}

std::vector<float> AsFloats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("Rows without keys have their numbers for keys") {
  const auto path =
      Written(NpyText<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}));
  const auto rows = NpyRows::Open(path, std::nullopt);
  REQUIRE(rows.ok());
  CHECK(rows->num_rows() == 3);
  CHECK(rows->dim() == 2);
  CHECK(rows->data_type() == DataType::kFloat32);
  std::vector<int64_t> keys;
  std::vector<std::byte> values;
  REQUIRE(rows->Read(1, 2, keys, values).ok());
  CHECK(keys == std::vector<int64_t>{1, 2});
  CHECK(AsFloats(values) == std::vector<float>{3, 4, 5, 6});
  CHECK(rows->CheckUnchanged().ok());
}

TEST_CASE("Doubles are narrowed and int32 keys widened") {
  const auto path = Written(NpyText<double>("<f8", "(2, 1)", {0.1, -2}));
  const auto keys_path = Written(NpyText<int32_t>("<i4", "(2,)", {-7, 9}));
  const auto rows = NpyRows::Open(path, keys_path);
  REQUIRE(rows.ok());
  CHECK(rows->is_narrowed());
  std::vector<int64_t> keys;
  std::vector<std::byte> values;
  REQUIRE(rows->Read(0, 2, keys, values).ok());
  CHECK(keys == std::vector<int64_t>{-7, 9});
  CHECK(AsFloats(values) == std::vector<float>{0.1f, -2});
}

TEST_CASE("Files that do not fit are refused") {
  const auto rows = Written(NpyText<float>("<f4", "(2, 1)", {1, 2}));
  const auto three_keys = Written(NpyText<int64_t>("<i8", "(3,)", {1, 2, 3}));
  const auto float_keys = Written(NpyText<float>("<f4", "(2,)", {1, 2}));
  const auto int_rows = Written(NpyText<int64_t>("<i8", "(2, 1)", {1, 2}));
  const auto flat = Written(NpyText<float>("<f4", "(2,)", {1, 2}));
  const auto no_npy = Written("hello");
  CHECK(absl::IsInvalidArgument(NpyRows::Open(rows, three_keys).status()));
  CHECK(absl::IsInvalidArgument(NpyRows::Open(rows, float_keys).status()));
  for (const std::string& path : {int_rows, flat, no_npy}) {
    CHECK(absl::IsInvalidArgument(NpyRows::Open(path, std::nullopt).status()));
  }
  CHECK(absl::IsInvalidArgument(
      NpyRows::Open(rows + ".absent", std::nullopt).status()));
}

}  // namespace gatherd::client
