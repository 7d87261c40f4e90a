/* sim_guard.h - detection of host accesses to managed memory that a kernel may still use.
 *
 * In the simulator a launch has ended before the host continues, so a missing synchronisation
 * changes no result.  Therefore pages of managed memory that launches used are protected until the
 * host waits for a device operation.  An earlier access raises a signal, whose handler calls
 * guard_access. */
#ifndef CONVLAB_CUDA_SIM_GUARD_H
#define CONVLAB_CUDA_SIM_GUARD_H

#include "common/simulator/launch/simt.h"

typedef struct SimGuard {
    SimtTouch touch;   /* accesses of the launches for which the host has not waited */
    uint32_t launches; /* their number */
    char kernel[96];   /* name of the last of them */
    int has_copies;    /* Boolean: asynchronous copies are among them */
    int busy;          /* guard_enter */
} SimGuard;

/* Mutual exclusion between a thread's signal handler and another thread's call that changes
 * allocations or guards.  A call does not hold the lock while kernels run, which may wait for the
 * host, nor while it could access guarded memory itself. */
void guard_enter(SimGuard *guard);
void guard_leave(SimGuard *guard);

/* Called after a launch; the caller owns `touch`.  If memory is exhausted, nothing is guarded. */
void guard_raise(SimGuard *guard, const SimtGpu *gpu, const SimtTouch *touch, const char *kernel);

/* The same after an asynchronous copy from or to pinned memory. */
void guard_copy(SimGuard *guard, const SimtGpu *gpu, uint64_t address, uint64_t bytes, int writes);

/* Makes all memory accessible for a copy that the host does not wait for; guard_copy protects it
 * again. */
void guard_pause(SimGuard *guard, const SimtGpu *gpu);

/* Makes all memory accessible again. */
void guard_lower(SimGuard *guard, const SimtGpu *gpu);

/* In a handler of SIGSEGV: makes the page of the address accessible.  0: it is not managed memory.
 * `text` describes the error, "" if only other words of the page are in use. */
int guard_access(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes);

#endif
