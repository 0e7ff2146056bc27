// Faults of the server's own: logged with an identifier that the caller gets.
#ifndef GATHERD_SERVER_FAULT_H_
#define GATHERD_SERVER_FAULT_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace gatherd {

// What the caller of `method` is told. A status that no client can have caused
// (INTERNAL, UNKNOWN) is logged here and becomes INTERNAL with an identifier
// that stands in the log line, too; any other passes as it is.
absl::Status ReportIfFault(std::string_view method, absl::Status status);

// The status of `work`, or INTERNAL if it throws: libraries do when memory
// runs out.
absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> work);

}  // namespace gatherd

#endif  // GATHERD_SERVER_FAULT_H_
