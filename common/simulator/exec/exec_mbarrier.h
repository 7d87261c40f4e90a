/* exec_mbarrier.h - barriers in shared memory that count threads and bytes; included by
 * exec_body.h.
 *
 * A 64-bit word holds the pending arrivals of the phase, the expected arrivals of every phase, the
 * pending bytes, and the phase's number. The pending bytes may be negative for a while. A phase is
 * complete when neither threads nor bytes are missing.
 *
 * A wait that may sleep (try_wait) is executed once: its warp rests until the phase is complete,
 * and block.c detects warps that wait forever. */

enum { MBARRIER_BITS = 20, MBARRIER_TX_BITS = 21, MBARRIER_PHASES = 8 };
#define MBARRIER_FIELD ((1u << MBARRIER_BITS) - 1)
#define MBARRIER_MOST  ((1 << MBARRIER_BITS) - 1)

typedef struct Mbarrier {
    Block *block; /* the block whose shared memory contains it */
    unsigned char *host;
    uint32_t offset, pending, expected, phase;
    int32_t bytes;
} Mbarrier;

ALWAYS uint64_t mbarrier_pack(const Mbarrier *m)
{
    uint64_t bytes = (uint32_t)m->bytes & ((1u << MBARRIER_TX_BITS) - 1);
    return (uint64_t)m->pending | (uint64_t)m->expected << MBARRIER_BITS |
           bytes << 2 * MBARRIER_BITS |
           (uint64_t)m->phase << (2 * MBARRIER_BITS + MBARRIER_TX_BITS);
}

ALWAYS void mbarrier_unpack(uint64_t word, Mbarrier *m)
{
    m->pending = word & MBARRIER_FIELD, m->expected = word >> MBARRIER_BITS & MBARRIER_FIELD;
    m->bytes = (int32_t)(uint32_t)(word >> 2 * MBARRIER_BITS << (32 - MBARRIER_TX_BITS)) >>
               (32 - MBARRIER_TX_BITS);
    m->phase = (uint32_t)(word >> (2 * MBARRIER_BITS + MBARRIER_TX_BITS));
}

/* The barrier at an address of the block's own shared memory or, in a cluster, of another's.
 * `fresh`: it is about to be made.  -1 after reporting what is wrong. */
static int mbarrier_find(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, int fresh,
                         Mbarrier *m)
{
    Spot spot;
    uint64_t word;
    if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
    if (address & 7) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, 8,
                 "Misaligned mbarrier: the address is no multiple of 8");
        return -1;
    }
    if (spot_shared(warp, ins, lane, address, 8, fresh, 0, &spot) != 0) return -1;
    m->block = shared_block(warp, &address);
    m->host = spot.host, m->offset = (uint32_t)address;
    memcpy(&word, m->host, 8);
    mbarrier_unpack(word, m);
    if (m->block != warp->block) race_arrival(warp, ins, lane, m->block, m->offset, m->phase);
    if (fresh || (word != UINT64_MAX && m->expected && m->pending <= m->expected)) return 0;
    fault_at(warp, ins, SIMT_SYNCCHECK, lane, address, 8,
             "Barrier error: at offset 0x%x of shared memory there is no mbarrier: mbarrier.init "
             "was not executed for it, or something wrote over it",
             m->offset);
    return -1;
}

/* ---- for the replay: phases numbered through the block -------------------------------------- */

static PhaseNumber *phase_number(Block *block, uint32_t offset)
{
    if (!block->phase_at) block->phase_at = calloc(block->shared_bytes / 8 + 1, sizeof(uint32_t));
    uint32_t *at = block->phase_at ? &block->phase_at[offset / 8] : NULL;
    if (!at) return NULL;
    if (*at) return &block->phase[*at - 1];
    if (block->phases == block->phase_room) {
        uint32_t room = block->phase_room ? block->phase_room * 2 : 16;
        PhaseNumber *grown = realloc(block->phase, room * sizeof *grown);
        if (!grown) return NULL;
        block->phase = grown, block->phase_room = room;
    }
    block->phase[block->phases] =
        (PhaseNumber){.barrier = offset, .now = (uint16_t)++block->phase_count};
    *at = ++block->phases;
    return &block->phase[*at - 1];
}

/* This warp waited for the phase before the one that the barrier is in. */
static void phase_waited(Warp *warp, const Mbarrier *m)
{
    const PhaseNumber *number = warp->count ? phase_number(m->block, m->offset) : NULL;
    if (!number) return;
    warp->step.kind = STEP_ASYNC, warp->step.phase = number->before;
    if (number->complete > warp->phase.complete_at) warp->phase.complete_at = number->complete;
}

/* The warp's operation counts for the barrier's current phase and takes effect `cycles` later. The
 * replay of another block does not model it; only that block's critical path does. */
static void phase_counted(Warp *warp, const Mbarrier *m, uint64_t cycles)
{
    PhaseNumber *number = warp->count ? phase_number(m->block, m->offset) : NULL;
    if (!number) return;
    uint64_t at = critical_end(&warp->chain, warp->worker->gpu->machine.issue_cycles) + cycles;
    if (m->block == warp->block)
        warp->step.kind = STEP_ASYNC, warp->step.phase = number->now;
    else
        at += warp->worker->gpu->machine.costs.remote_arrive_cycles;
    if (at > number->arrived) number->arrived = at;
}

/* The wait was traced when it began; which phase it was for is known when it has ended. */
static void trace_waited(Warp *warp, const Ins *ins)
{
    WarpTrace *trace = warp->trace;
    if (warp->phase.complete_at > warp->chain.begin)
        critical_wait_until(&warp->chain, warp->phase.complete_at);
    TraceStep *last = trace->count ? &trace->step[trace->count - 1] : NULL;
    if (last && last->ins == (uint32_t)(ins - warp->code))
        last->kind = STEP_ASYNC, last->phase = (uint16_t)warp->step.phase;
}

/* ---- changes -------------------------------------------------------------------------------- */

/* Writes the barrier back; a complete phase is followed by the next. */
static void mbarrier_settle(Warp *warp, Mbarrier *m)
{
    if (m->pending == 0 && m->bytes == 0) {
        m->pending = m->expected, m->phase = (m->phase + 1) % MBARRIER_PHASES;
        /* racecheck: accesses before the phase's end are ordered before those after it. */
        m->block->warp->worker->epoch++;
        PhaseNumber *number = warp->count ? phase_number(m->block, m->offset) : NULL;
        if (number) {
            number->before = number->now, number->now = (uint16_t)++m->block->phase_count;
            number->complete = number->arrived, number->arrived = 0;
        }
    }
    uint64_t word = mbarrier_pack(m);
    memcpy(m->host, &word, 8);
    m->block->progress++;
}

/* -1 when there are more bytes than a barrier counts. */
static int mbarrier_bytes(Warp *warp, const Ins *ins, uint32_t lane, Mbarrier *m, int64_t bytes)
{
    int64_t sum = m->bytes + bytes;
    if (sum >= -MBARRIER_MOST && sum <= MBARRIER_MOST) {
        m->bytes = (int32_t)sum;
        return 0;
    }
    fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
             "Barrier error: the mbarrier at offset 0x%x would count %lld bytes: at most %d are "
             "possible",
             m->offset, (long long)sum, MBARRIER_MOST);
    return -1;
}

/* Reduces the pending arrivals by `count`. -1 if fewer were pending. */
static int mbarrier_arrive(Warp *warp, const Ins *ins, uint32_t lane, Mbarrier *m, uint32_t count,
                           int drop)
{
    if (count == 0 || count > m->pending) {
        fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                 "Barrier error: %u arrivals at once at the mbarrier at offset 0x%x, whose phase "
                 "waits for %u of %u",
                 count, m->offset, m->pending, m->expected);
        return -1;
    }
    m->pending -= count;
    m->expected -= drop ? count : 0;
    return 0;
}

static int mbarrier_init(Warp *warp, const Ins *ins, uint32_t lane, Mbarrier *m, uint32_t count)
{
    if (count == 0 || count > MBARRIER_MOST) {
        fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                 "Barrier error: an mbarrier for %u threads: it may be 1 to %d", count,
                 MBARRIER_MOST);
        return -1;
    }
    m->pending = m->expected = count, m->bytes = 0, m->phase = 0;
    return 0;
}

/* ---- bytes in flight ------------------------------------------------------------------------ */

/* Position of byte `offset` of shared memory under a swizzle of 16 << `swizzle` bytes: 16-byte
 * chunks are permuted within each 128 bytes. */
ALWAYS uint32_t swizzled(uint32_t offset, uint32_t swizzle)
{
    return offset ^ (offset >> 3 & (((1u << swizzle) - 1) << 4));
}

static void flight_land(Block *block, const Flight *flight)
{
    const Stretch *s = &flight->stretch;
    for (uint32_t i = 0; i < s->bytes; i += 16) {
        uint32_t to = swizzled(flight->to + i, s->swizzle);
        if (i % s->pitch >= s->row) continue;
        uint32_t bytes = s->bytes - i < 16 ? s->bytes - i : 16;
        if (flight->reduction.present)
            values_join(&flight->reduction, block->shared + to, flight->data + i, bytes);
        else
            memcpy(block->shared + to, flight->data + i, bytes);
        for (uint32_t at = to; at < to + bytes; at += 4) /* a bit for each byte */
            block->shared_shadow[at / 8] |= (unsigned char)(0xf << (at & 4));
    }
    free(flight->data);
}

/* A thread has observed that this barrier is now in `phase`: the bytes of earlier phases arrive. */
static void flights_land(Block *block, uint32_t barrier, uint32_t phase)
{
    uint32_t left = 0, bytes = 0;
    for (uint32_t i = 0; i < block->flights; i++) {
        const Flight *flight = &block->flight[i];
        if (flight->barrier == barrier && flight->phase != phase) {
            flight_land(block, flight);
        } else {
            bytes += flight->stretch.bytes;
            block->flight[left++] = *flight;
        }
    }
    block->flights = left, block->flight_bytes = bytes;
}

/* Limit on the copies in flight per block; beyond it all of them complete, as they may at any
 * time. */
enum { FLIGHTS_MOST = 1024, FLIGHT_BYTES_MOST = 4 << 20 };

static void flights_bound(Block *block)
{
    if (block->flights < FLIGHTS_MOST && block->flight_bytes < FLIGHT_BYTES_MOST) return;
    for (uint32_t i = 0; i < block->flights; i++)
        flight_land(block, &block->flight[i]);
    block->flights = block->flight_bytes = 0;
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* Which of the lanes `mask` need wait no longer.  -1 after a fault. */
static int64_t mbarrier_done(Warp *warp, const Ins *ins, uint32_t mask)
{
    uint32_t done = 0;
    FOR_ACTIVE(mask)
    {
        Mbarrier m, token;
        if (mbarrier_find(warp, ins, i, lane_address(warp, ins, i), 0, &m) != 0) return -1;
        if (ins->carries)
            token.phase = REG(const uint32_t, ins->b)[i] & 1;
        else
            mbarrier_unpack(REG(const uint64_t, ins->b)[i], &token);
        if ((m.phase & 1) == (token.phase & 1)) continue;
        done |= 1u << i;
        warp_charge(warp, m.block->flights / 16);
        if (m.block->flights) flights_land(m.block, m.offset, m.phase);
        if (m.block->visit) race_arrivals_known(m.block->warp->worker, m.offset, m.phase);
        phase_waited(warp, &m);
    }
    return done;
}

static void mbarrier_answer(Warp *warp, const Ins *ins, uint32_t mask, uint32_t done)
{
    if (ins->d == NO_SLOT) return;
    uint32_t *p = &PREDICATE(ins->d);
    *p = (*p & ~mask) | done;
}

/* A warp whose wait fails yields to the other warps, and then to the other lanes of its own
 * warp. */
static const Ins *mbarrier_wait(Warp *warp, const Ins *ins)
{
    int64_t done = mbarrier_done(warp, ins, warp->mask);
    if (done < 0) return NULL;
    mbarrier_answer(warp, ins, warp->mask, (uint32_t)done);
    if ((uint32_t)done == warp->mask) {
        warp->phase.ins = NULL;
        return ins + 1;
    }
    warp->yield.loop = 1;
    warp->phase.ins = ins, warp->phase.mask = warp->mask;
    const Ins *next = ins + 1;
    int asks = (ins->aux & MBARRIER_KIND) == MBARRIER_TEST;
    int in_vain = asks ? ++warp->yield.iterations % PATIENCE == 0 : warp->phase.failed_polls > 0;
    if (warp->depth && in_vain) next = lanes_change(warp, next);
    if (asks || next != ins + 1) return warp_stop(warp, WARP_READY, next);
    return warp_stop(warp, WARP_PHASE, ins + 1);
}

static int mbarrier_change(Warp *warp, const Ins *ins, uint32_t lane, Mbarrier *m)
{
    uint32_t kind = ins->aux & MBARRIER_KIND,
             value = ins->b == NO_SLOT ? 1 : REG(const uint32_t, ins->b)[lane];
    switch (kind) {
    case MBARRIER_INIT:
        return mbarrier_init(warp, ins, lane, m, value);
    case MBARRIER_EXPECT:
        return mbarrier_bytes(warp, ins, lane, m, value);
    case MBARRIER_COMPLETE:
        return mbarrier_bytes(warp, ins, lane, m, -(int64_t)value);
    default:
        if (ins->aux & MBARRIER_EXPECTS && mbarrier_bytes(warp, ins, lane, m, value) != 0)
            return -1;
        return mbarrier_arrive(warp, ins, lane, m, ins->aux & MBARRIER_EXPECTS ? 1 : value,
                               kind == MBARRIER_DROP);
    }
}

/* Cost in instructions per lane, because lanes need not wait for the same barrier. */
enum { LANE_CHARGE = 4 };

HANDLER(MBARRIER)
{
    uint32_t kind = ins->aux & MBARRIER_KIND;
    if (kind == MBARRIER_TEST || kind == MBARRIER_TRY) return mbarrier_wait(warp, ins);
    warp_charge(warp, LANE_CHARGE * (uint64_t)__builtin_popcount(warp->mask));
    FOR_ACTIVE(warp->mask)
    {
        Mbarrier m;
        if (kind == MBARRIER_PENDING) {
            REG(uint32_t, ins->d)[i] = REG(const uint64_t, ins->b)[i] & MBARRIER_FIELD;
            continue;
        }
        if (mbarrier_find(warp, ins, i, lane_address(warp, ins, i), kind == MBARRIER_INIT, &m) != 0)
            return NULL;
        if (ins->d != NO_SLOT) REG(uint64_t, ins->d)[i] = mbarrier_pack(&m);
        if (kind == MBARRIER_INVAL) {
            memset(m.host, 0, 8);
            continue;
        }
        if (kind != MBARRIER_INIT)
            phase_counted(warp, &m, warp->worker->gpu->machine.costs.arrive_cycles);
        if (mbarrier_change(warp, ins, i, &m) != 0) return NULL;
        if (kind == MBARRIER_INIT) {
            uint64_t word = mbarrier_pack(&m);
            memcpy(m.host, &word, 8);
        } else {
            mbarrier_settle(warp, &m);
        }
    }
    return ins + 1;
}

/* block.c calls this handler for a warp that rests at a wait: may it continue? NULL: no. */
HANDLER(PHASE_LOOK)
{
    int64_t done = mbarrier_done(warp, ins, warp->phase.mask);
    if (done < 0 || (uint32_t)done != warp->phase.mask) return NULL;
    mbarrier_answer(warp, ins, warp->phase.mask, (uint32_t)done);
    warp->state = WARP_READY, warp->phase.failed_polls = 0;
    warp->phase.ins = NULL;
    if (warp->trace) trace_waited(warp, ins);
    return ins;
}

/* ---- waits that never end ------------------------------------------------------------------- */

/* An mbarrier, and the first thread that waits for it. */
typedef struct StuckWait {
    Warp *warp;
    const Ins *ins;
    uint32_t lane, parity;
    Mbarrier m;
} StuckWait;

enum { STUCK_MOST = 8 };

/* Is this the wait of an mbarrier whose phase its waiting threads can least complete?  The higher,
 * the more certain: all threads have arrived but bytes are missing, some have arrived, none has. */
static int stuck_rank(const StuckWait *wait)
{
    const Mbarrier *m = &wait->m;
    if (!m->pending || m->bytes < 0) return 2;
    return m->pending < m->expected;
}

static int stuck_read(Warp *warp, StuckWait *wait)
{
    const Ins *ins = warp->phase.ins;
    uint32_t lanes = warp->phase.mask & warp->alive;
    uint64_t word;
    if (warp->state == WARP_DONE || !ins || ins->op != OP_MBARRIER || !lanes) return 0;
    uint32_t lane = first_lane(lanes);
    uint64_t address = lane_address(warp, ins, lane);
    if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
    Mbarrier m = {.block = shared_block(warp, &address)};
    m.offset = (uint32_t)address;
    if (address & 7 || address + 8 > m.block->shared_bytes) return 0;
    m.host = m.block->shared + address;
    memcpy(&word, m.host, 8);
    mbarrier_unpack(word, &m);
    Mbarrier token;
    if (ins->carries)
        token.phase = REG(const uint32_t, ins->b)[lane];
    else
        mbarrier_unpack(REG(const uint64_t, ins->b)[lane], &token);
    *wait = (StuckWait){warp, ins, lane, token.phase & 1, m};
    return (m.phase & 1) == wait->parity;
}

/* One wait for each mbarrier of the block or the cluster for which threads wait. */
static uint32_t stuck_find(const Warp *warp, StuckWait *wait)
{
    const WorkerCluster *cluster = &warp->worker->cluster;
    uint32_t blocks = cluster->peers ? cluster->peers : 1, count = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        Worker *worker = cluster->peers ? cluster->peer[b] : warp->worker;
        for (uint32_t w = 0; w < worker->block.warps && count < STUCK_MOST; w++) {
            uint32_t i = 0;
            if (!stuck_read(&worker->warp[w], &wait[count])) continue;
            while (i < count && wait[i].m.host != wait[count].m.host)
                i++;
            count += i == count;
        }
    }
    return count;
}

static void stuck_add(char *text, size_t bytes, const StuckWait *wait)
{
    const Mbarrier *m = &wait->m;
    const uint32_t *id = m->block->id, thread = wait->warp->index * LANES + wait->lane;
    char where[300];
    size_t n = strlen(text);
    source_name(wait->warp->worker->kernel, wait->ins->from, where, sizeof where);
    snprintf(text + n, bytes - n,
             "\nwaiting: thread %u of block (%u,%u,%u) at %.60s for phase %u of the mbarrier at "
             "0x%x, with %u of %u arrivals and %d bytes pending",
             thread, wait->warp->block->id[0], wait->warp->block->id[1], wait->warp->block->id[2],
             where, m->phase, m->offset, m->pending, m->expected, m->bytes);
    n = strlen(text);
    if (m->block != wait->warp->block)
        snprintf(text + n, bytes - n, " (of block (%u,%u,%u))", id[0], id[1], id[2]);
}

/* Why the phase cannot be completed. */
static const char *stuck_cause(const StuckWait *wait)
{
    const Mbarrier *m = &wait->m;
    if (m->bytes < 0) return "more bytes have come than its threads expect (expect_tx)";
    if (!m->pending) return "it expects bytes that no copy writes (expect_tx)";
    if (m->pending < m->expected)
        return "its count (mbarrier.init) is larger than the number of threads that arrive";
    return "nobody arrives at it, or the wait has the wrong parity, or the thread missed its phase "
           "because others continued: a barrier is missing between them";
}

/* Nobody is left who could complete the phase.  The first of the waits that can be satisfied least
 * is reported, with one wait for each other mbarrier. */
HANDLER(PHASE_STUCK)
{
    StuckWait wait[STUCK_MOST + 1];
    char bytes[96] = "", others[560] = "";
    uint32_t count = stuck_find(warp, wait), worst = 0;
    if (!count)
        return fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(warp->phase.mask), 0, 0,
                        "Barrier error: this wait at an mbarrier never ends");
    for (uint32_t i = 1; i < count; i++)
        if (stuck_rank(&wait[i]) > stuck_rank(&wait[worst])) worst = i;
    for (uint32_t i = 0; i < count && count > 1; i++)
        if (i != worst) stuck_add(others, sizeof others, &wait[i]);
    const Mbarrier *m = &wait[worst].m;
    if (m->bytes > 0)
        snprintf(bytes, sizeof bytes, ", and %d of the bytes that it expects have not come",
                 m->bytes);
    if (m->bytes < 0)
        snprintf(bytes, sizeof bytes, ", and %d bytes more have come than it expects", -m->bytes);
    return fault_at(wait[worst].warp, wait[worst].ins, SIMT_SYNCCHECK, wait[worst].lane, 0, 0,
                    "Barrier error: this wait never ends: phase %u of the mbarrier at offset 0x%x "
                    "of shared memory is never completed. It still waits for %u of %u arrivals%s; "
                    "all other threads wait as well, or have ended. Possible cause: %s%s",
                    m->phase, m->offset, m->pending, m->expected, bytes, stuck_cause(&wait[worst]),
                    others);
}
