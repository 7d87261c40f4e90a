/* cost.h - estimated time of a batch, from earlier batches.
 *
 * There is a class for each of the sizes 1, 2, 3-4, 5-8 and so on, up to the largest.  A class's
 * time is the one within which seven eighths of its last COST_RECENT batches were finished, so that
 * outliers do not count. A class that has not run for `memory` has its initial time again.
 * Otherwise a slow period would have a permanent effect: no request is accepted into a batch that
 * is considered too slow, so it would not run, and its time would not be updated. */
#ifndef CONVLAB_SERVE_BATCHES_COST_H
#define CONVLAB_SERVE_BATCHES_COST_H

#include <stdint.h>

enum { COST_RECENT = 32, COST_CLASSES = 18 };

typedef struct CostClass {
    uint64_t first[COST_RECENT], recent[COST_RECENT]; /* nanoseconds */
    int firsts, recents;                              /* number of values noted in each */
    uint64_t last;                                    /* time of the last batch */
    uint64_t at_first, now;                           /* estimates from these */
} CostClass;

typedef struct Cost {
    CostClass size[COST_CLASSES]; /* [i]: sizes up to 2^i */
    uint64_t memory;
} Cost;

/* The largest size that has a class. */
enum { COST_LARGEST = 1 << (COST_CLASSES - 1) };

/* Notes a batch of `size`, measured before the server starts, or finished at `now`. */
void cost_begin(Cost *cost, int size, uint64_t took);
void cost_note(Cost *cost, int size, uint64_t took, uint64_t now);

/* Estimated time of a batch of `size`.  Every class up to that of `size` must have been started. */
uint64_t cost_of(const Cost *cost, int size, uint64_t now);

#endif
