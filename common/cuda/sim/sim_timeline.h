/* sim_timeline.h - when simulated work runs: streams overlap where the machine has room.
 *
 * Work is placed in the order in which it was asked for, each piece at the earliest time at which
 * what it must wait for has ended and its resource has room for all of its length.  The SMs are one
 * resource of which a launch takes a share: its blocks, over those that the whole machine holds at
 * once, or the part of its time for which it takes all of the machine's issue slots, pipes or
 * bandwidth, whichever is more.  So what runs at the same time never needs more than there is.
 * Each direction of host copies is a resource that one copy fills.  The length of a piece does not
 * depend on its neighbours: what does not fit beside them comes later.  All in integers, so the
 * same everywhere.
 *
 * A launch that overlaps the one before it (programmatic stream serialization) is placed in two
 * parts: up to where it waits for the other, and from the other's end on.  It takes what is left of
 * the machine, and longer where that is less than its share. */
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

/* Zero to begin.  Only the last pieces of a resource are remembered: nothing can then begin before
 * the earliest end that was forgotten, which is stricter, never looser. */
typedef struct Timeline {
    TimelinePiece piece[TIMELINE_RESOURCES][TIMELINE_PIECES];
    uint32_t count[TIMELINE_RESOURCES];
    uint64_t floor[TIMELINE_RESOURCES];
    uint64_t end; /* of everything placed so far */
} Timeline;

/* Places `cycles` of work that may not begin before `ready` and takes `share` of TIMELINE_WHOLE;
 * returns when it ends. */
uint64_t timeline_place(Timeline *timeline, TimelineResource resource, uint32_t share,
                        uint64_t ready, uint64_t cycles);

/* The same, but where less is left than `share` it goes on more slowly. */
uint64_t timeline_fill(Timeline *timeline, TimelineResource resource, uint32_t share,
                       uint64_t ready, uint64_t cycles);

/* Cycles, measured on an H200: from the last block that lets the next launch begin to the first
 * instruction of that one; from the end of a launch to those who wait for it. */
enum { TIMELINE_HAND = 1000, TIMELINE_RESUME = 500 };

/* A launch by its own clock, which begins with the `launch` cycles that beginning takes: it has let
 * the next one begin at `pdl_trigger`, and waits for the one before at `pdl_wait`. */
typedef struct TimelineLaunch {
    uint64_t launch, pdl_trigger, pdl_wait, cycles;
    uint32_t share;
} TimelineLaunch;

/* What the next on a stream may have to wait for. */
typedef struct TimelineMark {
    uint64_t pdl_trigger, end;
} TimelineMark;

/* Places a launch that may begin when the one before it has told.  A launch without a price has no
 * cycles: it takes no time. */
TimelineMark timeline_overlap(Timeline *timeline, const TimelineLaunch *launch, uint64_t ready,
                              TimelineMark before);

/* The share that `part` of `whole` is, rounded up: blocks of those that the machine holds at once,
 * busy cycles of all cycles.  At least 1, at most TIMELINE_WHOLE. */
uint32_t timeline_share(uint64_t part, uint64_t whole);

#endif
