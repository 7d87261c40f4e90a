/* test_layers.c - pooling, activations, fully connected layers, softmax and LeNet-5: the oracles
 * compared with independent plain fp32 code, and messages about mistakes. */
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
#include "convlab/layers.h"

/* ---- reference layers in fp32 -------------------------------------------------------------- */

static void plain_pool(const PoolProblem *p, const float *x, float *y)
{
    for (int map = 0; map < p->N * p->C; map++)
        for (int op = 0; op < p->P; op++)
            for (int oq = 0; oq < p->Q; oq++) {
                float sum = 0, largest = 0;
                int count = 0;
                for (int h = op * p->stride_h - p->pad_top, r = 0; r < p->R; r++, h++)
                    for (int w = oq * p->stride_w - p->pad_left, s = 0; s < p->S; s++, w++) {
                        if (h < 0 || w < 0 || h >= p->H || w >= p->W) continue;
                        float value = x[(map * p->H + h) * p->W + w];
                        if (!count++ || value > largest) largest = value;
                        sum += value;
                    }
                if (p->kind == POOL_AVERAGE_PADDED) count = p->R * p->S;
                *y++ = p->kind == POOL_MAX ? largest : sum / (float)count;
            }
}

static float plain_function(int kind, float z)
{
    if (kind == ACTIVATE_RELU) return z > 0 ? z : 0;
    return kind == ACTIVATE_TANH ? tanhf(z) : 1 / (1 + expf(-z));
}

static void plain_activate(const ActivateProblem *p, const float *x, const float *b, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int c = 0; c < p->C; c++)
            for (int i = 0; i < p->H * p->W; i++, x++)
                *y++ = plain_function(p->kind, *x + b[c]);
}

static void plain_fc(const FcProblem *p, const float *x, const float *w, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++) {
            float sum = 0;
            for (int c = 0; c < p->C; c++)
                sum += x[n * p->C + c] * w[k * p->C + c];
            *y++ = sum;
        }
}

static void plain_softmax(const SoftmaxProblem *p, const float *x, float *y)
{
    for (int n = 0; n < p->N; n++, x += p->K, y += p->K) {
        float largest = x[0], sum = 0;
        for (int k = 1; k < p->K; k++)
            largest = fmaxf(largest, x[k]);
        for (int k = 0; k < p->K; k++)
            sum += y[k] = expf(x[k] - largest);
        for (int k = 0; k < p->K; k++)
            y[k] /= sum;
    }
}

/* Convolution from C maps to K maps of size x size: y = x * w. */
static void plain_convolve(int C, int size, int K, const float *x, const float *w, float *y)
{
    int out = size - 4;
    for (int k = 0; k < K; k++)
        for (int at = 0; at < out * out; at++) {
            float sum = 0;
            for (int tap = 0; tap < C * 25; tap++)
                sum += w[k * C * 25 + tap] *
                       x[(tap / 25 * size + at / out + tap % 25 / 5) * size + at % out + tap % 5];
            *y++ = sum;
        }
}

/* LeNet-5 as a sequence of the layers above. */
static void plain_lenet(const LenetProblem *p, const float *x, const float *w, float *y)
{
    static float one[6 * 28 * 28], two[6 * 28 * 28];
    int f = p->activation;
    PoolProblem s2 = {1, 6, 28, 28, 2, 2, 14, 14, 0, 0, 0, 0, 2, 2, p->pool};
    PoolProblem s4 = {1, 16, 10, 10, 2, 2, 5, 5, 0, 0, 0, 0, 2, 2, p->pool};
    for (int n = 0; n < p->N; n++, x += 1024, y += 10) {
        plain_convolve(1, 32, 6, x, w + LENET_C1_W, one);
        plain_activate(&(ActivateProblem){1, 6, 28, 28, f}, one, w + LENET_C1_B, two);
        plain_pool(&s2, two, one);
        plain_convolve(6, 14, 16, one, w + LENET_C3_W, two);
        plain_activate(&(ActivateProblem){1, 16, 10, 10, f}, two, w + LENET_C3_B, one);
        plain_pool(&s4, one, two);
        plain_fc(&(FcProblem){1, 400, 120}, two, w + LENET_C5_W, one);
        plain_activate(&(ActivateProblem){1, 120, 1, 1, f}, one, w + LENET_C5_B, two);
        plain_fc(&(FcProblem){1, 120, 84}, two, w + LENET_F6_W, one);
        plain_activate(&(ActivateProblem){1, 84, 1, 1, f}, one, w + LENET_F6_B, two);
        plain_fc(&(FcProblem){1, 84, 10}, two, w + LENET_OUT_W, one);
        for (int k = 0; k < 10; k++)
            one[k] += w[LENET_OUT_B + k];
        plain_softmax(&(SoftmaxProblem){1, 10, 0}, one, y);
    }
}

/* ---- a problem with its tensors -------------------------------------------------------------- */

typedef struct Run {
    const Operation *operation;
    Problem problem;
    float *tensor[OPERATION_TENSORS];
    size_t count[OPERATION_TENSORS];
    int tensors;
} Run;

static void run_open(Run *run, const char *name, const Problem *problem, uint64_t seed)
{
    TensorShape shape[OPERATION_TENSORS];
    Random random;
    run->operation = operation_find(name);
    run->problem = *problem;
    run->tensors = run->operation->tensors(problem, shape);
    for (int i = 0; i < run->tensors; i++) {
        run->count[i] = tensor_count(&shape[i]);
        run->tensor[i] = calloc(run->count[i], sizeof(float));
        assert_non_null(run->tensor[i]);
    }
    random_seed(&random, seed);
    run->operation->generate(problem, &random, run->tensor);
}

static void run_close(Run *run)
{
    for (int i = 0; i < run->tensors; i++)
        free(run->tensor[i]);
}

/* The operation's reference code, on the caller's inputs. */
static int plain_run(void *context, const Problem *problem, const float *const *in, float *y)
{
    const char *name = context;
    const void *p = problem->data;
    if (!strcmp(name, "pool_forward")) plain_pool(p, in[0], y);
    if (!strcmp(name, "activate_forward")) plain_activate(p, in[0], in[1], y);
    if (!strcmp(name, "fc_forward")) plain_fc(p, in[0], in[1], y);
    if (!strcmp(name, "softmax_forward")) plain_softmax(p, in[0], y);
    if (!strcmp(name, "lenet_forward")) plain_lenet(p, in[0], in[1], y);
    return 0;
}

static float *run_output(const Run *run)
{
    return run->tensor[run->tensors - 1];
}

/* With `probe` and its context the diagnosis may run the code again. */
static void run_judge_probing(Run *run, ProbeRun probe, void *context, Verdict *verdict,
                              Finding *finding)
{
    Observed observed = {.output = run_output(run)};
    Judgement judgement;
    Error error = {""};
    if (verify_output(run->operation, &run->problem, PRECISION_FP32,
                      (const float *const *)run->tensor, &observed, &judgement, &error))
        fail_msg("%s", error.text);
    *verdict = judgement.verdict;
    diagnose(&judgement, probe, context, finding);
    judgement_free(&judgement);
}

static void run_judge(Run *run, Verdict *verdict, Finding *finding)
{
    run_judge_probing(run, NULL, NULL, verdict, finding);
}

static const char *const LAYERS[] = {"pool_forward", "activate_forward", "fc_forward",
                                     "softmax_forward", "lenet_forward"};
enum { LAYER_KINDS = sizeof LAYERS / sizeof *LAYERS };

/* ---- the tests ------------------------------------------------------------------------------- */

static void problems_are_read_as_they_are_written(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_KINDS; i++) {
        const Operation *operation = operation_find(LAYERS[i]);
        Random random;
        random_seed(&random, 3);
        for (int kind = 0; kind < 48; kind++) {
            Problem drawn = {0}, read = {0};
            Error error = {""};
            char text[256], again[256];
            operation->draw(&random, kind, 1e6, &drawn);
            operation->print(&drawn, text, sizeof text);
            if (operation->parse(text, &read, &error)) fail_msg("%s: %s", text, error.text);
            assert_int_equal(read.bytes, drawn.bytes);
            assert_memory_equal(read.data, drawn.data, read.bytes);
            operation->print(&read, again, sizeof again);
            assert_string_equal(text, again);
        }
    }
}

static void bad_problems_are_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *text, *message;
    } BAD[] = {
        {"pool_forward", "N=1 C=1 H=4 W=4 R=2 S=2 pad=2 stride=2 kind=max",
         "a window of 2 x 2 could lie on padding alone: pad less"},
        {"pool_forward", "N=1 C=1 H=4 W=4 R=5 S=2 pad=valid stride=2 kind=max",
         "a window of 5 does not fit: with its padding H is 4, and the maximum is 2147483647"},
        {"pool_forward", "N=1 C=1 H=4 W=4 R=2 S=2 pad=1,2 stride=2 kind=max",
         "pad=1,2: give same, valid, one number, or top,left,bottom,right"},
        {"pool_forward", "N=1 C=1 H=4 W=4 R=2 S=2 pad=0 stride=2 kind=mean",
         "kind=mean: give one of: max average average-padded"},
        {"pool_forward", "N=1 C=1 H=4 W=4 R=2 S=2 pad=0 stride=0 kind=max",
         "stride=0: must lie in 1..1073741824"},
        {"pool_forward", "N=99999 C=99999 H=4 W=4 R=2 S=2 pad=0 stride=2 kind=max",
         "tensor x would have 159996800016 elements: at most 2^31-1 are supported"},
        {"activate_forward", "N=1 C=1 H=4 kind=relu", "missing: W"},
        {"fc_forward", "N=1 C=1 K=4 C=2", "C is given twice"},
        {"fc_forward", "N=1 C=x K=4", "C=x: a whole number is expected instead of \"x\""},
        {"softmax_forward", "N=1 K=4 bias=2", "unknown key \"bias\": the keys are N K offset"},
        {"lenet_forward", "N", "\"N\" is not of the form key=value"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Problem problem;
        Error error = {""};
        assert_int_equal(operation_find(BAD[i].operation)->parse(BAD[i].text, &problem, &error),
                         -1);
        assert_string_equal(error.text, BAD[i].message);
    }
}

/* fp32 code is correct, and far below its bound if it has many roundings. */
static void plain_code_is_right(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_KINDS; i++) {
        const Operation *operation = operation_find(LAYERS[i]);
        Random random;
        random_seed(&random, 8);
        for (int kind = 0; kind < 24; kind++) {
            Problem problem = {0};
            Verdict verdict;
            Finding finding;
            Run run;
            operation->draw(&random, kind, 1e6, &problem);
            run_open(&run, LAYERS[i], &problem, (uint64_t)kind);
            plain_run((void *)(uintptr_t)LAYERS[i], &problem, (const float *const *)run.tensor,
                      run_output(&run));
            run_judge(&run, &verdict, &finding);
            if (!verdict.correct || verdict.worst > 0.5)
                fail_msg("%s, kind %d: %zu wrong, the worst %g of its bound, first %s, got %g, "
                         "expected %g",
                         LAYERS[i], kind, verdict.wrong, verdict.worst, verdict.where, verdict.got,
                         verdict.expected);
            run_close(&run);
        }
    }
}

static void one_element_equals_the_full_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_KINDS; i++) {
        Random random;
        Problem problem = {0};
        Run run;
        if (!operation_find(LAYERS[i])->oracle_element)
            continue; /* costs as much as all
                                                                   * elements */
        random_seed(&random, 5);
        operation_find(LAYERS[i])->draw(&random, 4, 1e6, &problem);
        run_open(&run, LAYERS[i], &problem, 2);
        size_t total = run.count[run.tensors - 1];
        double *all = calloc(3 * total, sizeof *all), value[3];
        const float *const *tensor = (const float *const *)run.tensor;
        run.operation->oracle(&problem, tensor, all, all + total, all + 2 * total);
        for (size_t at = 0; at < total; at += 1 + total / 50) {
            run.operation->oracle_element(&problem, tensor, at, value);
            for (int j = 0; j < 3; j++)
                assert_true(fabs(value[j] - all[j * total + at]) <=
                            1e-12 * fabs(all[j * total + at]));
        }
        free(all);
        run_close(&run);
    }
}

/* Inputs are close to a ReLU's 0: a threshold of a millionth is detected. */
static void a_relu_with_a_threshold_is_wrong(void **state)
{
    (void)state;
    Problem problem = {0};
    Verdict verdict;
    Finding finding;
    Error error;
    Run run;
    assert_int_equal(
        operation_find("activate_forward")->parse("N=3 C=5 H=7 W=9 kind=relu", &problem, &error),
        0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        run_open(&run, "activate_forward", &problem, seed);
        float *y = run_output(&run);
        plain_activate((const void *)problem.data, run.tensor[0], run.tensor[1], y);
        run_judge(&run, &verdict, &finding);
        assert_true(verdict.correct);
        for (size_t i = 0; i < run.count[2]; i++)
            y[i] = y[i] > 1e-6F ? y[i] : 0;
        run_judge(&run, &verdict, &finding);
        assert_false(verdict.correct);
        run_close(&run);
    }
}

/* A last block of zeros is no branch of the ReLU, because earlier positive outputs are right. */
static void a_branch_has_no_right_outputs(void **state)
{
    (void)state;
    Problem problem = {0};
    Verdict verdict;
    Finding finding;
    Error error;
    Run run;
    assert_int_equal(
        operation_find("activate_forward")->parse("N=3 C=5 H=7 W=9 kind=relu", &problem, &error),
        0);
    run_open(&run, "activate_forward", &problem, 1);
    float *y = run_output(&run);
    plain_activate((const void *)problem.data, run.tensor[0], run.tensor[1], y);
    memset(y + run.count[2] - 100, 0, 100 * sizeof *y);
    run_judge(&run, &verdict, &finding);
    assert_false(verdict.correct);
    assert_null(strstr(finding.text, "Exactly outputs"));
    plain_activate((const void *)problem.data, run.tensor[0], run.tensor[1], y);
    for (size_t i = 0; i < run.count[2]; i++)
        y[i] *= 2;
    run_judge(&run, &verdict, &finding);
    assert_non_null(strstr(finding.text, "Exactly outputs with a positive x + b[c] are wrong"));
    run_close(&run);
}

static float rounded_to(int bits, float value)
{
    int exponent;
    double part = frexp(value, &exponent);
    return (float)ldexp(round(ldexp(part, bits)), exponent - bits);
}

/* Exponentials of 14 bits are not fp32's, for any number of classes. */
static void truncated_exponentials_are_wrong(void **state)
{
    (void)state;
    Problem problem = {0};
    Verdict verdict;
    Finding finding;
    Error error;
    Run run;
    assert_int_equal(
        operation_find("softmax_forward")->parse("N=16 K=1000 offset=100", &problem, &error), 0);
    run_open(&run, "softmax_forward", &problem, 4);
    for (size_t i = 0; i < run.count[1]; i += 1000) {
        const float *x = run.tensor[0] + i;
        float *y = run_output(&run) + i, largest = x[0], sum = 0;
        for (int k = 1; k < 1000; k++)
            largest = fmaxf(largest, x[k]);
        for (int k = 0; k < 1000; k++)
            sum += y[k] = rounded_to(14, expf(x[k] - largest));
        for (int k = 0; k < 1000; k++)
            y[k] /= sum;
    }
    run_judge(&run, &verdict, &finding);
    assert_false(verdict.correct);
    run_close(&run);
}

/* Half of the images alone have the same outputs as among all images. */
static void images_are_independent(void **state)
{
    (void)state;
    static const char *const NETWORK[][2] = {
        {"lenet_forward", "N=4 activation=tanh pool=max"},
        {"electrode_forward", "N=4 H=12 W=20 c=6 f=33 classes=3 padded=1"}};
    for (int i = 0; i < 2; i++) {
        Problem problem = {0}, half;
        Error error;
        Run run;
        const Operation *operation = operation_find(NETWORK[i][0]);
        assert_int_equal(operation->parse(NETWORK[i][1], &problem, &error), 0);
        run_open(&run, NETWORK[i][0], &problem, 3);
        size_t total = run.count[run.tensors - 1], images = run.count[0] / 2;
        double *all = calloc(6 * total, sizeof *all), *some = all + 3 * total;
        const float *const *tensor = (const float *const *)run.tensor;
        const float *behind[OPERATION_TENSORS] = {run.tensor[0] + images, run.tensor[1]};
        operation->of_images(&problem, 2, &half);
        operation->oracle(&problem, tensor, all, all + total, all + 2 * total);
        operation->oracle(&half, behind, some, some + total, some + 2 * total);
        for (size_t j = 0; j < 3; j++)
            for (size_t at = 0; at < total / 2; at++)
                assert_true(some[j * total + at] == all[j * total + total / 2 + at]);
        free(all);
        run_close(&run);
    }
}

/* Weights of 11 bits (tf32, fp16) and of 8 (bf16) are detected. */
static void a_network_of_lower_precision_is_reported(void **state)
{
    (void)state;
    static const char *const KIND[] = {
        "N=2 activation=relu pool=max", "N=2 activation=tanh pool=average",
        "N=2 activation=sigmoid pool=average", "N=2 activation=sigmoid pool=max"};
    for (size_t i = 0; i < sizeof KIND / sizeof *KIND; i++)
        for (int bits = 8; bits <= 11; bits += 3) {
            Problem problem;
            Verdict verdict;
            Finding finding;
            Run run;
            assert_int_equal(operation_find("lenet_forward")->parse(KIND[i], &problem, NULL), 0);
            run_open(&run, "lenet_forward", &problem, 77);
            float *rounded = calloc(LENET_WEIGHTS, sizeof *rounded);
            for (int j = 0; j < LENET_WEIGHTS; j++)
                rounded[j] = rounded_to(bits, run.tensor[1][j]);
            plain_lenet((const LenetProblem *)(const void *)problem.data, run.tensor[0], rounded,
                        run_output(&run));
            run_judge(&run, &verdict, &finding);
            if (verdict.correct ||
                !strstr(finding.text, "Possibly some values have a lower precision"))
                fail_msg("%s, %d bits: worst %g, %s %s", KIND[i], bits, verdict.worst,
                         fault_name(finding.fault), finding.text);
            free(rounded);
            run_close(&run);
        }
}

/* A missing tap of every filter, a bias, an input of every output: each layer's is visible in the
 * probabilities.  (A single output's may not be: a ReLU can be 0 for every image.) */
static void a_network_shows_the_error_of_each_layer(void **state)
{
    (void)state;
    static const struct {
        int first, step, count; /* indices in w */
    } LOST[] = {{LENET_C1_W + 24, 25, 6},    {LENET_C1_B + 5, 1, 1},
                {LENET_C3_W + 149, 150, 16}, {LENET_C3_B, 1, 16},
                {LENET_C5_W + 77, 400, 120}, {LENET_C5_B, 1, 120},
                {LENET_F6_W + 119, 120, 84}, {LENET_F6_B, 1, 84},
                {LENET_OUT_W, 84, 10},       {LENET_OUT_B + 9, 1, 1}};
    for (int activation = 0; activation < 3; activation++)
        for (size_t i = 0; i < sizeof LOST / sizeof *LOST; i++) {
            LenetProblem p = {8, activation, POOL_AVERAGE};
            Problem problem = {.bytes = sizeof p};
            Verdict verdict;
            Finding finding;
            Run run;
            memcpy(problem.data, &p, sizeof p);
            run_open(&run, "lenet_forward", &problem, 6);
            float *lost = calloc(LENET_WEIGHTS, sizeof *lost);
            memcpy(lost, run.tensor[1], LENET_WEIGHTS * sizeof *lost);
            for (int j = 0; j < LOST[i].count; j++)
                lost[LOST[i].first + j * LOST[i].step] = 0;
            plain_lenet(&p, run.tensor[0], lost, run_output(&run));
            free(lost);
            run_judge(&run, &verdict, &finding);
            if (verdict.correct)
                fail_msg("activation %d, weight %d: worst %g", activation, LOST[i].first,
                         verdict.worst);
            run_close(&run);
        }
}

/* Reads the neighbour of a weight of one layer. */
static int lenet_misreads(void *context, const Problem *problem, const float *const *in, float *y)
{
    const int *at = context;
    float *w = calloc(LENET_WEIGHTS, sizeof *w);
    memcpy(w, in[1], LENET_WEIGHTS * sizeof *w);
    w[*at] = w[*at + 1];
    plain_lenet((const LenetProblem *)(const void *)problem->data, in[0], w, y);
    free(w);
    return 0;
}

static void the_layer_that_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        int at;
        const char *words;
    } CASE[] = {{LENET_OUT_B + 3, "check OUT and the softmax first"},
                {LENET_F6_W + 5, "look at F6 first"},
                {LENET_C5_W + 5, "look at C5 first"},
                {LENET_C3_W + 5, "look at C3 first"},
                {LENET_C1_W + 5, "look at C1 first"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        LenetProblem p = {3, ACTIVATE_TANH, POOL_AVERAGE};
        Problem problem = {.bytes = sizeof p};
        int at = CASE[i].at;
        Verdict verdict;
        Finding finding;
        Run run;
        memcpy(problem.data, &p, sizeof p);
        run_open(&run, "lenet_forward", &problem, 12);
        lenet_misreads(&at, &problem, (const float *const *)run.tensor, run_output(&run));
        run_judge_probing(&run, lenet_misreads, &at, &verdict, &finding);
        if (verdict.correct || !strstr(finding.text, CASE[i].words))
            fail_msg("%s: %s", CASE[i].words, finding.text);
        run_close(&run);
    }
}

/* ---- PyTorch -------------------------------------------------------------------------------- */

/* `count` elements of an input, as in common/apps/compare/lenet.py. */
static void fill_pattern(float *value, int count, unsigned seed, float scale)
{
    for (int i = 0; i < count; i++) {
        uint32_t mixed = (uint32_t)(i + 1) * 2654435761u + seed * 40503u;
        value[i] = scale * ((float)(mixed >> 9) * 0x1p-22f - 1);
    }
}

static void fill_network(float *x, int images, float *w)
{
    static const int LAYER[][2] = {{LENET_C1_W, LENET_C1_B},
                                   {LENET_C3_W, LENET_C3_B},
                                   {LENET_C5_W, LENET_C5_B},
                                   {LENET_F6_W, LENET_F6_B},
                                   {LENET_OUT_W, LENET_OUT_B}};
    fill_pattern(x, images * 1024, 1, 1);
    for (int l = 0; l < 5; l++) {
        int end = l < 4 ? LAYER[l + 1][0] : LENET_WEIGHTS;
        float scale = l < 2 ? 0.25f : 0.125f;
        fill_pattern(w + LAYER[l][0], LAYER[l][1] - LAYER[l][0], 2 * (unsigned)l + 2, scale);
        fill_pattern(w + LAYER[l][1], end - LAYER[l][1], 2 * (unsigned)l + 3, scale);
    }
}

/* The data were computed on a GPU by common/apps/compare/lenet.sh; the file's first line has the
 * GPU and the date. */
static void pytorch_has_the_same_probabilities(void **state)
{
    (void)state;
    enum { PICTURES = 3 };
    FILE *file = fopen("common/operations/catalog/data/lenet-torch.tsv", "r");
    char line[4096], activation[16], pool[16], text[80];
    int networks = 0, at;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (*line == ';' || !strncmp(line, "activation", 10)) continue;
        Problem problem;
        Run run;
        Error error = {""};
        assert_int_equal(sscanf(line, "%15s %15s%n", activation, pool, &at), 2);
        snprintf(text, sizeof text, "N=%d activation=%s pool=%s", PICTURES, activation, pool);
        if (operation_find("lenet_forward")->parse(text, &problem, &error))
            fail_msg("%s: %s", text, error.text);
        run_open(&run, "lenet_forward", &problem, 1);
        fill_network(run.tensor[0], PICTURES, run.tensor[1]);
        double y[PICTURES * 10], spread[PICTURES * 10], terms[PICTURES * 10];
        run.operation->oracle(&problem, (const float *const *)run.tensor, y, spread, terms);
        char *from = line + at;
        for (int i = 0; i < PICTURES * 10; i++) {
            double theirs = strtod(from, &from);
            if (!(fabs(y[i] - theirs) <= 1e-12 * theirs))
                fail_msg("%s: probability %d is %.17g, PyTorch's %.17g", text, i, y[i], theirs);
        }
        run_close(&run);
        networks++;
    }
    fclose(file);
    assert_int_equal(networks, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_read_as_they_are_written),
        cmocka_unit_test(bad_problems_are_one_line),
        cmocka_unit_test(plain_code_is_right),
        cmocka_unit_test(one_element_equals_the_full_oracle),
        cmocka_unit_test(a_relu_with_a_threshold_is_wrong),
        cmocka_unit_test(a_branch_has_no_right_outputs),
        cmocka_unit_test(truncated_exponentials_are_wrong),
        cmocka_unit_test(images_are_independent),
        cmocka_unit_test(a_network_of_lower_precision_is_reported),
        cmocka_unit_test(a_network_shows_the_error_of_each_layer),
        cmocka_unit_test(the_layer_that_is_wrong_is_named),
        cmocka_unit_test(pytorch_has_the_same_probabilities),
    };
    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
