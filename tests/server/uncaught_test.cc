#include "server/uncaught.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "server/exit_code.h"

namespace gatherd {
namespace {

// How a process ends whose thread runs `work`, as waitpid() says it.
int EndOf(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGABRT, SIG_DFL);  // not the test's
    ReportUncaughtExceptions();
    std::thread([&work]() noexcept { work(); }).join();
    _exit(77);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

bool IsFailure(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == kExitFailure;
}

TEST_CASE("a process without memory or threads ends with exit code 1") {
  CHECK(IsFailure(EndOf([] { throw std::bad_alloc(); })));
  CHECK(IsFailure(EndOf([] {
    throw std::system_error(EAGAIN, std::system_category(), "no thread");
  })));
}

TEST_CASE("what nobody expects aborts") {
  const int status = EndOf([] { throw std::logic_error("wrong"); });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

}  // namespace
}  // namespace gatherd
