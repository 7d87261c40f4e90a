// waits.cu - ./waits MODE fault|clean: the host waits for one of two streams, and then uses memory
// of the other.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { COUNT = 4096, BYTES = COUNT * sizeof(int) };

static bool faulty;

__global__ void count_up(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
}

__global__ void add(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

struct Streams {
    cudaStream_t one, two;
    cudaEvent_t done;
    Streams()
    {
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    ~Streams()
    {
        cudaStreamDestroy(one), cudaStreamDestroy(two);
        cudaEventDestroy(done);
    }
};

static int *managed()
{
    int *x;
    cudaMallocManaged(&x, BYTES);
    memset(x, 0, BYTES);
    return x;
}

// Managed memory; the same where the second stream waits for the first.
static int streams(Streams &s, bool joined)
{
    int *x = managed(), *y = managed();
    count_up<<<COUNT / 256, 256, 0, s.one>>>(x);
    cudaEventRecord(s.done, s.one);
    if (joined && !faulty) cudaStreamWaitEvent(s.two, s.done, 0);
    count_up<<<COUNT / 256, 256, 0, s.two>>>(y);
    cudaStreamSynchronize(joined || faulty ? s.two : s.one);
    int seen = x[100];
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
    return seen;
}

// An event that is recorded before the kernel.
static int events(Streams &s)
{
    int *x = managed(), *y = managed();
    count_up<<<COUNT / 256, 256, 0, s.one>>>(x);
    if (faulty) cudaEventRecord(s.done, s.one);
    add<<<COUNT / 256, 256, 0, s.one>>>(x, y);
    if (!faulty) cudaEventRecord(s.done, s.one);
    cudaEventSynchronize(s.done);
    int seen = y[100];
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
    return seen;
}

// Pinned memory that a copy on the other stream writes, or a copy from which is in flight.
static int copies(Streams &s, bool writes)
{
    int *d, *h, seen = 100;
    cudaMalloc(&d, BYTES);
    cudaMallocHost(&h, BYTES);
    memset(h, 0, BYTES);
    count_up<<<COUNT / 256, 256, 0, s.one>>>(d);
    if (writes)
        cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s.one);
    else
        cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s.one);
    cudaStreamSynchronize(faulty ? s.two : s.one);
    if (writes)
        h[100] = 1;
    else
        seen = h[100];
    cudaDeviceSynchronize();
    cudaFree(d), cudaFreeHost(h);
    return seen;
}

// A copy that the host waits for, while another stream still works.
static int copied(Streams &s)
{
    int *x = managed(), *d, h[COUNT];
    cudaMalloc(&d, BYTES);
    cudaMemset(d, 0, BYTES);
    cudaDeviceSynchronize();
    count_up<<<COUNT / 256, 256, 0, s.one>>>(x);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, faulty ? s.two : s.one);
    cudaStreamSynchronize(faulty ? s.two : s.one);
    int seen = x[100] + h[0];
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(d);
    return seen;
}

// The copy to the host is not over, either, for a kernel on the other stream.
static int overwritten(Streams &s)
{
    int *d, *h;
    cudaMalloc(&d, BYTES);
    cudaMallocHost(&h, BYTES);
    count_up<<<COUNT / 256, 256, 0, s.one>>>(d);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s.one);
    if (!faulty) cudaStreamSynchronize(s.one);
    count_up<<<COUNT / 256, 256, 0, s.two>>>(d);
    cudaDeviceSynchronize();
    int seen = h[100];
    cudaFree(d), cudaFreeHost(h);
    return seen;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    faulty = argc > 2 && !strcmp(argv[2], "fault");
    Streams s;
    int seen = -1;
    if (!strcmp(mode, "streams")) seen = streams(s, false);
    if (!strcmp(mode, "joined")) seen = streams(s, true);
    if (!strcmp(mode, "events")) seen = events(s);
    if (!strcmp(mode, "read")) seen = copies(s, false);
    if (!strcmp(mode, "written")) seen = copies(s, true);
    if (!strcmp(mode, "copied")) seen = copied(s);
    if (!strcmp(mode, "overwritten")) seen = overwritten(s);
    printf("seen %d\n", seen);
    return 0;
}
