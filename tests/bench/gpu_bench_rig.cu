#include "tests/bench/gpu_bench_rig.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gatherd::kernels {
namespace {

constexpr uint64_t kKeyMemory = uint64_t{1} << 30;
constexpr uint64_t kOutputMemory = uint64_t{5} << 30;
constexpr uint32_t kMaxKeys = 8 << 20;

__global__ void FillOffsets(uint32_t* offsets, uint32_t count, uint32_t step) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) offsets[i] = i * step;
}

}  // namespace

Batch::Batch() {
  Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  keys_ = static_cast<int64_t*>(Allocate(kKeyMemory));
  constexpr uint32_t kNumWords = kMaxKeys / 32 + kMaxSegments;
  batch_.counters = static_cast<LookupCounters*>(
      Allocate(kMaxSegments * sizeof(LookupCounters)));
  batch_.missing_words = static_cast<uint32_t*>(Allocate(kNumWords * 4));
  batch_.blocks_left = static_cast<uint32_t*>(Allocate(4));
  done_ = static_cast<volatile uint64_t*>(AllocatePinned(64));
  batch_.done = done_;
  batch_.host_counters = static_cast<LookupCounters*>(
      AllocatePinned(kMaxSegments * sizeof(LookupCounters)));
  batch_.host_missing = static_cast<uint32_t*>(AllocatePinned(kNumWords * 4));
}

void Batch::Set(const BenchTable& table, uint32_t num_keys, Keys keys,
                ElementType output_type, uint32_t absent_percent) {
  if (output_ == nullptr) output_ = Allocate(kOutputMemory);
  Set(table, num_keys, keys, output_type, absent_percent, output_);
}

void Batch::Set(const BenchTable& table, uint32_t num_keys, Keys keys,
                ElementType output_type, uint32_t absent_percent,
                void* output) {
  const uint64_t row_bytes = RowBytes(output_type, table.dim);
  num_keys_ = num_keys;
  // Together the sets touch several times what the L2 holds.
  num_sets_ = std::clamp<uint64_t>((uint64_t{512} << 20) / num_keys / row_bytes,
                                   8, 2048);
  FillKeys(keys_, num_keys_ * num_sets_, table, keys, num_keys + table.dim,
           absent_percent);
  LookupSegment s;
  s.table = table.ref;
  s.output = output;
  s.missing = batch_.missing_words;
  s.num_keys = num_keys;
  s.dim = table.dim;
  s.table_type = table.type;
  s.output_type = output_type;
  segments_ = {s};
  batch_.num_missing_words = (num_keys + 31) / 32;
  batch_.keys_on_host = false;
  pinned_keys_ = nullptr;
}

void Batch::Pool(uint32_t num) {
  static auto* const offsets = static_cast<uint32_t*>(Allocate(kMaxKeys * 4));
  LookupSegment& s = segments_[0];
  s.num_bags = s.num_keys / num;
  FillOffsets<<<s.num_bags / 256 + 1, 256>>>(offsets, s.num_bags, num);
  Check(cudaDeviceSynchronize());
  s.offsets = offsets;
  s.pooling = PoolingMode::kSum;
}

void Batch::SetMany(const std::vector<BenchTable>& tables, uint32_t num_keys) {
  const auto num = static_cast<uint32_t>(tables.size());
  Set(tables[0], num * num_keys, Keys::kUniform, tables[0].type);
  const LookupSegment first = segments_[0];
  segments_.assign(num, first);
  const uint64_t row_bytes = RowBytes(first.output_type, first.dim);
  for (uint32_t i = 0; i < num; i++) {
    LookupSegment& s = segments_[i];
    s.table = tables[i].ref;
    s.num_keys = num_keys;
    s.output = static_cast<char*>(first.output) + row_bytes * i * num_keys;
    s.missing = batch_.missing_words + i * ((num_keys + 31) / 32);
  }
  batch_.num_missing_words = num * ((num_keys + 31) / 32);
}

void Batch::SetPinned(const BenchTable& table, uint32_t num_keys) {
  auto* const keys = static_cast<int64_t*>(AllocatePinned(num_keys * 8));
  void* const output =
      AllocatePinned(uint64_t{num_keys} * RowBytes(table.type, table.dim));
  Set(table, num_keys, Keys::kUniform, table.type, 0, output);
  num_sets_ = std::min<uint64_t>(num_sets_, 64);
  host_keys_.resize(num_keys_ * num_sets_);
  Check(cudaMemcpy(host_keys_.data(), keys_, host_keys_.size() * 8,
                   cudaMemcpyDeviceToHost));
  pinned_keys_ = keys;
  batch_.keys_on_host = true;
}

void Batch::SetReports(bool reports) {
  batch_.done = reports ? done_ : nullptr;
}

void Batch::Launch(uint64_t i) {
  const uint64_t set = i % num_sets_ * num_keys_;
  const int64_t* keys = keys_ + set;
  if (pinned_keys_ != nullptr) {
    std::memcpy(pinned_keys_, &host_keys_[set], num_keys_ * 8);
    keys = pinned_keys_;
  }
  for (LookupSegment& s : segments_) {
    s.keys = keys;
    keys += s.num_keys;
  }
  batch_.segments = segments_.data();
  batch_.num_segments = static_cast<int>(segments_.size());
  if (batch_.done != nullptr) batch_.sequence++;
  Check(LaunchLookup(batch_, stream_));
}

void Batch::Push(const std::vector<Batch*>& askers, uint64_t i) {
  std::vector<LookupSegment> segments;
  batch_.num_missing_words = 0;
  for (Batch* const asker : askers) {
    LookupSegment& s = asker->segments_[0];
    // Others ask for other keys.
    s.keys = asker->keys_ + i++ % asker->num_sets_ * asker->num_keys_;
    segments.push_back(s);
    segments.back().missing = batch_.missing_words + batch_.num_missing_words;
    batch_.num_missing_words += (s.num_keys + 31) / 32;
  }
  batch_.segments = segments.data();
  batch_.num_segments = static_cast<int>(segments.size());
  if (batch_.done != nullptr) batch_.sequence++;
  Check(LaunchPush(batch_, stream_));
}

void Batch::LaunchSameKeys() {
  segments_[0].keys = pinned_keys_;
  batch_.segments = segments_.data();
  batch_.num_segments = 1;
  batch_.sequence++;
  Check(LaunchLookup(batch_, stream_));
}

void Batch::WaitForReport() const {
  while (*done_ != batch_.sequence) {
  }
}

void Batch::Poison() {
  const LookupSegment& s = segments_[0];
  Check(cudaMemset(s.output, 0xff, uint64_t{s.num_keys} * s.dim));
  Check(cudaDeviceSynchronize());
}

void Batch::RequireRight(const BenchTable& table) const {
  const LookupSegment& s = segments_[0];
  const uint32_t wrong = CountWrongRows(table, s.keys, s.num_keys, s.output);
  if (wrong == 0) return;
  std::fprintf(stderr, "%u rows wrong\n", wrong);
  std::exit(1);
}

void Batch::Verify(const BenchTable& table, uint32_t absent_percent) {
  const LookupSegment& s = segments_[0];
  Poison();
  Launch(1);
  WaitForReport();
  RequireRight(table);
  const double missing = batch_.host_counters[0].num_missing;
  const double expected = s.num_keys * (absent_percent / 100.0);
  if (missing < expected * 0.8 || missing > expected * 1.2) {
    std::fprintf(stderr, "%.0f missing\n", missing);
    std::exit(1);
  }
}

}  // namespace gatherd::kernels
