/* l1.h - contents of the L1 of the replayed SM.
 *
 * A line is allocated when one of its sectors is requested; a sector is valid when the L2 has sent
 * it. An access in between waits for the same reply and sends no request. Blocks run one after
 * another and find the lines that earlier blocks have left. */
#ifndef CONVLAB_SIMT_L1_H
#define CONVLAB_SIMT_L1_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/traffic.h"

enum { L1_WAYS = 4, L1_LINE_BYTES = 128 };

typedef struct L1Place {
    uint32_t line;
    uint32_t used;             /* 0: never */
    uint32_t era;              /* era of the L1 at the last use */
    uint8_t sectors;           /* bit mask of requested sectors */
    uint64_t at[LINE_SECTORS]; /* cycle at which each sector is available */
} L1Place;

typedef struct L1 {
    L1Place *place;
    uint32_t sets, clock;
    uint32_t era; /* number of invalidations */
} L1;

/* Bytes of the L1 without shared memory; number of sets of L1_WAYS lines in `bytes` bytes. */
uint64_t l1_bytes(const Launch *launch);
uint32_t l1_sets(uint64_t bytes);

/* Index of a line's set in the array of places. Neighbouring lines are in different sets, and so
 * are lines a power of two apart. */
static inline size_t l1_set(uint64_t line, uint32_t sets)
{
    uint64_t mixed = line ^ line >> 4;
    mixed ^= mixed >> 7;
    return (size_t)((uint32_t)mixed % sets) * L1_WAYS;
}

/* Tag bank of a line: each of the four banks looks up one line per cycle. On an H200, loads that
 * hit take one cycle for each line in the bank with most lines, and their latency grows by the same
 * number. This was confirmed for 2,056 patterns. The mapping of lines more than 256 KB apart is
 * unknown. */
enum { TAG_BANKS = 4 };

static inline uint32_t l1_tag_bank(uint64_t line)
{
    enum { LOW = 0x2b5, HIGH = 0x5da };
    return (uint32_t)(__builtin_parityll(line & LOW) | __builtin_parityll(line & HIGH) << 1);
}

/* -1: out of memory. */
int l1_open(L1 *l1, uint64_t bytes);
void l1_close(L1 *l1);

/* Looks up a line and allocates it if it is absent. Returns the sectors that have not been
 * requested, and raises *at to the time at which the others are available. */
uint8_t l1_lookup(L1 *l1, const TraceLine *wanted, L1Place **place, uint64_t *at);
/* Invalidates all lines, including those in flight. */
static inline void l1_invalidate(L1 *l1)
{
    l1->era++;
}

/* They come at `at`, if the line still has its place. */
void l1_fill(L1Place *place, const TraceLine *wanted, uint8_t sectors, uint64_t at);

#endif
