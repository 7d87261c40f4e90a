// Adds two vectors. Replace it by a program of your own: any source file with kernels and a main.
#include <cstdio>
#include <vector>

__global__ void add(int n, const float *a, const float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1 << 16, threads = 256;
    const size_t bytes = n * sizeof(float);
    std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
    float *da, *db, *dc;
    cudaMalloc(&da, bytes);
    cudaMalloc(&db, bytes);
    cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
    add<<<(n + threads - 1) / threads, threads>>>(n, da, db, dc);
    cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
    printf("c[0] = %g, c[n - 1] = %g\n", c[0], c[n - 1]);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return 0;
}
