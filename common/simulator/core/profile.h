/* profile.h - where a launch's instructions, sectors and cycles went, PTX instruction by PTX
 * instruction and block by block.
 *
 * Counts are exact and of the whole launch.  Stall cycles come from the cycle model's replay of one
 * SM (replay.c): each is one cycle of one warp, as a profiler's warp-state samples are, named as
 * Nsight Compute names them. */
#ifndef CONVLAB_SIMT_PROFILE_H
#define CONVLAB_SIMT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/array_name.h"

typedef enum SimtStall {
    STALL_SELECTED,         /* issued in this cycle */
    STALL_NOT_SELECTED,     /* could issue, the scheduler took another warp */
    STALL_WAIT,             /* a fixed latency: an arithmetic result is not yet available */
    STALL_LONG_SCOREBOARD,  /* waits for global memory */
    STALL_SHORT_SCOREBOARD, /* waits for shared memory */
    STALL_MATH_PIPE,        /* the arithmetic pipe is taken */
    STALL_LG_THROTTLE,      /* the load/store unit is taken */
    STALL_MIO_THROTTLE,     /* the shared-memory pipe is taken */
    STALL_BARRIER,          /* waits for the other warps of the block; the barrier's own */
    STALL_LOCAL,            /* as the long scoreboard, for local memory */
    STALL_SPECIAL,          /* as the short one, for a division or a special function */
    STALL_MBARRIER,         /* waits for a phase of an mbarrier: for copies or for other warps */
    STALL_GMMA,             /* waits for results of mma, or for groups of wgmma */
    STALL_TENSOR_PIPE,      /* as the math pipe, for the tensor cores */
    SIMT_STALLS
} SimtStall;

typedef struct SimtInstruction {
    uint32_t ptx_line;  /* in the module's PTX text, from 1 */
    const char *file;   /* source file without directories; "" without -lineinfo */
    uint32_t line;      /* in that file; 0 unknown */
    const char *caller; /* file of the call, if a function of another file is inlined; or "" */
    uint32_t caller_line;
    const char *opcode; /* "ld.global.nc.f32" */
    const char *text;   /* the whole instruction, "ld.global.nc.f32 %f1, [%rd2];" */
    uint64_t warp_instructions, thread_instructions;
    uint64_t requests, sectors, l1_hits; /* global memory */
    uint64_t local_requests, local_sectors;
    uint64_t shared_requests, wavefronts; /* shared memory */
    uint64_t branches, divergent;
    uint64_t stall[SIMT_STALLS]; /* cycles x warps of the replayed SM */
} SimtInstruction;

/* One block's stay on an SM of the replay. */
typedef struct SimtSpan {
    uint32_t sm;
    uint64_t block, begin, end; /* linear block number; cycles since the launch began */
} SimtSpan;

/* Warps of the first blocks over time, in bins of equal length. */
enum { TIMELINE_BLOCKS = 4, TIMELINE_WARPS = 32, TIMELINE_BINS = 1024 };

typedef struct SimtBin {
    uint32_t cycles[SIMT_STALLS]; /* cycles of the bin, by stall */
    uint32_t instruction;         /* number in SimtProfile.instruction of the longest stall */
    uint32_t longest;             /* its cycles */
} SimtBin;

typedef struct SimtTimeline {
    SimtBin *bin;             /* by block, warp and time: TIMELINE_BINS for each warp; NULL: none */
    uint64_t bin_cycles, end; /* cycles of the replayed SM */
    uint64_t block[TIMELINE_BLOCKS];
    uint32_t blocks, warps; /* warps: of each block, at most TIMELINE_WARPS */
} SimtTimeline;

static inline SimtBin *timeline_bins(const SimtTimeline *timeline, uint32_t block, uint32_t warp)
{
    return timeline->bin + ((size_t)block * timeline->warps + warp) * TIMELINE_BINS;
}

/* Effect on memory of one instruction of one warp, or divergence of its lanes. */
typedef enum SimtSightKind {
    SIGHT_GLOBAL,
    SIGHT_SHARED,
    SIGHT_LOCAL,
    SIGHT_CONSTANT,
    SIGHT_ATOMIC,
    SIGHT_BRANCH
} SimtSightKind;

typedef struct SimtSight {
    uint32_t instruction;             /* number in SimtProfile.instruction */
    uint32_t order;                   /* among the sights of its block */
    uint8_t kind, store, bytes, warp; /* bytes: of one lane */
    uint32_t mask;                    /* active lanes */
    uint32_t taken;                   /* SIGHT_BRANCH: those that jump; 0: by a table */
    uint64_t address[32];             /* per active lane: in device memory, or an offset in shared
                                       * or local memory */
} SimtSight;

/* An array that has a name, and how often a block read and wrote each of its elements (up to
 * 65,535 times). */
typedef struct SimtTouched {
    ArrayName array;
    uint64_t address, elements;
    uint16_t *reads, *writes;
} SimtTouched;

/* One block of a launch, looked at. */
typedef struct SimtWatch {
    uint32_t block[3];
    SimtSight *sight; /* in the order in which the block's warps were executed */
    uint32_t sights;
    uint64_t left_out; /* sights of these warps that there was no room for */
    SimtTouched *touched;
    uint32_t arrays;
} SimtWatch;

/* Profile of one launch; strings live as long as the module, arrays as long as the profile. */
typedef struct SimtProfile SimtProfile;
struct SimtProfile {
    char kernel[256]; /* its plain name */
    uint64_t cycles;  /* duration of the whole launch */
    SimtInstruction *instruction;
    uint32_t instructions;
    SimtSpan *span;
    uint32_t spans;
    uint64_t replayed_cycles; /* duration of the replay, from which stalls and spans were taken */
    uint32_t spilled_bytes;   /* bytes per thread that ptxas spills; in SASS only */
    uint32_t spills;          /* spill accesses that are counted and priced */
    uint32_t spill_line;      /* line with most of these; 0: not known */
    uint32_t array_bytes;     /* bytes per thread of local arrays in PTX */
    uint32_t grid[3], threads[3];
    uint32_t number;          /* among the GPU's launches, from 1 */
    uint32_t registers;       /* per thread */
    uint32_t shared_bytes;    /* per block */
    uint32_t resident_blocks; /* per SM */
    uint64_t dram_bytes;
    SimtTimeline timeline;
    SimtWatch *watch; /* logs of the first blocks: access_log.c describes which part */
    uint32_t watches;
};

void simt_profile_free(SimtProfile *profile);
void profile_watch_free(SimtWatch *watch);

const char *simt_stall_name(SimtStall stall); /* "long_scoreboard" */

#endif
