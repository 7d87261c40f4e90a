/* replay_frontend.c - a warp's next instruction.
 *
 * Folded instructions are skipped.  The next one waits for its operands (the scoreboard, or the
 * counters that an SASS instruction names) and for its code (the instruction cache). */
#include "common/simulator/timing/replay_sm.h"

/* A folded instruction hands its operands' times on. */
static void step_fold(WarpReplay *warp, const Ins *ins)
{
    Score last = {0, STALL_WAIT};
    for (int i = 0; i < 6; i++)
        if (ins->t_s[i] && warp->score[ins->t_s[i]].available > last.available)
            last = warp->score[ins->t_s[i]];
    if (ins->merge == MERGE_FOLLOWER) last = (Score){warp->vector_load, STALL_SHORT_SCOREBOARD};
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        warp->score[ins->t_d[i]] = last;
}

/* Either the completion time of the phase is known, or the warp waits for the outstanding
 * operations. */
static void phase_await(const Sm *sm, WarpReplay *warp, uint32_t number)
{
    const BlockSlot *slot = &sm->blocks.slot[warp->slot];
    const Phase *phase = &slot->phases.phase[number];
    warp->stall = STALL_MBARRIER;
    if (phase->left)
        warp->phase = (uint16_t)number;
    else
        warp->operands = phase->at;
}

static uint8_t gate_of(const Ins *ins, const InsCost *price)
{
    if (!is_memory(ins)) return price->pipe;
    if (ins->op == OP_TEXTURE) return GATE_TEXTURE;
    return is_shared(ins) ? GATE_SHARED : GATE_MEMORY;
}

/* A SASS instruction names the counters for which it waits, not the operands. */
static void sass_counters_wait(WarpReplay *warp, uint8_t waits)
{
    for (uint32_t i = 0; i < SASS_COUNTERS; i++) {
        const Score *r = &warp->counter[i];
        if (!(waits >> i & 1) || r->available <= warp->operands) continue;
        warp->operands = r->available, warp->stall = r->stall;
    }
}

/* Finds the conditions for which an instruction waits in addition to its operands, unless it is
 * simple. */
static void step_wait_other(const Sm *sm, WarpReplay *warp, const Ins *ins, const TraceStep *step)
{
    if (ins->op == OP_CP_WAIT) {
        warp->operands =
            ins->imm ? warp->copy_done : warp->copy_groups[ins->aux < 4 ? ins->aux : 3];
        warp->stall = STALL_LONG_SCOREBOARD;
    }
    if (mbarrier_waits(ins)) phase_await(sm, warp, step_phase(step));
    if (ins->op == OP_BULK_GROUP && ins->aux) {
        warp->operands = groups_done(ins->imm ? &warp->bulk_read : &warp->bulk_done, ins->aux - 1);
        warp->stall = STALL_LONG_SCOREBOARD;
    }
    if (ins->op == OP_WGMMA_WAIT) {
        warp->operands = groups_done(&warp->wgmma, ins->aux);
        warp->stall = STALL_GMMA;
    }
    sass_counters_wait(warp, sm->price[step->ins].waits);
}

/* Finds out when the warp's next step, which there is, could issue. */
static void step_wait(const Sm *sm, WarpReplay *warp, const TraceStep *step)
{
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    warp->entry->gate = gate_of(ins, price);
    if (!price->simple) step_wait_other(sm, warp, ins, step);
    for (int i = 0; i < 6; i++) {
        const Score *r = &warp->score[ins->t_s[i]];
        uint64_t at = r->available + (i == GUARD_SOURCE && r->available ? price->guarded : 0);
        if (!ins->t_s[i] || at <= warp->operands) continue;
        warp->operands = at, warp->stall = r->stall;
    }
}

/* Waits for the code block of the step, if the warp enters it only now. A warp's first instruction
 * is available: it starts later than other warps continue. */
static void code_wait(Sm *sm, WarpReplay *warp, uint32_t ins)
{
    uint32_t piece = sm->front.code_piece[ins];
    if (piece == warp->piece || piece == CODE_ANY || !warp->step) return;
    uint64_t at = code_arrival(&sm->front.code_cache, piece, warp->entry->last_issue);
    warp->piece = piece;
    if (at > warp->operands) warp->operands = at, warp->stall = STALL_WAIT;
}

/* Passes over folded instructions, to the next real one. */
void step_next(Sm *sm, WarpReplay *warp)
{
    enum { AHEAD = 16 }; /* steps prefetched for a warp */
    const WarpTrace *trace = warp->trace;
    while (warp->step < trace->count && !sm->price[trace->step[warp->step].ins].slots)
        step_fold(warp, &sm->code[trace->step[warp->step++].ins]);
    warp->operands = 0, warp->stall = STALL_WAIT, warp->entry->gate = PIPE_NONE;
    if (warp->step < trace->count) {
        __builtin_prefetch(&trace->step[warp->step] + AHEAD);
        step_wait(sm, warp, &trace->step[warp->step]);
        if (sm->front.code_piece) code_wait(sm, warp, trace->step[warp->step].ins);
    }
    ready_update(warp);
}
