/* runtime_state.h - state shared by the runtime_*.c files: the device, its lock, errors, and
 * registered objects.
 *
 * Every cuda* function follows one pattern: take the lock, translate arguments into one DeviceCall,
 * forward it with runtime_call(), translate the reply.  The lock is recursive; reply data stays
 * valid while it is held. */
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

/* A __global__ function.  `host` is the address of its stub, which identifies the kernel in host
 * code. */
typedef struct RuntimeFunction {
    struct RuntimeFunction *next;
    const void *host;
    const char *name;
    RuntimeModule *module;
    uint32_t handle, dynamic_limit;
    int loaded, has_large_clusters; /* Booleans: loaded; clusters larger than the portable size are
                                     * allowed */
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
    void **managed; /* address of host code's pointer to a __managed__ variable; else NULL */
} RuntimeVariable;

void runtime_lock(void);
void runtime_unlock(void);

/* Forwards the call under the lock and stores last error, sticky error and first failure. `api` is
 * the cuda* function's name for messages.  `reply` may be NULL. */
/* Stores a DeviceHabit for runtime_take_habits. */
void runtime_note_habit(uint32_t habit);
/* 1 for memory that the program allocated, -1 for memory that it freed. */
void runtime_note_allocations(int change);
cudaError_t runtime_call(const char *api, const DeviceCall *call, DeviceReply *reply);

/* The same without storing errors, for queries whose failure is a valid answer. */
int32_t runtime_try(const DeviceCall *call, DeviceReply *reply);

/* Records an error that the runtime itself detected. */
cudaError_t runtime_fail(const char *api, DeviceStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The device's properties, queried once; NULL with *status set if there is no device. */
const DeviceProperties *runtime_properties(const char *api, cudaError_t *status);

/* Finds a registered object, and loads its module and the object if necessary. */
cudaError_t runtime_function(const char *api, const void *host, RuntimeFunction **function);
cudaError_t runtime_variable(const char *api, const void *host, RuntimeVariable **variable);
/* 0 only if the operating system reports that part of the range is not mapped in this process. */
int runtime_host_is_mapped(const void *pointer, size_t bytes);
/* Whether it points into allocated or registered pinned memory. */
int runtime_is_pinned(const void *pointer);
/* Whether kernels can access all pinned memory (runtime_map_pinned). */
int runtime_pinned_is_mapped(void);
void runtime_forget_loaded(void);

/* Stream and event handles are the engine's small integers plus an offset that avoids NULL,
 * cudaStreamLegacy and cudaStreamPerThread; those three all mean the legacy default stream, 0. */
enum { RUNTIME_HANDLE_BASE = 16 };
int runtime_handle(const void *opaque, uint32_t *handle);
void *runtime_opaque(uint32_t handle);
cudaError_t runtime_stream(const char *api, cudaStream_t stream, uint32_t *handle);

#endif
