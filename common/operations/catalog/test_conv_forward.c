/* test_operation.c - conv_forward as an Operation: text, hidden problems, inputs, oracle. */
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
#include "common/operations/catalog/operations.h"
#include "convlab/conv.h"

static const Operation *operation;

static ConvProblem conv_of(const Problem *problem)
{
    ConvProblem conv;
    assert_int_equal(problem->bytes, sizeof conv);
    memcpy(&conv, problem->data, sizeof conv);
    return conv;
}

static ConvProblem parsed(const char *text, Problem *problem)
{
    Error error = {""};
    if (operation->parse(text, problem, &error)) fail_msg("%s: %s", text, error.text);
    return conv_of(problem);
}

static void refused(const char *text, const char *because)
{
    Problem problem;
    Error error = {""};
    if (operation->parse(text, &problem, &error) != -1) fail_msg("accepted: %s", text);
    if (!strstr(error.text, because))
        fail_msg("%s: \"%s\" lacks \"%s\"", text, error.text, because);
}

/* ---- text -------------------------------------------------------------------------------- */

static void shapes_of_real_layers(void **state)
{
    (void)state;
    Problem problem;
    ConvProblem c = parsed("N=4 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1", &problem);
    assert_int_equal(c.P, 28);
    assert_int_equal(c.Q, 28);
    /* AlexNet conv1 as printed in its paper is consistent only with 227 pixels. */
    c = parsed("stride=4 pad=0 R=11 S=11 N=1 C=3 K=96 H=227 W=227", &problem);
    assert_int_equal(c.P, 55);
    c = parsed("N=1 C=3 H=224 W=224 K=64 R=3 S=3 pad=1 stride=1", &problem);
    assert_int_equal(c.P, 224);
    assert_int_equal(operation->flops(&problem), 2.0 * 64 * 224 * 224 * 27);
    assert_int_equal(operation->least_bytes(&problem),
                     4.0 * (3 * 224 * 224 + 64 * 27 + 64 * 224 * 224));
    c = parsed("N=1 C=1 H=9 W=10 K=1 R=2 S=3 pad=1,2,3,4 stride=2,3", &problem);
    assert_int_equal(c.pad_top, 1);
    assert_int_equal(c.pad_left, 2);
    assert_int_equal(c.pad_bottom, 3);
    assert_int_equal(c.pad_right, 4);
    assert_int_equal(c.P, (9 + 4 - 2) / 2 + 1);
    assert_int_equal(c.Q, (10 + 6 - 3) / 3 + 1);
}

static void same_padding_of_even_filters_is_asymmetric(void **state)
{
    (void)state;
    static const struct {
        int taps, before, after;
    } expected[] = {{8, 3, 4}, {4, 1, 2}, {2, 0, 1}, {1, 0, 0}, {3, 1, 1}, {5, 2, 2}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[128];
        snprintf(text, sizeof text, "N=1 C=1 H=12 W=32 K=1 R=%d S=%d pad=same stride=1",
                 expected[i].taps, expected[i].taps);
        Problem problem;
        ConvProblem c = parsed(text, &problem);
        assert_int_equal(c.pad_top, expected[i].before);
        assert_int_equal(c.pad_bottom, expected[i].after);
        assert_int_equal(c.pad_left, expected[i].before);
        assert_int_equal(c.pad_right, expected[i].after);
        assert_int_equal(c.P, 12);
        assert_int_equal(c.Q, 32);
    }
}

/* ceil(size / stride) outputs; 224, 7x7, stride 2 needs 5 zeros: 2 before, 3 after. */
static void same_padding_with_a_stride(void **state)
{
    (void)state;
    Problem problem;
    ConvProblem c = parsed("N=1 C=3 H=224 W=225 K=4 R=7 S=7 pad=same stride=2", &problem);
    assert_int_equal(c.P, 112);
    assert_int_equal(c.pad_top, 2);
    assert_int_equal(c.pad_bottom, 3);
    assert_int_equal(c.Q, 113);
    assert_int_equal(c.pad_left, 3);
    assert_int_equal(c.pad_right, 3);
    /* A stride larger than the filter needs none. */
    c = parsed("N=1 C=3 H=10 W=11 K=4 R=1 S=2 pad=same stride=3", &problem);
    assert_int_equal(c.P, 4);
    assert_int_equal(c.pad_top + c.pad_bottom, 0);
    assert_int_equal(c.Q, 4);
    assert_int_equal(c.pad_left + c.pad_right, 0);
}

static void bad_shapes_are_rejected_by_name(void **state)
{
    (void)state;
    refused("N=1 C=1 H=9 W=9 K=1 R=3 S=3 pad=1 stride=1 zeros=101", "at most 100 percent");
    refused("N=1 C=1 H=9 W=9 K=1 R=3 S=3 pad=1 stride=1 zeros=9,101", "at most 100 percent");
    refused("N=1 C=1 H=9 W=9 K=1 R=3 S=3 pad=1 stride=1 zeros=1,2,3", "more than 2 numbers");
    refused("N=1 C=1 H=9 W=9 K=1 R=3 S=3 pad=1 stride=1 pool=10", "pool=10 does not fit");
    refused("N=1 C=1 H=9 W=9 K=1 R=3 S=3 pad=1 stride=1 pool=2 layout=nhwc", "layout=nchw only");
    refused("", "missing: N C H W K R S pad stride");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 pad=1 stride=1", "missing: S");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1 D=2", "unknown key \"D\"");
    refused("N=1 C=2 H=8 W=8 K=2 R=3 S=3 pad=1 stride=1 groups=2",
            "groups=2: every filter of this operation reads all channels, and its taps are "
            "adjacent; grouped_forward (lab 21) has groups and dilation");
    refused("N=1 N=2 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1", "N is given twice");
    refused("N=0 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1", "N is 0");
    refused("N=1 C=-1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1", "C: ");
    refused("N=1 C=1 H=8.5 W=8 K=1 R=3 S=3 pad=1 stride=1", "H=8.5");
    refused("N=1 C=1 H= W=8 K=1 R=3 S=3 pad=1 stride=1", "H: ");
    refused("N=1 C=1 H=0x8 W=8 K=1 R=3 S=3 pad=1 stride=1", "H=0x8");
    refused("N=1 C=1 H=8,8 W=8 K=1 R=3 S=3 pad=1 stride=1", "H=8,8");
    refused("N=1 C=1 H=8 W K=1 R=3 S=3 pad=1 stride=1", "\"W\"");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1,2 stride=1", "pad=1,2");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1,2,3,4,5 stride=1", "pad=1,2,3,4,5");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=full stride=1", "pad: ");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=0", "stride (height) is 0");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1,0", "stride (width) is 0");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=same stride=0", "stride (height) is 0");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1,2,3", "stride=1,2,3");
    refused("N=1 C=1 H=4 W=8 K=1 R=5 S=3 pad=0 stride=1", "P would be 0");
    refused("N=1 C=1 H=8 W=4 K=1 R=3 S=9 pad=1 stride=1", "Q would be -2");
    refused("N=1 C=1 H=8 W=4 K=1 R=3 S=9 pad=1 stride=2", "Q would be -1");
}

static void overflowing_shapes_are_rejected_by_name(void **state)
{
    (void)state;
    refused("N=2147483648 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1", "N: 2147483648 is too large");
    refused("N=99999999999999999999999 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=1", "too large");
    refused("N=2147483647 C=2147483647 H=2147483647 W=2147483647 K=1 R=3 S=3 pad=1 stride=1",
            "H with its padding");
    refused("N=65536 C=1 H=256 W=128 K=1 R=3 S=3 pad=1 stride=1", "tensor x");
    refused("N=1 C=65536 H=3 W=3 K=65536 R=3 S=3 pad=1 stride=1", "tensor w");
    refused("N=1024 C=1 H=64 W=64 K=1024 R=1 S=1 pad=0 stride=1", "tensor y");
    refused("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=2147483647 stride=1", "H with its padding");
    /* Exactly 2^31-1 elements are allowed. */
    Problem problem;
    parsed("N=1 C=1 H=1 W=2147483647 K=1 R=1 S=1 pad=0 stride=1", &problem);
    parsed("N=1 C=1 H=8 W=8 K=1 R=3 S=3 pad=1 stride=2147483647", &problem);
}

static void printing_is_canonical_and_reads_back(void **state)
{
    (void)state;
    static const char *const text[][2] = {
        {"K=6 N=4 S=5 R=5 C=1 W=32 H=32 stride=1,1 pad=0",
         "N=4 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1"},
        {"N=1 C=2 H=12 W=32 K=3 R=8 S=4 pad=same stride=1",
         "N=1 C=2 H=12 W=32 K=3 R=8 S=4 pad=same stride=1"},
        {"N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1,1,1,1 stride=2,1",
         "N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=2,1"},
        {"N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=0,1,2,1 stride=3",
         "N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=0,1,2,1 stride=3"},
        {"pool=2 zeros=70 N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1",
         "N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1 zeros=70 pool=2"},
        {"zeros=0,50 N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1",
         "N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1 zeros=0,50"},
        {"zeros=70,0 N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1",
         "N=1 C=2 H=9 W=9 K=3 R=3 S=3 pad=1 stride=1 zeros=70"},
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        Problem problem, again;
        char printed[256];
        parsed(text[i][0], &problem);
        operation->print(&problem, printed, sizeof printed);
        assert_string_equal(printed, text[i][1]);
        parsed(printed, &again);
        assert_memory_equal(&problem, &again, sizeof problem);
        char cut[8];
        operation->print(&problem, cut, sizeof cut);
        assert_int_equal(strlen(cut), 7);
    }
}

/* Mutated shapes must be rejected or give a valid problem that prints and parses back unchanged;
 * ASan and UBSan check it. */
static void parsing_survives_mutations(void **state)
{
    (void)state;
    static const char seed_text[] = "N=16 C=3 H=224 W=31 K=64 R=7 S=4 pad=3,1,2,0 stride=2,1";
    static const char bytes[] = "0123456789=,-+. \t\nNCHWKRSpadstridesamevalid\xff\x80%xE\x01";
    const uint64_t seed = 20240917;
    print_message("parse fuzz: seed %llu\n", (unsigned long long)seed);
    Random random;
    random_seed(&random, seed);
    int accepted = 0;
    for (int round = 0; round < 200000; round++) {
        char text[sizeof seed_text + 64];
        strcpy(text, seed_text);
        for (int edits = random_range(&random, 1, 4); edits > 0; edits--) {
            size_t length = strlen(text);
            size_t at = (size_t)random_range(&random, 0, (int)length);
            char byte = bytes[random_range(&random, 0, sizeof bytes - 2)];
            int kind = random_range(&random, 0, 3);
            if (kind == 0 && at < length) text[at] = byte;
            if (kind == 1 && at < length) memmove(text + at, text + at + 1, length - at);
            if (kind == 2 && length + 1 < sizeof text) {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = byte;
            }
            if (kind == 3 && edits == 1) text[at] = '\0';
        }
        Problem problem, again;
        Error error = {""};
        if (operation->parse(text, &problem, &error)) {
            assert_true(error.text[0] != '\0');
            assert_null(strchr(error.text, '\n'));
            continue;
        }
        accepted++;
        char printed[256];
        operation->print(&problem, printed, sizeof printed);
        parsed(printed, &again);
        assert_memory_equal(&problem, &again, sizeof problem);
        ConvProblem c = conv_of(&problem);
        assert_true(c.P > 0 && c.Q > 0);
        assert_true((double)c.N * c.K * c.P * c.Q <= 2147483647.0);
    }
    assert_true(accepted > 1000);
}

/* ---- hidden problems --------------------------------------------------------------------- */

static int is_prime(int number)
{
    for (int i = 2; i * i <= number; i++)
        if (number % i == 0) return 0;
    return number > 1;
}

static void check_kind(int kind, const ConvProblem *c)
{
    switch (kind) {
    case 0:
        assert_true(c->H % 2 && c->W % 2 && c->R % 2);
        break;
    case 1:
        assert_true(is_prime(c->H) && is_prime(c->W) && is_prime(c->R) && is_prime(c->S));
        break;
    case 2:
        assert_true(c->H != c->W && c->R != c->S);
        break;
    case 3:
        assert_true(c->R % 2 == 0 && c->S % 2 == 0);
        assert_int_equal(c->pad_top, (c->R - 1) / 2);
        assert_int_equal(c->pad_bottom, c->R / 2);
        break;
    case 4:
        assert_true((c->P == 17 || c->P == 31 || c->P == 33) &&
                    (c->Q == 17 || c->Q == 31 || c->Q == 33));
        break;
    case 5:
        assert_true(c->stride_h > c->stride_w);
        break;
    case 6:
        assert_true(c->pad_top != c->pad_bottom && c->pad_left != c->pad_right);
        break;
    case 7:
        assert_true(c->N > 1 && c->C % 2);
        break;
    case 8:
        assert_true(c->R == 1 && c->S == 1);
        break;
    case 9:
        assert_true(c->Q == 1 && c->P > 1);
        break;
    case 10:
        assert_true(c->P == 1 && c->Q > 1);
        break;
    case 11:
        assert_true(c->P == 1 && c->Q == 1 && c->R > c->H && c->S > c->W);
        break;
    case 12:
        assert_true(c->N == 1 && c->C == 1 && c->K == 1);
        break;
    case 13:
        assert_true(c->H < c->R && c->W < c->S && c->P > 1 && c->Q > 1);
        break;
    case 14:
        assert_true(c->stride_h > c->R && c->stride_w > c->S && c->P > 1 && c->Q > 1);
        break;
    case 15:
        assert_true(c->P % 8 == 0 && c->Q % 16 == 0 && c->K % 8 == 0 && c->C % 4 == 0);
        break;
    default:
        assert_true(c->stride_w > c->stride_h);
    }
}

static void hidden_problems_have_the_cases_kind_and_fit(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 3);
    int uneven_stride = 0;
    for (int index = 0; index < CONV_KINDS * 200; index++) {
        Problem problem, again;
        operation->draw(&random, index, 2e6, &problem);
        ConvProblem c = conv_of(&problem);
        check_kind(index % CONV_KINDS, &c);
        uneven_stride += c.stride_h != c.stride_w;
        assert_true(operation->flops(&problem) <= 2 * 2e6);
        char text[256];
        operation->print(&problem, text, sizeof text);
        parsed(text, &again); /* valid, and derived sizes agree */
        assert_memory_equal(&problem, &again, sizeof problem);
    }
    assert_true(uneven_stride > 50);
}

/* An impossible limit still gives a small valid problem; odd filters stay odd, even ones even. */
static void hidden_problems_are_small_where_they_must(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 4);
    for (int index = 0; index < CONV_KINDS * 200; index++) {
        Problem problem, again;
        char text[256];
        operation->draw(&random, index, 10, &problem);
        ConvProblem c = conv_of(&problem);
        assert_true(operation->flops(&problem) <= 2 * 2500);
        if (index % CONV_KINDS == 0) assert_true(c.R % 2 == 1 && c.S == c.R && c.P == c.H);
        if (index % CONV_KINDS == 3) assert_true(c.R % 2 == 0 && c.S % 2 == 0 && c.P == c.H);
        operation->print(&problem, text, sizeof text);
        parsed(text, &again);
        assert_memory_equal(&problem, &again, sizeof problem);
    }
}

/* ---- inputs and oracle ------------------------------------------------------------------- */

typedef struct Tensors {
    float *tensor[3];
    size_t count[3];
} Tensors;

static Tensors tensors_make(const Problem *problem, uint64_t seed)
{
    TensorShape shape[OPERATION_TENSORS];
    Tensors t;
    assert_int_equal(operation->tensors(problem, shape), 3);
    for (int i = 0; i < 3; i++) {
        t.count[i] = tensor_count(&shape[i]);
        t.tensor[i] = malloc(t.count[i] * sizeof(float));
        assert_non_null(t.tensor[i]);
    }
    Random random;
    random_seed(&random, seed);
    operation->generate(problem, &random, t.tensor);
    return t;
}

static void tensors_free(Tensors *t)
{
    for (int i = 0; i < 3; i++)
        free(t->tensor[i]);
}

static void inputs_are_wide_and_never_zero(void **state)
{
    (void)state;
    Problem problem;
    parsed("N=2 C=3 H=16 W=16 K=8 R=5 S=5 pad=valid stride=1", &problem);
    Tensors t = tensors_make(&problem, 7);
    for (int i = 0; i < 2; i++) {
        float least = INFINITY, most = 0;
        for (size_t j = 0; j < t.count[i]; j++) {
            assert_true(isnormal(t.tensor[i][j]));
            least = fminf(least, fabsf(t.tensor[i][j]));
            most = fmaxf(most, fabsf(t.tensor[i][j]));
        }
        assert_true(most / least > 1000);
    }
    tensors_free(&t);
}

/* The exact number of zeros, evenly distributed over w: each filter's share is close to the
 * whole's. */
static void weights_have_the_requested_zeros(void **state)
{
    (void)state;
    static const int percent[] = {0, 1, 30, 70, 99, 100};
    for (size_t i = 0; i < sizeof percent / sizeof *percent; i++) {
        enum { K = 8, TAPS = 50 * 9 };
        char text[128];
        Problem problem;
        snprintf(text, sizeof text, "N=1 C=50 H=9 W=9 K=8 R=3 S=3 pad=1 stride=1 zeros=0,%d",
                 percent[i]);
        parsed(text, &problem);
        Tensors t = tensors_make(&problem, 8);
        int zeros = 0;
        for (int k = 0; k < K; k++) {
            int here = 0;
            for (int j = 0; j < TAPS; j++)
                here += t.tensor[1][k * TAPS + j] == 0;
            assert_true(abs(100 * here - percent[i] * TAPS) <= 12 * TAPS);
            zeros += here;
        }
        assert_int_equal(zeros, K * TAPS * percent[i] / 100);
        for (size_t j = 0; j < t.count[0]; j++)
            assert_true(t.tensor[0][j] != 0);
        tensors_free(&t);
    }
}

/* The definition with seven loops: adds every tap of every output. */
static void plain_oracle(const ConvProblem *c, const float *x, const float *w, double *y,
                         double *magnitude, double *terms)
{
    for (int n = 0; n < c->N; n++)
        for (int k = 0; k < c->K; k++)
            for (int p = 0; p < c->P; p++)
                for (int q = 0; q < c->Q; q++) {
                    size_t at = (((size_t)n * c->K + k) * c->P + p) * c->Q + q;
                    y[at] = magnitude[at] = terms[at] = 0;
                    for (int i = 0; i < c->C; i++)
                        for (int r = 0; r < c->R; r++)
                            for (int s = 0; s < c->S; s++) {
                                int h = p * c->stride_h + r - c->pad_top;
                                int v = q * c->stride_w + s - c->pad_left;
                                if (h < 0 || h >= c->H || v < 0 || v >= c->W) continue;
                                double a = x[(((size_t)n * c->C + i) * c->H + h) * c->W + v];
                                double b = w[(((size_t)k * c->C + i) * c->R + r) * c->S + s];
                                y[at] += a * b;
                                magnitude[at] += fabs(a * b);
                                terms[at]++;
                            }
                }
}

static void check_oracle(const Problem *problem, uint64_t seed)
{
    ConvProblem c = conv_of(problem);
    Tensors t = tensors_make(problem, seed);
    size_t total = t.count[2];
    double *mine = malloc(3 * total * sizeof(double)), *plain = malloc(3 * total * sizeof(double));
    operation->oracle(problem, (const float *const *)t.tensor, mine, mine + total,
                      mine + 2 * total);
    plain_oracle(&c, t.tensor[0], t.tensor[1], plain, plain + total, plain + 2 * total);
    for (size_t i = 0; i < total; i++) {
        double slack = plain[2 * total + i] * 0x1p-52 * plain[total + i];
        assert_true(fabs(mine[i] - plain[i]) <= slack);
        assert_true(fabs(mine[total + i] - plain[total + i]) <= slack);
        assert_true(mine[2 * total + i] == plain[2 * total + i]);
    }
    free(mine);
    free(plain);
    tensors_free(&t);
}

static void oracle_is_the_definition(void **state)
{
    (void)state;
    static const char *const text[] = {
        "N=1 C=1 H=1 W=1 K=1 R=1 S=1 pad=valid stride=1",
        "N=2 C=3 H=9 W=20 K=4 R=3 S=5 pad=same stride=1",
        "N=1 C=2 H=12 W=12 K=3 R=8 S=8 pad=same stride=1",
        "N=1 C=2 H=13 W=17 K=3 R=4 S=3 pad=2,0,1,3 stride=2,3",
        "N=1 C=2 H=13 W=17 K=3 R=3 S=7 pad=same stride=3,5",
        "N=1 C=2 H=11 W=14 K=3 R=2 S=2 pad=1 stride=4", /* stride larger than the filter */
        "N=1 C=1 H=4 W=4 K=2 R=2 S=2 pad=5 stride=1",   /* windows completely in the padding */
        "N=1 C=1 H=4 W=4 K=2 R=2 S=2 pad=5,6,0,9 stride=3,2",
        "N=2 C=16 H=40 W=41 K=32 R=3 S=3 pad=1 stride=1", /* large enough for two threads */
        "N=5 C=64 H=1 W=1 K=17 R=1 S=1 pad=0 stride=7",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        Problem problem;
        parsed(text[i], &problem);
        check_oracle(&problem, 100 + i);
    }
    Random random;
    random_seed(&random, 5);
    for (int index = 0; index < 3 * CONV_KINDS; index++) {
        Problem problem;
        operation->draw(&random, index, 3e5, &problem);
        check_oracle(&problem, 200 + index);
    }
}

/* VGG-16's first layer: 87 M multiply-adds; the limit allows for sanitizers and a busy machine. */
/* 7x7 outputs, pooled by 2: the last row and column are dropped. */
static void pooled_oracle_is_the_maximum_of_the_plain(void **state)
{
    (void)state;
    Problem plain, pooled;
    TensorShape shape[OPERATION_TENSORS];
    Random random;
    double y[2 * 3 * 49], magnitude[294], terms[294], small[54], bound[54], count[54];
    parsed("N=2 C=3 H=8 W=8 K=3 R=2 S=2 pad=valid stride=1", &plain);
    parsed("N=2 C=3 H=8 W=8 K=3 R=2 S=2 pad=valid stride=1 pool=2", &pooled);
    operation->tensors(&pooled, shape);
    assert_int_equal(tensor_count(&shape[2]), 54);
    float x[2 * 3 * 64], w[3 * 3 * 4];
    float *tensor[] = {x, w, NULL};
    random_seed(&random, 7);
    operation->generate(&plain, &random, tensor);
    operation->oracle(&plain, (const float *const *)tensor, y, magnitude, terms);
    operation->oracle(&pooled, (const float *const *)tensor, small, bound, count);
    for (int i = 0; i < 54; i++) {
        int map = i / 9, p = i / 3 % 3 * 2, q = i % 3 * 2;
        double most = -INFINITY, widest = 0;
        for (int j = 0; j < 4; j++) {
            most = fmax(most, y[map * 49 + (p + j / 2) * 7 + q + j % 2]);
            widest = fmax(widest, magnitude[map * 49 + (p + j / 2) * 7 + q + j % 2]);
        }
        assert_float_equal(small[i], most, 1e-9 * widest);
        assert_float_equal(bound[i], widest, 1e-9 * widest);
        assert_true(count[i] == 12);
    }
}

static void operations_are_found_by_name(void **state)
{
    (void)state;
    assert_string_equal(operation_find("conv_forward")->name, "conv_forward");
    assert_null(operation_find("conv_sideways"));
    assert_non_null(strstr(operation_names(), "conv_forward"));
}

#define LOPSIDED "N=3 C=4 H=7 W=9 K=5 R=3 S=2 pad=1,0,2,1 stride=1,2"

static void shapes_follow_the_layout(void **state)
{
    const Operation *operation = operation_find("conv_forward");
    Problem problem;
    TensorShape tensor[OPERATION_TENSORS];
    char text[128];
    Error error = {""};
    (void)state;
    assert_int_equal(operation->parse("layout=chwn " LOPSIDED, &problem, &error), 0);
    operation->print(&problem, text, sizeof text);
    assert_string_equal(text, LOPSIDED " layout=chwn");
    operation->tensors(&problem, tensor);
    assert_int_equal(tensor[1].dim[0], 4);
    assert_int_equal(tensor[1].dim[3], 5);
    assert_string_equal(tensor[1].axes[3], "k");
    assert_string_equal(tensor[2].axes[0], "k");
    assert_string_equal(tensor[0].axes[3], "n");
    assert_int_equal(operation->parse(LOPSIDED " layout=nchw", &problem, &error), 0);
    operation->print(&problem, text, sizeof text);
    assert_string_equal(text, LOPSIDED);
    assert_int_equal(operation->parse(LOPSIDED " layout=hwcn", &problem, &error), -1);
    assert_string_equal(error.text, "layout=hwcn: give nchw, nhwc or chwn");
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_found_by_name),
        cmocka_unit_test(shapes_of_real_layers),
        cmocka_unit_test(same_padding_of_even_filters_is_asymmetric),
        cmocka_unit_test(same_padding_with_a_stride),
        cmocka_unit_test(bad_shapes_are_rejected_by_name),
        cmocka_unit_test(overflowing_shapes_are_rejected_by_name),
        cmocka_unit_test(printing_is_canonical_and_reads_back),
        cmocka_unit_test(parsing_survives_mutations),
        cmocka_unit_test(shapes_follow_the_layout),
        cmocka_unit_test(hidden_problems_have_the_cases_kind_and_fit),
        cmocka_unit_test(hidden_problems_are_small_where_they_must),
        cmocka_unit_test(inputs_are_wide_and_never_zero),
        cmocka_unit_test(weights_have_the_requested_zeros),
        cmocka_unit_test(oracle_is_the_definition),
        cmocka_unit_test(pooled_oracle_is_the_maximum_of_the_plain),
    };
    return cmocka_run_group_tests_name("conv/operation", tests, NULL, NULL);
}
