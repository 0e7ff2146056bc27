#include "server/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "server/metrics/families.h"

namespace gatherd {
namespace {

// The figures of /proc/self/stat that are used here (man 5 proc).
struct ProcStat {
  double cpu_seconds = 0;
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
  bool ok = false;
};

ProcStat ReadProcStat() {
  ProcStat stat;
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return stat;
  // The second field is the command in brackets and may hold blanks.
  const size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return stat;
  std::istringstream fields(line.substr(bracket + 1));
  std::string skipped;
  for (int field = 3; field <= 13; ++field) fields >> skipped;
  double user = 0, system = 0, pages = 0;
  fields >> user >> system;  // 14, 15
  for (int field = 16; field <= 21; ++field) fields >> skipped;
  fields >> stat.start_ticks >> stat.virtual_bytes >> pages;  // 22, 23, 24
  stat.ok = !fields.fail();
  stat.cpu_seconds =
      (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  stat.resident_bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

// Seconds since the epoch at which the machine was started, 0 if unknown.
double BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// -1 if unknown.
double NumOpenFileDescriptors() {
  std::error_code error;
  double count = 0;
  std::filesystem::directory_iterator it("/proc/self/fd", error);
  if (error) return -1;
  for (; !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    ++count;
  }
  return count - 1;  // the directory itself was open
}

}  // namespace

void CollectProcessMetrics(std::vector<prometheus::MetricFamily>& families) {
  const auto add = [&](prometheus::MetricFamily family, double value) {
    AddSeries(family, {}, value);
    families.push_back(std::move(family));
  };
  if (const ProcStat stat = ReadProcStat(); stat.ok) {
    add(CounterFamily("process_cpu_seconds_total",
                      "Total user and system CPU time spent in seconds."),
        stat.cpu_seconds);
    add(GaugeFamily("process_resident_memory_bytes",
                    "Resident memory size in bytes."),
        stat.resident_bytes);
    add(GaugeFamily("process_virtual_memory_bytes",
                    "Virtual memory size in bytes."),
        stat.virtual_bytes);
    static const double boot_time = BootTime();
    add(GaugeFamily("process_start_time_seconds",
                    "Start time of the process since unix epoch in seconds."),
        boot_time +
            stat.start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
  if (const double open = NumOpenFileDescriptors(); open >= 0) {
    add(GaugeFamily("process_open_fds", "Number of open file descriptors."),
        open);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    add(GaugeFamily("process_max_fds",
                    "Maximum number of open file descriptors."),
        static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace gatherd
