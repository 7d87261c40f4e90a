/* gpu_ceilings.h - the most that this card does, measured on it now: the roofs of the roofline and
 * the floor of any time. */
#ifndef CONVLAB_CUDA_GPU_CEILINGS_H
#define CONVLAB_CUDA_GPU_CEILINGS_H

#include "common/cuda/device.h"

typedef struct GpuCeilings {
    double copy_bytes_per_second; /* device to device, far beyond the L2; read plus written */
    double read_bytes_per_second; /* only read, likewise */
    uint64_t buffer_bytes;        /* of each buffer in those */
    uint64_t l2_bytes;            /* as the driver says */
    double fma_flops_per_second;  /* fp32, a fused multiply-add counts two; not the tensor cores */
    double launch_seconds;        /* an empty kernel in a long row of them: the host's pace */
    double replay_seconds;        /* a graph of one empty kernel, timed as replays are */
} GpuCeilings;

/* Measures on `device`, which must be the gpu engine's; takes about a fifth of a second and a
 * quarter of the memory that is free, 2 GiB at most.  The best of several runs counts: a ceiling is
 * what the card can do, not what it does on average. */
int gpu_ceilings_measure(Device *device, GpuCeilings *ceilings, Error *error);

/* The least time in which this card can do `flops` fp32 operations, read `read_bytes` that are not
 * in its caches and write `written_bytes` (as much of them as the L2 holds may still be there when
 * the clock stops, so that much is free). */
double gpu_ceilings_floor(const GpuCeilings *ceilings, double flops, double read_bytes,
                          double written_bytes);

#endif
