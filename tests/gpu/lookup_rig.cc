#include "tests/gpu/lookup_rig.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/gpu/expected_rows.h"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kMaxWords = 1 << 16;
constexpr size_t kMaxBytes = 64 << 20;  // of inputs, and of outputs
constexpr size_t kGuardBytes = 64;  // between outputs; keeps 16-byte alignment
constexpr int kPoison = 0x5a;

char* AllocatePinned(size_t bytes) {
  void* memory = nullptr;
  Check(Platform().cuda.cudaHostAlloc(&memory, bytes, cudaHostAllocDefault),
        "allocating pinned memory");
  return static_cast<char*>(memory);
}

size_t RoundUp(size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

// A batch on its way: where its parts lie.
struct LookupRig::Run {
  Run(const std::vector<Question>& the_questions,
      const BatchOptions& the_options)
      : questions(the_questions), options(the_options) {
    for (const Question& q : questions) {
      input_at.push_back(input_bytes);
      input_bytes += RoundUp(q.keys.size() * 8) +
                     RoundUp(q.offsets.size() * 4) +
                     RoundUp(q.weights.size() * 4);
      output_at.push_back(output_bytes + kGuardBytes);
      output_bytes += kGuardBytes +
                      RoundUp(NumOutputRows(q) *
                              RowBytes(q.output_type, q.table->options().dim));
      word_at.push_back(num_words);
      num_words += static_cast<uint32_t>((q.keys.size() + 31) / 32);
    }
    output_bytes += kGuardBytes;
    REQUIRE(num_words <= kMaxWords);
    REQUIRE(std::max(input_bytes, output_bytes) <= kMaxBytes);
    missing.assign(num_words, 0);
  }

  const std::vector<Question>& questions;
  const BatchOptions& options;
  std::vector<size_t> input_at, output_at;
  std::vector<uint32_t> word_at;
  size_t input_bytes = 0, output_bytes = 0;
  uint32_t num_words = 0;
  std::vector<uint32_t> missing;  // what the reports said, together
};

LookupRig::LookupRig()
    : counters_(kMaxSegments),
      missing_words_(kMaxWords),
      blocks_left_(1),
      device_input_(kMaxBytes),
      device_output_(kMaxBytes) {
  report_ = AllocatePinned(4096 + kMaxWords * 4);
  input_ = AllocatePinned(kMaxBytes);
  output_ = AllocatePinned(kMaxBytes);
  counters_.Fill(0);
  missing_words_.Fill(0);
  blocks_left_.Fill(0);
  std::memset(report_, 0, 16);
}

LookupRig::~LookupRig() {
  Platform().cuda.cudaFreeHost(report_);
  Platform().cuda.cudaFreeHost(input_);
  Platform().cuda.cudaFreeHost(output_);
}

void LookupRig::Launch(Run* run, int32_t only_shard) {
  const bool on_host = run->options.on_host;
  char* const input = on_host ? input_ : device_input_.data();
  char* const output = on_host ? output_ : device_output_.data();
  std::vector<LookupSegment> segments;
  for (size_t i = 0; i < run->questions.size(); i++) {
    const Question& q = run->questions[i];
    size_t at = run->input_at[i];
    LookupSegment s;
    s.table = q.table->ref();
    const auto put = [&](const void* data, size_t size) {
      if (size != 0) std::memcpy(input_ + at, data, size);
      const char* const place = input + at;
      at += RoundUp(size);
      return place;
    };
    s.keys =
        reinterpret_cast<const int64_t*>(put(q.keys.data(), q.keys.size() * 8));
    s.offsets = reinterpret_cast<const uint32_t*>(
        put(q.offsets.data(), q.offsets.size() * 4));
    const char* const weights = put(q.weights.data(), q.weights.size() * 4);
    if (!q.weights.empty()) s.weights = reinterpret_cast<const float*>(weights);
    s.output = output + run->output_at[i];
    s.missing = missing_words_.data() + run->word_at[i];
    s.num_keys = static_cast<uint32_t>(q.keys.size());
    s.num_bags = static_cast<uint32_t>(q.offsets.size());
    s.dim = q.table->options().dim;
    s.table_type = q.table->options().type;
    s.output_type = q.output_type;
    s.pooling = q.pooling;
    segments.push_back(s);
  }
  LookupBatch batch;
  batch.segments = segments.data();
  batch.num_segments = static_cast<int>(segments.size());
  batch.only_shard = only_shard;
  batch.this_shard = run->options.this_shard;
  batch.keys_on_host = on_host;
  batch.counters = counters_.data();
  batch.missing_words = missing_words_.data();
  batch.num_missing_words = run->num_words;
  batch.blocks_left = blocks_left_.data();
  batch.done = reinterpret_cast<volatile uint64_t*>(report_);
  batch.sequence = ++sequence_;
  batch.host_counters = reinterpret_cast<LookupCounters*>(report_ + 64);
  batch.host_missing = reinterpret_cast<uint32_t*>(report_ + 4096);
  static_assert(64 + kMaxSegments * sizeof(LookupCounters) <= 4096);
  std::memset(report_ + 64, kPoison, 4096 - 64 + run->num_words * 4);
  if (!on_host) Copy(input, input_, run->input_bytes);
  const auto launch = run->options.push ? Platform().kernels.LaunchPush
                                        : Platform().kernels.LaunchLookup;
  kernels::Check(launch(batch, stream_.get()), "launch");
  const auto start = std::chrono::steady_clock::now();
  // Acquire, as the engine does: another thread stands for the GPU in tests
  // without one.
  while (__atomic_load_n(batch.done, __ATOMIC_ACQUIRE) != sequence_ &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    // That thread may have no other processor than this one's.
    if (!Platform().is_gpu) {
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  }
  // Outputs and report must be whole by now: the stream is not waited for.
  if (on_host) std::memcpy(seen_.data(), output_, run->output_bytes);
  CheckReport(*run, only_shard);
  const LookupCounters* const counters = batch.host_counters;
  if (std::any_of(counters, counters + segments.size(),
                  [](const LookupCounters& c) { return c.num_missing != 0; })) {
    for (uint32_t i = 0; i < run->num_words; i++) {
      REQUIRE((run->missing[i] & batch.host_missing[i]) == 0);
      run->missing[i] |= batch.host_missing[i];
    }
  }
  stream_.Synchronize("lookup");
}

// Of a split batch only what the shard found: which shard a missing key is of
// is no business of its caller.
void LookupRig::CheckReport(const Run& run, int32_t only_shard) {
  REQUIRE(*reinterpret_cast<volatile uint64_t*>(report_) == sequence_);
  const auto* counters = reinterpret_cast<LookupCounters*>(report_ + 64);
  for (size_t i = 0; i < run.questions.size(); i++) {
    const Question& q = run.questions[i];
    CAPTURE(i);
    LookupCounters expected = {};
    for (const int64_t key : q.keys) {
      const TestTable::Place* const place = q.table->Find(key);
      if (place == nullptr) {
        expected.num_missing++;
      } else if (q.table->options().num_shards > 1 &&
                 (only_shard == kAllShards ||
                  place->shard == static_cast<uint32_t>(only_shard))) {
        const bool local =
            place->shard == static_cast<uint32_t>(run.options.this_shard);
        (local ? expected.num_local : expected.num_remote)++;
      }
    }
    if (only_shard == kAllShards) {
      REQUIRE(counters[i].num_missing == expected.num_missing);
    }
    REQUIRE(counters[i].num_local == expected.num_local);
    REQUIRE(counters[i].num_remote == expected.num_remote);
  }
}

void LookupRig::CheckOutputs(const Run& run) {
  if (!run.options.on_host) {
    Copy(seen_.data(), device_output_.data(), run.output_bytes);
  }
  const std::byte* const output = seen_.data();
  size_t at = 0;  // everything before was looked at
  const auto check_untouched = [&](size_t end) {
    size_t num_touched = 0;
    for (; at < end; at++) num_touched += output[at] != std::byte{kPoison};
    REQUIRE(num_touched == 0);
  };
  for (size_t i = 0; i < run.questions.size(); i++) {
    const Question& q = run.questions[i];
    const uint32_t dim = q.table->options().dim;
    CAPTURE(i, static_cast<int>(q.table->options().type),
            static_cast<int>(q.output_type), static_cast<int>(q.pooling), dim,
            q.weights.size(), q.keys.size());
    check_untouched(run.output_at[i]);
    const size_t row_bytes = RowBytes(q.output_type, dim);
    std::optional<size_t> first_wrong;
    for (size_t r = 0; r < NumOutputRows(q) && !first_wrong; r++) {
      const std::vector<std::byte> expected = ExpectedRow(q, r);
      if (!SameRow(q, output + at + r * row_bytes, expected.data())) {
        first_wrong = r;
      }
    }
    REQUIRE(first_wrong == std::nullopt);
    at += NumOutputRows(q) * row_bytes;
    size_t num_wrong_bits = 0;
    for (size_t k = 0; k < q.keys.size(); k++) {
      const bool missing =
          ((run.missing[run.word_at[i] + k / 32] >> (k % 32)) & 1) != 0;
      if (missing != (q.table->Find(q.keys[k]) == nullptr)) num_wrong_bits++;
    }
    REQUIRE(num_wrong_bits == 0);
  }
  check_untouched(run.output_bytes);
}

void LookupRig::Check(const std::vector<Question>& questions,
                      const BatchOptions& options) {
  Run run(questions, options);
  seen_.resize(std::max(seen_.size(), run.output_bytes));
  std::memset(output_, kPoison, run.output_bytes);
  Fill(device_output_.data(), kPoison, run.output_bytes);
  uint32_t num_shards = 1;
  for (const Question& q : questions) {
    num_shards = std::max(num_shards, q.table->options().num_shards);
  }
  if (options.split || options.push) {
    for (uint32_t shard = 0; shard < num_shards; shard++) {
      Launch(&run, static_cast<int32_t>(shard));
    }
  } else {
    Launch(&run, kAllShards);
  }
  CheckOutputs(run);
  size_t num_left = blocks_left_.Read()[0];
  for (const LookupCounters& c : counters_.Read()) {
    num_left += c.num_missing + c.num_local + c.num_remote;
  }
  for (const uint32_t word : missing_words_.Read()) num_left += word;
  REQUIRE(num_left == 0);
}

}  // namespace gatherd::kernels
