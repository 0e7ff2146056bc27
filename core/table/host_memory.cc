#include "core/table/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kTouchBytes = uint64_t{64} << 20;  // by one thread at least
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The same for a size and for what BytesTaken makes of it.
bool IsMapped(uint64_t num_bytes) {
  return AlignUp(num_bytes, kCacheLine) >= kHugePage;
}

void Touch(std::byte* data, uint64_t num_bytes) {
  for (uint64_t i = 0; i < num_bytes; i += kPage) {
    *const_cast<volatile std::byte*>(data + i) = std::byte{0};
  }
}

void TouchInParallel(std::byte* data, uint64_t num_bytes) {
  const uint64_t num_threads =
      std::clamp<uint64_t>(num_bytes / kTouchBytes, 1,
                           std::max(1u, std::thread::hardware_concurrency()));
  const uint64_t share = AlignUp(num_bytes / num_threads + 1, kHugePage);
  std::vector<std::thread> threads;
  for (uint64_t begin = share; begin < num_bytes; begin += share) {
    threads.emplace_back(Touch, data + begin,
                         std::min(share, num_bytes - begin));
  }
  Touch(data, std::min(share, num_bytes));
  for (std::thread& thread : threads) thread.join();
}

absl::Status NoRoom(uint64_t num_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no room for a block of ", num_bytes, " bytes"));
}

// `num_bytes` (whole pages) aligned to huge pages, or nullptr.
std::byte* Map(uint64_t num_bytes) {
  const uint64_t reserved = num_bytes + kHugePage;
  void* mapped = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* begin = static_cast<std::byte*>(mapped);
  const uint64_t head = AlignUp(reinterpret_cast<uintptr_t>(begin), kHugePage) -
                        reinterpret_cast<uintptr_t>(begin);
  std::byte* data = begin + head;
  if (head > 0) munmap(begin, head);
  munmap(data + num_bytes, reserved - head - num_bytes);
  // Advice: without huge pages all works, only slower.
  madvise(data, num_bytes, MADV_HUGEPAGE);
  TouchInParallel(data, num_bytes);
  return data;
}

// A file of one number; "max" and what is not there give nullopt.
std::optional<uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number behind `name` in a file of lines `name number ...`.
std::optional<uint64_t> ReadField(const std::string& path,
                                  const std::string& name) {
  std::ifstream file(path);
  std::string word;
  uint64_t number = 0;
  for (std::string rest; file >> word >> number; std::getline(file, rest)) {
    if (word == name) return number;
  }
  return std::nullopt;
}

uint64_t MemAvailable(const std::string& root) {
  const auto kib = ReadField(root + "proc/meminfo", "MemAvailable:");
  return kib.has_value() ? *kib * 1024 : kUnlimited;
}

// Files of a control group; version 1 and 2 name them differently. Inside a
// container its own group stands at the root of the file system.
struct GroupFiles {
  std::string limit;
  std::string usage;
  std::string stat;
  std::string idle_cache;  // in `stat`: pages of files that can be dropped
};

uint64_t GroupAvailable(const GroupFiles& files) {
  const auto limit = ReadNumber(files.limit);
  const auto usage = ReadNumber(files.usage);
  if (!limit.has_value() || !usage.has_value()) return kUnlimited;
  const uint64_t idle = ReadField(files.stat, files.idle_cache).value_or(0);
  const uint64_t used = *usage - std::min(*usage, idle);
  return *limit - std::min(*limit, used);
}

}  // namespace

absl::StatusOr<HostMemory> HostMemory::Create(uint64_t num_bytes) {
  const uint64_t taken = BytesTaken(num_bytes);
  std::byte* data = nullptr;
  if (IsMapped(num_bytes)) {
    data = Map(taken);
  } else {
    data = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, taken));
    if (data != nullptr) std::memset(data, 0, taken);
  }
  if (data == nullptr) return NoRoom(taken);
  return HostMemory(data, taken);
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      num_bytes_(std::exchange(other.num_bytes_, 0)) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(num_bytes_, other.num_bytes_);
  return *this;
}

HostMemory::~HostMemory() {
  if (data_ == nullptr) return;
  if (IsMapped(num_bytes_)) {
    munmap(data_, num_bytes_);
  } else {
    std::free(data_);
  }
}

uint64_t HostMemory::BytesTaken(uint64_t num_bytes) {
  return AlignUp(std::max<uint64_t>(num_bytes, 1),
                 IsMapped(num_bytes) ? kPage : kCacheLine);
}

uint64_t AvailableHostMemory(const std::string& root) {
  const std::string v2 = root + "sys/fs/cgroup/";
  const std::string v1 = v2 + "memory/memory.";
  return std::min({MemAvailable(root),
                   GroupAvailable({v2 + "memory.max", v2 + "memory.current",
                                   v2 + "memory.stat", "inactive_file"}),
                   GroupAvailable({v1 + "limit_in_bytes", v1 + "usage_in_bytes",
                                   v1 + "stat", "total_inactive_file"})});
}

}  // namespace gatherd
