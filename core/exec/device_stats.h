// What an engine tells of each of its devices, for people and metrics.
#ifndef GATHERD_CORE_EXEC_DEVICE_STATS_H_
#define GATHERD_CORE_EXEC_DEVICE_STATS_H_

#include <cstdint>

namespace gatherd {

struct DeviceStats {
  int device = 0;  // the number that the driver knows it by
  // Of the whole device, other processes included.
  uint64_t used_bytes = 0;
  uint64_t free_bytes = 0;
  // Rows that lookups on this device have read since the start, from its own
  // memory and from that of other devices. Self-tests do not count.
  uint64_t rows_read_local = 0;
  uint64_t rows_read_remote = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_DEVICE_STATS_H_
