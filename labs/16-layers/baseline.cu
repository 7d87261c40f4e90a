/* The baseline of lab 16: the same layers with one thread per output or per image, and LeNet-5 as
 * twelve launches. */
#include <convlab/layers.h>

enum { THREADS = 256 };

static int blocks(long long all)
{
    return (int)((all + THREADS - 1) / THREADS);
}

__device__ static unsigned my_index(void)
{
    return blockIdx.x * THREADS + threadIdx.x;
}

__global__ void pool_kernel(const PoolProblem p, const float *x, float *y)
{
    unsigned i = my_index();
    if (i >= (unsigned)(p.N * p.C * p.P * p.Q)) return;
    int oq = i % p.Q, op = i / p.Q % p.P, map = i / p.Q / p.P, inside = 0;
    float maximum = -INFINITY, sum = 0.0f;
    for (int r = 0; r < p.R; r++)
        for (int s = 0; s < p.S; s++) {
            int h = op * p.stride_h + r - p.pad_top, w = oq * p.stride_w + s - p.pad_left;
            if (h < 0 || h >= p.H || w < 0 || w >= p.W) continue;
            float value = x[((size_t)map * p.H + h) * p.W + w];
            maximum = fmaxf(maximum, value);
            sum += value;
            inside++;
        }
    if (p.kind == POOL_AVERAGE_PADDED) inside = p.R * p.S;
    y[i] = p.kind == POOL_MAX ? maximum : sum / inside;
}

__device__ static float activation(int kind, float z)
{
    if (kind == ACTIVATE_RELU) return fmaxf(z, 0.0f);
    return kind == ACTIVATE_TANH ? tanhf(z) : 1.0f / (1.0f + expf(-z));
}

__global__ void activate_kernel(const ActivateProblem p, const float *x, const float *b, float *y)
{
    unsigned i = my_index();
    if (i >= (unsigned)(p.N * p.C * p.H * p.W)) return;
    y[i] = activation(p.kind, x[i] + b[i / (p.H * p.W) % p.C]);
}

/* Neighbouring threads load from rows of w that are C floats apart. */
__global__ void fc_kernel(const FcProblem p, const float *x, const float *w, const float *b,
                          float *y)
{
    unsigned i = my_index();
    if (i >= (unsigned)(p.N * p.K)) return;
    int k = i % p.K, n = i / p.K;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        sum += x[(size_t)n * p.C + c] * w[(size_t)k * p.C + c];
    y[i] = sum + (b ? b[k] : 0.0f);
}

__global__ void softmax_kernel(const SoftmaxProblem p, const float *x, float *y)
{
    unsigned n = my_index();
    if (n >= (unsigned)p.N) return;
    x += (size_t)n * p.K;
    y += (size_t)n * p.K;
    float maximum = -INFINITY, sum = 0.0f;
    for (int k = 0; k < p.K; k++)
        maximum = fmaxf(maximum, x[k]);
    for (int k = 0; k < p.K; k++)
        sum += expf(x[k] - maximum);
    for (int k = 0; k < p.K; k++)
        y[k] = expf(x[k] - maximum) / sum;
}

/* A valid convolution of C maps of size x size with K filters of 5 x 5. */
__global__ void conv_kernel(int N, int C, int size, int K, const float *x, const float *w, float *y)
{
    unsigned i = my_index();
    int out = size - 4;
    if (i >= (unsigned)(N * K * out * out)) return;
    int oq = i % out, op = i / out % out, k = i / out / out % K, n = i / out / out / K;
    float sum = 0.0f;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < 5; r++)
            for (int s = 0; s < 5; s++)
                sum += x[((n * C + c) * size + op + r) * size + oq + s] *
                       w[((k * C + c) * 5 + r) * 5 + s];
    y[i] = sum;
}

extern "C" void pool_forward(const PoolProblem *p, const float *x, float *y, cudaStream_t stream)
{
    pool_kernel<<<blocks((long long)p->N * p->C * p->P * p->Q), THREADS, 0, stream>>>(*p, x, y);
}

extern "C" void activate_forward(const ActivateProblem *p, const float *x, const float *b, float *y,
                                 cudaStream_t stream)
{
    activate_kernel<<<blocks((long long)p->N * p->C * p->H * p->W), THREADS, 0, stream>>>(*p, x, b,
                                                                                          y);
}

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    fc_kernel<<<blocks((long long)p->N * p->K), THREADS, 0, stream>>>(*p, x, w, NULL, y);
}

extern "C" void softmax_forward(const SoftmaxProblem *p, const float *x, float *y,
                                cudaStream_t stream)
{
    softmax_kernel<<<blocks(p->N), THREADS, 0, stream>>>(*p, x, y);
}

/* One convolution of LeNet-5 with bias, activation and pooling, as three launches: maps of `size`
 * in x become maps of (size - 4) / 2 in y. */
static void stage(const LenetProblem *p, int C, int size, int K, const float *x, const float *w,
                  const float *b, float *scratch, float *y, cudaStream_t stream)
{
    int out = size - 4;
    ActivateProblem activate = {p->N, K, out, out, p->activation};
    PoolProblem pool = {p->N, K, out, out, 2, 2, out / 2, out / 2, 0, 0, 0, 0, 2, 2, p->pool};
    conv_kernel<<<blocks((long long)p->N * K * out * out), THREADS, 0, stream>>>(p->N, C, size, K,
                                                                                 x, w, scratch);
    activate_forward(&activate, scratch, b, scratch, stream);
    pool_forward(&pool, scratch, y, stream);
}

static void connect(const LenetProblem *p, int C, int K, const float *x, const float *w,
                    const float *b, float *y, cudaStream_t stream)
{
    FcProblem fc = {p->N, C, K};
    fc_kernel<<<blocks((long long)p->N * K), THREADS, 0, stream>>>(fc, x, w, b, y);
}

extern "C" void lenet_forward(const LenetProblem *p, const float *x, const float *w, float *y,
                              cudaStream_t stream)
{
    const size_t N = p->N;
    const ActivateProblem none = {p->N, 1, 1, 1, p->activation};
    float *one, *two, *zero;
    cudaMalloc(&one, sizeof(float) * N * 6 * 28 * 28);
    cudaMalloc(&two, sizeof(float) * N * 6 * 28 * 28);
    cudaMalloc(&zero, sizeof(float) * 120);
    cudaMemsetAsync(zero, 0, sizeof(float) * 120, stream);
    stage(p, 1, 32, 6, x, w + LENET_C1_W, w + LENET_C1_B, one, two, stream);
    stage(p, 6, 14, 16, two, w + LENET_C3_W, w + LENET_C3_B, one, two, stream);
    connect(p, 400, 120, two, w + LENET_C5_W, w + LENET_C5_B, one, stream);
    ActivateProblem c5 = none, f6 = none;
    c5.C = 120;
    f6.C = 84;
    activate_forward(&c5, one, zero, one, stream);
    connect(p, 120, 84, one, w + LENET_F6_W, w + LENET_F6_B, two, stream);
    activate_forward(&f6, two, zero, two, stream);
    connect(p, 84, 10, two, w + LENET_OUT_W, w + LENET_OUT_B, one, stream);
    SoftmaxProblem last = {p->N, 10, 0};
    softmax_forward(&last, one, y, stream);
    cudaFree(zero); /* waits until the kernels have finished */
    cudaFree(two);
    cudaFree(one);
}
