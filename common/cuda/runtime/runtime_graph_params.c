/* Parameters of graph nodes: queries, changes, and the generic creation of nodes. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

static cudaError_t node_check(const char *api, cudaGraphNode_t node, enum cudaGraphNodeType type,
                              const void *params)
{
    if (node && params && node->work.type == type) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "no node of that kind, or no parameters");
}

/* ---- copies --------------------------------------------------------------------------------- */

/* A copy of zero bytes has no pitch. */
static struct cudaPitchedPtr side_of(const void *pointer, size_t pitch, size_t slice, size_t width)
{
    return (struct cudaPitchedPtr){(void *)(uintptr_t)pointer, pitch, width,
                                   pitch ? slice / pitch : 0};
}

/* An array is returned as its memory. */
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    cudaError_t status =
        node_check("cudaGraphMemcpyNodeGetParams", node, cudaGraphNodeTypeMemcpy, params);
    if (status != cudaSuccess) return status;
    const RuntimeCopy *copy = &node->work.copy;
    *params = (struct cudaMemcpy3DParms){
        .srcPtr = side_of(copy->src, copy->src_pitch, copy->src_slice, copy->width),
        .dstPtr = side_of(copy->dst, copy->dst_pitch, copy->dst_slice, copy->width),
        .extent = {copy->width, copy->height, copy->depth},
        .kind = copy->kind};
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *asked)
{
    static const char api[] = "cudaGraphMemcpyNodeSetParams";
    RuntimeWork work = {.type = cudaGraphNodeTypeMemcpy};
    cudaError_t status = runtime_copy_of(api, asked, &work.copy);
    return status == cudaSuccess ? runtime_node_set(api, node, &work) : status;
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *before, size_t predecessors,
                                           const void *symbol, const void *src, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    void *dst;
    cudaError_t status =
        runtime_symbol_range("cudaGraphAddMemcpyNodeToSymbol", symbol, bytes, offset, &dst);
    return status == cudaSuccess
               ? cudaGraphAddMemcpyNode1D(node, graph, before, predecessors, dst, src, bytes, kind)
               : status;
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *before, size_t predecessors,
                                             void *dst, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind)
{
    void *src;
    cudaError_t status =
        runtime_symbol_range("cudaGraphAddMemcpyNodeFromSymbol", symbol, bytes, offset, &src);
    return status == cudaSuccess
               ? cudaGraphAddMemcpyNode1D(node, graph, before, predecessors, dst, src, bytes, kind)
               : status;
}

/* ---- fills, host functions, events, graphs -------------------------------------------------- */

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
    cudaError_t status =
        node_check("cudaGraphMemsetNodeGetParams", node, cudaGraphNodeTypeMemset, params);
    if (status != cudaSuccess) return status;
    const RuntimeFill *fill = &node->work.fill;
    *params = (struct cudaMemsetParams){.dst = fill->dst,
                                        .pitch = fill->pitch,
                                        .value = fill->value,
                                        .elementSize = fill->element,
                                        .width = fill->width,
                                        .height = fill->height};
    return cudaSuccess;
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
    cudaError_t status =
        node_check("cudaGraphHostNodeGetParams", node, cudaGraphNodeTypeHost, params);
    if (status == cudaSuccess) *params = node->work.host;
    return status;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *asked)
{
    static const char api[] = "cudaGraphHostNodeSetParams";
    if (!asked || !asked->fn) return runtime_fail(api, DEVICE_INVALID_VALUE, "no function");
    RuntimeWork work = {.type = cudaGraphNodeTypeHost, .host = *asked};
    return runtime_node_set(api, node, &work);
}

static cudaError_t event_get(const char *api, cudaGraphNode_t node, enum cudaGraphNodeType type,
                             cudaEvent_t *event)
{
    cudaError_t status = node_check(api, node, type, event);
    if (status == cudaSuccess) *event = node->work.event;
    return status;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return event_get("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return event_get("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RuntimeWork work = {.type = cudaGraphNodeTypeEventRecord, .event = event};
    return runtime_node_set("cudaGraphEventRecordNodeSetEvent", node, &work);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RuntimeWork work = {.type = cudaGraphNodeTypeWaitEvent, .event = event};
    return runtime_node_set("cudaGraphEventWaitNodeSetEvent", node, &work);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    cudaError_t status =
        node_check("cudaGraphChildGraphNodeGetGraph", node, cudaGraphNodeTypeGraph, child);
    if (status == cudaSuccess) *child = node->work.child;
    return status;
}

/* ---- nodes of any kind ---------------------------------------------------------------------- */

static struct cudaKernelNodeParams kernel_params(const struct cudaGraphNodeParams *asked)
{
    return (struct cudaKernelNodeParams){.func = asked->kernel.func,
                                         .gridDim = asked->kernel.gridDim,
                                         .blockDim = asked->kernel.blockDim,
                                         .sharedMemBytes = asked->kernel.sharedMemBytes,
                                         .kernelParams = asked->kernel.kernelParams,
                                         .extra = asked->kernel.extra};
}

static struct cudaMemsetParams fill_params(const struct cudaGraphNodeParams *asked)
{
    return (struct cudaMemsetParams){.dst = asked->memset.dst,
                                     .pitch = asked->memset.pitch,
                                     .value = asked->memset.value,
                                     .elementSize = asked->memset.elementSize,
                                     .width = asked->memset.width,
                                     .height = asked->memset.height};
}

static cudaError_t kind_refuse(const char *api, enum cudaGraphNodeType type)
{
    return runtime_fail(api, DEVICE_NOT_SUPPORTED,
                        "nodes of kind %d (13 is a condition, 8 and 9 semaphores) are not "
                        "supported; docs/simulator/cuda-calls.md lists those that are",
                        (int)type);
}

static cudaError_t alloc_add_any(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, size_t predecessors,
                                 struct cudaMemAllocNodeParamsV2 *asked)
{
    struct cudaMemAllocNodeParams params = {.poolProps = asked->poolProps,
                                            .accessDescs = asked->accessDescs,
                                            .accessDescCount = asked->accessDescCount,
                                            .bytesize = asked->bytesize};
    cudaError_t status = cudaGraphAddMemAllocNode(node, graph, before, predecessors, &params);
    asked->dptr = params.dptr;
    return status;
}

static cudaError_t node_add_any(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *before, size_t predecessors,
                                struct cudaGraphNodeParams *asked)
{
    static const char api[] = "cudaGraphAddNode";
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    struct cudaKernelNodeParams kernel = kernel_params(asked);
    struct cudaMemsetParams fill = fill_params(asked);
    switch (asked->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(node, graph, before, predecessors, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, before, predecessors, &asked->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphAddMemsetNode(node, graph, before, predecessors, &fill);
    case cudaGraphNodeTypeHost:
        return cudaGraphAddHostNode(
            node, graph, before, predecessors,
            &(struct cudaHostNodeParams){asked->host.fn, asked->host.userData});
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, before, predecessors, asked->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, before, predecessors);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, before, predecessors,
                                           asked->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, before, predecessors, asked->eventWait.event);
    case cudaGraphNodeTypeMemAlloc:
        return alloc_add_any(node, graph, before, predecessors, &asked->alloc);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, before, predecessors, asked->free.dptr);
    default:
        return kind_refuse(api, asked->type);
    }
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                             size_t predecessors, struct cudaGraphNodeParams *asked)
{
    (void)data;
    return node_add_any(node, graph, before, predecessors, asked);
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, size_t predecessors,
                             struct cudaGraphNodeParams *asked)
{
    return node_add_any(node, graph, before, predecessors, asked);
}
#endif

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *asked)
{
    static const char api[] = "cudaGraphNodeSetParams";
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    struct cudaKernelNodeParams kernel = kernel_params(asked);
    struct cudaMemsetParams fill = fill_params(asked);
    switch (asked->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphKernelNodeSetParams(node, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &asked->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphMemsetNodeSetParams(node, &fill);
    case cudaGraphNodeTypeHost:
        return cudaGraphHostNodeSetParams(
            node, &(struct cudaHostNodeParams){asked->host.fn, asked->host.userData});
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, asked->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, asked->eventWait.event);
    default:
        return kind_refuse(api, asked->type);
    }
}

/* ---- in an executable graph ----------------------------------------------------------------- */

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                       struct cudaGraphNodeParams *asked)
{
    cudaGraphNode_t node;
    cudaError_t status = runtime_exec_node("cudaGraphExecNodeSetParams", exec, original, &node);
    return status == cudaSuccess ? cudaGraphNodeSetParams(node, asked) : status;
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                             const struct cudaMemcpy3DParms *asked)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecMemcpyNodeSetParams", exec, original, &node);
    return status == cudaSuccess ? cudaGraphMemcpyNodeSetParams(node, asked) : status;
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                           const struct cudaHostNodeParams *asked)
{
    cudaGraphNode_t node;
    cudaError_t status = runtime_exec_node("cudaGraphExecHostNodeSetParams", exec, original, &node);
    return status == cudaSuccess ? cudaGraphHostNodeSetParams(node, asked) : status;
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t original,
                                                 cudaEvent_t event)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecEventRecordNodeSetEvent", exec, original, &node);
    return status == cudaSuccess ? cudaGraphEventRecordNodeSetEvent(node, event) : status;
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t original,
                                               cudaEvent_t event)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecEventWaitNodeSetEvent", exec, original, &node);
    return status == cudaSuccess ? cudaGraphEventWaitNodeSetEvent(node, event) : status;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                    unsigned int *enabled)
{
    static const char api[] = "cudaGraphNodeGetEnabled";
    cudaGraphNode_t node;
    cudaError_t status = runtime_exec_node(api, exec, original, &node);
    if (status == cudaSuccess && !enabled)
        status = runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (status == cudaSuccess) *enabled = !node->disabled;
    return status;
}
