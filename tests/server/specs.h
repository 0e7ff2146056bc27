// Small tables for tests of the server.
#ifndef GATHERD_TESTS_SERVER_SPECS_H_
#define GATHERD_TESTS_SERVER_SPECS_H_

#include <cstdint>
#include <string>

#include "core/catalog/catalog.h"

namespace gatherd {

inline CatalogTableSpec HashedSpec(const std::string& name, uint32_t dim,
                                   uint64_t rows) {
  CatalogTableSpec spec;
  spec.table.name = name;
  spec.table.dim = dim;
  spec.table.key_space = KeySpace::kHashed;
  spec.table.tiers.resize(1);
  spec.table.tiers[0].kind = TierKind::kHost;
  spec.table.tiers[0].rows = rows;
  return spec;
}

inline CatalogTableSpec DenseSpec(const std::string& name, uint32_t dim,
                                  uint64_t rows) {
  CatalogTableSpec spec = HashedSpec(name, dim, rows);
  spec.table.key_space = KeySpace::kDense;
  return spec;
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_SPECS_H_
