// What the status page shows, as one JSON document: the same sources as
// /metrics, so nothing here waits for a lookup or a write. Thread-safe.
#ifndef GATHERD_SERVER_STATUS_PAGE_STATUS_DOCUMENT_H_
#define GATHERD_SERVER_STATUS_PAGE_STATUS_DOCUMENT_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/exec/device_link.h"
#include "server/serving_context.h"

namespace gatherd {

// What does not change while the server runs.
struct ServerIdentity {
  std::string backend;               // "cpu" or "cuda"
  std::vector<std::string> devices;  // a line for each of Metrics::Devices()
  std::vector<DeviceLink> links;     // every ordered pair of them
  std::function<std::string()> address;  // of gRPC; asked once ports are open
  absl::Time start_time;
};

// Rates and recent latencies are for the reader to compute, from two documents:
// all counts are since the start. Unknown numbers are null.
nlohmann::ordered_json CollectStatus(const ServingContext& context,
                                     const ServerIdentity& identity);

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_STATUS_DOCUMENT_H_
