#include "server/standard_streams.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace gatherd {

void SecureStandardStreams() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);  // takes the lowest number that is free
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace gatherd
