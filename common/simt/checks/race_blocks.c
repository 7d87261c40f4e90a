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

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A side of a shadow: block + 1, instruction, and whether other blocks did it too. */
enum { BLOCK_BITS = 20, INS_BITS = 11 };
#define MANY_BIT (1u << 31)
/* A value cell: the first value below, and these. */
#define VALUE_SET   (1ull << 32)
#define VALUE_OTHER (1ull << 33)

/* Bytes of shadow that are taken together; of a page. */
enum { STRETCH = 1 << 14, PAGE = 1 << 12 };
typedef enum Taken { TAKEN_OWNERS = 1, TAKEN_VALUES = 2 } Taken;

static uint32_t side_pack(uint64_t block, uint32_t ins)
{
    uint32_t most = (1u << INS_BITS) - 1;
    return (uint32_t)(block % ((1u << BLOCK_BITS) - 1) + 1) << INS_BITS | (ins < most ? ins : most);
}

static uint32_t side_merge(uint32_t a, uint32_t b)
{
    uint32_t many = (a | b) & MANY_BIT;
    a &= ~MANY_BIT, b &= ~MANY_BIT;
    if (!a || !b) return (a | b) | many;
    if (a >> INS_BITS != b >> INS_BITS) many = MANY_BIT;
    return (a < b ? a : b) | many;
}

static uint64_t side_block(uint32_t side)
{
    return ((side & ~MANY_BIT) >> INS_BITS) - 1;
}

int race_blocks_open(Launch *launch)
{
    launch->owners_bytes = (size_t)(launch->gpu->memory.next / 4 + 1) * 8;
    launch->taken = zeros_alloc(launch->owners_bytes / STRETCH + 1, 1);
    void *space = mmap(NULL, launch->owners_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    launch->owners = space == MAP_FAILED ? NULL : space;
    space = mmap(NULL, launch->owners_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    launch->values = space == MAP_FAILED ? NULL : space;
    return launch->owners && launch->values && launch->taken ? 0 : -1;
}

void race_blocks_close(Launch *launch)
{
    if (launch->owners) munmap(launch->owners, launch->owners_bytes);
    if (launch->values) munmap(launch->values, launch->owners_bytes);
    free(launch->taken);
}

/* Writes the pages around a word's shadow before they are read: zeros_alloc says why, of what is
 * too large to be written whole. */
static void stretch_take(Launch *launch, void *shadow, Taken which, int64_t word)
{
    size_t number = (size_t)word * 8 / STRETCH, from = number * STRETCH;
    unsigned char *taken = &launch->taken[number];
    if (__builtin_expect(__atomic_load_n(taken, __ATOMIC_RELAXED) & which, 1)) return;
    for (size_t at = from; at < from + STRETCH && at < launch->owners_bytes; at += PAGE)
        __atomic_fetch_or((char *)shadow + at, 0, __ATOMIC_RELAXED);
    __atomic_fetch_or(taken, which, __ATOMIC_RELAXED);
}

/* The word's number, or -1 where there is no shadow. */
static int64_t word_of(const Launch *launch, uint64_t address)
{
    uint64_t word = (address - DEVICE_BASE) / 4;
    return word < launch->owners_bytes / 8 ? (int64_t)word : -1;
}

void race_blocks_add(Launch *launch, uint64_t block, uint32_t ins, uint64_t address, int write)
{
    int64_t word = word_of(launch, address);
    if (word < 0) return;
    stretch_take(launch, launch->owners, TAKEN_OWNERS, word);
    uint32_t *side = &launch->owners[word * 2 + write];
    uint32_t mine = side_pack(block, ins), now = __atomic_load_n(side, __ATOMIC_RELAXED), merged;
    while ((merged = side_merge(now, mine)) != now &&
           !__atomic_compare_exchange_n(side, &now, merged, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Whichever value comes first: that all are equal does not depend on the order. */
void race_blocks_value(Launch *launch, uint64_t address, uint32_t value)
{
    int64_t word = word_of(launch, address);
    if (word < 0) return;
    stretch_take(launch, launch->values, TAKEN_VALUES, word);
    uint64_t *cell = &launch->values[word];
    uint64_t now = __atomic_load_n(cell, __ATOMIC_RELAXED), mine = VALUE_SET | value;
    if (!now &&
        __atomic_compare_exchange_n(cell, &now, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    if (now != mine && !(now & VALUE_OTHER)) __atomic_fetch_or(cell, VALUE_OTHER, __ATOMIC_RELAXED);
}

void race_blocks_forget(Launch *launch, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at < address + bytes; at += 4) {
        int64_t word = launch->owners ? word_of(launch, at) : -1;
        if (word >= 0)
            launch->owners[word * 2] = launch->owners[word * 2 + 1] = 0, launch->values[word] = 0;
    }
    race_order_forget(launch, address, bytes);
}

/* Do the sides tell of two different blocks, one of which changes what the other sees? */
static int sides_race(uint32_t reader, uint32_t writer, uint64_t value)
{
    if (!writer) return 0;
    if (writer & MANY_BIT && value & VALUE_OTHER) return 1;
    return reader && ((reader | writer) & MANY_BIT || side_block(reader) != side_block(writer));
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
    uint32_t most = (1u << INS_BITS) - 1, ins = writer & most,
             other = value & VALUE_OTHER && writer & MANY_BIT ? ins : reader & most;
    char first[64], second[64] = "other blocks", where[200], there[200], element[160];
    memset(report, 0, sizeof *report);
    report->check = SIMT_RACECHECK;
    report->address = address, report->bytes = 4;
    plain_name(kernel->info.name, report->kernel, sizeof report->kernel);
    block_name(launch, side_block(writer), first, sizeof first);
    if (!(writer & MANY_BIT) && !(reader & MANY_BIT)) {
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
        where, first, value & VALUE_OTHER && writer & MANY_BIT ? "Write" : "Read", there, second,
        element, report->kernel, (unsigned long long)address);
}

/* Of groups 64 * number .. of 8 words each a bit where a store may have been: as it was counted, or
 * all whose shadow was taken. */
static uint64_t groups_stored(const Launch *launch, uint64_t number)
{
    enum { SHADOW = 64 * 8 * 8 };
    if (launch->stored) return launch->stored[number];
    return launch->taken[number * SHADOW / STRETCH] & TAKEN_OWNERS ? ~0ull : 0;
}

uint64_t race_blocks_find(Launch *launch, SimtReport *report)
{
    uint64_t found = 0, words = launch->gpu->memory.next / 4, stored = 0;
    if (!launch->owners) return 0;
    for (uint64_t group = 0; group < words / 8; group++) {
        if (group % 64 == 0) stored = groups_stored(launch, group / 64);
        if (!stored) group |= 63;
        if (!(stored >> group % 64 & 1)) continue;
        for (uint64_t word = group * 8; word < group * 8 + 8; word++) {
            uint32_t reader = launch->owners[word * 2], writer = launch->owners[word * 2 + 1];
            if (!writer || !sides_race(reader, writer, launch->values[word])) continue;
            if (!found++)
                sides_report(launch, DEVICE_BASE + word * 4, reader, writer, launch->values[word],
                             report);
        }
    }
    return found;
}
