/* The list of a program's launches. */
#include "common/cuda/sim/sim_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/demangle.h"

/* The kernel's plain name, which the list owns; NULL: out of memory. */
static const char *name_keep(SimLaunches *list, const SimFunction *function)
{
    char name[256];
    demangle(function->info.name, name, sizeof name);
    for (uint32_t i = 0; i < list->names; i++)
        if (!strcmp(list->name[i], name)) return list->name[i];
    char **more = realloc(list->name, (list->names + 1) * sizeof *more);
    if (!more) return NULL;
    list->name = more;
    if (!(list->name[list->names] = strdup(name))) return NULL;
    return list->name[list->names++];
}

void sim_launches_add(SimDevice *sim, const DeviceCall *call, TimelineMark mark)
{
    SimLaunches *list = &sim->launches;
    const SimFunction *function = sim_function(sim, call->function);
    if (!list->is_kept || !function || list->count == SIM_LAUNCHES_MOST) return;
    if (list->count == list->room) {
        const uint32_t room = list->room ? 2 * list->room : 64;
        DeviceLaunch *more = realloc(list->launch, room * sizeof *more);
        if (!more) return;
        list->launch = more, list->room = room;
    }
    const char *name = name_keep(list, function);
    if (!name) return;
    const uint64_t cycles = sim->work.cycles;
    DeviceLaunch *launch = &list->launch[list->count++];
    *launch = (DeviceLaunch){.kernel = name,
                             .number = sim->work.number,
                             .stream = call->stream & ~DEVICE_STREAM_NON_BLOCKING,
                             .begin = mark.end > cycles ? mark.end - cycles : 0,
                             .end = mark.end,
                             .cycles = cycles};
    memcpy(launch->grid, call->grid, sizeof launch->grid);
    memcpy(launch->block, call->block, sizeof launch->block);
}

void sim_launches_close(SimLaunches *launches)
{
    for (uint32_t i = 0; i < launches->names; i++)
        free(launches->name[i]);
    free(launches->name), free(launches->launch);
}
