#include "server/idle_memory.h"

namespace gatherd {

void IdleMemory::Look(absl::Time now) {
  const uint64_t num_admitted = admission_.num_admitted();
  if (num_admitted != num_admitted_ || admission_.num_requests() > 0) {
    num_admitted_ = num_admitted;
    idle_since_ = now;
    is_given_back_ = false;
  } else if (!is_given_back_ && now - idle_since_ >= idle_time_) {
    is_given_back_ = true;
    give_back_();
  }
}

}  // namespace gatherd
