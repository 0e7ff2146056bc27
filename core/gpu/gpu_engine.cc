#include "core/gpu/gpu_engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device.h"
#include "core/gpu/gpu_dispatcher.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/gpu_table.h"
#include "core/gpu/lookup_engine.h"
#include "core/gpu/pinned_pool.h"
#include "core/kernels/kernel_api.h"
#include "core/shard/gpu_layout.h"
#include "core/table/cpu_table.h"

namespace gatherd {
namespace {

// Half the cores send replies; the others read requests.
constexpr int kMinReplyThreads = 2;
constexpr int kMaxReplyThreads = 16;

// Of lookup contexts: for each thread that receives requests, since it answers
// one by itself, and so many for jobs that are cut into chunks.
constexpr int kContextsForChunks = 4;
constexpr int kMinContextsADevice = 4;

// Whether `from` can use the memory of all others, in words.
std::string DescribePeers(const PreflightReport& report, DeviceId from) {
  if (report.peers.empty()) return "";
  for (const PeerCheck& peer : report.peers) {
    if (peer.from == from && !peer.problem.empty()) {
      return absl::StrCat(", cannot use the memory of device ",
                          Ordinal(peer.to), ": ", peer.problem);
    }
  }
  return ", uses the memory of all devices";
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuEngine>> GpuEngine::Create(
    const GpuEngineOptions& options) {
  GpuNodeOptions node_options;
  std::vector<TableSpec> gpu_tables;
  for (const int device : options.devices) {
    node_options.devices.push_back(DeviceId{device});
  }
  if (node_options.devices.empty()) {
    auto devices = ListDevices(RealCudaApi());
    if (!devices.ok()) return devices.status();
    for (const DeviceInfo& device : *devices) {
      node_options.devices.push_back(device.id);
    }
  }
  // After the devices: without a GPU it does not matter what tables there are.
  for (const TableSpec& spec : options.tables) {
    if (!IsOnGpu(spec)) continue;
    absl::Status status = CheckGpuTableSpec(spec);
    if (!status.ok()) return status;
    gpu_tables.push_back(spec);
  }
  node_options.reply_bytes = options.reply_bytes;
  node_options.max_bag_keys = options.max_bag_keys;
  node_options.num_reply_threads =
      std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2,
                 kMinReplyThreads, kMaxReplyThreads);
  // gRPC receives with as many threads as there are reply threads.
  const int num_contexts = node_options.num_reply_threads + kContextsForChunks;
  const int num_devices = static_cast<int>(node_options.devices.size());
  node_options.lookup_contexts_per_device = std::max(
      kMinContextsADevice, (num_contexts + num_devices - 1) / num_devices);
  absl::Status status = PlanTables(gpu_tables, &node_options);
  if (!status.ok()) return status;
  auto node =
      GpuNode::Create(RealCudaApi(), kernels::RealKernels(), node_options);
  if (!node.ok()) return node.status();
  return std::unique_ptr<GpuEngine>(new GpuEngine(*std::move(node)));
}

GpuEngine::GpuEngine(std::unique_ptr<GpuNode> node)
    : node_(std::move(node)),
      replies_(std::make_unique<PinnedPool>(node_->reply_memory().data(),
                                            node_->reply_memory().size(),
                                            std::pmr::new_delete_resource())) {}

GpuEngine::~GpuEngine() = default;

absl::StatusOr<std::unique_ptr<Table>> GpuEngine::MakeTable(
    const TableSpec& spec) {
  return IsOnGpu(spec) ? GpuTable::Create(*node_, spec) : CreateCpuTable(spec);
}

std::unique_ptr<Dispatcher> GpuEngine::MakeDispatcher() {
  return CreateGpuDispatcher(*node_, ThreadDispatcherOptions());
}

std::pmr::memory_resource* GpuEngine::reply_memory() { return replies_.get(); }

std::vector<std::string> GpuEngine::DescribeDevices() const {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : node_->preflight().devices) {
    lines.push_back(DescribeDevice(device) +
                    DescribePeers(node_->preflight(), device.id));
  }
  return lines;
}

std::vector<DeviceLink> GpuEngine::Links() const {
  std::vector<DeviceLink> links;
  for (const PeerCheck& peer : node_->preflight().peers) {
    links.push_back({Ordinal(peer.from), Ordinal(peer.to), peer.can_access,
                     peer.native_atomics, peer.problem});
  }
  return links;
}

std::vector<DeviceStats> GpuEngine::Stats() const {
  std::vector<DeviceStats> all;
  for (uint32_t i = 0; i < node_->num_devices(); ++i) {
    DeviceStats& stats = all.emplace_back();
    const DeviceId id = node_->id(DeviceIndex{i});
    stats.device = Ordinal(id);
    // A device that does not answer has no figures; lookups tell why.
    if (auto memory = QueryMemory(node_->api(), id); memory.ok()) {
      stats.free_bytes = memory->free_bytes;
      stats.used_bytes = memory->total_bytes - memory->free_bytes;
    }
    const RowReads reads = node_->lookups().row_reads(DeviceIndex{i});
    stats.rows_read_local = reads.local;
    stats.rows_read_remote = reads.remote;
  }
  return all;
}

}  // namespace gatherd
