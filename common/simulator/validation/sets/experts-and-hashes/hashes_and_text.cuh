/* hashes_and_text.cuh - hashes, codes and text (part of experts-and-hashes.cu). */

/* ---- hashes ---------------------------------------------------------------------------------- */

__constant__ uint64_t keccak_round[24];

__device__ static uint64_t turned(uint64_t v, int by)
{
    return by ? v << by | v >> (64 - by) : v;
}

__device__ static void keccak_step(uint64_t *s, uint64_t constant)
{
    constexpr int TURN[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                              25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
    uint64_t c[5], b[25];
#pragma unroll
    for (int x = 0; x < 5; x++)
        c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
#pragma unroll
    for (int k = 0; k < 25; k++) {
        int x = k % 5, y = k / 5;
        uint64_t v = s[k] ^ c[(x + 4) % 5] ^ turned(c[(x + 1) % 5], 1);
        b[y + (2 * x + 3 * y) % 5 * 5] = turned(v, TURN[k]);
    }
#pragma unroll
    for (int k = 0; k < 25; k++)
        s[k] = b[k] ^ (~b[k / 5 * 5 + (k + 1) % 5] & b[k / 5 * 5 + (k + 2) % 5]);
    s[0] ^= constant;
}

/* Keccak of one block of eight words per thread; rounds in a loop, or all of them unrolled. */
template <int UNROLLED> __global__ void keccak(const uint64_t *x, uint64_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint64_t s[25] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
        s[k] = x[(size_t)k * n + i];
    s[8] = 1, s[16] = 1ull << 63;
#pragma unroll UNROLLED
    for (int r = 0; r < 24; r++)
        keccak_step(s, keccak_round[r]);
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[(size_t)k * n + i] = s[k];
}

/* BLAKE2s of one block per thread, ten rounds unrolled. */
__device__ static uint32_t right_by(uint32_t v, int by)
{
    return __funnelshift_r(v, v, by);
}

#define BLAKE_G(a_, b_, c_, d_, x_, y_)                                                            \
    v[a_] += v[b_] + (x_), v[d_] = right_by(v[d_] ^ v[a_], 16), v[c_] += v[d_];                    \
    v[b_] = right_by(v[b_] ^ v[c_], 12), v[a_] += v[b_] + (y_);                                    \
    v[d_] = right_by(v[d_] ^ v[a_], 8), v[c_] += v[d_], v[b_] = right_by(v[b_] ^ v[c_], 7)

__global__ void blake2s(const uint32_t *x, uint32_t *y, int n)
{
    constexpr unsigned char SIGMA[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    constexpr uint32_t START[8] = {0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au,
                                   0x510E527Fu, 0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u};
    GLOBAL_I;
    if (i >= n) return;
    uint32_t m[16], v[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        m[k] = x[(size_t)k * n + i];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = START[k] ^ (k == 0 ? 0x01010020u : 0), v[k + 8] = START[k];
    v[12] ^= 64, v[14] = ~v[14];
#pragma unroll
    for (int r = 0; r < 10; r++) {
        const unsigned char *s = SIGMA[r];
        BLAKE_G(0, 4, 8, 12, m[s[0]], m[s[1]]), BLAKE_G(1, 5, 9, 13, m[s[2]], m[s[3]]);
        BLAKE_G(2, 6, 10, 14, m[s[4]], m[s[5]]), BLAKE_G(3, 7, 11, 15, m[s[6]], m[s[7]]);
        BLAKE_G(0, 5, 10, 15, m[s[8]], m[s[9]]), BLAKE_G(1, 6, 11, 12, m[s[10]], m[s[11]]);
        BLAKE_G(2, 7, 8, 13, m[s[12]], m[s[13]]), BLAKE_G(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[(size_t)k * n + i] = START[k] ^ (k == 0 ? 0x01010020u : 0) ^ v[k] ^ v[k + 8];
}

/* SHA-1 of one block per thread, 80 steps unrolled, words in a ring of sixteen. */
__global__ void sha1(const uint4 *x, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t w[16], p = 0x67452301u, q = 0xEFCDAB89u, r = 0x98BADCFEu, s = 0x10325476u,
                    t = 0xC3D2E1F0u;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = x[(size_t)i * 4 + k];
        w[4 * k] = __byte_perm(v.x, 0, 0x0123), w[4 * k + 1] = __byte_perm(v.y, 0, 0x0123);
        w[4 * k + 2] = __byte_perm(v.z, 0, 0x0123), w[4 * k + 3] = __byte_perm(v.w, 0, 0x0123);
    }
#pragma unroll
    for (int k = 0; k < 80; k++) {
        if (k >= 16) {
            uint32_t u = w[(k + 13) % 16] ^ w[(k + 8) % 16] ^ w[(k + 2) % 16] ^ w[k % 16];
            w[k % 16] = u << 1 | u >> 31;
        }
        uint32_t f = k < 20   ? (q & r | ~q & s) + 0x5A827999u
                     : k < 40 ? (q ^ r ^ s) + 0x6ED9EBA1u
                     : k < 60 ? (q & r | q & s | r & s) + 0x8F1BBCDCu
                              : (q ^ r ^ s) + 0xCA62C1D6u;
        uint32_t next = (p << 5 | p >> 27) + f + t + w[k % 16];
        t = s, s = r, r = q << 30 | q >> 2, q = p, p = next;
    }
    y[i] = p + 0x67452301u, y[n + i] = q + 0xEFCDAB89u, y[2 * n + i] = r + 0x98BADCFEu;
    y[3 * n + i] = s + 0x10325476u, y[4 * n + i] = t + 0xC3D2E1F0u;
}

/* SipHash of rows of 64 bytes. */
__global__ void siphash(const uint64_t *x, uint64_t *y, uint64_t k0, uint64_t k1, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint64_t p = k0 ^ 0x736f6d6570736575ull, q = k1 ^ 0x646f72616e646f6dull,
             r = k0 ^ 0x6c7967656e657261ull, s = k1 ^ 0x7465646279746573ull;
    for (int k = 0; k < 13; k++) {
        uint64_t m = k < 8 ? x[(size_t)i * 8 + k] : k == 8 ? 64ull << 56 : 0;
        if (k == 9) r ^= 0xff;
        int turns = k < 9 ? 2 : 1;
        s ^= m;
        for (int j = 0; j < turns; j++) {
            p += q, q = turned(q, 13) ^ p, p = turned(p, 32), r += s, s = turned(s, 16) ^ r;
            p += s, s = turned(s, 21) ^ p, r += q, q = turned(q, 17) ^ r, r = turned(r, 32);
        }
        p ^= m;
    }
    y[i] = p ^ q ^ r ^ s;
}

/* Signatures of sets: the least of each of 64 hashes; a warp a set of 96. */
__global__ void min_hashes(const uint32_t *x, uint32_t *y, int n)
{
    int set = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (set >= n) return;
    uint32_t one = ~0u, two = ~0u;
    for (int k = 0; k < 96; k += 32) {
        uint32_t own = x[(size_t)set * 96 + k + lane];
        for (int j = 0; j < 32; j++) {
            uint32_t v = __shfl_sync(~0u, own, j);
            uint32_t h = (v ^ lane * 0x9E3779B9u) * 0x85EBCA6Bu;
            one = min(one, h ^ h >> 15), h = (v + lane * 0xC2B2AE35u) * 0x27D4EB2Fu;
            two = min(two, h ^ h >> 13);
        }
    }
    y[set * 64 + lane] = one, y[set * 64 + 32 + lane] = two;
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* Words of a prefix code: a thread decodes 64 of its own stream by a table of 1024. */
__global__ void code_decoded(const uint32_t *bits, const uint16_t *table, unsigned char *y, int n)
{
    __shared__ uint16_t s[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        s[k] = table[k];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    int at = 0, left = 64;
    uint64_t window = (uint64_t)bits[i] << 32 | bits[(size_t)n + i];
    at = 2;
    for (int k = 0; k < 64; k++) {
        uint16_t entry = s[window >> 54];
        int length = entry >> 8;
        window <<= length, left -= length;
        if (left <= 32) window |= (uint64_t)bits[(size_t)at++ * n + i] << (32 - left), left += 32;
        y[(size_t)k * n + i] = entry & 255;
    }
}

/* Asymmetric numeral systems: one state per thread, a table of 4096 slots in shared memory. */
__global__ void states_decoded(const uint16_t *stream, const uint32_t *slot, unsigned char *y,
                               int n)
{
    __shared__ uint32_t s[4096];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x)
        s[k] = slot[k];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    const uint16_t *own = stream + (size_t)i * 64;
    uint32_t state = 0x10000u | own[0], at = 1;
    for (int k = 0; k < 48; k += 4) {
        uint32_t word = 0;
        for (int j = 0; j < 4; j++) {
            uint32_t e = s[state & 4095];
            word |= (e & 255) << 8 * j;
            state = (e >> 20) * (state >> 12) + (e >> 8 & 4095);
            if (state < 0x10000u) state = state << 16 | own[at++ & 63];
        }
        ((uint32_t *)y)[(size_t)(k / 4) * n + i] = word;
    }
}

/* 32 numbers of thirteen bits in thirteen words, differences of their neighbours: a warp. */
__global__ void bits_unpacked(const uint32_t *x, uint32_t *y, int n)
{
    int block = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (block >= n) return;
    const uint32_t *own = x + (size_t)block * 14;
    uint32_t bit = lane * 13, low = own[1 + bit / 32], high = bit % 32 > 19 ? own[2 + bit / 32] : 0;
    uint32_t v = __funnelshift_r(low, high, bit % 32) & 8191;
    for (int o = 1; o < 32; o *= 2) {
        uint32_t u = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += u;
    }
    y[(size_t)block * 32 + lane] = own[0] + v;
}

/* Runs written out: whose run each place is, a search says. */
__global__ void runs_expanded(const uint32_t *end, const uint32_t *value, uint32_t *y, int runs,
                              int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int from = 0, to = runs - 1;
    while (from < to) {
        int middle = (from + to) / 2;
        if (end[middle] <= i)
            from = middle + 1;
        else
            to = middle;
    }
    y[i] = value[from];
}

/* Three bytes to four letters, 48 to 64 bytes per thread, grid-stride. */
__constant__ unsigned char alphabet64[64];

__global__ void letters_64(const uint32_t *x, uint32_t *y, int n)
{
    __shared__ unsigned char s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = alphabet64[threadIdx.x];
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint32_t w[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        const unsigned char *p = (const unsigned char *)w;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint32_t v = p[3 * k] << 16 | p[3 * k + 1] << 8 | p[3 * k + 2];
            y[4 * i + k] =
                s[v >> 18] | s[v >> 12 & 63] << 8 | s[v >> 6 & 63] << 16 | s[v & 63] << 24;
        }
    }
}

/* Cyclic redundancy check by eight tables, a row of four kilobytes per thread. */
__global__ void crc_tables(const uint2 *x, const uint32_t *table, uint32_t *y, int pairs, int n)
{
    __shared__ uint32_t s[8][256];
    for (int k = threadIdx.x; k < 2048; k += blockDim.x)
        s[k / 256][k % 256] = table[k];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    uint32_t crc = ~0u;
    for (int k = 0; k < pairs; k++) {
        uint2 v = x[(size_t)k * n + i];
        v.x ^= crc;
        crc = s[7][v.x & 255] ^ s[6][v.x >> 8 & 255] ^ s[5][v.x >> 16 & 255] ^ s[4][v.x >> 24] ^
              s[3][v.y & 255] ^ s[2][v.y >> 8 & 255] ^ s[1][v.y >> 16 & 255] ^ s[0][v.y >> 24];
    }
    y[i] = ~crc;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Search of a word of eight letters with skips: one segment of 128 letters per thread. */
__global__ void words_by_jumps(const unsigned char *text, const unsigned char *jump, int *count,
                               int n)
{
    __shared__ unsigned char s[256];
    const unsigned char word[8] = {'a', 'b', 'a', 'c', 'a', 'b', 'a', 'd'};
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        s[k] = jump[k];
    __syncthreads();
    GLOBAL_I;
    int at = i * 128, last = min(at + 128, n - 8), found = 0;
    while (at < last) {
        unsigned char end = text[at + 7];
        if (end == 'd') {
            int k = 0;
            while (k < 7 && text[at + k] == word[k])
                k++;
            found += k == 7;
        }
        at += s[end];
    }
    if (found) atomicAdd(count, found);
}

/* Search of many words: an automaton of 256 states and four letters, grid-stride over segments. */
__global__ void automaton(const unsigned char *text, const unsigned char *next, uint32_t *y,
                          int each, int n)
{
    __shared__ unsigned char s[256 * 4];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        s[k] = next[k];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    uint32_t state = 0, seen = 0;
    for (int k = 0; k < each; k++) {
        state = s[state * 4 + (text[(size_t)k * n + i] & 3)];
        seen += state > 250;
    }
    y[i] = seen;
}

/* Edit distance of texts of 64 and 256 letters by bit operations: one thread per pair. */
__global__ void distance_by_bits(const unsigned char *pattern, const unsigned char *text, int *y,
                                 int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint64_t equal[4] = {}, plus = ~0ull, minus = 0;
    for (int k = 0; k < 64; k++) {
        int letter = pattern[(size_t)k * n + i] & 3;
#pragma unroll
        for (int j = 0; j < 4; j++)
            equal[j] |= (uint64_t)(letter == j) << k;
    }
    int score = 64;
    for (int k = 0; k < 128; k++) {
        int letter = text[(size_t)k * n + i] & 3;
        uint64_t eq = letter == 0   ? equal[0]
                      : letter == 1 ? equal[1]
                      : letter == 2 ? equal[2]
                                    : equal[3];
        uint64_t xv = eq | minus, xh = (((eq & plus) + plus) ^ plus) | eq,
                 ph = minus | ~(xh | plus), mh = plus & xh;
        score += (int)(ph >> 63) - (int)(mh >> 63);
        ph = ph << 1 | 1, mh = mh << 1;
        plus = mh | ~(xv | ph), minus = ph & xv;
    }
    y[i] = score;
}

/* The best alignment of two texts of 128, one warp per pair: four columns per lane, rows passed by
 * shuffles. */
__global__ void align_lanes(const unsigned char *x, const unsigned char *z, int *y, int n)
{
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= n) return;
    const unsigned char *rows_of = x + (size_t)pair * 128;
    uchar4 own = ((const uchar4 *)(z + (size_t)pair * 128))[lane];
    const int letter[4] = {own.x & 3, own.y & 3, own.z & 3, own.w & 3};
    int h[4] = {}, f[4] = {-99, -99, -99, -99}, best = 0, corner = 0, last = 0, gap = -99;
    for (int step = 0; step < 128 + 31; step++) {
        int left = __shfl_up_sync(~0u, last, 1), e = __shfl_up_sync(~0u, gap, 1);
        if (lane == 0) left = 0, e = -99;
        int row = step - lane;
        if (row < 0 || row >= 128) continue;
        int own_letter = rows_of[row] & 3, diagonal = corner;
        corner = left;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            e = max(e - 1, left - 4), f[k] = max(f[k] - 1, h[k] - 4);
            int v = max(max(0, diagonal + (own_letter == letter[k] ? 3 : -2)), max(e, f[k]));
            diagonal = h[k], h[k] = v, left = v, best = max(best, v);
        }
        last = left, gap = e;
    }
    best = __reduce_max_sync(~0u, best);
    if (lane == 0) y[pair] = best;
}

/* Numbers written in a text, found where a digit follows none, read and added. */
__global__ void numbers_read(const unsigned char *text, unsigned long long *sum, int n)
{
    GLOBAL_I;
    unsigned long long own = 0;
    if (i < n) {
        int v = text[i] % 14, before = i ? text[i - 1] % 14 : 13;
        if (v < 10 && before >= 10) {
            int k = i;
            while (k < n && k < i + 9 && (v = text[k] % 14) < 10)
                own = own * 10 + v, k++;
        }
    }
    for (int o = 16; o > 0; o >>= 1)
        own += __shfl_down_sync(~0u, own, o);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

/* The number of letters that a suffix shares with the next one are alike, at most 64. */
__global__ void prefixes_alike(const unsigned char *text, const uint32_t *suffix, uint32_t *y,
                               int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = suffix[i] % n, q = suffix[i + 1] % n, k = 0;
    while (k < 64 && p + k < n && q + k < n && (text[p + k] & 1) == (text[q + k] & 1))
        k++;
    y[i] = k;
}

/* A step of sorting suffixes: what a suffix is called, and what the one so far after is. */
__global__ void suffix_names(const uint32_t *name, const uint32_t *order, uint32_t *differs, int h,
                             int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = order[i] % n, q = order[i ? i - 1 : 0] % n;
    uint32_t p2 = p + h < n ? name[p + h] >> 20 : 0, q2 = q + h < n ? name[q + h] >> 20 : 0;
    differs[i] = name[p] >> 20 != name[q] >> 20 || p2 != q2;
}
