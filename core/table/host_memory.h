// A block of zeroed memory that is really there: every page has been touched
// before Create returns, so that nothing can run out later.
#ifndef GATHERD_CORE_TABLE_HOST_MEMORY_H_
#define GATHERD_CORE_TABLE_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gatherd {

class HostMemory {
 public:
  // Aligned to a cache line; from 2 MiB on to 2 MiB, in huge pages where the
  // kernel has them: a random read of a large table then costs one miss
  // instead of two. Large blocks are touched by several threads.
  // RESOURCE_EXHAUSTED if the address space has no room.
  static absl::StatusOr<HostMemory> Create(uint64_t num_bytes);

  HostMemory() = default;
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();

  std::byte* data() const { return data_; }
  uint64_t num_bytes() const { return num_bytes_; }  // really taken

  // What Create(num_bytes) takes: small blocks are exact, others whole pages.
  static uint64_t BytesTaken(uint64_t num_bytes);

 private:
  HostMemory(std::byte* data, uint64_t num_bytes)
      : data_(data), num_bytes_(num_bytes) {}

  std::byte* data_ = nullptr;
  uint64_t num_bytes_ = 0;
};

// Bytes that this process can still take without anything being killed: the
// kernel's MemAvailable, or what the control groups leave if that is less.
// The largest number if neither can be read. `root` is "/" but in tests.
uint64_t AvailableHostMemory(const std::string& root = "/");

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_HOST_MEMORY_H_
