/* side_lab.c - a solution as a side.
 *
 * Its entry point may allocate and free device memory (labs 09 and 10), which cannot be captured
 * into a graph.  So the first call's allocations are kept and reused in the same order by later
 * calls, as in the grader's recordings.  The solutions' cudaMalloc and cudaFree are the two below,
 * because a program's own functions come before a library's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/apps/compare/compare.h"

enum { BLOCKS = 16 };
typedef void (*Entry)(const ConvProblem *, const float *, const float *, float *, cudaStream_t);

typedef struct Lab {
    Entry entry;
    void *block[BLOCKS];
    size_t bytes[BLOCKS];
    int blocks, next;
} Lab;

static Lab *working; /* the side whose entry point is running */

static cudaError_t real_malloc(void **pointer, size_t bytes)
{
    static cudaError_t (*call)(void **, size_t);
    if (!call) *(void **)&call = dlsym(RTLD_NEXT, "cudaMalloc");
    return call(pointer, bytes);
}

static cudaError_t real_free(void *pointer)
{
    static cudaError_t (*call)(void *);
    if (!call) *(void **)&call = dlsym(RTLD_NEXT, "cudaFree");
    return call(pointer);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    Lab *lab = working;
    if (!lab) return real_malloc(pointer, bytes);
    if (lab->next == lab->blocks) {
        if (lab->blocks == BLOCKS) return cudaErrorMemoryAllocation;
        cudaError_t status = real_malloc(&lab->block[lab->next], bytes);
        if (status) return status;
        lab->bytes[lab->blocks++] = bytes;
    }
    *pointer = lab->block[lab->next++];
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    return working ? cudaSuccess : real_free(pointer);
}

static int lab_enqueue(Side *side, const Task *task, Error *error)
{
    Lab *lab = side->state;
    working = lab;
    lab->next = 0;
    lab->entry(&task->conv, task->x, task->w, task->y, task->stream);
    working = NULL;
    cudaError_t status = cudaGetLastError();
    if (status) return error_set(error, "%s: %s", side->name, cudaGetErrorString(status));
    side->workspace = 0;
    for (int i = 0; i < lab->blocks; i++)
        side->workspace += lab->bytes[i];
    return 0;
}

/* Frees the allocations of the previous task. */
static int lab_prepare(Side *side, const Task *task, Error *error)
{
    Lab *lab = side->state;
    (void)task, (void)error;
    for (int i = 0; i < lab->blocks; i++)
        cudaFree(lab->block[i]);
    lab->blocks = 0;
    return 0;
}

static int lab_boundary(Side *side, const Task *task, Error *error)
{
    Lab *lab = side->state;
    lab->entry(&task->conv, task->x, task->w, task->y, task->stream);
    cudaError_t status = cudaStreamSynchronize(task->stream);
    return status ? error_set(error, "%s: %s", side->name, cudaGetErrorString(status)) : 0;
}

int side_lab(Side *side, const char *name, const char *object, Error *error)
{
    Lab *lab = calloc(1, sizeof *lab);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library) return free(lab), error_set(error, "%s: %s", object, dlerror());
    *(void **)&lab->entry = dlsym(library, "conv_forward");
    if (!lab->entry) return free(lab), error_set(error, "%s has no conv_forward", object);
    snprintf(side->name, sizeof side->name, "%s", name);
    side->state = lab;
    side->prepare = lab_prepare;
    side->enqueue = lab_enqueue;
    side->boundary = lab_boundary;
    return 0;
}
