// CUDA without a GPU: devices that exist in this process alone, behind a table
// of functions. Counts what is live, notes every misuse, and makes any call
// fail that a test names.
//
// All memory is real memory of this process (its pages appear on first use),
// so that kernels of a test can be plain functions. What is enqueued happens at
// once, in the thread that enqueues it, or, with FakeStreams::kInThreads, in a
// thread of the stream: then whoever forgets to wait has a race, which
// ThreadSanitizer finds.
//
// One at a time. The table's functions may be called from any thread, what
// tests ask or set only while no other thread calls them.
#ifndef GATHERD_TESTS_CORE_CUDA_FAKE_CUDA_H_
#define GATHERD_TESTS_CORE_CUDA_FAKE_CUDA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/preflight.h"
#include "tests/core/cuda/fake_stream.h"

namespace gatherd {

class FakeCuda {
 public:
  explicit FakeCuda(int num_devices, FakeStreams mode = FakeStreams::kAtOnce);
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  const CudaApi& api() const { return api_; }
  static PatternKernels kernels();

  struct Device {
    uint64_t total_bytes = uint64_t{140} << 30;
    uint64_t used_bytes = uint64_t{1} << 30;
    uint64_t granularity = uint64_t{2} << 20;
  };
  Device& device(int i) { return devices_.at(static_cast<size_t>(i)); }
  int num_devices() const { return static_cast<int>(devices_.size()); }

  // Pairs (from, to): without peer access; with one that loses what is written.
  std::set<std::pair<int, int>> no_access;
  std::set<std::pair<int, int>> loses_writes;

  // Calls are counted from 1; those that give back, and those that ask for an
  // error, cannot fail and do not count.
  struct Call {
    std::string name;
    std::optional<int> device;
    std::optional<uint64_t> num_bytes;
  };
  void FailCall(int number) { failing_call_ = number; }
  int num_calls() const { return num_calls_; }
  const std::optional<Call>& failed_call() const { return failed_call_; }

  // False: events never pass for those who ask (cudaEventQuery).
  bool events_pass = true;

  // Launches a kernel that is a plain function; a call like those of the table.
  // Where there is no FakeCuda it is called at once.
  template <typename Kernel>
  static cudaError_t Launch(const char* name, cudaStream_t stream,
                            Kernel&& kernel) {
    std::shared_ptr<FakeStream> on;
    const cudaError_t error = StartKernel(name, stream, &on);
    if (error != cudaSuccess) return error;
    if (on == nullptr) {
      kernel();
    } else {
      on->Do(std::forward<Kernel>(kernel));
    }
    return cudaSuccess;
  }
  // Whether it does so now, or whether a kernel must hold what it works on.
  static bool LaunchesAtOnce();

  // What has not been given back, and what was done that must not be: one line
  // each.
  std::vector<std::string> Live() const;
  const std::vector<std::string>& misuses() const { return misuses_; }

  // Of this thread.
  bool has_last_error() const;
  int current_device() const;
  int last_priority() const { return last_priority_; }

 private:
  friend struct FakeDriver;
  friend struct FakePatterns;
  friend struct FakeRuntime;

  struct Physical {
    int device;
    uint64_t num_bytes;
    bool is_held;  // by its handle
  };
  struct Mapped {
    uint64_t num_bytes;
    uint64_t handle;
    std::set<int> granted;
  };

  static cudaError_t StartKernel(const char* name, cudaStream_t stream,
                                 std::shared_ptr<FakeStream>* on);

  // A function of the table, called under the mutex.
  template <auto kCall, typename... Args>
  static auto Locked(Args... args) {
    absl::MutexLock lock(&fake_->mutex_);
    return kCall(args...);
  }

  // A call of the runtime that may fail with `error`; one on a stream.
  static cudaError_t Start(const char* name, std::optional<int> device = {},
                           std::optional<uint64_t> num_bytes = {},
                           cudaError_t error = cudaErrorUnknown);
  static cudaError_t OnStream(const char* name, cudaStream_t stream,
                              std::optional<uint64_t> num_bytes = {});
  // The same, for work that is done without the mutex: `*found` may wait, and
  // its work must not be ordered by what others call.
  static cudaError_t FindStream(const char* name, cudaStream_t stream,
                                std::shared_ptr<FakeStream>* found,
                                std::optional<uint64_t> num_bytes = {});
  // Giving memory back waits for what any device is doing.
  static void Drain();

  // True if this call is to fail.
  bool Begin(Call call);
  cudaError_t Fail(cudaError_t error);
  void Misuse(std::string what) { misuses_.push_back(std::move(what)); }
  void DropIfUnused(uint64_t handle);
  // What `device` reaches at `address`, or nullptr.
  const Mapped* Reach(int device, uint64_t address) const;

  static FakeCuda* fake_;            // the one there is
  static thread_local int current_;  // device
  static thread_local cudaError_t last_error_;

  absl::Mutex mutex_;  // held by every call, but not while it waits
  const FakeStreams mode_;
  CudaApi api_;
  std::vector<Device> devices_;
  std::vector<std::string> misuses_;
  int failing_call_ = 0;
  int num_calls_ = 0;
  std::optional<Call> failed_call_;
  int last_priority_ = 0;
  uint64_t next_handle_ = 1;

  std::map<const void*, std::shared_ptr<FakeStream>> streams_;
  std::map<const void*, std::shared_ptr<FakeEvent>> events_;
  std::map<const void*, uint64_t> host_;                    // bytes
  std::map<const void*, std::pair<int, uint64_t>> memory_;  // device, bytes
  std::map<uint64_t, Physical> physical_;
  std::map<uint64_t, uint64_t> ranges_;  // bytes
  std::map<uint64_t, Mapped> mapped_;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_CUDA_FAKE_CUDA_H_
