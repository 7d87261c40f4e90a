/* replay.c - one SM, instruction by instruction.
 *
 * Warps are dealt to the schedulers.  A scheduler issues one instruction at a time: of its warps
 * the one that can go first; of several one of the oldest block's, the longest waiting.  A warp's
 * next instruction can go when its operands are there (scoreboard), when the pipe it needs is free,
 * and some cycles after a branch.  The load/store unit takes a cycle for every pass; what misses
 * the L1 takes this SM's share of the L2's bandwidth, and of the DRAM's where the L2 misses too,
 * and comes back after their latencies.  Barriers let go when all of a block's warps have come.
 * Blocks begin when there is room and the machine's block scheduler gets to this SM: in the
 * beginning, and some time after each end of a block.  A warp that has ended has made room by then,
 * though others of its block go on.
 *
 * Where machine code is known, it is what is played (sass_map.h), by its own rules: an instruction
 * says how many cycles the warp's next one waits, and which of six counters must be down before it
 * goes; one whose time nobody knows has a counter up until its result is there.  A program can
 * bring any machine code: it is believed as far as three fifths of what the PTX takes.
 *
 * Cycles are the SM's own here.  Where the machine's clock falls while tensor cores multiply
 * (tensor_mhz), what lies beyond the SM takes fewer of these; what others are told is in cycles of
 * clock_mhz, which are the time of the launch.
 *
 * All in integers: bandwidths in 1/256 of a cycle. */
#include "common/simulator/timing/replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/simulator/core/async.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/traffic/code_cache.h"
#include "common/simulator/traffic/dram_fetch.h"
#include "common/simulator/sass_map/sass_map.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/timing/phases.h"
#include "common/simulator/traffic/store_buffer.h"
#include "common/simulator/ptxas/schedule.h"

enum {
    TICKS = 256,
    SECTOR_BYTES = 32,
    /* Cycles, as critical_path.h's. */
    ARRIVAL_CYCLES = 2, /* that the barrier unit takes for each warp */
    QUEUE_CYCLES = 32,  /* what may wait in front of the load/store unit */
    MEMORY_QUEUE = 600, /* ... and in front of the L2 */
    REMOTE_QUEUE = 300, /* ... and of the way to other blocks */
    LOAD_LINE = 282,    /* the least that a line takes on its way from the L2, in ticks */
    LOAD_PERCENT = 150, /* ... and of what the L2 gives all SMs, of a sector's part */
    STORE_LINE = 768,   /* ... and on its way there, in ticks */
    STORE_PART = 128,   /* ... more, if only some words of sectors are written */
    SPILL_LINE = 4,     /* ... of local memory */
    ATOMIC_LINE = 3,    /* ... there and back */
    TEXTURE_LINE = 425, /* ... to the texture units, in ticks */
    BARRIER_OF_ALL = 1, /* Actor.barrier; of some warps: from the next on, by number */
    BARRIER_OF_SOME = 2,
    DRAM_WINDOW = 2048,     /* cycles over which it is known how busy DRAM is */
    DRAM_SERVED = 250,      /* cycles for which a part of it serves others first */
    MOST_LINES = 8 * LANES, /* of a load; of textures no more are followed */
    ARRIVALS = 16384,       /* fetches of DRAM that are remembered */
    CONSTANTS = 1024,       /* pieces of constant memory that are remembered: more than there are */
    NEAR_LINES = 32,        /* of it, that the smaller cache has */
    NEAR_CYCLES = 70,       /* that a line takes more which only the larger one has */
    COUNTERS = 6,
    SHARED_SOONER = 5, /* machine code makes the address: cycles of shared_latency less */
    READ_CYCLES = 20,  /* until a machine instruction's operands have been read */
    CLOCK = 65536,
    OWN_WAY = 129,  /* of l2_latency and dram_latency, on the multiprocessor's side: by its clock */
    FALL_NS = 80,   /* that a falling clock takes besides, once */
    SLOW_NS = 1600, /* from the last product of a tensor core until the clock is back */
    BELIEVED = 3,
    OF = 5, /* of the cycles that PTX takes */
    NOBODY = 0xffffffff
};

/* What an instruction may have to wait for besides its operands: a Pipe of its scheduler, or room
 * on the way to memory.  These only ever get free later. */
enum { GATE_SHARED = PIPE_CONSTANT + 1, GATE_MEMORY, GATE_TEXTURE, GATES };

#define NEVER UINT64_MAX

typedef struct Result {
    uint64_t at;  /* when a register's value is there */
    uint8_t wait; /* SimtStall of those who wait for it */
} Result;

/* What a scheduler looks at to choose among its warps, which stand in the order in which it
 * prefers them: the oldest block's, of these the one that has waited longest. */
typedef struct Turn {
    uint64_t can;    /* when the warp may issue, as far as it is up to the warp; NEVER */
    uint64_t issued; /* when it last did */
    uint32_t block;  /* the number of its block, of those that have begun here */
    uint32_t gate;   /* of its next step */
    uint32_t actor;
} Turn;

typedef struct Actor {
    Turn *turn;
    uint64_t free, ready;  /* may issue again; its next step's operands are there */
    int before;            /* its next fence: cycles that this takes for it */
    uint8_t live, barrier; /* waits at a barrier */
    uint8_t told;          /* the next launch may begin, as far as it is up to this warp */
    uint16_t phase;        /* of an mbarrier, that it waits for; 0: none */
    uint8_t wait;          /* why `ready` is where it is */
    uint32_t slot, warp;   /* of its block, and which of its warps; NOBODY: the place is free */
    uint64_t begin;
    const WarpTrace *trace;
    uint32_t next;                 /* step */
    uint32_t piece;                /* of code, that it is in */
    uint32_t steps;                /* that PTX takes for all of the trace */
    WarpTrace own;                 /* its machine instructions, where these are played */
    Result counter[COUNTERS];      /* when each is down */
    uint64_t copied, committed[4]; /* when the bytes of cp.async are there; of the last groups */
    uint64_t joined;               /* when the last wide load's words are there */
    uint32_t held;                 /* by which it has waited since its last instruction, plus 1 */
    Groups wgmma, read, stored;    /* of bulk copies out of shared memory: sources read, all done */
    Result *result;
} Actor;

typedef struct Arrival {
    uint32_t fetch; /* its number, plus 1 */
    uint64_t at;    /* when it is in the L2 */
} Arrival;

typedef struct NearLine {
    uint32_t line, used; /* used: 0: never */
    uint64_t at;         /* when it is there */
} NearLine;

typedef struct Slot {
    const BlockTrace *block; /* NULL: none */
    uint32_t *actor;         /* of each warp; NOBODY: it has ended */
    uint32_t live, waiting, untold;
    uint64_t begin, told; /* ... in cycles of clock_mhz */
    Phases phases;
} Slot;

typedef struct Sm {
    Launch *launch;
    const BlockTrace *trace;
    uint32_t traces;
    const SimtMachine *machine;
    const Ins *code;
    const InsCost *price;
    Actor *actor;
    Slot *slot;
    Arrival *arrival;  /* by number, the latest of each place */
    uint64_t *fetched; /* all of them, a bit each */
    Arrival *constant; /* the same of pieces of constant memory */
    NearLine near[NEAR_LINES];
    uint32_t near_clock;
    CodeCache code_cache;
    const uint32_t *code_piece; /* of each instruction; NULL: all of them are always there */
    L1 l1;
    uint64_t guessed, missed; /* sectors beyond the L1, as they were counted and as they are here */
    Turn *turn;               /* of the warps that are there, those of one scheduler together: */
    uint32_t *turns, *here;   /* from here on, so many */
    uint32_t actors, slots, warps, schedulers;
    uint32_t *crew;  /* the slots' actors */
    uint32_t free;   /* places for warps */
    uint32_t there;  /* blocks */
    int follows;     /* plays machine code */
    int phased;      /* the kernel has what phases.h is for */
    uint64_t *stall; /* the launch's, where this playing is what it shows */
    SimtSpan *span;
    uint64_t *gate;                 /* per scheduler and gate: when it is free */
    uint64_t *scheduler;            /* when it may issue again */
    uint64_t *bank;                 /* two per scheduler: when it has given what it was asked */
    uint8_t *half;                  /* per scheduler: which half computes the next floats */
    uint64_t *asleep;               /* ... when it can put the next warp to sleep */
    uint64_t barrier;               /* when the barrier unit is free */
    uint64_t lsu, l2, dram, bulk;   /* when free; the last three in ticks */
    uint64_t remote;                /* the same of the way to other blocks' shared memory */
    uint64_t texture;               /* ... and of the texture units */
    uint32_t textured;              /* the scheduler that they served last */
    uint32_t turned;                /* the one behind that which stored last */
    const ReplayMemory *memory;     /* what the SM has of it */
    uint32_t beyond;                /* 65536ths of the SM's cycles that one of clock_mhz takes */
    uint64_t slow_from, slow_until; /* when its clock fell last, and when it rises again */
    uint64_t slowed;                /* its cycles while the clock was low, before that */
    uint32_t falls;                 /* of its clock */
    uint64_t l2_sector, dram_sector[2]; /* ticks that a sector takes; loads, stores */
    StoreBuffer pool;                   /* of stores */
    StoreTraffic stored, sent; /* what stores would take, did none wait, and what they do */
    StoreCost stores;
    uint64_t bulk_sector;  /* the same of a bulk copy */
    uint32_t dram_part[2]; /* loads, stores */
    uint64_t dram_debt[2];
    uint64_t dram_busy, dram_seen; /* ticks of the last DRAM_WINDOW cycles; until when they count */
    uint64_t block_cycles, next_block; /* between two blocks given to this SM */
    uint64_t told, asked;              /* ReplayResult's, in cycles of clock_mhz */
    uint32_t started, ended;
    uint64_t offered;          /* when places that are free are given to blocks, latest */
    uint32_t most;             /* blocks that were there at once */
    uint64_t *ends;            /* of blocks, one after the other, in cycles of clock_mhz */
    int failed;                /* out of memory */
    int woken;                 /* warps of any scheduler can go that could not before */
    uint64_t end, warp_cycles; /* warps times the cycles that they were there */
} Sm;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- the SM's clock ----------------------------------------------------------------------- */

/* What the memory behind the L1 gives, for as long as the clock stays as it is. */
static void sm_rates(Sm *sm)
{
    const SimtMachine *m = sm->machine;
    const ReplayMemory *memory = sm->memory;
    double slower = (double)sm->beyond / CLOCK, share = memory->share / slower,
           l2 = m->l2_bytes_per_cycle * share, dram = m->dram_gb_s * 1e3 / m->clock_mhz * share;
    if (l2 > m->l2_bytes_per_sm) l2 = m->l2_bytes_per_sm;
    if (dram > m->l2_bytes_per_sm) dram = m->l2_bytes_per_sm;
    sm->l2_sector = (uint64_t)(32 * TICKS / l2 + 0.5);
    for (int store = 0; store < 2; store++)
        sm->dram_sector[store] =
            (uint64_t)(32 * TICKS / dram * (store ? 1 : memory->scattered) + 0.5);
    double bulk = BULK_ALL * share * 65536 / (memory->dram_loads ? memory->dram_loads : 1);
    if (bulk > BULK_BYTES) bulk = BULK_BYTES;
    sm->bulk_sector = (uint64_t)(32 * TICKS / bulk + 0.5);
}

/* What lies beyond the SM keeps its clock: so many of the SM's cycles are these of clock_mhz. */
static uint64_t beyond(const Sm *sm, uint64_t cycles)
{
    return cycles * sm->beyond / CLOCK;
}

/* The same of a latency, a part of which is the SM's. */
static uint64_t way_beyond(const Sm *sm, uint64_t cycles)
{
    return cycles < OWN_WAY ? cycles : OWN_WAY + beyond(sm, cycles - OWN_WAY);
}

static void clock_set(Sm *sm, double mhz)
{
    sm->beyond = (uint32_t)(CLOCK * mhz / sm->machine->clock_mhz + 0.5);
    sm_rates(sm);
}

/* A product of a tensor core is issued: all SMs have a lower clock until some time after the last
 * one. */
static void clock_fall(Sm *sm, uint64_t now)
{
    double mhz = sm->machine->tensor_mhz;
    if (sm->beyond == CLOCK) {
        sm->slowed += sm->slow_until - sm->slow_from;
        sm->slow_from = now, sm->falls++;
        clock_set(sm, mhz);
    }
    sm->slow_until = now + (uint64_t)(SLOW_NS * mhz / 1e3);
}

static void clock_rise(Sm *sm, uint64_t now)
{
    if (sm->beyond != CLOCK && now > sm->slow_until) clock_set(sm, sm->machine->clock_mhz);
}

/* In cycles of clock_mhz, a moment that the SM has come to. */
static uint64_t clock_told(const Sm *sm, uint64_t at)
{
    const SimtMachine *m = sm->machine;
    uint64_t until = at < sm->slow_until ? at : sm->slow_until, slow = sm->slowed;
    if (!sm->falls) return at;
    if (until > sm->slow_from) slow += until - sm->slow_from;
    double more = (double)slow * (m->clock_mhz / m->tensor_mhz - 1),
           lost = sm->falls * FALL_NS * m->clock_mhz / 1e3;
    return at + (uint64_t)(more + lost + 0.5);
}

/* ---- a warp's next step ------------------------------------------------------------------- */

/* After a change of what the warp waits for. */
static void turn_set(Actor *actor)
{
    int waits = !actor->live || actor->barrier || actor->phase;
    actor->turn->can = waits ? NEVER : later(actor->free, actor->ready);
}

/* A warp begins.  It is of the newest block, and of that no place in front of it is free. */
static void turn_add(Sm *sm, uint32_t number, uint64_t begin)
{
    uint32_t scheduler = number % sm->schedulers;
    Turn *turn = sm->turn + sm->turns[scheduler] + sm->here[scheduler]++;
    *turn = (Turn){.can = NEVER, .issued = begin, .block = sm->started, .actor = number};
    sm->actor[number].turn = turn;
}

/* Moves a turn behind those that follow it, as long as they are of `block`, or any; the last. */
static Turn *turn_move(Sm *sm, Turn *turn, uint32_t block)
{
    uint32_t scheduler = turn->actor % sm->schedulers;
    const Turn *last = sm->turn + sm->turns[scheduler] + sm->here[scheduler] - 1;
    Turn moved = *turn;
    for (; turn < last && (block == NOBODY || turn[1].block == block); turn++) {
        turn[0] = turn[1];
        sm->actor[turn->actor].turn = turn;
    }
    *turn = moved;
    sm->actor[moved.actor].turn = turn;
    return turn;
}

/* While code comes, warps drift apart, as if always the first one went that can. */
static void turn_issued(Sm *sm, Turn *turn, uint64_t issued)
{
    int drifts = sm->code_piece && code_is_coming(&sm->code_cache, issued);
    if (!drifts) turn = turn_move(sm, turn, turn->block);
    turn->issued = issued;
}

static void turn_end(Sm *sm, Turn *turn)
{
    turn_move(sm, turn, NOBODY);
    sm->here[turn->actor % sm->schedulers]--;
}

/* A folded instruction hands its operands' times on. */
static void fold(Actor *actor, const Ins *ins)
{
    Result last = {0, STALL_WAIT};
    for (int i = 0; i < 6; i++)
        if (ins->t_s[i] && actor->result[ins->t_s[i]].at > last.at)
            last = actor->result[ins->t_s[i]];
    if (ins->merge == MERGE_FOLLOWER) last = (Result){actor->joined, STALL_SHORT_SCOREBOARD};
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        actor->result[ins->t_d[i]] = last;
}

/* The phase is complete at a time that is known, or the warp waits for those who count for it. */
static void phase_await(const Sm *sm, Actor *actor, uint32_t number)
{
    const Slot *slot = &sm->slot[actor->slot];
    const Phase *phase = &slot->phases.phase[number];
    actor->wait = STALL_LONG_SCOREBOARD;
    if (phase->left)
        actor->phase = (uint16_t)number;
    else
        actor->ready = phase->at;
}

static int is_shared(const Ins *ins)
{
    return ins->class == CLASS_SHARED_LOAD || ins->class == CLASS_SHARED_STORE;
}

static uint8_t gate_of(const Ins *ins, const InsCost *price)
{
    if (!is_memory(ins)) return price->pipe;
    if (ins->op == OP_TEXTURE) return GATE_TEXTURE;
    return is_shared(ins) ? GATE_SHARED : GATE_MEMORY;
}

/* A machine instruction says which counters it waits for, not which operands. */
static void counters_look(Actor *actor, uint8_t waits)
{
    for (uint32_t i = 0; i < COUNTERS; i++) {
        const Result *r = &actor->counter[i];
        if (!(waits >> i & 1) || r->at <= actor->ready) continue;
        actor->ready = r->at, actor->wait = r->wait;
    }
}

/* What an instruction waits for besides its operands, unless it is simple. */
static void step_look_beside(const Sm *sm, Actor *actor, const Ins *ins, const TraceStep *step)
{
    if (ins->op == OP_CP_WAIT) {
        actor->ready = ins->imm ? actor->copied : actor->committed[ins->aux < 4 ? ins->aux : 3];
        actor->wait = STALL_LONG_SCOREBOARD;
    }
    if (mbarrier_waits(ins)) phase_await(sm, actor, step->passes);
    if (ins->op == OP_BULK_GROUP && ins->aux) {
        actor->ready = groups_done(ins->imm ? &actor->read : &actor->stored, ins->aux - 1);
        actor->wait = STALL_LONG_SCOREBOARD;
    }
    if (ins->op == OP_WGMMA_WAIT) {
        actor->ready = groups_done(&actor->wgmma, ins->aux);
        actor->wait = STALL_LONG_SCOREBOARD;
    }
    counters_look(actor, sm->price[step->ins].waits);
}

/* Finds out when the warp's next step, which there is, could issue. */
static void step_look(const Sm *sm, Actor *actor, const TraceStep *step)
{
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    actor->turn->gate = gate_of(ins, price);
    if (!price->simple) step_look_beside(sm, actor, ins, step);
    for (int i = 0; i < 6; i++) {
        const Result *r = &actor->result[ins->t_s[i]];
        uint64_t at = r->at + (i == GUARD_SOURCE && r->at ? price->guarded : 0);
        if (!ins->t_s[i] || at <= actor->ready) continue;
        actor->ready = at, actor->wait = r->wait;
    }
}

/* Waits for the piece of code that the step lies in, if the warp comes to it only now.  A warp's
 * first instruction is there: it begins later than others go on. */
static void code_look(Sm *sm, Actor *actor, uint32_t ins)
{
    uint32_t piece = sm->code_piece[ins];
    if (piece == actor->piece || piece == CODE_ANY || !actor->next) return;
    uint64_t at = code_arrival(&sm->code_cache, piece, actor->turn->issued);
    actor->piece = piece;
    if (at > actor->ready) actor->ready = at, actor->wait = STALL_WAIT;
}

/* Passes over folded instructions, to the next real one. */
static void step_prepare(Sm *sm, Actor *actor)
{
    enum { AHEAD = 16 }; /* steps; of so many warps the processor does not foresee them */
    const WarpTrace *trace = actor->trace;
    while (actor->next < trace->count && !sm->price[trace->step[actor->next].ins].slots)
        fold(actor, &sm->code[trace->step[actor->next++].ins]);
    actor->ready = 0, actor->wait = STALL_WAIT, actor->turn->gate = PIPE_NONE;
    if (actor->next < trace->count) {
        __builtin_prefetch(&trace->step[actor->next] + AHEAD);
        step_look(sm, actor, &trace->step[actor->next]);
        if (sm->code_piece) code_look(sm, actor, trace->step[actor->next].ins);
    }
    turn_set(actor);
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* The first free place, of this scheduler if it has one. */
static uint32_t place_find(const Sm *sm, uint32_t scheduler)
{
    uint32_t first = NOBODY;
    for (uint32_t i = 0; i < sm->actors; i++) {
        if (sm->actor[i].slot != NOBODY) continue;
        if (i % sm->schedulers == scheduler) return i;
        if (first == NOBODY) first = i;
    }
    return first;
}

/* Blocks begin at one scheduler after the other, so that first warps of all do not share one; where
 * warps do not fill the schedulers evenly, they go around by themselves. */
static uint32_t place_take(Sm *sm, uint32_t index, uint32_t warp)
{
    int even = sm->warps % sm->schedulers == 0;
    uint32_t number = place_find(sm, even ? (sm->started + warp) % sm->schedulers : NOBODY);
    sm->actor[number].slot = index;
    sm->slot[index].actor[warp] = number;
    sm->free--;
    return number;
}

static void warp_begin(Sm *sm, uint32_t index, uint32_t warp)
{
    const Slot *slot = &sm->slot[index];
    Launch *launch = sm->launch;
    uint32_t number = place_take(sm, index, warp);
    Actor *actor = &sm->actor[number];
    Result *result = actor->result;
    const WarpTrace *trace = &slot->block->warp[warp];
    WarpTrace own = actor->own;
    if (sm->follows && sass_trace_warp(launch->kernel, trace, &own) != 0) sm->failed = 1;
    memset(result, 0, launch->kernel->played_scores * sizeof *result);
    *actor = (Actor){.own = own,
                     .slot = index,
                     .warp = warp,
                     .piece = NOBODY,
                     .begin = slot->begin,
                     .trace = sm->follows ? &actor->own : trace,
                     .steps = trace->count,
                     .free = slot->begin + START_CYCLES,
                     .live = 1,
                     .result = result};
    turn_add(sm, number, slot->begin);
    step_prepare(sm, actor);
}

static void block_begin(Sm *sm, uint32_t index, uint64_t now)
{
    Slot *slot = &sm->slot[index];
    slot->block = &sm->trace[sm->started++];
    slot->begin = later(now, sm->next_block);
    slot->told = clock_told(sm, slot->begin);
    sm->next_block = slot->begin + sm->block_cycles;
    slot->live = slot->untold = sm->warps, slot->waiting = 0;
    sm->there++;
    sm->woken = 1;
    if (phases_begin(&slot->phases, sm->phased, sm->code, slot->block, sm->warps) != 0)
        sm->failed = 1;
    for (uint32_t w = 0; w < sm->warps && !sm->failed; w++)
        warp_begin(sm, index, w);
}

/* As many blocks as there is room for when the end of a block has become known.  A warp that ends
 * leaves its place free, but of that alone who deals blocks out is not told. */
static void blocks_begin(Sm *sm)
{
    for (uint32_t i = 0; i < sm->slots && sm->free >= sm->warps; i++)
        if (!sm->slot[i].block && sm->started < sm->traces) block_begin(sm, i, sm->offered);
}

static void block_end(Sm *sm, uint32_t index, uint64_t now)
{
    Slot *slot = &sm->slot[index];
    uint64_t told = clock_told(sm, now);
    if (sm->span)
        sm->span[sm->launch->spans++] =
            (SimtSpan){.sm = 0, .block = slot->block->number, .begin = slot->told, .end = told};
    sm->end = later(sm->end, now);
    sm->ends[sm->ended++] = told;
    if (sm->there > sm->most) sm->most = sm->there;
    sm->there--;
    slot->block = NULL;
    sm->offered = now + TURNOVER_CYCLES;
}

static void barrier_check(Sm *sm, uint32_t index, uint64_t now)
{
    Slot *slot = &sm->slot[index];
    if (!slot->waiting || slot->waiting < slot->live) return;
    slot->waiting = 0;
    for (uint32_t w = 0; w < sm->warps; w++) {
        if (slot->actor[w] == NOBODY) continue;
        Actor *actor = &sm->actor[slot->actor[w]];
        if (actor->barrier != BARRIER_OF_ALL) continue;
        actor->barrier = 0;
        actor->free = later(now, sm->barrier) + BARRIER_CYCLES;
        turn_set(actor);
    }
    sm->woken = 1;
}

/* A warp comes to a barrier of some warps, at which it may only arrive. */
static void barrier_of_some(Sm *sm, uint32_t number, const TraceStep *step, int waits, uint64_t now)
{
    uint32_t index = sm->actor[number].slot, id = (step->passes & 0xffu) - 1,
             wanted = step->passes >> 8;
    Slot *slot = &sm->slot[index];
    if (waits) sm->actor[number].barrier = (uint8_t)(BARRIER_OF_SOME + id);
    if (++slot->phases.arrived[id] < wanted) return;
    slot->phases.arrived[id] = 0;
    for (uint32_t w = 0; w < sm->warps; w++) {
        if (slot->actor[w] == NOBODY) continue;
        Actor *actor = &sm->actor[slot->actor[w]];
        if (actor->barrier != BARRIER_OF_SOME + id) continue;
        actor->barrier = 0;
        actor->free = later(now, sm->barrier) + BARRIER_CYCLES;
        turn_set(actor);
    }
    sm->woken = 1;
}

static void barrier_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step,
                          uint64_t now)
{
    int waits = ins->op == OP_BAR ? ins->aux != BAR_ARRIVE : ins->aux != 0;
    if (waits) sm->barrier = later(sm->barrier, now) + ARRIVAL_CYCLES;
    if (ins->op == OP_BAR && step->passes) {
        barrier_of_some(sm, number, step, waits, now);
    } else if (waits) {
        sm->actor[number].barrier = BARRIER_OF_ALL;
        sm->slot[sm->actor[number].slot].waiting++;
        if (ins->op == OP_CLUSTER_BARRIER) now = later(now, sm->remote) + CLUSTER_CYCLES;
        barrier_check(sm, sm->actor[number].slot, now);
    }
}

/* This warp is done with what the next launch must not overlap. */
static void actor_tell(Sm *sm, uint32_t number, uint64_t now)
{
    if (sm->actor[number].told) return;
    sm->actor[number].told = 1;
    if (--sm->slot[sm->actor[number].slot].untold == 0)
        sm->told = later(sm->told, clock_told(sm, now));
}

/* griddepcontrol: blocks that begin later find the launch before done. */
static void dependents_issue(Sm *sm, uint32_t number, const Ins *ins, uint64_t now)
{
    if (!ins->aux)
        actor_tell(sm, number, now);
    else if (sm->started <= sm->launch->resident)
        sm->asked = later(sm->asked, clock_told(sm, now));
}

static void actor_finish(Sm *sm, uint32_t number, uint64_t now)
{
    Actor *actor = &sm->actor[number];
    uint32_t index = actor->slot;
    actor_tell(sm, number, now);
    actor->live = 0;
    turn_end(sm, actor->turn);
    sm->slot[index].actor[actor->warp] = actor->slot = NOBODY;
    sm->free++;
    sm->warp_cycles += now - actor->begin;
    if (--sm->slot[index].live == 0)
        block_end(sm, index, now);
    else
        barrier_check(sm, index, now);
    if (now < sm->offered) blocks_begin(sm);
}

/* ---- memory ------------------------------------------------------------------------------- */

/* How far the warp is, in steps of the PTX. */
static uint32_t steps_done(const Actor *actor)
{
    return (uint32_t)((uint64_t)actor->next * actor->steps / actor->trace->count);
}

/* For how long a fetch of DRAM has been on its way when a warp asks for it; NEVER: it is in the L2.
 * As many steps ago as it was first asked for, each as long as the block's were on average. */
static uint64_t fetch_age(const Sm *sm, const Actor *actor, uint32_t fetch, uint64_t now)
{
    const Slot *slot = &sm->slot[actor->slot];
    uint32_t first = sm->launch->first[fetch], step = moment_step(first), done = steps_done(actor);
    if (moment_wave(first) < wave_of(sm->launch, slot->block->number)) return NEVER;
    if (step >= done) return 0;
    return (done - step) * (now - slot->begin) / (done + 1);
}

/* DRAM is asked for so many ticks of its time more.  Of what it was asked for before, less counts
 * the longer ago that is. */
static void dram_ask(Sm *sm, uint64_t ticks, uint64_t now)
{
    uint64_t passed = now > sm->dram_seen ? now - sm->dram_seen : 0;
    if (passed > DRAM_WINDOW) passed = DRAM_WINDOW;
    sm->dram = later(sm->dram, now * TICKS) + ticks;
    sm->dram_busy = sm->dram_busy * (DRAM_WINDOW - passed) / DRAM_WINDOW + ticks;
    sm->dram_seen = later(sm->dram_seen, now);
}

/* Queueing delay at DRAM: other SMs' requests arrive at random, for all channels alike, and each has
 * the same service time.  The formula is that of an M/D/1 queue (docs/simulator/cycle-model.md,
 * loop-...). */
static uint64_t dram_turn(const Sm *sm, uint64_t now)
{
    enum { ALL = DRAM_WINDOW * TICKS, MOST = ALL / 10 * 9 };
    uint64_t busy = sm->dram_busy < MOST ? sm->dram_busy : MOST;
    return later(sm->dram / TICKS, now + beyond(sm, DRAM_SERVED * busy / (2 * (ALL - busy))));
}

/* When a fetch is there that a warp asks for now; 0: it is.  This SM may have asked before. */
static uint64_t fetch_arrival(Sm *sm, const Actor *actor, uint32_t fetch, uint64_t now)
{
    Arrival *arrival = &sm->arrival[fetch % ARRIVALS];
    if (arrival->fetch == fetch + 1) return arrival->at;
    uint64_t age = fetch_age(sm, actor, fetch, now),
             latency = way_beyond(sm, dram_wait(sm->machine, fetch)),
             at = age < latency ? dram_turn(sm, now) + latency - age : 0;
    *arrival = (Arrival){fetch + 1, at};
    sm->fetched[fetch / 64] |= 1ull << fetch % 64;
    return at;
}

/* What goes on to the L2. */
typedef struct Request {
    uint32_t sectors, lines;
    uint32_t fetches, fetch[2 * MOST_LINES];
} Request;

/* Not all of it is set: that would be half a kilobyte for each access. */
static void request_begin(Request *request, uint32_t sectors, uint32_t lines)
{
    request->sectors = sectors, request->lines = lines, request->fetches = 0;
}

/* Has this SM asked for it?  What it asked for long ago is in the L2, unless that keeps less than
 * the launch touches. */
static int was_fetched(const Sm *sm, uint32_t fetch)
{
    if (sm->arrival[fetch % ARRIVALS].fetch == fetch + 1) return 1;
    return !sm->launch->l2_thrashes && sm->fetched[fetch / 64] >> fetch % 64 & 1;
}

/* How long DRAM takes for what this SM has not asked for; 0: that is nothing. */
static uint64_t request_wait(const Sm *sm, const Request *request)
{
    uint64_t wait = request->fetches ? 0 : (uint64_t)sm->machine->dram_latency;
    for (uint32_t i = 0; i < request->fetches; i++)
        if (!was_fetched(sm, request->fetch[i]))
            wait = later(wait, dram_wait(sm->machine, request->fetch[i]));
    return way_beyond(sm, wait);
}

/* Ticks that a sector takes of DRAM. */
static uint64_t dram_ticks(const Sm *sm, int store)
{
    uint64_t ticks = sm->dram_sector[store];
    return store ? (uint64_t)((double)ticks * written_sectors(&sm->stores, &sm->sent)) : ticks;
}

/* Ticks that a request takes on the multiprocessor's way to the L2 and back. */
static uint64_t request_ticks(const Sm *sm, const Ins *ins, const Request *request)
{
    uint64_t line = later(LOAD_LINE, sm->l2_sector * LOAD_PERCENT / 100),
             taken = request->sectors * sm->l2_sector;
    if (ins->class == CLASS_ATOMIC) line = ATOMIC_LINE * TICKS;
    if (ins->op == OP_TEXTURE) line = TEXTURE_LINE;
    if (ins->op == OP_SPILL && ins->class == CLASS_STORE)
        taken = taken * SPILL_STORE_PERCENT / 100, line = SPILL_LINE * TICKS;
    return later(taken, request->lines * line);
}

/* Sends it to the L2, from which a part goes on to DRAM; returns when it is back, and what others,
 * too, have just asked DRAM for. */
static uint64_t l2_request(Sm *sm, const Actor *actor, const Ins *ins, const Request *request,
                           uint64_t now)
{
    int store = ins->class == CLASS_STORE;
    const SimtMachine *m = sm->machine;
    uint64_t *debt = &sm->dram_debt[store];
    sm->l2 = later(sm->l2, now * TICKS) + request_ticks(sm, ins, request);
    uint64_t back = sm->l2 / TICKS + way_beyond(sm, (uint64_t)m->l2_latency);
    /* All of a request or none of it: neighbours are fetched together. */
    uint64_t fetched = (*debt >> 16) / request->sectors * request->sectors;
    if (fetched) {
        *debt -= fetched << 16;
        dram_ask(sm, fetched * dram_ticks(sm, store), now);
        uint64_t wait = request_wait(sm, request);
        if (wait) back = later(back, dram_turn(sm, now) + wait);
    }
    for (uint32_t i = 0; i < request->fetches; i++)
        back = later(back, fetch_arrival(sm, actor, request->fetch[i], now));
    return ins->class == CLASS_ATOMIC ? back + beyond(sm, ATOMIC_CYCLES) : back;
}

/* The halves of a line are what DRAM gives at once. */
static void fetches_add(const Launch *launch, Request *request, uint32_t line, uint8_t sectors)
{
    enum { HALVES = LINE_SECTORS / FETCH_SECTORS, HALF = (1 << FETCH_SECTORS) - 1 };
    for (uint32_t i = 0; i < HALVES; i++) {
        uint64_t fetch = (uint64_t)line * HALVES + i;
        if (sectors >> FETCH_SECTORS * i & HALF && fetch < launch->fetches)
            request->fetch[request->fetches++] = (uint32_t)fetch;
    }
}

/* A load whose lines are known; returns when all of them are there. */
static uint64_t load_issue(Sm *sm, const Actor *actor, const Ins *ins, const TraceStep *step,
                           uint64_t now)
{
    const TraceLine *wanted = &actor->trace->line[step->wanted - 1];
    L1Place *place[MOST_LINES];
    uint8_t lacks[MOST_LINES];
    Request request;
    uint32_t count = 0;
    uint64_t at = 0;
    request_begin(&request, 0, 0);
    do {
        lacks[count] = l1_look(&sm->l1, &wanted[count], &place[count], &at);
        if (!lacks[count]) continue;
        request.lines++, request.sectors += (uint32_t)__builtin_popcount(lacks[count]);
        fetches_add(sm->launch, &request, wanted[count].line, lacks[count]);
    } while (!wanted[count++].last && count < MOST_LINES);
    sm->dram_debt[0] += (uint64_t)step->misses * sm->dram_part[0];
    sm->guessed += step->misses, sm->missed += request.sectors;
    if (!request.sectors) return at;
    uint64_t back = l2_request(sm, actor, ins, &request, now);
    for (uint32_t i = 0; i < count; i++)
        l1_fill(place[i], &wanted[i], lacks[i], back);
    return later(at, back);
}

/* Is TraceStep.wanted cycles that it waited for others, and no list of lines? */
static int has_waited(const Sm *sm, const Ins *ins)
{
    return sm->launch->queue && (ins->class == CLASS_ATOMIC || ins->order & ORDER_READS);
}

/* Stores go on to the L2 when they have waited until then. */
static void stores_send(Sm *sm, const StoreTraffic *sent, uint64_t at)
{
    uint64_t taken = (uint64_t)((double)sm->l2_sector * stored_sectors(&sm->stores, sent)),
             parts = (uint64_t)(sent->parts < sent->lines ? sent->parts : sent->lines),
             lines = (uint64_t)sent->lines * STORE_LINE + parts * STORE_PART;
    sm->l2 = later(sm->l2, at * TICKS) + later(taken, lines);
    store_traffic_add(&sm->sent, sent);
}

static void line_send(Sm *sm, uint64_t at)
{
    StoreTraffic sent = store_buffer_evict(&sm->pool);
    stores_send(sm, &sent, at);
}

/* Those lines go on that have waited for long enough by now, as far as the way was free. */
static void lines_send(Sm *sm, uint64_t now)
{
    while (sm->pool.count) {
        uint64_t until = sm->pool.place[sm->pool.first].until;
        if (later(until, sm->l2 / TICKS) > now) return;
        line_send(sm, until);
    }
}

/* A store to lines that wait for others to them; of one that lists none nothing waits, and sectors
 * are whole where lines are. */
static void store_issue(Sm *sm, const Actor *actor, const TraceStep *step, uint64_t now)
{
    uint64_t until = now + STORE_BUFFER_CYCLES + STORE_BUFFER_LINE_CYCLES * step->lines;
    lines_send(sm, now);
    sm->dram_debt[1] += (uint64_t)step->misses * sm->dram_part[1];
    dram_ask(sm, (sm->dram_debt[1] >> 16) * dram_ticks(sm, 1), now);
    sm->dram_debt[1] &= 0xffff;
    if (step->wanted) {
        const TraceLine *stored = &actor->trace->line[step->wanted - 1];
        do {
            StoreTraffic alone = store_traffic_of(stored);
            store_traffic_add(&sm->stored, &alone);
            while (!store_buffer_add(&sm->pool, stored, until))
                line_send(sm, now);
        } while (!stored++->last);
    } else {
        int whole = step->misses == step->lines * LINE_SECTORS;
        StoreTraffic sent = {step->lines, step->misses, whole ? 0 : step->misses};
        store_traffic_add(&sm->stored, &sent);
        stores_send(sm, &sent, now);
    }
}

/* Another access beyond the L1.  Looks take nothing of DRAM: what blocks wait for has just been
 * written. */
static uint64_t other_issue(Sm *sm, const Actor *actor, const Ins *ins, const TraceStep *step,
                            uint64_t now)
{
    Request request;
    int store = ins->class == CLASS_STORE,
        looks = sm->launch->kernel->waits && ins->order & ORDER_READS;
    if (store && ins->op != OP_SPILL) {
        store_issue(sm, actor, step, now);
        return 0;
    }
    request_begin(&request, step->misses, step->lines);
    if (!looks) sm->dram_debt[store] += (uint64_t)step->misses * sm->dram_part[store];
    if (step->wanted && ins->class == CLASS_ATOMIC && !has_waited(sm, ins)) {
        const TraceLine *wanted = &actor->trace->line[step->wanted - 1];
        do
            fetches_add(sm->launch, &request, wanted->line, wanted->sectors);
        while (!wanted++->last && request.fetches < MOST_LINES);
    }
    return l2_request(sm, actor, ins, &request, now);
}

/* What an SM's first access through the texture units waits for: the object's description, and for
 * coordinates that are no indices behind it how they are meant.  Both lie in DRAM. */
static uint64_t description_cycles(const SimtMachine *m, const Ins *ins)
{
    return (uint64_t)m->dram_latency * (ins->aux >> TEXTURE_BY_FLOAT & 1 ? 2 : 1);
}

/* The same of one through the texture units; what has to come from the L2 is as much later as it
 * would be behind the load/store unit. */
static uint64_t texture_issue(Sm *sm, const Actor *actor, const Ins *ins, const TraceStep *step,
                              uint64_t now)
{
    const SimtMachine *m = sm->machine;
    if (!sm->texture) sm->texture = now + way_beyond(sm, description_cycles(m, ins));
    uint64_t begin = later(now, sm->texture), back, found = texture_cycles(m, ins, step->passes);
    sm->texture = begin + step->passes;
    if (step->wanted)
        back = load_issue(sm, actor, ins, step, begin);
    else
        back = step->misses ? other_issue(sm, actor, ins, step, begin) : 0;
    return later(begin, back > (uint64_t)m->l1_latency ? back - (uint64_t)m->l1_latency : 0) +
           found;
}

/* When a piece of constant memory is in the larger of the multiprocessor's caches, which keeps what
 * it has got; before `now`: it is. */
static uint64_t piece_arrival(Sm *sm, const Actor *actor, uint32_t piece, uint64_t now)
{
    enum { FETCHES = CONSTANT_BYTES / FETCH_BYTES };
    Arrival *arrival = &sm->constant[piece % CONSTANTS];
    uint32_t fetch = piece * FETCHES;
    if (arrival->fetch != fetch + 1) {
        uint64_t back = now + way_beyond(sm, (uint64_t)sm->machine->l2_latency);
        *arrival = (Arrival){fetch + 1, later(back, fetch_arrival(sm, actor, fetch, now))};
    }
    return arrival->at;
}

/* When a line of it is in the smaller one; the one that was used longest ago makes room for it. */
static uint64_t near_arrival(Sm *sm, const Actor *actor, uint32_t line, uint64_t now)
{
    NearLine *oldest = sm->near;
    sm->near_clock++;
    for (NearLine *l = sm->near; l < sm->near + NEAR_LINES; l++) {
        if (l->used && l->line == line) {
            l->used = sm->near_clock;
            return l->at;
        }
        if (l->used < oldest->used) oldest = l;
    }
    uint64_t piece = piece_arrival(sm, actor, line / (CONSTANT_BYTES / CONST_L1_LINE_BYTES), now);
    uint64_t found = now + (uint64_t)sm->machine->l1_latency + NEAR_CYCLES;
    *oldest = (NearLine){line, sm->near_clock, piece > now ? piece : found};
    return oldest->at;
}

/* When what is wanted of constant memory is there; 0: it is. */
static uint64_t constants_arrival(Sm *sm, const Actor *actor, const TraceStep *step, uint64_t now)
{
    enum { NEAR_SECTORS = CONST_L1_LINE_BYTES / SECTOR, EACH = LINE_SECTORS / NEAR_SECTORS };
    const TraceLine *wanted = &actor->trace->line[step->wanted - 1];
    uint64_t at = 0;
    for (int more = 1; more; more = !wanted++->last)
        for (uint32_t i = 0; i < EACH; i++)
            if (wanted->sectors >> NEAR_SECTORS * i & 1)
                at = later(at, near_arrival(sm, actor, wanted->line * EACH + i, now));
    return at > now ? at : 0;
}

/* A copy past the L1 takes the load/store unit for as long as its lines are looked up, and where it
 * may be less than whole the zeros before it are written: what it brings goes in when it comes, so
 * many passes later, and whoever asks meanwhile is not held up. */
static uint64_t copy_issue(Sm *sm, const Actor *actor, const Ins *ins, const TraceStep *step,
                           uint64_t begin, uint32_t passes)
{
    enum { ZEROS = 4 }; /* passes of all lanes */
    uint32_t taken = lookups_past(step->lines) + (ins->c != NO_SLOT ? ZEROS : 0);
    if (taken > passes) taken = passes;
    sm->lsu = begin + (taken ? taken : 1);
    uint64_t back = sm->lsu - 1 + (uint64_t)sm->machine->l1_latency;
    if (step->wanted)
        back = later(back, load_issue(sm, actor, ins, step, begin));
    else if (step->misses)
        back = later(back, other_issue(sm, actor, ins, step, begin));
    return back + passes;
}

/* Issues a memory instruction; returns when its result is there. */
static uint64_t memory_issue(Sm *sm, const Actor *actor, const Ins *ins, const TraceStep *step,
                             uint64_t now)
{
    const SimtMachine *m = sm->machine;
    if (ins->op == OP_TEXTURE) return texture_issue(sm, actor, ins, step, now);
    uint64_t begin = later(now, sm->lsu);
    uint32_t passes = step->passes, behind = 0;
    if (has_result_delay(ins)) behind = passes / RESULT_DELAY_UNIT, passes %= RESULT_DELAY_UNIT;
    if (is_copy_past(ins)) return copy_issue(sm, actor, ins, step, begin, passes);
    sm->lsu = begin + (passes ? passes : 1);
    if (step->lines == REMOTE_LINES) {
        sm->remote = later(sm->remote, begin) + step->misses;
        return sm->remote + REMOTE_CYCLES;
    }
    if (ins->class == CLASS_SHARED_LOAD || ins->class == CLASS_SHARED_STORE)
        return sm->lsu - 1 + (uint64_t)m->shared_latency + conflicts_behind(ins, passes);
    uint64_t back = sm->lsu - 1 + (uint64_t)m->l1_latency + behind;
    if (ins->space == PTX_CONST) return back;
    if (step->wanted && ins->class != CLASS_ATOMIC && ins->class != CLASS_STORE &&
        !has_waited(sm, ins))
        return later(back, load_issue(sm, actor, ins, step, begin));
    if (step->misses) back = later(back, other_issue(sm, actor, ins, step, begin));
    return has_waited(sm, ins) ? back + step->wanted - interblock_nearer(m, ins) : back;
}

/* What counts for a phase has arrived at `at`; the last lets those go on who wait for it. */
static void phase_count(Sm *sm, uint32_t index, uint32_t number, uint64_t at)
{
    const Slot *slot = &sm->slot[index];
    Phase *phase = &slot->phases.phase[number];
    phase->at = later(phase->at, at);
    if (!phase->left || --phase->left) return;
    for (uint32_t w = 0; w < sm->warps; w++) {
        if (slot->actor[w] == NOBODY) continue;
        Actor *actor = &sm->actor[slot->actor[w]];
        if (!actor->live || actor->phase != number || !number) continue;
        actor->phase = 0, actor->ready = phase->at;
        turn_set(actor);
        sm->woken = 1;
    }
}

/* A bulk copy: when its bytes are there. */
static uint64_t bulk_issue(Sm *sm, const Ins *ins, const TraceStep *step, uint64_t now)
{
    const SimtMachine *m = sm->machine;
    uint32_t sectors = bulk_sectors(step);
    int store = ins->class == CLASS_STORE;
    uint64_t *debt = &sm->dram_debt[store];
    uint64_t sector = store ? SECTOR_BYTES * TICKS / STORED_BYTES : sm->bulk_sector;
    uint64_t written = dram_ticks(sm, store);
    if (store && sm->launch->kernel->bulk[ins->aux].reduction.present)
        written = written * ADDED_PERCENT / 100;
    sm->bulk = later(sm->bulk, now * TICKS) + sectors * sector;
    uint64_t back = sm->bulk / TICKS + way_beyond(sm, (uint64_t)m->l2_latency) + BULK_CYCLES;
    uint64_t wanted = *debt + (uint64_t)sectors * sm->dram_part[store];
    *debt = wanted & 0xffff;
    if (wanted >> 16 == 0) return back;
    dram_ask(sm, (wanted >> 16) * written, now);
    return later(back, sm->dram / TICKS + way_beyond(sm, (uint64_t)m->dram_latency) + BULK_CYCLES);
}

/* Issues what works beside the warps; returns when it has arrived. */
static uint64_t beside_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step,
                             uint64_t now)
{
    uint64_t at = ins->op == OP_BULK_COPY ? bulk_issue(sm, ins, step, now) : now + ARRIVE_CYCLES;
    if (counts_for_phase(ins)) phase_count(sm, sm->actor[number].slot, step->passes, at);
    return at;
}

/* Until when the warp that asks for it is held, which came to it at `from`: a wait takes its time
 * beside what it waits for. */
static uint64_t beside_holds(const Ins *ins, uint64_t from, uint64_t now)
{
    if (ins->op == OP_BULK_COPY)
        return now + 1 + (ins->class == CLASS_STORE ? STORE_ISSUE : BULK_ISSUE);
    if (ins->op != OP_MBARRIER) return 0;
    return mbarrier_waits(ins) ? from + 1 + PHASE_ISSUE : now + 1 + ARRIVE_ISSUE;
}

/* What comes behind an access may wait in front of memory, so much of it.  The texture units serve
 * one scheduler after the other. */
static void memory_gates(Sm *sm)
{
    uint64_t queue = sm->lsu > QUEUE_CYCLES ? sm->lsu - QUEUE_CYCLES : 0;
    if (sm->remote > REMOTE_QUEUE) queue = later(queue, sm->remote - REMOTE_QUEUE);
    uint64_t memory = later(sm->l2, sm->dram) / TICKS;
    memory = memory > MEMORY_QUEUE ? memory - MEMORY_QUEUE : 0;
    uint64_t texture = sm->texture > QUEUE_CYCLES ? sm->texture - QUEUE_CYCLES : 0;
    for (uint32_t s = 0; s < sm->schedulers; s++) {
        sm->gate[s * GATES + GATE_SHARED] = queue;
        sm->gate[s * GATES + GATE_MEMORY] = later(queue, memory);
        sm->gate[s * GATES + GATE_TEXTURE] =
            later(texture, memory) + (s + sm->schedulers - sm->textured - 1) % sm->schedulers;
    }
}

/* ---- issue -------------------------------------------------------------------------------- */

/* Books the cycles since the warp's last instruction on the one that waited; those at a barrier
 * first, and on the barrier. */
static void stalls_book(Sm *sm, const Actor *actor, uint32_t ins, uint64_t pipe, uint64_t now)
{
    uint64_t *stall = sm->stall, from = actor->turn->issued + 1;
    if (!stall) return;
    if (actor->held && actor->free > from) {
        uint64_t released = actor->free < now ? actor->free : now;
        stall[(size_t)(actor->held - 1) * SIMT_STALLS + STALL_BARRIER] += released - from;
        from = released;
    }
    stall += (size_t)sm->price[ins].origin * SIMT_STALLS;
    uint64_t operands = later(actor->ready, from), pipes = later(pipe, operands);
    if (operands > now) operands = now;
    if (pipes > now) pipes = now;
    uint64_t control = later(actor->free, from) > operands ? later(actor->free, from) : operands;
    if (control > now) control = now;
    stall[actor->wait] += operands > from ? operands - from : 0;
    stall[STALL_WAIT] += control - operands;
    uint64_t busy = later(pipes, control);
    const Ins *i = &sm->code[ins];
    stall[!is_memory(i)  ? STALL_MATH_PIPE
          : is_shared(i) ? STALL_MIO_THROTTLE
                         : STALL_LG_THROTTLE] += busy - control;
    stall[STALL_NOT_SELECTED] += now - busy;
    stall[STALL_SELECTED]++;
}

static void counter_raise(Actor *actor, uint8_t number, uint64_t at, uint8_t wait)
{
    if (number && at > actor->counter[number - 1].at)
        actor->counter[number - 1] = (Result){at, wait};
}

/* How long a branch of the PTX holds its warp; where lanes part one way waits for the other. */
static uint64_t branch_holds(const Ins *ins, const TraceStep *step)
{
    if (ins->class != CLASS_BRANCH) return 0;
    return BRANCH_CYCLES + (step->passes ? DIVERGENCE_CYCLES : 0);
}

/* How long the warp's next instruction waits for this one besides `busy` cycles. */
static uint64_t warp_holds(const Actor *actor, const Ins *ins, const InsCost *price, uint64_t busy)
{
    const TraceStep *step = &actor->trace->step[actor->next];
    int is_last = actor->next + 1 >= actor->trace->count;
    if (!price->follows) return branch_holds(ins, step);
    int passed = !is_last && step[1].ins == step->ins + 1; /* a branch that is not taken */
    uint64_t holds = ins->class == CLASS_BRANCH && !passed ? BRANCH_CYCLES : 0;
    return price->stall > busy + holds ? price->stall - busy : holds;
}

/* Cycles until the scheduler's next instruction.  A bank of registers gives one a cycle, and
 * instructions may be issued while no more than two cycles of that are outstanding. */
static uint64_t issue_holds(Sm *sm, uint32_t scheduler, const InsCost *price, uint64_t now)
{
    enum { OUTSTANDING = 2 };
    uint64_t next = now + (uint64_t)price->slots * sm->machine->issue_cycles;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t *bank = &sm->bank[2 * scheduler + i];
        if (price->fetches[i]) *bank = later(*bank, now) + price->fetches[i];
        next = later(next, *bank > OUTSTANDING ? *bank - OUTSTANDING : 0);
    }
    return next - now;
}

/* Floats are computed by two halves in turn, each of which takes two cycles; the first makes
 * integers' products, too. */
static void pipe_take(Sm *sm, uint32_t scheduler, const InsCost *price, uint64_t busy, uint64_t now)
{
    enum { FIRST, SECOND, HALF_CYCLES = 2 };
    uint64_t *gate = &sm->gate[(size_t)scheduler * GATES];
    uint8_t *half = &sm->half[scheduler];
    gate[price->pipe] = now + busy;
    if (price->pipe == PIPE_IMAD) *half = SECOND;
    if (price->pipe != PIPE_FP32) return;
    if (*half == FIRST) gate[PIPE_IMAD] = now + HALF_CYCLES;
    *half = !*half;
}

/* Constant memory gives one word after the other; where no lane wants any it takes as long as for
 * one.  Schedulers that want it take turns. */
static void constants_take(Sm *sm, uint32_t scheduler, const InsCost *price, const TraceStep *step,
                           uint64_t now)
{
    uint64_t busy = step->passes > price->busy ? step->passes : price->busy;
    for (uint32_t s = 0; s < sm->schedulers; s++)
        sm->gate[(size_t)s * GATES + PIPE_CONSTANT] =
            now + busy + (s + sm->schedulers - scheduler - 1) % sm->schedulers;
}

static void results_tell(Actor *actor, const Ins *ins, const InsCost *price, uint64_t at)
{
    for (int i = 0; i < 4 && ins->t_d[i]; i++)
        actor->result[ins->t_d[i]] = (Result){at, price->wait};
}

/* An instruction that only takes operands and makes a result, as nearly all do. */
static void issue_simply(Sm *sm, uint32_t scheduler, Actor *actor, uint64_t busy, uint64_t now)
{
    const TraceStep *step = &actor->trace->step[actor->next];
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    uint64_t at = now + price->latency;
    if (is_memory(ins)) {
        at = memory_issue(sm, actor, ins, step, now);
        if (ins->class == CLASS_STORE) sm->turned = (scheduler + 1) % sm->schedulers;
        memory_gates(sm);
    } else if (price->pipe) {
        pipe_take(sm, scheduler, price, price->busy, now);
    }
    results_tell(actor, ins, price, at);
    actor->held = 0;
    actor->free = now + busy + branch_holds(ins, step);
    actor->next++;
}

/* Each scheduler puts one warp to sleep after the other. */
static uint64_t sleep_issue(Sm *sm, uint32_t scheduler, const TraceStep *step, uint64_t now)
{
    uint64_t *asleep = &sm->asleep[scheduler];
    *asleep = later(*asleep, now) + (uint64_t)SLEEP_CYCLES * step->passes;
    return sleep_end(sm->machine, *asleep, step->wanted);
}

static void issue_other(Sm *sm, uint32_t scheduler, uint32_t number, uint64_t busy, uint64_t now)
{
    Actor *actor = &sm->actor[number];
    const TraceStep *step = &actor->trace->step[actor->next];
    const Ins *ins = &sm->code[step->ins];
    const InsCost *price = &sm->price[step->ins];
    uint64_t compares = match_cycles(ins, step->passes, price),
             at = now + price->latency + match_later(ins, step->passes),
             held = beside_holds(ins, actor->free, now);
    if (mbarrier_waits(ins))
        at = later(at, actor->free + WAIT_CYCLES);
    else if (ins->op == OP_BULK_COPY || ins->op == OP_VALUES_SEND || ins->op == OP_MBARRIER)
        at = beside_issue(sm, number, ins, step, now);
    else if (is_memory(ins))
        at = memory_issue(sm, actor, ins, step, now);
    else if (price->pipe == PIPE_CONSTANT)
        constants_take(sm, scheduler, price, step, now);
    else if (price->pipe)
        pipe_take(sm, scheduler, price, compares ? compares : price->busy, now);
    if (ins->op == OP_CLOCK) at += step->wanted;
    if (ins->space == PTX_CONST && step->wanted) {
        uint64_t arrival = constants_arrival(sm, actor, step, now);
        at = later(at, arrival);
        if (price->follows && !price->made) held = later(held, arrival); /* nobody is told */
    }
    uint64_t release = release_cycles(ins, &actor->before),
             rare = rare_cycles(ins, may_be_rare(ins) ? step->passes : 0);
    sm->scheduler[scheduler] += rare_slots(ins, step->passes);
    held = later(held, rare ? now + rare : 0);
    at += release + rare;
    if (ins->op == OP_TEXTURE) sm->textured = scheduler;
    if (ins->class == CLASS_STORE) sm->turned = (scheduler + 1) % sm->schedulers;
    if (is_memory(ins)) memory_gates(sm);
    if (price->follows) {
        counter_raise(actor, price->made, is_shared(ins) ? at - SHARED_SOONER : at, price->wait);
        counter_raise(actor, price->read, later(sm->lsu, now + READ_CYCLES),
                      STALL_SHORT_SCOREBOARD);
    }
    results_tell(actor, ins, price, at);
    if (ins->op == OP_WGMMA) actor->wgmma.latest = later(actor->wgmma.latest, at);
    if (ins->op == OP_BULK_COPY && ins->class == CLASS_STORE) {
        uint64_t read = sm->bulk / TICKS; /* before the bytes are on their way */
        actor->stored.latest = later(actor->stored.latest, at);
        actor->read.latest = later(actor->read.latest, read);
    }
    if (ins->op == OP_WGMMA_COMMIT) groups_commit(&actor->wgmma);
    if (ins->op == OP_BULK_GROUP && !ins->aux)
        groups_commit(&actor->read), groups_commit(&actor->stored);
    if (ins->op == OP_CP_ASYNC) actor->copied = later(actor->copied, at);
    if (ins->op == OP_CP_COMMIT) {
        memmove(actor->committed + 1, actor->committed, 3 * sizeof *actor->committed);
        actor->committed[0] = actor->copied;
    }
    if (ins->merge && ins->merge != MERGE_FOLLOWER) actor->joined = at;
    int barrier = ins->op == OP_BAR || ins->op == OP_CLUSTER_BARRIER;
    actor->held = barrier ? price->origin + 1 : 0;
    actor->free = now + busy + warp_holds(actor, ins, price, busy) + release;
    fence_delay(&actor->before, ins);
    if (ins->op == OP_FENCE && sm->launch->queue)
        actor->free += step->wanted, actor->before = 0;
    else if (ins->op == OP_FENCE)
        actor->free += fence_cycles(&actor->before);
    if (invalidates_l1(ins)) l1_invalidate(&sm->l1);
    if (ins->op == OP_ACCELERATOR) actor->free += step->passes;
    if (ins->op == OP_NANOSLEEP) actor->free = sleep_issue(sm, scheduler, step, actor->free);
    actor->free = later(actor->free, held);
    if (ins->shared_atomic == SHARED_RETRIES)
        actor->free += (uint64_t)step->passes / RETRY_PASSES * OWN_RETRY_CYCLES;
    actor->next++;
    if (barrier) barrier_issue(sm, number, ins, step, now);
    if (ins->op == OP_DEPENDENTS) dependents_issue(sm, number, ins, now);
}

static void issue(Sm *sm, uint32_t scheduler, uint32_t number, uint64_t now)
{
    Actor *actor = &sm->actor[number];
    uint32_t ins = actor->trace->step[actor->next].ins;
    const InsCost *price = &sm->price[ins];
    stalls_book(sm, actor, ins, sm->gate[scheduler * GATES + actor->turn->gate], now);
    clock_rise(sm, now);
    if (price->slows) clock_fall(sm, now);
    uint64_t busy = issue_holds(sm, scheduler, price, now);
    sm->scheduler[scheduler] = now + busy;
    turn_issued(sm, actor->turn, now + busy - 1);
    if (price->simple)
        issue_simply(sm, scheduler, actor, busy, now);
    else
        issue_other(sm, scheduler, number, busy, now);
    step_prepare(sm, actor);
    if (actor->next >= actor->trace->count && !actor->barrier)
        actor_finish(sm, number, later(now + 1, actor->free));
}

static uint64_t issue_time(const Sm *sm, uint32_t scheduler, const Turn *turn)
{
    return later(later(turn->can, sm->scheduler[scheduler]),
                 sm->gate[scheduler * GATES + turn->gate]);
}

/* The warp of this scheduler that can issue first, and when; of several the first in its order.
 * No processor foresees which, so there is no branch to foresee. */
static uint32_t choose(const Sm *sm, uint32_t scheduler, uint64_t *when)
{
    enum { BITS = 8 }; /* of a turn's number, beside a time */
    const Turn *turn = sm->turn + sm->turns[scheduler];
    const uint64_t *gate = sm->gate + (size_t)scheduler * GATES;
    uint64_t from = sm->scheduler[scheduler], none = NEVER << BITS, best = none;
    for (uint32_t i = 0; i < sm->here[scheduler]; i++) {
        uint64_t at = later(later(turn[i].can, gate[turn[i].gate]), from), key = at << BITS | i;
        best = key < best ? key : best;
    }
    *when = best == none ? NEVER : best >> BITS;
    return best == none ? NOBODY : turn[best & ((1u << BITS) - 1)].actor;
}

/* Is a store of this warp next, that waits in the L1?  Not what is spilled. */
static int will_store(const Sm *sm, uint32_t number)
{
    const Actor *actor = &sm->actor[number];
    if (number == NOBODY || actor->turn->gate != GATE_MEMORY) return 0;
    if (actor->next >= actor->trace->count) return 0;
    const Ins *ins = &sm->code[actor->trace->step[actor->next].ins];
    return ins->class == CLASS_STORE && ins->op != OP_SPILL;
}

/* Of schedulers that can store at the time at which this one can, the first behind that which
 * stored last: none stores twice before others have. */
static uint32_t store_turn(const Sm *sm, const uint32_t *who, const uint64_t *when, uint32_t next)
{
    for (uint32_t i = 0, s = sm->turned; i < sm->schedulers; i++) {
        if (when[s] == when[next] && will_store(sm, who[s])) return s;
        s = s + 1 < sm->schedulers ? s + 1 : 0;
    }
    return next;
}

/* Issues everywhere in the order of time until nobody is left. */
static void play(Sm *sm)
{
    uint64_t when[64];
    uint32_t who[64];
    for (uint32_t s = 0; s < sm->schedulers; s++)
        who[s] = choose(sm, s, &when[s]);
    for (;;) {
        uint32_t next = 0;
        for (uint32_t s = 1; s < sm->schedulers; s++)
            if (when[s] < when[next]) next = s;
        if (who[next] == NOBODY) break;
        if (will_store(sm, who[next])) next = store_turn(sm, who, when, next);
        uint64_t planned = when[next];
        /* Another scheduler's access may have made it wait, and no warp can go earlier. */
        if (issue_time(sm, next, sm->actor[who[next]].turn) > planned)
            who[next] = choose(sm, next, &when[next]);
        if (when[next] > planned) continue;
        Actor *actor = &sm->actor[who[next]];
        if (actor->next < actor->trace->count)
            issue(sm, next, who[next], when[next]);
        else
            actor_finish(sm, who[next], when[next]);
        who[next] = choose(sm, next, &when[next]);
        for (uint32_t s = 0; sm->woken && s < sm->schedulers; s++)
            who[s] = choose(sm, s, &when[s]);
        sm->woken = 0;
    }
}

/* ---- before and after --------------------------------------------------------------------- */

static void sm_start(Sm *sm, const ReplayMemory *memory)
{
    const SimtMachine *m = sm->machine;
    const Launch *launch = sm->launch;
    uint64_t active = launch->blocks < m->sms ? launch->blocks : m->sms;
    sm->memory = memory, sm->stores = memory->stores;
    sm->block_cycles = (uint64_t)(m->block_launch_cycles * (double)active + 0.5);
    sm->dram_part[0] = memory->dram_loads, sm->dram_part[1] = memory->dram_stores;
    clock_set(sm, m->clock_mhz);
}

/* Warps go around among the schedulers. */
static void turns_deal(Sm *sm)
{
    for (uint32_t s = 0; s + 1 < sm->schedulers; s++)
        sm->turns[s + 1] = sm->turns[s] + (sm->actors + sm->schedulers - 1 - s) / sm->schedulers;
}

static int sm_open(Sm *sm, Launch *launch, const BlockTrace *trace, uint32_t traces, int follows)
{
    const SimtMachine *m = &launch->gpu->machine;
    uint32_t slots = launch->block_places < traces ? launch->block_places : traces,
             places = slots * launch->warps_per_block;
    if (places > launch->warp_places) places = launch->warp_places;
    *sm = (Sm){.launch = launch,
               .trace = trace,
               .traces = traces,
               .machine = m,
               .follows = follows,
               .code = launch->kernel->played,
               .price = launch->kernel->price,
               .slots = slots,
               .warps = launch->warps_per_block,
               .actors = places,
               .free = places,
               .schedulers = m->schedulers > 64 ? 64 : m->schedulers};
    for (uint32_t i = 0; i < launch->kernel->count && !sm->phased; i++)
        sm->phased = counts_for_phase(&sm->code[i]) || mbarrier_waits(&sm->code[i]);
    sm->actor = calloc(sm->actors, sizeof *sm->actor);
    sm->slot = calloc(slots, sizeof *sm->slot);
    sm->crew = calloc((size_t)slots * sm->warps, sizeof *sm->crew);
    sm->ends = calloc(traces, sizeof *sm->ends);
    sm->turn = calloc(sm->actors, sizeof *sm->turn);
    sm->arrival = calloc(ARRIVALS, sizeof *sm->arrival);
    sm->fetched = calloc(launch->fetches / 64 + 1, sizeof *sm->fetched);
    sm->constant = calloc(CONSTANTS, sizeof *sm->constant);
    sm->turns = calloc(sm->schedulers, sizeof *sm->turns);
    sm->here = calloc(sm->schedulers, sizeof *sm->here);
    sm->gate = calloc((size_t)sm->schedulers * GATES, sizeof *sm->gate);
    sm->scheduler = calloc(sm->schedulers, sizeof *sm->scheduler);
    sm->bank = calloc(2 * (size_t)sm->schedulers, sizeof *sm->bank);
    sm->half = calloc(sm->schedulers, 1);
    sm->asleep = calloc(sm->schedulers, sizeof *sm->asleep);
    Result *result = calloc((size_t)sm->actors * launch->kernel->played_scores, sizeof *result);
    uint32_t code = follows ? launch->kernel->machine->count : launch->kernel->code_slots;
    int failed =
        l1_open(&sm->l1, l1_bytes(launch)) != 0 || code_open(&sm->code_cache, code, m) != 0;
    if (code_misses(&sm->code_cache)) sm->code_piece = launch->kernel->code_piece;
    if (failed || !sm->actor || !sm->slot || !sm->crew || !sm->ends || !sm->turn || !sm->arrival ||
        !sm->fetched || !sm->constant || !sm->turns || !sm->here || !sm->gate || !sm->scheduler ||
        !sm->bank || !sm->half || !sm->asleep || !result) {
        free(result);
        return -1;
    }
    for (uint32_t i = 0; i < sm->actors; i++) {
        sm->actor[i].result = result + (size_t)i * launch->kernel->played_scores;
        sm->actor[i].slot = NOBODY;
    }
    for (uint32_t i = 0; i < slots; i++)
        sm->slot[i].actor = sm->crew + (size_t)i * sm->warps;
    turns_deal(sm);
    return 0;
}

static void sm_close(Sm *sm)
{
    if (sm->actor) free(sm->actor[0].result);
    for (uint32_t i = 0; sm->actor && i < sm->actors; i++)
        free(sm->actor[i].own.step);
    for (uint32_t i = 0; sm->slot && i < sm->slots; i++)
        free(sm->slot[i].phases.phase);
    code_close(&sm->code_cache);
    free(sm->actor), free(sm->slot), free(sm->crew), free(sm->ends), free(sm->turn),
        free(sm->arrival), free(sm->fetched), free(sm->constant), l1_close(&sm->l1),
        free(sm->turns), free(sm->here), free(sm->gate), free(sm->scheduler), free(sm->bank),
        free(sm->half), free(sm->asleep);
}

static void block_add(const BlockTrace *block, ReplayResult *result)
{
    result->slots += block->slots, result->steps += block->steps;
    cost_add(&result->cost, &block->cost);
}

/* What a profile shows of the launch is of the SM that plays it now. */
static void sm_show(Sm *sm)
{
    Launch *launch = sm->launch;
    size_t stalls = (size_t)launch->kernel->count * SIMT_STALLS;
    sm->stall = launch->stall, sm->span = launch->span;
    launch->spans = 0;
    if (sm->stall) memset(sm->stall, 0, stalls * sizeof *sm->stall);
}

static void occupancy_show(const Sm *sm)
{
    if (sm->end)
        sm->launch->occupancy_percent =
            (uint32_t)(100 * sm->warp_cycles / (sm->end * sm->machine->max_warps_per_sm));
}

static int play_all(Launch *launch, const BlockTrace *trace, uint32_t count,
                    const ReplayMemory *memory, int follows, ReplayResult *result)
{
    Sm sm;
    int shows = follows || !launch->kernel->follow;
    if (sm_open(&sm, launch, trace, count, follows) != 0) {
        sm_close(&sm);
        return -1;
    }
    sm_start(&sm, memory);
    *result = (ReplayResult){0};
    if (shows) sm_show(&sm);
    for (uint32_t i = 0; i < count; i++)
        block_add(&trace[i], result);
    blocks_begin(&sm);
    if (!sm.failed) play(&sm);
    if (sm.failed) {
        sm_close(&sm);
        return -1;
    }
    if (shows) occupancy_show(&sm);
    /* Stores that are still on their way. */
    lines_send(&sm, NEVER);
    result->own = later(sm.end, later(later(sm.l2, sm.bulk), sm.dram) / TICKS);
    result->own = later(result->own, sm.remote);
    result->cycles = clock_told(&sm, result->own);
    result->told = sm.told, result->asked = sm.asked;
    result->guessed = sm.guessed, result->missed = sm.missed;
    result->stored = sm.stored, result->sent = sm.sent;
    result->later = clock_told(&sm, sm.end), result->later_blocks = count;
    uint32_t first = sm.most < count / 2 ? sm.most : count / 2;
    if (first >= launch->resident)
        result->later -= sm.ends[first - 1], result->later_blocks -= first;
    sm_close(&sm);
    return 0;
}

/* ---- machine code and the PTX that it was made of ------------------------------------------ */

/* Both are played at the same time: the PTX's steps, which get another order, are a copy. */
typedef struct Both {
    Launch *launch;
    const BlockTrace *trace;
    uint32_t count;
    const ReplayMemory *memory; /* what the SM has of it */
    ReplayResult machine, ptx;
    int failed[2];
} Both;

static int ptx_play(const Both *both, ReplayResult *result)
{
    BlockTrace *copy = steps_copy(both->launch, both->trace, both->count);
    int failed = !copy || play_all(both->launch, copy, both->count, both->memory, 0, result) != 0;
    free(copy);
    return failed;
}

static void both_share(void *context, int share)
{
    Both *both = context;
    both->failed[share] = share ? ptx_play(both, &both->ptx)
                                : play_all(both->launch, both->trace, both->count, both->memory, 1,
                                           &both->machine) != 0;
}

int replay_run(Launch *launch, const BlockTrace *trace, uint32_t count, const ReplayMemory *memory,
               ReplayResult *result)
{
    enum { FEW = 1 << 12 }; /* steps, that are sooner played than a thread begins */
    if (!launch->kernel->follow) return play_all(launch, trace, count, memory, 0, result);
    Both both = {.launch = launch, .trace = trace, .count = count, .memory = memory};
    if (gpu_threads(launch->gpu) > 1 && steps_count(launch, trace, count) > FEW) {
        parallel_run(2, both_share, &both);
    } else {
        both_share(&both, 0);
        both_share(&both, 1);
    }
    *result = both.ptx;
    if (both.machine.cycles * OF >= both.ptx.cycles * BELIEVED)
        result->cycles = both.machine.cycles, result->later = both.machine.later,
        result->own = both.machine.own;
    else
        result->cycles = result->cycles * BELIEVED / OF,
        result->later = result->later * BELIEVED / OF, result->own = result->own * BELIEVED / OF;
    result->guessed = both.machine.guessed, result->missed = both.machine.missed;
    result->stored = both.machine.stored, result->sent = both.machine.sent;
    result->told = both.machine.told, result->asked = both.machine.asked;
    return both.failed[0] || both.failed[1] ? -1 : 0;
}
