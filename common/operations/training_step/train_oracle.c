#include "common/operations/training_step/train_oracle.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/parallel.h"

static const double U = 0x1p-24; /* unit roundoff of fp32 */

/* A function of CUDA's library such as expf and logf: at most 2 ulp, an ulp at most 2u (CUDA C++
 * Programming Guide, section "Mathematical functions"). */
static const double FUNCTION = 4 * 0x1p-24;

/* Error of a sum of that magnitude after m independent roundings, each at most u. */
static double rounding_of(double m, double magnitude)
{
    return sqrt(m) * U * magnitude;
}

/* ---- values and sums --------------------------------------------------------------------- */

static Near exactly(double value)
{
    return (Near){value, 0};
}

/* An exact multiplication: by 0, 1, or a power of two, or inside of a sum. */
static Near near_product(Near a, Near b)
{
    return (Near){a.v * b.v, hypot(a.v * b.e, b.v * a.e)};
}

typedef struct Sum {
    double v, squares, magnitude, terms; /* `squares`: sum of the terms' squared errors */
} Sum;

static void sum_add(Sum *sum, Near a, Near b)
{
    double product = a.v * b.v, of_a = b.v * a.e, of_b = a.v * b.e;
    sum->v += product;
    sum->squares += of_a * of_a + of_b * of_b;
    sum->magnitude += fabs(product);
    sum->terms++;
}

static Near sum_end(const Sum *sum)
{
    return (Near){sum->v, hypot(sqrt(sum->squares), rounding_of(sum->terms, sum->magnitude))};
}

/* ---- workspace of the step --------------------------------------------------------------- */

/* Data of one layer and one image.  `slope` is the ReLU's derivative, 0 or 1; if |z| is below its
 * error, fp32 may compute the other value: an error of 1. */
typedef struct Maps {
    Near *in, *slope, *d; /* C*H*W; K*P*Q; d loss / d z, K*P*Q */
} Maps;

typedef struct Step {
    const TrainProblem *p;
    const float *x, *label, *setting;
    const Near *parameter, *velocity;
    TrainSlip slip;
    Near *room, *result;
    Near *loss;             /* loss of each image */
    unsigned char *at_kink; /* flags of train_kinks */
    size_t of_image;
    int shares;
} Step;

static size_t inputs_of(const TrainLayer *layer)
{
    return (size_t)layer->C * layer->H * layer->W;
}

static size_t outputs_of(const TrainLayer *layer)
{
    return (size_t)layer->K * layer->P * layer->Q;
}

static Maps maps_of(const Step *step, int n, int which)
{
    Near *at = step->room + (size_t)n * step->of_image;
    for (int i = 0; i < which; i++)
        at += inputs_of(&step->p->layer[i]) + 2 * outputs_of(&step->p->layer[i]);
    const TrainLayer *layer = &step->p->layer[which];
    return (Maps){at, at + inputs_of(layer), at + inputs_of(layer) + outputs_of(layer)};
}

/* C1 and C3. */
static int is_pooled(const TrainLayer *layer)
{
    return layer->pool > 1;
}

/* ---- forward ----------------------------------------------------------------------------- */

static Near layer_output(const Step *step, const TrainLayer *layer, const Near *in, int k, int p,
                         int q)
{
    const Near *w = step->parameter + layer->weights + (size_t)k * layer->C * layer->R * layer->S;
    const Near *b = step->parameter + TRAIN_BIASES(*layer);
    Sum sum = {0};
    for (int c = 0; c < layer->C; c++)
        for (int r = 0; r < layer->R; r++)
            for (int s = 0; s < layer->S; s++, w++)
                sum_add(&sum, in[((size_t)c * layer->H + p + r) * layer->W + q + s], *w);
    int without =
        step->slip == SLIP_FORWARD_BIAS || (step->slip == SLIP_MAPS_BIAS && is_pooled(layer));
    if (!without) sum_add(&sum, exactly(1), b[k]);
    return sum_end(&sum);
}

/* Mean of two neighbouring outputs, or four, or one alone. */
static Near pooled(const Step *step, const TrainLayer *layer, const Near *map, int p, int q)
{
    int pool = layer->pool;
    double part = step->slip == SLIP_POOL_SUM ? 1 : 1.0 / (pool * pool);
    Sum sum = {0};
    for (int i = 0; i < pool * pool; i++)
        sum_add(&sum, map[(size_t)(p * pool + i / pool) * layer->Q + q * pool + i % pool],
                exactly(part));
    return pool == 1 ? *map : sum_end(&sum);
}

/* Replaces z by the ReLU's value. */
static void rectify(const Step *step, size_t count, Near *z, Near *slope)
{
    for (size_t i = 0; i < count; i++) {
        slope[i] = (Near){z[i].v > 0, fabs(z[i].v) <= TRAIN_REACH * z[i].e};
        if (step->slip == SLIP_FORWARD_RELU) continue;
        if (z[i].v < -TRAIN_REACH * z[i].e) z[i].e = 0;
        z[i].v = fmax(z[i].v, 0);
    }
}

/* Forward pass of one layer.  `d` contains z meanwhile. */
static void layer_forward(const Step *step, int n, int which)
{
    const TrainLayer *layer = &step->p->layer[which];
    Maps maps = maps_of(step, n, which);
    size_t map = (size_t)layer->P * layer->Q;
    for (int k = 0; k < layer->K; k++)
        for (size_t i = 0; i < map; i++)
            maps.d[k * map + i] =
                layer_output(step, layer, maps.in, k, (int)i / layer->Q, (int)i % layer->Q);
    if (which == TRAIN_OUT) return;
    rectify(step, outputs_of(layer), maps.d, maps.slope);
    int P = layer->P / layer->pool, Q = layer->Q / layer->pool;
    Near *next = maps_of(step, n, which + 1).in;
    for (int k = 0; k < layer->K; k++)
        for (int i = 0; i < P * Q; i++)
            *next++ = pooled(step, layer, maps.d + k * map, i / Q, i % Q);
}

/* ---- softmax and loss -------------------------------------------------------------------- */

/* Replaces z by d loss / d z.  The relative error of each exponential comes from z, from the
 * difference to the largest z, and from the function.  All shares have the sum's error in
 * common. */
static void softmax_backward(const Step *step, int n)
{
    const TrainLayer *layer = &step->p->layer[TRAIN_OUT];
    Near *z = maps_of(step, n, TRAIN_OUT).d, own = z[(int)step->label[n]];
    int classes = layer->K;
    double largest = -INFINITY, N = step->p->N;
    Sum sum = {0};
    for (int k = 0; k < classes; k++)
        largest = fmax(largest, z[k].v);
    for (int k = 0; k < classes; k++) {
        double part = exp(z[k].v - largest), e = z[k].e + U * (largest - z[k].v) + FUNCTION;
        sum_add(&sum, (Near){part, part * e}, exactly(1));
    }
    Near all = sum_end(&sum);
    double spread = all.e / all.v, log_sum = log(all.v);
    step->loss[n] = (Near){log_sum + largest - own.v,
                           hypot(spread + own.e, FUNCTION * log_sum + 2 * U * (largest - own.v))};
    for (int k = 0; k < classes; k++) {
        double part = exp(z[k].v - largest) / all.v;
        double target = step->slip != SLIP_LABEL && k == (int)step->label[n];
        double e = part * (z[k].e + U * (largest - z[k].v) + FUNCTION + spread + U);
        z[k] = (Near){(part - target) / N, (e + 2 * U * fabs(part - target)) / N};
    }
}

/* ---- backward ---------------------------------------------------------------------------- */

static Near input_gradient(const Step *step, const TrainLayer *layer, const Near *d, int c, int h,
                           int w)
{
    const Near *weight = step->parameter + layer->weights;
    int R = layer->R, S = layer->S;
    Sum sum = {0};
    for (int k = 0; k < layer->K; k++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++) {
                int p = h - r, q = w - s;
                if (p < 0 || p >= layer->P || q < 0 || q >= layer->Q) continue;
                int tap = step->slip == SLIP_FLIPPED && is_pooled(layer) ? R * S - 1 - (r * S + s)
                                                                         : r * S + s;
                sum_add(&sum, d[((size_t)k * layer->P + p) * layer->Q + q],
                        weight[((size_t)k * layer->C + c) * R * S + tap]);
            }
    return sum_end(&sum);
}

/* From a layer's d to the previous layer's: through its filters, the mean and the ReLU. */
static void layer_backward(const Step *step, int n, int which)
{
    const TrainLayer *layer = &step->p->layer[which], *before = layer - 1;
    const Near *d = maps_of(step, n, which).d;
    Maps to = maps_of(step, n, which - 1);
    int pool = before->pool;
    Near part = exactly(step->slip == SLIP_QUARTER ? 1 : 1.0 / (pool * pool));
    for (int c = 0; c < layer->C; c++)
        for (int h = 0; h < layer->H; h++)
            for (int w = 0; w < layer->W; w++) {
                Near all = near_product(input_gradient(step, layer, d, c, h, w), part);
                for (int i = 0; i < pool * pool; i++) {
                    size_t at = ((size_t)c * before->P + h * pool + i / pool) * before->Q +
                                (size_t)(w * pool + i % pool);
                    int open = step->slip == SLIP_SLOPE ||
                               (step->slip == SLIP_MAPS_SLOPE && is_pooled(before));
                    Near slope = open ? exactly(1) : to.slope[at];
                    to.d[at] = near_product(all, slope);
                }
            }
}

static void image_forward(const Step *step, int n)
{
    Near *in = maps_of(step, n, TRAIN_C1).in;
    size_t pixels = inputs_of(&step->p->layer[TRAIN_C1]);
    for (size_t i = 0; i < pixels; i++)
        in[i] = exactly(step->x[n * pixels + i]);
    for (int which = TRAIN_C1; which < TRAIN_LAYERS; which++)
        layer_forward(step, n, which);
}

static void image_step(const Step *step, int n)
{
    image_forward(step, n);
    softmax_backward(step, n);
    for (int which = TRAIN_OUT; which > TRAIN_C1; which--)
        layer_backward(step, n, which);
}

/* ---- the sum over the batch, and the update ---------------------------------------------- */

int train_layer_of(const TrainProblem *p, size_t index)
{
    int which = TRAIN_OUT;
    while (index < (size_t)p->layer[which].weights)
        which--;
    return which;
}

static int is_bias(const TrainLayer *layer, size_t index)
{
    return index >= (size_t)TRAIN_BIASES(*layer);
}

double train_terms(const TrainProblem *p, size_t index)
{
    const TrainLayer *layer = &p->layer[train_layer_of(p, index)];
    return (double)p->N * layer->P * layer->Q;
}

/* Adds image n's contribution to the gradient of a parameter. */
static void gradient_add(const Step *step, int n, int which, size_t index, Sum *sum)
{
    const TrainLayer *layer = &step->p->layer[which];
    Maps maps = maps_of(step, n, which);
    int bias = is_bias(layer, index);
    size_t tap = bias ? 0 : index - layer->weights;
    int s = (int)(tap % layer->S), r = (int)(tap / layer->S % layer->R);
    int c = (int)(tap / layer->S / layer->R % layer->C);
    size_t k = bias ? index - TRAIN_BIASES(*layer) : tap / layer->S / layer->R / layer->C;
    for (int p = 0; p < layer->P; p++)
        for (int q = 0; q < layer->Q; q++) {
            Near in = maps.in[((size_t)c * layer->H + p + r) * layer->W + q + s];
            sum_add(sum, maps.d[(k * layer->P + p) * layer->Q + q], bias ? exactly(1) : in);
        }
}

static Near gradient_of(const Step *step, int which, size_t index)
{
    int first = 0, last = step->p->N;
    double N = step->p->N;
    Sum sum = {0};
    if (step->slip == SLIP_LAST_IMAGE) first = last - 1;
    if (step->slip == SLIP_FIRST_IMAGE) last = 1;
    if (step->slip == SLIP_BIAS_GRADIENT && is_bias(&step->p->layer[which], index)) last = 0;
    for (int n = first; n < last; n++)
        gradient_add(step, n, which, index, &sum);
    if (step->slip == SLIP_MEAN_TWICE) return near_product(sum_end(&sum), exactly(1 / N));
    if (step->slip == SLIP_NO_MEAN) return near_product(sum_end(&sum), exactly(N));
    return sum_end(&sum);
}

static Near weighted(double a, Near x, double b, Near y)
{
    Sum sum = {0};
    sum_add(&sum, exactly(a), x);
    sum_add(&sum, exactly(b), y);
    return sum_end(&sum);
}

static void update(const Step *step, size_t index)
{
    int which = train_layer_of(step->p, index);
    int bias = is_bias(&step->p->layer[which], index);
    TrainSlip slip = step->slip;
    double rate = step->setting[TRAIN_RATE], momentum = step->setting[TRAIN_MOMENTUM];
    double decay = step->setting[TRAIN_DECAY];
    Near w = step->parameter[index], v = step->velocity[index], old = v;
    Near *to_w = step->result + index, *to_v = to_w + step->p->parameters;
    if (slip == SLIP_NO_DECAY || (slip == SLIP_BIAS_NO_DECAY && bias)) decay = 0;
    if (slip == SLIP_DECAY_SIGN) decay = -decay;
    if (slip == SLIP_NO_MOMENTUM) momentum = 0;
    Near force = weighted(1, gradient_of(step, which, index), decay, w);
    if (slip == SLIP_RATE_IN_VELOCITY) force = near_product(force, exactly(rate));
    v = weighted(momentum, v, 1, force);
    Near moved = slip == SLIP_MOMENTUM_AFTER ? force : slip == SLIP_OLD_VELOCITY ? old : v;
    if (slip == SLIP_RATE_IN_VELOCITY) rate = 1;
    if (slip == SLIP_UPHILL) rate = -rate;
    *to_w = slip == SLIP_BIAS_STILL && bias ? w : weighted(1, w, -rate, moved);
    *to_v = slip == SLIP_BIAS_STILL && bias ? old : v;
}

/* ---- the whole step ---------------------------------------------------------------------- */

static int step_open(Step *step)
{
    const TrainProblem *p = step->p;
    for (int i = 0; i < TRAIN_LAYERS; i++)
        step->of_image += inputs_of(&p->layer[i]) + 2 * outputs_of(&p->layer[i]);
    step->shares = parallel_shares((double)p->N * p->parameters, 1e4);
    step->room = malloc(((size_t)p->N * step->of_image + p->N) * sizeof *step->room);
    if (!step->room) return -1;
    step->loss = step->room + (size_t)p->N * step->of_image;
    return 0;
}

static void images_share(void *context, int share)
{
    const Step *step = context;
    for (int n = share; n < step->p->N; n += step->shares)
        image_step(step, n);
}

static void update_share(void *context, int share)
{
    const Step *step = context;
    for (size_t i = (size_t)share; i < (size_t)step->p->parameters; i += (size_t)step->shares)
        update(step, i);
}

static Near mean_loss(const Step *step)
{
    Sum sum = {0};
    double part = step->slip == SLIP_LOSS_SUM ? 1 : 1.0 / step->p->N;
    for (int n = 0; n < step->p->N; n++)
        sum_add(&sum, step->loss[n], exactly(part));
    return sum_end(&sum);
}

int train_oracle(const TrainProblem *p, const float *x, const float *label, const Near *parameter,
                 const Near *velocity, const float *setting, TrainSlip slip, Near *result)
{
    Step step = {.p = p,
                 .x = x,
                 .label = label,
                 .setting = setting,
                 .parameter = parameter,
                 .velocity = velocity,
                 .slip = slip,
                 .result = result};
    if (step_open(&step)) return -1;
    parallel_run(step.shares, images_share, &step);
    parallel_run(step.shares, update_share, &step);
    result[2 * (size_t)p->parameters] = mean_loss(&step);
    free(step.room);
    return 0;
}

static int has_kink(const Step *step, int n)
{
    for (int which = TRAIN_C1; which < TRAIN_OUT; which++) {
        const Near *slope = maps_of(step, n, which).slope;
        for (size_t i = 0; i < outputs_of(&step->p->layer[which]); i++)
            if (slope[i].e > 0) return 1;
    }
    return 0;
}

static void kinks_share(void *context, int share)
{
    const Step *step = context;
    for (int n = share; n < step->p->N; n += step->shares) {
        if (!step->at_kink[n]) continue;
        image_forward(step, n);
        step->at_kink[n] = (unsigned char)has_kink(step, n);
    }
}

int train_kinks(const TrainProblem *p, const float *x, const Near *parameter,
                unsigned char *at_kink)
{
    Step step = {.p = p, .x = x, .parameter = parameter, .at_kink = at_kink};
    int kinks = 0;
    if (step_open(&step)) return -1;
    parallel_run(step.shares, kinks_share, &step);
    for (int n = 0; n < p->N; n++)
        kinks += at_kink[n];
    free(step.room);
    return kinks;
}
