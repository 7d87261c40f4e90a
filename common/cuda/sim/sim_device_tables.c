/* Tables of handles of the simulated engine. */
#include "common/cuda/sim/sim_state.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT = 1 << 20 };

void *sim_table_append(SimTable *table, size_t item_bytes)
{
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
        if (capacity > TABLE_LIMIT) return NULL;
        void *grown = realloc(table->item, capacity * item_bytes);
        if (!grown) return NULL;
        table->item = grown;
        table->capacity = capacity;
    }
    void *item = (char *)table->item + table->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

void *sim_table_at(const SimTable *table, uint32_t handle, size_t item_bytes)
{
    if (handle == 0 || handle > table->count) return NULL;
    return (char *)table->item + (handle - 1) * item_bytes;
}

SimFunction *sim_function(SimDevice *sim, uint32_t handle)
{
    SimFunction *function = sim_table_at(&sim->functions, handle, sizeof *function);
    return function && function->kernel ? function : NULL;
}

SimtModule *sim_module(SimDevice *sim, uint32_t handle)
{
    SimtModule **module = sim_table_at(&sim->modules, handle, sizeof *module);
    return module ? *module : NULL;
}

SimEvent *sim_event(SimDevice *sim, uint32_t handle)
{
    SimEvent *event = sim_table_at(&sim->events, handle, sizeof *event);
    return event && event->live ? event : NULL;
}

SimStream *sim_stream(SimDevice *sim, uint32_t handle)
{
    return sim_table_at(&sim->streams, handle & ~DEVICE_STREAM_NON_BLOCKING, sizeof(SimStream));
}

int sim_stream_is_live(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = sim_stream(sim, handle);
    return handle == 0 || (stream && stream->live);
}
