/* signals_and_images.cuh - signals and images (part of sorting-and-graphs.cu). */

/* Stockham: one pass over all of a long transform. */
__global__ void fft_pass(const float2 *x, float2 *y, int n, int p)
{
    GLOBAL_I;
    int k = i & (p - 1), to = ((i - k) << 1) + k;
    float2 u = x[i], v = x[i + n / 2];
    float si, co;
    sincospif(-(float)k / (float)p, &si, &co);
    float2 w = make_float2(v.x * co - v.y * si, v.x * si + v.y * co);
    y[to] = make_float2(u.x + w.x, u.y + w.y), y[to + p] = make_float2(u.x - w.x, u.y - w.y);
}

/* Walsh: 2048 elements per block of 512, radix 4 in shared memory. */
__global__ void walsh(const float *x, float *y)
{
    __shared__ float s[2048];
    for (int k = threadIdx.x; k < 2048; k += 512)
        s[k] = x[blockIdx.x * 2048 + k];
    for (int stride = 512; stride > 0; stride >>= 2) {
        int low = threadIdx.x & (stride - 1), i = ((threadIdx.x - low) << 2) + low;
        __syncthreads();
        float p = s[i], q = s[i + stride], r = s[i + 2 * stride], t = s[i + 3 * stride];
        float pr = p + r, pm = p - r, qt = q + t, qm = q - t;
        s[i] = pr + qt, s[i + stride] = pr - qt, s[i + 2 * stride] = pm + qm,
        s[i + 3 * stride] = pm - qm;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2048; k += 512)
        y[blockIdx.x * 2048 + k] = s[k];
}

__constant__ float taps[17];

/* A row's filter of 17 taps: 8 outputs per thread, halos in shared memory. */
__global__ void filter_rows(const float *x, float *y, int pitch)
{
    __shared__ float s[4][(8 + 2) * 16];
    int base = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    const float *from = x + row * pitch + base;
#pragma unroll
    for (int k = 0; k < 10; k++)
        s[threadIdx.y][threadIdx.x + k * 16] =
            base + k * 16 >= 0 && base + k * 16 < pitch ? from[k * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 1; k < 9; k++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++)
            sum += taps[8 - j] * s[threadIdx.y][threadIdx.x + k * 16 + j];
        y[row * pitch + base + k * 16] = sum;
    }
}

/* A running mean down each column, one thread per column. */
__global__ void box_columns(const float *x, float *y, int width, int height, int radius)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float scale = 1.0f / (float)(2 * radius + 1), sum = x[column] * (float)radius;
    for (int row = 0; row < radius + 1; row++)
        sum += x[row * width + column];
    for (int row = 0; row < height; row++) {
        y[row * width + column] = sum * scale;
        sum += x[min(row + radius + 1, height - 1) * width + column];
        sum -= x[max(row - radius, 0) * width + column];
    }
}

__device__ static void order_two(int &p, int &q)
{
    int less = min(p, q);
    q = max(p, q), p = less;
}

/* The middle one of nine bytes. */
__global__ void median_bytes(const unsigned char *x, unsigned char *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int r = min(max(row + k / 3 - 1, 0), n - 1), s = min(max(column + k % 3 - 1, 0), n - 1);
        v[k] = x[r * n + s];
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
#pragma unroll
        for (int j = k + 1; j < 9; j++)
            order_two(v[k], v[j]);
    y[row * n + column] = (unsigned char)v[4];
}

/* Edges of bytes: a tile with its border in shared memory. */
__global__ void sobel(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[18][34];
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 18 * 34; k += 512) {
        int r = min(max((int)blockIdx.y * 16 + k / 34 - 1, 0), n - 1),
            q = min(max((int)blockIdx.x * 32 + k % 34 - 1, 0), n - 1);
        s[k / 34][k % 34] = x[r * n + q];
    }
    __syncthreads();
    const unsigned char *u = &s[threadIdx.y][threadIdx.x], *v = u + 34, *w = v + 34;
    int across = u[2] + 2 * v[2] + w[2] - u[0] - 2 * v[0] - w[0],
        down = w[0] + 2 * w[1] + w[2] - u[0] - 2 * u[1] - u[2];
    y[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x] =
        (unsigned char)min(abs(across) + abs(down), 255);
}

/* Near in place and in value. */
__global__ void bilateral(const float *x, float *y, int n, int radius)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float own = x[row * n + column], sum = 0, weight = 0;
    for (int r = -radius; r <= radius; r++)
        for (int s = -radius; s <= radius; s++) {
            int i = min(max(row + r, 0), n - 1), j = min(max(column + s, 0), n - 1);
            float v = x[i * n + j],
                  w = __expf(-(float)(r * r + s * s) * 0.05f - (v - own) * (v - own) * 4.0f);
            sum += v * w, weight += w;
        }
    y[row * n + column] = sum / weight;
}

struct Sphere {
    float x, y, z, radius;
};
__constant__ Sphere spheres[16];

/* Rays into a scene, with a bounce where they hit. */
__global__ void trace(uchar4 *image, int w, int h)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float ox = 0, oy = 0, oz = 0, dx = (float)(px - w / 2) / (float)w,
          dy = (float)(py - h / 2) / (float)w, dz = 1, light = 0, left = 1;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    for (int bounce = 0; bounce < 3; bounce++) {
        float best = 1e30f;
        int hit = -1;
        for (int k = 0; k < 16; k++) {
            float cx = spheres[k].x - ox, cy = spheres[k].y - oy, cz = spheres[k].z - oz,
                  along = cx * dx + cy * dy + cz * dz,
                  inside = along * along - (cx * cx + cy * cy + cz * cz) +
                           spheres[k].radius * spheres[k].radius;
            if (inside < 0) continue;
            float at = along - sqrtf(inside);
            if (at > 1e-3f && at < best) best = at, hit = k;
        }
        if (hit < 0) {
            light += left * (0.5f + 0.5f * dy);
            break;
        }
        ox += dx * best, oy += dy * best, oz += dz * best;
        float nx = (ox - spheres[hit].x) / spheres[hit].radius,
              ny = (oy - spheres[hit].y) / spheres[hit].radius,
              nz = (oz - spheres[hit].z) / spheres[hit].radius,
              back = 2 * (dx * nx + dy * ny + dz * nz);
        dx -= back * nx, dy -= back * ny, dz -= back * nz;
        light += left * 0.3f * fmaxf(-ny, 0.0f), left *= 0.5f;
    }
    unsigned char grey = (unsigned char)(255.0f * __saturatef(light));
    image[py * w + px] = make_uchar4(grey, grey, grey, 255);
}

/* The positions of a word of eight letters in a text. */
__global__ void search_text(const unsigned char *text, uint32_t *y, int n)
{
    __shared__ unsigned char word[8];
    if (threadIdx.x < 8) word[threadIdx.x] = "abcdefgh"[threadIdx.x];
    __syncthreads();
    for (GLOBAL_I; i < n - 8; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < 8 && (text[i + k] & 0x61) == (word[k] & 0x61))
            k++;
        if (k == 8) atomicAdd(y, 1u);
    }
}

/* XTEA: 64 rounds of shifts and sums on two words. */
__global__ void cipher(const uint2 *x, uint2 *y, uint4 key)
{
    GLOBAL_I;
    uint2 v = x[i];
    uint32_t sum = 0, k[4] = {key.x, key.y, key.z, key.w};
#pragma unroll
    for (int round = 0; round < 32; round++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
        sum += 0x9e3779b9;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
    }
    y[i] = v;
}

/* CRC of 64 bytes per thread, by a table in shared memory. */
__global__ void crc_rows(const uint32_t *x, const uint32_t *table, uint32_t *y)
{
    __shared__ uint32_t s[256];
    s[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    uint32_t crc = 0xffffffff;
    for (int k = 0; k < 16; k++) {
        uint32_t word = x[i * 16 + k];
        for (int j = 0; j < 4; j++, word >>= 8)
            crc = crc >> 8 ^ s[(crc ^ word) & 255];
    }
    y[i] = ~crc;
}

static void pictures()
{
    E("fft-pass", "fft-pass", fft_pass<<<2048, 256>>>((float2 *)a, (float2 *)c, MB, 1024));
    E("walsh", "walsh", walsh<<<528, 512>>>(a, c));
    E("filter-rows", "filter-rows", filter_rows<<<dim3(8, 256), dim3(16, 4)>>>(a, c, 1024));
    E("box", "box-columns", box_columns<<<32, 64>>>(a, c, 2048, 256, 7));
    E("median", "median-bytes",
      median_bytes<<<dim3(16, 64), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 512));
    E("sobel", "sobel",
      sobel<<<dim3(32, 64), dim3(32, 16)>>>((unsigned char *)keys, (unsigned char *)c, 1024));
    E("bilateral", "bilateral", bilateral<<<dim3(32, 32), dim3(16, 16)>>>(a, c, 512, 3));
    E("trace", "trace", trace<<<dim3(32, 64), dim3(16, 8)>>>((uchar4 *)c, 512, 512));
    E("search", "search-text",
      search_text<<<1056, 256>>>((unsigned char *)keys, zeros + MB + 128, 2 * MB));
    E("cipher", "cipher",
      cipher<<<1024, 256>>>((uint2 *)keys, (uint2 *)c, make_uint4(1, 22, 333, 4444)));
    E("crc", "crc-rows", crc_rows<<<256, 256>>>(keys, keys + MB, (uint32_t *)c));
}
