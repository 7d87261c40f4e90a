/* bench_conv.cu - the two kernels that bench_simt.c runs: a convolution by one thread an output, and by shared-memory tiles.
 *
 * bench_conv.ptx is what nvcc 13 -arch=compute_80 -ptx makes of it, so that the benchmark needs no toolkit. */
struct Shape {
    int C, H, W, K, R, S, P, Q;
};

extern "C" __global__ void bench_naive(Shape s, const float *__restrict__ x, const float *__restrict__ w, float *y)
{
    int across = (s.Q + 15) / 16, k = blockIdx.y, n = blockIdx.z;
    int p = blockIdx.x / across * 16 + threadIdx.y, q = blockIdx.x % across * 16 + threadIdx.x;
    if (p >= s.P || q >= s.Q) return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int r = 0; r < s.R; r++)
            for (int t = 0; t < s.S; t++)
                sum += x[((n * s.C + c) * s.H + p + r) * s.W + q + t] * w[((k * s.C + c) * s.R + r) * s.S + t];
    y[((n * s.K + k) * s.P + p) * s.Q + q] = sum;
}

extern "C" __global__ void bench_tiled(Shape s, const float *__restrict__ x, const float *__restrict__ w, float *y)
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
