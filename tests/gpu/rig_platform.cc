#include "tests/gpu/rig_platform.h"

#include <cstdio>
#include <cstdlib>

namespace gatherd::kernels {
namespace {

cudaStream_t NewStream() {
  cudaStream_t stream = nullptr;
  Check(Platform().cuda.cudaStreamCreateWithPriority(&stream,
                                                     cudaStreamNonBlocking, 0),
        "making a stream");
  return stream;
}

cudaStream_t CopyStream() {
  thread_local const cudaStream_t stream = NewStream();
  return stream;
}

}  // namespace

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what,
               Platform().cuda.cudaGetErrorString(error));
  std::exit(1);
}

Stream::Stream() : stream_(NewStream()) {}

void Copy(void* to, const void* from, uint64_t num_bytes) {
  const CudaApi& cuda = Platform().cuda;
  Check(cuda.cudaMemcpyAsync(to, from, num_bytes, cudaMemcpyDefault,
                             CopyStream()),
        "copying");
  Check(cuda.cudaStreamSynchronize(CopyStream()), "copying");
}

void Fill(void* to, int byte, uint64_t num_bytes) {
  const CudaApi& cuda = Platform().cuda;
  Check(cuda.cudaMemsetAsync(to, byte, num_bytes, CopyStream()), "filling");
  Check(cuda.cudaStreamSynchronize(CopyStream()), "filling");
}

}  // namespace gatherd::kernels
