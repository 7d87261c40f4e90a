/* sass_map.h - the mapping of a kernel's SASS to its PTX.
 *
 * Module: which SASS instructions belong to which PTX instructions, what each costs, and the SASS
 * that a traced warp executed.
 * Callers: timing, where the options believe the program's machine code.
 * May use: ptxas, sass, core.
 *
 * Price has what the hardware's scheduler is told of each of them.  They stand behind the kernel's
 * own code in kernel->played and kernel->price, one after the other. */
#ifndef CONVLAB_SIMT_FOLLOW_H
#define CONVLAB_SIMT_FOLLOW_H

#include "common/simulator/core/code_map.h"
#include "common/simulator/ptxas/schedule.h"

/* PTX between two places where control may part or meet, and what ptxas made of it. */
typedef struct SassPart {
    uint32_t first, count; /* its code */
    uint32_t loop;         /* the innermost around it, from 1; 0: none */
    uint32_t list[2];      /* where its machine instructions begin in Follow.list: those of the
                            * machine loop that does most turns, and of one that does the rest */
    uint32_t length[2];
    uint8_t whole; /* it is all of its loop */
} SassPart;

typedef struct SassLoop {
    uint32_t head, end;
    uint32_t home[2];   /* machine loops, from 1; 0: it has none, and its turns stand in a row */
    uint32_t copies[2]; /* turns of the PTX in one of theirs */
    uint32_t parent; /* in whose machine loop its turns stand, from 1; 0: none, or it has a loop */
} SassLoop;

/* One allocation. */
struct SassMap {
    uint32_t base; /* of kernel->played and kernel->price: machine instruction 0 */
    uint32_t way;  /* ... : what it takes where lanes part */
    uint32_t parts, loops;
    SassPart *part;
    SassLoop *loop;
    uint32_t *part_of; /* per instruction of the PTX */
    uint32_t *list;    /* machine instructions of one part after those of another */
    uint32_t *anchor; /* per machine instruction: the access or barrier that it is; NO_SLOT: none */
    uint16_t *copy;   /* ... and which turn of its loop's it belongs to */
};

/* Fills kernel->follow, and appends to kernel->played and to the prices, of which there are
 * `prices`; nothing where the machine code is not this machine's or not understood.  Returns the
 * prices. */
InsCost *sass_map_build(SimtKernel *kernel, InsCost *price, uint32_t prices,
                        const SimtMachine *machine);

/* sass_cost.c: who they are and what they cost. */
int sass_is_access(const SassIns *ins);
int sass_is_barrier(const SassIns *ins);
int sass_is_constant(const SassIns *ins);
/* One that each lane may want another word of (LDC). */
int sass_is_ldc(const SassIns *ins);
/* Of a division: which asks whether its values are rare. */
int sass_is_rare_check(const SassIns *ins, const Ins *division);
int sass_is_match(const SassIns *ins);
int sass_is_call(const SassIns *ins);
int sass_is_branch(const SassIns *ins);
/* Waits for lanes that may have parted (BSYNC). */
int sass_is_bsync(const SassIns *ins);
int sass_is_nop(const SassIns *ins);
Ins sass_ins(const SimtKernel *kernel, const SassIns *ins, uint32_t anchor);
/* Lanes that part: one way waits for the other. */
void sass_divergence(Ins *ins, InsCost *price);
/* `line`: the PTX instruction on its line, and its price; or NULL. */
InsCost sass_ins_cost(const SassIns *ins, const Ins *line, const InsCost *price,
                      const SimtMachine *machine);

/* A warp's steps as machine instructions, in *to, which grows.  -1: out of memory. */
int sass_trace_warp(const SimtKernel *kernel, const WarpTrace *from, WarpTrace *to);

#endif
