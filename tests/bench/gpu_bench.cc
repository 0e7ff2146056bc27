// Lookups on one GPU. Usage: gpu_bench [SECTION ...]; gpu_bench.py runs it
// beside the programs that set the ceilings. Prints a JSON object a line.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/gpu_bench_rig.h"

namespace gatherd::kernels {
namespace {

constexpr ElementType kFloat32 = ElementType::kFloat32;
constexpr ElementType kFloat16 = ElementType::kFloat16;
constexpr ElementType kInt8 = ElementType::kInt8;
constexpr uint64_t kDenseBytes = uint64_t{16} << 30;
constexpr uint64_t kHashedRows = 64'000'000;
constexpr uint32_t kMaxHashedDim = 128;
constexpr uint32_t kMany = 1 << 20;

class Bench {
 public:
  explicit Bench(std::vector<std::string> sections)
      : sections_(std::move(sections)),
        dense_(static_cast<char*>(Allocate(kDenseBytes))) {
    FillRows(dense_, kDenseBytes);
    if (!Wants("hashed") && !Wants("many") && !Wants("small") &&
        !Wants("pooled") && !Wants("stamps") && !Wants("convert")) {
      return;
    }
    constexpr uint64_t kBytes = kHashedRows * kMaxHashedDim * 4;
    char* const rows = static_cast<char*>(Allocate(kBytes));
    full_index_ = MakeIndex(kHashedRows, 0.9, rows);
    half_index_ = MakeIndex(kHashedRows, 0.5, rows);
    FillRows(rows, kBytes);
  }

  void Run() {
    if (Wants("dense")) Dense();
    if (Wants("hashed")) Hashed();
    if (Wants("many")) ManyTables();
    if (Wants("small")) Small();
    if (Wants("pooled")) Pooled();
    if (Wants("stamps")) Stamps();
    if (Wants("convert")) Convert();
    if (Wants("pinned")) Pinned();
    if (Wants("beside")) Beside();
  }

 private:
  bool Wants(const char* section) const {
    return sections_.empty() || std::find(sections_.begin(), sections_.end(),
                                          section) != sections_.end();
  }

  BenchTable DenseTable(ElementType type, uint32_t dim) const {
    return MakeDense(dense_, kDenseBytes, type, dim);
  }
  BenchTable HashedTable(uint32_t dim) const {
    return WithRows(full_index_, kHashedRows, kFloat32, dim);
  }

  void Dense() {
    for (const ElementType type : {kFloat32, kFloat16}) {
      for (const uint32_t dim : {32, 64, 128, 256}) {
        const BenchTable table = DenseTable(type, dim);
        for (const uint32_t num_keys : {1 << 16, 1 << 20, 1 << 22}) {
          batch_.Set(table, num_keys, Keys::kUniform, type);
          batch_.Verify(table);
          Print("gather, reported", table, num_keys, TimeBackToBack(&batch_));
          batch_.SetReports(false);
          Print("gather", table, num_keys, TimeBackToBack(&batch_));
          batch_.SetReports(true);
        }
      }
    }
    Batch other;
    for (const uint32_t dim : {32, 64, 128}) {
      const BenchTable table = DenseTable(kFloat32, dim);
      batch_.Set(table, 1 << 16, Keys::kUniform, kFloat32);
      other.Set(table, 1 << 16, Keys::kUniform, kFloat32);
      Print("gather, two contexts", table, 1 << 16, TimeTwo(&batch_, &other));
    }
    const BenchTable table = DenseTable(kFloat32, 128);
    batch_.Set(table, kMany, Keys::kZipf, kFloat32);
    Print("gather, Zipf", table, kMany, TimeBackToBack(&batch_));
  }

  void Hashed() {
    for (const uint32_t num_keys : {1 << 16, 1 << 20}) {
      for (const uint32_t dim : {32, 64, 128}) {
        BenchTable table = HashedTable(dim);
        batch_.Set(table, num_keys, Keys::kUniform, kFloat32);
        batch_.Verify(table);
        Print("find, reported", table, num_keys, TimeEach(&batch_));
        batch_.SetReports(false);
        Print("find", table, num_keys, TimeEach(&batch_));
        batch_.SetReports(true);
        table = WithRows(half_index_, kHashedRows, kFloat32, dim);
        batch_.Set(table, num_keys, Keys::kUniform, kFloat32);
        batch_.Verify(table);
        batch_.SetReports(false);
        Print("find, load 0.5", table, num_keys, TimeEach(&batch_));
        batch_.SetReports(true);
      }
    }
    const BenchTable table = HashedTable(64);
    batch_.Set(table, kMany, Keys::kUniform, kFloat32, 10);
    batch_.Verify(table, 10);
    Print("find, 10 % absent", table, kMany, TimeEach(&batch_));
  }

  // One dim and type, keys on the device; in a graph, so that the host's part
  // of a launch does not count.
  void ManyTables() {
    constexpr uint32_t kTables = 26, kKeys = 512;
    std::vector<BenchTable> dense;
    const uint64_t bytes = kDenseBytes / 32;
    for (uint32_t i = 0; i < kTables; i++) {
      dense.push_back(MakeDense(dense_ + i * bytes, bytes, kFloat32, 64));
    }
    const std::vector<BenchTable> hashed(kTables, HashedTable(64));
    for (const bool is_hashed : {false, true}) {
      const std::vector<BenchTable>& tables = is_hashed ? hashed : dense;
      const std::string kind = is_hashed ? ", hashed" : ", dense";
      batch_.SetMany(tables, kKeys);
      Print("26 tables" + kind, tables[0], batch_.num_keys(),
            TimeInGraph(&batch_));
      Print("26 tables, launched" + kind, tables[0], batch_.num_keys(),
            TimeBackToBack(&batch_));
      const BenchTable one =
          is_hashed ? hashed[0]
                    : MakeDense(dense_, bytes * kTables, kFloat32, 64);
      batch_.Set(one, kTables * kKeys, Keys::kUniform, kFloat32);
      Print("one table" + kind, one, batch_.num_keys(), TimeInGraph(&batch_));
      Print("one table, launched" + kind, one, batch_.num_keys(),
            TimeBackToBack(&batch_));
    }
  }

  // Keys and rows in pinned memory.
  void Small() {
    struct Case {
      bool hashed;
      uint32_t dim, num_keys;
    };
    for (const Case c :
         {Case{false, 32, 256}, Case{true, 64, 256}, Case{false, 128, 4096}}) {
      const BenchTable table =
          c.hashed ? HashedTable(c.dim) : DenseTable(kFloat32, c.dim);
      batch_.SetPinned(table, c.num_keys);
      batch_.Verify(table);
      PrintLatency(c.hashed ? "alone, hashed" : "alone, dense", table,
                   c.num_keys, TimeAlone(&batch_));
    }
    const BenchTable table = DenseTable(kFloat32, 32);
    batch_.SetPinned(table, 256);
    batch_.batch().keys_on_host = false;
    PrintLatency("alone, dense, keys in pinned memory", table, 256,
                 TimeAlone(&batch_));
    batch_.segment().output_type = kFloat16;
    batch_.batch().keys_on_host = true;
    PrintLatency("alone, dense, to fp16", table, 256, TimeAlone(&batch_));
  }

  // A small batch, pinned to pinned, while another stream sends large replies,
  // by stores or by copies.
  void Beside() {
    const BenchTable table = DenseTable(kFloat32, 64);
    batch_.SetPinned(DenseTable(kFloat32, 32), 256);
    PrintLatency("alone", table, 256, TimeAlone(&batch_));
    for (const uint64_t kib : {256, 1024, 4096, 16384}) {
      const auto num_keys = static_cast<uint32_t>(kib * 1024 / 256);
      for (const bool copies : {false, true}) {
        Batch other;
        other.SetPinned(table, num_keys);
        void* const pinned = other.segment().output;
        if (copies) other.segment().output = Allocate(kib * 1024);
        const auto keep_busy = [&] {
          if (cudaStreamQuery(other.stream()) == cudaErrorNotReady) return;
          other.LaunchSameKeys();
          if (!copies) return;
          Check(cudaMemcpyAsync(pinned, other.segment().output, kib * 1024,
                                cudaMemcpyDeviceToHost, other.stream()));
        };
        PrintLatency("beside replies of " + std::to_string(kib) +
                         (copies ? " KiB by copies" : " KiB by stores"),
                     table, 256,
                     TimeAlone(
                         &batch_, [] {}, keep_busy));
        Check(cudaStreamSynchronize(other.stream()));
      }
    }
  }

  void Pooled() {
    struct Case {
      const char* name;
      ElementType type;
      uint32_t dim;
      bool hashed;
      Keys keys;
    };
    constexpr uint32_t kHotness = 64;
    for (const Case& c :
         {Case{"pooled, uniform", kFloat32, 128, false, Keys::kUniform},
          Case{"pooled, Zipf", kFloat32, 128, false, Keys::kZipf},
          Case{"pooled, uniform", kFloat16, 64, false, Keys::kUniform},
          Case{"pooled, Zipf", kFloat16, 64, false, Keys::kZipf},
          Case{"pooled, hashed, uniform", kFloat32, 64, true, Keys::kUniform},
          Case{"pooled, hashed, uniform", kFloat32, 128, true, Keys::kUniform},
          Case{"pooled, hashed, Zipf", kFloat32, 128, true, Keys::kZipf}}) {
      const BenchTable table =
          c.hashed ? HashedTable(c.dim) : DenseTable(c.type, c.dim);
      batch_.Set(table, kMany, c.keys, c.type);
      batch_.Pool(kHotness);
      Print(std::string(c.name) + ", reported", table, kMany,
            TimeBackToBack(&batch_));
      batch_.SetReports(false);
      Print(c.name, table, kMany, TimeBackToBack(&batch_));
      batch_.SetReports(true);
    }
  }

  void Stamps() {
    auto* const stamps = static_cast<uint32_t*>(Allocate(kHashedRows * 4));
    const BenchTable table = HashedTable(64);
    for (const Keys keys : {Keys::kUniform, Keys::kZipf}) {
      const std::string kind = keys == Keys::kUniform ? ", uniform" : ", Zipf";
      batch_.Set(table, kMany, keys, kFloat32);
      Print("no stamps" + kind, table, kMany, TimeEach(&batch_));
      batch_.segment().table.stamps = stamps;
      batch_.segment().table.now = 7;
      Print("last use" + kind, table, kMany, TimeEach(&batch_));
      batch_.segment().table.now = 0;
      Print("uses counted" + kind, table, kMany, TimeEach(&batch_));
    }
  }

  void Convert() {
    struct Case {
      bool hashed;
      ElementType from, to;
    };
    for (const Case c :
         {Case{false, kFloat32, kFloat16}, Case{false, kFloat32, kInt8},
          Case{false, kFloat16, kFloat32}, Case{false, kInt8, kFloat32},
          Case{false, kInt8, kInt8}, Case{true, kFloat32, kFloat16},
          Case{true, kFloat32, kInt8}}) {
      const BenchTable table =
          c.hashed ? HashedTable(64) : DenseTable(c.from, 64);
      batch_.Set(table, kMany, Keys::kUniform, c.to);
      Print(std::string(c.hashed ? "hashed, to " : "dense, to ") + NameOf(c.to),
            table, kMany, TimeBackToBack(&batch_));
    }
  }

  // A large reply: the kernel's own stores to pinned memory, or rows in HBM
  // first and a copy after.
  void Pinned() {
    const BenchTable table = DenseTable(kFloat32, 64);
    void* const pinned = AllocatePinned(uint64_t{64} << 20);
    for (const uint64_t kib : {64, 256, 1024, 2048, 4096, 16384, 32768}) {
      const auto num_keys = static_cast<uint32_t>(kib * 1024 / 256);
      batch_.SetPinned(table, num_keys);
      batch_.Verify(table);
      PrintLatency("reply by stores", table, num_keys, TimeAlone(&batch_));
      batch_.segment().output = Allocate(kib * 1024);
      PrintLatency(
          "reply by copy", table, num_keys, TimeAlone(&batch_, [&] {
            Check(cudaMemcpyAsync(pinned, batch_.segment().output, kib * 1024,
                                  cudaMemcpyDeviceToHost, batch_.stream()));
            Check(cudaStreamSynchronize(batch_.stream()));
          }));
    }
  }

  const std::vector<std::string> sections_;
  char* const dense_;
  TableRef full_index_;  // at load 0.9
  TableRef half_index_;  // at load 0.5
  Batch batch_;
};

}  // namespace
}  // namespace gatherd::kernels

int main(int argc, char** argv) {
  gatherd::kernels::Bench({argv + 1, argv + argc}).Run();
}
