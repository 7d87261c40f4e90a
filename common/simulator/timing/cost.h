/* cost.h - counters and launch times.
 *
 * Module: the model of SM, L1, L2 and DRAM: counters as a profiler has them, a trace of the first
 * blocks, and the cycles of a launch (docs/simulator/cycle-model.md).
 * Callers: exec, with every access; launch, for counters and cycles.
 * May use: sass_map, ptxas, traffic, core, machine. */
#ifndef CONVLAB_SIMT_TIME_COST_H
#define CONVLAB_SIMT_TIME_COST_H

#include "common/simulator/core/core.h"

void count_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, int store);
void count_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, int store);
/* An asynchronous copy of these lanes, of which those of `reading` have a source. */
void count_copied(Warp *warp, const Ins *ins, const uint64_t *from, const uint32_t *to,
                  uint32_t reading, uint32_t mask);
/* `changed`: the lanes that left another value than they found. */
void count_atomic(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                  uint32_t changed);
/* Adds the failed iterations of compare-and-swap loops, when all warps of a block have run. */
void count_failed_retries(Worker *worker);
/* To the shared memory of other blocks of the cluster. */
void count_remote(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask);
/* A stretch of global memory that the tensor memory accelerator reads or writes. */
void count_bulk(Warp *warp, const Ins *ins, uint64_t address, uint64_t bytes, int store);

/* TEXELS: maximum that one lane reads, around a place in two levels of a volume. TOGETHER: lanes
 * whose texels are looked up together; in linear memory and surfaces the number doubles. */
enum { TEXELS = 16, TOGETHER = 4 };

/* Accesses of a warp's lanes through the texture units. */
typedef struct TextureAccess {
    uint32_t together, lines_at_once; /* lanes; lines that are looked up in one cycle */
    uint32_t times, slower;           /* number of look-ups; minimum cycles of each */
    uint32_t count[LANES];            /* number of texels per lane, with the addresses in `texel` */
    uint64_t texel[LANES][TEXELS];
} TextureAccess;

/* `address`: of one texel of each lane, as the program sees it. */
void count_texture(Warp *warp, const Ins *ins, const TextureAccess *access, const uint64_t *address,
                   int store);
void count_local(Warp *warp, const Ins *ins, const uint64_t *offset, uint32_t mask, int store);

/* Adds the second to the first. */
void cost_add(BlockCost *sum, const BlockCost *cost);

/* Fills in the result's cycles from its counters and the executed work: worker[0].sm has the work
 * per SM, and each worker has the heaviest blocks that it ran. -1: out of host memory, no
 * cycles. */
int cycles_estimate(Launch *launch, const Worker *worker, uint32_t workers, SimtResult *result);

/* Blocks that one SM holds at once: simt.h's simt_resident_blocks. */
uint32_t resident_blocks(const SimtMachine *machine, const SimtKernelInfo *info, uint32_t threads,
                         uint32_t shared, const char **limit);

#endif
