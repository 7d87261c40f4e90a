/* traffic.h - traffic: the sectors of device memory that a launch touches.
 *
 * Module: the memory traffic of accesses: wavefronts (wavefronts.h), lines of the L1 (l1.h),
 * sectors of device memory.
 * Callers: time, which counts and prices them; a launch, which opens and closes their memory.
 * May use: core. */
#ifndef CONVLAB_SIMT_TRAFFIC_H
#define CONVLAB_SIMT_TRAFFIC_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/dram_fetch.h"

enum { SECTOR = 32, LINE_SECTORS = 4, PAGE_WORDS = 512 };

/* Room for those of all workers; device memory is as large as it will be.  -1: out of memory. */
int traffic_open(Launch *launch);
void traffic_close(Launch *launch);

/* Room for those of one worker.  -1: out of memory. */
int touched_open(Worker *worker);
/* Makes a worker's sectors the launch's as well; several workers may at once. */
void touched_tell(Worker *worker);

/* Number of the launch's stored sectors that it loaded as well. */
uint64_t traffic_changed(const Launch *launch);

/* Clears the page that contains this word. */
void touched_take(Touched *touched, uint64_t word);

/* Sets bit `index` of one worker; was it set before? Only validated accesses come here; a sector
 * outside of all memory would be an error of the simulator, and is ignored. */
static inline int touched_add(Touched *touched, uint64_t index)
{
    uint64_t word = index / 64, bit = 1ull << index % 64;
    if (word >= touched->words) return 1;
    if (__builtin_expect(!touched->taken[word / PAGE_WORDS], 0)) touched_take(touched, word);
    int before = (touched->word[word] & bit) != 0;
    touched->word[word] |= bit;
    return before;
}

/* Loads come from DRAM in pairs of sectors; of each the worker's earliest moment is kept. */
static inline void traffic_load(Worker *worker, uint64_t sector, uint32_t moment)
{
    uint64_t fetch = fetch_of(sector);
    int before = touched_add(&worker->traffic.loaded, fetch);
    if (fetch >= worker->launch->touched.fetches) return;
    uint32_t *first = &worker->traffic.first[fetch];
    if (!before || *first < moment) *first = moment;
}

static inline void traffic_store(Worker *worker, uint64_t sector)
{
    touched_add(&worker->traffic.stored, sector - DEVICE_BASE / SECTOR);
}

#endif
