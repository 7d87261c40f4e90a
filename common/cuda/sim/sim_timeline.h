/* sim_timeline.h - timeline of simulated work: streams overlap if the machine has free resources.
 *
 * Work is placed in the order of the calls, each part at the earliest time at which its
 * predecessors have ended and its resource is free for its whole length.  The SMs are one resource,
 * of which a launch takes a share.  One bound of it is its blocks divided by the resident
 * blocks of the whole machine.  Another is the part of its time for which it uses all of the
 * machine's issue slots, pipes or bandwidth.  The larger one counts.  So simultaneous work never
 * exceeds the machine.  Each direction of host copies is a resource that one copy uses completely.
 * The length of a part does not depend on other work: it is delayed if it does not fit.  All
 * numbers are integers, so the result is the same everywhere.
 *
 * A launch that overlaps the one before it (programmatic stream serialization) is placed in two
 * parts: up to its wait for the other launch, and from the other's end on.  It takes the free share
 * of the machine, and lasts longer if that is less than its share. */
#ifndef CONVLAB_CUDA_SIM_TIMELINE_H
#define CONVLAB_CUDA_SIM_TIMELINE_H

#include <stdint.h>

typedef enum TimelineResource {
    TIMELINE_SMS,
    TIMELINE_TO_DEVICE,
    TIMELINE_TO_HOST,
    TIMELINE_RESOURCES
} TimelineResource;

enum { TIMELINE_WHOLE = 1 << 16, TIMELINE_PIECES = 128 };

typedef struct TimelinePiece {
    uint64_t begin, end;
    uint32_t share;
} TimelinePiece;

/* Initially zero.  Only the last parts of a resource are stored: no part can start before the
 * earliest end that was dropped, which is stricter, never looser. */
typedef struct Timeline {
    TimelinePiece piece[TIMELINE_RESOURCES][TIMELINE_PIECES];
    uint32_t count[TIMELINE_RESOURCES];
    uint64_t floor[TIMELINE_RESOURCES];
    uint64_t end; /* end of all parts */
} Timeline;

/* Places `cycles` of work that must not start before `ready` and takes `share` of TIMELINE_WHOLE;
 * returns its end. */
uint64_t timeline_place(Timeline *timeline, TimelineResource resource, uint32_t share,
                        uint64_t ready, uint64_t cycles);

/* The same, but with less than `share` free it runs more slowly. */
uint64_t timeline_fill(Timeline *timeline, TimelineResource resource, uint32_t share,
                       uint64_t ready, uint64_t cycles);

/* Cycles, measured on an H200.  TIMELINE_HAND: from the last block that allows the next launch to
 * start to the first instruction of that launch.  TIMELINE_RESUME: from the end of a launch to the
 * blocks that wait for it. */
enum { TIMELINE_HAND = 1000, TIMELINE_RESUME = 500 };

/* A launch on its own clock, which starts with the `launch` cycles of its start: it has allowed the
 * next one to start at `pdl_trigger`, and waits for the previous one at `pdl_wait`. */
typedef struct TimelineLaunch {
    uint64_t launch, pdl_trigger, pdl_wait, cycles;
    uint32_t share;
    int is_exclusive; /* Boolean, in a grade: the time for which it needs its share before its wait
                       * is exclusive, as on streams of their own (sim_device_replay.c) */
} TimelineLaunch;

/* Ends for which the next work on a stream may have to wait. */
typedef struct TimelineMark {
    uint64_t pdl_trigger, end;
} TimelineMark;

/* Places a launch that may begin once the previous one has triggered it (PDL).  A launch without a
 * price has no cycles: it takes no time. */
TimelineMark timeline_overlap(Timeline *timeline, const TimelineLaunch *launch, uint64_t ready,
                              TimelineMark before);

/* `part` / `whole` as a share, rounded up: blocks of the resident blocks, busy cycles of all
 * cycles. At least 1, at most TIMELINE_WHOLE. */
uint32_t timeline_share(uint64_t part, uint64_t whole);

#endif
