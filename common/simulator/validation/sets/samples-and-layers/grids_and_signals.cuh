/* grids_and_signals.cuh - grids, N-body, sparse matrices, signals (part of
 * samples-and-layers.cu). */

__global__ void stencil_1d(const float *x, float *y, int n)
{
    __shared__ float s[256 + 16];
    int i = blockIdx.x * 256 + threadIdx.x + 8, t = threadIdx.x + 8;
    s[t] = x[i];
    if (threadIdx.x < 8) s[t - 8] = x[i - 8], s[t + 256] = x[i + 256];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int o = -8; o <= 8; o++)
        sum += s[t + o];
    y[i] = sum;
}

__global__ void jacobi_shared(const float *x, float *y, int n)
{
    __shared__ float s[18][34];
    int column = blockIdx.x * 32 + threadIdx.x + 1, row = blockIdx.y * 16 + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    s[ty][tx] = x[row * n + column];
    if (tx == 1) s[ty][0] = x[row * n + column - 1];
    if (tx == 32) s[ty][33] = x[row * n + column + 1];
    if (ty == 1) s[0][tx] = x[(row - 1) * n + column];
    if (ty == 16) s[17][tx] = x[(row + 1) * n + column];
    __syncthreads();
    y[row * n + column] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

__global__ void heat_3d(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    for (int k = 1; k < n - 1; k++) {
        int at = (k * n + j) * n + i;
        y[at] = x[at] * 0.4f + 0.1f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] +
                                       x[at - n * n] + x[at + n * n]);
    }
}

__global__ void life(const unsigned char *x, unsigned char *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        alive = 0;
    for (int r = -1; r <= 1; r++)
        for (int s = -1; s <= 1; s++)
            if (r || s) alive += x[(row + r + n) % n * n + (column + s + n) % n] & 1;
    unsigned char own = x[row * n + column] & 1;
    y[row * n + column] = alive == 3 || (own && alive == 2);
}

__constant__ float weights[25];

__global__ void convolve_5x5(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int r = 0; r < 5; r++)
        for (int s = 0; s < 5; s++) {
            int i = row + r - 2, j = column + s - 2;
            if (i >= 0 && j >= 0 && i < n && j < n) sum += weights[r * 5 + s] * x[i * n + j];
        }
    y[row * n + column] = sum;
}

/* N C H W, 3 x 3, weights in global memory: a framework's first try. */
__global__ void conv_layer(const float *x, const float *w, float *y, int channels, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n - 2 || column >= n - 2) return;
    float sum = 0;
    for (int ch = 0; ch < channels; ch++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                sum += x[(ch * n + row + r) * n + column + s] *
                       w[((blockIdx.z * channels + ch) * 3 + r) * 3 + s];
    y[(blockIdx.z * n + row) * n + column] = sum;
}

__global__ void max_pool(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    const float *at = x + ((size_t)blockIdx.z * n + row * 2) * n + column * 2;
    y[((size_t)blockIdx.z * n / 2 + row) * n / 2 + column] =
        fmaxf(fmaxf(at[0], at[1]), fmaxf(at[n], at[n + 1]));
}

__global__ void turn_naive(const float *x, float *y, int n)
{
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    y[column * n + row] = x[row * n + column];
}

__global__ void turn_shared(const float *x, float *y, int n)
{
    __shared__ float s[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    s[threadIdx.y][threadIdx.x] = x[row * n + column];
    __syncthreads();
    y[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] =
        s[threadIdx.x][threadIdx.y];
}

__device__ static float3 pull(float4 p, float4 q, float3 sum)
{
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z,
          inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
    float s = q.w * inverse * inverse * inverse;
    return make_float3(sum.x + x * s, sum.y + y * s, sum.z + z * s);
}

__global__ void nbody_shared(const float4 *p, float4 *y, int n)
{
    __shared__ float4 s[256];
    GLOBAL_I;
    float4 own = p[i];
    float3 sum = make_float3(0, 0, 0);
    for (int tile = 0; tile < n; tile += 256) {
        s[threadIdx.x] = p[tile + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 256; k++)
            sum = pull(own, s[k], sum);
        __syncthreads();
    }
    y[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void nbody_naive(const float4 *p, float4 *y, int n)
{
    GLOBAL_I;
    float4 own = p[i];
    float3 sum = make_float3(0, 0, 0);
    for (int k = 0; k < n; k++)
        sum = pull(own, p[k], sum);
    y[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void nearest(const float2 *p, const float2 *q, int *y, int n)
{
    GLOBAL_I;
    float2 own = p[i];
    float best = 1e30f;
    int at = 0;
    for (int k = 0; k < n; k++) {
        float x = q[k].x - own.x, z = q[k].y - own.y, e = x * x + z * z;
        if (e < best) best = e, at = k;
    }
    y[i] = at;
}

/* k-means: which of 16 centres of 8 features is nearest; features by rows. */
__global__ void kmeans(const float *x, const float *centre, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float best = 1e30f;
    int at = 0;
    for (int k = 0; k < 16; k++) {
        float e = 0;
        for (int f = 0; f < 8; f++) {
            float z = x[i * 8 + f] - centre[k * 8 + f];
            e += z * z;
        }
        if (e < best) best = e, at = k;
    }
    y[i] = at;
}

__global__ void sparse_make(int *row, int *column, int n)
{
    GLOBAL_I;
    if (i > n) return;
    row[i] = i * 16;
    for (int k = 0; k < 16 && i < n; k++)
        column[i * 16 + k] = ((uint32_t)(i * 16 + k) * 2654435761u >> 10) % n;
}

__global__ void spmv_scalar(const int *row, const int *column, const float *v, const float *x,
                            float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
        sum += v[k] * x[column[k]];
    y[i] = sum;
}

__global__ void spmv_warp(const int *row, const int *column, const float *v, const float *x,
                          float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i] + lane; k < row[i + 1]; k += 32)
        sum += v[k] * x[column[k]];
    for (int o = 16; o > 0; o >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, o);
    if (lane == 0) y[i] = sum;
}

/* Radix 2, 1024 points per block in shared memory, sine and cosine by the special functions. */
__global__ void fft_1024(const float2 *x, float2 *y)
{
    __shared__ float2 s[1024];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 1024 + t], s[t + 512] = x[blockIdx.x * 1024 + t + 512];
    for (int half = 512; half > 0; half >>= 1) {
        __syncthreads();
        int k = t & (half - 1), i = 2 * t - k, j = i + half;
        float2 u = s[i], v = s[j];
        float si, co;
        __sincosf(-3.14159265f * k / half, &si, &co);
        float dx = u.x - v.x, dy = u.y - v.y;
        s[i] = make_float2(u.x + v.x, u.y + v.y),
        s[j] = make_float2(dx * co - dy * si, dx * si + dy * co);
    }
    __syncthreads();
    y[blockIdx.x * 1024 + t] = s[t], y[blockIdx.x * 1024 + t + 512] = s[t + 512];
}

__global__ void floyd(float *e, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    e[i * n + j] = fminf(e[i * n + j], e[i * n + k] + e[k * n + j]);
}

/* Breadth first search: a level over vertices, their edges in a row. */
__global__ void bfs_level(const int *row, const int *column, const int *level, int *next, int now,
                          int n)
{
    GLOBAL_I;
    if (i >= n || i % 4 != now) return;
    for (int k = row[i]; k < row[i + 1]; k++)
        if (level[column[k]] < 0) next[column[k]] = now + 1;
}

__global__ void hotspot(const float *t, const float *p, float *y, int n)
{
    __shared__ float s[16][16];
    int column = blockIdx.x * 14 + threadIdx.x, row = blockIdx.y * 14 + threadIdx.y;
    bool inside = column < n && row < n;
    float power = inside ? p[row * n + column] : 0;
    s[threadIdx.y][threadIdx.x] = inside ? t[row * n + column] : 0;
    __syncthreads();
    if (threadIdx.x < 1 || threadIdx.x > 14 || threadIdx.y < 1 || threadIdx.y > 14 || !inside)
        return;
    float own = s[threadIdx.y][threadIdx.x];
    y[row * n + column] =
        own + 0.1f * (power + s[threadIdx.y - 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x] +
                      s[threadIdx.y][threadIdx.x - 1] + s[threadIdx.y][threadIdx.x + 1] - 4 * own);
}

__global__ void step_double(const double *x, double *y, int n)
{
    GLOBAL_I;
    if (i < n) y[i] = x[i] * 0.5 + sqrt(fabs(x[i])) + 1.0 / (x[i] * x[i] + 1.0);
}

static void grids()
{
    E("stencil-1d", "stencil-1d", stencil_1d<<<4096, 256>>>(a, c, MB));
    E("jacobi", "jacobi-shared", jacobi_shared<<<dim3(31, 62), dim3(32, 16)>>>(a, c, 1026));
    E("heat", "heat-3d", heat_3d<<<dim3(4, 16), dim3(32, 8)>>>(a, c, 128));
    E("life", "life",
      life<<<dim3(64, 64), dim3(16, 16)>>>((const unsigned char *)a, (unsigned char *)c, 1024));
    E("convolve", "convolve-5x5", convolve_5x5<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024));
    E("conv-layer", "conv-layer-32", conv_layer<<<dim3(2, 4, 64), dim3(32, 16)>>>(a, b, c, 32, 58));
    E("conv-layer", "conv-layer-64",
      conv_layer<<<dim3(2, 2, 128), dim3(16, 16)>>>(a, b, c, 64, 30));
    E("max-pool", "max-pool", max_pool<<<dim3(4, 16, 64), dim3(32, 8)>>>(a, c, 256));
    E("jacobi", "jacobi-small", jacobi_shared<<<dim3(8, 16), dim3(32, 16)>>>(a, c, 258));
    E("transpose", "turn-naive", turn_naive<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024));
    E("transpose", "turn-shared", turn_shared<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024));
    E("nbody", "nbody-shared", nbody_shared<<<16, 256>>>((const float4 *)a, (float4 *)c, 4096));
    E("nbody", "nbody-shared-32768",
      nbody_shared<<<128, 256>>>((const float4 *)a, (float4 *)c, 2048));
    E("nbody", "nbody-naive", nbody_naive<<<32, 128>>>((const float4 *)a, (float4 *)c, 4096));
    E("nearest", "nearest",
      nearest<<<64, 256>>>((const float2 *)a, (const float2 *)b, (int *)c, 2048));
    E("kmeans", "kmeans", kmeans<<<256, 256>>>(a, b, (int *)c, 65536));
    E("spmv", "spmv-scalar", spmv_scalar<<<128, 256>>>(rows, columns, a, b, c, 32768));
    E("spmv", "spmv-warp", spmv_warp<<<4096, 256>>>(rows, columns, a, b, c, 32768));
    E("fft", "fft-1024", fft_1024<<<512, 512>>>((const float2 *)a, (float2 *)c));
    E("floyd", "floyd-1024", floyd<<<dim3(4, 1024), 256>>>(c, 1024, 17));
    E("bfs", "bfs-level",
      bfs_level<<<128, 256>>>(rows, columns, (const int *)b, (int *)c, 1, 32768));
    E("hotspot", "hotspot-1024", hotspot<<<dim3(74, 74), dim3(16, 16)>>>(a, b, c, 1024));
    E("double", "step-double",
      step_double<<<2048, 256>>>((const double *)a, (double *)c, 512 << 10));
}
