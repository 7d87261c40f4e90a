/* integers_and_text.cuh - integers, text, random numbers (part of transformer-and-images.cu). */

/* MD5 of one block of eight letters per thread. */
__global__ void md5(const uint2 *x, uint4 *y, const uint32_t *table)
{
    __shared__ uint32_t sine[64];
    if (threadIdx.x < 64) sine[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    GLOBAL_I;
    const int turn[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    uint2 text = x[i];
    uint32_t m[16] = {text.x, text.y, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0};
    uint32_t p = 0x67452301, q = 0xefcdab89, r = 0x98badcfe, s = 0x10325476;
#pragma unroll
    for (int k = 0; k < 64; k++) {
        uint32_t f;
        int g;
        if (k < 16)
            f = (q & r) | (~q & s), g = k;
        else if (k < 32)
            f = (s & q) | (~s & r), g = (5 * k + 1) & 15;
        else if (k < 48)
            f = q ^ r ^ s, g = (3 * k + 5) & 15;
        else
            f = r ^ (q | ~s), g = (7 * k) & 15;
        f += p + sine[k] + m[g];
        p = s, s = r, r = q;
        q += __funnelshift_l(f, f, turn[k / 16 * 4 + k % 4]);
    }
    y[i] = make_uint4(p, q, r, s);
}

/* A cipher by four tables in shared memory, ten rounds. */
__global__ void cipher_tables(const uint4 *x, const uint32_t *table, uint4 *y, int n)
{
    __shared__ uint32_t t0[256], t1[256], t2[256], t3[256];
    uint32_t own = table[threadIdx.x];
    t0[threadIdx.x] = own, t1[threadIdx.x] = __funnelshift_l(own, own, 8);
    t2[threadIdx.x] = __funnelshift_l(own, own, 16),
    t3[threadIdx.x] = __funnelshift_l(own, own, 24);
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint4 s = x[i];
        for (int round = 1; round <= 10; round++) {
            uint32_t k = round * 0x9e3779b9u;
            uint4 u;
            u.x = t0[s.x >> 24] ^ t1[s.y >> 16 & 255] ^ t2[s.z >> 8 & 255] ^ t3[s.w & 255] ^ k;
            u.y = t0[s.y >> 24] ^ t1[s.z >> 16 & 255] ^ t2[s.w >> 8 & 255] ^ t3[s.x & 255] ^ ~k;
            u.z = t0[s.z >> 24] ^ t1[s.w >> 16 & 255] ^ t2[s.x >> 8 & 255] ^ t3[s.y & 255] ^ k * 3;
            u.w = t0[s.w >> 24] ^ t1[s.x >> 16 & 255] ^ t2[s.y >> 8 & 255] ^ t3[s.z & 255] ^ k * 5;
            s = u;
        }
        y[i] = s;
    }
}

/* Which odd numbers are primes, by division. */
__global__ void primes(uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = 2 * i + 3;
    bool prime = true;
    for (uint32_t k = 3; k * k <= v; k += 2)
        if (v % k == 0) {
            prime = false;
            break;
        }
    y[i] = prime;
}

/* Euclid. */
__global__ void divisor(const uint32_t *x, const uint32_t *z, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = x[i], q = z[i];
    while (q) {
        uint32_t r = p % q;
        p = q, q = r;
    }
    y[i] = p;
}

/* Numbers of 256 bits: schoolbook multiplication, the lower half. */
__global__ void product_256(const unsigned long long *x, const unsigned long long *z,
                            unsigned long long *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned long long p[4], q[4], r[4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++)
        p[k] = x[k * n + i], q[k] = z[k * n + i];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned long long carry = 0;
#pragma unroll
        for (int k = 0; k + j < 4; k++) {
            unsigned long long low = p[k] * q[j], high = __umul64hi(p[k], q[j]);
            low += carry, high += low < carry;
            r[k + j] += low, high += r[k + j] < low;
            carry = high;
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[k * n + i] = r[k];
}

/* Edit distance of words of 24 bytes, one row of the table in local memory. */
__global__ void levenshtein(const unsigned char *x, const unsigned char *z, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned char row[25];
    for (int k = 0; k <= 24; k++)
        row[k] = (unsigned char)k;
    for (int j = 0; j < 24; j++) {
        int before = row[0], letter = z[j * n + i] & 3;
        row[0] = (unsigned char)(j + 1);
        for (int k = 0; k < 24; k++) {
            int up = row[k + 1], cost = before + ((x[k * n + i] & 3) != letter);
            row[k + 1] = (unsigned char)min(cost, min(up, (int)row[k]) + 1);
            before = up;
        }
    }
    y[i] = row[24];
}

/* Queens on a board of ten: the first two rows by the thread, the others by its own stack. */
__global__ void queens(uint32_t *y, int n)
{
    GLOBAL_I;
    uint32_t all = (1u << n) - 1, found = 0;
    if (i < n * n) {
        uint32_t column[12], left[12], right[12], free[12], one = 1u << i % n, two = 1u << i / n;
        int at = 0;
        column[0] = one | two, left[0] = (one << 1 | two) << 1, right[0] = (one >> 1 | two) >> 1;
        free[0] = all & ~(column[0] | left[0] | right[0]);
        if (two & (one | one << 1 | one >> 1)) at = -1;
        while (at >= 0) {
            uint32_t bit = free[at] & -free[at];
            if (!bit) {
                at--;
                continue;
            }
            free[at] ^= bit;
            if (at == n - 3) {
                found++;
                continue;
            }
            column[at + 1] = column[at] | bit, left[at + 1] = (left[at] | bit) << 1,
                        right[at + 1] = (right[at] | bit) >> 1, at++;
            free[at] = all & ~(column[at] | left[at] | right[at]);
        }
        y[i] = found;
    }
}

/* Words in a text: where a letter follows none. */
__global__ void words(const unsigned char *x, uint32_t *y, int n)
{
    __shared__ uint32_t total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    GLOBAL_I;
    bool letter = i < n && (x[i] & 7), before = i > 0 && i < n && (x[i - 1] & 7);
    int found = __syncthreads_count(letter && !before);
    if (threadIdx.x == 0) total = found, atomicAdd(y, total);
}

/* Life on a board of bits, 32 cells per word. */
__global__ void life_bits(const uint32_t *x, uint32_t *y, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    uint32_t ones = 0, twos = 0, fours = 0, own = 0;
#pragma unroll
    for (int r = -1; r <= 1; r++) {
        const uint32_t *line = x + (row + r + height) % height * width;
        uint32_t middle = line[column], west = line[(column + width - 1) % width],
                 east = line[(column + 1) % width], shifted[3];
        shifted[0] = middle << 1 | west >> 31, shifted[1] = middle,
        shifted[2] = middle >> 1 | east << 31;
        if (r == 0) own = middle;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (r == 0 && k == 1) continue;
            uint32_t carry = ones & shifted[k];
            ones ^= shifted[k], fours |= twos & carry, twos ^= carry;
        }
    }
    y[row * width + column] = twos & ~fours & (ones | own);
}

/* A generator with five words of state each, as simulations keep it. */
__global__ void random_states(uint32_t *state, float *y, int n, int turns)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v[5], count = 0;
#pragma unroll
    for (int k = 0; k < 5; k++)
        v[k] = state[i * 5 + k] | 1;
    float sum = 0;
    for (int turn = 0; turn < turns; turn++) {
        uint32_t t = v[0] ^ v[0] >> 2;
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = v[4] ^ v[4] << 4 ^ (t ^ t << 1), count += 362437;
        sum += (float)(v[4] + count) * 2.3283064e-10f;
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
        state[i * 5 + k] = v[k];
    y[i] = sum;
}

static void integers()
{
    E("md5", "md5", md5<<<512, 128>>>((uint2 *)keys, (uint4 *)c, rising));
    E("cipher-tables", "cipher-tables",
      cipher_tables<<<264, 256>>>((uint4 *)keys, keys, (uint4 *)c, 128 << 10));
    E("primes", "primes", primes<<<196, 256>>>((uint32_t *)c, 50000));
    E("divisor", "divisor", divisor<<<512, 256>>>(keys, keys + MB, (uint32_t *)c, 128 << 10));
    E("multiply-256", "product-256",
      product_256<<<1024, 128>>>((unsigned long long *)keys, (unsigned long long *)keys + MB,
                                 (unsigned long long *)c, 128 << 10));
    E("levenshtein", "levenshtein",
      levenshtein<<<160, 128>>>((unsigned char *)keys, (unsigned char *)(keys + MB), (int *)c,
                                20480));
    E("queens", "queens-10", queens<<<4, 32>>>((uint32_t *)c, 10));
    E("words", "words", words<<<2048, 512>>>((unsigned char *)keys, zeros + 8192, MB));
    E("life-bits", "life-bits", life_bits<<<dim3(1, 4096), 128>>>(keys, (uint32_t *)c, 128, 4096));
    E("random-states", "random-states",
      random_states<<<256, 256>>>((uint32_t *)c + 8 * MB, c, 65536, 100));
}
