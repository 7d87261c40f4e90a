// fuzz_kernel.cu - the kernel of fuzz_command.c and fuzz_dap.c. `fuzz_kernel.ptx` is its record:
//
//   nvcc -G -std=c++17 -arch=compute_80 -ptx -o fuzz_kernel.ptx fuzz_kernel.cu
//
// with the path of this file, relative to the repository's root, in .file.
//
// Loops count up to constants with unsigned counters, so that no value that a command sets makes
// one endless.
struct Size {
    int n;
    unsigned char c[2];
    float w[2];
    const Size *next;
};

enum Color { RED, BLUE = 7 };

__device__ int counter;

__device__ __noinline__ float multiply(float a, float b)
{
    float t = a * b;
    return t + 1;
}

__device__ __forceinline__ float twice(float a)
{
    float u = a * 2;
    return multiply(u, a);
}

template <int K> __global__ void sums(float *y, const float *x, Size p, long long step)
{
    __shared__ float tile[2][33];
    float sum[K] = {};
    Color color = threadIdx.x & 1 ? RED : BLUE;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned j = 0; j < K; j++) {
        float v = x[i * K + j];
        sum[j] += twice(v);
    }
    tile[threadIdx.x / 32][threadIdx.x % 32] = sum[0];
    __syncthreads();
    if (threadIdx.x < 7)
        y[i] = sum[0] + sum[1] + tile[1][threadIdx.x + 3]; // some of which no thread has written
    else
        y[i] = p.w[0] + color + step;
    if (threadIdx.x == 33) counter = p.c[1];
}

template __global__ void sums<2>(float *y, const float *x, Size p, long long step);
