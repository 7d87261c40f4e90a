/* sim_guard.h - detection of host accesses to managed memory that a kernel may still use.
 *
 * In the simulator a launch has ended before the host continues, so a missing synchronisation
 * changes no result.  Therefore pages of managed memory that launches used are protected until the
 * host waits for them.  An earlier access raises a signal, whose handler calls guard_access. */
#ifndef CONVLAB_CUDA_SIM_GUARD_H
#define CONVLAB_CUDA_SIM_GUARD_H

#include "common/cuda/sim/sim_order.h"
#include "common/simulator/launch/simt.h"

/* Operations that are waited for together, because no clock distinguishes them. */
typedef struct GuardedWork {
    SimtTouch touch; /* their accesses */
    OrderStamp stamp;
    uint32_t launches; /* their number */
    char kernel[96];   /* name of the last of them */
    int has_copies;    /* Boolean: asynchronous copies are among them */
    int is_left;       /* Boolean: the host has waited since, but not for them */
} GuardedWork;

/* More unfinished work is possible; then the oldest is no longer guarded. */
enum { GUARDED_WORKS = 16 };

typedef struct SimGuard {
    GuardedWork work[GUARDED_WORKS]; /* oldest first */
    uint32_t works;
    int is_paused;     /* Boolean: guard_pause */
    OrderStamp copied; /* the last copy that the host did not wait for */
    int busy;          /* guard_enter */
} SimGuard;

/* Mutual exclusion between a thread's signal handler and another thread's call that changes
 * allocations or guards.  A call does not hold the lock while kernels run, which may wait for the
 * host, nor while it could access guarded memory itself. */
void guard_enter(SimGuard *guard);
void guard_leave(SimGuard *guard);

/* Called after a launch; the caller owns `touch`.  If memory is exhausted, nothing is guarded. */
void guard_raise(SimGuard *guard, const SimtGpu *gpu, const SimtTouch *touch, const char *kernel,
                 OrderStamp stamp);

/* The same after the last asynchronous copy, from or to pinned memory. */
void guard_copy(SimGuard *guard, const SimtGpu *gpu, uint64_t address, uint64_t bytes, int writes);

/* Makes all memory accessible for a copy, until guard_resume or guard_copy. */
void guard_pause(SimGuard *guard, const SimtGpu *gpu);
void guard_resume(SimGuard *guard, const SimtGpu *gpu);

/* The host has waited for a part of the work: by the order's clock of the host, and unless `stream`
 * is NULL for what precedes the next operation on it.  Makes the memory of that part accessible. */
void guard_settle(SimGuard *guard, const SimtGpu *gpu, const StreamOrder *order,
                  const uint32_t *stream);

/* The host has waited for everything: makes all memory accessible. */
void guard_lower(SimGuard *guard, const SimtGpu *gpu);
void guard_close(SimGuard *guard);

/* In a handler of SIGSEGV: makes the page of the address accessible.  0: it is not managed memory.
 * `text` describes the error, "" if only other words of the page are in use. */
int guard_access(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes);

#endif
