/* Memory allocated and freed by graph nodes.
 *
 * Its address is known when the node is created, and all copies of the graph use the same address.
 * So device memory is allocated with the first node and freed with the last; a launch only notes
 * that it is allocated, and its contents remain. */
#include <stdlib.h>

#include "common/cuda/runtime/runtime_graph.h"

struct RuntimeMemory {
    struct RuntimeMemory *next;
    struct cudaMemAllocNodeParams asked; /* the request, with the address */
    unsigned nodes;                      /* number of nodes that allocate it */
    int is_out;
};

static RuntimeMemory *memories;

/* Bytes, present and maximum: of allocated memory, and of all. */
typedef struct Sums {
    uint64_t out, all;
} Sums;
static Sums most;

static Sums sums_now(void)
{
    Sums sums = {0, 0};
    for (const RuntimeMemory *memory = memories; memory; memory = memory->next) {
        sums.all += memory->asked.bytesize;
        sums.out += memory->is_out ? memory->asked.bytesize : 0;
    }
    if (sums.out > most.out) most.out = sums.out;
    if (sums.all > most.all) most.all = sums.all;
    return sums;
}

static RuntimeMemory *memory_find(const void *pointer)
{
    RuntimeMemory *memory = memories;
    while (memory && memory->asked.dptr != pointer)
        memory = memory->next;
    return memory;
}

/* Frees the device memory if no node can allocate it and the program does not use it. */
static void memory_drop(RuntimeMemory *memory)
{
    if (memory->nodes || memory->is_out) return;
    RuntimeMemory **link = &memories;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    DeviceCall call = {.kind = CALL_FREE, .dst = (uint64_t)(uintptr_t)memory->asked.dptr};
    DeviceReply reply;
    runtime_try(&call, &reply);
    free(memory);
}

void runtime_memory_hold(RuntimeMemory *memory)
{
    memory->nodes++;
}

void runtime_memory_release(RuntimeMemory *memory)
{
    runtime_lock();
    memory->nodes--;
    memory_drop(memory);
    runtime_unlock();
}

/* A node's memory, with one reference; NULL with *status set. */
static RuntimeMemory *memory_new(const char *api, const struct cudaMemAllocNodeParams *asked,
                                 cudaError_t *status)
{
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = asked->bytesize};
    DeviceReply reply;
    RuntimeMemory *memory = NULL;
    if (!asked->bytesize)
        *status = runtime_fail(api, DEVICE_INVALID_VALUE, "0 bytes");
    else if (!(memory = calloc(1, sizeof *memory)))
        *status = runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    else if (runtime_try(&call, &reply) != DEVICE_SUCCESS)
        *status = runtime_fail(api, (DeviceStatus)reply.status, "%s", reply.message);
    else
        *status = cudaSuccess;
    if (*status != cudaSuccess) {
        free(memory);
        return NULL;
    }
    *memory = (RuntimeMemory){.next = memories, .asked = *asked, .nodes = 1};
    memory->asked.dptr = (void *)(uintptr_t)reply.value[0];
    memories = memory;
    return memory;
}

cudaError_t runtime_memory_give(const char *api, RuntimeMemory *memory)
{
    if (memory->is_out)
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "the memory at %p is still out since the last launch: free it first, "
                            "or instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch",
                            memory->asked.dptr);
    memory->is_out = 1;
    sums_now();
    return cudaSuccess;
}

int runtime_memory_take(const char *api, const void *pointer, cudaError_t *status)
{
    runtime_lock();
    RuntimeMemory *memory = memory_find(pointer);
    int is_graphs = memory != NULL;
    *status = cudaSuccess;
    if (is_graphs && !memory->is_out) {
        *status =
            runtime_fail(api, DEVICE_INVALID_VALUE, "no launch of its graph has given it out");
    } else if (is_graphs) {
        memory->is_out = 0;
        memory_drop(memory);
    }
    runtime_unlock();
    return is_graphs;
}

void runtime_memories_take(cudaGraph_t graph)
{
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        if (node->work.type == cudaGraphNodeTypeMemAlloc) node->work.memory->is_out = 0;
}

/* ---- captured ------------------------------------------------------------------------------- */

cudaError_t runtime_capture_malloc(const char *api, uint32_t stream, void **pointer, size_t bytes)
{
    cudaError_t status;
    struct cudaMemAllocNodeParams asked = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice}},
        .bytesize = bytes};
    runtime_lock();
    RuntimeMemory *memory = memory_new(api, &asked, &status);
    if (memory) {
        RuntimeWork work = {.type = cudaGraphNodeTypeMemAlloc, .memory = memory};
        status = runtime_capture(api, stream, &work);
        if (status == cudaSuccess) *pointer = memory->asked.dptr;
        runtime_memory_release(memory);
    }
    runtime_unlock();
    return status;
}

cudaError_t runtime_capture_free(const char *api, uint32_t stream, void *pointer)
{
    return runtime_capture(api, stream,
                           &(RuntimeWork){.type = cudaGraphNodeTypeMemFree, .freed = pointer});
}

/* ---- the calls ------------------------------------------------------------------------------ */

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, size_t predecessors,
                                     struct cudaMemAllocNodeParams *asked)
{
    static const char api[] = "cudaGraphAddMemAllocNode";
    cudaError_t status;
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    runtime_lock();
    RuntimeMemory *memory = memory_new(api, asked, &status);
    if (memory) {
        RuntimeWork work = {.type = cudaGraphNodeTypeMemAlloc, .memory = memory};
        status = runtime_node_add(api, node, graph, before, predecessors, &work);
        if (status == cudaSuccess) asked->dptr = memory->asked.dptr;
        runtime_memory_release(memory);
    }
    runtime_unlock();
    return status;
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           struct cudaMemAllocNodeParams *params)
{
    if (!node || !params || node->work.type != cudaGraphNodeTypeMemAlloc)
        return runtime_fail("cudaGraphMemAllocNodeGetParams", DEVICE_INVALID_VALUE,
                            "no node that allocates");
    *params = node->work.memory->asked;
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *before, size_t predecessors,
                                    void *pointer)
{
    static const char api[] = "cudaGraphAddMemFreeNode";
    if (!pointer) return runtime_fail(api, DEVICE_INVALID_VALUE, "the pointer is NULL");
    RuntimeWork work = {.type = cudaGraphNodeTypeMemFree, .freed = pointer};
    return runtime_node_add(api, node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    if (!node || !pointer || node->work.type != cudaGraphNodeTypeMemFree)
        return runtime_fail("cudaGraphMemFreeNodeGetParams", DEVICE_INVALID_VALUE,
                            "no node that frees");
    *(void **)pointer = node->work.freed;
    return cudaSuccess;
}

static cudaError_t device_check(const char *api, int device)
{
    if (device == 0) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_DEVICE, "device %d: there is only device 0", device);
}

/* Memory that no graph can allocate is never cached. */
cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return device_check("cudaDeviceGraphMemTrim", device);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    static const char api[] = "cudaDeviceGetGraphMemAttribute";
    cudaError_t status = device_check(api, device);
    if (status != cudaSuccess) return status;
    runtime_lock();
    Sums now = sums_now();
    const uint64_t told[] = {[cudaGraphMemAttrUsedMemCurrent] = now.out,
                             [cudaGraphMemAttrUsedMemHigh] = most.out,
                             [cudaGraphMemAttrReservedMemCurrent] = now.all,
                             [cudaGraphMemAttrReservedMemHigh] = most.all};
    runtime_unlock();
    if (!value || (unsigned)attribute >= sizeof told / sizeof *told)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "attribute %d", (int)attribute);
    *(uint64_t *)value = told[attribute];
    return cudaSuccess;
}

/* The maximum can be reset to 0, which sets it to the present value. */
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    static const char api[] = "cudaDeviceSetGraphMemAttribute";
    cudaError_t status = device_check(api, device);
    if (status != cudaSuccess) return status;
    int is_out = attribute == cudaGraphMemAttrUsedMemHigh;
    if (!value || *(uint64_t *)value || (!is_out && attribute != cudaGraphMemAttrReservedMemHigh))
        return runtime_fail(api, DEVICE_INVALID_VALUE, "only the most can be set, to 0");
    runtime_lock();
    *(is_out ? &most.out : &most.all) = 0;
    runtime_unlock();
    return cudaSuccess;
}
