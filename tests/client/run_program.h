// Runs a program of ours as a shell would, and keeps what it printed.
#ifndef GATHERD_TESTS_CLIENT_RUN_PROGRAM_H_
#define GATHERD_TESTS_CLIENT_RUN_PROGRAM_H_

#include <string>
#include <vector>

namespace gatherd::client {

struct ProgramResult {
  int exit_code = -1;  // -1: did not start, or died from a signal
  std::string out;
  std::string err;
};

// `program` is the path from the root of the tree. Waits for the end.
ProgramResult RunProgram(const std::string& program,
                         const std::vector<std::string>& arguments);

// A path for a file of this test run; nobody else uses it.
std::string TemporaryPath(const std::string& name);

void WriteFile(const std::string& path, const std::string& text);
std::string ReadFile(const std::string& path);

}  // namespace gatherd::client

#endif  // GATHERD_TESTS_CLIENT_RUN_PROGRAM_H_
