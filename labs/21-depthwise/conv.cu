/* Lab 21: grouped, depthwise and depthwise-separable convolution.  Edit only the TODO regions. */
#include <convlab/depthwise.h>

/* Number of parts of `each` elements that cover `all` elements. */
__host__ __device__ static int parts(long long all, int each)
{
    return (int)((all + each - 1) / each);
}

/* ---- any grouped convolution: one thread per output ------------------------------------------ */

enum { DIRECT_THREADS = 256 };

__global__ void direct_kernel(const GroupedProblem p, const float *__restrict__ x,
                              const float *__restrict__ w, float *__restrict__ y, bool relu)
{
    unsigned i = blockIdx.x * DIRECT_THREADS + threadIdx.x;
    if (i >= (unsigned)(p.N * p.K * p.P * p.Q)) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    float sum = 0.0f;
    // TODO(1): Multiply filter k by the channels of its group, and add the results.
    (void)x, (void)w;
    // END TODO(1)
    y[i] = relu ? fmaxf(sum, 0.0f) : sum;
}

/* ---- depthwise convolution: a tile of HEIGHT x WIDTH outputs per thread ---------------------- */

enum { TILE_THREADS = 128, HEIGHT = 4, WIDTH = 4 };

// TODO(2): Load COUNT inputs of a row from column `first` on; columns outside of 0..W-1 are 0.
// If !inside, the whole row is padding.
template <int COUNT>
__device__ void row_load(const float *row, bool inside, int first, int W, float (&input)[COUNT])
{
    (void)row, (void)inside, (void)first, (void)W, (void)input;
}
// END TODO(2)

/* The same with vector loads, for W % WIDTH == 0 and (first + BEFORE) % WIDTH == 0: TODO(5). */
template <int BEFORE, int COUNT>
__device__ void vectors_load(const float *row, bool inside, int first, int W,
                             float (&input)[COUNT]);

/* Stores WIDTH outputs at once and returns true, if the rows of Q outputs allow it: TODO(5). */
__device__ bool vector_store(float *outputs, int Q, const float (&output)[WIDTH]);

/* Stores the outputs oq .. oq+WIDTH-1 of a row of Q outputs, as far as they exist. */
__device__ void row_store(float *row, int oq, int Q, const float (&output)[WIDTH])
{
    if (vector_store(row + oq, Q, output)) return;
    for (int j = 0; j < WIDTH && oq + j < Q; j++)
        row[oq + j] = output[j];
}

/* Adds to `sum` the outputs from (op, oq) on of a map: SIDE x SIDE taps, the same stride both ways.
 * VECTORS: with vector loads. */
template <int SIDE, int STRIDE, bool VECTORS, int ROWS>
__device__ void tile_add(const GroupedProblem &p, const float *map, const float *filter, int op,
                         int oq, float (&sum)[ROWS][WIDTH])
{
    float tap[SIDE * SIDE], input[(WIDTH - 1) * STRIDE + SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        tap[i] = filter[i];
#pragma unroll
    for (int i = 0; i < (ROWS - 1) * STRIDE + SIDE; i++) {
        int ih = op * STRIDE + i - p.pad_top, first = oq * STRIDE - p.pad_left;
        bool inside = ih >= 0 && ih < p.H;
        if (VECTORS)
            vectors_load<SIDE / 2>(map + ih * p.W, inside, first, p.W, input);
        else
            row_load(map + ih * p.W, inside, first, p.W, input);
        // TODO(3): Multiply this row of inputs by the filter for every row t of the tile.
        (void)tap, (void)sum;
        // END TODO(3)
    }
}

template <int SIDE, int STRIDE, bool VECTORS>
__global__ void __launch_bounds__(TILE_THREADS)
    tile_kernel(const GroupedProblem p, const float *__restrict__ x, const float *__restrict__ w,
                float *__restrict__ y)
{
    unsigned across = parts(p.Q, WIDTH), down = parts(p.P, HEIGHT);
    unsigned i = blockIdx.x * TILE_THREADS + threadIdx.x, map = i / across / down;
    if (map >= (unsigned)(p.N * p.K)) return;
    int oq = i % across * WIDTH, op = i / across % down * HEIGHT;
    int k = map % p.K, channel = map / p.K * p.C + k / (p.K / p.C);
    float sum[HEIGHT][WIDTH] = {};
    tile_add<SIDE, STRIDE, VECTORS>(p, x + (size_t)channel * p.H * p.W, w + k * SIDE * SIDE, op, oq,
                                    sum);
    y += (size_t)map * p.P * p.Q;
    for (int t = 0; t < HEIGHT && op + t < p.P; t++)
        row_store(y + (op + t) * p.Q, oq, p.Q, sum[t]);
}

// TODO(4): Return whether tile_kernel may compute this problem.
// It has kernels for 3 x 3 and 7 x 7 taps with the strides 1 and 2.
static bool has_tile(const GroupedProblem &p)
{
    (void)p;
    return false;
}
// END TODO(4)

/* ---- the same with vector loads and stores --------------------------------------------------- */

// TODO(5): Load and store four floats at once.
// vectors_load() loads aligned groups of WIDTH floats; a group is inside of the row or outside as a
// whole.  has_vectors() returns whether vectors_load() may be used.
template <int BEFORE, int COUNT>
__device__ void vectors_load(const float *row, bool inside, int first, int W, float (&input)[COUNT])
{
    (void)row, (void)inside, (void)first, (void)W, (void)input;
}

__device__ bool vector_store(float *outputs, int Q, const float (&output)[WIDTH])
{
    (void)outputs, (void)Q, (void)output;
    return false;
}

static bool has_vectors(const GroupedProblem &p)
{
    (void)p;
    return false;
}
// END TODO(5)

/* ---- depthwise-separable convolution in one kernel ------------------------------------------- */

/* A block computes FILTERS filters for STRIPS strips of WIDTH pixels.  It adds CHANNELS channels
 * per iteration: first, thread (part, strip) computes the strip of channel `part`; then it
 * multiplies this strip of every channel by WIDTH filters. */
enum { FILTERS = 64, STRIPS = 16, CHANNELS = 16, FUSED_THREADS = STRIPS * CHANNELS };

template <int SIDE, int STRIDE, bool VECTORS>
__global__ void __launch_bounds__(FUSED_THREADS)
    fused_kernel(const GroupedProblem p, int K, const float *__restrict__ x,
                 const float *__restrict__ d, const float *__restrict__ w, float *__restrict__ y)
{
    __shared__ float4 pixels[CHANNELS][STRIPS];
    __shared__ float4 weights[CHANNELS][FILTERS / WIDTH + 1]; /* + 1: fewer bank conflicts */
    int strip = threadIdx.x % STRIPS, part = threadIdx.x / STRIPS, across = parts(p.Q, WIDTH);
    unsigned i = blockIdx.x * STRIPS + strip;
    int oq = i % across * WIDTH, op = i / across % p.P, n = i / across / p.P;
    int k0 = blockIdx.y * FILTERS;
    float sum[WIDTH][WIDTH] = {}; /* filters from k0 + part*WIDTH on, pixels from oq on */
    for (int c0 = 0; c0 < p.C; c0 += CHANNELS) {
        float strip_sum[1][WIDTH] = {};
        int channel = c0 + part;
        // TODO(6): Compute this thread's strip of `channel`, apply ReLU, and store it in `pixels`.
        // Strips and channels that do not exist are 0.
        (void)strip_sum, (void)channel, (void)pixels;
        // END TODO(6)
        for (int j = threadIdx.x; j < CHANNELS * FILTERS; j += FUSED_THREADS) {
            int c = j % CHANNELS, k = j / CHANNELS;
            ((float *)weights[c])[k] =
                k0 + k < K && c0 + c < p.C ? w[(size_t)(k0 + k) * p.C + c0 + c] : 0.0f;
        }
        __syncthreads();
        // TODO(7): Multiply the strip of every channel in shared memory by this thread's filters.
        (void)sum;
        // END TODO(7)
        __syncthreads();
    }
    for (int f = 0; f < WIDTH && n < p.N; f++) {
        int k = k0 + part * WIDTH + f;
        if (k < K) row_store(y + (((size_t)n * K + k) * p.P + op) * p.Q, oq, p.Q, sum[f]);
    }
}

// TODO(8): Return whether fused_kernel may compute a separable problem with this depthwise part.
static bool has_fused(const GroupedProblem &p)
{
    (void)p;
    return false;
}
// END TODO(8)

/* ---- the entry points ------------------------------------------------------------------------ */

static void direct_launch(const GroupedProblem &p, const float *x, const float *w, float *y,
                          bool relu, cudaStream_t stream)
{
    int grid = parts((long long)p.N * p.K * p.P * p.Q, DIRECT_THREADS);
    direct_kernel<<<grid, DIRECT_THREADS, 0, stream>>>(p, x, w, y, relu);
}

/* The kernel for the problem's filter, stride and loads. */
#define SELECT_LOADS(kernel, side, stride, p)                                                      \
    (has_vectors(p) ? kernel<side, stride, true> : kernel<side, stride, false>)
#define SELECT_STRIDE(kernel, side, p)                                                             \
    ((p).stride_w == 1 ? SELECT_LOADS(kernel, side, 1, p) : SELECT_LOADS(kernel, side, 2, p))
#define SELECT(kernel, p) ((p).S == 3 ? SELECT_STRIDE(kernel, 3, p) : SELECT_STRIDE(kernel, 7, p))

extern "C" void grouped_forward(const GroupedProblem *p, const float *x, const float *w, float *y,
                                cudaStream_t stream)
{
    if (!has_tile(*p)) {
        direct_launch(*p, x, w, y, false, stream);
        return;
    }
    long long tiles = (long long)p->N * p->K * parts(p->P, HEIGHT) * parts(p->Q, WIDTH);
    auto kernel = SELECT(tile_kernel, *p);
    kernel<<<parts(tiles, TILE_THREADS), TILE_THREADS, 0, stream>>>(*p, x, w, y);
}

extern "C" void separable_forward(const SeparableProblem *p, const float *x, const float *d,
                                  const float *w, float *y, cudaStream_t stream)
{
    GroupedProblem depthwise = {
        p->N,          p->C,         p->H,        p->W,        p->C,       p->R,
        p->S,          p->C,         p->P,        p->Q,        p->pad_top, p->pad_left,
        p->pad_bottom, p->pad_right, p->stride_h, p->stride_w, 1,          1};
    if (has_fused(depthwise)) {
        long long strips = (long long)p->N * p->P * parts(p->Q, WIDTH);
        dim3 grid(parts(strips, STRIPS), parts(p->K, FILTERS));
        auto kernel = SELECT(fused_kernel, depthwise);
        kernel<<<grid, FUSED_THREADS, 0, stream>>>(depthwise, p->K, x, d, w, y);
        return;
    }
    GroupedProblem pointwise = {p->N, p->C, p->P, p->Q, p->K, 1, 1, 1, p->P,
                                p->Q, 0,    0,    0,    0,    1, 1, 1, 1};
    float *t;
    cudaMalloc(&t, sizeof(float) * p->N * p->C * p->P * p->Q);
    direct_launch(depthwise, x, d, t, true, stream);
    direct_launch(pointwise, t, w, y, false, stream);
    cudaFree(t); /* waits until the kernels have finished */
}
