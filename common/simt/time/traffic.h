/* traffic.h - the sectors of device memory that a launch touches. */
#ifndef CONVLAB_SIMT_TRAFFIC_H
#define CONVLAB_SIMT_TRAFFIC_H

#include "common/simt/core/core.h"
#include "common/simt/time/first.h"

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

/* Bit `index` of one worker's; was it there before?  Only what an access has validated comes here;
 * a sector that lies in no memory would be the simulator's own mistake, and is left out. */
static inline int touched_add(Touched *touched, uint64_t index)
{
    uint64_t word = index / 64, bit = 1ull << index % 64;
    if (word >= touched->words) return 1;
    if (__builtin_expect(!touched->taken[word / PAGE_WORDS], 0)) touched_take(touched, word);
    int before = (touched->word[word] & bit) != 0;
    touched->word[word] |= bit;
    return before;
}

/* Keeps the earliest moment of all workers.  Nobody reads a page of these words before one of them
 * was written: zeros_alloc says why. */
static inline void first_tell(const Launch *launch, uint64_t fetch, uint32_t moment, int before)
{
    if (fetch >= launch->fetches) return;
    uint32_t *first = &launch->first[fetch],
             was = before ? __atomic_load_n(first, __ATOMIC_RELAXED) : 0;
    while (was < moment &&
           !__atomic_compare_exchange_n(first, &was, moment, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Loads come from DRAM in pairs of sectors. */
static inline void traffic_load(Worker *worker, uint64_t sector, uint32_t moment)
{
    uint64_t fetch = fetch_of(sector);
    first_tell(worker->launch, fetch, moment, touched_add(&worker->loaded, fetch));
}

static inline void traffic_store(Worker *worker, uint64_t sector)
{
    touched_add(&worker->stored, sector - DEVICE_BASE / SECTOR);
}

#endif
