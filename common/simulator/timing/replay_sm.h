/* replay_sm.h - the state of one replayed SM, and what its modules call of each other.  Internal to
 * replay*.c.
 *
 * Times are cycles of the SM's own clock unless a comment says otherwise; bandwidths are in ticks,
 * 1/256 of a cycle. */
#ifndef CONVLAB_SIMT_TIMING_REPLAY_SM_H
#define CONVLAB_SIMT_TIMING_REPLAY_SM_H

#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/schedule.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/phases.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/traffic/code_cache.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/traffic/store_buffer.h"

enum {
    TICKS = 256,         /* per cycle */
    CLOCK_ONE = 65536,   /* SmClock.uncore_ratio at clock_mhz */
    BARRIER_OF_ALL = 1,  /* WarpReplay.barrier: __syncthreads() */
    BARRIER_OF_SOME = 2, /* ... and from here on, a numbered barrier of some warps */
    CONST_L1_MOST = 256, /* lines in the largest L1 constant cache */
    SASS_COUNTERS = 6,   /* scoreboards that an SASS instruction names */
    MOST_SCHEDULERS = 64,
    FETCHES_KEPT = 16384,  /* entries of SmMemory.fetch_arrival */
    CONSTANTS_KEPT = 1024, /* entries of SmMemory.constant: more than there are units */
    NO_WARP = 0xffffffff   /* no warp, slot or code block */
};

/* A resource that an instruction may wait for in addition to its operands: a Pipe of its scheduler,
 * or room in a memory queue.  The cycle at which it is free never decreases. */
enum { GATE_SHARED = PIPE_CONSTANT + 1, GATE_MEMORY, GATE_TEXTURE, GATES };

#define NEVER UINT64_MAX

typedef struct Score {
    uint64_t available; /* cycle at which the register's value is available */
    uint8_t stall;      /* SimtStall of an instruction that waits for it */
} Score;

/* An entry of a scheduler's list of warps.  The list is in the order of preference: the oldest
 * block's warps first, and of these the one that issued longest ago. */
typedef struct ReadyWarp {
    uint64_t ready_at;   /* earliest issue as far as the warp itself is concerned; NEVER */
    uint64_t last_issue; /* cycle of its last issue */
    uint32_t block;      /* ordinal of its block on this SM */
    uint32_t gate;       /* gate that its next step needs */
    uint32_t warp;       /* index into Sm.warp */
} ReadyWarp;

typedef struct WarpReplay {
    ReadyWarp *entry;
    uint64_t next_issue;   /* earliest cycle at which the warp may issue again */
    uint64_t operands;     /* cycle at which the next step's operands are available */
    int fence;             /* cycles of its next fence; 0: the costs' fence_cycles */
    uint8_t live, barrier; /* barrier: BARRIER_*, 0: waits at none */
    uint8_t has_triggered; /* griddepcontrol.launch_dependents */
    uint16_t phase;        /* the mbarrier phase that it waits for; 0: none */
    uint8_t stall;         /* SimtStall that explains `operands` */
    uint32_t slot, index;  /* its block's slot, its number in the block; NO_WARP: place is free */
    uint32_t block;        /* ordinal of its block on this SM, from 0 */
    uint64_t begin;        /* cycle at which its block began */
    const WarpTrace *trace;
    uint32_t step;      /* next one in the trace */
    uint32_t piece;     /* its current code block */
    uint32_t ptx_steps; /* length of the trace in PTX instructions */
    WarpTrace sass;     /* its SASS, where that is replayed */
    Score counter[SASS_COUNTERS];
    uint64_t copy_done;      /* cycle at which the bytes of its last cp.async have arrived */
    uint64_t copy_groups[4]; /* the same for its last committed groups, latest first */
    uint64_t vector_load;    /* cycle at which the last vectorised load's words are available */
    uint32_t barrier_ins;    /* PTX number of the barrier that it issued last, plus 1; 0: none */
    Groups wgmma, bulk_read, bulk_done; /* asynchronous groups: MMAs, and bulk copies out of shared
                                         * memory */
    Score *score;                       /* by scoreboard number */
} WarpReplay;

/* One request to DRAM or constant memory, and when its data is in the L2. */
typedef struct FetchArrival {
    uint32_t fetch; /* its number, plus 1 */
    uint64_t at;
} FetchArrival;

typedef struct ConstL1Line {
    uint32_t line, used; /* used: value of const_l1_clock at its last use; 0: empty */
    uint64_t at;         /* cycle at which its data has arrived */
} ConstL1Line;

typedef struct BlockSlot {
    const BlockTrace *block;             /* NULL: the slot is empty */
    uint32_t *warp;                      /* index of each warp; NO_WARP: it has ended */
    uint32_t live, waiting, untriggered; /* warps */
    uint64_t begin, begin_launch_cycle;
    Phases phases;
} BlockSlot;

/* ---- the state, by the module that owns it ----------------------------------------------- */

/* replay_clock.c.  The SM's clock falls while its tensor cores multiply. */
typedef struct SmClock {
    uint32_t uncore_ratio; /* 65536ths of the SM's cycles in one of clock_mhz */
    uint32_t falls;
    uint64_t slow_from, slow_until; /* the last stretch at the low clock */
    uint64_t slow_cycles;           /* ... and the SM's cycles in the stretches before */
} SmClock;

/* replay_frontend.c. */
typedef struct SmFrontEnd {
    CodeCache code_cache;
    const uint32_t *code_piece; /* code block of each instruction; NULL: the code fits the cache */
} SmFrontEnd;

/* replay_issue.c. */
typedef struct SmIssue {
    ReadyWarp *ready;         /* the schedulers' lists, one after another ... */
    uint32_t *first, *count;  /* start and length of each list */
    uint64_t *gate;           /* by scheduler and gate: cycle at which it is free */
    uint64_t *scheduler_free; /* cycle at which each may issue again */
    uint64_t *bank;           /* two per scheduler: cycle at which the register bank is idle */
    uint8_t *fp32_half;       /* per scheduler: which half computes the next FP32 instruction */
    uint64_t *sleep_unit;     /* per scheduler: cycle at which it can put a warp to sleep */
    uint32_t next_store;      /* scheduler after the one that stored last */
    int woken;                /* warps of any scheduler became ready */
    uint64_t *stall;          /* the launch's stall table, if this replay fills it ... */
    SimtTimeline *timeline;   /* ... and its timeline of warps; else NULL */
} SmIssue;

/* replay_memory.c. */
typedef struct SmMemory {
    const ReplayMemory *share;   /* the SM's share of L2 and DRAM */
    FetchArrival *fetch_arrival; /* by number; the latest of each place */
    uint64_t *fetched;           /* a bit for each fetch of DRAM that this SM has requested */
    FetchArrival *constant;      /* units of constant memory in the L1.5 */
    ConstL1Line const_l1[CONST_L1_MOST];
    uint32_t const_l1_clock;
    L1 l1;
    uint64_t estimated_sectors, replayed_sectors; /* beyond the L1: as counted, and as found here */
    uint64_t lsu_free, dsmem_free, texture_free;  /* cycle at which each unit is free */
    uint64_t l2_free, dram_free, bulk_free;       /* tick at which each is free */
    uint32_t texture_scheduler;                   /* served last by the texture units */
    uint64_t l2_sector, dram_sector[2], bulk_sector; /* ticks of a sector; loads, stores */
    uint32_t dram_part[2];         /* DRAM sectors per 65536 sectors; loads, stores */
    uint64_t dram_debt[2];         /* DRAM sectors not yet sent, in 65536ths */
    uint64_t dram_busy, dram_seen; /* ticks in the last DRAM_WINDOW cycles; end of that window */
    StoreBuffer store_buffer;
    StoreTraffic unbuffered, sent; /* stores: without the store buffer, and as sent */
    StoreCost store_cost;
} SmMemory;

/* replay_blocks.c. */
typedef struct SmBlocks {
    BlockSlot *slot;
    uint32_t slots;
    uint32_t *warp_index;                             /* the slots' BlockSlot.warp */
    uint32_t free_places;                             /* for warps */
    uint32_t resident, most_resident, started, ended; /* blocks */
    uint64_t launch_interval;       /* cycles between two blocks given to this SM */
    uint64_t next_launch;           /* earliest cycle of the next one */
    uint64_t offered;               /* latest cycle at which free places are given to blocks */
    uint64_t *ends;                 /* ends of blocks in ascending order; cycles of clock_mhz */
    uint64_t barrier_free;          /* cycle at which the barrier unit is free */
    uint64_t pdl_trigger, pdl_wait; /* as ReplayResult's */
    int has_phases;                 /* the kernel has what phases.h is for */
    SimtSpan *span;
} SmBlocks;

typedef struct Sm {
    Launch *launch;
    const BlockTrace *trace;
    uint32_t traces;
    const SimtMachine *machine;
    const Ins *code;
    const InsCost *price;
    int plays_sass;
    uint32_t schedulers, warps_per_block;
    WarpReplay *warp;
    uint32_t places; /* for warps */
    SmClock clock;
    SmFrontEnd front;
    SmIssue issue;
    SmMemory mem;
    SmBlocks blocks;
    uint64_t end, warp_cycles; /* cycle of the last block's end; sum of the warps' lifetimes */
    int failed;                /* out of memory */
} Sm;

static inline uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Latencies beyond the SM are of the uncore clock: the SM's cycles for these of clock_mhz. */
static inline uint64_t uncore_cycles(const Sm *sm, uint64_t cycles)
{
    return cycles * sm->clock.uncore_ratio / CLOCK_ONE;
}

/* A latency in cycles of clock_mhz, of which sm_side_latency are the SM's own, in SM cycles. */
static inline uint64_t uncore_latency(const Sm *sm, uint64_t cycles)
{
    const MachineCosts *costs = &sm->machine->costs;
    return cycles < costs->sm_side_latency
               ? cycles
               : costs->sm_side_latency + uncore_cycles(sm, cycles - costs->sm_side_latency);
}

/* After a change of what the warp waits for. */
static inline void ready_update(WarpReplay *warp)
{
    int waits = !warp->live || warp->barrier || warp->phase;
    warp->entry->ready_at = waits ? NEVER : max64(warp->next_issue, warp->operands);
}

static inline int is_shared(const Ins *ins)
{
    return ins->class == CLASS_SHARED_LOAD || ins->class == CLASS_SHARED_STORE;
}

/* ---- replay_clock.c ---- */
/* Sets the SM's clock; the bandwidths beyond the SM follow from it. */
void clock_set(Sm *sm, double mhz);
/* A tensor core instruction issues: the clock is low until some time after the last one. */
void clock_fall(Sm *sm, uint64_t now);
void clock_rise(Sm *sm, uint64_t now);
/* The cycle of clock_mhz, since the launch began, of an SM cycle that has been reached. */
uint64_t launch_cycle(const Sm *sm, uint64_t at);

/* ---- replay_frontend.c ---- */
/* Skips folded instructions and finds when the warp's next one could issue. */
void step_next(Sm *sm, WarpReplay *warp);

/* ---- replay_timeline.c ---- */
/* Adds `to - from` cycles of a stall to the warp's bins. */
void timeline_add(Sm *sm, const WarpReplay *warp, uint32_t origin, SimtStall stall, uint64_t from,
                  uint64_t to);

/* ---- replay_issue.c ---- */
/* Adds a warp of the newest block to its scheduler's list. */
void ready_add(Sm *sm, uint32_t number, uint64_t begin);
void ready_remove(Sm *sm, ReadyWarp *entry);
/* Issues on all schedulers, in time order, until no warp is left. */
void sm_play(Sm *sm);

/* ---- replay_memory.c ---- */
/* Issues a memory instruction; returns the cycle at which its result is available. */
uint64_t memory_issue(Sm *sm, const WarpReplay *warp, const Ins *ins, const TraceStep *step,
                      uint64_t now);
/* Issues an instruction of an asynchronous unit; returns the cycle at which it has arrived. */
uint64_t async_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step, uint64_t now);
/* The cycle at which constants are available; 0: they are cached. */
uint64_t constants_arrival(Sm *sm, const WarpReplay *warp, const TraceStep *step, uint64_t now);
/* Updates the gates of the memory queues after an access. */
void memory_gates(Sm *sm);
/* Sends the buffered lines that are due by `now`. */
void lines_send(Sm *sm, uint64_t now);

/* ---- replay_blocks.c ---- */
/* Starts blocks while places are free. */
void blocks_begin(Sm *sm);
void barrier_issue(Sm *sm, uint32_t number, const Ins *ins, const TraceStep *step, uint64_t now);
void dependents_issue(Sm *sm, uint32_t number, const Ins *ins, uint64_t now);
void warp_finish(Sm *sm, uint32_t number, uint64_t now);
/* Counts an arrival at cycle `at` for a phase; the last one wakes the warps that wait for it. */
void phase_count(Sm *sm, uint32_t slot, uint32_t number, uint64_t at);

#endif
