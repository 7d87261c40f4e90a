// findings.cu MODE - one fault for each rule about how findings are grouped and described, and a
// clean twin for each: "clean" in place of "fault" as the second argument.
#include <cstdio>
#include <cstring>
#include <cuda.h>

static bool faulty;
#define SAY(call) printf("%s: %s\n", #call, cudaGetErrorString(call))

// A harmless line that is reported often must not hide another one.
__global__ void add(float *a, int from)
{
    a[from + threadIdx.x] += 1;
}
__global__ void reverse(int *a, int waits)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    if (waits) __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}
static void often()
{
    float *a;
    int *b;
    cudaMalloc(&a, 1 << 16);
    cudaMalloc(&b, 256);
    cudaMemset(b, 0, 256);
    if (!faulty) cudaMemset(a, 0, 1 << 16);
    for (int i = 0; i < 125; i++)
        add<<<1, 32>>>(a, i * 32);
    reverse<<<1, 64>>>(b, !faulty);
    SAY(cudaDeviceSynchronize());
    cudaFree(a);
    cudaFree(b);
}

// An access outside an array, by an index that nothing wrote.
__global__ void scatter(const int *n, int *o, int waits)
{
    __shared__ int base[1];
    int t = threadIdx.x;
    if (t == 63) base[0] = n[0];
    if (waits) __syncthreads();
    o[base[0] + t] = t;
}
static void hides()
{
    int *n, *o;
    cudaMalloc(&n, 4);
    cudaMalloc(&o, 512);
    cudaMemset(n, 0, 4);
    scatter<<<1, 64>>>(n, o, !faulty);
    SAY(cudaDeviceSynchronize());
    cudaFree(n);
    cudaFree(o);
}

// The fifth of six launches is wrong; and one that cannot start.
__global__ void step(float *a, int from)
{
    a[from + threadIdx.x] = 1;
}
static void run(float *a, int i)
{
    step<<<1, 32>>>(a, i * 32);
}
static void which()
{
    float *a;
    cudaMalloc(&a, (faulty ? 128 : 192) * sizeof *a);
    for (int i = 0; i < 6; i++)
        run(a, i);
    cudaFree(a);
}
static void threads()
{
    float *a;
    cudaMalloc(&a, 8192);
    step<<<1, 32>>>(a, 0);
    step<<<1, faulty ? 2048 : 1024>>>(a, 0);
    cudaFree(a);
}

// A stream of a capture is destroyed, before or after the first stream waits for it.
static void capture()
{
    float *a;
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph = nullptr;
    cudaMalloc(&a, 256);
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork);
    step<<<1, 32, 0, second>>>(a, 0);
    step<<<1, 32, 0, first>>>(a, 32);
    cudaEventRecord(join, second);
    if (!faulty) cudaStreamWaitEvent(first, join);
    SAY(cudaStreamDestroy(second));
    SAY(cudaStreamEndCapture(first, &graph));
    if (graph) cudaGraphDestroy(graph);
    cudaFree(a);
}

// The driver's function without cudaGetDriverEntryPoint.
static void map()
{
    float *a;
    CUtensorMap m;
    cuuint64_t dims[] = {64, 64}, strides[] = {256};
    cuuint32_t box[] = {32, 32}, steps[] = {1, faulty ? 9u : 1u};
    cudaMalloc(&a, 64 * 64 * sizeof *a);
    printf("map %d\n", (int)cuTensorMapEncodeTiled(
                           &m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, a, dims, strides, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    cudaFree(a);
}

int main(int count, char **word)
{
    const char *mode = count > 2 ? word[1] : "";
    faulty = count > 2 && !strcmp(word[2], "fault");
    if (!strcmp(mode, "often")) often();
    if (!strcmp(mode, "hides")) hides();
    if (!strcmp(mode, "which")) which();
    if (!strcmp(mode, "threads")) threads();
    if (!strcmp(mode, "capture")) capture();
    if (!strcmp(mode, "map")) map();
}
