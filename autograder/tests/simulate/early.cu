/* early.cu - ./early reads, two, pinned, writes, variable, `beside`, handler, fails, waits, polls:
 * host code that runs while a kernel may still be running. */
#include <csignal>
#include <cstdio>
#include <cstring>

__managed__ int calls;

__global__ void fill(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
    if (i == 0) calls++;
}

__global__ void copy(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void answer(volatile int *flag)
{
    flag[1] = 7;
    __threadfence_system();
    flag[0] = 1;
}

static void die(int)
{
    _Exit(9);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    int *x, *y, *pinned, seen = 0;
    cudaMallocManaged(&x, 5000 * sizeof *x);
    cudaMallocManaged(&y, 128 * sizeof *y);
    cudaMallocHost(&pinned, 5000 * sizeof *pinned);
    memset(x, 0, 5000 * sizeof *x);
    if (!strcmp(what, "reads")) fill<<<20, 256>>>(x, 5000), seen = x[4000];
    if (!strcmp(what, "two"))
        fill<<<20, 256>>>(x, 5000), copy<<<1, 64>>>(y, y + 64), seen = x[4000];
    if (!strcmp(what, "pinned")) fill<<<20, 256>>>(pinned, 5000), seen = pinned[4000];
    if (!strcmp(what, "writes")) copy<<<1, 64>>>(x, y), x[3] = 1;
    if (!strcmp(what, "variable")) fill<<<1, 64>>>(x, 64), seen = calls;
    if (!strcmp(what, "beside")) fill<<<1, 64>>>(x, 64), seen = x[64] + x[4000];
    if (!strcmp(what, "handler")) {
        signal(SIGSEGV, die);
        fill<<<1, 64>>>(x, 64), x[64] = 5, seen = x[64];
    }
    if (!strcmp(what, "fails")) {
        fill<<<20, 256>>>(x, 5000), copy<<<1, 64>>>(x, nullptr);
        if (cudaDeviceSynchronize()) seen = x[4000];
    }
    if (!strcmp(what, "waits")) {
        fill<<<20, 256>>>(x, 5000);
        copy<<<1, 64>>>(x, y);
        cudaStreamSynchronize(0);
        seen = x[4000] + y[9] + calls;
        copy<<<1, 64>>>(x, y);
        cudaMemcpy(&seen, y, sizeof seen, cudaMemcpyDefault);
        y[3] = x[3] = seen;
        fill<<<20, 256>>>(pinned, 5000);
        cudaMemcpyAsync(&seen, pinned + 4000, sizeof seen, cudaMemcpyHostToHost, 0);
    }
    if (!strcmp(what, "polls")) {
        answer<<<1, 1>>>(x);
        while (!*(volatile int *)x)
            ;
        seen = x[1];
    }
    printf("seen %d\n", seen);
    cudaFree(x), cudaFree(y), cudaFreeHost(pinned);
    return 0;
}
