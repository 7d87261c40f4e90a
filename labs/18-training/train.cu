/* Lab 18: one training step of LeNet-5.  Edit only the TODO regions.
 *
 * The kernels' structure is given.  You write ReLU and mean, softmax and loss, the backward pass,
 * the weight gradients and the update. */
#include <convlab/train.h>

enum {
    BLOCK = 128,          /* threads per block, unless stated otherwise */
    FILTERS = 3,          /* convolution: maps per thread, 2 x 2 outputs of each */
    IMAGES = 4,           /* fully connected forward pass: images per warp */
    MANY_IMAGES = 256,    /* from this number of images a warp computes MANY_UNITS units */
    MANY_UNITS = 4,       /* units per warp with many images */
    PAIR = 2,             /* fully connected backward pass: images per thread */
    UNITS = 8,            /* weight gradient: filters per thread ... */
    TAPS_PER_THREAD = 2,  /* ... and taps of each */
    TAPS = 256,           /* weight gradient: maximum taps of a filter per block */
    MAX_THREADS = 256,    /* weight gradient: maximum threads per block */
    MIN_ROWS = 5,         /* weight gradient: minimum rows of an output map per slice */
    MAX_SLICES = 256,     /* weight gradient: maximum number of slices */
    ENOUGH_BLOCKS = 1024, /* weight gradient: number of blocks that is enough for one layer */
    LOSS = 512            /* threads of the loss kernel */
};

static int ceil_div(int size, int divisor)
{
    return (size + divisor - 1) / divisor;
}

/* The workspace, one allocation: activations, gradients, partial sums. */
typedef struct Workspace {
    float *in[TRAIN_LAYERS + 1];  /* input of each layer; the last element: logits */
    float *dz[TRAIN_LAYERS];      /* d loss / d z, with `border` zeros around each map */
    unsigned char *mask[2];       /* C1, C3: bit i: was z number i of a mean positive? */
    float *partial[TRAIN_LAYERS]; /* [slice][k][tap]: gradient of a slice's rows; last tap: bias */
    int slices[TRAIN_LAYERS], rows[TRAIN_LAYERS]; /* number of slices; rows per slice */
} Workspace;

/* The backward pass of C3 reads dz beyond its edges, two rows and two columns at a time.  Therefore
 * its maps are surrounded by `border` zeros, and by one more row or column if H or W is odd. */
static int border_of(int which, const TrainLayer &layer)
{
    return which == TRAIN_C3 ? layer.R - 1 : 0;
}

__host__ __device__ static int height_of(const TrainLayer &layer, int border)
{
    return border ? (layer.H + 1) / 2 * 2 + border : layer.P;
}

__host__ __device__ static int width_of(const TrainLayer &layer, int border)
{
    return border ? (layer.W + 1) / 2 * 2 + border : layer.Q;
}

__host__ __device__ static int taps_of(const TrainLayer &layer)
{
    return layer.C * layer.R * layer.S + 1; /* + 1: the bias, whose input is 1 */
}

/* ---- convolutions ------------------------------------------------------------------------ */

/* A filter bank, as stored or flipped: number of output maps, and strides in floats. */
typedef struct FilterBank {
    const float *w;
    int maps, map_stride, input_stride, first_tap, tap_stride;
} FilterBank;

/* Accumulates 2 x 2 neighbouring outputs of FILTERS maps, from map `k`.  `in` is their first input;
 * its maps have `height` x `width` elements.  SIDE is the filters' side if it is a compile-time
 * constant, or 0 for any side.  Maps beyond the last are replaced by the last. */
template <int SIDE>
__device__ static void conv_tile(const float *in, int maps, int height, int width,
                                 const FilterBank &bank, int k, int side,
                                 float accumulator[FILTERS][4])
{
    int R = SIDE ? SIDE : side;
    for (int c = 0; c < maps; c++, in += height * width)
        for (int r = 0; r < R; r++) {
            const float *upper = in + r * width, *lower = upper + width;
            float left[2] = {upper[0], lower[0]};
            for (int s = 0; s < R; s++) {
                float right[2] = {upper[s + 1], lower[s + 1]};
                for (int f = 0; f < FILTERS; f++) {
                    int map = min(k + f, bank.maps - 1);
                    float w = bank.w[map * bank.map_stride + c * bank.input_stride +
                                     bank.first_tap + (r * R + s) * bank.tap_stride];
                    accumulator[f][0] += left[0] * w;
                    accumulator[f][1] += right[0] * w;
                    accumulator[f][2] += left[1] * w;
                    accumulator[f][3] += right[1] * w;
                }
                left[0] = right[0];
                left[1] = right[1];
            }
        }
}

/* Forward pass of C1 and C3.  A thread has 2 x 2 outputs of FILTERS maps; out[n][k][p][q] is the
 * mean of their ReLUs. */
template <int SIDE>
__global__ void conv_forward_kernel(TrainLayer layer, int N, const float *__restrict__ in,
                                    const float *__restrict__ parameter, float *__restrict__ out,
                                    unsigned char *__restrict__ mask)
{
    int P = layer.P / 2, Q = layer.Q / 2, at = blockIdx.x * BLOCK + threadIdx.x;
    int k = blockIdx.y * FILTERS, q = at % Q, p = at / Q % P, n = at / Q / P;
    if (n >= N) return;
    float accumulator[FILTERS][4] = {};
    FilterBank bank = {parameter + layer.weights, layer.K, layer.C * layer.R * layer.S,
                       layer.R * layer.S,         0,       1};
    in += (n * layer.C * layer.H + 2 * p) * layer.W + 2 * q;
    conv_tile<SIDE>(in, layer.C, layer.H, layer.W, bank, k, layer.R, accumulator);
    for (int f = 0; f < FILTERS && k + f < layer.K; f++) {
        int to = ((n * layer.K + k + f) * P + p) * Q + q;
        // TODO(1): Add the bias to each of the four accumulators, compute the mean of their ReLUs,
        // and set bit i of mask[to] where value i is positive.
        (void)to, (void)accumulator, (void)out, (void)mask;
        // END TODO(1)
    }
}

/* Backward pass of mean and ReLU: dz of the four z from the gradient `value` of their mean; `dz` is
 * the first of the four. */
__device__ static void mean_backward(float *dz, int width, int bits, float value)
{
    // TODO(2): Store each value's part of the gradient: 0 where its bit is not set.
    (void)dz, (void)width, (void)bits, (void)value;
    // END TODO(2)
}

/* Backward pass from C3's dz, with its border of zeros, to C1's dz.  A thread has 2 x 2 of C3's
 * inputs in FILTERS maps. */
template <int SIDE>
__global__ void conv_backward_kernel(TrainLayer layer, TrainLayer before, int N,
                                     const float *__restrict__ dz,
                                     const float *__restrict__ parameter,
                                     const unsigned char *__restrict__ mask, float *__restrict__ to)
{
    int high = (layer.H + 1) / 2, wide = (layer.W + 1) / 2, at = blockIdx.x * BLOCK + threadIdx.x;
    int c = blockIdx.y * FILTERS, w = at % wide * 2, h = at / wide % high * 2, n = at / wide / high;
    int height = height_of(layer, layer.R - 1), width = width_of(layer, layer.R - 1);
    if (n >= N) return;
    float accumulator[FILTERS][4] = {};
    // TODO(3): Describe the flipped filter bank: its output maps are C3's inputs c, its input maps
    // are C3's filters k, and its tap (r, s) is tap (R-1-r, S-1-s) of w.
    /* every tap is weight 0 of the layer until you set the strides */
    FilterBank bank = {parameter + layer.weights, layer.C, 0, 0, 0, 0};
    // END TODO(3)
    dz += (n * layer.K * height + h) * width + w;
    conv_tile<SIDE>(dz, layer.K, height, width, bank, c, layer.R, accumulator);
    for (int f = 0; f < FILTERS && c + f < layer.C; f++)
        for (int i = 0; i < 4; i++) {
            int y = h + i / 2, x = w + i % 2, map = n * layer.C + c + f;
            if (y < layer.H && x < layer.W)
                mean_backward(to + (map * before.P + 2 * y) * before.Q + 2 * x, before.Q,
                              mask[(map * layer.H + y) * layer.W + x], accumulator[f][i]);
        }
}

/* ---- fully connected layers -------------------------------------------------------------- */

/* Forward pass of C5, F6 and the last layer.  A warp has units k .. k+OUTPUTS-1 of IMAGES images.
 * Its lanes share the inputs, and lane j*OUTPUTS + u stores unit k+u of image n+j.  Images and
 * units beyond the last are replaced by the last, so that no load depends on a condition. */
template <int OUTPUTS>
__global__ void fc_forward_kernel(TrainLayer layer, int N, int last, const float *__restrict__ in,
                                  const float *__restrict__ parameter, float *__restrict__ out)
{
    int lane = threadIdx.x, n = blockIdx.y * IMAGES, inputs = layer.C * layer.H * layer.W;
    int k = (blockIdx.x * blockDim.y + threadIdx.y) * OUTPUTS;
    if (k >= layer.K) return;
    const float *image[IMAGES], *w[OUTPUTS];
    for (int j = 0; j < IMAGES; j++)
        image[j] = in + min(n + j, N - 1) * inputs;
    for (int u = 0; u < OUTPUTS; u++)
        w[u] = parameter + layer.weights + min(k + u, layer.K - 1) * inputs;
    float accumulator[IMAGES][OUTPUTS] = {}, result = 0.0f;
    // TODO(4): Accumulate this lane's part of the sum of each image j and unit u; image[j] and w[u]
    // are the first input and the first weight.  Then add up the parts of all lanes: lane
    // j*OUTPUTS + u keeps the total of accumulator[j][u] as its result.
    (void)image, (void)w, (void)accumulator, (void)result; /* until you use them */
    // END TODO(4)
    n += lane / OUTPUTS;
    k += lane % OUTPUTS;
    if (lane >= IMAGES * OUTPUTS || n >= N || k >= layer.K) return;
    float z = result + parameter[TRAIN_BIASES(layer) + k];
    out[n * layer.K + k] = last ? z : fmaxf(z, 0.0f);
}

/* Passes the gradient of a fully connected layer's input on to dz of the previous layer.  The input
 * is the value of a ReLU, or a mean of four values with their mask `mask`. */
__device__ static void fc_backward_store(const TrainLayer &layer, const TrainLayer &before,
                                         int border, int at, float gradient, const float *in,
                                         const unsigned char *mask, float *to)
{
    if (!mask) {
        to[at] = in[at] > 0.0f ? gradient : 0.0f;
        return;
    }
    int w = at % layer.W, h = at / layer.W % layer.H, map = at / layer.W / layer.H;
    int width = width_of(before, border), height = height_of(before, border);
    mean_backward(to + (map * height + border + 2 * h) * width + border + 2 * w, width, mask[at],
                  gradient);
}

/* Backward pass of a fully connected layer.  A thread has one input of PAIR images. */
__global__ void fc_backward_kernel(TrainLayer layer, TrainLayer before, int N, int border,
                                   const float *__restrict__ dz, const float *__restrict__ in,
                                   const float *__restrict__ parameter,
                                   const unsigned char *__restrict__ mask, float *__restrict__ to)
{
    int inputs = layer.C * layer.H * layer.W, at = blockIdx.x * BLOCK + threadIdx.x;
    int i = at % inputs, n = at / inputs * PAIR;
    if (n >= N) return;
    const float *image_dz[PAIR]; /* dz of each image; beyond the last image the last again */
    for (int j = 0; j < PAIR; j++)
        image_dz[j] = dz + min(n + j, N - 1) * layer.K;
    float accumulator[PAIR] = {};
    // TODO(5): Compute the gradient of input i of each image: the sum over all K units of their dz
    // times the weight.
    (void)image_dz, (void)parameter;
    // END TODO(5)
    for (int j = 0; j < PAIR && n + j < N; j++)
        fc_backward_store(layer, before, border, (n + j) * inputs + i, accumulator[j], in, mask,
                          to);
}

/* ---- the loss ---------------------------------------------------------------------------- */

/* One block; thread t has images t, t + LOSS, ... Input: z[n][k].  Output: dz[n][k] and the mean
 * loss. */
__global__ void loss_kernel(int N, int classes, const float *__restrict__ z,
                            const float *__restrict__ label, float *__restrict__ dz,
                            float *__restrict__ loss)
{
    __shared__ float partial[LOSS];
    float result = 0.0f;
    for (int n = threadIdx.x; n < N; n += LOSS) {
        const float *logits = z + n * classes;
        // TODO(6): Softmax: subtract the maximum z first, so that no exponential overflows. Add the
        // image's -log p(label) to `result`, and store (p - target) / N in dz.
        (void)logits, (void)label, (void)dz;
        // END TODO(6)
    }
    partial[threadIdx.x] = result;
    for (int step = LOSS / 2; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    }
    if (threadIdx.x == 0) *loss = partial[0] / N;
}

/* ---- weight gradients and update --------------------------------------------------------- */

/* Weight gradient of any layer.  Thread x has TAPS_PER_THREAD taps (c, r, s), blockDim.x apart, of
 * UNITS filters.  Thread row y has every blockDim.y-th row of the slice's rows, counted over all
 * images.  Every element has one owner, so the sum is the same in every run. */
__global__ void weight_gradient_kernel(TrainLayer layer, int N, int border, int rows,
                                       const float *__restrict__ in, const float *__restrict__ dz,
                                       float *__restrict__ partial)
{
    extern __shared__ float sums[]; /* [unit][tap of the thread][y][x] */
    int taps = taps_of(layer), tap = blockIdx.z * blockDim.x * TAPS_PER_THREAD + threadIdx.x;
    int k = blockIdx.y * UNITS, first = blockIdx.x * rows;
    int width = width_of(layer, border), height = height_of(layer, border);
    float accumulator[UNITS][TAPS_PER_THREAD] = {};
    int unit[UNITS]; /* offset of a unit's dz from that of unit k; beyond the last: the last */
    int offset[TAPS_PER_THREAD]; /* offset of a tap's input from that of tap 0 */
    bool bias[TAPS_PER_THREAD];  /* is this the last tap, whose input is 1 (or a tap beyond it)? */
    for (int u = 0; u < UNITS; u++)
        unit[u] = min(u, layer.K - 1 - k) * height * width;
    for (int t = 0; t < TAPS_PER_THREAD; t++) {
        int my = tap + t * blockDim.x;
        bias[t] = my >= taps - 1;
        offset[t] =
            (my / layer.S / layer.R * layer.H + my / layer.S % layer.R) * layer.W + my % layer.S;
    }
    for (int row = first + threadIdx.y; tap < taps && row < first + rows && row < N * layer.P;
         row += blockDim.y) {
        int n = row / layer.P, p = row % layer.P;
        // TODO(7): Accumulate the multiply-adds of this row of dz (UNITS filters from k, at
        // unit[u]) with the inputs of each of the thread's taps; the bias has the input 1.
        (void)n, (void)p, (void)k, (void)bias, (void)offset, (void)in, (void)dz;
        (void)height, (void)width;
        // END TODO(7)
    }
    int threads = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    for (int u = 0; u < UNITS; u++)
        for (int t = 0; t < TAPS_PER_THREAD; t++)
            sums[(u * TAPS_PER_THREAD + t) * threads + me] = accumulator[u][t];
    __syncthreads();
    if (threadIdx.y) return;
    for (int u = 0; u < UNITS && k + u < layer.K; u++)
        for (int t = 0; t < TAPS_PER_THREAD && tap + t * blockDim.x < taps; t++) {
            float total = 0.0f;
            for (int y = 0; y < blockDim.y; y++)
                total += sums[(u * TAPS_PER_THREAD + t) * threads + y * blockDim.x + threadIdx.x];
            partial[(blockIdx.x * layer.K + k + u) * taps + tap + t * blockDim.x] = total;
        }
}

/* The gradient of parameter i: the sum over the layer's slices. */
__device__ static float gradient_of(const TrainProblem &p, const Workspace &workspace, int i)
{
    int which = 0;
    while (which < TRAIN_OUT && i >= p.layer[which + 1].weights)
        which++;
    const TrainLayer &layer = p.layer[which];
    int taps = taps_of(layer), weight = i - layer.weights, bias = i - TRAIN_BIASES(layer);
    int at = bias >= 0 ? bias * taps + taps - 1 : weight / (taps - 1) * taps + weight % (taps - 1);
    float sum = 0.0f;
#pragma unroll 16
    for (int j = 0; j < workspace.slices[which]; j++)
        sum += workspace.partial[which][j * layer.K * taps + at];
    return sum;
}

__global__ void update_kernel(TrainProblem p, Workspace workspace,
                              const float *__restrict__ parameter,
                              const float *__restrict__ velocity, const float *__restrict__ setting,
                              float *__restrict__ y)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= p.parameters) return;
    // TODO(8): Compute the new velocity, then the new parameter with it; store both in y.
    (void)parameter, (void)velocity, (void)setting, (void)y, (void)gradient_of;
    // END TODO(8)
}

/* ---- the step ---------------------------------------------------------------------------- */

/* Takes `count` floats from *at, rounded up to 256 bytes. */
static float *allocate(char **at, size_t count)
{
    float *here = (float *)*at;
    *at += (count * sizeof(float) + 255) / 256 * 256;
    return here;
}

/* Lays out the workspace from `at` and returns its end. */
static char *workspace_layout(const TrainProblem *p, const float *x, char *at, Workspace *workspace)
{
    size_t N = p->N;
    *workspace = {};
    workspace->in[0] = (float *)x;
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer &layer = p->layer[i];
        int pool = layer.pool, border = border_of(i, layer), rows = p->N * layer.P;
        size_t values = N * layer.K * (layer.P / pool) * (layer.Q / pool);
        workspace->in[i + 1] = allocate(&at, values);
        workspace->dz[i] =
            allocate(&at, N * layer.K * height_of(layer, border) * width_of(layer, border));
        if (pool == 2) workspace->mask[i] = (unsigned char *)allocate(&at, (values + 3) / 4);
        int others = ceil_div(layer.K, UNITS) * ceil_div(taps_of(layer), TAPS);
        int slices = min(MAX_SLICES, ceil_div(ENOUGH_BLOCKS, others));
        workspace->rows[i] = max(MIN_ROWS, ceil_div(rows, slices));
        workspace->slices[i] = ceil_div(rows, workspace->rows[i]);
        workspace->partial[i] =
            allocate(&at, (size_t)workspace->slices[i] * layer.K * taps_of(layer));
    }
    return at;
}

static void clear_border(const TrainProblem *p, const Workspace *workspace, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[TRAIN_C3];
    size_t map = (size_t)height_of(layer, layer.R - 1) * width_of(layer, layer.R - 1);
    cudaMemsetAsync(workspace->dz[TRAIN_C3], 0, sizeof(float) * p->N * layer.K * map, stream);
}

static void launch_gradient(const TrainProblem *p, const Workspace *workspace, int which,
                            cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    int taps = taps_of(layer), blocks = ceil_div(taps, TAPS);
    int wide = ceil_div(ceil_div(taps, blocks), 16 * TAPS_PER_THREAD) * 16;
    dim3 block(wide, MAX_THREADS / wide),
        grid(workspace->slices[which], ceil_div(layer.K, UNITS), blocks);
    weight_gradient_kernel<<<grid, block,
                             sizeof(float) * UNITS * TAPS_PER_THREAD * block.x * block.y, stream>>>(
        layer, p->N, border_of(which, layer), workspace->rows[which], workspace->in[which],
        workspace->dz[which], workspace->partial[which]);
}

static void launch_fc(const TrainProblem *p, const Workspace *workspace, int which,
                      const float *parameter, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    int outputs = p->N >= MANY_IMAGES ? MANY_UNITS : 1;
    dim3 block(32, BLOCK / 32),
        grid(ceil_div(layer.K, BLOCK / 32 * outputs), ceil_div(p->N, IMAGES));
    auto kernel = outputs == MANY_UNITS ? fc_forward_kernel<MANY_UNITS> : fc_forward_kernel<1>;
    kernel<<<grid, block, 0, stream>>>(layer, p->N, which == TRAIN_OUT, workspace->in[which],
                                       parameter, workspace->in[which + 1]);
}

/* Computes dz of the previous layer. */
static void launch_fc_backward(const TrainProblem *p, const Workspace *workspace, int which,
                               const float *parameter, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which], &before = p->layer[which - 1];
    int threads = ceil_div(p->N, PAIR) * layer.C * layer.H * layer.W;
    fc_backward_kernel<<<ceil_div(threads, BLOCK), BLOCK, 0, stream>>>(
        layer, before, p->N, border_of(which - 1, before), workspace->dz[which],
        workspace->in[which], parameter, which == TRAIN_C5 ? workspace->mask[TRAIN_C3] : NULL,
        workspace->dz[which - 1]);
}

static void launch_conv(const TrainProblem *p, const Workspace *workspace, int which,
                        const float *parameter, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    dim3 grid(ceil_div(p->N * (layer.P / 2) * (layer.Q / 2), BLOCK), ceil_div(layer.K, FILTERS));
    auto kernel = layer.R == 5   ? conv_forward_kernel<5>
                  : layer.R == 3 ? conv_forward_kernel<3>
                                 : conv_forward_kernel<0>;
    kernel<<<grid, BLOCK, 0, stream>>>(layer, p->N, workspace->in[which], parameter,
                                       workspace->in[which + 1], workspace->mask[which]);
}

static void launch_conv_backward(const TrainProblem *p, const Workspace *workspace,
                                 const float *parameter, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[TRAIN_C3], &before = p->layer[TRAIN_C1];
    int tiles = p->N * ((layer.H + 1) / 2) * ((layer.W + 1) / 2);
    dim3 grid(ceil_div(tiles, BLOCK), ceil_div(layer.C, FILTERS));
    auto kernel = layer.R == 5   ? conv_backward_kernel<5>
                  : layer.R == 3 ? conv_backward_kernel<3>
                                 : conv_backward_kernel<0>;
    kernel<<<grid, BLOCK, 0, stream>>>(layer, before, p->N, workspace->dz[TRAIN_C3], parameter,
                                       workspace->mask[TRAIN_C1], workspace->dz[TRAIN_C1]);
}

/* Memory for the workspace, kept from call to call: a CUDA graph that contains a step keeps using
 * it. */
static char *workspace_memory(size_t wanted)
{
    static char *memory;
    static size_t bytes;
    if (wanted > bytes) {
        cudaFree(memory); /* waits until the kernels have finished */
        bytes = cudaMalloc(&memory, wanted) == cudaSuccess ? wanted : 0;
    }
    return bytes ? memory : NULL;
}

extern "C" void train_step(const TrainProblem *p, const float *x, const float *label,
                           const float *parameter, const float *velocity, const float *setting,
                           float *y, cudaStream_t stream)
{
    Workspace workspace;
    char *memory = workspace_memory(workspace_layout(p, x, NULL, &workspace) - (char *)NULL);
    if (!memory) return;
    workspace_layout(p, x, memory, &workspace);
    // TODO(9): Launch the step: the forward pass layer by layer, the loss, the backward pass layer
    // by layer (C3's dz must start as zeros, for its border), the five weight gradients, the
    // update.
    (void)label, (void)parameter, (void)velocity, (void)setting, (void)y, (void)stream;
    (void)launch_conv, (void)launch_fc, (void)launch_fc_backward, (void)launch_conv_backward;
    (void)launch_gradient, (void)clear_border, (void)loss_kernel, (void)update_kernel;
    // END TODO(9)
}
