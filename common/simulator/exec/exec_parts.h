/* exec_parts.h - shared declarations of the executor's sources; private to this folder. */
#ifndef CONVLAB_SIMT_EXEC_PARTS_H
#define CONVLAB_SIMT_EXEC_PARTS_H

#include "common/simulator/core/kinds.h"
#include "common/simulator/exec/exec.h"

/* Handlers compiled for three instruction sets; all give the same bits. */
extern const Handler exec_base[], exec_avx2[], exec_avx512[];

/* Charges additional instructions for an instruction that costs the host far more than most.
 * Without this charge, a limit on instructions would not bound the run time. */
static inline void warp_charge(const Warp *warp, uint64_t instructions)
{
    warp->worker->budget.charged += instructions;
}

/* Multiplications of a tensor core instruction that count as one instruction; a warp's ordinary
 * multiplication has 32. */
enum { PRODUCTS_CHARGED = 256 };

/* vprintf, __assertfail, malloc and free; the calling convention has placed their arguments in
 * local memory. */
int device_printf(Warp *warp, const Ins *ins);
const Ins *device_assert(Warp *warp, const Ins *ins);
void device_malloc(Warp *warp, const Ins *ins);
int device_free(Warp *warp, const Ins *ins);

/* Texture and surface instructions. */
const Ins *texture_run(Warp *warp, const Ins *ins);
const Ins *texture_ask(Warp *warp, const Ins *ins); /* for its size; aux: which, b: of what level */

/* ---- calls.c: routines */
/* Enlarges the warp's stack of paths, if it has calls. -1: out of memory. */
int paths_grow(Warp *warp);
/* Saves registers, hands arguments over, and makes the new frame that of the warp's lanes.  -1: a
 * fault. */
int call_enter(Warp *warp, const Ins *ins);
/* Ends the latest call of some lanes of `left`, and returns its results; returns these lanes. *back
 * is their return address. */
uint32_t call_leave(Warp *warp, uint32_t left, uint32_t *back);
void calls_close(Warp *warp);
/* Bytes of a GPU's stack that the calls of these lanes use, the maximum over the lanes. */
uint32_t stack_used(const Warp *warp, uint32_t lanes);

/* Each lane's stack of alloca is empty. */
void stack_clear(Warp *warp);
int stack_take(Warp *warp, const Ins *ins); /* -1: a fault */

/* ---- poll_skip.c: loops that only poll the clock or, if blocks run in time order (interblock.h),
 * words that other threads write */
/* The counters before an iteration. */
typedef struct PollSnapshot {
    Counters counters;
    InsCount profile[LOOKING_MOST];
} PollSnapshot;

void poll_snapshot(const Warp *warp, const Ins *from, PollSnapshot *look);
/* Number of further iterations that the warp can make until others act, if the failed poll just
 * made took `cycles`. */
uint64_t polls_to_skip(const Warp *warp, const PollSnapshot *look, uint64_t cycles);
/* Repeats the iteration that starts at `from` `times` times. */
void polls_skip(Warp *warp, const Ins *from, const PollSnapshot *look, uint64_t cycles,
                uint64_t times);

/* ---- waits.c */
/* Releases the warps of complete barriers of the block; true if any warp can run. */
int barriers_resolve(Block *block);
/* Resumes a warp that rests at a wait whose phase is complete. -1: a fault. */
int phase_poll(Warp *warp);
/* Do all four warps of each warpgroup execute the same MMAs? Otherwise reports it. */
int warpgroups_agree(Worker *worker);

#endif
