// warnings.cu MODE KIND - what is probably wrong, and what looks wrong but is not: KIND "fault" has
// the fault, "clean" is its twin without it.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;
static bool faulty;

static void finish(const char *name)
{
    printf("%s: %s\n", name, cudaGetErrorString(cudaDeviceSynchronize()));
}

// Lanes that change one word without an atomic; and lanes that set one word to the same value.
__global__ void count(int *n, int atomic)
{
    if (atomic)
        atomicAdd(n, 1);
    else
        *n = *n + 1;
    n[1] = 7;
}
static void update()
{
    int *n;
    cudaMalloc(&n, 8);
    cudaMemset(n, 0, 8);
    count<<<1, 32>>>(n, !faulty);
    finish("update");
    cudaFree(n);
}

// A reduction by one warp, in lockstep; the second one with volatile accesses.
__global__ void reduce(int *out, int waits)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t, s[t + 32] = 1;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        if (waits) __syncwarp();
    }
    if (t == 0) *out = s[0];
}
__global__ void reduce_volatile(int *out, int waits)
{
    __shared__ int s[64];
    volatile int *v = s;
    int t = threadIdx.x;
    v[t] = t, v[t + 32] = 1;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        int x = v[t + d];
        if (waits) __syncwarp();
        v[t] += x;
        if (waits) __syncwarp();
    }
    if (t == 0) *out = v[0];
}
static void lockstep(bool is_volatile)
{
    int *out;
    cudaMalloc(&out, 4);
    if (is_volatile)
        reduce_volatile<<<1, 32>>>(out, !faulty);
    else
        reduce<<<1, 32>>>(out, !faulty);
    finish("lockstep");
    cudaFree(out);
}

// Threads return before a barrier; whole warps may.
__global__ void mirror(float *d, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[n - 1 - t];
}
static void returns()
{
    float *d;
    cudaMalloc(&d, 512);
    cudaMemset(d, 0, 512);
    mirror<<<1, 128>>>(d, faulty ? 100 : 96);
    finish("returns");
    cudaFree(d);
}

// A lock that the lanes of a warp take one after the other; or that nobody gives back.
__device__ int mutex, entries;
__global__ void lock(int gives)
{
    for (int i = 0; i < 32; i++)
        if (threadIdx.x % 32 == i) {
            while (atomicCAS(&mutex, 0, 1) != 0) {
            }
            __threadfence();
            entries++;
            __threadfence();
            if (gives) atomicExch(&mutex, 0);
        }
}
static void locks(int blocks, int threads)
{
    int n = 0;
    lock<<<blocks, threads>>>(!faulty);
    finish("locks");
    cudaMemcpyFromSymbol(&n, entries, sizeof n);
    printf("entries %d\n", n);
}

// Host and kernel use one word at the same time.
__global__ void add_system(int *a)
{
    atomicAdd_system(a, 1);
}
__global__ void add_device(int *a)
{
    atomicAdd(a, 1);
}
static void host_atomic()
{
    int *a;
    cudaMallocManaged(&a, 4);
    *a = 0;
    if (faulty)
        add_device<<<1, 32>>>(a);
    else
        add_system<<<1, 32>>>(a);
    __sync_fetch_and_add(a, 1);
    finish("host_atomic");
    cudaFree(a);
}

// A grid that does not reach all elements of what is copied to the host.
__global__ void fill(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i;
}
static void grid_size()
{
    static int h[1000];
    int *a, n = 1000;
    cudaMalloc(&a, sizeof h);
    fill<<<faulty ? n / 256 : (n + 255) / 256, 256>>>(a, n);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(a);
}

// Pinned memory of asynchronous copies that is used before they are complete.
static void async(bool reuses)
{
    int *d, *h;
    cudaStream_t s;
    cudaMalloc(&d, 4096);
    cudaMallocHost(&h, 4096);
    cudaStreamCreate(&s);
    memset(h, 0, 4096);
    if (reuses)
        cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, s);
    else
        fill<<<4, 256, 0, s>>>(d, 1024);
    if (!reuses) cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost, s);
    if (!faulty) cudaStreamSynchronize(s);
    if (reuses)
        h[31] = 1;
    else
        printf("seen %d\n", h[31]);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    cudaFreeHost(h);
    cudaFree(d);
}

// Output that may not appear.
__global__ void hello()
{
    printf("hello from %d\n", threadIdx.x);
}
static void prints()
{
    hello<<<1, 2>>>();
    if (!faulty) cudaDeviceSynchronize();
}

// A grid that synchronises, in a launch that is not cooperative.
__global__ void steps(int *a)
{
    a[threadIdx.x] = 1;
    cg::this_grid().sync();
    a[threadIdx.x] += 1;
}
static void grid_sync()
{
    int *a;
    cudaMalloc(&a, 128);
    void *arguments[] = {&a};
    if (faulty)
        steps<<<1, 32>>>(a);
    else
        cudaLaunchCooperativeKernel((void *)steps, 1, 32, arguments);
    finish("grid_sync");
    cudaFree(a);
}

int main(int words, char **word)
{
    const char *mode = words > 2 ? word[1] : "";
    faulty = words > 2 && !strcmp(word[2], "fault");
    if (!strcmp(mode, "update")) update();
    if (!strcmp(mode, "lockstep")) lockstep(false);
    if (!strcmp(mode, "volatile")) lockstep(true);
    if (!strcmp(mode, "returns")) returns();
    if (!strcmp(mode, "locks"))
        locks(words > 3 ? atoi(word[3]) : 4, words > 4 ? atoi(word[4]) : 64);
    if (!strcmp(mode, "host_atomic")) host_atomic();
    if (!strcmp(mode, "grid_size")) grid_size();
    if (!strcmp(mode, "async")) async(false);
    if (!strcmp(mode, "reuses")) async(true);
    if (!strcmp(mode, "prints")) prints();
    if (!strcmp(mode, "grid_sync")) grid_sync();
}
