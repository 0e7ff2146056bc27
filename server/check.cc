#include "server/check.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/sizes.h"
#include "core/shard/gpu_layout.h"
#include "core/table/cpu_table.h"
#include "server/access/access_check.h"
#include "server/config_environment.h"

namespace gatherd {
namespace {

constexpr char kHost[] = "host";

// Memory that one tier of a table takes on one device.
struct TierMemory {
  std::string table;
  TierKind tier;
  std::string device;  // "host", "gpu0"
  uint64_t rows;       // that it has room for
  uint64_t bytes;
};

std::vector<std::string> GpuNames(const DevicesConfig& devices,
                                  uint32_t num_gpus) {
  std::vector<std::string> names;
  for (const int device : devices.list) {
    names.push_back(absl::StrFormat("gpu%d", device));
  }
  if (devices.kind == DevicesConfig::Kind::kList) return names;
  for (uint32_t i = 0; i < num_gpus; ++i) {
    names.push_back(absl::StrFormat("gpu%d", i));
  }
  return names;
}

// A tier in host memory. Where tiers share it, the last one holds all rows and
// those above it nothing of their own.
TierMemory HostMemory(const TableSpec& spec, size_t tier) {
  const bool is_last = tier + 1 == spec.tiers.size();
  return {spec.name, spec.tiers[tier].kind, kHost, spec.tiers[tier].rows,
          is_last ? CpuTableMemoryBytes(spec) : 0};
}

void AddOnCpu(const TableSpec& spec, std::vector<TierMemory>& memory) {
  for (size_t i = 0; i < spec.tiers.size(); ++i) {
    memory.push_back(HostMemory(spec, i));
  }
}

absl::Status AddOnGpus(const TableSpec& spec,
                       const std::vector<std::string>& gpus,
                       std::vector<TierMemory>& memory) {
  for (size_t i = 0; i < spec.tiers.size(); ++i) {
    const TierSpec& tier = spec.tiers[i];
    if (tier.kind != TierKind::kGpu) {
      memory.push_back(HostMemory(spec, i));
      continue;
    }
    const auto layout = PlanGpuTable(spec, static_cast<uint32_t>(gpus.size()));
    if (!layout.ok()) return layout.status();
    for (const std::string& gpu : gpus) {
      memory.push_back({spec.name, tier.kind, gpu, layout->rows_per_shard,
                        layout->bytes_per_device});
    }
  }
  return absl::OkStatus();
}

// One document: a line for each tier of each table on each device, and the
// sums over `devices`.
std::string MemoryDocument(std::string_view backend,
                           const std::vector<TierMemory>& memory,
                           const std::vector<std::string>& devices) {
  std::string out = absl::StrFormat("---\nbackend: %s\nmemory:", backend);
  if (memory.empty()) out += " []";
  for (const TierMemory& tier : memory) {
    absl::StrAppendFormat(
        &out,
        "\n  - {table: \"%s\", tier: %s, device: %s, rows: %d, bytes: %d}"
        "  # %s",
        tier.table, TierKindName(tier.tier), tier.device, tier.rows, tier.bytes,
        HumanBytes(tier.bytes));
  }
  out += "\ntotal:\n";
  for (const std::string& device : devices) {
    uint64_t bytes = 0;
    for (const TierMemory& tier : memory) {
      if (tier.device == device) bytes += tier.bytes;
    }
    absl::StrAppendFormat(&out, "  - {device: %s, bytes: %d}  # %s\n", device,
                          bytes, HumanBytes(bytes));
  }
  return out;
}

void WarnOfMissing(const std::string& table, const std::string& path,
                   std::vector<std::string>& warnings) {
  if (path.empty() || access(path.c_str(), R_OK) == 0) return;
  warnings.push_back("table \"" + table + "\": " + path +
                     " cannot be read: " + std::strerror(errno));
}

// What a start on GPUs refuses, which `auto` and a machine without them do not.
void WarnOfGpuTables(const Config& config, std::vector<std::string>& warnings) {
  const DevicesConfig::Kind kind = config.devices.kind;
  if (kind == DevicesConfig::Kind::kCpu) return;
  for (const CatalogTableSpec& table : config.tables) {
    if (!IsOnGpu(table.table)) continue;
    const absl::Status status = CheckGpuTableSpec(table.table);
    if (status.ok()) continue;
    warnings.push_back(
        absl::StrCat(status.message(),
                     kind == DevicesConfig::Kind::kAuto
                         ? "; devices: auto will use the CPU backend"
                         : "; a server with these devices will not start"));
  }
}

}  // namespace

absl::StatusOr<std::string> CheckReport(const Config& config,
                                        uint32_t num_gpus) {
  const DevicesConfig& devices = config.devices;
  std::string out = ConfigToYaml(config);
  if (devices.kind != DevicesConfig::Kind::kCpu) {
    std::vector<std::string> names = GpuNames(devices, num_gpus);
    std::vector<TierMemory> memory;
    for (const CatalogTableSpec& table : config.tables) {
      absl::Status status = AddOnGpus(table.table, names, memory);
      if (!status.ok()) return status;
    }
    names.push_back(kHost);
    out += MemoryDocument("cuda", memory, names);
  }
  if (devices.kind == DevicesConfig::Kind::kCpu ||
      devices.kind == DevicesConfig::Kind::kAuto) {
    std::vector<TierMemory> memory;
    for (const CatalogTableSpec& table : config.tables) {
      AddOnCpu(table.table, memory);
    }
    out += MemoryDocument("cpu", memory, {kHost});
  }
  return out;
}

std::vector<std::string> StartWarnings(const Config& config) {
  std::vector<std::string> warnings = EnvironmentWarnings();
  for (std::string& warning : AccessWarnings(config.server)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

std::vector<std::string> CheckWarnings(const Config& config) {
  std::vector<std::string> warnings;
  WarnOfGpuTables(config, warnings);
  for (const CatalogTableSpec& table : config.tables) {
    WarnOfMissing(table.table.name, table.source.rows_path, warnings);
    WarnOfMissing(table.table.name, table.source.keys_path, warnings);
  }
  return warnings;
}

}  // namespace gatherd
