/* test_electrode.c - the electrode network's oracle compared with independent plain fp32 code, the
 * sharpness of its bound, and messages about mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"
#include "convlab/electrode.h"

/* ---- reference network in fp32 --------------------------------------------------------------- */

/* The reference code, with or without a mistake. */
typedef struct Plain {
    int shift;                  /* added to the zeros before a map, in every convolution */
    int turned, exchanged;      /* flipped filters; rows and columns exchanged */
    int maps_last, one_map;     /* order of FULL's inputs; only the last input map */
    int no_bias, no_relu;       /* in every layer */
    int mean, logits, w_turned; /* average pooling; no softmax; FULL's and OUT's w[c][k] */
} Plain;

static void plain_convolve(const Plain *how, int C, int H, int W, int K, int R, const float *x,
                           const float *w, const float *b, float *y)
{
    int before = (R - 1) / 2 + how->shift;
    for (int k = 0; k < K; k++)
        for (int at = 0; at < H * W; at++) {
            float sum = 0;
            for (int c = how->one_map ? C - 1 : 0; c < C; c++)
                for (int r = 0; r < R; r++)
                    for (int s = 0; s < R; s++) {
                        int h = at / W + r - before, q = at % W + s - before;
                        int tr = how->turned ? R - 1 - r : r, ts = how->turned ? R - 1 - s : s;
                        int tap = how->exchanged ? ts * R + tr : tr * R + ts;
                        if (h < 0 || q < 0 || h >= H || q >= W) continue;
                        sum += x[(c * H + h) * W + q] * w[(k * C + c) * R * R + tap];
                    }
            if (!how->no_bias) sum += b[k];
            *y++ = sum > 0 || how->no_relu ? sum : 0;
        }
}

static void plain_pool(const Plain *how, int maps, int H, int W, const float *x, float *y)
{
    for (int map = 0; map < maps; map++)
        for (int h = 0; h < H; h += 2)
            for (int q = 0; q < W; q += 2) {
                const float *at = x + (map * H + h) * W + q;
                float largest = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[W], at[W + 1]));
                *y++ = how->mean ? (at[0] + at[1] + at[W] + at[W + 1]) / 4 : largest;
            }
}

static void plain_connect(const Plain *how, int C, int K, const float *x, const float *w,
                          const float *b, int relu, float *y)
{
    for (int k = 0; k < K; k++) {
        float sum = 0;
        for (int c = 0; c < C; c++)
            sum += x[c] * w[how->w_turned ? c * K + k : k * C + c];
        if (!how->no_bias) sum += b[k];
        y[k] = relu && !how->no_relu && sum < 0 ? 0 : sum;
    }
}

static void plain_image(const Plain *how, const ElectrodeProblem *p, const float *x, const float *w,
                        float *one, float *two, float *y)
{
    int H = p->H, W = p->W, c = p->c, spots = H / 4 * (W / 4), rows = p->padded ? W + 7 : W;
    const int *at = p->weights, *to = p->biases;
    float *three = two + c * spots;
    for (int i = 0; i < H * W; i++)
        two[i] = x[(i / W + (p->padded ? 3 : 0)) * rows + i % W + (p->padded ? 3 : 0)];
    plain_convolve(how, 1, H, W, c, 8, two, w + at[0], w + to[0], one);
    plain_pool(how, c, H, W, one, two);
    plain_convolve(how, c, H / 2, W / 2, c, 4, two, w + at[1], w + to[1], one);
    plain_pool(how, c, H / 2, W / 2, one, two);
    plain_convolve(how, c, H / 4, W / 4, c, 2, two, w + at[2], w + to[2], one);
    for (int i = 0; i < c * spots; i++)
        two[i] = one[how->maps_last ? i % c * spots + i / c : i];
    plain_connect(how, c * spots, p->f, two, w + at[3], w + to[3], 1, three);
    plain_connect(how, p->f, p->classes, three, w + at[4], w + to[4], 0, one);
    float largest = one[0], sum = 0;
    for (int k = 0; k < p->classes; k++)
        largest = fmaxf(largest, one[k]);
    for (int k = 0; k < p->classes; k++)
        sum += y[k] = expf(one[k] - largest);
    for (int k = 0; k < p->classes; k++)
        y[k] = how->logits ? one[k] : y[k] / sum;
}

static void plain_electrode(const Plain *how, const ElectrodeProblem *p, const float *x,
                            const float *w, float *y)
{
    size_t image = (size_t)(p->padded ? (p->H + 7) * (p->W + 7) : p->H * p->W);
    size_t room = (size_t)(p->c * p->H * p->W + p->f + p->H * p->W);
    float *one = malloc(2 * room * sizeof *one);
    assert_non_null(one);
    for (int n = 0; n < p->N; n++)
        plain_image(how, p, x + (size_t)n * image, w, one, one + room, y + n * p->classes);
    free(one);
}

/* ---- a problem with its tensors -------------------------------------------------------------- */

static const Operation *operation;

typedef struct Run {
    Problem problem;
    ElectrodeProblem p;
    float *tensor[OPERATION_TENSORS]; /* x, w, y */
    float *changed;                   /* a copy of w to be changed */
} Run;

static void run_open(Run *run, const Problem *problem, uint64_t seed)
{
    TensorShape shape[OPERATION_TENSORS];
    Random random;
    run->problem = *problem;
    memcpy(&run->p, problem->data, sizeof run->p);
    for (int i = 0; i < operation->tensors(problem, shape); i++)
        run->tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float));
    random_seed(&random, seed);
    operation->generate(problem, &random, run->tensor);
    run->changed = malloc((size_t)run->p.parameters * sizeof(float));
    memcpy(run->changed, run->tensor[1], (size_t)run->p.parameters * sizeof(float));
}

static void run_open_text(Run *run, const char *text, uint64_t seed)
{
    Problem problem;
    Error error = {""};
    if (operation->parse(text, &problem, &error)) fail_msg("%s: %s", text, error.text);
    run_open(run, &problem, seed);
}

static void run_close(Run *run)
{
    for (int i = 0; i < 3; i++)
        free(run->tensor[i]);
    free(run->changed);
}

/* Judges y; with `probe` the diagnosis may run code again. */
static Verdict run_judge(Run *run, ProbeRun probe, void *context, Finding *finding)
{
    Observed observed = {.output = run->tensor[2]};
    Judgement judgement;
    Error error = {""};
    if (verify_output(operation, &run->problem, PRECISION_FP32, (const float *const *)run->tensor,
                      &observed, &judgement, &error))
        fail_msg("%s", error.text);
    Verdict verdict = judgement.verdict;
    if (finding) diagnose(&judgement, probe, context, finding);
    judgement_free(&judgement);
    return verdict;
}

static float rounded_to(int bits, float value)
{
    int exponent;
    double part = frexp(value, &exponent);
    return (float)ldexp(round(ldexp(part, bits)), exponent - bits);
}

static const Plain RIGHT;
#define NETWORK "N=1 H=56 W=100 c=64 f=256 classes=3"

/* ---- the tests ------------------------------------------------------------------------------- */

static void text_is_read_back_with_derived_values(void **state)
{
    (void)state;
    static const char *const TEXT[] = {NETWORK, "N=2 H=12 W=20 c=4 f=32 classes=3 padded=1"};
    Problem problem;
    char text[128];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(operation->parse(TEXT[i], &problem, NULL), 0);
        operation->print(&problem, text, sizeof text);
        assert_string_equal(text, TEXT[i]);
    }
    /* The report's sizes: 4,160, 65,600 and 16,448 parameters of the convolutions. */
    ElectrodeProblem p;
    operation->parse(NETWORK, &problem, NULL);
    memcpy(&p, problem.data, sizeof p);
    assert_int_equal(p.weights[ELECTRODE_CONV2], 4160);
    assert_int_equal(p.weights[ELECTRODE_CONV3], 4160 + 65600);
    assert_int_equal(p.weights[ELECTRODE_FULL], 4160 + 65600 + 16448);
    assert_int_equal(p.biases[ELECTRODE_FULL], 4160 + 65600 + 16448 + 22400 * 256);
    assert_int_equal(p.parameters, 4160 + 65600 + 16448 + 22401 * 256 + 257 * 3);
    assert_true(operation->flops(&problem) == 2 * 126157568.0);
}

static void bad_text_is_rejected_by_name(void **state)
{
    (void)state;
    static const char *const CASE[][2] = {
        {"N=1 H=56 W=100 c=64 f=256", "missing: classes"},
        {"N=1 H=55 W=100 c=64 f=256 classes=3", "H=55"},
        {"N=1 H=56 W=102 c=64 f=256 classes=3", "W=102"},
        {"N=1 H=56 W=100 c=64 f=256 classes=33", "classes=33: must lie in 2..32"},
        {"N=1 H=4000 W=4000 c=4000 f=60000 classes=3", "CONV1 would make"},
        {"N=1 H=400 W=400 c=400 f=60000 classes=3", "tensor w would have"},
        {"N=65535 H=400 W=400 c=4 f=6 classes=3", "tensor x would have"},
        {"N=1 H=56 W=100 c=64 f=256 classes=3 padded=2", "padded=2"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Problem problem;
        Error error = {""};
        assert_int_equal(operation->parse(CASE[i][0], &problem, &error), -1);
        if (!strstr(error.text, CASE[i][1])) fail_msg("%s: %s", CASE[i][0], error.text);
    }
}

/* Plain fp32 code, which sums sequentially, has a tenth of the bound; weights of 11 and of 8 bits
 * exceed it and get the right message.  Drawn shapes, then the network. */
static void fp32_is_right_and_eleven_bits_are_not(void **state)
{
    (void)state;
    Random random;
    double most = 0, least = 1e9;
    random_seed(&random, 5);
    for (int kind = 0; kind < 17; kind++) {
        Problem problem;
        Finding finding;
        Run run;
        operation->draw(&random, kind, 2e6, &problem);
        if (kind == 16) assert_int_equal(operation->parse(NETWORK, &problem, NULL), 0);
        run_open(&run, &problem, 100 + (uint64_t)kind);
        plain_electrode(&RIGHT, &run.p, run.tensor[0], run.tensor[1], run.tensor[2]);
        most = fmax(most, run_judge(&run, NULL, NULL, NULL).worst);
        for (int bits = kind == 16 ? 11 : 8; bits <= 11; bits += 3) {
            for (int i = 0; i < run.p.parameters; i++)
                run.changed[i] = fabs((double)run.tensor[1][i]) < 50
                                     ? rounded_to(bits, run.tensor[1][i])
                                     : run.tensor[1][i]; /* a large bias would hide the rest */
            plain_electrode(&RIGHT, &run.p, run.tensor[0], run.changed, run.tensor[2]);
            double worst = run_judge(&run, NULL, NULL, &finding).worst;
            least = fmin(least, worst);
            if (!strstr(finding.text, "Possibly some values have a lower precision"))
                fail_msg("kind %d, %d bits: worst %g, %s", kind, bits, worst, finding.text);
        }
        run_close(&run);
    }
    print_message("fp32 %.3f of the bound at most, 11 bits %.1f at least\n", most, least);
    assert_true(most < 0.2);
    assert_true(least > 1.5);
}

/* A missing tap of every filter, an input of every output, all biases: each is detected, even one
 * of the report's 22,400 inputs. */
static void a_missing_tap_is_found(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"N=4 H=12 W=20 c=8 f=32 classes=3", NETWORK};
    for (int t = 0; t < 2; t++)
        for (int l = 0; l < ELECTRODE_LAYERS; l++)
            for (int bias = 0; bias < 2; bias++) {
                Run run;
                if (t && (l != ELECTRODE_FULL || bias)) continue; /* a second each */
                run_open_text(&run, TEXT[t], 7);
                int biases = run.p.biases[l], weights = run.p.weights[l];
                int next = l < ELECTRODE_OUT ? run.p.weights[l + 1] : run.p.parameters;
                int taps = (biases - weights) / (next - biases);
                for (int i = bias ? biases : weights + 3; i < (bias ? next : biases);
                     i += bias ? 1 : taps)
                    run.changed[i] = 0;
                plain_electrode(&RIGHT, &run.p, run.tensor[0], run.changed, run.tensor[2]);
                Verdict verdict = run_judge(&run, NULL, NULL, NULL);
                if (verdict.correct)
                    fail_msg("%s, layer %d, bias %d: %g", TEXT[t], l, bias, verdict.worst);
                run_close(&run);
            }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        Plain how;
        const char *words;
    } CASE[] = {
        {{.shift = 1}, "padding of every convolution has its halves exchanged"},
        {{.turned = 1}, "filters of every convolution are flipped"},
        {{.exchanged = 1}, "columns of the filters of every convolution are exchanged"},
        {{.maps_last = 1}, "FULL reads CONV3 with the maps contiguous"},
        {{.one_map = 1}, "Only the last input map counts in CONV2 and CONV3"},
        {{.no_bias = 1}, "The bias of every layer is missing"},
        {{.no_relu = 1}, "The ReLU of every layer is missing"},
        {{.mean = 1}, "The pools average"},
        {{.logits = 1}, "the softmax is missing"},
        {{.w_turned = 1}, "weights of FULL and OUT are read as w[c][k]"},
    };
    static const char *const TEXT[] = {"N=3 H=12 W=20 c=4 f=32 classes=3",
                                       "N=2 H=16 W=8 c=5 f=19 classes=4 padded=1"};
    for (size_t i = 0; i < 2 * sizeof CASE / sizeof *CASE; i++) {
        Finding finding;
        Run run;
        run_open_text(&run, TEXT[i % 2], 20 + i);
        plain_electrode(&CASE[i / 2].how, &run.p, run.tensor[0], run.tensor[1], run.tensor[2]);
        Verdict verdict = run_judge(&run, NULL, NULL, &finding);
        const char *words = CASE[i / 2].words;
        if (verdict.correct || !strstr(finding.text, words))
            fail_msg("%s, %s: %s", TEXT[i % 2], words, finding.text);
        run_close(&run);
    }
}

/* Reads the neighbour of each parameter of a layer. */
static int misread(void *context, const Problem *problem, const float *const *in, float *y)
{
    const int *layer = context;
    ElectrodeProblem p;
    memcpy(&p, problem->data, sizeof p);
    float *w = malloc((size_t)p.parameters * sizeof *w);
    memcpy(w, in[1], (size_t)p.parameters * sizeof *w);
    for (int i = p.weights[*layer]; i < p.biases[*layer] - 1; i++)
        w[i] = in[1][i + 1];
    plain_electrode(&RIGHT, &p, in[0], w, y);
    free(w);
    return 0;
}

static void the_layer_that_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"look at CONV1 first", "look at CONV2 first",
                                        "look at CONV3 first", "look at FULL first",
                                        "check OUT and the softmax first"};
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        Finding finding;
        Run run;
        run_open_text(&run, "N=3 H=12 W=20 c=8 f=32 classes=3", 12);
        misread(&l, &run.problem, (const float *const *)run.tensor, run.tensor[2]);
        Verdict verdict = run_judge(&run, misread, &l, &finding);
        if (verdict.correct || !strstr(finding.text, WORDS[l]))
            fail_msg("%s: %s", WORDS[l], finding.text);
        run_close(&run);
    }
}

/* ---- PyTorch -------------------------------------------------------------------------------- */

/* `count` elements of an input, as in common/apps/compare/electrode.py. */
static void fill_pattern(float *value, int count, unsigned seed, double scale)
{
    for (int i = 0; i < count; i++) {
        uint32_t mixed = (uint32_t)(i + 1) * 2654435761u + seed * 40503u;
        value[i] = (float)(scale * ((mixed >> 9) * 0x1p-22 - 1));
    }
}

static void fill_network(const ElectrodeProblem *p, float *x, float *w)
{
    fill_pattern(x, p->N * p->H * p->W, 1, 1);
    for (int l = 0; l < ELECTRODE_LAYERS; l++) {
        int end = l < ELECTRODE_OUT ? p->weights[l + 1] : p->parameters;
        int outputs = end - p->biases[l], inputs = (p->biases[l] - p->weights[l]) / outputs;
        double scale = exp2(round(log2(2.7 / sqrt(inputs))));
        fill_pattern(w + p->weights[l], inputs * outputs, 2 * (unsigned)l + 2, scale);
        fill_pattern(w + p->biases[l], outputs, 2 * (unsigned)l + 3, 0.25);
    }
}

/* The data were computed on a GPU by common/apps/compare/electrode.sh; the file's first line has
 * the GPU and the date. */
static void pytorch_has_the_same_probabilities(void **state)
{
    (void)state;
    enum { RECORDINGS = 3, CLASSES = 4 };
    FILE *file = fopen("common/operations/catalog/data/electrode-torch.tsv", "r");
    char line[1024] = "";
    Run run;
    assert_non_null(file);
    while (strncmp(line, "N=", 2))
        assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    char *from = strchr(line, '\t');
    assert_non_null(from);
    *from++ = '\0';
    run_open_text(&run, line, 1);
    fill_network(&run.p, run.tensor[0], run.tensor[1]);
    double y[RECORDINGS * CLASSES], spread[RECORDINGS * CLASSES], terms[RECORDINGS * CLASSES];
    assert_int_equal(run.p.N * run.p.classes, RECORDINGS * CLASSES);
    operation->oracle(&run.problem, (const float *const *)run.tensor, y, spread, terms);
    for (int i = 0; i < RECORDINGS * CLASSES; i++) {
        double theirs = strtod(from, &from);
        if (!(fabs(y[i] - theirs) <= 1e-12 * theirs))
            fail_msg("probability %d is %.17g, PyTorch's %.17g", i, y[i], theirs);
    }
    run_close(&run);
}

static int setup(void **state)
{
    (void)state;
    operation = operation_find("electrode_forward");
    return operation ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read_back_with_derived_values),
        cmocka_unit_test(bad_text_is_rejected_by_name),
        cmocka_unit_test(fp32_is_right_and_eleven_bits_are_not),
        cmocka_unit_test(a_missing_tap_is_found),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_layer_that_is_wrong_is_named),
        cmocka_unit_test(pytorch_has_the_same_probabilities),
    };
    return cmocka_run_group_tests_name("electrode", tests, setup, NULL);
}
