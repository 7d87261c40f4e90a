/* worker.h - a worker: one host thread that executes blocks, with their registers, shared memory
 * and counts. */
#ifndef CONVLAB_SIMT_CORE_WORKER_H
#define CONVLAB_SIMT_CORE_WORKER_H

#include <stdint.h>

#include "common/base/counters.h"
#include "common/simulator/core/access_state.h"
#include "common/simulator/core/block_cost.h"
#include "common/simulator/core/launch_arena.h"
#include "common/simulator/core/memory.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/core/trace.h"
#include "common/simulator/core/warp.h"

typedef struct Launch Launch;
typedef struct RaceWords RaceWords; /* race.h */
typedef struct AccessLog AccessLog; /* access_log.h */

/* racecheck (checks). */
typedef struct WorkerRace {
    int is_on;
    RaceWords *shared, *global;
    uint64_t *copied; /* a bit for each word of shared memory, for race_copies() */
    uint64_t era;     /* epochs that its tags can distinguish */
    int is_fenced;    /* the current block executed a fence */
} WorkerRace;

/* The cluster of the current block. */
typedef struct WorkerCluster {
    Worker **peer; /* by rank; NULL without clusters */
    uint32_t peers, rank;
} WorkerCluster;

/* Blocks that run side by side (coresident.c). */
typedef struct WorkerProgress {
    int is_busy;     /* has a current block */
    uint64_t begun;  /* cycle of the launch at which that began (interblock.h) */
    uint32_t effort; /* iterations of a short loop, if it did nothing else when it last ran */
} WorkerProgress;

/* The worker's part of the launch's instruction limit, and the start of other workers. */
typedef struct WorkerBudget {
    uint64_t ran;               /* warp instructions of the current block, approximately */
    uint64_t charged, patience; /* warp instructions not yet added to the launch's; their maximum */
    void (*begin)(void *);      /* starts other workers; NULL: they run, or there are none */
    void *others;               /* argument of `begin` */
} WorkerBudget;

/* Findings with the same check and pair of lines.  Unknown lines are all different. */
typedef struct FindingGroup {
    SimtFinding found;
    uint64_t block;      /* block of the first one */
    uint32_t ins, other; /* instructions of the last of them */
} FindingGroup;

/* Findings of the checks.  Blocks come in rising order, so the first is the launch's first. */
typedef struct WorkerFindings {
    uint64_t count;      /* findings after which execution continues */
    FindingGroup *group; /* SIMT_FINDINGS of them, in order, or NULL before the first finding */
    uint32_t groups;
    SimtReport fault;
    uint64_t fault_block;
    const Ins *stopped; /* instruction of a warp at the launch's limit, or NULL */
    uint64_t stopped_block;
} WorkerFindings;

struct Worker {
    Launch *launch;
    SimtGpu *gpu;
    SimtKernel *kernel;
    LaunchArena *arena; /* its memory, which the next launch reuses */
    Block block;
    Warp *warp;
    char *files;
    size_t file_stride;
    Allocation **hit; /* per memory instruction: allocation of its last access */
    unsigned char *shared, *shared_shadow, *local;
    /* A bit per byte of the kernel's own variables in local memory; NULL: not checked. */
    unsigned char *local_shadow;
    const unsigned char *params;
    uint32_t params_bytes;
    int initcheck;
    uint64_t epoch;            /* barriers and blocks so far: nothing orders accesses in between */
    uint64_t block_epoch;      /* value of `epoch` at the start of the current block */
    uint32_t *wgmma_registers; /* arrays of all warps' WarpWgmma */
    const Handler *handlers;
    WorkerRace race;
    WorkerCluster cluster;
    WorkerProgress progress;
    WorkerBudget budget;
    WorkerFindings findings;
    /* Counting (timing, traffic). */
    InsCount *profile;      /* per instruction, of all blocks of this worker */
    Wavefronts *wavefronts; /* per memory instruction */
    AccessLog *watcher;     /* record of the current block; NULL: none */
    uint64_t *critical_ready;
    Counters counters;
    BlockCost cost;   /* work of the current block */
    BlockCost *sm;    /* per SM */
    uint64_t longest; /* critical path of any block, in cycles */
    uint64_t ended;   /* cycle of the last block's end, in a launch in time order */
    Heaviest heaviest;
    Retries retries; /* atomics of the current block */
    Retried retried;
    WorkerL1 l1;
    WorkerTraffic traffic;
    L2Log l2;
    int failed; /* out of host memory */
};

#endif
