#include "core/npy/npy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/core/npy/npy_bytes.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string Refusal(const std::string& path, size_t num_dimensions = 2) {
  const auto file = NpyFile::Open(path, num_dimensions);
  if (file.ok()) return "";
  CHECK(absl::IsInvalidArgument(file.status()));
  CHECK_THAT(std::string(file.status().message()), StartsWith(path + ": "));
  return std::string(file.status().message());
}

std::string ThreeByTwo() {
  return NpyBytes<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6});
}

TEST_CASE("Rows are read from anywhere in a file") {
  const auto file = NpyFile::Open(WriteTestFile("a.npy", ThreeByTwo()), 2);
  REQUIRE(file.ok());
  CHECK(file->num_rows() == 3);
  CHECK(file->row_elements() == 2);
  CHECK(file->row_bytes() == 8);
  CHECK(file->RowOffset(3) == 128 + 24);
  std::vector<float> rows(4);
  REQUIRE(
      file->ReadRows(1, {reinterpret_cast<std::byte*>(rows.data()), 16}).ok());
  CHECK(rows == std::vector<float>{3, 4, 5, 6});
  CHECK(file->CheckUnchanged().ok());
}

TEST_CASE("A file without rows is legal") {
  const auto file = NpyFile::Open(
      WriteTestFile("empty.npy", NpyBytes<float>("<f4", "(0, 2)", {})), 2);
  REQUIRE(file.ok());
  CHECK(file->num_rows() == 0);
  CHECK(file->row_elements() == 2);
}

TEST_CASE("The number of dimensions must fit") {
  const std::string path = WriteTestFile("dims.npy", ThreeByTwo());
  CHECK_THAT(Refusal(path, 1), Contains("has 2 dimensions, not 1"));
  CHECK_THAT(
      Refusal(WriteTestFile("d0.npy", NpyBytes<float>("<f4", "()", {1}))),
      Contains("has 0 dimensions, not 2"));
}

TEST_CASE("A file cut short anywhere is refused, naming the place") {
  const std::string bytes = ThreeByTwo();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string path = WriteTestFile("cut.npy", bytes.substr(0, size));
    const std::string refusal = Refusal(path);
    CHECK_THAT(refusal, Contains("offset "));
    if (size >= 128) {
      CHECK_THAT(refusal, Contains("offset " + std::to_string(size) +
                                   ": the file is cut short"));
    }
  }
}

TEST_CASE("A file with more behind the data is refused") {
  CHECK_THAT(Refusal(WriteTestFile("long.npy", ThreeByTwo() + "x")),
             Contains("offset 152: 1 bytes stand behind"));
}

TEST_CASE("A header that promises too much is refused") {
  CHECK_THAT(
      Refusal(WriteTestFile(
          "huge.npy", NpyBytes<float>("<f4", "(2305843009213693952, 2)", {1}))),
      Contains("2^64 - 1"));
  CHECK_THAT(
      Refusal(WriteTestFile(
          "big.npy", NpyBytes<float>("<f4", "(2305843009213693951, 2)", {1}))),
      Contains("cut short"));
}

TEST_CASE("What is no readable regular file is refused") {
  const std::string path = WriteTestFile("there.npy", ThreeByTwo());
  const std::string folder = path.substr(0, path.rfind('/'));
  CHECK_THAT(Refusal(folder + "/absent.npy"),
             Contains("No such file or directory"));
  CHECK_THAT(Refusal(folder), Contains("is a directory"));
  CHECK_THAT(Refusal(path + "/x"), Contains("Not a directory"));
  CHECK_THAT(Refusal("/dev/null"), Contains("is no regular file"));

  const std::string pipe = folder + "/pipe";
  unlink(pipe.c_str());
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(Refusal(pipe), Contains("is no regular file"));

  if (geteuid() != 0) {  // root may read everything
    chmod(path.c_str(), 0);
    CHECK_THAT(Refusal(path), Contains("Permission denied"));
    chmod(path.c_str(), 0600);
  }
}

TEST_CASE("A file that shrinks while it is read is an error, not SIGBUS") {
  const std::string path = WriteTestFile("shrinks.npy", ThreeByTwo());
  const auto file = NpyFile::Open(path, 2);
  REQUIRE(file.ok());
  REQUIRE(truncate(path.c_str(), 128 + 8) == 0);
  std::vector<std::byte> rows(24);
  const absl::Status status = file->ReadRows(0, absl::MakeSpan(rows));
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(std::string(status.message()),
             Contains(path) && Contains("offset 136: the file ends here"));
  CHECK_FALSE(file->CheckUnchanged().ok());
}

TEST_CASE("A file that is written while it is read is noticed") {
  const std::string path = WriteTestFile("changes.npy", ThreeByTwo());
  const auto file = NpyFile::Open(path, 2);
  REQUIRE(file.ok());
  const timespec times[2] = {{1, 0}, {1, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  CHECK_THAT(std::string(file->CheckUnchanged().message()),
             Contains("was changed while it was read"));
}

}  // namespace
}  // namespace gatherd
