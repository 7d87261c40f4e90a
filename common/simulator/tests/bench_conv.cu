/* bench_conv.cu - the kernels that bench_simt.c runs: a convolution with one thread per output and
 * one with shared-memory tiles, and a matrix product with 4 x 4 accumulators per thread.
 *
 * bench_conv.ptx is what nvcc 13 -arch=compute_80 -ptx makes of it, so that the benchmark needs no
 * toolkit. */
struct Shape {
    int C, H, W, K, R, S, P, Q;
};

extern "C" __global__ void bench_naive(Shape s, const float *__restrict__ x,
                                       const float *__restrict__ w, float *y)
{
    int across = (s.Q + 15) / 16, k = blockIdx.y, n = blockIdx.z;
    int p = blockIdx.x / across * 16 + threadIdx.y, q = blockIdx.x % across * 16 + threadIdx.x;
    if (p >= s.P || q >= s.Q) return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int r = 0; r < s.R; r++)
            for (int t = 0; t < s.S; t++)
                sum += x[((n * s.C + c) * s.H + p + r) * s.W + q + t] *
                       w[((k * s.C + c) * s.R + r) * s.S + t];
    y[((n * s.K + k) * s.P + p) * s.Q + q] = sum;
}

extern "C" __global__ void bench_tiled(Shape s, const float *__restrict__ x,
                                       const float *__restrict__ w, float *y)
{
    extern __shared__ float tile[];
    int high = 15 + s.R, wide = 15 + s.S, across = (s.Q + 15) / 16, k = blockIdx.y, n = blockIdx.z;
    float *filter = tile + high * wide;
    int p0 = blockIdx.x / across * 16, q0 = blockIdx.x % across * 16;
    float sum = 0;
    for (int c = 0; c < s.C; c++) {
        for (int i = threadIdx.y * 16 + threadIdx.x; i < s.R * s.S; i += 256)
            filter[i] = w[(k * s.C + c) * s.R * s.S + i];
        for (int i = threadIdx.y; i < high; i += 16)
            for (int j = threadIdx.x; j < wide; j += 16)
                tile[i * wide + j] = p0 + i < s.H && q0 + j < s.W
                                         ? x[((n * s.C + c) * s.H + p0 + i) * s.W + q0 + j]
                                         : 0.0f;
        __syncthreads();
        for (int r = 0; r < s.R; r++)
            for (int t = 0; t < s.S; t++)
                sum += tile[(threadIdx.y + r) * wide + threadIdx.x + t] * filter[r * s.S + t];
        __syncthreads();
    }
    int p = p0 + threadIdx.y, q = q0 + threadIdx.x;
    if (p < s.P && q < s.Q) y[((n * s.K + k) * s.P + p) * s.Q + q] = sum;
}

/* y[C x C] = x * w, C a multiple of 64: blocks of 16 x 16 threads with 4 x 4 outputs each. */
extern "C" __global__ void bench_gemm(Shape s, const float *__restrict__ x,
                                      const float *__restrict__ w, float *y)
{
    __shared__ float left[16][64], right[16][64];
    int n = s.C, tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 1024; i += 256) {
            left[i % 16][i / 16] = x[(blockIdx.y * 64 + i / 16) * n + k + i % 16];
            right[i / 64][i % 64] = w[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int f = 0; f < 4; f++)
#pragma unroll
                for (int g = 0; g < 4; g++)
                    sum[f][g] += left[i][ty * 4 + f] * right[i][tx * 4 + g];
        __syncthreads();
    }
    for (int f = 0; f < 4; f++)
        for (int g = 0; g < 4; g++)
            y[(blockIdx.y * 64 + ty * 4 + f) * n + blockIdx.x * 64 + tx * 4 + g] = sum[f][g];
}
