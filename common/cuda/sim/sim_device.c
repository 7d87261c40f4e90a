/* The simulated engine: DeviceCalls executed on the simulated GPU, one after another, in the order
 * in which they arrive.
 *
 * Streams and events are therefore always satisfied; they exist so that wrong handles are detected
 * and times can be computed.  A launch takes its cycles, a copy or fill launch_cycles + bytes /
 * bandwidth.  The bandwidth is the machine's DRAM bandwidth (a copy on the device reads and writes:
 * twice the bytes), or HOST_GB_S for copies from or to the host.  The start is computed on a
 * timeline (sim_timeline.h) by CUDA's rules.  Work starts after earlier work on its stream and
 * after the work for which the host has waited.  The default stream and the blocking streams are
 * ordered, and waits end after their events.  The cost of several operations is the time from the
 * first to the end of the last. */
#include "common/cuda/sim/sim_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/cuda/call_order.h"
#include "common/cuda/recording.h"
#include "common/cuda/wire.h"
#include "common/simulator/core/tensor_map.h"

#define HOST_GB_S 25.0 /* PCIe 4.0 x16 with large pinned copies */

enum { TABLE_LIMIT = 1 << 20, STREAM_NON_BLOCKING_FLAG = 1, EVENT_NO_TIMING_FLAG = 2 };

/* ---- tables of handles ---------------------------------------------------------------------- */

/* Appends a zeroed item; its handle is the new count.  NULL if the table is full. */
static void *table_append(SimTable *table, size_t item_bytes)
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

static void *table_at(const SimTable *table, uint32_t handle, size_t item_bytes)
{
    if (handle == 0 || handle > table->count) return NULL;
    return (char *)table->item + (handle - 1) * item_bytes;
}

SimFunction *sim_function(SimDevice *sim, uint32_t handle)
{
    SimFunction *function = table_at(&sim->functions, handle, sizeof *function);
    return function && function->kernel ? function : NULL;
}

static SimtModule *module_at(SimDevice *sim, uint32_t handle)
{
    SimtModule **module = table_at(&sim->modules, handle, sizeof *module);
    return module ? *module : NULL;
}

static SimEvent *event_at(SimDevice *sim, uint32_t handle)
{
    SimEvent *event = table_at(&sim->events, handle, sizeof *event);
    return event && event->live ? event : NULL;
}

/* NULL for the default stream and for wrong handles. */
static SimStream *stream_at(SimDevice *sim, uint32_t handle)
{
    return table_at(&sim->streams, handle & ~DEVICE_STREAM_NON_BLOCKING, sizeof(SimStream));
}

static int stream_is_live(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = stream_at(sim, handle);
    return handle == 0 || (stream && stream->live);
}

/* ---- timeline ------------------------------------------------------------------------------- */

void sim_spend(SimDevice *sim, TimelineResource resource, uint32_t share, uint64_t cycles)
{
    sim->work = (SimWork){.resource = resource, .share = share, .cycles = cycles};
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The end of the previous work on the stream. */
static TimelineMark *stream_mark(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = stream_at(sim, handle);
    return stream ? &stream->mark : &sim->default_mark;
}

/* Earliest start because of work on other streams. */
static uint64_t others_ready(SimDevice *sim, uint32_t handle)
{
    if (!stream_at(sim, handle)) return later(sim->host, sim->blocking_ready);
    return handle & DEVICE_STREAM_NON_BLOCKING ? sim->host
                                               : later(sim->host, sim->default_mark.end);
}

/* Earliest start of the next operation on the stream. */
static uint64_t stream_ready(SimDevice *sim, uint32_t handle)
{
    return later(others_ready(sim, handle), stream_mark(sim, handle)->end);
}

/* Sets the work for which the stream has to wait from now on. */
static void stream_busy(SimDevice *sim, uint32_t handle, TimelineMark mark)
{
    TimelineMark *last = stream_mark(sim, handle);
    last->pdl_trigger = later(last->pdl_trigger, mark.pdl_trigger),
    last->end = later(last->end, mark.end);
    if (stream_at(sim, handle) && !(handle & DEVICE_STREAM_NON_BLOCKING))
        sim->blocking_ready = later(sim->blocking_ready, mark.end);
}

/* `ready`: earliest start because of other streams; `before`: end on its own stream. */
static TimelineMark work_place(SimDevice *sim, Timeline *timeline, uint64_t ready,
                               TimelineMark before)
{
    const SimWork *work = &sim->work;
    if (work->overlaps && work->cycles)
        return timeline_overlap(timeline, &work->launch, ready, before);
    uint64_t end = timeline_place(timeline, work->resource, work->share, later(ready, before.end),
                                  work->cycles);
    uint64_t after = work->is_launch ? work->cycles - work->launch.pdl_trigger : 0;
    return (TimelineMark){.pdl_trigger = end - after, .end = end};
}

/* After a live call: places its work on the timeline, and lets the host wait where CUDA's does. */
static void call_time(SimDevice *sim, const DeviceCall *call)
{
    const SimEvent *event = event_at(sim, call->event);
    CallOrder rule = call_order(call);
    uint64_t ready = stream_ready(sim, call->stream), end = ready;
    if (sim->work.cycles) {
        TimelineMark mark = work_place(sim, &sim->timeline, others_ready(sim, call->stream),
                                       *stream_mark(sim, call->stream));
        stream_busy(sim, call->stream, mark);
        end = mark.end;
    }
    if (rule.waits_event && event && event->recorded)
        stream_busy(sim, call->stream, (TimelineMark){event->cycle, event->cycle});
    switch (rule.host) {
    case HOST_WAITS_NOT:
        break;
    case HOST_WAITS_STREAM:
        sim->host = later(sim->host, end);
        break;
    case HOST_WAITS_EVENT:
        if (event && event->recorded) sim->host = later(sim->host, event->cycle);
        break;
    case HOST_WAITS_DEVICE:
        sim->host = later(sim->host, sim->timeline.end);
        break;
    }
}

int sim_settle(SimDevice *sim, DeviceReply *reply)
{
    SimUnsettled *unsettled = &sim->unsettled;
    if (!unsettled->waits) return 0;
    unsettled->waits = 0;
    if (simt_settle(sim->gpu, unsettled->result) != 0) {
        const SimtReport *report = &unsettled->result->report;
        device_fail(reply ? reply : &sim->lost, DEVICE_OUT_OF_MEMORY, "%s: %s", report->kernel,
                    report->text);
        return -1;
    }
    sim_launch_cost(sim, &unsettled->call, unsettled->result);
    call_time(sim, &unsettled->call);
    sim->work = (SimWork){0};
    return 0;
}

static void spend_bytes(SimDevice *sim, TimelineResource resource, double bytes, double gb_s)
{
    double cycles =
        sim->machine.launch_cycles + bytes / (gb_s * 1e9) * sim->machine.clock_mhz * 1e6;
    sim_spend(sim, resource, TIMELINE_WHOLE, (uint64_t)(cycles + 0.5));
}

static double cycles_to_seconds(const SimDevice *sim, uint64_t cycles)
{
    return (double)cycles / (sim->machine.clock_mhz * 1e6);
}

/* ---- memory --------------------------------------------------------------------------------- */

static unsigned char *reply_room(SimDevice *sim, DeviceReply *reply, uint64_t bytes)
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
    unsigned char *room = reply_room(sim, reply, call->bytes);
    if (!room && call->bytes)
        return device_fail(reply, DEVICE_INVALID_VALUE, "a copy of %llu bytes is too large",
                           (unsigned long long)call->bytes);
    if (simt_read(sim->gpu, call->src, room, call->bytes, &error) != 0)
        return reply_refuse(reply, DEVICE_INVALID_VALUE, &error);
    if (sim->warns) sim_warn_unwritten(sim, call);
    spend_bytes(sim, TIMELINE_TO_HOST, (double)call->bytes, HOST_GB_S);
    return 0;
}

static int memory_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
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
        if (!failed) spend_bytes(sim, TIMELINE_TO_DEVICE, (double)call->data_bytes, HOST_GB_S);
        break;
    case CALL_COPY_TO_HOST:
        return memory_copy_to_host(sim, call, reply);
    case CALL_COPY_ON_DEVICE:
        failed = simt_copy(sim->gpu, call->dst, call->src, call->bytes, &error);
        if (!failed)
            spend_bytes(sim, TIMELINE_SMS, 2.0 * (double)call->bytes, sim->machine.dram_gb_s);
        break;
    default: /* CALL_FILL */
        failed = simt_fill(sim->gpu, call->dst, (int)(call->value & 255), call->bytes, &error);
        if (!failed) spend_bytes(sim, TIMELINE_SMS, (double)call->bytes, sim->machine.dram_gb_s);
        break;
    }
    return failed ? device_fail(reply, DEVICE_INVALID_VALUE, "%s", error.text) : 0;
}

static int allocation_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
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

static int tensor_map_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
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
    unsigned char *room = reply_room(sim, reply, sizeof map);
    if (!room) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "out of memory");
    memcpy(room, &map, sizeof map);
    return 0;
}

static int limit_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
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

/* ---- modules -------------------------------------------------------------------------------- */

static int module_load(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    sim->checked += call->data_bytes * BYTES_AN_INSTRUCTION; /* reading a byte: an instruction */
    SimtModule *module =
        simt_module_load(sim->gpu, call->data, call->data_bytes, call->bytes, &error);
    if (!module) return device_fail(reply, DEVICE_INVALID_IMAGE, "%s", error.text);
    SimtModule **slot = table_append(&sim->modules, sizeof *slot);
    if (!slot) {
        simt_module_unload(sim->gpu, module);
        return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many modules");
    }
    *slot = module;
    reply->value[0] = sim->modules.count;
    reply->value[1] = simt_module_bytes(module);
    return 0;
}

static int module_unload(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimtModule **slot = table_at(&sim->modules, call->module, sizeof *slot);
    if (!slot || !*slot)
        return device_fail(reply, DEVICE_INVALID_HANDLE, "no module %u", call->module);
    for (uint32_t i = 1; i <= sim->functions.count; i++) {
        SimFunction *function = sim_function(sim, i);
        if (function && function->module == call->module) function->kernel = NULL;
    }
    simt_module_unload(sim->gpu, *slot);
    *slot = NULL;
    return 0;
}

static void function_info(const SimDevice *sim, const SimtKernelInfo *from, FunctionInfo *to)
{
    memset(to, 0, sizeof *to);
    to->param_count = from->params;
    for (uint32_t i = 0; i < from->params && i < FUNCTION_PARAMS; i++) {
        to->param_offset[i] = from->param_offset[i];
        to->param_bytes[i] = from->param_bytes[i];
    }
    to->params_bytes = from->params_bytes;
    to->registers = from->registers;
    to->shared_bytes = from->shared_bytes;
    to->local_bytes = from->local_bytes;
    to->spilled_bytes = from->spilled_bytes;
    to->spills = from->spills, to->spill_line = from->spill_line;
    to->max_threads = from->max_threads ? from->max_threads : sim->machine.max_threads_per_block;
    to->ptx_version = from->ptx_target;
    to->binary_version = sim->machine.cc_major * 10 + sim->machine.cc_minor;
}

/* Host time to decode one instruction, in executed instructions. */
enum { DECODE_COST = 250 };

/* Finds the kernel, which decodes it: at the expense of whoever asks. */
static SimtKernel *kernel_find(SimDevice *sim, const DeviceCall *call, Error *error)
{
    uint64_t before = simt_decode_work();
    simt_decode_allow(sim->instruction_limit ? sim_instructions_left(sim, 0) / DECODE_COST
                                             : UINT64_MAX);
    SimtKernel *kernel = simt_kernel_find(module_at(sim, call->module), call->data, error);
    int is_stopped = simt_decode_is_stopped();
    simt_decode_allow(UINT64_MAX);
    sim->checked += (simt_decode_work() - before) * DECODE_COST * BYTES_AN_INSTRUCTION;
    sim->is_stopped = !kernel && is_stopped;
    return kernel;
}

static int module_function(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    SimtKernel *kernel = kernel_find(sim, call, &error);
    if (sim->is_stopped)
        return device_fail(reply, DEVICE_LAUNCH_TIMEOUT,
                           "decoding the kernels takes more than this call may use: the calls in "
                           "them expand to too many instructions");
    if (!kernel) return device_fail(reply, DEVICE_INVALID_FUNCTION, "%s", error.text);
    SimFunction *function = table_append(&sim->functions, sizeof *function);
    void *room = reply_room(sim, reply, sizeof(FunctionInfo));
    if (!function || !room) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many functions");
    function->kernel = kernel;
    function->module = call->module;
    simt_kernel_info(kernel, &function->info);
    function_info(sim, &function->info, room);
    reply->value[0] = sim->functions.count;
    return 0;
}

static int module_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    if (call->kind == CALL_MODULE_LOAD) return module_load(sim, call, reply);
    SimtModule *module = module_at(sim, call->module);
    if (!module) return device_fail(reply, DEVICE_INVALID_HANDLE, "no module %u", call->module);
    if (call->kind == CALL_MODULE_UNLOAD) return module_unload(sim, call, reply);
    if (!call->data || call->data_bytes == 0 || !memchr(call->data, '\0', call->data_bytes))
        return device_fail(reply, DEVICE_INVALID_VALUE, "a name without an end");
    if (call->kind == CALL_MODULE_FUNCTION) return module_function(sim, call, reply);
    if (simt_variable_find(module, call->data, &reply->value[0], &reply->value[1], &error) != 0)
        return device_fail(reply, DEVICE_INVALID_SYMBOL, "%s", error.text);
    return 0;
}

/* ---- streams and events --------------------------------------------------------------------- */

/* Operations before the program's first own stream are on the default stream and are not recorded
 * in the order.  The creation of that stream waits for them, here and in the recording. */
static int order_open(SimDevice *sim, DeviceReply *reply)
{
    if (sim->order) return 0;
    sim->order = stream_order_open();
    if (!sim->order) return -1;
    if (sim->is_unordered) {
        reply->notes |= REPLY_WAITED;
        sim->host = later(sim->host, sim->timeline.end);
    }
    return 0;
}

static int stream_create(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimStream *stream = table_append(&sim->streams, sizeof *stream);
    if (!stream) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many streams");
    uint32_t handle = sim->streams.count;
    if (call->value & STREAM_NON_BLOCKING_FLAG) handle |= DEVICE_STREAM_NON_BLOCKING;
    if (order_open(sim, reply) != 0 || stream_order_begin(sim->order, handle) != 0)
        return device_fail(reply, DEVICE_OUT_OF_MEMORY,
                           "more than %d streams at a time, those included whose work the host has "
                           "not waited for: their order is not followed here",
                           ORDER_STREAMS - 1);
    stream->live = 1;
    reply->value[0] = handle;
    return 0;
}

static int stream_destroy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    if (call->stream == 0)
        return device_fail(reply, DEVICE_INVALID_HANDLE, "the default stream stays");
    stream_at(sim, call->stream)->live = 0;
    stream_order_end(sim->order, call->stream);
    return 0;
}

static int event_create(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimEvent *event = table_append(&sim->events, sizeof *event);
    if (!event) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many events");
    event->live = 1;
    event->timed = (call->value & EVENT_NO_TIMING_FLAG) == 0;
    reply->value[0] = sim->events.count;
    return 0;
}

static int event_elapsed(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    const SimEvent *from = event_at(sim, call->event), *to = event_at(sim, call->event2);
    if (!from || !to || !from->recorded || !to->recorded || !from->timed || !to->timed)
        return device_fail(reply, DEVICE_INVALID_HANDLE,
                           "both events must exist, be recorded, and be made without "
                           "cudaEventDisableTiming");
    double end = cycles_to_seconds(sim, to->cycle), begin = cycles_to_seconds(sim, from->cycle);
    double milliseconds = (end - begin) * 1e3;
    memcpy(&reply->value[0], &milliseconds, sizeof milliseconds);
    return 0;
}

static int event_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    if (call->kind == CALL_EVENT_CREATE) return event_create(sim, call, reply);
    if (call->kind == CALL_EVENT_ELAPSED) return event_elapsed(sim, call, reply);
    SimEvent *event = event_at(sim, call->event);
    if (!event) return device_fail(reply, DEVICE_INVALID_HANDLE, "no event %u", call->event);
    if (call->kind == CALL_EVENT_DESTROY) {
        event->live = 0;
        order_clock_free(&event->order);
    }
    if (call->kind == CALL_EVENT_RECORD) {
        event->recorded = 1;
        event->cycle = stream_ready(sim, call->stream);
    }
    return 0;
}

/* ---- the device ----------------------------------------------------------------------------- */

static int properties_call(SimDevice *sim, DeviceReply *reply)
{
    const SimtMachine *machine = &sim->machine;
    DeviceProperties *to = (void *)reply_room(sim, reply, sizeof *to);
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
        .max_grid = {machine->cc_major < 3 ? 65535 : 0x7fffffff, 65535, 65535},
        .max_threads_per_sm = machine->max_threads_per_sm,
        .max_blocks_per_sm = machine->max_blocks_per_sm,
        .registers_per_block = machine->registers_per_sm,
        .registers_per_sm = machine->registers_per_sm,
        .shared_per_block = machine->shared_per_block,
        .shared_per_block_optin = machine->shared_per_block_optin,
        .shared_per_sm = machine->shared_per_sm,
        .driver_version = 13000,
        .managed = 1,
    };
    snprintf(to->name, sizeof to->name, "simulated %s", machine->name);
    return 0;
}

/* Executes the call without regard to streams, so that a recording replays after its streams were
 * destroyed. */
static int call_execute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    switch (call->kind) {
    case CALL_PROPERTIES:
        return properties_call(sim, reply);
    case CALL_MEM_INFO:
    case CALL_ALLOC:
    case CALL_FREE:
    case CALL_POINTER:
        return allocation_call(sim, call, reply);
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_COPY_ON_DEVICE:
    case CALL_FILL:
        return memory_call(sim, call, reply);
    case CALL_MODULE_LOAD:
    case CALL_MODULE_UNLOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
        return module_call(sim, call, reply);
    case CALL_FUNCTION_ATTRIBUTE:
        return sim_function_attribute(sim, call, reply);
    case CALL_OCCUPANCY:
        return sim_occupancy(sim, call, reply);
    case CALL_LAUNCH:
        return sim_launch(sim, call, reply);
    case CALL_TENSOR_MAP:
        return tensor_map_call(sim, call, reply);
    case CALL_LIMIT:
        return limit_call(sim, call, reply);
    case CALL_STREAM_CREATE:
        return stream_create(sim, call, reply);
    case CALL_STREAM_DESTROY:
        return stream_destroy(sim, call, reply);
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
        return event_call(sim, call, reply);
    default:
        return device_fail(reply, DEVICE_NOT_SUPPORTED, "the simulator does not know call %u",
                           call->kind);
    }
}

/* Name of an operation in messages, or NULL. */
static const char *operation_name(SimDevice *sim, const DeviceCall *call, char *text, size_t bytes)
{
    switch (call->kind) {
    case CALL_LAUNCH:
        demangle(sim_function(sim, call->function)->info.name, text, bytes);
        return text;
    case CALL_COPY_TO_DEVICE:
        return "a copy to the device";
    case CALL_COPY_TO_HOST:
        return "a copy to the host";
    case CALL_COPY_ON_DEVICE:
        return "a copy on the device";
    case CALL_FILL:
        return "a cudaMemset";
    default:
        return NULL;
    }
}

static void order_note(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    char text[96];
    CallOrder rule = call_order(call);
    if (!sim->order) {
        sim->is_unordered |= rule.is_operation;
        if (rule.host == HOST_WAITS_DEVICE) sim->is_unordered = 0;
        return;
    }
    SimEvent *event = event_at(sim, call->event);
    const char *name = operation_name(sim, call, text, sizeof text);
    const SimtTouch *touch = call->kind == CALL_LAUNCH ? &sim->touch : NULL;
    sim->checked += stream_order_call(sim->order, call, event ? &event->order : NULL, name, touch,
                                      reply->message, sizeof reply->message);
    if (stream_order_lost(sim->order)) reply->notes |= REPLY_SERIAL;
}

/* ---- overlapping launches ------------------------------------------------------------------- */

/* A kernel with fences may communicate with the host while it runs. */
static int wants_guard(const SimDevice *sim, const SimFunction *function)
{
    uint64_t begin, end;
    return sim->guards && !function->info.fences &&
           simt_managed_pages(sim->gpu, &(uint32_t){0}, &begin, &end);
}

/* Whether the accesses of the launch are needed: for the order between streams, or for the next
 * launch. */
static int wants_touch(SimDevice *sim, const DeviceCall *call)
{
    if (call->kind != CALL_LAUNCH) return 0;
    const SimFunction *function = sim_function(sim, call->function);
    return function && (sim->order || function->info.tells || wants_guard(sim, function));
}

/* Every wait waits for all work here. */
static int host_waits(const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
        return call->value != COPY_ASYNC;
    case CALL_FREE:
    case CALL_COPY_ON_DEVICE:
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
    case CALL_STREAM_DESTROY:
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
    case CALL_SYNC:
        return 1;
    default:
        return 0;
    }
}

static void launch_guard(SimDevice *sim, const DeviceCall *call)
{
    char name[96];
    if (call->kind != CALL_LAUNCH || !wants_guard(sim, sim_function(sim, call->function))) return;
    guard_raise(&sim->guard, sim->gpu, &sim->touch, operation_name(sim, call, name, sizeof name));
}

/* Calls that neither do work nor wait. */
static int is_question(const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_PROPERTIES:
    case CALL_MEM_INFO:
    case CALL_ALLOC:
    case CALL_MODULE_LOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
    case CALL_FUNCTION_ATTRIBUTE:
    case CALL_OCCUPANCY:
    case CALL_POINTER:
    case CALL_TENSOR_MAP:
    case CALL_LIMIT:
        return 1;
    default:
        return 0;
    }
}

static int *lets_next(SimDevice *sim, uint32_t handle)
{
    SimStream *stream = stream_at(sim, handle);
    return stream ? &stream->lets_next : &sim->default_lets_next;
}

/* May the launch begin before the end of the one before it on its stream?  Only if that one does
 * not let it, so that nothing overlaps, or if it is checked against what that one touched. */
static int may_overlap(SimDevice *sim, const DeviceCall *call)
{
    return call->kind == CALL_LAUNCH && call->value & LAUNCH_OVERLAPS &&
           (!*lets_next(sim, call->stream) ||
            (sim->early.is_there && sim->early.stream == call->stream));
}

/* Updates which launch the next one may overlap, after a call that succeeded. */
static void early_keep(SimDevice *sim, const DeviceCall *call)
{
    SimEarly *early = &sim->early;
    if (is_question(call)) return;
    if (call_order(call).is_operation) *lets_next(sim, call->stream) = sim->work.tells != 0;
    int overlapped = early->is_there && call->value & LAUNCH_OVERLAPS;
    if (overlapped && sim->work.tells & TELLS_BEFORE && sim->has_touch)
        sim->checked += simt_touch_join(&sim->touch, &early->touch);
    early->is_there = sim->work.tells && sim->has_touch && !simt_touch_is_partial(&sim->touch);
    if (!early->is_there) return;
    SimtTouch free_one = early->touch;
    early->touch = sim->touch, sim->touch = free_one;
    early->stream = call->stream;
    operation_name(sim, call, early->kernel, sizeof early->kernel);
}

/* Whether the launch's reply can be sent before its cycles are known. */
static int may_settle_later(SimDevice *sim, const DeviceCall *call)
{
    return call->kind == CALL_LAUNCH && !(call->value & LAUNCH_OVERLAPS) && !wants_touch(sim, call);
}

/* Reports a failure that was not reported yet, in this reply. */
static int lost_report(SimDevice *sim, DeviceReply *reply)
{
    if (sim->lost.status == DEVICE_SUCCESS) return 0;
    *reply = sim->lost;
    sim->lost = (DeviceReply){0};
    return -1;
}

static int sim_execute(Device *device, const DeviceCall *asked, DeviceReply *reply)
{
    SimDevice *sim = (SimDevice *)device;
    DeviceCall one = *asked;
    const DeviceCall *call = &one;
    memset(reply, 0, offsetof(DeviceReply, message));
    reply->message[0] = '\0';
    if (lost_report(sim, reply) != 0) return 0;
    if (!stream_is_live(sim, call->stream))
        return device_fail(reply, DEVICE_INVALID_HANDLE, "no stream %u", call->stream);
    if (call->kind != CALL_LAUNCH && sim_settle(sim, reply) != 0) return 0;
    simt_findings_clear(sim->gpu);
    if (host_waits(call)) {
        guard_lower(&sim->guard, sim->gpu);
        *sim->printed = '\0';
    } else if (call->kind == CALL_COPY_TO_HOST || call->kind == CALL_COPY_TO_DEVICE) {
        guard_pause(&sim->guard, sim->gpu);
    }
    sim->work = (SimWork){0};
    int overlaps = may_overlap(sim, call);
    if (call->kind == CALL_LAUNCH && !overlaps) one.value &= ~(uint32_t)LAUNCH_OVERLAPS;
    sim->settles_later = may_settle_later(sim, call);
    sim->has_touch = wants_touch(sim, call);
    if (sim->has_touch && simt_touch_renew(sim->gpu, &sim->touch) != 0)
        return device_fail(reply, DEVICE_OUT_OF_MEMORY, "out of host memory for a launch");
    int alone = call->kind != CALL_LAUNCH;
    if (alone) guard_enter(&sim->guard);
    int status = call_execute(sim, call, reply);
    if (alone) guard_leave(&sim->guard);
    if (status == 0 && reply->status == DEVICE_SUCCESS) {
        if (!sim->unsettled.waits) call_time(sim, call);
        launch_guard(sim, call);
        order_note(sim, call, reply);
        early_keep(sim, call);
        if (overlaps) reply->notes |= REPLY_OVERLAPS;
    }
    /* Later waits fail before they get here. */
    if (device_status_sticky(reply->status)) guard_lower(&sim->guard, sim->gpu);
    sim->has_touch = 0;
    return status;
}

static void cost_take(SimDevice *sim, uint64_t cycles, DeviceCost *cost)
{
    *cost = sim->cost;
    cost->cycles = cycles;
    cost->seconds = cycles_to_seconds(sim, cycles);
    memset(&sim->cost, 0, sizeof sim->cost);
    sim->costliest = sim->moved = sim->checked = 0;
}

/* The next cost starts after the end of this one. */
static void sim_take_cost(Device *device, DeviceCost *cost)
{
    SimDevice *sim = (SimDevice *)device;
    sim_settle(sim, NULL);
    cost_take(sim, sim->timeline.end - sim->taken, cost);
    sim->taken = sim->host = sim->timeline.end;
}

uint64_t sim_device_last_launch(Device *device, uint32_t *resident_blocks, DeviceReply *reply)
{
    SimDevice *sim = (SimDevice *)device;
    sim_settle(sim, reply);
    *resident_blocks = sim->last_resident;
    return sim->last_cycles;
}

/* A launch that launches of other streams may overlap, in a grade.  Its cycles are those without
 * neighbours, which would delay its instructions.  Therefore the time for which it needs its share
 * of the machine is exclusive, and only the rest of its time, in which it waits for results,
 * overlaps.  Otherwise many small slices would take less time than one launch of their blocks. */
static TimelineMark work_place_apart(SimDevice *sim, Timeline *timeline, TimelineMark before)
{
    const SimWork *work = &sim->work;
    if (!work->is_launch) return work_place(sim, timeline, 0, before);
    uint64_t busy =
        (uint64_t)(((__uint128_t)work->cycles * work->share + TIMELINE_WHOLE - 1) / TIMELINE_WHOLE);
    uint64_t end = timeline_place(timeline, TIMELINE_SMS, TIMELINE_WHOLE, before.end, busy) +
                   (work->cycles - busy);
    timeline->end = later(timeline->end, end);
    return (TimelineMark){.pdl_trigger = end, .end = end};
}

/* Whether each operation waits for the one before it. */
static int is_chain(const Recording *recording, size_t *before)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < recording->count; i++) {
        if (!recording_is_node(&recording->call[i])) continue;
        size_t edges = recording_edges(recording, i, before), k = 0;
        while (k < edges && before[k] != last)
            k++;
        if (last != SIZE_MAX && k == edges) return 0;
        last = i;
    }
    return 1;
}

/* Executes the recording's nodes in order; they take place on a timeline of their own, each after
 * those that the recording says it waits for.  It may overlap only a single one, on its stream. */
static void nodes_replay(SimDevice *sim, const Recording *recording, TimelineMark *mark,
                         size_t *before, Timeline *timeline, DeviceReply *reply)
{
    int apart = sim->untrusted && !is_chain(recording, before);
    for (size_t i = 0; i < recording->count && reply->status == DEVICE_SUCCESS; i++) {
        TimelineMark last = {0};
        if (!recording_is_node(&recording->call[i])) continue;
        memset(reply, 0, sizeof *reply);
        sim->work = (SimWork){0};
        call_execute(sim, &recording->call[i], reply);
        size_t edges = recording_edges(recording, i, before);
        for (size_t k = 0; k < edges; k++)
            last.end = later(last.end, mark[before[k]].end);
        int is_next = edges == 1 && recording->call[before[0]].stream == recording->call[i].stream;
        last.pdl_trigger = is_next && !recording->serial ? mark[before[0]].pdl_trigger : last.end;
        mark[i] =
            apart ? work_place_apart(sim, timeline, last) : work_place(sim, timeline, 0, last);
    }
}

/* Memory that the recorded call freed is accessible during a replay, as it was during the call. */
static void freed_retire(SimDevice *sim, const Recording *recording, int retired)
{
    Error error;
    for (size_t i = 0; i < recording->deferred_count; i++)
        simt_retire(sim->gpu, recording->deferred_free[i], retired, &error);
}

/* One pass is enough: the next would cost the same, and results that accumulate stay correct. */
static int sim_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost,
                      Error *error)
{
    SimDevice *sim = (SimDevice *)device;
    (void)repeats;
    if (recording->overflow) return error_set(error, "%s", recording->why);
    sim_settle(sim, NULL);
    DeviceReply reply = {.status = DEVICE_SUCCESS};
    if (lost_report(sim, &reply) != 0)
        return error_set(error, "before the replay: %s", reply.message);
    sim->settles_later = 0;
    Timeline *timeline = calloc(1, sizeof *timeline);
    TimelineMark *mark = calloc(recording->count + 1, sizeof *mark);
    size_t *before = calloc(recording->count + 1, sizeof *before);
    DeviceCost live = sim->cost;
    uint64_t live_costliest = sim->costliest, live_moved = sim->moved, live_looked = sim->checked;
    reply.status = DEVICE_OUT_OF_MEMORY;
    memset(&sim->cost, 0, sizeof sim->cost);
    sim->costliest = sim->moved = sim->checked = 0;
    if (timeline && mark && before) {
        reply.status = DEVICE_SUCCESS;
        freed_retire(sim, recording, 0);
        nodes_replay(sim, recording, mark, before, timeline, &reply);
        freed_retire(sim, recording, 1);
    }
    cost_take(sim, timeline ? timeline->end : 0, cost);
    sim->cost = live;
    sim->costliest = live_costliest;
    sim->moved = live_moved;
    sim->checked = live_looked;
    free(timeline), free(mark), free(before);
    if (reply.status == DEVICE_SUCCESS) return 0;
    return error_set(error, "replay: %s: %s", device_status_name(reply.status),
                     reply.message[0] ? reply.message : device_status_text(reply.status));
}

static int sim_retire(Device *device, uint64_t address, int retired, Error *error)
{
    return simt_retire(((SimDevice *)device)->gpu, address, retired, error);
}

static int sim_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word, Error *error)
{
    return simt_poison(((SimDevice *)device)->gpu, address, bytes, word, error);
}

static int sim_name(Device *device, uint64_t address, const ArrayName *array, Error *error)
{
    return simt_name(((SimDevice *)device)->gpu, address, array, error);
}

static int sim_restore(Device *device, Error *error)
{
    (void)error;
    simt_modules_restore(((SimDevice *)device)->gpu);
    simt_heap_restore(((SimDevice *)device)->gpu);
    return 0;
}

static void sim_study(Device *device, DeviceStudy study)
{
    static const SimtStudy OF[] = {[DEVICE_EXECUTED] = SIMT_EXECUTED,
                                   [DEVICE_PRICED] = SIMT_PRICED,
                                   [DEVICE_SEARCHED] = SIMT_SEARCHED,
                                   [DEVICE_STUDIED] = SIMT_STUDIED};
    simt_study(((SimDevice *)device)->gpu, OF[study]);
}

static void sim_close(Device *device)
{
    SimDevice *sim = (SimDevice *)device;
    for (uint32_t i = 1; i <= sim->modules.count; i++)
        if (module_at(sim, i)) simt_module_unload(sim->gpu, module_at(sim, i));
    stream_order_close(sim->order);
    for (uint32_t i = 0; i < sim->events.count; i++)
        order_clock_free(&((SimEvent *)sim->events.item)[i].order);
    simt_touch_close(&sim->touch);
    simt_touch_close(&sim->early.touch);
    simt_touch_close(&sim->guard.touch);
    simt_close(sim->gpu);
    free(sim->modules.item);
    free(sim->functions.item);
    free(sim->streams.item);
    free(sim->events.item);
    free(sim->data);
    free(sim);
}

const SimtProfile *sim_device_profile(Device *device)
{
    sim_settle((SimDevice *)device, NULL);
    return simt_profile(((SimDevice *)device)->gpu);
}

void sim_device_write_runs(Device *device, FILE *stream)
{
    sim_settle((SimDevice *)device, NULL);
    simt_write_runs(((SimDevice *)device)->gpu, stream);
}

uint64_t sim_device_leaks(const Device *device, char *text, size_t bytes)
{
    return simt_leaks(((const SimDevice *)device)->gpu, text, bytes);
}

int sim_device_describe(const Device *device, uint64_t address, char *text, size_t bytes)
{
    return simt_describe(((const SimDevice *)device)->gpu, address, text, bytes);
}

void (*sim_device_debugger)(struct SimtGpu *gpu);
void (*sim_device_expected)(uint64_t address, const double *expected, const double *tolerance,
                            size_t count);

Device *device_open_sim(const SimDeviceOptions *options, Error *error)
{
    SimDevice *sim = calloc(1, sizeof *sim);
    if (!sim) {
        error_set(error, "out of host memory");
        return NULL;
    }
    SimtOptions simt = {.threads = options->threads,
                        .initcheck = options->checks,
                        .racecheck = options->checks,
                        .profile = options->profile,
                        .machine_code = options->machine_code,
                        .untrusted = options->untrusted,
                        .gaps = options->gaps,
                        .warns = options->warns,
                        .interrupted = options->interrupted,
                        .count = 1};
    sim->untrusted = options->untrusted;
    sim->instruction_limit = options->instruction_limit;
    sim->warns = options->warns;
    if (machine_load(options->gpus_directory, options->machine, &sim->machine, error) == 0)
        sim->gpu = simt_open(&sim->machine, &simt, error);
    if (!sim->gpu) {
        free(sim);
        return NULL;
    }
    if (sim_device_debugger) sim_device_debugger(sim->gpu);
    sim->device = (Device){.execute = sim_execute,
                           .take_cost = sim_take_cost,
                           .replay = sim_replay,
                           .poison = sim_poison,
                           .name = sim_name,
                           .retire = sim_retire,
                           .restore = sim_restore,
                           .study = sim_study,
                           .close = sim_close};
    return &sim->device;
}
