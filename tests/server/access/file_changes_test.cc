#include "server/access/file_changes.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "absl/time/clock.h"
#include "server/access/file_text.h"
#include "server/access/file_watcher.h"
#include "tests/server/access/temporary_folder.h"

namespace gatherd {
namespace {

// Longer than a file system's clock takes to go on.
void LetTimePass() { absl::SleepFor(absl::Milliseconds(20)); }

TEST_CASE("A change counts once it has settled, and once", "[access]") {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", "one");
  FileChanges changes({path});
  CHECK_FALSE(changes.Poll());
  LetTimePass();
  folder.Write("f", "two");  // the same size
  CHECK_FALSE(changes.Poll());
  CHECK(changes.Poll());
  CHECK_FALSE(changes.Poll());
}

TEST_CASE("A file that is still being written is not read", "[access]") {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", "");
  FileChanges changes({path});
  for (const char* text : {"h", "ha", "hal", "half"}) {
    folder.Write("f", text);
    CHECK_FALSE(changes.Poll());
  }
  CHECK(changes.Poll());
}

TEST_CASE("Files that belong together change together", "[access]") {
  const TemporaryFolder folder;
  FileChanges changes({folder.Write("a", "1"), folder.Write("b", "1")});
  folder.Write("a", "22");
  CHECK_FALSE(changes.Poll());
  folder.Write("b", "22");
  CHECK_FALSE(changes.Poll());
  CHECK(changes.Poll());
}

TEST_CASE("Files that go, come back, or sit behind a link are noticed",
          "[access]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  folder.Write("old", "1");
  folder.Write("new", "2");
  const std::string path = folder.PathOf("link");
  fs::create_symlink("old", path);
  FileChanges changes({path});
  fs::create_symlink("new", folder.PathOf("next"));
  fs::rename(folder.PathOf("next"), path);
  CHECK_FALSE(changes.Poll());
  CHECK(changes.Poll());
  fs::remove(path);
  CHECK_FALSE(changes.Poll());
  CHECK(changes.Poll());
  fs::create_symlink("new", path);
  CHECK_FALSE(changes.Poll());
  CHECK(changes.Poll());
}

TEST_CASE("What was written before the first poll is a change", "[access]") {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", "1");
  FileChanges changes({path});
  folder.Write("f", "22");
  changes.Poll();
  CHECK(changes.Poll());
}

TEST_CASE("The watcher has changed files read again", "[access]") {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", "1");
  std::atomic<int> num_read{0};
  {
    FileWatcher watcher({{FileChanges({path}), [&] { ++num_read; }}},
                        absl::Milliseconds(5));
    absl::SleepFor(absl::Milliseconds(50));
    CHECK(num_read == 0);
    folder.Write("f", "22");
    for (int i = 0; i < 1000 && num_read == 0; ++i) LetTimePass();
    CHECK(num_read == 1);
  }
  folder.Write("f", "333");
  absl::SleepFor(absl::Milliseconds(50));
  CHECK(num_read == 1);
}

TEST_CASE("Files that cannot be read are refused by name", "[access]") {
  const TemporaryFolder folder;
  CHECK(*ReadFileText(folder.Write("f", "text")) == "text");
  CHECK(ReadFileText(folder.PathOf("gone")).status().message() ==
        folder.PathOf("gone") + ": No such file or directory");
  CHECK(ReadFileText(folder.path()).status().message() ==
        folder.path() + ": is not a file");
  CHECK(ReadFileText("/dev/null").status().message() ==
        "/dev/null: is not a file");
  const std::string large =
      folder.Write("large", std::string((1 << 20) + 1, 'x'));
  CHECK(ReadFileText(large).status().message() ==
        large + ": is larger than 1 MiB");
}

}  // namespace
}  // namespace gatherd
