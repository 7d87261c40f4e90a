// work ITERATIONS - a long kernel to measure the debugger: 10 instructions per iteration of each
// of 262,144 threads.
#include <cstdio>
#include <cstdlib>

__global__ void work(float *y, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < turns; k++) {
        float term = sum * 0.5f + i;
        sum = term + k;
    }
    y[i] = sum;
}

int main(int argc, char **argv)
{
    enum { BLOCKS = 1024, THREADS = 256 };
    int turns = argc > 1 ? atoi(argv[1]) : 100;
    float *y, first;
    cudaMalloc(&y, BLOCKS * THREADS * sizeof(float));
    work<<<BLOCKS, THREADS>>>(y, turns);
    cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost);
    printf("%g\n", first);
    cudaFree(y);
}
