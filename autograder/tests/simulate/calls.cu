// Calls of the runtime that few programs make.  Graphs: nodes of any kind by one call and their
// parameters, drawings, memory allocated by graphs, user objects.  Memory: batches of copies,
// arrays to arrays, pinned memory by its own address, advice on managed memory, borders of byte
// textures.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unistd.h>

enum { N = 1000 };

static int wrong;

static void expect(const char *what, bool right)
{
    printf("%s %s\n", right ? "ok" : "not ok", what);
    wrong += !right;
}

__global__ void add(float *x, float value, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] += value;
}

__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}

__global__ void beyond(cudaTextureObject_t bytes, cudaTextureObject_t parts, float *out)
{
    out[0] = tex2D<unsigned char>(bytes, -5, -5);
    float4 part = tex2D<float4>(parts, -5, -5);
    out[1] = part.x * 255, out[2] = part.y * 255, out[3] = part.z * 255, out[4] = part.w * 255;
}

static void count(void *counter)
{
    ++*(int *)counter;
}

static int lines_with(const char *path, const char *text)
{
    char line[1024];
    int found = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        found += strstr(line, text) != nullptr;
    if (file) fclose(file);
    return found;
}

static void graphs(float *a)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel, host;
    float value = 3, out[N];
    int n = N, called = 0, destroyed = 0;
    void *arguments[] = {&a, &value, &n};
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = a, params.memset.elementSize = 4;
    params.memset.width = N, params.memset.height = 1;
    cudaGraphAddNode(&fill, graph, nullptr, nullptr, 0, &params);
    params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)add, params.kernel.kernelParams = arguments;
    params.kernel.gridDim = 4, params.kernel.blockDim = 256;
    cudaGraphAddNode(&kernel, graph, &fill, nullptr, 1, &params);
    params = {};
    params.type = cudaGraphNodeTypeHost;
    params.host.fn = count, params.host.userData = &called;
    cudaGraphAddNode(&host, graph, &kernel, nullptr, 1, &params);
    cudaUserObject_t object;
    cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync);
    cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    cudaMemsetParams told;
    expect("what a node was given", !cudaGraphMemsetNodeGetParams(fill, &told) && told.dst == a &&
                                        told.width == N && told.elementSize == 4);
    cudaGraph_t other;
    cudaGraphNode_t nothing;
    cudaMemcpy3DParms copied;
    cudaGraphCreate(&other, 0);
    cudaGraphAddMemcpyNode1D(&nothing, other, nullptr, 0, a, out, 0, cudaMemcpyHostToDevice);
    expect("a copy of nothing", !cudaGraphMemcpyNodeGetParams(nothing, &copied) &&
                                    copied.extent.width == 0 && copied.dstPtr.ptr == a);
    cudaGraphDestroy(other);
    char path[] = "/tmp/calls.XXXXXX";
    close(mkstemp(path));
    expect("a drawing", !cudaGraphDebugDotPrint(graph, path, 0) && lines_with(path, "->") == 2 &&
                            lines_with(path, "MEMSET") == 1 && lines_with(path, "digraph") == 1);
    unlink(path);
    cudaGraphInstantiate(&exec, graph);
    cudaGraphDestroy(graph);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost);
    expect("nodes of any kind", out[0] == 3 && out[N - 1] == 3 && called == 1);
    unsigned enabled = 9;
    cudaGraphNodeSetEnabled(exec, kernel, 0);
    expect("disabled", !cudaGraphNodeGetEnabled(exec, kernel, &enabled) && enabled == 0 &&
                           cudaGraphNodeSetEnabled(exec, host, 0) == cudaErrorInvalidValue);
    expect("the object is still held", destroyed == 0);
    cudaGraphExecDestroy(exec);
    expect("and goes with the last graph", destroyed == 1);
    cudaStreamDestroy(stream);
}

static void copies(float *a)
{
    int *pinned, *zero;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&pinned, 256 * sizeof *pinned);
    for (int i = 0; i < 256; i++)
        pinned[i] = i;
    void *dst[] = {a, a + 100};
    const void *src[] = {pinned, pinned + 50};
    size_t bytes[] = {64, 4}, first = 0;
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    cudaError_t status = cudaMemcpyBatchAsync(dst, src, bytes, 2, &how, &first, 1, stream);
    cudaStreamSynchronize(stream);
    int got[2];
    cudaMemcpy(got, a + 15, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(got + 1, a + 100, 4, cudaMemcpyDefault);
    expect("a batch", !status && got[0] == 15 && got[1] == 50);
    twice<<<1, 256>>>(pinned);
    status = cudaDeviceSynchronize();
    expect("pinned memory in a kernel", !status && pinned[255] == 510);
    cudaMallocManaged(&zero, 4096);
    cudaMemAdvise(zero, 4096, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0});
    int mostly = -1, wanted = 7;
    cudaMemRangeGetAttribute(&mostly, 4, cudaMemRangeAttributeReadMostly, zero, 4096);
    cudaMemRangeGetAttribute(&wanted, 4, cudaMemRangeAttributePreferredLocation, zero, 4096);
    expect("advice", mostly == 1 && wanted == cudaInvalidDeviceId);
    cudaFree(zero);
    cudaFreeHost(pinned);
    cudaStreamDestroy(stream);
}

static cudaTextureObject_t texture(cudaArray_t array, cudaTextureReadMode mode)
{
    cudaResourceDesc from = {};
    from.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.readMode = mode;
    how.borderColor[0] = 0.3f, how.borderColor[1] = 0.6f;
    how.borderColor[2] = 0.3f * 3, how.borderColor[3] = 0.00588f;
    cudaTextureObject_t made = 0;
    cudaCreateTextureObject(&made, &from, &how, nullptr);
    return made;
}

static void arrays(float *out)
{
    auto format = cudaCreateChannelDesc<unsigned char>();
    unsigned char bytes[64], got[16], line[6];
    cudaArray_t one, other;
    for (int i = 0; i < 64; i++)
        bytes[i] = i;
    cudaMallocArray(&one, &format, 8, 8);
    cudaMallocArray(&other, &format, 8, 8);
    cudaMemcpy2DToArray(one, 0, 0, bytes, 8, 8, 8, cudaMemcpyHostToDevice);
    cudaMemcpy2DArrayToArray(other, 2, 3, one, 4, 5, 4, 2);
    cudaMemcpy2DFromArray(got, 4, other, 2, 3, 4, 2, cudaMemcpyDeviceToHost);
    expect("array to array", got[0] == 44 && got[3] == 47 && got[7] == 55);
    cudaMemcpyFromArray(line, one, 6, 2, sizeof line, cudaMemcpyDeviceToHost);
    expect("from within a row to the next", line[1] == 23 && line[2] == 24 && line[5] == 27);
    const cudaError_t bad = cudaErrorInvalidValue;
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(bytes, 8, 8, 8), box.dstArray = one;
    box.dstPos = make_cudaPos(1, 0, 0), box.extent = make_cudaExtent(8, 1, 1);
    box.kind = cudaMemcpyHostToDevice;
    expect("nothing beyond an array",
           cudaMemcpy2DToArray(one, 0, 0, bytes, 16, 9, 1, cudaMemcpyHostToDevice) == bad &&
               cudaMemcpy2DFromArray(got, 4, one, 6, 0, 4, 2, cudaMemcpyDeviceToHost) == bad &&
               cudaMemcpy2DFromArray(got, 4, one, 0, 7, 4, 2, cudaMemcpyDeviceToHost) == bad &&
               cudaMemcpy3D(&box) == bad);
    auto colours = cudaCreateChannelDesc<uchar4>();
    cudaArray_t four;
    cudaMallocArray(&four, &colours, 2, 2);
    cudaTextureObject_t whole = texture(one, cudaReadModeElementType),
                        part = texture(four, cudaReadModeNormalizedFloat);
    const float h200[] = {0x9a, 76, 153, 229, 1}; /* 0.3 * 3 * 255 is 229.50001 */
    float seen[5];
    int other_colours = 0;
    beyond<<<1, 1>>>(whole, part, out);
    cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; i++)
        other_colours += seen[i] < h200[i] - 0.01f || seen[i] > h200[i] + 0.01f;
    expect("a border of bytes", other_colours == 0);
    cudaResourceDesc told;
    cudaTextureDesc how;
    expect("what a texture is of", !cudaGetTextureObjectResourceDesc(&told, whole) &&
                                       told.res.array.array == one &&
                                       !cudaGetTextureObjectTextureDesc(&how, part) &&
                                       how.readMode == cudaReadModeNormalizedFloat);
    cudaDestroyTextureObject(whole), cudaDestroyTextureObject(part), cudaFreeArray(four);
    cudaFreeArray(one), cudaFreeArray(other);
}

static float first_of(const float *x)
{
    float value = -1;
    cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

// Captured: a sum of a fresh array, given back at once, on each launch.
static void memory_captured(float *a)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float *fresh, *none;
    size_t nodes = 0;
    cudaStreamCreate(&stream);
    cudaMemset(a, 0, N * sizeof *a);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&fresh, N * sizeof *fresh, stream);
    cudaMemcpyAsync(fresh, a, N * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    add<<<N / 250, 250, 0, stream>>>(fresh, 2, N);
    cudaMemcpyAsync(a, fresh, N * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(fresh, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphGetNodes(graph, nullptr, &nodes);
    bool right = nodes == 5 && !cudaGraphInstantiate(&exec, graph, 0) && !cudaGraphDestroy(graph);
    for (int i = 0; i < 3; i++)
        right &= !cudaGraphLaunch(exec, stream);
    right &= !cudaStreamSynchronize(stream) && first_of(a) == 6;
    // No launch uses it now; a failed capture leaves no allocation.
    right &= cudaFree(fresh) == cudaErrorInvalidValue && !cudaGraphExecDestroy(exec);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    right &= cudaMallocAsync(&none, ~(size_t)0, stream) == cudaErrorMemoryAllocation;
    cudaStreamEndCapture(stream, &graph), cudaGraphDestroy(graph), cudaStreamDestroy(stream);
    expect("captured memory", right);
}

// By nodes: memory that outlives the launch, and that its owner frees.
static void memory_of_nodes()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec, again;
    cudaGraphNode_t give, fill;
    cudaMemAllocNodeParams asked = {}, told;
    unsigned long long used = 0, kept = 0;
    asked.bytesize = 4096;
    asked.poolProps.allocType = cudaMemAllocationTypePinned;
    asked.poolProps.location.type = cudaMemLocationTypeDevice;
    cudaGraphCreate(&graph, 0);
    bool right = !cudaGraphAddMemAllocNode(&give, graph, nullptr, 0, &asked) && asked.dptr &&
                 !cudaGraphMemAllocNodeGetParams(give, &told) && told.dptr == asked.dptr;
    float *x = (float *)asked.dptr;
    cudaMemsetParams zeros = {x, 4096, 0, 4, 1024, 1};
    cudaGraphAddMemsetNode(&fill, graph, &give, 1, &zeros);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphInstantiate(&again, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    right &= !cudaGraphLaunch(exec, 0) && first_of(x) == 0;
    right &= cudaGraphLaunch(exec, 0) == cudaErrorInvalidValue; // it is still out
    add<<<1, 250>>>(x, 7, 250);
    right &= first_of(x) == 7 && !cudaGraphLaunch(again, 0) && first_of(x) == 0;
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used);
    cudaGraphDestroy(graph), cudaGraphExecDestroy(exec), cudaGraphExecDestroy(again);
    add<<<1, 250>>>(x, 5, 250); // the graph is gone, its memory is not
    right &= first_of(x) == 5 && !cudaFree(x);
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &kept);
    expect("memory that a graph gives out",
           right && used == 4096 && kept == 0 && !cudaDeviceGraphMemTrim(0));
}

static uint64_t told(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
    uint64_t value = 99;
    cudaMemPoolGetAttribute(pool, attribute, &value);
    return value;
}

// Used memory and its maximum; also after cudaFree, or after its pool was destroyed.
static void pools()
{
    cudaMemPool_t all, own;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    uint64_t keep = 1 << 20, zero = 0;
    void *x, *y, *z;
    cudaDeviceGetDefaultMemPool(&all, 0);
    cudaMemPoolSetAttribute(all, cudaMemPoolAttrReleaseThreshold, &keep);
    bool right =
        !cudaMemPoolCreate(&own, &props) && told(own, cudaMemPoolAttrReleaseThreshold) == 0;
    cudaMallocAsync(&x, 1000, 0);
    cudaMallocFromPoolAsync(&y, 300, own, 0);
    cudaMallocFromPoolAsync(&z, 200, own, 0);
    right &= told(all, cudaMemPoolAttrUsedMemCurrent) == 1000 &&
             told(own, cudaMemPoolAttrUsedMemCurrent) == 500;
    cudaFreeAsync(x, 0), cudaFree(y);
    right &= told(all, cudaMemPoolAttrUsedMemCurrent) == 0 &&
             told(all, cudaMemPoolAttrUsedMemHigh) == 1000 &&
             told(own, cudaMemPoolAttrReservedMemCurrent) == 200 &&
             told(own, cudaMemPoolAttrReservedMemHigh) == 500;
    right &= !cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &zero) &&
             told(own, cudaMemPoolAttrUsedMemHigh) == 200;
    right &=
        cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue;
    cudaMemPoolDestroy(own);
    expect("pools", right && !cudaFreeAsync(z, 0));
}

int main()
{
    float *a;
    cudaMalloc(&a, N * sizeof *a);
    graphs(a);
    memory_captured(a);
    memory_of_nodes();
    pools();
    copies(a);
    arrays(a);
    cudaFree(a);
    return wrong != 0;
}
