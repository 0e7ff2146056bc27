#include "server/uncaught.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "server/exit_code.h"
#include "server/log.h"

namespace gatherd {
namespace {

// Logging takes memory, of which there may be none.
void LogOrWrite(std::string_view message, std::string_view reason) {
  try {
    Log(LogLevel::kError, message, {{"reason", reason}});
  } catch (...) {
    constexpr std::string_view kText = "memory ran out, the process ends\n";
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, kText.data(), kText.size());
  }
}

[[noreturn]] void EndForLack(std::string_view reason) {
  LogOrWrite("memory or threads ran out, the process ends", reason);
  std::_Exit(kExitFailure);
}

[[noreturn]] void OnTerminate() {
  const std::exception_ptr exception = std::current_exception();
  if (exception == nullptr) std::abort();
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc& error) {
    EndForLack(error.what());
  } catch (const std::system_error& error) {
    EndForLack(error.what());
  } catch (const std::exception& error) {
    LogOrWrite("an exception that nobody expected", error.what());
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void ReportUncaughtExceptions() { std::set_terminate(&OnTerminate); }

}  // namespace gatherd
