/* store_buffer.h - stored lines that wait in the L1 so that later stores of any warp can be
 * combined with them.
 *
 * Lines leave for the L2 in FIFO order: after a minimum time if the path is free, or when another
 * line needs their entry. Each tag bank has seven entries. A store to a waiting line restarts its
 * wait and sends nothing more. */
#ifndef CONVLAB_SIMT_POOL_H
#define CONVLAB_SIMT_POOL_H

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/traffic/traffic.h"

/* Cycles for which the lines of one store wait: a constant, and an amount per line, measured on an
 * H200. A word is sent separately from its neighbour if it is stored 15 cycles later for one line,
 * 18 for four, 23 to 39 for eight. The model matches the sent sectors of the H200 within a tenth
 * for 268 of 296 patterns. */
enum {
    STORE_BUFFER_LINES = 64 * TAG_BANKS, /* largest number of lines */
    SECTOR_UNITS = 16                    /* units of 2 bytes */
};

typedef struct StoreBufferLine {
    uint64_t until; /* it has waited for long enough */
    uint32_t line;
    uint8_t units[LINE_SECTORS]; /* bit mask of written units */
} StoreBufferLine;

typedef struct StoreBuffer {
    StoreBufferLine place[STORE_BUFFER_LINES]; /* a ring */
    uint32_t first, count, of[TAG_BANKS];
} StoreBuffer;

/* Lines and sectors that are sent, and the sectors of which only some words are written. */
typedef struct StoreTraffic {
    int64_t lines, sectors, parts;
} StoreTraffic;

static inline void store_traffic_add(StoreTraffic *sum, const StoreTraffic *more)
{
    sum->lines += more->lines, sum->sectors += more->sectors, sum->parts += more->parts;
}

/* Marks the first `bytes` bytes of the line's sector as written. */
static inline void line_write(TraceLine *line, uint32_t sector, uint32_t bytes)
{
    line->written |= (uint16_t)((bytes - 1) / 2 << 4 * sector);
}

/* Traffic of a store to this line alone. */
StoreTraffic store_traffic_of(const TraceLine *stored);

/* Adds a store to what waits; 0: there is no place for its line until the next has left. */
int store_buffer_add(StoreBuffer *pool, const TraceLine *stored, uint64_t until,
                     const MachineCosts *costs);

/* Removes the oldest line, of which there must be one. */
StoreTraffic store_buffer_evict(StoreBuffer *pool);

#endif
