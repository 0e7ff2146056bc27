// Has the memory of messages given back to the kernel when nobody needs it any
// more: while requests come, freed memory is kept for the next.
#ifndef GATHERD_SERVER_IDLE_MEMORY_H_
#define GATHERD_SERVER_IDLE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "server/admission.h"

namespace gatherd {

class IdleMemory {
 public:
  // `give_back` runs once after each time of work, when no request has been
  // admitted and none was in flight for `idle_time`.
  IdleMemory(const Admission& admission, absl::Duration idle_time,
             std::function<void()> give_back)
      : admission_(admission),
        idle_time_(idle_time),
        give_back_(std::move(give_back)) {}

  // To be called every now and then, by one thread.
  void Look(absl::Time now);

 private:
  const Admission& admission_;
  const absl::Duration idle_time_;
  const std::function<void()> give_back_;
  uint64_t num_admitted_ = 0;  // at the last look
  absl::Time idle_since_ = absl::InfinitePast();
  bool is_given_back_ = true;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_IDLE_MEMORY_H_
