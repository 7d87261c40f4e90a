/* stores.c - lines, whole sectors and parts of sectors that are stored (stores.h). */
#include "common/simt/time/stores.h"

#include <string.h>

#include "common/simt/time/count.h"
#include "common/simt/traffic/traffic.h"

enum { WHOLE = UINT32_MAX }; /* all bytes of a sector, a bit each */

/* The bytes of one sector that a lane writes, whose first one lies in it. */
static uint32_t bytes_of(uint64_t address, uint32_t bytes)
{
    return (uint32_t)((1ull << bytes) - 1) << address % SECTOR;
}

/* Of each sector the bytes that these lanes write: once, if several write the same. */
static void bytes_find(const uint64_t *sector, uint32_t n, const uint64_t *address, uint32_t mask,
                       uint32_t bytes, uint32_t *written)
{
    uint32_t k = 0;
    memset(written, 0, n * sizeof *written);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)];
        for (uint32_t i = 0; i < n && sector[k] != at / SECTOR; i++)
            k = k + 1 < n ? k + 1 : 0;
        written[k] |= bytes_of(at, bytes);
    }
}

enum {
    RECORD_LINES = 8, /* of words that lie up to a sector apart */
    MANY_ROWS = 5     /* of DRAM, that no stream goes to at once */
};

static uint32_t is_part(uint32_t written)
{
    return written != WHOLE;
}

/* Which of the last store's sectors this is; their number: none. */
static uint32_t place_of(const StoredLines *last, uint64_t sector)
{
    uint32_t k = 0;
    while (k < last->count && last->sector[k] != sector)
        k++;
    return k;
}

/* Adds the sectors to those of the warp's last store; returns how many are new. */
static uint32_t stores_join(StoredLines *last, const uint64_t *sector, uint32_t n,
                            const uint32_t *written, BlockCost *cost)
{
    uint32_t before = last->count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = place_of(last, sector[i]);
        if (k == last->count)
            last->sector[last->count++] = sector[i], last->written[k] = 0;
        else
            cost->store_parts -= is_part(last->written[k]);
        last->written[k] |= written[i];
        cost->store_parts += is_part(last->written[k]);
    }
    return last->count - before;
}

/* Does each of them lie in a line that the last store went to, and write what that has not? */
static int is_joined(const StoredLines *last, const uint64_t *sector, uint32_t n,
                     const uint32_t *written)
{
    uint64_t all[STORED_SECTORS + LANES];
    if (!last->count) return 0;
    memcpy(all, last->sector, last->count * sizeof *all);
    memcpy(all + last->count, sector, n * sizeof *all);
    if (pieces_count(all, last->count + n, LINE_SECTORS) != last->lines) return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = place_of(last, sector[i]);
        if (k < last->count && last->written[k] & written[i]) return 0;
    }
    return 1;
}

uint32_t stores_count(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address,
                      uint32_t mask, uint32_t bytes)
{
    StoredLines *last = &warp->stored;
    BlockCost *cost = &warp->worker->cost;
    uint32_t written[LANES], lines = pieces_count(sector, n, LINE_SECTORS),
                             rows = lines < MANY_ROWS ? 0 : pieces_count(sector, n, ROW_SECTORS);
    bytes_find(sector, n, address, mask, bytes, written);
    if (is_joined(last, sector, n, written)) return stores_join(last, sector, n, written, cost);
    cost->store_lines += lines;
    if (rows >= MANY_ROWS) cost->store_rows += rows;
    if (lines <= RECORD_LINES && lines == last->lines && sector[0] / LINE_SECTORS == last->first)
        cost->store_agains += n;
    last->count = 0, last->lines = lines, last->first = sector[0] / LINE_SECTORS;
    if (lines <= STORED_LINES) return stores_join(last, sector, n, written, cost);
    for (uint32_t i = 0; i < n; i++)
        cost->store_parts += is_part(written[i]);
    return n;
}
