/* runtime.h - control functions of the drop-in CUDA runtime, among them the choice of the Device.
 *
 * Module: the cuda* functions that a submission calls, each of which makes a DeviceCall.
 * Callers: submissions; the two programs that hold one, runner and run.
 * May use: cuda, ptx, base.
 *
 * runtime.c defines the cuda* functions that labs may call.  The submission's static constructors
 * may register their fat binaries without a device; the host program (runner or run) sets the
 * device before the first CUDA call that does work. */
#ifndef CONVLAB_CUDA_RUNTIME_H
#define CONVLAB_CUDA_RUNTIME_H

#include "common/cuda/device.h"

void runtime_set_device(Device *device);

/* Visits the fat binaries that the program's objects registered before main, loaded or not. */
void runtime_images(void (*visit)(void *context, const void *image, size_t bytes), void *context);

/* Makes all pinned memory accessible to kernels, as on a GPU: only if the device is in this
 * process, and addresses are not compared with another run's. */
void runtime_map_pinned(void);

/* The first failure since the last call of it: the cudaError_t, and "cudaMalloc: " with the
 * engine's message.  0 if none; a message other than "" is then a finding that did not stop a
 * kernel (a read of uninitialised memory).  Resets both. */
int runtime_take_failure(char *message, size_t bytes);

/* Calls `tell` immediately for each call that the runtime itself rejects: the cudaError_t, and
 * "cudaMalloc: " with the reason.  The device can report calls that it rejects. */
void runtime_report_refusals(void (*tell)(int32_t status, const char *text));

/* Calls `report` after each asynchronous copy from or to pinned memory (`writes`: to it), which the
 * runtime has already done but a GPU may not have. */
void runtime_report_async(void (*report)(const void *host, size_t bytes, int writes));

/* The stream argument for an entry point: the default stream with a handle of its own, so that a
 * launch without a stream can be distinguished from one on the given stream. */
void *runtime_given_stream(void);

/* Visits the functions of CUDA's libraries that the program called, with the numbers of calls. */
void runtime_library_calls(void (*visit)(void *context, const char *api, uint64_t count),
                           void *context);

/* DeviceHabit bits of the calls since the last call of it. */
uint32_t runtime_take_habits(void);

#endif
