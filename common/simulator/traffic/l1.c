/* l1.c - places of lines: sets of a few, of which the one that was used longest ago goes first. */
#include "common/simulator/traffic/l1.h"

#include <stdlib.h>

#include "common/simulator/traffic/extremes.h"

enum { LEAST_BYTES = 16384, KB = 1024 };

/* Bytes that the driver reserves for shared memory (the carve-out). On an H200 this is about twice
 * the need of the blocks that can be resident, limited to half of the total. It is at least the
 * need of one resident block. A kernel without shared memory gets 4 KB for each block that can be
 * resident by its threads, at most 32 KB. Source: ncu for 64 kinds of launches. */
static uint64_t shared_wanted(const Launch *launch)
{
    enum { WITHOUT_EACH = 4 * KB, WITHOUT_MOST = 32 * KB, LEAST_EACH = 2 * KB };
    const SimtMachine *m = &launch->gpu->machine;
    uint64_t each = launch->shared_bytes + m->shared_reserved, resident = launch->resident;
    if (resident <= 1) return each;
    if (!launch->shared_bytes)
        return smaller(m->max_warps_per_sm / launch->warps_per_block * WITHOUT_EACH, WITHOUT_MOST);
    uint64_t blocks = smaller(2 * resident, m->max_blocks_per_sm);
    return larger(resident * each, smaller(blocks * larger(each, LEAST_EACH), m->l1_bytes / 2));
}

uint64_t l1_bytes(const Launch *launch)
{
    const SimtMachine *m = &launch->gpu->machine;
    const uint32_t *room = m->costs.shared_carveouts;
    uint64_t wanted = shared_wanted(launch), shared = m->shared_per_sm;
    for (size_t i = sizeof m->costs.shared_carveouts / sizeof *room; i-- > 0;)
        if (room[i] * KB >= wanted && room[i] * KB < shared) shared = room[i] * KB;
    return m->l1_bytes > shared + LEAST_BYTES ? m->l1_bytes - shared : LEAST_BYTES;
}

uint32_t l1_sets(uint64_t bytes)
{
    enum { LEAST = 4 };
    return (uint32_t)larger(bytes / L1_LINE_BYTES / L1_WAYS, LEAST);
}

int l1_open(L1 *l1, uint64_t bytes)
{
    l1->sets = l1_sets(bytes);
    l1->clock = l1->era = 0;
    l1->place = calloc((size_t)l1->sets * L1_WAYS, sizeof *l1->place);
    return l1->place ? 0 : -1;
}

void l1_close(L1 *l1)
{
    free(l1->place);
}

/* The line's place, or that of the line that was used longest ago. */
static L1Place *place_find(const L1 *l1, uint32_t line)
{
    L1Place *set = l1->place + l1_set(line, l1->sets), *oldest = set;
    for (uint32_t way = 0; way < L1_WAYS; way++) {
        if (set[way].line == line && set[way].used) return &set[way];
        if (set[way].used < oldest->used) oldest = &set[way];
    }
    return oldest;
}

uint8_t l1_lookup(L1 *l1, const TraceLine *wanted, L1Place **place, uint64_t *at)
{
    L1Place *p = *place = place_find(l1, wanted->line);
    if (p->line != wanted->line || !p->used || p->era != l1->era)
        *p = (L1Place){.line = wanted->line, .era = l1->era};
    p->used = ++l1->clock;
    for (uint32_t s = 0; s < LINE_SECTORS; s++)
        if (wanted->sectors & p->sectors & 1u << s && p->at[s] > *at) *at = p->at[s];
    uint8_t lacks = wanted->sectors & (uint8_t)~p->sectors;
    p->sectors |= wanted->sectors;
    return lacks;
}

void l1_fill(L1Place *place, const TraceLine *wanted, uint8_t sectors, uint64_t at)
{
    if (place->line != wanted->line) return;
    for (uint32_t s = 0; s < LINE_SECTORS; s++)
        if (sectors & 1u << s) place->at[s] = at;
}
