/* exec_parts.h - what the files that execute share; nobody else includes it. */
#ifndef CONVLAB_SIMT_EXEC_PARTS_H
#define CONVLAB_SIMT_EXEC_PARTS_H

#include "common/simulator/core/kinds.h"
#include "common/simulator/exec/exec.h"

/* Handlers compiled for three instruction sets; all give the same bits. */
extern const Handler exec_base[], exec_avx2[], exec_avx512[];

/* What an instruction makes the host do, where that is far more than what most do, counts as so
 * many instructions: or a limit of them would be none. */
static inline void warp_charge(const Warp *warp, uint64_t instructions)
{
    warp->worker->budget.charged += instructions;
}

/* Products of a tensor core's instruction that count as one: a warp's multiplication has 32. */
enum { PRODUCTS_CHARGED = 256 };

/* vprintf, __assertfail, malloc and free; their arguments lie in local memory as the calling
 * convention left them. */
int device_printf(Warp *warp, const Ins *ins);
const Ins *device_assert(Warp *warp, const Ins *ins);
void device_malloc(Warp *warp, const Ins *ins);
int device_free(Warp *warp, const Ins *ins);

/* Texture and surface instructions. */
const Ins *texture_run(Warp *warp, const Ins *ins);
const Ins *texture_ask(Warp *warp, const Ins *ins); /* for its size; aux: which, b: of what level */

/* ---- calls.c: routines */
/* Room for more paths of the warp, if it has calls.  -1: there is none. */
int paths_grow(Warp *warp);
/* Saves registers, hands arguments over, and makes the new frame that of the warp's lanes.  -1: a
 * fault. */
int call_enter(Warp *warp, const Ins *ins);
/* Ends the latest call of some lanes of `left`, and hands results over; these lanes.  *back is
 * where they go on. */
uint32_t call_leave(Warp *warp, uint32_t left, uint32_t *back);
void calls_close(Warp *warp);
/* Of a card's stack, by the calls of any of these lanes. */
uint32_t stack_used(const Warp *warp, uint32_t lanes);

/* ---- stack.c: what alloca gives */
void stack_clear(Warp *warp);
int stack_take(Warp *warp, const Ins *ins); /* -1: a fault */

/* ---- poll_skip.c: loops that only look at the clock, or, where blocks run in the order of time
 * (interblock.h), at what others write */
/* The counts before a turn. */
typedef struct PollSnapshot {
    Counters counters;
    InsCount profile[LOOKING_MOST];
} PollSnapshot;

void poll_snapshot(const Warp *warp, const Ins *from, PollSnapshot *look);
/* The turn just made in vain took so many cycles: how many more the warp can make until others do
 * something. */
uint64_t polls_to_skip(const Warp *warp, const PollSnapshot *look, uint64_t cycles);
/* Makes the turn from `from` on so many times more. */
void polls_skip(Warp *warp, const Ins *from, const PollSnapshot *look, uint64_t cycles,
                uint64_t times);

/* ---- waits.c */
/* Lets a warp go on that rests at a wait whose phase is complete.  -1: a fault. */
int phase_look(Warp *warp);
/* Do all four warps of each warpgroup execute the same products?  Else tells of it. */
int warpgroups_agree(Worker *worker);

#endif
