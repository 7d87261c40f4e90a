/* tool_int8.c - accuracy of quantised layers and of a quantised network (lab 22).
 *
 *   tool_int8 layer            signal-to-quantisation-noise ratio of a layer of VGG's kind, in dB:
 *                              one scale for all filters, and one for each
 *   tool_int8 network EPOCHS   trains the network of digits-8x8 in fp64 and computes its test
 *                              accuracy in fp32 and with 8-bit integers; run in the repository root
 *
 * Both compute with the oracles of quantize and conv_int8, so a correct kernel has the same
 * results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/apps/train/plan.h"
#include "common/operations/catalog/operations.h"
#include "common/operations/operation/operation.h"
#include "common/operations/training_step/train_oracle.h"
#include "convlab/int8.h"

enum { LARGEST = 127 };

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (memory) return memory;
    fprintf(stderr, "tool_int8: no memory\n");
    exit(1);
}

/* ---- a layer --------------------------------------------------------------------------------- */

/* A convolution without padding, stride 1.  Tensors have the channels innermost: x[n][h][w][c],
 * w[k][r][s][c], y[n][p][q][k]. */
typedef struct Layer {
    int N, C, H, W, K, R, S, P, Q, relu;
} Layer;

static size_t inputs_of(const Layer *layer)
{
    return (size_t)layer->N * layer->H * layer->W * layer->C;
}

static size_t taps_of(const Layer *layer)
{
    return (size_t)layer->R * layer->S * layer->C;
}

static size_t outputs_of(const Layer *layer)
{
    return (size_t)layer->N * layer->P * layer->Q * layer->K;
}

static void layer_real(const Layer *l, const float *x, const float *w, const float *bias, float *y)
{
    for (size_t i = 0; i < outputs_of(l); i++) {
        const size_t k = i % l->K, pixel = i / l->K, n = pixel / l->Q / l->P;
        const size_t p = pixel / l->Q % l->P, q = pixel % l->Q;
        double sum = bias[k];
        for (int r = 0; r < l->R; r++) {
            const float *row = x + ((n * l->H + p + r) * l->W + q) * l->C;
            const float *tap = w + (k * l->R + r) * l->S * l->C;
            for (int j = 0; j < l->S * l->C; j++)
                sum += (double)row[j] * tap[j];
        }
        y[i] = (float)(l->relu && sum < 0 ? 0 : sum);
    }
}

/* A layer's filters as integers. */
typedef struct Filters {
    float *words, *scale; /* K*R*S*INT8_WORDS(C) words; K scales */
} Filters;

static Filters filters_quantize(const Layer *l, int per, const float *w)
{
    const QuantizeProblem p = {.K = l->K, .R = l->R, .S = l->S, .C = l->C, .per = per};
    const size_t bytes = 4 * (size_t)l->R * l->S * INT8_WORDS(l->C), total = l->K * (bytes + 1);
    double *row = allocate(total, sizeof *row), *unused = allocate(2 * total, sizeof *unused);
    Filters filters = {allocate(l->K * bytes / 4, sizeof(float)),
                       allocate((size_t)l->K, sizeof(float))};
    Problem problem = {.bytes = sizeof p};
    memcpy(problem.data, &p, sizeof p);
    const float *tensor[OPERATION_TENSORS] = {w};
    operation_find("quantize")->oracle(&problem, tensor, row, unused, unused + total);
    for (size_t k = 0; k < (size_t)l->K; k++) {
        for (size_t i = 0; i < bytes; i++)
            ((int8_t *)filters.words)[k * bytes + i] = (int8_t)row[k * (bytes + 1) + i];
        filters.scale[k] = (float)row[k * (bytes + 1) + bytes];
    }
    free(row);
    free(unused);
    return filters;
}

static void filters_free(Filters *filters)
{
    free(filters->words);
    free(filters->scale);
}

/* Values x as bytes with this scale, clamped. */
static float *words_of(const float *x, size_t pixels, int channels, float scale)
{
    float *words = allocate(pixels * INT8_WORDS(channels), sizeof(float));
    for (size_t i = 0; i < pixels * channels; i++) {
        float value = fmaxf(fminf(rintf(x[i] / scale), LARGEST), -LARGEST - 1);
        ((int8_t *)words)[i / channels * 4 * INT8_WORDS(channels) + i % channels] = (int8_t)value;
    }
    return words;
}

/* The layer with 8-bit inputs and filters.  y gets real numbers: those that the sums stand for if
 * y_scale is 0, else those of 8-bit outputs with that scale. */
static void layer_int8(const Layer *l, int per, const float *x, float x_scale, const float *w,
                       const float *bias, float y_scale, float *y)
{
    const Int8Problem p = {.N = l->N,
                           .C = l->C,
                           .H = l->H,
                           .W = l->W,
                           .K = l->K,
                           .R = l->R,
                           .S = l->S,
                           .P = l->P,
                           .Q = l->Q,
                           .stride_h = 1,
                           .stride_w = 1,
                           .relu = l->relu,
                           .output = y_scale > 0 ? INT8_TO_INT8 : INT8_TO_FLOAT};
    const int maps = y_scale > 0 ? 4 * INT8_WORDS(l->K) : l->K, pixels = l->P * l->Q;
    const size_t total = (size_t)l->N * maps * pixels;
    Filters filters = filters_quantize(l, per, w);
    float *words = words_of(x, inputs_of(l) / l->C, l->C, x_scale);
    float *whole = allocate((size_t)l->K, sizeof *whole);
    double *value = allocate(3 * total, sizeof *value);
    for (int k = 0; k < l->K; k++) {
        const float step = x_scale * filters.scale[k];
        const int32_t rounded = (int32_t)rintf(bias[k] / step);
        memcpy(&whole[k], &rounded, sizeof rounded);
        filters.scale[k] = y_scale > 0 ? step / y_scale : step;
    }
    Problem problem = {.bytes = sizeof p};
    memcpy(problem.data, &p, sizeof p);
    const float *tensor[OPERATION_TENSORS] = {words, filters.words, whole, filters.scale};
    operation_find("conv_int8")->oracle(&problem, tensor, value, value + total, value + 2 * total);
    for (size_t i = 0; i < outputs_of(l); i++) {
        const size_t k = i % l->K, pixel = i / l->K;
        const size_t at = (pixel / pixels * maps + k) * pixels + pixel % pixels;
        y[i] = (float)value[at] * (y_scale > 0 ? y_scale : 1);
    }
    filters_free(&filters);
    free(words);
    free(whole);
    free(value);
}

static float largest_of(const float *x, size_t count)
{
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    return largest;
}

/* Decibels of the signal over the noise in outputs k, k + step, k + 2*step ... */
static double decibels(const float *exact, const float *y, size_t count, size_t k, size_t step)
{
    double signal = 0, noise = 0;
    for (size_t i = k; i < count; i += step) {
        signal += (double)exact[i] * exact[i];
        noise += ((double)y[i] - exact[i]) * ((double)y[i] - exact[i]);
    }
    return 10 * log10(signal / noise);
}

/* A row of the table: all outputs, and the filter with the lowest ratio. */
static void ratio_print(const Layer *l, const char *name, int per, const float *x, const float *w,
                        const float *bias)
{
    float *exact = allocate(outputs_of(l), sizeof *exact), *y = allocate(outputs_of(l), sizeof *y);
    const float x_scale = largest_of(x, inputs_of(l)) / LARGEST;
    layer_real(l, x, w, bias, exact);
    layer_int8(l, per, x, x_scale, w, bias, 0, y);
    double lowest = INFINITY;
    for (int k = 0; k < l->K; k++)
        lowest = fmin(lowest, decibels(exact, y, outputs_of(l), (size_t)k, (size_t)l->K));
    printf("%s\t%s\t%.1f\t%.1f\n", name, per == INT8_PER_TENSOR ? "tensor" : "channel",
           decibels(exact, y, outputs_of(l), 0, 1), lowest);
    free(exact);
    free(y);
}

static float normal(Random *random)
{
    const double angle = 6.283185307179586 * random_unit(random);
    return (float)(sqrt(-2 * log(1 - random_unit(random))) * cos(angle));
}

/* conv3 of VGG with a quarter of its channels: normally distributed weights, and inputs after a
 * ReLU.  The filters have the same standard deviation, or standard deviations from 1 to 1/16. */
static void layer_run(void)
{
    const Layer l = {.N = 1, .C = 64, .H = 16, .W = 16, .K = 64, .R = 3, .S = 3, .P = 14, .Q = 14};
    float *x = allocate(inputs_of(&l), sizeof *x), *bias = allocate((size_t)l.K, sizeof *bias);
    float *w = allocate(l.K * taps_of(&l), sizeof *w);
    Random random;
    random_seed(&random, 1);
    for (size_t i = 0; i < inputs_of(&l); i++)
        x[i] = fmaxf(normal(&random), 0);
    for (size_t i = 0; i < l.K * taps_of(&l); i++)
        w[i] = normal(&random);
    printf("weights\tscale per\tdB\tlowest filter, dB\n");
    ratio_print(&l, "equal", INT8_PER_TENSOR, x, w, bias);
    ratio_print(&l, "equal", INT8_PER_CHANNEL, x, w, bias);
    for (size_t i = 0; i < l.K * taps_of(&l); i++)
        w[i] *= exp2f(-4.0f * (float)(i / taps_of(&l)) / (float)(l.K - 1));
    ratio_print(&l, "different", INT8_PER_TENSOR, x, w, bias);
    ratio_print(&l, "different", INT8_PER_CHANNEL, x, w, bias);
    free(x);
    free(w);
    free(bias);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Trained parameters, in the order of conv_int8. */
typedef struct Network {
    const Plan *plan;
    Layer layer[TRAIN_LAYERS];
    float *w[TRAIN_LAYERS], *bias[TRAIN_LAYERS];
    float largest[TRAIN_LAYERS]; /* 127 steps of each layer's inputs */
} Network;

/* Images in their frame of zeros. */
static float *images_of(const Plan *plan, const Digits *digits, const int *number, int count)
{
    const TrainLayer *frame = &plan->step.layer[0];
    const int top = (frame->H - plan->rows) / 2, left = (frame->W - plan->columns) / 2;
    float *x = allocate((size_t)count * frame->H * frame->W, sizeof *x);
    for (int n = 0; n < count; n++)
        for (int i = 0; i < plan->rows * plan->columns; i++) {
            const int from = number ? number[n] : n, h = top + i / plan->columns;
            x[(n * frame->H + h) * frame->W + left + i % plan->columns] =
                plan->scale * digits->image[(size_t)from * plan->rows * plan->columns + i];
        }
    return x;
}

/* Steps of lab 18, in fp64; images are not augmented. */
static void network_train(const Plan *plan, float *parameter)
{
    const TrainProblem *p = &plan->step;
    const size_t count = (size_t)p->parameters;
    Near *state = allocate(4 * count + 1, sizeof *state), *result = state + 2 * count;
    int *order = allocate((size_t)plan->steps * p->N, sizeof *order);
    float *augmentation = allocate(6 * (size_t)plan->steps * p->N, sizeof *augmentation);
    float *label = allocate((size_t)p->N, sizeof *label);
    for (size_t i = 0; i < count; i++)
        state[i].v = parameter[i];
    for (int step = 0; step < plan->epochs * plan->steps; step++) {
        if (step % plan->steps == 0) plan_epoch(plan, step / plan->steps, order, augmentation);
        const int *number = order + step % plan->steps * p->N;
        const float setting[TRAIN_SETTINGS] = {plan_rate(plan, step), plan->momentum, plan->decay};
        float *x = images_of(plan, &plan->train, number, p->N);
        for (int n = 0; n < p->N; n++)
            label[n] = plan->train.label[number[n]];
        if (train_oracle(p, x, label, state, state + count, setting, SLIP_NONE, result)) exit(1);
        for (size_t i = 0; i < 2 * count; i++)
            state[i] = (Near){result[i].v, 0};
        free(x);
    }
    for (size_t i = 0; i < count; i++)
        parameter[i] = (float)state[i].v;
    free(state);
    free(order);
    free(augmentation);
    free(label);
}

static void network_open(Network *net, const Plan *plan, const float *parameter)
{
    *net = (Network){.plan = plan};
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer *t = &plan->step.layer[i];
        net->layer[i] = (Layer){.C = t->C,
                                .H = t->H,
                                .W = t->W,
                                .K = t->K,
                                .R = t->R,
                                .S = t->S,
                                .P = t->P,
                                .Q = t->Q,
                                .relu = i + 1 < TRAIN_LAYERS};
        net->w[i] = allocate(t->K * taps_of(&net->layer[i]), sizeof(float));
        net->bias[i] = allocate((size_t)t->K, sizeof(float));
        memcpy(net->bias[i], parameter + TRAIN_BIASES(*t), (size_t)t->K * sizeof(float));
        for (int j = 0; j < t->K * t->C * t->R * t->S; j++) { /* w[k][c][r][s] */
            const int tap = j % (t->R * t->S), c = j / (t->R * t->S) % t->C;
            const int k = j / (t->R * t->S) / t->C;
            net->w[i][(k * t->R * t->S + tap) * t->C + c] = parameter[t->weights + j];
        }
    }
}

static void network_close(Network *net)
{
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        free(net->w[i]);
        free(net->bias[i]);
    }
}

/* Means of 2 x 2 pixels, rounded to whole steps if `step` is not 0. */
static float *pooled(const Layer *l, const float *y, float step)
{
    const int rows = l->P / 2, columns = l->Q / 2;
    float *mean = allocate((size_t)l->N * rows * columns * l->K, sizeof *mean);
    for (int i = 0; i < l->N * rows * columns * l->K; i++) {
        const int k = i % l->K, q = i / l->K % columns, p = i / l->K / columns % rows;
        const float *at =
            y + ((i / l->K / columns / rows * l->P + 2 * p) * l->Q + 2 * q) * l->K + k;
        mean[i] = (at[0] + at[l->K] + at[l->Q * l->K] + at[(l->Q + 1) * l->K]) / 4;
        if (step > 0) mean[i] = rintf(mean[i] / step) * step;
    }
    return mean;
}

/* Runs the network on all images of a set.  per < 0: in fp32, and net->largest gets the largest
 * input of the network and the largest outputs of the layers.  Returns the number of images whose
 * largest output is that of their label. */
static int network_run(Network *net, const Digits *digits, int per)
{
    float *x = images_of(net->plan, digits, NULL, digits->count);
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        Layer l = net->layer[i];
        l.N = digits->count;
        float *y = allocate(outputs_of(&l), sizeof *y);
        const int is_last = i + 1 == TRAIN_LAYERS;
        const float x_scale = net->largest[i] / LARGEST;
        const float y_scale = is_last ? 0 : net->largest[i + 1] / LARGEST;
        if (per < 0) {
            layer_real(&l, x, net->w[i], net->bias[i], y);
            if (i == 0) net->largest[0] = largest_of(x, inputs_of(&l));
            if (!is_last) net->largest[i + 1] = largest_of(y, outputs_of(&l));
        } else {
            layer_int8(&l, per, x, x_scale, net->w[i], net->bias[i], y_scale, y);
        }
        free(x);
        x = y;
        if (net->plan->step.layer[i].pool == 2) {
            x = pooled(&l, y, per < 0 ? 0 : y_scale);
            free(y);
        }
    }
    const int classes = net->layer[TRAIN_LAYERS - 1].K;
    int right = 0;
    for (int n = 0; n < digits->count; n++) {
        int best = 0;
        for (int k = 1; k < classes; k++)
            if (x[n * classes + k] > x[n * classes + best]) best = k;
        right += best == digits->label[n];
    }
    free(x);
    return right;
}

static int network_main(const char *epochs)
{
    Plan plan;
    Error error = {""};
    Network net;
    if (plan_open(&plan, ".", "build/datasets", "digits-8x8", atoi(epochs), 1, &error)) {
        fprintf(stderr, "tool_int8: %s\n", error.text);
        return 1;
    }
    float *parameter = allocate((size_t)plan.step.parameters, sizeof *parameter);
    plan_first_parameters(&plan, parameter);
    network_train(&plan, parameter);
    network_open(&net, &plan, parameter);
    network_run(&net, &plan.train, -1);
    float calibrated[TRAIN_LAYERS];
    memcpy(calibrated, net.largest, sizeof calibrated);
    const int of_fp32 = network_run(&net, &plan.test, -1);
    memcpy(net.largest, calibrated, sizeof calibrated); /* test images do not calibrate */
    printf("numbers\tright\tof\n");
    printf("fp32\t%d\t%d\n", of_fp32, plan.test.count);
    printf("int8, per tensor\t%d\t%d\n", network_run(&net, &plan.test, INT8_PER_TENSOR),
           plan.test.count);
    printf("int8, per channel\t%d\t%d\n", network_run(&net, &plan.test, INT8_PER_CHANNEL),
           plan.test.count);
    network_close(&net);
    free(parameter);
    plan_close(&plan);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "network")) return network_main(argv[2]);
    if (argc != 2 || strcmp(argv[1], "layer") != 0) {
        fprintf(stderr, "usage: tool_int8 layer | tool_int8 network EPOCHS\n");
        return 2;
    }
    layer_run();
    return 0;
}
