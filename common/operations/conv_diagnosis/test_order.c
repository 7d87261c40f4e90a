/* test_order.c - judgement and diagnosis of tensors in other layouts than NCHW.  The convolutions
 * here follow the definition, with their own index functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"

static size_t index_of(int layout, const int extent[4], int n, int c, int h, int w)
{
    size_t N = (size_t)extent[0], C = (size_t)extent[1], H = (size_t)extent[2],
           W = (size_t)extent[3];
    if (layout == CONV_NHWC) return (((size_t)n * H + (size_t)h) * W + (size_t)w) * C + (size_t)c;
    if (layout == CONV_CHWN) return (((size_t)c * H + (size_t)h) * W + (size_t)w) * N + (size_t)n;
    return (((size_t)n * C + (size_t)c) * H + (size_t)h) * W + (size_t)w;
}

/* Mistakes of a submission: the order in which it reads each tensor, the filter's, and the axes
 * that it reverses (bits of conv_reversed). */
typedef struct Submission {
    int x, w, y, flip;
    unsigned reversed;
} Submission;

/* Index of an element of tensor 0, 1 or 2, some of whose axes are reversed. */
static size_t reversed_index(unsigned axes, int tensor, int layout, const int extent[4], int n,
                             int c, int h, int w)
{
    int at[4] = {n, c, h, w};
    for (int i = 0; i < 4; i++)
        if (axes >> (4 * tensor + i) & 1) at[i] = extent[i] - 1 - at[i];
    return index_of(layout, extent, at[0], at[1], at[2], at[3]);
}

static int convolve(void *context, const Problem *problem, const float *const *tensor, float *y)
{
    const Submission *s = context;
    ConvProblem v = conv_unpack(problem);
    const int xe[] = {v.N, v.C, v.H, v.W}, we[] = {v.K, v.C, v.R, v.S}, ye[] = {v.N, v.K, v.P, v.Q};
    for (int n = 0; n < v.N; n++)
        for (int k = 0; k < v.K; k++)
            for (int p = 0; p < v.P; p++)
                for (int q = 0; q < v.Q; q++) {
                    float sum = 0;
                    for (int c = 0; c < v.C; c++)
                        for (int i = 0; i < v.R * v.S; i++) {
                            int h = p * v.stride_h + i / v.S - v.pad_top,
                                w = q * v.stride_w + i % v.S - v.pad_left;
                            int r = s->flip ? v.R - 1 - i / v.S : i / v.S,
                                t = s->flip ? v.S - 1 - i % v.S : i % v.S;
                            if (h >= 0 && h < v.H && w >= 0 && w < v.W)
                                sum +=
                                    tensor[0]
                                          [reversed_index(s->reversed, 0, s->x, xe, n, c, h, w)] *
                                    tensor[1][reversed_index(s->reversed, 1, s->w, we, k, c, r, t)];
                        }
                    y[reversed_index(s->reversed, 2, s->y, ye, n, k, p, q)] = sum;
                }
    return 0;
}

static void judge(const char *shape, Submission submission, Verdict *verdict, Finding *found)
{
    Judgement judgement;
    const Operation *operation = operation_find("conv_forward");
    Problem problem;
    TensorShape tensor[OPERATION_TENSORS];
    float *data[3];
    Error error = {""};
    Random random;
    if (operation->parse(shape, &problem, &error)) fail_msg("%s", error.text);
    operation->tensors(&problem, tensor);
    for (int i = 0; i < 3; i++)
        data[i] = calloc(tensor_count(&tensor[i]), sizeof *data[i]);
    random_seed(&random, 7);
    operation->generate(&problem, &random, data);
    Observed observed = {.output = data[2]};
    convolve(&submission, &problem, (const float *const *)data, data[2]);
    assert_int_equal(verify_output(operation, &problem, PRECISION_FP32, (const float *const *)data,
                                   &observed, &judgement, &error),
                     0);
    *verdict = judgement.verdict;
    diagnose(&judgement, convolve, &submission, found);
    judgement_free(&judgement);
    for (int i = 0; i < 3; i++)
        free(data[i]);
}

#define UNEVEN "N=3 C=4 H=7 W=9 K=5 R=3 S=2 pad=1,0,2,1 stride=1,2"

static void each_layout_is_judged_by_its_own_order(void **state)
{
    static const char *const WORD[] = {"", " layout=nhwc", " layout=chwn"};
    (void)state;
    for (int own = CONV_NCHW; own <= CONV_CHWN; own++)
        for (int used = CONV_NCHW; used <= CONV_CHWN; used++) {
            char shape[128] = UNEVEN;
            Verdict verdict;
            Finding found;
            strcat(shape, WORD[own]);
            judge(shape, (Submission){.x = used, .w = used, .y = used}, &verdict, &found);
            assert_int_equal(verdict.correct, own == used);
            assert_int_equal(verdict.wrong == 0, own == used);
        }
}

static void another_order_is_named(void **state)
{
    Verdict verdict;
    Finding found;
    (void)state;
    judge(UNEVEN " layout=chwn", (Submission){CONV_CHWN, CONV_CHWN, CONV_NCHW, 0, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "writes as y[n][k][p][q], though it is y[k][p][q][n]"));
    judge(UNEVEN " layout=nhwc", (Submission){CONV_NHWC, CONV_NCHW, CONV_NHWC, 0, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "reads as w[k][c][r][s], though it is w[k][r][s][c]"));
    assert_null(strstr(found.text, "y["));
    judge(UNEVEN " layout=nhwc", (Submission){CONV_CHWN, CONV_CHWN, CONV_CHWN, 0, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "x[c][h][w][n]"));
}

static void other_faults_are_reported_in_nkpq(void **state)
{
    Verdict verdict;
    Finding found;
    (void)state;
    judge(UNEVEN " layout=chwn", (Submission){CONV_CHWN, CONV_CHWN, CONV_CHWN, 1, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_FLIPPED_FILTER);
    assert_memory_equal(verdict.where, "(n,k,p,q) = (0,0,0,0)", 21);
}

static void reversed_axes_are_judged_in_any_layout(void **state)
{
    static const char *const WORD[] = {"", " layout=nhwc", " layout=chwn"};
    const unsigned axes = 1u << 2 | 1u << 6 | 1u << 7 | 1u << 10, one = 1u << 10;
    Verdict verdict;
    Finding found;
    (void)state;
    for (int own = CONV_NCHW; own <= CONV_CHWN; own++) {
        char shape[128];
        snprintf(shape, sizeof shape, "%s%s reversed=w.r,x.h,y.p,w.s", UNEVEN, WORD[own]);
        judge(shape, (Submission){own, own, own, 0, axes}, &verdict, &found);
        assert_true(verdict.correct);
        judge(shape, (Submission){own, own, own, 0, 0}, &verdict, &found);
        assert_int_equal(found.fault, FAULT_LAYOUT);
        assert_non_null(strstr(found.text, "last index first along x.h, w.r, w.s, y.p:"));
        judge(shape, (Submission){own, own, own, 0, axes & ~one}, &verdict, &found);
        assert_int_equal(found.fault, FAULT_LAYOUT);
        assert_non_null(strstr(found.text, "first along y.p:"));
    }
}

static void other_faults_are_found_with_reversed_axes(void **state)
{
    const unsigned axes = 1u << 2 | 1u << 10;
    Verdict verdict;
    Finding found;
    (void)state;
    judge(UNEVEN " reversed=x.h,y.p", (Submission){0, 0, 0, 1, axes}, &verdict, &found);
    assert_int_equal(found.fault, FAULT_FLIPPED_FILTER);
}

static void reversed_axes_are_read_and_printed(void **state)
{
    const Operation *operation = operation_find("conv_forward");
    Problem problem, plain;
    char text[256];
    Error error = {""};
    (void)state;
    assert_int_equal(operation->parse(UNEVEN " reversed=y.p,x.n", &problem, &error), 0);
    assert_int_equal(conv_reversed(&problem), 1u << 10 | 1);
    operation->print(&problem, text, sizeof text);
    assert_string_equal(text, UNEVEN " reversed=x.n,y.p");
    assert_int_equal(operation->parse(UNEVEN, &plain, &error), 0);
    assert_int_equal(plain.bytes, sizeof(ConvProblem));
    assert_int_equal(operation->parse(UNEVEN " reversed=x.r", &problem, &error), -1);
    assert_non_null(strstr(error.text, "\"x.r\" is no axis, such as x.h"));
    assert_int_equal(operation->parse(UNEVEN " pool=2 reversed=x.n", &problem, &error), -1);
    assert_non_null(strstr(error.text, "without pool"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layout_is_judged_by_its_own_order),
        cmocka_unit_test(another_order_is_named),
        cmocka_unit_test(other_faults_are_reported_in_nkpq),
        cmocka_unit_test(reversed_axes_are_judged_in_any_layout),
        cmocka_unit_test(other_faults_are_found_with_reversed_axes),
        cmocka_unit_test(reversed_axes_are_read_and_printed),
    };
    return cmocka_run_group_tests_name("conv/diagnosis/order", tests, NULL, NULL);
}
