// For loops that wait for another thread or a device.
#ifndef GATHERD_CORE_GPU_CPU_PAUSE_H_
#define GATHERD_CORE_GPU_CPU_PAUSE_H_

namespace gatherd {

// Leaves the core's resources to its other thread for a moment.
inline void CpuPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_CPU_PAUSE_H_
