// How one device of an engine reaches another's memory, as was found out at
// start: for people. It does not change while the engine lives.
#ifndef GATHERD_CORE_EXEC_DEVICE_LINK_H_
#define GATHERD_CORE_EXEC_DEVICE_LINK_H_

#include <string>

namespace gatherd {

struct DeviceLink {
  int from = 0;                 // whose kernels read and write
  int to = 0;                   // whose memory; numbered as the driver does
  bool peer_access = false;     // what the driver says
  bool native_atomics = false;  // what the driver says
  std::string problem;          // why it is not used; empty: tried, and right
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_DEVICE_LINK_H_
