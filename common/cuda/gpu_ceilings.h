/* gpu_ceilings.h - the most that this card does, measured on it now: the roofs of the roofline and
 * the floor of any time. */
#ifndef CONVLAB_CUDA_GPU_CEILINGS_H
#define CONVLAB_CUDA_GPU_CEILINGS_H

#include "common/cuda/device.h"

typedef struct GpuCeilings {
    double copy_bytes_per_second; /* device to device, bytes read plus bytes written, far beyond the
                                     L2 */
    uint64_t copy_bytes;          /* of each buffer in that copy */
    double fma_flops_per_second;  /* fp32, a fused multiply-add counts two; not the tensor cores */
    double launch_seconds;        /* one of many empty kernels launched one after the other */
    double replay_seconds;        /* a graph of one empty kernel between its own events, as a
                                     replay is timed: no replay of a launch reports less */
} GpuCeilings;

/* Measures on `device`, which must be the gpu engine's; takes about a fifth of a second and two
 * eighths of the memory that is free, 2 GiB at most.  The best of several runs counts: a ceiling is
 * what the card can do, not what it does on average. */
int gpu_ceilings_measure(Device *device, GpuCeilings *ceilings, Error *error);

/* The least time in which the card can do `flops` fp32 operations and move `bytes`: the larger of
 * the two, never under one launch. */
double gpu_ceilings_floor(const GpuCeilings *ceilings, double flops, double bytes);

#endif
