/* Memory calls of the simulated engine: allocations, copies, fills, tensor maps and limits. */
#include "common/cuda/sim/sim_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/cuda/wire.h"
#include "common/simulator/core/tensor_map.h"

#define HOST_GB_S 25.0 /* PCIe 4.0 x16 with large pinned copies */

unsigned char *sim_reply_room(SimDevice *sim, DeviceReply *reply, uint64_t bytes)
{
    if (bytes > sim->data_capacity) {
        void *grown = bytes <= WIRE_BYTES_MAX / 2 ? realloc(sim->data, bytes) : NULL;
        if (!grown) return NULL;
        sim->data = grown;
        sim->data_capacity = bytes;
    }
    reply->data = sim->data;
    reply->data_bytes = bytes;
    return sim->data;
}

static int reply_refuse(DeviceReply *reply, int32_t status, const Error *error)
{
    reply->data = NULL;
    reply->data_bytes = 0;
    return device_fail(reply, status, "%s", error->text);
}

static int memory_copy_to_host(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error;
    unsigned char *room = sim_reply_room(sim, reply, call->bytes);
    if (!room && call->bytes)
        return device_fail(reply, DEVICE_INVALID_VALUE, "a copy of %llu bytes is too large",
                           (unsigned long long)call->bytes);
    if (simt_read(sim->gpu, call->src, room, call->bytes, &error) != 0)
        return reply_refuse(reply, DEVICE_INVALID_VALUE, &error);
    if (sim->warns) sim_warn_unwritten(sim, call);
    sim_spend_bytes(sim, TIMELINE_TO_HOST, (double)call->bytes, HOST_GB_S);
    return 0;
}

/* A library call takes no time, and uses all elements that it reads, as a kernel would. */
static int library_access(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error;
    int writes = call->kind == CALL_COPY_TO_DEVICE;
    if (writes && simt_write(sim->gpu, call->dst, call->data, call->data_bytes, &error) == 0)
        return 0;
    unsigned char *room = writes ? NULL : sim_reply_room(sim, reply, call->bytes);
    if (room && simt_read(sim->gpu, call->src, room, call->bytes, &error) == 0) {
        sim_find_unwritten(sim, call, reply);
        return 0;
    }
    if (!writes && !room)
        error_set(&error, "%llu bytes are too many for a library call",
                  (unsigned long long)call->bytes);
    return reply_refuse(reply, DEVICE_ILLEGAL_ADDRESS, &error);
}

int sim_memory_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    int by_library = call->value == COPY_BY_LIBRARY && call->kind != CALL_FILL;
    if (by_library && !sim->untrusted) return library_access(sim, call, reply);
    int failed = 0;
    uint64_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
    if (!sim_instructions_left(sim, bytes))
        return device_fail(reply, DEVICE_LAUNCH_TIMEOUT,
                           "copies and fills have moved %llu bytes, with this one of %llu more "
                           "than a call may: possibly a loop around them never ends",
                           (unsigned long long)sim->moved, (unsigned long long)bytes);
    sim->moved += bytes;
    switch (call->kind) {
    case CALL_COPY_TO_DEVICE:
        failed = simt_write(sim->gpu, call->dst, call->data, call->data_bytes, &error);
        if (!failed) sim_spend_bytes(sim, TIMELINE_TO_DEVICE, (double)call->data_bytes, HOST_GB_S);
        break;
    case CALL_COPY_TO_HOST:
        return memory_copy_to_host(sim, call, reply);
    case CALL_COPY_ON_DEVICE:
        failed = simt_copy(sim->gpu, call->dst, call->src, call->bytes, &error);
        if (!failed)
            sim_spend_bytes(sim, TIMELINE_SMS, 2.0 * (double)call->bytes, sim->machine.dram_gb_s);
        break;
    default: /* CALL_FILL */
        failed = simt_fill(sim->gpu, call->dst, (int)(call->value & 255), call->bytes, &error);
        if (!failed)
            sim_spend_bytes(sim, TIMELINE_SMS, (double)call->bytes, sim->machine.dram_gb_s);
        break;
    }
    return failed ? device_fail(reply, DEVICE_INVALID_VALUE, "%s", error.text) : 0;
}

int sim_allocation_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    unsigned char byte;
    int failed;
    switch (call->kind) {
    case CALL_ALLOC:
        if (call->value == ALLOC_MANAGED)
            failed = simt_alloc_managed(sim->gpu, call->bytes, &reply->value[0], &error);
        else
            failed = simt_alloc(sim->gpu, call->bytes, &reply->value[0], &error);
        if (failed) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "%s", error.text);
        return 0;
    case CALL_FREE:
        if (call->dst != 0 && simt_free(sim->gpu, call->dst, &error) != 0)
            return device_fail(reply, DEVICE_INVALID_VALUE, "%s", error.text);
        return 0;
    case CALL_MEM_INFO:
        simt_memory_info(sim->gpu, &reply->value[0], &reply->value[1]);
        return 0;
    default: /* CALL_POINTER */
        reply->value[0] = simt_read(sim->gpu, call->dst, &byte, 1, &error) == 0;
        if (reply->value[0]) reply->value[0] += (uint64_t)simt_is_managed(sim->gpu, call->dst);
        return 0;
    }
}

int sim_tensor_map_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    TensorMapRequest request;
    TensorMap map;
    Error error = {""};
    unsigned char byte;
    int unsupported = 0;
    if (call->data_bytes != sizeof request)
        return device_fail(reply, DEVICE_INVALID_VALUE, "a tensor map is asked for with %zu bytes",
                           sizeof request);
    memcpy(&request, call->data, sizeof request);
    if (sim->machine.cc_major < 9)
        return device_fail(reply, DEVICE_NOT_SUPPORTED,
                           "tensor maps need compute capability 9.0; this is %s, %u.%u",
                           sim->machine.name, sim->machine.cc_major, sim->machine.cc_minor);
    if (simt_read(sim->gpu, request.address, &byte, 1, &error) != 0)
        return device_fail(reply, DEVICE_INVALID_VALUE, "the tensor: %s", error.text);
    if (tensor_map_encode(&request, &map, &unsupported, &error) != 0)
        return device_fail(reply, unsupported ? DEVICE_NOT_SUPPORTED : DEVICE_INVALID_VALUE, "%s",
                           error.text);
    unsigned char *room = sim_reply_room(sim, reply, sizeof map);
    if (!room) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "out of memory");
    memcpy(room, &map, sizeof map);
    return 0;
}

int sim_limit_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    if (call->value != DEVICE_LIMIT_STACK && call->value != DEVICE_LIMIT_HEAP)
        return device_fail(reply, DEVICE_NOT_SUPPORTED, "limit %u", call->value);
    SimtLimit limit = call->value == DEVICE_LIMIT_STACK ? SIMT_LIMIT_STACK : SIMT_LIMIT_HEAP;
    if (simt_limit(sim->gpu, limit, call->bytes, &error) != 0)
        return device_fail(reply, DEVICE_INVALID_VALUE, "%s", error.text);
    reply->value[0] = call->bytes;
    return 0;
}
