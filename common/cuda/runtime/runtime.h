/* runtime.h - the drop-in CUDA runtime's own switch: which Device serves this process.
 *
 * Module: the cuda* functions that a submission calls, each of which makes a DeviceCall.
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

/* The fat binaries that the program's objects registered before main, loaded or not. */
void runtime_images(void (*visit)(void *context, const void *image, size_t bytes), void *context);

/* From now on kernels can reach all pinned memory, as on a card: where the device is in this
 * process, and nobody compares addresses with a run in which it is not. */
void runtime_map_pinned(void);

/* The first failure since the last take: the cudaError_t, and "cudaMalloc: " with the engine's
 * message.  0 if none; then the message, if not "", is a finding that stopped nothing (a read
 * of unwritten memory).  Clears both. */
int runtime_take_failure(char *message, size_t bytes);

/* From now on `tell` hears at once what the runtime itself refuses: the cudaError_t, and
 * "cudaMalloc: " with the reason.  What the device refuses, the device can tell. */
void runtime_tell_refusals(void (*tell)(int32_t status, const char *text));

/* The stream to give to an entry point: the default one, under a name of its own, so that a launch
 * that names no stream can be told from one on the stream that was given. */
void *runtime_given_stream(void);

/* DeviceHabit bits of what was called since the last take. */
uint32_t runtime_take_habits(void);

#endif
