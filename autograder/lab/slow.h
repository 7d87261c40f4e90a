/* slow.h - why one program is slower than another on the same case, from what the simulator counted
 * of both.  It says how much more of what, and never how the other does without. */
#ifndef CONVLAB_AUTOGRADER_LAB_SLOW_H
#define CONVLAB_AUTOGRADER_LAB_SLOW_H

#include <stddef.h>

#include "common/cuda/device.h"

typedef enum SlowCause {
    SLOW_LOCAL,        /* arrays in local memory */
    SLOW_FEW_BLOCKS,   /* multiprocessors without work */
    SLOW_LAUNCHES,     /* more launches */
    SLOW_SECTORS,      /* loads that touch more sectors each: not coalesced */
    SLOW_BYTES,        /* more bytes asked of global memory */
    SLOW_DRAM,         /* more traffic with DRAM */
    SLOW_STORES,       /* stores that touch more sectors each */
    SLOW_BANKS,        /* bank conflicts */
    SLOW_SHARED,       /* more accesses to shared memory */
    SLOW_INSTRUCTIONS, /* more instructions */
    SLOW_LANES,        /* warps with idle lanes */
    SLOW_OCCUPANCY,    /* fewer warps at a time */
    SLOW_BARRIERS,     /* more barriers */
    SLOW_CAUSES
} SlowCause;

/* As lab.ini names it in a hint: "local-memory".  SLOW_CAUSES: there is no such name. */
const char *slow_name(SlowCause cause);
SlowCause slow_named(const char *name);

typedef struct SlowReason {
    SlowCause cause;
    double times; /* as much as the other's; what the reasons are ordered by */
    char text[240];
} SlowReason;

/* The largest reasons first, at most `most`; returns how many.  `other` is called "the reference"
 * or what else it is; `source` the file that lines are in. */
int slow_find(const DeviceCost *mine, const DeviceCost *other, const char *called,
              const char *source, SlowReason *reason, int most);

typedef struct SlowSide {
    const DeviceCost *cost;
    const char *source; /* its text */
} SlowSide;

/* In which phase of both sources (text/phase.h) `mine` has most of the instructions that `other`
 * does without, as a sentence.  -1 with "" where `mine` has hardly more, or no phase has half of
 * them.  `called`: "the reference". */
int slow_phase(const SlowSide *mine, const SlowSide *other, const char *called, char *text,
               size_t bytes);

#endif
