#include "tests/client/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace gatherd::client {

ProgramResult RunProgram(const std::string& program,
                         const std::vector<std::string>& arguments) {
  const std::string out_path = TemporaryPath("stdout");
  const std::string err_path = TemporaryPath("stderr");
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path.c_str(),
                                   kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path.c_str(),
                                   kWrite, 0600);
  ProgramResult result;
  pid_t process = 0;
  int wait_status = 0;
  if (posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(),
                  environ) == 0 &&
      waitpid(process, &wait_status, 0) == process && WIFEXITED(wait_status)) {
    result.exit_code = WEXITSTATUS(wait_status);
  }
  posix_spawn_file_actions_destroy(&actions);
  result.out = ReadFile(out_path);
  result.err = ReadFile(err_path);
  return result;
}

std::string TemporaryPath(const std::string& name) {
  static int num_paths = 0;
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" +
         std::to_string(getpid()) + "_" + std::to_string(num_paths++) + "_" +
         name;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace gatherd::client
