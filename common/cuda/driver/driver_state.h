/* driver_state.h - CUDA's driver API on the drop-in runtime.
 *
 * Module: the cu* functions of NVIDIA's documentation, as a static library and as libcuda.so.1.
 * Callers: programs on the simulated GPU that use the driver API, such as Python packages.
 * May use: cuda/runtime, cuda, ptx.
 *
 * CUresult has the same numbers as cudaError_t for all statuses of the runtime.  There is one
 * device and one kind of context: a context is a marker on a thread's stack. */
#ifndef CONVLAB_CUDA_DRIVER_STATE_H
#define CONVLAB_CUDA_DRIVER_STATE_H

#include <cuda.h>

#include "common/cuda/runtime/runtime_state.h"

/* A loaded module, which is also a library. */
struct CUmod_st {
    uint32_t handle;
    struct CUfunc_st *functions; /* those that were asked for; owned */
};

/* A function of a module, which is also a kernel of a library. */
struct CUfunc_st {
    struct CUfunc_st *next;
    struct CUmod_st *module;
    uint32_t handle, dynamic_limit;
    char *name;
    FunctionInfo info;
};

static inline CUresult driver_status(cudaError_t status)
{
    return (CUresult)status;
}

/* Reports that the function is not supported; returns CUDA_ERROR_NOT_SUPPORTED. */
int driver_refuse(const char *name);

/* Allocations, for cuMemGetAddressRange. */
void driver_memory_add(CUdeviceptr address, size_t bytes);
void driver_memory_forget(CUdeviceptr address);
/* 0 with base and size of the allocation that contains the address; -1: there is none. */
int driver_memory_find(CUdeviceptr address, CUdeviceptr *base, size_t *bytes);

#endif
