// How the C library's heap treats the buffers of large messages.
#ifndef GATHERD_CORE_BASE_HEAP_H_
#define GATHERD_CORE_BASE_HEAP_H_

namespace gatherd {

// Keeps what is freed for what is allocated next. For main(), before threads.
//
// By default glibc maps a buffer above 128 KiB anew each time and unmaps it
// when it is freed, and gives back the end of its heaps; every page then faults
// in again for the next message. Without that the server answered 1.6 times as
// many lookups of 1 MiB, and a client spent a fifth of the CPU time on each
// (gatherbench --keys-per-call=4096 on two virtual cores). What is kept is
// bounded by what was in use at once; larger blocks, such as a table's rows,
// are still mapped and given back; ReturnFreedMemory gives back the rest.
void KeepFreedMessageMemory();

// Gives most of what is free back to the kernel: 54 to 100 % of what bursts of
// more than 100 MiB had added (replies of 4 and 15 MiB to 16 callers, two
// virtual cores). The free end of each thread's heap, up to 64 MiB, stays.
// Threads that allocate meanwhile wait.
void ReturnFreedMemory();

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_HEAP_H_
