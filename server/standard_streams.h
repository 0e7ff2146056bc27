// stdin, stdout and stderr, whatever the parent process has made of them.
#ifndef GATHERD_SERVER_STANDARD_STREAMS_H_
#define GATHERD_SERVER_STANDARD_STREAMS_H_

namespace gatherd {

// First of all in main(): where one is closed, /dev/null takes its place, lest
// the next file or connection that is opened be written to as a log. Writing to
// a pipe that nobody reads becomes an error instead of the end of the process.
void SecureStandardStreams();

}  // namespace gatherd

#endif  // GATHERD_SERVER_STANDARD_STREAMS_H_
