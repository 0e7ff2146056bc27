#include "server/access/file_watcher.h"

#include <utility>

namespace gatherd {

FileWatcher::FileWatcher(std::vector<Watched> watched, absl::Duration interval)
    : watched_(std::move(watched)),
      ticker_(interval, [this](absl::Time) { Look(); }) {}

void FileWatcher::Look() {
  for (Watched& watched : watched_) {
    if (watched.changes.Poll()) watched.read_again();
  }
}

}  // namespace gatherd
