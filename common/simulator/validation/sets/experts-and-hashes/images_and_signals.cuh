/* images_and_signals.cuh - images, signals and number theory (part of experts-and-hashes.cu). */

/* ---- images -------------------------------------------------------------------------------- */

/* Translated and rotated, bilinear between four pixels of three bytes. */
__global__ void warped(const unsigned char *x, unsigned char *y, int n, float xx, float xy,
                       float x0, float yx, float yy, float y0)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    float u = xx * column + xy * row + x0, v = yx * column + yy * row + y0;
    int p = __float2int_rd(u), q = __float2int_rd(v);
    float fu = u - p, fv = v - q;
    if (p < 0 || q < 0 || p >= n - 1 || q >= n - 1) {
        for (int k = 0; k < 3; k++)
            y[(row * n + column) * 3 + k] = 0;
        return;
    }
    const unsigned char *from = x + (q * n + p) * 3;
    for (int k = 0; k < 3; k++) {
        float above = from[k] + fu * (from[3 + k] - from[k]),
              below = from[3 * n + k] + fu * (from[3 * n + 3 + k] - from[3 * n + k]);
        y[(row * n + column) * 3 + k] = (unsigned char)(above + fv * (below - above) + 0.5f);
    }
}

/* A lens undone: where each pixel was, by a polynomial of its distance. */
__global__ void lens_undone(const float *x, float *y, int n, float k1, float k2)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (column - 0.5f * n) / n, v = (row - 0.5f * n) / n, r = u * u + v * v,
          s = 1 + r * (k1 + r * k2);
    int p = min(max(__float2int_rn(u * s * n + 0.5f * n), 0), n - 1),
        q = min(max(__float2int_rn(v * s * n + 0.5f * n), 0), n - 1);
    y[row * n + column] = x[q * n + p];
}

/* Median of 25: each iteration removes the minimum and the maximum. */
__global__ void median_25(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 2 || row < 2 || column >= n - 2 || row >= n - 2) return;
    float v[14];
    const float *from = x + (row - 2) * n + column - 2;
#pragma unroll
    for (int k = 0; k < 14; k++)
        v[k] = from[k / 5 * n + k % 5];
#pragma unroll
    for (int turn = 0; turn < 11; turn++) {
        int size = 14 - turn;
#pragma unroll
        for (int k = 1; k < size; k++) {
            float low = fminf(v[0], v[k]), high = fmaxf(v[0], v[k]);
            v[0] = low, v[k] = high;
        }
#pragma unroll
        for (int k = 1; k < size - 1; k++) {
            float low = fminf(v[k], v[size - 1]), high = fmaxf(v[k], v[size - 1]);
            v[k] = low, v[size - 1] = high;
        }
        v[0] = from[(14 + turn) / 5 * n + (14 + turn) % 5];
    }
    float low = fminf(v[0], v[1]), high = fmaxf(v[0], v[1]);
    y[row * n + column] = fmaxf(low, fminf(high, v[2]));
}

/* The nearest seed so far, asked of nine places a jump away. */
__global__ void flooded(const int *x, int *y, int n, int jump)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int best = -1, least = 0x7fffffff;
    for (int r = -1; r <= 1; r++)
        for (int s = -1; s <= 1; s++) {
            int u = column + s * jump, v = row + r * jump;
            if (u < 0 || v < 0 || u >= n || v >= n) continue;
            int seed = x[v * n + u];
            if (seed < 0) continue;
            int du = (seed & 1023) - column, dv = (seed >> 10 & 1023) - row, d = du * du + dv * dv;
            if (d < least) least = d, best = seed & 0xfffff;
        }
    y[row * n + column] = best;
}

/* Contrast of tiles: counts of 64 x 64 bytes, cut, summed, and the table it makes. */
__global__ void __launch_bounds__(256)
    tiles_equalised(const unsigned char *x, unsigned char *table, int n, int most)
{
    __shared__ int s[256], over;
    int t = threadIdx.x;
    s[t] = 0;
    if (t == 0) over = 0;
    __syncthreads();
    const unsigned char *from = x + (size_t)blockIdx.y * 64 * n + blockIdx.x * 64;
    for (int k = t; k < 4096; k += 256)
        atomicAdd(&s[from[k / 64 * n + k % 64]], 1);
    __syncthreads();
    int v = s[t];
    if (v > most) atomicAdd(&over, v - most), v = most;
    __syncthreads();
    s[t] = v + over / 256;
    for (int o = 1; o < 256; o *= 2) {
        __syncthreads();
        int u = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += u;
    }
    table[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + t] = min(s[t] * 255 / 4096, 255);
}

/* Colours by a table of 17 x 17 x 17, between eight of its entries. */
__global__ void colours_by_table(const uchar4 *x, const float4 *table, uchar4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uchar4 v = x[i];
    float r = v.x * (16.0f / 256), g = v.y * (16.0f / 256), h = v.z * (16.0f / 256);
    int p = (int)r, q = (int)g, s = (int)h;
    float fr = r - p, fg = g - q, fh = h - s, sum[3] = {};
    for (int k = 0; k < 8; k++) {
        float4 t = table[((s + k / 4) * 17 + q + k / 2 % 2) * 17 + p + k % 2];
        float w = (k % 2 ? fr : 1 - fr) * (k / 2 % 2 ? fg : 1 - fg) * (k / 4 ? fh : 1 - fh);
        sum[0] += w * t.x, sum[1] += w * t.y, sum[2] += w * t.z;
    }
    y[i] = make_uchar4((unsigned char)(fabsf(sum[0]) * 255), (unsigned char)(fabsf(sum[1]) * 255),
                       (unsigned char)(fabsf(sum[2]) * 255), v.w);
}

/* Cosine transform of 8 x 8 tiles as two matrix products with a table, eight tiles per block, and
 * quantisation by another table. */
__global__ void __launch_bounds__(512)
    squares_coded(const float *x, const float *cosine, const float *step, short *y, int n)
{
    __shared__ float c_[8][9], s[8][8][9], h[8][8][9];
    int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z;
    if (k == 0) c_[j][i] = cosine[j * 8 + i];
    s[k][j][i] = 128.0f * x[(size_t)(blockIdx.y * 8 + j) * n + (blockIdx.x * 8 + k) * 8 + i];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int m = 0; m < 8; m++)
        sum += c_[j][m] * s[k][m][i];
    h[k][j][i] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int m = 0; m < 8; m++)
        sum += h[k][j][m] * c_[i][m];
    y[((size_t)(blockIdx.y * gridDim.x + blockIdx.x) * 8 + k) * 64 + j * 8 + i] =
        (short)__float2int_rn(sum / (step[j * 8 + i] + 3.0f));
}

/* ---- signals, numbers ------------------------------------------------------------------------ */

/* Wavelets by lifting, rows of 1024 in shared memory: two steps forth, two back, and a scale. */
__global__ void __launch_bounds__(256) wavelets_lifted(const float *x, float *y)
{
    __shared__ float s[1024];
    const float w[4] = {-1.586134f, -0.052980f, 0.882911f, 0.443507f};
    size_t from = (size_t)blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024; k += 256)
        s[k] = x[from + k];
    for (int turn = 0; turn < 4; turn++) {
        __syncthreads();
        for (int k = threadIdx.x; k < 512; k += 256) {
            int at = 2 * k + (turn % 2 == 0), left = at ? at - 1 : 1,
                right = at < 1023 ? at + 1 : 1022;
            s[at] += w[turn] * (s[left] + s[right]);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 512; k += 256) {
        y[from + k] = s[2 * k] * 0.812893f;
        y[from + 512 + k] = s[2 * k + 1] * 1.230174f;
    }
}

/* 4096 points per block of 512, radix eight, four passes through shared memory. */
__device__ static float2 times(float2 p, float2 q)
{
    return make_float2(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
}

__device__ static void four_of(float2 &p, float2 &q, float2 &r, float2 &s)
{
    float2 u = {p.x + r.x, p.y + r.y}, v = {p.x - r.x, p.y - r.y}, w = {q.x + s.x, q.y + s.y},
           z = {q.y - s.y, s.x - q.x};
    p = make_float2(u.x + w.x, u.y + w.y), q = make_float2(v.x + z.x, v.y + z.y);
    r = make_float2(u.x - w.x, u.y - w.y), s = make_float2(v.x - z.x, v.y - z.y);
}

__global__ void __launch_bounds__(512) fft_eights(const float2 *x, float2 *y)
{
    __shared__ float s[4096 + 128];
    int t = threadIdx.x;
    size_t from = (size_t)blockIdx.x * 4096;
    float2 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = x[from + t + 512 * k];
    for (int span = 1; span < 4096; span *= 8) {
        int low = t % span, to = (t - low) * 8 + low;
        if (span > 1) {
            float si, co;
            __sincosf(-6.2831853f * low / (8 * span), &si, &co);
            float2 w = {co, si}, p = w;
#pragma unroll
            for (int k = 1; k < 8; k++)
                v[k] = times(v[k], p), p = times(p, w);
        }
        float2 e0 = v[0], e1 = v[2], e2 = v[4], e3 = v[6], o0 = v[1], o1 = v[3], o2 = v[5],
               o3 = v[7];
        four_of(e0, e1, e2, e3), four_of(o0, o1, o2, o3);
        o1 = times(o1, make_float2(0.70710678f, -0.70710678f)), o2 = make_float2(o2.y, -o2.x);
        o3 = times(o3, make_float2(-0.70710678f, -0.70710678f));
        float2 out[8] = {{e0.x + o0.x, e0.y + o0.y}, {e1.x + o1.x, e1.y + o1.y},
                         {e2.x + o2.x, e2.y + o2.y}, {e3.x + o3.x, e3.y + o3.y},
                         {e0.x - o0.x, e0.y - o0.y}, {e1.x - o1.x, e1.y - o1.y},
                         {e2.x - o2.x, e2.y - o2.y}, {e3.x - o3.x, e3.y - o3.y}};
        if (span == 512) {
#pragma unroll
            for (int k = 0; k < 8; k++)
                y[from + to + k * span] = out[k];
            return;
        }
#pragma unroll
        for (int part = 0; part < 2; part++) {
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 8; k++) {
                int at = to + k * span;
                s[at + at / 32] = part ? out[k].y : out[k].x;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 8; k++) {
                int at = t + 512 * k;
                (part ? v[k].y : v[k].x) = s[at + at / 32];
            }
        }
    }
}

/* The same over numbers modulo 998244353: 1024 a block, by twos. */
__device__ static uint32_t modular(uint32_t p, uint32_t q)
{
    return (uint32_t)((uint64_t)p * q % 998244353u);
}

__global__ void __launch_bounds__(512) ntt(const uint32_t *x, const uint32_t *root, uint32_t *y)
{
    __shared__ uint32_t s[1024], w[512];
    const uint32_t P = 998244353u;
    int t = threadIdx.x;
    size_t from = (size_t)blockIdx.x * 1024;
    w[t] = root[t];
    s[__brev(t) >> 22] = x[from + t] % P, s[__brev(t + 512) >> 22] = x[from + t + 512] % P;
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads();
        int low = t % half, at = (t - low) * 2 + low;
        uint32_t u = s[at], v = modular(s[at + half], w[low * (512 / half)]);
        s[at] = u + v >= P ? u + v - P : u + v, s[at + half] = u >= v ? u - v : u + P - v;
    }
    __syncthreads();
    y[from + t] = s[t], y[from + t + 512] = s[t + 512];
}

/* Miller-Rabin test of odd numbers of 32 bits, three witnesses: 64-bit multiplications and
 * remainders. */
__global__ void witnesses(const uint32_t *x, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = x[i] >> 4 | 1, odd = v - 1, twos = __ffs(odd) - 1;
    odd >>= twos;
    bool prime = v > 7;
    for (int k = 0; k < 3 && prime; k++) {
        uint64_t power = k == 0 ? 2 : k == 1 ? 7 : 61, r = 1;
        for (uint32_t e = odd; e; e >>= 1) {
            if (e & 1) r = r * power % v;
            power = power * power % v;
        }
        if (r == 1 || r == v - 1) continue;
        prime = false;
        for (uint32_t j = 1; j < twos && !prime; j++)
            r = r * r % v, prime = r == v - 1;
    }
    y[i] = prime;
}

/* A row of a knapsack's table from the one above. */
__global__ void knapsack(const int *above, int *y, int weight, int value, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int v = above[i];
    y[i] = i >= weight ? max(v, above[i - weight] + value) : v;
}

/* Eight steps of a filter of second order, one after another: one thread per channel. */
__global__ void biquads(const float *x, float *y, int length, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float p[4] = {}, q[4] = {};
    for (int k = 0; k < length; k++) {
        float v = x[(size_t)k * n + i];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float o = 0.2f * v + p[j];
            p[j] = 0.3f * v + 0.5f * o + q[j], q[j] = 0.2f * v - 0.2f * o;
            v = o;
        }
        y[(size_t)k * n + i] = v;
    }
}

static void data()
{
    E("hashes", "keccak-rounds", keccak<1><<<400, 128>>>((uint64_t *)keys, (uint64_t *)c, 51200));
    E("hashes", "keccak-unrolled",
      keccak<24><<<400, 128>>>((uint64_t *)keys, (uint64_t *)c, 51200));
    E("hashes", "blake2s", blake2s<<<480, 256>>>(keys, (uint32_t *)c, 122880));
    E("hashes", "sha1", sha1<<<480, 256>>>((uint4 *)keys, (uint32_t *)c, 122880));
    E("hashes", "siphash",
      siphash<<<480, 256>>>((uint64_t *)keys, (uint64_t *)c, 12345, 67890, 122880));
    E("hashes", "min-hashes", min_hashes<<<2000, 256>>>(keys, (uint32_t *)c, 16000));
    E("codes", "code-decoded", code_decoded<<<235, 256>>>(keys, code, (unsigned char *)c, 60000));
    E("codes", "states-decoded",
      states_decoded<<<235, 256>>>((uint16_t *)keys, slots, (unsigned char *)c, 60000));
    E("codes", "bits-unpacked", bits_unpacked<<<12500, 256>>>(keys, (uint32_t *)c, 100000));
    E("codes", "runs-expanded",
      runs_expanded<<<4000, 256>>>(run_ends, keys, (uint32_t *)c, 40000, 1024000));
    E("codes", "letters-64", letters_64<<<528, 256>>>(keys, (uint32_t *)c, 600000));
    E("codes", "crc-tables",
      crc_tables<<<120, 256>>>((uint2 *)keys, rising, (uint32_t *)c, 32, 30720));
    E("text", "words-by-jumps",
      words_by_jumps<<<245, 128>>>(text, jumps, (int *)zeros + 500000, 4000000));
    E("text", "automaton", automaton<<<160, 256>>>(text, machine, (uint32_t *)c, 96, 40960));
    E("text", "distance-by-bits", distance_by_bits<<<160, 128>>>(text, text + MB, (int *)c, 20480));
    E("text", "align-lanes", align_lanes<<<1000, 128>>>(text, text + MB, (int *)c, 4000));
    E("text", "numbers-read",
      numbers_read<<<7813, 256>>>((unsigned char *)keys, (unsigned long long *)(zeros + 510000),
                                  2000000));
    E("text", "prefixes-alike",
      prefixes_alike<<<2000, 256>>>((unsigned char *)keys, keys, (uint32_t *)c, 512000));
    E("text", "suffix-names", suffix_names<<<3000, 256>>>(rising, keys, (uint32_t *)c, 64, 768000));
    E("sorting", "merge-ranks", merge_ranks<<<4000, 256>>>(pieces, (uint32_t *)c, 1000));
    E("sorting", "sort-lanes", sort_lanes<<<2000, 256>>>((uint4 *)keys, (uint4 *)c, 512000));
    E("sorting", "sort-batcher",
      sort_batcher<<<500, 512>>>(keys, rising, (uint32_t *)c, (uint32_t *)c + MB));
    E("sorting", "parts-by-key",
      parts_by_key<<<256, 256>>>((uint2 *)keys, (uint2 *)c, zeros + 600000, 4000));
    E("joins", "join-built",
      join_built<<<1000, 256>>>(keys, zeros + 700000, (uint32_t *)c, 256000));
    E("joins", "join-asked",
      join_asked<<<2000, 256>>>(keys, chained, heads, links, rising, (uint32_t *)c, 512000));
    E("joins", "cuckoo-asked",
      cuckoo_asked<<<3000, 256>>>(keys, (uint4 *)rising, (uint32_t *)c, 262143, 768000));
    E("joins", "tree-asked", tree_asked<<<4000, 256>>>(tree, keys, (uint32_t *)c, 4, 64000));
    E("reductions", "pieces-summed",
      pieces_summed<<<1500, 256>>>((int4 *)keys, flags, (int4 *)c, (int2 *)c + 3 * MB));
    E("reductions", "histogram-64", histogram_64<<<640, 64>>>((uint4 *)keys, zeros + 520000, 12));
    E("bits", "planes-between",
      planes_between<<<600, 256>>>(keys, (uint32_t *)c, 700, 2900, 153600));
    E("bits", "bits-saved", bits_saved<<<250, 256>>>(keys, (uint32_t *)c, 1024, 2000));
    E("graphs", "colours-guessed",
      colours_guessed<<<118, 256>>>(rows, columns, keys, (uint32_t *)c, 30000));
    E("graphs", "core-peeled",
      core_peeled<<<938, 256>>>(rows, columns, degrees, (int *)zeros + 530000, 6, 30000));
    E("graphs", "tiles-joined", tiles_joined<<<dim3(24, 48), dim3(32, 16)>>>(text, (int *)c, 768));
    E("graphs", "lists-crossed",
      lists_crossed<<<3750, 256>>>(rows, columns, edges, (int *)c, 30000));
    E("images", "warped",
      warped<<<dim3(32, 128), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 1024, 0.94f,
                                             0.34f, -120.0f, -0.34f, 0.94f, 220.0f));
    E("images", "lens-undone",
      lens_undone<<<dim3(40, 160), dim3(32, 8)>>>(a, c, 1280, 0.12f, 0.05f));
    E("images", "median-25", median_25<<<dim3(20, 80), dim3(32, 8)>>>(a, c, 640));
    E("images", "flooded", flooded<<<dim3(32, 128), dim3(32, 8)>>>(seeds, (int *)c, 1024, 16));
    E("images", "tiles-equalised",
      tiles_equalised<<<dim3(20, 20), 256>>>((unsigned char *)keys, (unsigned char *)c, 1280, 40));
    E("images", "colours-by-table",
      colours_by_table<<<4000, 256>>>((uchar4 *)keys, (float4 *)a, (uchar4 *)c, 1024000));
    E("images", "squares-coded",
      squares_coded<<<dim3(20, 160), dim3(8, 8, 8)>>>(a, b, b + 64, (short *)c, 1280));
    E("signals", "wavelets-lifted", wavelets_lifted<<<2000, 256>>>(a, c));
    E("signals", "fft-eights", fft_eights<<<320, 512>>>((float2 *)a, (float2 *)c));
    E("signals", "biquads", biquads<<<64, 64>>>(a, c, 300, 4096));
    E("number-theory", "ntt", ntt<<<1000, 512>>>(keys, roots, (uint32_t *)c));
    E("number-theory", "witnesses", witnesses<<<400, 128>>>(keys, (unsigned char *)c, 51200));
    E("number-theory", "knapsack",
      knapsack<<<4000, 256>>>((int *)keys, (int *)c, 777, 55, 1024000));
}
