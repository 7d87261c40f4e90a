#include "datasets/recordings_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "datasets/recordings.h"

enum { MAPS = 64, SLOPES = 16, PHASES = MAPS / SLOPES, UNITS = 256, QUARTERS = UNITS / MAPS };
enum { CLASSES = RECORDING_CLASSES, SIDE = ELECTRODE_R1, TAPS = SIDE * SIDE };

/* ---- the design ------------------------------------------------------------------------------ */

/* Mean 0, so that drift has no effect, and norm 1, so that noise is equal in all maps. */
static void spike_filter(double slope, double phase, float *w)
{
    double value[TAPS], mean = 0, square = 0;
    for (int i = 0; i < TAPS; i++) {
        double contact = i / SIDE - (SIDE - 1) / 2.0, sample = i % SIDE - (SIDE - 1) / 2.0;
        value[i] = recording_spike(sample - phase - slope * contact);
        mean += value[i] / TAPS;
    }
    for (int i = 0; i < TAPS; i++) {
        value[i] -= mean;
        square += value[i] * value[i];
    }
    for (int i = 0; i < TAPS; i++)
        w[i] = (float)(value[i] / sqrt(square));
}

/* Filters that compute each map's mean of side x side, without other maps. */
static void mean_filters(int side, float *w)
{
    for (int k = 0; k < MAPS; k++)
        for (int i = 0; i < side * side; i++)
            w[(k * MAPS + k) * side * side + i] = 1.0f / (float)(side * side);
}

void recordings_design(const ElectrodeProblem *p, float *w)
{
    static const float NOISE_LEVEL = 2.0f; /* bias in standard deviations of a filter's output */
    int rows = p->H / 4, columns = p->W / 4, spots = rows * columns;
    memset(w, 0, (size_t)p->parameters * sizeof *w);
    for (int k = 0; k < MAPS; k++) {
        double slope = 4.8 * (k / PHASES) / (SLOPES - 1) - 2.4, phase = 2.0 * (k % PHASES) - 3;
        spike_filter(slope, phase, w + p->weights[ELECTRODE_CONV1] + k * TAPS);
        w[p->biases[ELECTRODE_CONV1] + k] = -NOISE_LEVEL;
    }
    mean_filters(ELECTRODE_R2, w + p->weights[ELECTRODE_CONV2]);
    mean_filters(ELECTRODE_R3, w + p->weights[ELECTRODE_CONV3]);
    for (int i = 0; i < MAPS * spots; i++) {
        int map = i / spots, quarter = i % spots / columns * QUARTERS / rows;
        size_t unit = (size_t)(map * QUARTERS + quarter);
        w[(size_t)p->weights[ELECTRODE_FULL] + unit * (size_t)(MAPS * spots) + (size_t)i] =
            (float)QUARTERS / (float)spots;
    }
}

/* ---- forward pass without multiplications by 0 ----------------------------------------------- */

/* Adds one map's contribution to H x W accumulators; `from` includes padding, with rows of
 * `wide`. */
static void add_map(const float *from, int wide, const float *w, int R, int H, int W, float *sum)
{
    for (int tap = 0; tap < R * R; tap++)
        for (int h = 0; h < H && w[tap] != 0; h++) {
            const float *row = from + (h + tap / R) * wide + tap % R;
            for (int q = 0; q < W; q++)
                sum[h * W + q] += w[tap] * row[q];
        }
}

/* Workspace for one image: a layer's padded input maps, and its outputs. */
typedef struct Space {
    float in[MAPS * (RECORDING_ELECTRODES + SIDE) * (RECORDING_SAMPLES + SIDE)];
    float out[MAPS * RECORDING_VALUES];
} Space;

/* Makes C maps of H x W in space->out the next input: pooled by `pool`, with the padding for R. */
static void take(Space *space, int C, int H, int W, int pool, int R)
{
    int high = H / pool, wide = W / pool, pitch = wide + R - 1, before = (R - 1) / 2;
    memset(space->in, 0, (size_t)(C * (high + R - 1) * pitch) * sizeof *space->in);
    for (int i = 0; i < C * high * wide; i++) {
        int c = i / wide / high, h = i / wide % high, q = i % wide;
        const float *from = space->out + (c * H + h * pool) * W + q * pool;
        float largest = *from;
        for (int j = 1; j < pool * pool; j++)
            largest = fmaxf(largest, from[j / pool * W + j % pool]);
        space->in[(c * (high + R - 1) + h + before) * pitch + q + before] = largest;
    }
}

static void convolve(Space *space, const float *w, const float *b, int C, int H, int W, int R)
{
    int pitch = W + R - 1, map = (H + R - 1) * pitch;
    for (int k = 0; k < MAPS; k++) {
        float *sum = space->out + k * H * W;
        for (int i = 0; i < H * W; i++)
            sum[i] = b[k];
        for (int c = 0; c < C; c++)
            add_map(space->in + c * map, pitch, w + (k * C + c) * R * R, R, H, W, sum);
        for (int i = 0; i < H * W; i++)
            sum[i] = fmaxf(sum[i], 0);
    }
}

/* FULL's outputs for one recording. */
static void features(const ElectrodeProblem *p, const float *w, const float *x, Space *space,
                     float unit[UNITS])
{
    const int *at = p->weights, *bias = p->biases;
    int H = p->H, W = p->W, inputs = MAPS * (H / 4) * (W / 4);
    memcpy(space->out, x, RECORDING_VALUES * sizeof *x);
    take(space, 1, H, W, 1, ELECTRODE_R1);
    convolve(space, w + at[0], w + bias[0], 1, H, W, ELECTRODE_R1);
    take(space, MAPS, H, W, 2, ELECTRODE_R2);
    convolve(space, w + at[1], w + bias[1], MAPS, H / 2, W / 2, ELECTRODE_R2);
    take(space, MAPS, H / 2, W / 2, 2, ELECTRODE_R3);
    convolve(space, w + at[2], w + bias[2], MAPS, H / 4, W / 4, ELECTRODE_R3);
    for (int k = 0; k < UNITS; k++) {
        const float *row = w + at[ELECTRODE_FULL] + (size_t)k * (size_t)inputs;
        float sum = w[bias[ELECTRODE_FULL] + k];
        for (int i = 0; i < inputs; i++)
            if (row[i] != 0) sum += row[i] * space->out[i];
        unit[k] = fmaxf(sum, 0);
    }
}

typedef struct Batch {
    const ElectrodeProblem *p;
    const float *w, *x;
    int count, shares, failed;
    float *unit;
} Batch;

static void batch_share(void *context, int share)
{
    Batch *batch = context;
    Space *space = malloc(sizeof *space);
    for (int n = share; n < batch->count && space; n += batch->shares)
        features(batch->p, batch->w, batch->x + (size_t)n * RECORDING_VALUES, space,
                 batch->unit + (size_t)n * UNITS);
    if (!space) batch->failed = 1;
    free(space);
}

/* FULL's outputs for all recordings, to be freed by the caller; NULL: out of memory. */
static float *all_features(const ElectrodeProblem *p, int count, const float *x, const float *w)
{
    Batch batch = {.p = p, .w = w, .x = x, .count = count, .shares = parallel_shares(count, 4)};
    batch.unit = malloc((size_t)count * UNITS * sizeof *batch.unit);
    if (batch.unit) parallel_run(batch.shares, batch_share, &batch);
    if (!batch.failed) return batch.unit;
    free(batch.unit);
    return NULL;
}

/* ---- softmax regression ---------------------------------------------------------------------- */

/* Regression on features with mean 0 and deviation 1; the last weight is the bias. */
typedef struct Regression {
    double mean[UNITS], deviation[UNITS];
    double weight[CLASSES][UNITS + 1], gradient[CLASSES][UNITS + 1];
} Regression;

static void standardise(Regression *r, int count, const float *unit)
{
    for (int i = 0; i < UNITS; i++) {
        double sum = 0, squares = 0;
        for (int n = 0; n < count; n++)
            sum += unit[n * UNITS + i];
        r->mean[i] = sum / count;
        for (int n = 0; n < count; n++)
            squares += pow(unit[n * UNITS + i] - r->mean[i], 2);
        r->deviation[i] = sqrt(squares / count) + 1e-6;
    }
}

/* Adds one recording's contribution to the gradient of the mean of -log p. */
static void add_gradient(Regression *r, const float *unit, int label, int count)
{
    double value[UNITS + 1], z[CLASSES], largest = -INFINITY, sum = 0;
    for (int i = 0; i < UNITS; i++)
        value[i] = (unit[i] - r->mean[i]) / r->deviation[i];
    value[UNITS] = 1;
    for (int k = 0; k < CLASSES; k++) {
        z[k] = 0;
        for (int i = 0; i <= UNITS; i++)
            z[k] += r->weight[k][i] * value[i];
        largest = fmax(largest, z[k]);
    }
    for (int k = 0; k < CLASSES; k++)
        sum += z[k] = exp(z[k] - largest);
    for (int k = 0; k < CLASSES; k++)
        for (int i = 0; i <= UNITS; i++)
            r->gradient[k][i] += (z[k] / sum - (k == label)) * value[i] / count;
}

static void descend(Regression *r)
{
    static const double RATE = 0.05, DECAY = 0.01;
    for (int k = 0; k < CLASSES; k++)
        for (int i = 0; i <= UNITS; i++)
            r->weight[k][i] -=
                RATE * (r->gradient[k][i] + (i < UNITS ? DECAY * r->weight[k][i] : 0));
    memset(r->gradient, 0, sizeof r->gradient);
}

/* Converts the weights for features without normalisation. */
static void store(const Regression *r, float *w, float *b)
{
    for (int k = 0; k < CLASSES; k++) {
        double bias = r->weight[k][UNITS];
        for (int i = 0; i < UNITS; i++) {
            double weight = r->weight[k][i] / r->deviation[i];
            w[k * UNITS + i] = (float)weight;
            bias -= weight * r->mean[i];
        }
        b[k] = (float)bias;
    }
}

int recordings_learn(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     float *w)
{
    enum { STEPS = 300 };
    Regression *r = calloc(1, sizeof *r);
    float *unit = all_features(p, count, x, w);
    if (r && unit) {
        standardise(r, count, unit);
        for (int step = 0; step < STEPS; step++) {
            for (int n = 0; n < count; n++)
                add_gradient(r, unit + (size_t)n * UNITS, label[n], count);
            descend(r);
        }
        store(r, w + p->weights[ELECTRODE_OUT], w + p->biases[ELECTRODE_OUT]);
    }
    int status = r && unit ? 0 : -1;
    free(unit);
    free(r);
    return status;
}

int recordings_right(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     const float *w)
{
    const float *out = w + p->weights[ELECTRODE_OUT], *b = w + p->biases[ELECTRODE_OUT];
    float *unit = all_features(p, count, x, w);
    int right = unit ? 0 : -1;
    for (int n = 0; n < count && unit; n++) {
        int best = 0;
        float z[CLASSES];
        for (int k = 0; k < CLASSES; k++) {
            z[k] = b[k];
            for (int i = 0; i < UNITS; i++)
                z[k] += out[k * UNITS + i] * unit[(size_t)n * UNITS + i];
            if (z[k] > z[best]) best = k;
        }
        right += best == label[n];
    }
    free(unit);
    return right;
}
