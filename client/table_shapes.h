// What rows of tables look like, as far as answers have told: needed for keys
// whose only owner is lost. Thread-safe.
#ifndef GATHERD_CLIENT_TABLE_SHAPES_H_
#define GATHERD_CLIENT_TABLE_SHAPES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/requests.h"
#include "client/table_rows.h"
#include "core/base/data_type.h"

namespace gatherd::client {

struct TableShape {
  uint32_t dim = 0;                   // 0: unknown
  std::optional<DataType> data_type;  // the table's own, if it is known
};

class TableShapes {
 public:
  void Learn(const TableLookup& lookup, const TableRows& rows);
  TableShape Find(std::string_view table) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, TableShape, std::less<>> shapes_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_TABLE_SHAPES_H_
