/* latency.h - latencies and instruction classes that ptxas's schedule and the time model share. */
#ifndef CONVLAB_SIMT_PTXAS_LATENCY_H
#define CONVLAB_SIMT_PTXAS_LATENCY_H

#include "common/simulator/core/core.h"
#include "common/simulator/core/ops.h"

/* Cycles, all chosen so that micro-kernels with one warp agree with an H200. */
enum {
    GUARD_CYCLES = 9,       /* from a comparison to a guard on its predicate, beyond an operand's */
    DIVERGENCE_CYCLES = 17, /* cost of a divergent branch, in addition to a uniform one's */
    WGMMA_CYCLES = 48,      /* latency of a warpgroup's MMA, in addition to its cycles on the tensor
                             * cores */
    CLOCK_CYCLES = 20,      /* from reading the clock to the first use of its value (clock-100) */
    ALLOCA_CYCLES = 11,     /* 64 in a row take an H200 733 cycles */
};

/* Is it a 64-bit integer division or remainder? */
static inline int divides_wide(const Ins *ins)
{
    return ins->op == OP_DIV_U64 || ins->op == OP_DIV_S64 || ins->op == OP_REM_U64 ||
           ins->op == OP_REM_S64;
}

/* Is it a floating-point division, whose rare operands need a routine? */
static inline int may_be_rare(const Ins *ins)
{
    return ins->op == OP_DIV_F32 || ins->op == OP_DIV_F64;
}

#endif
