/* writer.c - the thread that last wrote some bytes: the list of written parts of device memory that
 * each checkpoint has, and the search in an execution from a checkpoint. */
#include <string.h>

#include "common/debugger/debugger_state.h"

static int overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Is the place that is asked about this warp's? */
static int is_own(const Warp *warp, uint64_t address, uint64_t block, uint32_t owner)
{
    uint8_t space = writes_space(address);
    if (space != WRITES_GLOBAL && warp->block->number != block) return 0;
    return space != WRITES_LOCAL || warp->index == owner;
}

void writes_note(LaunchRecord *record, const Warp *warp, const Ins *ins)
{
    Access access;
    if (!access_of(warp, ins, &access) || !access.is_exact) {
        history_written(record, 0, 0);
        return;
    }
    uint64_t noted = 0;
    for (uint32_t m = access.mask; m; m &= m - 1) {
        uint64_t address = access.address[__builtin_ctz(m)];
        if (writes_space(address) != WRITES_GLOBAL) continue;
        uint64_t part = address / WRITE_PART_BYTES;
        if (part == noted && address % WRITE_PART_BYTES + access.bytes <= WRITE_PART_BYTES)
            continue;
        history_written(record, address, access.bytes);
        noted = part;
    }
}

int writer_may_be_in(const Debugger *d, const Checkpoint *start)
{
    return d->search.kind != SEARCH_WRITER || writes_space(d->search.address) != WRITES_GLOBAL ||
           checkpoint_may_write(start, d->search.address, d->search.bytes);
}

/* The searched bytes as this warp sees them; NULL: it does not, or they are too many to compare. */
static const unsigned char *searched(const Debugger *d, const Warp *warp)
{
    char why[VALUE_WHY];
    if (d->search.bytes > WATCH_BYTES ||
        !is_own(warp, d->search.address, d->search.block, d->search.warp))
        return NULL;
    return lane_memory(warp, d->search.lane, d->search.address, d->search.bytes, why, sizeof why);
}

int writer_before(Debugger *d, const Warp *warp)
{
    int writer = -1;
    if (!d->has_access || !d->access.writes ||
        !is_own(warp, d->search.address, d->search.block, d->search.warp))
        return -1;
    if (!d->access.is_exact) {
        const unsigned char *at = d->search.has_old ? NULL : searched(d, warp);
        if (at) memcpy(d->search.old, at, d->search.bytes);
        d->search.has_old |= at != NULL;
        return -1;
    }
    for (uint32_t m = d->access.mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (!overlaps(d->access.address[lane], d->access.bytes, d->search.address, d->search.bytes))
            continue;
        if (writes_space(d->search.address) == WRITES_LOCAL && lane != (int)d->search.lane)
            continue;
        writer = lane;
        d->search.has_old = 0;
    }
    return writer;
}

int writer_after(Debugger *d, const Warp *warp)
{
    if (!d->has_access || d->access.is_exact || !d->search.has_old) return 0;
    const unsigned char *at = searched(d, warp);
    if (!at || !memcmp(d->search.old, at, d->search.bytes)) return 0;
    memcpy(d->search.old, at, d->search.bytes);
    return 1;
}
