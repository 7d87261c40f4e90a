/* store_buffer.h - stored lines that wait in the L1 for what else is stored to them, by any warp.
 *
 * They go on to the L2 in the order in which they came: when they have waited for long enough and
 * the way is free, or when another line needs their place.  Each bank of tags has seven places.
 * Whoever stores to a line that still waits makes it wait anew, and sends nothing more. */
#ifndef CONVLAB_SIMT_POOL_H
#define CONVLAB_SIMT_POOL_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/traffic/traffic.h"

/* Cycles for which the lines of one store wait, and for each of them, measured on an H200: a word
 * is sent apart from its neighbour if it comes 15 cycles later in one line, 18 in four, 23 to 39 in
 * eight.  Of 296 patterns the model sends what that H200 does in 268, within a tenth. */
enum {
    STORE_BUFFER_EACH = 7,
    STORE_BUFFER_LINES = STORE_BUFFER_EACH * TAG_BANKS,
    STORE_BUFFER_CYCLES = 7,
    STORE_BUFFER_LINE_CYCLES = 2,
    SECTOR_UNITS = 16 /* of 2 bytes */
};

typedef struct StoreBufferLine {
    uint64_t until; /* it has waited for long enough */
    uint32_t line;
    uint8_t units[LINE_SECTORS]; /* that are written */
} StoreBufferLine;

typedef struct StoreBuffer {
    StoreBufferLine place[STORE_BUFFER_LINES]; /* a ring */
    uint32_t first, count, of[TAG_BANKS];
} StoreBuffer;

/* Lines and sectors that go on, and of these the ones of which only some words are written. */
typedef struct StoreTraffic {
    int64_t lines, sectors, parts;
} StoreTraffic;

static inline void store_traffic_add(StoreTraffic *sum, const StoreTraffic *more)
{
    sum->lines += more->lines, sum->sectors += more->sectors, sum->parts += more->parts;
}

/* So many bytes of the line's sector are written. */
static inline void line_write(TraceLine *line, uint32_t sector, uint32_t bytes)
{
    line->written |= (uint16_t)((bytes - 1) / 2 << 4 * sector);
}

/* What a store to this line is by itself. */
StoreTraffic store_traffic_of(const TraceLine *stored);

/* Adds a store to what waits; 0: there is no place for its line until the next has left. */
int store_buffer_add(StoreBuffer *pool, const TraceLine *stored, uint64_t until);

/* Takes out the line that goes on next, of which there is one. */
StoreTraffic store_buffer_evict(StoreBuffer *pool);

#endif
