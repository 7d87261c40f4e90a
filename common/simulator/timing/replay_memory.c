/* replay_memory.c - memory of the replayed SM: load/store unit, L1, store buffer, constant caches,
 * texture units, bulk copies, and the SM's share of the L2 and of DRAM. */
#include "common/simulator/timing/replay_sm.h"

#include "common/simulator/core/async.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/traffic/dram_fetch.h"

enum {
    SECTOR_BYTES = 32,
    MOST_LINES = 8 * LANES /* lines tracked per load; of textures no more are tracked */
};

/* Progress of the warp, in steps of the PTX. */
static uint32_t steps_done(const WarpReplay *warp)
{
    return (uint32_t)((uint64_t)warp->step * warp->ptx_steps / warp->trace->count);
}

/* Time for which a fetch from DRAM has been in flight when a warp requests it; NEVER: it is in the
 * L2. It was first requested a known number of steps ago, each of which took the average time of
 * the block's steps. */
static uint64_t fetch_age(const Sm *sm, const WarpReplay *warp, uint32_t fetch, uint64_t now)
{
    const BlockSlot *slot = &sm->blocks.slot[warp->slot];
    uint32_t first = sm->launch->touched.first[fetch], step = moment_step(first),
             done = steps_done(warp);
    if (moment_wave(first) < wave_of(sm->launch, slot->block->number)) return NEVER;
    if (step >= done) return 0;
    return (done - step) * (now - slot->begin) / (done + 1);
}

/* Adds `ticks` of work to DRAM's queue. Earlier work is weighted less the longer ago it was
 * requested. */
static void dram_enqueue(Sm *sm, uint64_t ticks, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t passed = now > sm->mem.dram_seen ? now - sm->mem.dram_seen : 0;
    if (passed > costs->dram_window_cycles) passed = costs->dram_window_cycles;
    sm->mem.dram_free = max64(sm->mem.dram_free, now * TICKS) + ticks;
    sm->mem.dram_busy =
        sm->mem.dram_busy * (costs->dram_window_cycles - passed) / costs->dram_window_cycles +
        ticks;
    sm->mem.dram_seen = max64(sm->mem.dram_seen, now);
}

/* Queueing delay at DRAM. Requests of other SMs arrive at random, for all channels alike, and each
 * has the same service time; therefore the delay is that of an M/D/1 queue
 * (docs/simulator/cycle-model.md, loop-...). */
static uint64_t dram_start(const Sm *sm, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    const uint64_t all = (uint64_t)costs->dram_window_cycles * TICKS,
                   most = all / 10 * costs->dram_busy_percent / 10,
                   busy = sm->mem.dram_busy < most ? sm->mem.dram_busy : most;
    return max64(sm->mem.dram_free / TICKS,
                 now + uncore_cycles(sm, costs->dram_service_cycles * busy / (2 * (all - busy))));
}

/* Time at which a requested fetch is available; 0: it is already. This SM may have requested it
 * before. */
static uint64_t fetch_arrival(Sm *sm, const WarpReplay *warp, uint32_t fetch, uint64_t now)
{
    FetchArrival *arrival = &sm->mem.fetch_arrival[fetch % FETCHES_KEPT];
    if (arrival->fetch == fetch + 1) return arrival->at;
    uint64_t age = fetch_age(sm, warp, fetch, now),
             latency = uncore_latency(sm, dram_wait(sm->machine, fetch)),
             at = age < latency ? dram_start(sm, now) + latency - age : 0;
    *arrival = (FetchArrival){fetch + 1, at};
    sm->mem.fetched[fetch / 64] |= 1ull << fetch % 64;
    return at;
}

/* A request to the L2. */
typedef struct L2Request {
    uint32_t sectors, lines;
    uint32_t fetches, fetch[2 * MOST_LINES];
} L2Request;

/* Initialises only these members, because the whole struct has half a kilobyte. */
static void request_begin(L2Request *request, uint32_t sectors, uint32_t lines)
{
    request->sectors = sectors, request->lines = lines, request->fetches = 0;
}

/* Has this SM requested it? Earlier requests are in the L2, unless the launch's working set exceeds
 * it. */
static int was_fetched(const Sm *sm, uint32_t fetch)
{
    if (sm->mem.fetch_arrival[fetch % FETCHES_KEPT].fetch == fetch + 1) return 1;
    return !sm->launch->dram.l2_thrashes && sm->mem.fetched[fetch / 64] >> fetch % 64 & 1;
}

/* Latency of DRAM for data that this SM has not requested; 0: none. */
static uint64_t request_wait(const Sm *sm, const L2Request *request)
{
    uint64_t wait = request->fetches ? 0 : (uint64_t)sm->machine->dram_latency;
    for (uint32_t i = 0; i < request->fetches; i++)
        if (!was_fetched(sm, request->fetch[i]))
            wait = max64(wait, dram_wait(sm->machine, request->fetch[i]));
    return uncore_latency(sm, wait);
}

/* Ticks of DRAM time per sector. */
static uint64_t dram_ticks(const Sm *sm, int store)
{
    uint64_t ticks = sm->mem.dram_sector[store];
    return store ? (uint64_t)((double)ticks * written_sectors(&sm->mem.store_cost, &sm->mem.sent))
                 : ticks;
}

/* Ticks that a request occupies the SM's path to the L2 and back. */
static uint64_t request_ticks(const Sm *sm, const Ins *ins, const L2Request *request)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t line =
                 max64(costs->load_line_ticks, sm->mem.l2_sector * costs->load_line_percent / 100),
             taken = request->sectors * sm->mem.l2_sector;
    if (ins->class == CLASS_ATOMIC) line = costs->atomic_line_cycles * TICKS;
    if (ins->op == OP_TEXTURE) line = costs->texture_line_ticks;
    if (ins->op == OP_SPILL && ins->class == CLASS_STORE)
        taken = taken * costs->spill_store_percent / 100, line = costs->spill_line_cycles * TICKS;
    return max64(taken, request->lines * line);
}

/* Sends a request to the L2, and a part of it to DRAM; returns the time at which the data return,
 * and accounts for fetches that others have just requested from DRAM. */
static uint64_t l2_request(Sm *sm, const WarpReplay *warp, const Ins *ins, const L2Request *request,
                           uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    int store = ins->class == CLASS_STORE;
    const SimtMachine *m = sm->machine;
    uint64_t *debt = &sm->mem.dram_debt[store];
    sm->mem.l2_free = max64(sm->mem.l2_free, now * TICKS) + request_ticks(sm, ins, request);
    uint64_t back = sm->mem.l2_free / TICKS + uncore_latency(sm, (uint64_t)m->l2_latency);
    /* All of a request or none of it: neighbours are fetched together. */
    uint64_t fetched = (*debt >> 16) / request->sectors * request->sectors;
    if (fetched) {
        *debt -= fetched << 16;
        dram_enqueue(sm, fetched * dram_ticks(sm, store), now);
        uint64_t wait = request_wait(sm, request);
        if (wait) back = max64(back, dram_start(sm, now) + wait);
    }
    for (uint32_t i = 0; i < request->fetches; i++)
        back = max64(back, fetch_arrival(sm, warp, request->fetch[i], now));
    return ins->class == CLASS_ATOMIC ? back + uncore_cycles(sm, costs->atomic_cycles) : back;
}

/* The halves of a line are what DRAM gives at once. */
static void fetches_add(const Launch *launch, L2Request *request, uint32_t line, uint8_t sectors)
{
    enum { HALVES = LINE_SECTORS / FETCH_SECTORS, HALF = (1 << FETCH_SECTORS) - 1 };
    for (uint32_t i = 0; i < HALVES; i++) {
        uint64_t fetch = (uint64_t)line * HALVES + i;
        if (sectors >> FETCH_SECTORS * i & HALF && fetch < launch->touched.fetches)
            request->fetch[request->fetches++] = (uint32_t)fetch;
    }
}

/* Issues a load whose lines are known; returns the time at which all of them are available. */
static uint64_t load_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                           uint64_t now)
{
    const TraceLine *wanted = &warp->trace->line[step_first_line(step) - 1];
    L1Place *place[MOST_LINES];
    uint8_t lacks[MOST_LINES];
    L2Request request;
    uint32_t count = 0;
    uint64_t at = 0;
    request_begin(&request, 0, 0);
    do {
        lacks[count] = l1_lookup(&sm->mem.l1, &wanted[count], &place[count], &at);
        if (!lacks[count]) continue;
        request.lines++, request.sectors += (uint32_t)__builtin_popcount(lacks[count]);
        fetches_add(sm->launch, &request, wanted[count].line, lacks[count]);
    } while (!wanted[count++].last && count < MOST_LINES);
    sm->mem.dram_debt[0] += (uint64_t)step_sectors(step) * sm->mem.dram_part[0];
    sm->mem.estimated_sectors += step_sectors(step), sm->mem.replayed_sectors += request.sectors;
    if (!request.sectors) return at;
    uint64_t back = l2_request(sm, warp, ins, &request, now);
    for (uint32_t i = 0; i < count; i++)
        l1_fill(place[i], &wanted[i], lacks[i], back);
    return max64(at, back);
}

/* Does the instruction wait for other blocks (STEP_ORDERED)? */
static int has_interblock_wait(const Sm *sm, const Ins *ins)
{
    return sm->launch->interblock.queue && (ins->class == CLASS_ATOMIC || ins->order & ORDER_READS);
}

/* Sends stores to the L2 that have waited until `at`. */
static void stores_send(Sm *sm, const StoreTraffic *sent, uint64_t at)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t taken =
                 (uint64_t)((double)sm->mem.l2_sector * stored_sectors(&sm->mem.store_cost, sent)),
             parts = (uint64_t)(sent->parts < sent->lines ? sent->parts : sent->lines),
             lines =
                 (uint64_t)sent->lines * costs->store_line_ticks + parts * costs->store_part_ticks;
    sm->mem.l2_free = max64(sm->mem.l2_free, at * TICKS) + max64(taken, lines);
    store_traffic_add(&sm->mem.sent, sent);
}

static void line_send(Sm *sm, uint64_t at)
{
    StoreTraffic sent = store_buffer_evict(&sm->mem.store_buffer);
    stores_send(sm, &sent, at);
}

/* Sends the lines that have waited for long enough by `now`, as far as the path was free. */
void lines_send(Sm *sm, uint64_t now)
{
    while (sm->mem.store_buffer.count) {
        uint64_t until = sm->mem.store_buffer.place[sm->mem.store_buffer.first].until;
        if (max64(until, sm->mem.l2_free / TICKS) > now) return;
        line_send(sm, until);
    }
}

/* A store to lines that wait for others to them; of one that lists none nothing waits, and sectors
 * are whole where lines are. */
static void store_issue(Sm *sm, const WarpReplay *warp, const TraceStep *step, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t until =
        now + costs->store_buffer_cycles + costs->store_buffer_line_cycles * step_lines(step);
    lines_send(sm, now);
    sm->mem.dram_debt[1] += (uint64_t)step_sectors(step) * sm->mem.dram_part[1];
    dram_enqueue(sm, (sm->mem.dram_debt[1] >> 16) * dram_ticks(sm, 1), now);
    sm->mem.dram_debt[1] &= 0xffff;
    if (step_first_line(step)) {
        const TraceLine *stored = &warp->trace->line[step_first_line(step) - 1];
        do {
            StoreTraffic alone = store_traffic_of(stored);
            store_traffic_add(&sm->mem.unbuffered, &alone);
            while (!store_buffer_add(&sm->mem.store_buffer, stored, until, &sm->machine->costs))
                line_send(sm, now);
        } while (!stored++->last);
    } else {
        uint32_t sectors = step_sectors(step), lines = step_lines(step);
        StoreTraffic sent = {lines, sectors, sectors == lines * LINE_SECTORS ? 0 : sectors};
        store_traffic_add(&sm->mem.unbuffered, &sent);
        stores_send(sm, &sent, now);
    }
}

/* Another access beyond the L1.  Looks take nothing of DRAM: what blocks wait for has just been
 * written. */
static uint64_t other_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                            uint64_t now)
{
    L2Request request;
    int store = ins->class == CLASS_STORE,
        looks = sm->launch->kernel->traits.only_polls_blocks && ins->order & ORDER_READS;
    if (store && ins->op != OP_SPILL) {
        store_issue(sm, warp, step, now);
        return 0;
    }
    request_begin(&request, step_sectors(step), step_lines(step));
    if (!looks) sm->mem.dram_debt[store] += (uint64_t)step_sectors(step) * sm->mem.dram_part[store];
    if (ins->class == CLASS_ATOMIC && step_first_line(step)) {
        const TraceLine *wanted = &warp->trace->line[step_first_line(step) - 1];
        do
            fetches_add(sm->launch, &request, wanted->line, wanted->sectors);
        while (!wanted++->last && request.fetches < MOST_LINES);
    }
    return l2_request(sm, warp, ins, &request, now);
}

/* Latency of an SM's first access through the texture units: it loads the object's descriptor, and
 * for floating-point coordinates then the sampler's. Both are in DRAM. */
static uint64_t description_cycles(const SimtMachine *m, const Ins *ins)
{
    return (uint64_t)m->dram_latency * (ins->aux >> TEXTURE_BY_FLOAT & 1 ? 2 : 1);
}

/* The same for an access through the texture units; L2 latency is added as for the load/store
 * unit. */
static uint64_t texture_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                              uint64_t now)
{
    const SimtMachine *m = sm->machine;
    if (!sm->mem.texture_free)
        sm->mem.texture_free = now + uncore_latency(sm, description_cycles(m, ins));
    uint64_t begin = max64(now, sm->mem.texture_free), back,
             found = texture_cycles(m, ins, step_unit_cycles(step));
    sm->mem.texture_free = begin + step_unit_cycles(step);
    if (step_first_line(step))
        back = load_issue(sm, warp, ins, step, begin);
    else
        back = step_sectors(step) ? other_issue(sm, warp, ins, step, begin) : 0;
    return max64(begin, back > (uint64_t)m->l1_latency ? back - (uint64_t)m->l1_latency : 0) +
           found;
}

/* Time at which a unit of constant memory is in the larger of the SM's constant caches, which has
 * no evictions; before `now`: a hit. */
static uint64_t const_l15_arrival(Sm *sm, const WarpReplay *warp, uint32_t piece, uint64_t now)
{
    enum { FETCHES = CONSTANT_BYTES / FETCH_BYTES };
    FetchArrival *arrival = &sm->mem.constant[piece % CONSTANTS_KEPT];
    uint32_t fetch = piece * FETCHES;
    if (arrival->fetch != fetch + 1) {
        uint64_t back = now + uncore_latency(sm, (uint64_t)sm->machine->l2_latency);
        *arrival = (FetchArrival){fetch + 1, max64(back, fetch_arrival(sm, warp, fetch, now))};
    }
    return arrival->at;
}

/* When a line of it is in the smaller one; the one that was used longest ago makes room for it. */
static uint64_t const_l1_arrival(Sm *sm, const WarpReplay *warp, uint32_t line, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    ConstL1Line *oldest = sm->mem.const_l1;
    sm->mem.const_l1_clock++;
    for (ConstL1Line *l = sm->mem.const_l1; l < sm->mem.const_l1 + costs->const_l1_lines; l++) {
        if (l->used && l->line == line) {
            l->used = sm->mem.const_l1_clock;
            return l->at;
        }
        if (l->used < oldest->used) oldest = l;
    }
    uint64_t piece =
        const_l15_arrival(sm, warp, line / (CONSTANT_BYTES / CONST_L1_LINE_BYTES), now);
    uint64_t found = now + (uint64_t)sm->machine->l1_latency + costs->const_l1_miss_cycles;
    *oldest = (ConstL1Line){line, sm->mem.const_l1_clock, piece > now ? piece : found};
    return oldest->at;
}

/* Time at which the requested constants are available; 0: they are cached. */
uint64_t constants_arrival(Sm *sm, const WarpReplay *warp, const TraceStep *step, uint64_t now)
{
    enum {
        CONST_L1_LINE_SECTORS = CONST_L1_LINE_BYTES / SECTOR,
        EACH = LINE_SECTORS / CONST_L1_LINE_SECTORS
    };
    const TraceLine *wanted = &warp->trace->line[step_first_line(step) - 1];
    uint64_t at = 0;
    for (int more = 1; more; more = !wanted++->last)
        for (uint32_t i = 0; i < EACH; i++)
            if (wanted->sectors >> CONST_L1_LINE_SECTORS * i & 1)
                at = max64(at, const_l1_arrival(sm, warp, wanted->line * EACH + i, now));
    return at > now ? at : 0;
}

/* A copy that bypasses the L1 occupies the load/store unit while its lines are looked up. Its data
 * are written when they arrive, `passes` cycles later, and other accesses are not delayed
 * meanwhile. */
static uint64_t copy_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                           uint64_t begin, uint32_t passes)
{
    uint32_t taken = lookups_past(step_lines(step));
    if (taken > passes) taken = passes;
    sm->mem.lsu_free = begin + (taken ? taken : 1);
    uint64_t back = sm->mem.lsu_free - 1 + (uint64_t)sm->machine->l1_latency;
    if (step_first_line(step))
        back = max64(back, load_issue(sm, warp, ins, step, begin));
    else if (step_sectors(step))
        back = max64(back, other_issue(sm, warp, ins, step, begin));
    return back + passes;
}

/* Issues a memory instruction; returns the time at which its result is available. */
uint64_t memory_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                      uint64_t now)
{
    const SimtMachine *m = sm->machine;
    if (ins->op == OP_TEXTURE) return texture_issue(sm, warp, ins, step, now);
    uint64_t begin = max64(now, sm->mem.lsu_free);
    uint32_t passes = step_passes(step), behind = 0;
    if (has_result_delay(ins)) behind = passes / RESULT_DELAY_UNIT, passes %= RESULT_DELAY_UNIT;
    if (is_copy_past(ins)) return copy_issue(sm, warp, ins, step, begin, passes);
    sm->mem.lsu_free = begin + (passes ? passes : 1);
    if (step->kind == STEP_REMOTE) {
        sm->mem.dsmem_free = max64(sm->mem.dsmem_free, begin) + step->remote_cycles;
        return sm->mem.dsmem_free + sm->machine->costs.remote_cycles;
    }
    if (ins->class == CLASS_SHARED_LOAD || ins->class == CLASS_SHARED_STORE)
        return sm->mem.lsu_free - 1 + (uint64_t)m->shared_latency + conflicts_behind(ins, passes);
    uint64_t back = sm->mem.lsu_free - 1 + (uint64_t)m->l1_latency + behind;
    if (ins->space == PTX_CONST) return back;
    if (step_first_line(step) && ins->class != CLASS_ATOMIC && ins->class != CLASS_STORE)
        return max64(back, load_issue(sm, warp, ins, step, begin));
    if (step_sectors(step)) back = max64(back, other_issue(sm, warp, ins, step, begin));
    return has_interblock_wait(sm, ins) ? back + step_wait_cycles(step) - interblock_nearer(m, ins)
                                        : back;
}

/* Issues a bulk copy; returns the arrival time of its bytes. */
static uint64_t bulk_issue(Sm *sm, const Ins *ins, const TraceStep *step, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    const SimtMachine *m = sm->machine;
    uint32_t sectors = step_bulk_sectors(step);
    int store = ins->class == CLASS_STORE;
    uint64_t *debt = &sm->mem.dram_debt[store];
    uint64_t sector = store ? SECTOR_BYTES * TICKS / costs->bulk_store_bytes : sm->mem.bulk_sector;
    uint64_t written = dram_ticks(sm, store);
    if (store && sm->launch->kernel->plans.bulk[ins->aux].reduction.present)
        written = written * costs->bulk_reduce_percent / 100;
    sm->mem.bulk_free = max64(sm->mem.bulk_free, now * TICKS) + sectors * sector;
    uint64_t back = sm->mem.bulk_free / TICKS + uncore_latency(sm, (uint64_t)m->l2_latency) +
                    costs->bulk_cycles;
    uint64_t wanted = *debt + (uint64_t)sectors * sm->mem.dram_part[store];
    *debt = wanted & 0xffff;
    if (wanted >> 16 == 0) return back;
    dram_enqueue(sm, (wanted >> 16) * written, now);
    return max64(back, sm->mem.dram_free / TICKS + uncore_latency(sm, (uint64_t)m->dram_latency) +
                           costs->bulk_cycles);
}

/* Issues an operation of an asynchronous unit; returns its arrival time. */
uint64_t async_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step, uint64_t now)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t at =
        ins->op == OP_BULK_COPY ? bulk_issue(sm, ins, step, now) : now + costs->arrive_cycles;
    if (counts_for_phase(ins)) phase_count(sm, sm->warp[number].slot, step_phase(step), at);
    return at;
}

/* Instructions after an access may issue while the queue of the memory unit is below its limit. The
 * texture units serve the schedulers round-robin. */
void memory_gates(Sm *sm)
{
    const MachineCosts *costs = &sm->machine->costs;
    uint64_t queue =
        sm->mem.lsu_free > costs->lsu_queue_cycles ? sm->mem.lsu_free - costs->lsu_queue_cycles : 0;
    if (sm->mem.dsmem_free > costs->remote_queue_cycles)
        queue = max64(queue, sm->mem.dsmem_free - costs->remote_queue_cycles);
    uint64_t memory = max64(sm->mem.l2_free, sm->mem.dram_free) / TICKS;
    memory = memory > costs->l2_queue_cycles ? memory - costs->l2_queue_cycles : 0;
    uint64_t texture = sm->mem.texture_free > costs->lsu_queue_cycles
                           ? sm->mem.texture_free - costs->lsu_queue_cycles
                           : 0;
    for (uint32_t s = 0; s < sm->schedulers; s++) {
        sm->issue.gate[s * GATES + GATE_SHARED] = queue;
        sm->issue.gate[s * GATES + GATE_MEMORY] = max64(queue, memory);
        sm->issue.gate[s * GATES + GATE_TEXTURE] =
            max64(texture, memory) +
            (s + sm->schedulers - sm->mem.texture_scheduler - 1) % sm->schedulers;
    }
}
