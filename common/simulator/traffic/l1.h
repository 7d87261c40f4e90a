/* l1.h - what the L1 of the SM holds whose blocks are played side by side.
 *
 * A line has its place from the moment at which one of its sectors is asked for, a sector is there
 * when the L2 has sent it.  Who wants it in between waits for the same answer and asks for nothing.
 * Blocks come one after another to what those before them have left. */
#ifndef CONVLAB_SIMT_L1_H
#define CONVLAB_SIMT_L1_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/traffic.h"

enum { L1_WAYS = 4, L1_LINE_BYTES = 128 };

typedef struct L1Place {
    uint32_t line;
    uint32_t used;             /* 0: never */
    uint32_t era;              /* of the L1, when it was last used */
    uint8_t sectors;           /* that were asked for */
    uint64_t at[LINE_SECTORS]; /* when each is there */
} L1Place;

typedef struct L1 {
    L1Place *place;
    uint32_t sets, clock;
    uint32_t era; /* how often all was forgotten */
} L1;

/* Bytes that shared memory leaves; sets of L1_WAYS lines in so many bytes. */
uint64_t l1_bytes(const Launch *launch);
uint32_t l1_sets(uint64_t bytes);

/* Where a line's set begins, of all sets' places.  Neighbours lie in sets of their own, and so do
 * lines a power of two apart. */
static inline size_t l1_set(uint64_t line, uint32_t sets)
{
    uint64_t mixed = line ^ line >> 4;
    mixed ^= mixed >> 7;
    return (size_t)((uint32_t)mixed % sets) * L1_WAYS;
}

/* Which of four banks of tags has a line: each tells of one line a cycle.  On an H200 loads that
 * find their lines take one cycle for each line of the bank that has the most of them, and so much
 * longer until they are there, in each of 2,056 patterns.  Of lines that are more than 256 KB apart
 * nothing is known. */
enum { TAG_BANKS = 4 };

static inline uint32_t l1_tag_bank(uint64_t line)
{
    enum { LOW = 0x2b5, HIGH = 0x5da };
    return (uint32_t)(__builtin_parityll(line & LOW) | __builtin_parityll(line & HIGH) << 1);
}

/* -1: out of memory. */
int l1_open(L1 *l1, uint64_t bytes);
void l1_close(L1 *l1);

/* Looks a line up, for which there is a place then; returns which of the wanted sectors nobody has
 * asked for, and makes *at no earlier than the others are there. */
uint8_t l1_look(L1 *l1, const TraceLine *wanted, L1Place **place, uint64_t *at);
/* Of what is there, and of what is on its way, nobody is given anything any more. */
static inline void l1_invalidate(L1 *l1)
{
    l1->era++;
}

/* They come at `at`, if the line still has its place. */
void l1_fill(L1Place *place, const TraceLine *wanted, uint8_t sectors, uint64_t at);

#endif
