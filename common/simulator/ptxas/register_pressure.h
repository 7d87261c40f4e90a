/* register_pressure.h - registers, while one straight piece of code is put in order. */
#ifndef CONVLAB_SIMT_PRESSURE_H
#define CONVLAB_SIMT_PRESSURE_H

#include "common/simulator/ptxas/schedule.h"

enum { NO_VALUE = 0xffff, SOURCES = 7 };

/* Values of a piece: number k is what its instruction k makes, PIECE + v what was in old[v]. */
typedef struct RegisterPressure {
    int32_t free;                    /* registers for values made in this piece */
    uint32_t olds;                   /* what was there before: so many */
    uint16_t old[PIECE];             /* and their scoreboard numbers */
    uint16_t readers[2 * PIECE];     /* of each value, that are still to come */
    uint8_t width[2 * PIECE];        /* registers that it takes */
    uint16_t source[PIECE][SOURCES]; /* values that each instruction reads, or NO_VALUE */
} RegisterPressure;

/* Before the `count` instructions of a piece of the kernel are ordered; `alive` behind it. */
void pressure_open(RegisterPressure *p, const Ins *code, const InsCost *price, uint32_t count,
                   const SimtKernel *kernel, const uint64_t *alive);
/* Registers that instruction `k` wants and that are not there. */
int32_t pressure_lacks(const RegisterPressure *p, uint32_t k);
void pressure_issue(RegisterPressure *p, uint32_t k);

#endif
