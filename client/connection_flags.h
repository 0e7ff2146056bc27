// The flags by which our programs are told where a server is and who they are:
// --address, --token-file, --ca, --cert, --key, --timeout.
#ifndef GATHERD_CLIENT_CONNECTION_FLAGS_H_
#define GATHERD_CLIENT_CONNECTION_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cli/flags.h"
#include "client/client.h"

namespace gatherd::client {

// To be parsed along with a program's own flags.
absl::Span<const FlagSpec> ConnectionFlags();
// Their part of a usage text: one line each.
const char* ConnectionFlagsHelp();

// What to tell the user before anything is sent: that a token will travel in
// the clear to another machine. Empty if there is nothing to tell.
std::string ConnectionWarning(const ConnectionOptions& options);

// Reads the files that the flags name. INVALID_ARGUMENT naming flag and reason.
// What no flag says keeps the default of ClientOptions. TLS is used once --ca
// or --cert is there; without it a token travels in the clear, which a server
// with tokens but without TLS asks for.
absl::StatusOr<ClientOptions> ReadConnectionFlags(const CommandLine& line);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CONNECTION_FLAGS_H_
