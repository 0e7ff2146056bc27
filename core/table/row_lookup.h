// Looks keys up in a table of the CPU backend: the read path.
#ifndef GATHERD_CORE_TABLE_ROW_LOOKUP_H_
#define GATHERD_CORE_TABLE_ROW_LOOKUP_H_

#include "core/table/batch.h"
#include "core/table/table_storage.h"

namespace gatherd {

// See Table::Lookup. Any number at once, beside one writer; takes no lock,
// allocates nothing and cannot fail.
LookupResult LookupRows(TableStorage& storage, const LookupBatch& batch,
                        const LookupOutput& output);

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_ROW_LOOKUP_H_
