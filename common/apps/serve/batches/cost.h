/* cost.h - how long a batch takes, from those that ran.
 *
 * There is a class for the sizes 1, 2, 3-4, 5-8 and so on up to the largest.  A class's time is
 * what all but an eighth of its last COST_RECENT batches stayed within: a few hiccups are no cost.
 * A class that has not run for `memory` counts as it did at the start.  Otherwise a slow moment
 * would be remembered for good: nobody is let into a batch that is said to be too slow, so it would
 * not run, and nothing could show that it is fast again. */
#ifndef CONVLAB_SERVE_BATCHES_COST_H
#define CONVLAB_SERVE_BATCHES_COST_H

#include <stdint.h>

enum { COST_RECENT = 32, COST_CLASSES = 18 };

typedef struct CostClass {
    uint64_t first[COST_RECENT], recent[COST_RECENT]; /* nanoseconds */
    int firsts, recents;                              /* ever noted */
    uint64_t last;                                    /* when one ran */
    uint64_t at_first, now;                           /* what that comes to */
} CostClass;

typedef struct Cost {
    CostClass size[COST_CLASSES]; /* [i]: up to 2^i */
    uint64_t memory;
} Cost;

/* The largest size that there is a class for. */
enum { COST_LARGEST = 1 << (COST_CLASSES - 1) };

/* A batch of `size` was measured before the server began, or ran until `now`. */
void cost_begin(Cost *cost, int size, uint64_t took);
void cost_note(Cost *cost, int size, uint64_t took, uint64_t now);

/* What a batch of `size` will take.  Every class up to that of `size` was begun. */
uint64_t cost_of(const Cost *cost, int size, uint64_t now);

#endif
