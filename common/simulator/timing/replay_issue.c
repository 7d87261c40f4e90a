/* replay_issue.c - schedulers of the replayed SM: which warp issues next, and what an instruction
 * occupies. */
#include "common/simulator/timing/replay_sm.h"

#include <string.h>

#include "common/simulator/core/async.h"

/* The warp is of the newest block, and of that no place before it is free. */
void ready_add(Sm *sm, uint32_t number, uint64_t begin)
{
    uint32_t scheduler = number % sm->schedulers;
    ReadyWarp *entry = sm->issue.ready + sm->issue.first[scheduler] + sm->issue.count[scheduler]++;
    *entry = (ReadyWarp){
        .ready_at = NEVER, .last_issue = begin, .block = sm->blocks.started, .warp = number};
    sm->warp[number].entry = entry;
}

/* Moves an entry after those that follow it, as long as these are of `block`; NO_WARP: of any. */
static ReadyWarp *ready_move(Sm *sm, ReadyWarp *entry, uint32_t block)
{
    uint32_t scheduler = entry->warp % sm->schedulers;
    const ReadyWarp *last =
        sm->issue.ready + sm->issue.first[scheduler] + sm->issue.count[scheduler] - 1;
    ReadyWarp moved = *entry;
    for (; entry < last && (block == NO_WARP || entry[1].block == block); entry++) {
        entry[0] = entry[1];
        sm->warp[entry->warp].entry = entry;
    }
    *entry = moved;
    sm->warp[moved.warp].entry = entry;
    return entry;
}

/* The scheduler rotates among the warps of a block: this one is the last of them now. */
static void ready_issued(Sm *sm, ReadyWarp *entry, uint64_t issued)
{
    entry = ready_move(sm, entry, entry->block);
    entry->last_issue = issued;
}

void ready_remove(Sm *sm, ReadyWarp *entry)
{
    ready_move(sm, entry, NO_WARP);
    sm->issue.count[entry->warp % sm->schedulers]--;
}

/* Time until which an asynchronous instruction blocks its warp, which reached it at `from`: a
 * wait's own time overlaps with the time for which it waits. */
static uint64_t async_holds(const Sm *sm, const Ins *ins, uint64_t from, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    if (ins->op == OP_BULK_COPY)
        return now + 1 +
               (ins->class == CLASS_STORE ? costs->bulk_store_issue_cycles
                                          : costs->bulk_issue_cycles);
    if (ins->op != OP_MBARRIER) return 0;
    return mbarrier_waits(ins) ? from + 1 + costs->wait_issue_cycles
                               : now + 1 + costs->arrive_issue_cycles;
}

/* Books cycles of a warp that waits on the instruction `ins`, in the table and on the timeline. */
static void stall_add(Sm *sm, const WarpReplay *warp, uint32_t origin, SimtStall stall,
                      uint64_t from, uint64_t to)
{
    if (to <= from) return;
    sm->issue.stall[(size_t)origin * SIMT_STALLS + stall] += to - from;
    timeline_add(sm, warp, sm->launch->kernel->code[origin].from, stall, from, to);
}

static SimtStall pipe_stall(const Ins *ins, const InsCost *price)
{
    if (is_memory(ins)) return is_shared(ins) ? STALL_MIO_THROTTLE : STALL_LG_THROTTLE;
    return price->pipe == PIPE_TENSOR ? STALL_TENSOR_PIPE : STALL_MATH_PIPE;
}

/* Books the cycles since the warp's last instruction on the one that waited; those at a barrier
 * first, and on the barrier. */
static void stalls_book(Sm *sm, const WarpReplay *warp, uint32_t ins, uint64_t pipe, uint64_t now)
{
    const uint32_t origin = sm->price[ins].origin;
    uint64_t from = warp->entry->last_issue + 1;
    if (!sm->issue.stall) return;
    if (warp->barrier_ins && warp->next_issue > from) {
        uint64_t released = warp->next_issue < now ? warp->next_issue : now;
        stall_add(sm, warp, warp->barrier_ins - 1, STALL_BARRIER, from, released);
        from = released;
    }
    uint64_t operands = max64(warp->operands, from), pipes = max64(pipe, operands);
    if (operands > now) operands = now;
    if (pipes > now) pipes = now;
    uint64_t control =
        max64(warp->next_issue, from) > operands ? max64(warp->next_issue, from) : operands;
    if (control > now) control = now;
    uint64_t busy = max64(pipes, control);
    stall_add(sm, warp, origin, (SimtStall)warp->stall, from, operands);
    stall_add(sm, warp, origin, STALL_WAIT, operands, control);
    stall_add(sm, warp, origin, pipe_stall(&sm->code[ins], &sm->price[ins]), control, busy);
    stall_add(sm, warp, origin, STALL_NOT_SELECTED, busy, now);
    stall_add(sm, warp, origin, STALL_SELECTED, now, now + 1);
}

static void counter_raise(WarpReplay *warp, uint8_t number, uint64_t at, uint8_t wait)
{
    if (number && at > warp->counter[number - 1].available)
        warp->counter[number - 1] = (Score){at, wait};
}

/* Time for which a branch of the PTX blocks its warp; if lanes diverge, one path waits for the
 * other. */
static uint64_t branch_holds(const Sm *sm, const Ins *ins, const TraceStep *step)
{
    const MachineCosts *costs = &sm->machine->costs;
    if (ins->class != CLASS_BRANCH) return 0;
    return costs->branch_cycles + (step_is_divergent(step) ? costs->divergence_cycles : 0);
}

/* Time for which the warp's next instruction waits for this one in addition to `busy` cycles. */
static uint64_t warp_holds(const Sm *sm, const WarpReplay *warp, const Ins *ins,
                           const InsCost *price, uint64_t busy)
{
    const TraceStep *step = &warp->trace->step[warp->step];
    int is_last = warp->step + 1 >= warp->trace->count;
    if (!price->follows) return branch_holds(sm, ins, step);
    int passed = !is_last && step[1].ins == step->ins + 1; /* a branch that is not taken */
    uint64_t holds = ins->class == CLASS_BRANCH && !passed ? sm->machine->costs.branch_cycles : 0;
    return price->stall > busy + holds ? price->stall - busy : holds;
}

/* Cycles until the scheduler's next instruction. A bank of registers delivers one register per
 * cycle, and instructions may issue while at most two cycles of that are outstanding. */
static uint64_t issue_holds(Sm *sm, uint32_t scheduler, const InsCost *price, uint64_t now)
{
    const uint64_t backlog = sm->machine->costs.register_bank_backlog;
    uint64_t next = now + (uint64_t)price->slots * sm->machine->issue_cycles;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t *bank = &sm->issue.bank[2 * scheduler + i];
        if (price->fetches[i]) *bank = max64(*bank, now) + price->fetches[i];
        next = max64(next, *bank > backlog ? *bank - backlog : 0);
    }
    return next - now;
}

/* FP32 instructions alternate between two half-width pipes, each of which takes two cycles; the
 * first one also computes integer multiplications. */
static void pipe_take(Sm *sm, uint32_t scheduler, const InsCost *price, uint64_t busy, uint64_t now)
{
    enum { FIRST, SECOND };
    uint64_t *gate = &sm->issue.gate[(size_t)scheduler * GATES];
    uint8_t *half = &sm->issue.fp32_half[scheduler];
    gate[price->pipe] = now + busy;
    if (price->pipe == PIPE_IMAD) *half = SECOND;
    if (price->pipe != PIPE_FP32) return;
    if (*half == FIRST) gate[PIPE_IMAD] = now + sm->machine->costs.fp32_half_cycles;
    *half = !*half;
}

/* Constant memory delivers one word after the other; without active lanes it takes as long as for
 * one. Contending schedulers are served round-robin. */
static void constants_take(Sm *sm, uint32_t scheduler, const InsCost *price, const TraceStep *step,
                           uint64_t now)
{
    uint64_t passes = step_passes(step), busy = passes > price->busy ? passes : price->busy;
    for (uint32_t s = 0; s < sm->schedulers; s++)
        sm->issue.gate[(size_t)s * GATES + PIPE_CONSTANT] =
            now + busy + (s + sm->schedulers - scheduler - 1) % sm->schedulers;
}

/* The stall of an instruction that waits for this one's result. */
static uint8_t result_stall(const Ins *ins, const InsCost *price)
{
    if (mbarrier_waits(ins)) return STALL_MBARRIER;
    return ins->class == CLASS_TENSOR && price->wait == STALL_WAIT ? STALL_GMMA : price->wait;
}

static void scores_set(WarpReplay *warp, const Ins *ins, const InsCost *price, uint64_t at)
{
    const uint8_t stall = result_stall(ins, price);
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        warp->score[ins->t_d[i]] = (Score){at, stall};
}

/* An instruction that only takes operands and makes a result, as nearly all do. */
static void issue_simply(Sm *sm, uint32_t scheduler, WarpReplay *warp, uint64_t busy, uint64_t now)
{
    const TraceStep *step = &warp->trace->step[warp->step];
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    uint64_t at = now + price->latency;
    if (is_memory(ins)) {
        at = memory_issue(sm, warp, ins, step, now);
        if (ins->class == CLASS_STORE) sm->issue.next_store = (scheduler + 1) % sm->schedulers;
        memory_gates(sm);
    } else if (price->pipe) {
        pipe_take(sm, scheduler, price, price->busy, now);
    }
    scores_set(warp, ins, price, at);
    warp->barrier_ins = 0;
    warp->next_issue = now + busy + branch_holds(sm, ins, step);
    warp->step++;
}

/* Each scheduler puts one warp to sleep after the other. */
static uint64_t sleep_issue(Sm *sm, uint32_t scheduler, const TraceStep *step, uint64_t now)
{
    uint64_t *asleep = &sm->issue.sleep_unit[scheduler];
    *asleep = max64(*asleep, now) + (uint64_t)sm->machine->costs.sleep_cycles * step_sleeps(step);
    return sleep_end(sm->machine, *asleep, step_sleep_cycles(step));
}

static void issue_other(Sm *sm, uint32_t scheduler, uint32_t number, uint64_t busy, uint64_t now)
{
    WarpReplay *warp = &sm->warp[number];
    const TraceStep *step = &warp->trace->step[warp->step];
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    const MachineCosts *costs = &sm->machine->costs;
    uint32_t values = ins->op == OP_MATCH ? step_values(step) : 0;
    int is_slow_path = may_be_rare(ins) && step_is_slow_path(step);
    uint64_t compares = match_cycles(ins, values, price),
             at = now + price->latency + match_later(costs, ins, values),
             held = async_holds(sm, ins, warp->next_issue, now);
    if (mbarrier_waits(ins))
        at = max64(at, warp->next_issue + costs->wait_cycles);
    else if (ins->op == OP_BULK_COPY || ins->op == OP_VALUES_SEND || ins->op == OP_MBARRIER)
        at = async_issue(sm, number, ins, step, now);
    else if (is_memory(ins))
        at = memory_issue(sm, warp, ins, step, now);
    else if (price->pipe == PIPE_CONSTANT)
        constants_take(sm, scheduler, price, step, now);
    else if (price->pipe)
        pipe_take(sm, scheduler, price, compares ? compares : price->busy, now);
    if (ins->op == OP_CLOCK) at += step_wait_cycles(step);
    if (ins->space == PTX_CONST && step_first_line(step)) {
        uint64_t arrival = constants_arrival(sm, warp, step, now);
        at = max64(at, arrival);
        if (price->follows && !price->made) held = max64(held, arrival); /* no counter */
    }
    uint64_t release = release_cycles(ins, &warp->fence, costs),
             rare = rare_cycles(costs, ins, is_slow_path);
    sm->issue.scheduler_free[scheduler] += rare_slots(costs, ins, is_slow_path);
    held = max64(held, rare ? now + rare : 0);
    at += release + rare;
    if (ins->op == OP_TEXTURE) sm->mem.texture_scheduler = scheduler;
    if (ins->class == CLASS_STORE) sm->issue.next_store = (scheduler + 1) % sm->schedulers;
    if (is_memory(ins)) memory_gates(sm);
    if (price->follows) {
        counter_raise(warp, price->made, is_shared(ins) ? at - costs->sass_shared_sooner : at,
                      price->wait);
        counter_raise(warp, price->read,
                      max64(sm->mem.lsu_free, now + costs->sass_operand_read_cycles),
                      STALL_SHORT_SCOREBOARD);
    }
    scores_set(warp, ins, price, at);
    if (ins->op == OP_WGMMA) warp->wgmma.latest = max64(warp->wgmma.latest, at);
    if (ins->op == OP_BULK_COPY && ins->class == CLASS_STORE) {
        uint64_t read = sm->mem.bulk_free / TICKS; /* before the bytes are in flight */
        warp->bulk_done.latest = max64(warp->bulk_done.latest, at);
        warp->bulk_read.latest = max64(warp->bulk_read.latest, read);
    }
    if (ins->op == OP_WGMMA_COMMIT) groups_commit(&warp->wgmma);
    if (ins->op == OP_BULK_GROUP && !ins->aux)
        groups_commit(&warp->bulk_read), groups_commit(&warp->bulk_done);
    if (ins->op == OP_CP_ASYNC) warp->copy_done = max64(warp->copy_done, at);
    if (ins->op == OP_CP_COMMIT) {
        memmove(warp->copy_groups + 1, warp->copy_groups, 3 * sizeof *warp->copy_groups);
        warp->copy_groups[0] = warp->copy_done;
    }
    if (ins->merge && ins->merge != MERGE_FOLLOWER) warp->vector_load = at;
    int barrier = ins->op == OP_BAR || ins->op == OP_CLUSTER_BARRIER;
    warp->barrier_ins = barrier ? price->origin + 1 : 0;
    warp->next_issue = now + busy + warp_holds(sm, warp, ins, price, busy) + release;
    fence_delay(&warp->fence, costs, ins);
    if (ins->op == OP_FENCE && sm->launch->interblock.queue)
        warp->next_issue += step_wait_cycles(step), warp->fence = 0;
    else if (ins->op == OP_FENCE)
        warp->next_issue += fence_cycles(&warp->fence, costs);
    if (invalidates_l1(ins)) l1_invalidate(&sm->mem.l1);
    if (ins->op == OP_ACCELERATOR) warp->next_issue += step_unit_cycles(step);
    if (ins->op == OP_NANOSLEEP)
        warp->next_issue = sleep_issue(sm, scheduler, step, warp->next_issue);
    warp->next_issue = max64(warp->next_issue, held);
    if (ins->shared_atomic == SHARED_RETRIES)
        warp->next_issue +=
            (uint64_t)step_passes(step) / costs->retry_passes * costs->retry_own_cycles;
    warp->step++;
    if (barrier) barrier_issue(sm, number, ins, step, now);
    if (ins->op == OP_DEPENDENTS) dependents_issue(sm, number, ins, now);
}

static void issue(Sm *sm, uint32_t scheduler, uint32_t number, uint64_t now)
{
    WarpReplay *warp = &sm->warp[number];
    uint32_t ins = warp->trace->step[warp->step].ins;
    const InsCost *price = &sm->price[ins];
    stalls_book(sm, warp, ins, sm->issue.gate[scheduler * GATES + warp->entry->gate], now);
    clock_rise(sm, now);
    if (price->slows) clock_fall(sm, now);
    uint64_t busy = issue_holds(sm, scheduler, price, now);
    sm->issue.scheduler_free[scheduler] = now + busy;
    ready_issued(sm, warp->entry, now + busy - 1);
    if (price->simple)
        issue_simply(sm, scheduler, warp, busy, now);
    else
        issue_other(sm, scheduler, number, busy, now);
    step_next(sm, warp);
    if (warp->step >= warp->trace->count && !warp->barrier)
        warp_finish(sm, number, max64(now + 1, warp->next_issue));
}

static uint64_t issue_time(const Sm *sm, uint32_t scheduler, const ReadyWarp *entry)
{
    return max64(max64(entry->ready_at, sm->issue.scheduler_free[scheduler]),
                 sm->issue.gate[scheduler * GATES + entry->gate]);
}

/* The warp of this scheduler that can issue first, and when; of several the first in its order.
 * No processor foresees which, so there is no branch to foresee. */
static uint32_t scheduler_choose(const Sm *sm, uint32_t scheduler, uint64_t *when)
{
    enum { BITS = 8 }; /* bits for an entry's number, below the time */
    const ReadyWarp *entry = sm->issue.ready + sm->issue.first[scheduler];
    const uint64_t *gate = sm->issue.gate + (size_t)scheduler * GATES;
    uint64_t from = sm->issue.scheduler_free[scheduler], none = NEVER << BITS, best = none;
    for (uint32_t i = 0; i < sm->issue.count[scheduler]; i++) {
        uint64_t at = max64(max64(entry[i].ready_at, gate[entry[i].gate]), from),
                 key = at << BITS | i;
        best = key < best ? key : best;
    }
    *when = best == none ? NEVER : best >> BITS;
    return best == none ? NO_WARP : entry[best & ((1u << BITS) - 1)].warp;
}

/* Is a store of this warp next, that waits in the L1?  Not what is spilled. */
static int stores_next(const Sm *sm, uint32_t number)
{
    const WarpReplay *warp = &sm->warp[number];
    if (number == NO_WARP || warp->entry->gate != GATE_MEMORY) return 0;
    if (warp->step >= warp->trace->count) return 0;
    const Ins *ins = &sm->code[warp->trace->step[warp->step].ins];
    return ins->class == CLASS_STORE && ins->op != OP_SPILL;
}

/* Returns, of the schedulers that can store at the same time as this one, the first after the one
 * that stored last: stores are arbitrated round-robin. */
static uint32_t store_round_robin(const Sm *sm, const uint32_t *who, const uint64_t *when,
                                  uint32_t next)
{
    for (uint32_t i = 0, s = sm->issue.next_store; i < sm->schedulers; i++) {
        if (when[s] == when[next] && stores_next(sm, who[s])) return s;
        s = s + 1 < sm->schedulers ? s + 1 : 0;
    }
    return next;
}

/* Issues on all schedulers in time order until no warp is left. */
void sm_play(Sm *sm)
{
    uint64_t when[MOST_SCHEDULERS];
    uint32_t who[MOST_SCHEDULERS];
    for (uint32_t s = 0; s < sm->schedulers; s++)
        who[s] = scheduler_choose(sm, s, &when[s]);
    for (;;) {
        uint32_t next = 0;
        for (uint32_t s = 1; s < sm->schedulers; s++)
            if (when[s] < when[next]) next = s;
        if (who[next] == NO_WARP) break;
        if (stores_next(sm, who[next])) next = store_round_robin(sm, who, when, next);
        uint64_t planned = when[next];
        /* Another scheduler's access may have made it wait, and no warp can go earlier. */
        if (issue_time(sm, next, sm->warp[who[next]].entry) > planned)
            who[next] = scheduler_choose(sm, next, &when[next]);
        if (when[next] > planned) continue;
        WarpReplay *warp = &sm->warp[who[next]];
        if (warp->step < warp->trace->count)
            issue(sm, next, who[next], when[next]);
        else
            warp_finish(sm, who[next], when[next]);
        who[next] = scheduler_choose(sm, next, &when[next]);
        for (uint32_t s = 0; sm->issue.woken && s < sm->schedulers; s++)
            who[s] = scheduler_choose(sm, s, &when[s]);
        sm->issue.woken = 0;
    }
}
