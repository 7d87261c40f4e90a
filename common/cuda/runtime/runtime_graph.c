/* Graphs and their nodes: creation, changes, queries, copies. */
#include "common/cuda/runtime/runtime_graph.h"

#include <stdlib.h>
#include <string.h>

static cudaGraph_t graphs;

/* ---- work of a node ------------------------------------------------------------------------- */

static void work_free(RuntimeWork *work)
{
    if (work->type == cudaGraphNodeTypeKernel) free(work->launch.arguments);
    if (work->type == cudaGraphNodeTypeGraph) runtime_graph_free(work->child);
    if (work->type == cudaGraphNodeTypeMemAlloc) runtime_memory_release(work->memory);
}

/* Copies the values of a launch's arguments into one block, after the pointers to them. */
static cudaError_t arguments_copy(const char *api, const RuntimeLaunch *from, RuntimeLaunch *to)
{
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, from->host, &function);
    if (status != cudaSuccess) return status;
    const FunctionInfo *info = &function->info;
    if (info->param_count && !from->arguments)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%s takes %u arguments, got none",
                            function->name, info->param_count);
    size_t pointers = info->param_count * sizeof(void *);
    to->arguments = calloc(1, pointers + info->params_bytes + 1);
    if (!to->arguments) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    for (uint32_t i = 0; i < info->param_count; i++) {
        to->arguments[i] = (char *)to->arguments + pointers + info->param_offset[i];
        memcpy(to->arguments[i], from->arguments[i], info->param_bytes[i]);
    }
    return cudaSuccess;
}

static cudaError_t work_copy(const char *api, const RuntimeWork *from, RuntimeWork *to)
{
    *to = *from;
    if (from->type == cudaGraphNodeTypeKernel)
        return arguments_copy(api, &from->launch, &to->launch);
    if (from->type == cudaGraphNodeTypeGraph)
        return runtime_graph_copy(api, from->child, &to->child);
    if (from->type == cudaGraphNodeTypeMemAlloc) runtime_memory_hold(from->memory);
    return cudaSuccess;
}

cudaError_t runtime_node_set(const char *api, cudaGraphNode_t node, const RuntimeWork *work)
{
    RuntimeWork made;
    if (!node || node->work.type != work->type)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "this node does something else");
    cudaError_t status = work_copy(api, work, &made);
    if (status != cudaSuccess) return status;
    work_free(&node->work);
    node->work = made;
    return cudaSuccess;
}

/* ---- graphs --------------------------------------------------------------------------------- */

int runtime_graph_is_live(cudaGraph_t graph)
{
    runtime_lock();
    cudaGraph_t at = graphs;
    while (at && at != graph)
        at = at->next;
    runtime_unlock();
    return at != NULL;
}

cudaGraph_t runtime_graph_new(void)
{
    cudaGraph_t graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    runtime_lock();
    graph->next = graphs;
    graphs = graph;
    runtime_unlock();
    return graph;
}

void runtime_node_free(cudaGraphNode_t node)
{
    work_free(&node->work);
    free(node->before);
    free(node);
}

void runtime_graph_free(cudaGraph_t graph)
{
    runtime_lock();
    for (cudaGraph_t *link = &graphs; *link; link = &(*link)->next)
        if (*link == graph) {
            *link = graph->next;
            break;
        }
    runtime_unlock();
    while (graph->first) {
        cudaGraphNode_t node = graph->first;
        graph->first = node->next;
        runtime_node_free(node);
    }
    runtime_objects_release(graph);
    free(graph);
}

cudaGraphNode_t runtime_graph_add(const char *api, cudaGraph_t graph, const RuntimeWork *work,
                                  const cudaGraphNode_t *before, size_t predecessors,
                                  cudaError_t *status)
{
    RuntimeWork made;
    for (size_t i = 0; i < predecessors; i++)
        if (!before || !before[i] || before[i]->graph != graph) {
            *status = runtime_fail(api, DEVICE_INVALID_VALUE, "dependency %zu is no node of it", i);
            return NULL;
        }
    *status = work_copy(api, work, &made);
    if (*status != cudaSuccess) return NULL;
    cudaGraphNode_t node = calloc(1, sizeof *node);
    if (!node || runtime_edges_add(node, before, predecessors)) {
        work_free(&made);
        free(node);
        *status = runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
        return NULL;
    }
    node->graph = graph;
    node->work = made;
    *(graph->last ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    return node;
}

cudaError_t runtime_graph_copy(const char *api, cudaGraph_t graph, cudaGraph_t *copy)
{
    cudaError_t status = cudaSuccess;
    cudaGraph_t made = runtime_graph_new();
    if (!made) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    for (cudaGraphNode_t from = graph->first; from && status == cudaSuccess; from = from->next) {
        from->copy = runtime_graph_add(api, made, &from->work, NULL, 0, &status);
        if (!from->copy) break;
        from->copy->original = from;
        from->copy->disabled = from->disabled;
    }
    for (cudaGraphNode_t from = graph->first; from && status == cudaSuccess; from = from->next)
        for (size_t i = 0; i < from->predecessors && status == cudaSuccess; i++)
            if (runtime_edges_add(from->copy, &from->before[i]->copy, 1))
                status = runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    if (status == cudaSuccess && runtime_objects_copy(made, graph))
        status = runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    if (status != cudaSuccess) {
        runtime_graph_free(made);
        return status;
    }
    *copy = made;
    return cudaSuccess;
}

static int node_is_ready(cudaGraphNode_t node)
{
    for (size_t i = 0; i < node->predecessors; i++)
        if (!node->before[i]->placed) return 0;
    return 1;
}

/* Repeatedly takes the nodes without remaining predecessors; nodes are mostly created in such an
 * order. */
cudaError_t runtime_graph_sort(const char *api, cudaGraph_t graph)
{
    cudaGraphNode_t first = NULL, *end = &first;
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        node->placed = 0;
    for (int moved = 1; moved && graph->first;) {
        moved = 0;
        for (cudaGraphNode_t *link = &graph->first; *link;) {
            cudaGraphNode_t node = *link;
            if (!node_is_ready(node)) {
                link = &node->next;
                continue;
            }
            node->placed = moved = 1;
            *link = node->next;
            node->next = NULL;
            *end = node;
            end = &node->next;
            graph->last = node;
        }
    }
    cudaGraphNode_t circle = graph->first;
    *end = circle;
    graph->first = first;
    if (circle) return runtime_fail(api, DEVICE_INVALID_VALUE, "nodes wait for one another");
    cudaError_t status = cudaSuccess;
    for (cudaGraphNode_t node = first; node && status == cudaSuccess; node = node->next)
        if (node->work.type == cudaGraphNodeTypeGraph)
            status = runtime_graph_sort(api, node->work.child);
    return status;
}

/* ---- the calls ------------------------------------------------------------------------------ */

cudaError_t runtime_graph_check(const char *api, cudaGraph_t graph)
{
    if (runtime_graph_is_live(graph)) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no graph", (void *)graph);
}

cudaError_t runtime_node_add(const char *api, cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, size_t predecessors,
                             const RuntimeWork *work)
{
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    if (!node) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    runtime_lock();
    *node = runtime_graph_add(api, graph, work, before, predecessors, &status);
    runtime_unlock();
    return status;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    if (!graph || flags)
        return runtime_fail("cudaGraphCreate", DEVICE_INVALID_VALUE, "flags %u", flags);
    *graph = runtime_graph_new();
    if (*graph) return cudaSuccess;
    return runtime_fail("cudaGraphCreate", DEVICE_UNKNOWN, "out of host memory");
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t status = runtime_graph_check("cudaGraphDestroy", graph);
    if (status == cudaSuccess) runtime_graph_free(graph);
    return status;
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    static const char api[] = "cudaGraphClone";
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    if (!clone) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    runtime_lock();
    status = runtime_graph_copy(api, graph, clone);
    runtime_unlock();
    return status;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    static const char api[] = "cudaGraphNodeFindInClone";
    cudaError_t status = runtime_graph_check(api, clone);
    if (status != cudaSuccess) return status;
    for (cudaGraphNode_t node = clone->first; node && found; node = node->next)
        if (node->original == original) {
            *found = node;
            return cudaSuccess;
        }
    return runtime_fail(api, DEVICE_INVALID_VALUE, "no node of the clone comes from this one");
}

static RuntimeWork launch_work(const struct cudaKernelNodeParams *asked)
{
    return (RuntimeWork){.type = cudaGraphNodeTypeKernel,
                         .launch = {.host = asked->func,
                                    .grid = asked->gridDim,
                                    .block = asked->blockDim,
                                    .shared_bytes = asked->sharedMemBytes,
                                    .arguments = asked->kernelParams}};
}

static cudaError_t launch_params_check(const char *api, const struct cudaKernelNodeParams *asked)
{
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    if (!asked->extra) return cudaSuccess;
    return runtime_fail(api, DEVICE_NOT_SUPPORTED, "parameters by `extra` are not supported");
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, size_t predecessors,
                                   const struct cudaKernelNodeParams *asked)
{
    static const char api[] = "cudaGraphAddKernelNode";
    cudaError_t status = launch_params_check(api, asked);
    if (status != cudaSuccess) return status;
    RuntimeWork work = launch_work(asked);
    return runtime_node_add(api, node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    if (!node || !params || node->work.type != cudaGraphNodeTypeKernel)
        return runtime_fail("cudaGraphKernelNodeGetParams", DEVICE_INVALID_VALUE, "no kernel node");
    const RuntimeLaunch *launch = &node->work.launch;
    *params = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)launch->host,
                                            .gridDim = launch->grid,
                                            .blockDim = launch->block,
                                            .sharedMemBytes = (unsigned)launch->shared_bytes,
                                            .kernelParams = launch->arguments};
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *asked)
{
    static const char api[] = "cudaGraphKernelNodeSetParams";
    cudaError_t status = launch_params_check(api, asked);
    if (status != cudaSuccess) return status;
    RuntimeWork work = launch_work(asked);
    return runtime_node_set(api, node, &work);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, size_t predecessors,
                                   const struct cudaMemcpy3DParms *asked)
{
    static const char api[] = "cudaGraphAddMemcpyNode";
    RuntimeWork work = {.type = cudaGraphNodeTypeMemcpy};
    cudaError_t status = runtime_copy_of(api, asked, &work.copy);
    return status == cudaSuccess ? runtime_node_add(api, node, graph, before, predecessors, &work)
                                 : status;
}

static RuntimeWork line_work(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    return (RuntimeWork){.type = cudaGraphNodeTypeMemcpy,
                         .copy = {dst, src, bytes, bytes, bytes, bytes, bytes, 1, 1, kind}};
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, size_t predecessors, void *dst,
                                     const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    RuntimeWork work = line_work(dst, src, bytes, kind);
    return runtime_node_add("cudaGraphAddMemcpyNode1D", node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                           size_t bytes, enum cudaMemcpyKind kind)
{
    RuntimeWork work = line_work(dst, src, bytes, kind);
    return runtime_node_set("cudaGraphMemcpyNodeSetParams1D", node, &work);
}

static cudaError_t fill_work(const char *api, const struct cudaMemsetParams *asked,
                             RuntimeWork *work)
{
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    unsigned element = asked->elementSize;
    if (element != 1 && element != 2 && element != 4)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "elements of %u bytes", element);
    unsigned value = element == 4 ? asked->value : asked->value & ((1u << 8 * element) - 1);
    *work = (RuntimeWork){
        .type = cudaGraphNodeTypeMemset,
        .fill = {asked->dst, asked->pitch, value, element, asked->width, asked->height}};
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, size_t predecessors,
                                   const struct cudaMemsetParams *asked)
{
    static const char api[] = "cudaGraphAddMemsetNode";
    RuntimeWork work;
    cudaError_t status = fill_work(api, asked, &work);
    return status == cudaSuccess ? runtime_node_add(api, node, graph, before, predecessors, &work)
                                 : status;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *asked)
{
    static const char api[] = "cudaGraphMemsetNodeSetParams";
    RuntimeWork work;
    cudaError_t status = fill_work(api, asked, &work);
    return status == cudaSuccess ? runtime_node_set(api, node, &work) : status;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, size_t predecessors,
                                 const struct cudaHostNodeParams *asked)
{
    static const char api[] = "cudaGraphAddHostNode";
    if (!asked || !asked->fn) return runtime_fail(api, DEVICE_INVALID_VALUE, "no function");
    RuntimeWork work = {.type = cudaGraphNodeTypeHost, .host = *asked};
    return runtime_node_add(api, node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *before, size_t predecessors)
{
    RuntimeWork work = {.type = cudaGraphNodeTypeEmpty};
    return runtime_node_add("cudaGraphAddEmptyNode", node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *before, size_t predecessors,
                                        cudaEvent_t event)
{
    RuntimeWork work = {.type = cudaGraphNodeTypeEventRecord, .event = event};
    return runtime_node_add("cudaGraphAddEventRecordNode", node, graph, before, predecessors,
                            &work);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *before, size_t predecessors,
                                      cudaEvent_t event)
{
    RuntimeWork work = {.type = cudaGraphNodeTypeWaitEvent, .event = event};
    return runtime_node_add("cudaGraphAddEventWaitNode", node, graph, before, predecessors, &work);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *before, size_t predecessors,
                                       cudaGraph_t child)
{
    static const char api[] = "cudaGraphAddChildGraphNode";
    RuntimeWork work = {.type = cudaGraphNodeTypeGraph, .child = child};
    cudaError_t status = runtime_graph_check(api, child);
    return status == cudaSuccess ? runtime_node_add(api, node, graph, before, predecessors, &work)
                                 : status;
}

/* ---- lists ---- */

/* Fills `nodes`, or only counts if it is NULL, like CUDA's lists. */
static cudaError_t nodes_list(const char *api, cudaGraph_t graph, int roots_only,
                              cudaGraphNode_t *nodes, size_t *count)
{
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    if (!count) return runtime_fail(api, DEVICE_INVALID_VALUE, "the count is NULL");
    size_t found = 0, room = nodes ? *count : 0;
    for (cudaGraphNode_t node = graph->first; node; node = node->next) {
        if (roots_only && node->predecessors) continue;
        if (found < room) nodes[found] = node;
        found++;
    }
    for (size_t i = found; i < room; i++)
        nodes[i] = NULL;
    *count = nodes && found > room ? room : found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return nodes_list("cudaGraphGetNodes", graph, 0, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return nodes_list("cudaGraphGetRootNodes", graph, 1, nodes, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return runtime_fail("cudaGraphNodeGetType", DEVICE_INVALID_VALUE, "no node");
    *type = node->work.type;
    return cudaSuccess;
}
