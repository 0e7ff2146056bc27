#include "core/table/host_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

namespace gatherd {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

TEST_CASE("a block is zeroed, aligned and as large as was said") {
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{1}, uint64_t{64}, uint64_t{1000}, 2 * kMiB - 65,
        2 * kMiB - 64, 2 * kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 200 * kMiB}) {
    auto memory = HostMemory::Create(bytes);
    REQUIRE(memory.ok());
    CHECK(memory->num_bytes() >= bytes);
    CHECK(memory->num_bytes() == HostMemory::BytesTaken(bytes));
    const bool is_large = bytes >= 2 * kMiB;
    const auto address = reinterpret_cast<uintptr_t>(memory->data());
    CHECK(address % (is_large ? 2 * kMiB : 64) == 0);
    CHECK(std::all_of(memory->data(), memory->data() + memory->num_bytes(),
                      [](std::byte b) { return b == std::byte{0}; }));
    memory->data()[memory->num_bytes() - 1] = std::byte{1};
    const HostMemory moved = *std::move(memory);
    CHECK(moved.data()[moved.num_bytes() - 1] == std::byte{1});
  }
}

TEST_CASE("more than there are addresses for is refused") {
  auto memory = HostMemory::Create(uint64_t{1} << 50);
  CHECK(memory.status().code() == absl::StatusCode::kResourceExhausted);
}

// A made-up /proc and /sys.
class FakeRoot {
 public:
  FakeRoot()
      : path_(std::filesystem::temp_directory_path() / "host_memory_test/") {
    std::filesystem::remove_all(path_);
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  void Write(const std::string& name, const std::string& text) {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  uint64_t Available() const { return AvailableHostMemory(path_.string()); }

 private:
  const std::filesystem::path path_;
};

TEST_CASE("available memory is the least of machine and control group") {
  FakeRoot root;
  CHECK(root.Available() == kUnlimited);
  root.Write("proc/meminfo",
             "MemTotal:       24683620 kB\nMemFree:  100 kB\n"
             "MemAvailable:   2000 kB\nBuffers: 5 kB\nHugePages_Total: 0\n");
  CHECK(root.Available() == 2000 * 1024);
  root.Write("sys/fs/cgroup/memory.max", "max\n");
  root.Write("sys/fs/cgroup/memory.current", "500000\n");
  CHECK(root.Available() == 2000 * 1024);
  root.Write("sys/fs/cgroup/memory.max", "1000000\n");
  CHECK(root.Available() == 500000);
  // Pages of files that nobody uses can go.
  root.Write("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 100000\n");
  CHECK(root.Available() == 600000);
  root.Write("sys/fs/cgroup/memory.current", "2000000\n");
  CHECK(root.Available() == 0);
}

TEST_CASE("version 1 of control groups counts, too") {
  FakeRoot root;
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  root.Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "900\n");
  root.Write("sys/fs/cgroup/memory/memory.stat",
             "cache 5\ninactive_file 10\ntotal_inactive_file 20\n");
  CHECK(root.Available() == 120);
}

TEST_CASE("this machine has some memory") { CHECK(AvailableHostMemory() > 0); }

}  // namespace
}  // namespace gatherd
