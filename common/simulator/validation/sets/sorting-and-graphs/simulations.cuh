/* simulations.cuh - dynamic programming, elimination, simulations (part of
 * sorting-and-graphs.cu). */

/* Needleman and Wunsch: a tile of 32 x 32 a warp, diagonal after diagonal in shared memory. */
__global__ void align_tiles(const uint32_t *left, const uint32_t *top, int *score, int pitch,
                            int across)
{
    __shared__ int s[33][33];
    int t = threadIdx.x, tile_row = blockIdx.x, tile_column = across - 1 - (int)blockIdx.x;
    int *at = score + tile_row * 32 * pitch + tile_column * 32;
    s[0][t + 1] = at[t + 1], s[t + 1][0] = at[(t + 1) * pitch];
    if (t == 0) s[0][0] = at[0];
    uint32_t own = left[tile_row * 32 + t] & 3;
    __syncthreads();
    for (int step = 0; step < 63; step++) {
        int column = step - t;
        if (column >= 0 && column < 32) {
            int same = own == (top[tile_column * 32 + column] & 3) ? 3 : -2;
            s[t + 1][column + 1] =
                max(s[t][column] + same, max(s[t][column + 1], s[t + 1][column]) - 4);
        }
        __syncthreads();
    }
    for (int k = 0; k < 32; k++)
        at[(k + 1) * pitch + t + 1] = s[k + 1][t + 1];
}

/* The cheapest way down: rows at a time, what is at the borders is lost in each. */
__global__ void path_rows(const uint32_t *wall, const int *now, int *next, int width, int turns)
{
    __shared__ int before[256], after[256];
    int t = threadIdx.x, inner = 256 - 2 * turns, column = (int)blockIdx.x * inner - turns + t;
    bool inside = column >= 0 && column < width;
    before[t] = inside ? now[column] & 0xff : 0x7fffffff;
    __syncthreads();
    for (int turn = 0; turn < turns; turn++) {
        if (t > turn && t < 255 - turn && inside)
            after[t] = min(before[t], min(before[t - 1], before[t + 1])) +
                       (int)(wall[turn * width + column] & 15);
        __syncthreads();
        if (t > turn && t < 255 - turn) before[t] = after[t];
        __syncthreads();
    }
    if (t >= turns && t < 256 - turns && inside) next[column] = before[t];
}

/* LU decomposition, an inner tile: minus the matrix product of the tiles of its row and column. */
__global__ void lud_inner(float *m, int n, int offset)
{
    __shared__ float up[16][16], left[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = offset + (blockIdx.y + 1) * 16,
        column = offset + (blockIdx.x + 1) * 16;
    up[ty][tx] = m[(offset + ty) * n + column + tx];
    left[ty][tx] = m[(row + ty) * n + offset + tx];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += left[ty][k] * up[k][tx];
    m[(row + ty) * n + column + tx] -= sum;
}

/* The tile on the diagonal: one block of 16. */
__global__ void lud_diagonal(float *m, int n)
{
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int k = 0; k < 16; k++)
        s[k][t] = m[k * n + t] + (k == t ? 20.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k) {
            for (int j = 0; j < k; j++)
                s[t][k] -= s[t][j] * s[j][k];
            s[t][k] /= s[k][k];
        }
        __syncthreads();
        if (t > k)
            for (int j = 0; j < k + 1; j++)
                s[k + 1][t] -= s[k + 1][j] * s[j][t];
        __syncthreads();
    }
    for (int k = 1; k < 16; k++)
        m[MB + k * n + t] = s[k][t];
}

/* Gauss: one column of multipliers, the rest of the matrix. */
__global__ void eliminate(const float *m, float *y, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n - 1 - k || column >= n - k) return;
    row += k + 1, column += k;
    y[row * n + column] = m[row * n + column] - m[row * n + k] / m[k * n + k] * m[k * n + column];
}

/* A system of three diagonals per thread, 32 unknowns each, interleaved. */
__global__ void thomas(const double *low, const double *up, const double *right, double *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double cs[32], ds[32];
    cs[0] = up[i] / 4.0, ds[0] = right[i] / 4.0;
#pragma unroll
    for (int k = 1; k < 32; k++) {
        double m = 1.0 / (4.0 - low[k * n + i] * cs[k - 1]);
        cs[k] = up[k * n + i] * m, ds[k] = (right[k * n + i] - low[k * n + i] * ds[k - 1]) * m;
    }
    double v = ds[31];
    y[31 * n + i] = v;
#pragma unroll
    for (int k = 30; k >= 0; k--)
        v = ds[k] - cs[k] * v, y[k * n + i] = v;
}

/* An option's tree, backwards in shared memory: one block per option. */
__global__ void binomial(const float *price, float *y, int steps)
{
    __shared__ float s[257];
    int t = threadIdx.x;
    float own = 20.0f + fabsf(price[blockIdx.x]), up = 1.01f;
    s[t] = fmaxf(own * __powf(up, (float)(2 * t - steps)) - 20.0f, 0.0f);
    for (int k = steps; k > 0; k--) {
        __syncthreads();
        float v = t < k ? 0.499f * s[t] + 0.5f * s[t + 1] : 0;
        __syncthreads();
        if (t < k) s[t] = v;
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

__device__ static uint32_t shift_xor(uint32_t &s)
{
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    return s;
}

/* Paths of a price with normal steps. */
__global__ void asian_paths(float *y, int steps)
{
    GLOBAL_I;
    uint32_t s = (uint32_t)i * 747796405u + 2891336453u;
    float price = 100, mean = 0;
    for (int k = 0; k < steps; k++) {
        float u = ((float)(shift_xor(s) >> 8) + 1) * (1.0f / 16777217.0f),
              v = (float)(shift_xor(s) >> 8) * (1.0f / 16777216.0f);
        float z = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
        price *= expf(0.0001f + 0.01f * z), mean += price;
    }
    y[i] = fmaxf(mean / (float)steps - 100.0f, 0.0f);
}

/* Spins of one colour of a board, by their neighbours' sums. */
__global__ void ising(const signed char *other, signed char *y, const float *chance, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    int up = row ? row - 1 : n - 1, down = row < n - 1 ? row + 1 : 0,
        side = row & 1 ? (column < n - 1 ? column + 1 : 0) : (column ? column - 1 : n - 1);
    int sum = (other[up * n + column] & 1) + (other[down * n + column] & 1) +
              (other[row * n + column] & 1) + (other[row * n + side] & 1);
    float least = __expf(-0.8f * (float)(2 * sum - 4));
    y[row * n + column] = fabsf(chance[row * n + column]) < least ? 1 : -1;
}

/* Forces between near atoms: a list of neighbours for each, by columns. */
__global__ void lennard_jones(const float4 *x, const uint32_t *list, float4 *y, int n, int most)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < most; k++) {
        float4 p = x[(i + (list[k * n + i] & 1023)) % n];
        float dx = own.x - p.x, dy = own.y - p.y, dz = own.z - p.z,
              r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 1.0f && r2 > 0) {
            float r = 1.0f / r2, r6 = r * r * r, force = r * r6 * (1.5f * r6 - 2.0f);
            f.x += dx * force, f.y += dy * force, f.z += dz * force;
        }
    }
    y[i] = f;
}

static void simulations()
{
    E("align", "align-tiles", align_tiles<<<64, 32>>>(keys, keys + 65536, (int *)c, 2080, 64));
    E("path", "path-rows", path_rows<<<1093, 256>>>(keys, (int *)rising, (int *)c, 262144, 8));
    E("lud", "lud-inner", lud_inner<<<dim3(63, 63), dim3(16, 16)>>>(c, 1024, 0));
    E("lud", "lud-diagonal", lud_diagonal<<<1, 16>>>(c, 1024));
    E("eliminate", "eliminate", eliminate<<<dim3(64, 256), dim3(16, 4)>>>(a, c, 1024, 3));
    E("thomas", "thomas-double",
      thomas<<<128, 128>>>((double *)a, (double *)b, (double *)a + MB, (double *)c, 16384));
    E("binomial", "binomial", binomial<<<264, 256>>>(a, c, 255));
    E("asian", "asian-paths", asian_paths<<<256, 256>>>(c, 64));
    E("ising", "ising",
      ising<<<dim3(8, 1024), 128>>>((signed char *)keys, (signed char *)c, a, 1024));
    E("lennard-jones", "lennard-jones",
      lennard_jones<<<256, 128>>>((const float4 *)a, keys, (float4 *)c, 32768, 40));
}
