/* traffic.c - device memory is charged for every sector once a launch: what the L2 keeps is not
 * fetched again.
 *
 * Each worker has a bitmap of its own, for one that all host threads wrote would go from core to
 * core with every sector.  Its pages are cleared when they are first needed: a launch may touch
 * little of a large memory.  When the worker has run its blocks it adds its bits to the launch's;
 * in whatever order workers do, the sum is the same. */
#include "common/simt/time/traffic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int traffic_open(Launch *launch)
{
    size_t words = (size_t)(launch->gpu->memory.next / SECTOR / 64 + 1);
    launch->touched_words = words;
    launch->loaded = zeros_alloc(words, sizeof *launch->loaded);
    launch->stored = zeros_alloc(words, sizeof *launch->stored);
    launch->fetches = launch->gpu->memory.next / FETCH_BYTES + 1;
    launch->first = address_space(launch->fetches * sizeof *launch->first);
    return launch->loaded && launch->stored && launch->first ? 0 : -1;
}

void traffic_close(Launch *launch)
{
    free(launch->loaded), free(launch->stored);
    if (launch->first) munmap(launch->first, launch->fetches * sizeof *launch->first);
}

static uint64_t pages_of(uint64_t words)
{
    return (words + PAGE_WORDS - 1) / PAGE_WORDS;
}

int touched_open(Touched *touched, const Launch *launch)
{
    uint64_t pages = pages_of(launch->touched_words);
    touched->words = launch->touched_words;
    touched->word = malloc(pages * PAGE_WORDS * sizeof *touched->word);
    touched->taken = calloc(pages, 1);
    return touched->word && touched->taken ? 0 : -1;
}

void touched_close(Touched *touched)
{
    free(touched->word), free(touched->taken);
}

void touched_take(Touched *touched, uint64_t word)
{
    uint64_t page = word / PAGE_WORDS;
    memset(touched->word + page * PAGE_WORDS, 0, PAGE_WORDS * sizeof *touched->word);
    touched->taken[page] = 1;
}

/* Adds the bits to `all`; how many of them were new there. */
static uint64_t bits_add(const Touched *touched, uint64_t *all)
{
    uint64_t added = 0;
    for (uint64_t i = 0; touched->taken && i < touched->words; i++) {
        if (!touched->taken[i / PAGE_WORDS])
            i |= PAGE_WORDS - 1;
        else if (touched->word[i])
            added += (uint64_t)__builtin_popcountll(
                touched->word[i] & ~__atomic_fetch_or(&all[i], touched->word[i], __ATOMIC_RELAXED));
    }
    return added;
}

void touched_tell(Launch *launch, Worker *worker)
{
    uint64_t loads = 2 * bits_add(&worker->loaded, launch->loaded),
             stores = bits_add(&worker->stored, launch->stored);
    __atomic_fetch_add(&launch->dram_loads, loads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&launch->dram_stores, stores, __ATOMIC_RELAXED);
}
