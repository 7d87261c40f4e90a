/* Lab 16: the layers of a network beside convolution, and LeNet-5 made of them.  Edit only the TODO
 * regions. */
#include <convlab/layers.h>

enum { WARP = 32, THREADS = 256, WARPS = THREADS / WARP };

/* How many blocks of `each` cover `all`. */
static int blocks(long long all, int each)
{
    return (int)((all + each - 1) / each);
}

/* ---- pooling: a thread an output ------------------------------------------------------------- */

__global__ void pool_kernel(const PoolProblem p, const float *__restrict__ x, float *__restrict__ y)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, outputs = p.N * p.C * p.P * p.Q;
    if (i >= outputs) return;
    int oq = i % p.Q, op = i / p.Q % p.P;
    const float *map = x + (size_t)(i / p.Q / p.P) * p.H * p.W;

    // TODO(1): Pool the inputs under window (op, oq) that lie inside the map, as p.kind says.
    (void)map, (void)op, (void)oq, (void)y; /* until you use them */
    // END TODO(1)
}

/* ---- bias and activation: a thread an element ------------------------------------------------ */

/* f(z); of another kind than the three, z itself. */
__device__ float activation(int kind, float z)
{
    // TODO(2): Give ReLU, tanh and sigmoid of z, each to the last digits of a float.
    (void)kind;
    return z;
    // END TODO(2)
}

__global__ void activate_kernel(const ActivateProblem p, const float *__restrict__ x,
                                const float *__restrict__ b, float *__restrict__ y)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, outputs = p.N * p.C * p.H * p.W;
    if (i >= outputs) return;
    // TODO(3): Add the bias of the channel that element i belongs to, and take the function.
    (void)x, (void)b, (void)y;
    // END TODO(3)
}

/* ---- a fully connected layer: a warp one output or four, of 8 images ------------------------- */

// TODO(4): Combine the 32 values of a warp so that every lane has the result, by shuffles.
__device__ float warp_sum(float value)
{
    return value;
}

__device__ float warp_largest(float value)
{
    return value;
}
// END TODO(4)

enum { IMAGES = 8, FOUR = 4, NONE = -1 };

/* y[n][k] = f(sum over c of x[n][c] * w[k][c] + b[k]); b may be NULL, kind NONE.
 *
 * A warp owns outputs k0 .. k0+OUTPUTS-1 of images n0 .. n0+IMAGES-1: it reads each weight once for
 * all these images, each input once for all these outputs.  Lane i*OUTPUTS + o finishes output k0+o
 * of image n0+i. */
template <int OUTPUTS>
__global__ void fc_kernel(FcProblem p, const float *__restrict__ x, const float *__restrict__ w,
                          const float *__restrict__ b, int kind, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, across = (p.K + WARPS * OUTPUTS - 1) / (WARPS * OUTPUTS);
    int k0 = (blockIdx.x % across * WARPS + threadIdx.x / WARP) * OUTPUTS;
    int n0 = blockIdx.x / across * IMAGES;
    float sum[IMAGES][OUTPUTS] = {}, mine = 0.0f;
    if (k0 >= p.K) return;
    x += (size_t)n0 * p.C;
    w += (size_t)k0 * p.C;

    // TODO(5): Sum this lane's share of the products of each image and output, so that the lanes of
    // a warp read neighbours; then the shares of all lanes: lane i*OUTPUTS + o keeps sum[i][o].
    (void)x, (void)w, (void)sum, (void)mine;
    // END TODO(5)

    int i = lane / OUTPUTS, k = k0 + lane % OUTPUTS;
    if (i < IMAGES && n0 + i < p.N && k < p.K)
        y[(size_t)(n0 + i) * p.K + k] = activation(kind, mine + (b ? b[k] : 0));
}

/* Of few images a warp has one output, so that there are warps enough. */
static void fc_launch(FcProblem p, const float *x, const float *w, const float *b, int kind,
                      float *y, cudaStream_t stream)
{
    const int MANY = 256, outputs = p.N >= MANY ? FOUR : 1;
    int grid = blocks(p.K, WARPS * outputs) * blocks(p.N, IMAGES);
    auto kernel = outputs == FOUR ? fc_kernel<FOUR> : fc_kernel<1>;
    kernel<<<grid, THREADS, 0, stream>>>(p, x, w, b, kind, y);
}

/* ---- softmax: a warp an image ---------------------------------------------------------------- */

__global__ void softmax_kernel(SoftmaxProblem p, const float *__restrict__ x, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, n = blockIdx.x * WARPS + threadIdx.x / WARP;
    if (n >= p.N) return;
    x += (size_t)n * p.K;
    y += (size_t)n * p.K;
    // TODO(6): Softmax of this row, without an exponential of anything above 0.
    (void)lane;
    // END TODO(6)
}

/* ---- LeNet-5's first four layers, two at a time: a block an image ---------------------------- */

enum { TAPS = 5, PATCH = TAPS + 1, FILTERS = 2 };

/* A convolution of C maps of SIZE x SIZE with K filters of 5 x 5, its bias and activation, and
 * every 2 x 2 of its outputs pooled.  A thread owns one pooled output of FILTERS maps, so the four
 * outputs that it is made of, and these need PATCH x PATCH inputs of each map. */
template <int C, int SIZE, int K> struct ConvPool {
    static constexpr int HALF = (SIZE - TAPS + 1) / 2, SPOTS = HALF * HALF;
    static constexpr int OWNERS = SPOTS * K / FILTERS;
    static constexpr int THREADS = (OWNERS + WARP - 1) / WARP * WARP;
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
    if (threadIdx.x >= Shape::OWNERS) return;
    int spot = threadIdx.x % Shape::SPOTS, k0 = threadIdx.x / Shape::SPOTS * FILTERS;
    int row = spot / Shape::HALF * 2, column = spot % Shape::HALF * 2;
    float sum[FILTERS][2][2] = {0};
    for (int c = 0; c < C; c++) {
        float patch[PATCH][PATCH];
        for (int i = 0; i < PATCH * PATCH; i++)
            patch[i / PATCH][i % PATCH] =
                image[(c * SIZE + row + i / PATCH) * SIZE + column + i % PATCH];
        // TODO(7): Add map c's products to the 2 x 2 outputs of each filter.
        (void)filter, (void)patch;
        // END TODO(7)
    }
    y += ((size_t)blockIdx.x * K + k0) * Shape::SPOTS + spot;
    for (int f = 0; f < FILTERS; f++) {
        // TODO(8): Bias and activation of the four, then their largest or their average.
        (void)kind, (void)pool, (void)b;
        // END TODO(8)
    }
}

/* ---- its last layer and the softmax: a warp an image ----------------------------------------- */

enum { CLASSES = 10, LAST = 84 };

__global__ void out_kernel(int N, const float *__restrict__ x, const float *__restrict__ w,
                           const float *__restrict__ b, float *__restrict__ y)
{
    int lane = threadIdx.x % WARP, n = blockIdx.x * WARPS + threadIdx.x / WARP;
    float sum[CLASSES] = {0}, mine = -INFINITY; /* lane k has the logit of class k */
    if (n >= N) return;
    for (int c = lane; c < LAST; c += WARP)
        for (int k = 0; k < CLASSES; k++)
            sum[k] += x[(size_t)n * LAST + c] * w[k * LAST + c];
    for (int k = 0; k < CLASSES; k++) {
        float logit = warp_sum(sum[k]) + b[k];
        if (lane == k) mine = logit;
    }
    float largest = warp_largest(mine); /* every lane takes part */
    float power = lane < CLASSES ? expf(mine - largest) : 0.0f, total = warp_sum(power);
    if (lane < CLASSES) y[(size_t)n * CLASSES + lane] = power / total;
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
    fc_launch(*p, x, w, NULL, NONE, y, stream);
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
    const int S2 = 6 * First::SPOTS, S4 = 16 * Second::SPOTS, C5 = 120, F6 = LAST;
    float *s2, *s4, *c5, *f6;
    cudaMalloc(&s2, sizeof(float) * p->N * (S2 + S4 + C5 + F6));
    s4 = s2 + (size_t)p->N * S2;
    c5 = s4 + (size_t)p->N * S4;
    f6 = c5 + (size_t)p->N * C5;
    // TODO(9): Launch the five kernels one after the other, each with its part of w.
    (void)x, (void)w, (void)y, (void)stream, (void)f6;
    // END TODO(9)
    cudaFree(s2); /* waits until nobody needs it */
}
