/* gpu_ceilings.h - performance ceilings of this GPU, measured now: for the roofline and for lower
 * bounds of times. */
#ifndef CONVLAB_CUDA_GPU_CEILINGS_H
#define CONVLAB_CUDA_GPU_CEILINGS_H

#include "common/cuda/device.h"

typedef struct GpuCeilings {
    double copy_bytes_per_second; /* device-to-device copy much larger than the L2; read plus
                                   * written bytes */
    double read_bytes_per_second; /* reads of the same buffer */
    uint64_t buffer_bytes;        /* size of each buffer in these measurements */
    uint64_t l2_bytes;            /* as reported by the driver */
    double fma_flops_per_second;  /* fp32 with 2 FLOP per fused multiply-add; without tensor
                                   * cores */
    double launch_seconds;        /* an empty kernel in a long sequence of them: the host's launch
                                   * rate */
    double replay_seconds;        /* a graph of one empty kernel, timed as replays are */
} GpuCeilings;

/* Measures on `device`, which must be the gpu engine's; takes about a fifth of a second and a
 * quarter of the free memory, at most 2 GiB.  The best of several runs counts, because a ceiling is
 * a maximum, not a mean. */
int gpu_ceilings_measure(Device *device, GpuCeilings *ceilings, Error *error);

/* Lower bound of the time in which this GPU can execute `flops` fp32 operations, read `read_bytes`
 * that are not in its caches and write `written_bytes`.  Written bytes that the L2 can still hold
 * at the end of the measurement are subtracted. */
double gpu_ceilings_floor(const GpuCeilings *ceilings, double flops, double read_bytes,
                          double written_bytes);

#endif
