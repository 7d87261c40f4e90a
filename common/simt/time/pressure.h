/* pressure.h - registers, while one straight piece of code is put in order. */
#ifndef CONVLAB_SIMT_PRESSURE_H
#define CONVLAB_SIMT_PRESSURE_H

#include "common/simt/time/schedule.h"

enum { NO_MAKER = 0xffff };

struct Pressure {
    int32_t free;               /* registers for values made in this piece */
    uint16_t readers[PIECE];    /* of each instruction's result, that are still to come */
    uint8_t width[PIECE];       /* registers that the result takes; 0: it has a place already */
    uint16_t made_by[PIECE][6]; /* which instruction made each source; NO_MAKER: it was there */
};

/* Before the `count` instructions of a piece of the kernel are ordered. */
void pressure_open(Pressure *p, const Ins *code, const Price *price, uint32_t count,
                   const SimtKernel *kernel);
/* Registers that instruction `k` wants and that are not there. */
int32_t pressure_lacks(const Pressure *p, uint32_t k);
void pressure_issue(Pressure *p, uint32_t k);

#endif
