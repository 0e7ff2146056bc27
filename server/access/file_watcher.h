// A thread that has files read anew when they have changed.
#ifndef GATHERD_SERVER_ACCESS_FILE_WATCHER_H_
#define GATHERD_SERVER_ACCESS_FILE_WATCHER_H_

#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "server/access/file_changes.h"
#include "server/ticker.h"

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

 private:
  void Look();

  std::vector<Watched> watched_;  // the ticker's
  // Waits for what is being read, when it is destroyed.
  const Ticker ticker_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_FILE_WATCHER_H_
