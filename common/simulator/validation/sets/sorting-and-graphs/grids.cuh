/* grids.cuh - grids, permutations, launch shapes (part of sorting-and-graphs.cu). */

__global__ void heat_double(const double *x, double *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1) return;
    int at = row * n + column;
    y[at] = x[at] + 0.1 * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] - 4.0 * x[at]);
}

/* Gray and Scott: two fields, borders that wrap. */
__global__ void reaction(const float *u, const float *v, float *nu, float *nv, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int up = (row + n - 1) % n * n, down = (row + 1) % n * n, left = (column + n - 1) % n,
        right = (column + 1) % n, at = row * n + column;
    float p = u[at], q = v[at], pqq = p * q * q;
    float lp = u[up + column] + u[down + column] + u[row * n + left] + u[row * n + right] - 4 * p,
          lq = v[up + column] + v[down + column] + v[row * n + left] + v[row * n + right] - 4 * q;
    nu[at] = p + 0.16f * lp - pqq + 0.035f * (1 - p);
    nv[at] = q + 0.08f * lq + pqq - 0.1f * q;
}

/* Waves in 3D: a plane in shared memory, what is above and below in registers; radius 4. */
__global__ void wave_3d(const float *x, float *y, int n)
{
    __shared__ float s[16 + 8][16 + 8];
    int i = blockIdx.x * 16 + threadIdx.x + 4, j = blockIdx.y * 16 + threadIdx.y + 4,
        tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    size_t plane = (size_t)n * n, at = (size_t)j * n + i;
    float column[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        column[k] = x[at + k * plane];
    for (int z = 4; z < n - 4; z++) {
        const float *now = x + z * plane + at;
        __syncthreads();
        if (threadIdx.y < 4) s[ty - 4][tx] = now[-4 * n], s[ty + 16][tx] = now[16 * n];
        if (threadIdx.x < 4) s[ty][tx - 4] = now[-4], s[ty][tx + 16] = now[16];
        s[ty][tx] = column[4];
        __syncthreads();
        float sum = 0.7f * column[4];
#pragma unroll
        for (int k = 1; k < 5; k++)
            sum += 0.05f / (float)k *
                   (column[4 - k] + column[4 + k] + s[ty - k][tx] + s[ty + k][tx] + s[ty][tx - k] +
                    s[ty][tx + k]);
        y[z * plane + at] = sum;
#pragma unroll
        for (int k = 0; k < 8; k++)
            column[k] = column[k + 1];
        if (z + 5 < n) column[8] = x[at + (z + 5) * plane];
    }
}

/* Lattice Boltzmann, nine directions: each pulls, then collides. */
__global__ void boltzmann(const float *x, float *y, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int from = ((row - ey[k] + n) & (n - 1)) * n + ((column - ex[k] + n) & (n - 1));
        f[k] = 1.0f + 0.1f * x[k * n * n + from];
        rho += f[k], ux += f[k] * (float)ex[k], uy += f[k] * (float)ey[k];
    }
    ux /= rho, uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float eu = 3.0f * ((float)ex[k] * ux + (float)ey[k] * uy), w = k == 0  ? 4.0f / 9
                                                                       : k < 5 ? 1.0f / 9
                                                                               : 1.0f / 36;
        y[k * n * n + row * n + column] =
            f[k] + 1.2f * (w * rho * (1.0f + eu + 0.5f * eu * eu - square) - f[k]);
    }
}

__global__ void permute(const float *x, const uint32_t *from, float *y, int n, uint32_t limit)
{
    GLOBAL_I;
    if (i < n) y[i] = x[from[i] % limit];
}

__global__ void scatter_pairs(const float2 *x, const uint32_t *to, float2 *y, int n, uint32_t limit)
{
    GLOBAL_I;
    if (i < n) y[to[i] % limit] = x[i];
}

/* Records of six floats: as arrays of structs have them. */
struct Record {
    float x, y, z, vx, vy, vz;
};
__global__ void move_records(Record *r, float step, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    Record own = r[i];
    own.x += own.vx * step, own.y += own.vy * step, own.z += own.vz * step;
    if (own.x < 0 || own.x > 1) own.vx = -own.vx;
    if (own.y < 0 || own.y > 1) own.vy = -own.vy;
    if (own.z < 0 || own.z > 1) own.vz = -own.vz;
    r[i] = own;
}

__global__ void turn_bytes(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ unsigned char s[32][33];
    for (int k = threadIdx.y; k < 32; k += 8)
        s[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        y[(blockIdx.x * 32 + k) * n + blockIdx.y * 32 + threadIdx.x] = s[threadIdx.x][k];
}

/* One thread does it all: a sum in a row. */
__global__ void sum_alone(const float *x, float *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    *y = sqrtf(sum);
}

/* One block that fills an SM: the maximum of a small array and its index. */
__global__ void best_of_all(const float *x, uint32_t *y, int n)
{
    __shared__ float best[1024];
    __shared__ int at[1024];
    int t = threadIdx.x, where = t;
    float most = -1e30f;
    for (int i = t; i < n; i += 1024)
        if (x[i] > most) most = x[i], where = i;
    best[t] = most, at[t] = where;
    __syncthreads();
    for (int k = 512; k > 0; k >>= 1) {
        if (t < k && best[t + k] > best[t]) best[t] = best[t + k], at[t] = at[t + k];
        __syncthreads();
    }
    if (t == 0) *y = at[0];
}

/* A short block for each few elements. */
__global__ void clamp_few(const float *x, float *y)
{
    GLOBAL_I;
    y[i] = fminf(fmaxf(x[i], -0.25f), 0.25f);
}

static void grids()
{
    E("heat-double", "heat-double",
      heat_double<<<dim3(32, 128), dim3(32, 8)>>>((double *)a, (double *)c, 1024));
    E("reaction", "reaction", reaction<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, c + 4 * MB, 1024));
    E("wave", "wave-3d", wave_3d<<<dim3(7, 7), dim3(16, 16)>>>(a, c, 120));
    E("boltzmann", "boltzmann", boltzmann<<<dim3(4, 512), 128>>>(a, c, 512));
    E("permute", "permute-1MB", permute<<<1024, 256>>>(far_away, order, c, 256 << 10, 256 << 10));
    E("permute", "permute-32MB", permute<<<4096, 256>>>(far_away, order, c, MB, 8 * MB));
    E("permute", "permute-200MB", permute<<<4096, 256>>>(far_away, order, c, MB, 50000000));
    E("scatter-pairs", "scatter-pairs-16MB",
      scatter_pairs<<<4096, 256>>>((float2 *)a, order, (float2 *)far_away, MB, 2 * MB));
    E("records", "move-records", move_records<<<2048, 256>>>((Record *)c, 0.01f, 512 << 10));
    E("transpose-bytes", "turn-bytes",
      turn_bytes<<<dim3(64, 64), dim3(32, 8)>>>((unsigned char *)keys, (unsigned char *)c, 2048));
    E("alone", "sum-alone", sum_alone<<<1, 1>>>(a, c, 2000));
    E("alone", "best-of-all", best_of_all<<<1, 1024>>>(a, (uint32_t *)c, 65536));
    E("short", "clamp-32", clamp_few<<<32768, 32>>>(a, c));
    E("short", "clamp-64", clamp_few<<<16384, 64>>>(a, c));
}
