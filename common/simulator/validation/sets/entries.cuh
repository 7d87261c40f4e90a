/* entries.h - what programs of many kernels share: their arrays, and how a launch is entered. */
#ifndef CONVLAB_VALIDATE_ENTRIES_H
#define CONVLAB_VALIDATE_ENTRIES_H

#include <stdint.h>

#include <vector>

#include "common/simulator/validation/measure.h"

enum { MB = 1 << 20, SMS = 132 };

/* Values of both signs, most of them small, because a GPU's power depends on the data. */
__global__ static void fill_kernel(float *x, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] = (float)((int)((unsigned)i * 2654435761u) >> 8) * 1e-7f;
}

/* An array of `floats`, filled. */
static float *array_make(size_t floats)
{
    float *array = NULL;
    cudaMalloc(&array, floats * sizeof *array);
    fill_kernel<<<(unsigned)((floats + 255) / 256), 256>>>(array, floats);
    return array;
}

/* A copy of the host's, on the device. */
template <class T> static T *copy_of(const std::vector<T> &from)
{
    T *to = NULL;
    cudaMalloc(&to, from.size() * sizeof(T));
    cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

/* Which of all threads this is, of a line of them. */
#define GLOBAL_I int i = blockIdx.x * blockDim.x + threadIdx.x

/* Enters one launch, written as in a program: ENTER(FIT, "copy", "copy-4", copy<<<1, 2>>>(x)). */
#define ENTER(set, family, name, ...)                                                              \
    measure_entry(                                                                                 \
        set, family, name, [](void *) { __VA_ARGS__; }, 0)

#endif
