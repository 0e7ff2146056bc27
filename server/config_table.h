// One table of the configuration.
#ifndef GATHERD_SERVER_CONFIG_TABLE_H_
#define GATHERD_SERVER_CONFIG_TABLE_H_

#include <vector>

#include "absl/status/status.h"
#include "core/catalog/catalog.h"
#include "server/config_document.h"
#include "server/config_field.h"

namespace gatherd {

// Reads and checks one item of `tables`; what it gives, ValidateTableSpec
// accepts. Paths stay as they are written.
absl::Status ReadTable(const ConfigNode& node, CatalogTableSpec& table);

const std::vector<ConfigField<CatalogTableSpec>>& TableFields();
const std::vector<ConfigField<SourceSpec>>& SourceFields();

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_TABLE_H_
