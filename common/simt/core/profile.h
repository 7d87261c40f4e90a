/* profile.h - where a launch's instructions, sectors and cycles went, PTX instruction by PTX
 * instruction and block by block.
 *
 * Counts are exact and of the whole launch.  Stall cycles come from the cycle model's replay of one
 * SM (cycles.c): each is one cycle of one warp, as a profiler's warp-state samples are, named as
 * Nsight Compute names them. */
#ifndef CONVLAB_SIMT_PROFILE_H
#define CONVLAB_SIMT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

typedef enum SimtStall {
    STALL_SELECTED,         /* issued in this cycle */
    STALL_NOT_SELECTED,     /* could issue, the scheduler took another warp */
    STALL_WAIT,             /* a fixed latency: an arithmetic result is on its way */
    STALL_LONG_SCOREBOARD,  /* waits for global or local memory */
    STALL_SHORT_SCOREBOARD, /* waits for shared memory or the special function unit */
    STALL_MATH_PIPE,        /* the arithmetic pipe is taken */
    STALL_LG_THROTTLE,      /* the load/store unit is taken */
    STALL_MIO_THROTTLE,     /* the shared-memory pipe is taken */
    STALL_BARRIER,          /* waits for the other warps of the block */
    SIMT_STALLS
} SimtStall;

typedef struct SimtInstruction {
    uint32_t ptx_line;  /* in the module's PTX text, from 1 */
    const char *file;   /* source file without directories; "" without -lineinfo */
    uint32_t line;      /* in that file; 0 unknown */
    const char *opcode; /* "ld.global.nc.f32" */
    uint64_t warp_instructions, thread_instructions;
    uint64_t requests, sectors, l1_hits;  /* global and local memory */
    uint64_t shared_requests, wavefronts; /* shared memory */
    uint64_t branches, divergent;
    uint64_t stall[SIMT_STALLS]; /* cycles x warps of the replayed SM */
} SimtInstruction;

/* One block's stay on an SM of the replay. */
typedef struct SimtSpan {
    uint32_t sm;
    uint64_t block, begin, end; /* linear block number; cycles since the launch began */
} SimtSpan;

/* Of one launch; strings live as long as the module, arrays as long as the profile. */
typedef struct SimtProfile SimtProfile;
struct SimtProfile {
    char kernel[256]; /* its plain name */
    uint64_t cycles;  /* of the whole launch */
    SimtInstruction *instruction;
    uint32_t instructions;
    SimtSpan *span;
    uint32_t spans;
    uint64_t replayed_cycles; /* what the stalls and spans were taken from */
};

void simt_profile_free(SimtProfile *profile);

const char *simt_stall_name(SimtStall stall); /* "long_scoreboard" */

#endif
