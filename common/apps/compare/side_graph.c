/* side_graph.c - runs of a side as a graph, which all timings use.  Calls from the host would not
 * do: a side of two kernels would then wait for the host. */
#include "common/apps/compare/compare.h"

int side_graph(Side *side, const Task *task, int runs, cudaGraphExec_t *calls, Error *error)
{
    cudaGraph_t graph = NULL;
    int failed = 0;
    cudaError_t status = cudaStreamBeginCapture(task->stream, cudaStreamCaptureModeRelaxed);
    if (!status) {
        for (int run = 0; run < runs && !failed; run++)
            failed = side->enqueue(side, task, error);
        status = cudaStreamEndCapture(task->stream, &graph);
    }
    if (!failed && !status) status = cudaGraphInstantiate(calls, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    if (failed) return -1;
    return status ? error_set(error, "%s: its calls cannot be captured into a graph: %s",
                              side->name, cudaGetErrorString(status))
                  : 0;
}
