#include "server/access/file_changes.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace gatherd {

FileChanges::FileChanges(std::vector<std::string> paths)
    : paths_(std::move(paths)), seen_(Look()), read_(seen_) {}

bool FileChanges::Poll() {
  std::string now = Look();
  const bool at_rest = now == seen_;
  seen_ = std::move(now);
  if (!at_rest || seen_ == read_) return false;
  read_ = seen_;
  return true;
}

std::string FileChanges::Look() const {
  std::string found;
  for (const std::string& path : paths_) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
      found += "absent;";
      continue;
    }
    absl::StrAppend(&found, info.st_dev, ",", info.st_ino, ",", info.st_size,
                    ",", info.st_mode, ",", info.st_mtim.tv_sec, ".",
                    info.st_mtim.tv_nsec, ",", info.st_ctim.tv_sec, ".",
                    info.st_ctim.tv_nsec, ";");
  }
  return found;
}

}  // namespace gatherd
