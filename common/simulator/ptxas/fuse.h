/* fuse.h - instructions of the PTX that ptxas makes a part of others, and what it must add. */
#ifndef CONVLAB_SIMT_FUSE_H
#define CONVLAB_SIMT_FUSE_H

#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/schedule.h"

/* Per scoreboard number: number of reads, number of instructions that write it, and the last of
 * these. */
typedef struct Uses {
    uint32_t *read, *written, *writer;
} Uses;

static inline int is_add_64(const Ins *ins)
{
    return ins->op == OP_ADD_64 || ins->op == OP_SUB_64;
}

static inline int joins_predicates(const Ins *ins)
{
    return ins->op == OP_AND_P || ins->op == OP_OR_P || ins->op == OP_XOR_P;
}

/* Does the writer of a predicate compare? */
static inline int compares(const Ins *writer)
{
    return writer->class >= CLASS_INT && writer->class <= CLASS_FP64;
}

/* Once all instructions have prices of their own.  -1: out of memory. */
int sums_fuse(const SimtKernel *kernel, InsCost *price, const Uses *uses,
              const SimtMachine *machine);

#endif
