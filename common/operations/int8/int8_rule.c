#include "common/operations/int8/int8_rule.h"

#include <math.h>

#include "common/base/lanes.h"
#include "common/base/parallel.h"
#include "common/operations/operation/shape_text.h"

Int8Problem int8_unpack(const Problem *problem)
{
    Int8Problem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* Maps of the unpacked output. */
int int8_maps(const Int8Problem *p)
{
    return p->output == INT8_TO_INT8 ? 4 * INT8_WORDS(p->K) : p->K;
}

/* Multiply-adds of one output. */
double int8_terms(const Int8Problem *p)
{
    return (double)p->C * p->R * p->S;
}

double int8_macs(const Int8Problem *p)
{
    return int8_terms(p) * p->N * p->K * p->P * p->Q;
}

Rule int8_rule(const Problem *problem, const float *const *tensor)
{
    Int8Problem p = int8_unpack(problem);
    return (Rule){.p = p,
                  .x = (const int8_t *)tensor[TENSOR_X],
                  .w = (const int8_t *)tensor[TENSOR_W],
                  .bias = tensor[TENSOR_BIAS],
                  .scale = tensor[TENSOR_SCALE],
                  .channels = 4 * INT8_WORDS(p.C),
                  .step = 1,
                  .part = 1,
                  .rows = p.R,
                  .columns = p.S,
                  .x_mask = -1,
                  .w_mask = -1};
}

#ifdef __clang__ /* vectorises loops at -O2 */
#define VECTORISED
#else
#define VECTORISED __attribute__((optimize("O3")))
#endif

WIDEST_VECTORS VECTORISED static int32_t bytes_dot(const int8_t *x, const int8_t *w, int count)
{
    int32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * w[i];
    return sum;
}

static int32_t pixel_dot(const Rule *rule, const int8_t *x, const int8_t *w)
{
    int32_t sum = 0;
    if (!rule->is_slow) return bytes_dot(x, w, rule->channels);
    for (int c = 0; c < rule->channels; c++) {
        const int8_t of_x = x[c & rule->x_mask];
        const int8_t of_w = w[c & rule->w_mask];
        if (c % rule->step < rule->part)
            sum += (rule->unsigned_x ? (uint8_t)of_x : of_x) *
                   (rule->unsigned_w ? (uint8_t)of_w : of_w);
    }
    return sum;
}

/* The filter whose sum filter k has. */
static int source_of(const Rule *rule, int k)
{
    const int in_tile = k % 64;
    if (rule->first_of_four) return k / 4 * 4;
    if (!rule->in_order) return k ^ rule->sums_apart;
    return k - in_tile + in_tile / 4 % 4 * 16 + in_tile / 16 * 4 + in_tile % 4;
}

static int32_t sum_of(const Rule *rule, size_t n, int k, int op, int oq)
{
    const Int8Problem *p = &rule->p;
    if (rule->fragments) {
        const FragmentMistake mistake = {p, rule->x, rule->w, rule->fragments};
        return fragment_sum(&mistake, (n * p->P + op) * p->Q + oq, k);
    }
    const size_t pixel = 4 * (size_t)INT8_WORDS(p->C);
    const int8_t *image = rule->x + (rule->first_image ? 0 : n) * p->H * p->W * pixel;
    const size_t taps = (size_t)p->R * p->S;
    const size_t first_tap = rule->one_tap_apart ? k / 4 * 4 * taps + k % 4 : k * taps;
    const int8_t *filter = rule->w + first_tap * pixel;
    int32_t sum = 0;
    for (int r = 0; r < rule->rows; r++)
        for (int s = 0; s < rule->columns; s++) {
            const int h = op * p->stride_h + r - p->pad_top;
            const int w = oq * p->stride_w + s - p->pad_left;
            int tap = rule->transposed ? s * p->R + r : r * p->S + s;
            if (rule->flipped) tap = p->R * p->S - 1 - tap;
            if (h < 0 || h >= p->H || w < 0 || w >= p->W) continue;
            sum += pixel_dot(rule, image + ((size_t)h * p->W + w) * pixel, filter + tap * pixel);
        }
    return sum;
}

static double requantized(const Rule *rule, float scaled)
{
    const float rounded = round_as(rule->rounding, scaled);
    switch (rule->overflow) {
    case OVERFLOW_WRAP:
        return (int8_t)(uint8_t)(int32_t)fminf(fmaxf(rounded, -0x1p30f), 0x1p30f);
    case OVERFLOW_SYMMETRIC:
        return fminf(fmaxf(rounded, -LARGEST), LARGEST);
    case OVERFLOW_UNSIGNED:
        return (int8_t)(uint8_t)fminf(fmaxf(rounded, 0), UINT8_MAX);
    default:
        return fminf(fmaxf(rounded, LOWEST), LARGEST);
    }
}

/* Output (n, k, p, q). */
static double value_at(const Rule *rule, size_t n, int k, int op, int oq)
{
    const Int8Problem *p = &rule->p;
    if (k >= p->K || rule->zeros) return 0;
    const int of_scale = rule->one_scale ? 0 : k;
    const int32_t added = rule->no_bias ? 0 : word_of(rule->bias[rule->one_bias ? 0 : k]);
    const int32_t bias = rule->bias_subtracted ? -added : added;
    const int from = source_of(rule, k);
    const int32_t whole = rule->no_sum || from >= p->K ? 0 : sum_of(rule, n, from, op, oq);
    const int32_t sum = rule->short_sums ? (int16_t)(uint16_t)whole : whole;
    float scaled = (float)(rule->bias_late ? sum : sum + bias) * rule->scale[of_scale];
    if (rule->bias_late) scaled += (float)bias;
    if (p->relu) scaled = fmaxf(scaled, 0);
    return p->output == INT8_TO_INT8 ? requantized(rule, scaled) : scaled;
}

/* Output `index` of the default layout. */
double int8_rule_value(const Rule *rule, size_t index)
{
    const Int8Problem *p = &rule->p;
    const size_t pixels = (size_t)p->P * p->Q, maps = (size_t)int8_maps(p);
    int k = (int)(index / pixels % maps);
    size_t j = index / pixels / maps * pixels + index % pixels;
    Rule beyond = *rule;
    if (rule->pixels_apart && (j ^ (size_t)rule->pixels_apart) >= p->N * pixels)
        beyond.no_sum = 1, rule = &beyond; /* the sum of a pixel that does not exist */
    else
        j ^= (size_t)rule->pixels_apart;
    k ^= rule->filters_apart; /* a byte without a filter is 0 */
    return value_at(rule, j / pixels, k, (int)(j % pixels / p->Q), (int)(j % pixels % p->Q));
}

/* All outputs, in parallel. */
typedef struct Outputs {
    const Rule *rule;
    size_t count;
    int shares;
    double *value;
} Outputs;

static void outputs_share(void *context, int share)
{
    const Outputs *all = context;
    const size_t last = all->count * ((size_t)share + 1) / (size_t)all->shares;
    for (size_t i = all->count * (size_t)share / (size_t)all->shares; i < last; i++)
        all->value[i] = int8_rule_value(all->rule, i);
}

size_t int8_outputs(const Int8Problem *p)
{
    return (size_t)p->N * (size_t)int8_maps(p) * (size_t)p->P * (size_t)p->Q;
}

void int8_rule_fill(const Rule *rule, double *value)
{
    Outputs all = {.rule = rule, .count = int8_outputs(&rule->p), .value = value};
    all.shares = parallel_shares(int8_macs(&rule->p), 1e6);
    parallel_run(all.shares, outputs_share, &all);
}
