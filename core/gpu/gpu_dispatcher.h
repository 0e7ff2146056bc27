// The dispatcher of the CUDA backend: lookups of GPU tables go to the node's
// engine, writes and lookups of tables in host memory to threads.
#ifndef GATHERD_CORE_GPU_GPU_DISPATCHER_H_
#define GATHERD_CORE_GPU_GPU_DISPATCHER_H_

#include <memory>

#include "core/exec/dispatcher.h"
#include "core/gpu/gpu_node.h"

namespace gatherd {

// The node outlives the dispatcher. `options`: of the threads.
std::unique_ptr<Dispatcher> CreateGpuDispatcher(
    GpuNode& node, const ThreadDispatcherOptions& options);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_GPU_DISPATCHER_H_
