// What the write tests run on: a GPU, or the fake of CUDA with kernels that are
// plain functions. Each test program defines Platform().
#ifndef GATHERD_TESTS_GPU_RIG_PLATFORM_H_
#define GATHERD_TESTS_GPU_RIG_PLATFORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "core/cuda/cuda_api.h"
#include "core/kernels/kernel_api.h"

namespace gatherd::kernels {

struct RigPlatform {
  const CudaApi& cuda;
  const KernelApi& kernels;
  bool is_gpu;  // else tests do less: kernels run in one thread
};
const RigPlatform& Platform();

// Ends the program on an error.
void Check(cudaError_t error, const char* what);

// One that nobody else waits for.
class Stream {
 public:
  Stream();
  ~Stream() { Platform().cuda.cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  // `what`: is under way, for the message if it failed.
  void Synchronize(const char* what) const {
    Check(Platform().cuda.cudaStreamSynchronize(stream_), what);
  }

 private:
  const cudaStream_t stream_;
};

// Both wait until it is done.
void Copy(void* to, const void* from, uint64_t num_bytes);
void Fill(void* to, int byte, uint64_t num_bytes);

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(uint64_t count) : count_(count) {
    Check(Platform().cuda.cudaMalloc(&data_, count * sizeof(T) + 16),
          "allocating");
  }
  explicit DeviceArray(const std::vector<T>& values)
      : DeviceArray(values.size()) {
    Copy(data_, values.data(), values.size() * sizeof(T));
  }
  ~DeviceArray() { Platform().cuda.cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    Copy(values.data(), data_, count_ * sizeof(T));
    return values;
  }
  void Fill(int byte) { kernels::Fill(data_, byte, count_ * sizeof(T)); }

 private:
  uint64_t count_;
  void* data_ = nullptr;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_RIG_PLATFORM_H_
