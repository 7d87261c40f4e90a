/* slow.h - causes why one program is slower than another on the same case, from the simulator's
 * counters of both.  It reports the quantity and its factor, but not how the other program avoids
 * it. */
#ifndef CONVLAB_AUTOGRADER_LAB_SLOW_H
#define CONVLAB_AUTOGRADER_LAB_SLOW_H

#include <stddef.h>

#include "common/cuda/device.h"

typedef enum SlowCause {
    SLOW_LOCAL,        /* arrays in local memory */
    SLOW_FEW_BLOCKS,   /* SMs without work */
    SLOW_LAUNCHES,     /* more launches */
    SLOW_SECTORS,      /* loads that touch more sectors each: not coalesced */
    SLOW_BYTES,        /* more bytes requested from global memory */
    SLOW_DRAM,         /* more traffic with DRAM */
    SLOW_STORES,       /* stores that touch more sectors each */
    SLOW_BANKS,        /* bank conflicts */
    SLOW_SHARED,       /* more accesses to shared memory */
    SLOW_INSTRUCTIONS, /* more instructions */
    SLOW_LANES,        /* warps with idle lanes */
    SLOW_OCCUPANCY,    /* fewer resident warps */
    SLOW_BARRIERS,     /* more barriers */
    SLOW_CAUSES
} SlowCause;

/* The name in lab.ini's hints, for example "local-memory".  SLOW_CAUSES: unknown name. */
const char *slow_name(SlowCause cause);
SlowCause slow_named(const char *name);

typedef struct SlowReason {
    SlowCause cause;
    double times; /* factor compared with the other program; the sort key */
    char text[240];
} SlowReason;

/* The causes with the largest factors first, at most `most`; returns their number.  `other` is
 * called "the reference" or another given name; `source` is the file of the line numbers. */
int slow_find(const DeviceCost *mine, const DeviceCost *other, const char *called,
              const char *source, SlowReason *reason, int most);

typedef struct SlowSide {
    const DeviceCost *cost;
    const char *source; /* text of its source */
} SlowSide;

/* A sentence that names the phase of both sources (text/phase.h) with most of the instructions that
 * `mine` has and `other` does not.  -1 with "" if `mine` has hardly more, or no phase has half of
 * them.  `called`: "the reference". */
int slow_phase(const SlowSide *mine, const SlowSide *other, const char *called, char *text,
               size_t bytes);

#endif
