#include "server/cuda_backend.h"

#include <memory>
#include <utility>

#include "core/gpu/gpu_engine.h"

namespace gatherd {

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
  backend.device_stats = [engine] { return engine->Stats(); };
  return backend;
}

}  // namespace gatherd
