// Notices that files have changed, by asking for their identity, size and times
// again and again: that works on every file system, through symbolic links
// (Kubernetes swaps one), and for files that are gone for a while.
//
// A change counts once it has settled, that is, when two polls in a row find
// the same. So a file that is being written is not read half way, and files
// that belong together may be replaced one after the other.
#ifndef GATHERD_SERVER_ACCESS_FILE_CHANGES_H_
#define GATHERD_SERVER_ACCESS_FILE_CHANGES_H_

#include <string>
#include <vector>

namespace gatherd {

// For one thread.
class FileChanges {
 public:
  // Made before the files are read for the first time: what is written between
  // the two is then a change.
  explicit FileChanges(std::vector<std::string> paths);

  // Whether the files have changed since they were last read and are at rest
  // now. They count as read when it returns true, whatever comes of that.
  bool Poll();

 private:
  std::string Look() const;

  const std::vector<std::string> paths_;
  std::string seen_;  // by the last poll
  std::string read_;  // when they were last read
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_FILE_CHANGES_H_
