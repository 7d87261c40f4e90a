/* launch_state.h - a launch during its execution, and its profile. */
#ifndef CONVLAB_SIMT_CORE_LAUNCH_STATE_H
#define CONVLAB_SIMT_CORE_LAUNCH_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/core/block_cost.h"
#include "common/simulator/core/layout.h"
#include "common/simulator/core/profile.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/core/trace.h"

typedef struct RaceOrder RaceOrder; /* race_order.h */
typedef struct AccessLog AccessLog; /* access_log.h */

/* racecheck between blocks (checks): the GPU's RaceShadow, as far as this launch has device
 * memory; NULL: racecheck is off. */
typedef struct LaunchRace {
    uint32_t *readers, *writers;
    uint64_t *values, words;
    unsigned char *taken; /* per range of words: in use */
    struct RowLock *row_lock;
    RaceOrder *order; /* race_order.c; NULL: the kernel orders nothing itself */
} LaunchRace;

/* Sectors that the launch touches (traffic.c, dram_fetch.h). */
typedef struct LaunchTouched {
    uint64_t *loaded, *stored; /* bits, merged from the workers' */
    uint64_t words;            /* of each */
    uint32_t *first;           /* moment of the first request for each DRAM fetch */
    uint64_t fetches;
} LaunchTouched;

/* Traces of the blocks that SM 0 replays (timing/trace.c). */
typedef struct LaunchTrace {
    BlockTrace *block;
    WarpTrace *warps;
    TraceStep *steps;
    TraceLine *lines;
    uint32_t blocks, room;     /* blocks; steps of each of their warps */
    uint32_t more;             /* blocks that are traced if warps end early */
    double load_sector_ratio;  /* sectors of loads beyond the L1: replayed over counted */
    double store_sector_ratio; /* the same of stores */
} LaunchTrace;

/* Profile of the replayed SM and of the first blocks; pointers are NULL if it is not wanted. */
typedef struct LaunchProfile {
    uint64_t *stall; /* per Ins and SimtStall */
    SimtSpan *span;  /* times of the traced blocks */
    uint32_t spans;
    SimtTimeline timeline;
    AccessLog *watcher; /* records of the first blocks */
    uint32_t watchers;
} LaunchProfile;

/* Contention for one sector of the L2, in hundredths of a cycle. */
typedef struct L2Contention {
    uint64_t busy;      /* time at which the sector is free */
    uint64_t added;     /* last change by an atomic; 0: never */
    uint64_t copied;    /* arrival of that change in the other L2 partition; 0: not requested */
    uint64_t last_poll; /* time of the last poll */
} L2Contention;

/* A launch whose blocks run in time order (timing/interblock.h). */
typedef struct LaunchInterblock {
    L2Contention *queue;     /* sectors of the L2, hashed; NULL: blocks run in any order */
    uint32_t *fetch_done_at; /* cycle at which each DRAM fetch is in the L2; 0: not requested */
    uint64_t next_event;     /* earliest cycle of an action other than a poll */
} LaunchInterblock;

/* DRAM traffic in sectors. */
typedef struct LaunchDram {
    int l2_thrashes; /* the working set exceeds the L2, so reuse misses */
    uint64_t loads, stores;
    uint64_t fills;   /* loaded because a store wrote only a part of them */
    uint64_t written; /* stored, and evicted from the L2 before the end of the launch */
    uint64_t rows;    /* write-backs of lines to DRAM, and fills of their other sectors */
} LaunchDram;

enum { HOT_ADDRESSES = 4096, HOT_SLICES = 128 };

/* Hundredths of a cycle that the L2 needs for atomics and polls. */
typedef struct LaunchContention {
    uint32_t atomics[HOT_ADDRESSES]; /* by word, hashed */
    uint32_t slice[HOT_SLICES];      /* atomics, by slice of the L2 */
    uint32_t most_atomics;           /* maximum of both */
    uint32_t polls[HOT_ADDRESSES];   /* by sector, hashed */
    uint32_t most_polls;
} LaunchContention;

typedef struct Launch {
    SimtGpu *gpu;
    SimtKernel *kernel;
    const SimtLaunch *launch;
    uint64_t blocks, limit;
    int notes;        /* its accesses are recorded, or compared with those of the previous launch */
    int early_over;   /* its blocks order each other, and one waited for the previous launch */
    int tells;        /* SimtTells: a block has let the next launch begin */
    uint64_t stop_at; /* blocks from this number on need not run */
    uint32_t threads_per_block, warps_per_block, shared_bytes, resident;
    uint32_t reserved_at;                /* address of CUDA's own part of shared memory, if used */
    uint32_t warp_places, block_places;  /* warps of this kernel and blocks that an SM can hold */
    uint32_t local_bytes;                /* per thread: the kernel's, and that of its calls */
    uint32_t cluster[3], cluster_blocks; /* 0: the launch has no clusters */
    uint32_t number;                     /* number among the GPU's launches, from 1 */
    uint64_t grid_barrier;               /* address of the barrier of a cooperative grid; 0: none */
    uint32_t occupancy_percent;
    int count;
    int digests; /* Boolean: control flow and addresses are digested (timing/digest.h) */
    LaunchTouched touched;
    LaunchRace race;
    LaunchTrace trace;
    LaunchProfile profile;
    LaunchInterblock interblock;
    int timeout;
    uint64_t timeout_block;
    /* Host threads change the following while others run.  They share no cache line with the fields
     * above, which all threads read. */
    _Alignas(SHARED_LINE) uint64_t next;
    uint64_t executed;
    uint64_t digest;    /* sum of the blocks' digests, if `digests` */
    uint32_t prints;    /* calls of printf */
    int lost;           /* output beyond the limit was dropped */
    size_t saved_bytes; /* allocated for registers of calls that have not returned */
    LaunchDram dram;
    LaunchContention contention;
} Launch;

/* ---- profile.c ------------------------------------------------------------------------------- */
int profile_open(Launch *launch);
void profile_close(Launch *launch);
/* Fills in the lines of *result with the most local sectors, excess sectors and bank conflicts. */
void profile_hot_lines(const Launch *launch, const InsCount *count, SimtResult *result);
/* Adds each line's warp instructions to launch->launch->line_work, if that is not NULL. */
void profile_line_work(const Launch *launch, const InsCount *count);
/* Makes the launch's profile the GPU's, unless a longer launch was profiled before (returns 0 in
 * that case).  `count` is the sum over all workers. */
int profile_keep(Launch *launch, const InsCount *count, uint64_t cycles);
/* Adds the launch's counts to its kernel's `runs`. */
void profile_add_runs(const Launch *launch, const InsCount *count);

#endif
