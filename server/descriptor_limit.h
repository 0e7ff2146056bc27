// How many files and connections the process may have open.
#ifndef GATHERD_SERVER_DESCRIPTOR_LIMIT_H_
#define GATHERD_SERVER_DESCRIPTOR_LIMIT_H_

namespace gatherd {

// As many as it may ask for: shells and systemd give 1024 to programs that do
// not, which as many callers would use up. Programs that use select() must not
// have more; nothing here does.
void RaiseDescriptorLimit();

}  // namespace gatherd

#endif  // GATHERD_SERVER_DESCRIPTOR_LIMIT_H_
