/* bench_simt.c - speed of the simulated GPU: thread-instructions and MACs per second on one core
 * and on all, memory, start-up.
 *
 *   bench_simt [FOLDER [KERNEL [SIDE [threads]]]]
 *
 * FOLDER has tests/, with the kernels, and gpus/; the default is common/simulator.  KERNEL is a
 * kernel's name or "all".  SIDE is the side of the matrices, a multiple of 64; the default is 512.
 * With `threads`, the benchmark reports the time of a launch on 1, 2, 4 ... host threads, and the
 * time for which each of them waits for the others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/base/parallel.h"
#include "common/simulator/launch/simt.h"

enum {
    C = 3,
    H = 32,
    W = 32,
    K = 512,
    R = 5,
    S = 5,
    P = H - R + 1,
    Q = W - S + 1,
    RUNS = 5,
    TILE = 64 /* size of a block's tile of a matrix */
};

static uint32_t side = 512; /* of matrices */

typedef struct Params {
    int32_t shape[8];
    uint64_t x, w, y;
} Params;

typedef enum Work { CONVOLUTION, PRODUCT, PRODUCT_TRANSPOSED } Work;

typedef struct Kernel {
    const char *name, *file;
    Work work;
    uint32_t block[2];
} Kernel;

static const Kernel KERNELS[] = {
    {"bench_naive", "bench_conv.ptx", CONVOLUTION, {16, 16}},
    {"bench_tiled", "bench_conv.ptx", CONVOLUTION, {16, 16}},
    {"bench_gemm", "bench_conv.ptx", PRODUCT, {16, 16}},
    {"bench_wmma", "bench_tensor.ptx", PRODUCT, {128, 1}},
    {"bench_mma", "bench_tensor.ptx", PRODUCT, {128, 1}},
    {"bench_wgmma", "bench_tensor.ptx", PRODUCT_TRANSPOSED, {128, 1}},
};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

static double clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* On one core, what it worked, which others on a busy machine do not change much. */
static double now(int threads)
{
    return clock_read(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
}

static void check(int status, const char *text)
{
    if (status == 0) return;
    fprintf(stderr, "bench_simt: %s\n", text);
    exit(1);
}

static char *text_load(const char *folder, const char *name, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/%s", folder, name);
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    check(file && text ? 0 : -1, path);
    *bytes = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

/* Input i: x and w are the same as far as they go. */
static float input(size_t i)
{
    return (float)(i * 2654435761u % 1000) / 500 - 1;
}

static uint64_t buffer_make(SimtGpu *gpu, size_t floats, int fill)
{
    Error error = {""};
    uint64_t address = 0;
    float *data = malloc(floats * sizeof *data);
    check(data ? 0 : -1, "out of memory");
    for (size_t i = 0; i < floats; i++)
        data[i] = input(i);
    check(simt_alloc(gpu, floats * 4, &address, &error), error.text);
    if (fill) check(simt_write(gpu, address, data, floats * 4, &error), error.text);
    free(data);
    return address;
}

/* Checks the last element of a matrix product; tensor cores take halves or TF32. */
static void product_check(SimtGpu *gpu, const Kernel *kernel, uint64_t y)
{
    Error error = {""};
    double right = 0;
    float found = NAN;
    size_t last = side - 1;
    for (size_t k = 0; k < side; k++)
        right += (double)input(last * side + k) *
                 input(kernel->work == PRODUCT ? k * side + last : last * side + k);
    check(simt_read(gpu, y + (last * side + last) * 4, &found, 4, &error), error.text);
    check(fabs(found - right) < 0.05 + 0.002 * fabs(right) ? 0 : -1,
          "a kernel computes something else");
}

static SimtLaunch launch_of(SimtGpu *gpu, const Kernel *kernel, Params *params)
{
    int product = kernel->work != CONVOLUTION;
    size_t square = (size_t)side * side;
    *params = (Params){.shape = {product ? (int32_t)side : C, H, W, K, R, S, P, Q}};
    params->x = buffer_make(gpu, product ? square : C * H * W, 1);
    params->w = buffer_make(gpu, product ? square : (size_t)K * C * R * S, 1);
    params->y = buffer_make(gpu, product ? square : (size_t)K * P * Q, 0);
    return (SimtLaunch){.grid = {product ? side / TILE : (P + 15) / 16 * ((Q + 15) / 16),
                                 product ? side / TILE : K, 1},
                        .block = {kernel->block[0], kernel->block[1], 1},
                        .dynamic_shared = product ? 0 : ((15 + R) * (15 + S) + R * S) * 4,
                        .params = params,
                        .params_bytes = sizeof *params};
}

/* Seconds of some launches that follow each other, as a program makes them: in the time of each
 * another one is settled, the one before it where there are several threads. */
typedef struct Took {
    double best, waited; /* waited: by each thread, on average */
} Took;

static Took kernel_took(const char *folder, const Kernel *what, SimtOptions options,
                        SimtResult *result)
{
    Error error = {""};
    SimtMachine machine;
    Params params;
    char gpus[4096];
    size_t bytes;
    char *text = text_load(folder, what->file, &bytes);
    snprintf(gpus, sizeof gpus, "%s/gpus", folder);
    check(machine_load(gpus, "h200", &machine, &error), error.text);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    check(gpu ? 0 : -1, error.text);
    SimtModule *module = simt_module_load(gpu, text, bytes, 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, what->name, &error) : NULL;
    check(kernel ? 0 : -1, error.text);
    SimtLaunch launch = launch_of(gpu, what, &params);
    Took took = {.best = 1e9};
    double all = 0, worked = 0;
    SimtResult run[RUNS + 1];
    for (int i = 0; i <= RUNS; i++) {
        double start = now(options.threads), before = clock_read(CLOCK_PROCESS_CPUTIME_ID);
        check(simt_launch_begin(gpu, kernel, &launch, &run[i]), run[i].report.text);
        double seconds = now(options.threads) - start;
        if (!i) continue; /* the first one finds none before it */
        if (seconds < took.best) took.best = seconds;
        all += seconds, worked += clock_read(CLOCK_PROCESS_CPUTIME_ID) - before;
    }
    if (options.threads) took.waited = (all - worked / options.threads) / RUNS;
    check(simt_settle(gpu, &run[RUNS]), run[RUNS].report.text);
    for (int i = 0; i < RUNS; i++)
        check(run[i].cycles == run[RUNS].cycles ? 0 : -1, "cycles depend on the run");
    *result = run[RUNS];
    if (what->work != CONVOLUTION) product_check(gpu, what, params.y);
    simt_close(gpu);
    free(text);
    return took;
}

static double kernel_time(const char *folder, const Kernel *what, SimtOptions options,
                          SimtResult *result)
{
    return kernel_took(folder, what, options, result).best;
}

static double startup_time(const char *folder)
{
    Error error = {""};
    SimtMachine machine;
    SimtOptions options = {.threads = 1, .initcheck = 1, .count = 1};
    char gpus[4096];
    size_t bytes;
    double start = now(1);
    char *text = text_load(folder, KERNELS[0].file, &bytes);
    snprintf(gpus, sizeof gpus, "%s/gpus", folder);
    check(machine_load(gpus, "h200", &machine, &error), error.text);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    SimtModule *module = gpu ? simt_module_load(gpu, text, bytes, 0, &error) : NULL;
    check(module && simt_kernel_find(module, KERNELS[0].name, &error) ? 0 : -1, error.text);
    double took = now(1) - start;
    simt_close(gpu);
    free(text);
    return took;
}

/* One row of the table.  `products`: multiply-adds, in millions. */
static void kernel_print(const char *folder, const Kernel *kernel)
{
    const SimtOptions all = {.initcheck = 1, .racecheck = 1, .count = 1};
    SimtOptions one = all;
    SimtResult counted, result;
    one.threads = 1;
    double whole = kernel_time(folder, kernel, one, &counted);
    double plain = kernel_time(folder, kernel, (SimtOptions){.threads = 1}, &result);
    double checked =
        kernel_time(folder, kernel, (SimtOptions){.threads = 1, .initcheck = 1}, &result);
    double cores = kernel_time(folder, kernel, all, &result);
    /* Those of the counting run: they are the same. */
    double millions = (double)counted.counters.instructions * 1e-6;
    double products = kernel->work == CONVOLUTION ? (double)K * P * Q * C * R * S * 1e-6
                                                  : (double)side * side * side * 1e-6;
    check(result.cycles == counted.cycles ? 0 : -1, "cycles depend on the number of host threads");
    printf("%-12s %9.1f M %12.0f %10.0f %10.0f %10.0f %10.0f %10.1f\n", kernel->name, millions,
           millions / plain, millions / checked, millions / whole, products / whole,
           millions / cores, whole / cores);
}

/* One row of the other table. */
static void threads_print(const char *folder, const Kernel *kernel)
{
    SimtOptions options = {.initcheck = 1, .racecheck = 1, .count = 1};
    SimtResult result;
    Took took = {0};
    printf("%-12s", kernel->name);
    for (int threads = 1; threads <= parallel_cores(); threads *= 2) {
        options.threads = threads;
        took = kernel_took(folder, kernel, options, &result);
        printf(" %8.1f", took.best * 1e3);
        fflush(stdout);
    }
    printf(" %8.1f\n", took.waited * 1e3);
}

static int is_meant(int argc, char **argv, const Kernel *kernel)
{
    return argc < 3 || strcmp(argv[2], "all") == 0 || strcmp(argv[2], kernel->name) == 0;
}

static int threads_main(int argc, char **argv)
{
    printf("milliseconds of a launch with all checks and counters on 1, 2, 4 ... host threads; and "
           "for how long each of the most threads waits in one, on average\n\n");
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (is_meant(argc, argv, &KERNELS[i])) threads_print(argv[1], &KERNELS[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "common/simulator";
    if (argc > 3) side = (uint32_t)atoi(argv[3]) / TILE * TILE;
    if (argc > 4 && strcmp(argv[4], "threads") == 0) return threads_main(argc, argv);
    printf("start-up, parsing and decoding: %.1f ms\n", startup_time(folder) * 1e3);
    printf("convolution N1 C%d %dx%d K%d %dx%d, GEMM of %u x %u; million thread-instructions per "
           "second of one core; million MACs per second, with counters; the same of %d cores, "
           "with counters\n\n",
           C, H, W, K, R, S, side, side, parallel_cores());
    printf("%-12s %11s %12s %10s %10s %10s %10s %10s\n", "kernel", "instructions", "functional",
           "+ checks", "+ counters", "MACs", "all cores", "times");
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (is_meant(argc, argv, &KERNELS[i])) kernel_print(folder, &KERNELS[i]);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("\npeak memory: %.1f MB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
