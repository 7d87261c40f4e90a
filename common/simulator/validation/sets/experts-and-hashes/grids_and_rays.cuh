/* grids_and_rays.cuh - sparse matrices, grids, finite elements, particles, rays, probabilities
 * (part of experts-and-hashes.cu). */

/* ---- matrices with few elements -------------------------------------------------------------- */

/* Eight of each row side by side, the rest as triples, added: hybrid, one launch. */
__global__ void spmv_hybrid(const int *column, const float *v, const int *row_of,
                            const int *column_of, const float *rest, const float *x, float *y,
                            int n, int triples)
{
    GLOBAL_I;
    if (i < n) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int at = column[(size_t)k * n + i];
            if (at >= 0) sum += v[(size_t)k * n + i] * x[at];
        }
        atomicAdd(&y[i], sum);
    } else if (i - n < triples)
        atomicAdd(&y[row_of[i - n]], rest[i - n] * x[column_of[i - n]]);
}

/* Triples in the order of their rows: a warp puts together what is of one row. */
__global__ void spmv_triples_joined(const int *row_of, const int *column_of, const float *v,
                                    const float *x, float *y, int each, int n)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < each; k++) {
        int i = (warp * each + k) * 32 + lane;
        int row = i < n ? row_of[i] : -1 - lane;
        float sum = i < n ? v[i] * x[column_of[i]] : 0;
#pragma unroll
        for (int o = 1; o < 32; o *= 2) {
            int r = __shfl_up_sync(~0u, row, o);
            float s = __shfl_up_sync(~0u, sum, o);
            if (lane >= o && r == row) sum += s;
        }
        int next = __shfl_down_sync(~0u, row, 1);
        if (i < n && (lane == 31 || next != row)) atomicAdd(&y[row], sum);
    }
}

/* As many elements per thread as any other has, rows found along the merge's diagonal. */
__global__ void spmv_merged(const int *end, const int *column, const float *v, const float *x,
                            float *y, int n, int elements, int each)
{
    GLOBAL_I;
    int diagonal = min(i * each, n + elements), last = min(diagonal + each, n + elements);
    int from = max(diagonal - elements, 0), to = min(diagonal, n);
    while (from < to) {
        int middle = (from + to) / 2;
        if (end[middle] <= diagonal - middle - 1)
            from = middle + 1;
        else
            to = middle;
    }
    int row = from, k = diagonal - from;
    float sum = 0;
    for (int step = diagonal; step < last; step++)
        if (k < end[row])
            sum += v[k] * x[column[k]], k++;
        else {
            atomicAdd(&y[row], sum);
            sum = 0, row++;
        }
    if (sum != 0) atomicAdd(&y[row], sum);
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* 27 neighbours in a volume, a ring buffer of three planes in shared memory. */
__global__ void stencil_27_planes(const float *x, float *y, int n, float own, float side,
                                  float edge, float corner)
{
    __shared__ float s[3][10][34];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    int t = ty * 32 + tx, first = blockIdx.z * 16;
    for (int z = first - 1; z <= first + 16; z++) {
        for (int k = t; k < 340; k += 256) {
            int q = min(max(left + k % 34, 0), n - 1), r = min(max(top + k / 34, 0), n - 1),
                p = min(max(z, 0), n - 1);
            s[(z + 3) % 3][k / 34][k % 34] = x[((size_t)p * n + r) * n + q];
        }
        __syncthreads();
        if (z > first) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < 27; k++) {
                int apart = (k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1);
                float w = apart == 0 ? own : apart == 1 ? side : apart == 2 ? edge : corner;
                sum += w * s[(z - 1 + k / 9 - 1 + 3) % 3][ty + k / 3 % 3][tx + k % 3];
            }
            y[((size_t)(z - 1) * n + top + 1 + ty) * n + left + 1 + tx] = sum;
        }
        __syncthreads();
    }
}

/* Eighth order in a volume: a plane in shared memory, what is before and after in registers. */
__global__ void stencil_25_queue(const float *x, float *y, int n, int layers_of)
{
    __shared__ float s[16][40];
    int column = blockIdx.x * 32 + threadIdx.x + 4, row = blockIdx.y * 8 + threadIdx.y + 4;
    size_t at = (size_t)row * n + column, plane = (size_t)n * n;
    const float w[5] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    float before[4], behind[4], own;
    for (int k = 0; k < 4; k++)
        before[3 - k] = x[at + k * plane], behind[k] = x[at + (5 + k) * plane];
    own = x[at + 4 * plane];
    for (int z = 4; z < layers_of - 4; z++) {
        __syncthreads();
        s[threadIdx.y + 4][threadIdx.x + 4] = own;
        if (threadIdx.y < 4) {
            s[threadIdx.y][threadIdx.x + 4] = x[at + z * plane - 4 * n];
            s[threadIdx.y + 12][threadIdx.x + 4] = x[at + z * plane + 8 * n];
        }
        if (threadIdx.x < 4) {
            s[threadIdx.y + 4][threadIdx.x] = x[at + z * plane - 4];
            s[threadIdx.y + 4][threadIdx.x + 36] = x[at + z * plane + 32];
        }
        __syncthreads();
        float sum = 3 * w[0] * own;
#pragma unroll
        for (int k = 1; k <= 4; k++)
            sum += w[k] * (before[k - 1] + behind[k - 1] + s[threadIdx.y + 4 - k][threadIdx.x + 4] +
                           s[threadIdx.y + 4 + k][threadIdx.x + 4] +
                           s[threadIdx.y + 4][threadIdx.x + 4 - k] +
                           s[threadIdx.y + 4][threadIdx.x + 4 + k]);
        y[at + z * plane] = sum;
        for (int k = 3; k > 0; k--)
            before[k] = before[k - 1];
        before[0] = own, own = behind[0];
        for (int k = 0; k < 3; k++)
            behind[k] = behind[k + 1];
        if (z + 5 < layers_of) behind[3] = x[at + (z + 5) * plane];
    }
}

/* Every second place in place: Gauss and Seidel's red ones, with relaxation. */
__global__ void red_black(float *x, const float *f, int n, int colour, float omega)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y + 1,
        column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (row + colour) % 2;
    if (row >= n - 1 || column >= n - 1) return;
    float *p = &x[row * n + column];
    float v = 0.25f * (p[-1] + p[1] + p[-n] + p[n] - f[row * n + column]);
    *p += omega * (v - *p);
}

/* To the coarser grid by nine weights, and back between four. */
__global__ void restricted(const double *fine, double *coarse, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        wide = 2 * n;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    const double *p = fine + 2 * row * wide + 2 * column;
    coarse[row * n + column] = 0.25 * p[0] + 0.125 * (p[-1] + p[1] + p[-wide] + p[wide]) +
                               0.0625 * (p[-wide - 1] + p[-wide + 1] + p[wide - 1] + p[wide + 1]);
}

__global__ void prolonged(const double *coarse, double *fine, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
        wide = 2 * n;
    if (column >= wide - 2 || row >= wide - 2) return;
    const double *p = coarse + row / 2 * n + column / 2;
    int right = column % 2, down = row % 2 * n;
    fine[row * wide + column] += 0.25 * (p[0] + p[right] + p[down] + p[down + right]);
}

/* One step of a gas on a plane: waves between cells by Rusanov, doubles. */
__device__ static void flux_of(const double *u, bool across, double *f, double *speed)
{
    double vx = u[1] / u[0], vy = u[2] / u[0], v = across ? vx : vy,
           p = 0.4 * (u[3] - 0.5 * (u[1] * vx + u[2] * vy));
    f[0] = u[0] * v, f[1] = u[1] * v + (across ? p : 0), f[2] = u[2] * v + (across ? 0 : p);
    f[3] = (u[3] + p) * v;
    *speed = fabs(v) + sqrt(1.4 * p / u[0]);
}

__global__ void gas_rusanov(const double *x, double *y, int n, double step)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
    int at = row * n + column, plane = n * n;
    const int aside[4] = {-1, 1, -n, n};
    double own[4], f[4], sum[4] = {}, fast;
    for (int k = 0; k < 4; k++)
        own[k] = x[k * plane + at] * 0.1 + (k == 0 ? 1.0 : k == 3 ? 2.5 : 0.0);
#pragma unroll
    for (int s = 0; s < 4; s++) {
        double other[4], g[4], speed;
        for (int k = 0; k < 4; k++)
            other[k] = x[k * plane + at + aside[s]] * 0.1 + (k == 0 ? 1.0 : k == 3 ? 2.5 : 0.0);
        flux_of(own, s < 2, f, &fast), flux_of(other, s < 2, g, &speed);
        double most = fmax(fast, speed), sign = s % 2 ? 1.0 : -1.0;
        for (int k = 0; k < 4; k++)
            sum[k] += sign * 0.5 * (f[k] + g[k]) - 0.5 * most * (other[k] - own[k]);
    }
    for (int k = 0; k < 4; k++)
        y[k * plane + at] = own[k] - step * sum[k];
}

/* Heaps of sand: who has four or more gives one to each side. */
__global__ void sand(const int *x, int *y, int n)
{
    __shared__ int s[18][34];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
        int q = (int)blockIdx.x * 32 + k % 34 - 1, r = (int)blockIdx.y * 16 + k / 34 - 1;
        s[k / 34][k % 34] = q >= 0 && r >= 0 && q < n && r < n ? x[r * n + q] & 7 : 0;
    }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    y[row * n + column] = (s[ty][tx] & 3) + (s[ty][tx - 1] >> 2) + (s[ty][tx + 1] >> 2) +
                          (s[ty - 1][tx] >> 2) + (s[ty + 1][tx] >> 2);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Triangles of a mesh: each adds its stiffness times its corners' values to them. */
__global__ void triangles_added(const uint32_t *corner, const float2 *place, const float *u,
                                float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int k[3];
    float2 p[3];
    float v[3];
    for (int j = 0; j < 3; j++) {
        k[j] = (i / 2 + (corner[3 * i + j] & 1023)) % 65536;
        p[j] = place[k[j]], v[j] = u[k[j]];
    }
    float bx[3], by[3], area = 0;
    for (int j = 0; j < 3; j++) {
        bx[j] = p[(j + 1) % 3].y - p[(j + 2) % 3].y, by[j] = p[(j + 2) % 3].x - p[(j + 1) % 3].x;
        area += p[j].x * bx[j];
    }
    float scale = 0.5f / (fabsf(area) + 0.01f), gx = 0, gy = 0;
    for (int j = 0; j < 3; j++)
        gx += bx[j] * v[j], gy += by[j] * v[j];
    for (int j = 0; j < 3; j++)
        atomicAdd(&y[k[j]], scale * (bx[j] * gx + by[j] * gy));
}

/* Hexahedra: eight corners gathered, a matrix of doubles from constant memory. */
__constant__ double stiffness[64];

__global__ void hexahedra_times(const int *corner, const double *u, double *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    double v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = u[corner[(size_t)k * n + i]];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        double sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += stiffness[r * 8 + k] * v[k];
        y[(size_t)r * n + i] = sum;
    }
}

/* Spectral elements of order seven: derivatives along three directions of 8 x 8 x 8, one block per
 * element, 64 threads that iterate over z. */
__global__ void __launch_bounds__(64)
    spectral(const float *u, const float *d, const float *weight, float *y)
{
    __shared__ float D[8][9], s[8][9], along[8][9];
    int i = threadIdx.x, j = threadIdx.y;
    size_t from = (size_t)blockIdx.x * 512 + j * 8 + i;
    float column[8], result[8];
    D[j][i] = d[j * 8 + i];
#pragma unroll
    for (int k = 0; k < 8; k++)
        column[k] = u[from + k * 64], result[k] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        __syncthreads();
        s[j][i] = column[k];
        __syncthreads();
        float x = 0, z = 0, up = 0, w = weight[from + k * 64];
#pragma unroll
        for (int m = 0; m < 8; m++)
            x += D[i][m] * s[j][m], z += D[j][m] * s[m][i], up += D[k][m] * column[m];
        __syncthreads();
        s[j][i] = x * w, along[j][i] = z * w, up *= w;
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 8; m++)
            result[k] += D[m][i] * s[j][m] + D[m][j] * along[m][i], result[m] += D[k][m] * up;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        y[from + k * 64] = result[k];
}

/* ---- particles, rays, chances ---------------------------------------------------------------- */

/* Two bodies per thread, tiles of 128 others. */
__global__ void __launch_bounds__(128) bodies_pairs(const float4 *x, float4 *y, int n)
{
    __shared__ float4 s[128];
    int one = blockIdx.x * 256 + threadIdx.x, two = one + 128;
    float4 p = x[one], q = x[two], f = make_float4(0, 0, 0, 0), g = f;
    for (int from = 0; from < n; from += 128) {
        __syncthreads();
        s[threadIdx.x] = x[from + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < 128; k++) {
            float4 o = s[k];
            float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z,
                  r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = o.w * r * r * r;
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
            dx = o.x - q.x, dy = o.y - q.y, dz = o.z - q.z;
            r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = o.w * r * r * r;
            g.x += dx * w, g.y += dy * w, g.z += dz * w;
        }
    }
    y[one] = f, y[two] = g;
}

/* Density of a fluid's particles from the 27 cells around: cells of eight on a grid of 24. */
__global__ void fluid_density(const float4 *x, const int *first, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i];
    int cx = min((int)(own.x * 24), 23), cy = min((int)(own.y * 24), 23),
        cz = min((int)(own.z * 24), 23);
    const float h = 1.0f / 24;
    float sum = 0;
    for (int k = 0; k < 27; k++) {
        int px = cx + k % 3 - 1, py = cy + k / 3 % 3 - 1, pz = cz + k / 9 - 1;
        if (px < 0 || py < 0 || pz < 0 || px > 23 || py > 23 || pz > 23) continue;
        int cell = (pz * 24 + py) * 24 + px;
        for (int j = first[cell]; j < first[cell + 1]; j++) {
            float4 o = x[j];
            float dx = o.x - own.x, dy = o.y - own.y, dz = o.z - own.z,
                  r = dx * dx + dy * dy + dz * dz;
            if (r < h * h) sum += (h * h - r) * (h * h - r) * (h * h - r);
        }
    }
    y[i] = sum * 1e8f;
}

/* Charges within reach by a list of 32, their real part of Ewald's sum. */
__global__ void charges_near(const float4 *x, const uint32_t *near, float4 *y, int n, float alpha)
{
    GLOBAL_I;
    if (i >= n) return;
    float4 own = x[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 32; k++) {
        float4 o = x[(i + (near[(size_t)k * n + i] & 255)) % n];
        float dx = own.x - o.x, dy = own.y - o.y, dz = own.z - o.z,
              r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
        if (r2 > 1.44f) continue;
        float one = rsqrtf(r2), r = r2 * one, q = own.w * o.w * one, e = erfcf(alpha * r);
        float w = q * (e + 1.128379f * alpha * r * __expf(-alpha * alpha * r2)) * one * one;
        f.x += w * dx, f.y += w * dy, f.z += w * dz, f.w += q * e;
    }
    y[i] = f;
}

/* Rays and 128 spheres in constant memory, one bounce of light. */
__constant__ float4 spheres[128];

__global__ void rays_spheres(float4 *y, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float px = 0, py = 0, pz = -3, dx = (column + 0.5f) / width - 0.5f,
          dy = (row + 0.5f) / height - 0.5f, dz = 1, light = 0, weight = 1;
    float one = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= one, dy *= one, dz *= one;
    for (int bounce = 0; bounce < 2; bounce++) {
        float near = 1e20f;
        int hit = -1;
        for (int k = 0; k < 128; k++) {
            float4 s = spheres[k];
            float ox = px - s.x, oy = py - s.y, oz = pz - s.z, h = ox * dx + oy * dy + oz * dz,
                  d = h * h - (ox * ox + oy * oy + oz * oz - s.w * s.w);
            if (d > 0) {
                float t = -h - sqrtf(d);
                if (t > 1e-3f && t < near) near = t, hit = k;
            }
        }
        if (hit < 0) break;
        float4 s = spheres[hit];
        px += near * dx, py += near * dy, pz += near * dz;
        float nx = (px - s.x) / s.w, ny = (py - s.y) / s.w, nz = (pz - s.z) / s.w,
              along = 2 * (dx * nx + dy * ny + dz * nz);
        light += weight * fmaxf(0.0f, 0.6f * ny - 0.8f * nz), weight *= 0.5f;
        dx -= along * nx, dy -= along * ny, dz -= along * nz;
    }
    y[row * width + column] = make_float4(light, light, light, 1);
}

/* A tree of boxes over 4096 segments: the segments that a point's box overlaps, with a stack. */
__global__ void boxes_walked(const float4 *box, const float2 *point, int *y, float reach, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float2 p = point[i];
    p.x = (p.x + 0.84f) * 0.59f, p.y = (p.y + 0.84f) * 0.59f;
    int stack[16], depth = 0, node = 1, count = 0;
    stack[depth++] = 0;
    while (node) {
        float4 v = box[node];
        bool meets =
            p.x + reach >= v.x && p.x - reach <= v.z && p.y + reach >= v.y && p.y - reach <= v.w;
        if (!meets)
            node = stack[--depth];
        else if (node >= 4096)
            count++, node = stack[--depth];
        else
            stack[depth++] = 2 * node + 1, node = 2 * node;
    }
    y[i] = count;
}

/* Philox: four numbers of a counter and a key, ten rounds. */
__device__ static uint4 philox(uint4 c, uint2 k)
{
#pragma unroll
    for (int r = 0; r < 10; r++) {
        uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x,
                 h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
    }
    return c;
}

__global__ void philox_floats(float4 *y, uint32_t seed, int n)
{
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint4 v = philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 77));
        y[i] = make_float4(v.x * 2.3283064e-10f, v.y * 2.3283064e-10f, v.z * 2.3283064e-10f,
                           v.w * 2.3283064e-10f);
    }
}

/* Paths of a price with a barrier: who touches it is out. */
__global__ void paths_barrier(float *y, int steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s = 100, step = 1.0f / steps, drift = (0.03f - 0.02f) * step, width = 0.2f * sqrtf(step);
    bool out = false;
    for (int k = 0; k < steps && !out; k += 2) {
        uint4 v = philox(make_uint4(i, k, 5, 0), make_uint2(2024, 7));
        float r = sqrtf(-2.0f * __logf((v.x + 1.0f) * 2.3283064e-10f)), si, co;
        __sincosf(6.2831853f * v.y * 2.3283064e-10f, &si, &co);
        s *= __expf(drift + width * r * co), out = s < 90;
        if (!out) s *= __expf(drift + width * r * si), out = s < 90;
    }
    y[i] = out ? 0 : fmaxf(s - 100.0f, 0.0f);
}

/* A price whose spread wanders, too: Heston's, an XORWOW of each thread. */
__global__ void paths_heston(float *y, int steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t x = i * 747796405u + 2891336453u, u = x ^ 362436069u, v = x ^ 521288629u,
             w = x ^ 88675123u, z = x ^ 5783321u, d = 6615241u + i;
    float s = 0, var = 0.04f, step = 1.0f / steps, root = sqrtf(step);
    for (int k = 0; k < steps; k++) {
        float g[2];
        uint32_t draw[2];
        for (int j = 0; j < 2; j++) {
            uint32_t t = x ^ x >> 2;
            x = u, u = v, v = w, w = z, z = z ^ z << 4 ^ t ^ t << 1, d += 362437u;
            draw[j] = z + d;
        }
        float r = sqrtf(-2.0f * logf((draw[0] + 0.5f) * 2.3283064e-10f));
        sincosf(6.2831853f * draw[1] * 2.3283064e-10f, &g[0], &g[1]);
        g[0] *= r, g[1] *= r;
        float spread = sqrtf(fmaxf(var, 0.0f));
        s += -0.5f * spread * spread * step + spread * root * g[0];
        var += 1.5f * (0.04f - fmaxf(var, 0.0f)) * step +
               0.3f * spread * root * (-0.7f * g[0] + 0.714f * g[1]);
    }
    y[i] = expf(s);
}

static void science()
{
    E("streams", "triad-floats", triad<<<20480, 256>>>(a, b, c, 3.0f, 5242880));
    E("streams", "triad-doubles",
      triad<<<5860, 512>>>((double *)a, (double *)b, (double *)c, 3.0, 3000000));
    E("streams", "triad-halves",
      triad_halves<<<264, 1024>>>((__half2 *)halves, (__half2 *)halves + MB, (__half2 *)c, 3.0f,
                                  2500000));
    E("streams", "triad-bytes",
      triad_bytes<<<7813, 256>>>((uchar4 *)keys, (uchar4 *)a, (uchar4 *)c, 2000000));
    E("reductions", "rows-by-threads", rows_by_threads<<<64, 128>>>(a, c, 300, 8192));
    E("reductions", "rows-by-tiles", rows_by_tiles<<<256, dim3(32, 8)>>>(a, c, 768));
    E("reductions", "rows-in-doubles",
      rows_in_doubles<<<3000, 128>>>((float4 *)a, (double *)c, 640));
    E("reductions", "columns-of-bytes",
      columns_of_bytes<<<dim3(4, 66), 256>>>((uchar4 *)keys, zeros, 1000, 2000));
    E("gemm", "dgemm-shared",
      dgemm_shared<<<dim3(10, 12), 256>>>((double *)a, (double *)b, (double *)c, 640, 512));
    E("gemm", "dgemm-tensor",
      dgemm_tensor<<<dim3(16, 20), 128>>>((double *)a, (double *)b, (double *)c, 512, 512));
    E("gemm", "dgemm-tensor-long",
      dgemm_tensor<<<dim3(8, 12), 128>>>((double *)a, (double *)b, (double *)c, 256, 768));
    E("gemm", "dgemm-tensor-plain",
      dgemm_tensor_plain<<<dim3(16, 16), dim3(128, 4)>>>((double *)a, (double *)b, (double *)c, 512,
                                                         256));
    E("gemm", "cgemm-tiles",
      cgemm_tiles<<<dim3(20, 24), dim3(16, 16)>>>((float2 *)a, (float2 *)b, (float2 *)c, 320, 384));
    E("gemm", "gemm-eight-columns", gemm_eight_columns<<<1024, 128, 32768>>>(a, b, c, 1024));
    E("gemm", "min-plus",
      min_plus<<<dim3(12, 12), dim3(32, 8)>>>((int *)keys, (int *)rising, (int *)c, 384));
    E("linear-systems", "cholesky-lanes", cholesky_lanes<<<600, 128>>>(a, c, 2400));
    E("linear-systems", "lu-threads", lu_threads<<<400, 128>>>(a, c, 51200));
    E("linear-systems", "inverses-four",
      inverses_four<<<700, 128>>>((double2 *)a, (double2 *)c, 89600));
    E("linear-systems", "tridiagonal-pcr", tridiagonal_pcr<<<2000, 256>>>(a, b, a + MB, b + MB, c));
    E("linear-systems", "tridiagonal-lines",
      tridiagonal_lines<<<128, 64>>>(a, b, a + 3 * MB, b + 3 * MB, c, c + 4 * MB, 128, 8192));
    E("linear-systems", "gram-schmidt", gram_schmidt<<<500, 256>>>(a, c, c + 4 * MB));
    E("sparse", "spmv-hybrid",
      spmv_hybrid<<<470, 256>>>(ell, a, triple_rows, triple_columns, b, a + MB, e, 60000, 60000));
    E("sparse", "spmv-triples-joined",
      spmv_triples_joined<<<118, 256>>>(triple_rows, triple_columns, a, b, e, 2, 60000));
    E("sparse", "spmv-merged",
      spmv_merged<<<(30000 + elements + 1791) / 1792, 256>>>(rows + 1, columns, a, b, e, 30000,
                                                             elements, 7));
    E("stencils", "stencil-27-planes",
      stencil_27_planes<<<dim3(4, 16, 8), dim3(32, 8)>>>(a, c, 128, 0.5f, 0.05f, 0.02f, 0.01f));
    E("stencils", "stencil-25-queue",
      stencil_25_queue<<<dim3(7, 28), dim3(32, 8)>>>(a, c, 232, 48));
    E("stencils", "red-black", red_black<<<dim3(16, 128), dim3(32, 8)>>>(e, a, 1024, 0, 1.5f));
    E("stencils", "restricted",
      restricted<<<dim3(16, 64), dim3(32, 8)>>>((double *)a, (double *)c, 512));
    E("stencils", "prolonged",
      prolonged<<<dim3(32, 128), dim3(32, 8)>>>((double *)a, (double *)e, 512));
    E("stencils", "gas-rusanov",
      gas_rusanov<<<dim3(12, 48), dim3(32, 8)>>>((double *)a, (double *)c, 384, 0.01));
    E("stencils", "sand", sand<<<dim3(40, 80), dim3(32, 16)>>>((int *)keys, (int *)c, 1280));
    E("elements", "triangles-added",
      triangles_added<<<469, 256>>>(keys, (float2 *)a, b, e, 120000));
    E("elements", "hexahedra-times",
      hexahedra_times<<<500, 128>>>(corners, (double *)a, (double *)c, 64000));
    E("elements", "spectral", spectral<<<2000, dim3(8, 8)>>>(a, b, a + 4 * MB, c));
    E("particles", "bodies-pairs", bodies_pairs<<<16, 128>>>((float4 *)a, (float4 *)c, 4096));
    E("particles", "fluid-density", fluid_density<<<432, 256>>>(fluid, cells, c, fluids));
    E("particles", "charges-near",
      charges_near<<<400, 128>>>((float4 *)a, keys, (float4 *)c, 51200, 1.2f));
    E("rays", "rays-spheres", rays_spheres<<<dim3(20, 40), dim3(16, 8)>>>((float4 *)c, 320, 320));
    E("rays", "boxes-walked",
      boxes_walked<<<400, 128>>>(boxes, (float2 *)b, (int *)c, 0.02f, 51200));
    E("random-paths", "philox-floats", philox_floats<<<660, 256>>>((float4 *)c, 99, 500000));
    E("random-paths", "paths-barrier", paths_barrier<<<400, 128>>>(c, 64, 51200));
    E("random-paths", "paths-heston", paths_heston<<<200, 128>>>(c, 64, 25600));
}
