// Where a table's first rows come from.
#ifndef GATHERD_CORE_CATALOG_SOURCE_SPEC_H_
#define GATHERD_CORE_CATALOG_SOURCE_SPEC_H_

#include <string>

namespace gatherd {

struct SourceSpec {
  std::string rows_path;  // .npy [n, dim]; empty: the table starts empty
  std::string keys_path;  // .npy [n]; hashed tables only

  bool empty() const { return rows_path.empty(); }
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_SOURCE_SPEC_H_
