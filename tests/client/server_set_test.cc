#include "client/server_set.h"

#include <catch2/catch.hpp>

#include "absl/time/clock.h"

namespace gatherd::client {
namespace {

// Names that a test exchanges while they are asked for.
class Names {
 public:
  ServerNames Getter() {
    return [this] {
      absl::MutexLock lock(&mutex_);
      ++num_asked_;
      return names_;
    };
  }

  void Set(absl::StatusOr<std::vector<std::string>> names) {
    absl::MutexLock lock(&mutex_);
    names_ = std::move(names);
  }

  // Until they were asked for since, twice, so that the first was used.
  void WaitForRefresh() {
    const int begin = num_asked();
    while (num_asked() < begin + 2) absl::SleepFor(absl::Milliseconds(1));
  }

 private:
  int num_asked() {
    absl::MutexLock lock(&mutex_);
    return num_asked_;
  }

  absl::Mutex mutex_;
  int num_asked_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::StatusOr<std::vector<std::string>> names_ ABSL_GUARDED_BY(mutex_) =
      std::vector<std::string>{"127.0.0.1:1", "127.0.0.1:2"};
};

}  // namespace

TEST_CASE("Servers that come and go change the set, the others stay") {
  Names names;
  const auto sets =
      ServerSets::Create({}, names.Getter(), absl::Milliseconds(1));
  REQUIRE(sets.ok());
  const std::shared_ptr<const ServerSet> first = (*sets)->Current();
  CHECK(first->names.size() == 2);

  names.Set(std::vector<std::string>{"127.0.0.1:2", "127.0.0.1:3"});
  names.WaitForRefresh();
  const std::shared_ptr<const ServerSet> second = (*sets)->Current();
  CHECK(second->names ==
        std::vector<std::string>{"127.0.0.1:2", "127.0.0.1:3"});
  CHECK(second->clients[0] == first->clients[1]);
  CHECK(second->clients[1] != first->clients[0]);
  // Who holds the old set may go on with it.
  CHECK(first->clients[0].use_count() == 1);
}

TEST_CASE("Names that cannot be had leave the set as it is") {
  Names names;
  const auto sets =
      ServerSets::Create({}, names.Getter(), absl::Milliseconds(1));
  REQUIRE(sets.ok());
  const std::shared_ptr<const ServerSet> first = (*sets)->Current();
  for (const absl::StatusOr<std::vector<std::string>>& wrong :
       {absl::StatusOr<std::vector<std::string>>(
            absl::UnavailableError("no name server")),
        absl::StatusOr<std::vector<std::string>>(std::vector<std::string>{}),
        absl::StatusOr<std::vector<std::string>>(
            std::vector<std::string>{"a:1", "a:1"})}) {
    names.Set(wrong);
    names.WaitForRefresh();
    CHECK((*sets)->Current() == first);
  }
}

TEST_CASE("The first names must be right") {
  Names names;
  names.Set(absl::UnavailableError("no name server"));
  CHECK(absl::IsUnavailable(
      ServerSets::Create({}, names.Getter(), absl::Seconds(1)).status()));
}

TEST_CASE("Every address of a name is a server") {
  CHECK(*ResolveAll("127.0.0.1:7400") ==
        std::vector<std::string>{"127.0.0.1:7400"});
  CHECK(*ResolveAll("::1:7400") == std::vector<std::string>{"[::1]:7400"});
  CHECK(absl::IsInvalidArgument(ResolveAll("words").status()));
  CHECK(absl::IsUnavailable(ResolveAll("no such name:7400").status()));
}

}  // namespace gatherd::client
