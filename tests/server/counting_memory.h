// A heap that counts what was taken of it, to see who uses it and who outlives
// whom.
#ifndef GATHERD_TESTS_SERVER_COUNTING_MEMORY_H_
#define GATHERD_TESTS_SERVER_COUNTING_MEMORY_H_

#include <atomic>
#include <memory_resource>

namespace gatherd {

struct MemoryCounts {  // outlive the memory
  std::atomic<int> taken{0};
  std::atomic<int> given_back{0};
  std::atomic<bool> destroyed{false};
};

class CountingMemory final : public std::pmr::memory_resource {
 public:
  explicit CountingMemory(MemoryCounts& counts) : counts_(counts) {}
  ~CountingMemory() override { counts_.destroyed = true; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    ++counts_.taken;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    ++counts_.given_back;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  MemoryCounts& counts_;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_COUNTING_MEMORY_H_
