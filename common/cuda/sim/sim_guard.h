/* sim_guard.h - does host code use managed memory that a kernel may still be using?
 *
 * The simulator has ended a launch before the host goes on, so a synchronisation that is missing
 * shows in no result.  Here pages of managed memory that launches used are taken from the program
 * until its host waits for something: whoever comes to one of them too early gets a signal, and
 * whoever handles that asks here. */
#ifndef CONVLAB_CUDA_SIM_GUARD_H
#define CONVLAB_CUDA_SIM_GUARD_H

#include "common/simulator/launch/simt.h"

typedef struct SimGuard {
    SimtTouch touch;   /* of the launches that nobody has waited for */
    uint32_t launches; /* how many those are */
    char kernel[96];   /* the last of them */
    int busy;          /* guard_enter */
} SimGuard;

/* A thread's handler asks while another thread's call changes what is allocated or guarded: each of
 * the two is alone between these.  A call holds them neither while kernels run, which may wait for
 * the host, nor where it could come to guarded memory itself. */
void guard_enter(SimGuard *guard);
void guard_leave(SimGuard *guard);

/* After a launch, whose `touch` stays the caller's.  Out of memory: nothing is guarded. */
void guard_raise(SimGuard *guard, const SimtGpu *gpu, const SimtTouch *touch, const char *kernel);

/* The program has all of its memory again. */
void guard_lower(SimGuard *guard, const SimtGpu *gpu);

/* In a handler of SIGSEGV: gives the page of the address back.  0: it is no managed memory.  `text`
 * says what is wrong with the access, "" if only the page's other words are in use. */
int guard_ask(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes);

#endif
