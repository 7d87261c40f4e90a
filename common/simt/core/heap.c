/* heap.c - malloc and free of device code: a part of device memory of its own.
 *
 * Address space is free: a block's place is given to another one only when all space is used up, so
 * that a use after the free is told.  What counts against the heap's limit are live blocks. */
#include <stdlib.h>

#include "common/simt/core/core.h"

enum { ROUND = 16, HEADER = 16, BETWEEN = 48, SPACE = 8 };

int heap_open(SimtGpu *gpu, Error *error)
{
    Heap *heap = &gpu->heap;
    if (heap->begin) return 0;
    uint64_t space = heap->limit < gpu->memory.reserved / SPACE / 4 ? heap->limit * SPACE
                                                                    : gpu->memory.reserved / 4;
    if (heap->limit > space || memory_reserve(&gpu->memory, space, &heap->begin, error) != 0)
        return error_set(error, "no room for a device heap of %llu bytes (cudaLimitMallocHeapSize)",
                         (unsigned long long)heap->limit);
    heap->next = heap->begin, heap->end = heap->begin + space;
    return 0;
}

static uint64_t cost_of(uint64_t bytes)
{
    return (bytes + ROUND - 1) / ROUND * ROUND + HEADER;
}

/* A freed block with as much room: the next one, for it was freed longest ago, as a rule. */
static Allocation *block_again(SimtGpu *gpu, uint64_t bytes)
{
    const Memory *memory = &gpu->memory;
    for (uint32_t k = 0; k < memory->count; k++) {
        uint32_t at = (gpu->heap.place + k) % memory->count;
        Allocation *a = memory->table[at];
        if (!a->heap || !a->freed || a->room < bytes) continue;
        gpu->heap.place = at + 1;
        return a;
    }
    return NULL;
}

Allocation *heap_alloc(SimtGpu *gpu, uint64_t bytes, int *again)
{
    Heap *heap = &gpu->heap;
    *again = 0;
    if (bytes > heap->limit || cost_of(bytes) > heap->limit - heap->used) return NULL;
    uint64_t extent = cost_of(bytes) + BETWEEN;
    Allocation *a;
    if (extent <= heap->end - heap->next) {
        a = memory_place(&gpu->memory, heap->next, bytes);
        if (!a) return NULL;
        a->heap = 1, a->room = cost_of(bytes) - HEADER;
        heap->next += extent;
    } else {
        a = block_again(gpu, bytes);
        if (!a) return NULL;
        a->bytes = bytes, a->freed = 0, a->serial = ++gpu->memory.serial;
        *again = 1;
    }
    heap->used += cost_of(bytes);
    memory_mark(&gpu->memory, a->address, bytes, 0);
    return a;
}

HeapFree heap_free(SimtGpu *gpu, uint64_t address)
{
    Allocation *a = memory_find(&gpu->memory, address);
    if (!a || !a->heap || a->address != address) return HEAP_FREE_INVALID;
    if (a->freed) return HEAP_FREE_TWICE;
    a->freed = 1, a->serial = ++gpu->memory.serial;
    gpu->heap.used -= cost_of(a->bytes);
    return HEAP_FREE_DONE;
}
