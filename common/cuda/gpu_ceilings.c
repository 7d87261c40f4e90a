#include "common/cuda/gpu_ceilings.h"

#include <math.h>
#include <string.h>

#include "common/cuda/gpu_engine.h"

/* Two kernels, in PTX so that any driver can compile them for its card.  `fma_chain` keeps 16
 * independent multiply-adds in flight a thread, enough to cover their latency at full occupancy;
 * the store that never happens keeps them alive. */
#define FMA(r) "fma.rn.f32 %f" #r ", %f" #r ", %f16, %f17;\n"
#define FMA_16                                                                                     \
    FMA(0)                                                                                         \
    FMA(1)                                                                                         \
    FMA(2)                                                                                         \
    FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10) FMA(11) FMA(12) FMA(13) FMA(14)       \
        FMA(15)
#define FMA_128 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16
#define ADD(r)  "add.f32 %f0, %f0, %f" #r ";\n"

static const char ceilings_ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry fma_chain(.param .u64 out, .param .u32 rounds) {\n"
    ".reg .f32 %f<18>; .reg .b32 %r<18>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d0, [out]; ld.param.u32 %r1, [rounds]; mov.u32 %r0, %tid.x;\n"
    "cvt.rn.f32.u32 %f0, %r0;\n"
    "add.f32 %f1, %f0, 0f3F800000; add.f32 %f2, %f1, 0f3F800000; add.f32 %f3, %f2, 0f3F800000;\n"
    "add.f32 %f4, %f3, 0f3F800000; add.f32 %f5, %f4, 0f3F800000; add.f32 %f6, %f5, 0f3F800000;\n"
    "add.f32 %f7, %f6, 0f3F800000; add.f32 %f8, %f7, 0f3F800000; add.f32 %f9, %f8, 0f3F800000;\n"
    "add.f32 %f10, %f9, 0f3F800000; add.f32 %f11, %f10, 0f3F800000;\n"
    "add.f32 %f12, %f11, 0f3F800000; add.f32 %f13, %f12, 0f3F800000;\n"
    "add.f32 %f14, %f13, 0f3F800000; add.f32 %f15, %f14, 0f3F800000;\n"
    "mul.f32 %f16, %f0, 0f3A83126F; mul.f32 %f17, %f0, 0f3C23D70A;\n"
    "again:\n" FMA_128 "sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra again;\n" ADD(1) ADD(
        2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7) ADD(8) ADD(9) ADD(10) ADD(11) ADD(12) ADD(13) ADD(14)
        ADD(15) "setp.eq.f32 %p1, %f0, 0f4640E400; @!%p1 bra done;\n" /* 12345: as good as never */
                "st.global.f32 [%d0], %f0;\n"
                "done: ret;\n}\n";

enum { FMA_PER_ROUND = 128, FMA_ROUNDS = 2048, FMA_THREADS = 256, EMPTY_LAUNCHES = 500, RUNS = 12 };

typedef struct Bench {
    GpuDevice *device;
    DriverModule module;
    DriverFunction nothing, fma;
    DriverAddress from, to;
    size_t bytes;
    DriverGraph graph;
    DriverGraphExec exec;
} Bench;

static DriverResult run_copy(GpuDevice *device, void *context)
{
    Bench *b = context;
    return device->driver->copy_on(b->to, b->from, b->bytes, device->timing_stream);
}

/* Eight blocks of 256 threads fill an SM of 2048; four waves of them even out its ends. */
static unsigned fma_blocks(const GpuDevice *device)
{
    return device->properties.sms * (device->properties.max_threads_per_sm / FMA_THREADS) * 4;
}

static DriverResult run_fma(GpuDevice *device, void *context)
{
    Bench *b = context;
    DriverAddress out = b->to;
    unsigned rounds = FMA_ROUNDS;
    void *parameters[] = {&out, &rounds};
    return device->driver->launch(b->fma, fma_blocks(device), 1, 1, FMA_THREADS, 1, 1, 0,
                                  device->timing_stream, parameters, NULL);
}

static DriverResult run_empty(GpuDevice *device, void *context)
{
    Bench *b = context;
    DriverResult result = DRIVER_SUCCESS;
    for (int i = 0; i < EMPTY_LAUNCHES && !result; i++)
        result = device->driver->launch(b->nothing, 1, 1, 1, 32, 1, 1, 0, device->timing_stream,
                                        NULL, NULL);
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
    DriverKernelNode kernel = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    DriverResult result = driver->module_load(&b->module, ceilings_ptx, 0, NULL, NULL);
    if (!result) result = driver->module_function(&b->nothing, b->module, "nothing");
    if (!result) result = driver->module_function(&b->fma, b->module, "fma_chain");
    if (!result) result = driver->memory_info(&available, &total);
    b->bytes = available / 8 < 1u << 30 ? available / 8 / 256 * 256 : 1u << 30;
    if (!result) result = driver->memory_alloc(&b->from, b->bytes);
    if (!result) result = driver->memory_alloc(&b->to, b->bytes);
    if (!result) /* not zeros: those cost less power than data does */
        result = driver->fill_words(b->from, 0x3f9d70a4, b->bytes / 4, b->device->timing_stream);
    if (!result) result = driver->graph_create(&b->graph, 0);
    kernel.function = b->nothing;
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
    if (b->module) driver->module_unload(b->module);
}

/* The shortest of RUNS runs, after two that do not count. */
static int best_of(Bench *b, GpuTimed *run, int flush, double *best, Error *error)
{
    double seconds[RUNS];
    if (gpu_timing_run(b->device, run, b, 2, flush, seconds, error) ||
        gpu_timing_run(b->device, run, b, RUNS, flush, seconds, error))
        return -1;
    *best = seconds[0];
    for (int i = 1; i < RUNS; i++)
        *best = fmin(*best, seconds[i]);
    return *best > 0 ? 0 : error_set(error, "the card's events measured no time at all");
}

static int bench_run(Bench *b, GpuCeilings *c, Error *error)
{
    double copy, fma, empty;
    if (best_of(b, run_copy, 0, &copy, error) || best_of(b, run_fma, 0, &fma, error) ||
        best_of(b, run_empty, 0, &empty, error) ||
        best_of(b, run_graph, 1, &c->replay_seconds, error))
        return -1;
    c->copy_bytes = b->bytes;
    c->copy_bytes_per_second = 2.0 * (double)b->bytes / copy;
    c->fma_flops_per_second =
        2.0 * FMA_PER_ROUND * FMA_ROUNDS * FMA_THREADS * fma_blocks(b->device) / fma;
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

double gpu_ceilings_floor(const GpuCeilings *ceilings, double flops, double bytes)
{
    double arithmetic = flops / ceilings->fma_flops_per_second;
    double memory = bytes / ceilings->copy_bytes_per_second;
    return fmax(fmax(arithmetic, memory), ceilings->launch_seconds);
}
