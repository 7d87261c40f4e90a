/* race_blocks.c - racecheck between blocks: nothing orders the blocks of a launch, so a word of
 * global memory that one block writes must not be touched by another.
 *
 * A word that is accessed has 8 bytes of shadow: the lowest block that wrote it, the lowest block
 * that read it, the lowest instruction of each, and whether there were other blocks. A word that is
 * written has 8 more bytes: the value, and whether another value was ever written, because blocks
 * that all write the same value are harmless. The shadow is cleared in parts, when a launch first
 * needs them. Merging is commutative, so the result does not depend on host threads. Accesses of
 * less than a word, loads through the read-only path (const __restrict__) and atomics are not
 * recorded. An atomic without a fence orders only itself; kernels with fences may order their
 * blocks, and race_order.c tracks that order. */
#include "common/base/demangle.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/checks/race_order.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A value cell: the first value below, and these. */
#define VALUE_SET   (1ull << 32)
#define VALUE_OTHER (1ull << 33)

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

void race_shadow_free(RaceShadow *shadow)
{
    if (shadow->readers) munmap(shadow->readers, shadow->words * sizeof *shadow->readers);
    if (shadow->writers) munmap(shadow->writers, shadow->words * sizeof *shadow->writers);
    if (shadow->values) munmap(shadow->values, shadow->words * sizeof *shadow->values);
    *shadow = (RaceShadow){0};
}

/* -1: no address space. */
static int shadow_open(RaceShadow *shadow, uint64_t words)
{
    if (words <= shadow->words) return 0;
    race_shadow_free(shadow);
    shadow->words = words;
    shadow->readers = address_space(words * sizeof *shadow->readers);
    shadow->writers = address_space(words * sizeof *shadow->writers);
    shadow->values = address_space(words * sizeof *shadow->values);
    if (shadow->readers && shadow->writers && shadow->values) return 0;
    race_shadow_free(shadow);
    return -1;
}

int race_blocks_open(Launch *launch)
{
    RaceShadow *shadow = &launch->gpu->race_shadow;
    uint64_t words = launch->gpu->memory.next / 4 + 1;
    launch->race.taken = zeros_alloc(words / RACE_STRETCH + 1, 1);
    launch->race.row_lock = zeros_alloc(LOCKS, sizeof *launch->race.row_lock);
    if (!launch->race.taken || !launch->race.row_lock || shadow_open(shadow, words) != 0) return -1;
    launch->race.words = words;
    launch->race.readers = shadow->readers, launch->race.writers = shadow->writers;
    launch->race.values = shadow->values;
    return 0;
}

/* A small shadow is kept for the next launch, because mapping pages costs more than clearing
 * them. */
void race_blocks_close(Launch *launch)
{
    enum { KEPT_WORDS = 1 << 24 };
    RaceShadow *shadow = &launch->gpu->race_shadow;
    if (shadow->words > KEPT_WORDS) race_shadow_free(shadow);
    free(launch->race.taken);
    free(launch->race.row_lock);
}

/* Number of words from `word` on that share one lock, which is taken. */
static uint32_t row_lock(Launch *launch, uint64_t word, uint32_t count)
{
    enum { PATIENCE = 100 };
    uint32_t left = LOCKED - (uint32_t)(word % LOCKED);
    int *held = &launch->race.row_lock[word / LOCKED % LOCKS].held;
    for (uint32_t turn = 0; __atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE); turn++)
        if (turn > PATIENCE) sched_yield();
    return count < left ? count : left;
}

static void row_unlock(Launch *launch, uint64_t word)
{
    __atomic_store_n(&launch->race.row_lock[word / LOCKED % LOCKS].held, 0, __ATOMIC_RELEASE);
}

static void stretch_clear(Launch *launch, int which, uint64_t from)
{
    uint64_t left = launch->race.words - from, count = left < RACE_STRETCH ? left : RACE_STRETCH;
    if (which == RACE_READERS) {
        memset(launch->race.readers + from, 0, count * sizeof *launch->race.readers);
    } else {
        memset(launch->race.writers + from, 0, count * sizeof *launch->race.writers);
        memset(launch->race.values + from, 0, count * sizeof *launch->race.values);
    }
}

/* Clears the part of the shadow that contains the word, unless that has been done. No lock is
 * held. */
static void stretch_take(Launch *launch, int which, uint64_t word)
{
    uint64_t from = word / RACE_STRETCH * RACE_STRETCH;
    unsigned char *taken = &launch->race.taken[word / RACE_STRETCH];
    if (__builtin_expect(race_taken(launch, word, 1, which), 1)) return;
    row_lock(launch, from, 1);
    if (!(*taken & which)) {
        stretch_clear(launch, which, from);
        __atomic_store_n(taken, (unsigned char)(*taken | which), __ATOMIC_RELEASE);
    }
    row_unlock(launch, from);
}

/* Readers' sides are looked at without the lock, too (sides_know). */
static void sides_merge(uint32_t *side, uint32_t count, uint32_t mine)
{
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n(&side[i], side_merge(side[i], mine), __ATOMIC_RELAXED);
}

void race_blocks_read(Launch *launch, uint32_t side, uint64_t word, uint32_t count)
{
    while (count) {
        stretch_take(launch, RACE_READERS, word);
        uint32_t now = row_lock(launch, word, count);
        sides_merge(launch->race.readers + word, now, side);
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
        if (held < 0 || word / LOCKED != held / LOCKED) {
            if (held >= 0) row_unlock(launch, (uint64_t)held);
            stretch_take(launch, RACE_WRITERS, (uint64_t)word);
            row_lock(launch, (uint64_t)word, each);
            held = word;
        }
        sides_merge(launch->race.writers + word, each, side);
        values_merge(launch->race.values + word, each, value + lane * each);
    }
    if (held >= 0) row_unlock(launch, (uint64_t)held);
}

void race_blocks_write(Launch *launch, uint32_t side, uint64_t word, uint32_t count,
                       const uint32_t *value)
{
    while (count) {
        stretch_take(launch, RACE_WRITERS, word);
        uint32_t now = row_lock(launch, word, count);
        sides_merge(launch->race.writers + word, now, side);
        values_merge(launch->race.values + word, now, value);
        row_unlock(launch, word);
        word += now, count -= now, value += now;
    }
}

void race_blocks_forget(Launch *launch, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at < address + bytes; at += 4) {
        int64_t word = launch->race.writers ? race_shadow(launch, at, 1) : -1;
        if (word < 0) continue;
        if (race_taken(launch, (uint64_t)word, 1, RACE_READERS)) launch->race.readers[word] = 0;
        if (race_taken(launch, (uint64_t)word, 1, RACE_WRITERS))
            launch->race.writers[word] = 0, launch->race.values[word] = 0;
    }
    race_order_forget(launch, address, bytes);
}

/* Are the accesses by two different blocks, and does one of them change the value that the other
 * observes? */
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

/* Two instructions of a kernel. */
typedef struct Sides {
    uint32_t ins, other;
} Sides;

static Sides sides_of(uint32_t reader, uint32_t writer, uint64_t value)
{
    uint32_t most = (1u << RACE_SIDE_INS) - 1, ins = writer & most;
    return (Sides){ins, value & VALUE_OTHER && writer & RACE_MANY ? ins : reader & most};
}

/* Only the lowest writer of a word is known: another may have been an atomic of block scope. */
static const char *sides_cause(const SimtKernel *kernel, Sides sides)
{
    if (kernel->code[sides.ins].class == CLASS_ATOMIC ||
        kernel->code[sides.other].class == CLASS_ATOMIC)
        return "the scope of the atomic is its own block, so it is not atomic for other blocks";
    if (kernel->traits.has_block_atomics)
        return "nothing orders the blocks of a launch, and atomics of block scope are not atomic "
               "for other blocks";
    return "nothing orders the blocks of a launch";
}

static void sides_report(const Launch *launch, uint64_t address, uint32_t reader, uint32_t writer,
                         uint64_t value, SimtReport *report)
{
    const SimtKernel *kernel = launch->kernel;
    Sides sides = sides_of(reader, writer, value);
    char first[64], second[64] = "other blocks", where[200], there[200], element[160];
    memset(report, 0, sizeof *report);
    report->check = SIMT_RACECHECK;
    report->address = address, report->bytes = 4;
    demangle(kernel->info.name, report->kernel, sizeof report->kernel);
    block_name(launch, side_block(writer), first, sizeof first);
    if (!(writer & RACE_MANY) && !(reader & RACE_MANY)) {
        char name[48];
        block_name(launch, side_block(reader), name, sizeof name);
        snprintf(second, sizeof second, "block %s", name);
    }
    source_name(kernel, kernel->code[sides.ins].from, where, sizeof where);
    source_name(kernel, kernel->code[sides.other].from, there, sizeof there);
    snprintf(report->source, sizeof report->source, "%s",
             source_line(kernel, kernel->code[sides.ins].from, &report->line));
    snprintf(report->other_source, sizeof report->other_source, "%s",
             source_line(kernel, kernel->code[sides.other].from, &report->other_line));
    memory_element(&launch->gpu->memory, address, element, sizeof element);
    snprintf(
        report->text, sizeof report->text,
        "Race reported between Write access at %.150s by block %s and %s access at %.150s by %s "
        "on __global__ memory%s: %s\nin kernel %.120s, address 0x%llx",
        where, first, value & VALUE_OTHER && writer & RACE_MANY ? "Write" : "Read", there, second,
        element, sides_cause(kernel, sides), report->kernel, (unsigned long long)address);
}

/* A bit for each of the groups of 8 words from 64 * number on that may have been stored to: as
 * counted, or all whose shadow is in use. */
static uint64_t groups_stored(const Launch *launch, uint64_t number)
{
    enum { WORDS = 64 * 8 };
    if (!race_taken(launch, number * WORDS, 1, RACE_WRITERS)) return 0;
    /* The words of atomics are not counted as stored; those of block scope are searched. */
    int has_atomics = launch->kernel->traits.has_block_atomics;
    return launch->touched.stored && !has_atomics ? launch->touched.stored[number] : ~0ull;
}

/* Most groups need no further check: no block reads them, and no word has two writers. */
static int group_is_apart(const uint32_t *reader, const uint32_t *writer)
{
    uint32_t read = 0, written = 0;
    for (int i = 0; i < 8; i++)
        written |= writer[i], read |= reader ? reader[i] : 0;
    return !read && !(written & RACE_MANY);
}

/* Adds a racing word to the group of its two lines, as the launch's last findings. */
static uint32_t sides_add(const Launch *launch, uint64_t address, uint32_t reader, uint32_t writer,
                          uint64_t value, FindingGroup *group, uint32_t count)
{
    Sides sides = sides_of(reader, writer, value);
    for (uint32_t i = 0; i < count; i++)
        if (group[i].ins == sides.ins && group[i].other == sides.other) {
            group[i].found.count++;
            return count;
        }
    FindingGroup one = {
        .found.count = 1, .block = UINT64_MAX, .ins = sides.ins, .other = sides.other};
    sides_report(launch, address, reader, writer, value, &one.found.report);
    return finding_merge(group, count, &one);
}

uint64_t race_blocks_find(Launch *launch, FindingGroup *all, uint32_t *count)
{
    uint64_t found = 0, words = launch->gpu->memory.next / 4, stored = 0;
    if (!launch->race.writers) return 0;
    for (uint64_t group = 0; group < words / 8; group++) {
        if (group % 64 == 0) stored = groups_stored(launch, group / 64);
        if (!stored) group |= 63;
        if (!(stored >> group % 64 & 1)) continue;
        int read = race_taken(launch, group * 8, 8, RACE_READERS);
        if (group_is_apart(read ? launch->race.readers + group * 8 : NULL,
                           launch->race.writers + group * 8))
            continue;
        for (uint64_t word = group * 8; word < group * 8 + 8; word++) {
            uint32_t reader = read ? launch->race.readers[word] : 0,
                     writer = launch->race.writers[word];
            if (!writer || !sides_race(reader, writer, launch->race.values[word])) continue;
            found++;
            *count = sides_add(launch, DEVICE_BASE + word * 4, reader, writer,
                               launch->race.values[word], all, *count);
        }
    }
    return found;
}
