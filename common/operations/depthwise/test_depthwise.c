/* test_depthwise.c - grouped and depthwise-separable convolution: the oracles compared with
 * independent plain fp32 code, rejected problems, and a sentence for each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/depthwise/grouped.h"

/* ---- reference code in fp32 ------------------------------------------------------------------ */

/* A dense convolution whose filters are zero outside of their group: slow, but without any index of
 * a group in the sum. */
static void plain_grouped(const GroupedProblem *p, const float *x, const float *w, float *y)
{
    int each = p->C / p->groups, taps = p->R * p->S;
    float *dense = calloc((size_t)p->K * p->C * taps, sizeof *dense);
    assert_non_null(dense);
    for (int k = 0, group = 0, filters = 0; k < p->K; k++) {
        if (filters == p->K / p->groups) group++, filters = 0;
        filters++;
        memcpy(dense + ((size_t)k * p->C + (size_t)group * each) * taps,
               w + (size_t)k * each * taps, (size_t)each * taps * sizeof *w);
    }
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (int at = 0; at < p->P * p->Q; at++) {
                float sum = 0;
                for (int tap = 0; tap < p->C * taps; tap++) {
                    int c = tap / taps, r = tap % taps / p->S, s = tap % p->S;
                    int h = at / p->Q * p->stride_h + r * p->dilation_h - p->pad_top;
                    int i = at % p->Q * p->stride_w + s * p->dilation_w - p->pad_left;
                    if (h >= 0 && i >= 0 && h < p->H && i < p->W)
                        sum += dense[(size_t)k * p->C * taps + tap] *
                               x[(((size_t)n * p->C + c) * p->H + h) * p->W + i];
                }
                *y++ = sum;
            }
    free(dense);
}

static void plain_separable(const SeparableProblem *p, const float *x, const float *d,
                            const float *w, float *y)
{
    size_t pixels = (size_t)p->P * p->Q, maps = (size_t)p->N * p->C;
    float *t = calloc(maps * pixels, sizeof *t);
    assert_non_null(t);
    for (size_t i = 0; i < maps * pixels; i++) {
        const float *map = x + i / pixels * p->H * p->W;
        const float *filter = d + i / pixels % p->C * p->R * p->S;
        int op = (int)(i % pixels) / p->Q, oq = (int)(i % pixels) % p->Q;
        for (int r = 0; r < p->R; r++)
            for (int s = 0; s < p->S; s++) {
                int h = op * p->stride_h + r - p->pad_top, j = oq * p->stride_w + s - p->pad_left;
                if (h >= 0 && j >= 0 && h < p->H && j < p->W)
                    t[i] += map[h * p->W + j] * filter[r * p->S + s];
            }
        if (t[i] < 0) t[i] = 0;
    }
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (size_t at = 0; at < pixels; at++, y++)
                for (int c = *y = 0; c < p->C; c++)
                    *y += w[k * p->C + c] * t[((size_t)n * p->C + c) * pixels + at];
    free(t);
}

extern const Operation grouped_forward_operation, separable_forward_operation;
static const Operation *const OPERATIONS[] = {&grouped_forward_operation,
                                              &separable_forward_operation};

static const Operation *operation_named(const char *name)
{
    return OPERATIONS[strcmp(name, OPERATIONS[0]->name) != 0];
}

/* ---- a problem with its tensors -------------------------------------------------------------- */

typedef struct Run {
    const Operation *operation;
    Problem problem;
    float *tensor[OPERATION_TENSORS];
    size_t outputs;
    int output; /* index of y */
} Run;

static void run_open(Run *run, const char *name, const Problem *problem, uint64_t seed)
{
    TensorShape shape[OPERATION_TENSORS];
    Random random;
    run->operation = operation_named(name);
    run->problem = *problem;
    run->output = run->operation->tensors(problem, shape) - 1;
    for (int i = 0; i <= run->output; i++) {
        run->outputs = tensor_count(&shape[i]);
        run->tensor[i] = calloc(run->outputs, sizeof(float));
        assert_non_null(run->tensor[i]);
    }
    random_seed(&random, seed);
    run->operation->generate(problem, &random, run->tensor);
}

static void run_close(Run *run)
{
    for (int i = 0; i <= run->output; i++)
        free(run->tensor[i]);
}

static void run_plain(Run *run)
{
    float **t = run->tensor;
    const void *problem = run->problem.data;
    if (run->output == 2)
        plain_grouped(problem, t[0], t[1], t[2]);
    else
        plain_separable(problem, t[0], t[1], t[2], t[3]);
}

static void run_judge(Run *run, Verdict *verdict, Finding *finding)
{
    Observed observed = {.output = run->tensor[run->output]};
    Judgement judgement;
    Error error = {""};
    if (verify_output(run->operation, &run->problem, PRECISION_FP32,
                      (const float *const *)run->tensor, &observed, &judgement, &error))
        fail_msg("%s", error.text);
    *verdict = judgement.verdict;
    diagnose(&judgement, NULL, NULL, finding);
    judgement_free(&judgement);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void problems_are_read_as_they_are_written(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const Operation *operation = OPERATIONS[i];
        Random random;
        random_seed(&random, 3);
        for (int kind = 0; kind < 60; kind++) {
            Problem drawn = {0}, read = {0};
            Error error = {""};
            char text[256], again[256];
            operation->draw(&random, kind, 1e5, &drawn);
            operation->print(&drawn, text, sizeof text);
            if (operation->parse(text, &read, &error)) fail_msg("%s: %s", text, error.text);
            assert_int_equal(read.bytes, drawn.bytes);
            assert_memory_equal(read.data, drawn.data, read.bytes);
            operation->print(&read, again, sizeof again);
            assert_string_equal(text, again);
            assert_true(operation->flops(&drawn) <= 2e5);
        }
    }
}

static void plain_code_is_right(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Random random;
        random_seed(&random, 8);
        for (int kind = 0; kind < 40; kind++) {
            Problem problem = {0};
            Verdict verdict;
            Finding finding;
            Run run;
            OPERATIONS[i]->draw(&random, kind, 1e5, &problem);
            run_open(&run, OPERATIONS[i]->name, &problem, (uint64_t)kind);
            run_plain(&run);
            run_judge(&run, &verdict, &finding);
            if (!verdict.correct || verdict.worst > 0.5)
                fail_msg("%s, kind %d: %zu wrong, the worst %g of its bound, first %s",
                         OPERATIONS[i]->name, kind, verdict.wrong, verdict.worst, verdict.where);
            run_close(&run);
        }
    }
}

static void one_element_equals_the_full_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Random random;
        Problem problem = {0};
        Run run;
        random_seed(&random, 5);
        OPERATIONS[i]->draw(&random, 1, 1e5, &problem);
        run_open(&run, OPERATIONS[i]->name, &problem, 2);
        double *all = calloc(3 * run.outputs, sizeof *all), value[3];
        const float *const *tensor = (const float *const *)run.tensor;
        assert_non_null(all);
        run.operation->oracle(&problem, tensor, all, all + run.outputs, all + 2 * run.outputs);
        for (size_t at = 0; at < run.outputs; at += 1 + run.outputs / 50) {
            run.operation->oracle_element(&problem, tensor, at, value);
            for (int j = 0; j < 3; j++)
                assert_true(fabs(value[j] - all[(size_t)j * run.outputs + at]) <=
                            1e-12 * fabs(all[(size_t)j * run.outputs + at]));
        }
        free(all);
        run_close(&run);
    }
}

static void bad_problems_are_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *text, *message;
    } BAD[] = {
        {"grouped_forward", "N=1 C=6 H=4 W=4 K=6 R=3 S=3 groups=4 pad=1 stride=1",
         "groups=4 must divide C=6 and K=6"},
        {"grouped_forward", "N=1 C=6 H=4 W=4 K=6 R=3 S=3 groups=0 pad=1 stride=1",
         "groups=0: must lie in 1..1073741824"},
        {"grouped_forward", "N=1 C=6 H=4 W=4 K=6 R=3 S=3 pad=1 stride=1", "missing: groups"},
        {"grouped_forward", "N=1 C=6 H=4 W=4 K=6 R=3 S=3 groups=6 pad=valid stride=1 dilation=2",
         "a window of 5 does not fit: with its padding H is 4, and the maximum is 2147483647"},
        {"grouped_forward",
         "N=1 C=6 H=4 W=4 K=6 R=3 S=3 groups=6 pad=1 stride=1 dilation=1073741824",
         "dilation=1073741824,1073741824 is too large for a filter of 3 x 3"},
        {"separable_forward", "N=1 C=6 H=4 W=4 K=6 R=5 S=3 pad=0 stride=1",
         "a window of 5 does not fit: with its padding H is 4, and the maximum is 2147483647"},
        {"separable_forward", "N=1 C=99999 H=1 W=1 K=99999 R=1 S=1 pad=0 stride=1",
         "tensor w would have 9999800001 elements: at most 2^31-1 are supported"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Problem problem;
        Error error = {""};
        assert_int_equal(operation_named(BAD[i].operation)->parse(BAD[i].text, &problem, &error),
                         -1);
        assert_string_equal(error.text, BAD[i].message);
    }
}

#define SENTENCE(fault, text) text,
static const char *const SENTENCES[GROUPED_MISTAKES] = {GROUPED_MISTAKE_LIST(SENTENCE)};

/* Whether a mistake changes this problem's outputs and is reported by its sentence. */
static int is_reported(int which, const char *shape, int rows)
{
    Problem problem;
    Error error;
    Verdict verdict;
    Finding finding;
    Run run;
    assert_int_equal(operation_named("grouped_forward")->parse(shape, &problem, &error), 0);
    run_open(&run, "grouped_forward", &problem, (uint64_t)which);
    run_plain(&run);
    GroupedProblem p;
    memcpy(&p, problem.data, sizeof p);
    GroupedWindow window = grouped_window(&p);
    int applies = grouped_mistake(which, &window);
    for (size_t i = 0; applies && i < run.outputs; i++) {
        double value[3];
        size_t map = i / ((size_t)p.P * p.Q);
        int at = (int)(i % ((size_t)p.P * p.Q));
        if (at / p.Q < rows) continue;
        grouped_value(&window, run.tensor[0], run.tensor[1], (int)(map / p.K), (int)(map % p.K),
                      at / p.Q, at % p.Q, value);
        run.tensor[2][i] = (float)value[0];
    }
    run_judge(&run, &verdict, &finding);
    run_close(&run);
    return !verdict.correct && strstr(finding.text, SENTENCES[which]) != NULL;
}

/* Each mistake, in all outputs or in those from row 1 on, in one of these shapes. */
static void every_mistake_has_a_message(void **state)
{
    (void)state;
    static const char *const SHAPES[] = {
        "N=2 C=6 H=9 W=7 K=9 R=3 S=3 groups=3 pad=1,2,0,1 stride=1",
        "N=2 C=4 H=11 W=14 K=8 R=3 S=4 groups=4 pad=1,2,2,0 stride=3,2 dilation=2,1",
        "N=1 C=2 H=13 W=19 K=2 R=4 S=3 groups=2 pad=2,1,1,0 stride=2,3",
        "N=1 C=2 H=8 W=9 K=2 R=4 S=3 groups=2 pad=3,1,1,0 stride=1",
    };
    for (int which = 0; which < GROUPED_MISTAKES; which++)
        for (int rows = 0; rows < 2; rows++) {
            int reported = 0;
            for (int i = 0; i < 4 && !reported; i++)
                reported = is_reported(which, SHAPES[i], rows);
            if (!reported) fail_msg("mistake %d is not reported: %s", which, SENTENCES[which]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_read_as_they_are_written),
        cmocka_unit_test(plain_code_is_right),
        cmocka_unit_test(one_element_equals_the_full_oracle),
        cmocka_unit_test(bad_problems_are_one_line),
        cmocka_unit_test(every_mistake_has_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
