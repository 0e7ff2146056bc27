// Rows that say what they are: every element of a row follows from its key and
// its version, so that a reader can tell a right row from one that is torn,
// stale or another key's, and from nothing else.
//
// Elements are whole numbers of at most 127, and one of them is 127: every
// element type holds such a row without loss, int8 with a scale of exactly 1.
#ifndef GATHERD_CLIENT_BENCH_SELF_DESCRIBING_ROWS_H_
#define GATHERD_CLIENT_BENCH_SELF_DESCRIBING_ROWS_H_

#include <cstddef>
#include <cstdint>

namespace gatherd::client {

// Fills `values` with the `dim` elements of a version of a key's row.
void WriteSelfDescribingRow(int64_t key, uint64_t version, size_t dim,
                            float* values);

bool IsSelfDescribingRow(int64_t key, uint64_t version, size_t dim,
                         const float* values);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_SELF_DESCRIBING_ROWS_H_
