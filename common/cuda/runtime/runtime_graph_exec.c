/* Executable graphs: sorted copies of graphs that can be launched repeatedly. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    cudaGraph_t graph; /* its own copy */
    RuntimeBranches *branches;
    unsigned long long flags;
};

static cudaGraphExec_t executables;

static cudaError_t exec_check(const char *api, cudaGraphExec_t wanted)
{
    runtime_lock();
    cudaGraphExec_t exec = executables;
    while (exec && exec != wanted)
        exec = exec->next;
    runtime_unlock();
    if (exec) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no executable graph", (void *)wanted);
}

/* ---- creation and destruction --------------------------------------------------------------- */

static cudaError_t copy_sorted(const char *api, cudaGraph_t graph, cudaGraph_t *copy)
{
    if (!runtime_graph_is_live(graph))
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%p is no graph", (void *)graph);
    runtime_lock();
    cudaError_t status = runtime_graph_copy(api, graph, copy);
    if (status == cudaSuccess) {
        status = runtime_graph_sort(api, *copy);
        if (status != cudaSuccess) runtime_graph_free(*copy);
    }
    runtime_unlock();
    return status;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                          unsigned long long flags)
{
    static const char api[] = "cudaGraphInstantiate";
    if (!made) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "kernels cannot launch graphs here");
    cudaGraphExec_t exec = calloc(1, sizeof *exec);
    RuntimeBranches *branches = exec ? runtime_branches_new() : NULL;
    cudaError_t status = branches ? copy_sorted(api, graph, &exec->graph)
                                  : runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    if (status != cudaSuccess) {
        free(branches);
        free(exec);
        return status;
    }
    exec->branches = branches;
    exec->flags = flags;
    runtime_lock();
    exec->next = executables;
    executables = exec;
    runtime_unlock();
    *made = exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(made, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *made, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params)
{
    if (!params)
        return runtime_fail("cudaGraphInstantiate", DEVICE_INVALID_VALUE, "params is NULL");
    cudaError_t status = cudaGraphInstantiateWithFlags(made, graph, params->flags);
    params->result_out =
        status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    params->errNode_out = NULL;
    return status;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t status = exec_check("cudaGraphExecDestroy", exec);
    if (status != cudaSuccess) return status;
    runtime_lock();
    cudaGraphExec_t *link = &executables;
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    runtime_graph_free(exec->graph);
    runtime_unlock();
    runtime_branches_free(exec->branches);
    free(exec);
    return cudaSuccess;
}

/* ---- launch --------------------------------------------------------------------------------- */

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    static const char api[] = "cudaGraphLaunch";
    uint32_t handle;
    cudaError_t status = exec_check(api, exec);
    if (status == cudaSuccess) status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (runtime_is_capturing(handle))
        return runtime_capture(
            api, handle, &(RuntimeWork){.type = cudaGraphNodeTypeGraph, .child = exec->graph});
    if (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) runtime_memories_take(exec->graph);
    return runtime_graph_launch(api, exec->graph, exec->branches, stream);
}

/* No effect: there is nothing to upload. */
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = exec_check("cudaGraphUpload", exec);
    return status == cudaSuccess ? runtime_stream("cudaGraphUpload", stream, &handle) : status;
}

/* ---- changes -------------------------------------------------------------------------------- */

static cudaGraphNode_t node_of(cudaGraphExec_t exec, cudaGraphNode_t original)
{
    cudaGraphNode_t node = exec->graph->first;
    while (node && node->original != original)
        node = node->next;
    return node;
}

cudaError_t runtime_exec_node(const char *api, cudaGraphExec_t exec, cudaGraphNode_t original,
                              cudaGraphNode_t *node)
{
    cudaError_t status = exec_check(api, exec);
    if (status != cudaSuccess) return status;
    *node = node_of(exec, original);
    if (*node) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the executable graph has no such node");
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                             const struct cudaKernelNodeParams *asked)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecKernelNodeSetParams", exec, original, &node);
    return status == cudaSuccess ? cudaGraphKernelNodeSetParams(node, asked) : status;
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t original,
                                               void *dst, const void *src, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecMemcpyNodeSetParams1D", exec, original, &node);
    return status == cudaSuccess ? cudaGraphMemcpyNodeSetParams1D(node, dst, src, bytes, kind)
                                 : status;
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                             const struct cudaMemsetParams *asked)
{
    cudaGraphNode_t node;
    cudaError_t status =
        runtime_exec_node("cudaGraphExecMemsetNodeSetParams", exec, original, &node);
    return status == cudaSuccess ? cudaGraphMemsetNodeSetParams(node, asked) : status;
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t original,
                                                 cudaGraph_t child)
{
    static const char api[] = "cudaGraphExecChildGraphNodeSetParams";
    cudaGraphNode_t node;
    RuntimeWork work = {.type = cudaGraphNodeTypeGraph, .child = child};
    cudaError_t status = runtime_exec_node(api, exec, original, &node);
    if (status == cudaSuccess) status = runtime_graph_check(api, child);
    if (status == cudaSuccess) status = runtime_node_set(api, node, &work);
    return status == cudaSuccess ? runtime_graph_sort(api, node->work.child) : status;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    static const char api[] = "cudaGraphExecGetFlags";
    cudaError_t status = exec_check(api, exec);
    if (status == cudaSuccess && !flags)
        status = runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (status == cudaSuccess) *flags = exec->flags;
    return status;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                    unsigned int enabled)
{
    cudaGraphNode_t node;
    cudaError_t status = runtime_exec_node("cudaGraphNodeSetEnabled", exec, original, &node);
    if (status != cudaSuccess) return status;
    if (node->work.type > cudaGraphNodeTypeMemset)
        return runtime_fail("cudaGraphNodeSetEnabled", DEVICE_INVALID_VALUE,
                            "only kernels, copies and fills can be disabled");
    node->disabled = !enabled;
    return cudaSuccess;
}

/* The first node that differs in kind, order or edges, or NULL. */
static cudaGraphNode_t first_difference(cudaGraph_t old, cudaGraph_t fresh,
                                        enum cudaGraphExecUpdateResult *why)
{
    cudaGraphNode_t a = old->first, b = fresh->first;
    for (; a && b; a = a->next, b = b->next) {
        a->copy = b;
        *why = cudaGraphExecUpdateErrorNodeTypeChanged;
        if (a->work.type != b->work.type) return b;
        *why = cudaGraphExecUpdateErrorTopologyChanged;
        if (a->predecessors != b->predecessors) return b;
        for (size_t i = 0; i < a->predecessors; i++)
            if (a->before[i]->copy != b->before[i]) return b;
    }
    *why = cudaGraphExecUpdateErrorTopologyChanged;
    return a ? a : b;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    static const char api[] = "cudaGraphExecUpdate";
    cudaGraph_t fresh;
    enum cudaGraphExecUpdateResult why;
    cudaError_t status = exec_check(api, exec);
    if (status == cudaSuccess) status = copy_sorted(api, graph, &fresh);
    if (status != cudaSuccess) return status;
    runtime_lock();
    cudaGraphNode_t differs = first_difference(exec->graph, fresh, &why);
    if (info)
        *info =
            (cudaGraphExecUpdateResultInfo){.result = differs ? why : cudaGraphExecUpdateSuccess,
                                            .errorNode = differs ? differs->original : NULL};
    /* Later changes still name the nodes of the original graph. */
    for (cudaGraphNode_t a = exec->graph->first, b = fresh->first; !differs && b;
         a = a->next, b = b->next)
        b->original = a->original;
    cudaGraph_t unused = fresh;
    if (!differs) unused = exec->graph, exec->graph = fresh;
    runtime_graph_free(unused);
    runtime_unlock();
    if (!differs) return cudaSuccess;
    return runtime_fail(api, (DeviceStatus)cudaErrorGraphExecUpdateFailure,
                        "the graphs differ in more than what their nodes are given");
}
