#include "common/apps/serve/pool.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

enum { BLOCKS = 256 }; /* further blocks are freed immediately */

typedef struct Block {
    void *at; /* NULL: unused */
    size_t bytes;
    enum { IDLE, USED, FREED } state;
} Block;

static Block block[BLOCKS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ld's names for wrapped functions. */
cudaError_t __real_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __real_cudaFree(void *pointer);
cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __wrap_cudaFree(void *pointer);

/* The smallest idle block that is large enough: a call with a large batch leaves blocks that fit
 * all smaller batches. */
static Block *smallest_idle(size_t bytes)
{
    Block *best = NULL;
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && block[i].state == IDLE && block[i].bytes >= bytes &&
            (!best || block[i].bytes < best->bytes))
            best = &block[i];
    return best;
}

static void give_back_idle(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        if (!block[i].at || block[i].state != IDLE) continue;
        __real_cudaFree(block[i].at);
        block[i].at = NULL;
    }
}

static void keep(void *at, size_t bytes)
{
    for (int i = 0; i < BLOCKS; i++) {
        if (block[i].at) continue;
        block[i] = (Block){at, bytes, USED};
        return;
    }
}

static cudaError_t take(void **pointer, size_t bytes)
{
    Block *idle = pointer && bytes ? smallest_idle(bytes) : NULL;
    if (idle) {
        idle->state = USED;
        *pointer = idle->at;
        return cudaSuccess;
    }
    cudaError_t status = __real_cudaMalloc(pointer, bytes);
    if (status == cudaErrorMemoryAllocation) {
        give_back_idle();
        cudaGetLastError();
        status = __real_cudaMalloc(pointer, bytes);
    }
    if (status == cudaSuccess && bytes) keep(*pointer, bytes);
    return status;
}

cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    cudaError_t status = take(pointer, bytes);
    pthread_mutex_unlock(&mutex);
    return status;
}

cudaError_t __wrap_cudaFree(void *pointer)
{
    int kept = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BLOCKS && pointer && !kept; i++) {
        kept = block[i].at == pointer && block[i].state == USED;
        if (kept) block[i].state = FREED;
    }
    pthread_mutex_unlock(&mutex);
    return kept ? cudaSuccess : __real_cudaFree(pointer);
}

void pool_settle(void)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].state == FREED) block[i].state = IDLE;
    pthread_mutex_unlock(&mutex);
}
