#include "server/access/file_watcher.h"

#include <utility>

namespace gatherd {

FileWatcher::FileWatcher(std::vector<Watched> watched, absl::Duration interval)
    : watched_(std::move(watched)),
      thread_([this, interval] { Run(interval); }) {}

FileWatcher::~FileWatcher() {
  stop_.Notify();
  thread_.join();
}

void FileWatcher::Run(absl::Duration interval) {
  while (!stop_.WaitForNotificationWithTimeout(interval)) {
    for (Watched& watched : watched_) {
      if (watched.changes.Poll()) watched.read_again();
    }
  }
}

}  // namespace gatherd
