// Epoch-based reclamation: tells a writer when no lookup can still read what
// it has unlinked. Lookups never wait for it.
//
// A reader is inside the domain while it holds an EpochGuard, and writes the
// epoch of its entry in a slot of its own. A writer unlinks a row (a store to
// the index), calls Advance and may use the memory again once HasPassed(the
// epoch it got): every reader that is inside then came after the unlinking.
//
// Why that holds, in the C++ memory model and without fences:
// - A reader stores its epoch and then loads the global one again; a writer
//   raises the global one and then loads the slots; all four are sequentially
//   consistent. So either the writer sees the reader's slot, and waits for it,
//   or the reader sees the raised epoch: then it has synchronised with
//   Advance and sees everything unlinked before.
// - A reader leaves with a release store (or re-enters, which is one, too), a
//   writer looks with an acquire load: what the reader read comes before what
//   the writer then writes in the same memory.
//
// Entering costs two atomic writes of a line that the thread has for itself,
// so a reader does it for some hundreds of rows at a time and re-enters in
// between: the longest stay bounds a writer's wait.
#ifndef GATHERD_CORE_TABLE_EPOCH_H_
#define GATHERD_CORE_TABLE_EPOCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gatherd {

class EpochDomain {
 public:
  // As many readers as `num_slots`, rounded up to a power of two, can be
  // inside; any more wait at the door. The default fits the machine.
  explicit EpochDomain(size_t num_slots = DefaultSlots());
  EpochDomain(const EpochDomain&) = delete;
  EpochDomain& operator=(const EpochDomain&) = delete;

  // For writers, of which there may be any number at once: each gets an epoch
  // later than all that it has unlinked.
  uint64_t Advance();
  bool HasPassed(uint64_t epoch) const;
  // Spins, then yields, then sleeps: a reader whose thread is not running may
  // take its time.
  void WaitUntilPassed(uint64_t epoch) const;

  static size_t DefaultSlots();

 private:
  friend class EpochGuard;

  static constexpr uint64_t kFree = 0;

  // Two lines: processors fetch them in pairs.
  struct alignas(128) Slot {
    std::atomic<uint64_t> epoch{kFree};
  };

  Slot* Enter();
  void Reenter(Slot* slot) const;

  const size_t num_slots_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(128) std::atomic<uint64_t> global_{1};
};

// A reader's stay in a domain. Used by one thread at a time: a batch that runs
// on GPUs takes it from the thread that launches it to the one that ends it.
class EpochGuard {
 public:
  explicit EpochGuard(EpochDomain& domain)
      : domain_(domain), slot_(domain.Enter()) {}
  ~EpochGuard() {
    slot_->epoch.store(EpochDomain::kFree, std::memory_order_release);
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

  // Leaves and enters again: nothing read before may be used after.
  void Reenter() { domain_.Reenter(slot_); }

 private:
  EpochDomain& domain_;
  EpochDomain::Slot* const slot_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_EPOCH_H_
