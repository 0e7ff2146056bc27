#include "server/recent_refusals.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"

namespace gatherd {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1796034934);

std::vector<std::string> TextsOf(const RecentRefusals& refusals) {
  std::vector<std::string> texts;
  for (const Refusal& refusal : refusals.List()) {
    texts.emplace_back(refusal.text());
  }
  return texts;
}

std::string TextOf(const std::string& message) {
  return std::string(
      Refusal(RpcMethod::kLookup, absl::InvalidArgumentError(message), kStart)
          .text());
}

TEST_CASE("refusals are listed with what the client got, the newest first") {
  RecentRefusals refusals;
  CHECK(refusals.List().empty());
  refusals.Add(RpcMethod::kLookup, absl::NotFoundError("no table"), kStart);
  refusals.Add(RpcMethod::kErase, absl::UnavailableError("draining"),
               kStart + absl::Milliseconds(3));
  const std::vector<Refusal> list = refusals.List();
  REQUIRE(list.size() == 2);
  CHECK(list[0].method() == RpcMethod::kErase);
  CHECK(list[0].code() == absl::StatusCode::kUnavailable);
  CHECK(list[0].text() == "draining");
  CHECK(list[0].time() == kStart + absl::Milliseconds(3));
  CHECK(list[1].method() == RpcMethod::kLookup);
  CHECK(list[1].text() == "no table");
}

TEST_CASE("only the last refusals are listed") {
  RecentRefusals refusals;
  for (int i = 0; i < 50; ++i) {
    refusals.Add(RpcMethod::kLookup, absl::NotFoundError(std::to_string(i)),
                 kStart + absl::Seconds(i));
  }
  const std::vector<std::string> texts = TextsOf(refusals);
  REQUIRE(texts.size() == RecentRefusals::kMaxListed);
  for (size_t i = 0; i < texts.size(); ++i) {
    CHECK(texts[i] == std::to_string(49 - i));
  }
  CHECK(refusals.num_left_out() == 0);
}

TEST_CASE("many refusals of one code in a second leave room for others") {
  RecentRefusals refusals;
  for (int i = 0; i < 1000; ++i) {
    refusals.Add(RpcMethod::kLookup, absl::ResourceExhaustedError("busy"),
                 kStart + absl::Microseconds(i));
  }
  refusals.Add(RpcMethod::kLookup, absl::NotFoundError("rare"),
               kStart + absl::Milliseconds(2));
  CHECK(TextsOf(refusals) == std::vector<std::string>{"rare", "busy", "busy"});
  CHECK(refusals.num_left_out() == 1000 - RecentRefusals::kMaxPerSecond);
  refusals.Add(RpcMethod::kLookup, absl::ResourceExhaustedError("still"),
               kStart + absl::Seconds(1));
  CHECK(TextsOf(refusals).front() == "still");
}

TEST_CASE("what is no refusal is not listed") {
  RecentRefusals refusals;
  refusals.Add(RpcMethod::kLookup, absl::OkStatus(), kStart);
  refusals.Add(RpcMethod::kLookup, absl::CancelledError("gone"), kStart);
  CHECK(refusals.List().empty());
  CHECK(refusals.num_left_out() == 0);
}

TEST_CASE("a refusal does not show a key's value") {
  CHECK(TextOf("key 4711 is missing, the first of 3") ==
        "key … is missing, the first of 3");
  CHECK(TextOf("(table \"t\"): key -9223372036854775808 is missing") ==
        "(table \"t\"): key … is missing");
  CHECK(TextOf("key 7") == "key …");
  CHECK(TextOf("keys: 12 in this request") == "keys: 12 in this request");
  CHECK(TextOf("key - and 5") == "key - and 5");
}

TEST_CASE("a long text is cut between characters") {
  const std::string longest(Refusal::kMaxTextBytes - 3, 'x');
  CHECK(TextOf(longest) == longest);
  CHECK(TextOf(longest + "y") == longest + "…");
  std::string text = "x";
  while (text.size() < 2 * Refusal::kMaxTextBytes) text += "é";
  const std::string cut = TextOf(text);
  CHECK(cut.size() <= Refusal::kMaxTextBytes);
  CHECK(cut.size() > Refusal::kMaxTextBytes - 5);
  CHECK(absl::EndsWith(cut, "é…"));
}

TEST_CASE("refusals come from many threads") {
  constexpr int kNumThreads = 4;
  constexpr int kNumCalls = 2000;
  RecentRefusals refusals;
  std::vector<std::thread> threads;
  for (int t = 0; t < kNumThreads; ++t) {
    threads.emplace_back([&refusals, t] {
      const std::string text(100 + t, static_cast<char>('a' + t));
      for (int i = 0; i < kNumCalls; ++i) {
        refusals.Add(static_cast<RpcMethod>(t), absl::InternalError(text),
                     kStart + absl::Milliseconds(i));
      }
    });
  }
  for (int i = 0; i < 100; ++i) refusals.List();
  for (std::thread& thread : threads) thread.join();
  const std::vector<Refusal> list = refusals.List();
  CHECK(!list.empty());
  CHECK(refusals.num_left_out() > 0);
  CHECK(refusals.num_left_out() < kNumThreads * kNumCalls);
  for (const Refusal& refusal : list) {
    const auto t = static_cast<int>(refusal.method());
    CHECK(refusal.text() == std::string(100 + t, static_cast<char>('a' + t)));
  }
}

}  // namespace
}  // namespace gatherd
