/* science.cuh - suites of science (part of gemm-ladder-and-science.cu). */

/* A network learns: weights by what they did before and what was wrong, 16 x 16 a block. */
__global__ void weights_adjusted(const float *delta, const float *input, float *w, float *old,
                                 int width)
{
    int row = blockIdx.x * 16 + threadIdx.y + 1, column = threadIdx.x + 1,
        at = row * (width + 1) + column;
    float change = 0.3f * delta[column] * input[row] + 0.3f * old[at];
    w[at] += change, old[at] = change;
    __syncthreads();
    if (threadIdx.y == 0 && blockIdx.x == 0) {
        change = 0.3f * delta[column] + 0.3f * old[column];
        w[column] += change, old[column] = change;
    }
}

/* Searches in a tree of 255 keys per node, one block per query: all threads compare one node. */
__global__ void tree_find(const uint32_t *node, const uint32_t *question, uint32_t *y)
{
    __shared__ int next;
    __shared__ uint32_t found;
    uint32_t wanted = question[blockIdx.x];
    int t = threadIdx.x, own = 0;
    if (t == 0) found = 0xffffffff;
    for (int level = 0; level < 2; level++) {
        const uint32_t *keys_of = node + (size_t)own * 256;
        uint32_t low = keys_of[t], high = t < 255 ? keys_of[t + 1] : 0xffffffff;
        if (low <= wanted && (wanted < high || t == 255)) next = t;
        __syncthreads();
        if (level == 1 && t == next) found = low;
        own = own * 256 + 1 + next;
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = found;
}

/* Gas in cells: a step in time of five values by columns, and how long the next may be. */
__global__ void gas_step(const float *old, const float *flux_of, const float *volume, float *v,
                         float *longest, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float factor = 0.01f / (1.0f + fabsf(volume[i])), w[5];
    for (int k = 0; k < 5; k++)
        v[k * n + i] = w[k] = old[k * n + i] + factor * flux_of[k * n + i];
    float density = fabsf(w[0]) + 0.5f, vx = w[1] / density, vy = w[2] / density,
          vz = w[3] / density, square = vx * vx + vy * vy + vz * vz;
    float pressure = 0.4f * (fabsf(w[4]) - 0.5f * density * square);
    float sound = sqrtf(1.4f * fabsf(pressure) / density);
    longest[i] = 0.5f / (sqrtf(0.3f + fabsf(volume[i])) * (sqrtf(square) + sound));
}

/* Tracking of the heart muscle: correlation of a window of 40 x 40 with a template of 16 x 16 at
 * each position, with sums of squared values; one block per point. */
__global__ void wall_alike(const float *frame, const float *piece, float *y, int n)
{
    __shared__ float f[40 * 40], p[16 * 16];
    int row = blockIdx.x / 8 * 40, column = blockIdx.x % 8 * 40;
    for (int k = threadIdx.x; k < 1600; k += blockDim.x)
        f[k] = frame[(row + k / 40) * n + column + k % 40];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        p[k] = piece[blockIdx.x * 256 + k];
    __syncthreads();
    for (int at = threadIdx.x; at < 625; at += blockDim.x) {
        int r = at / 25, s = at % 25;
        float sum = 0, square = 1e-3f;
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++) {
                float v = f[(r + j) * 40 + s + k];
                sum += v * p[j * 16 + k], square += v * v;
            }
        y[blockIdx.x * 625 + at] = sum * rsqrtf(square);
    }
}

/* Leukocyte detection: the best ratio of mean and variance of the gradients on seven circles, one
 * thread per pixel. */
__constant__ float circle_sin[150], circle_cos[150];
__constant__ int circle_x[7 * 150], circle_y[7 * 150];

__global__ void cells_found(const float *gx, const float *gy, float *y, int width, int height)
{
    GLOBAL_I;
    int row = i / width, column = i % width;
    if (row < 22 || row >= height - 22 || column < 22 || column >= width - 22) return;
    float best = 0;
    for (int k = 0; k < 4; k++) {
        float sum = 0, square = 0, mean = 0;
        for (int n = 0; n < 60; n++) {
            int at = (row + circle_y[k * 150 + n]) * width + column + circle_x[k * 150 + n];
            float p = gx[at] * circle_cos[n] + gy[at] * circle_sin[n];
            sum += p;
            float delta = p - mean;
            mean += delta / (n + 1), square += delta * (p - mean);
        }
        mean = sum / 60;
        best = fmaxf(best, mean * mean / (square / 59 + 1e-6f));
    }
    y[i] = best;
}

/* A muscle cell: equations with many rates, one thread per cell, Euler's steps. */
__global__ void muscle(const float *first, float *y, int steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float v = -80.0f + 5 * first[i], m = 0.1f, h = 0.6f, j = 0.7f, x = 0.05f, ca = 1e-3f;
    for (int k = 0; k < steps; k++) {
        float am = 0.32f * (v + 47.13f) / (1.0f - expf(-0.1f * (v + 47.13f)) + 1e-6f),
              bm = 0.08f * expf(-v / 11.0f);
        float ah = v < -40.0f ? 0.135f * expf((80.0f + v) / -6.8f) : 0.0f;
        float bh = v < -40.0f ? 3.56f * expf(0.079f * v) + 3.1e5f * expf(0.35f * v)
                              : 1.0f / (0.13f * (1.0f + expf((v + 10.66f) / -11.1f)));
        float ax = 0.0005f * expf(0.083f * (v + 50.0f)) / (1.0f + expf(0.057f * (v + 50.0f))),
              bx = 0.0013f * expf(-0.06f * (v + 20.0f)) / (1.0f + expf(-0.04f * (v + 20.0f)));
        float current = 23.0f * m * m * m * h * j * (v - 54.4f) + 0.09f * x * (v + 77.0f) +
                        0.04f * (v + 87.2f) + 0.03f * logf(ca + 1.0f);
        v -= 0.005f * current;
        m += 0.005f * (am * (1 - m) - bm * m), h += 0.005f * (ah * (1 - h) - bh * h);
        j += 0.002f * (ah * (1 - j) - bh * j), x += 0.005f * (ax * (1 - x) - bx * x);
        ca += 0.005f * (-1e-4f * current + 0.07f * (1e-4f - ca));
    }
    y[i] = v, y[n + i] = m, y[2 * n + i] = h;
}

/* Particles that follow a spot: each reads the pixels around its place, and a block's weights. */
__global__ void particles_weighed(const float *px, const float *py, const unsigned char *picture,
                                  float *weight, float *part_of, int n)
{
    __shared__ float part[16];
    GLOBAL_I;
    float sum = 0;
    if (i < n) {
        float x = 64 + 60 * px[i], y = 64 + 60 * py[i];
        for (int k = 0; k < 69; k++) {
            int dx = k % 9 - 4, dy = k / 9 - 4;
            int at = (((int)y + dy) * 128 + (int)x + dx) * 10;
            int pixel = picture[at < 0 ? 0 : at];
            float low = pixel - 100, high = pixel - 228;
            sum += (low * low - high * high) / 50.0f;
        }
        sum = expf(sum / 69 * 0.01f) / n;
        weight[i] = sum;
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) part_of[blockIdx.x] = sum;
}

/* Wavelets of images, 5/3: a column of a tile for each thread, down and up again. */
__global__ void wavelet_columns(const int *x, int *y, int n)
{
    __shared__ int s[36][64];
    int column = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 36; k += 4) {
        int at = row + k - 2;
        at = at < 0 ? -at : at >= n ? 2 * n - 2 - at : at;
        s[k][threadIdx.x] = x[at * n + column] & 255;
    }
    __syncthreads();
    for (int k = 1 + 2 * threadIdx.y; k < 35; k += 8)
        s[k][threadIdx.x] -= (s[k - 1][threadIdx.x] + s[k + 1][threadIdx.x]) / 2;
    __syncthreads();
    for (int k = 2 + 2 * threadIdx.y; k < 34; k += 8)
        s[k][threadIdx.x] += (s[k - 1][threadIdx.x] + s[k + 1][threadIdx.x] + 2) / 4;
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 4)
        y[((k & 1) * n / 2 + (row + k) / 2) * n + column] = s[k + 2][threadIdx.x];
}

/* Bytes to words of a code: lengths from a table, a scan, bits set by atomics in shared memory. */
__global__ void code_packed(const uint32_t *x, const uint32_t *code, uint32_t *y)
{
    __shared__ uint32_t table[256], at[256], out[256];
    int t = threadIdx.x;
    uint32_t v = x[blockIdx.x * 256 + t], word[4], bits = 0;
    table[t] = code[t] & 0xff | (3 + (code[t] >> 8) % 6) << 8, out[t] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        word[k] = table[v >> 8 * k & 255], bits += word[k] >> 8;
    at[t] = bits;
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        uint32_t left = t >= step ? at[t - step] : 0;
        __syncthreads();
        at[t] += left;
    }
    uint32_t place = at[t] - bits;
    for (int k = 0; k < 4; k++) {
        uint32_t length = word[k] >> 8, own = word[k] & ((1u << length) - 1), shift = place % 32;
        atomicOr(&out[place / 32], own << shift);
        if (shift + length > 32) atomicOr(&out[place / 32 + 1], own >> (32 - shift));
        place += length;
    }
    __syncthreads();
    y[blockIdx.x * 256 + t] = out[t];
}

/* Samples to a grid: one block per cell of 8 x 8 points, its samples from a sorted list. */
__global__ void gridded(const float4 *sample, const int2 *range, float2 *y, int across)
{
    __shared__ float4 s[64];
    int t = threadIdx.x, cx = blockIdx.x, cy = blockIdx.y;
    float px = (t % 8 - 4) * 0.2f, py = (t / 8 - 4) * 0.2f, re = 0, im = 0;
    for (int n = -1; n <= 1; n++) {
        int2 own = range[min(max(cy + n, 0), across - 1) * across + cx];
        for (int from = own.x; from < own.y; from += 64) {
            if (from + t < own.y) s[t] = sample[from + t];
            __syncthreads();
            for (int k = 0; k < min(64, own.y - from); k++) {
                float dx = s[k].x - px, dy = s[k].y - py, r = dx * dx + dy * dy;
                if (r < 0.7f) {
                    float w = sqrtf(1.0f - r) * __expf(-2.0f * r);
                    re += w * s[k].z, im += w * s[k].w;
                }
            }
            __syncthreads();
        }
    }
    y[(cy * across + cx) * 64 + t] = make_float2(re, im);
}

/* Rates of a flame: 24 reactions of 12 kinds, all with exponents, by columns. */
__global__ void flame(const float *heat, const float *share, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float t = 1000.0f + 600.0f * heat[i], one = 1.0f / (8.314f * t), lt = logf(t), change[12] = {0};
#pragma unroll
    for (int r = 0; r < 24; r++) {
        float f =
            expf(10.0f + 0.3f * r + (0.1f * r - 1.0f) * lt * 0.5f - (2e4f + 900.0f * r) * one);
        float back = f * expf(-5.0f + 0.2f * r + 3e4f * one * 0.3f);
        float p = share[r % 12 * n + i], q = share[(r * 5 + 1) % 12 * n + i];
        float rate = f * p * q - back * share[(r * 7 + 2) % 12 * n + i];
        change[r % 12] -= rate, change[(r * 7 + 2) % 12] += rate;
    }
#pragma unroll
    for (int k = 0; k < 12; k++)
        y[k * n + i] = change[k];
}

/* Jagged diagonal format: rows by falling length, transposed, one thread per row. */
__global__ void spmv_jagged(const int *begin, const int *length, const int *column, const float *v,
                            const int *order, const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < length[i]; k++) {
        int at = begin[k] + i;
        sum += v[at] * x[column[at]];
    }
    y[order[i]] = sum;
}

/* Nine points with a shared tile, strips of eight rows per thread. */
__global__ void nine_points(const float *x, float *y, int n)
{
    __shared__ float s[34][34];
    int column = blockIdx.x * 32, row = blockIdx.y * 32, tx = threadIdx.x;
    for (int k = threadIdx.y; k < 34; k += 4)
        for (int j = tx; j < 34; j += 32)
            s[k][j] = x[(row + k) * n + column + j];
    __syncthreads();
    for (int k = threadIdx.y * 8 + 1; k <= threadIdx.y * 8 + 8; k++) {
        float near = s[k - 1][tx + 1] + s[k + 1][tx + 1] + s[k][tx] + s[k][tx + 2];
        float far = s[k - 1][tx] + s[k - 1][tx + 2] + s[k + 1][tx] + s[k + 1][tx + 2];
        y[(row + k) * n + column + tx + 1] = 0.25f * s[k][tx + 1] + 0.15f * near + 0.05f * far;
    }
}

/* FFT of 512 points per block of 64: eight per thread in registers, transposed twice through shared
 * memory. */
__device__ static void eight_points(float2 *v)
{
    const float R = 0.70710678f;
    for (int half = 4; half > 0; half /= 2)
        for (int k = 0; k < 8; k++) {
            if (k & half) continue;
            float2 p = v[k], q = v[k + half];
            v[k] = make_float2(p.x + q.x, p.y + q.y);
            float2 m = make_float2(p.x - q.x, p.y - q.y);
            int turn = (k & (half - 1)) * (4 / half);
            if (turn == 1) m = make_float2(R * (m.x + m.y), R * (m.y - m.x));
            if (turn == 2) m = make_float2(m.y, -m.x);
            if (turn == 3) m = make_float2(R * (m.y - m.x), -R * (m.x + m.y));
            v[k + half] = m;
        }
}

__global__ void fft_512(float2 *x)
{
    __shared__ float s[64 * 9];
    int t = threadIdx.x, high = t / 8, low = t % 8;
    float2 v[8];
    x += (size_t)blockIdx.x * 512;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = x[t + 64 * k];
#pragma unroll
    for (int pass = 0; pass < 3; pass++) {
        eight_points(v);
        if (pass == 2) break;
        float step = -6.2831853f * (pass ? low : t) / (pass ? 64 : 512);
#pragma unroll
        for (int k = 1; k < 8; k++) {
            float co, si;
            int turned = (k & 1) << 2 | k & 2 | k >> 2; /* index after that butterfly */
            __sincosf(step * turned, &si, &co);
            v[k] = make_float2(v[k].x * co - v[k].y * si, v[k].x * si + v[k].y * co);
        }
        int to = pass ? high * 72 + low : t, gap = pass ? 9 : 66;
        int from = pass ? high * 72 + low * 9 : low + high * 66, next = pass ? 1 : 8;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 8; k++)
                s[to + k * gap] = part ? v[k].y : v[k].x;
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 8; k++)
                (part ? v[k].y : v[k].x) = s[from + k * next];
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        x[t + 64 * k] = make_float2(v[k].x * 0.04419417f, v[k].y * 0.04419417f);
}

/* Eight dependency chains of multiply-adds, with loads from memory. */
__global__ void streams_eight(float *y, int turns)
{
    GLOBAL_I;
    float s[8];
    for (int k = 0; k < 8; k++)
        s[k] = 0.999f - 0.0001f * (i % 100) * k;
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            s[k] = 0.55f - s[k] * 0.355f, s[k] = 0.45f - s[k] * 0.355f;
            s[k] = 0.35f - s[k] * 0.355f, s[k] = 0.25f - s[k] * 0.355f;
        }
    y[i] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

static void science()
{
    E("backprop", "weights-adjusted",
      weights_adjusted<<<4096, dim3(16, 16)>>>(a, b, c, c + 2 * MB, 16));
    E("trees", "tree-find", tree_find<<<2000, 256>>>(tree_nodes, keys, (uint32_t *)c));
    E("gas-dynamics", "gas-step", gas_step<<<1172, 128>>>(a, b, a + 4 * MB, c, c + 4 * MB, 150000));
    E("images", "wall-alike", wall_alike<<<51, 256>>>(a, b, c, 512));
    E("images", "cells-found", cells_found<<<429, 256>>>(a, b, c, 416, 264));
    E("equations", "muscle", muscle<<<64, 64>>>(a, c, 60, 4096));
    E("particles", "particles-weighed",
      particles_weighed<<<64, 512>>>(a, b, (unsigned char *)keys, c, c + MB, 32000));
    E("wavelets", "wavelet-columns",
      wavelet_columns<<<dim3(16, 32), dim3(64, 4)>>>((int *)keys, (int *)c, 1024));
    E("codes", "code-packed", code_packed<<<1500, 256>>>(keys, rising, (uint32_t *)c));
    E("gridding", "gridded", gridded<<<dim3(48, 48), 64>>>((float4 *)a, bins, (float2 *)c, 48));
    E("flame", "flame", flame<<<432, 128>>>(a, b, c, 55296));
    E("stencils", "nine-points", nine_points<<<dim3(32, 32), dim3(32, 4)>>>(a, c, 1026));
    E("fourier", "fft-512", fft_512<<<1600, 64>>>((float2 *)e));
    E("streams", "streams-eight", streams_eight<<<400, 128>>>(c, 100));
}
