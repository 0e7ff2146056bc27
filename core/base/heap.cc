#include "core/base/heap.h"

#include <malloc.h>

#include <limits>

namespace gatherd {
namespace {

constexpr int kMaxHeapBlockBytes = 32 << 20;  // the most that mallopt takes
constexpr int kNeverTrim = std::numeric_limits<int>::max();

}  // namespace

void KeepFreedMessageMemory() {
  mallopt(M_MMAP_THRESHOLD, kMaxHeapBlockBytes);
  mallopt(M_TRIM_THRESHOLD, kNeverTrim);
}

void ReturnFreedMemory() { malloc_trim(0); }

}  // namespace gatherd
