/* The table of calls of the simulated engine. */
#include "common/cuda/sim/sim_state.h"

#include <stdio.h>

static int properties_call(SimDevice *sim, DeviceReply *reply)
{
    const SimtMachine *machine = &sim->machine;
    DeviceProperties *to = (void *)sim_reply_room(sim, reply, sizeof *to);
    if (!to) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "out of host memory");
    *to = (DeviceProperties){
        .engine = ENGINE_SIM,
        .memory_bytes = machine->memory_bytes,
        .l2_bytes = machine->l2_bytes,
        .const_bytes = 65536,
        .cc_major = machine->cc_major,
        .cc_minor = machine->cc_minor,
        .sms = machine->sms,
        .warp_size = 32,
        .clock_khz = (uint32_t)(machine->clock_mhz * 1e3 + 0.5),
        .memory_clock_khz = machine->memory_clock_khz,
        .memory_bus_bits = machine->memory_bus_bits,
        .max_threads_per_block = machine->max_threads_per_block,
        .max_block = {machine->max_threads_per_block, machine->max_threads_per_block, 64},
        .max_grid = {machine->has.large_grids ? 0x7fffffff : 65535, 65535, 65535},
        .max_threads_per_sm = machine->max_threads_per_sm,
        .max_blocks_per_sm = machine->max_blocks_per_sm,
        .registers_per_block = machine->registers_per_sm,
        .registers_per_sm = machine->registers_per_sm,
        .shared_per_block = machine->shared_per_block,
        .shared_per_block_optin = machine->shared_per_block_optin,
        .shared_per_sm = machine->shared_per_sm,
        .shared_reserved = machine->shared_reserved,
        .driver_version = 13000,
        .fp64_ratio = (machine->fp32_lanes + machine->fp64_lanes / 2) / machine->fp64_lanes,
        .persisting_l2_bytes = (uint32_t)machine->persisting_l2_bytes,
        .access_window_bytes = (uint32_t)machine->access_window_bytes,
        .managed = 1,
        .has_cooperative_launches = machine->has.cooperative_launches,
        .has_clusters = machine->has.clusters,
    };
    snprintf(to->name, sizeof to->name, "simulated %s", machine->name);
    return 0;
}

int sim_call_execute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    switch (call->kind) {
    case CALL_PROPERTIES:
        return properties_call(sim, reply);
    case CALL_MEM_INFO:
    case CALL_ALLOC:
    case CALL_FREE:
    case CALL_POINTER:
        return sim_allocation_call(sim, call, reply);
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_COPY_ON_DEVICE:
    case CALL_FILL:
        return sim_memory_call(sim, call, reply);
    case CALL_MODULE_LOAD:
    case CALL_MODULE_UNLOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
        return sim_module_call(sim, call, reply);
    case CALL_FUNCTION_ATTRIBUTE:
        return sim_function_attribute(sim, call, reply);
    case CALL_OCCUPANCY:
        return sim_occupancy(sim, call, reply);
    case CALL_LAUNCH:
        return sim_launch(sim, call, reply);
    case CALL_TENSOR_MAP:
        return sim_tensor_map_call(sim, call, reply);
    case CALL_LIMIT:
        return sim_limit_call(sim, call, reply);
    case CALL_STREAM_CREATE:
        return sim_stream_create(sim, call, reply);
    case CALL_STREAM_DESTROY:
        return sim_stream_destroy(sim, call, reply);
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
    case CALL_SYNC:
        return 0;
    case CALL_STREAM_WAIT:
    case CALL_EVENT_CREATE:
    case CALL_EVENT_DESTROY:
    case CALL_EVENT_RECORD:
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
    case CALL_EVENT_ELAPSED:
        return sim_event_call(sim, call, reply);
    default:
        return device_fail(reply, DEVICE_NOT_SUPPORTED, "the simulator does not know call %u",
                           call->kind);
    }
}
