/* cycle_cache.h - cache of simulated cycles.  Baseline and reference cost the same on every run of
 * the same problem on the same machine, so a student's next `make grade` does not simulate them
 * again. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_CYCLE_CACHE_H
#define CONVLAB_AUTOGRADER_JUDGING_CYCLE_CACHE_H

#include <stdint.h>

#include "common/cuda/device.h"

/* The key: everything that the cycles depend on, as text; `simulator` is a digest of the programs
 * and machine files that simulate. */
typedef struct CycleCacheKey {
    char text[1024];
} CycleCacheKey;

CycleCacheKey cycle_cache_key(const char *program_digest, const char *operation,
                              const char *problem, const char *machine, uint64_t simulator);

/* Cycles, counters and launch into *cost; -1 if there is no entry.  `directory` is
 * build/cache/cycles. */
int cycle_cache_find(const char *directory, const CycleCacheKey *key, DeviceCost *cost);
/* A failure to store an entry only costs time later, so it is not an error. */
void cycle_cache_keep(const char *directory, const CycleCacheKey *key, const DeviceCost *cost);

#endif
