#include "server/table_startup.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "core/table/cpu_table.h"
#include "tests/server/specs.h"

namespace gatherd {
namespace {

using Catch::Contains;

// Answers lookups, and notes which devices self-tests are for.
class RecordingDispatcher final : public Dispatcher {
 public:
  void SubmitLookup(LookupJob* job) override {
    REQUIRE(job->self_test_device.has_value());
    tested_devices.push_back(*job->self_test_device);
    threads_->SubmitLookup(job);
  }
  void SubmitWrite(WriteJob* job) override { threads_->SubmitWrite(job); }
  uint64_t num_queued() const override { return threads_->num_queued(); }

  std::vector<DeviceIndex> tested_devices;

 private:
  const std::unique_ptr<Dispatcher> threads_ = CreateThreadDispatcher({});
};

class Startup {
 public:
  absl::Status Run(const std::vector<CatalogTableSpec>& specs,
                   const TableFactory& make_table) {
    catalog = *Catalog::Create(specs);
    TableStartup startup(*catalog, make_table, dispatcher_, num_devices,
                         LoadOptions());
    absl::Status status;
    absl::Notification done;
    startup.Start([&](absl::Status result) {
      status = std::move(result);
      done.Notify();
    });
    done.WaitForNotification();
    return status;
  }

  std::unique_ptr<Catalog> catalog;
  uint32_t num_devices = 0;  // CPU

  const std::vector<DeviceIndex>& tested_devices() const {
    return dispatcher_.tested_devices;
  }

 private:
  RecordingDispatcher dispatcher_;
};

TEST_CASE_METHOD(Startup, "tables come up, and a server may have none") {
  CHECK(Run({}, &CreateCpuTable).ok());
  CHECK(Run({HashedSpec("a", 2, 10), DenseSpec("b", 2, 10),
             HashedSpec("c", 2, 10)},
            &CreateCpuTable)
            .ok());
  for (const auto& entry : catalog->entries()) CHECK(entry->ready());
}

TEST_CASE_METHOD(Startup, "every table is asked on every device") {
  num_devices = GENERATE(0, 1, 3);
  CHECK(Run({HashedSpec("a", 2, 10), DenseSpec("b", 2, 10)}, &CreateCpuTable)
            .ok());
  std::vector<DeviceIndex> expected;
  for (int table = 0; table < 2; ++table) {
    for (uint32_t i = 0; i < std::max(1u, num_devices); ++i) {
      expected.push_back(DeviceIndex{i});
    }
  }
  CHECK(tested_devices() == expected);
}

TEST_CASE_METHOD(Startup, "a source that cannot be loaded is named") {
  CatalogTableSpec spec = DenseSpec("words", 2, 10);
  spec.source.rows_path = "/nowhere/rows.npy";
  const absl::Status status =
      Run({HashedSpec("a", 2, 10), spec}, &CreateCpuTable);
  CHECK_THAT(status.ToString(),
             Contains("\"words\"") && Contains("/nowhere/rows.npy"));
  CHECK(!catalog->Find("words")->ready());
}

TEST_CASE_METHOD(Startup, "a table that cannot be made is named") {
  const absl::Status status =
      Run({HashedSpec("words", 2, 10)},
          [](const TableSpec&) -> absl::StatusOr<std::unique_ptr<Table>> {
            return absl::ResourceExhaustedError("no memory");
          });
  CHECK(absl::IsResourceExhausted(status));
  CHECK_THAT(status.ToString(), Contains("\"words\"") && Contains("no memory"));
}

TEST_CASE_METHOD(Startup, "an error that names its table names it once") {
  const std::string message = "table \"words\": `rows` is too much";
  const absl::Status status =
      Run({HashedSpec("words", 2, 10)},
          [&](const TableSpec&) -> absl::StatusOr<std::unique_ptr<Table>> {
            return absl::ResourceExhaustedError(message);
          });
  CHECK(status.message() == message);
}

TEST_CASE("a startup that is cancelled ends") {
  const auto catalog = *Catalog::Create({HashedSpec("a", 2, 10)});
  const auto dispatcher = CreateThreadDispatcher({});
  TableStartup startup(*catalog, &CreateCpuTable, *dispatcher, 0,
                       LoadOptions());
  startup.Cancel();
  absl::Status status;
  startup.Start([&](absl::Status result) { status = std::move(result); });
  CHECK(startup.WaitForEnd(absl::Seconds(30)));
  CHECK(absl::IsCancelled(status));
}

}  // namespace
}  // namespace gatherd
