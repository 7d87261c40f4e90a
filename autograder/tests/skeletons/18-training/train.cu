/* Lab 18: one step of training LeNet-5.  Edit only the TODO regions.
 *
 * The shapes of the kernels are laid out; what a network learns by is yours: the ReLU and the mean,
 * softmax and loss, the error's way back, the sum over the batch, the update. */
#include <convlab/train.h>

enum {
    BLOCK = 128, /* threads of a block, where nothing else is said */
    FILTERS = 3, /* maps that a thread of a convolution computes, 2 x 2 outputs of each */
    IMAGES = 4,  /* images that a warp of a fully connected layer computes a unit of */
    MANY = 256,  /* images, from so many on a warp computes FOUR units of them */
    FOUR = 4,
    PAIR = 2,      /* images that a thread goes back to one input of */
    UNITS = 8,     /* filters whose gradients a thread sums up, */
    MINE = 2,      /* and so many taps of each */
    TAPS = 256,    /* the most taps of a filter that a block sums up */
    WIDEST = 256,  /* threads of such a block, at most */
    ROWS = 5,      /* rows of an output map that a block sums up, at least */
    PARTS = 256,   /* parts that the rows are shared in, at most */
    SHARES = 1024, /* blocks that are enough for one layer's gradient */
    LOSS = 512     /* threads of the loss */
};

static int pieces(int size, int piece)
{
    return (size + piece - 1) / piece;
}

/* Where things lie in one allocation: what went forward, what comes back, sums of parts. */
typedef struct Room {
    float *in[TRAIN_LAYERS + 1]; /* a layer's input; the last one: z of the last layer */
    float *d[TRAIN_LAYERS];      /* d loss / d z, with `border` zeros around each map */
    unsigned char *open[2];    /* C1, C3: which of the four z of a mean were positive, a bit each */
    float *part[TRAIN_LAYERS]; /* [part][k][tap]: the gradient of some rows; the last tap: bias */
    int parts[TRAIN_LAYERS], rows[TRAIN_LAYERS]; /* how many, and how many rows each has */
} Room;

/* d of C3 is read beyond its edges on the way back, two rows and two columns at a time: its maps
 * lie in `border` zeros, and where H or W is odd there is a row or a column of zeros more. */
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
    return layer.C * layer.R * layer.S + 1; /* and the bias, whose input is 1 */
}

/* ---- convolutions ------------------------------------------------------------------------ */

/* A filter bank, as stored or turned.  maps: that it makes; next_: floats from one to the next. */
typedef struct Bank {
    const float *w;
    int maps, next_map, next_in, first_tap, next_tap;
} Bank;

/* sum[f][i]: 2 x 2 neighbouring outputs of FILTERS maps, from map `k` on; `in` is the first input
 * under them, its maps have `height` x `width`.  SIDE is the filters' side, where the compiler may
 * know it and unroll its loops, or 0: any.  A map beyond the last is the last once more. */
template <int SIDE>
__device__ static void tile_sums(const float *in, int maps, int height, int width, const Bank &bank,
                                 int k, int side, float sum[FILTERS][4])
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
                    float w = bank.w[map * bank.next_map + c * bank.next_in + bank.first_tap +
                                     (r * R + s) * bank.next_tap];
                    sum[f][0] += left[0] * w;
                    sum[f][1] += right[0] * w;
                    sum[f][2] += left[1] * w;
                    sum[f][3] += right[1] * w;
                }
                left[0] = right[0];
                left[1] = right[1];
            }
        }
}

/* C1 and C3.  A thread has 2 x 2 outputs of FILTERS maps, which become one value each:
 * out[n][k][p][q] is the mean of their ReLUs. */
template <int SIDE>
__global__ void conv_kernel(TrainLayer layer, int N, const float *__restrict__ in,
                            const float *__restrict__ parameter, float *__restrict__ out,
                            unsigned char *__restrict__ open)
{
    int P = layer.P / 2, Q = layer.Q / 2, at = blockIdx.x * BLOCK + threadIdx.x;
    int k = blockIdx.y * FILTERS, q = at % Q, p = at / Q % P, n = at / Q / P;
    if (n >= N) return;
    float sum[FILTERS][4] = {};
    Bank bank = {parameter + layer.weights, layer.K, layer.C * layer.R * layer.S,
                 layer.R * layer.S,         0,       1};
    in += (n * layer.C * layer.H + 2 * p) * layer.W + 2 * q;
    tile_sums<SIDE>(in, layer.C, layer.H, layer.W, bank, k, layer.R, sum);
    for (int f = 0; f < FILTERS && k + f < layer.K; f++) {
        int to = ((n * layer.K + k + f) * P + p) * Q + q;
        // TODO(1): Add the bias to each of the four sums, take the mean of their ReLUs, and note
        // bit i of open[to] where sum i was positive.
        (void)to, (void)sum, (void)out, (void)open;
        // END TODO(1)
    }
}

/* d of the four z that became one value, from d of that value: `d` is the first of them. */
__device__ static void open_mean(float *d, int width, int bits, float value)
{
    // TODO(2): Give each of the 2 x 2 its part of the gradient: none where its ReLU was closed.
    (void)d, (void)width, (void)bits, (void)value;
    // END TODO(2)
}

/* From C3's d, with its border of zeros, to C1's: a thread has 2 x 2 of C3's inputs, of FILTERS
 * maps. */
template <int SIDE>
__global__ void conv_back_kernel(TrainLayer layer, TrainLayer before, int N,
                                 const float *__restrict__ d, const float *__restrict__ parameter,
                                 const unsigned char *__restrict__ open, float *__restrict__ to)
{
    int high = (layer.H + 1) / 2, wide = (layer.W + 1) / 2, at = blockIdx.x * BLOCK + threadIdx.x;
    int c = blockIdx.y * FILTERS, w = at % wide * 2, h = at / wide % high * 2, n = at / wide / high;
    int height = height_of(layer, layer.R - 1), width = width_of(layer, layer.R - 1);
    if (n >= N) return;
    float sum[FILTERS][4] = {};
    // TODO(3): Say where the turned bank begins and how it goes on: its output maps are C3's inputs
    // c, its input maps are C3's filters k, and tap (r, s) of it is tap (R-1-r, S-1-s) of w.
    Bank bank = {};
    // END TODO(3)
    d += (n * layer.K * height + h) * width + w;
    tile_sums<SIDE>(d, layer.K, height, width, bank, c, layer.R, sum);
    for (int f = 0; f < FILTERS && c + f < layer.C; f++)
        for (int i = 0; i < 4; i++) {
            int y = h + i / 2, x = w + i % 2, map = n * layer.C + c + f;
            if (y < layer.H && x < layer.W)
                open_mean(to + (map * before.P + 2 * y) * before.Q + 2 * x, before.Q,
                          open[(map * layer.H + y) * layer.W + x], sum[f][i]);
        }
}

/* ---- fully connected layers -------------------------------------------------------------- */

/* C5, F6 and the last layer.  A warp has OUTPUTS units, from k on, of IMAGES images; its lanes
 * share the inputs, and lane j*OUTPUTS + u finishes unit k+u of image n+j.  Beyond the last image
 * or unit it is the last once more, so that no load waits for a condition. */
template <int OUTPUTS>
__global__ void full_kernel(TrainLayer layer, int N, int last, const float *__restrict__ in,
                            const float *__restrict__ parameter, float *__restrict__ out)
{
    int lane = threadIdx.x, n = blockIdx.y * IMAGES, inputs = layer.C * layer.H * layer.W;
    int k = (blockIdx.x * blockDim.y + threadIdx.y) * OUTPUTS;
    if (k >= layer.K) return;
    const float *image[IMAGES], *w[OUTPUTS];
    float sum[IMAGES][OUTPUTS] = {}, mine = 0.0f;
    for (int j = 0; j < IMAGES; j++)
        image[j] = in + min(n + j, N - 1) * inputs;
    for (int u = 0; u < OUTPUTS; u++)
        w[u] = parameter + layer.weights + min(k + u, layer.K - 1) * inputs;
#pragma unroll(OUTPUTS == 1 ? 4 : 2)
    for (int i = lane; i < inputs; i += warpSize)
        for (int j = 0; j < IMAGES; j++)
            for (int u = 0; u < OUTPUTS; u++)
                sum[j][u] += image[j][i] * w[u][i];
    for (int j = 0; j < IMAGES; j++)
        for (int u = 0; u < OUTPUTS; u++) {
            for (int step = warpSize / 2; step; step /= 2)
                sum[j][u] += __shfl_xor_sync(0xffffffff, sum[j][u], step);
            if (lane == j * OUTPUTS + u) mine = sum[j][u];
        }
    n += lane / OUTPUTS;
    k += lane % OUTPUTS;
    if (lane >= IMAGES * OUTPUTS || n >= N || k >= layer.K) return;
    float z = mine + parameter[TRAIN_BIASES(layer) + k];
    out[n * layer.K + k] = last ? z : fmaxf(z, 0.0f);
}

/* What comes to one input of a fully connected layer goes on to the d of the layer before: the
 * input is a ReLU's value, or a mean of four with their `open`. */
__device__ static void full_store(const TrainLayer &layer, const TrainLayer &before, int border,
                                  int at, float sum, const float *in, const unsigned char *open,
                                  float *to)
{
    if (!open) {
        to[at] = in[at] > 0.0f ? sum : 0.0f;
        return;
    }
    int w = at % layer.W, h = at / layer.W % layer.H, map = at / layer.W / layer.H;
    int width = width_of(before, border), height = height_of(before, border);
    open_mean(to + (map * height + border + 2 * h) * width + border + 2 * w, width, open[at], sum);
}

/* A thread has one input of PAIR images. */
__global__ void full_back_kernel(TrainLayer layer, TrainLayer before, int N, int border,
                                 const float *__restrict__ d, const float *__restrict__ in,
                                 const float *__restrict__ parameter,
                                 const unsigned char *__restrict__ open, float *__restrict__ to)
{
    int inputs = layer.C * layer.H * layer.W, at = blockIdx.x * BLOCK + threadIdx.x;
    int i = at % inputs, n = at / inputs * PAIR;
    if (n >= N) return;
    const float *of[PAIR]; /* an image's d; beyond the last it is the last once more */
    for (int j = 0; j < PAIR; j++)
        of[j] = d + min(n + j, N - 1) * layer.K;
    float sum[PAIR] = {};
    // TODO(4): Sum up what comes to input i of each image from all K units: their d times the
    // weight between.
    (void)of, (void)parameter;
    // END TODO(4)
    for (int j = 0; j < PAIR && n + j < N; j++)
        full_store(layer, before, border, (n + j) * inputs + i, sum[j], in, open, to);
}

/* ---- the loss ---------------------------------------------------------------------------- */

/* One block: thread t has images t, t + LOSS, ...  z[n][k] in, d[n][k] and the mean loss out. */
__global__ void loss_kernel(int N, int classes, const float *__restrict__ z,
                            const float *__restrict__ label, float *__restrict__ d,
                            float *__restrict__ loss)
{
    __shared__ float all[LOSS];
    float mine = 0.0f;
    for (int n = threadIdx.x; n < N; n += LOSS) {
        const float *of = z + n * classes;
        // TODO(5): Softmax: subtract the largest z first, so that no exponential overflows. Add the
        // image's -log p(label) to `mine`, and store (p - target) / N in d.
        (void)of, (void)label, (void)d;
        // END TODO(5)
    }
    all[threadIdx.x] = mine;
    for (int step = LOSS / 2; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) all[threadIdx.x] += all[threadIdx.x + step];
    }
    if (threadIdx.x == 0) *loss = all[0] / N;
}

/* ---- the gradient, and the update -------------------------------------------------------- */

/* Of any layer: thread x has MINE taps (c, r, s), blockDim.x apart, of UNITS filters, and thread
 * row y every blockDim.y-th row of the part's rows, counted over all images.  No two threads add to
 * one place, so that the sum is the same every time. */
__global__ void gradient_kernel(TrainLayer layer, int N, int border, int rows,
                                const float *__restrict__ in, const float *__restrict__ d,
                                float *__restrict__ part)
{
    extern __shared__ float sums[]; /* [unit][which of mine][y][x] */
    int taps = taps_of(layer), tap = blockIdx.z * blockDim.x * MINE + threadIdx.x;
    int k = blockIdx.y * UNITS, first = blockIdx.x * rows;
    int width = width_of(layer, border), height = height_of(layer, border);
    float sum[UNITS][MINE] = {};
    int unit[UNITS];  /* where its d begins, from that of unit k; beyond the last it is the last */
    int offset[MINE]; /* where a tap's input lies, from that of tap 0 */
    bool bias[MINE];  /* the last tap, whose input is 1; beyond it, too */
    for (int u = 0; u < UNITS; u++)
        unit[u] = min(u, layer.K - 1 - k) * height * width;
    for (int t = 0; t < MINE; t++) {
        int my = tap + t * blockDim.x;
        bias[t] = my >= taps - 1;
        offset[t] =
            (my / layer.S / layer.R * layer.H + my / layer.S % layer.R) * layer.W + my % layer.S;
    }
    for (int row = first + threadIdx.y; tap < taps && row < first + rows && row < N * layer.P;
         row += blockDim.y) {
        int n = row / layer.P, p = row % layer.P;
        // TODO(6): Add the products of this row of d, of UNITS filters from k on (unit[u] says
        // where), with the inputs that each of my taps meets; for the bias the input is 1.
        (void)n, (void)p, (void)k, (void)bias, (void)offset, (void)in, (void)d;
        (void)height, (void)width;
        // END TODO(6)
    }
    int threads = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    for (int u = 0; u < UNITS; u++)
        for (int t = 0; t < MINE; t++)
            sums[(u * MINE + t) * threads + me] = sum[u][t];
    __syncthreads();
    if (threadIdx.y) return;
    for (int u = 0; u < UNITS && k + u < layer.K; u++)
        for (int t = 0; t < MINE && tap + t * blockDim.x < taps; t++) {
            float all = 0.0f;
            for (int y = 0; y < blockDim.y; y++)
                all += sums[(u * MINE + t) * threads + y * blockDim.x + threadIdx.x];
            part[(blockIdx.x * layer.K + k + u) * taps + tap + t * blockDim.x] = all;
        }
}

/* The gradient of parameter i: the sum over the layer's parts. */
__device__ static float gradient_of(const TrainProblem &p, const Room &room, int i)
{
    int which = 0;
    while (which < TRAIN_OUT && i >= p.layer[which + 1].weights)
        which++;
    const TrainLayer &layer = p.layer[which];
    int taps = taps_of(layer), weight = i - layer.weights, bias = i - TRAIN_BIASES(layer);
    int at = bias >= 0 ? bias * taps + taps - 1 : weight / (taps - 1) * taps + weight % (taps - 1);
    float sum = 0.0f;
#pragma unroll 16
    for (int j = 0; j < room.parts[which]; j++)
        sum += room.part[which][j * layer.K * taps + at];
    return sum;
}

__global__ void update_kernel(TrainProblem p, Room room, const float *__restrict__ parameter,
                              const float *__restrict__ velocity, const float *__restrict__ setting,
                              float *__restrict__ y)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= p.parameters) return;
    // TODO(7): The new velocity, then the step with it: both into y.
    (void)parameter, (void)velocity, (void)setting, (void)y, (void)gradient_of;
    // END TODO(7)
}

/* ---- the step ---------------------------------------------------------------------------- */

/* The next `count` floats of *at, in whole sectors. */
static float *take(char **at, size_t count)
{
    float *here = (float *)*at;
    *at += (count * sizeof(float) + 255) / 256 * 256;
    return here;
}

/* Lays the room out from `at` on, and returns its end. */
static char *room_lay(const TrainProblem *p, const float *x, char *at, Room *room)
{
    size_t N = p->N;
    *room = {};
    room->in[0] = (float *)x;
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer &layer = p->layer[i];
        int pool = layer.pool, border = border_of(i, layer), rows = p->N * layer.P;
        size_t values = N * layer.K * (layer.P / pool) * (layer.Q / pool);
        room->in[i + 1] = take(&at, values);
        room->d[i] = take(&at, N * layer.K * height_of(layer, border) * width_of(layer, border));
        if (pool == 2) room->open[i] = (unsigned char *)take(&at, (values + 3) / 4);
        int others = pieces(layer.K, UNITS) * pieces(taps_of(layer), TAPS);
        int parts = min(PARTS, pieces(SHARES, others));
        room->rows[i] = max(ROWS, pieces(rows, parts));
        room->parts[i] = pieces(rows, room->rows[i]);
        room->part[i] = take(&at, (size_t)room->parts[i] * layer.K * taps_of(layer));
    }
    return at;
}

static void clear_border(const TrainProblem *p, const Room *room, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[TRAIN_C3];
    size_t map = (size_t)height_of(layer, layer.R - 1) * width_of(layer, layer.R - 1);
    cudaMemsetAsync(room->d[TRAIN_C3], 0, sizeof(float) * p->N * layer.K * map, stream);
}

static void launch_gradient(const TrainProblem *p, const Room *room, int which, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    int taps = taps_of(layer), blocks = pieces(taps, TAPS);
    int wide = pieces(pieces(taps, blocks), 16 * MINE) * 16;
    dim3 block(wide, WIDEST / wide), grid(room->parts[which], pieces(layer.K, UNITS), blocks);
    gradient_kernel<<<grid, block, sizeof(float) * UNITS * MINE * block.x * block.y, stream>>>(
        layer, p->N, border_of(which, layer), room->rows[which], room->in[which], room->d[which],
        room->part[which]);
}

static void launch_full(const TrainProblem *p, const Room *room, int which, const float *parameter,
                        cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    int outputs = p->N >= MANY ? FOUR : 1;
    dim3 block(32, BLOCK / 32), grid(pieces(layer.K, BLOCK / 32 * outputs), pieces(p->N, IMAGES));
    auto kernel = outputs == FOUR ? full_kernel<FOUR> : full_kernel<1>;
    kernel<<<grid, block, 0, stream>>>(layer, p->N, which == TRAIN_OUT, room->in[which], parameter,
                                       room->in[which + 1]);
}

/* To the d of the layer before. */
static void launch_full_back(const TrainProblem *p, const Room *room, int which,
                             const float *parameter, cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which], &before = p->layer[which - 1];
    int threads = pieces(p->N, PAIR) * layer.C * layer.H * layer.W;
    full_back_kernel<<<pieces(threads, BLOCK), BLOCK, 0, stream>>>(
        layer, before, p->N, border_of(which - 1, before), room->d[which], room->in[which],
        parameter, which == TRAIN_C5 ? room->open[TRAIN_C3] : NULL, room->d[which - 1]);
}

static void launch_conv(const TrainProblem *p, const Room *room, int which, const float *parameter,
                        cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[which];
    dim3 grid(pieces(p->N * (layer.P / 2) * (layer.Q / 2), BLOCK), pieces(layer.K, FILTERS));
    auto kernel = layer.R == 5 ? conv_kernel<5> : layer.R == 3 ? conv_kernel<3> : conv_kernel<0>;
    kernel<<<grid, BLOCK, 0, stream>>>(layer, p->N, room->in[which], parameter, room->in[which + 1],
                                       room->open[which]);
}

static void launch_conv_back(const TrainProblem *p, const Room *room, const float *parameter,
                             cudaStream_t stream)
{
    const TrainLayer &layer = p->layer[TRAIN_C3], &before = p->layer[TRAIN_C1];
    int squares = p->N * ((layer.H + 1) / 2) * ((layer.W + 1) / 2);
    dim3 grid(pieces(squares, BLOCK), pieces(layer.C, FILTERS));
    auto kernel = layer.R == 5   ? conv_back_kernel<5>
                  : layer.R == 3 ? conv_back_kernel<3>
                                 : conv_back_kernel<0>;
    kernel<<<grid, BLOCK, 0, stream>>>(layer, before, p->N, room->d[TRAIN_C3], parameter,
                                       room->open[TRAIN_C1], room->d[TRAIN_C1]);
}

/* Memory for the room, which stays from call to call: a graph that holds a step keeps using it. */
static char *room_memory(size_t wanted)
{
    static char *memory;
    static size_t bytes;
    if (wanted > bytes) {
        cudaFree(memory); /* waits until nobody needs it */
        bytes = cudaMalloc(&memory, wanted) == cudaSuccess ? wanted : 0;
    }
    return bytes ? memory : NULL;
}

extern "C" void train_step(const TrainProblem *p, const float *x, const float *label,
                           const float *parameter, const float *velocity, const float *setting,
                           float *y, cudaStream_t stream)
{
    Room room;
    char *memory = room_memory(room_lay(p, x, NULL, &room) - (char *)NULL);
    if (!memory) return;
    room_lay(p, x, memory, &room);
    // TODO(8): Launch the step: forward layer by layer, the loss, back layer by layer (C3's d
    // begins as zeros, for its border), the five gradients, the update.
    (void)label, (void)parameter, (void)velocity, (void)setting, (void)y, (void)stream;
    (void)launch_conv, (void)launch_full, (void)launch_full_back, (void)launch_conv_back;
    (void)launch_gradient, (void)clear_border, (void)loss_kernel, (void)update_kernel;
    // END TODO(8)
}
