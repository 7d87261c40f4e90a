/* test_conv_backward.c - the two gradients as Operations: text, hidden problems, and oracles
 * compared with differences of the loss and with PyTorch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/catalog/conv_backward.h"
#include "common/operations/catalog/operations.h"

static const char *const SHAPES[] = {
    "N=2 C=3 H=7 W=6 K=4 R=3 S=3 pad=valid stride=1",
    "N=2 C=2 H=6 W=7 K=3 R=3 S=3 pad=same stride=1",
    "N=1 C=3 H=8 W=5 K=2 R=4 S=2 pad=1,0,2,1 stride=1",   /* even filters, asymmetric padding */
    "N=3 C=2 H=9 W=8 K=2 R=3 S=2 pad=2,1,0,2 stride=2,3", /* different strides */
    "N=2 C=2 H=9 W=10 K=3 R=2 S=1 pad=0,1,0,0 stride=3",  /* gaps between the windows */
    "N=1 C=2 H=10 W=9 K=2 R=3 S=2 pad=valid stride=4,3",  /* leftover rows and columns */
    "N=1 C=1 H=3 W=4 K=2 R=2 S=2 pad=4 stride=1",         /* windows in the padding only */
    "N=1 C=2 H=2 W=2 K=1 R=5 S=4 pad=3,3,2,1 stride=1",   /* a filter larger than the image */
    "N=2 C=1 H=1 W=9 K=9 R=1 S=3 pad=same stride=5,2",    /* more phases than rows */
    "N=1 C=5 H=5 W=5 K=17 R=1 S=1 pad=valid stride=1",
};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

/* Inputs and results of one operation. */
typedef struct Sum {
    const Operation *operation;
    Problem problem;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS];
    size_t outputs;
    double *expected, *magnitude, *terms;
} Sum;

static void *have(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    assert_non_null(memory);
    return memory;
}

static Sum sum_make(const char *name, const Problem *problem, uint64_t seed)
{
    Sum sum = {.operation = operation_find(name), .problem = *problem};
    Random random;
    assert_non_null(sum.operation);
    int count = sum.operation->tensors(problem, sum.shape);
    for (int i = 0; i < count; i++)
        sum.tensor[i] = have(tensor_count(&sum.shape[i]), sizeof(float));
    random_seed(&random, seed);
    sum.operation->generate(problem, &random, sum.tensor);
    sum.outputs = tensor_count(&sum.shape[count - 1]);
    sum.expected = have(sum.outputs, sizeof(double));
    sum.magnitude = have(sum.outputs, sizeof(double));
    sum.terms = have(sum.outputs, sizeof(double));
    return sum;
}

static void sum_free(Sum *sum)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        free(sum->tensor[i]);
    free(sum->expected);
    free(sum->magnitude);
    free(sum->terms);
}

static void sum_solve(Sum *sum)
{
    sum->operation->oracle(&sum->problem, (const float *const *)sum->tensor, sum->expected,
                           sum->magnitude, sum->terms);
}

static Problem parsed(const char *text)
{
    Problem problem;
    Error error = {""};
    if (operation_find("conv_backward_data")->parse(text, &problem, &error))
        fail_msg("%s: %s", text, error.text);
    return problem;
}

/* ---- the gradient check ------------------------------------------------------------------ */

/* The loss E = sum over y of dy * y, so dE/dy is dy. */
static double loss(Sum *forward, const float *dy)
{
    double sum = 0;
    sum_solve(forward);
    for (size_t i = 0; i < forward->outputs; i++)
        sum += dy[i] * forward->expected[i];
    return sum;
}

/* (E(v + e) - E(v - e)) / 2e of every element v of the forward operation's input `which`.  E is
 * linear in each, so the quotient has only fp64's error; e = |v| keeps v + e and v - e exact in
 * fp32. */
static void differences_agree(Sum *forward, int which, const float *dy, const Sum *backward,
                              const char *text)
{
    for (size_t i = 0; i < backward->outputs; i++) {
        float *at = &forward->tensor[which][i], value = *at, step = fabsf(value);
        *at = value + step;
        double above = loss(forward, dy);
        *at = value - step;
        double below = loss(forward, dy);
        *at = value;
        double slope = (above - below) / (2.0 * step);
        double slack = 1e-12 * (fabs(above) + fabs(below)) / step + 1e-9 * backward->magnitude[i];
        if (!(fabs(slope - backward->expected[i]) <= slack))
            fail_msg("%s, input %d, element %zu: slope %.12g, oracle %.12g", text, which, i, slope,
                     backward->expected[i]);
    }
}

static void oracles_are_gradients_of_the_loss(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES_COUNT; i++) {
        Problem problem = parsed(SHAPES[i]);
        Sum forward = sum_make("conv_forward", &problem, 3);
        Sum data = sum_make("conv_backward_data", &problem, 4);
        Sum filter = sum_make("conv_backward_filter", &problem, 5);
        const float *dy = data.tensor[0];
        memcpy(data.tensor[1], forward.tensor[1], tensor_count(&data.shape[1]) * sizeof(float));
        memcpy(filter.tensor[0], forward.tensor[0], tensor_count(&filter.shape[0]) * sizeof(float));
        memcpy(filter.tensor[1], dy, tensor_count(&filter.shape[1]) * sizeof(float));
        sum_solve(&data);
        sum_solve(&filter);
        differences_agree(&forward, 0, dy, &data, SHAPES[i]);
        differences_agree(&forward, 1, dy, &filter, SHAPES[i]);
        sum_free(&forward);
        sum_free(&data);
        sum_free(&filter);
    }
}

/* ---- the oracle as a whole --------------------------------------------------------------- */

static void elements_agree(Sum *sum, const char *text)
{
    sum_solve(sum);
    for (size_t i = 0; i < sum->outputs; i++) {
        double value[3];
        sum->operation->oracle_element(&sum->problem, (const float *const *)sum->tensor, i, value);
        double slack = 1e-13 * value[1];
        if (fabs(value[0] - sum->expected[i]) > slack ||
            fabs(value[1] - sum->magnitude[i]) > slack || value[2] != sum->terms[i])
            fail_msg("%s %s, element %zu: %g %g %g, alone %g %g %g", sum->operation->name, text, i,
                     sum->expected[i], sum->magnitude[i], sum->terms[i], value[0], value[1],
                     value[2]);
    }
}

static void whole_and_single_elements_agree(void **state)
{
    (void)state;
    static const char *const name[] = {"conv_backward_data", "conv_backward_filter"};
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < SHAPES_COUNT; i++) {
            Problem problem = parsed(SHAPES[i]);
            Sum sum = sum_make(name[which], &problem, 7);
            elements_agree(&sum, SHAPES[i]);
            sum_free(&sum);
        }
        Random random;
        random_seed(&random, 99);
        for (int kind = 0; kind < 12; kind++) { /* large enough for several threads, too */
            char text[256];
            Problem problem;
            conv_backward_draw(&random, kind, 4e5, &problem);
            conv_print(&problem, text, sizeof text);
            Sum sum = sum_make(name[which], &problem, 8);
            elements_agree(&sum, text);
            sum_free(&sum);
        }
    }
}

/* Every term of the batch belongs to one output, and in dw each tap has all images. */
static void multiplications_are_counted_once(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES_COUNT; i++) {
        Problem problem = parsed(SHAPES[i]);
        double count[3];
        static const char *const name[] = {"conv_forward", "conv_backward_data",
                                           "conv_backward_filter"};
        for (int which = 0; which < 3; which++) {
            Sum sum = sum_make(name[which], &problem, 9);
            sum_solve(&sum);
            count[which] = 0;
            for (size_t j = 0; j < sum.outputs; j++)
                count[which] += sum.terms[j];
            sum_free(&sum);
        }
        /* y has each term once, dx and dw the same terms, added to other elements */
        assert_true(count[0] == count[1] && count[0] == count[2]);
    }
}

static void untouched_inputs_have_no_gradient(void **state)
{
    (void)state;
    Problem problem = parsed("N=1 C=1 H=10 W=7 K=2 R=2 S=1 pad=valid stride=3");
    Sum sum = sum_make("conv_backward_data", &problem, 1);
    sum_solve(&sum);
    for (int h = 0; h < 10; h++)
        for (int w = 0; w < 7; w++) {
            int touched = h % 3 < 2 && h < 8 && w % 3 == 0;
            double terms = sum.terms[h * 7 + w];
            assert_true(touched ? terms == 2 : terms == 0);
            assert_true(touched || sum.expected[h * 7 + w] == 0);
        }
    sum_free(&sum);
}

/* ---- comparison with PyTorch ------------------------------------------------------------- */

/* Element i of an input, as in common/apps/compare/gradients.py. */
static float pattern(uint64_t seed, uint64_t i)
{
    uint64_t mixed = ((i + 1) * 2654435761u + seed * 40503u) & 0xffffffffu;
    return (float)((double)(mixed >> 9) / 0x1p22 - 1);
}

/* One line of the data: operation, shape, all elements of the gradient. */
static void line_agrees(char *line)
{
    char *operation = strtok(line, "\t"), *shape = strtok(NULL, "\t"), *rest = strtok(NULL, "\n");
    assert_non_null(rest);
    Problem problem = parsed(shape);
    Sum sum = sum_make(operation, &problem, 1);
    int filter = strstr(operation, "filter") != NULL;
    const uint64_t seed[2][2] = {{3, 2}, {1, 3}}; /* x has 1, w 2, dy 3 */
    for (int input = 0; input < 2; input++)
        for (size_t i = 0; i < tensor_count(&sum.shape[input]); i++)
            sum.tensor[input][i] = pattern(seed[filter][input], i);
    sum_solve(&sum);
    for (size_t i = 0; i < sum.outputs; i++) {
        char *end;
        double theirs = strtod(rest, &end);
        if (end == rest || fabs(theirs - sum.expected[i]) > 1e-14 * sum.magnitude[i])
            fail_msg("%s %s, element %zu: %.17g, PyTorch %.17g", operation, shape, i,
                     sum.expected[i], theirs);
        rest = end;
    }
    assert_true(strspn(rest, " ") == strlen(rest));
    sum_free(&sum);
}

/* The data were computed on a GPU by common/apps/compare/gradients.sh; the file's first line has
 * the GPU and the date. */
static void pytorch_has_the_same_gradients(void **state)
{
    (void)state;
    enum { LINE = 1 << 16 };
    FILE *file = fopen("common/operations/catalog/data/gradients-torch.tsv", "r");
    assert_non_null(file);
    char *line = have(LINE, 1);
    int lines = 0;
    while (fgets(line, LINE, file)) {
        assert_non_null(strchr(line, '\n'));
        if (strncmp(line, "conv_", 5) != 0) continue;
        line_agrees(line);
        lines++;
    }
    assert_int_equal(lines, 14);
    free(line);
    fclose(file);
}

/* ---- text and hidden problems ------------------------------------------------------------ */

static void unsupported_parameters_of_gradients_are_rejected(void **state)
{
    (void)state;
    static const char *const more[] = {"layout=nhwc", "pool=2", "zeros=50", "zeros=0,50"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char text[128];
        Problem problem;
        Error error = {""};
        snprintf(text, sizeof text, "N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1 %s", more[i]);
        assert_int_equal(operation_find("conv_backward_filter")->parse(text, &problem, &error), -1);
        assert_non_null(strstr(error.text, "NCHW, dense and not pooled"));
    }
}

static void hidden_problems_are_difficult(void **state)
{
    (void)state;
    int lopsided = 0, unequal = 0, even = 0, untouched = 0, oblong = 0;
    Random random;
    random_seed(&random, 5);
    for (int i = 0; i < 96; i++) {
        Problem problem;
        Error error = {""};
        char text[256];
        conv_backward_draw(&random, i, 3e5, &problem);
        ConvProblem v = conv_unpack(&problem), again;
        conv_print(&problem, text, sizeof text);
        if (conv_backward_parse(text, &problem, &error)) fail_msg("%s: %s", text, error.text);
        again = conv_unpack(&problem);
        assert_memory_equal(&v, &again, sizeof v);
        assert_true(conv_macs(&v) <= 3e5);
        lopsided += v.pad_top != v.pad_bottom && v.pad_left != v.pad_right;
        unequal += v.stride_h != v.stride_w;
        even += v.R % 2 == 0 || v.S % 2 == 0;
        untouched += v.stride_h > v.R || v.stride_w > v.S;
        oblong += v.R != v.S && v.H != v.W;
    }
    assert_true(lopsided >= 8 && unequal >= 8 && even >= 8 && untouched >= 8 && oblong >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_are_gradients_of_the_loss),
        cmocka_unit_test(whole_and_single_elements_agree),
        cmocka_unit_test(multiplications_are_counted_once),
        cmocka_unit_test(untouched_inputs_have_no_gradient),
        cmocka_unit_test(pytorch_has_the_same_gradients),
        cmocka_unit_test(unsupported_parameters_of_gradients_are_rejected),
        cmocka_unit_test(hidden_problems_are_difficult),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
