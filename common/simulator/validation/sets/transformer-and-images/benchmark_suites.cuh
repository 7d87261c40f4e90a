/* benchmark_suites.cuh - classic benchmark suites (part of transformer-and-images.cu). */

/* A layer's first half: 16 inputs times 16 weights each, a tree reduction down the column. */
__global__ void layer_forward(const float *x, float *w, float *part, int width)
{
    __shared__ float in[16], m[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * 16 + ty + 1) * (width + 1) + tx + 1;
    if (tx == 0) in[ty] = x[blockIdx.y * 16 + ty + 1];
    __syncthreads();
    m[ty][tx] = w[at];
    __syncthreads();
    m[ty][tx] *= in[ty];
    __syncthreads();
    for (int k = 1; k <= 4; k++) {
        int step = 1 << k;
        if (ty % step == 0) m[ty][tx] += m[ty + step / 2][tx];
        __syncthreads();
    }
    w[at] = m[ty][tx];
    if (tx == 0) part[blockIdx.y * width + ty] = m[tx][ty];
}

/* Speckles: the four gradients and a coefficient of each pixel, by lists of neighbours. */
__global__ void speckle(const float *x, const int *side, float *y, float *slope, int n, float q0)
{
    GLOBAL_I;
    if (i >= n * n) return;
    int row = i % n, column = i / n;
    float own = fabsf(x[i]) + 0.5f, up = fabsf(x[side[row] + n * column]) + 0.5f - own,
          down = fabsf(x[side[n + row] + n * column]) + 0.5f - own,
          west = fabsf(x[row + n * side[column]]) + 0.5f - own,
          east = fabsf(x[row + n * side[n + column]]) + 0.5f - own;
    float g2 = (up * up + down * down + west * west + east * east) / (own * own),
          l = (up + down + west + east) / own, num = 0.5f * g2 - 1.0f / 16.0f * (l * l),
          den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float v = 1.0f / (1.0f + den);
    slope[i] = up, slope[n * n + i] = down, slope[2 * n * n + i] = west,
    slope[3 * n * n + i] = east;
    y[i] = v < 0 ? 0 : v > 1 ? 1 : v;
}

/* Heat of a chip of eight layers: one thread per column of it. */
__global__ void hotspot_3d(const float *power, const float *x, float *y, int n, int layers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        at = i + j * n, plane = n * n;
    int west = i == 0 ? at : at - 1, east = i == n - 1 ? at : at + 1, north = j == 0 ? at : at - n,
        south = j == n - 1 ? at : at + n;
    float below = x[at], own = x[at], above = x[at + plane];
    for (int k = 0; k < layers; k++) {
        y[at] = 0.4f * own + 0.1f * (x[west] + x[east] + x[north] + x[south]) + 0.05f * below +
                0.1f * above + 0.02f * power[at] + 0.3f;
        at += plane, west += plane, east += plane, north += plane, south += plane;
        below = own, own = above;
        if (k < layers - 2) above = x[at + plane];
    }
}

/* Gas in cells: fluxes over four sides of five values each. */
__global__ void flux(const uint32_t *side, const float *normal, const float *v, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float rho = 1.0f + 0.1f * v[i], mx = v[n + i], my = v[2 * n + i], mz = v[3 * n + i],
          e = 3.0f + v[4 * n + i];
    float vx = mx / rho, vy = my / rho, vz = mz / rho, speed2 = vx * vx + vy * vy + vz * vz,
          p = 0.4f * (e - 0.5f * rho * speed2), sound = sqrtf(1.4f * fabsf(p) / rho);
    float f[5] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int to = side[k * n + i] % n;
        float nx = normal[(k * 3) * n + i], ny = normal[(k * 3 + 1) * n + i],
              nz = normal[(k * 3 + 2) * n + i];
        float other = 1.0f + 0.1f * v[to], ox = v[n + to], oy = v[2 * n + to], oz = v[3 * n + to],
              oe = 3.0f + v[4 * n + to];
        float ux = ox / other, uy = oy / other, uz = oz / other, s2 = ux * ux + uy * uy + uz * uz,
              op = 0.4f * (oe - 0.5f * other * s2), os = sqrtf(1.4f * fabsf(op) / other);
        float factor =
            -sqrtf(nx * nx + ny * ny + nz * nz) * 0.1f * (sound + os + sqrtf(speed2) + sqrtf(s2));
        f[0] += factor * (rho - other) + 0.5f * (nx * (mx + ox) + ny * (my + oy) + nz * (mz + oz));
        f[1] += factor * (mx - ox) + 0.5f * nx * (p + op + vx * mx + ux * ox);
        f[2] += factor * (my - oy) + 0.5f * ny * (p + op + vy * my + uy * oy);
        f[3] += factor * (mz - oz) + 0.5f * nz * (p + op + vz * mz + uz * oz);
        f[4] += factor * (e - oe) + 0.5f * nx * ((e + p) * vx + (oe + op) * ux);
    }
#pragma unroll
    for (int k = 0; k < 5; k++)
        y[k * n + i] = f[k];
}

/* The gain of a point from another centre, coordinates stored by columns. */
__global__ void gain(const float *x, const float *cost, float *y, int n, int width, int centre)
{
    extern __shared__ float s[];
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        s[k] = x[k * n + centre];
    __syncthreads();
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += (x[k * n + i] - s[k]) * (x[k * n + i] - s[k]);
    y[i] = fminf(sum - fabsf(cost[i]), 0.0f);
}

/* Forces of particles in a box and its six neighbours: a block a box, 100 particles each. */
__global__ void boxes(const float4 *x, const float *charge, float4 *y, int across)
{
    __shared__ float4 own[100], other[100];
    __shared__ float q[100];
    const int step[7][3] = {{0, 0, 0},  {1, 0, 0}, {-1, 0, 0}, {0, 1, 0},
                            {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    int box = blockIdx.x, bx = box % across, by = box / across % across, bz = box / across / across,
        t = threadIdx.x;
    if (t < 100) own[t] = x[box * 100 + t];
    float4 f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 7; k++) {
        int nx = bx + step[k][0], ny = by + step[k][1], nz = bz + step[k][2];
        if (min(nx, min(ny, nz)) < 0 || max(nx, max(ny, nz)) >= across) continue;
        int next = (nz * across + ny) * across + nx;
        __syncthreads();
        if (t < 100) other[t] = x[next * 100 + t], q[t] = charge[next * 100 + t];
        __syncthreads();
        if (t < 100)
            for (int j = 0; j < 100; j++) {
                float r2 = own[t].w + other[j].w - own[t].x * other[j].x - own[t].y * other[j].y -
                           own[t].z * other[j].z,
                      v = expf(-0.5f * r2), fs = 2.0f * v, dx = own[t].x - other[j].x,
                      dy = own[t].y - other[j].y, dz = own[t].z - other[j].z;
                f.x += q[j] * fs * dx, f.y += q[j] * fs * dy, f.z += q[j] * fs * dz,
                    f.w += q[j] * v;
            }
    }
    if (t < 100) y[box * 100 + t] = f;
}

/* Resampling of particles: each searches the prefix sums linearly. */
__global__ void resample(const uint32_t *sums, const uint32_t *u, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = u[i];
    int at = -1;
    for (int k = 0; k < n; k++)
        if (sums[k] >= own) {
            at = k;
            break;
        }
    y[i] = at < 0 ? n - 1 : at;
}

/* Haar: 1024 elements per block of 512, ten levels. */
__global__ void wavelet(const float *x, float *y)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    const float *from = x + blockIdx.x * 1024;
    float *to = y + blockIdx.x * 1024;
    s[t] = from[t], s[t + 512] = from[t + 512];
    for (int n = 512; n > 0; n >>= 1) {
        __syncthreads();
        float p = 0, q = 0;
        if (t < n) p = s[2 * t], q = s[2 * t + 1];
        __syncthreads();
        if (t < n) s[t] = (p + q) * 0.70710678f, to[n + t] = (p - q) * 0.70710678f;
    }
    if (t == 0) to[0] = s[0];
}

/* Into which of 256 ranges each key falls, and how many keys each range has. */
__global__ void buckets(const uint32_t *x, const uint32_t *limit, uint32_t *y, uint32_t *count,
                        int n)
{
    __shared__ uint32_t s[256], found[256];
    s[threadIdx.x] = limit[threadIdx.x * 4096], found[threadIdx.x] = 0;
    __syncthreads();
    for (GLOBAL_I; i < n; i += gridDim.x * blockDim.x) {
        uint32_t key = x[i];
        int low = 0, high = 255;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (s[middle] <= key)
                low = middle;
            else
                high = middle - 1;
        }
        y[i] = (uint32_t)low << 24 | atomicAdd(&found[low], 1u);
    }
    __syncthreads();
    atomicAdd(&count[threadIdx.x], found[threadIdx.x]);
}

__constant__ float4 waves[512];

/* Magnetic resonance: a voxel's sum over all places in the other space. */
__global__ void resonance(const float *x, const float *y, const float *z, float2 *q, int count)
{
    GLOBAL_I;
    float px = x[i], py = y[i], pz = z[i], re = 0, im = 0;
    for (int k = 0; k < count; k++) {
        float4 w = waves[k];
        float angle = 6.2831853f * (w.x * px + w.y * py + w.z * pz);
        re += w.w * __cosf(angle), im += w.w * __sinf(angle);
    }
    q[i] = make_float2(re, im);
}

/* The potential of atoms on a plane of a lattice, with a cutoff. */
__global__ void potential(float *y, float step, float z, float cut, int count)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float px = step * column, py = step * row, sum = 0;
    for (int k = 0; k < count; k++) {
        float4 atom = waves[k];
        float dx = px - atom.x, dy = py - atom.y,
              r2 = dx * dx + dy * dy + (z - atom.z) * (z - atom.z);
        if (r2 < cut) {
            float s = 1.0f - r2 / cut;
            sum += atom.w * rsqrtf(r2) * s * s;
        }
    }
    y[row * gridDim.x * blockDim.x + column] += sum;
}

/* Motion search: distances of 4 x 4 bytes to 64 positions around them. */
__global__ void differences(const uint32_t *now, const uint32_t *before, unsigned short *y,
                            int pitch)
{
    __shared__ uint32_t s[4];
    int t = threadIdx.x, column = blockIdx.x, row = blockIdx.y * 4;
    if (t < 4) s[t] = now[(row + t) * pitch + column];
    __syncthreads();
    int dx = t % 8, dy = t / 8;
    unsigned sum = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint32_t *from = before + (row + r + dy) * pitch + column + dx / 4;
        sum += __vsadu4(s[r], __funnelshift_r(from[0], from[1], dx % 4 * 8));
    }
    y[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] = (unsigned short)sum;
}

/* Angles between all pairs of points, counted by a search among limits. */
__global__ void angles(const float4 *x, const float4 *z, uint32_t *bins, int n)
{
    __shared__ uint32_t found[32];
    __shared__ float4 s[128];
    if (threadIdx.x < 32) found[threadIdx.x] = 0;
    GLOBAL_I;
    float4 own = x[i];
    for (int tile = 0; tile < n; tile += 128) {
        __syncthreads();
        s[threadIdx.x] = z[tile + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float dot = own.x * s[k].x + own.y * s[k].y + own.z * s[k].z;
            int low = 0, high = 31;
            while (high > low + 1) {
                int middle = (low + high) / 2;
                if (dot >= 1.0f - (float)middle * 0.0625f)
                    high = middle;
                else
                    low = middle;
            }
            atomicAdd(&found[low], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], found[threadIdx.x]);
}

/* Seven points in 3D: a thread iterates over z and keeps the points above and below in
 * registers. */
__global__ void seven_points(const float *x, float *y, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    size_t plane = (size_t)nx * ny, at = (size_t)j * nx + i;
    float below = x[at], own = x[at + plane];
    for (int k = 1; k < nz - 1; k++) {
        at += plane;
        float above = x[at + plane];
        y[at] =
            (above + below + x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx]) * 0.16f - own * 0.9f;
        below = own, own = above;
    }
}

/* All 27, one thread per point. */
__global__ void all_points(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z + 1;
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    float sum[4] = {};
#pragma unroll
    for (int dz = -1; dz <= 1; dz++)
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++)
                sum[dx * dx + dy * dy + dz * dz] += x[((k + dz) * n + j + dy) * n + i + dx];
    y[(k * n + j) * n + i] = 0.4f * sum[0] + 0.06f * sum[1] + 0.015f * sum[2] + 0.0075f * sum[3];
}

/* A wave of light: one field by the gradient of another. */
__global__ void light(const float *hz, float *ex, float *ey, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float own = hz[row * n + column];
    if (row > 0) ey[row * n + column] -= 0.5f * (own - hz[(row - 1) * n + column]);
    if (column > 0) ex[row * n + column] -= 0.5f * (own - hz[row * n + column - 1]);
}

/* Eleven points of 3D with weights: a thread iterates over the slowest axis. */
__global__ void eleven_points(const float *x, float *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || k < 1 || j >= n - 1 || k >= n - 1) return;
    for (int i = 1; i < n - 1; i++) {
        const float *p = x + ((i - 1) * n + j) * n + k, *q = p + n * n, *r = q + n * n;
        y[(i * n + j) * n + k] = 2 * p[-n - 1] + 4 * r[-n - 1] + 5 * p[-n] + 7 * r[-n] -
                                 8 * p[n - 1] + 10 * r[n - 1] - 3 * q[-n] + 6 * q[0] - 9 * q[n] +
                                 2 * p[n + 1] + 4 * r[n + 1];
    }
}

static void classics()
{
    E("layer-forward", "layer-forward",
      layer_forward<<<dim3(1, 4096), dim3(16, 16)>>>(a, c, c + 8 * MB, 16));
    E("speckle", "speckle", speckle<<<900, 256>>>(a, columns, c, c + MB, 480, 0.05f));
    E("hotspot-3d", "hotspot-3d", hotspot_3d<<<dim3(8, 128), dim3(64, 4)>>>(b, a, c, 512, 8));
    E("flux", "flux", flux<<<506, 192>>>(keys, b, a, c, 97046));
    E("gain", "gain", gain<<<128, 512, 256>>>(a, b, c, 65536, 64, 17));
    E("boxes", "boxes", boxes<<<343, 128>>>((float4 *)a, b, (float4 *)c, 7));
    E("resample", "resample", resample<<<8, 128>>>(rising, keys, (int *)c, 1000));
    E("wavelet", "wavelet", wavelet<<<512, 512>>>(a, c));
    E("buckets", "buckets",
      buckets<<<264, 256>>>(keys, rising, (uint32_t *)c, zeros + 1024, 512 << 10));
    E("resonance", "resonance", resonance<<<128, 256>>>(a, b, b + MB, (float2 *)c, 512));
    E("potential", "potential",
      potential<<<dim3(16, 32), dim3(16, 8)>>>(c, 0.01f, 0.3f, 0.5f, 512));
    E("differences", "differences",
      differences<<<dim3(120, 68), 64>>>(keys, keys + MB, (unsigned short *)c, 160));
    E("angles", "angles", angles<<<16, 128>>>((float4 *)a, (float4 *)b, zeros + 2048, 2048));
    E("seven-points", "seven-points",
      seven_points<<<dim3(4, 32), dim3(32, 4)>>>(a, c, 128, 128, 64));
    E("all-points", "all-points", all_points<<<dim3(4, 16, 126), dim3(32, 8)>>>(a, c, 128));
    E("light", "light", light<<<dim3(32, 125), dim3(32, 8)>>>(a, c, c + MB, 1000));
    E("eleven-points", "eleven-points", eleven_points<<<dim3(3, 12), dim3(32, 8)>>>(a, c, 96));
}
