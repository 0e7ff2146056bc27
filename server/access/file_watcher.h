// A thread that has files read anew when they have changed.
#ifndef GATHERD_SERVER_ACCESS_FILE_WATCHER_H_
#define GATHERD_SERVER_ACCESS_FILE_WATCHER_H_

#include <functional>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "server/access/file_changes.h"

namespace gatherd {

// A change takes effect after one to two intervals.
inline constexpr absl::Duration kFileWatchInterval = absl::Milliseconds(500);

class FileWatcher {
 public:
  struct Watched {
    FileChanges changes;
    std::function<void()> read_again;  // on the watcher's thread
  };

  explicit FileWatcher(std::vector<Watched> watched,
                       absl::Duration interval = kFileWatchInterval);
  // Waits for what is being read.
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

 private:
  void Run(absl::Duration interval);

  std::vector<Watched> watched_;  // the thread's
  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_FILE_WATCHER_H_
