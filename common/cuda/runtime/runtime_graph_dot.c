/* A graph as input of Graphviz: cudaGraphDebugDotPrint. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

static void node_describe(FILE *file, const RuntimeWork *work)
{
    RuntimeFunction *function;
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
        if (runtime_function("cudaGraphDebugDotPrint", work->launch.host, &function) != cudaSuccess)
            return;
        fprintf(file, "%s\\n<<<%ux%ux%u, %ux%ux%u, %zu>>>", function->name, work->launch.grid.x,
                work->launch.grid.y, work->launch.grid.z, work->launch.block.x,
                work->launch.block.y, work->launch.block.z, work->launch.shared_bytes);
        break;
    case cudaGraphNodeTypeMemcpy:
        fprintf(file, "MEMCPY\\n%zu x %zu x %zu bytes", work->copy.width, work->copy.height,
                work->copy.depth);
        break;
    case cudaGraphNodeTypeMemset:
        fprintf(file, "MEMSET\\n%zu x %zu elements of %u bytes", work->fill.width,
                work->fill.height, work->fill.element);
        break;
    case cudaGraphNodeTypeHost:
        fputs("HOST", file);
        break;
    case cudaGraphNodeTypeGraph:
        fputs("GRAPH", file);
        break;
    case cudaGraphNodeTypeEventRecord:
        fputs("EVENT_RECORD", file);
        break;
    case cudaGraphNodeTypeWaitEvent:
        fputs("EVENT_WAIT", file);
        break;
    case cudaGraphNodeTypeMemAlloc:
        fputs("MEM_ALLOC", file);
        break;
    case cudaGraphNodeTypeMemFree:
        fputs("MEM_FREE", file);
        break;
    default:
        fputs("EMPTY", file);
    }
}

/* Nodes are numbered in their graph's order; a child graph is drawn in a box. */
static void graph_draw(FILE *file, cudaGraph_t graph, const char *name)
{
    char inner[64];
    unsigned number = 0;
    fprintf(file, "subgraph cluster_%s {\nlabel=\"graph_%s\"\n", name, name);
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        node->placed = (int)number++;
    for (cudaGraphNode_t node = graph->first; node; node = node->next) {
        fprintf(file, "\"graph_%s_node_%d\" [shape=\"record\" label=\"%d\\n", name, node->placed,
                node->placed);
        node_describe(file, &node->work);
        fputs("\"]\n", file);
    }
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->predecessors; i++)
            fprintf(file, "\"graph_%s_node_%d\" -> \"graph_%s_node_%d\"\n", name,
                    node->before[i]->placed, name, node->placed);
    for (cudaGraphNode_t node = graph->first; node; node = node->next)
        if (node->work.type == cudaGraphNodeTypeGraph &&
            snprintf(inner, sizeof inner, "%s_%d", name, node->placed) < (int)sizeof inner)
            graph_draw(file, node->work.child, inner);
    fputs("}\n", file);
}

/* The flags have no effect: all known attributes are printed. */
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    static const char api[] = "cudaGraphDebugDotPrint";
    (void)flags;
    cudaError_t status = runtime_graph_check(api, graph);
    if (status != cudaSuccess) return status;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return runtime_fail(api, (DeviceStatus)cudaErrorOperatingSystem, "%s: %s",
                            path ? path : "NULL", strerror(errno));
    runtime_lock();
    fputs("digraph dot {\n", file);
    graph_draw(file, graph, "0");
    fputs("}\n", file);
    runtime_unlock();
    int failed = ferror(file);
    if (fclose(file) || failed)
        return runtime_fail(api, (DeviceStatus)cudaErrorOperatingSystem, "%s: cannot write", path);
    return cudaSuccess;
}
