#include "server/self_test.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace gatherd {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

}  // namespace

absl::Status TestTable(const CatalogEntry& entry, DeviceIndex device,
                       Dispatcher& dispatcher) {
  const TableSpec& spec = entry.spec();
  const int64_t key = 0;  // present in every dense table
  std::vector<std::byte> row(spec.row_bytes());
  uint8_t missing = 0;

  LookupJob job;
  LookupSegment& segment = job.segments.emplace_back();
  segment.table = entry.table();
  segment.batch.keys = {&key, 1};
  segment.batch.output_type = spec.data_type;
  segment.output.rows = row.data();
  segment.output.missing = &missing;
  job.deadline = absl::Now() + kTimeout;
  job.self_test_device = device;
  absl::Status status;
  absl::Notification done;
  job.done = [&](absl::Status result) {
    status = std::move(result);
    done.Notify();
  };
  dispatcher.SubmitLookup(&job);
  done.WaitForNotification();

  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat("the self-test lookup failed: ", status.message()));
  }
  if (spec.key_space == KeySpace::kDense &&
      job.segments.front().result.num_missing > 0) {
    return absl::InternalError("the self-test lookup misses row 0");
  }
  return absl::OkStatus();
}

}  // namespace gatherd
