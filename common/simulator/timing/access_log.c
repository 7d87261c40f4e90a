/* access_log.c - keeps what the first blocks' accesses look like: a few thousand of them, so that a
 * page that shows them stays small. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/timing/access_log.h"

enum {
    BLOCKS = 4,
    WARPS = 4,          /* warps of each block */
    TIMES = 48,         /* recorded accesses per warp and line */
    SIGHTS = 512,       /* records per warp */
    ARRAYS = 8,         /* with names */
    ELEMENTS = 1 << 21, /* elements of an array: a larger array is not counted */
    LINES = 4096,       /* different lines */
    MOST_TOUCHES = 0xffff,
};

struct AccessLog {
    uint64_t block;
    SimtWatch seen;
    uint32_t sights[WARPS];
    uint16_t times[WARPS][LINES];
};

static int arrays_open(const Memory *memory, SimtWatch *watch)
{
    watch->touched = calloc(ARRAYS, sizeof *watch->touched);
    if (!watch->touched) return -1;
    for (uint32_t i = 0; i < memory->count && watch->arrays < ARRAYS; i++) {
        const Allocation *a = memory->table[i];
        if (a->freed || !a->array.rank) continue;
        uint64_t elements = 1;
        for (uint32_t k = 0; k < a->array.rank && elements <= ELEMENTS; k++)
            elements *= a->array.dim[k];
        if (elements > ELEMENTS || elements * ARRAY_ELEMENT_BYTES > a->bytes) continue;
        SimtTouched *touched = &watch->touched[watch->arrays++];
        *touched = (SimtTouched){.array = a->array,
                                 .address = a->address,
                                 .elements = elements,
                                 .reads = calloc(elements, sizeof *touched->reads),
                                 .writes = calloc(elements, sizeof *touched->writes)};
        if (!touched->reads || !touched->writes) return -1;
    }
    return 0;
}

/* The first block and its neighbours along each side of the grid, so that it shows what they share;
 * then the next ones. */
static uint32_t blocks_choose(const Launch *launch, uint64_t *number)
{
    const uint32_t *grid = launch->launch->grid;
    uint64_t wanted[2 * BLOCKS] = {0, 1, grid[0], (uint64_t)grid[0] * grid[1], 2, 3, 4, 5};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * BLOCKS && count < BLOCKS; i++) {
        uint32_t k = 0;
        while (k < count && number[k] != wanted[i])
            k++;
        if (k == count && wanted[i] < launch->blocks) number[count++] = wanted[i];
    }
    return count;
}

int access_log_open(Launch *launch)
{
    const SimtGpu *gpu = launch->gpu;
    if (!gpu->options.profile || !launch->count) return 0;
    uint64_t number[BLOCKS];
    uint32_t count = blocks_choose(launch, number);
    launch->profile.watcher = calloc(count, sizeof *launch->profile.watcher);
    if (!launch->profile.watcher) return -1;
    launch->profile.watchers = count;
    for (uint32_t i = 0; i < count; i++) {
        AccessLog *watcher = &launch->profile.watcher[i];
        const uint32_t *grid = launch->launch->grid;
        watcher->block = number[i];
        watcher->seen.block[0] = (uint32_t)(number[i] % grid[0]);
        watcher->seen.block[1] = (uint32_t)(number[i] / grid[0] % grid[1]);
        watcher->seen.block[2] = (uint32_t)(number[i] / grid[0] / grid[1]);
        watcher->seen.sight = malloc(WARPS * SIGHTS * sizeof *watcher->seen.sight);
        if (!watcher->seen.sight || arrays_open(&gpu->memory, &watcher->seen)) return -1;
    }
    return 0;
}

void access_log_give(Launch *launch, SimtProfile *profile)
{
    profile->watch = calloc(launch->profile.watchers, sizeof *profile->watch);
    if (!profile->watch) return;
    profile->watches = launch->profile.watchers;
    for (uint32_t i = 0; i < launch->profile.watchers; i++) {
        profile->watch[i] = launch->profile.watcher[i].seen;
        launch->profile.watcher[i].seen = (SimtWatch){.sight = NULL};
    }
}

void access_log_close(Launch *launch)
{
    for (uint32_t i = 0; i < launch->profile.watchers; i++)
        profile_watch_free(&launch->profile.watcher[i].seen);
    free(launch->profile.watcher);
}

AccessLog *access_log_of(Launch *launch, uint64_t block)
{
    for (uint32_t i = 0; i < launch->profile.watchers; i++)
        if (launch->profile.watcher[i].block == block) return &launch->profile.watcher[i];
    return NULL;
}

/* Room for one more sight, or NULL: this line was seen often enough. */
static SimtSight *sight_add(Warp *warp, const Ins *ins, SimtSightKind kind, uint32_t mask)
{
    AccessLog *watcher = warp->worker->watcher;
    SimtWatch *seen = &watcher->seen;
    uint32_t line;
    if (warp->index >= WARPS || ins->from >= warp->worker->kernel->origins) return NULL;
    source_line(warp->worker->kernel, ins->from, &line);
    uint16_t *times = &watcher->times[warp->index][line % LINES];
    if (*times >= TIMES || watcher->sights[warp->index] >= SIGHTS) {
        seen->left_out++;
        return NULL;
    }
    ++*times, watcher->sights[warp->index]++;
    SimtSight *sight = &seen->sight[seen->sights];
    *sight = (SimtSight){.instruction = ins->from,
                         .order = seen->sights++,
                         .kind = (uint8_t)kind,
                         .bytes = (uint8_t)(ins->bytes * (ins->vector > 1 ? ins->vector : 1)),
                         .warp = (uint8_t)warp->index,
                         .mask = mask};
    return sight;
}

static void elements_add(SimtWatch *seen, uint64_t address, uint32_t bytes, int store)
{
    for (uint32_t i = 0; i < seen->arrays; i++) {
        SimtTouched *touched = &seen->touched[i];
        uint64_t first = (address - touched->address) / ARRAY_ELEMENT_BYTES;
        if (address < touched->address || first >= touched->elements) continue;
        uint16_t *count = store ? touched->writes : touched->reads;
        for (uint64_t k = first; k < first + (bytes + 3) / 4 && k < touched->elements; k++)
            count[k] += count[k] < MOST_TOUCHES;
        return;
    }
}

void access_log_add(Warp *warp, const Ins *ins, SimtSightKind kind, const uint64_t *address,
                    uint32_t mask, int store)
{
    SimtSight *sight = sight_add(warp, ins, kind, mask);
    SimtWatch *seen = &warp->worker->watcher->seen;
    uint32_t bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (sight) sight->address[lane] = address[lane];
        if (kind == SIGHT_GLOBAL || kind == SIGHT_ATOMIC)
            elements_add(seen, address[lane], bytes, store);
    }
    if (sight) sight->store = store != 0;
}

void access_log_add_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                           int store)
{
    SimtSight *sight = sight_add(warp, ins, SIGHT_SHARED, mask);
    if (!sight) return;
    sight->store = store != 0;
    for (uint32_t m = mask; m; m &= m - 1)
        sight->address[__builtin_ctz(m)] = offset[__builtin_ctz(m)];
}

void access_log_add_branch(Warp *warp, const Ins *ins, uint32_t taken)
{
    if (ins->pseudo) return;
    SimtSight *sight = sight_add(warp, ins, SIGHT_BRANCH, warp->mask);
    if (sight) sight->taken = taken;
}
