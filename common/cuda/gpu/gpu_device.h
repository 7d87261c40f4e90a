/* gpu_device.h - the GPU engine: a Device that executes calls on this machine's card.
 *
 * Holds what turns DeviceCalls into calls of NVIDIA's driver, which is found at run time, and what
 * the card can do at most (gpu_ceilings.h).  Whoever needs an engine opens it here. */
#ifndef CONVLAB_CUDA_GPU_DEVICE_H
#define CONVLAB_CUDA_GPU_DEVICE_H

#include "common/cuda/device.h"

/* Loads libcuda.so.1.  NULL with `error` when there is no driver, or no card of that number. */
Device *device_open_gpu(int ordinal, Error *error);

#endif
