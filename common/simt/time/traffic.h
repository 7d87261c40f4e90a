/* traffic.h - the sectors of device memory that a launch touches. */
#ifndef CONVLAB_SIMT_TRAFFIC_H
#define CONVLAB_SIMT_TRAFFIC_H

#include "common/simt/core/core.h"

enum { SECTOR = 32, PAGE_WORDS = 512 };

/* Room for those of all workers; device memory is as large as it will be.  -1: out of memory. */
int traffic_open(Launch *launch);
void traffic_close(Launch *launch);

int touched_open(Touched *touched, const Launch *launch);
void touched_close(Touched *touched);
/* Makes a worker's sectors the launch's as well; several workers may at once. */
void touched_tell(Launch *launch, Worker *worker);

/* Clears the page of words that this one lies in. */
void touched_take(Touched *touched, uint64_t word);

/* Bit `index` of one worker's.  Only what an access has validated comes here; a sector that lies in
 * no memory would be the simulator's own mistake, and is left out. */
static inline void touched_add(Touched *touched, uint64_t index)
{
    uint64_t word = index / 64;
    if (word >= touched->words) return;
    if (__builtin_expect(!touched->taken[word / PAGE_WORDS], 0)) touched_take(touched, word);
    touched->word[word] |= 1ull << index % 64;
}

/* Loads come from DRAM in pairs of sectors. */
static inline void traffic_load(Worker *worker, uint64_t sector)
{
    touched_add(&worker->loaded, (sector - DEVICE_BASE / SECTOR) / 2);
}

static inline void traffic_store(Worker *worker, uint64_t sector)
{
    touched_add(&worker->stored, sector - DEVICE_BASE / SECTOR);
}

#endif
