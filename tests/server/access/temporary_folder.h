// A folder that goes with its test.
#ifndef GATHERD_TESTS_SERVER_ACCESS_TEMPORARY_FOLDER_H_
#define GATHERD_TESTS_SERVER_ACCESS_TEMPORARY_FOLDER_H_

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gatherd {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(NewPath()) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string PathOf(const std::string& name) const {
    return (path_ / name).string();
  }

  // The path of the file.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return PathOf(name);
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::filesystem::path NewPath() {
    static std::atomic<int> next{0};
    return std::filesystem::temp_directory_path() /
           ("gatherd_access_" + std::to_string(getpid()) + "_" +
            std::to_string(next.fetch_add(1)));
  }

  const std::filesystem::path path_;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_ACCESS_TEMPORARY_FOLDER_H_
