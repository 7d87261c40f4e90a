/* store_buffer.c - a queue of lines, each of which takes more while it waits. */
#include "common/simulator/traffic/store_buffer.h"

static int is_part(uint32_t units)
{
    return units && units < SECTOR_UNITS;
}

static uint32_t units_of(const TraceLine *stored, uint32_t sector)
{
    return stored->sectors >> sector & 1 ? (stored->written >> 4 * sector & 15) + 1u : 0;
}

StoreTraffic store_traffic_of(const TraceLine *stored)
{
    StoreTraffic sent = {.lines = 1};
    for (uint32_t s = 0; s < LINE_SECTORS; s++) {
        uint32_t units = units_of(stored, s);
        sent.sectors += units != 0, sent.parts += is_part(units);
    }
    return sent;
}

static StoreBufferLine *place_find(StoreBuffer *pool, uint32_t line)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        StoreBufferLine *place = &pool->place[(pool->first + i) % STORE_BUFFER_LINES];
        if (place->line == line) return place;
    }
    return NULL;
}

int store_buffer_add(StoreBuffer *pool, const TraceLine *stored, uint64_t until,
                     const MachineCosts *costs)
{
    StoreBufferLine *place = place_find(pool, stored->line);
    if (!place) {
        uint32_t *of = &pool->of[l1_tag_bank(stored->line)];
        if (*of == costs->store_buffer_lines) return 0;
        ++*of;
        place = &pool->place[(pool->first + pool->count++) % STORE_BUFFER_LINES];
        *place = (StoreBufferLine){.line = stored->line};
    }
    place->until = until;
    for (uint32_t s = 0; s < LINE_SECTORS; s++) {
        uint32_t units = place->units[s] + units_of(stored, s);
        place->units[s] = (uint8_t)(units < SECTOR_UNITS ? units : SECTOR_UNITS);
    }
    return 1;
}

StoreTraffic store_buffer_evict(StoreBuffer *pool)
{
    const StoreBufferLine *place = &pool->place[pool->first];
    StoreTraffic sent = {.lines = 1};
    for (uint32_t s = 0; s < LINE_SECTORS; s++)
        sent.sectors += place->units[s] != 0, sent.parts += is_part(place->units[s]);
    pool->of[l1_tag_bank(place->line)]--;
    pool->first = (pool->first + 1) % STORE_BUFFER_LINES, pool->count--;
    return sent;
}
