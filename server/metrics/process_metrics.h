// process_*: this process as /proc shows it.
#ifndef GATHERD_SERVER_METRICS_PROCESS_METRICS_H_
#define GATHERD_SERVER_METRICS_PROCESS_METRICS_H_

#include <vector>

namespace prometheus {
struct MetricFamily;
}

namespace gatherd {

// Figures that /proc does not give are left out.
void CollectProcessMetrics(std::vector<prometheus::MetricFamily>& families);

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_PROCESS_METRICS_H_
