// What gatherctl prints: the same facts as text for people or as one JSON
// object for programs. Everything ends with a newline. In JSON a value that is
// no number (NaN, infinity) is null.
#ifndef GATHERD_CLIENT_CTL_RENDER_H_
#define GATHERD_CLIENT_CTL_RENDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/client.h"
#include "client/ctl/metrics_text.h"
#include "client/requests.h"
#include "client/table_rows.h"

namespace gatherd::client {

enum class Format { kText, kJson };

std::string RenderInfo(const ServerInfo& info, Format format);
std::string RenderTables(absl::Span<const TableInfo> tables, Format format);
std::string RenderHealth(Health health, Format format);

// How long requests spent in one stage of their way, in seconds.
struct StageTimes {
  std::string name;
  HistogramSeries times;
};

std::string RenderStages(absl::Span<const StageTimes> stages, Format format);

// A key and how the command line wrote it.
struct NamedKey {
  int64_t key = 0;
  absl::string_view text;
};

// Rows of more than 16 values are cut in text, never in JSON.
std::string RenderRows(absl::string_view table, absl::Span<const NamedKey> keys,
                       const TableRows& rows, Format format);

std::string RenderUpdate(absl::string_view table, const UpdateResult& result,
                         Format format);
std::string RenderErase(absl::string_view table, const EraseResult& result,
                        Format format);

struct LoadResult {
  uint64_t num_rows = 0;  // of the file
  uint64_t num_requests = 0;
  uint64_t num_updated = 0;
  uint64_t num_inserted = 0;
  uint64_t num_skipped = 0;
  uint64_t num_evicted = 0;
  uint64_t revision = 0;
  std::string note;  // what was changed on the way, if anything
};

std::string RenderLoad(absl::string_view table, const LoadResult& result,
                       Format format);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CTL_RENDER_H_
