#include "client/bench/worker_process.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

WorkerOrder OrderOf(uint64_t rows) {
  WorkerOrder order;
  order.rows = rows;
  return order;
}

}  // namespace

TEST_CASE("A process does what it is told and says how it went") {
  const auto process = WorkerProcess::Fork([](const WorkerOrder& order) {
    if (order.rows != 0) return absl::OkStatus();
    return absl::NotFoundError(std::string(1000, 'x'));
  });
  REQUIRE(process.ok());
  for (const uint64_t rows : {5, 0, 6}) {
    CHECK((*process)->Send(OrderOf(rows)).ok());
    const absl::Status status = (*process)->Receive();
    CHECK(status.ok() == (rows != 0));
    if (rows != 0) continue;
    CHECK(absl::IsNotFound(status));
    CHECK(status.message() == std::string(511, 'x'));
  }
}

TEST_CASE("Processes count into memory that is shared") {
  const auto counters = SharedCounters::Map();
  REQUIRE(counters.ok());
  LoadCounters& shared = ***counters;
  const auto process = WorkerProcess::Fork([&](const WorkerOrder& order) {
    shared.lookups().AddAnswer(order.rows, 1);
    return absl::OkStatus();
  });
  REQUIRE(process.ok());
  for (const uint64_t rows : {5, 7}) {
    CHECK((*process)->Send(OrderOf(rows)).ok());
    CHECK((*process)->Receive().ok());
  }
  CHECK(shared.Result(1).lookups.num_keys == 12);
  (*counters)->Reset();
  CHECK(shared.Result(1).lookups.num_keys == 0);
}

TEST_CASE("The end of a process is an error, not a wait") {
  const auto process =
      WorkerProcess::Fork([](const WorkerOrder&) -> absl::Status { _exit(3); });
  REQUIRE(process.ok());
  CHECK((*process)->Send(OrderOf(1)).ok());
  CHECK_THAT(std::string((*process)->Receive().message()),
             Contains("has ended"));
}

}  // namespace gatherd::client
