/* gpu_device.h - the GPU engine: a Device that executes calls on this machine's GPU.
 *
 * Module: DeviceCalls as calls of NVIDIA's driver, and the GPU's ceilings (gpu_ceilings.h).
 * Callers: programs that open an engine; judging, for the ceilings.
 * May use: cuda, ptx, base. */
#ifndef CONVLAB_CUDA_GPU_DEVICE_H
#define CONVLAB_CUDA_GPU_DEVICE_H

#include "common/cuda/device.h"

/* Loads libcuda.so.1.  NULL with `error` if there is no driver, or no GPU of that number. */
Device *device_open_gpu(int ordinal, Error *error);

#endif
