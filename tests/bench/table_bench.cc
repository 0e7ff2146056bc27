// How fast tables of the CPU backend are looked up and written, beside a
// ceiling measured in the same run:
//
//   bazel run //tests/bench:table_bench [-- ROWS...]
//
// Rows of dim 64 float32 (256 bytes), 4096 keys a call. The ceiling copies
// rows whose addresses are known beforehand, prefetched: a table without an
// index. `M keys/s` is by the clock; `busy` by the processor time the threads
// got, which does not suffer from what else the machine does. Each figure is
// the best of several rounds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/hash.h"
#include "core/table/cpu_table.h"
#include "core/table/host_memory.h"

namespace gatherd {
namespace {

constexpr uint32_t kDim = 64;
constexpr size_t kRowBytes = kDim * sizeof(float);
constexpr size_t kBatchKeys = 4096;
constexpr size_t kStreamKeys = size_t{1} << 20;
constexpr int kNumRounds = 5;
constexpr double kRoundSeconds = 0.3;

using Keys = std::vector<int64_t>;

// Row numbers below `rows`, evenly spread or by Zipf's law with exponent 1
// (the most frequent one about once in ln(rows) times), in no order.
Keys MakeKeys(uint64_t rows, bool zipf, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Keys keys(kStreamKeys);
  for (int64_t& key : keys) {
    if (!zipf) {
      key = static_cast<int64_t>(random() % rows);
      continue;
    }
    const double rank =
        std::exp(uniform(random) * std::log(static_cast<double>(rows)));
    key = static_cast<int64_t>(MixKey(static_cast<int64_t>(rank), 1) % rows);
  }
  return keys;
}

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

struct Rate {
  double wall = 0;  // keys a second
  double busy = 0;  // keys a second of processor time, times threads
};

// `work(thread, batch)` does kBatchKeys keys.
Rate MeasureOnce(int num_threads,
                 const std::function<void(int, size_t)>& work) {
  using Clock = std::chrono::steady_clock;
  std::atomic<uint64_t> num_keys{0};
  std::vector<double> seconds(num_threads);
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (int i = 0; i < num_threads; ++i) {
    threads.emplace_back([&, i] {
      const double before = ThreadSeconds();
      size_t batch = 0;
      do {
        work(i, batch % (kStreamKeys / kBatchKeys));
        ++batch;
      } while (std::chrono::duration<double>(Clock::now() - start).count() <
               kRoundSeconds);
      num_keys += batch * kBatchKeys;
      seconds[i] = ThreadSeconds() - before;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall =
      std::chrono::duration<double>(Clock::now() - start).count();
  double busy = 0;
  for (const double second : seconds) busy += second / num_threads;
  const double keys = static_cast<double>(num_keys.load());
  return {keys / wall, keys / busy};
}

void Measure(const std::string& what, int num_threads,
             const std::function<void(int, size_t)>& work) {
  Rate best;
  for (int i = 0; i < kNumRounds; ++i) {
    const Rate rate = MeasureOnce(num_threads, work);
    best.wall = std::max(best.wall, rate.wall);
    best.busy = std::max(best.busy, rate.busy);
  }
  std::printf("  %-28s %d thread%s %7.1f M keys/s %6.2f GB/s   busy %7.1f\n",
              what.c_str(), num_threads, num_threads == 1 ? " " : "s",
              best.wall / 1e6, best.wall * kRowBytes / 1e9, best.busy / 1e6);
  std::fflush(stdout);
}

// The buffers of each thread's batches.
struct Buffers {
  std::vector<std::byte> rows = std::vector<std::byte>(kBatchKeys * kRowBytes);
  std::vector<uint8_t> missing = std::vector<uint8_t>(kBatchKeys / 8);
};

void CopyKnownRows(const std::byte* memory, const int64_t* keys,
                   std::byte* out) {
  constexpr size_t kAhead = 24;
  for (size_t i = 0; i < kBatchKeys; ++i) {
    if (i + kAhead < kBatchKeys) {
      const std::byte* row = memory + keys[i + kAhead] * kRowBytes;
      for (size_t line = 0; line < kRowBytes; line += 64) {
        __builtin_prefetch(row + line);
      }
    }
    std::memcpy(out + i * kRowBytes, memory + keys[i] * kRowBytes, kRowBytes);
  }
}

void MeasureCeiling(uint64_t rows, const std::vector<Keys>& streams,
                    const std::string& name) {
  auto memory = HostMemory::Create(rows * kRowBytes);
  if (!memory.ok()) return;
  for (const int num_threads : {1, 2}) {
    std::vector<Buffers> buffers(num_threads);
    Measure("ceiling " + name, num_threads, [&](int i, size_t batch) {
      CopyKnownRows(memory->data(), &streams[i][batch * kBatchKeys],
                    buffers[i].rows.data());
    });
  }
}

std::unique_ptr<Table> MakeTable(KeySpace key_space, uint64_t rows) {
  TableSpec spec;
  spec.name = "bench";
  spec.dim = kDim;
  spec.key_space = key_space;
  spec.tiers = {{TierKind::kHost, rows, Spread::kSharded}};
  auto table = CreateCpuTable(spec);
  if (!table.ok()) {
    std::printf("  %s\n", table.status().ToString().c_str());
    return nullptr;
  }
  // In random order, as rows stand in a table that has been written for long.
  Keys keys(rows);
  for (uint64_t i = 0; i < rows; ++i) keys[i] = static_cast<int64_t>(i);
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
  const std::vector<std::byte> values(kBatchKeys * kRowBytes);
  for (size_t i = 0; i < keys.size(); i += kBatchKeys) {
    UpdateBatch batch;
    batch.keys = absl::MakeConstSpan(keys).subspan(i, kBatchKeys);
    batch.values = values.data();
    if (!Update(**table, batch).ok()) std::abort();
  }
  return *std::move(table);
}

void LookUp(Table& table, const int64_t* keys, Buffers& buffers) {
  LookupBatch batch;
  batch.keys = absl::MakeConstSpan(keys, kBatchKeys);
  auto result =
      table.Lookup(batch, {buffers.rows.data(), buffers.missing.data()});
  if (!result.ok() || result->num_missing != 0) std::abort();
}

void Write(Table& table, const int64_t* keys, const Buffers& buffers) {
  UpdateBatch batch;
  batch.keys = absl::MakeConstSpan(keys, kBatchKeys);
  batch.values = buffers.rows.data();
  if (!Update(table, batch).ok()) std::abort();
}

void MeasureTable(KeySpace key_space, uint64_t rows,
                  const std::vector<Keys>& uniform,
                  const std::vector<Keys>& zipf) {
  const std::unique_ptr<Table> table = MakeTable(key_space, rows);
  if (table == nullptr) return;
  const std::string name(KeySpaceName(key_space));
  std::vector<Buffers> buffers(2);
  const auto lookup = [&](const std::vector<Keys>& streams) {
    return [&](int i, size_t batch) {
      LookUp(*table, &streams[i][batch * kBatchKeys], buffers[i]);
    };
  };
  for (const int num_threads : {1, 2}) {
    Measure(name + " lookup, uniform", num_threads, lookup(uniform));
    Measure(name + " lookup, zipf", num_threads, lookup(zipf));
  }
  Measure(name + " update, uniform", 1, [&](int i, size_t batch) {
    Write(*table, &uniform[i][batch * kBatchKeys], buffers[i]);
  });
  Measure(name + " update beside a lookup", 2, [&](int i, size_t batch) {
    const int64_t* keys = &uniform[i][batch * kBatchKeys];
    if (i == 0) {
      Write(*table, keys, buffers[i]);
    } else {
      LookUp(*table, keys, buffers[i]);
    }
  });
}

void Run(uint64_t rows) {
  std::printf("%llu rows of dim %u float32\n",
              static_cast<unsigned long long>(rows), kDim);
  const std::vector<Keys> uniform = {MakeKeys(rows, false, 1),
                                     MakeKeys(rows, false, 2)};
  const std::vector<Keys> zipf = {MakeKeys(rows, true, 1),
                                  MakeKeys(rows, true, 2)};
  MeasureCeiling(rows, uniform, "uniform");
  MeasureCeiling(rows, zipf, "zipf");
  MeasureTable(KeySpace::kDense, rows, uniform, zipf);
  MeasureTable(KeySpace::kHashed, rows, uniform, zipf);
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) {
  if (argc < 2) {
    gatherd::Run(1'000'000);
    gatherd::Run(10'000'000);
  }
  for (int i = 1; i < argc; ++i) {
    gatherd::Run(std::strtoull(argv[i], nullptr, 10));
  }
  return 0;
}
