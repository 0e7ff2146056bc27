#include "client/row_runs.h"

#include <algorithm>

namespace gatherd::client {
namespace {

using Piece = absl::Span<const std::byte>;

size_t CountCutRows(absl::Span<const Piece> pieces, size_t row_bytes) {
  size_t num_cut = 0, end = 0, last_cut = 0;
  for (const Piece& piece : pieces) {
    end += piece.size();
    if (end % row_bytes == 0) continue;
    const size_t row = end / row_bytes + 1;  // from 1
    num_cut += row != last_cut ? 1 : 0;
    last_cut = row;
  }
  return num_cut;
}

}  // namespace

RowRuns::RowRuns(absl::Span<const Piece> pieces, size_t row_bytes) {
  // Runs point into it, so it must not grow.
  const size_t num_cut = CountCutRows(pieces, row_bytes);
  copies_.reserve(num_cut * row_bytes);
  runs_.reserve(num_cut + pieces.size());
  uint32_t row = 0;
  size_t num_missing = 0;  // bytes that the last copy lacks
  for (Piece piece : pieces) {
    const Piece head = piece.subspan(0, std::min(num_missing, piece.size()));
    copies_.insert(copies_.end(), head.begin(), head.end());
    num_missing -= head.size();
    piece.remove_prefix(head.size());
    if (const size_t num_rows = piece.size() / row_bytes; num_rows > 0) {
      runs_.push_back({row, piece.subspan(0, num_rows * row_bytes)});
      row += static_cast<uint32_t>(num_rows);
      piece.remove_prefix(num_rows * row_bytes);
    }
    if (piece.empty()) continue;
    runs_.push_back({row++, {copies_.data() + copies_.size(), row_bytes}});
    copies_.insert(copies_.end(), piece.begin(), piece.end());
    num_missing = row_bytes - piece.size();
  }
}

}  // namespace gatherd::client
