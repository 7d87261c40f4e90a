// The kernels of test_end_to_end.c: CUDA as a student writes it, compiled by nvcc, executed with
// the drop-in runtime.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__constant__ float coefficient[4];
__device__ int counter;

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void polynomial(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = coefficient[0] +
               x[i] * (coefficient[1] + x[i] * (coefficient[2] + x[i] * coefficient[3]));
}

// Each block reverses its own segment through dynamic shared memory.
__global__ void reverse(const int *from, int *to)
{
    extern __shared__ int tile[];
    int base = blockIdx.x * blockDim.x;
    tile[threadIdx.x] = from[base + threadIdx.x];
    __syncthreads();
    to[base + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void scale(float *x, float factor, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= factor;
}

__global__ void __launch_bounds__(128) out_of_bounds(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i + n] = 1.0f; // PLANTED: past the end from the first thread on
}

__global__ void first_to_last(char small, double middle, int *out, short last)
{
    out[0] = small, out[1] = (int)(middle * 2), out[2] = last;
}

__global__ void sum_unwritten(const float *x, float *out)
{
    *out = x[0] + x[1];
}

extern "C" int vector_add(int n)
{
    float *host = (float *)malloc(3 * n * sizeof *host), *a, *b, *c;
    for (int i = 0; i < n; i++)
        host[i] = i, host[n + i] = 0.25f * i;
    cudaMalloc(&a, n * sizeof *a), cudaMalloc(&b, n * sizeof *b), cudaMalloc(&c, n * sizeof *c);
    cudaMemcpy(a, host, n * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host + n, n * sizeof *b, cudaMemcpyHostToDevice);
    add<<<(n + 127) / 128, 128>>>(a, b, c, n);
    cudaMemcpy(host + 2 * n, c, n * sizeof *c, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += host[2 * n + i] != 1.25f * i;
    cudaFree(a), cudaFree(b), cudaFree(c);
    free(host);
    return wrong;
}

extern "C" int constant_symbols(void)
{
    const float values[4] = {1, 2, 3, 4};
    float back[4] = {0}, x[3] = {0, 1, 2}, *device;
    size_t bytes = 0;
    int count = 7, read = 0;
    cudaMemcpyToSymbol(coefficient, values, 2 * sizeof(float));
    cudaMemcpyToSymbol(coefficient, values + 2, 2 * sizeof(float), 2 * sizeof(float));
    cudaMemcpyFromSymbol(back, coefficient, sizeof back);
    cudaGetSymbolSize(&bytes, coefficient);
    cudaMemcpyToSymbol(counter, &count, sizeof count);
    cudaMemcpyFromSymbol(&read, counter, sizeof read);
    cudaMalloc(&device, sizeof x);
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    polynomial<<<1, 32>>>(device, 3);
    cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return memcmp(back, values, sizeof back) != 0 || bytes != 16 || read != 7 || x[0] != 1 ||
           x[1] != 10 || x[2] != 49;
}

// `shared` ints per block of dynamic shared memory; 0 if all is reversed, -1 if not, else the
// cudaError_t.
extern "C" int dynamic_shared(int threads, int shared, int opt_in)
{
    int n = 2 * threads, host[2048], *from, *to;
    if (opt_in) {
        cudaError_t status =
            cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, shared * 4);
        if (status != cudaSuccess) return status;
    }
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaMalloc(&from, sizeof host), cudaMalloc(&to, sizeof host);
    cudaMemcpy(from, host, n * 4, cudaMemcpyHostToDevice);
    reverse<<<2, threads, shared * 4>>>(from, to);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) cudaMemcpy(host, to, n * 4, cudaMemcpyDeviceToHost);
    cudaFree(from), cudaFree(to);
    if (status != cudaSuccess) return status;
    for (int i = 0; i < n; i++)
        if (host[i] != i / threads * threads + threads - 1 - i % threads) return -1;
    return 0;
}

// Two streams that pass a buffer to each other; stores the simulated milliseconds between the two
// ends.
extern "C" int streams_and_events(float *milliseconds)
{
    const int n = 5000;
    cudaStream_t first, second;
    cudaEvent_t begin, handed, end;
    float *host, *device;
    cudaMallocHost(&host, n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaStreamCreate(&first), cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&begin), cudaEventCreate(&end),
        cudaEventCreateWithFlags(&handed, cudaEventDisableTiming);
    cudaMalloc(&device, n * sizeof *device);
    cudaEventRecord(begin, first);
    cudaMemcpyAsync(device, host, n * sizeof *device, cudaMemcpyHostToDevice, first);
    scale<<<8, 64, 0, first>>>(device, 2.0f, n);
    cudaEventRecord(handed, first);
    cudaStreamWaitEvent(second, handed, 0);
    scale<<<8, 64, 0, second>>>(device, 3.0f, n);
    cudaMemcpyAsync(host, device, n * sizeof *device, cudaMemcpyDeviceToHost, second);
    cudaEventRecord(end, second);
    cudaEventSynchronize(end);
    cudaError_t status = cudaEventElapsedTime(milliseconds, begin, end);
    if (status == cudaSuccess && cudaEventElapsedTime(milliseconds, handed, end) == cudaSuccess)
        return -2;
    cudaGetLastError();
    cudaEventElapsedTime(milliseconds, begin, end);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += host[i] != 6.0f * i;
    cudaStreamSynchronize(second);
    cudaStreamDestroy(first), cudaStreamDestroy(second);
    cudaEventDestroy(begin), cudaEventDestroy(handed), cudaEventDestroy(end);
    cudaFree(device), cudaFreeHost(host);
    return status != cudaSuccess ? (int)status : wrong;
}

extern "C" int mixed_parameters(void)
{
    int *device, host[3];
    cudaMalloc(&device, sizeof host);
    first_to_last<<<1, 1>>>('a', 21.5, device, -9);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return host[0] != 'a' || host[1] != 43 || host[2] != -9;
}

extern "C" int launch_with(int blocks, int threads)
{
    scale<<<blocks, threads>>>((float *)0, 1.0f, 0);
    return cudaGetLastError();
}

extern "C" int launch_out_of_bounds(int threads)
{
    float *x;
    cudaMalloc(&x, 64 * sizeof *x);
    out_of_bounds<<<1, threads>>>(x, 64);
    cudaError_t status = cudaDeviceSynchronize();
    cudaFree(x);
    return status;
}

extern "C" int read_unwritten(void)
{
    float *x;
    cudaMalloc(&x, 64 * sizeof *x);
    sum_unwritten<<<1, 1>>>(x, x + 8);
    return cudaDeviceSynchronize();
}

extern "C" int occupancy(int *blocks, int *registers, int *suggested)
{
    cudaFuncAttributes attributes;
    int grid;
    cudaError_t status = cudaFuncGetAttributes(&attributes, add);
    if (status != cudaSuccess) return status;
    *registers = attributes.numRegs;
    status = cudaOccupancyMaxPotentialBlockSize(&grid, suggested, add);
    if (status != cudaSuccess) return status;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, add, 256, 0);
}

extern "C" int device_name(char *name)
{
    cudaDeviceProp properties;
    cudaError_t status = cudaGetDeviceProperties(&properties, 0);
    strcpy(name, properties.name);
    return status;
}

// Fills memory in stream order, returns its first number, frees it; `late` uses it again.
extern "C" int freed_on_a_stream(float *first, int late)
{
    float *x, *y;
    cudaMemPool_t pool;
    uint64_t keep = ~0ull;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (cudaDeviceGetDefaultMemPool(&pool, 0) ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) ||
        cudaMallocAsync(&x, 64 * sizeof *x, stream) || cudaMalloc(&y, 64 * sizeof *y))
        return -1;
    cudaMemsetAsync(x, 0, 64 * sizeof *x, stream);
    add<<<1, 64, 0, stream>>>(x, x, y, 64);
    cudaFreeAsync(x, stream);
    if (late) scale<<<1, 64, 0, stream>>>(x, 2.0f, 64);
    int status = cudaMemcpyAsync(first, y, sizeof *first, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(y);
    return status;
}

enum {
    ALONE,
    BY_EVENT,
    BY_STREAM_SYNC,
    BY_DEFAULT,
    NOT_BY_DEFAULT,
    OWN_HALVES,
    COPY_ALONE,
    ALLOCATED_BETWEEN
};

// Fills x on one stream and uses it on another, with or without an ordering operation.
extern "C" int two_streams(int how)
{
    float *x, *other = NULL;
    cudaStream_t first, second;
    cudaEvent_t filled;
    cudaStreamCreateWithFlags(&first, how == BY_DEFAULT || how == ALLOCATED_BETWEEN
                                          ? cudaStreamDefault
                                          : cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second,
                              how == ALLOCATED_BETWEEN ? cudaStreamDefault : cudaStreamNonBlocking);
    cudaEventCreate(&filled);
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMemset(x, 0, 128 * sizeof *x);
    cudaDeviceSynchronize();
    if (how == BY_DEFAULT || how == NOT_BY_DEFAULT) second = NULL;
    if (how == COPY_ALONE)
        cudaMemcpyAsync(x, x + 64, 64 * sizeof *x, cudaMemcpyDeviceToDevice, first);
    else
        scale<<<1, 64, 0, first>>>(x, 2.0f, 64);
    cudaEventRecord(filled, first);
    if (how == BY_EVENT) cudaStreamWaitEvent(second, filled, 0);
    if (how == BY_STREAM_SYNC) cudaStreamSynchronize(first);
    if (how == ALLOCATED_BETWEEN) cudaMalloc(&other, 4);
    scale<<<1, 64, 0, second>>>(how == OWN_HALVES ? x + 64 : x, 3.0f, 64);
    return cudaDeviceSynchronize() || cudaFree(x) || cudaFree(other);
}

static void CUDART_CB count_call(void *count)
{
    ++*(int *)count;
}

// x = x * 2: captured once, on two streams that fork and join; launched n times, each with copies
// from and to the host.
extern "C" int graph_by_capture(int times, int n, int *calls)
{
    float *host = (float *)calloc(n, sizeof *host), *x, *one;
    cudaStream_t first, second;
    cudaEvent_t parted, met;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&parted), cudaEventCreate(&met);
    cudaMalloc(&x, n * sizeof *x), cudaMalloc(&one, n * sizeof *one);
    if (cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal)) return -1;
    cudaMemcpyAsync(x, host, n * sizeof *x, cudaMemcpyHostToDevice, first);
    cudaEventRecord(parted, first);
    cudaStreamWaitEvent(second, parted, 0);
    cudaMemsetAsync(one, 0, n * sizeof *one, second);
    scale<<<1, 64, 0, first>>>(x, 2.0f, n);
    cudaEventRecord(met, second);
    cudaStreamWaitEvent(first, met, 0);
    add<<<(n + 63) / 64, 64, 0, first>>>(x, one, x, n);
    cudaMemcpyAsync(host, x, n * sizeof *x, cudaMemcpyDeviceToHost, first);
    cudaLaunchHostFunc(first, count_call, calls);
    cudaStreamIsCapturing(second, &status);
    if (status != cudaStreamCaptureStatusActive || *calls) return -2;
    if (cudaStreamEndCapture(first, &graph)) return -3;
    cudaStreamIsCapturing(second, &status);
    if (status != cudaStreamCaptureStatusNone) return -4;
    cudaGraphGetNodes(graph, NULL, &nodes);
    if (nodes != 6 || cudaGraphInstantiate(&exec, graph, 0) || cudaGraphDestroy(graph)) return -5;
    for (int i = 0; i < n; i++)
        host[i] = i + 1;
    for (int i = 0; i < times; i++)
        if (cudaGraphLaunch(exec, first)) return -6;
    int wrong = cudaStreamSynchronize(first);
    for (int i = 0; i < n; i++)
        wrong += host[i] != (i + 1) * (float)(1 << times);
    cudaGraphExecDestroy(exec);
    cudaStreamDestroy(first), cudaStreamDestroy(second);
    cudaFree(x), cudaFree(one), free(host);
    return wrong;
}

// fill 2 -> scale by 3 -> copy out, as nodes that are added in another order than they run; then
// the factor becomes 5 in the executable, and 7 in the graph and by an update.
extern "C" int graph_by_nodes(void)
{
    enum { N = 100 };
    float *x, host[N], factor = 3;
    int n = N, wrong = 0;
    cudaMalloc(&x, sizeof host);
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t out, work, fill, same;
    void *arguments[] = {&x, &factor, &n};
    cudaKernelNodeParams launch = {(void *)scale, dim3(2), dim3(64), 0, arguments, NULL};
    cudaMemsetParams two;
    two.dst = x, two.pitch = sizeof host, two.value = 0x40000000, two.elementSize = 4;
    two.width = N, two.height = 1;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&out, graph, NULL, 0, host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaGraphAddKernelNode(&work, graph, NULL, 0, &launch);
    cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &two);
    cudaGraphNode_t from[] = {fill, work}, to[] = {work, out};
#if CUDART_VERSION >= 13000
    cudaGraphAddDependencies(graph, from, to, NULL, 2);
#else
    cudaGraphAddDependencies(graph, from, to, 2);
#endif
    factor = 9; // the node has its own copy
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    for (int i = 0; i < N; i++)
        wrong += host[i] != 6;
    factor = 5;
    cudaGraphExecKernelNodeSetParams(exec, work, &launch);
    cudaGraphLaunch(exec, 0);
    for (int i = 0; i < N; i++)
        wrong += host[i] != 10;
    factor = 7;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphKernelNodeSetParams(work, &launch);
    cudaGraphClone(&clone, graph);
    cudaGraphNodeFindInClone(&same, work, clone);
    if (same == work || cudaGraphExecUpdate(exec, graph, &info)) return -1;
    cudaGraphLaunch(exec, 0);
    for (int i = 0; i < N; i++)
        wrong += host[i] != 14;
    cudaGraphAddDependencies(clone, &same, &same,
#if CUDART_VERSION >= 13000
                             NULL,
#endif
                             1);
    cudaGraphExec_t circle;
    if (cudaGraphInstantiate(&circle, clone, 0) != cudaErrorInvalidValue) return -2;
    cudaGraphAddEmptyNode(&same, graph, NULL, 0);
    if (cudaGraphExecUpdate(exec, graph, &info) != cudaErrorGraphExecUpdateFailure) return -3;
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaGraphDestroy(clone);
    cudaGetLastError();
    return wrong || cudaFree(x);
}

enum { SYNC_STREAM, DEFAULT_STREAM, ALLOCATE, FOREIGN_EVENT, UNJOINED, THE_DEFAULT };

// Calls that cannot be captured: the status of the call, and in *end that of the capture's end.
extern "C" int graph_refused(int what, int *end)
{
    float *x, *y;
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaStreamCreate(&stream), cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreate(&event), cudaEventRecord(event, other);
    cudaMalloc(&x, 256);
    cudaError_t status = cudaSuccess;
    if (what == THE_DEFAULT) return cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (what == SYNC_STREAM) status = cudaStreamSynchronize(stream);
    if (what == DEFAULT_STREAM) status = cudaMemset(x, 0, 256);
    if (what == ALLOCATE) status = cudaMalloc(&y, 256);
    if (what == FOREIGN_EVENT) status = cudaStreamWaitEvent(stream, event, 0);
    if (what == UNJOINED) {
        cudaEventRecord(event, stream);
        cudaStreamWaitEvent(other, event, 0);
        cudaMemsetAsync(x, 0, 256, other);
    }
    *end = cudaStreamEndCapture(stream, &graph);
    cudaMemsetAsync(x, 0, 256, stream); // executed immediately again
    cudaStreamSynchronize(stream), cudaFree(x);
    return status;
}
