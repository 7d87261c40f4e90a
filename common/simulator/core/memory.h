/* memory.h - device memory, its allocations, and the device heap.
 *
 * A Memory owns its Allocation structures and their host bytes.  Addresses and sizes are
 * in bytes.  Functions that return int return 0, or -1 with a filled-in error. */
#ifndef CONVLAB_SIMT_CORE_MEMORY_H
#define CONVLAB_SIMT_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/array_name.h"
#include "common/base/error.h"
#include "common/simulator/core/simt_types.h"

typedef struct Allocation {
    uint64_t address, bytes;
    unsigned char *host;
    int freed;
    int kept;      /* freed, but a replay uses its bytes again: they stay until memory_free */
    int read_only; /* __constant__ */
    int managed;   /* the program's own code uses it at the same address */
    int heap;      /* result of a kernel's malloc */
    uint64_t room; /* capacity in bytes; heap allocations only */
    struct Allocation *later; /* the heap allocation that was freed after this one */
    int initialised;          /* every byte is known to be written: the bitmap is not needed */
    const char *name;         /* name of a variable, NULL for an allocation */
    ArrayName array;          /* the array that it contains, if named; otherwise rank 0 */
    uint64_t serial;
} Allocation;

typedef struct Memory {
    unsigned char *host;   /* reserved, not committed */
    unsigned char *shadow; /* one bit per byte: written; NULL without initcheck */
    uint64_t reserved, next, used, capacity;
    Allocation **table; /* sorted by address, freed ones included */
    uint32_t count, room;
    uint64_t serial;
    int arrays; /* some allocations have names; the others belong to the program itself */
} Memory;

int memory_open(Memory *memory, uint64_t capacity, int initcheck, Error *error);
void memory_close(Memory *memory);
/* Zeroed address space whose pages take memory when they are first touched; the caller unmaps it
 * with munmap.  NULL: none is available. */
void *address_space(uint64_t bytes);
/* calloc with pages that are already written.  A page that is read before it is written is the
 * kernel's page of zeros at first; its replacement interrupts all cores of the process.  The
 * caller frees it with free. */
void *zeros_alloc(size_t count, size_t bytes);
int memory_alloc(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made,
                 Error *error);
/* Allocates whole pages that this process has at the same address: host code reads the writes of
 * kernels and the reverse.  Writes of the host are not tracked. */
int memory_alloc_managed(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made,
                         Error *error);
int memory_free(Memory *memory, uint64_t address, Error *error);
/* Address space for memory_place, in which the caller chooses the addresses of allocations; they
 * are not counted. */
int memory_reserve(Memory *memory, uint64_t bytes, uint64_t *address, Error *error);
/* NULL: out of host memory. */
Allocation *memory_place(Memory *memory, uint64_t address, uint64_t bytes);
/* Marks the allocation as freed, or with retired 0 as live again; bytes and address stay. */
int memory_retire(Memory *memory, uint64_t address, int retired, Error *error);
/* The allocation, live or freed, that contains `address`, or NULL. */
Allocation *memory_find(const Memory *memory, uint64_t address);
/* A live allocation that contains all of [address, address + bytes), or NULL with an error that
 * names the nearest allocation. */
Allocation *memory_range(const Memory *memory, uint64_t address, uint64_t bytes, Error *error);
/* "16 bytes past the end of a 4096-byte allocation at 0x700000000000", or by array element if the
 * nearest allocation has a name. */
void memory_describe(const Memory *memory, uint64_t address, char *text, size_t bytes);
/* The same relative to `allocation`, even if another allocation is nearer. */
void memory_describe_from(const Memory *memory, const Allocation *allocation, uint64_t address,
                          char *text, size_t bytes);
/* ", y at (n,k,p,q) = (0,0,1,2)" if the address is in an array that has a name, else "". */
void memory_element(const Memory *memory, uint64_t address, char *text, size_t bytes);
/* Names the array in the allocation at `address`.  -1 with error: there is no allocation. */
int memory_name(Memory *memory, uint64_t address, const ArrayName *array, Error *error);
void memory_mark(Memory *memory, uint64_t address, uint64_t bytes, int written);
int memory_is_written(const Memory *memory, uint64_t address, uint64_t bytes);
/* Copies the marks of written bytes from one range to another; the ranges may overlap. */
void memory_marks_copy(Memory *memory, uint64_t to, uint64_t from, uint64_t bytes);
/* simt.h's simt_leaks. */
uint64_t memory_leaks(const Memory *memory, char *text, size_t bytes);

/* ---- the device heap (heap.c) ---------------------------------------------------------------- */
typedef struct HeapPlaces {
    Allocation *first, *last; /* in the order in which they were freed */
} HeapPlaces;

enum { HEAP_CLASSES = 4 * 61 };

typedef struct Heap {
    uint64_t limit; /* cudaLimitMallocHeapSize */
    uint64_t begin, next, end, used;
    uint64_t furthest;              /* largest value of `next` so far */
    uint32_t places;                /* allocated at least once */
    HeapPlaces freed[HEAP_CLASSES]; /* by size class (heap.c) */
} Heap;

typedef enum HeapFree { HEAP_FREE_DONE, HEAP_FREE_INVALID, HEAP_FREE_TWICE } HeapFree;

/* Call before a kernel that uses the heap.  -1: no room for it. */
int heap_open(SimtGpu *gpu, Error *error);
/* NULL: the heap is full.  *again: earlier allocations had the same place. */
Allocation *heap_alloc(SimtGpu *gpu, uint64_t bytes, int *again);
HeapFree heap_free(SimtGpu *gpu, uint64_t address);
/* Frees everything; the next allocation is at the first place again. */
void heap_restore(SimtGpu *gpu);

#endif
