/* Edges of a graph: adding, removing and listing them; removal of a node. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

/* Since CUDA 13 every list of edges has edge data, which are 0 for the edges of these nodes. */
#if CUDART_VERSION >= 13000
#define EDGE_DATA(qualifier, name) , __attribute__((unused)) qualifier cudaGraphEdgeData *name
#else
#define EDGE_DATA(qualifier, name)
#endif

int runtime_edges_add(cudaGraphNode_t node, const cudaGraphNode_t *before, size_t predecessors)
{
    if (!predecessors) return 0;
    cudaGraphNode_t *grown =
        realloc(node->before, (node->predecessors + predecessors) * sizeof(cudaGraphNode_t));
    if (!grown) return -1;
    node->before = grown;
    memcpy(grown + node->predecessors, before, predecessors * sizeof *before);
    node->predecessors += predecessors;
    return 0;
}

/* Returns whether the edge existed. */
static int edge_remove(cudaGraphNode_t node, cudaGraphNode_t before)
{
    for (size_t i = 0; i < node->predecessors; i++) {
        if (node->before[i] != before) continue;
        node->predecessors--;
        memmove(node->before + i, node->before + i + 1,
                (node->predecessors - i) * sizeof(cudaGraphNode_t));
        return 1;
    }
    return 0;
}

/* ---- added and removed ---- */

static cudaError_t edges_change(const char *api, cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, size_t count, int add)
{
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    for (size_t i = 0; i < count; i++) {
        if (!from || !to || !from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph)
            return runtime_fail(api, DEVICE_INVALID_VALUE, "dependency %zu is no node of it", i);
        if (add && runtime_edges_add(to[i], &from[i], 1))
            return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
        if (!add && !edge_remove(to[i], from[i]))
            return runtime_fail(api, DEVICE_INVALID_VALUE, "there is no dependency %zu", i);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to EDGE_DATA(const, data), size_t count)
{
    return edges_change("cudaGraphAddDependencies", graph, from, to, count, 1);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to EDGE_DATA(const, data),
                                        size_t count)
{
    return edges_change("cudaGraphRemoveDependencies", graph, from, to, count, 0);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    static const char api[] = "cudaGraphDestroyNode";
    if (!node) return runtime_fail(api, DEVICE_INVALID_VALUE, "no node");
    cudaGraph_t graph = node->graph;
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    runtime_lock();
    cudaGraphNode_t last = NULL;
    for (cudaGraphNode_t *link = &graph->first; *link;) {
        while (edge_remove(*link, node)) {
        }
        if (*link == node) {
            *link = node->next;
            continue;
        }
        last = *link;
        link = &(*link)->next;
    }
    graph->last = last;
    runtime_node_free(node);
    runtime_unlock();
    return cudaSuccess;
}

/* ---- listed ---- */

/* The edges from `begin` to `end`, where NULL means any node: fills the given lists, or only
 * counts, like CUDA's lists. */
typedef struct EdgeList {
    cudaGraphNode_t begin, end;
    cudaGraphNode_t *from, *to;
} EdgeList;

static size_t edges_take(cudaGraph_t graph, const EdgeList *list, size_t room)
{
    size_t found = 0;
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->predecessors; i++) {
            if (list->begin && node->before[i] != list->begin) continue;
            if (list->end && node != list->end) continue;
            if (found < room && list->from) list->from[found] = node->before[i];
            if (found < room && list->to) list->to[found] = node;
            found++;
        }
    return found;
}

static cudaError_t edges_list(const char *api, cudaGraph_t graph, const EdgeList *list,
                              size_t *count)
{
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    if (!count) return runtime_fail(api, DEVICE_INVALID_VALUE, "the count is NULL");
    int fills = list->from || list->to;
    size_t room = fills ? *count : 0, found = edges_take(graph, list, room);
    for (size_t i = found; i < room; i++) {
        if (list->from) list->from[i] = NULL;
        if (list->to) list->to[i] = NULL;
    }
    *count = fills && found > room ? room : found;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
#define EDGE_DATA_CLEAR(data, count)                                                               \
    if (data && count) memset(data, 0, *(count) * sizeof *(data))
#else
#define EDGE_DATA_CLEAR(data, count)
#endif

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                              cudaGraphNode_t *to EDGE_DATA(, data), size_t *count)
{
    EdgeList list = {.from = from, .to = to};
    EDGE_DATA_CLEAR(data, count);
    return edges_list("cudaGraphGetEdges", graph, &list, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t *before EDGE_DATA(, data), size_t *count)
{
    EdgeList list = {.end = node, .from = before};
    EDGE_DATA_CLEAR(data, count);
    return edges_list("cudaGraphNodeGetDependencies", node ? node->graph : NULL, &list, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t *behind EDGE_DATA(, data), size_t *count)
{
    EdgeList list = {.begin = node, .to = behind};
    EDGE_DATA_CLEAR(data, count);
    return edges_list("cudaGraphNodeGetDependentNodes", node ? node->graph : NULL, &list, count);
}
