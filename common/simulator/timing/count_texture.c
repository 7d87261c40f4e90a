/* count_texture.c - what textures and surfaces are read and written with: four lanes after the
 * other are looked up in the L1, and what they found is mixed.
 *
 * An H200's counters say which lanes go together and what they look up; its times, which of both
 * takes how long. */
#include "common/simulator/core/kinds.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/count.h"
#include "common/simulator/timing/l2.h"
#include "common/simulator/traffic/traffic.h"
#include "common/simulator/timing/access_log.h"

/* The different sectors of lanes that go together. */
static uint32_t sectors_collect(const TextureAccess *access, uint32_t first, uint64_t *sector)
{
    uint32_t n = 0;
    for (uint32_t lane = first; lane < first + access->together; lane++)
        for (uint32_t i = 0; i < access->count[lane]; i++)
            n = distinct_add(sector, n, access->texel[lane][i] / SECTOR);
    return n;
}

/* Cycles of the units; the different sectors of all lanes go into `sector`, their number to *n. */
static uint32_t cycles_count(Warp *warp, const TextureAccess *access, uint64_t *sector, uint32_t *n)
{
    uint64_t own[MOST_SECTORS];
    uint32_t cycles = 0, units = warp->worker->gpu->machine.texture_units;
    *n = 0;
    for (uint32_t first = 0; first < LANES; first += access->together) {
        if (!(warp->mask >> first & ((1u << access->together) - 1))) continue;
        uint32_t count = sectors_collect(access, first, own),
                 lines = segments_count(own, count, LINE_SECTORS),
                 lookups = (lines + access->lines_at_once - 1) / access->lines_at_once;
        cycles += access->times * (lookups > access->slower ? lookups : access->slower);
        warp->worker->counters.texture_sectors += access->times * count;
        for (uint32_t i = 0; i < count; i++)
            *n = distinct_add(sector, *n, own[i]);
    }
    return (cycles * TOGETHER + units - 1) / units;
}

/* Notes for the L2, of as many sectors at a time as an access has elsewhere. */
static void l2_tell(Warp *warp, const uint64_t *sector, uint32_t n, const TextureAccess *access,
                    uint32_t bytes, int store)
{
    uint64_t address[LANES] = {0};
    uint32_t mask = 0;
    for (uint32_t lane = 0; store && lane < LANES; lane++)
        if (access->count[lane]) address[lane] = access->texel[lane][0], mask |= 1u << lane;
    for (uint32_t i = 0; i < n; i += LANES)
        l2_access(warp, sector + i, n - i < LANES ? n - i : LANES, address, mask, bytes, store);
}

void count_texture(Warp *warp, const Ins *ins, const TextureAccess *access, const uint64_t *address,
                   int store)
{
    Worker *worker = warp->worker;
    const SimtMachine *machine = &worker->gpu->machine;
    uint64_t sector[MOST_SECTORS], missed[MOST_SECTORS];
    uint32_t n, cycles = cycles_count(warp, access, sector, &n), misses = n;
    warp->step.kind = STEP_TEXTURE;
    worker->counters.texture_requests++;
    if (worker->watcher) access_log_add(warp, ins, SIGHT_GLOBAL, address, warp->mask, store);
    for (uint32_t i = 0; store && i < n; i++)
        traffic_store(worker, sector[i]), missed[i] = sector[i];
    if (!store) misses = sectors_load(warp, sector, n, missed);
    l2_tell(warp, missed, misses, access, ins->bytes * (ins->vector > 1 ? ins->vector : 1u), store);
    warp->step.cycles += cycles, worker->cost.texture += cycles;
    InsCount *profile = &worker->profile[ins - warp->code];
    profile->requests++, profile->sectors += n, profile->hits += store ? 0 : n - misses;
    uint32_t lines = segments_count(missed, misses, LINE_SECTORS);
    warp->step.lines = lines < MOST_STEP_LINES ? lines : MOST_STEP_LINES;
    misses_add(warp, missed, n, misses, store);
    if (store) return;
    warp->step.latency = texture_cycles(machine, ins, cycles);
    if (misses) warp->step.latency += (uint64_t)(machine->l2_latency - machine->l1_latency);
}
