#include "server/cuda_backend.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/gpu/gpu_engine.h"

namespace gatherd {

namespace {

// Of a block, for each GPU: as large as a step of a write, which takes longer
// to be copied than all else of it takes. Of many GPUs the host is the limit.
constexpr uint64_t kLoadBytesADevice = uint64_t{16} << 20;
constexpr uint64_t kMaxLoadDevices = 4;
// Rather than fewer threads smaller blocks, down to those of the CPU backend.
constexpr uint64_t kMinLoadThreads = 16;

}  // namespace

bool CudaIsBuilt() { return true; }

absl::StatusOr<Backend> CudaBackend(absl::Span<const int> devices,
                                    absl::Span<const CatalogTableSpec> tables,
                                    const ServerConfig& server) {
  GpuEngineOptions options;
  options.devices.assign(devices.begin(), devices.end());
  for (const CatalogTableSpec& table : tables) {
    options.tables.push_back(table.table);
  }
  options.reply_bytes = server.max_inflight_bytes;
  options.max_bag_keys = server.max_keys_per_request;
  auto created = GpuEngine::Create(options);
  if (!created.ok()) return created.status();

  const std::shared_ptr<GpuEngine> engine = *std::move(created);
  Backend backend;
  backend.name = "cuda";
  backend.devices = engine->DescribeDevices();
  backend.links = engine->Links();
  backend.engine = engine;
  backend.make_table = [engine](const TableSpec& spec) {
    return engine->MakeTable(spec);
  };
  backend.make_dispatcher = [engine] { return engine->MakeDispatcher(); };
  // Shares the ownership of the engine.
  backend.reply_memory = ReplyMemory(engine, engine->reply_memory());
  // The rest is for calls of tables that are loaded.
  backend.load.memory_bytes = options.reply_bytes / 2;
  backend.load.block_bytes = std::max(
      backend.load.block_bytes,
      std::min(kLoadBytesADevice *
                   std::min<uint64_t>(kMaxLoadDevices, backend.devices.size()),
               backend.load.memory_bytes / kMinLoadThreads));
  backend.load.memory = engine->reply_memory();
  backend.device_stats = [engine] { return engine->Stats(); };
  return backend;
}

}  // namespace gatherd
