/* code_cache.c - blocks of instructions in the instruction caches of an SM. */
#include "common/simulator/traffic/code_cache.h"

#include <stdlib.h>

#include "common/simulator/traffic/extremes.h"

enum { PIECE_BYTES = CODE_PIECE * 16 };

#define CODE_ABSENT UINT64_MAX

static int ring_open(CodeRing *ring, uint32_t bytes)
{
    ring->count = bytes / PIECE_BYTES;
    ring->piece = calloc(ring->count, sizeof *ring->piece);
    return ring->piece ? 0 : -1;
}

/* Inserts a block and returns the one that it evicts, from 1; 0: none. */
static uint32_t ring_add(CodeRing *ring, uint32_t piece)
{
    uint32_t gone = ring->piece[ring->next];
    ring->piece[ring->next] = piece + 1;
    ring->next = (ring->next + 1) % ring->count;
    return gone;
}

int code_is_long(uint32_t instructions, const SimtMachine *machine)
{
    return instructions > machine->costs.code_small_bytes / PIECE_BYTES * CODE_PIECE;
}

/* It is in the large cache from now on. */
static void piece_keep(CodeCache *cache, uint32_t piece)
{
    uint32_t gone = ring_add(&cache->large, piece);
    cache->place[piece] = CODE_NEAR_BY;
    if (gone) cache->place[gone - 1] = CODE_IN_L2;
}

int code_open(CodeCache *cache, uint32_t instructions, const SimtMachine *machine)
{
    const MachineCosts *costs = &machine->costs;
    *cache = (CodeCache){.machine = machine, .pieces = (instructions - 1) / CODE_PIECE + 1};
    if (!code_is_long(instructions, machine)) return 0;
    cache->at = malloc(cache->pieces * sizeof *cache->at);
    cache->place = calloc(cache->pieces, 1);
    if (!cache->at || !cache->place || ring_open(&cache->small, costs->code_small_bytes) != 0 ||
        ring_open(&cache->large, costs->code_large_bytes) != 0)
        return -1;
    uint32_t ready = cache->pieces;
    if (ready > cache->large.count) ready = costs->code_ready_bytes / PIECE_BYTES;
    for (uint32_t i = 0; i < cache->pieces; i++)
        cache->at[i] = CODE_ABSENT;
    for (uint32_t i = 0; i < ready; i++)
        piece_keep(cache, i);
    return 0;
}

void code_close(CodeCache *cache)
{
    free(cache->at), free(cache->place), free(cache->small.piece), free(cache->large.piece);
}

/* Cycle at which a block requested at `now` arrives. The large cache delivers one block after the
 * other. */
static uint64_t piece_way(CodeCache *cache, uint32_t piece, uint64_t now)
{
    switch ((CodePlace)cache->place[piece]) {
    case CODE_NEAR_BY:
        return cache->free = larger(cache->free, now) + cache->machine->costs.code_large_cycles;
    case CODE_IN_L2:
        return now + (uint64_t)cache->machine->l2_latency;
    default:
        return now + (uint64_t)cache->machine->dram_latency;
    }
}

/* Requests a block at `now` that misses in the small cache. */
static void piece_fetch(CodeCache *cache, uint32_t piece, uint64_t now)
{
    uint64_t at = piece_way(cache, piece, now);
    uint32_t gone = ring_add(&cache->small, piece);
    if (gone) cache->at[gone - 1] = CODE_ABSENT;
    if (cache->place[piece] != CODE_NEAR_BY) piece_keep(cache, piece);
    cache->at[piece] = at;
}

uint64_t code_arrival(CodeCache *cache, uint32_t piece, uint64_t now)
{
    if (cache->at[piece] == CODE_ABSENT) piece_fetch(cache, piece, now);
    uint64_t at = cache->at[piece];
    if (piece + 1 < cache->pieces && cache->at[piece + 1] == CODE_ABSENT)
        piece_fetch(cache, piece + 1, larger(now, at));
    return at;
}
