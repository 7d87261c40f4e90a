/* samples.cuh - samples with one thread per element (part of samples-and-layers.cu). */

__global__ void vector_add(const float *x, const float *y, float *z, int n)
{
    GLOBAL_I;
    if (i < n) z[i] = x[i] + y[i];
}

__global__ void saxpy(int n, float alpha, const float *x, float *y)
{
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x)
        y[i] = alpha * x[i] + y[i];
}

__device__ static float normal(float x)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float p =
        0.39894228f * expf(-0.5f * x * x) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return x > 0 ? 1.0f - p : p;
}

__global__ void black_scholes(const float *__restrict__ price, const float *__restrict__ strike,
                              float *__restrict__ call, float *__restrict__ put, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float s = fabsf(price[i]) + 5, x = fabsf(strike[i]) + 6, t = 0.25f + fabsf(price[i]) * 0.01f;
    float root = sqrtf(t), d1 = (logf(s / x) + (0.02f + 0.5f * 0.09f) * t) / (0.3f * root);
    float d2 = d1 - 0.3f * root, left = expf(-0.02f * t);
    float value = s * normal(d1) - x * left * normal(d2);
    call[i] = value;
    put[i] = value + x * left - s;
}

__global__ void mandelbrot(unsigned char *image, int w, int h, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = -2.0f + 3.0f * (float)x / (float)w, ci = -1.2f + 2.4f * (float)y / (float)h, zr = 0,
          zi = 0;
    int n = 0;
    while (n < most && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci, zr = next, n++;
    }
    image[y * w + x] = (unsigned char)n;
}

__global__ void monte_carlo(uint32_t *inside, int turns)
{
    uint32_t s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1u, hits = 0;
    for (int k = 0; k < turns; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float x = (float)(s & 0xffff) / 65536.0f, y = (float)(s >> 16) / 65536.0f;
        hits += x * x + y * y < 1.0f;
    }
    atomicAdd(inside, hits);
}

__global__ void haversine(const float2 *p, const float2 *q, float *z, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float2 u = p[i], v = q[i];
    float s = sinf((v.x - u.x) * 0.5f), t = sinf((v.y - u.y) * 0.5f);
    z[i] = 12742.0f * asinf(sqrtf(s * s + cosf(u.x) * cosf(v.x) * t * t));
}

__global__ void grey(const uchar4 *in, unsigned char *out, int n)
{
    GLOBAL_I;
    if (i < n) out[i] = (unsigned char)(0.299f * in[i].x + 0.587f * in[i].y + 0.114f * in[i].z);
}

/* Upper case: one byte per thread, and a count of letters in shared memory. */
__global__ void upper(const unsigned char *in, unsigned char *out, uint32_t *letters, int n)
{
    __shared__ uint32_t found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    GLOBAL_I;
    if (i < n) {
        unsigned char ch = in[i];
        if (ch >= 'a' && ch <= 'z') ch -= 32, atomicAdd(&found, 1u);
        out[i] = ch;
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(letters, found);
}

__global__ void collatz(uint32_t *steps, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    unsigned long long v = i + 1;
    uint32_t count = 0;
    while (v != 1 && count < 200)
        v = v & 1 ? 3 * v + 1 : v / 2, count++;
    steps[i] = count;
}

static void samples()
{
    E("vectorAdd", "vectorAdd-50000", vector_add<<<196, 256>>>(a, b, c, 50000));
    E("vectorAdd", "vectorAdd-1M", vector_add<<<4096, 256>>>(a, b, c, MB));
    E("vectorAdd", "vectorAdd-16M", vector_add<<<65536, 256>>>(a, b, c, 16 * MB));
    E("saxpy", "saxpy-1M", saxpy<<<1024, 256>>>(MB, 2.0f, a, c));
    E("saxpy", "saxpy-8M", saxpy<<<264, 512>>>(8 * MB, 2.0f, a, c));
    E("blackScholes", "blackScholes", black_scholes<<<4096, 128>>>(a, b, c, d, 512 << 10));
    E("mandelbrot", "mandelbrot",
      mandelbrot<<<dim3(32, 32), dim3(16, 16)>>>((unsigned char *)c, 512, 512, 128));
    E("monteCarlo", "monteCarlo", monte_carlo<<<512, 256>>>(U(d), 64));
    E("haversine", "haversine",
      haversine<<<2048, 256>>>((const float2 *)a, (const float2 *)b, c, 512 << 10));
    E("grey", "grey", grey<<<8192, 256>>>((const uchar4 *)a, (unsigned char *)c, 2 * MB));
    E("upper", "upper",
      upper<<<4096, 256>>>((const unsigned char *)a, (unsigned char *)c, U(d), MB));
    E("grey", "grey-32", grey<<<16384, 32>>>((const uchar4 *)a, (unsigned char *)c, 512 << 10));
    E("mandelbrot", "mandelbrot-32",
      mandelbrot<<<dim3(8, 32), dim3(32, 8)>>>((unsigned char *)c, 256, 256, 512));
    E("collatz", "collatz", collatz<<<512, 256>>>(U(c), 128 << 10));
}
