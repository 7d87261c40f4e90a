/* exec_control.h - branches, reconvergence, barriers, and data exchange between the lanes of a
 * warp.
 *
 * Divergence uses the classic stack: at a divergent branch, the waiting lanes are pushed with the
 * reconvergence point, which is the branch's immediate post-dominator. The decoder has inserted a
 * JOIN there. */
#include "common/simulator/core/kinds.h"

ALWAYS const Ins *warp_stop(Warp *warp, WarpState state, const Ins *pc)
{
    warp->state = state;
    warp->pc = pc;
    return NULL;
}

/* Takes up the next waiting path that still has lanes. */
ALWAYS const Ins *path_next(Warp *warp)
{
    while (warp->depth) {
        const Path *path = &warp->stack[--warp->depth];
        uint32_t mask = path->mask & warp->alive;
        if (!mask) continue;
        warp->mask = mask;
        warp->rpc = path->rpc;
        warp->yield.awaited = path->waits;
        return warp->code + path->pc;
    }
    return warp_stop(warp, WARP_DONE, NULL);
}

ALWAYS int path_push(Warp *warp, const Ins *ins, uint32_t pc, uint32_t mask, uint32_t rpc)
{
    if (__builtin_expect(warp->depth == warp->stack_room, 0) && paths_grow(warp) != 0) {
        fault_at(warp, ins, SIMT_UNSUPPORTED, first_lane(mask), 0, 0,
                 "a warp's branches are nested more than %u deep, which is not supported",
                 warp->stack_room);
        return -1;
    }
    warp->stack[warp->depth++] = (Path){.pc = pc, .mask = mask, .rpc = rpc};
    return 0;
}

ALWAYS void branch_diverges(Warp *warp, const Ins *ins, uint32_t taken)
{
    warp->worker->profile[ins - warp->code].divergent++;
    if (warp->worker->watcher) access_log_add_branch(warp, ins, taken);
}

HANDLER(NOP)
{
    (void)warp;
    return ins + 1;
}

/* Accesses are in order here anyway: only racecheck hears of it. */
HANDLER(FENCE)
{
    warp->worker->race.is_fenced = 1;
    race_order_fence(warp->worker->launch, warp->block->number);
    return ins + 1;
}

HANDLER(BRA)
{
    return warp->code + ins->target;
}

__attribute__((noinline)) static const Ins *diverge(Warp *warp, const Ins *ins, uint32_t taken)
{
    uint32_t others = warp->mask & ~taken, rpc = ins->reconv,
             next = (uint32_t)(ins - warp->code) + 1;
    if (warp->count) {
        branch_diverges(warp, ins, taken);
        warp->step.kind = STEP_BRANCH, warp->step.is_divergent = 1;
    }
    if (rpc != warp->rpc) {
        /* All lanes of this path reconverge at rpc. */
        if (path_push(warp, ins, rpc, warp->mask, warp->rpc) != 0) return NULL;
        warp->rpc = rpc;
    }
    if (next == rpc) {
        warp->mask = taken;
        return warp->code + ins->target;
    }
    warp->mask = others;
    if (ins->target == rpc) return ins + 1;
    if (path_push(warp, ins, ins->target, taken, rpc) != 0) return NULL;
    return ins + 1;
}

HANDLER(BRA_P)
{
    uint32_t mask = warp->mask, p = PREDICATE(ins->guard);
    uint32_t taken = (ins->guard_negated ? ~p : p) & mask;
    if (taken == 0) return ins + 1;
    if (taken == mask) return warp->code + ins->target;
    return diverge(warp, ins, taken);
}

/* Lanes that wait in a loop yield to lanes of their warp that have left the loop or are on another
 * path, because the wait may be for those. All reconverge later, at the reconvergence point of the
 * surrounding path. */
ALWAYS const Ins *lanes_change(Warp *warp, const Ins *next)
{
    Path *top = &warp->stack[warp->depth - 1], mine;
    uint32_t others = top->mask & warp->alive & ~warp->mask;
    if (!others) return next;
    mine = (Path){.pc = (uint32_t)(next - warp->code), .mask = warp->mask, .rpc = top->rpc};
    next = warp->code + top->pc;
    warp->mask = others, warp->rpc = top->rpc, warp->yield.awaited = top->waits;
    *top = mine;
    warp->yield.has_switched = 1;
    return next;
}

/* Failed polls before other lanes of the warp run. */
enum { PATIENCE = 64, LONG_PATIENCE = 1024 };

/* Do other lanes wait for these at a reconvergence point? */
ALWAYS int lanes_are_awaited(const Warp *warp)
{
    if (!warp->depth) return 0;
    uint32_t met = warp->stack[warp->depth - 1].mask;
    return met & warp->mask && met & warp->alive & ~warp->mask;
}

/* The backward branch of a polling loop. If the loop only polls or retries, the lanes that wait to
 * reconverge with its lanes run at each backward branch. A GPU does so even if the branch is not
 * taken again (lock-1, ticket-1, locked-asleep-8, locked-lanes-2). */
HANDLER(YIELD)
{
    const Ins *next = ins->inner(warp, ins);
    if (!next) return next;
    int looks = ins->yields == YIELDS_LOOKING, tries = ins->yields == YIELDS_TRYING;
    if ((looks && warp->depth && !warp->yield.has_switched) ||
        ((looks || tries) && lanes_are_awaited(warp)))
        next = lanes_change(warp, next);
    if (next > ins) return next;
    warp->yield.iterations++;
    warp->yield.loop = (uint32_t)(ins - next);
    if (ins->yields == YIELDS_SOMETIMES) {
        if (warp->yield.iterations % LONG_PATIENCE) return next;
        warp->yield.is_paused = 1;
    }
    if (ins->yields == YIELDS_TIMED || ins->yields == YIELDS_CLOCKED) warp->yield.is_paused = 1;
    if (warp->depth && warp->yield.iterations % PATIENCE == 0) next = lanes_change(warp, next);
    return warp_stop(warp, WARP_READY, next);
}

/* A jump by table: imm targets from aux on; paths run one after the other. */
HANDLER(BRX)
{
    const uint32_t *table = warp->worker->kernel->table + ins->aux,
                   *index = REG(const uint32_t, ins->a);
    uint32_t left = warp->mask, rpc = ins->reconv, pushed = 0;
    FOR_ACTIVE(left)
    {
        if (index[i] >= (uint64_t)ins->imm)
            return fault_at(warp, ins, SIMT_TRAP, i, index[i], 0,
                            "brx.idx: index %u is outside the table of %lld targets", index[i],
                            (long long)ins->imm);
    }
    while (left) {
        uint32_t target = table[index[first_lane(left)]], same = 0;
        FOR_ACTIVE(left) same |= (uint32_t)(table[index[i]] == target) << i;
        if (same == warp->mask) return warp->code + target;
        if (!pushed && rpc != warp->rpc) {
            if (path_push(warp, ins, rpc, warp->mask, warp->rpc) != 0) return NULL;
            warp->rpc = rpc;
        }
        if (target != rpc && path_push(warp, ins, target, same, rpc) != 0) return NULL;
        pushed = 1;
        left &= ~same;
    }
    if (warp->count) branch_diverges(warp, ins, 0);
    return path_next(warp);
}

HANDLER(JOIN)
{
    if (warp->rpc != (uint32_t)(ins - warp->code)) return ins + 1;
    return path_next(warp);
}

/* The calling lanes reconverge after the call, each when it returns. */
HANDLER(CALL)
{
    uint32_t back = (uint32_t)(ins - warp->code) + 1;
    if (path_push(warp, ins, back, warp->mask, warp->rpc) != 0 || call_enter(warp, ins) != 0)
        return NULL;
    warp->rpc = back;
    return warp->code + warp->worker->kernel->calls.routine[ins->v[0]].entry;
}

/* Lanes that were called from several places continue there one after the other. */
HANDLER(RETURN)
{
    uint32_t left = warp->mask, back, same = call_leave(warp, left, &back);
    if (same == left) return back == warp->rpc ? path_next(warp) : warp->code + back;
    for (;; same = call_leave(warp, left, &back)) {
        if (back != warp->rpc && path_push(warp, ins, back, same, warp->rpc) != 0) return NULL;
        left &= ~same;
        if (!left) return path_next(warp);
    }
}

HANDLER(EXIT)
{
    uint32_t leaving = warp->mask;
    if (ins->guard != NO_SLOT) {
        uint32_t p = PREDICATE(ins->guard);
        leaving &= ins->guard_negated ? ~p : p;
    }
    warp->alive &= ~leaving;
    warp->mask &= ~leaving;
    return warp->mask ? ins + 1 : path_next(warp);
}

/* Runs the instruction only for the lanes whose guard holds. */
HANDLER(GUARDED)
{
    uint32_t mask = warp->mask, p = PREDICATE(ins->guard);
    uint32_t some = mask & (ins->guard_negated ? ~p : p);
    if (!some) return ins + 1;
    warp->mask = some;
    const Ins *next = ins->inner(warp, ins);
    warp->mask = mask;
    return next;
}

/* ---- barriers -------------------------------------------------------------------------------- */
/* Lanes that reach a barrier while others of their warp wait in a loop (lanes_change): they wait
 * for those to reach it too, and yield to them until then. */
ALWAYS int lanes_join(Warp *warp, const Ins *ins)
{
    uint32_t here = (uint32_t)(ins - warp->code);
    while (warp->yield.has_switched && warp->mask != warp->alive && warp->depth) {
        Path *top = &warp->stack[warp->depth - 1],
             mine = {here, warp->mask, warp->rpc, warp->alive & ~warp->mask};
        if (top->rpc != warp->rpc || top->mask & warp->mask) break;
        if (top->pc != here) {
            warp->mask = top->mask & warp->alive;
            warp->yield.awaited = top->waits;
            warp_stop(warp, WARP_READY, warp->code + top->pc);
            *top = mine;
            return 0;
        }
        warp->mask |= top->mask & warp->alive;
        warp->depth--;
    }
    return 1;
}

/* The lanes' stores to shared memory are now visible to each other. */
ALWAYS void lanes_synced(Warp *warp)
{
    warp->syncs++, warp->has_unsynced = 0;
}

/* Does the code at `pc` do nothing but end its lanes? */
static int leads_to_exit(const Warp *warp, uint32_t pc)
{
    enum { FAR = 16 };
    for (int i = 0; i < FAR; i++) {
        const Ins *ins = warp->code + pc;
        if (ins->op == OP_EXIT) return ins->guard == NO_SLOT;
        if (ins->op == OP_BRA)
            pc = ins->target;
        else if (ins->op == OP_JOIN || ins->op == OP_NOP)
            pc++;
        else
            return 0;
    }
    return 0;
}

/* With warnings: have the lanes that are not at the barrier returned from the kernel? Then they end
 * now, as on a GPU since Volta, whose barriers do not count them. */
__attribute__((noinline)) static int lanes_have_returned(Warp *warp, const Ins *ins)
{
    uint32_t left = warp->alive & ~warp->mask;
    if (!warp->worker->gpu->options.warns) return 0;
    for (uint32_t k = warp->depth; k-- > 0 && left;) {
        const Path *path = &warp->stack[k];
        if (!(path->mask & left)) continue;
        if (path->waits || !leads_to_exit(warp, path->pc)) return 0;
        left &= ~path->mask;
    }
    if (left) return 0;
    warning_add(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                "%d threads of this warp returned before this barrier. Since Volta a barrier does "
                "not count them, but CUDA defines __syncthreads() only if all threads of the block "
                "reach it: let them skip the work instead of returning",
                __builtin_popcount(warp->alive & ~warp->mask));
    warp->alive = warp->mask;
    return 1;
}

HANDLER(BAR)
{
    warp->yield.awaited = 0;
    if (__builtin_expect(!lanes_join(warp, ins), 0)) return NULL;
    uint32_t id = REG(uint32_t, ins->a)[first_lane(warp->mask)];
    uint32_t lane = first_lane(warp->mask);
    if (warp->mask != warp->alive && !lanes_have_returned(warp, ins))
        return fault_at(
            warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
            "Barrier error: divergent threads in a warp: %d of its %d threads are at the barrier",
            __builtin_popcount(warp->mask), __builtin_popcount(warp->alive));
    if (id >= MAX_BARRIERS)
        return fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0, "Barrier error: barrier %u of %d",
                        id, MAX_BARRIERS);
    uint32_t wanted = ins->b == NO_SLOT ? 0 : REG(uint32_t, ins->b)[lane];
    if (ins->b != NO_SLOT && (wanted == 0 || wanted % LANES || wanted > LANES * MAX_WARPS))
        return fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                        "Barrier error: a count of %u threads is no multiple of the warp size",
                        wanted);
    warp->barrier.threads = wanted;
    if (wanted) {
        warp->step.kind = STEP_BARRIER;
        warp->step.barrier = (id + 1) | wanted / LANES << BARRIER_WARPS_SHIFT;
    }
    warp->barrier.id = id;
    warp->barrier.ins = ins;
    lanes_synced(warp);
    if (warp->count) warp->worker->counters.barriers++;
    return warp_stop(warp, WARP_BARRIER, ins + 1);
}

/* The usual case: all active lanes name exactly each other. */
ALWAYS int members_agree(const Warp *warp, const uint32_t *members)
{
    uint32_t differ = 0;
    FOR_LANES differ |= warp->mask & BIT32[i] ? members[i] ^ warp->mask : 0;
    return !differ;
}

/* Runs BODY with `mask` the lanes of one group after the other, when lanes_meet found all here. */
#define FOR_GROUPS(members)                                                                        \
    for (uint32_t left_ = warp->mask, whole_ = (uint32_t)members_agree(warp, members), mask;       \
         left_ && (mask = whole_ ? warp->mask                                                      \
                                 : group_of(warp, members, (members)[first_lane(left_)])) != 0;    \
         left_ &= ~mask)

/* ---- warp collectives --------------------------------------------------------------------- */
ALWAYS uint32_t shuffle_source(int mode, uint32_t lane, uint32_t b, uint32_t c, int *valid)
{
    uint32_t clamp = c & 31, segment = c >> 8 & 31, low = lane & segment,
             high = low | (clamp & ~segment), j;
    b &= 31;
    switch (mode) {
    case SHFL_UP:
        j = lane - b;
        *valid = (int32_t)j >= (int32_t)high;
        break;
    case SHFL_DOWN:
        j = lane + b;
        *valid = j <= high;
        break;
    case SHFL_BFLY:
        j = lane ^ b;
        *valid = j <= high;
        break;
    default:
        j = low | (b & ~segment);
        *valid = j <= high;
    }
    return *valid ? j : lane;
}

/* Two values of redux.sync. */
ALWAYS uint32_t reduced(uint32_t how, uint32_t r, uint32_t x)
{
    switch (how) {
    case REDUX_ADD:
        return r + x;
    case REDUX_MIN_U:
        return x < r ? x : r;
    case REDUX_MAX_U:
        return x > r ? x : r;
    case REDUX_MIN_S:
        return (int32_t)x < (int32_t)r ? x : r;
    case REDUX_MAX_S:
        return (int32_t)x > (int32_t)r ? x : r;
    case REDUX_AND:
        return r & x;
    case REDUX_OR:
        return r | x;
    default:
        return r ^ x;
    }
}

#include "common/simulator/exec/warp_sync.h"

/* Continues only if all named lanes are here; otherwise the lanes wait, or have been handled with
 * others. */
#define MEET(members)                                                                              \
    do {                                                                                           \
        const Ins *elsewhere_;                                                                     \
        if (!members_agree(warp, members) && lanes_meet(warp, ins, members, &elsewhere_))          \
            return elsewhere_;                                                                     \
        lanes_synced(warp);                                                                        \
    } while (0)

HANDLER(WARPSYNC)
{
    MEET(REG(uint32_t, ins->a));
    return ins + 1;
}

HANDLER(SHFL)
{
    const uint32_t *members = REG(uint32_t, ins->v[0]);
    uint32_t t[LANES], valid_mask = 0, strange = 0;
    MEET(members);
    memcpy(t, REG(uint32_t, ins->d == NO_SLOT ? ins->a : ins->d), sizeof t);
    FOR_ACTIVE(warp->mask)
    {
        int valid;
        uint32_t j = shuffle_source((int)ins->aux, i, REG(uint32_t, ins->b)[i],
                                    REG(uint32_t, ins->c)[i], &valid) &
                     31;
        t[i] = REG(uint32_t, ins->a)[j];
        valid_mask |= (uint32_t)valid << i;
        strange |= (~(members[i] & warp->mask) >> j & 1) << i;
    }
    if (__builtin_expect(strange & valid_mask, 0))
        shuffle_strange(warp, ins, warp->mask, strange & valid_mask, t);
    if (ins->v[1] != NO_SLOT) {
        uint32_t *q = &PREDICATE(ins->v[1]);
        *q = (*q & ~warp->mask) | valid_mask;
    }
    if (ins->d != NO_SLOT) memcpy(REG(uint32_t, ins->d), t, sizeof t);
    return ins + 1;
}

/* vote.sync; v[0]: members. */
HANDLER(VOTE)
{
    uint32_t t[LANES] = {0}, result = 0;
    uint32_t votes = PREDICATE(ins->a) ^ (ins->imm ? FULL_MASK : 0);
    MEET(REG(uint32_t, ins->v[0]));
    FOR_GROUPS(REG(uint32_t, ins->v[0]))
    {
        uint32_t yes = votes & mask;
        int holds = ins->aux == VOTE_ALL   ? yes == mask
                    : ins->aux == VOTE_ANY ? yes != 0
                                           : yes == 0 || yes == mask;
        result |= holds ? mask : 0;
        FOR_ACTIVE(mask) t[i] = yes;
    }
    if (ins->aux == VOTE_BALLOT) {
        FINISH_32(t);
    }
    uint32_t *d = &PREDICATE(ins->d);
    *d = (*d & ~warp->mask) | result;
    return ins + 1;
}

HANDLER(ACTIVEMASK)
{
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = warp->mask;
    FINISH_32(t);
}

/* match.any (aux 0) and match.all (aux 1); bytes: of the value; v[0]: members, v[1]: predicate of
 * match.all.  Its passes: the different values. */
HANDLER(MATCH)
{
    uint32_t t[LANES] = {0}, alike = 0, values = 0;
    MEET(REG(uint32_t, ins->v[0]));
    FOR_GROUPS(REG(uint32_t, ins->v[0]))
    {
        uint32_t all = mask;
        FOR_ACTIVE(mask)
        {
            uint32_t same = 0;
            for (uint32_t j = 0; j < LANES; j++) {
                int equal = ins->bytes == 8 ? REG(uint64_t, ins->a)[i] == REG(uint64_t, ins->a)[j]
                                            : REG(uint32_t, ins->a)[i] == REG(uint32_t, ins->a)[j];
                same |= (uint32_t)equal << j;
            }
            t[i] = same & mask;
            values += first_lane(t[i]) == i;
            all &= same;
        }
        if (!ins->aux) continue;
        FOR_ACTIVE(mask) t[i] = all == mask ? mask : 0;
        alike |= all == mask ? mask : 0;
    }
    if (ins->aux && ins->v[1] != NO_SLOT) {
        uint32_t *q = &PREDICATE(ins->v[1]);
        *q = (*q & ~warp->mask) | alike;
    }
    warp->step.kind = STEP_MATCH, warp->step.values = ins->aux ? 1 : values;
    FINISH_32(t);
}

HANDLER(REDUX)
{
    uint32_t t[LANES] = {0};
    MEET(REG(uint32_t, ins->v[0]));
    FOR_GROUPS(REG(uint32_t, ins->v[0]))
    {
        uint32_t r = REG(uint32_t, ins->a)[first_lane(mask)];
        FOR_ACTIVE(mask & (mask - 1)) r = reduced(ins->aux, r, REG(uint32_t, ins->a)[i]);
        FOR_ACTIVE(mask) t[i] = r;
    }
    FINISH_32(t);
}

/* ---- the rest ----------------------------------------------------------------------------- */
HANDLER(TEXTURE)
{
    return texture_run(warp, ins);
}

HANDLER(TEXTURE_QUERY)
{
    return texture_ask(warp, ins);
}

HANDLER(TRAP)
{
    static const char *const WHY[] = {
        [TRAP_PLAIN] = "trap: __trap(), or code that nvcc generates for an impossible path, "
                       "for example after an index outside of an array",
        [TRAP_BREAK] = "brkpt",
        [TRAP_NO_FUNCTION] = "Invalid program counter: an indirect call whose target is no "
                             "function of this module with these parameter sizes"};
    SimtCheck check = ins->aux == TRAP_NO_FUNCTION ? SIMT_MEMCHECK : SIMT_TRAP;
    const Launch *launch = warp->worker->launch;
    if (ins->aux == TRAP_PLAIN && warp->worker->kernel->traits.reads_grid_barrier &&
        !launch->grid_barrier)
        return fault_at(warp, ins, check, first_lane(warp->mask), 0, 0,
                        "trap: the kernel synchronises its grid (grid.sync()), but this launch is "
                        "not cooperative: launch it with cudaLaunchCooperativeKernel");
    return fault_at(warp, ins, check, first_lane(warp->mask), 0, 0, "%s", WHY[ins->aux]);
}

/* Does the warp read a clock that only has to advance? */
ALWAYS int has_even_clock(const Warp *warp)
{
    return !warp->count || warp->worker->gpu->options.untrusted;
}

/* A warp whose lanes request different times is reported for one after the other, and does not
 * sleep. */
HANDLER(NANOSLEEP)
{
    const uint32_t *time = REG(uint32_t, ins->a);
    uint32_t asked = time[first_lane(warp->mask)], times = 0;
    for (uint32_t left = warp->mask; left; times++)
        left &= ~group_of(warp, time, time[first_lane(left)]);
    warp->step.kind = STEP_SLEEP, warp->step.sleeps = times;
    warp->step.sleep_cycles = times == 1 ? sleep_period(&warp->worker->gpu->machine, asked) : 0;
    if (has_even_clock(warp))
        warp->clock = sleep_end(&warp->worker->gpu->machine, warp->clock, warp->step.sleep_cycles);
    return ins + 1;
}

/* In a functional run, the clock only has to advance. A warp that has polled the clock without
 * success waits for it. */
HANDLER(CLOCK)
{
    enum { EACH = 16 };
    const SimtMachine *machine = &warp->worker->gpu->machine;
    uint64_t now = has_even_clock(warp) ? (warp->clock += EACH) : critical_now(warp);
    if (ins->aux & CLOCK_NANOSECONDS) now = timer_shows(machine, now);
    if (ins->aux & CLOCK_UPPER) now >>= 32;
    warp->step.kind = STEP_WAIT;
    warp->step.wait_cycles = warp->interblock.poll_cycles < UINT32_MAX
                                 ? (uint32_t)warp->interblock.poll_cycles
                                 : UINT32_MAX;
    warp->interblock.poll_cycles = 0;
    if (ins->bytes == 8) {
        uint64_t t[LANES];
        for (int i = 0; i < LANES; i++)
            t[i] = now;
        FINISH_64(t);
    }
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = (uint32_t)now;
    FINISH_32(t);
}

HANDLER(ACCELERATOR)
{
    accelerator_start(warp, ins);
    return ins + 1;
}

HANDLER(PRINTF)
{
    return device_printf(warp, ins) == 0 ? ins + 1 : NULL;
}

HANDLER(ASSERTFAIL)
{
    return device_assert(warp, ins);
}

HANDLER(ALLOCA)
{
    return stack_take(warp, ins) == 0 ? ins + 1 : NULL;
}

HANDLER(MALLOC)
{
    device_malloc(warp, ins);
    return ins + 1;
}

HANDLER(FREE)
{
    return device_free(warp, ins) == 0 ? ins + 1 : NULL;
}
