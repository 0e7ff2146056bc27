#include "core/gpu/host_pooling.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/table/bag_pooler.h"

namespace gatherd {
namespace {

class HostPooledJob {
 public:
  // Deletes itself once the inner job has ended.
  explicit HostPooledJob(LookupJob* job)
      : job_(job), rows_(job->segments.size()) {
    inner_.deadline = job->deadline;
    inner_.whole = job;
    inner_.self_test_device = job->self_test_device;
    inner_.done = [this](absl::Status status) { End(std::move(status)); };
    inner_.segments = job->segments;
    for (size_t i = 0; i < rows_.size(); ++i) {
      LookupSegment& segment = inner_.segments[i];
      if (segment.batch.pooling == Pooling::kNone) continue;
      const TableSpec& spec = segment.table->spec();
      rows_[i].reset(
          new std::byte[segment.batch.keys.size() * spec.row_bytes()]);
      segment.batch.pooling = Pooling::kNone;
      segment.batch.offsets = {};
      segment.batch.weights = {};
      segment.batch.output_type = spec.data_type;
      segment.output.rows = rows_[i].get();
    }
  }

  LookupJob* inner() { return &inner_; }

 private:
  void End(absl::Status status) {
    LookupJob* const job = job_;
    job->times = inner_.times;
    job->launch_requests = inner_.launch_requests;
    for (size_t i = 0; status.ok() && i < rows_.size(); ++i) {
      job->segments[i].result = inner_.segments[i].result;
      if (rows_[i] != nullptr) Pool(job->segments[i], rows_[i].get());
    }
    delete this;
    FinishJob(job, std::move(status));
  }

  static void Pool(const LookupSegment& segment, const std::byte* rows) {
    const TableSpec& spec = segment.table->spec();
    BagPooler pooler(spec, segment.batch, segment.output.rows);
    for (size_t i = 0; i < segment.batch.keys.size(); ++i) {
      pooler.Add(rows + i * spec.row_bytes());
    }
    pooler.Finish();
  }

  LookupJob* const job_;
  LookupJob inner_;
  std::vector<std::unique_ptr<std::byte[]>> rows_;  // of pooled segments
};

}  // namespace

bool HasPooling(const LookupJob& job) {
  return std::any_of(job.segments.begin(), job.segments.end(),
                     [](const LookupSegment& segment) {
                       return segment.batch.pooling != Pooling::kNone;
                     });
}

void SubmitHostPooled(LookupJob* job,
                      const std::function<void(LookupJob*)>& submit) {
  submit((new HostPooledJob(job))->inner());
}

}  // namespace gatherd
