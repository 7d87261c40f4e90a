/* test_int8.c - quantisation and convolution of 8-bit integers: the oracles compared with plain
 * code by the definitions, the sentence for each mistake, and invalid problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/int8/quantize.h"
#include "common/operations/operation/diagnose.h"
#include "convlab/int8.h"

/* ---- plain code, with outputs as a program stores them --------------------------------------- */

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* Nearest integer, ties to even, without the host's rounding functions. */
static int nearest_even(float value)
{
    double low = floor((double)value), part = value - low;
    int down = (int)low;
    if (part == 0.5) return down % 2 ? down + 1 : down;
    return part < 0.5 ? down : down + 1;
}

/* The largest |w| of filters first .. last-1. */
static float largest_of(const QuantizeProblem *p, const float *w, int first, int last)
{
    const int count = p->R * p->S * p->C;
    float largest = 0;
    for (int i = first * count; i < last * count; i++)
        largest = w[i] > largest ? w[i] : -w[i] > largest ? -w[i] : largest;
    return largest;
}

/* Quantises filter k, whose bytes are 0 so far, in steps of largest / 127. */
static void filter_quantize(const QuantizeProblem *p, const float *w, int k, float largest, void *y)
{
    const int taps = p->R * p->S, words = INT8_WORDS(p->C), count = taps * p->C;
    int8_t *byte = y;
    float *scale = (float *)y + (size_t)p->K * taps * words;
    scale[k] = largest > 0 ? largest / 127 : 1;
    for (int i = 0; i < count; i++)
        byte[(k * taps + i / p->C) * 4 * words + i % p->C] =
            (int8_t)nearest_even(w[k * count + i] / scale[k]);
}

static void plain_quantize(const QuantizeProblem *p, const float *w, void *y)
{
    const int tensor = p->per == INT8_PER_TENSOR;
    memset(y, 0, sizeof(int) * (size_t)p->K * p->R * p->S * INT8_WORDS(p->C));
    for (int k = 0; k < p->K; k++)
        filter_quantize(p, w, k, largest_of(p, w, tensor ? 0 : k, tensor ? p->K : k + 1), y);
}

static void plain_conv(const Int8Problem *p, const int8_t *x, const int8_t *w, const int *bias,
                       const float *scale, void *y)
{
    const int bytes = 4 * INT8_WORDS(p->C), maps = 4 * INT8_WORDS(p->K);
    for (int i = 0; i < p->N * p->P * p->Q * p->K; i++) {
        const int k = i % p->K, pixel = i / p->K, oq = pixel % p->Q, op = pixel / p->Q % p->P;
        int sum = bias[k];
        for (int j = 0; j < p->R * p->S * p->C; j++) {
            const int c = j % p->C, s = j / p->C % p->S, r = j / p->C / p->S;
            const int h = op * p->stride_h + r - p->pad_top, v = oq * p->stride_w + s - p->pad_left;
            if (h >= 0 && v >= 0 && h < p->H && v < p->W)
                sum += x[((pixel / p->Q / p->P * p->H + h) * p->W + v) * bytes + c] *
                       w[((k * p->R + r) * p->S + s) * bytes + c];
        }
        float scaled = (float)sum * scale[k];
        if (p->relu && scaled < 0) scaled = 0;
        if (p->output == INT8_TO_FLOAT)
            ((float *)y)[i] = scaled;
        else
            ((int8_t *)y)[pixel * maps + k] =
                (int8_t)clamp(nearest_even(fmaxf(fminf(scaled, 1e6f), -1e6f)), -128, 127);
    }
    for (int i = 0; i < p->N * p->P * p->Q * maps && p->output == INT8_TO_INT8; i++)
        if (i % maps >= p->K) ((int8_t *)y)[i] = 0;
}

/* ---- a problem with its tensors -------------------------------------------------------------- */

static const Operation *operation_of(const char *name)
{
    return strcmp(name, "quantize") ? &conv_int8_operation : &quantize_operation;
}

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
    run->operation = operation_of(name);
    run->problem = *problem;
    run->tensors = run->operation->tensors(problem, shape);
    for (int i = 0; i < run->tensors; i++) {
        run->count[i] = tensor_count(&shape[i]);
        run->tensor[i] = malloc(run->count[i] * sizeof(float));
        assert_non_null(run->tensor[i]);
    }
    random_seed(&random, seed);
    run->operation->generate(problem, &random, run->tensor);
}

static void run_parse(Run *run, const char *name, const char *shape)
{
    Error error = {""};
    Problem problem;
    if (operation_of(name)->parse(shape, &problem, &error)) fail_msg("%s", error.text);
    run_open(run, name, &problem, 7);
}

static void run_close(Run *run)
{
    for (int i = 0; i < run->tensors; i++)
        free(run->tensor[i]);
}

static float *run_output(Run *run)
{
    return run->tensor[run->tensors - 1];
}

/* Computes the output by plain code. */
static void run_plain(Run *run)
{
    if (!strcmp(run->operation->name, "quantize")) {
        QuantizeProblem p;
        memcpy(&p, run->problem.data, sizeof p);
        plain_quantize(&p, run->tensor[0], run->tensor[1]);
    } else {
        Int8Problem p;
        memcpy(&p, run->problem.data, sizeof p);
        plain_conv(&p, (int8_t *)run->tensor[0], (int8_t *)run->tensor[1], (int *)run->tensor[2],
                   run->tensor[3], run->tensor[4]);
    }
}

static void run_judge(Run *run, Judgement *judged, Finding *finding)
{
    Error error = {""};
    Observed observed = {.output = run_output(run)};
    assert_int_equal(verify_output(run->operation, &run->problem, PRECISION_FP32,
                                   (const float *const *)run->tensor, &observed, judged, &error),
                     0);
    diagnose(judged, NULL, NULL, finding);
}

/* ---- right outputs --------------------------------------------------------------------------- */

static void drawn_problems_are_exact(void **state)
{
    static const char *const NAME[] = {"quantize", "conv_int8"};
    (void)state;
    for (int i = 0; i < 80; i++) {
        Random random;
        Problem problem;
        Run run;
        Judgement judged;
        Finding finding;
        random_seed(&random, (uint64_t)i);
        operation_of(NAME[i % 2])->draw(&random, i / 2, 1e5, &problem);
        run_open(&run, NAME[i % 2], &problem, (uint64_t)i);
        run_plain(&run);
        run_judge(&run, &judged, &finding);
        if (!judged.verdict.correct) fail_msg("%d: %s: %s", i, judged.verdict.where, finding.text);
        judgement_free(&judged);
        run_close(&run);
    }
}

/* A single wrong bit of a byte, of a scale, or of an unused byte is an error. */
static void one_bit_is_wrong(void **state)
{
    static const char *const SHAPE[] = {"N=1 C=3 H=4 W=4 K=5 R=2 S=2 pad=0 stride=1 output=int8",
                                        "N=1 C=3 H=4 W=4 K=5 R=2 S=2 pad=0 stride=1 output=float"};
    (void)state;
    for (int i = 0; i < 6; i++) {
        Run run;
        Judgement judged;
        Finding finding;
        if (i < 4)
            run_parse(&run, "conv_int8", SHAPE[i % 2]);
        else
            run_parse(&run, "quantize", "K=4 R=2 S=1 C=6 per=channel");
        run_plain(&run);
        /* the lowest bit of a used byte, or the highest byte of a row's last word */
        size_t last = run.count[run.tensors - 1] - 1;
        ((uint8_t *)run_output(&run))[i < 2 ? 0 : 4 * last + (i < 4 ? 3 : 0)] ^= 1;
        run_judge(&run, &judged, &finding);
        assert_false(judged.verdict.correct);
        assert_int_equal(judged.verdict.wrong, 1);
        judgement_free(&judged);
        run_close(&run);
    }
}

/* A sample of a large output includes all its bytes, also those of the last image. */
static void samples_reach_every_byte(void **state)
{
    Run run;
    Random random;
    Error error = {""};
    int right = 1;
    (void)state;
    run_parse(&run, "conv_int8", "N=8 C=1 H=32 W=32 K=16 R=1 S=1 pad=0 stride=1 output=int8");
    run_plain(&run);
    random_seed(&random, 5);
    Observed observed = {.output = run_output(&run)};
    const float *const *tensor = (const float *const *)run.tensor;
    assert_int_equal(verify_sample(run.operation, &run.problem, PRECISION_FP32, tensor, &observed,
                                   &random, &right, &error),
                     0);
    assert_int_equal(right, 1);
    uint8_t *bytes = (uint8_t *)run_output(&run);
    for (size_t i = 7 * 16 * 1024; i < 8 * 16 * 1024; i++)
        bytes[i] ^= 1;
    assert_int_equal(verify_sample(run.operation, &run.problem, PRECISION_FP32, tensor, &observed,
                                   &random, &right, &error),
                     0);
    assert_int_equal(right, 0);
    run_close(&run);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

/* Changes a right output or the inputs of plain code, as a program with the mistake would. */
typedef void Change(Run *run);

static int8_t *bytes_of(Run *run)
{
    return (int8_t *)run_output(run);
}

/* The same layer with real outputs, from which `convert` makes the bytes. */
static void bytes_convert(Run *run, int convert(float))
{
    Int8Problem p;
    memcpy(&p, run->problem.data, sizeof p);
    const int pixels = p.N * p.P * p.Q, maps = 4 * INT8_WORDS(p.K);
    float *scaled = malloc(sizeof(float) * (size_t)pixels * (size_t)p.K);
    p.output = INT8_TO_FLOAT;
    plain_conv(&p, (int8_t *)run->tensor[0], (int8_t *)run->tensor[1], (int *)run->tensor[2],
               run->tensor[3], scaled);
    for (int i = 0; i < pixels * p.K; i++)
        bytes_of(run)[i / p.K * maps + i % p.K] = (int8_t)convert(scaled[i]);
    free(scaled);
}

static int truncated(float value)
{
    return clamp((int)value, -128, 127);
}
static int floored(float value)
{
    return clamp((int)floorf(value), -128, 127);
}
static int half_away(float value)
{
    return clamp((int)(value < 0 ? value - 0.5f : value + 0.5f), -128, 127);
}
static int wrapped(float value)
{
    return nearest_even(value) & 255;
}
static int symmetric(float value)
{
    return clamp(nearest_even(value), -127, 127);
}

static void truncates(Run *run)
{
    bytes_convert(run, truncated);
}
static void floors(Run *run)
{
    bytes_convert(run, floored);
}
static void rounds_away(Run *run)
{
    bytes_convert(run, half_away);
}
static void wraps(Run *run)
{
    bytes_convert(run, wrapped);
}
static void clamps_symmetrically(Run *run)
{
    bytes_convert(run, symmetric);
}

/* Reverses the bytes of the first `words` words. */
static void bytes_reverse(Run *run, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        int8_t *byte = &bytes_of(run)[4 * i], kept[4];
        memcpy(kept, byte, 4);
        for (int j = 0; j < 4; j++)
            byte[j] = kept[3 - j];
    }
}

static void reverses_words(Run *run)
{
    QuantizeProblem p;
    memcpy(&p, run->problem.data, sizeof p);
    bytes_reverse(run, run->count[1] - (size_t)p.K);
}

static void reverses_filters(Run *run)
{
    bytes_reverse(run, run->count[run->tensors - 1]);
}

/* Runs plain code on copies of inputs that `edit` changes. */
static void inputs_change(Run *run, void edit(Run *run))
{
    float *kept[OPERATION_TENSORS];
    for (int i = 0; i < run->tensors - 1; i++) {
        kept[i] = run->tensor[i];
        run->tensor[i] = malloc(run->count[i] * sizeof(float));
        memcpy(run->tensor[i], kept[i], run->count[i] * sizeof(float));
    }
    edit(run);
    run_plain(run);
    for (int i = 0; i < run->tensors - 1; i++) {
        free(run->tensor[i]);
        run->tensor[i] = kept[i];
    }
}

static void edit_scales(Run *run)
{
    for (size_t k = 1; k < run->count[3]; k++)
        run->tensor[3][k] = run->tensor[3][0];
}
static void edit_bias(Run *run)
{
    memset(run->tensor[2], 0, run->count[2] * sizeof(float));
}
static void edit_tail(Run *run)
{
    Int8Problem p;
    memcpy(&p, run->problem.data, sizeof p);
    for (size_t i = 0; i < run->count[0]; i++)
        if (i % (size_t)INT8_WORDS(p.C) == (size_t)INT8_WORDS(p.C) - 1) run->tensor[0][i] = 0;
}
static void one_scale(Run *run)
{
    inputs_change(run, edit_scales);
}
static void no_bias(Run *run)
{
    inputs_change(run, edit_bias);
}
static void no_tail(Run *run)
{
    inputs_change(run, edit_tail);
}

static void no_value(Run *run)
{
    QuantizeProblem p;
    memcpy(&p, run->problem.data, sizeof p);
    for (size_t i = 0; i < run->count[1]; i++)
        run_output(run)[i] = i < run->count[1] - (size_t)p.K ? 0 : 1;
}
static void no_byte(Run *run)
{
    QuantizeProblem p;
    memcpy(&p, run->problem.data, sizeof p);
    memset(run_output(run), 0, (run->count[1] - (size_t)p.K) * sizeof(float));
}

/* Filters raise maximum[0] with per=channel, maximum[k] with per=tensor. */
static void wrong_maximum(Run *run)
{
    QuantizeProblem p;
    const float *w = run->tensor[0];
    memcpy(&p, run->problem.data, sizeof p);
    memset(run_output(run), 0, run->count[1] * sizeof(float));
    for (int k = 0; k < p.K; k++)
        filter_quantize(&p, w, k,
                        p.per == INT8_PER_TENSOR ? largest_of(&p, w, 0, 1)
                        : k == 0                 ? largest_of(&p, w, 0, p.K)
                                                 : 0,
                        run_output(run));
}

static void mistakes_have_a_message(void **state)
{
    static const char LAYER[] = "N=2 C=6 H=7 W=6 K=10 R=3 S=3 pad=1 stride=1 output=int8";
    static const char REAL[] = "N=2 C=6 H=7 W=6 K=10 R=3 S=3 pad=1 stride=1 output=float";
    static const char FILTERS[] = "K=6 R=3 S=2 C=5 per=channel";
    static const char TENSOR[] = "K=6 R=3 S=2 C=5 per=tensor";
    static const struct {
        const char *shape;
        Change *change;
        Fault fault;
        const char *words;
    } CASE[] = {
        {LAYER, truncates, FAULT_ROUNDING, "truncated toward zero"},
        {LAYER, floors, FAULT_ROUNDING, "rounded down"},
        {LAYER, rounds_away, FAULT_ROUNDING, "away from zero"},
        {LAYER, wraps, FAULT_SATURATION, "wrap"},
        {LAYER, clamps_symmetrically, FAULT_SATURATION, "clamped at -127"},
        {LAYER, reverses_filters, FAULT_BYTE_ORDER, "reverse order"},
        {LAYER, one_scale, FAULT_SCALE, "scale[0]"},
        {REAL, one_scale, FAULT_SCALE, "scale[0]"},
        {REAL, no_bias, FAULT_FORMULA, "bias is missing"},
        {REAL, no_tail, FAULT_ONE_CHANNEL, "INT8_WORDS"},
        {FILTERS, reverses_words, FAULT_BYTE_ORDER, "reverse order"},
        {FILTERS, no_value, FAULT_FORMULA, "no value was quantised"},
        {FILTERS, no_byte, FAULT_FORMULA, "scales are right"},
        {FILTERS, wrong_maximum, FAULT_SCALE, "wrong element"},
        {TENSOR, wrong_maximum, FAULT_SCALE, "wrong element"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Run run;
        Judgement judged;
        Finding finding;
        run_parse(&run, *CASE[i].shape == 'K' ? "quantize" : "conv_int8", CASE[i].shape);
        run_plain(&run);
        CASE[i].change(&run);
        run_judge(&run, &judged, &finding);
        if (finding.fault != CASE[i].fault || !strstr(finding.text, CASE[i].words))
            fail_msg("mistake %zu: %s: %s", i, fault_name(finding.fault), finding.text);
        judgement_free(&judged);
        run_close(&run);
    }
}

/* ---- invalid problems ------------------------------------------------------------------------ */

static void invalid_shapes(void **state)
{
    static const struct {
        const char *operation, *shape, *words;
    } CASE[] = {
        {"quantize", "K=1 R=1 S=1 C=1", "per"},
        {"quantize", "K=1 R=1 S=1 C=1 per=pixel", "per"},
        {"quantize", "K=65536 R=64 S=64 C=8 per=tensor", "y"},
        {"conv_int8", "N=1 C=1 H=4 W=4 K=1 R=1 S=1 pad=0 stride=1", "output"},
        {"conv_int8", "N=1 C=1 H=4 W=4 K=1 R=5 S=1 pad=0 stride=1 output=int8", "H"},
        {"conv_int8", "N=1 C=4 H=4 W=4 K=1 R=1 S=1 pad=0 stride=1 output=int8 relu=2", "relu"},
        {"conv_int8", "N=1 C=40000 H=4 W=4 K=1 R=2 S=2 pad=0 stride=1 output=int8",
         "could exceed an int"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Error error = {""};
        Problem problem;
        int status = operation_of(CASE[i].operation)->parse(CASE[i].shape, &problem, &error);
        if (status != -1 || !strstr(error.text, CASE[i].words))
            fail_msg("%s: %s", CASE[i].shape, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_problems_are_exact), cmocka_unit_test(one_bit_is_wrong),
        cmocka_unit_test(samples_reach_every_byte), cmocka_unit_test(mistakes_have_a_message),
        cmocka_unit_test(invalid_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
