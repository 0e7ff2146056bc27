// How lookups and writes scale with the GPUs of one host. Usage:
// gpu_scale_bench [engine] [NUMBER_OF_GPUS ...]; without one: 1, 2, 4 and so
// on, as far as there are. `engine` leaves out the lookups with results on the
// GPUs. gpu_scale_bench.py makes a table of what this prints, a JSON object a
// line. Rates are those of all GPUs together.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/cuda/cuda_api.h"
#include "core/cuda/preflight.h"
#include "core/cuda/vmm_buffer.h"
#include "core/kernels/kernel_api.h"
#include "tests/bench/gpu_bench_tables.h"
#include "tests/bench/gpu_scale_lookups.h"
#include "tests/bench/gpu_scale_node.h"

namespace gatherd::kernels {
namespace {

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

double MsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void MeasureLookups(int num_gpus, const std::vector<DeviceId>& devices) {
  auto start = std::chrono::steady_clock::now();
  const PatternKernels patterns = {RealKernels().FillPatternAsync,
                                   RealKernels().CountWrongWordsAsync};
  const PreflightReport report =
      OrDie(RunPreflight(RealCudaApi(), patterns, devices));
  PrintScaleValue(num_gpus, "preflight, ms", MsSince(start));
  start = std::chrono::steady_clock::now();
  VmmBuffer buffer = OrDie(VmmBuffer::Create(
      RealCudaApi(), devices, ScaleBytesPerGpu(), report.access));
  const double gib = static_cast<double>(buffer.num_bytes_per_device()) *
                     num_gpus / (uint64_t{1} << 30);
  PrintScaleValue(num_gpus, "buffer made, mapped and granted, ms a GiB",
                  MsSince(start) / gib);
  if (report.access != VmmAccess::kShared) {
    std::fprintf(stderr, "these GPUs cannot read each other's memory\n");
    std::exit(1);
  }
  MeasureScaleLookups(std::move(buffer));
}

void MeasureWrites(int num_gpus, const std::vector<DeviceId>& devices) {
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    const std::string kind =
        key_space == KeySpace::kDense ? "dense: " : "hashed: ";
    const ScaleFigures figures = OrDie(MeasureNode(
        RealCudaApi(), RealKernels(), devices, key_space, ScaleShape()));
    for (const auto& [name, value] : figures) {
      PrintScaleValue(num_gpus, kind + name, value);
    }
  }
}

void Run(const std::vector<int>& numbers, bool engine_only) {
  for (const int num_gpus : numbers) {
    std::vector<DeviceId> devices;
    for (int gpu = 0; gpu < num_gpus; gpu++) devices.push_back(DeviceId{gpu});
    if (!engine_only) MeasureLookups(num_gpus, devices);
    MeasureWrites(num_gpus, devices);
  }
}

}  // namespace
}  // namespace gatherd::kernels

int main(int argc, char** argv) {
  std::vector<int> numbers;
  const bool engine_only = argc > 1 && std::strcmp(argv[1], "engine") == 0;
  for (int i = engine_only ? 2 : 1; i < argc; i++) {
    numbers.push_back(std::atoi(argv[i]));
  }
  int num_there = 0;
  gatherd::kernels::Check(cudaGetDeviceCount(&num_there));
  if (numbers.empty()) {
    for (int n = 1; n <= num_there; n *= 2) numbers.push_back(n);
  }
  for (const int number : numbers) {
    if (number >= 1 && number <= num_there) continue;
    std::fprintf(stderr, "%d GPUs asked for, there are %d\n", number,
                 num_there);
    return 1;
  }
  gatherd::kernels::Run(numbers, engine_only);
}
