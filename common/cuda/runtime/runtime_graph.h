/* runtime_graph.h - graphs: work that is described first and executed later, on a stream.
 *
 * Graphs exist in the runtime only, not in the device.  A launch makes each node's calls in an
 * order that the edges allow: on the stream of the launch, and for parallel branches on streams of
 * the graph.  So a node's kernel is checked, counted, priced and recorded like an ordinary
 * launch. */
#ifndef CONVLAB_CUDA_RUNTIME_GRAPH_H
#define CONVLAB_CUDA_RUNTIME_GRAPH_H

#include "common/cuda/runtime/runtime_state.h"

/* Arguments of a launch; `arguments` point to the values. */
typedef struct RuntimeLaunch {
    const void *host;
    dim3 grid, block;
    size_t shared_bytes;
    void **arguments;
    int together;     /* a cooperative launch */
    int overlaps;     /* Boolean: may overlap the previous launch on the stream, if that allows
                       * it */
    uint32_t cluster; /* DeviceCall.value's, 0 for none */
} RuntimeLaunch;

/* A box of bytes: depth slices of height rows. */
typedef struct RuntimeCopy {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch, dst_slice, src_slice, width, height, depth;
    enum cudaMemcpyKind kind;
} RuntimeCopy;

/* A rectangle of elements of 1, 2 or 4 bytes. */
typedef struct RuntimeFill {
    void *dst;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} RuntimeFill;

/* Memory of an allocation node (runtime_graph_memory.c). */
typedef struct RuntimeMemory RuntimeMemory;

/* Work of a node. */
typedef struct RuntimeWork {
    enum cudaGraphNodeType type;
    union {
        RuntimeLaunch launch;
        RuntimeCopy copy;
        RuntimeFill fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        cudaGraph_t child;
        RuntimeMemory *memory;
        void *freed;
    };
} RuntimeWork;

struct CUgraphNode_st {
    struct CUgraphNode_st *next; /* in its graph */
    cudaGraph_t graph;
    cudaGraphNode_t *before;
    size_t predecessors;
    RuntimeWork work; /* owns launch.arguments and child */
    cudaGraphNode_t original, copy;
    int disabled, placed;
    /* During a launch: the stream, the event at its end, and whether other nodes continue on it or
     * wait for it. */
    cudaStream_t stream;
    cudaEvent_t done;
    int followed, awaited;
};

/* A user object that a graph holds. */
typedef struct RuntimeHeld {
    struct RuntimeHeld *next;
    cudaUserObject_t object;
    unsigned count;
} RuntimeHeld;

struct CUgraph_st {
    struct CUgraph_st *next; /* in the list of all graphs */
    cudaGraphNode_t first, last;
    RuntimeHeld *held;
};

/* Executes the work now, on the stream, or adds it to the graph if the stream is being captured. */
cudaError_t runtime_launch(const char *api, const RuntimeLaunch *launch, cudaStream_t stream);
cudaError_t runtime_copy(const char *api, const RuntimeCopy *copy, cudaStream_t stream);
cudaError_t runtime_fill(const char *api, const RuntimeFill *fill, cudaStream_t stream);
cudaError_t runtime_host(const char *api, const struct cudaHostNodeParams *host,
                         cudaStream_t stream);

/* Streams and events of an executable graph's branches. */
enum { RUNTIME_BRANCHES = 16 };
typedef struct RuntimeBranches RuntimeBranches;
RuntimeBranches *runtime_branches_new(void);
void runtime_branches_free(RuntimeBranches *branches);
/* A sorted graph; the second function is for child graphs of a graph that is being launched. */
cudaError_t runtime_graph_launch(const char *api, cudaGraph_t graph, RuntimeBranches *branches,
                                 cudaStream_t stream);
cudaError_t runtime_graph_run(const char *api, cudaGraph_t graph, RuntimeBranches *branches,
                              cudaStream_t stream);

/* Pitched device memory. */
struct cudaArray {
    void *memory;
    size_t pitch, rows, slices, texel; /* bytes of a row with its padding; rows; slices; bytes of an
                                        * element */
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* as requested */
    unsigned flags;
    int is_level; /* Boolean: a level of a mipmapped array, which owns the memory */
};

struct cudaMipmappedArray {
    void *memory;
    uint32_t levels;
    struct cudaArray level[];
};

struct Texture;
/* Accepts 1, 2 or 4 channels of 8, 16 or 32 bits each; stores the texture's format, or rejects. */
cudaError_t runtime_format_check(const char *api, const struct cudaChannelFormatDesc *format,
                                 struct Texture *texture);

/* Address and size of a symbol's variable. */
cudaError_t runtime_symbol_range(const char *api, const void *symbol, size_t bytes, size_t offset,
                                 void **address);

/* Converts the parameters of cudaMemcpy3D. */
cudaError_t runtime_copy_of(const char *api, const struct cudaMemcpy3DParms *asked,
                            RuntimeCopy *copy);

/* ---- graphs ---- */

cudaGraph_t runtime_graph_new(void);
void runtime_graph_free(cudaGraph_t graph);
int runtime_graph_is_live(cudaGraph_t graph);
cudaError_t runtime_graph_check(const char *api, cudaGraph_t graph);
/* Common function of CUDA's calls that add a node. */
cudaError_t runtime_node_add(const char *api, cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, size_t predecessors,
                             const RuntimeWork *work);
/* A node with its own copy of `work`; NULL with *status set. */
cudaGraphNode_t runtime_graph_add(const char *api, cudaGraph_t graph, const RuntimeWork *work,
                                  const cudaGraphNode_t *before, size_t predecessors,
                                  cudaError_t *status);
cudaError_t runtime_graph_copy(const char *api, cudaGraph_t graph, cudaGraph_t *copy);
/* Sorts the nodes topologically; rejects a cycle. */
cudaError_t runtime_graph_sort(const char *api, cudaGraph_t graph);
void runtime_node_free(cudaGraphNode_t node);
/* Adds dependencies of the node; -1: out of memory. */
int runtime_edges_add(cudaGraphNode_t node, const cudaGraphNode_t *before, size_t predecessors);
/* Replaces a node's work by work of the same kind. */
cudaError_t runtime_node_set(const char *api, cudaGraphNode_t node, const RuntimeWork *work);
/* The node of an executable graph that corresponds to this one. */
cudaError_t runtime_exec_node(const char *api, cudaGraphExec_t exec, cudaGraphNode_t original,
                              cudaGraphNode_t *node);
/* References of a graph to user objects: adds one (0, or -1 without memory), copies those of
 * another graph, releases all. */
int runtime_objects_hold(cudaGraph_t graph, cudaUserObject_t object, unsigned count);
int runtime_objects_copy(cudaGraph_t to, cudaGraph_t from);
void runtime_objects_release(cudaGraph_t graph);

/* ---- memory of graphs ---- */

/* Adds or removes a node that allocates it. */
void runtime_memory_hold(RuntimeMemory *memory);
void runtime_memory_release(RuntimeMemory *memory);
/* Allocates it during a launch; rejected while it is allocated. */
cudaError_t runtime_memory_give(const char *api, RuntimeMemory *memory);
/* Frees memory that a graph has allocated; 0: it is not a graph's. */
int runtime_memory_take(const char *api, const void *pointer, cudaError_t *status);
/* Frees all memory that the graph has allocated, before its next launch. */
void runtime_memories_take(cudaGraph_t graph);
cudaError_t runtime_capture_malloc(const char *api, uint32_t stream, void **pointer, size_t bytes);
cudaError_t runtime_capture_free(const char *api, uint32_t stream, void *pointer);

/* ---- capture ---- */

/* Rejects calls that are not allowed while a stream is being captured. */
cudaError_t runtime_capture_check(const char *api, const DeviceCall *call);
/* Whether the stream with this handle is being captured. */
int runtime_is_capturing(uint32_t stream);
cudaError_t runtime_capture(const char *api, uint32_t stream, const RuntimeWork *work);
/* 1 if the call is complete: the event refers to a place in a graph. */
int runtime_capture_record(uint32_t stream, uint32_t event);
int runtime_capture_wait(const char *api, uint32_t stream, uint32_t event, cudaError_t *status);

#endif
