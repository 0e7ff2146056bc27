#include "core/gpu/launch_gate.h"

#include <utility>

namespace gatherd {
namespace {

absl::StatusOr<std::vector<CudaEvent>> CreateEvents(
    const CudaApi& api, absl::Span<const DeviceId> devices) {
  std::vector<CudaEvent> events;
  events.reserve(devices.size());
  for (const DeviceId device : devices) {
    auto event = CudaEvent::Create(api, device);
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
  }
  return events;
}

}  // namespace

absl::StatusOr<DenseWindow> DenseWindow::Create(
    const CudaApi& api, absl::Span<const DeviceId> devices) {
  auto events = CreateEvents(api, devices);
  if (!events.ok()) return events.status();
  return DenseWindow(*std::move(events));
}

absl::StatusOr<GateReader> GateReader::Create(const CudaApi& api,
                                              std::vector<StreamView> streams) {
  std::vector<DeviceId> devices;
  for (const StreamView& stream : streams) devices.push_back(stream.device());
  auto events = CreateEvents(api, devices);
  if (!events.ok()) return events.status();
  return GateReader(std::move(streams), *std::move(events));
}

void LaunchGate::AddReader(GateReader* reader) {
  absl::MutexLock lock(&mutex_);
  readers_.push_back(reader);
}

absl::Status LaunchGate::Launch(GateReader& reader,
                                absl::Span<DenseWindow* const> windows,
                                absl::Span<const StreamView> streams,
                                const std::function<absl::Status()>& launch) {
  absl::ReaderMutexLock lock(&mutex_);
  for (DenseWindow* const window : windows) {
    if (!window->open_.load(std::memory_order_acquire)) continue;
    for (const CudaEvent& ended : window->ended_) {
      for (const StreamView& stream : streams) {
        absl::Status status = stream.WaitAsync(ended.view());
        if (!status.ok()) return status;
      }
    }
  }
  // Relaxed: the lock orders it before any window that opens later.
  reader.reading_.store(true, std::memory_order_relaxed);
  return launch();
}

absl::Status LaunchGate::Open(DenseWindow& window,
                              absl::Span<const StreamView> streams,
                              const std::function<absl::Status()>& enqueue) {
  absl::MutexLock lock(&mutex_);
  for (GateReader* const reader : readers_) {
    if (!reader->reading_.load(std::memory_order_acquire)) continue;
    for (size_t i = 0; i < reader->streams_.size(); ++i) {
      const EventView event = reader->events_[i].view();
      absl::Status status = reader->streams_[i].RecordAsync(event);
      for (size_t j = 0; status.ok() && j < streams.size(); ++j) {
        status = streams[j].WaitAsync(event);
      }
      if (!status.ok()) return status;
    }
  }
  absl::Status status = enqueue();
  for (size_t i = 0; status.ok() && i < streams.size(); ++i) {
    status = streams[i].RecordAsync(window.ended_[i].view());
  }
  if (status.ok()) window.open_.store(true, std::memory_order_release);
  return status;
}

}  // namespace gatherd
