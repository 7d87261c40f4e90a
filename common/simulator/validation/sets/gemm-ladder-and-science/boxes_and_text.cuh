/* boxes_and_text.cuh - overlapping boxes, SHA-256, bags of words, row maxima, letters (part of
 * gemm-ladder-and-science.cu). */

/* Boxes that lie over each other, 64 by 64: a word of bits for each. */
__global__ void boxes_over(const float4 *box, unsigned long long *mask, int n, float limit)
{
    __shared__ float4 s[64];
    int t = threadIdx.x, row = blockIdx.y * 64 + t;
    float4 o = box[blockIdx.x * 64 + t];
    s[t] = make_float4(o.x, o.y, o.x + 0.5f + fabsf(o.z), o.y + 0.5f + fabsf(o.w));
    __syncthreads();
    float4 p = box[row];
    p.z = p.x + 0.5f + fabsf(p.z), p.w = p.y + 0.5f + fabsf(p.w);
    unsigned long long bits = 0;
    float own = (p.z - p.x) * (p.w - p.y);
    for (int k = blockIdx.x == blockIdx.y ? t + 1 : 0; k < 64; k++) {
        float4 q = s[k];
        float w = fmaxf(fminf(p.z, q.z) - fmaxf(p.x, q.x), 0.0f),
              h = fmaxf(fminf(p.w, q.w) - fmaxf(p.y, q.y), 0.0f), both = w * h;
        if (both > limit * (own + (q.z - q.x) * (q.w - q.y) - both)) bits |= 1ull << k;
    }
    mask[(size_t)row * gridDim.x + blockIdx.x] = bits;
}

/* SHA-256 of 64 bytes, a thread each. */
__constant__ uint32_t sha_table[64];

__global__ void sha_256(const uint32_t *x, uint32_t *y)
{
    GLOBAL_I;
    uint32_t w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int k = 0; k < 16; k++)
        w[k] = x[k * gridDim.x * blockDim.x + i];
#define TURNED(v, k) __funnelshift_r(v, v, k)
#pragma unroll
    for (int k = 0; k < 64; k++) {
        if (k >= 16) {
            uint32_t p = w[(k + 1) & 15], q = w[(k + 14) & 15];
            w[k & 15] += w[(k + 9) & 15] + (TURNED(p, 7) ^ TURNED(p, 18) ^ p >> 3) +
                         (TURNED(q, 17) ^ TURNED(q, 19) ^ q >> 10);
        }
        uint32_t e = s[4], f = s[0];
        uint32_t one = s[7] + (TURNED(e, 6) ^ TURNED(e, 11) ^ TURNED(e, 25)) +
                       (e & s[5] ^ ~e & s[6]) + sha_table[k] + w[k & 15];
        uint32_t two =
            (TURNED(f, 2) ^ TURNED(f, 13) ^ TURNED(f, 22)) + (f & s[1] ^ f & s[2] ^ s[1] & s[2]);
        s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + one;
        s[3] = s[2], s[2] = s[1], s[1] = f, s[0] = one + two;
    }
#undef TURNED
    for (int k = 0; k < 8; k++)
        y[k * gridDim.x * blockDim.x + i] = s[k];
}

/* Bags of words: the mean of 8 to 23 rows of a table, a block of 64 a bag. */
__global__ void bags(const uint32_t *word, const float *table, float *y, int width)
{
    int first = blockIdx.x * 16, count = 8 + (word[blockIdx.x] >> 5) % 16;
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        float sum = 0;
        for (int j = 0; j < count; j++)
            sum += table[(word[first + j] & 16383) * width + k];
        y[blockIdx.x * width + k] = sum / count;
    }
}

/* The place of each row's largest, one warp per row. */
__global__ void largest(const float *x, int *y, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, at = 0;
    float most = -1e30f;
    for (int k = lane; k < width; k += 32) {
        float v = x[(size_t)row * width + k];
        if (v > most) most = v, at = k;
    }
    for (int o = 16; o > 0; o /= 2) {
        float v = __shfl_down_sync(0xffffffff, most, o);
        int k = __shfl_down_sync(0xffffffff, at, o);
        if (v > most) most = v, at = k;
    }
    if (lane == 0) y[row] = at;
}

/* Three bytes to four letters. */
__global__ void letters(const unsigned char *x, uchar4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = x[3 * i] << 16 | x[3 * i + 1] << 8 | x[3 * i + 2];
    unsigned char out[4];
    for (int k = 0; k < 4; k++) {
        int e = v >> (18 - 6 * k) & 63;
        out[k] = e < 26    ? 'A' + e
                 : e < 52  ? 'a' + e - 26
                 : e < 62  ? '0' + e - 52
                 : e == 62 ? '+'
                           : '/';
    }
    y[i] = make_uchar4(out[0], out[1], out[2], out[3]);
}

static void rest()
{
    E("boxes", "boxes-over",
      boxes_over<<<dim3(32, 32), 64>>>((float4 *)a, (unsigned long long *)c, 2048, 0.4f));
    E("codes", "sha-256", sha_256<<<512, 128>>>(keys, (uint32_t *)c));
    E("bags", "bags", bags<<<4000, 64>>>(keys, a, c, 128));
    E("argmax", "largest", largest<<<512, 256>>>(a, (int *)c, 1000));
    E("letters", "letters", letters<<<1954, 256>>>((unsigned char *)keys, (uchar4 *)c, 500000));
}
