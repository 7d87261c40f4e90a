/* The baseline of lab 19: one thread per output, one kernel per layer and one per pooling. */
#include <convlab/electrode.h>
#include <convlab/layers.h>

enum { THREADS = 128 };

static int blocks(long long all)
{
    return (int)((all + THREADS - 1) / THREADS);
}

/* z[n][k][p][q] = sum of x times w. */
__global__ void conv_kernel(ConvProblem p, const float *__restrict__ x, const float *__restrict__ w,
                            float *__restrict__ z)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.N * p.K * p.P * p.Q) return;
    int q = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int h = op * p.stride_h + r - p.pad_top, v = q * p.stride_w + s - p.pad_left;
                if (h >= 0 && h < p.H && v >= 0 && v < p.W)
                    sum += x[((n * p.C + c) * p.H + h) * p.W + v] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    z[i] = sum;
}

/* y = the maximum of pool x pool of z, with bias and ReLU if there is a bias. */
__global__ void pool_kernel(ConvProblem p, int pool, const float *__restrict__ z,
                            const float *__restrict__ b, float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, P = p.P / pool, Q = p.Q / pool;
    if (i >= p.N * p.K * P * Q) return;
    const float *from = z + ((i / Q / P) * p.P + i / Q % P * pool) * p.Q + i % Q * pool;
    float maximum = -INFINITY;
    for (int j = 0; j < pool * pool; j++)
        maximum = fmaxf(maximum, from[j / pool * p.Q + j % pool]);
    y[i] = b ? fmaxf(maximum + b[i / Q / P % p.K], 0.0f) : maximum;
}

__global__ void fc_kernel(FcProblem p, int relu, const float *__restrict__ x,
                          const float *__restrict__ w, const float *__restrict__ b,
                          float *__restrict__ y)
{
    int i = blockIdx.x * THREADS + threadIdx.x, k = i % p.K, n = i / p.K;
    if (i >= p.N * p.K) return;
    float sum = b ? b[k] : 0.0f;
    for (int c = 0; c < p.C; c++)
        sum += x[n * p.C + c] * w[k * p.C + c];
    y[i] = relu ? fmaxf(sum, 0.0f) : sum;
}

__global__ void softmax_kernel(int N, int K, const float *__restrict__ x, float *__restrict__ y)
{
    int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= N) return;
    float maximum = -INFINITY, sum = 0.0f;
    for (int k = 0; k < K; k++)
        maximum = fmaxf(maximum, x[n * K + k]);
    for (int k = 0; k < K; k++)
        sum += expf(x[n * K + k] - maximum);
    for (int k = 0; k < K; k++)
        y[n * K + k] = expf(x[n * K + k] - maximum) / sum;
}

static void convolve(const ConvProblem &p, int pool, const float *x, const float *w, const float *b,
                     float *z, float *y, cudaStream_t stream)
{
    long long outputs = (long long)p.N * p.K * p.P * p.Q;
    conv_kernel<<<blocks(outputs), THREADS, 0, stream>>>(p, x, w, z);
    pool_kernel<<<blocks(outputs / pool / pool), THREADS, 0, stream>>>(p, pool, z, b, y);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    float *z;
    cudaMalloc(&z, sizeof(float) * p->N * p->K * p->P * p->Q);
    convolve(*p, p->pool ? p->pool : 1, x, w, NULL, z, y, stream);
    cudaFree(z);
}

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    fc_kernel<<<blocks((long long)p->N * p->K), THREADS, 0, stream>>>(*p, 0, x, w, NULL, y);
}

extern "C" void electrode_forward(const ElectrodeProblem *p, const float *x, const float *w,
                                  float *y, cudaStream_t stream)
{
    const int *at = p->weights, *bias = p->biases;
    size_t N = p->N, maps = N * p->c * p->H * p->W;
    float *z, *values, *units, *logits;
    cudaMalloc(&z, sizeof(float) * (2 * maps + N * (p->f + p->classes)));
    values = z + maps;
    units = values + maps;
    logits = units + N * p->f;
    for (int i = 0; i < 3; i++) {
        int R = 8 >> i, H = p->H >> i, W = p->W >> i, zeros = (R - 1) / 2, C = i ? p->c : 1;
        ConvProblem conv = {p->N, C, H, W, p->c, R, R, H, W, zeros, zeros, R / 2, R / 2, 1, 1};
        if (i == 0 && p->padded) conv.H += 7, conv.W += 7, conv.pad_top = conv.pad_left = 0;
        convolve(conv, i < 2 ? 2 : 1, i ? values : x, w + at[i], w + bias[i], z, values, stream);
    }
    FcProblem full = {p->N, p->c * (p->H / 4) * (p->W / 4), p->f}, out = {p->N, p->f, p->classes};
    fc_kernel<<<blocks(N * p->f), THREADS, 0, stream>>>(full, 1, values, w + at[3], w + bias[3],
                                                        units);
    fc_kernel<<<blocks(N * p->classes), THREADS, 0, stream>>>(out, 0, units, w + at[4], w + bias[4],
                                                              logits);
    softmax_kernel<<<blocks(N), THREADS, 0, stream>>>(p->N, p->classes, logits, y);
    cudaFree(z);
}
