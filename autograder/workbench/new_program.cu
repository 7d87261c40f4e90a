// Reverses the numbers of one block in shared memory. Replace it by a program of your own: any
// source file with kernels and a main.
#include <cstdio>

enum { THREADS = 64 };

__global__ void reverse(const float *from, float *to)
{
    __shared__ float tile[THREADS];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

int main()
{
    float numbers[THREADS], *from, *to;
    for (int i = 0; i < THREADS; i++)
        numbers[i] = i;
    cudaMalloc(&from, sizeof numbers);
    cudaMalloc(&to, sizeof numbers);
    cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    reverse<<<1, THREADS>>>(from, to);
    cudaMemcpy(numbers, to, sizeof numbers, cudaMemcpyDeviceToHost);
    printf("the first number is %g, the last is %g\n", numbers[0], numbers[THREADS - 1]);
    cudaFree(from);
    cudaFree(to);
    return 0;
}
