/* field_data.h - data: hashes, codes, texts, sorts, joins, graphs, pictures, signals, numbers. */

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

/* Keccak of one block of eight words a thread; rounds in a loop, or all of them unrolled. */
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

/* BLAKE2s of one block a thread, ten rounds unrolled. */
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

/* SHA-1 of one block a thread, 80 steps unrolled, words in a ring of sixteen. */
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

/* Asymmetric numeral systems: a state a thread, a table of 4096 slots in shared memory. */
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

/* Three bytes to four letters, 48 to 64 bytes a thread in turn. */
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

/* Crystals of a residue: the cyclic redundancy by eight tables, four kilobytes a thread's row. */
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

/* A word of eight letters by jumps: each thread a piece of 128 letters. */
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

/* Many words at once: a machine of 256 states and four letters walks over pieces in turn. */
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

/* How far two texts of 64 and 256 letters are apart, by bits: a thread a pair. */
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

/* The best alignment of two texts of 128, a warp a pair: four columns a lane, rows handed on. */
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

/* How many letters of a suffix and of the next one are alike, at most 64. */
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

/* A step of sorting suffixes: what a suffix is called, and what the one so far behind is. */
__global__ void suffix_names(const uint32_t *name, const uint32_t *order, uint32_t *differs, int h,
                             int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = order[i] % n, q = order[i ? i - 1 : 0] % n;
    uint32_t p2 = p + h < n ? name[p + h] >> 20 : 0, q2 = q + h < n ? name[q + h] >> 20 : 0;
    differs[i] = name[p] >> 20 != name[q] >> 20 || p2 != q2;
}

/* ---- sorts, joins, sums ---------------------------------------------------------------------- */

/* Two sorted halves of 1024, many pairs: each key's rank in the other by a search. */
__global__ void merge_ranks(const uint32_t *x, uint32_t *y, int half)
{
    GLOBAL_I;
    int from = i / (2 * half) * (2 * half), at = i - from;
    bool right = at >= half;
    const uint32_t *other = x + from + (right ? 0 : half);
    uint32_t key = x[i];
    int low = 0, high = half;
    while (low < high) {
        int middle = (low + high) / 2;
        if (right ? other[middle] <= key : other[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    y[from + (right ? at - half : at) + low] = key;
}

/* 32 keys of each warp in order by a network of shuffles, four such a lane. */
__global__ void sort_lanes(const uint4 *x, uint4 *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int lane = threadIdx.x % 32;
    uint4 v = x[i];
    for (int size = 2; size <= 32; size *= 2)
        for (int o = size / 2; o > 0; o /= 2) {
            bool low = ((lane & size) == 0) == ((lane & o) == 0);
            uint32_t p = __shfl_xor_sync(~0u, v.x, o), q = __shfl_xor_sync(~0u, v.y, o),
                     r = __shfl_xor_sync(~0u, v.z, o), s = __shfl_xor_sync(~0u, v.w, o);
            v.x = low ? min(v.x, p) : max(v.x, p), v.y = low ? min(v.y, q) : max(v.y, q);
            v.z = low ? min(v.z, r) : max(v.z, r), v.w = low ? min(v.w, s) : max(v.w, s);
        }
    y[i] = v;
}

/* 1024 pairs a block by Batcher's odd and even merges in shared memory. */
__global__ void __launch_bounds__(512)
    sort_batcher(const uint32_t *key, const uint32_t *value, uint32_t *key_to, uint32_t *value_to)
{
    __shared__ uint32_t k[1024], v[1024];
    int from = blockIdx.x * 1024, t = threadIdx.x;
    k[t] = key[from + t], k[t + 512] = key[from + t + 512];
    v[t] = value[from + t], v[t + 512] = value[from + t + 512];
    for (int size = 2; size <= 1024; size *= 2) {
        int step = size / 2, offset = t & (step - 1);
        __syncthreads();
        int at = 2 * t - (t & (step - 1));
        if (k[at] > k[at + step]) {
            uint32_t u = k[at];
            k[at] = k[at + step], k[at + step] = u;
            u = v[at], v[at] = v[at + step], v[at + step] = u;
        }
        for (step /= 2; step > 0; step /= 2) {
            __syncthreads();
            at = 2 * t - (t & (step - 1));
            if (offset >= step && k[at - step] > k[at]) {
                uint32_t u = k[at];
                k[at] = k[at - step], k[at - step] = u;
                u = v[at], v[at] = v[at - step], v[at - step] = u;
            }
        }
    }
    __syncthreads();
    key_to[from + t] = k[t], key_to[from + t + 512] = k[t + 512];
    value_to[from + t] = v[t], value_to[from + t + 512] = v[t + 512];
}

/* Pairs to 64 parts: a block counts in shared memory, takes room in each, and writes. */
__global__ void __launch_bounds__(256)
    parts_by_key(const uint2 *x, uint2 *y, uint32_t *room, int each)
{
    __shared__ uint32_t count[64], place[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0;
    __syncthreads();
    const uint2 *own = x + (size_t)blockIdx.x * each;
    for (int k = threadIdx.x; k < each; k += 256)
        atomicAdd(&count[own[k].x >> 7 & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) {
        place[threadIdx.x] = atomicAdd(&room[threadIdx.x], count[threadIdx.x]);
        count[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < each; k += 256) {
        uint2 v = own[k];
        int part = v.x >> 7 & 63;
        uint32_t at = place[part] + atomicAdd(&count[part], 1);
        y[(size_t)part * 16384 + (at & 16383)] = v;
    }
}

/* Rows to chains of a table: what was first before is the next. */
__global__ void join_built(const uint32_t *key, uint32_t *head, uint32_t *next, int n)
{
    GLOBAL_I;
    if (i < n) next[i] = atomicExch(&head[key[i] * 2654435761u >> 16], (uint32_t)i);
}

/* And asked: each row goes along its chain and adds what it finds. */
__global__ void join_asked(const uint32_t *question, const uint32_t *key, const uint32_t *head,
                           const uint32_t *next, const uint32_t *value, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t q = question[i] >> 14, sum = 0;
    for (uint32_t k = head[q * 2654435761u >> 16]; k != ~0u; k = next[k])
        if (key[k] == q) sum += value[k];
    y[i] = sum;
}

/* Keys with two places each, four keys a place. */
__global__ void cuckoo_asked(const uint32_t *question, const uint4 *table, uint32_t *y, int mask,
                             int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t q = question[i], h = q * 2654435761u;
    uint4 v = table[h >> 8 & mask];
    bool found = v.x == q || v.y == q || v.z == q || v.w == q;
    if (!found) {
        v = table[(h ^ q >> 15) * 2246822519u >> 9 & mask];
        found = v.x == q || v.y == q || v.z == q || v.w == q;
    }
    y[i] = found;
}

/* A tree with sixteen keys a node: sixteen lanes ask it together. */
__global__ void tree_asked(const uint32_t *key, const uint32_t *question, uint32_t *y, int levels_,
                           int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (i >= n) return;
    uint32_t q = question[i], node = 0, first = 0, size = 1;
    for (int k = 0; k < levels_; k++) {
        uint32_t own = key[(first + node) * 16 + lane];
        uint32_t below = __ballot_sync(~0u, own <= q) >> (threadIdx.x & 16) & 0xffff;
        int child = max(__popc(below) - 1, 0);
        first += size, size *= 16, node = node * 16 + child;
    }
    if (lane == 0) y[i] = node;
}

/* Sums of pieces that flags begin: 1024 a block, pairs scanned by shuffles. */
__global__ void __launch_bounds__(256)
    pieces_summed(const int4 *x, const uint32_t *flags, int4 *y, int2 *ends)
{
    __shared__ int sums[8], begun[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, at = blockIdx.x * 256 + t;
    int4 v = x[at];
    uint32_t f = flags[at / 8] >> at % 8 * 4 & 15;
    if (!(f & 2)) v.y += v.x;
    if (!(f & 4)) v.z += v.y;
    if (!(f & 8)) v.w += v.z;
    int sum = v.w, any = f != 0;
    for (int o = 1; o < 32; o *= 2) {
        int s = __shfl_up_sync(~0u, sum, o), b = __shfl_up_sync(~0u, any, o);
        if (lane >= o) {
            if (!any) sum += s;
            any |= b;
        }
    }
    if (lane == 31) sums[warp] = sum, begun[warp] = any;
    int before = __shfl_up_sync(~0u, sum, 1), open = !__shfl_up_sync(~0u, any, 1);
    if (lane == 0) before = 0, open = 1;
    __syncthreads();
    int left = 0;
    for (int w = 0; w < warp; w++)
        left = begun[w] ? sums[w] : left + sums[w];
    if (open) before += left;
    if (!(f & 1)) {
        v.x += before;
        if (!(f & 2)) {
            v.y += before;
            if (!(f & 4)) {
                v.z += before;
                if (!(f & 8)) v.w += before;
            }
        }
    }
    y[at] = v;
    if (t == 255) ends[blockIdx.x] = make_int2(v.w, 0);
}

/* 64 bins, a byte of each for every thread of a block, put together at its end. */
__global__ void __launch_bounds__(64) histogram_64(const uint4 *x, uint32_t *y, int each)
{
    __shared__ unsigned char s[64 * 64];
    int t = threadIdx.x, place = t & ~63 | (t & 15) << 2 | (t & 48) >> 4;
    for (int k = 0; k < 16; k++)
        ((uint32_t *)s)[t + k * 64] = 0;
    __syncthreads();
    for (int k = 0; k < each; k++) {
        uint4 v = x[((size_t)blockIdx.x * each + k) * 64 + t];
        uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            s[place + (w[j] >> 2 & 63) * 64]++, s[place + (w[j] >> 10 & 63) * 64]++;
            s[place + (w[j] >> 18 & 63) * 64]++, s[place + (w[j] >> 26) * 64]++;
        }
    }
    __syncthreads();
    uint32_t sum = 0;
    for (int k = 0, at = (t & 15) * 4; k < 16; k++, at = at + 4 & 63) {
        uint32_t v = *(uint32_t *)&s[t * 64 + at];
        sum += (v & 255) + (v >> 8 & 255) + (v >> 16 & 255) + (v >> 24);
    }
    atomicAdd(&y[t], sum);
}

/* Bits of planes: which of 32 numbers of twelve bits lie between two, a word of each plane. */
__global__ void planes_between(const uint32_t *plane, uint32_t *y, uint32_t low, uint32_t high,
                               int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t less = 0, more = 0, equal_low = ~0u, equal_high = ~0u;
#pragma unroll
    for (int k = 11; k >= 0; k--) {
        uint32_t v = plane[(size_t)k * n + i], l = low >> k & 1 ? ~0u : 0,
                 h = high >> k & 1 ? ~0u : 0;
        less |= equal_low & l & ~v, equal_low &= ~(l ^ v);
        more |= equal_high & v & ~h, equal_high &= ~(h ^ v);
    }
    y[i] = ~(less | more);
}

/* Set bits of long rows by adders that save their carries: sixteen words a turn, a warp a row. */
__device__ static void carry_save(uint32_t &high, uint32_t &low, uint32_t p, uint32_t q, uint32_t r)
{
    uint32_t u = p ^ q;
    high = p & q | u & r, low = u ^ r;
}

__global__ void bits_saved(const uint32_t *x, uint32_t *y, int words, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const uint32_t *own = x + (size_t)row * words;
    uint32_t ones = 0, twos = 0, fours = 0, count = 0;
    for (int k = lane; k < words; k += 256) {
        uint32_t t0, t1, f0, f1, e;
        carry_save(t0, ones, ones, own[k], own[k + 32]);
        carry_save(t1, ones, ones, own[k + 64], own[k + 96]);
        carry_save(f0, twos, twos, t0, t1);
        carry_save(t0, ones, ones, own[k + 128], own[k + 160]);
        carry_save(t1, ones, ones, own[k + 192], own[k + 224]);
        carry_save(f1, twos, twos, t0, t1);
        carry_save(e, fours, fours, f0, f1);
        count += __popc(e);
    }
    count = 8 * count + 4 * __popc(fours) + 2 * __popc(twos) + __popc(ones);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) y[row] = count;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A colour that no neighbour has, of 64, guessed by all at once. */
__global__ void colours_guessed(const int *row, const int *column, const uint32_t *colour,
                                uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint64_t taken = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
        taken |= 1ull << (colour[column[k]] & 63);
    y[i] = __ffsll(~taken) - 1;
}

/* Who has fewer than k neighbours goes, and takes one off each of them. */
__global__ void core_peeled(const int *row, const int *column, const int *degree, int *left, int k,
                            int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (i >= n || degree[i] >= k) return;
    for (int j = row[i] + lane; j < row[i + 1]; j += 8) {
        int other = column[j];
        if (degree[other] >= k) atomicSub(&left[other], 1);
    }
}

/* Labels within tiles of a picture: roots joined in shared memory by their least. */
__global__ void __launch_bounds__(512) tiles_joined(const unsigned char *x, int *y, int n)
{
    __shared__ int label[512];
    __shared__ unsigned char s[512];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 16 + ty;
    s[t] = x[row * n + column] > 110, label[t] = t;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        int other = k ? t - 32 : t - 1;
        if (k ? ty > 0 : tx > 0)
            if (s[t] == s[other]) {
                int p = t, q = other;
                while (true) {
                    while (label[p] != p)
                        p = label[p];
                    while (label[q] != q)
                        q = label[q];
                    if (p == q) break;
                    if (p < q) {
                        int u = p;
                        p = q, q = u;
                    }
                    int old = atomicMin(&label[p], q);
                    if (old == p) break;
                    p = old;
                }
            }
    }
    __syncthreads();
    int root = t;
    while (label[root] != root)
        root = label[root];
    y[row * n + column] = (blockIdx.y * 16 + root / 32) * n + blockIdx.x * 32 + root % 32;
}

/* How often two neighbours' lists have the same: a warp an edge, searches in the longer one. */
__global__ void lists_crossed(const int *row, const int *column, const int2 *edge, int *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    int2 e = edge[i];
    int p = row[e.x], p_end = row[e.x + 1], q = row[e.y], q_end = row[e.y + 1], count = 0;
    for (int k = p + lane; k < p_end; k += 32) {
        int v = column[k], low = q, high = q_end;
        while (low < high) {
            int middle = (low + high) / 2;
            if (column[middle] < v)
                low = middle + 1;
            else
                high = middle;
        }
        count += low < q_end && column[low] == v;
    }
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) y[i] = count;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Moved and turned, between four pixels of three bytes. */
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

/* The middle one of 25: the least and the most are thrown away, one of each a turn. */
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

/* Cosines of 8 x 8 as two products with a table, eight squares a block, and steps by another. */
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

/* 4096 points a block of 512, radix eight, four passes through shared memory. */
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

/* Whether odd numbers of 32 bits are prime, three witnesses: products of 64 bits and remainders. */
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

/* Eight steps of a filter of second order, one after another: a thread a channel. */
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
    E("texts", "words-by-jumps",
      words_by_jumps<<<245, 128>>>(text, jumps, (int *)zeros + 500000, 4000000));
    E("texts", "automaton", automaton<<<160, 256>>>(text, machine, (uint32_t *)c, 96, 40960));
    E("texts", "distance-by-bits",
      distance_by_bits<<<160, 128>>>(text, text + MB, (int *)c, 20480));
    E("texts", "align-lanes", align_lanes<<<1000, 128>>>(text, text + MB, (int *)c, 4000));
    E("texts", "numbers-read",
      numbers_read<<<7813, 256>>>((unsigned char *)keys, (unsigned long long *)(zeros + 510000),
                                  2000000));
    E("texts", "prefixes-alike",
      prefixes_alike<<<2000, 256>>>((unsigned char *)keys, keys, (uint32_t *)c, 512000));
    E("texts", "suffix-names",
      suffix_names<<<3000, 256>>>(rising, keys, (uint32_t *)c, 64, 768000));
    E("sorts", "merge-ranks", merge_ranks<<<4000, 256>>>(pieces, (uint32_t *)c, 1000));
    E("sorts", "sort-lanes", sort_lanes<<<2000, 256>>>((uint4 *)keys, (uint4 *)c, 512000));
    E("sorts", "sort-batcher",
      sort_batcher<<<500, 512>>>(keys, rising, (uint32_t *)c, (uint32_t *)c + MB));
    E("sorts", "parts-by-key",
      parts_by_key<<<256, 256>>>((uint2 *)keys, (uint2 *)c, zeros + 600000, 4000));
    E("joins", "join-built",
      join_built<<<1000, 256>>>(keys, zeros + 700000, (uint32_t *)c, 256000));
    E("joins", "join-asked",
      join_asked<<<2000, 256>>>(keys, chained, heads, links, rising, (uint32_t *)c, 512000));
    E("joins", "cuckoo-asked",
      cuckoo_asked<<<3000, 256>>>(keys, (uint4 *)rising, (uint32_t *)c, 262143, 768000));
    E("joins", "tree-asked", tree_asked<<<4000, 256>>>(tree, keys, (uint32_t *)c, 4, 64000));
    E("sums", "pieces-summed",
      pieces_summed<<<1500, 256>>>((int4 *)keys, flags, (int4 *)c, (int2 *)c + 3 * MB));
    E("sums", "histogram-64", histogram_64<<<640, 64>>>((uint4 *)keys, zeros + 520000, 12));
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
    E("pictures", "warped",
      warped<<<dim3(32, 128), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 1024, 0.94f,
                                             0.34f, -120.0f, -0.34f, 0.94f, 220.0f));
    E("pictures", "lens-undone",
      lens_undone<<<dim3(40, 160), dim3(32, 8)>>>(a, c, 1280, 0.12f, 0.05f));
    E("pictures", "median-25", median_25<<<dim3(20, 80), dim3(32, 8)>>>(a, c, 640));
    E("pictures", "flooded", flooded<<<dim3(32, 128), dim3(32, 8)>>>(seeds, (int *)c, 1024, 16));
    E("pictures", "tiles-equalised",
      tiles_equalised<<<dim3(20, 20), 256>>>((unsigned char *)keys, (unsigned char *)c, 1280, 40));
    E("pictures", "colours-by-table",
      colours_by_table<<<4000, 256>>>((uchar4 *)keys, (float4 *)a, (uchar4 *)c, 1024000));
    E("pictures", "squares-coded",
      squares_coded<<<dim3(20, 160), dim3(8, 8, 8)>>>(a, b, b + 64, (short *)c, 1280));
    E("signals", "wavelets-lifted", wavelets_lifted<<<2000, 256>>>(a, c));
    E("signals", "fft-eights", fft_eights<<<320, 512>>>((float2 *)a, (float2 *)c));
    E("signals", "biquads", biquads<<<64, 64>>>(a, c, 300, 4096));
    E("numbers", "ntt", ntt<<<1000, 512>>>(keys, roots, (uint32_t *)c));
    E("numbers", "witnesses", witnesses<<<400, 128>>>(keys, (unsigned char *)c, 51200));
    E("numbers", "knapsack", knapsack<<<4000, 256>>>((int *)keys, (int *)c, 777, 55, 1024000));
}
