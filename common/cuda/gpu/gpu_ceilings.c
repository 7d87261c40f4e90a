#include "common/cuda/gpu/gpu_ceilings.h"

#include <math.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"

enum { FMA_ROUNDS = 2048, EMPTY_LAUNCHES = 500, RUNS = 12 };

typedef struct Bench {
    GpuDevice *device;
    DriverAddress from, to;
    size_t bytes;
    double flops;
    DriverGraph graph;
    DriverGraphExec exec;
} Bench;

static DriverResult run_copy(GpuDevice *device, void *context)
{
    Bench *b = context;
    return device->driver->copy_on(b->to, b->from, b->bytes, device->timing_stream);
}

static DriverResult run_read(GpuDevice *device, void *context)
{
    Bench *b = context;
    return gpu_kernel_read(device, b->from, b->bytes);
}

static DriverResult run_fma(GpuDevice *device, void *context)
{
    Bench *b = context;
    return gpu_kernel_fma(device, b->to, FMA_ROUNDS, &b->flops);
}

static DriverResult run_empty(GpuDevice *device, void *context)
{
    (void)context;
    DriverResult result = DRIVER_SUCCESS;
    for (int i = 0; i < EMPTY_LAUNCHES && !result; i++)
        result = device->driver->launch(device->kernel[KERNEL_NOTHING], 1, 1, 1, 32, 1, 1, 0,
                                        device->timing_stream, NULL, NULL);
    return result;
}

static DriverResult run_graph(GpuDevice *device, void *context)
{
    return device->driver->graph_launch(((Bench *)context)->exec, device->timing_stream);
}

static DriverResult bench_open(Bench *b)
{
    const GpuDriver *driver = b->device->driver;
    size_t available = 0, total = 0;
    DriverNode node;
    DriverKernelNode kernel = {
        .function = b->device->kernel[KERNEL_NOTHING], .grid = {1, 1, 1}, .block = {32, 1, 1}};
    DriverResult result = driver->memory_info(&available, &total);
    b->bytes = available / 8 < 1u << 30 ? available / 8 / 256 * 256 : 1u << 30;
    if (!result) result = driver->memory_alloc(&b->from, b->bytes);
    if (!result) result = driver->memory_alloc(&b->to, b->bytes);
    if (!result) /* not zeros, because they consume less power than data */
        result = driver->fill_words(b->from, 0x3f9d70a4, b->bytes / 4, b->device->timing_stream);
    if (!result) result = driver->graph_create(&b->graph, 0);
    if (!result) result = driver->graph_kernel(&node, b->graph, NULL, 0, &kernel);
    if (!result) result = driver->graph_instantiate(&b->exec, b->graph, 0);
    return result;
}

static void bench_close(Bench *b)
{
    const GpuDriver *driver = b->device->driver;
    driver->context_sync();
    if (b->exec) driver->graph_exec_destroy(b->exec);
    if (b->graph) driver->graph_destroy(b->graph);
    if (b->from) driver->memory_free(b->from);
    if (b->to) driver->memory_free(b->to);
}

/* The shortest of RUNS runs, after two warm-up runs. */
static int best_of(Bench *b, GpuTimed *run, int flush, double *best, Error *error)
{
    double seconds[RUNS];
    if (gpu_timing_run(b->device, run, b, 2, flush, seconds, error) ||
        gpu_timing_run(b->device, run, b, RUNS, flush, seconds, error))
        return -1;
    *best = seconds[0];
    for (int i = 1; i < RUNS; i++)
        *best = fmin(*best, seconds[i]);
    return *best > 0 ? 0 : error_set(error, "the GPU's events measured no time at all");
}

static int bench_run(Bench *b, GpuCeilings *c, Error *error)
{
    double copy, read, fma, empty;
    if (best_of(b, run_copy, 0, &copy, error) || best_of(b, run_read, 0, &read, error) ||
        best_of(b, run_fma, 0, &fma, error) || best_of(b, run_empty, 0, &empty, error) ||
        best_of(b, run_graph, 1, &c->replay_seconds, error))
        return -1;
    c->buffer_bytes = b->bytes;
    c->l2_bytes = b->device->properties.l2_bytes;
    c->copy_bytes_per_second = 2.0 * (double)b->bytes / copy;
    c->read_bytes_per_second = (double)b->bytes / read;
    c->fma_flops_per_second = b->flops / fma;
    c->launch_seconds = empty / EMPTY_LAUNCHES;
    return 0;
}

int gpu_ceilings_measure(Device *base, GpuCeilings *ceilings, Error *error)
{
    GpuDevice *device = (GpuDevice *)base;
    memset(ceilings, 0, sizeof *ceilings);
    if (base->replay != gpu_replay)
        return error_set(error, "ceilings are measured on a GPU, this engine is none");
    if (device->lost)
        return error_set(error, "the CUDA context was lost before (%s)", device->lost_words);
    device->driver->context_use(device->context);
    if (gpu_timing_prepare(device, error)) return -1;
    Bench bench = {.device = device};
    DriverResult result = bench_open(&bench);
    int failed = result ? gpu_error(device, result, "preparing the ceilings", error)
                        : bench_run(&bench, ceilings, error);
    bench_close(&bench);
    return failed;
}

double gpu_ceilings_floor(const GpuCeilings *c, double flops, double read_bytes,
                          double written_bytes)
{
    double moved = read_bytes + fmax(0, written_bytes - (double)c->l2_bytes);
    double rate = fmax(c->copy_bytes_per_second, c->read_bytes_per_second);
    return fmax(flops / c->fma_flops_per_second, moved / rate);
}
