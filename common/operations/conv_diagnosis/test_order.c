/* test_order.c - judgement and diagnosis of tensors in other layouts than NCHW.  The convolutions
 * here follow the definition, with their own index functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

/* Mistakes of a submission: the order in which it reads each tensor, and the filter's. */
typedef struct Submission {
    int x, w, y, flip;
} Submission;

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
                                sum += tensor[0][index_of(s->x, xe, n, c, h, w)] *
                                       tensor[1][index_of(s->w, we, k, c, r, t)];
                        }
                    y[index_of(s->y, ye, n, k, p, q)] = sum;
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
    judge(UNEVEN " layout=chwn", (Submission){CONV_CHWN, CONV_CHWN, CONV_NCHW, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "writes as y[n][k][p][q], though it is y[k][p][q][n]"));
    judge(UNEVEN " layout=nhwc", (Submission){CONV_NHWC, CONV_NCHW, CONV_NHWC, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "reads as w[k][c][r][s], though it is w[k][r][s][c]"));
    assert_null(strstr(found.text, "y["));
    judge(UNEVEN " layout=nhwc", (Submission){CONV_CHWN, CONV_CHWN, CONV_CHWN, 0}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_LAYOUT);
    assert_non_null(strstr(found.text, "x[c][h][w][n]"));
}

static void other_faults_are_told_in_nkpq(void **state)
{
    Verdict verdict;
    Finding found;
    (void)state;
    judge(UNEVEN " layout=chwn", (Submission){CONV_CHWN, CONV_CHWN, CONV_CHWN, 1}, &verdict,
          &found);
    assert_int_equal(found.fault, FAULT_FLIPPED_FILTER);
    assert_memory_equal(verdict.where, "(n,k,p,q) = (0,0,0,0)", 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layout_is_judged_by_its_own_order),
        cmocka_unit_test(another_order_is_named),
        cmocka_unit_test(other_faults_are_told_in_nkpq),
    };
    return cmocka_run_group_tests_name("conv/diagnosis/order", tests, NULL, NULL);
}
