// Where the server is between its start and its end. Written by the lifecycle
// alone, read by everyone. Thread-safe.
#ifndef GATHERD_SERVER_SERVING_STATE_H_
#define GATHERD_SERVER_SERVING_STATE_H_

#include <atomic>
#include <cstdint>

namespace gatherd {

enum class ServingPhase : uint8_t {
  kLoading,   // tables that are loaded answer, but the server is not ready
  kServing,   // ready
  kDraining,  // not ready any more, calls are still served
  kRefusing,  // new calls get UNAVAILABLE
};

// "loading", "serving" or "draining".
inline const char* ServingPhaseName(ServingPhase phase) {
  switch (phase) {
    case ServingPhase::kLoading:
      return "loading";
    case ServingPhase::kServing:
      return "serving";
    case ServingPhase::kDraining:
    case ServingPhase::kRefusing:
      return "draining";
  }
  return "unknown";
}

class ServingState {
 public:
  // Relaxed: the phase orders no other data, and a call that just misses a
  // change of it is a call that came before.
  ServingPhase phase() const { return phase_.load(std::memory_order_relaxed); }
  void set_phase(ServingPhase phase) {
    phase_.store(phase, std::memory_order_relaxed);
  }

  // From loading to serving; false if draining has begun meanwhile.
  bool BecomeServing() {
    ServingPhase loading = ServingPhase::kLoading;
    return phase_.compare_exchange_strong(loading, ServingPhase::kServing,
                                          std::memory_order_relaxed);
  }

  bool ready() const { return phase() == ServingPhase::kServing; }
  bool refusing() const { return phase() == ServingPhase::kRefusing; }

 private:
  std::atomic<ServingPhase> phase_{ServingPhase::kLoading};
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_SERVING_STATE_H_
