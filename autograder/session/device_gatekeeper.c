/* device_gatekeeper.c - access control between a runner and the engine.
 *
 * Handles are small integers and addresses can be guessed, so each is looked up in the list of
 * those given to this runner.  Otherwise a submission could launch the reference's kernels or free
 * the grader's tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/build/build.h"
#include "autograder/session/device_parts.h"
#include "common/cuda/wire.h"

/* A source is one module; a module may contain up to a million decoded instructions. */
enum { HANDLES_MAX = 4096, MODULES_MAX = 16 };
/* limit of the __device__ and __constant__ variables, which are initialised before each replay */
static const uint64_t VARIABLES_MAX = 256ull << 20;

typedef enum Kind { KIND_MODULE, KIND_FUNCTION, KIND_STREAM, KIND_EVENT, KINDS } Kind;

typedef struct Handles {
    uint32_t *handle;
    size_t count, capacity;
} Handles;

typedef struct Allocation {
    uint64_t address, bytes;
} Allocation;

struct Gatekeeper {
    uint64_t memory_bytes, used_bytes;
    Handles handles[KINDS];
    Allocation *allocation;
    size_t allocations, allocation_capacity;
    Allocation *freed; /* allocations whose free the recorder has deferred until the recording is
                        * cleared */
    size_t freeds, freed_capacity;
    int modules;              /* number of attempts to load a module so far */
    uint64_t variables_bytes; /* total size of their variables */
    char code[65];            /* digest of the only fat binary to load; "": any */
};

Gatekeeper *gatekeeper_open(uint64_t memory_bytes, const char *code)
{
    Gatekeeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper) return NULL;
    keeper->memory_bytes = memory_bytes;
    snprintf(keeper->code, sizeof keeper->code, "%s", code);
    return keeper;
}

/* ---- lists -------------------------------------------------------------------------------- */

static int list_grow(void **list, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity) return 0;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *grown = realloc(*list, wanted * item);
    if (!grown) return -1;
    *list = grown;
    *capacity = wanted;
    return 0;
}

static int handle_add(Gatekeeper *keeper, Kind kind, uint32_t handle)
{
    Handles *handles = &keeper->handles[kind];
    if (list_grow((void **)&handles->handle, handles->count, &handles->capacity, sizeof handle))
        return -1;
    handles->handle[handles->count++] = handle;
    return 0;
}

/* Index of the handle, or -1 if it is not this runner's.  The search starts with the newest, which
 * is used most often. */
static long handle_find(const Gatekeeper *keeper, Kind kind, uint32_t handle)
{
    const Handles *handles = &keeper->handles[kind];
    for (long i = (long)handles->count - 1; i >= 0; i--)
        if (handles->handle[i] == handle) return i;
    return -1;
}

static void handle_drop(Gatekeeper *keeper, Kind kind, uint32_t handle)
{
    Handles *handles = &keeper->handles[kind];
    long at = handle_find(keeper, kind, handle);
    if (at >= 0) handles->handle[at] = handles->handle[--handles->count];
}

static long allocation_find(const Gatekeeper *keeper, uint64_t address)
{
    for (long i = (long)keeper->allocations - 1; i >= 0; i--)
        if (keeper->allocation[i].address == address) return i;
    return -1;
}

/* ---- allowed calls ------------------------------------------------------------------------ */

static int stream_known(const Gatekeeper *keeper, uint32_t stream)
{
    return !stream || handle_find(keeper, KIND_STREAM, stream) >= 0;
}

static int event_known(const Gatekeeper *keeper, uint32_t event)
{
    return handle_find(keeper, KIND_EVENT, event) >= 0;
}

/* Whether every handle in this kind of call belongs to the runner. */
static int handles_known(const Gatekeeper *keeper, const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_MODULE_UNLOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
        return handle_find(keeper, KIND_MODULE, call->module) >= 0;
    case CALL_FUNCTION_ATTRIBUTE:
    case CALL_OCCUPANCY:
        return handle_find(keeper, KIND_FUNCTION, call->function) >= 0;
    case CALL_LAUNCH:
        return handle_find(keeper, KIND_FUNCTION, call->function) >= 0 &&
               stream_known(keeper, call->stream);
    case CALL_STREAM_DESTROY:
        return call->stream && stream_known(keeper, call->stream);
    case CALL_STREAM_WAIT:
    case CALL_EVENT_RECORD:
        return event_known(keeper, call->event) && stream_known(keeper, call->stream);
    case CALL_EVENT_DESTROY:
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
        return event_known(keeper, call->event);
    case CALL_EVENT_ELAPSED:
        return event_known(keeper, call->event) && event_known(keeper, call->event2);
    default:
        return stream_known(keeper, call->stream);
    }
}

static int room_left(const Gatekeeper *keeper, const DeviceCall *call)
{
    switch (call->kind) {
    case CALL_MODULE_LOAD:
        return keeper->modules < MODULES_MAX && keeper->used_bytes < keeper->memory_bytes;
    case CALL_MODULE_FUNCTION:
        return keeper->handles[KIND_FUNCTION].count < HANDLES_MAX;
    case CALL_STREAM_CREATE:
        return keeper->handles[KIND_STREAM].count < HANDLES_MAX;
    case CALL_EVENT_CREATE:
        return keeper->handles[KIND_EVENT].count < HANDLES_MAX;
    case CALL_LIMIT:
        return call->bytes <= keeper->memory_bytes;
    case CALL_ALLOC:
        return keeper->allocations < HANDLES_MAX && call->bytes <= keeper->memory_bytes &&
               keeper->used_bytes <= keeper->memory_bytes - call->bytes;
    default:
        return 1;
    }
}

/* Whether a call carries no more data than one of its kind can need.  Reading it is this process's
 * work, which costs the runner nothing. */
static int data_fits(const DeviceCall *call)
{
    enum { NAME_BYTES = 1 << 20, SMALL_BYTES = 64 << 10 }; /* parameters have at most 32,764 */
    switch (call->kind) {
    case CALL_COPY_TO_DEVICE: /* the engine charges for its bytes */
    case CALL_TENSOR_MAP:     /* has one size */
        return 1;
    case CALL_MODULE_LOAD:
        return call->data_bytes <= BUILD_FILE_BYTES;
    case CALL_MODULE_FUNCTION:
    case CALL_MODULE_VARIABLE:
        return call->data_bytes <= NAME_BYTES;
    default:
        return call->data_bytes <= SMALL_BYTES;
    }
}

/* Whether nvcc made this code from the submission's source.  Code of another origin has no machine
 * code or a forged one, from which the simulator takes registers, spills and part of the price. */
static int code_known(const Gatekeeper *keeper, const DeviceCall *call)
{
    char digest[65];
    if (!keeper->code[0]) return 1;
    build_code_digest(call->data, (size_t)call->data_bytes, digest);
    return strcmp(digest, keeper->code) == 0;
}

/* 1 if the call may reach the engine; else 0, and *reply has the reason. */
static int call_allowed(const Gatekeeper *keeper, const DeviceCall *call, DeviceReply *reply)
{
    if (call->kind >= CALL_KINDS) {
        device_fail(reply, DEVICE_INVALID_VALUE, "unknown call %u", call->kind);
    } else if (!handles_known(keeper, call)) {
        device_fail(reply, DEVICE_INVALID_HANDLE,
                    "a handle that was not given out, or is destroyed");
    } else if (!room_left(keeper, call)) {
        device_fail(reply, DEVICE_OUT_OF_MEMORY,
                    "a lab may hold at most %llu MiB of device memory, %d modules and %d streams, "
                    "events or "
                    "functions",
                    (unsigned long long)(keeper->memory_bytes >> 20), MODULES_MAX, HANDLES_MAX);
    } else if (!data_fits(call)) {
        device_fail(reply, DEVICE_INVALID_VALUE, "call %u with %llu bytes of data", call->kind,
                    (unsigned long long)call->data_bytes);
    } else if (call->kind == CALL_ALLOC && call->value == ALLOC_MANAGED) {
        device_fail(reply, DEVICE_NOT_SUPPORTED,
                    "managed memory is not available in a grade, because host code runs in a "
                    "process of its own; use cudaMalloc and cudaMemcpy");
    } else if (call->kind == CALL_FREE && call->dst && allocation_find(keeper, call->dst) < 0) {
        device_fail(reply, DEVICE_INVALID_VALUE,
                    "cudaFree of an address that cudaMalloc did not return");
    } else if (call->kind == CALL_TENSOR_MAP && call->data_bytes != sizeof(TensorMapRequest)) {
        device_fail(reply, DEVICE_INVALID_VALUE,
                    "a tensor map is asked for with %zu bytes, not %llu", sizeof(TensorMapRequest),
                    (unsigned long long)call->data_bytes);
    } else if (call->kind == CALL_MODULE_LOAD && !code_known(keeper, call)) {
        device_fail(reply, DEVICE_INVALID_IMAGE,
                    "a grade runs only the GPU code that nvcc made from the source; PTX text and "
                    "other fat binaries cannot be loaded");
    } else if (call->value == COPY_BY_LIBRARY &&
               (call->kind == CALL_COPY_TO_DEVICE || call->kind == CALL_COPY_TO_HOST)) {
        device_fail(reply, DEVICE_NOT_SUPPORTED, "a lab is not linked with CUDA's libraries");
    } else if (call->kind == CALL_COPY_TO_HOST && call->bytes > WIRE_BYTES_MAX / 2) {
        device_fail(reply, DEVICE_INVALID_VALUE, "one copy to the host may have at most 1 GiB");
    } else {
        return 1;
    }
    return 0;
}

/* ---- handles and memory given out and returned -------------------------------------------- */

static int allocation_add(Gatekeeper *keeper, uint64_t address, uint64_t bytes)
{
    if (list_grow((void **)&keeper->allocation, keeper->allocations, &keeper->allocation_capacity,
                  sizeof *keeper->allocation))
        return -1;
    keeper->allocation[keeper->allocations++] = (Allocation){address, bytes};
    keeper->used_bytes += bytes;
    return 0;
}

static int allocation_drop(Gatekeeper *keeper, uint64_t address)
{
    long at = allocation_find(keeper, address);
    if (at < 0) return 0;
    if (list_grow((void **)&keeper->freed, keeper->freeds, &keeper->freed_capacity,
                  sizeof *keeper->freed))
        return -1;
    keeper->freed[keeper->freeds++] = keeper->allocation[at];
    keeper->allocation[at] = keeper->allocation[--keeper->allocations];
    return 0;
}

static int call_note(Gatekeeper *keeper, const DeviceCall *call, const DeviceReply *reply)
{
    uint32_t given = (uint32_t)reply->value[0];
    switch (call->kind) {
    case CALL_PROPERTIES:
        if (reply->data_bytes == sizeof(DeviceProperties))
            ((DeviceProperties *)reply->data)->managed = 0;
        return 0;
    case CALL_ALLOC:
        return allocation_add(keeper, reply->value[0], call->bytes);
    case CALL_MODULE_LOAD:
        keeper->used_bytes += reply->value[1];
        keeper->variables_bytes += reply->value[1];
        return handle_add(keeper, KIND_MODULE, given);
    case CALL_MODULE_FUNCTION:
        return handle_add(keeper, KIND_FUNCTION, given);
    case CALL_STREAM_CREATE:
        return handle_add(keeper, KIND_STREAM, given);
    case CALL_EVENT_CREATE:
        return handle_add(keeper, KIND_EVENT, given);
    case CALL_FREE:
        return allocation_drop(keeper, call->dst);
    case CALL_MODULE_UNLOAD:
        handle_drop(keeper, KIND_MODULE, call->module);
        break;
    case CALL_STREAM_DESTROY:
        handle_drop(keeper, KIND_STREAM, call->stream);
        break;
    case CALL_EVENT_DESTROY:
        handle_drop(keeper, KIND_EVENT, call->event);
        break;
    default:
        break;
    }
    return 0;
}

/* Remaining space for the variables of the next module; 0 would mean no limit. */
static uint64_t variables_room(const Gatekeeper *keeper)
{
    uint64_t memory = keeper->memory_bytes - keeper->used_bytes,
             variables = VARIABLES_MAX - keeper->variables_bytes;
    uint64_t room = memory < variables ? memory : variables;
    return room ? room : 1;
}

int gatekeeper_execute(Gatekeeper *keeper, Device *next, const DeviceCall *call, DeviceReply *reply)
{
    memset(reply, 0, sizeof *reply);
    int is_allowed = call_allowed(keeper, call, reply);
    /* Never decremented, and counted if it fails, too: computing a digest and reading PTX cost this
     * process much more than they cost the runner. */
    keeper->modules += call->kind == CALL_MODULE_LOAD;
    if (!is_allowed) return 0;
    DeviceCall bounded = *call;
    if (call->kind == CALL_MODULE_LOAD) bounded.bytes = variables_room(keeper);
    if (next->execute(next, &bounded, reply)) return -1;
    if (reply->status == DEVICE_SUCCESS && call_note(keeper, call, reply))
        device_fail(reply, DEVICE_OUT_OF_MEMORY, "the device process is out of memory");
    return 0;
}

void gatekeeper_settle(Gatekeeper *keeper)
{
    while (keeper->freeds)
        keeper->used_bytes -= keeper->freed[--keeper->freeds].bytes;
}

static int allocation_poison(const Allocation *allocation, Device *engine, Error *error)
{
    uint64_t bytes = allocation->bytes & ~3ull; /* whole words; the rest is too small to hold a
                                                 * result */
    return bytes ? engine->poison(engine, allocation->address, bytes, OUTPUT_POISON, error) : 0;
}

/* Poisons freed memory, both on an engine that reports accesses to it and on one that does not. */
static int freed_poison(const Allocation *freed, Device *engine, Error *error)
{
    if (engine->retire && engine->retire(engine, freed->address, 0, error)) return -1;
    if (allocation_poison(freed, engine, error)) return -1;
    return engine->retire ? engine->retire(engine, freed->address, 1, error) : 0;
}

int gatekeeper_poison(Gatekeeper *keeper, Device *engine, Error *error)
{
    for (size_t i = 0; i < keeper->allocations; i++)
        if (allocation_poison(&keeper->allocation[i], engine, error)) return -1;
    for (size_t i = 0; i < keeper->freeds; i++)
        if (freed_poison(&keeper->freed[i], engine, error)) return -1;
    return 0;
}

void gatekeeper_close(Gatekeeper *keeper, Device *engine)
{
    static const uint32_t undo[KINDS] = {CALL_MODULE_UNLOAD, CALL_KINDS, CALL_STREAM_DESTROY,
                                         CALL_EVENT_DESTROY};
    DeviceReply *reply = calloc(1, sizeof *reply);
    for (size_t i = 0; reply && i < keeper->allocations; i++) {
        DeviceCall call = {.kind = CALL_FREE, .dst = keeper->allocation[i].address};
        engine->execute(engine, &call, reply);
    }
    for (int kind = KINDS - 1; reply && kind >= 0; kind--) {
        for (size_t i = 0; i < keeper->handles[kind].count && undo[kind] != CALL_KINDS; i++) {
            uint32_t handle = keeper->handles[kind].handle[i];
            DeviceCall call = {
                .kind = undo[kind], .module = handle, .stream = handle, .event = handle};
            engine->execute(engine, &call, reply);
        }
    }
    for (int kind = 0; kind < KINDS; kind++)
        free(keeper->handles[kind].handle);
    free(reply);
    free(keeper->allocation);
    free(keeper->freed);
    free(keeper);
}
