/* register_pressure.h - register pressure while one basic block is scheduled. */
#ifndef CONVLAB_SIMT_PRESSURE_H
#define CONVLAB_SIMT_PRESSURE_H

#include "common/simulator/ptxas/schedule.h"

enum { NO_VALUE = 0xffff, SOURCES = 7 };

/* Values of a basic block: number k is the result of instruction k, PIECE + v the value in
 * old[v]. */
typedef struct RegisterPressure {
    int32_t free;                    /* registers for values defined in this basic block */
    uint32_t olds;                   /* number of values defined before */
    uint16_t old[PIECE];             /* and their scoreboard numbers */
    uint16_t readers[2 * PIECE];     /* remaining readers of each value */
    uint8_t width[2 * PIECE];        /* registers that it takes */
    uint16_t source[PIECE][SOURCES]; /* values that each instruction reads, or NO_VALUE */
} RegisterPressure;

/* Starts the ordering of a basic block's `count` instructions; `alive`: values live after it. */
void pressure_open(RegisterPressure *p, const Ins *code, const InsCost *price, uint32_t count,
                   const SimtKernel *kernel, const uint64_t *alive);
/* Registers that instruction `k` wants and that are not there. */
int32_t pressure_lacks(const RegisterPressure *p, uint32_t k);
void pressure_issue(RegisterPressure *p, uint32_t k);

#endif
