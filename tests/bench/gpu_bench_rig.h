// Batches of gpu_bench, and clocks.
#ifndef GATHERD_TESTS_BENCH_GPU_BENCH_RIG_H_
#define GATHERD_TESTS_BENCH_GPU_BENCH_RIG_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/kernels/lookup.h"
#include "tests/bench/gpu_bench_tables.h"

namespace gatherd::kernels {

// A batch as a context of the engine has it, over key sets that take turns. On
// the device that is current when it is made, and used.
class Batch {
 public:
  Batch();

  // Keys and rows on the device.
  void Set(const BenchTable& table, uint32_t num_keys, Keys keys,
           ElementType output_type, uint32_t absent_percent = 0);
  // Makes a bag of each `num` keys.
  void Pool(uint32_t num);
  // A batch of many tables, each asked for `num_keys`.
  void SetMany(const std::vector<BenchTable>& tables, uint32_t num_keys);
  // Keys and rows in pinned memory.
  void SetPinned(const BenchTable& table, uint32_t num_keys);

  // Whether launches report; they do until told otherwise.
  void SetReports(bool reports);

  // Asynchronous; the i-th launch.
  void Launch(uint64_t i);
  // The same with the keys that are in pinned memory already.
  void LaunchSameKeys();
  // Blocks until the report of the last launch is there.
  void WaitForReport() const;
  // Ends the program if rows of the last launch are wrong, or the report is.
  void Verify(const BenchTable& table, uint32_t absent_percent = 0);
  // The same in steps, for outputs that more launches than this one write.
  void Poison();
  void RequireRight(const BenchTable& table) const;

  // Asynchronous; sends what only_shard owns of the keys of the i-th launches
  // of `askers` to their outputs.
  void Push(const std::vector<Batch*>& askers, uint64_t i);

  uint64_t num_keys() const { return num_keys_; }
  LookupSegment& segment() { return segments_[0]; }
  LookupBatch& batch() { return batch_; }
  cudaStream_t stream() const { return stream_; }

 private:
  void Set(const BenchTable& table, uint32_t num_keys, Keys keys,
           ElementType output_type, uint32_t absent_percent, void* output);

  cudaStream_t stream_ = nullptr;
  std::vector<LookupSegment> segments_;
  LookupBatch batch_;
  volatile uint64_t* done_ = nullptr;
  int64_t* keys_ = nullptr;  // num_sets_ sets of num_keys_
  void* output_ = nullptr;   // on the device
  int64_t* pinned_keys_ = nullptr;
  std::vector<int64_t> host_keys_;
  uint64_t num_keys_ = 0;
  uint64_t num_sets_ = 0;
};

// Medians, in microseconds a launch.
// Of launches one after another.
double TimeBackToBack(Batch* batch);
// Of launches each between two events of its own.
double TimeEach(Batch* batch);
// Of launches of two batches, each on its stream, taking turns.
double TimeTwo(Batch* one, Batch* other);
// Of launches in a graph: without what the host does.
double TimeInGraph(Batch* batch);

struct Latency {
  double p50, p99;
  double launch;  // of the call alone, p50
};
// From before the keys are copied to pinned memory until the report is seen;
// `finish` is called then, in the time, and `before` before it.
Latency TimeAlone(
    Batch* batch, const std::function<void()>& finish = [] {},
    const std::function<void()>& before = [] {});

const char* NameOf(ElementType type);

// One JSON object each.
void Print(const std::string& name, const BenchTable& table, uint64_t num_keys,
           double us);
void PrintLatency(const std::string& name, const BenchTable& table,
                  uint64_t num_keys, const Latency& latency);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_BENCH_GPU_BENCH_RIG_H_
