/* bench_simt.c - how fast the simulated GPU is: thread-instructions a second on one core and on
 * all, memory, start-up.
 *
 *   bench_simt [FOLDER]    of bench_conv.ptx and gpus/; without it, common/simt */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/simt/simt.h"

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
    GEMM = 512
};

typedef struct Params {
    int32_t shape[8];
    uint64_t x, w, y;
} Params;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(int status, const char *text)
{
    if (status == 0) return;
    fprintf(stderr, "bench_simt: %s\n", text);
    exit(1);
}

static char *text_load(const char *folder, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_conv.ptx", folder);
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    check(file && text ? 0 : -1, path);
    *bytes = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static uint64_t buffer_make(SimtGpu *gpu, size_t floats, int fill)
{
    Error error = {""};
    uint64_t address = 0;
    float *data = malloc(floats * sizeof *data);
    check(data ? 0 : -1, "out of memory");
    for (size_t i = 0; i < floats; i++)
        data[i] = (float)(i * 2654435761u % 1000) / 500 - 1;
    check(simt_alloc(gpu, floats * 4, &address, &error), error.text);
    if (fill) check(simt_write(gpu, address, data, floats * 4, &error), error.text);
    free(data);
    return address;
}

/* The best of some runs; thread-instructions are those of the counting run, they are the same. */
static double kernel_time(const char *folder, const char *name, SimtOptions options,
                          SimtResult *result)
{
    Error error = {""};
    SimtMachine machine;
    char gpus[4096];
    size_t bytes;
    char *text = text_load(folder, &bytes);
    snprintf(gpus, sizeof gpus, "%s/gpus", folder);
    check(machine_load(gpus, "h200", &machine, &error), error.text);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    check(gpu ? 0 : -1, error.text);
    SimtModule *module = simt_module_load(gpu, text, bytes, 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, name, &error) : NULL;
    check(kernel ? 0 : -1, error.text);
    int gemm = strcmp(name, "bench_gemm") == 0;
    Params params = {.shape = {gemm ? GEMM : C, H, W, K, R, S, P, Q}};
    params.x = buffer_make(gpu, gemm ? GEMM * GEMM : C * H * W, 1);
    params.w = buffer_make(gpu, gemm ? GEMM * GEMM : (size_t)K * C * R * S, 1);
    params.y = buffer_make(gpu, gemm ? GEMM * GEMM : (size_t)K * P * Q, 0);
    SimtLaunch launch = {
        .grid = {gemm ? GEMM / 64 : (P + 15) / 16 * ((Q + 15) / 16), gemm ? GEMM / 64 : K, 1},
        .block = {16, 16, 1},
        .dynamic_shared = ((15 + R) * (15 + S) + R * S) * 4,
        .params = &params,
        .params_bytes = sizeof params};
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        check(simt_launch(gpu, kernel, &launch, result), result->report.text);
        double took = now() - start;
        if (took < best) best = took;
    }
    simt_close(gpu);
    free(text);
    return best;
}

static double startup_time(const char *folder)
{
    Error error = {""};
    SimtMachine machine;
    SimtOptions options = {.threads = 1, .initcheck = 1, .count = 1};
    char gpus[4096];
    size_t bytes;
    double start = now();
    char *text = text_load(folder, &bytes);
    snprintf(gpus, sizeof gpus, "%s/gpus", folder);
    check(machine_load(gpus, "h200", &machine, &error), error.text);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    SimtModule *module = gpu ? simt_module_load(gpu, text, bytes, 0, &error) : NULL;
    check(module && simt_kernel_find(module, "bench_tiled", &error) ? 0 : -1, error.text);
    double took = now() - start;
    simt_close(gpu);
    free(text);
    return took;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "common/simt";
    static const char *const KERNELS[] = {"bench_naive", "bench_tiled", "bench_gemm"};
    printf("start-up, parsing and decoding: %.1f ms\n", startup_time(folder) * 1e3);
    printf("convolution N1 C%d %dx%d K%d %dx%d, product of %d x %d; million thread-instructions a "
           "second\n\n",
           C, H, W, K, R, S, GEMM, GEMM);
    printf("%-12s %14s %12s %12s %12s %12s\n", "kernel", "instructions", "functional", "+ checks",
           "+ counters", "all cores");
    for (int i = 0; i < 3; i++) {
        SimtResult counted, result;
        double all = kernel_time(
            folder, KERNELS[i],
            (SimtOptions){.threads = 1, .initcheck = 1, .racecheck = 1, .count = 1}, &counted);
        double plain = kernel_time(folder, KERNELS[i], (SimtOptions){.threads = 1}, &result);
        double checked =
            kernel_time(folder, KERNELS[i], (SimtOptions){.threads = 1, .initcheck = 1}, &result);
        double cores = kernel_time(
            folder, KERNELS[i], (SimtOptions){.initcheck = 1, .racecheck = 1, .count = 1}, &result);
        double millions = (double)counted.counters.instructions * 1e-6;
        check(result.cycles == counted.cycles ? 0 : -1,
              "cycles depend on the number of host threads");
        printf("%-12s %12.1f M %12.0f %12.0f %12.0f %12.0f\n", KERNELS[i], millions,
               millions / plain, millions / checked, millions / all, millions / cores);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("\npeak memory: %.1f MB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
