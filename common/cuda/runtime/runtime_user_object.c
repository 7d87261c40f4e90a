/* User objects: a program's resources that are destroyed with the last graph that references
 * them. */
#include <stdlib.h>

#include "common/cuda/runtime/runtime_graph.h"

struct CUuserObject_st {
    void *object;
    cudaHostFn_t destroy;
    unsigned long references;
};

/* `count` may be negative; the object is destroyed with its last reference. */
static void references_add(cudaUserObject_t object, long count)
{
    runtime_lock();
    object->references += (unsigned long)count;
    int is_last = object->references == 0;
    runtime_unlock();
    if (!is_last) return;
    object->destroy(object->object);
    free(object);
}

static cudaError_t object_check(const char *api, cudaUserObject_t object, unsigned count)
{
    if (object && count) return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE, "%u references to %p", count, (void *)object);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *made, void *object, cudaHostFn_t destroy,
                                 unsigned int references, unsigned int flags)
{
    static const char api[] = "cudaUserObjectCreate";
    if (!made || !destroy || !references || flags != cudaUserObjectNoDestructorSync)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%u references, flags %u", references,
                            flags);
    cudaUserObject_t fresh = malloc(sizeof *fresh);
    if (!fresh) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    *fresh = (struct CUuserObject_st){object, destroy, references};
    *made = fresh;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    cudaError_t status = object_check("cudaUserObjectRetain", object, count);
    if (status == cudaSuccess) references_add(object, count);
    return status;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    cudaError_t status = object_check("cudaUserObjectRelease", object, count);
    if (status == cudaSuccess) references_add(object, -(long)count);
    return status;
}

/* ---- in graphs ------------------------------------------------------------------------------ */

int runtime_objects_hold(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    RuntimeHeld *held = malloc(sizeof *held);
    if (!held) return -1;
    *held = (RuntimeHeld){graph->held, object, count};
    graph->held = held;
    return 0;
}

int runtime_objects_copy(cudaGraph_t to, cudaGraph_t from)
{
    for (const RuntimeHeld *held = from->held; held; held = held->next) {
        if (runtime_objects_hold(to, held->object, held->count)) return -1;
        references_add(held->object, held->count);
    }
    return 0;
}

void runtime_objects_release(cudaGraph_t graph)
{
    while (graph->held) {
        RuntimeHeld *held = graph->held;
        graph->held = held->next;
        references_add(held->object, -(long)held->count);
        free(held);
    }
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    static const char api[] = "cudaGraphRetainUserObject";
    cudaError_t status = runtime_graph_check(api, graph);
    if (status == cudaSuccess) status = object_check(api, object, count);
    if (status != cudaSuccess) return status;
    if (runtime_objects_hold(graph, object, count))
        return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    if (!(flags & cudaGraphUserObjectMove)) references_add(object, count);
    return cudaSuccess;
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    static const char api[] = "cudaGraphReleaseUserObject";
    cudaError_t status = runtime_graph_check(api, graph);
    if (status == cudaSuccess) status = object_check(api, object, count);
    if (status != cudaSuccess) return status;
    for (RuntimeHeld **link = &graph->held; *link; link = &(*link)->next) {
        RuntimeHeld *held = *link;
        if (held->object != object || held->count < count) continue;
        held->count -= count;
        if (!held->count) {
            *link = held->next;
            free(held);
        }
        references_add(object, -(long)count);
        return cudaSuccess;
    }
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the graph holds no %u references to it", count);
}
