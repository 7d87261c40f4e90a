#include "common/simt/core/shelf.h"

#include <stdlib.h>
#include <string.h>

#include "common/simt/core/core.h"

static ShelfBlock *block_next(Shelf *shelf)
{
    if (shelf->used < shelf->blocks) return &shelf->block[shelf->used++];
    ShelfBlock *block = realloc(shelf->block, (shelf->blocks + 1) * sizeof *block);
    if (!block) return NULL;
    shelf->block = block, shelf->used = ++shelf->blocks;
    block[shelf->used - 1] = (ShelfBlock){0};
    return &block[shelf->used - 1];
}

void *shelf_take(Shelf *shelf, size_t bytes)
{
    ShelfBlock *block = block_next(shelf);
    if (!block || (block->at && block->bytes == bytes)) return block ? block->at : NULL;
    free(block->at);
    *block = (ShelfBlock){.bytes = bytes};
    return posix_memalign(&block->at, SHARED_LINE, bytes ? bytes : 1) == 0 ? block->at
                                                                           : (block->at = NULL);
}

void *shelf_zeros(Shelf *shelf, size_t count, size_t bytes)
{
    void *zeros = shelf_take(shelf, count * bytes);
    return zeros ? memset(zeros, 0, count * bytes) : NULL;
}

void shelf_leave(Shelf *shelf)
{
    while (shelf->blocks > shelf->used)
        free(shelf->block[--shelf->blocks].at);
    shelf->used = 0;
}

int shelves_open(SimtGpu *gpu, uint32_t wanted)
{
    if (wanted <= gpu->shelves) return 0;
    Shelf *shelf = realloc(gpu->shelf, wanted * sizeof *shelf);
    if (!shelf) return -1;
    memset(shelf + gpu->shelves, 0, (wanted - gpu->shelves) * sizeof *shelf);
    gpu->shelf = shelf, gpu->shelves = wanted;
    return 0;
}

void shelves_keep(SimtGpu *gpu, uint32_t kept)
{
    for (uint32_t i = kept; i < gpu->shelves; i++) {
        gpu->shelf[i].used = 0;
        shelf_leave(&gpu->shelf[i]);
        free(gpu->shelf[i].block);
    }
    if (gpu->shelves > kept) gpu->shelves = kept;
    if (gpu->shelves) return;
    free(gpu->shelf);
    gpu->shelf = NULL;
}
