#include "client/bench/verify.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/bench/self_describing_rows.h"
#include "client/request_size.h"

namespace gatherd::client {
namespace {

constexpr uint64_t kNumOlderVersions = 64;  // looked through for a stale row

// About one version in eight of a key is its absence.
bool IsErase(int64_t key, uint64_t version) {
  return version > 1 && (version + static_cast<uint64_t>(key)) % 8 == 0;
}

// What is known of a key's row. One writer alone changes it; a reader that
// loads `acknowledged` before a lookup and `started` after it knows which
// versions the lookup may have seen. Sequentially consistent, for simplicity.
struct KeyState {
  std::atomic<uint64_t> acknowledged{0};
  std::atomic<uint64_t> started{0};
};

class Verifier {
 public:
  Verifier(Client& client, const VerifyOptions& options)
      : client_(client), options_(options), keys_(options.rows) {}

  // Learns the default row, then writes version 1 of every row.
  absl::Status Prepare();
  VerifyResult Run();

 private:
  void Write(int writer);
  void Read(int reader);

  // Writes the next version of each of `keys`; false if it failed.
  bool WriteNext(absl::Span<const int64_t> keys);
  absl::Status Update(absl::Span<const int64_t> keys);
  absl::Status Erase(absl::Span<const int64_t> keys);
  void Check(absl::Span<const int64_t> keys,
             absl::Span<const uint64_t> acknowledged, const TableRows& rows);
  void CheckRow(int64_t key, uint64_t first, uint64_t last, bool is_missing,
                const std::vector<float>& row);
  bool IsVersion(int64_t key, uint64_t version, bool is_missing,
                 const std::vector<float>& row) const;
  bool CountError(const absl::Status& status);
  bool IsOver() const { return absl::Now() >= end_; }

  Client& client_;
  const VerifyOptions& options_;
  std::vector<KeyState> keys_;
  std::vector<float> default_row_;
  absl::Time end_;

  absl::Mutex mutex_;
  VerifyResult result_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Verifier::Prepare() {
  const absl::StatusOr<ServerInfo> server = client_.GetServerInfo();
  if (!server.ok()) return server.status();
  const size_t rows_per_request =
      RowsPerRequest(*server, RowBytes(DataType::kFloat32, options_.table.dim));

  const int64_t first_key[] = {0};
  if (absl::Status status = Erase(first_key); !status.ok()) return status;
  const auto reply = client_.Lookup({{options_.table.name, first_key}});
  if (!reply.ok()) return reply.status();
  default_row_ = (*reply)[0].Floats(0);

  std::vector<int64_t> keys;
  for (uint64_t key = 0; key < options_.rows; ++key) {
    keys.push_back(static_cast<int64_t>(key));
    keys_[key].started = 1;
    keys_[key].acknowledged = 1;
    if (keys.size() < rows_per_request && key + 1 < options_.rows) continue;
    if (absl::Status status = Update(keys); !status.ok()) return status;
    keys.clear();
  }
  return absl::OkStatus();
}

VerifyResult Verifier::Run() {
  end_ = absl::Now() + options_.duration;
  std::vector<std::thread> threads;
  for (int i = 0; i < options_.num_writers; ++i) {
    threads.emplace_back([this, i] { Write(i); });
  }
  for (int i = 0; i < options_.num_readers; ++i) {
    threads.emplace_back([this, i] { Read(i); });
  }
  for (std::thread& thread : threads) thread.join();
  absl::MutexLock lock(&mutex_);
  return result_;
}

// Each writer has keys of its own, so that their versions are in order.
void Verifier::Write(int writer) {
  std::mt19937_64 random(writer);
  std::vector<int64_t> own;
  for (uint64_t key = writer; key < options_.rows;
       key += options_.num_writers) {
    own.push_back(static_cast<int64_t>(key));
  }
  while (!IsOver() && !own.empty()) {
    const size_t num = std::min(own.size(), options_.keys_per_call);
    // A random choice without duplicates: the first `num` of a partial shuffle.
    for (size_t i = 0; i < num; ++i) {
      std::swap(own[i], own[absl::Uniform(random, i, own.size())]);
    }
    if (!WriteNext(absl::MakeConstSpan(own).subspan(0, num))) {
      own.erase(own.begin(), own.begin() + static_cast<ptrdiff_t>(num));
      absl::MutexLock lock(&mutex_);
      result_.num_keys_retired += num;
    }
  }
}

bool Verifier::WriteNext(absl::Span<const int64_t> keys) {
  std::vector<int64_t> updates;
  std::vector<int64_t> erases;
  for (const int64_t key : keys) {
    const uint64_t version = ++keys_[key].started;
    (IsErase(key, version) ? erases : updates).push_back(key);
  }
  if (!CountError(Update(updates)) || !CountError(Erase(erases))) return false;
  for (const int64_t key : keys) {
    keys_[key].acknowledged = keys_[key].started.load();
  }
  absl::MutexLock lock(&mutex_);
  ++result_.num_updates;
  ++result_.num_erases;
  return true;
}

absl::Status Verifier::Update(absl::Span<const int64_t> keys) {
  const size_t dim = options_.table.dim;
  std::vector<float> values(keys.size() * dim);
  for (size_t i = 0; i < keys.size(); ++i) {
    WriteSelfDescribingRow(keys[i], keys_[keys[i]].started, dim,
                           &values[i * dim]);
  }
  return client_
      .Update(
          {{options_.table.name, keys, DataType::kFloat32, AsBytes(values)}})
      .status();
}

absl::Status Verifier::Erase(absl::Span<const int64_t> keys) {
  return client_.Erase({{options_.table.name, keys}}).status();
}

void Verifier::Read(int reader) {
  std::mt19937_64 random(1000 + reader);
  std::vector<int64_t> keys(options_.keys_per_call);
  std::vector<uint64_t> acknowledged(keys.size());
  TableLookup lookup{options_.table.name, keys};
  lookup.missing_key_policy = MissingKeyPolicy::kDefaultRow;
  while (!IsOver()) {
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<int64_t>(
          absl::Uniform<uint64_t>(random, 0, options_.rows));
      acknowledged[i] = keys_[keys[i]].acknowledged;
    }
    const absl::StatusOr<LookupReply> reply = client_.Lookup({lookup});
    if (!CountError(reply.status())) continue;
    Check(keys, acknowledged, (*reply)[0]);
  }
}

void Verifier::Check(absl::Span<const int64_t> keys,
                     absl::Span<const uint64_t> acknowledged,
                     const TableRows& rows) {
  std::vector<uint64_t> started;
  for (const int64_t key : keys) started.push_back(keys_[key].started);
  if (rows.num_rows() != keys.size() || rows.dim() != options_.table.dim) {
    CountError(absl::InternalError("reply: wrong number or width of rows"));
    return;
  }
  std::vector<float> row(rows.dim());
  for (size_t i = 0; i < keys.size(); ++i) {
    rows.ReadFloats(i, row.data());
    CheckRow(keys[i], acknowledged[i], started[i], rows.IsMissing(i), row);
  }
  absl::MutexLock lock(&mutex_);
  ++result_.num_lookups;
  result_.num_rows_checked += keys.size();
}

void Verifier::CheckRow(int64_t key, uint64_t first, uint64_t last,
                        bool is_missing, const std::vector<float>& row) {
  for (uint64_t version = first; version <= last; ++version) {
    if (IsVersion(key, version, is_missing, row)) return;
  }
  std::string what = "of no version";
  bool is_stale = false;
  for (uint64_t back = 1; back <= kNumOlderVersions && back < first; ++back) {
    if (!IsVersion(key, first - back, is_missing, row)) continue;
    what = absl::StrCat("of version ", first - back);
    is_stale = true;
    break;
  }
  absl::MutexLock lock(&mutex_);
  ++(is_stale ? result_.num_stale : result_.num_torn);
  if (!result_.first_wrong.empty()) return;
  result_.first_wrong = absl::StrCat(
      "key ", key, ": the row is ", what, is_missing ? ", missing" : "",
      "; versions ", first, " to ", last, " were right");
}

bool Verifier::IsVersion(int64_t key, uint64_t version, bool is_missing,
                         const std::vector<float>& row) const {
  if (!IsErase(key, version)) {
    return !is_missing &&
           IsSelfDescribingRow(key, version, row.size(), row.data());
  }
  // A dense table's rows always exist.
  const bool says_missing = options_.table.key_space != "dense";
  return is_missing == says_missing && row == default_row_;
}

// Whether `status` is OK; counts it if not.
bool Verifier::CountError(const absl::Status& status) {
  if (status.ok()) return true;
  absl::MutexLock lock(&mutex_);
  ++result_.errors[absl::StatusCodeToString(status.code())];
  return false;
}

}  // namespace

absl::StatusOr<VerifyResult> Verify(Client& client,
                                    const VerifyOptions& options) {
  Verifier verifier(client, options);
  if (absl::Status status = verifier.Prepare(); !status.ok()) return status;
  return verifier.Run();
}

std::string VerifyText(const VerifyResult& result) {
  std::string text =
      absl::StrCat(result.num_lookups, " lookups beside ", result.num_updates,
                   " updates and ", result.num_erases,
                   " erases: ", result.num_rows_checked, " rows checked, ",
                   result.num_torn, " torn, ", result.num_stale, " stale\n");
  if (!result.first_wrong.empty()) {
    absl::StrAppend(&text, "  first: ", result.first_wrong, "\n");
  }
  for (const auto& [code, count] : result.errors) {
    absl::StrAppend(&text, "  errors: ", count, " ", code, "\n");
  }
  if (result.num_keys_retired > 0) {
    absl::StrAppend(&text, "  keys not written again after an error: ",
                    result.num_keys_retired, "\n");
  }
  return text;
}

}  // namespace gatherd::client
