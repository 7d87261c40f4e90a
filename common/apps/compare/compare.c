/* compare.c - `compare LAYERS NAME:OBJECT:LAYOUT:PRECISION ...`: times of every side on every
 * layer, on this machine's GPU.
 *
 * Each side is checked against the fp64 oracle on the first and the last image.  Then it is
 * captured into a graph of successive calls that takes about a millisecond, so that the L2 is as
 * warm as in a network.  The graphs of all sides are launched round-robin, forwards and backwards,
 * so that clock drift affects all alike, and medians are taken.  Graphs of more than five
 * milliseconds are launched in every third round.  With BOUNDARY=1 in the environment each side is
 * also timed with setup and cleanup (compare.h).  A table of tab-separated values goes to stdout,
 * progress and error messages to stderr. */
#define PROGRAM "compare"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/apps/compare/clock.h"
#include "common/apps/compare/compare.h"
#include "common/apps/compare/kernels.h"
#include "common/operations/operation/verdict.h"
#include "common/cuda/paired_timing/paired.h"
#include "common/operations/catalog/operations.h"

enum { SIDES = 32, OTHERS = 10, LAYOUTS = 3, ROUNDS = 9, MOST_REPEATS = 100, SLOW_EVERY = 3 };
enum { FLOATS, HALVES, KINDS }; /* types of values in device memory */
static const double GRAPH_MS = 1.0, SLOW_MS = 5.0;
static const uint64_t SEED = 20261121;

typedef struct Ceilings {
    double fma, tensor, read; /* FLOP/s, FLOP/s, bytes/s */
} Ceilings;

typedef struct Layer {
    char name[64];
    Problem problem;
    ConvProblem conv;
    float *host_x, *host_w;
    void *x[KINDS][LAYOUTS], *w[KINDS][LAYOUTS]; /* device memory */
    ConvProblem padded; /* for asymmetric padding: the problem with its padding included in x */
    void *padded_x[KINDS][LAYOUTS];
    float *y, *wide_y, *plain_y, *unrolled;
    int images; /* 1 or 2: the first and the last image, for which the oracle was computed */
    double *expected, *magnitude, *terms;
    float *got; /* and a side's outputs for them */
} Layer;

typedef struct Result {
    int runs;
    double worst; /* largest error / bound */
    int repeats;
    cudaGraphExec_t graph;
    int every; /* number of rounds between two launches */
    double us[2 * ROUNDS];
    int timed;
    double boundary_us; /* with setup and cleanup, on the host's clock */
} Result;

static void *device_memory(size_t bytes)
{
    void *pointer = NULL;
    CHECK(cudaMalloc(&pointer, bytes));
    return pointer;
}

static void *memory(size_t bytes)
{
    void *pointer = malloc(bytes);
    if (!pointer) fprintf(stderr, "compare: out of memory\n"), exit(1);
    return pointer;
}

static float *uploaded(const float *from, size_t count)
{
    float *to = device_memory(count * sizeof *to);
    CHECK(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyHostToDevice));
    return to;
}

/* ---- ceilings ---- */

static Ceilings measure_ceilings(void)
{
    enum { FMA_ROUNDS = 64, TENSOR_ROUNDS = 512 };
    const size_t floats = (size_t)1 << 28;
    const double threads = (double)CEILING_BLOCKS * CEILING_THREADS;
    Ceilings best = {0, 0, 0};
    float *in = device_memory(floats * sizeof *in),
          *out = device_memory(CEILING_THREADS * sizeof *out);
    CHECK(cudaMemset(in, 0, floats * sizeof *in));
    for (int i = 0; i < 10; i++) {
        CHECK(cudaEventRecord(begin, stream));
        kernels_fma(out, FMA_ROUNDS, stream);
        best.fma = fmax(best.fma, 2.0 * 8192 * FMA_ROUNDS * threads / milliseconds() * 1e3);
        CHECK(cudaEventRecord(begin, stream));
        kernels_tensor(out, TENSOR_ROUNDS, stream);
        best.tensor = fmax(best.tensor, 2.0 * 64 * 16 * 8 * 8 * TENSOR_ROUNDS * threads / 32 /
                                            milliseconds() * 1e3);
        CHECK(cudaEventRecord(begin, stream));
        kernels_read(in, floats, out, stream);
        best.read = fmax(best.read, floats * sizeof *in / milliseconds() * 1e3);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return best;
}

/* ---- a layer ---- */

/* Converts a tensor from floats in NCHW to all layouts, and to halves in all layouts. */
static void rearranged(void *tensor[KINDS][LAYOUTS], float scale, int n, int c, int h, int w)
{
    const size_t count = (size_t)n * c * h * w;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        void **floats = &tensor[FLOATS][layout], **halves = &tensor[HALVES][layout];
        if (layout != CONV_NCHW) {
            *floats = device_memory(count * sizeof(float));
            kernels_rearrange(CONV_NCHW, tensor[FLOATS][CONV_NCHW], layout, *floats, n, c, h, w,
                              stream);
        }
        *halves = device_memory(count * sizeof(float) / 2);
        kernels_halve(*floats, scale, *halves, count, stream);
    }
}

/* Copies x with its padding. */
static void layer_pad(Layer *layer)
{
    const ConvProblem *p = &layer->conv;
    ConvProblem *q = &layer->padded;
    *q = *p;
    if (p->pad_top == p->pad_bottom && p->pad_left == p->pad_right) return;
    q->H += p->pad_top + p->pad_bottom;
    q->W += p->pad_left + p->pad_right;
    q->pad_top = q->pad_left = q->pad_bottom = q->pad_right = 0;
    const size_t count = (size_t)p->N * p->C * q->H * q->W;
    float *x = memory(count * sizeof *x);
    memset(x, 0, count * sizeof *x);
    for (int row = 0; row < p->N * p->C * p->H; row++)
        memcpy(x + ((size_t)(row / p->H) * q->H + row % p->H + p->pad_top) * q->W + p->pad_left,
               layer->host_x + (size_t)row * p->W, p->W * sizeof *x);
    layer->padded_x[FLOATS][CONV_NCHW] = uploaded(x, count);
    rearranged(layer->padded_x, HALVES_SCALE, p->N, p->C, q->H, q->W);
    free(x);
}

/* The oracle's outputs for the first and the last image. */
static void layer_expect(Layer *layer, const Operation *operation)
{
    ConvProblem few = layer->conv;
    const size_t image = (size_t)few.C * few.H * few.W, output = (size_t)few.K * few.P * few.Q;
    Problem problem;
    few.N = layer->images = few.N > 1 ? 2 : 1;
    conv_pack(&few, &problem);
    float *x = memory(2 * image * sizeof *x);
    memcpy(x, layer->host_x, image * sizeof *x);
    memcpy(x + image, layer->host_x + (layer->conv.N - 1) * image, image * sizeof *x);
    const float *tensor[] = {x, layer->host_w, NULL};
    layer->expected = memory(2 * output * sizeof(double));
    layer->magnitude = memory(2 * output * sizeof(double));
    layer->terms = memory(2 * output * sizeof(double));
    layer->got = memory(2 * output * sizeof(float));
    operation->oracle(&problem, tensor, layer->expected, layer->magnitude, layer->terms);
    free(x);
}

static int layer_open(Layer *layer, const char *name, const char *shape, const Operation *operation,
                      Error *error)
{
    memset(layer, 0, sizeof *layer);
    snprintf(layer->name, sizeof layer->name, "%s", name);
    if (operation->parse(shape, &layer->problem, error)) return -1;
    layer->conv = conv_unpack(&layer->problem);
    const ConvProblem *p = &layer->conv;
    const size_t inputs = (size_t)p->N * p->C * p->H * p->W,
                 weights = (size_t)p->K * p->C * p->R * p->S;
    const size_t columns = (size_t)p->N * p->P * p->Q, outputs = columns * p->K;
    Random random;
    random_seed(&random, SEED);
    layer->host_x = memory(inputs * sizeof(float));
    layer->host_w = memory(weights * sizeof(float));
    float *tensor[] = {layer->host_x, layer->host_w, NULL};
    operation->generate(&layer->problem, &random, tensor);
    layer->x[FLOATS][CONV_NCHW] = uploaded(layer->host_x, inputs);
    layer->w[FLOATS][CONV_NCHW] = uploaded(layer->host_w, weights);
    rearranged(layer->x, HALVES_SCALE, p->N, p->C, p->H, p->W);
    rearranged(layer->w, 1, p->K, p->C, p->R, p->S);
    layer_pad(layer);
    layer->y = device_memory(outputs * sizeof(float));
    layer->wide_y = device_memory(outputs * sizeof(float));
    layer->plain_y = device_memory(outputs * sizeof(float));
    layer->unrolled = device_memory(columns * p->C * p->R * p->S * sizeof(float));
    kernels_unroll(p, layer->x[FLOATS][CONV_NCHW], layer->unrolled, stream);
    CHECK(cudaStreamSynchronize(stream));
    layer_expect(layer, operation);
    return 0;
}

static void layer_close(Layer *layer)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < LAYOUTS; i++) {
            CHECK(cudaFree(layer->x[kind][i]));
            CHECK(cudaFree(layer->w[kind][i]));
            CHECK(cudaFree(layer->padded_x[kind][i]));
        }
    CHECK(cudaFree(layer->y));
    CHECK(cudaFree(layer->wide_y));
    CHECK(cudaFree(layer->plain_y));
    CHECK(cudaFree(layer->unrolled));
    void *host[] = {layer->host_x,    layer->host_w, layer->expected,
                    layer->magnitude, layer->terms,  layer->got};
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        free(host[i]);
}

/* ---- a side on a layer ---- */

static Task task_of(const Layer *layer, const Side *side)
{
    const int kind = side->halves ? HALVES : FLOATS;
    int padded = layer->padded_x[kind][0] && side->pads_alike;
    Task task = {.conv = padded ? layer->padded : layer->conv,
                 .x = padded ? layer->padded_x[kind][side->layout] : layer->x[kind][side->layout],
                 .w = layer->w[kind][side->layout],
                 .y = layer->y,
                 .unrolled = layer->unrolled,
                 .stream = stream};
    task.conv.layout = side->layout;
    return task;
}

/* The largest error / bound; infinite for outputs that were not written. */
static double side_judge(Layer *layer, const Side *side)
{
    const ConvProblem *p = &layer->conv;
    const size_t pixels = (size_t)p->P * p->Q, output = p->K * pixels;
    const double scale = side->halves ? HALVES_SCALE : 1;
    const float *y = side->halves ? layer->wide_y : layer->y;
    double worst = 0;
    if (side->halves) kernels_widen(layer->y, layer->wide_y, p->N * output, stream);
    kernels_rearrange(side->layout, y, CONV_NCHW, layer->plain_y, p->N, p->K, p->P, p->Q, stream);
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < layer->images; i++) {
        /* An image is contiguous, or its K maps are at distances of N*P*Q floats. */
        size_t n = i ? p->N - 1 : 0, maps = side->images_last ? p->K : 1,
               map = output / maps * sizeof(float);
        const float *from = side->images_last ? y + n * pixels : layer->plain_y + n * output;
        CHECK(cudaMemcpy2D(layer->got + i * output, map, from, side->images_last ? p->N * map : map,
                           map, maps, cudaMemcpyDeviceToHost));
    }
    for (size_t i = 0; i < layer->images * output; i++) {
        const double error = fabs(layer->got[i] / scale - layer->expected[i]);
        /* A window in the padding has a bound of 0, and an output of 0 is within it. */
        double part = error == 0 ? 0
                                 : error / verdict_bound(side->precision, layer->magnitude[i],
                                                         layer->terms[i]);
        worst = part > worst || isnan(part) ? (isnan(part) ? INFINITY : part) : worst;
    }
    return worst;
}

static int side_capture(Side *side, const Task *task, Result *result, Error *error)
{
    if (side->enqueue(side, task, error)) return -1; /* warm-up */
    CHECK(cudaEventRecord(begin, stream));
    if (side->enqueue(side, task, error)) return -1;
    const double ms = milliseconds();
    result->repeats = ms > GRAPH_MS                  ? 1
                      : ms * MOST_REPEATS < GRAPH_MS ? MOST_REPEATS
                                                     : (int)ceil(GRAPH_MS / ms);
    result->every = ms > SLOW_MS ? SLOW_EVERY : 1;
    return side_graph(side, task, result->repeats, &result->graph, error);
}

/* Selects the algorithm, runs once and judges, captures. */
static int side_ready(Side *side, Layer *layer, Result *result, Error *error)
{
    const ConvProblem *p = &layer->conv;
    Task task = task_of(layer, side);
    if (side->prepare(side, &task, error)) return -1;
    CHECK(cudaMemset(layer->y, 0xff, sizeof(float) * p->N * p->K * p->P * p->Q));
    if (side->enqueue(side, &task, error)) return -1;
    CHECK(cudaStreamSynchronize(stream));
    result->worst = side_judge(layer, side);
    if (isinf(result->worst))
        return error_set(error, "%s does not do this layer: it leaves outputs unwritten, or NaN",
                         side->name);
    return side_capture(side, &task, result, error);
}

static void side_start(Side *side, Layer *layer, Result *result)
{
    Error error;
    memset(result, 0, sizeof *result);
    result->runs = !side_ready(side, layer, result, &error);
    if (!result->runs) fprintf(stderr, "  %s: %s\n", layer->name, error.text);
}

static void layer_time(Result *result, int sides)
{
    for (int round = 0; round < 2 * ROUNDS; round++)
        for (int i = 0; i < sides; i++) {
            Result *r = &result[round % 2 ? sides - 1 - i : i];
            if (!r->runs || round % r->every) continue;
            CHECK(cudaEventRecord(begin, stream));
            CHECK(cudaGraphLaunch(r->graph, stream));
            r->us[r->timed++] = milliseconds() * 1e3 / r->repeats;
        }
}

static double host_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

/* The median of five; the first run, which loads code, is not counted. */
static void boundary_time(Side *side, const Layer *layer, Result *result, int sides)
{
    enum { RUNS = 5 };
    Error error;
    for (int i = 0; i < sides; i++) {
        double us[RUNS];
        Task task = task_of(layer, &side[i]);
        if (!result[i].runs || !side[i].boundary) continue;
        for (int run = -1; run < RUNS; run++) {
            double start = host_us();
            if (side[i].boundary(&side[i], &task, &error))
                fprintf(stderr, "  %s: %s\n", layer->name, error.text), exit(1);
            if (run >= 0) us[run] = host_us() - start;
        }
        result[i].boundary_us = paired_median(us, RUNS);
    }
}

static void layer_print(const Layer *layer, const Operation *operation, const Side *side,
                        Result *result, int sides, const Ceilings *ceilings)
{
    double flops = operation->flops(&layer->problem),
           bytes = operation->least_bytes(&layer->problem);
    for (int i = 0; i < sides; i++) {
        if (!result[i].runs) continue;
        double us = paired_median(result[i].us, result[i].timed);
        double peak = side[i].precision == PRECISION_FP32 ? ceilings->fma : ceilings->tensor;
        double floor_us = fmax(flops / peak, bytes / ceilings->read) * 1e6;
        printf("%s\t%s\t%s\t%.3f\t%.3f\t%.4f\t%.4f\t%.4g\t%.1f\t%.1f\n", layer->name, side[i].name,
               *side[i].method ? side[i].method : "-", us, flops / us * 1e-6,
               flops / us * 1e6 / peak, floor_us / us, result[i].worst, side[i].workspace / 1e6,
               result[i].boundary_us);
        CHECK(cudaGraphExecDestroy(result[i].graph));
    }
    fflush(stdout);
}

/* ---- main ---- */

/* "10-implicit-gemm:path/to.so:nchw:fp32", or with ":halves" at the end */
static int side_parse(char *text, Side *side, Error *error)
{
    char *rest = NULL, *name = strtok_r(text, ":", &rest), *object = strtok_r(NULL, ":", &rest);
    char *layout = strtok_r(NULL, ":", &rest), *precision = strtok_r(NULL, ":", &rest);
    char *halves = strtok_r(NULL, ":", &rest);
    if (!precision || (halves && strcmp(halves, "halves")))
        return error_set(error, "a side is NAME:OBJECT:LAYOUT:PRECISION or that and :halves");
    side->halves = halves != NULL;
    if (conv_layout_parse(layout, &side->layout, error) || side_lab(side, name, object, error))
        return -1;
    if (precision_find(precision, &side->precision))
        return error_set(error, "%s: precision is %s, not '%s'", name, PRECISION_NAMES, precision);
    return 0;
}

static int sides_open(Side *side, int count, char **text, Error *error)
{
    int sides = 0;
    for (int i = 0; i < count && sides < SIDES - OTHERS; i++)
        if (side_parse(text[i], &side[sides++], error)) return -1;
    if (getenv("ALONE")) return sides;
    for (int precision = getenv("TENSOR") ? PRECISION_TF32 : PRECISION_FP32;
         precision <= PRECISION_TF32; precision++) {
        for (int layout = CONV_NCHW; layout <= CONV_NHWC; layout++)
            if (side_cudnn(&side[sides++], precision, layout, CUDNN_FASTEST, error)) return -1;
        if (side_cudnn(&side[sides++], precision, CONV_NCHW, CUDNN_PRODUCTS, error)) return -1;
        if (side_cublas(&side[sides++], precision, error)) return -1;
    }
    for (int layout = CONV_NCHW; layout <= CONV_NHWC; layout++)
        if (side_cudnn(&side[sides++], PRECISION_FP16, layout, CUDNN_FASTEST, error)) return -1;
    return sides;
}

/* Number of lines after the first, which has the column names. */
static int layers_count(FILE *file)
{
    int lines = 0;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    rewind(file);
    return lines - 1;
}

/* Shows the current layer and the estimated remaining time. */
static void layer_say(const char *name, int done, int all)
{
    static time_t began;
    if (!done) began = time(NULL);
    fprintf(stderr, "  %s, %d of %d", name, done + 1, all);
    if (done)
        fprintf(stderr, ", about %.0f s left", difftime(time(NULL), began) / done * (all - done));
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    static Side side[SIDES];
    static Result result[SIDES];
    static Layer layer;
    const Operation *operation = operation_find("conv_forward");
    char line[512], versions[96];
    Error error;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return fprintf(stderr, "usage: compare LAYERS NAME:OBJECT:LAYOUT:PRECISION ...\n"), 2;
    clock_open();
    int done = 0, all = layers_count(file), sides = sides_open(side, argc - 2, argv + 2, &error);
    if (sides < 0) return fprintf(stderr, "compare: %s\n", error.text), 1;
    Ceilings ceilings = measure_ceilings();
    side_versions(versions, sizeof versions);
    printf("; %s; seed %llu; measured ceilings: fp32 FMA %.1f TFLOP/s, TF32 mma.sync %.1f TFLOP/s, "
           "read %.2f TB/s\n",
           versions, (unsigned long long)SEED, ceilings.fma * 1e-12, ceilings.tensor * 1e-12,
           ceilings.read * 1e-12);
    printf("layer\tside\tmethod\tus\ttflops\tof_ceiling\tof_roofline\tworst_error\tworkspace_"
           "mb\tboundary_us\n");
    while (fgets(line, sizeof line, file)) {
        char *rest = NULL, *name = strtok_r(line, "\t", &rest),
             *shape = strtok_r(NULL, "\t\n", &rest);
        if (!shape || !strcmp(name, "name")) continue;
        if (layer_open(&layer, name, shape, operation, &error))
            return fprintf(stderr, "compare: %s: %s\n", name, error.text), 1;
        layer_say(name, done++, all);
        for (int i = 0; i < sides; i++)
            side_start(&side[i], &layer, &result[i]);
        layer_time(result, sides);
        if (getenv("BOUNDARY")) boundary_time(side, &layer, result, sides);
        layer_print(&layer, operation, side, result, sides, &ceilings);
        layer_close(&layer);
    }
    return 0;
}
