/* captured.cu - a lab's solution as a library whose calls can be captured into a graph.
 *
 * Its device allocations are kept and reused in the same order by the next call; captured_begin()
 * marks the start of a call.  The grader's recordings do the same. */
#include <cuda_runtime.h>

enum { MOST = 64 };
static void *kept[MOST];
static size_t room[MOST];
static int next_block;

static cudaError_t kept_malloc(void **pointer, size_t bytes)
{
    if (next_block == MOST) return cudaErrorMemoryAllocation;
    if (room[next_block] < bytes) {
        cudaFree(kept[next_block]);
        cudaError_t status = cudaMalloc(&kept[next_block], bytes);
        if (status) return status;
        room[next_block] = bytes;
    }
    *pointer = kept[next_block++];
    return cudaSuccess;
}

extern "C" void captured_begin(void)
{
    next_block = 0;
}

#define cudaMalloc(pointer, bytes) kept_malloc((void **)(pointer), bytes)
#define cudaFree(pointer)          ((void)(pointer))
#include CAPTURED_SOURCE
