// Ends a test case that cannot run on this machine; it counts as skipped, with
// its reason, instead of as passed.
//
//   if (!std::filesystem::exists(path)) GATHERD_SKIP("no " + path);
#ifndef GATHERD_TESTING_SKIP_H_
#define GATHERD_TESTING_SKIP_H_

#include <string>

namespace gatherd {

// Marks the running test case as skipped. Called by GATHERD_SKIP.
void MarkTestCaseSkipped(std::string reason);

// The reason given since the last call, empty if none. Called by the reporter
// after each test case.
std::string TakeSkipReason();

}  // namespace gatherd

// Returns from the enclosing function, which is the test case itself.
#define GATHERD_SKIP(reason)                \
  do {                                      \
    ::gatherd::MarkTestCaseSkipped(reason); \
    return;                                 \
  } while (false)

#endif  // GATHERD_TESTING_SKIP_H_
