/* Lab 16: pooling, activation, fully connected and softmax layers, and the forward pass of LeNet-5.
 * Edit only the TODO regions. */
#include <convlab/layers.h>

enum { WARP = 32, THREADS = 256, WARPS = THREADS / WARP };

/* Number of blocks of `each` elements that cover `all` elements. */
static int blocks(long long all, int each)
{
    return (int)((all + each - 1) / each);
}

/* ---- pooling: one thread per output ---------------------------------------------------------- */

__global__ void pool_kernel(const PoolProblem p, const float *__restrict__ x, float *__restrict__ y)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, outputs = p.N * p.C * p.P * p.Q;
    if (i >= outputs) return;
    int oq = i % p.Q, op = i / p.Q % p.P;
    const float *map = x + (size_t)(i / p.Q / p.P) * p.H * p.W;

    // TODO(1): Pool the inputs of window (op, oq) that are inside the map, as p.kind says.
    (void)map, (void)op, (void)oq, (void)y; /* until you use them */
    // END TODO(1)
}

/* ---- bias and activation: one thread per element --------------------------------------------- */

/* The activation function f(z); for any other kind than these three, z itself. */
__device__ float activation(int kind, float z)
{
    // TODO(2): Return ReLU, tanh or sigmoid of z, with a small relative error.
    (void)kind;
    return z;
    // END TODO(2)
}

__global__ void activate_kernel(const ActivateProblem p, const float *__restrict__ x,
                                const float *__restrict__ b, float *__restrict__ y)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, outputs = p.N * p.C * p.H * p.W;
    if (i >= outputs) return;
    // TODO(3): Add the bias of element i's channel and apply the activation function.
    (void)x, (void)b, (void)y;
    // END TODO(3)
}

/* ---- fully connected layer: one warp per one or four outputs of 8 images --------------------- */

// TODO(4): Reduce the 32 values of a warp by shuffles; every lane gets the result.
__device__ float warp_sum(float value)
{
    return value;
}

__device__ float warp_max(float value)
{
    return value;
}
// END TODO(4)

enum { IMAGES = 8, MANY_OUTPUTS = 4, NO_ACTIVATION = -1 };

/* y[n][k] = f(sum over c of x[n][c] * w[k][c] + b[k]); b may be NULL, kind NO_ACTIVATION.
 *
 * A warp owns outputs k0 .. k0+OUTPUTS-1 of images n0 .. n0+IMAGES-1.  It loads each weight once
 * for all these images, and each input once for all these outputs.  Lane i*OUTPUTS + o stores
 * output k0+o of image n0+i. */
template <int OUTPUTS>
__global__ void fc_kernel(FcProblem p, const float *__restrict__ x, const float *__restrict__ w,
                          const float *__restrict__ b, int kind, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, blocks_across = (p.K + WARPS * OUTPUTS - 1) / (WARPS * OUTPUTS);
    int k0 = (blockIdx.x % blocks_across * WARPS + threadIdx.x / WARP) * OUTPUTS;
    int n0 = blockIdx.x / blocks_across * IMAGES;
    float accumulator[IMAGES][OUTPUTS] = {}, result = 0.0f;
    if (k0 >= p.K) return;
    x += (size_t)n0 * p.C;
    w += (size_t)k0 * p.C;

    // TODO(5): Accumulate this lane's part of each image's and output's sum; lanes load
    // neighbouring inputs.  Then add up all lanes' parts; the total of accumulator[i][o] is the
    // result of lane i*OUTPUTS + o.
    (void)x, (void)w, (void)accumulator, (void)result;
    // END TODO(5)

    int i = lane / OUTPUTS, k = k0 + lane % OUTPUTS;
    if (i < IMAGES && n0 + i < p.N && k < p.K)
        y[(size_t)(n0 + i) * p.K + k] = activation(kind, result + (b ? b[k] : 0));
}

/* With few images a warp has one output, so that there are enough warps. */
static void fc_launch(FcProblem p, const float *x, const float *w, const float *b, int kind,
                      float *y, cudaStream_t stream)
{
    const int MANY_IMAGES = 256, outputs = p.N >= MANY_IMAGES ? MANY_OUTPUTS : 1;
    int grid = blocks(p.K, WARPS * outputs) * blocks(p.N, IMAGES);
    auto kernel = outputs == MANY_OUTPUTS ? fc_kernel<MANY_OUTPUTS> : fc_kernel<1>;
    kernel<<<grid, THREADS, 0, stream>>>(p, x, w, b, kind, y);
}

/* ---- softmax: one warp per image ------------------------------------------------------------- */

__global__ void softmax_kernel(SoftmaxProblem p, const float *__restrict__ x, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, n = blockIdx.x * WARPS + threadIdx.x / WARP;
    if (n >= p.N) return;
    x += (size_t)n * p.K;
    y += (size_t)n * p.K;
    // TODO(6): Softmax of this row; no exponent may be above 0.
    (void)lane;
    // END TODO(6)
}

/* ---- LeNet-5's convolutions, each fused with its pooling: one block per image ---------------- */

enum { TAPS = 5, PATCH = TAPS + 1, FILTERS = 2 };

/* Convolution of C maps of SIZE x SIZE with K filters of 5 x 5, bias, activation, and 2 x 2
 * pooling.  A thread owns one pooled output of FILTERS maps.  It computes the four outputs that are
 * pooled, which need PATCH x PATCH inputs of each map. */
template <int C, int SIZE, int K> struct ConvPool {
    static constexpr int POOLED_SIZE = (SIZE - TAPS + 1) / 2,
                         OUTPUTS_PER_MAP = POOLED_SIZE * POOLED_SIZE;
    static constexpr int ACTIVE_THREADS = OUTPUTS_PER_MAP * K / FILTERS;
    static constexpr int THREADS = (ACTIVE_THREADS + WARP - 1) / WARP * WARP;
};

template <int C, int SIZE, int K>
__global__ void conv_pool_kernel(const float *__restrict__ x, const float *__restrict__ w,
                                 const float *__restrict__ b, int kind, int pool,
                                 float *__restrict__ y)
{
    typedef ConvPool<C, SIZE, K> Shape;
    __shared__ float image[C * SIZE * SIZE], filter[K * C * TAPS * TAPS];
    for (int i = threadIdx.x; i < C * SIZE * SIZE; i += Shape::THREADS)
        image[i] = x[(size_t)blockIdx.x * C * SIZE * SIZE + i];
    for (int i = threadIdx.x; i < K * C * TAPS * TAPS; i += Shape::THREADS)
        filter[i] = w[i];
    __syncthreads();
    if (threadIdx.x >= Shape::ACTIVE_THREADS) return;
    int position = threadIdx.x % Shape::OUTPUTS_PER_MAP,
        k0 = threadIdx.x / Shape::OUTPUTS_PER_MAP * FILTERS;
    int row = position / Shape::POOLED_SIZE * 2, column = position % Shape::POOLED_SIZE * 2;
    float accumulator[FILTERS][2][2] = {0};
    for (int c = 0; c < C; c++) {
        float patch[PATCH][PATCH];
        for (int i = 0; i < PATCH * PATCH; i++)
            patch[i / PATCH][i % PATCH] =
                image[(c * SIZE + row + i / PATCH) * SIZE + column + i % PATCH];
        // TODO(7): Add map c's contribution to the 2 x 2 outputs of each filter.
        (void)filter, (void)patch;
        // END TODO(7)
    }
    y += ((size_t)blockIdx.x * K + k0) * Shape::OUTPUTS_PER_MAP + position;
    for (int f = 0; f < FILTERS; f++) {
        // TODO(8): Apply bias and activation to the four outputs, then pool them.
        (void)kind, (void)pool, (void)b;
        // END TODO(8)
    }
}

/* ---- LeNet-5's last layer and the softmax: one warp per image -------------------------------- */

enum { CLASSES = 10, F6_OUTPUTS = 84 };

__global__ void out_kernel(int N, const float *__restrict__ x, const float *__restrict__ w,
                           const float *__restrict__ b, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, n = blockIdx.x * WARPS + threadIdx.x / WARP;
    float accumulator[CLASSES] = {0}, result = -INFINITY; /* lane k holds the logit of class k */
    if (n >= N) return;
    for (int c = lane; c < F6_OUTPUTS; c += WARP)
        for (int k = 0; k < CLASSES; k++)
            accumulator[k] += x[(size_t)n * F6_OUTPUTS + c] * w[k * F6_OUTPUTS + c];
    for (int k = 0; k < CLASSES; k++) {
        float logit = warp_sum(accumulator[k]) + b[k];
        if (lane == k) result = logit;
    }
    float maximum = warp_max(result); /* all lanes take part */
    float exponential = lane < CLASSES ? expf(result - maximum) : 0.0f,
          total = warp_sum(exponential);
    if (lane < CLASSES) y[(size_t)n * CLASSES + lane] = exponential / total;
}

/* ---- the entry points ------------------------------------------------------------------------ */

extern "C" void pool_forward(const PoolProblem *p, const float *x, float *y, cudaStream_t stream)
{
    long long outputs = (long long)p->N * p->C * p->P * p->Q;
    pool_kernel<<<blocks(outputs, THREADS), THREADS, 0, stream>>>(*p, x, y);
}

extern "C" void activate_forward(const ActivateProblem *p, const float *x, const float *b, float *y,
                                 cudaStream_t stream)
{
    long long outputs = (long long)p->N * p->C * p->H * p->W;
    activate_kernel<<<blocks(outputs, THREADS), THREADS, 0, stream>>>(*p, x, b, y);
}

extern "C" void fc_forward(const FcProblem *p, const float *x, const float *w, float *y,
                           cudaStream_t stream)
{
    fc_launch(*p, x, w, NULL, NO_ACTIVATION, y, stream);
}

extern "C" void softmax_forward(const SoftmaxProblem *p, const float *x, float *y,
                                cudaStream_t stream)
{
    softmax_kernel<<<blocks(p->N, WARPS), THREADS, 0, stream>>>(*p, x, y);
}

extern "C" void lenet_forward(const LenetProblem *p, const float *x, const float *w, float *y,
                              cudaStream_t stream)
{
    typedef ConvPool<1, 32, 6> First;
    typedef ConvPool<6, 14, 16> Second;
    const int S2 = 6 * First::OUTPUTS_PER_MAP, S4 = 16 * Second::OUTPUTS_PER_MAP, C5 = 120,
              F6 = F6_OUTPUTS;
    float *s2, *s4, *c5, *f6;
    cudaMalloc(&s2, sizeof(float) * p->N * (S2 + S4 + C5 + F6));
    s4 = s2 + (size_t)p->N * S2;
    c5 = s4 + (size_t)p->N * S4;
    f6 = c5 + (size_t)p->N * C5;
    // TODO(9): Launch the five kernels in order, each with its part of w.
    (void)x, (void)w, (void)y, (void)stream, (void)f6;
    // END TODO(9)
    cudaFree(s2); /* waits until the kernels have finished */
}
