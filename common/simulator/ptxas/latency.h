/* latency.h - latencies and instruction classes that ptxas's schedule and the time model share. */
#ifndef CONVLAB_SIMT_PTXAS_LATENCY_H
#define CONVLAB_SIMT_PTXAS_LATENCY_H

#include "common/simulator/core/core.h"
#include "common/simulator/core/ops.h"

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
