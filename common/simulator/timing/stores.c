/* stores.c - lines, whole sectors and parts of sectors that are stored (stores.h). */
#include "common/simulator/timing/stores.h"

#include <string.h>

#include "common/simulator/timing/count.h"
#include "common/simulator/timing/line_list.h"
#include "common/simulator/traffic/traffic.h"

enum { WHOLE = UINT32_MAX }; /* all bytes of a sector, a bit each */

/* The bytes of one sector that a lane writes, from its first address on. */
static uint32_t bytes_of(uint64_t address, uint32_t bytes)
{
    return (uint32_t)((1ull << bytes) - 1) << address % SECTOR;
}

/* Bytes of each sector that these lanes write: once, if several write the same. */
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

void stores_count(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address,
                  uint32_t mask, uint32_t bytes)
{
    BlockCost *cost = &warp->worker->cost;
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    uint32_t written[LANES],
        parts = 0, lines = segments_count(sector, n, LINE_SECTORS),
        rows = lines < costs->scattered_rows ? 0 : segments_count(sector, n, costs->row_sectors);
    bytes_find(sector, n, address, mask, bytes, written);
    for (uint32_t i = 0; i < n; i++)
        parts += written[i] != (uint32_t)WHOLE;
    cost->store_lines += lines, cost->store_parts += parts;
    if (rows >= costs->scattered_rows) cost->store_rows += rows;
    lines_list(warp, sector, n, written);
}
