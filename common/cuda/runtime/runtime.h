/* runtime.h - the drop-in CUDA runtime's own switch: which Device serves this process.
 *
 * Room: the cuda* functions that a submission calls, each of which makes a DeviceCall.
 * Callers: submissions; the two programs that hold one, runner and run.
 * May use: cuda, ptx, base.
 *
 * runtime.c defines the cuda* functions that labs may call.  Before the submission's static
 * constructors register their fat binaries nothing is needed; before the first CUDA call that
 * does work, the host program (runner or run) sets the device. */
#ifndef CONVLAB_CUDA_RUNTIME_H
#define CONVLAB_CUDA_RUNTIME_H

#include "common/cuda/device.h"

void runtime_set_device(Device *device);

/* The first failure since the last take: the cudaError_t, and "cudaMalloc: " with the engine's
 * message.  0 if none; then the message, if not "", is a finding that stopped nothing (a read
 * of unwritten memory).  Clears both. */
int runtime_take_failure(char *message, size_t bytes);

#endif
