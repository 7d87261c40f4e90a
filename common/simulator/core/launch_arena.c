#include "common/simulator/core/launch_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/simulator/core/gpu.h"
#include "common/simulator/core/layout.h"

/* Larger blocks are reserved address space, because a worker may access only a small part of
 * them. */
enum { LARGE = 1 << 20 };

static void *bytes_open(size_t bytes)
{
    void *at = NULL;
    if (bytes >= LARGE) return address_space(bytes);
    return posix_memalign(&at, SHARED_LINE, bytes ? bytes : 1) == 0 ? at : NULL;
}

static void bytes_close(void *at, size_t bytes)
{
    if (at && bytes >= LARGE)
        munmap(at, bytes);
    else
        free(at);
}

static ArenaBlock *block_next(LaunchArena *shelf)
{
    if (shelf->used < shelf->blocks) return &shelf->block[shelf->used++];
    ArenaBlock *block = realloc(shelf->block, (shelf->blocks + 1) * sizeof *block);
    if (!block) return NULL;
    shelf->block = block, shelf->used = ++shelf->blocks;
    block[shelf->used - 1] = (ArenaBlock){0};
    return &block[shelf->used - 1];
}

void *arena_take(LaunchArena *shelf, size_t bytes)
{
    ArenaBlock *block = block_next(shelf);
    if (!block || (block->at && block->bytes == bytes)) return block ? block->at : NULL;
    bytes_close(block->at, block->bytes);
    *block = (ArenaBlock){.at = bytes_open(bytes), .bytes = bytes};
    return block->at;
}

void *arena_zeros(LaunchArena *shelf, size_t count, size_t bytes)
{
    void *zeros = arena_take(shelf, count * bytes);
    return zeros ? memset(zeros, 0, count * bytes) : NULL;
}

void arena_reset(LaunchArena *shelf)
{
    while (shelf->blocks > shelf->used) {
        const ArenaBlock *block = &shelf->block[--shelf->blocks];
        bytes_close(block->at, block->bytes);
    }
    shelf->used = 0;
}

int arenas_open(SimtGpu *gpu, uint32_t wanted)
{
    if (wanted <= gpu->arena_count) return 0;
    LaunchArena *shelf = realloc(gpu->arenas, wanted * sizeof *shelf);
    if (!shelf) return -1;
    memset(shelf + gpu->arena_count, 0, (wanted - gpu->arena_count) * sizeof *shelf);
    gpu->arenas = shelf, gpu->arena_count = wanted;
    return 0;
}

void arenas_keep(SimtGpu *gpu, uint32_t kept)
{
    for (uint32_t i = kept; i < gpu->arena_count; i++) {
        gpu->arenas[i].used = 0;
        arena_reset(&gpu->arenas[i]);
        free(gpu->arenas[i].block);
    }
    if (gpu->arena_count > kept) gpu->arena_count = kept;
    if (gpu->arena_count) return;
    free(gpu->arenas);
    gpu->arenas = NULL;
}
