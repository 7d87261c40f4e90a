/* A launch of a graph: branches that do not depend on one another run on streams of their own, with
 * events where edges lead from one to another, so that engines see the graph's order and no more.
 *
 * A node goes on where one of those before it stood, if nobody else did; else on a stream more.  A
 * graph without branches needs none. */
#include <stdlib.h>

#include "common/cuda/runtime/runtime_graph.h"

/* Made when they are first needed, and kept for the next launch. */
struct RuntimeBranches {
    cudaStream_t stream[RUNTIME_BRANCHES];
    unsigned streams, taken; /* there are; in use by this launch */
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

/* An event at which `stream` is now. */
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

/* ---- who stands where ----------------------------------------------------------------------- */

/* The branch of one of those before it that nobody else goes on with. */
static cudaGraphNode_t node_to_follow(cudaGraphNode_t node)
{
    for (size_t i = 0; i < node->befores; i++)
        if (!node->before[i]->followed) return node->before[i];
    return NULL;
}

/* Gives each node a stream; the graph's own is the first one's.  Nodes are sorted. */
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
        for (size_t i = 0; i < node->befores; i++)
            node->before[i]->awaited |= node->before[i]->stream != node->stream;
    }
    return status;
}

/* ---- what they do --------------------------------------------------------------------------- */

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

/* `begin`: where the launch's stream was; only a root on another stream needs it. */
static cudaError_t node_run(const char *api, cudaGraphNode_t node, RuntimeBranches *branches,
                            cudaStream_t stream, cudaEvent_t begin)
{
    cudaError_t status = cudaSuccess;
    if (!node->befores && node->stream != stream)
        status = cudaStreamWaitEvent(node->stream, begin, 0);
    for (size_t i = 0; i < node->befores && status == cudaSuccess; i++)
        if (node->before[i]->stream != node->stream)
            status = cudaStreamWaitEvent(node->stream, node->before[i]->done, 0);
    if (status == cudaSuccess && !node->disabled)
        status = work_run(api, &node->work, branches, node->stream);
    /* What nobody follows is awaited by what comes after the graph. */
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
