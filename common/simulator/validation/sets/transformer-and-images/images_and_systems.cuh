/* images_and_systems.cuh - images, small linear systems, sums (part of
 * transformer-and-images.cu). */

/* Three bytes a pixel to luminance and two colours by planes. */
__global__ void planes(const uchar3 *x, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar3 p = x[i];
    int r = p.x, g = p.y, bl = p.z;
    y[i] = (unsigned char)((66 * r + 129 * g + 25 * bl + 128) / 256 + 16);
    y[n + i] = (unsigned char)((-38 * r - 74 * g + 112 * bl + 128) / 256 + 128);
    y[2 * n + i] = (unsigned char)((112 * r - 94 * g - 18 * bl + 128) / 256 + 128);
}

/* Rotated by an angle, bilinear. */
__global__ void rotate(const float *x, float *y, int n, float co, float si)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (column - n / 2) * co - (row - n / 2) * si + n / 2,
          v = (column - n / 2) * si + (row - n / 2) * co + n / 2, fu = floorf(u), fv = floorf(v);
    int i = (int)fv, j = (int)fu;
    float sum = 0;
    u -= fu, v -= fv;
    if (i >= 0 && j >= 0 && i < n - 1 && j < n - 1)
        sum = (1 - v) * ((1 - u) * x[i * n + j] + u * x[i * n + j + 1]) +
              v * ((1 - u) * x[(i + 1) * n + j] + u * x[(i + 1) * n + j + 1]);
    y[row * n + column] = sum;
}

/* 8 x 8 cosines, eight of them a block. */
__global__ void cosines(const float *x, float *y, int n)
{
    __shared__ float s[8][8][9], table[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int at = (blockIdx.y * 8 + ty) * n + (blockIdx.x * 8 + tz) * 8 + tx;
    if (tz == 0)
        table[ty][tx] = (ty ? 0.5f : 0.35355339f) * __cosf((2 * tx + 1) * ty * 0.19634954f);
    s[tz][ty][tx] = x[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += table[ty][k] * s[tz][k][tx];
    __syncthreads();
    s[tz][ty][tx] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[tz][ty][k] * table[tx][k];
    y[at] = sum;
}

/* The least of 7 x 7 bytes, along the row and then along the column. */
__global__ void erode(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[22][40], r[22][32];
    for (int k = threadIdx.y; k < 22; k += 16)
        for (int j = threadIdx.x; j < 38; j += 32)
            s[k][j] = x[min(max((int)blockIdx.y * 16 + k - 3, 0), n - 1) * n +
                        min(max((int)blockIdx.x * 32 + j - 3, 0), n - 1)];
    __syncthreads();
    for (int k = threadIdx.y; k < 22; k += 16) {
        int least = 255;
        for (int j = 0; j < 7; j++)
            least = min(least, (int)s[k][threadIdx.x + j]);
        r[k][threadIdx.x] = (unsigned char)least;
    }
    __syncthreads();
    int least = 255;
    for (int k = 0; k < 7; k++)
        least = min(least, (int)r[threadIdx.y + k][threadIdx.x]);
    y[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x] = (unsigned char)least;
}

/* A fractal solid: steps along a ray by the distance that is free. */
__global__ void march(uchar4 *image, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = (column - n / 2) * (1.4f / n), dy = (row - n / 2) * (1.4f / n), dz = 1.0f,
          scale = rsqrtf(dx * dx + dy * dy + dz * dz), at = 0;
    dx *= scale, dy *= scale, dz *= scale;
    int step = 0;
    for (; step < 48 && at < 6.0f; step++) {
        float x = dx * at, y = dy * at, z = dz * at - 3.0f;
        float ball = sqrtf(x * x + y * y + z * z) - 1.0f,
              waves_of = 0.1f * __sinf(8 * x) * __sinf(8 * y) * __sinf(8 * z);
        float free = ball + waves_of;
        if (free < 0.002f) break;
        at += 0.7f * free;
    }
    unsigned char shade = (unsigned char)(255 - step * 5);
    image[row * n + column] = make_uchar4(shade, shade, (unsigned char)(at * 40), 255);
}

/* Julia's set in doubles. */
__global__ void julia(unsigned char *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        k = 0;
    double p = 3.0 * column / n - 1.5, q = 3.0 * row / n - 1.5;
    for (; k < 100 && p * p + q * q < 4; k++) {
        double next = p * p - q * q - 0.8;
        q = 2 * p * q + 0.156, p = next;
    }
    y[row * n + column] = (unsigned char)k;
}

/* The eight nearest of 1024 points, kept in order. */
__global__ void nearest_eight(const float4 *x, const float4 *z, int *y, int n)
{
    GLOBAL_I;
    float4 own = x[i];
    float best[8];
    int at[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        best[k] = 1e30f, at[k] = -1;
    for (int j = 0; j < n; j++) {
        float4 p = z[j];
        float dx = p.x - own.x, dy = p.y - own.y, dz = p.z - own.z, r = dx * dx + dy * dy + dz * dz;
        if (r >= best[7]) continue;
        best[7] = r, at[7] = j;
#pragma unroll
        for (int k = 7; k > 0; k--)
            if (best[k] < best[k - 1]) {
                float f = best[k];
                int m = at[k];
                best[k] = best[k - 1], at[k] = at[k - 1], best[k - 1] = f, at[k - 1] = m;
            }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[k * gridDim.x * blockDim.x + i] = at[k];
}

/* Three diagonals by cyclic reduction: one block per system of 256. */
__global__ void cyclic(const float *right, float *y)
{
    __shared__ float lo[256], di[256], up[256], r[256];
    int t = threadIdx.x;
    lo[t] = t ? -1 : 0, di[t] = 4, up[t] = t < 255 ? -1 : 0, r[t] = right[blockIdx.x * 256 + t];
    for (int s = 1; s < 256; s *= 2) {
        __syncthreads();
        int p = max(t - s, 0), q = min(t + s, 255);
        float k1 = t >= s ? lo[t] / di[p] : 0, k2 = t + s < 256 ? up[t] / di[q] : 0;
        float nl = -lo[p] * k1, nd = di[t] - up[p] * k1 - lo[q] * k2, nu = -up[q] * k2,
              nr = r[t] - r[p] * k1 - r[q] * k2;
        __syncthreads();
        lo[t] = nl, di[t] = nd, up[t] = nu, r[t] = nr;
    }
    y[blockIdx.x * 256 + t] = r[t] / di[t];
}

/* A symmetric matrix of 32 into a triangle and its mirror, a warp each. */
__global__ void cholesky(const float *x, float *y)
{
    __shared__ float s[32][33];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++)
        s[k][t] = x[blockIdx.x * 1024 + k * 32 + t] * 0.1f + (k == t ? 8.0f : 0.0f);
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        float root = sqrtf(s[k][k]);
        __syncwarp();
        if (t >= k) s[t][k] /= root;
        __syncwarp();
        for (int j = k + 1; j <= t; j++)
            s[t][j] -= s[t][k] * s[j][k];
        __syncwarp();
    }
    for (int k = 0; k < 32; k++)
        y[blockIdx.x * 1024 + k * 32 + t] = t <= k ? s[k][t] : 0;
}

/* A filter with memory, one thread per channel. */
__global__ void recursive_filter(const float *x, float *y, int channels, int n)
{
    GLOBAL_I;
    if (i >= channels) return;
    float p = 0, q = 0;
    for (int k = 0; k < n; k++) {
        float in = x[(size_t)k * channels + i], out = 0.2f * in + 1.2f * p - 0.5f * q;
        y[(size_t)k * channels + i] = out, q = p, p = out;
    }
}

/* The last block to come adds up what all left. */
__global__ void sum_last(const float *x, volatile float *part, float *y, uint32_t *come, int n)
{
    __shared__ float s[8];
    __shared__ bool last;
    float sum = 0;
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int turn = 0; turn < 2; turn++) {
        sum = warp_sum(sum);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x < 32) sum = warp_sum(threadIdx.x < 8 ? s[threadIdx.x] : 0);
        if (turn == 1) break;
        if (threadIdx.x == 0) {
            part[blockIdx.x] = sum;
            __threadfence();
            last = atomicInc(come, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        sum = 0;
        for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x)
            sum += part[k];
    }
    if (threadIdx.x == 0) *y = sum;
}

/* A transposed tile with 32 columns, whose elements share a bank, and with 33. */
template <int PAD> __global__ void turn_tile(const float *x, float *y, int width, int height)
{
    __shared__ float s[32][32 + PAD];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x] = x[(row + k) * width + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        y[(row + k) * height + column] = s[threadIdx.x][threadIdx.y + k];
}

/* Sums of segments that flags begin, by a warp's scan. */
__global__ void segments(const float *x, const uint32_t *flag, float *y, int n)
{
    GLOBAL_I;
    int lane = threadIdx.x % 32;
    float v = x[i];
    bool head = lane == 0 || flag[i] % 8 == 0;
    for (int o = 1; o < 32; o *= 2) {
        float left = __shfl_up_sync(0xffffffff, v, o);
        bool other = __shfl_up_sync(0xffffffff, head, o);
        if (lane >= o && !head) v += left, head = other;
    }
    y[i] = v;
}

/* One block, a hundred rounds over ten words. */
__global__ void rounds(uint32_t *y, int turns)
{
    __shared__ uint32_t s[640];
    s[threadIdx.x] = threadIdx.x;
    for (int k = 0; k < turns; k++) {
        __syncthreads();
        uint32_t v = s[(threadIdx.x + 1) % 640] * 3 + k;
        __syncthreads();
        s[threadIdx.x] ^= v;
    }
    y[threadIdx.x] = s[threadIdx.x];
}

/* Arrays of structs of three to three arrays. */
__global__ void unzip(const float3 *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float3 v = x[i];
    y[i] = v.x, y[n + i] = v.y, y[2 * n + i] = v.z;
}

static void rest()
{
    E("planes", "planes", planes<<<3600, 256>>>((uchar3 *)keys, (unsigned char *)c, 1280 * 720));
    E("rotate", "rotate", rotate<<<dim3(64, 64), dim3(16, 16)>>>(a, c, 1024, 0.866f, 0.5f));
    E("cosines", "cosines", cosines<<<dim3(16, 128), dim3(8, 8, 8)>>>(a, c, 1024));
    E("erode", "erode",
      erode<<<dim3(32, 64), dim3(32, 16)>>>((unsigned char *)keys, (unsigned char *)c, 1024));
    E("march", "march", march<<<dim3(32, 64), dim3(16, 8)>>>((uchar4 *)c, 512));
    E("julia", "julia", julia<<<dim3(24, 24), dim3(16, 16)>>>((unsigned char *)c, 384));
    E("nearest-eight", "nearest-eight",
      nearest_eight<<<64, 128>>>((float4 *)a, (float4 *)b, (int *)c, 1024));
    E("cyclic", "cyclic", cyclic<<<1024, 256>>>(a, c));
    E("cholesky", "cholesky", cholesky<<<600, 32>>>(a, c));
    E("recursive", "recursive-filter", recursive_filter<<<16, 64>>>(a, c, 1024, 500));
    E("sum-last", "sum-last", sum_last<<<200, 256>>>(a, c, c + MB, zeros + 16384, 3000000));
    E("transpose-tile", "turn-tile-0",
      turn_tile<0><<<dim3(48, 32), dim3(32, 8)>>>(a, c, 1536, 1024));
    E("transpose-tile", "turn-tile-1",
      turn_tile<1><<<dim3(48, 32), dim3(32, 8)>>>(a, c, 1536, 1024));
    E("segments", "segments", segments<<<2048, 256>>>(a, keys, c, 512 << 10));
    E("rounds", "rounds", rounds<<<1, 640>>>((uint32_t *)c, 100));
    E("unzip", "unzip", unzip<<<2344, 256>>>((float3 *)a, c, 600000));
}
