/* pool.c - a queue of lines, each of which takes more while it waits. */
#include "common/simulator/traffic/pool.h"

static int is_part(uint32_t units)
{
    return units && units < SECTOR_UNITS;
}

static uint32_t units_of(const TraceLine *stored, uint32_t sector)
{
    return stored->sectors >> sector & 1 ? (stored->written >> 4 * sector & 15) + 1u : 0;
}

Sent pool_alone(const TraceLine *stored)
{
    Sent sent = {.lines = 1};
    for (uint32_t s = 0; s < LINE_SECTORS; s++) {
        uint32_t units = units_of(stored, s);
        sent.sectors += units != 0, sent.parts += is_part(units);
    }
    return sent;
}

static PoolLine *place_find(Pool *pool, uint32_t line)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        PoolLine *place = &pool->place[(pool->first + i) % POOL_LINES];
        if (place->line == line) return place;
    }
    return NULL;
}

int pool_store(Pool *pool, const TraceLine *stored, uint64_t until)
{
    PoolLine *place = place_find(pool, stored->line);
    if (!place) {
        uint32_t *of = &pool->of[l1_tag_bank(stored->line)];
        if (*of == POOL_EACH) return 0;
        ++*of;
        place = &pool->place[(pool->first + pool->count++) % POOL_LINES];
        *place = (PoolLine){.line = stored->line};
    }
    place->until = until;
    for (uint32_t s = 0; s < LINE_SECTORS; s++) {
        uint32_t units = place->units[s] + units_of(stored, s);
        place->units[s] = (uint8_t)(units < SECTOR_UNITS ? units : SECTOR_UNITS);
    }
    return 1;
}

Sent pool_leave(Pool *pool)
{
    const PoolLine *place = &pool->place[pool->first];
    Sent sent = {.lines = 1};
    for (uint32_t s = 0; s < LINE_SECTORS; s++)
        sent.sectors += place->units[s] != 0, sent.parts += is_part(place->units[s]);
    pool->of[l1_tag_bank(place->line)]--;
    pool->first = (pool->first + 1) % POOL_LINES, pool->count--;
    return sent;
}
