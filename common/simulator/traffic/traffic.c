/* traffic.c - device memory is charged for every sector once a launch: what the L2 keeps is not
 * fetched again.
 *
 * Each worker has its own bitmap and moments, because data written by all host threads would move
 * between cores with every sector. The bitmap's pages are cleared when they are first needed,
 * because a launch may access only a small part of a large memory. A moment is valid if its bit is
 * set. After its last block, the worker merges both into the launch's; the merge is commutative. */
#include "common/simulator/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int traffic_open(Launch *launch)
{
    size_t words = (size_t)(launch->gpu->memory.next / SECTOR / 64 + 1);
    launch->touched.words = words;
    launch->touched.loaded = zeros_alloc(words, sizeof *launch->touched.loaded);
    launch->touched.stored = zeros_alloc(words, sizeof *launch->touched.stored);
    launch->touched.fetches = launch->gpu->memory.next / FETCH_BYTES + 1;
    launch->touched.first = address_space(launch->touched.fetches * sizeof *launch->touched.first);
    return launch->touched.loaded && launch->touched.stored && launch->touched.first ? 0 : -1;
}

void traffic_close(Launch *launch)
{
    free(launch->touched.loaded), free(launch->touched.stored);
    if (launch->touched.first)
        munmap(launch->touched.first, launch->touched.fetches * sizeof *launch->touched.first);
}

static uint64_t pages_of(uint64_t words)
{
    return (words + PAGE_WORDS - 1) / PAGE_WORDS;
}

static int bits_open(Touched *touched, const Launch *launch, LaunchArena *shelf)
{
    uint64_t pages = pages_of(launch->touched.words);
    touched->words = launch->touched.words;
    touched->word = arena_take(shelf, pages * PAGE_WORDS * sizeof *touched->word);
    touched->taken = arena_zeros(shelf, pages, 1);
    return touched->word && touched->taken ? 0 : -1;
}

int touched_open(Worker *worker)
{
    const Launch *launch = worker->launch;
    worker->traffic.first =
        arena_take(worker->arena, launch->touched.fetches * sizeof *worker->traffic.first);
    int failed = bits_open(&worker->traffic.loaded, launch, worker->arena) |
                 bits_open(&worker->traffic.stored, launch, worker->arena);
    return worker->traffic.first && !failed ? 0 : -1;
}

void touched_take(Touched *touched, uint64_t word)
{
    uint64_t page = word / PAGE_WORDS;
    memset(touched->word + page * PAGE_WORDS, 0, PAGE_WORDS * sizeof *touched->word);
    touched->taken[page] = 1;
}

/* Keeps the earliest moment of all workers. Every page of these words is written before it is read:
 * zeros_alloc states the reason. */
static void first_tell(const Worker *worker, uint64_t fetch)
{
    uint32_t moment = worker->traffic.first[fetch], was = 0,
             *first = &worker->launch->touched.first[fetch];
    while (was < moment &&
           !__atomic_compare_exchange_n(first, &was, moment, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Adds the bits of one word to `all`; how many of them were new there. */
static uint64_t word_add(const Touched *touched, uint64_t i, uint64_t *all)
{
    uint64_t word = touched->word[i];
    return (uint64_t)__builtin_popcountll(word &
                                          ~__atomic_fetch_or(&all[i], word, __ATOMIC_RELAXED));
}

/* The next word from `i` on with a set bit; `words`: none. */
static uint64_t word_next(const Touched *touched, uint64_t i)
{
    for (; touched->taken && i < touched->words; i++) {
        if (!touched->taken[i / PAGE_WORDS])
            i |= PAGE_WORDS - 1;
        else if (touched->word[i])
            return i;
    }
    return touched->words;
}

/* Each of 32 bits twice. */
static uint64_t twice(uint64_t bits)
{
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    bits = (bits | bits << 1) & 0x5555555555555555u;
    return bits | bits << 1;
}

uint64_t traffic_changed(const Launch *launch)
{
    uint64_t changed = 0;
    for (uint64_t i = 0; i < launch->touched.words; i++)
        if (launch->touched.stored[i])
            changed += (uint64_t)__builtin_popcountll(
                launch->touched.stored[i] &
                twice(launch->touched.loaded[i / 2] >> i % 2 * 32 & 0xffffffff));
    return changed;
}

void touched_tell(Worker *worker)
{
    Launch *launch = worker->launch;
    const Touched *loaded = &worker->traffic.loaded, *stored = &worker->traffic.stored;
    uint64_t loads = 0, stores = 0;
    for (uint64_t i = 0; (i = word_next(loaded, i)) < loaded->words; i++) {
        loads += FETCH_SECTORS * word_add(loaded, i, launch->touched.loaded);
        for (uint64_t bits = loaded->word[i]; bits; bits &= bits - 1) {
            uint64_t fetch = i * 64 + (uint64_t)__builtin_ctzll(bits);
            if (fetch < launch->touched.fetches) first_tell(worker, fetch);
        }
    }
    for (uint64_t i = 0; (i = word_next(stored, i)) < stored->words; i++)
        stores += word_add(stored, i, launch->touched.stored);
    __atomic_fetch_add(&launch->dram.loads, loads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&launch->dram.stores, stores, __ATOMIC_RELAXED);
}
