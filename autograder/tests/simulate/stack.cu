// stack.cu array | pointer | calls BYTES DEPTH - large frames: of a kernel that calls nobody, which
// need no stack, and of a function that calls itself so often in a stack of BYTES.  "pointer": a
// stack is given back that was never taken.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { ARRAY = 100000, STEP = 997, FRAME = 16 };

__global__ void array(int *out, int n)
{
    int a[ARRAY];
    for (int i = 0; i < ARRAY; i += STEP)
        a[i] = i ^ n;
    int sum = 0;
    for (int i = 0; i < ARRAY; i += STEP)
        sum += a[(i * n) % ARRAY / STEP * STEP];
    out[threadIdx.x] = sum;
}

__host__ __device__ __noinline__ int turn(int depth, int seed)
{
    int a[FRAME];
    for (int i = 0; i < FRAME; i++)
        a[i] = seed + i;
    if (depth == 0) return a[seed % FRAME];
    int below = turn(depth - 1, seed + 1);
    return below + a[below & (FRAME - 1)];
}

__global__ void calls(int *out, int depth)
{
    out[threadIdx.x] = turn(depth, threadIdx.x);
}

__global__ void pointer(int *out)
{
    int *taken;
    asm volatile("stackrestore.u64 %1;\n\talloca.u64 %0, 8;" : "=l"(taken) : "l"(out));
    out[threadIdx.x] = taken == NULL;
}

static int array_sum(int n)
{
    static int a[ARRAY];
    int sum = 0;
    for (int i = 0; i < ARRAY; i += STEP)
        a[i] = i ^ n;
    for (int i = 0; i < ARRAY; i += STEP)
        sum += a[(int)((long long)i * n % ARRAY) / STEP * STEP];
    return sum;
}

int main(int argc, char **argv)
{
    int *out, got[32] = {0}, wanted;
    cudaMalloc(&out, sizeof got);
    if (argc > 1 && !strcmp(argv[1], "pointer")) {
        pointer<<<1, 32>>>(out);
        wanted = 0;
    } else if (argc < 4) {
        array<<<1, 32>>>(out, 5);
        wanted = array_sum(5);
    } else {
        cudaDeviceSetLimit(cudaLimitStackSize, atoi(argv[2]));
        calls<<<1, 32>>>(out, atoi(argv[3]));
        wanted = turn(atoi(argv[3]), 7);
    }
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaError_t status = cudaGetLastError();
    printf("%s: %s\n", got[7] == wanted ? "right" : "wrong", cudaGetErrorName(status));
    cudaFree(out);
    return 0;
}
