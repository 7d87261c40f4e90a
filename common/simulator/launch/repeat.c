/* repeat.c - recognises repeated launches. */
#include "common/simulator/launch/repeat.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/timing/digest.h"
#include "common/simulator/launch/simt.h"

enum {
    ENTRIES = 4096,     /* different launches of a program */
    MOST_MISSES = 6,    /* wrong predictions after which an entry is given up */
    TOUCHED_BYTES = 64, /* most device memory per warp instruction: copying more takes longer than
                         * a repeat saves */
    LEAST_BYTES = 1 << 16
};

/* A line's warp instructions (SimtLaunch.line_work). */
typedef struct LineRuns {
    uint64_t runs;
    uint32_t line;
} LineRuns;

struct Repeat {
    uint64_t hash;
    SimtKernel *kernel;
    uint32_t grid[3], block[3], dynamic_shared, params_bytes;
    void *params;
    uint64_t memory;   /* hash of the live allocations */
    uint64_t seen;     /* launches */
    uint64_t next_try; /* `seen` at which it is executed as a repeat again */
    uint32_t misses;
    int is_digested; /* Boolean: `digest` and `line` are valid */
    int is_known;    /* Boolean: so is `result` */
    uint64_t digest;
    SimtResult result;
    LineRuns *line;
    uint32_t lines;
};

struct Repeats {
    Repeat *entry[ENTRIES]; /* hashed; NULL: free */
    uint32_t count;
    unsigned char *copy; /* device memory and its marks, before a repeat */
    size_t room;
};

Repeats *repeats_open(void)
{
    return calloc(1, sizeof(Repeats));
}

static void entry_free(Repeat *entry)
{
    if (!entry) return;
    free(entry->params), free(entry->line), free(entry);
}

void repeats_close(Repeats *repeats)
{
    if (!repeats) return;
    for (uint32_t i = 0; i < ENTRIES; i++)
        entry_free(repeats->entry[i]);
    free(repeats->copy), free(repeats);
}

/* ---- entries ------------------------------------------------------------------------------ */

static uint64_t bytes_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = digest_mix(hash, at[i]);
    return hash;
}

/* The places of all live allocations: the cost of an atomic depends on the offset in its own. */
static uint64_t memory_hash(const Memory *memory)
{
    uint64_t hash = memory->next;
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->table[i]->freed) continue;
        hash = digest_mix(hash, memory->table[i]->address);
        hash = digest_mix(hash, memory->table[i]->bytes);
    }
    return hash;
}

static uint64_t request_hash(uint64_t memory, const SimtKernel *kernel, const SimtLaunch *request)
{
    uint64_t hash = bytes_hash(memory, &kernel, sizeof kernel);
    hash = bytes_hash(hash, request->grid, sizeof request->grid);
    hash = bytes_hash(hash, request->block, sizeof request->block);
    hash = digest_mix(hash, request->dynamic_shared);
    return bytes_hash(hash, request->params, request->params_bytes);
}

static int entry_matches(const Repeat *entry, uint64_t memory, const SimtKernel *kernel,
                         const SimtLaunch *request)
{
    return entry->kernel == kernel && entry->memory == memory &&
           !memcmp(entry->grid, request->grid, sizeof entry->grid) &&
           !memcmp(entry->block, request->block, sizeof entry->block) &&
           entry->dynamic_shared == request->dynamic_shared &&
           entry->params_bytes == request->params_bytes &&
           (!entry->params_bytes || !memcmp(entry->params, request->params, entry->params_bytes));
}

static Repeat *entry_make(uint64_t memory, SimtKernel *kernel, const SimtLaunch *request)
{
    Repeat *entry = calloc(1, sizeof *entry);
    if (!entry) return NULL;
    entry->params = malloc(request->params_bytes + 1u);
    if (!entry->params) {
        free(entry);
        return NULL;
    }
    entry->kernel = kernel, entry->memory = memory;
    memcpy(entry->grid, request->grid, sizeof entry->grid);
    memcpy(entry->block, request->block, sizeof entry->block);
    entry->dynamic_shared = request->dynamic_shared;
    entry->params_bytes = request->params_bytes;
    if (request->params_bytes) memcpy(entry->params, request->params, request->params_bytes);
    return entry;
}

Repeat *repeat_find(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request)
{
    Repeats *repeats = gpu->repeats;
    if (!repeats || !gpu->count || gpu->debug || request->early || request->cooperative ||
        request->cluster[0] || kernel->function->required_cluster[0])
        return NULL;
    const uint64_t memory = memory_hash(&gpu->memory), hash = request_hash(memory, kernel, request);
    uint32_t at = (uint32_t)(hash >> 40) % ENTRIES;
    for (; repeats->entry[at]; at = (at + 1) % ENTRIES)
        if (repeats->entry[at]->hash == hash &&
            entry_matches(repeats->entry[at], memory, kernel, request)) {
            repeats->entry[at]->seen++;
            return repeats->entry[at];
        }
    if (repeats->count == ENTRIES / 2) return NULL;
    Repeat *entry = repeats->entry[at] = entry_make(memory, kernel, request);
    if (!entry) return NULL;
    repeats->count++;
    entry->hash = hash, entry->seen = 1;
    return entry;
}

int repeat_learns(const Repeat *repeat, SimtKernel *kernel)
{
    return repeat->seen > 1 && repeat->misses < MOST_MISSES && digest_prepare(kernel);
}

/* `line_work` has only this launch's instructions. */
void repeat_learn(Repeat *repeat, const Launch *launch)
{
    const uint64_t *work = launch->launch->line_work;
    uint32_t lines = 0;
    repeat->is_known = repeat->is_digested = 0;
    for (uint32_t i = 0; work && i < SIMT_LINES; i++)
        lines += work[i] != 0;
    LineRuns *line = realloc(repeat->line, (lines + 1) * sizeof *line);
    if (!line) return;
    repeat->line = line, repeat->lines = 0;
    for (uint32_t i = 0; work && i < SIMT_LINES; i++)
        if (work[i]) line[repeat->lines++] = (LineRuns){work[i], i};
    repeat->digest = launch->digest, repeat->is_digested = 1;
}

void repeat_learn_result(Repeat *repeat, const SimtResult *result)
{
    if (result->report.check != SIMT_OK || result->findings || result->prints || result->tells)
        return;
    repeat->result = *result, repeat->is_known = repeat->is_digested;
}

void repeats_forget(SimtGpu *gpu, const SimtModule *module)
{
    for (uint32_t i = 0; gpu->repeats && i < ENTRIES; i++) {
        Repeat *entry = gpu->repeats->entry[i];
        if (entry && entry->kernel && entry->kernel->module == module) entry->kernel = NULL;
    }
}

/* ---- device memory before a repeat -------------------------------------------------------- */

static int has_bytes(const Allocation *a)
{
    return !a->freed || a->kept;
}

static uint64_t bytes_live(const Memory *memory)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memory->count; i++)
        if (has_bytes(memory->table[i])) bytes += memory->table[i]->bytes;
    return bytes;
}

/* Bytes of the bitmap that contain the marks of an allocation. */
static size_t marks_bytes(const Allocation *a)
{
    return (size_t)(a->bytes / 8 + 2);
}

/* Copies the bytes and marks of all allocations out, or back.  `at` has room for them. */
static void memory_move(Memory *memory, unsigned char *at, int back)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        Allocation *a = memory->table[i];
        if (!has_bytes(a)) continue;
        const uint64_t begin = (uint64_t)(a->host - memory->host);
        memcpy(back ? a->host : at, back ? at : a->host, a->bytes);
        at += a->bytes;
        memcpy(back ? (unsigned char *)&a->initialised : at,
               back ? at : (unsigned char *)&a->initialised, sizeof a->initialised);
        at += sizeof a->initialised;
        if (!memory->shadow) continue;
        unsigned char *marks = memory->shadow + begin / 8;
        memcpy(back ? marks : at, back ? at : marks, marks_bytes(a));
        at += marks_bytes(a);
    }
}

static size_t copy_bytes(const Memory *memory)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < memory->count; i++)
        if (has_bytes(memory->table[i]))
            bytes += memory->table[i]->bytes + marks_bytes(memory->table[i]) + sizeof(int);
    return bytes;
}

/* -1: out of memory. */
static int memory_save(Repeats *repeats, Memory *memory)
{
    const size_t bytes = copy_bytes(memory);
    if (bytes > repeats->room) {
        free(repeats->copy);
        repeats->copy = malloc(bytes);
        repeats->room = repeats->copy ? bytes : 0;
        if (!repeats->copy) return -1;
    }
    memory_move(memory, repeats->copy, 0);
    return 0;
}

/* ---- a repeat ----------------------------------------------------------------------------- */

static int is_worth_trying(const SimtGpu *gpu, const Repeat *repeat)
{
    const uint64_t bytes = bytes_live(&gpu->memory);
    return repeat->is_known && repeat->misses < MOST_MISSES && repeat->seen >= repeat->next_try &&
           (bytes <= LEAST_BYTES ||
            bytes / TOUCHED_BYTES <= repeat->result.counters.warp_instructions);
}

static void repeat_take(const Repeat *repeat, uint32_t number, const SimtLaunch *request,
                        SimtResult *result)
{
    *result = repeat->result;
    result->number = number;
    for (uint32_t i = 0; request->line_work && i < repeat->lines; i++)
        request->line_work[repeat->line[i].line] += repeat->line[i].runs;
}

int repeat_launch(SimtGpu *gpu, Repeat *repeat, SimtKernel *kernel, const SimtLaunch *request,
                  SimtResult *result, RepeatRun *run)
{
    uint64_t digest;
    const uint32_t launches = gpu->launches;
    if (!is_worth_trying(gpu, repeat) || memory_save(gpu->repeats, &gpu->memory) != 0) return 0;
    if (run(gpu, kernel, request, result, &digest) == 0 && !result->findings &&
        digest == repeat->digest) {
        repeat_take(repeat, gpu->launches, request, result);
        kernel->repeats++;
        return 1;
    }
    memory_move(&gpu->memory, gpu->repeats->copy, 1);
    /* The caller's record, which the request may only read, has accesses of the wrong attempt. */
    if (request->touch && simt_touch_renew(gpu, (SimtTouch *)(uintptr_t)request->touch) != 0)
        repeat->misses = MOST_MISSES;
    gpu->launches = launches;
    repeat->misses++, repeat->is_known = 0;
    repeat->next_try = repeat->seen + (1ull << repeat->misses);
    return 0;
}
