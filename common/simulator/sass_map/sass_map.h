/* sass_map.h - the mapping of a kernel's SASS to its PTX.
 *
 * Module: which SASS instructions belong to which PTX instructions, what each costs, and the SASS
 * that a traced warp executed.
 * Callers: timing, if the options trust the program's SASS.
 * May use: ptxas, sass, core.
 *
 * InsCost holds the scheduler's control information of each of them. They follow the kernel's own
 * code in kernel->played and kernel->price. */
#ifndef CONVLAB_SIMT_FOLLOW_H
#define CONVLAB_SIMT_FOLLOW_H

#include "common/simulator/core/code_map.h"
#include "common/simulator/ptxas/schedule.h"

/* PTX between two places where control may diverge or reconverge, and the corresponding SASS. */
typedef struct SassPart {
    uint32_t first, count; /* its code */
    uint32_t loop;         /* the innermost around it, from 1; 0: none */
    uint32_t list[2];      /* start of its SASS instructions in SassMap.list: those of the SASS loop
                            * that executes most iterations, and of one that executes the rest */
    uint32_t length[2];
    uint8_t whole; /* it is all of its loop */
} SassPart;

typedef struct SassLoop {
    uint32_t head, end;
    uint32_t home[2];   /* SASS loops, from 1; 0: none, because the loop is fully unrolled */
    uint32_t copies[2]; /* unroll factors */
    uint32_t parent; /* the loop whose SASS loop contains its unrolled iterations, from 1; 0: none,
                      * or it has a loop */
} SassLoop;

/* One allocation. */
struct SassMap {
    uint32_t base; /* index of SASS instruction 0 in kernel->played and kernel->price */
    uint32_t way;  /* index of the entry with the cost of divergence */
    uint32_t parts, loops;
    SassPart *part;
    SassLoop *loop;
    uint32_t *part_of; /* per instruction of the PTX */
    uint32_t *list;    /* SASS instructions of one part after those of another */
    uint32_t *anchor;  /* per SASS instruction: the access or barrier that it is; NO_SLOT: none */
    uint16_t *copy;    /* ... and the iteration of its loop that it belongs to */
};

/* Fills kernel->follow, and appends to kernel->played and to the `prices` costs. Does nothing if
 * the SASS is not for this machine or not understood. Returns the costs. */
InsCost *sass_map_build(SimtKernel *kernel, InsCost *price, uint32_t prices,
                        const SimtMachine *machine);

/* Why the kernel's cycles are predicted from its PTX; NULL: they are predicted from its SASS, or
 * the kernel was not priced, or the simulator reads no SASS of this machine. */
const char *sass_map_missing(const SimtKernel *kernel, const SimtMachine *machine);

/* sass_cost.c: kinds and costs of SASS instructions. */
int sass_is_access(const SassIns *ins);
int sass_is_barrier(const SassIns *ins);
int sass_is_constant(const SassIns *ins);
/* One that each lane may want another word of (LDC). */
int sass_is_ldc(const SassIns *ins);
/* For a division: is it the check for rare values? */
int sass_is_rare_check(const SassIns *ins, const Ins *division);
int sass_is_match(const SassIns *ins);
int sass_is_call(const SassIns *ins);
int sass_is_branch(const SassIns *ins);
/* Waits for diverged lanes (BSYNC). */
int sass_is_bsync(const SassIns *ins);
int sass_is_nop(const SassIns *ins);
Ins sass_ins(const SimtKernel *kernel, const SassIns *ins, uint32_t anchor);
/* Divergence: one path waits for the other. */
void sass_divergence(Ins *ins, InsCost *price, const SimtMachine *machine);
/* `line`: the PTX instruction on its line, and its price; or NULL. */
InsCost sass_ins_cost(const SassIns *ins, const Ins *line, const InsCost *price,
                      const SimtMachine *machine);

/* Converts a warp's steps to SASS instructions, in *to, which grows. -1: out of memory. */
int sass_trace_warp(const SimtKernel *kernel, const WarpTrace *from, WarpTrace *to);

#endif
