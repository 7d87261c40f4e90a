/* measure_gpu.cu - measurements on a GPU: `time` prints medians of event pairs, `once` launches
 * each entry a single time for a profiler. */
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/validation/measure.h"

enum { WARM_UP = 3, REPEATS = 25 };
static const size_t flush_bytes = 256u << 20;

static bool once;
static float *flushed;
static cudaEvent_t begin, end;

/* Reading, not writing: dirty lines would have to be written back in the timed part. */
__global__ void flush_kernel(const float *x, float *y, size_t n)
{
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum += x[i];
    if (sum == 1.0f) *y = sum;
}

void measure_open(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "time") && strcmp(argv[1], "once"))) {
        fprintf(stderr, "usage: %s time|once\n", argv[0]);
        exit(2);
    }
    once = !strcmp(argv[1], "once");
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    if (!once) {
        cudaMalloc(&flushed, flush_bytes);
        cudaMemset(flushed, 0, flush_bytes);
        printf("name\tkind\tfamily\tus\tlow\thigh\n");
    }
}

static float microseconds(void (*launch)(void *), void *argument)
{
    float milliseconds = 0;
    flush_kernel<<<1024, 256>>>(flushed, flushed, flush_bytes / sizeof(float));
    cudaEventRecord(begin);
    launch(argument);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    return milliseconds * 1e3f;
}

void measure_entry(MeasureKind kind, const char *family, const char *name, void (*launch)(void *),
                   void *argument)
{
    static const char *const KIND[] = {"fit", "regression", "lab", "counters", "racing"};
    float us[REPEATS];
    if (once) {
        launch(argument);
        cudaDeviceSynchronize();
        return;
    }
    for (int i = 0; i < WARM_UP; i++)
        launch(argument);
    for (float &one : us)
        one = microseconds(launch, argument);
    std::sort(us, us + REPEATS);
    printf("%s\t%s\t%s\t%.3f\t%.3f\t%.3f\n", name, KIND[kind], family, us[REPEATS / 2],
           us[REPEATS / 10], us[REPEATS - 1 - REPEATS / 10]);
}

int measure_close(void)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess || fflush(stdout) != 0;
}
