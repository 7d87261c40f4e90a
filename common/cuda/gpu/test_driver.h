/* test_driver.h - the CUDA driver of test_gpu_device.c: it needs no GPU, and records its calls in
 * `fake`. */
#ifndef CONVLAB_COMMON_CUDA_GPU_TEST_DRIVER_H
#define CONVLAB_COMMON_CUDA_GPU_TEST_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/cuda/gpu/gpu_driver.h"

enum { BASE = 0x700000000, NODES = 64, LOG = 4000 };

static struct {
    DriverResult next_sync, next_load; /* statuses that these return */
    size_t limit;
    DriverLaunch launched;
    DriverAttribute attribute[DRIVER_ATTRIBUTES];
    int free_calls, live_contexts;
    DriverAddress next_address, base[64];
    size_t bytes[64];
    int allocations;
    char log[LOG]; /* F flush, < and > events, G graph, one letter per call on the timing stream */
    size_t logged;
    char node[NODES]; /* kernel K, copy C, fill F, empty E */
    char waits[NODES][64];
    int nodes;
    DriverCopyNode copy[NODES];
    DriverFillNode fill[NODES];
    unsigned char sent[NODES][64];
    const float *elapsed; /* milliseconds, one after the other */
    int asked;
    DriverAddress filled;
    size_t filled_words, filled_bytes;
    unsigned char variable[12]; /* contents of the variable `table` */
    int map_pixels;             /* layout of the last tensor map; -1: a tiled one */
} fake;

#define STUB(field, symbol, parameters)                                                            \
    static DriverResult stub_##field parameters                                                    \
    {                                                                                              \
        return DRIVER_SUCCESS;                                                                     \
    }
DRIVER_FUNCTIONS(STUB)
#undef STUB

static void log_add(char letter)
{
    if (fake.logged < LOG - 1) fake.log[fake.logged++] = letter;
}

static DriverResult fake_words(DriverResult result, const char **text)
{
    *text = result == 700 ? "ILLEGAL" : "REFUSED";
    return DRIVER_SUCCESS;
}

static DriverResult fake_count(int *count)
{
    *count = 1;
    return DRIVER_SUCCESS;
}

static DriverResult fake_attribute(int *value, int attribute, DriverOrdinal ordinal)
{
    (void)ordinal;
    *value = attribute == 75   ? 9
             : attribute == 38 ? 1 << 20
             : attribute == 16 ? 4
             : attribute == 1  ? 1024
                               : 2048;
    return DRIVER_SUCCESS;
}

static DriverResult fake_retain(DriverContext *context, DriverOrdinal ordinal)
{
    (void)ordinal;
    fake.live_contexts++;
    *context = (DriverContext)&fake;
    return DRIVER_SUCCESS;
}

static DriverResult fake_release(DriverOrdinal ordinal)
{
    (void)ordinal;
    fake.live_contexts--;
    return DRIVER_SUCCESS;
}

static DriverResult fake_alloc(DriverAddress *address, size_t bytes)
{
    if (bytes > 1u << 30) return 2;
    *address = BASE + fake.next_address;
    fake.next_address += (bytes + 511) / 256 * 256;
    fake.base[fake.allocations] = *address;
    fake.bytes[fake.allocations++] = bytes;
    return DRIVER_SUCCESS;
}

static DriverResult fake_free(DriverAddress address)
{
    (void)address;
    fake.free_calls++;
    return DRIVER_SUCCESS;
}

static int allocation_of(DriverAddress address)
{
    for (int i = 0; i < fake.allocations; i++)
        if (address >= fake.base[i] && address < fake.base[i] + fake.bytes[i]) return i;
    return -1;
}

/* The driver rejects an address that it does not know. */
static DriverResult fake_pointer(void *value, int attribute, DriverAddress address)
{
    if (attribute != DRIVER_POINTER_MEMORY_TYPE || allocation_of(address) < 0)
        return DRIVER_INVALID_VALUE;
    *(int *)value = DRIVER_MEMORY_DEVICE;
    return DRIVER_SUCCESS;
}

static DriverResult fake_range(DriverAddress *base, size_t *bytes, DriverAddress address)
{
    int i = allocation_of(address);
    *base = fake.base[i];
    *bytes = fake.bytes[i];
    return DRIVER_SUCCESS;
}

static DriverResult fake_host_alloc(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return DRIVER_SUCCESS;
}

static DriverResult fake_host_free(void *memory)
{
    free(memory);
    return DRIVER_SUCCESS;
}

static DriverResult fake_limit_set(int limit, size_t bytes)
{
    if (limit != DEVICE_LIMIT_STACK && limit != DEVICE_LIMIT_HEAP) return DRIVER_INVALID_VALUE;
    fake.limit = bytes;
    return DRIVER_SUCCESS;
}

/* Rounds a stack size up, as a GPU does. */
static DriverResult fake_limit_get(size_t *bytes, int limit)
{
    *bytes = limit == DEVICE_LIMIT_STACK ? (fake.limit + 15) / 16 * 16 : fake.limit;
    return DRIVER_SUCCESS;
}

static DriverResult fake_sync(void)
{
    return fake.next_sync;
}

static DriverResult fake_fill_bytes(DriverAddress at, unsigned char byte, size_t n, DriverStream s)
{
    (void)at;
    (void)byte;
    (void)s;
    fake.filled_bytes += n;
    return DRIVER_SUCCESS;
}

static DriverResult fake_fill_words(DriverAddress at, unsigned word, size_t n, DriverStream s)
{
    (void)word;
    (void)s;
    fake.filled = at;
    fake.filled_words += n;
    return DRIVER_SUCCESS;
}

static DriverResult fake_load(DriverModule *module, const void *image, unsigned options,
                              const int *option, void **value)
{
    if (options && option[0] == DRIVER_JIT_ERROR_LOG && fake.next_load)
        strcpy(value[0], "line 4: what is this\nand more");
    *module = (DriverModule)(uintptr_t)image;
    return fake.next_load;
}

static DriverResult fake_function(DriverFunction *function, DriverModule module, const char *name)
{
    (void)module;
    if (!strcmp(name, "absent")) return DRIVER_NOT_FOUND;
    *function = (DriverFunction)&fake;
    return DRIVER_SUCCESS;
}

static DriverResult fake_variable(DriverAddress *address, size_t *bytes, DriverModule module,
                                  const char *name)
{
    (void)module;
    *address = BASE - 4096;
    *bytes = 12;
    return strcmp(name, "table") ? DRIVER_NOT_FOUND : DRIVER_SUCCESS;
}

enum { TABLE_AT = BASE - 4096 };

static DriverResult fake_copy_out(void *to, DriverAddress from, size_t bytes, DriverStream stream)
{
    (void)stream;
    if (from == TABLE_AT) memcpy(to, fake.variable, bytes);
    return DRIVER_SUCCESS;
}

static DriverResult fake_copy_in(DriverAddress to, const void *from, size_t bytes,
                                 DriverStream stream)
{
    (void)stream;
    if (to == TABLE_AT) memcpy(fake.variable, from, bytes);
    return DRIVER_SUCCESS;
}

static DriverResult fake_function_attribute(int *value, int attribute, DriverFunction function)
{
    (void)function;
    *value = attribute == 4 ? 40 : attribute == 0 ? 640 : attribute == 8 ? 48 << 10 : 0;
    return DRIVER_SUCCESS;
}

/* Parameters of (uint64_t, char, double). */
static DriverResult fake_param(DriverFunction function, size_t index, size_t *offset, size_t *bytes)
{
    static const size_t at[] = {0, 8, 16}, size[] = {8, 1, 8};
    (void)function;
    if (index >= 3) return DRIVER_INVALID_VALUE;
    *offset = at[index];
    *bytes = size[index];
    return DRIVER_SUCCESS;
}

static DriverResult fake_launch(DriverFunction f, unsigned gx, unsigned gy, unsigned gz,
                                unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                DriverStream stream, void **parameters, void **extra)
{
    (void)f, (void)gx, (void)gy, (void)gz, (void)stream, (void)extra, (void)shared;
    if (parameters) log_add('F');
    return bx * by * bz > 640 ? 701 : DRIVER_SUCCESS;
}

static DriverResult fake_launch_with(const DriverLaunch *launch, DriverFunction f,
                                     void **parameters, void **extra)
{
    (void)f, (void)parameters, (void)extra;
    fake.launched = *launch;
    memcpy(fake.attribute, launch->attribute, launch->attributes * sizeof *fake.attribute);
    return launch->block[0] * launch->block[1] * launch->block[2] > 640 ? 701 : DRIVER_SUCCESS;
}

static DriverResult fake_node_attribute(DriverNode node, int id, const DriverAttributeValue *value)
{
    (void)node;
    fake.attribute[0].id = id;
    fake.attribute[0].value = *value;
    return DRIVER_SUCCESS;
}

static DriverResult fake_occupancy(int *blocks, DriverFunction f, int threads, size_t shared)
{
    (void)f, (void)shared;
    *blocks = 2048 / threads;
    return DRIVER_SUCCESS;
}

static DriverResult fake_stream(DriverStream *stream, unsigned flags)
{
    static char streams[64];
    static int count;
    (void)flags;
    *stream = (DriverStream)&streams[count++ % 64];
    return DRIVER_SUCCESS;
}

static DriverResult fake_event(DriverEvent *event, unsigned flags)
{
    static char events[2];
    static int count;
    (void)flags;
    *event = (DriverEvent)&events[count++ % 2]; /* timing[i][0] and timing[i][1] */
    return DRIVER_SUCCESS;
}

static DriverEvent first_event;

static DriverResult fake_record(DriverEvent event, DriverStream stream)
{
    (void)stream;
    if (!first_event) first_event = event;
    log_add(event == first_event ? '<' : '>');
    return DRIVER_SUCCESS;
}

static DriverResult fake_elapsed(float *milliseconds, DriverEvent start, DriverEvent end)
{
    (void)start, (void)end;
    *milliseconds = fake.elapsed ? fake.elapsed[fake.asked++] : 1;
    return DRIVER_SUCCESS;
}

static DriverResult node_new(DriverNode *node, char kind, const DriverNode *after, size_t waits)
{
    char *text = fake.waits[fake.nodes];
    for (size_t i = 0; i < waits; i++)
        text += sprintf(text, "%s%d", i ? "," : "", (int)(uintptr_t)after[i] - 1);
    fake.node[fake.nodes++] = kind;
    *node = (DriverNode)(uintptr_t)fake.nodes;
    return DRIVER_SUCCESS;
}

static DriverResult fake_graph(DriverGraph *graph, unsigned flags)
{
    (void)flags;
    *graph = (DriverGraph)&fake;
    return DRIVER_SUCCESS;
}

static DriverResult fake_node_kernel(DriverNode *node, DriverGraph graph, const DriverNode *after,
                                     size_t waits, const DriverKernelNode *kernel)
{
    (void)graph;
    size_t bytes = *(size_t *)kernel->extra[3];
    memcpy(fake.sent[fake.nodes], kernel->extra[1], bytes);
    return node_new(node, 'K', after, waits);
}

static DriverResult fake_node_copy(DriverNode *node, DriverGraph graph, const DriverNode *after,
                                   size_t waits, const DriverCopyNode *copy, DriverContext context)
{
    (void)graph, (void)context;
    fake.copy[fake.nodes] = *copy;
    if (copy->source.host) memcpy(fake.sent[fake.nodes], copy->source.host, copy->width_bytes);
    return node_new(node, 'C', after, waits);
}

static DriverResult fake_node_fill(DriverNode *node, DriverGraph graph, const DriverNode *after,
                                   size_t waits, const DriverFillNode *fill, DriverContext context)
{
    (void)graph, (void)context;
    fake.fill[fake.nodes] = *fill;
    return node_new(node, 'F', after, waits);
}

static DriverResult fake_graph_launch(DriverGraphExec exec, DriverStream stream)
{
    (void)exec, (void)stream;
    log_add('G');
    return DRIVER_SUCCESS;
}

static DriverResult fake_tiled(void *map, int type, unsigned rank, void *address,
                               const uint64_t *dims, const uint64_t *strides, const unsigned *box,
                               const unsigned *steps, int interleave, int swizzle, int promotion,
                               int fill)
{
    (void)address, (void)dims, (void)strides, (void)steps, (void)interleave, (void)swizzle;
    (void)promotion, (void)fill;
    if (rank > 5) return DRIVER_INVALID_VALUE;
    fake.map_pixels = -1;
    memset(map, type + (int)box[1], TENSOR_MAP_BYTES);
    return DRIVER_SUCCESS;
}

static DriverResult fake_im2col(void *map, int type, unsigned rank, void *address,
                                const uint64_t *dims, const uint64_t *strides, const int *lower,
                                const int *upper, unsigned channels, unsigned pixels,
                                const unsigned *steps, int interleave, int swizzle, int promotion,
                                int fill)
{
    (void)address, (void)dims, (void)strides, (void)steps, (void)interleave, (void)promotion;
    fake.map_pixels = (int)pixels;
    memset(map, type + (int)rank + lower[1] + upper[0] + (int)channels + swizzle + fill,
           TENSOR_MAP_BYTES);
    return DRIVER_SUCCESS;
}

static GpuDriver fake_driver(void)
{
#define FIELD(field, symbol, parameters) .field = stub_##field,
    GpuDriver d = {DRIVER_FUNCTIONS(FIELD)};
#undef FIELD
    d.error_name = d.error_text = fake_words;
    d.device_count = fake_count;
    d.device_attribute = fake_attribute;
    d.context_retain = fake_retain;
    d.context_release = fake_release;
    d.context_sync = fake_sync;
    d.limit_set = fake_limit_set;
    d.limit_get = fake_limit_get;
    d.memory_alloc = fake_alloc;
    d.memory_free = fake_free;
    d.memory_range = fake_range;
    d.pointer_attribute = fake_pointer;
    d.host_alloc = fake_host_alloc;
    d.host_free = fake_host_free;
    d.fill_bytes = fake_fill_bytes;
    d.fill_words = fake_fill_words;
    d.module_load = fake_load;
    d.module_function = fake_function;
    d.module_variable = fake_variable;
    d.copy_in = fake_copy_in;
    d.copy_out = fake_copy_out;
    d.function_attribute = fake_function_attribute;
    d.function_param = fake_param;
    d.launch = fake_launch;
    d.launch_with = fake_launch_with;
    d.graph_kernel_attribute = fake_node_attribute;
    d.tensor_tiled = fake_tiled;
    d.tensor_im2col = fake_im2col;
    d.occupancy = fake_occupancy;
    d.stream_create = fake_stream;
    d.event_create = fake_event;
    d.event_record = fake_record;
    d.event_elapsed = fake_elapsed;
    d.graph_create = fake_graph;
    d.graph_kernel = fake_node_kernel;
    d.graph_copy = fake_node_copy;
    d.graph_fill = fake_node_fill;
    d.graph_launch = fake_graph_launch;
    return d;
}

#endif
