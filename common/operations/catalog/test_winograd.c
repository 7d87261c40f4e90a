/* test_winograd.c - error bound for Winograd's F(4x4,3x3): fp32 is accepted at any number of
 * channels; tf32 in multiplications or inputs and a missing tap are rejected.  Each test prints the
 * errors. */
#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/test_transforms.h"

/* y = A'[(G g G') (B' d B)]A for SIDE x SIDE inputs d, 3x3 taps g, M x M outputs y, row by row.
 * Source: Lavin and Gray, Fast algorithms for convolutional neural networks, section 4. */
enum { MOST_SIDE = 6, TAPS = 3 };
typedef struct Form {
    int m, side;
    float inputs[MOST_SIDE * MOST_SIDE], taps[MOST_SIDE * TAPS], outputs[MOST_SIDE * MOST_SIDE];
} Form;

static const Form F2 = {2,
                        4,
                        {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1},
                        {1, 0, 0, .5f, .5f, .5f, .5f, -.5f, .5f, 0, 0, 1},
                        {1, 1, 1, 0, 0, 1, -1, -1}};
static const Form F4 = {
    4,
    6,
    {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
     0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1},
    {1 / 4.f, 0, 0, -1 / 6.f, -1 / 6.f, -1 / 6.f, -1 / 6.f, 1 / 6.f, -1 / 6.f, 1 / 24.f, 1 / 12.f,
     1 / 6.f, 1 / 24.f, -1 / 12.f, 1 / 6.f, 0, 0, 1},
    {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1}};

/* to[high][high] = matrix[high][wide] * from[wide][wide] * its transpose, in fp32. */
static void both_ways(const float *matrix, int high, int wide, const float *from, float *to)
{
    float half[MOST_SIDE * MOST_SIDE];
    for (int i = 0; i < high * wide; i++) {
        half[i] = 0;
        for (int j = 0; j < wide; j++)
            half[i] += matrix[i / wide * wide + j] * from[j * wide + i % wide];
    }
    for (int i = 0; i < high * high; i++) {
        to[i] = 0;
        for (int j = 0; j < wide; j++)
            to[i] += half[i / high * wide + j] * matrix[i % high * wide + j];
    }
}

/* The transformed filters: u[k][c][point]. */
static void filters_transform(const Bench *bench, const Form *form, Dropped drop, float *u)
{
    const int points = form->side * form->side;
    for (int i = 0; i < bench->conv.K * bench->conv.C; i++, u += points) {
        float g[TAPS * TAPS];
        for (int tap = 0; tap < TAPS * TAPS; tap++)
            g[tap] = dropped(bench->tensor[1][9 * i + tap], drop.of_inputs);
        both_ways(form->taps, form->side, TAPS, g, u);
        for (int point = 0; point < points; point++)
            u[point] = dropped(u[point], drop.of_factors);
    }
}

/* The transformed input tile of outputs (p, q) .. of image n: v[c][point]. */
static void tile_transform(const Bench *bench, const Form *form, Dropped drop, int n, int p, int q,
                           float *v)
{
    const ConvProblem *conv = &bench->conv;
    const int points = form->side * form->side;
    for (int c = 0; c < conv->C; c++, v += points) {
        const float *map = bench->tensor[0] + ((size_t)n * conv->C + c) * conv->H * conv->W;
        float d[MOST_SIDE * MOST_SIDE];
        for (int i = 0; i < points; i++) {
            int h = p + i / form->side - conv->pad_top, w = q + i % form->side - conv->pad_left;
            int inside = h >= 0 && h < conv->H && w >= 0 && w < conv->W;
            d[i] = inside ? dropped(map[h * conv->W + w], drop.of_inputs) : 0;
        }
        both_ways(form->inputs, form->side, form->side, d, v);
        for (int point = 0; point < points; point++)
            v[point] = dropped(v[point], drop.of_factors);
    }
}

static void tile_store(const Bench *bench, const Form *form, int n, int k, int p, int q,
                       const float *y)
{
    const ConvProblem *conv = &bench->conv;
    float *map = bench->tensor[2] + ((size_t)n * conv->K + k) * conv->P * conv->Q;
    for (int i = 0; i < form->m * form->m; i++) {
        int down = p + i / form->m, across = q + i % form->m;
        if (down < conv->P && across < conv->Q) map[down * conv->Q + across] = y[i];
    }
}

static void winograd(const Bench *bench, const Form *form, Dropped drop)
{
    const ConvProblem *conv = &bench->conv;
    const int points = form->side * form->side;
    float *u = malloc((size_t)conv->K * conv->C * points * sizeof *u);
    float *v = malloc((size_t)conv->C * points * sizeof *v);
    const int down = (conv->P + form->m - 1) / form->m, across = (conv->Q + form->m - 1) / form->m;
    filters_transform(bench, form, drop, u);
    for (int square = 0; square < conv->N * down * across; square++) {
        int n = square / across / down;
        int p = square / across % down * form->m, q = square % across * form->m;
        tile_transform(bench, form, drop, n, p, q, v);
        for (int k = 0; k < conv->K; k++) {
            float terms[MOST_SIDE * MOST_SIDE] = {0}, y[MOST_SIDE * MOST_SIDE];
            for (int i = 0; i < points * conv->C; i++)
                terms[i % points] =
                    fmaf(u[(size_t)k * conv->C * points + i], v[i], terms[i % points]);
            both_ways(form->outputs, form->m, form->side, terms, y);
            tile_store(bench, form, n, k, p, q, y);
        }
    }
    free(u);
    free(v);
}

/* ---- judgement --------------------------------------------------------------------------- */

static const char *const LAYERS[] = {
    "N=4 C=1 H=64 W=64 K=32 R=3 S=3 pad=1 stride=1",
    "N=1 C=2 H=64 W=63 K=32 R=3 S=3 pad=2,0,1,1 stride=1",
    "N=1 C=3 H=112 W=112 K=16 R=3 S=3 pad=valid stride=1",
    "N=1 C=16 H=56 W=56 K=16 R=3 S=3 pad=1 stride=1",
    "N=1 C=64 H=28 W=28 K=32 R=3 S=3 pad=1 stride=1",
    "N=1 C=512 H=14 W=14 K=32 R=3 S=3 pad=1 stride=1",
};
enum { LAYER_COUNT = sizeof LAYERS / sizeof *LAYERS, FEW_CHANNELS = 3 /* of them */ };

static int is_right(const char *shape, const Form *form, Dropped drop, Algorithm algorithm)
{
    Bench bench = bench_make(shape, 20);
    winograd(&bench, form, drop);
    return judged_right(&bench, shape, form == &F2 ? "F(2)" : "F(4)", drop, algorithm);
}

static void it_passes_in_fp32(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++) {
        assert_true(is_right(LAYERS[i], &F2, NOTHING, ALGORITHM_SUMS));
        assert_true(is_right(LAYERS[i], &F4, NOTHING, ALGORITHM_WINOGRAD_4X4));
    }
}

/* With few channels it is accepted only because the lab allows it. */
static void the_lab_has_to_allow_it(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++)
        assert_int_equal(is_right(LAYERS[i], &F4, NOTHING, ALGORITHM_SUMS), i >= FEW_CHANNELS);
}

static void fewer_bits_fail(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++) {
        assert_false(is_right(LAYERS[i], &F4, TF32_FACTORS, ALGORITHM_WINOGRAD_4X4));
        assert_false(is_right(LAYERS[i], &F4, TF32_INPUTS, ALGORITHM_WINOGRAD_4X4));
        assert_false(is_right(LAYERS[i], &F2, TF32_FACTORS, ALGORITHM_WINOGRAD_4X4));
    }
}

static void a_missing_tap_fails(void **state)
{
    (void)state;
    assert_a_dropped_tap_fails(LAYERS[0], ALGORITHM_WINOGRAD_4X4);
}

/* ---- diagnosis of a wrong row ------------------------------------------------------------ */

static int probe_form(void *context, const Problem *problem, const float *const *tensor,
                      float *output)
{
    Bench bench = {.tensor = {(float *)tensor[0], (float *)tensor[1], output}};
    memcpy(&bench.conv, problem->data, sizeof bench.conv);
    winograd(&bench, context, NOTHING);
    return 0;
}

static Finding diagnosed(const char *shape, Form *form)
{
    Bench bench = bench_make(shape, 22);
    Judgement judgement;
    Finding found;
    winograd(&bench, form, NOTHING);
    bench_verify(&bench, PRECISION_FP32,
                 &(Observed){.output = bench.tensor[2], .algorithm = ALGORITHM_WINOGRAD_4X4},
                 &judgement);
    diagnose(&judgement, probe_form, form, &found);
    if (getenv("SHOW")) print_message("%s: %s\n", fault_name(found.fault), found.text);
    judgement_free(&judgement);
    bench_free(&bench);
    return found;
}

static void assert_said(const Finding *found, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void assert_said(const Finding *found, const char *format, ...)
{
    char words[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (found->fault != FAULT_POINTS || !strstr(found->text, words))
        fail_msg("expected '%s', got %s: %s", words, fault_name(found->fault), found->text);
}

static const char *const ANY_SHAPE = "N=1 C=2 H=11 W=12 K=3 R=3 S=3 pad=1,1,2,1 stride=1";
static const char *const ONE_SQUARE = "N=1 C=1 H=4 W=4 K=1 R=3 S=3 pad=valid stride=1";

/* One number of a row is changed, so that the row has another direction: its point and its matrix
 * are named.  Other numbers of the same row give the same message. */
static void bent_rows_are_named(const char *shape, const Form *right)
{
    for (int point = 0; point < right->side; point++) {
        Form form = *right;
        form.inputs[point * form.side + 1] += 1;
        Finding found = diagnosed(shape, &form);
        assert_said(&found, "Look at v[%d] in input()", point);
        form = *right;
        form.taps[point * TAPS + 1] += 1;
        found = diagnosed(shape, &form);
        assert_said(&found, "Look at u[%d] in filter()", point);
        form = *right;
        form.outputs[(form.m - 1) * form.side + point] += 1;
        found = diagnosed(shape, &form);
        if (point + 1 < form.side)
            assert_said(&found, "Look at m[%d] in output()", point);
        else /* infinity's row has only its last number: it stays a multiple of itself */
            assert_said(&found, "Its term u[%d]*v[%d] has a wrong weight", point, point);
    }
}

static void a_wrong_row_is_named(void **state)
{
    (void)state;
    bent_rows_are_named(ANY_SHAPE, &F2);
    bent_rows_are_named(ONE_SQUARE, &F2);
    bent_rows_are_named(ANY_SHAPE, &F4);
    Form form = F4;
    form.outputs[3 * form.side + 3] = 6; /* 2 to the power of 3 */
    Finding found = diagnosed(ANY_SHAPE, &form);
    assert_said(&found, "of a single point, 2. Look at m[3] in output()");
    form = F2;
    for (int i = 0; i < TAPS; i++)
        form.taps[TAPS + i] *= 2;
    found = diagnosed(ANY_SHAPE, &form);
    assert_said(&found, "Its term u[1]*v[1] has a wrong weight");
}

/* A correct transform is not blamed if something else is wrong, or if the lab uses plain sums. */
static void a_right_line_is_not_blamed(void **state)
{
    (void)state;
    Bench bench = bench_make(ANY_SHAPE, 23);
    Submission submission = {.plant = PLANT_MAPS_EXCHANGED};
    Judgement judgement;
    Finding found;
    submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
    bench_verify(&bench, PRECISION_FP32,
                 &(Observed){.output = bench.tensor[2], .algorithm = ALGORITHM_WINOGRAD_4X4},
                 &judgement);
    diagnose(&judgement, NULL, NULL, &found);
    assert_int_equal(found.fault, FAULT_ONE_FILTER);
    judgement_free(&judgement);
    bench_free(&bench);
}

/* ---- growth of the error ----------------------------------------------------------------- */

static double row_sum(const float *matrix, int wide, int row)
{
    double sum = 0;
    for (int i = 0; i < wide; i++)
        sum += fabs((double)matrix[row * wide + i]);
    return sum;
}

/* Growth factor in the Winograd domain relative to inputs and taps of equal size: largest row of
 * |A'|(|G|1 * |B'|1). */
static double line_growth(const Form *form)
{
    double most = 0;
    for (int i = 0; i < form->m; i++) {
        double sum = 0;
        for (int j = 0; j < form->side; j++)
            sum += fabs((double)form->outputs[i * form->side + j]) * row_sum(form->taps, TAPS, j) *
                   row_sum(form->inputs, form->side, j);
        most = fmax(most, sum);
    }
    return most;
}

static void the_bound_is_the_matrices(void **state)
{
    (void)state;
    double ratio = line_growth(&F4) / line_growth(&F2);
    assert_float_equal(verdict_least_terms(ALGORITHM_SUMS), 0, 0);
    assert_float_equal(verdict_least_terms(ALGORITHM_WINOGRAD_4X4), ratio * ratio * 9, 1e-4);
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_in_fp32),
        cmocka_unit_test(the_lab_has_to_allow_it),
        cmocka_unit_test(fewer_bits_fail),
        cmocka_unit_test(a_missing_tap_fails),
        cmocka_unit_test(the_bound_is_the_matrices),
        cmocka_unit_test(a_wrong_row_is_named),
        cmocka_unit_test(a_right_line_is_not_blamed),
    };
    return cmocka_run_group_tests_name("operations/winograd", tests, NULL, NULL);
}
