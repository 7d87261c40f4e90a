/* extremes.h - the larger and the smaller of two counts. */
#ifndef CONVLAB_SIMT_EXTREMES_H
#define CONVLAB_SIMT_EXTREMES_H

#include <stdint.h>

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
