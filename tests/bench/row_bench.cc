// How fast the row kernels are at each level, beside memcpy:
//
//   bazel run -c opt //tests/bench:row_bench [-- DIM...]
//
// One line per dim, kernel and level. `ns/row` is for rows in the first-level
// cache, which shows the instructions; `GB/s` is bytes read plus written.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/rows/row_kernel_levels.h"

namespace gatherd {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16,
                               DataType::kBFloat16, DataType::kInt8};

// Nanoseconds of one call of `run`, the best of several rounds of some 5 ms.
double Measure(const std::function<void(int calls)>& run) {
  using Clock = std::chrono::steady_clock;
  int calls = 1;
  double best = 1e9;
  for (int round = 0; round < 5;) {
    const auto start = Clock::now();
    run(calls);
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    if (took.count() < 5e6) {
      calls *= 2;
      continue;
    }
    best = std::min(best, took.count() / calls);
    ++round;
  }
  return best;
}

void Print(uint32_t dim, const std::string& what, const char* level,
           double nanoseconds, size_t num_bytes) {
  std::printf("%5u  %-20s  %-8s  %8.1f ns/row  %7.1f GB/s\n", dim, what.c_str(),
              level, nanoseconds, static_cast<double>(num_bytes) / nanoseconds);
}

class Rows {
 public:
  explicit Rows(uint32_t dim)
      : dim_(dim),
        in_(4 * size_t{dim} + 4),
        out_(4 * size_t{dim} + 4),
        sum_(dim) {}

  void Memcpy(DataType type) {
    // Behind a pointer, as the kernels are, and of a length that no compiler
    // knows.
    static void* (*volatile copy)(void*, const void*, size_t) = std::memcpy;
    const size_t num_bytes = RowBytes(type, dim_);
    const double ns = Measure([&](int calls) {
      for (int i = 0; i < calls; ++i) copy(out_.data(), in_.data(), num_bytes);
    });
    Print(dim_, std::string("memcpy ") + Name(type), "libc", ns, 2 * num_bytes);
  }

  void Convert(const RowKernels& level, DataType from, DataType to) {
    Fill(from);
    ConvertRowFn convert =
        level.convert[RowKernelIndex(from)][RowKernelIndex(to)];
    const double ns = Measure([&](int calls) {
      for (int i = 0; i < calls; ++i) convert(in_.data(), out_.data(), dim_);
    });
    Print(dim_, Name(from) + " to " + Name(to), level.name, ns,
          RowBytes(from, dim_) + RowBytes(to, dim_));
  }

  void Add(const RowKernels& level, DataType from) {
    Fill(from);
    AddRowFn add = level.add[RowKernelIndex(from)];
    const double ns = Measure([&](int calls) {
      for (int i = 0; i < calls; ++i) add(in_.data(), sum_.data(), dim_);
    });
    Print(dim_, "add " + Name(from), level.name, ns,
          RowBytes(from, dim_) + 8 * size_t{dim_});
  }

  void AddWeighted(const RowKernels& level, DataType from) {
    Fill(from);
    AddWeightedRowFn add = level.add_weighted[RowKernelIndex(from)];
    const double ns = Measure([&](int calls) {
      for (int i = 0; i < calls; ++i) add(in_.data(), 0.5F, sum_.data(), dim_);
    });
    Print(dim_, "add weighted " + Name(from), level.name, ns,
          RowBytes(from, dim_) + 8 * size_t{dim_});
  }

 private:
  static std::string Name(DataType type) {
    return std::string(DataTypeName(type));
  }

  // Ones, so that no subnormal number slows anything down.
  void Fill(DataType type) {
    std::vector<std::byte> ones(4 * size_t{dim_});
    for (uint32_t i = 0; i < dim_; ++i) {
      const float one = 1.0F;
      std::memcpy(ones.data() + 4 * size_t{i}, &one, sizeof(one));
    }
    SupportedRowKernels().front()->convert[RowKernelIndex(DataType::kFloat32)]
                                          [RowKernelIndex(type)](
                                              ones.data(), in_.data(), dim_);
  }

  uint32_t dim_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::vector<float> sum_;
};

void Run(uint32_t dim) {
  Rows rows(dim);
  for (const DataType type : kTypes) {
    rows.Memcpy(type);
    for (const RowKernels* level : SupportedRowKernels()) {
      rows.Convert(*level, type, type);
    }
  }
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      if (from == to) continue;
      for (const RowKernels* level : SupportedRowKernels()) {
        rows.Convert(*level, from, to);
      }
    }
  }
  for (const DataType from : kTypes) {
    for (const RowKernels* level : SupportedRowKernels()) {
      rows.Add(*level, from);
      rows.AddWeighted(*level, from);
    }
  }
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) {
  std::vector<uint32_t> dims;
  for (int i = 1; i < argc; ++i) {
    const long dim = std::strtol(argv[i], nullptr, 10);
    if (dim < 1 || dim > static_cast<long>(gatherd::kMaxDim)) {
      std::fprintf(stderr, "A dim is a number from 1 to %u, not \"%s\".\n",
                   gatherd::kMaxDim, argv[i]);
      return 2;
    }
    dims.push_back(static_cast<uint32_t>(dim));
  }
  if (dims.empty()) dims = {16, 64, 100, 128, 1024};
  for (const uint32_t dim : dims) gatherd::Run(dim);
  return 0;
}
