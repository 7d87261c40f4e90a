/* runtime_state.h - what the runtime_*.c files share: the device, its lock, errors, and what
 * nvcc registered.
 *
 * Every cuda* function follows one pattern: take the lock, translate arguments into one
 * DeviceCall, let runtime_call() pass it on, translate the reply.  The lock is recursive; reply
 * data stays valid while it is held. */
#ifndef CONVLAB_CUDA_RUNTIME_STATE_H
#define CONVLAB_CUDA_RUNTIME_STATE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cuda/device.h"

/* One fat binary: a translation unit's GPU code.  Loaded when something in it is first used. */
typedef struct RuntimeModule {
    struct RuntimeModule *next;
    const void *image;
    uint32_t handle;
    int loaded;
} RuntimeModule;

/* A __global__ function.  `host` is the address of its stub, which stands for the kernel in
 * host code. */
typedef struct RuntimeFunction {
    struct RuntimeFunction *next;
    const void *host;
    const char *name;
    RuntimeModule *module;
    uint32_t handle, dynamic_limit;
    int loaded, has_large_clusters; /* of more than the portable size, as its program allowed */
    FunctionInfo info;
} RuntimeFunction;

/* A __device__ or __constant__ variable.  `host` is its shadow on the host. */
typedef struct RuntimeVariable {
    struct RuntimeVariable *next;
    const void *host;
    const char *name;
    RuntimeModule *module;
    uint64_t address, bytes;
    int loaded;
    void **managed; /* where host code finds the address of a __managed__ variable; else NULL */
} RuntimeVariable;

void runtime_lock(void);
void runtime_unlock(void);

/* Passes the call on under the lock and keeps last error, sticky error and first failure.
 * `api` is the cuda* function's name for messages.  `reply` may be NULL. */
/* Keeps a DeviceHabit for runtime_take_habits. */
void runtime_note_habit(uint32_t habit);
/* 1 for memory that the program allocated, -1 for memory that it freed. */
void runtime_note_allocations(int change);
cudaError_t runtime_call(const char *api, const DeviceCall *call, DeviceReply *reply);

/* The same without keeping anything: for questions whose failure is an answer. */
int32_t runtime_try(const DeviceCall *call, DeviceReply *reply);

/* Records an error that the runtime itself found. */
cudaError_t runtime_fail(const char *api, DeviceStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The device's properties, asked for once; NULL with *status set when there is no device. */
const DeviceProperties *runtime_properties(const char *api, cudaError_t *status);

/* Finds what was registered, and loads its module and itself when that has not happened yet. */
cudaError_t runtime_function(const char *api, const void *host, RuntimeFunction **function);
cudaError_t runtime_variable(const char *api, const void *host, RuntimeVariable **variable);
/* 0 only when the kernel knows for sure that part of the range is not mapped in this process. */
int runtime_host_is_mapped(const void *pointer, size_t bytes);
/* Whether it points into memory that was allocated or registered as pinned. */
int runtime_is_pinned(const void *pointer);
/* Whether kernels can reach all pinned memory (runtime_map_pinned). */
int runtime_pinned_is_mapped(void);
void runtime_forget_loaded(void);

/* Stream and event handles are the engine's small integers, moved clear of NULL,
 * cudaStreamLegacy and cudaStreamPerThread; those three all name the legacy default stream, 0. */
enum { RUNTIME_HANDLE_BASE = 16 };
int runtime_handle(const void *opaque, uint32_t *handle);
void *runtime_opaque(uint32_t handle);
cudaError_t runtime_stream(const char *api, cudaStream_t stream, uint32_t *handle);

#endif
