/* reductions_and_sorting.cuh - the seven reductions of the samples, scans, histograms, sorting
 * (part of samples-and-layers.cu). */

template <int WHICH> __global__ void reduction(const float *x, float *y, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = WHICH < 3 ? blockIdx.x * 256 + t : blockIdx.x * 512 + t;
    float sum = 0;
    if (WHICH < 3)
        s[t] = x[i];
    else if (WHICH < 6)
        s[t] = x[i] + x[i + 256];
    else {
        for (; i < n; i += 512 * gridDim.x)
            sum += x[i] + x[i + 256];
        s[t] = sum;
    }
    __syncthreads();
    if (WHICH == 0)
        for (int k = 1; k < 256; k *= 2) {
            if (t % (2 * k) == 0) s[t] += s[t + k];
            __syncthreads();
        }
    if (WHICH == 1)
        for (int k = 1; k < 256; k *= 2) {
            if (2 * k * t < 256) s[2 * k * t] += s[2 * k * t + k];
            __syncthreads();
        }
    if (WHICH == 2 || WHICH == 3)
        for (int k = 128; k > 0; k >>= 1) {
            if (t < k) s[t] += s[t + k];
            __syncthreads();
        }
    if (WHICH >= 4) {
#pragma unroll
        for (int k = 128; k > 16; k >>= 1) {
            if (t < k) s[t] += s[t + k];
            __syncthreads();
        }
        if (t < 32) {
            sum = s[t];
            for (int o = 16; o > 0; o >>= 1)
                sum += __shfl_down_sync(0xffffffff, sum, o);
            if (WHICH == 5 && t == 0) atomicAdd(y, sum);
            if (WHICH != 5 && t == 0) y[blockIdx.x] = sum;
        }
        return;
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

/* Hillis and Steele, two buffers. */
__global__ void scan_steps(const float *x, float *y)
{
    __shared__ float s[2][512];
    int t = threadIdx.x, out = 0;
    s[0][t] = x[blockIdx.x * 512 + t];
    __syncthreads();
    for (int k = 1; k < 512; k *= 2) {
        out = 1 - out;
        s[out][t] = t >= k ? s[1 - out][t] + s[1 - out][t - k] : s[1 - out][t];
        __syncthreads();
    }
    y[blockIdx.x * 512 + t] = s[out][t];
}

/* Blelloch: up and down the tree, two elements per thread. */
__global__ void scan_tree(const float *x, float *y)
{
    __shared__ float s[512];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = x[blockIdx.x * 512 + 2 * t], s[2 * t + 1] = x[blockIdx.x * 512 + 2 * t + 1];
    for (int k = 256; k > 0; k >>= 1, offset *= 2) {
        __syncthreads();
        if (t < k) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[511] = 0;
    for (int k = 1; k < 512; k *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < k) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            float v = s[i];
            s[i] = s[j], s[j] += v;
        }
    }
    __syncthreads();
    y[blockIdx.x * 512 + 2 * t] = s[2 * t], y[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
}

__global__ void histogram_global(const unsigned char *x, uint32_t *bins, int n)
{
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[x[i]], 1u);
}

__global__ void histogram_shared(const unsigned char *x, uint32_t *bins, int n)
{
    __shared__ uint32_t s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&s[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

/* Compaction by a threshold with a global counter, one atomic per lane. */
__global__ void compact(const float *x, float *y, uint32_t *count, int n)
{
    GLOBAL_I;
    if (i < n && x[i] > 0.5f) y[atomicAdd(count, 1u) & 0xfffff] = x[i];
}

/* The sum of all lanes, one float atomic each. */
__global__ void sum_atomic(const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i < n) atomicAdd(y, x[i]);
}

__global__ void dot_shared(const float *x, const float *z, float *y, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    GLOBAL_I;
    if (i < n) atomicAdd(&total, x[i] * z[i]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = total;
}

__global__ void bitonic_step(uint32_t *x, int j, int k)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other <= i) return;
    uint32_t p = x[i], q = x[other];
    bool up = (i & k) == 0;
    x[i] = up ? min(p, q) : max(p, q), x[other] = up ? max(p, q) : min(p, q);
}

__global__ void odd_even(const uint32_t *x, uint32_t *y)
{
    __shared__ uint32_t s[512];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 512 + t], s[t + 256] = x[blockIdx.x * 512 + t + 256];
    for (int turn = 0; turn < 128; turn++) {
        __syncthreads();
        int i = 2 * t + (turn & 1);
        if (i + 1 < 512 && s[i] > s[i + 1]) {
            uint32_t v = s[i];
            s[i] = s[i + 1], s[i + 1] = v;
        }
    }
    __syncthreads();
    y[blockIdx.x * 512 + t] = s[t], y[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void radix_count(const uint32_t *x, uint32_t *y, int shift)
{
    __shared__ uint32_t s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[x[blockIdx.x * blockDim.x + threadIdx.x] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) y[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x];
}

static void collectives()
{
    E("reduction", "reduction-0", reduction<0><<<8192, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-1", reduction<1><<<8192, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-2", reduction<2><<<8192, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-3", reduction<3><<<4096, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-4", reduction<4><<<4096, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-5", reduction<5><<<4096, 256>>>(a, c, 2 * MB));
    E("reduction", "reduction-6", reduction<6><<<264, 256>>>(a, c, 4 * MB));
    E("scan-block", "scan-steps", scan_steps<<<2048, 512>>>(a, c));
    E("scan-block", "scan-tree", scan_tree<<<2048, 256>>>(a, c));
    E("histogram-global", "histogram-global",
      histogram_global<<<528, 256>>>((const unsigned char *)a, U(d), MB));
    E("histogram-shared", "histogram-shared",
      histogram_shared<<<528, 256>>>((const unsigned char *)a, U(d), 4 * MB));
    E("compact", "compact", compact<<<2048, 256>>>(a, c, U(d), 512 << 10));
    E("sum-atomic", "sum-atomic", sum_atomic<<<512, 256>>>(a, d, 128 << 10));
    E("dot", "dot-shared", dot_shared<<<1024, 256>>>(a, b, c, 256 << 10));
    E("bitonic-step", "bitonic-step-1", bitonic_step<<<4096, 256>>>(U(a), 1, 1024));
    E("bitonic-step", "bitonic-step-4096", bitonic_step<<<4096, 256>>>(U(a), 4096, 8192));
    E("reduction", "reduction-2-small", reduction<2><<<256, 256>>>(a, c, 65536));
    E("odd-even", "odd-even", odd_even<<<512, 256>>>(U(a), U(c)));
    E("radix", "radix-count", radix_count<<<4096, 256>>>(U(b), U(c), 8));
}
