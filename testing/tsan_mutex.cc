// Tells ThreadSanitizer about absl::Mutex and what is built on it.
//
// Debian's Abseil is compiled without TSan, which therefore sees neither that
// a mutex orders the threads that take it, nor that conditions are evaluated
// under it: every guarded variable would be reported. The members defined here
// take the place of the shared library's (a program's own symbols come first),
// pass each call on to it and declare what it means: unlocking releases,
// locking acquires. Linked into test programs under --config=tsan alone.
#include <dlfcn.h>

#include <atomic>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

extern "C" {
// Of TSan's runtime.
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
}

namespace {

// The library's function of this mangled name.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// While the library runs, it may call conditions, on any thread, under a lock
// that TSan does not see yet, or no longer.
class IgnoreThread {
 public:
  IgnoreThread() { __tsan_ignore_thread_begin(); }
  ~IgnoreThread() { __tsan_ignore_thread_end(); }
};

template <typename Function, typename... Args>
auto Call(Function* function, Args... args) {
  const IgnoreThread ignore;
  return function(args...);
}

}  // namespace

// Mangled names carry Debian's inline namespace; the linker checks the ones
// that are defined here, ABSL_OPTION_INLINE_NAMESPACE_NAME the ones looked up.
#define GATHERD_STRING(x) GATHERD_STRING_OF(x)
#define GATHERD_STRING_OF(x) #x

namespace absl {
ABSL_NAMESPACE_BEGIN

static_assert(sizeof(GATHERD_STRING(ABSL_OPTION_INLINE_NAMESPACE_NAME)) ==
                  sizeof("debian3"),
              "the names below have the namespace's length in them");

#define GATHERD_NEXT(type, member)      \
  static auto* const next = Next<type>( \
      "_ZN4absl7" GATHERD_STRING(ABSL_OPTION_INLINE_NAMESPACE_NAME) member)

void Mutex::Lock() {
  GATHERD_NEXT(void(Mutex*), "5Mutex4LockEv");
  Call(next, this);
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  GATHERD_NEXT(void(Mutex*), "5Mutex6UnlockEv");
  __tsan_release(this);
  Call(next, this);
}

bool Mutex::TryLock() {
  GATHERD_NEXT(bool(Mutex*), "5Mutex7TryLockEv");
  const bool locked = Call(next, this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::ReaderLock() {
  GATHERD_NEXT(void(Mutex*), "5Mutex10ReaderLockEv");
  Call(next, this);
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  GATHERD_NEXT(void(Mutex*), "5Mutex12ReaderUnlockEv");
  __tsan_release(this);
  Call(next, this);
}

bool Mutex::ReaderTryLock() {
  GATHERD_NEXT(bool(Mutex*), "5Mutex13ReaderTryLockEv");
  const bool locked = Call(next, this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Await(const Condition& condition) {
  GATHERD_NEXT(void(Mutex*, const Condition*),
               "5Mutex5AwaitERKNS0_9ConditionE");
  __tsan_release(this);
  Call(next, this, &condition);
  __tsan_acquire(this);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  GATHERD_NEXT(bool(Mutex*, const Condition*, Duration),
               "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  __tsan_release(this);
  const bool met = Call(next, this, &condition, timeout);
  __tsan_acquire(this);
  return met;
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  GATHERD_NEXT(bool(Mutex*, const Condition*, Time),
               "5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  __tsan_release(this);
  const bool met = Call(next, this, &condition, deadline);
  __tsan_acquire(this);
  return met;
}

void Mutex::LockWhen(const Condition& condition) {
  GATHERD_NEXT(void(Mutex*, const Condition*),
               "5Mutex8LockWhenERKNS0_9ConditionE");
  Call(next, this, &condition);
  __tsan_acquire(this);
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  GATHERD_NEXT(bool(Mutex*, const Condition*, Duration),
               "5Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  const bool met = Call(next, this, &condition, timeout);
  __tsan_acquire(this);
  return met;
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  GATHERD_NEXT(bool(Mutex*, const Condition*, Time),
               "5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  const bool met = Call(next, this, &condition, deadline);
  __tsan_acquire(this);
  return met;
}

void CondVar::Wait(Mutex* mutex) {
  GATHERD_NEXT(void(CondVar*, Mutex*), "7CondVar4WaitEPNS0_5MutexE");
  __tsan_release(mutex);
  Call(next, this, mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  GATHERD_NEXT(bool(CondVar*, Mutex*, Duration),
               "7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  __tsan_release(mutex);
  const bool timed_out = Call(next, this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  GATHERD_NEXT(bool(CondVar*, Mutex*, Time),
               "7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  __tsan_release(mutex);
  const bool timed_out = Call(next, this, mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

// The header reads the flag inline, where TSan sees it; so must the store be.
void Notification::Notify() {
  const MutexLock lock(&mutex_);
  notified_yet_.store(true, std::memory_order_release);
}

void Notification::WaitForNotification() const {
  WaitForNotificationWithDeadline(InfiniteFuture());
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  return WaitForNotificationWithDeadline(Now() + timeout);
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  if (HasBeenNotifiedInternal(&notified_yet_)) return true;
  const bool notified = mutex_.LockWhenWithDeadline(
      Condition(&HasBeenNotifiedInternal, &notified_yet_), deadline);
  mutex_.Unlock();
  return notified;
}

bool BlockingCounter::DecrementCount() {
  GATHERD_NEXT(bool(BlockingCounter*), "15BlockingCounter14DecrementCountEv");
  __tsan_release(this);
  return Call(next, this);
}

void BlockingCounter::Wait() {
  GATHERD_NEXT(void(BlockingCounter*), "15BlockingCounter4WaitEv");
  Call(next, this);
  __tsan_acquire(this);
}

#undef GATHERD_NEXT

ABSL_NAMESPACE_END
}  // namespace absl
