/* convolutions.cuh - layers of convolutional networks (part of transformer-and-images.cu). */

/* A long signal of many channels: nine taps, all channels. */
__global__ void conv_1d(const float *x, const float *w, float *y, int channels, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    float sum = 0;
    for (int ch = 0; ch < channels; ch++)
        for (int r = 0; r < 9; r++) {
            int from = at + r - 4;
            if (from >= 0 && from < n) sum += x[ch * n + from] * w[(k * channels + ch) * 9 + r];
        }
    y[k * n + at] = sum;
}

/* Twice as large, by 4 x 4 weights: each output asks which inputs reach it. */
__global__ void conv_transposed(const float *x, const float *w, float *y, int channels, int n)
{
    int column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y, k = blockIdx.y;
    float sum = 0;
    for (int ch = 0; ch < channels; ch++)
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 4; s++) {
                int p = row + 1 - r, q = column + 1 - s;
                if ((p | q) & 1) continue;
                p /= 2, q /= 2;
                if (p < 0 || q < 0 || p >= n || q >= n) continue;
                sum += x[(ch * n + p) * n + q] * w[((ch * gridDim.y + k) * 4 + r) * 4 + s];
            }
    y[(k * 2 * n + row) * 2 * n + column] = sum;
}

/* The gradient of a 3 x 3 filter, one plane per block. */
__global__ void weight_slope(const float *x, const float *dy, float *dw, int pictures, int channels,
                             int n)
{
    __shared__ float part[4];
    int ch = blockIdx.x, k = blockIdx.y;
    float sum[9] = {};
    for (int e = threadIdx.x; e < pictures * n * n; e += 128) {
        int column = e % n, row = e / n % n, p = e / n / n;
        float slope = dy[((p * gridDim.y + k) * n + row) * n + column];
#pragma unroll
        for (int f = 0; f < 9; f++) {
            int i = row + f / 3 - 1, j = column + f % 3 - 1;
            if (i >= 0 && i < n && j >= 0 && j < n)
                sum[f] += slope * x[((p * channels + ch) * n + i) * n + j];
        }
    }
#pragma unroll
    for (int f = 0; f < 9; f++) {
        float all = warp_sum(sum[f]);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = all;
        __syncthreads();
        if (threadIdx.x == 0)
            dw[(k * channels + ch) * 9 + f] = part[0] + part[1] + part[2] + part[3];
        __syncthreads();
    }
}

/* Means of 7 x 7, one warp per plane. */
__global__ void mean_planes(const float *x, float *y, int n)
{
    int plane = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (plane >= n) return;
    float sum = x[plane * 49 + lane] + (lane < 17 ? x[plane * 49 + lane + 32] : 0);
    sum = warp_sum(sum);
    if (lane == 0) y[plane] = sum / 49;
}

/* 3 x 3 windows two apart, with the place of the largest. */
__global__ void pool_places(const float *x, float *y, int *place, int n, int m, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    int column = i % m, row = i / m % m, plane = i / m / m, at = 0;
    float most = -1e30f;
    for (int r = row * 2; r < min(row * 2 + 3, n); r++)
        for (int s = column * 2; s < min(column * 2 + 3, n); s++) {
            float v = x[(plane * n + r) * n + s];
            if (v > most) most = v, at = r * n + s;
        }
    y[i] = most, place[i] = at;
}

/* Tiles of 4 x 4, two apart, into Winograd's domain. */
__global__ void winograd_input(const float *x, float *y, int n, int tiles, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    int column = i % tiles * 2, row = i / tiles % tiles * 2, plane = i / tiles / tiles;
    float v[4][4], u[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int s = 0; s < 4; s++)
            v[r][s] = row + r < n && column + s < n ? x[(plane * n + row + r) * n + column + s] : 0;
#pragma unroll
    for (int s = 0; s < 4; s++)
        u[0][s] = v[0][s] - v[2][s], u[1][s] = v[1][s] + v[2][s], u[2][s] = v[2][s] - v[1][s],
        u[3][s] = v[1][s] - v[3][s];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        y[(r * 4 + 0) * count + i] = u[r][0] - u[r][2];
        y[(r * 4 + 1) * count + i] = u[r][1] + u[r][2];
        y[(r * 4 + 2) * count + i] = u[r][2] - u[r][1];
        y[(r * 4 + 3) * count + i] = u[r][1] - u[r][3];
    }
}

static void convolutions()
{
    E("conv-1d", "conv-1d", conv_1d<<<dim3(16, 32), 256>>>(a, b, c, 16, 4096));
    E("conv-transposed", "conv-transposed",
      conv_transposed<<<dim3(14, 32), dim3(56, 4)>>>(a, b, c, 16, 28));
    E("weight-gradient", "weight-slope", weight_slope<<<dim3(32, 32), 128>>>(a, b, c, 4, 32, 14));
    E("mean-planes", "mean-planes", mean_planes<<<2048, 256>>>(a, c, 16384));
    E("pool-places", "pool-places",
      pool_places<<<784, 256>>>(a, c, (int *)(c + MB), 112, 56, 64 * 56 * 56));
    E("winograd", "winograd-input", winograd_input<<<196, 256>>>(a, c, 56, 28, 64 * 28 * 28));
}
