/* Launch of a graph: independent branches run on streams of their own, with events for the edges
 * between streams, so that engines see exactly the graph's order.
 *
 * A node continues on the stream of one of its predecessors if no other node does, else on a new
 * stream.  A graph without branches needs no additional stream. */
#include <stdlib.h>

#include "common/cuda/runtime/runtime_graph.h"

/* Created when first needed, and cached for the next launch. */
struct RuntimeBranches {
    cudaStream_t stream[RUNTIME_BRANCHES];
    unsigned streams, taken; /* number of existing streams; number used by this launch */
    cudaEvent_t *event;
    size_t events, used;
};

RuntimeBranches *runtime_branches_new(void)
{
    return calloc(1, sizeof(RuntimeBranches));
}

void runtime_branches_free(RuntimeBranches *branches)
{
    for (unsigned i = 0; i < branches->streams; i++)
        cudaStreamDestroy(branches->stream[i]);
    for (size_t i = 0; i < branches->events; i++)
        cudaEventDestroy(branches->event[i]);
    free(branches->event);
    free(branches);
}

static cudaError_t stream_take(RuntimeBranches *branches, cudaStream_t *stream)
{
    cudaError_t status = cudaSuccess;
    if (branches->taken == branches->streams) {
        cudaStream_t *made = &branches->stream[branches->streams];
        status = cudaStreamCreateWithFlags(made, cudaStreamNonBlocking);
        branches->streams += status == cudaSuccess;
    }
    if (status == cudaSuccess) *stream = branches->stream[branches->taken++];
    return status;
}

/* Records an event at the present end of `stream`. */
static cudaError_t event_take(const char *api, RuntimeBranches *branches, cudaStream_t stream,
                              cudaEvent_t *event)
{
    cudaError_t status = cudaSuccess;
    if (branches->used == branches->events) {
        cudaEvent_t *more =
            realloc(branches->event, (branches->events + 1) * sizeof *branches->event);
        if (!more) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
        branches->event = more;
        status = cudaEventCreateWithFlags(&more[branches->events], cudaEventDisableTiming);
        branches->events += status == cudaSuccess;
    }
    if (status != cudaSuccess) return status;
    *event = branches->event[branches->used++];
    return cudaEventRecord(*event, stream);
}

/* ---- assignment of streams ------------------------------------------------------------------ */

/* A predecessor on whose stream no other node continues. */
static cudaGraphNode_t node_to_follow(cudaGraphNode_t node)
{
    for (size_t i = 0; i < node->predecessors; i++)
        if (!node->before[i]->followed) return node->before[i];
    return NULL;
}

/* Assigns a stream to each node; the first node gets the launch's stream.  Nodes are sorted. */
static cudaError_t streams_give(cudaGraph_t graph, RuntimeBranches *branches, cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
    int own_is_free = 1;
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        node->followed = 0, node->awaited = 0;
    for (cudaGraphNode_t node = graph->first; node && status == cudaSuccess; node = node->next) {
        cudaGraphNode_t before = node_to_follow(node);
        if (before)
            node->stream = before->stream, before->followed = 1;
        else if (own_is_free || branches->taken == RUNTIME_BRANCHES)
            node->stream = stream, own_is_free = 0;
        else
            status = stream_take(branches, &node->stream);
        for (size_t i = 0; i < node->predecessors; i++)
            node->before[i]->awaited |= node->before[i]->stream != node->stream;
    }
    return status;
}

/* ---- execution ------------------------------------------------------------------------------ */

static cudaError_t work_run(const char *api, const RuntimeWork *work, RuntimeBranches *branches,
                            cudaStream_t stream)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
        return runtime_launch(api, &work->launch, stream);
    case cudaGraphNodeTypeMemcpy:
        return runtime_copy(api, &work->copy, stream);
    case cudaGraphNodeTypeMemset:
        return runtime_fill(api, &work->fill, stream);
    case cudaGraphNodeTypeHost:
        return runtime_host(api, &work->host, stream);
    case cudaGraphNodeTypeEventRecord:
        return cudaEventRecord(work->event, stream);
    case cudaGraphNodeTypeWaitEvent:
        return cudaStreamWaitEvent(stream, work->event, 0);
    case cudaGraphNodeTypeGraph:
        return runtime_graph_run(api, work->child, branches, stream);
    case cudaGraphNodeTypeMemAlloc:
        return runtime_memory_give(api, work->memory);
    case cudaGraphNodeTypeMemFree:
        return cudaFreeAsync(work->freed, stream);
    default: /* an empty node */
        return cudaSuccess;
    }
}

/* `begin`: event on the launch's stream; only a root node on another stream needs it. */
static cudaError_t node_run(const char *api, cudaGraphNode_t node, RuntimeBranches *branches,
                            cudaStream_t stream, cudaEvent_t begin)
{
    cudaError_t status = cudaSuccess;
    if (!node->predecessors && node->stream != stream)
        status = cudaStreamWaitEvent(node->stream, begin, 0);
    for (size_t i = 0; i < node->predecessors && status == cudaSuccess; i++)
        if (node->before[i]->stream != node->stream)
            status = cudaStreamWaitEvent(node->stream, node->before[i]->done, 0);
    if (status == cudaSuccess && !node->disabled)
        status = work_run(api, &node->work, branches, node->stream);
    /* Work after the graph waits for nodes without successors. */
    int is_end = !node->followed && node->stream != stream;
    if (status == cudaSuccess && (node->awaited || is_end))
        status = event_take(api, branches, node->stream, &node->done);
    return status;
}

cudaError_t runtime_graph_run(const char *api, cudaGraph_t graph, RuntimeBranches *branches,
                              cudaStream_t stream)
{
    cudaEvent_t begin = NULL;
    unsigned before = branches->taken;
    cudaError_t status = streams_give(graph, branches, stream);
    if (status == cudaSuccess && branches->taken > before)
        status = event_take(api, branches, stream, &begin);
    for (cudaGraphNode_t node = graph->first; node && status == cudaSuccess; node = node->next)
        status = node_run(api, node, branches, stream, begin);
    for (cudaGraphNode_t node = graph->first; node && status == cudaSuccess; node = node->next)
        if (!node->followed && node->stream != stream)
            status = cudaStreamWaitEvent(stream, node->done, 0);
    return status;
}

cudaError_t runtime_graph_launch(const char *api, cudaGraph_t graph, RuntimeBranches *branches,
                                 cudaStream_t stream)
{
    branches->taken = 0, branches->used = 0;
    return runtime_graph_run(api, graph, branches, stream);
}
