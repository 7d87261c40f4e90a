/* gpu.h - a simulated GPU: its machine, memory, modules and options. */
#ifndef CONVLAB_SIMT_CORE_GPU_H
#define CONVLAB_SIMT_CORE_GPU_H

#include <stdint.h>

#include "common/base/parallel.h"
#include "common/simulator/core/launch_arena.h"
#include "common/simulator/core/memory.h"
#include "common/simulator/core/profile.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/ptx/ptx.h"

typedef struct DebugHook DebugHook; /* debug_hook.h */

/* Per word of device memory: its readers, its writers and the value written (race_blocks.c).  Each
 * launch clears the words that it needs. */
typedef struct RaceShadow {
    uint32_t *readers, *writers;
    uint64_t *values, words;
} RaceShadow;

struct SimtGpu {
    SimtMachine machine;
    SimtOptions options;
    int count, racecheck; /* state of the launches, by `options` and simt_study */
    uint64_t stack_limit; /* bytes of a thread's stack: cudaLimitStackSize */
    uint32_t launches;    /* number of accepted launches */
    Heap heap;
    Memory memory;
    LaunchArena *arenas, *spare_arenas; /* the workers', and those of the launch before the last */
    uint32_t arena_count, spare_count;
    struct Run *unsettled; /* launch.c: a launch whose cycles are not known yet; or NULL */
    RaceShadow race_shadow;
    struct Repeats *repeats; /* repeat.h; NULL: every launch is priced */
    SimtModule *modules;
    SimtProfile profile;              /* profile of the longest launch so far, or the selected */
    uint32_t profile_seen;            /* launches that options.profile_kernel names */
    PtxModule *accelerators;          /* code of the functions that are hardware here; NULL: none */
    DebugHook *debug;                 /* NULL: there is no debugger */
    SimtFinding found[SIMT_FINDINGS]; /* last launch; first the one that stopped it */
    uint32_t found_count;
    Allocation none; /* empty: the initial entry of caches of allocations */
};

/* Host threads that a launch may have. */
static inline int gpu_threads(const SimtGpu *gpu)
{
    return gpu->options.threads > 0 ? gpu->options.threads : parallel_cores();
}

#endif
