#include "tests/core/cuda/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/core/cuda/fake_calls.h"

namespace gatherd {
namespace {

// One word in this many stands for all: tests run these kernels often.
constexpr uint32_t kWordStep = 65536;

uint32_t PatternWord(uint32_t seed, uint64_t index) {
  return seed * 0x9e3779b9U + static_cast<uint32_t>(index);
}

}  // namespace

FakeCuda* FakeCuda::fake_ = nullptr;
thread_local int FakeCuda::current_ = 0;
thread_local cudaError_t FakeCuda::last_error_ = cudaSuccess;

// The kernels of Preflight.
struct FakePatterns {
  static FakeCuda& fake() { return *FakeCuda::fake_; }

  // Where a kernel on `stream` reads or writes `words`; nullptr: it faults.
  static const FakeCuda::Mapped* Launch(const uint32_t* words,
                                        cudaStream_t stream) {
    const int device = fake().streams_.at(stream)->device();
    if (FakeCuda::current_ != device) fake().Misuse("launched elsewhere");
    return fake().Reach(device, reinterpret_cast<uint64_t>(words));
  }

  static cudaError_t FillPattern(uint32_t* words, uint64_t num_words,
                                 uint32_t seed, cudaStream_t stream) {
    const cudaError_t error =
        FakeCuda::OnStream("the kernel that writes a pattern", stream,
                           num_words * sizeof(uint32_t));
    if (error != cudaSuccess) return error;
    const FakeCuda::Mapped* memory = Launch(words, stream);
    if (memory == nullptr) return fake().Fail(cudaErrorIllegalAddress);
    const int owner = fake().physical_.at(memory->handle).device;
    if (fake().loses_writes.count({FakeCuda::current_, owner}) != 0) {
      return cudaSuccess;
    }
    fake().streams_.at(stream)->Do([=] {
      for (uint64_t i = 0; i < num_words; i += kWordStep) {
        words[i] = PatternWord(seed, i);
      }
    });
    return cudaSuccess;
  }

  static cudaError_t CountWrong(const uint32_t* words, uint64_t num_words,
                                uint32_t seed, uint32_t* num_wrong,
                                cudaStream_t stream) {
    const cudaError_t error =
        FakeCuda::OnStream("the kernel that reads a pattern", stream,
                           num_words * sizeof(uint32_t));
    if (error != cudaSuccess) return error;
    if (Launch(words, stream) == nullptr) {
      return fake().Fail(cudaErrorIllegalAddress);
    }
    fake().streams_.at(stream)->Do([=] {
      *num_wrong = 0;
      for (uint64_t i = 0; i < num_words; i += kWordStep) {
        if (words[i] != PatternWord(seed, i)) *num_wrong += kWordStep;
      }
    });
    return cudaSuccess;
  }
};

FakeCuda::FakeCuda(int num_devices, FakeStreams mode)
    : mode_(mode), devices_(static_cast<size_t>(num_devices)) {
  if (fake_ != nullptr) std::abort();
  fake_ = this;
  current_ = 0;
  last_error_ = cudaSuccess;
  FillInFakeRuntime(&api_);
  FillInFakeDriver(&api_);
}

FakeCuda::~FakeCuda() {
  Drain();
  fake_ = nullptr;
}

cudaError_t FakeCuda::Start(const char* name, std::optional<int> device,
                            std::optional<uint64_t> num_bytes,
                            cudaError_t error) {
  return fake_->Begin({name, device, num_bytes}) ? fake_->Fail(error)
                                                 : cudaSuccess;
}

cudaError_t FakeCuda::OnStream(const char* name, cudaStream_t stream,
                               std::optional<uint64_t> num_bytes) {
  const auto found = fake_->streams_.find(stream);
  if (found == fake_->streams_.end()) {
    fake_->Misuse(absl::StrCat(name, " on a stream that is none"));
    return fake_->Fail(cudaErrorInvalidResourceHandle);
  }
  return Start(name, found->second->device(), num_bytes);
}

cudaError_t FakeCuda::FindStream(const char* name, cudaStream_t stream,
                                 std::shared_ptr<FakeStream>* found,
                                 std::optional<uint64_t> num_bytes) {
  absl::MutexLock lock(&fake_->mutex_);
  const cudaError_t error = OnStream(name, stream, num_bytes);
  if (error == cudaSuccess) *found = fake_->streams_.at(stream);
  return error;
}

void FakeCuda::Drain() {
  std::vector<std::shared_ptr<FakeStream>> streams;
  {
    absl::MutexLock lock(&fake_->mutex_);
    for (const auto& [handle, stream] : fake_->streams_) {
      streams.push_back(stream);
    }
  }
  for (const auto& stream : streams) stream->Synchronize();
}

PatternKernels FakeCuda::kernels() {
  return {Locked<FakePatterns::FillPattern>, Locked<FakePatterns::CountWrong>};
}

cudaError_t FakeCuda::StartKernel(const char* name, cudaStream_t stream,
                                  std::shared_ptr<FakeStream>* on) {
  if (fake_ == nullptr) return cudaSuccess;
  const cudaError_t error = FindStream(name, stream, on);
  if (error == cudaSuccess && (*on)->device() != current_) {
    absl::MutexLock lock(&fake_->mutex_);
    fake_->Misuse(absl::StrCat(name, " launched elsewhere"));
  }
  return error;
}

bool FakeCuda::LaunchesAtOnce() {
  return fake_ == nullptr || fake_->mode_ == FakeStreams::kAtOnce;
}

bool FakeCuda::has_last_error() const { return last_error_ != cudaSuccess; }

int FakeCuda::current_device() const { return current_; }

bool FakeCuda::Begin(Call call) {
  if (++num_calls_ != failing_call_) return false;
  failed_call_ = std::move(call);
  return true;
}

cudaError_t FakeCuda::Fail(cudaError_t error) {
  last_error_ = error;
  return error;
}

void FakeCuda::DropIfUnused(uint64_t handle) {
  const Physical& physical = physical_.at(handle);
  const bool is_mapped = std::any_of(
      mapped_.begin(), mapped_.end(),
      [handle](const auto& mapped) { return mapped.second.handle == handle; });
  if (physical.is_held || is_mapped) return;
  device(physical.device).used_bytes -= physical.num_bytes;
  physical_.erase(handle);
}

const FakeCuda::Mapped* FakeCuda::Reach(int device, uint64_t address) const {
  auto mapped = mapped_.upper_bound(address);
  if (mapped == mapped_.begin()) return nullptr;
  --mapped;
  const bool is_inside = address < mapped->first + mapped->second.num_bytes;
  return is_inside && mapped->second.granted.count(device) != 0
             ? &mapped->second
             : nullptr;
}

std::vector<std::string> FakeCuda::Live() const {
  const std::pair<const char*, size_t> counts[] = {
      {"streams", streams_.size()},
      {"events", events_.size()},
      {"pinned buffers", host_.size()},
      {"device buffers", memory_.size()},
      {"pieces of physical memory", physical_.size()},
      {"address ranges", ranges_.size()},
      {"mappings", mapped_.size()},
  };
  std::vector<std::string> live;
  for (const auto& [name, count] : counts) {
    if (count != 0) live.push_back(absl::StrCat(count, " ", name));
  }
  return live;
}

}  // namespace gatherd
