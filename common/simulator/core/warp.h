/* warp.h - a warp and its thread block during execution.
 *
 * exec owns both.  Each struct inside Warp belongs to one subject; its comment names other modules
 * that use it. */
#ifndef CONVLAB_SIMT_CORE_WARP_H
#define CONVLAB_SIMT_CORE_WARP_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/core/instruction.h"
#include "common/simulator/core/trace.h"

typedef struct Worker Worker;
typedef struct Block Block;
typedef struct Flight Flight; /* async.h, like the next four */
typedef struct Departure Departure;
typedef struct ProductRead ProductRead;
typedef struct Visit Visit;
typedef struct PhaseNumber PhaseNumber;

typedef enum WarpState {
    WARP_READY,
    WARP_BARRIER,
    WARP_PHASE, /* waits for a phase of an mbarrier */
    WARP_CLUSTER,
    WARP_DONE,
    WARP_FAULT
} WarpState;

/* ---- control flow ---------------------------------------------------------------------------- */
typedef struct Path {
    uint32_t pc, mask, rpc;
    uint32_t waits; /* lanes that must arrive at `pc` before this path continues; 0: none */
} Path;

/* A call that some lanes have not returned from. */
typedef struct CallFrame {
    const Ins *call;
    uint32_t mask;
    uint32_t stack; /* bytes of the GPU's stack, with all outer frames */
    size_t saved;   /* offset in CallStack.saved of the routine's registers and outer frames */
} CallFrame;

/* Calls of routines (calls.c). */
typedef struct CallStack {
    CallFrame *frame; /* the innermost last */
    uint32_t count, room;
    char *saved; /* registers, of all frames */
    size_t saved_bytes, saved_room;
} CallStack;

/* Backward branches in polling loops, after which other paths and warps run first. */
typedef struct WarpYield {
    uint32_t iterations; /* failed iterations of some of the warp's lanes */
    int has_switched;    /* other lanes of the warp continued without them */
    int is_paused;       /* yielded in a loop that also does other work */
    uint32_t loop;       /* instructions of the last loop in which it yielded */
    uint32_t awaited;    /* Path.waits of the current path */
} WarpYield;

/* ---- communication --------------------------------------------------------------------------- */
/* A launch in time order (timing/interblock.h): cycles are those of the launch. */
typedef struct WarpInterblock {
    uint64_t gate;           /* cycle at which the warp continues; 0: runs, or waits elsewhere */
    uint64_t cleared_at;     /* value of `gate` that it may pass; 0: none */
    uint64_t access_at;      /* cycle of its last access */
    uint64_t queued;         /* cycles for which that access waited for others in the L2 */
    uint64_t late;           /* ... and for the warp's own atomic */
    uint64_t atomic_done_at; /* cycle at which the last atomic's result is available */
    uint64_t poll_cycles;    /* cycles of its failed polls */
    uint32_t clock_polls;    /* failed polls of the clock in a row */
    uint32_t failed_polls;   /* failed polls of memory in a row */
    const Ins *cleared_ins;  /* the access that it was cleared for; NULL: none yet */
    uint8_t is_fenced;       /* no store since its last fence */
    uint8_t is_across;       /* the last access is to the other L2 partition */
    uint8_t was_poll;        /* only polled when it was last cleared */
} WarpInterblock;

typedef struct WarpBarrier {
    uint32_t id, threads; /* the barrier that it waits at; threads: 0: all of the block */
    const Ins *ins;
    uint32_t cluster_arrivals, cluster_waits; /* at the cluster's barrier, so far */
} WarpBarrier;

/* The wait for a phase of an mbarrier. */
typedef struct WarpPhase {
    const Ins *ins;
    uint32_t mask, failed_polls;
    uint64_t complete_at; /* cycle of the critical path at which the phase was complete */
} WarpPhase;

/* A cp.async whose bytes have not arrived yet. */
typedef struct AsyncCopy {
    uint32_t to, group, ins;
    uint32_t epoch; /* the lower bits of the worker's epoch when it was issued */
    uint8_t lane, bytes;
    unsigned char data[16];
} AsyncCopy;

typedef struct AsyncCopies {
    AsyncCopy *copy;
    uint32_t count, room, group;
} AsyncCopies;

/* wgmma instructions, for the checks of their registers (exec_wgmma.h). */
typedef struct WarpWgmma {
    uint32_t group, landed; /* committed groups so far, and those waited for */
    uint32_t fences, count; /* wgmma.fence and wgmma.mma_async instructions so far */
    const Ins *ins;         /* the latest wgmma.mma_async */
    uint32_t *in_flight;    /* per register of wgmma: the group that uses it, plus 1; 0: none */
    uint32_t *written;      /* per register: `fences` at its last write, plus 1; 0: none */
    uint32_t *added;        /* per register: `fences` at the last wgmma that added to it, plus 1 */
} WarpWgmma;

/* Fences between the generic and the async proxy, for racecheck (checks). */
typedef struct ProxyFences {
    uint32_t count;
    uint64_t epoch; /* Worker's epoch of the last one */
} ProxyFences;

/* ---- counting (timing) ----------------------------------------------------------------------- */
/* The chain of dependent instructions of a warp that is alone on the machine (critical_path.h). */
typedef struct CriticalPath {
    uint64_t *ready;               /* per scoreboard number */
    uint64_t begin, latest, slots; /* position in the current straight-line code */
    uint64_t copied, joined;
    uint32_t iterations; /* those of the current unrolled loop */
    int before;          /* cycles of its next fence; 0: FENCE_CYCLES */
} CriticalPath;

typedef struct WarpCounts {
    uint32_t l1_fills;     /* lines that it loaded into the L1 */
    uint32_t retries;      /* iterations of loops of atomics in shared memory */
    uint32_t l2_accesses;  /* accesses to global memory that the L2 model samples from */
    uint32_t bulk_sectors; /* the same of bulk copies */
} WarpCounts;

/* ---- undefined values in registers (checks/definedness.h) ------------------------------------ */
typedef struct UndefinedSource UndefinedSource;

/* Registers are numbered by their slot / 4.  Arrays are NULL until the first undefined value. */
typedef struct WarpUndefined {
    int is_followed;       /* Boolean: a register has undefined lanes */
    uint32_t count;        /* number of such registers */
    uint32_t *lanes;       /* per register: its undefined lanes */
    uint16_t *source;      /* per register: where they come from, from 1; 0: never assigned */
    UndefinedSource *from; /* loads and registers, in the order in which they were found */
    uint32_t sources, room;
    uint32_t result[8]; /* undefined lanes of the results of an MMA, before they are written */
    uint16_t result_source[8];
} WarpUndefined;

struct Warp {
    char *file; /* registers */
    uint32_t mask, alive, rpc, depth;
    uint32_t chunk; /* instructions until the run loop examines limits and `undefined` */
    const Ins *pc, *code;
    Block *block;
    Worker *worker;
    int count;    /* counters wanted */
    int observed; /* accesses are counted, searched for races, or recorded in SimtLaunch.touch */
    uint64_t
        digest; /* digest of control flow and addresses, if the launch digests them (digest.h) */
    WarpState state;
    uint32_t index;
    unsigned char *local; /* LANES * the launch's local_bytes */
    uint64_t clock;       /* value of clock registers; independent of the time model */
    WarpStep step;        /* the current instruction; becomes a TraceStep */
    WarpTrace *trace;     /* NULL: nothing is counted */
    CriticalPath chain;
    WarpCounts counts;
    WarpYield yield;
    WarpInterblock interblock;
    WarpBarrier barrier;
    WarpPhase phase;
    AsyncCopies copies;
    WarpWgmma wgmma;
    ProxyFences proxy;
    uint32_t syncs;        /* synchronisations of its lanes: __syncwarp, shuffles, votes */
    int has_unsynced;      /* Boolean: with warnings or warp_sync, lanes stored to shared
                       * memory since the last one */
    const Ins *same_store; /* the last store of one value to one word by several lanes, each of
                            * which may read the word: it is its own value */
    int early_over;        /* it has waited for the previous launch */
    WarpUndefined undefined;
    CallStack calls;
    Path *stack; /* own_stack, or a larger one if calls need it */
    uint32_t stack_room;
    Path own_stack[STACK_DEPTH];
};

struct Block {
    uint64_t number;
    uint32_t id[3];
    unsigned char *shared, *shared_shadow;
    uint32_t shared_bytes;
    uint32_t warps, threads;
    uint32_t arrived[MAX_BARRIERS];  /* threads that bar.arrive has counted */
    uint32_t expected[MAX_BARRIERS]; /* threads that the barrier waits for; 0: not known yet */
    Warp *warp;
    Flight *flight; /* bulk copies whose bytes have not arrived */
    uint32_t flights, flight_room, flight_bytes;
    Departure *departure; /* copies out of shared memory, for racecheck */
    uint32_t departures, departure_room;
    uint32_t l1_since; /* WorkerL1.clock at the last invalidation of the block's L1 */
    ProductRead *read; /* for racecheck, a row per warp (async.h); NULL: no wgmma yet */
    Visit *visit;      /* for racecheck, by warp of the cluster (race_cluster.c); NULL: none yet */
    uint64_t visits;   /* so far */
    PhaseNumber *phase;
    uint32_t *phase_at; /* by the barrier's offset: its place in `phase`, plus 1; 0: none */
    uint32_t phases, phase_room, phase_count;
    uint64_t progress;   /* arrivals and bytes counted by its mbarriers */
    uint64_t early_over; /* epoch of a warp's first wait for the previous launch; 0: none */
};

#endif
