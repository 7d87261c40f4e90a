/* trace.h - traces of executed instructions, which the time model replays.
 *
 * exec writes a trace; timing puts it into ptxas's order and replays it. */
#ifndef CONVLAB_SIMT_CORE_TRACE_H
#define CONVLAB_SIMT_CORE_TRACE_H

#include <stdint.h>

#include "common/simulator/core/block_cost.h"

/* TraceStep.passes of a load through the L1 is passes + RESULT_DELAY_UNIT * cycles by which the
 * result comes after the last pass. */
enum { RESULT_DELAY_UNIT = 256 };

/* One executed instruction of a warp: passes through the load/store unit, or cycles of the texture
 * units, and what went beyond the L1. */
typedef struct TraceStep {
    uint32_t ins;
    /* The first in the warp's list of lines that an access asked for, plus 1; where
     * blocks run in the order of time, of an ordered load or an atomic the cycles that it waited
     * for others. */
    uint32_t wanted;
    uint16_t passes;       /* of a branch: 1 where the warp's lanes parted */
    uint8_t misses, lines; /* sectors, and the lines that they lie in */
} TraceStep;

/* `lines` of an access to other blocks' shared memory: `misses` are cycles of the way there. */
enum { REMOTE_LINES = 255 };

/* A line of device memory, by number. */
typedef struct TraceLine {
    uint32_t line;
    uint8_t sectors;  /* a bit for each sector that a load requested */
    uint8_t last;     /* last line of its step */
    uint16_t written; /* stores: 4 bits per sector, units of 2 bytes written, minus 1 */
} TraceLine;

typedef struct WarpTrace {
    TraceStep *step;
    TraceLine *line;
    uint32_t count, lines;
    uint32_t room; /* capacity of each array */
} WarpTrace;

typedef struct BlockTrace {
    uint64_t number;
    uint64_t weight; /* lower bound of its time; only of the heaviest blocks */
    uint64_t ended;  /* cycle of its end, of a sampled block in a launch in time order */
    BlockCost cost;
    uint64_t slots, steps; /* in the trace; known once the steps are in ptxas's order */
    WarpTrace *warp;
} BlockTrace;

/* The blocks with the largest lower bounds among those that one host thread executed.  All of them
 * are traced, and the current block too. */
typedef struct Heaviest {
    BlockTrace *block; /* `most` + 1; the current block is number `count` */
    TraceStep *steps;
    TraceLine *line;
    WarpTrace *warps;
    uint32_t most, count;
    uint32_t lightest; /* number of the lightest one, when there are `most` */
} Heaviest;

#endif
