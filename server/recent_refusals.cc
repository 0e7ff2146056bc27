#include "server/recent_refusals.h"

#include <algorithm>

#include "server/utf8.h"

namespace gatherd {
namespace {

constexpr std::string_view kKeyWord = "key ";
constexpr std::string_view kMore = "…";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Bytes of the number that `text` begins with, 0 if it begins with none.
size_t NumberLength(std::string_view text) {
  const size_t sign = text.substr(0, 1) == "-" ? 1 : 0;
  size_t end = sign;
  while (end < text.size() && IsDigit(text[end])) ++end;
  return end == sign ? 0 : end;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

}  // namespace

Refusal::Refusal(RpcMethod method, const absl::Status& status, absl::Time time)
    : method_(method), code_(status.code()), time_(time) {
  SetText({status.message().data(), status.message().size()});
}

void Refusal::SetText(std::string_view message) {
  while (!message.empty()) {
    const size_t number =
        EndsWith(text(), kKeyWord) ? NumberLength(message) : 0;
    // A byte that is no UTF-8 would be one of a fault's text.
    const size_t bytes = std::max<size_t>(1, Utf8SequenceLength(message));
    if (!Append(number > 0 ? kMore : message.substr(0, bytes))) break;
    message.remove_prefix(number > 0 ? number : bytes);
  }
}

// False if the text ends here: what is left of the room is for the sign that
// there was more.
bool Refusal::Append(std::string_view character) {
  const bool fits =
      text_bytes_ + character.size() + kMore.size() <= kMaxTextBytes;
  const std::string_view piece = fits ? character : kMore;
  std::copy(piece.begin(), piece.end(), text_.begin() + text_bytes_);
  text_bytes_ += piece.size();
  return fits;
}

void RecentRefusals::Add(RpcMethod method, const absl::Status& status,
                         absl::Time now) {
  if (status.ok() || absl::IsCancelled(status)) return;
  if (!MayKeep(status.code(), now)) {
    left_out_.Add(1);
    return;
  }
  const Refusal refusal(method, status, now);
  absl::MutexLock lock(&mutex_);
  ring_[num_kept_++ % kMaxListed] = refusal;
}

bool RecentRefusals::MayKeep(absl::StatusCode code, absl::Time now) {
  const auto second = static_cast<uint64_t>(absl::ToUnixSeconds(now)) << 8;
  std::atomic<uint64_t>& kept = kept_.at(static_cast<size_t>(code));
  uint64_t before = kept.load(std::memory_order_relaxed);
  uint64_t after = 0;
  do {
    const bool same_second = before >> 8 == second >> 8;
    if (same_second && (before & 0xFF) >= kMaxPerSecond) return false;
    after = same_second ? before + 1 : second + 1;
  } while (
      !kept.compare_exchange_weak(before, after, std::memory_order_relaxed));
  return true;
}

std::vector<Refusal> RecentRefusals::List() const {
  std::vector<Refusal> list(kMaxListed);  // no allocation under the lock
  absl::MutexLock lock(&mutex_);
  const uint64_t size = std::min<uint64_t>(num_kept_, kMaxListed);
  for (uint64_t i = 0; i < size; ++i) {
    list[i] = ring_[(num_kept_ - 1 - i) % kMaxListed];
  }
  list.resize(size);
  return list;
}

}  // namespace gatherd
