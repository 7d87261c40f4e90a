/* ptx_arena.c - memory that lives and dies with a module, and arrays that grow while it is read. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

typedef struct Chunk {
    struct Chunk *next;
    size_t used, size; /* sizes of the data that follows this header */
} Chunk;

struct Arena {
    Chunk *chunk;
    size_t bytes;
};

enum { CHUNK_HEADER = (sizeof(Chunk) + 15) / 16 * 16, CHUNK_BYTES = 256 << 10 };

Arena *arena_open(void)
{
    return calloc(1, sizeof(Arena));
}

void arena_close(Arena *arena)
{
    if (!arena) return;
    for (Chunk *chunk = arena->chunk; chunk;) {
        Chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static Chunk *chunk_add(Arena *arena, size_t size, int zeroed)
{
    if (size > PTX_MAX_ARENA - arena->bytes) return NULL;
    Chunk *chunk = zeroed ? calloc(1, CHUNK_HEADER + size) : malloc(CHUNK_HEADER + size);
    if (!chunk) return NULL;
    arena->bytes += size;
    chunk->size = size;
    chunk->used = 0;
    return chunk;
}

/* 16-byte aligned; NULL when memory or PTX_MAX_ARENA is used up. */
static void *arena_alloc(Arena *arena, size_t bytes)
{
    if (bytes > PTX_MAX_ARENA) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    Chunk *chunk = arena->chunk;
    if (!chunk || bytes > chunk->size - chunk->used) {
        chunk = chunk_add(arena, bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES, 0);
        if (!chunk) return NULL;
        chunk->next = arena->chunk;
        arena->chunk = chunk;
    }
    void *memory = (char *)chunk + CHUNK_HEADER + chunk->used;
    chunk->used += bytes;
    return memory;
}

void *arena_zeroed(Arena *arena, size_t bytes)
{
    if (bytes > CHUNK_BYTES && bytes <= PTX_MAX_ARENA && arena->chunk) {
        /* Inserted after the current chunk, which may have space left. */
        Chunk *chunk = chunk_add(arena, bytes, 1);
        if (!chunk) return NULL;
        chunk->used = bytes;
        chunk->next = arena->chunk->next;
        arena->chunk->next = chunk;
        return (char *)chunk + CHUNK_HEADER;
    }
    void *memory = arena_alloc(arena, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *parser_alloc(Parser *p, size_t bytes)
{
    void *memory = arena_alloc(p->arena, bytes);
    if (!memory) parser_out_of_memory(p);
    return memory;
}

void *parser_copy(Parser *p, const void *from, size_t bytes)
{
    void *memory = parser_alloc(p, bytes);
    if (memory && bytes) memcpy(memory, from, bytes);
    return memory;
}

static int stack_reserve(Parser *p, Stack *stack, size_t count)
{
    if (count <= stack->capacity) return 0;
    size_t capacity = stack->capacity ? 2 * stack->capacity : 64;
    if (capacity < count) capacity = count;
    void *item = capacity > PTX_MAX_ARENA / stack->size
                     ? NULL
                     : realloc(stack->item, capacity * stack->size);
    if (!item) return parser_out_of_memory(p);
    stack->item = item;
    stack->capacity = capacity;
    return 0;
}

void *stack_push(Parser *p, Stack *stack)
{
    if (stack->count == stack->capacity && stack_reserve(p, stack, stack->count + 1)) return NULL;
    void *item = (char *)stack->item + stack->count++ * stack->size;
    return memset(item, 0, stack->size);
}

int stack_extend(Parser *p, Stack *stack, size_t count)
{
    if (count <= stack->count) return 0;
    if (stack_reserve(p, stack, count)) return -1;
    memset((char *)stack->item + stack->count * stack->size, 0,
           (count - stack->count) * stack->size);
    stack->count = count;
    return 0;
}
