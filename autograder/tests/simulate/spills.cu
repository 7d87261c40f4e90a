/* spills.cu - 48 values at once in 32 registers, and the same in as many as are wanted. */
#include <stdio.h>

template <int MOST>
__global__ void __launch_bounds__(MOST, MOST == 1024 ? 2 : 1) mix(float *x, int turns)
{
    float value[48];
#pragma unroll
    for (int k = 0; k < 48; k++)
        value[k] = x[threadIdx.x + k * 32];
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < 48; k++)
            value[k] = value[k] * value[(k + 24) % 48] + value[(k * 7 + 1) % 48];
#pragma unroll
    for (int k = 0; k < 48; k++)
        x[threadIdx.x + k * 32] = value[k];
}

int main(int argc, char **)
{
    float *x;
    cudaMalloc(&x, 48 * 32 * sizeof *x);
    cudaMemset(x, 0, 48 * 32 * sizeof *x);
    if (argc > 1)
        mix<1024><<<1, 32>>>(x, argc);
    else
        mix<64><<<1, 32>>>(x, argc);
    printf("%d\n", cudaDeviceSynchronize());
    return cudaFree(x);
}
