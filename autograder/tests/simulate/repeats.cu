// repeats.cu - launches that repeat an earlier one, on one stream and on another, with one buffer
// and with two that change places; and launches whose control flow depends on data.
#include <cstdio>
#include <cstdlib>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void blur(int n, const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = (from[i ? i - 1 : 0] + from[i] + from[i + 1 < n ? i + 1 : i]) / 3.0f;
}

__global__ void count(int *turns, float *y)
{
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < turns[i]; k++)
        sum += y[i];
    y[i] = sum;
    turns[i]++;
}

int main(int argc, char **argv)
{
    const int n = 4096, times = argc > 1 ? atoi(argv[1]) : 100;
    float *x, *y;
    int *turns;
    cudaStream_t stream;
    cudaMalloc(&x, n * sizeof *x);
    cudaMalloc(&y, n * sizeof *y);
    cudaMalloc(&turns, 32 * sizeof *turns);
    cudaMemset(x, 0, n * sizeof *x);
    cudaMemset(y, 0, n * sizeof *y);
    cudaMemset(turns, 0, 32 * sizeof *turns);
    for (int i = 0; i < times; i++)
        saxpy<<<n / 256, 256>>>(n, 2, x, y);
    for (int i = 0; i < times; i++) {
        blur<<<n / 256, 256>>>(n, x, y);
        blur<<<n / 256, 256>>>(n, y, x);
    }
    for (int i = 0; i < times; i++)
        count<<<1, 32>>>(turns, y);
    cudaStreamCreate(&stream);
    for (int i = 0; i < times; i++)
        saxpy<<<n / 256, 256, 0, stream>>>(n, 3, x, y);
    cudaStreamSynchronize(stream);
    int last;
    cudaMemcpy(&last, turns + 31, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    cudaFree(turns);
}
