// faults NAME - kernels with one planted fault each.  The host prints the wrong output; the
// sessions of autograder/tests/debug find the line.
#include <cmath>
#include <cstdio>
#include <cstring>

enum { N = 64, TILE = 16, ROWS = 8, COLUMNS = 16 };

// The sum of three neighbours; the right halo is loaded from the wrong place.
__global__ void halo(float *y, const float *x)
{
    __shared__ float tile[TILE + 2];
    int i = blockIdx.x * TILE + threadIdx.x;
    tile[threadIdx.x + 1] = x[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
    if (threadIdx.x == TILE - 1) tile[TILE + 1] = i < N - 1 ? x[i] : 0;
    __syncthreads();
    y[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

// A copy of a matrix; the output's index has rows and columns exchanged.
__global__ void transposed(float *y, const float *x)
{
    int row = threadIdx.y, column = threadIdx.x;
    int from = row * COLUMNS + column;
    int to = column * ROWS + row;
    y[to] = x[from];
}

// Each thread reads what its neighbour writes, without a barrier.
__global__ void race(float *y, const float *x)
{
    __shared__ float value[N];
    value[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = value[(threadIdx.x + 32) % N];
}

// A sum in shared memory; the barrier in the loop is missing.
__global__ void barrier(float *y, const float *x)
{
    __shared__ float part[2 * N];
    part[threadIdx.x] = x[threadIdx.x % N];
    __syncthreads();
    for (int half = N; half > 0; half /= 2)
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
    y[threadIdx.x] = part[0];
}

// Sums of rows; nobody sets them to zero.
__global__ void unset(float *y, const float *x)
{
    __shared__ float sum[N];
    for (int k = 0; k < 2; k++)
        sum[threadIdx.x] += x[threadIdx.x * 2 % N + k];
    y[threadIdx.x] = sum[threadIdx.x];
}

// A loop over the whole array; its stride is a block's, not the grid's.
__global__ void stride(float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x)
        y[i] = y[i] + 1;
}

// One element too much.
__global__ void bounds(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 2 * x[i];
}

// Each warp waits for the other at a barrier of its own.
__global__ void deadlock(float *y, const float *x)
{
    __shared__ float value[N];
    value[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    y[threadIdx.x] = value[N - 1 - threadIdx.x];
}

// Two alternating buffers; the reader uses the phase of the writer.
__global__ void phase(float *y, const float *x)
{
    __shared__ float buffer[2][32];
    float sum = 0;
    buffer[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 4; step++) {
        int write = step % 2, read = write;
        buffer[write][threadIdx.x] = 10 * step + x[threadIdx.x];
        __syncthreads();
        sum += buffer[read][31 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// Three tiles of 24 of 64 elements; the last one is not full, and its rest is not updated.
__global__ void stale(float *y, const float *x)
{
    __shared__ float tile[24];
    float sum = 0;
    for (int first = 0; first < N; first += 24) {
        if (first + threadIdx.x < N) tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 24; k++)
            sum += tile[k];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// An offset in bytes that needs more than 31 bits.
__global__ void overflow(float *y, int rows, int pitch)
{
    int offset = rows * pitch;
    y[threadIdx.x] = offset > 0 ? 1 : -1;
}

__device__ float sigmoid(float v)
{
    return 1 / (1 + expf(-v));
}

// The gradient of the sigmoid, of the input in place of the output.
__global__ void gradient(float *dx, const float *x, const float *dy)
{
    int i = threadIdx.x;
    float s = sigmoid(x[i]);
    dx[i] = dy[i] * x[i] * (1 - s);
}

// Sums of rows, in a register that nobody sets to zero.
__global__ void unassigned(float *y, const float *x)
{
    float sum;
    for (int k = 0; k < 2; k++)
        sum += x[threadIdx.x * 2 % N + k];
    y[threadIdx.x] = sum;
}

static float x[N], y[N * 2], *dx, *dy;

static void report(const char *what, const float *expected, int count)
{
    cudaError_t status = cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) printf("%s: %s\n", what, cudaGetErrorString(status));
    for (int i = 0; i < count && status == cudaSuccess; i++)
        if (!(fabsf(y[i] - expected[i]) < 1e-4f)) {
            printf("%s: y[%d] is %g, and should be %g\n", what, i, y[i], expected[i]);
            return;
        }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "halo";
    float e[N * 2] = {0}, all = 0;
    for (int i = 0; i < N; i++)
        x[i] = i % 7, all += x[i];
    cudaMalloc(&dx, sizeof x);
    cudaMalloc(&dy, sizeof y);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(dy, 0, sizeof y);
    int count = N;
    if (!strcmp(what, "halo")) {
        halo<<<N / TILE, TILE>>>(dy, dx);
        for (int i = 0; i < N; i++)
            e[i] = (i ? x[i - 1] : 0) + x[i] + (i < N - 1 ? x[i + 1] : 0);
    } else if (!strcmp(what, "transposed")) {
        transposed<<<1, dim3(COLUMNS, ROWS / 2)>>>(dy, dx);
        memcpy(e, x, sizeof x);
    } else if (!strcmp(what, "race")) {
        race<<<1, N>>>(dy, dx);
        for (int i = 0; i < N; i++)
            e[i] = x[(i + 32) % N];
    } else if (!strcmp(what, "barrier")) {
        barrier<<<1, 2 * N>>>(dy, dx);
        for (int i = 0; i < N; i++)
            e[i] = 2 * all;
    } else if (!strcmp(what, "unset") || !strcmp(what, "unassigned")) {
        if (!strcmp(what, "unset"))
            unset<<<1, N>>>(dy, dx);
        else
            unassigned<<<1, N>>>(dy, dx);
        for (int i = 0; i < N; i++)
            e[i] = x[i * 2 % N] + x[i * 2 % N + 1];
    } else if (!strcmp(what, "stride")) {
        stride<<<2, 16>>>(dy);
        for (int i = 0; i < N; i++)
            e[i] = 1;
    } else if (!strcmp(what, "bounds")) {
        bounds<<<2, N>>>(dy, dx, N);
        for (int i = 0; i < N; i++)
            e[i] = 2 * x[i];
    } else if (!strcmp(what, "deadlock")) {
        deadlock<<<1, N>>>(dy, dx);
        count = 32;
    } else if (!strcmp(what, "phase")) {
        phase<<<1, 32>>>(dy, dx);
        count = 32;
        for (int i = 0; i < 32; i++)
            e[i] = 3 * x[31 - i] + 30;
    } else if (!strcmp(what, "stale")) {
        stale<<<1, 24>>>(dy, dx);
        count = 24;
        for (int i = 0; i < 24; i++)
            e[i] = all;
    } else if (!strcmp(what, "overflow")) {
        overflow<<<1, 32>>>(dy, 70000, 40000);
        count = 32;
        for (int i = 0; i < 32; i++)
            e[i] = 1;
    } else if (!strcmp(what, "gradient")) {
        gradient<<<1, N>>>(dy, dx, dx);
        for (int i = 0; i < N; i++) {
            float s = 1 / (1 + expf(-x[i]));
            e[i] = x[i] * s * (1 - s);
        }
    }
    report(what, e, count);
    cudaFree(dx), cudaFree(dy);
}
