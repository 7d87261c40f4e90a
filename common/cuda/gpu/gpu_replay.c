#include <stdlib.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"
#include "common/cuda/recording.h"

/* A recording as an executable graph.  The host side of its copies is one block of page-locked
 * memory: the data to send, and space for data read back, which is not used. */
typedef struct GpuGraph {
    const GpuDriver *driver;
    DriverContext context;
    DriverGraphExec exec;
    unsigned char *staging;
    size_t calls;
    uint32_t unloads; /* the device's value when this was built */
    DeviceCost cost;
    uint32_t costliest;
} GpuGraph;

/* State of building a graph. */
typedef struct GraphBuild {
    GpuDevice *device;
    const Recording *recording;
    GpuGraph *out;
    DriverGraph graph;
    DriverNode *node; /* by call, NULL for calls without a node */
    DriverNode *after;
    size_t *before;
    size_t staged;
} GraphBuild;

/* ---- building ------------------------------------------------------------------------ */

static size_t host_bytes(const DeviceCall *call)
{
    uint64_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes
                     : call->kind == CALL_COPY_TO_HOST ? call->bytes
                                                       : 0;
    return (bytes + 255) / 256 * 256;
}

static int staging_open(GraphBuild *b, Error *error)
{
    size_t bytes = 0;
    void *memory = NULL;
    for (size_t i = 0; i < b->recording->count; i++)
        bytes += host_bytes(&b->recording->call[i]);
    if (!bytes) return 0;
    DriverResult result = b->out->driver->host_alloc(&memory, bytes);
    if (result) return gpu_error(b->device, result, "host memory for the recorded copies", error);
    b->out->staging = memory;
    return 0;
}

static DriverCopyEnd copy_host(const void *memory, size_t bytes)
{
    return (DriverCopyEnd){
        .memory_type = DRIVER_MEMORY_HOST, .host = memory, .pitch = bytes, .height = 1};
}

static DriverCopyEnd copy_device(DriverAddress address, size_t bytes)
{
    return (DriverCopyEnd){
        .memory_type = DRIVER_MEMORY_DEVICE, .device = address, .pitch = bytes, .height = 1};
}

static DriverResult node_copy(GraphBuild *b, const DeviceCall *call, size_t waits, DriverNode *node)
{
    unsigned char *staged = b->out->staging + b->staged;
    size_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
    DriverCopyNode copy = {.width_bytes = bytes, .height = 1, .depth = 1};
    b->staged += host_bytes(call);
    if (!bytes) return b->out->driver->graph_empty(node, b->graph, b->after, waits);
    copy.source = copy_device(call->src, bytes);
    copy.destination = copy_device(call->dst, bytes);
    if (call->kind == CALL_COPY_TO_DEVICE) {
        memcpy(staged, call->data, bytes);
        copy.source = copy_host(staged, bytes);
    } else if (call->kind == CALL_COPY_TO_HOST) {
        copy.destination = copy_host(staged, bytes);
    }
    return b->out->driver->graph_copy(node, b->graph, b->after, waits, &copy, b->out->context);
}

static DriverResult node_fill(GraphBuild *b, const DeviceCall *call, size_t waits, DriverNode *node)
{
    if (!call->bytes) return b->out->driver->graph_empty(node, b->graph, b->after, waits);
    unsigned byte = call->value & 255, wide = call->dst % 4 == 0 && call->bytes % 4 == 0;
    DriverFillNode fill = {.address = call->dst,
                           .value = wide ? byte * 0x01010101u : byte,
                           .element_bytes = wide ? 4 : 1,
                           .width = wide ? call->bytes / 4 : call->bytes,
                           .height = 1};
    return b->out->driver->graph_fill(node, b->graph, b->after, waits, &fill, b->out->context);
}

static DriverResult node_kernel(GraphBuild *b, const DeviceCall *call, const GpuFunction *function,
                                size_t waits, DriverNode *node)
{
    size_t bytes = call->data_bytes;
    void *extra[] = {DRIVER_PARAMS_POINTER, (void *)(uintptr_t)call->data, DRIVER_PARAMS_SIZE,
                     &bytes, DRIVER_PARAMS_END};
    DriverKernelNode kernel = {.function = function->function,
                               .shared_bytes = call->shared_bytes,
                               .extra = bytes ? extra : NULL};
    memcpy(kernel.grid, call->grid, sizeof kernel.grid);
    memcpy(kernel.block, call->block, sizeof kernel.block);
    gpu_cost_add(&b->out->cost, &b->out->costliest, call);
    DriverResult result = b->out->driver->graph_kernel(node, b->graph, b->after, waits, &kernel);
    DriverAttribute attribute[DRIVER_ATTRIBUTES];
    unsigned attributes = gpu_launch_attributes(call, attribute);
    for (unsigned i = 0; i < attributes && !result; i++)
        result =
            b->out->driver->graph_kernel_attribute(*node, attribute[i].id, &attribute[i].value);
    return result;
}

/* The nodes for which call `i` waits, each once, because the driver rejects duplicates. */
static size_t node_waits(GraphBuild *b, size_t i)
{
    size_t waits = 0, edges = recording_edges(b->recording, i, b->before);
    for (size_t e = 0; e < edges; e++) {
        DriverNode wanted = b->before[e] < i ? b->node[b->before[e]] : NULL;
        size_t seen = 0;
        while (seen < waits && b->after[seen] != wanted)
            seen++;
        if (wanted && seen == waits) b->after[waits++] = wanted;
    }
    return waits;
}

static int node_add(GraphBuild *b, size_t i, Error *error)
{
    const DeviceCall *call = &b->recording->call[i];
    DriverResult result = DRIVER_SUCCESS;
    if (!recording_is_node(call)) return 0;
    size_t waits = node_waits(b, i);
    if (call->kind == CALL_LAUNCH) {
        DeviceReply reply;
        GpuFunction *f = gpu_handle_get(b->device, call->function, HANDLE_FUNCTION);
        if (!f)
            return error_set(error,
                             "call %zu of the recording launches a kernel whose module was "
                             "unloaded since",
                             i);
        if (gpu_launch_check(b->device, f, call, &reply))
            return error_set(error, "%s", reply.message);
        result = node_kernel(b, call, f, waits, &b->node[i]);
    } else if (call->kind == CALL_FILL) {
        result = node_fill(b, call, waits, &b->node[i]);
    } else if (call->kind == CALL_COPY_TO_DEVICE || call->kind == CALL_COPY_TO_HOST ||
               call->kind == CALL_COPY_ON_DEVICE) {
        result = node_copy(b, call, waits, &b->node[i]);
    } else {
        result = b->out->driver->graph_empty(&b->node[i], b->graph, b->after, waits);
    }
    return result ? gpu_error(b->device, result, "converting the recording into a graph", error)
                  : 0;
}

static int graph_fill_in(GraphBuild *b, Error *error)
{
    size_t count = b->recording->count;
    b->node = calloc(count + 1, sizeof *b->node);
    b->after = calloc(count + 1, sizeof *b->after);
    b->before = calloc(count + 1, sizeof *b->before);
    if (!b->node || !b->after || !b->before)
        return error_set(error, "out of memory for a graph of %zu calls", count);
    if (staging_open(b, error)) return -1;
    DriverResult result = b->out->driver->graph_create(&b->graph, 0);
    if (result) return gpu_error(b->device, result, "creating a graph", error);
    for (size_t i = 0; i < count; i++)
        if (node_add(b, i, error)) return -1;
    result = b->out->driver->graph_instantiate(&b->out->exec, b->graph, 0);
    if (!result) result = b->out->driver->graph_upload(b->out->exec, b->device->timing_stream);
    return result ? gpu_error(b->device, result, "instantiating the recording's graph", error) : 0;
}

static void graph_free(void *cache)
{
    GpuGraph *graph = cache;
    if (!graph) return;
    graph->driver->context_use(graph->context);
    if (graph->exec) graph->driver->graph_exec_destroy(graph->exec);
    if (graph->staging) graph->driver->host_free(graph->staging);
    free(graph);
}

static GpuGraph *graph_build(GpuDevice *device, const Recording *recording, Error *error)
{
    GpuGraph *graph = calloc(1, sizeof *graph);
    if (!graph) {
        error_set(error, "out of memory");
        return NULL;
    }
    graph->driver = device->driver;
    graph->context = device->context;
    graph->unloads = device->unloads;
    graph->calls = recording->count;
    GraphBuild build = {.device = device, .recording = recording, .out = graph};
    int failed = graph_fill_in(&build, error);
    if (build.graph) device->driver->graph_destroy(build.graph);
    free(build.node);
    free(build.after);
    free(build.before);
    if (!failed) return graph;
    graph_free(graph);
    return NULL;
}

/* ---- timing -------------------------------------------------------------------------- */

int gpu_timing_prepare(GpuDevice *device, Error *error)
{
    const GpuDriver *driver = device->driver;
    DriverResult result = DRIVER_SUCCESS;
    if (!device->timing_stream) result = driver->stream_create(&device->timing_stream, 1);
    for (int i = 0; i < GPU_EVENT_PAIRS && !result; i++)
        for (int end = 0; end < 2 && !result; end++)
            if (!device->timing[i][end]) result = driver->event_create(&device->timing[i][end], 0);
    if (!result) result = gpu_kernels_load(device);
    if (!result && !device->flush) {
        uint64_t l2 = device->properties.l2_bytes;
        device->flush_bytes = l2 ? 2 * l2 / 16 * 16 : 64u << 20;
        result = driver->memory_alloc(&device->flush, device->flush_bytes);
        if (!result)
            result = driver->fill_words(device->flush, 1, device->flush_bytes / 4,
                                        device->timing_stream);
    }
    return result ? gpu_error(device, result, "preparing to measure", error) : 0;
}

void gpu_timing_close(GpuDevice *device)
{
    const GpuDriver *driver = device->driver;
    for (int i = 0; i < GPU_EVENT_PAIRS; i++)
        for (int end = 0; end < 2; end++)
            if (device->timing[i][end]) driver->event_destroy(device->timing[i][end]);
    if (device->timing_stream) driver->stream_destroy(device->timing_stream);
    if (device->flush) driver->memory_free(device->flush);
    if (device->kernels) driver->module_unload(device->kernels);
}

/* Enqueues one timed launch.  The flush reads twice the L2's size, so that the L2 then has only
 * clean lines: a flush by writing would leave its write-backs to the timed work.  During the flush
 * the host enqueues that work, so that no wait for the host is between the two events. */
static DriverResult timed_enqueue(GpuDevice *device, GpuTimed *launch, void *context, int flush,
                                  DriverEvent pair[2])
{
    const GpuDriver *driver = device->driver;
    DriverStream stream = device->timing_stream;
    DriverResult result = DRIVER_SUCCESS;
    if (flush) result = gpu_kernel_read(device, device->flush, device->flush_bytes);
    if (!result) result = driver->event_record(pair[0], stream);
    if (!result) result = launch(device, context);
    if (!result) result = driver->event_record(pair[1], stream);
    return result;
}

int gpu_timing_run(GpuDevice *device, GpuTimed *launch, void *context, int repeats, int flush,
                   double *seconds, Error *error)
{
    const GpuDriver *driver = device->driver;
    DriverResult result = DRIVER_SUCCESS;
    for (int done = 0; done < repeats && !result;) {
        int batch = repeats - done < GPU_EVENT_PAIRS ? repeats - done : GPU_EVENT_PAIRS;
        for (int i = 0; i < batch && !result; i++)
            result = timed_enqueue(device, launch, context, flush, device->timing[i]);
        if (!result) result = driver->stream_sync(device->timing_stream);
        for (int i = 0; i < batch && !result; i++) {
            float milliseconds = 0;
            result =
                driver->event_elapsed(&milliseconds, device->timing[i][0], device->timing[i][1]);
            seconds[done + i] = milliseconds * 1e-3;
        }
        done += batch;
    }
    return result ? gpu_error(device, result, "the timed run", error) : 0;
}

static DriverResult graph_launch(GpuDevice *device, void *context)
{
    return device->driver->graph_launch(((GpuGraph *)context)->exec, device->timing_stream);
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean without a tenth at either end, which removes interrupts and other processes. */
static double trimmed_mean(double *value, int count)
{
    int cut = count / 10;
    double sum = 0;
    qsort(value, (size_t)count, sizeof *value, double_compare);
    for (int i = cut; i < count - cut; i++)
        sum += value[i];
    return sum / (count - 2 * cut);
}

static GpuGraph *graph_get(GpuDevice *device, Recording *recording, Error *error)
{
    GpuGraph *graph = recording->engine_cache;
    if (graph && graph->unloads == device->unloads && graph->calls == recording->count)
        return graph;
    if (graph) recording->engine_cache_free(graph);
    graph = graph_build(device, recording, error);
    recording->engine_cache = graph;
    recording->engine_cache_free = graph_free;
    return graph;
}

static void note_recording(GpuDevice *device, const Recording *recording)
{
    for (size_t i = 0; i < recording->count; i++)
        if (recording->call[i].kind == CALL_LAUNCH) gpu_note_launch(device, &recording->call[i]);
}

/* Runs the recording exactly `repeats` times.  There is no warm-up run: the caller poisons all
 * state that a kernel could keep between runs, and an earlier run would restore it. */
int gpu_replay(Device *base, Recording *recording, int repeats, DeviceCost *cost, Error *error)
{
    GpuDevice *device = (GpuDevice *)base;
    if (device->lost)
        return error_set(error, "the CUDA context was lost before (%s)", device->lost_words);
    if (recording->overflow)
        return error_set(error, "this call cannot be replayed: %s", recording->why);
    if (repeats < 1) return error_set(error, "a replay needs at least one repeat, not %d", repeats);
    device->driver->context_use(device->context);
    if (gpu_timing_prepare(device, error)) return -1;
    GpuGraph *graph = graph_get(device, recording, error);
    if (!graph) return -1;
    double *seconds = calloc((size_t)repeats, sizeof *seconds);
    if (!seconds) return error_set(error, "out of memory for %d times", repeats);
    note_recording(device, recording);
    /* Inputs, poison and the like were enqueued on other streams, for which the timing stream does
     * not wait. */
    DriverResult result = device->driver->context_sync();
    int failed = result ? gpu_error(device, result, "before the timed run", error) : 0;
    if (!failed) failed = gpu_timing_run(device, graph_launch, graph, repeats, 1, seconds, error);
    if (!failed) {
        *cost = graph->cost;
        gpu_cost_finish(device, cost, graph->costliest);
        cost->seconds = trimmed_mean(seconds, repeats);
        gpu_note_done(device, UINT32_MAX);
    }
    free(seconds);
    return failed;
}
