// branches.cu - graphs with parallel branches: by nodes and edges, by capture across streams, with
// a child graph. Prints the time of a launch and of the same kernels one after another; "missing"
// leaves out the edge that orders two branches. "clusters" sums with clusters and grids set by a
// launch's attributes.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;
static int failed;

static void tell(const char *name, bool right)
{
    printf("%s %s\n", right ? "ok" : "not ok", name);
    failed |= !right;
}

// Work of a block: few blocks, so that several launches fit the machine side by side.
__global__ void grow(float *x, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 2000; k++)
        v = v * 0.5f + by;
    x[i] = v;
}

__global__ void join(const float *parts, int count, int length, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    for (int k = 0; k < count; k++)
        v += parts[k * length + i];
    sum[i] = v;
}

enum { BRANCHES = 4, LENGTH = 1024, THREADS = 128 };
static float *parts, *sum;

static bool right_sum()
{
    std::vector<float> host(LENGTH);
    cudaMemcpy(host.data(), sum, LENGTH * sizeof(float), cudaMemcpyDeviceToHost);
    for (float v : host)
        if (v != 2.0f * (1 + 2 + 3 + 4)) return false;
    return true;
}

static float milliseconds(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    cudaEvent_t begin, end;
    float took;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 3; i++) {
        cudaEventRecord(begin, stream);
        cudaGraphLaunch(exec, stream);
        cudaEventRecord(end, stream);
    }
    cudaStreamSynchronize(stream);
    cudaEventElapsedTime(&took, begin, end);
    cudaGraphExecDestroy(exec);
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return took;
}

static cudaGraphNode_t add_grow(cudaGraph_t graph, const cudaGraphNode_t *before, size_t befores,
                                int branch)
{
    float *x = parts + branch * LENGTH, by = (float)(branch + 1);
    void *arguments[] = {&x, &by};
    cudaKernelNodeParams params = {};
    params.func = (void *)grow, params.gridDim = LENGTH / THREADS, params.blockDim = THREADS;
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, before, befores, &params);
    return node;
}

static void add_join(cudaGraph_t graph, const cudaGraphNode_t *before, size_t befores)
{
    int count = BRANCHES, length = LENGTH;
    void *arguments[] = {&parts, &count, &length, &sum};
    cudaKernelNodeParams params = {};
    params.func = (void *)join, params.gridDim = LENGTH / THREADS, params.blockDim = THREADS;
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, before, befores, &params);
}

/* `left_out`: number of branches for which the last kernel does not wait. */
static cudaGraph_t fork_and_join(bool side_by_side, int left_out)
{
    cudaGraph_t graph;
    cudaGraphNode_t fill, node[BRANCHES];
    cudaMemsetParams zero = {};
    zero.dst = parts, zero.elementSize = 4, zero.width = BRANCHES * LENGTH, zero.height = 1;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero);
    for (int b = 0; b < BRANCHES; b++)
        node[b] = add_grow(graph, side_by_side || !b ? &fill : &node[b - 1], 1, b);
    add_join(graph, node, BRANCHES - left_out);
    return graph;
}

static cudaGraph_t captured(cudaStream_t first)
{
    cudaStream_t other[BRANCHES];
    cudaEvent_t fork, done[BRANCHES];
    cudaGraph_t graph;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(parts, 0, BRANCHES * LENGTH * sizeof(float), first);
    cudaEventRecord(fork, first);
    for (int b = 0; b < BRANCHES; b++) {
        cudaStreamCreateWithFlags(&other[b], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[b], cudaEventDisableTiming);
        cudaStreamWaitEvent(other[b], fork, 0);
        grow<<<LENGTH / THREADS, THREADS, 0, other[b]>>>(parts + b * LENGTH, (float)(b + 1));
        cudaEventRecord(done[b], other[b]);
        cudaStreamWaitEvent(first, done[b], 0);
    }
    join<<<LENGTH / THREADS, THREADS, 0, first>>>(parts, BRANCHES, LENGTH, sum);
    cudaStreamEndCapture(first, &graph);
    for (int b = 0; b < BRANCHES; b++)
        cudaStreamDestroy(other[b]), cudaEventDestroy(done[b]);
    cudaEventDestroy(fork);
    return graph;
}

/* Two children side by side, each with two branches of its own. */
static cudaGraph_t family()
{
    cudaGraph_t graph, child[2];
    cudaGraphNode_t fill, node[2];
    cudaMemsetParams zero = {};
    zero.dst = parts, zero.elementSize = 4, zero.width = BRANCHES * LENGTH, zero.height = 1;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero);
    for (int c = 0; c < 2; c++) {
        cudaGraphCreate(&child[c], 0);
        add_grow(child[c], NULL, 0, 2 * c), add_grow(child[c], NULL, 0, 2 * c + 1);
        cudaGraphAddChildGraphNode(&node[c], graph, &fill, 1, child[c]);
        cudaGraphDestroy(child[c]);
    }
    add_join(graph, node, 2);
    return graph;
}

static void graphs_test(bool missing)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (missing) {
        milliseconds(fork_and_join(true, 1), stream);
        return;
    }
    cudaGraph_t graph[] = {fork_and_join(false, 0), fork_and_join(true, 0), captured(stream),
                           family()};
    const char *name[] = {"one after another", "by nodes", "by capture", "by children"};
    float took[4];
    for (int i = 0; i < 4; i++) {
        cudaMemset(sum, 0, LENGTH * sizeof(float));
        cudaDeviceSynchronize();
        took[i] = milliseconds(graph[i], stream);
        tell(name[i], right_sum() && (i == 0 || took[i] < took[0] / 2));
        printf("    %.1f us\n", took[i] * 1e3f);
        cudaGraphDestroy(graph[i]);
    }
    cudaStreamDestroy(stream);
}

// ---- edges ----
#if CUDART_VERSION >= 13000
#define NO_DATA nullptr,
#else
#define NO_DATA
#endif

// Its fill, four branches and their join have eight edges; without the first branch six.
static void edges_test()
{
    cudaGraph_t graph = fork_and_join(true, 0);
    cudaGraphNode_t fill, behind[8], before[8], from[8], to[8];
    size_t one = 1, edges = 8, branches = 8, joined = 8, left = 8, none = 8;
    cudaGraphGetRootNodes(graph, &fill, &one);
    cudaGraphGetEdges(graph, from, to, NO_DATA & edges);
    cudaGraphNodeGetDependentNodes(fill, behind, NO_DATA & branches);
    cudaGraphNodeGetDependentNodes(behind[0], before, NO_DATA & one);
    cudaGraphNode_t join = before[0];
    cudaGraphNodeGetDependencies(join, before, NO_DATA & joined);
    tell("edges", edges == 8 && branches == 4 && joined == 4 && before[3] == behind[3] &&
                      from[0] == fill && to[0] == behind[0]);
    cudaError_t status = cudaGraphRemoveDependencies(graph, &fill, &behind[1], NO_DATA 1);
    bool once = status == cudaSuccess &&
                cudaGraphRemoveDependencies(graph, &fill, &behind[1], NO_DATA 1) != cudaSuccess;
    cudaGraphAddDependencies(graph, &fill, &behind[1], NO_DATA 1);
    status = cudaGraphDestroyNode(behind[0]);
    cudaGraphGetEdges(graph, nullptr, nullptr, NO_DATA & left);
    cudaGraphNodeGetDependencies(fill, nullptr, NO_DATA & none);
    tell("a node that goes", once && status == cudaSuccess && left == 6 && none == 0);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    std::vector<float> host(LENGTH);
    milliseconds(graph, stream);
    cudaMemcpy(host.data(), sum, LENGTH * sizeof(float), cudaMemcpyDeviceToHost);
    tell("the sum without it", host[5] == 2.0f * (2 + 3 + 4));
    cudaGraphDestroy(graph);
}

// ---- launches with attributes ----
__global__ void cluster_sum(const int *x, int *out)
{
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = x[blockIdx.x];
    cluster.sync();
    int all = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++)
        all += *cluster.map_shared_rank(&own, r);
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

__global__ void grid_sum(int *x, int *out)
{
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) x[blockIdx.x] *= 2;
    grid.sync();
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        all += x[b];
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

static void clusters_test()
{
    const int blocks = 16;
    int host[blocks], *x, *out;
    cudaMalloc(&x, sizeof host), cudaMalloc(&out, sizeof host);
    for (int i = 0; i < blocks; i++)
        host[i] = i;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    for (int size : {2, 8, 16}) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size,
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = blocks, config.blockDim = 64, config.attrs = &attribute,
        config.numAttrs = 1;
        cudaError_t status = cudaLaunchKernelEx(&config, cluster_sum, (const int *)x, out);
        if (size > 8 && status == cudaErrorInvalidClusterSize) { // not without being allowed
            cudaFuncSetAttribute(cluster_sum, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
            status = cudaLaunchKernelEx(&config, cluster_sum, (const int *)x, out);
        } else if (size > 8) {
            status = cudaErrorUnknown;
        }
        int got[blocks];
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        bool right = status == cudaSuccess;
        for (int i = 0; i < blocks; i++) {
            int first = i / size * size;
            right &= got[i] == size * first + size * (size - 1) / 2;
        }
        tell(size == 2 ? "clusters of 2" : size == 8 ? "clusters of 8" : "clusters of 16", right);
    }
    void *arguments[] = {&x, &out};
    cudaError_t status =
        cudaLaunchCooperativeKernel((void *)grid_sum, dim3(blocks), dim3(32), arguments);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    bool right = status == cudaSuccess;
    for (int i = 0; i < blocks; i++)
        right &= host[i] == blocks * (blocks - 1);
    tell("a grid that meets", right);
    cudaFree(x), cudaFree(out);
}

int main(int count, char **argument)
{
    const char *what = count > 1 ? argument[1] : "";
    if (!strcmp(what, "clusters")) {
        clusters_test();
        return failed;
    }
    cudaMalloc(&parts, BRANCHES * LENGTH * sizeof(float));
    cudaMalloc(&sum, LENGTH * sizeof(float));
    graphs_test(!strcmp(what, "missing"));
    if (!*what) edges_test();
    cudaFree(parts), cudaFree(sum);
    return failed;
}
