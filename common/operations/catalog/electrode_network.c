/* electrode_network.c - see electrode_network.h.
 *
 * The spreads.  As in lenet_forward.c, a value's spread is the standard deviation of independent
 * rounding errors in units of u, propagated layer by layer.  A sum of m products rounds m times,
 * each time by its partial sum.  Here m is up to 22,400, and the worst-case assumption that each
 * partial sum is as large as all magnitudes together would accept weights of 11 bits.  But with
 * terms of both signs in random order, the i-th partial sum is i/m z plus a random walk, which
 * deviates by sqrt(m) steps after m steps (N. J. Higham and T. Mary, Sharper probabilistic backward
 * error analysis for basic linear algebra kernels with random data, SIAM J. Sci. Comput. 42(5),
 * 2020).  The squares of m partial sums then come to m z^2 / 3 for the linear part, and to no more
 * than (sum|w x|)^2 for the random walk. So
 *
 *     a sum of m products and a bias   the root of: sum of (w * spread of x)^2, (sum|w x| + |b|)^2,
 *                                      and (m + 1) z^2 / 3
 *     ReLU, a maximum, softmax         as in lenet_forward.c
 *
 * A submission may sum in parts and in any order, which makes partial sums smaller.
 * test_electrode.c measures the errors of fp32 and of fewer bits. */
#include "common/operations/catalog/electrode_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lanes.h"
#include "common/base/parallel.h"
#include "common/operations/catalog/activation.h"
#include "convlab/layers.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

ElectrodeLayer electrode_layer(const ElectrodeProblem *p, int layer)
{
    switch (layer) {
    case ELECTRODE_CONV1:
        return (ElectrodeLayer){1, p->H, p->W, p->c, ELECTRODE_R1};
    case ELECTRODE_CONV2:
        return (ElectrodeLayer){p->c, p->H / 2, p->W / 2, p->c, ELECTRODE_R2};
    case ELECTRODE_CONV3:
        return (ElectrodeLayer){p->c, p->H / 4, p->W / 4, p->c, ELECTRODE_R3};
    case ELECTRODE_FULL:
        return (ElectrodeLayer){p->c * (p->H / 4) * (p->W / 4), 1, 1, p->f, 1};
    default:
        return (ElectrodeLayer){p->f, 1, 1, p->classes, 1};
    }
}

int electrode_taps(const ElectrodeLayer *layer)
{
    return layer->C * layer->R * layer->R;
}

void electrode_derive(ElectrodeProblem *p)
{
    int at = 0;
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        ElectrodeLayer layer = electrode_layer(p, l);
        p->weights[l] = at;
        p->biases[l] = at += layer.K * electrode_taps(&layer);
        at += layer.K;
    }
    p->parameters = at;
}

double electrode_image_macs(const ElectrodeProblem *p)
{
    double macs = 0;
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        ElectrodeLayer layer = electrode_layer(p, l);
        macs += (double)layer.H * layer.W * layer.K * electrode_taps(&layer);
    }
    return macs;
}

/* ---- one image ------------------------------------------------------------------------------- */

/* A layer's maps and their spreads; the input of a convolution includes its padding. */
typedef struct Signal {
    double *value, *spread;
} Signal;

/* Workspace of one image: inputs of a layer, its outputs, and for each of its threads the weights
 * of a few of them. */
typedef struct Space {
    const ElectrodeProblem *p;
    const ElectrodeSlips *slips;
    const float *w;
    Signal in, out;
    int shares;
    size_t each; /* doubles of `weights` per share */
    double *weights;
} Space;

/* One layer of it: a share computes some of the outputs' maps. */
typedef struct LayerWork {
    const Space *space;
    int l;
    ElectrodeLayer layer;
} LayerWork;

static void layer_run(Space *space, int l, ParallelWork *share)
{
    LayerWork work = {space, l, electrode_layer(space->p, l)};
    if (space->shares > 1)
        parallel_run(space->shares, share, &work);
    else
        share(&work, 0);
}

static int has(int layers, int l)
{
    return layers >> l & 1;
}

/* Number of padding rows before a map of the layer. */
static int zeros_before(const Space *space, int l, int R)
{
    if (has(space->slips->unpadded, l)) return 0;
    return has(space->slips->behind, l) ? R / 2 : (R - 1) / 2;
}

static double weight_of(const Space *space, int l, const ElectrodeLayer *layer, int k, int tap)
{
    const float *w = space->w + space->p->weights[l];
    int taps = electrode_taps(layer), R = layer->R, within = tap % (R * R), filter = tap - within;
    if (has(space->slips->one_map, l) && tap < taps - R * R) return 0;
    if (has(space->slips->transposed, l)) {
        if (R == 1) return w[(size_t)tap * (size_t)layer->K + (size_t)k];
        within = within % R * R + within / R;
    }
    if (has(space->slips->flipped, l)) within = R * R - 1 - within;
    return w[(size_t)k * (size_t)taps + (size_t)(filter + within)];
}

/* Computes the layer's value and its spread from a sum, its magnitude and the squared errors of its
 * inputs. */
static void finish(const Space *space, int l, int taps, double bias, const double sums[3],
                   double *value, double *spread)
{
    const ElectrodeSlips *slips = space->slips;
    double z = sums[0] + bias, magnitude = sums[1] + fabs(bias);
    int relu = l == ELECTRODE_OUT ? slips->relu_at_end : !has(slips->no_relu, l);
    *value = z;
    *spread = sqrt(sums[2] + magnitude * magnitude + (taps + 1) * z * z / 3);
    if (!relu) return;
    *value = activation_value(ACTIVATE_RELU, z);
    /* Near 0 an error may change the ReLU's side. */
    *spread = (z > -8 * 0x1p-24 * *spread) * *spread + activation_roundings(ACTIVATE_RELU, z);
}

/* Copies all weights of output k, one every `step` doubles, if they are not contiguous already. */
static void take_weights(const Space *space, int l, const ElectrodeLayer *layer, int k, int step,
                         double *to)
{
    const ElectrodeSlips *slips = space->slips;
    const int taps = electrode_taps(layer);
    const float *from = space->w + space->p->weights[l] + (size_t)k * (size_t)taps;
    if (has(slips->one_map | slips->transposed | slips->flipped, l)) {
        for (int tap = 0; tap < taps; tap++)
            to[(size_t)tap * (size_t)step] = weight_of(space, l, layer, k, tap);
        return;
    }
    for (int tap = 0; tap < taps; tap++)
        to[(size_t)tap * (size_t)step] = from[tap];
}

/* Accumulators of eight neighbouring outputs, the input of finish(). */
typedef struct Sums {
    Lanes value, magnitude, squares;
} Sums;

static inline void sums_add(Sums *sums, Lanes w, Lanes value, Lanes spread)
{
    const LaneBits no_sign = (LaneBits){0} + INT64_MAX;
    const Lanes product = w * value, moved = w * spread;
    sums->value += product;
    sums->magnitude += (Lanes)((LaneBits)product & no_sign);
    sums->squares += moved * moved;
}

/* A convolution computes eight neighbouring outputs of a row in four maps at a time: the inputs of
 * a tap are read once for all four.  `in` points to the first output's first tap; `w` has the four
 * weights of a tap next to each other. */
enum { MAPS = 4 };

WIDEST_VECTORS
static void sum_neighbours(const ElectrodeLayer *layer, const double *w, Signal in, Sums sums[MAPS])
{
    const size_t wide = (size_t)(layer->W + layer->R - 1);
    const size_t map = (size_t)(layer->H + layer->R - 1) * wide;
    Sums all[MAPS] = {{{0}, {0}, {0}}}; /* in registers, if the loop over them is unrolled */
    for (int c = 0; c < layer->C; c++)
        for (int r = 0; r < layer->R; r++)
            for (int s = 0; s < layer->R; s++, w += MAPS) {
                const size_t from = (size_t)c * map + (size_t)r * wide + (size_t)s;
                const Lanes value = *(const Lanes *)(in.value + from);
                const Lanes spread = *(const Lanes *)(in.spread + from);
#pragma GCC unroll 4
                for (int i = 0; i < MAPS; i++)
                    sums_add(&all[i], (Lanes){0} + w[i], value, spread);
            }
    memcpy(sums, all, sizeof all);
}

/* Maps k to k + MAPS - 1, the last of which may not exist, row by row. */
static void convolve_maps(const Space *space, int l, const ElectrodeLayer *layer, int k,
                          double *weights)
{
    const int H = layer->H, W = layer->W, taps = electrode_taps(layer);
    const int maps = layer->K - k < MAPS ? layer->K - k : MAPS;
    const int no_bias = has(space->slips->no_bias, l);
    const float *b = space->w + space->p->biases[l] + k;
    memset(weights, 0, MAPS * (size_t)taps * sizeof(double));
    for (int i = 0; i < maps; i++)
        take_weights(space, l, layer, k + i, MAPS, weights + i);
    for (int at = 0; at < H * W; at += W - at % W < LANES ? W - at % W : LANES) {
        const size_t from = (size_t)(at / W) * (size_t)(W + layer->R - 1) + (size_t)(at % W);
        Sums sums[MAPS];
        sum_neighbours(layer, weights, (Signal){space->in.value + from, space->in.spread + from},
                       sums);
        for (int i = 0; i < maps; i++)
            for (int lane = 0; lane < LANES && at % W + lane < W; lane++) {
                const double three[] = {sums[i].value[lane], sums[i].magnitude[lane],
                                        sums[i].squares[lane]};
                const size_t to = (size_t)(k + i) * (size_t)(H * W) + (size_t)(at + lane);
                finish(space, l, taps, no_bias ? 0 : b[i], three, &space->out.value[to],
                       &space->out.spread[to]);
            }
    }
}

static void convolve_share(void *context, int share)
{
    const LayerWork *work = context;
    const Space *space = work->space;
    for (int k = MAPS * share; k < work->layer.K; k += MAPS * space->shares)
        convolve_maps(space, work->l, &work->layer, k,
                      space->weights + (size_t)share * space->each);
}

/* The maximum of 2 x 2 outputs of layer l; its spread is the largest of theirs. */
static void pool(const Space *space, int W, int at, double *value, double *spread)
{
    const Signal *out = &space->out;
    int four[4] = {at, at + 1, at + W, at + W + 1};
    double largest = -INFINITY, sum = 0, widest = 0;
    for (int i = 0; i < 4; i++) {
        largest = fmax(largest, out->value[four[i]]);
        widest = fmax(widest, out->spread[four[i]]);
        sum += out->value[four[i]] / 4;
    }
    *value = space->slips->mean ? sum : largest;
    *spread = widest;
}

/* Makes the outputs of layer l, pooled if `pool` is 2, the next convolution's input. */
static void pass_on(Space *space, int l)
{
    ElectrodeLayer from = electrode_layer(space->p, l), to = electrode_layer(space->p, l + 1);
    int wide = to.W + to.R - 1, high = to.H + to.R - 1, before = zeros_before(space, l + 1, to.R);
    size_t all = (size_t)to.C * (size_t)high * (size_t)wide;
    memset(space->in.value, 0, all * sizeof(double));
    memset(space->in.spread, 0, all * sizeof(double));
    for (int i = 0; i < to.C * to.H * to.W; i++) {
        int c = i / to.W / to.H, h = i / to.W % to.H, w = i % to.W;
        int at = (c * high + h + before) * wide + w + before;
        pool(space, from.W, (c * from.H + 2 * h) * from.W + 2 * w, &space->in.value[at],
             &space->in.spread[at]);
    }
}

/* One output of a fully connected layer: eight partial sums, then their total. */
WIDEST_VECTORS
static void sum_inputs(const double *w, Signal in, int count, double three[3])
{
    Sums sums = {{0}, {0}, {0}};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        sums_add(&sums, *(const Lanes *)(w + i), *(const Lanes *)(in.value + i),
                 *(const Lanes *)(in.spread + i));
    for (int lane = 0; lane < LANES; lane++) {
        three[0] += sums.value[lane];
        three[1] += sums.magnitude[lane];
        three[2] += sums.squares[lane];
    }
    for (; i < count; i++) {
        const double product = w[i] * in.value[i], moved = w[i] * in.spread[i];
        three[0] += product;
        three[1] += fabs(product);
        three[2] += moved * moved;
    }
}

/* Transposes CONV3 to maps-last order, into the other signal, which becomes the outputs. */
static void put_maps_last(Space *space, int maps, int spots)
{
    Signal from = space->out;
    space->out = space->in;
    space->in = from;
    for (int i = 0; i < maps * spots; i++) {
        space->out.value[i] = from.value[i % maps * spots + i / maps];
        space->out.spread[i] = from.spread[i % maps * spots + i / maps];
    }
}

static void connect_share(void *context, int share)
{
    const LayerWork *work = context;
    const Space *space = work->space;
    const int l = work->l, C = work->layer.C, no_bias = has(space->slips->no_bias, l);
    const float *b = space->w + space->p->biases[l];
    double *weights = space->weights + (size_t)share * space->each;
    for (int k = share; k < work->layer.K; k += space->shares) {
        double sums[3] = {0};
        take_weights(space, l, &work->layer, k, 1, weights);
        sum_inputs(weights, space->in, C, sums);
        finish(space, l, C, no_bias ? 0 : b[k], sums, &space->out.value[k], &space->out.spread[k]);
    }
}

/* From one signal to the other, which are exchanged first. */
static void connect(Space *space, int l)
{
    const int maps = space->p->c;
    if (l == ELECTRODE_FULL && space->slips->maps_last)
        put_maps_last(space, maps, electrode_layer(space->p, l).C / maps);
    const Signal in = space->out;
    space->out = space->in;
    space->in = in;
    layer_run(space, l, connect_share);
}

/* Copies x into CONV1's padded input; x may include the padding. */
static void take_image(Space *space, const float *x)
{
    const ElectrodeProblem *p = space->p;
    int wide = p->W + ELECTRODE_R1 - 1, high = p->H + ELECTRODE_R1 - 1;
    int before = zeros_before(space, ELECTRODE_CONV1, ELECTRODE_R1);
    int lead = p->padded ? ELECTRODE_BEFORE : 0, pitch = p->padded ? wide : p->W;
    memset(space->in.value, 0, (size_t)high * (size_t)wide * sizeof(double));
    memset(space->in.spread, 0, (size_t)high * (size_t)wide * sizeof(double));
    for (int i = 0; i < p->H * p->W; i++) {
        int h = i / p->W, w = i % p->W;
        space->in.value[(h + before) * wide + w + before] = x[(h + lead) * pitch + w + lead];
    }
}

static void run_image(Space *space, const float *x, double *value, double *spread)
{
    take_image(space, x);
    layer_run(space, ELECTRODE_CONV1, convolve_share);
    pass_on(space, ELECTRODE_CONV1);
    layer_run(space, ELECTRODE_CONV2, convolve_share);
    pass_on(space, ELECTRODE_CONV2);
    layer_run(space, ELECTRODE_CONV3, convolve_share);
    connect(space, ELECTRODE_FULL);
    connect(space, ELECTRODE_OUT);
    softmax_carry(space->p->classes, space->out.value, space->out.spread, value, spread);
    double largest = -INFINITY;
    for (int k = 0; k < space->p->classes; k++)
        largest = fmax(largest, space->out.value[k]);
    for (int k = 0; k < space->p->classes; k++) {
        if (space->slips->logits) value[k] = space->out.value[k];
        if (space->slips->undivided) value[k] = exp(space->out.value[k] - largest);
    }
}

/* ---- all images ------------------------------------------------------------------------------ */

typedef struct Images {
    const ElectrodeProblem *p;
    const ElectrodeSlips *slips;
    const float *x, *w;
    double *value, *spread, *memory;
    size_t each;        /* doubles of workspace per share */
    int shares, within; /* images in parallel, and threads for each */
} Images;

/* The largest number of values between two layers, with padding, and the overrun of the last eight
 * neighbours. */
static size_t most_values(const ElectrodeProblem *p)
{
    size_t most = (size_t)p->f + (size_t)p->classes;
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        ElectrodeLayer layer = electrode_layer(p, l);
        size_t in =
            (size_t)layer.C * (size_t)(layer.H + layer.R - 1) * (size_t)(layer.W + layer.R - 1);
        size_t out = (size_t)layer.K * (size_t)layer.H * (size_t)layer.W;
        if (in > most) most = in;
        if (out > most) most = out;
    }
    return most + LANES;
}

/* The largest number of weights needed at a time. */
static size_t most_weights(const ElectrodeProblem *p)
{
    size_t most = 0;
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        ElectrodeLayer layer = electrode_layer(p, l);
        size_t weights = (size_t)electrode_taps(&layer) * (layer.R > 1 ? MAPS : 1);
        if (weights > most) most = weights;
    }
    return most;
}

static void images_share(void *context, int share)
{
    const Images *all = context;
    const ElectrodeProblem *p = all->p;
    double *memory = all->memory + (size_t)share * all->each;
    size_t most = most_values(p);
    int wide = p->padded ? p->W + ELECTRODE_R1 - 1 : p->W;
    int high = p->padded ? p->H + ELECTRODE_R1 - 1 : p->H;
    Space space = {.p = p,
                   .slips = all->slips,
                   .w = all->w,
                   .in = {memory, memory + most},
                   .out = {memory + 2 * most, memory + 3 * most},
                   .shares = all->within,
                   .each = most_weights(p),
                   .weights = memory + 4 * most};
    for (int n = share; n < p->N; n += all->shares) {
        size_t image = all->slips->first_image ? 0 : (size_t)n;
        run_image(&space, all->x + image * (size_t)high * (size_t)wide, all->value + n * p->classes,
                  all->spread + n * p->classes);
    }
}

void electrode_run(const ElectrodeProblem *p, const ElectrodeSlips *slips, const float *x,
                   const float *w, double *value, double *spread)
{
    int shares = parallel_shares(p->N * electrode_image_macs(p), 1e6);
    Images all = {.p = p, .slips = slips, .x = x, .w = w, .value = value, .spread = spread};
    all.shares = shares < p->N ? shares : p->N;
    all.within = shares / all.shares;
    all.each = 4 * most_values(p) + (size_t)all.within * most_weights(p);
    all.memory = calloc((size_t)all.shares * all.each, sizeof(double));
    for (int i = 0; i < p->N * p->classes && !all.memory; i++)
        value[i] = spread[i] = NAN;
    if (all.memory) parallel_run(all.shares, images_share, &all);
    free(all.memory);
}
