// Keeps lookups and writes of dense tables apart. Dense rows are written where
// they lie, so a write's kernel must not run beside a lookup that reads the
// table. Streams wait for each other; no thread waits for a device here.
//
// A write opens a window: its kernels wait for every lookup launched before,
// and lookups of the table that are launched later wait for the window's end.
// Launching and opening exclude each other, for as long as it takes to enqueue.
#ifndef GATHERD_CORE_GPU_LAUNCH_GATE_H_
#define GATHERD_CORE_GPU_LAUNCH_GATE_H_

#include <atomic>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/cuda/event.h"
#include "core/cuda/stream.h"

namespace gatherd {

// A table's last window. Kept by the table; one writer at a time.
class DenseWindow {
 public:
  static absl::StatusOr<DenseWindow> Create(const CudaApi& api,
                                            absl::Span<const DeviceId> devices);
  DenseWindow(DenseWindow&& other) noexcept : ended_(std::move(other.ended_)) {}

  // The window's kernels have ended: lookups need not wait for it any more.
  void Close() { open_.store(false, std::memory_order_release); }

 private:
  friend class LaunchGate;
  explicit DenseWindow(std::vector<CudaEvent> ended)
      : ended_(std::move(ended)) {}

  std::vector<CudaEvent> ended_;  // one a device
  // Written under the gate's mutex, or by the writer when the events have
  // passed: whoever misses that waits for events that have passed.
  std::atomic<bool> open_{false};
};

// One of those that launch lookups, a batch at a time, on a stream a device.
class GateReader {
 public:
  static absl::StatusOr<GateReader> Create(const CudaApi& api,
                                           std::vector<StreamView> streams);
  GateReader(GateReader&& other) noexcept
      : streams_(std::move(other.streams_)),
        events_(std::move(other.events_)) {}

  // The batch that was launched has ended.
  void Leave() { reading_.store(false, std::memory_order_release); }

 private:
  friend class LaunchGate;
  GateReader(std::vector<StreamView> streams, std::vector<CudaEvent> events)
      : streams_(std::move(streams)), events_(std::move(events)) {}

  std::vector<StreamView> streams_;
  std::vector<CudaEvent> events_;  // one a stream, recorded by windows
  // Set under the gate's shared lock; a window that finds it set although the
  // batch has just ended waits for nothing.
  std::atomic<bool> reading_{false};
};

class LaunchGate {
 public:
  LaunchGate() = default;
  LaunchGate(const LaunchGate&) = delete;
  LaunchGate& operator=(const LaunchGate&) = delete;

  // Before any launch.
  void AddReader(GateReader* reader);

  // Calls `launch`, which enqueues a batch that reads the dense tables of
  // `windows` on `streams` of the reader, behind their windows. On an error of
  // `launch` the reader may have left work behind.
  absl::Status Launch(GateReader& reader,
                      absl::Span<DenseWindow* const> windows,
                      absl::Span<const StreamView> streams,
                      const std::function<absl::Status()>& launch);

  // Calls `enqueue`, which enqueues kernels of at most some 20 µs on each of
  // `streams`, one a device in their order, between lookups.
  absl::Status Open(DenseWindow& window, absl::Span<const StreamView> streams,
                    const std::function<absl::Status()>& enqueue);

 private:
  // Shared by launches, exclusive for opening a window. Held while work is
  // enqueued, never while it runs.
  absl::Mutex mutex_;
  std::vector<GateReader*> readers_;  // constant once launches begin
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_LAUNCH_GATE_H_
