/* benchmark_suites.cuh - classic benchmark suites: grids, particles, linear algebra, graphs
 * (part of attention-and-convolutions.cu). */

/* ---- grids in time --------------------------------------------------------------------------- */

/* Heat of a chip: two steps in shared memory for each launch, tiles of 16 that lie over each
 * other. */
__global__ void hotspot_pyramid(int steps, const float *power, const float *from, float *to, int n)
{
    __shared__ float now[16][16], heat[16][16], next[16][16];
    int small = 16 - steps * 2, tx = threadIdx.x, ty = threadIdx.y;
    int top = small * blockIdx.y - steps, left = small * blockIdx.x - steps;
    int y = top + ty, x = left + tx;
    bool in = y >= 0 && y < n && x >= 0 && x < n;
    if (in) now[ty][tx] = from[y * n + x], heat[ty][tx] = power[y * n + x];
    __syncthreads();
    int first_y = top < 0 ? -top : 0, last_y = top + 15 > n - 1 ? 15 - (top + 15 - n + 1) : 15;
    int first_x = left < 0 ? -left : 0, last_x = left + 15 > n - 1 ? 15 - (left + 15 - n + 1) : 15;
    int N = max(ty - 1, first_y), S = min(ty + 1, last_y), W = max(tx - 1, first_x),
        O = min(tx + 1, last_x);
    bool done = false;
    for (int k = 0; k < steps; k++) {
        done = false;
        if (tx >= k + 1 && tx <= 14 - k && ty >= k + 1 && ty <= 14 - k && tx >= first_x &&
            tx <= last_x && ty >= first_y && ty <= last_y) {
            done = true;
            next[ty][tx] =
                now[ty][tx] +
                0.1f * (heat[ty][tx] + (now[S][tx] + now[N][tx] - 2.0f * now[ty][tx]) * 0.5f +
                        (now[ty][O] + now[ty][W] - 2.0f * now[ty][tx]) * 0.4f +
                        (0.3f - now[ty][tx]) * 0.02f);
        }
        __syncthreads();
        if (k == steps - 1) break;
        if (done) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (done) to[y * n + x] = next[ty][tx];
}

/* Speckles, by a list of neighbours: gradients and how much each place may flow. */
__global__ void srad_slopes(const float *J, float *dN, float *dS, float *dW, float *dE, float *C,
                            const int *north, const int *south, int n, float q)
{
    GLOBAL_I;
    int column = i / n, row = i % n;
    if (column >= n) return;
    float v = fabsf(J[i]) + 0.5f, N = fabsf(J[north[row] + n * column]) + 0.5f - v,
          S = fabsf(J[south[row] + n * column]) + 0.5f - v,
          W = fabsf(J[row + n * north[column]]) + 0.5f - v,
          O = fabsf(J[row + n * south[column]]) + 0.5f - v;
    float G = (N * N + S * S + W * W + O * O) / (v * v), L = (N + S + W + O) / v,
          num = 0.5f * G - 0.0625f * L * L, den = 1 + 0.25f * L, Q = num / (den * den);
    float c = 1.0f / (1.0f + (Q - q) / (q * (1 + q)));
    dN[i] = N, dS[i] = S, dW[i] = W, dE[i] = O, C[i] = c < 0 ? 0 : c > 1 ? 1 : c;
}

/* The cheapest way: one row per step, the block's ends are computed twice. */
__global__ void path_finder(int steps, const int *wall, const int *from, int *to, int columns)
{
    __shared__ int now[256], next[256];
    int t = threadIdx.x, small = 256 - steps * 2, x = small * blockIdx.x - steps + t;
    int low = x - t < 0 ? t - x : 0,
        high = x - t + 255 > columns - 1 ? 255 - (x - t + 255 - columns + 1) : 255;
    bool valid = t >= low && t <= high, done = false;
    if (x >= 0 && x < columns) now[t] = from[x] & 15;
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        done = false;
        if (t >= k + 1 && t <= 254 - k && valid) {
            done = true;
            int least = min(now[max(t - 1, low)], min(now[t], now[min(t + 1, high)]));
            next[t] = least + (wall[columns * k + x] & 15);
        }
        __syncthreads();
        if (k == steps - 1) break;
        if (done) now[t] = next[t];
        __syncthreads();
    }
    if (done) to[x] = next[t];
}

/* Two sequences: the diagonal of 16 x 16 tiles, a block of 16 threads each. */
__global__ void needle_tiles(const int *reference, int *matrix, int columns, int penalty, int tiles)
{
    __shared__ int m[17][17], r[16][16];
    int t = threadIdx.x, bx = blockIdx.x, by = tiles - 1 - bx;
    int corner = columns * 16 * by + 16 * bx, west = corner + columns;
    if (t == 0) m[0][0] = matrix[corner] & 63;
    for (int k = 0; k < 16; k++)
        r[k][t] = (reference[corner + columns * (k + 1) + t + 1] & 15) - 6;
    __syncthreads();
    m[t + 1][0] = matrix[west + columns * t] & 63;
    m[0][t + 1] = matrix[corner + t + 1] & 63;
    __syncthreads();
    for (int d = 0; d < 16; d++) {
        if (t <= d) {
            int x = t + 1, y = d - t + 1;
            m[y][x] = max(m[y - 1][x - 1] + r[y - 1][x - 1],
                          max(m[y][x - 1] - penalty, m[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int d = 14; d >= 0; d--) {
        if (t <= d) {
            int x = t + 16 - d, y = 16 - t;
            m[y][x] = max(m[y - 1][x - 1] + r[y - 1][x - 1],
                          max(m[y][x - 1] - penalty, m[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int k = 0; k < 16; k++)
        matrix[corner + columns * (k + 1) + t + 1] = m[k + 1][t + 1];
}

/* Fluids on a lattice of 19 directions, all by planes; one thread per cell. */
__global__ void lattice_19(const float *from, float *to, int nx, int ny, int nz)
{
    static constexpr signed char X[19] = {0,  1, -1, 0, 0,  0, 0, 1, -1, 1,
                                          -1, 1, -1, 1, -1, 0, 0, 0, 0},
                                 Y[19] = {0, 0, 0, 1, -1, 0, 0,  1, -1, -1,
                                          1, 0, 0, 0, 0,  1, -1, 1, -1},
                                 Z[19] = {0, 0, 0,  0,  0, 1, -1, 0,  0, 0,
                                          0, 1, -1, -1, 1, 1, -1, -1, 1};
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y, n = nx * ny * nz;
    float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int k = 0; k < 19; k++) {
        int px = (x - X[k] + nx) % nx, py = (y - Y[k] + ny) % ny, pz = (z - Z[k] + nz) % nz;
        f[k] = 1.0f + 0.1f * from[k * n + (pz * ny + py) * nx + px];
        rho += f[k], ux += X[k] * f[k], uy += Y[k] * f[k], uz += Z[k] * f[k];
    }
    ux /= rho, uy /= rho, uz /= rho;
    float u2 = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int k = 0; k < 19; k++) {
        float cu = 3.0f * (X[k] * ux + Y[k] * uy + Z[k] * uz), w = k == 0  ? 1.0f / 3
                                                                   : k < 7 ? 1.0f / 18
                                                                           : 1.0f / 36;
        to[k * n + (z * ny + y) * nx + x] =
            f[k] - 1.2f * (f[k] - w * rho * (u2 + cu + 0.5f * cu * cu));
    }
}

/* A field's part in time in two dimensions. */
__global__ void fdtd_plane(const float *ex, const float *ey, float *hz, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny)
        hz[i * ny + j] -= 0.7f * (ex[i * (ny + 1) + j + 1] - ex[i * (ny + 1) + j] +
                                  ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

/* Doubles: nine points with a border in shared memory. */
__global__ void stencil_nine_doubles(const double *x, double *y, int n, double wc, double ws,
                                     double wd)
{
    __shared__ double s[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 8 + ty;
    for (int r = threadIdx.y; r < 10; r += 8)
        for (int q = threadIdx.x; q < 34; q += 32)
            s[r][q] = x[(blockIdx.y * 8 + r) * n + blockIdx.x * 32 + q];
    __syncthreads();
    y[row * n + column] =
        wc * s[ty][tx] + ws * (s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1]) +
        wd * (s[ty - 1][tx - 1] + s[ty - 1][tx + 1] + s[ty + 1][tx - 1] + s[ty + 1][tx + 1]);
}

/* Seven points of a cube: 32 x 4 x 2 a block, fours by z. */
__global__ void __launch_bounds__(256)
    stencil_cube(const float *x, float *y, int nx, int ny, int nz)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y,
        k0 = (blockIdx.z * 2 + threadIdx.z) * 4;
    if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1) return;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int k = k0 + q, at = (k * ny + j) * nx + i;
        if (k < 1 || k >= nz - 1) continue;
        y[at] = 0.166f * (x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] + x[at - nx * ny] +
                          x[at + nx * ny]) -
                x[at];
    }
}

/* ---- particles, clusters --------------------------------------------------------------------- */

/* A box of 100 particles and its neighbours, 128 threads: forces by exponentials. */
__global__ void boxes_of_particles(const float4 *place, const float *charge, float4 *force,
                                   int across)
{
    __shared__ float4 own[100], other[100];
    __shared__ float charges[100];
    int box = blockIdx.x, t = threadIdx.x;
    for (int k = t; k < 100; k += blockDim.x)
        own[k] = place[box * 100 + k];
    for (int nb = 0; nb < 5; nb++) {
        int at = box + (nb == 1 ? 1 : nb == 2 ? -1 : nb == 3 ? across : nb == 4 ? -across : 0);
        if (at < 0 || at >= gridDim.x) continue;
        __syncthreads();
        for (int k = t; k < 100; k += blockDim.x)
            other[k] = place[at * 100 + k], charges[k] = charge[at * 100 + k];
        __syncthreads();
        for (int k = t; k < 100; k += blockDim.x) {
            float4 p = own[k], f = make_float4(0, 0, 0, 0);
            for (int j = 0; j < 100; j++) {
                float4 q = other[j];
                float r2 = p.w + q.w - (p.x * q.x + p.y * q.y + p.z * q.z), e = expf(-0.5f * r2),
                      s = 2 * e;
                f.w += charges[j] * e, f.x += charges[j] * s * (p.x - q.x);
                f.y += charges[j] * s * (p.y - q.y), f.z += charges[j] * s * (p.z - q.z);
            }
            float4 old = force[box * 100 + k];
            force[box * 100 + k] = make_float4(old.x + f.x, old.y + f.y, old.z + f.z, old.w + f.w);
        }
    }
}

/* Which of the centres is the nearest: features by columns, centres in constants. */
__constant__ float centres_of[24 * 10];

__global__ void means_membership(const float *feature, int *member, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int best = -1;
    float least = FLT_MAX;
    for (int k = 0; k < 24; k++) {
        float sum = 0;
        for (int f = 0; f < 10; f++) {
            float d = feature[f * n + i] - centres_of[k * 10 + f];
            sum += d * d;
        }
        if (sum < least) least = sum, best = k;
    }
    member[i] = best;
}

/* New centres: sums in shared memory by atomics, then to all. */
__global__ void means_moved(const float *feature, const uint32_t *member, float *sums, int *counts,
                            int n)
{
    __shared__ float part[16 * 8];
    __shared__ int count[16];
    if (threadIdx.x < 128) part[threadIdx.x] = 0;
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        int k = member[i] >> 7 & 15;
        atomicAdd(&count[k], 1);
        for (int f = 0; f < 8; f++)
            atomicAdd(&part[k * 8 + f], feature[f * n + i]);
    }
    __syncthreads();
    if (threadIdx.x < 128) atomicAdd(&sums[threadIdx.x], part[threadIdx.x]);
    if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], count[threadIdx.x]);
}

/* The distance of every record from a place; grids of two dimensions, odd blocks. */
__global__ void records_near(const float2 *record, float *d, int n, float x, float y)
{
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i < n)
        d[i] = sqrtf((x - record[i].x) * (x - record[i].x) + (y - record[i].y) * (y - record[i].y));
}

/* Bodies in doubles, tiles of 128 in shared memory. */
__global__ void bodies_doubles(const double2 *x, double2 *y, int n)
{
    __shared__ double s[128][4];
    GLOBAL_I;
    double2 p = x[2 * i], r = x[2 * i + 1];
    double fx = 0, fy = 0, fz = 0;
    for (int at = 0; at < n; at += 128) {
        double2 q = x[2 * (at + threadIdx.x)], u = x[2 * (at + threadIdx.x) + 1];
        s[threadIdx.x][0] = q.x, s[threadIdx.x][1] = q.y;
        s[threadIdx.x][2] = u.x, s[threadIdx.x][3] = u.y;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 128; k++) {
            double dx = s[k][0] - p.x, dy = s[k][1] - p.y, dz = s[k][2] - r.x,
                   d = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3), w = s[k][3] * d * d * d;
            fx += w * dx, fy += w * dy, fz += w * dz;
        }
        __syncthreads();
    }
    y[2 * i] = make_double2(p.x + 1e-3 * fx, p.y + 1e-3 * fy);
    y[2 * i + 1] = make_double2(r.x + 1e-3 * fz, r.y);
}

/* Bodies, 256 a block, all in fours; the inner loop unrolled by 32. */
__global__ void bodies_unrolled(const float4 *x, float4 *v, int n, float dt)
{
    __shared__ float4 s[256];
    GLOBAL_I;
    float4 p = x[i], f = make_float4(0, 0, 0, 0);
    for (int at = 0; at < n; at += 256) {
        s[threadIdx.x] = x[at + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (int k = 0; k < 256; k++) {
            float dx = s[k].x - p.x, dy = s[k].y - p.y, dz = s[k].z - p.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = s[k].w * r * r * r;
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
        }
        __syncthreads();
    }
    v[i] = make_float4(f.x * dt, f.y * dt, f.z * dt, 0);
}

/* Atoms with lists of neighbours by columns. */
__global__ void md_lists(const float4 *place, const uint32_t *list, float4 *force, int neighbours,
                         int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 p = place[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < neighbours; k++) {
        int j = (i + (list[k * n + i] & 511)) % n;
        float4 q = place[j];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 1.2f && j != i) {
            float inverse = 1.0f / (r2 + 0.1f), r6 = inverse * inverse * inverse,
                  w = inverse * r6 * (1.5f * r6 - 2.0f);
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
        }
    }
    force[i] = f;
}

/* Magnetic resonance, the other way: each place sums 1024 samples from constants. */
__constant__ float4 samples_of[1024];

__global__ void resonance_back(const float *x, const float *y, const float *z, float *real,
                               float *imaginary)
{
    GLOBAL_I;
    float p = x[i], q = y[i], r = z[i], re = real[i], im = imaginary[i];
    for (int k = 0; k < 1024; k++) {
        float4 s = samples_of[k];
        float angle = 6.2831853f * (s.x * p + s.y * q + s.z * r), si, co;
        __sincosf(angle, &si, &co);
        re += s.w * co, im += s.w * si;
    }
    real[i] = re, imaginary[i] = im;
}

/* ---- linear algebra -------------------------------------------------------------------------- */

/* 64 x 16 results per block of 64 threads: one row of 16 accumulators per thread, only the right
 * tile is in shared memory. */
__global__ void __launch_bounds__(64)
    sgemm_column(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k,
                 float alpha, float beta)
{
    __shared__ float bs[16][17];
    int t = threadIdx.y * 16 + threadIdx.x, ibx = blockIdx.x * 64, iby = blockIdx.y * 16;
    A += ibx + t, B += threadIdx.x + (iby + threadIdx.y) * ldb, C += ibx + t + iby * ldc;
    float c[16] = {};
    const float *last = B + k;
    do {
        for (int i = 0; i < 16; i += 4)
            bs[threadIdx.x][threadIdx.y + i] = B[i * ldb];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++, A += lda) {
            float v = A[0];
#pragma unroll
            for (int j = 0; j < 16; j++)
                c[j] += v * bs[i][j];
        }
        B += 16;
        __syncthreads();
    } while (B < last);
    for (int i = 0; i < 16; i++, C += ldc)
        C[0] = alpha * c[i] + beta * C[0];
}

/* Sixteen rows of 128 threads, 8 x 16 of the right one shared. */
__global__ void sgemm_parboil(const float *A, int lda, const float *B, int ldb, float *C, int ldc,
                              int k)
{
    __shared__ float bs[8][16];
    float c[16] = {};
    int id = threadIdx.y * 16 + threadIdx.x, m = blockIdx.x * 128 + id,
        n = blockIdx.y * 16 + threadIdx.x;
    for (int i = 0; i < k; i += 8) {
        bs[threadIdx.y][threadIdx.x] = B[n + (i + threadIdx.y) * ldb];
        __syncthreads();
        for (int j = 0; j < 8; j++) {
            float v = A[m + (i + j) * lda];
            for (int q = 0; q < 16; q++)
                c[q] += v * bs[j][q];
        }
        __syncthreads();
    }
    for (int q = 0; q < 16; q++) {
        float *to = &C[m + (q + blockIdx.y * 16) * ldc];
        *to = *to * 0.5f + c[q] * 0.7f;
    }
}

/* A triangle times a matrix, one thread per result. */
__global__ void trmm_plain(const float *A, float *B, float *C, int m, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = B[i * n + j];
    for (int k = i + 1; k < m; k++)
        sum += A[k * m + i] * B[k * n + j];
    C[i * n + j] = 1.2f * sum;
}

/* All columns with all later ones: a thread takes one of them. */
__global__ void correlation(const float *data, float *y, int m, int n)
{
    GLOBAL_I;
    if (i >= m - 1) return;
    y[i * m + i] = 1.0f;
    for (int j = i + 1; j < m; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += data[k * m + i] * data[k * m + j];
        y[i * m + j] = sum, y[j * m + i] = sum;
    }
}

/* A matrix and its transpose times a vector each, in doubles. */
__global__ void bicg_doubles(const double *A, const double *r, double *s, int nx, int ny)
{
    GLOBAL_I;
    if (i >= ny) return;
    double sum = 0;
    for (int k = 0; k < nx; k++)
        sum += r[k] * A[k * ny + i];
    s[i] = sum;
}

/* LU of one matrix of 64 a block, in shared memory, with the largest pivot. */
__global__ void lu_pivots(const float *A, float *y, int *pivots, int n)
{
    __shared__ float s[64][65];
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int r = 0; r < n; r++)
        s[r][t] = A[((size_t)blockIdx.x * n + r) * n + t] + (r == t ? 2.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t < 32) {
            float most = -1;
            int at = k;
            for (int r = k + t; r < n; r += 32)
                if (fabsf(s[r][k]) > most) most = fabsf(s[r][k]), at = r;
            for (int o = 16; o > 0; o /= 2) {
                float m = __shfl_xor_sync(~0u, most, o);
                int p = __shfl_xor_sync(~0u, at, o);
                if (m > most || m == most && p < at) most = m, at = p;
            }
            if (t == 0) pivot = at, pivots[blockIdx.x * n + k] = at;
        }
        __syncthreads();
        if (pivot != k) {
            float v = s[k][t];
            s[k][t] = s[pivot][t], s[pivot][t] = v;
        }
        __syncthreads();
        if (t > k) s[t][k] /= s[k][k];
        __syncthreads();
        for (int r = k + 1; r < n; r++)
            if (t > k) s[r][t] -= s[r][k] * s[k][t];
        __syncthreads();
    }
    for (int r = 0; r < n; r++)
        y[((size_t)blockIdx.x * n + r) * n + t] = s[r][t];
}

/* Reflections: a block of 128 takes one column's mirror off a column of its own. */
__global__ void householder(const float *v, float *A, int n, float beta)
{
    __shared__ float part[4];
    float dot = 0, *own = A + (size_t)blockIdx.x * n;
    for (int k = threadIdx.x; k < n; k += 128)
        dot += v[k] * own[k];
    dot = block_sum(dot, part) * beta;
    for (int k = threadIdx.x; k < n; k += 128)
        own[k] -= dot * v[k];
}

/* Eigenvalues of symmetric 6 x 6, one thread per matrix, all in registers: Jacobi rotations. */
__global__ void jacobi_turns(const float *A, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s[6][6];
    for (int r = 0; r < 6; r++)
        for (int q = 0; q < 6; q++)
            s[r][q] = A[(min(r, q) * 6 + max(r, q)) * n + i] + (r == q ? r : 0.0f);
    for (int sweep = 0; sweep < 4; sweep++)
#pragma unroll
        for (int p = 0; p < 5; p++)
#pragma unroll
            for (int q = p + 1; q < 6; q++) {
                float theta = (s[q][q] - s[p][p]) / (2.0f * s[p][q] + 1e-12f),
                      t = copysignf(1.0f, theta) / (fabsf(theta) + sqrtf(theta * theta + 1.0f)),
                      c = rsqrtf(t * t + 1.0f), z = t * c;
#pragma unroll
                for (int k = 0; k < 6; k++) {
                    float u = s[k][p], w = s[k][q];
                    s[k][p] = c * u - z * w, s[k][q] = z * u + c * w;
                }
#pragma unroll
                for (int k = 0; k < 6; k++) {
                    float u = s[p][k], w = s[q][k];
                    s[p][k] = c * u - z * w, s[q][k] = z * u + c * w;
                }
            }
    for (int r = 0; r < 6; r++)
        y[r * n + i] = s[r][r];
}

/* Jacobi's step for a dense system, one warp per row. */
__global__ void jacobi_dense(const float *A, const float *b_of, const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int k = lane; k < n; k += 32)
        if (k != row) sum += A[(size_t)row * n + k] * x[k];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = (b_of[row] - sum) / (A[(size_t)row * n + row] + 900.0f);
}

/* ---- graphs, and matrices with few elements -------------------------------------------------- */

/* Rows of any length, as many lanes per row as the template says. */
template <int LANES>
__global__ void spmv_lanes(const int *row, const int *column, const float *v, const float *x,
                           float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i] + lane; k < row[i + 1]; k += LANES)
        sum += v[k] * __ldg(&x[column[k]]);
#pragma unroll
    for (int o = LANES / 2; o > 0; o /= 2)
        sum += __shfl_down_sync(~0u, sum, o, LANES);
    if (lane == 0) y[i] = sum;
}

/* Slices of 32 rows, each as long as its longest; doubles. */
__global__ void spmv_slices(const uint32_t *column, const double *v, const double *x, double *y,
                            int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int length = 4 + i / 32 * 7 % 9, from = i / 32 * 12 * 32;
    double sum = 0;
    for (int k = 0; k < length; k++)
        sum += v[from + k * 32 + i % 32] * x[(i + (column[from + k * 32 + i % 32] & 4095)) % n];
    y[i] = sum;
}

/* Breadth-first search by levels: one warp per vertex of the frontier. */
__global__ void bfs_warps(const int *row, const int *column, const int *level, int now, int *seen,
                          int *more, int n)
{
    int vertex = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (vertex >= n || level[vertex] != now) return;
    for (int k = row[vertex] + lane; k < row[vertex + 1]; k += 32) {
        int other = column[k];
        if (level[other] == now + 1) seen[other] = 1, *more = 1;
    }
}

/* Shortest paths from all to all, the outer tiles of a round: row and column tiles in shared
 * memory. */
__global__ void floyd_outer(int *d, int round, int n)
{
    __shared__ int up[16][16], left[16][16];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    if (bx == round || by == round) return;
    up[ty][tx] = d[(round * 16 + ty) * n + bx * 16 + tx] & 0xffffff;
    left[ty][tx] = d[(by * 16 + ty) * n + round * 16 + tx] & 0xffffff;
    __syncthreads();
    int at = (by * 16 + ty) * n + bx * 16 + tx, least = d[at];
#pragma unroll
    for (int k = 0; k < 16; k++)
        least = min(least, left[ty][k] + up[k][tx]);
    d[at] = least;
}

/* The vertex with the least sum among its neighbours is matched: pointers jump until nothing
 * changes. */
__global__ void pointers_jump(const uint32_t *next, const uint32_t *rank, uint32_t *next_to,
                              uint32_t *rank_to, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t p = next[i] % n;
    rank_to[i] = rank[i] + rank[p], next_to[i] = next[p];
}

/* Weights that a network's layer hands back: a thread an input, error times weight of all. */
__global__ void hidden_error(const float *delta, const float *w, const float *hidden, float *error,
                             int in, int out)
{
    GLOBAL_I;
    if (i >= in) return;
    float sum = 0;
    for (int k = 0; k < out; k++)
        sum += delta[k] * w[i * out + k];
    float h = hidden[i];
    error[i] = h * (1.0f - h) * sum;
}

/* The cost that a new centre of a stream would save, with weights from a table. */
__global__ void centre_gain(const float *coordinate, const uint32_t *assigned, const float *cost,
                            float *lower, unsigned char *switched, int n, int dimensions,
                            int candidate)
{
    extern __shared__ float own[];
    if (threadIdx.x == 0)
        for (int k = 0; k < dimensions; k++)
            own[k] = coordinate[k * n + candidate];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    float d = 0;
    for (int k = 0; k < dimensions; k++) {
        float e = coordinate[k * n + i] - own[k];
        d += e * e;
    }
    float save = d - 8.0f * fabsf(cost[i]);
    if (save < 0)
        switched[i] = 1, lower[(size_t)blockIdx.x * 32 + threadIdx.x % 32] = save;
    else
        atomicAdd(&lower[MB + (assigned[i] & 31)], save);
}

/* A range of keys in a tree whose nodes are sorted segments: each thread goes down by halves. */
__global__ void ranges_found(const uint32_t *key, const uint32_t *question, int2 *y, int n,
                             int questions)
{
    GLOBAL_I;
    if (i >= questions) return;
    uint32_t low = question[2 * i], high = low + (question[2 * i + 1] >> 12);
    int from = 0, to = n;
    while (from < to) {
        int middle = (from + to) / 2;
        if (key[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    int first = from;
    to = n;
    while (from < to) {
        int middle = (from + to) / 2;
        if (key[middle] <= high)
            from = middle + 1;
        else
            to = middle;
    }
    y[i] = make_int2(first, from);
}

static void classics()
{
    E("grids", "hotspot-pyramid", hotspot_pyramid<<<dim3(43, 43), dim3(16, 16)>>>(2, a, b, c, 512));
    E("grids", "srad-slopes",
      srad_slopes<<<1024, 512>>>(a, c, c + MB, c + 2 * MB, c + 3 * MB, c + 4 * MB, before, after,
                                 720, 0.05f));
    E("grids", "path-finder",
      path_finder<<<463, 256>>>(20, (int *)keys, (int *)rising, (int *)c, 100000));
    E("grids", "needle-tiles", needle_tiles<<<84, 16>>>((int *)keys, (int *)e, 1345, 3, 84));
    E("grids", "lattice-19", lattice_19<<<dim3(40, 40), 96>>>(a, c, 96, 40, 40));
    E("grids", "fdtd-plane", fdtd_plane<<<dim3(30, 120), dim3(32, 8)>>>(a, b, e, 960, 960));
    E("grids", "stencil-nine-doubles",
      stencil_nine_doubles<<<dim3(24, 96), dim3(32, 8)>>>((double *)a, (double *)c, 770, 0.25, 0.15,
                                                          0.05));
    E("grids", "stencil-cube",
      stencil_cube<<<dim3(4, 32, 8), dim3(32, 4, 2)>>>(a, c, 128, 128, 64));
    E("particles", "boxes-of-particles",
      boxes_of_particles<<<216, 128>>>((float4 *)a, b, (float4 *)e, 6));
    E("particles", "means-membership", means_membership<<<500, 256>>>(a, (int *)c, 128000));
    E("particles", "means-moved",
      means_moved<<<200, 256>>>(a, keys, e, (int *)zeros + 4096, 200000));
    E("particles", "records-near",
      records_near<<<dim3(60, 50), 189>>>((float2 *)a, c, 560000, 0.3f, 0.1f));
    E("particles", "bodies-doubles", bodies_doubles<<<24, 128>>>((double2 *)a, (double2 *)c, 3072));
    E("particles", "bodies-unrolled",
      bodies_unrolled<<<48, 256>>>((float4 *)a, (float4 *)c, 6144, 0.01f));
    E("particles", "md-lists", md_lists<<<192, 256>>>((float4 *)a, keys, (float4 *)c, 40, 49000));
    E("particles", "resonance-back", resonance_back<<<128, 256>>>(a, b, a + MB, c, c + MB));
    E("algebra", "sgemm-column",
      sgemm_column<<<dim3(12, 40), dim3(16, 4)>>>(a, 768, b, 512, c, 768, 512, 0.5f, 0.25f));
    E("algebra", "sgemm-parboil",
      sgemm_parboil<<<dim3(8, 24), dim3(16, 8)>>>(a, 1024, b, 384, c, 1024, 320));
    E("algebra", "trmm-plain", trmm_plain<<<dim3(10, 40), dim3(32, 8)>>>(a, b, c, 320, 320));
    E("algebra", "correlation", correlation<<<4, 32>>>(a, c, 128, 48));
    E("algebra", "bicg-doubles",
      bicg_doubles<<<8, 256>>>((double *)a, (double *)b, (double *)c, 500, 2048));
    E("algebra", "lu-pivots", lu_pivots<<<300, 64>>>(a, c, (int *)c + 4 * MB, 64));
    E("algebra", "householder", householder<<<900, 128>>>(a, e, 1000, 0.001f));
    E("algebra", "jacobi-turns", jacobi_turns<<<160, 128>>>(a, c, 20480));
    E("algebra", "jacobi-dense", jacobi_dense<<<200, 256>>>(a, b, b + 4096, c, 1600));
    E("sparse-and-graphs", "spmv-lanes-4",
      spmv_lanes<4><<<625, 128>>>(rows, columns, a, b, c, 20000));
    E("sparse-and-graphs", "spmv-lanes-16",
      spmv_lanes<16><<<1250, 256>>>(rows, columns, a, b, c, 20000));
    E("sparse-and-graphs", "spmv-slices",
      spmv_slices<<<469, 256>>>(keys, (double *)a, (double *)b, (double *)c, 120000));
    E("sparse-and-graphs", "bfs-warps",
      bfs_warps<<<2500, 256>>>(rows, columns, levels, 1, (int *)c, (int *)zeros + 9000, 20000));
    E("sparse-and-graphs", "floyd-outer",
      floyd_outer<<<dim3(40, 40), dim3(16, 16)>>>((int *)e, 7, 640));
    E("sparse-and-graphs", "pointers-jump",
      pointers_jump<<<1954, 256>>>(keys, rising, (uint32_t *)c, (uint32_t *)c + 2 * MB, 500000));
    E("sparse-and-graphs", "hidden-error", hidden_error<<<256, 256>>>(b, a, a, c, 65536, 16));
    E("sparse-and-graphs", "centre-gain",
      centre_gain<<<256, 256, 128>>>(a, keys, b, e, (unsigned char *)c, 65536, 32, 77));
    E("sparse-and-graphs", "ranges-found",
      ranges_found<<<600, 256>>>(rising, keys, (int2 *)c, MB, 150000));
}
