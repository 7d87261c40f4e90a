/* race_blocks.c - racecheck between blocks: nothing orders the blocks of a launch, so a word of
 * global memory that one block writes must not be touched by another.
 *
 * A word has 8 bytes of shadow, given out only where something is written or read: the lowest block
 * that wrote it, the lowest that read it, the lowest instruction of each, and whether there were
 * other blocks; and 8 more where something is written: the value, and whether another one ever was,
 * for blocks that all write the same harm nobody.  Merging these in any order gives the same, so
 * host threads do not show.  Accesses of less than a word, loads through the read-only path (const
 * __restrict__) and atomics are not noted.  An atomic without a fence orders nothing but itself;
 * kernels with fences may order their blocks, and race_order.c follows what they do. */
#include "common/base/plain_name.h"
#include "common/simt/checks/race.h"
#include "common/simt/checks/race_order.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A value cell: the first value below, and these. */
#define VALUE_SET   (1ull << 32)
#define VALUE_OTHER (1ull << 33)

enum { PAGE = 1 << 12 };

/* Words that have one lock; locks, of which each has a line of the cache to itself. */
enum { LOCKED = 128, LOCKS = 256, LINE = 64 };

struct RowLock {
    _Alignas(LINE) int held;
};

static uint32_t side_merge(uint32_t a, uint32_t b)
{
    uint32_t many = (a | b) & RACE_MANY;
    a &= ~RACE_MANY, b &= ~RACE_MANY;
    many |= a && b && a >> RACE_SIDE_INS != b >> RACE_SIDE_INS ? RACE_MANY : 0;
    return (!a || (b && b < a) ? b : a) | many;
}

static uint64_t side_block(uint32_t side)
{
    return ((side & ~RACE_MANY) >> RACE_SIDE_INS) - 1;
}

/* Address space: pages come with the first touch. */
static void *shadow_open(uint64_t words, size_t each)
{
    void *space = mmap(NULL, words * each, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return space == MAP_FAILED ? NULL : space;
}

int race_blocks_open(Launch *launch)
{
    uint64_t words = launch->gpu->memory.next / 4 + 1;
    launch->shadow_words = words;
    launch->taken = zeros_alloc(words / RACE_STRETCH + 1, 1);
    launch->row_lock = zeros_alloc(LOCKS, sizeof *launch->row_lock);
    launch->readers = shadow_open(words, sizeof *launch->readers);
    launch->writers = shadow_open(words, sizeof *launch->writers);
    launch->values = shadow_open(words, sizeof *launch->values);
    return launch->readers && launch->writers && launch->values && launch->taken && launch->row_lock
               ? 0
               : -1;
}

void race_blocks_close(Launch *launch)
{
    uint64_t words = launch->shadow_words;
    if (launch->readers) munmap(launch->readers, words * sizeof *launch->readers);
    if (launch->writers) munmap(launch->writers, words * sizeof *launch->writers);
    if (launch->values) munmap(launch->values, words * sizeof *launch->values);
    free(launch->taken);
    free(launch->row_lock);
}

/* Writes the pages of a stretch before they are read: zeros_alloc says why, of what is too large to
 * be written whole. */
static void pages_take(const Launch *launch, void *shadow, size_t each, uint64_t stretch)
{
    size_t from = stretch * RACE_STRETCH * each, end = launch->shadow_words * each;
    for (size_t at = from; at < from + RACE_STRETCH * each && at < end; at += PAGE)
        __atomic_fetch_or((char *)shadow + at, 0, __ATOMIC_RELAXED);
}

static void stretch_take(Launch *launch, int which, uint64_t word)
{
    uint64_t stretch = word / RACE_STRETCH;
    unsigned char *taken = &launch->taken[stretch];
    if (__builtin_expect(__atomic_load_n(taken, __ATOMIC_RELAXED) & which, 1)) return;
    if (which == RACE_READERS) {
        pages_take(launch, launch->readers, sizeof *launch->readers, stretch);
    } else {
        pages_take(launch, launch->writers, sizeof *launch->writers, stretch);
        pages_take(launch, launch->values, sizeof *launch->values, stretch);
    }
    __atomic_fetch_or(taken, (unsigned char)which, __ATOMIC_RELAXED);
}

/* Of the words from `word` on, those that have one lock, which is taken. */
static uint32_t row_lock(Launch *launch, uint64_t word, uint32_t count)
{
    enum { PATIENCE = 100 };
    uint32_t left = LOCKED - (uint32_t)(word % LOCKED);
    int *held = &launch->row_lock[word / LOCKED % LOCKS].held;
    for (uint32_t turn = 0; __atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE); turn++)
        if (turn > PATIENCE) sched_yield();
    return count < left ? count : left;
}

static void row_unlock(Launch *launch, uint64_t word)
{
    __atomic_store_n(&launch->row_lock[word / LOCKED % LOCKS].held, 0, __ATOMIC_RELEASE);
}

static void sides_merge(uint32_t *side, uint32_t count, uint32_t mine)
{
    for (uint32_t i = 0; i < count; i++)
        side[i] = side_merge(side[i], mine);
}

void race_blocks_read(Launch *launch, uint32_t side, uint64_t word, uint32_t count)
{
    while (count) {
        stretch_take(launch, RACE_READERS, word);
        uint32_t now = row_lock(launch, word, count);
        sides_merge(launch->readers + word, now, side);
        row_unlock(launch, word);
        word += now, count -= now;
    }
}

static void values_merge(uint64_t *cell, uint32_t count, const uint32_t *value)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t mine = VALUE_SET | value[i], now = cell[i] ? cell[i] : mine;
        cell[i] = now | (now != mine ? VALUE_OTHER : 0);
    }
}

void race_blocks_pieces(Launch *launch, uint32_t side, const uint64_t *address, uint32_t mask,
                        uint32_t each, const uint32_t *value)
{
    int64_t held = -1; /* a word of those whose lock it is */
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        int64_t word = race_shadow(launch, address[lane], each);
        if (word < 0) continue;
        stretch_take(launch, RACE_WRITERS, (uint64_t)word);
        if (held < 0 || word / LOCKED != held / LOCKED) {
            if (held >= 0) row_unlock(launch, (uint64_t)held);
            row_lock(launch, (uint64_t)word, each);
            held = word;
        }
        sides_merge(launch->writers + word, each, side);
        values_merge(launch->values + word, each, value + lane * each);
    }
    if (held >= 0) row_unlock(launch, (uint64_t)held);
}

void race_blocks_write(Launch *launch, uint32_t side, uint64_t word, uint32_t count,
                       const uint32_t *value)
{
    while (count) {
        stretch_take(launch, RACE_WRITERS, word);
        uint32_t now = row_lock(launch, word, count);
        sides_merge(launch->writers + word, now, side);
        values_merge(launch->values + word, now, value);
        row_unlock(launch, word);
        word += now, count -= now, value += now;
    }
}

void race_blocks_forget(Launch *launch, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at < address + bytes; at += 4) {
        int64_t word = launch->writers ? race_shadow(launch, at, 1) : -1;
        if (word < 0) continue;
        launch->readers[word] = launch->writers[word] = 0, launch->values[word] = 0;
    }
    race_order_forget(launch, address, bytes);
}

/* Do the sides tell of two different blocks, one of which changes what the other sees? */
static int sides_race(uint32_t reader, uint32_t writer, uint64_t value)
{
    if (!writer) return 0;
    if (writer & RACE_MANY && value & VALUE_OTHER) return 1;
    return reader && ((reader | writer) & RACE_MANY || side_block(reader) != side_block(writer));
}

static void block_name(const Launch *launch, uint64_t number, char *text, size_t bytes)
{
    const uint32_t *grid = launch->launch->grid;
    snprintf(text, bytes, "(%llu,%llu,%llu)", (unsigned long long)(number % grid[0]),
             (unsigned long long)(number / grid[0] % grid[1]),
             (unsigned long long)(number / grid[0] / grid[1]));
}

static void sides_report(const Launch *launch, uint64_t address, uint32_t reader, uint32_t writer,
                         uint64_t value, SimtReport *report)
{
    const SimtKernel *kernel = launch->kernel;
    uint32_t most = (1u << RACE_SIDE_INS) - 1, ins = writer & most,
             other = value & VALUE_OTHER && writer & RACE_MANY ? ins : reader & most;
    char first[64], second[64] = "other blocks", where[200], there[200], element[160];
    memset(report, 0, sizeof *report);
    report->check = SIMT_RACECHECK;
    report->address = address, report->bytes = 4;
    plain_name(kernel->info.name, report->kernel, sizeof report->kernel);
    block_name(launch, side_block(writer), first, sizeof first);
    if (!(writer & RACE_MANY) && !(reader & RACE_MANY)) {
        char name[48];
        block_name(launch, side_block(reader), name, sizeof name);
        snprintf(second, sizeof second, "block %s", name);
    }
    source_name(kernel, kernel->code[ins].from, where, sizeof where);
    source_name(kernel, kernel->code[other].from, there, sizeof there);
    memory_element(&launch->gpu->memory, address, element, sizeof element);
    snprintf(
        report->text, sizeof report->text,
        "Race reported between Write access at %.150s by block %s and %s access at %.150s by %s "
        "on __global__ memory%s: nothing orders the blocks of a launch\nin kernel %.120s, "
        "address 0x%llx",
        where, first, value & VALUE_OTHER && writer & RACE_MANY ? "Write" : "Read", there, second,
        element, report->kernel, (unsigned long long)address);
}

/* Of groups 64 * number .. of 8 words each a bit where a store may have been: as it was counted, or
 * all whose shadow was taken. */
static uint64_t groups_stored(const Launch *launch, uint64_t number)
{
    enum { WORDS = 64 * 8 };
    if (launch->stored) return launch->stored[number];
    return launch->taken[number * WORDS / RACE_STRETCH] & RACE_WRITERS ? ~0ull : 0;
}

uint64_t race_blocks_find(Launch *launch, SimtReport *report)
{
    uint64_t found = 0, words = launch->gpu->memory.next / 4, stored = 0;
    if (!launch->writers) return 0;
    for (uint64_t group = 0; group < words / 8; group++) {
        if (group % 64 == 0) stored = groups_stored(launch, group / 64);
        if (!stored) group |= 63;
        if (!(stored >> group % 64 & 1)) continue;
        for (uint64_t word = group * 8; word < group * 8 + 8; word++) {
            uint32_t reader = launch->readers[word], writer = launch->writers[word];
            if (!writer || !sides_race(reader, writer, launch->values[word])) continue;
            if (!found++)
                sides_report(launch, DEVICE_BASE + word * 4, reader, writer, launch->values[word],
                             report);
        }
    }
    return found;
}
