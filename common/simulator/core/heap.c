/* heap.c - malloc and free of device code, in a separate part of device memory.
 *
 * Address space is cheap: freed places are reused only when all of it is used up, so that a use
 * after free is detected. Only live blocks count against the heap's limit.
 *
 * The program that calls malloc is untrusted, and each block costs this process an entry in its
 * table. The number of places is therefore limited, and a freed one is found without a search. */
#include <stdlib.h>

#include "common/simulator/core/gpu.h"

enum { ROUND = 16, HEADER = 16, BETWEEN = 48, SPACE = 8, PLACES = 1 << 20 };

int heap_open(SimtGpu *gpu, Error *error)
{
    Heap *heap = &gpu->heap;
    if (heap->begin) return 0;
    uint64_t space = heap->limit < gpu->memory.reserved / SPACE / 4 ? heap->limit * SPACE
                                                                    : gpu->memory.reserved / 4;
    if (heap->limit > space || memory_reserve(&gpu->memory, space, &heap->begin, error) != 0)
        return error_set(error, "no room for a device heap of %llu bytes (cudaLimitMallocHeapSize)",
                         (unsigned long long)heap->limit);
    heap->next = heap->furthest = heap->begin, heap->end = heap->begin + space;
    return 0;
}

static uint64_t cost_of(uint64_t bytes)
{
    return (bytes + ROUND - 1) / ROUND * ROUND + HEADER;
}

/* Size class of a block of `bytes` bytes, and the size of its places: any multiple of 16 up to 128,
 * then four sizes per power of two. All places of a class have the same size, so the first free one
 * fits. */
static uint32_t class_of(uint64_t bytes, uint64_t *room)
{
    uint64_t units = bytes ? (bytes + ROUND - 1) / ROUND : 1;
    uint32_t shift = 0;
    if (units > 8) shift = 61 - (uint32_t)__builtin_clzll(units - 1);
    uint64_t steps = ((units - 1) >> shift) + 1;
    *room = (steps << shift) * ROUND;
    return 4 * shift + (uint32_t)steps - 1;
}

/* The one that was freed longest ago of the class, or of the next larger one that has any. */
static Allocation *place_again(Heap *heap, uint32_t kind)
{
    for (; kind < HEAP_CLASSES; kind++) {
        HeapPlaces *places = &heap->freed[kind];
        Allocation *a = places->first;
        if (!a) continue;
        places->first = a->later;
        if (!places->first) places->last = NULL;
        return a;
    }
    return NULL;
}

/* After a restore: the place that was given out here before, if it has this size. A block of
 * another size gets a new place after all others. */
static Allocation *place_restored(SimtGpu *gpu, uint64_t room)
{
    Heap *heap = &gpu->heap;
    if (heap->next == heap->furthest) return NULL;
    Allocation *a = memory_find(&gpu->memory, heap->next);
    if (a && a->heap && a->freed && a->address == heap->next && a->room == room) return a;
    heap->next = heap->furthest;
    return NULL;
}

void heap_restore(SimtGpu *gpu)
{
    Heap *heap = &gpu->heap;
    for (uint64_t at = heap->begin; at < heap->furthest;) {
        Allocation *a = memory_find(&gpu->memory, at);
        if (!a || !a->heap) break;
        a->freed = 1, a->later = NULL;
        at = a->address + a->room + HEADER + BETWEEN;
    }
    for (uint32_t i = 0; i < HEAP_CLASSES; i++)
        heap->freed[i] = (HeapPlaces){NULL, NULL};
    heap->next = heap->begin, heap->used = 0;
}

Allocation *heap_alloc(SimtGpu *gpu, uint64_t bytes, int *again)
{
    Heap *heap = &gpu->heap;
    uint64_t room;
    *again = 0;
    if (!bytes) bytes = 1; /* an address to free */
    if (bytes > heap->limit || cost_of(bytes) > heap->limit - heap->used) return NULL;
    uint32_t kind = class_of(bytes, &room);
    uint64_t extent = room + HEADER + BETWEEN;
    Allocation *a = place_restored(gpu, room);
    if (a) {
        a->bytes = bytes, a->freed = 0, a->serial = ++gpu->memory.serial;
        heap->next += extent;
    } else if (heap->places < PLACES && extent <= heap->end - heap->next) {
        a = memory_place(&gpu->memory, heap->next, bytes);
        if (!a) return NULL;
        a->heap = 1, a->room = room;
        heap->furthest = heap->next += extent;
        heap->places++;
    } else {
        a = place_again(heap, kind);
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
    Heap *heap = &gpu->heap;
    Allocation *a = memory_find(&gpu->memory, address);
    uint64_t room;
    if (!a || !a->heap || a->address != address) return HEAP_FREE_INVALID;
    if (a->freed) return HEAP_FREE_TWICE;
    a->freed = 1, a->serial = ++gpu->memory.serial;
    heap->used -= cost_of(a->bytes);
    HeapPlaces *places = &heap->freed[class_of(a->room, &room)];
    *(places->last ? &places->last->later : &places->first) = a;
    places->last = a;
    a->later = NULL;
    return HEAP_FREE_DONE;
}
