#include "core/catalog/source_loader.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/catalog/source_reader.h"

namespace gatherd {
namespace {

// Threads that each take the next block, read and convert it, wait until all
// blocks before it are in the table, and write it.
class ParallelLoad {
 public:
  ParallelLoad(const SourceReader& reader, Table& table,
               std::pmr::memory_resource* memory, LoadProgress& progress)
      : reader_(reader), table_(table), memory_(memory), progress_(progress) {}

  absl::Status Run(uint64_t num_threads);

  // After Run: distinct keys of each block that were new to the table.
  uint64_t num_inserted() const {
    absl::MutexLock lock(&mutex_);
    return num_inserted_;
  }

 private:
  void RunThread();
  // False: there is nothing more to do.
  bool TakeBlock(uint64_t* index);
  absl::Status Write(const SourceBlock& block, UpdateResult* result);
  // Blocks until it is the turn of block `index`. False: the load has failed.
  bool AwaitTurn(uint64_t index);
  void EndTurn(const UpdateResult& result);
  void Fail(absl::Status status);

  const SourceReader& reader_;
  Table& table_;
  std::pmr::memory_resource* const memory_;
  LoadProgress& progress_;

  // Not held while a block is read or written.
  mutable absl::Mutex mutex_;
  uint64_t next_block_ ABSL_GUARDED_BY(mutex_) = 0;  // to be read
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;        // block to be written
  uint64_t num_inserted_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the first error
};

absl::Status ParallelLoad::Run(uint64_t num_threads) {
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < num_threads; ++i) {
    threads.emplace_back([this] { RunThread(); });
  }
  RunThread();
  for (std::thread& thread : threads) thread.join();
  absl::MutexLock lock(&mutex_);
  return status_;
}

void ParallelLoad::RunThread() {
  SourceBlock block(memory_);
  uint64_t index = 0;
  while (TakeBlock(&index)) {
    absl::Status status = reader_.ReadBlock(index, &block);
    UpdateResult result;
    if (status.ok()) {
      if (!AwaitTurn(index)) return;
      status = Write(block, &result);
    }
    if (!status.ok()) return Fail(std::move(status));
    progress_.rows_loaded.fetch_add(block.keys.size(),
                                    std::memory_order_relaxed);
    EndTurn(result);
  }
}

bool ParallelLoad::TakeBlock(uint64_t* index) {
  const bool cancelled = progress_.cancelled.load(std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  if (next_block_ == reader_.num_blocks() || !status_.ok()) return false;
  if (cancelled) {
    status_ = absl::CancelledError(
        absl::StrCat("loading table \"", table_.spec().name, "\" was stopped"));
    return false;
  }
  *index = next_block_++;
  return true;
}

absl::Status ParallelLoad::Write(const SourceBlock& block,
                                 UpdateResult* result) {
  UpdateBatch batch;
  batch.keys = block.keys;
  batch.data_type = table_.spec().data_type;
  batch.values = block.values.data();
  absl::StatusOr<UpdateResult> written = Update(table_, batch);
  if (written.ok()) {
    *result = *written;
    return absl::OkStatus();
  }
  const std::string text =
      absl::StrCat(reader_.Place(block.first_row), ": row ", block.first_row,
                   " and the following: ", written.status().message());
  // A full table: the file is what is wrong.
  if (absl::IsResourceExhausted(written.status())) {
    return absl::InvalidArgumentError(text);
  }
  return absl::Status(written.status().code(), text);
}

bool ParallelLoad::AwaitTurn(uint64_t index) {
  const auto may_go_on = [this, index]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return turn_ == index || !status_.ok();
  };
  absl::MutexLock lock(&mutex_, absl::Condition(&may_go_on));
  return status_.ok();
}

void ParallelLoad::EndTurn(const UpdateResult& result) {
  absl::MutexLock lock(&mutex_);
  ++turn_;
  num_inserted_ += result.num_inserted;
}

void ParallelLoad::Fail(absl::Status status) {
  absl::MutexLock lock(&mutex_);
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace

absl::StatusOr<LoadReport> LoadSource(const SourceSpec& source, Table& table,
                                      const LoadOptions& options,
                                      LoadProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<SourceReader> reader =
      SourceReader::Open(source, table.spec(), options.block_bytes);
  if (!reader.ok()) return std::move(reader).status();
  progress.rows_loaded.store(0, std::memory_order_relaxed);
  progress.rows_total.store(reader->num_rows(), std::memory_order_relaxed);

  const bool was_empty = table.Stats().num_rows == 0;
  ParallelLoad load(*reader, table, options.memory, progress);
  const uint64_t max_threads =
      std::min<uint64_t>(std::max(1, options.num_threads),
                         options.memory_bytes / options.block_bytes);
  absl::Status status = load.Run(std::clamp<uint64_t>(
      reader->num_blocks(), 1, std::max<uint64_t>(1, max_threads)));
  if (status.ok()) status = reader->CheckUnchanged();
  if (!status.ok()) return status;

  LoadReport report;
  report.num_rows = reader->num_rows();
  report.notes = reader->Notes();
  const uint64_t num_duplicates = report.num_rows - load.num_inserted();
  if (table.spec().key_space == KeySpace::kHashed && was_empty &&
      num_duplicates > 0) {
    report.notes.push_back(
        absl::StrCat(source.keys_path, ": ", num_duplicates,
                     " rows gave way to a later row of the same key"));
  }
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}

}  // namespace gatherd
