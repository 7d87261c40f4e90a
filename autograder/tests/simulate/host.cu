/* host.cu - ./host INDEX: two threads of OpenMP, if it is on, and a store to host memory that has
 * 64 elements. */
#include <cstdio>
#include <cstdlib>

__global__ void ones(int *x)
{
    x[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *x, *own = (int *)malloc(64 * sizeof *own), sum = 0;
    int index = argc > 1 ? atoi(argv[1]) : 0;
    cudaMalloc(&x, 64 * sizeof *x);
    ones<<<1, 64>>>(x);
    cudaMemcpy(own, x, 64 * sizeof *own, cudaMemcpyDeviceToHost);
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 64; i++)
        sum += own[i];
    printf("%d by two threads\n", sum);
    own[index] = 2;
    cudaFree(x);
    free(own);
    return 0;
}
