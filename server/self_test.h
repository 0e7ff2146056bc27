// The lookup that every table has to answer before the server is ready.
#ifndef GATHERD_SERVER_SELF_TEST_H_
#define GATHERD_SERVER_SELF_TEST_H_

#include "absl/status/status.h"
#include "core/base/device_index.h"
#include "core/catalog/catalog.h"
#include "core/exec/dispatcher.h"

namespace gatherd {

// Asks `device` for a key of `entry` through the dispatcher, as a request
// would, and waits for the answer. Is counted nowhere.
absl::Status TestTable(const CatalogEntry& entry, DeviceIndex device,
                       Dispatcher& dispatcher);

}  // namespace gatherd

#endif  // GATHERD_SERVER_SELF_TEST_H_
