/* clock.h - stream and timing events of the programs in this folder.  Each program includes it
 * once, with its name as PROGRAM. */
#ifndef CONVLAB_COMPARE_CLOCK_H
#define CONVLAB_COMPARE_CLOCK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (cudaError_t)(call); /* the driver's numbers equal the runtime's */  \
        if (status_) {                                                                             \
            fprintf(stderr, PROGRAM ": %s: %s (%s:%d)\n", #call, cudaGetErrorString(status_),      \
                    __FILE__, __LINE__);                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static cudaStream_t stream;
static cudaEvent_t begin, end;

static void clock_open(void)
{
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
}

/* Milliseconds since `begin` was recorded on the stream; waits for all enqueued work. */
static double milliseconds(void)
{
    float ms;
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

#endif
