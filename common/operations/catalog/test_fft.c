/* test_fft.c - error bound for Fourier transforms of tiles: fp32 is accepted with any filter and
 * any number of channels; tf32 in multiplications or inputs and a missing tap are rejected.  Each
 * test prints the errors. */
#include "common/operations/catalog/test_transforms.h"

/* A tile of rows x columns inputs; rows is 1 if the filters have one row. */
enum { MOST = 64 };
typedef struct Form {
    int rows, columns;
} Form;

typedef struct Complex {
    float re, im;
} Complex;

/* ---- transforms -------------------------------------------------------------------------- */

/* Transforms `count` numbers at distance `step`: recursively by two halves, in fp32. */
static void line_transform(Complex *z, int count, int step)
{
    Complex half[MOST];
    if (count == 1) return;
    line_transform(z, count / 2, 2 * step);
    line_transform(z + step, count / 2, 2 * step);
    for (int k = 0; k < count / 2; k++) {
        const double angle = -2 * 3.14159265358979323846 * k / count;
        const Complex root = {(float)cos(angle), (float)sin(angle)};
        const Complex even = z[2 * k * step], odd = z[(2 * k + 1) * step];
        const Complex turned = {odd.re * root.re - odd.im * root.im,
                                odd.re * root.im + odd.im * root.re};
        half[k] = (Complex){even.re + turned.re, even.im + turned.im};
        half[k + count / 2] = (Complex){even.re - turned.re, even.im - turned.im};
    }
    for (int k = 0; k < count; k++)
        z[k * step] = half[k];
}

static void tile_transform(const Form *form, Complex *z)
{
    for (int i = 0; i < form->rows; i++)
        line_transform(z + i * form->columns, form->columns, 1);
    for (int j = 0; j < form->columns; j++)
        line_transform(z + j, form->rows, form->columns);
}

/* The transform of a height x width part of a map from (h0, w0) on; zeros outside, and from `high`
 * and `wide` on. */
static void map_transform(const Form *form, const float *map, int height, int width, int h0, int w0,
                          Dropped drop, Complex *z)
{
    for (int i = 0; i < form->rows * form->columns; i++) {
        int h = h0 + i / form->columns, w = w0 + i % form->columns;
        int inside = h >= 0 && h < height && w >= 0 && w < width;
        z[i] = (Complex){inside ? dropped(map[h * width + w], drop.of_inputs) : 0, 0};
    }
    tile_transform(form, z);
    for (int i = 0; i < form->rows * form->columns; i++)
        z[i] = (Complex){dropped(z[i].re, drop.of_factors), dropped(z[i].im, drop.of_factors)};
}

/* ---- the convolution --------------------------------------------------------------------- */

/* The outputs are real, so they are the conjugate transform of the conjugates, u * conj(v).
 * Outputs whose window exceeds the tile wrap around to its start. */
static void tile_store(const Bench *bench, const Form *form, int n, int k, int p, int q, Complex *z)
{
    const ConvProblem *conv = &bench->conv;
    float *map = bench->tensor[2] + ((size_t)n * conv->K + k) * conv->P * conv->Q;
    tile_transform(form, z);
    for (int i = 0; i + conv->R <= form->rows && p + i < conv->P; i++)
        for (int j = 0; j + conv->S <= form->columns && q + j < conv->Q; j++)
            map[(p + i) * conv->Q + q + j] =
                z[i * form->columns + j].re / (float)(form->rows * form->columns);
}

static void by_tiles(const Bench *bench, const Form *form, Dropped drop)
{
    const ConvProblem *conv = &bench->conv;
    const int points = form->rows * form->columns, taps = conv->R * conv->S;
    const int high = form->rows - conv->R + 1, wide = form->columns - conv->S + 1;
    Complex *u = malloc((size_t)conv->K * conv->C * points * sizeof *u);
    Complex *v = malloc((size_t)conv->C * points * sizeof *v), sum[MOST * MOST];
    for (int i = 0; i < conv->K * conv->C; i++)
        map_transform(form, bench->tensor[1] + (size_t)i * taps, conv->R, conv->S, 0, 0, drop,
                      u + (size_t)i * points);
    for (int n = 0; n < conv->N; n++)
        for (int p = 0; p < conv->P; p += high)
            for (int q = 0; q < conv->Q; q += wide) {
                for (int c = 0; c < conv->C; c++)
                    map_transform(form,
                                  bench->tensor[0] + ((size_t)n * conv->C + c) * conv->H * conv->W,
                                  conv->H, conv->W, p - conv->pad_top, q - conv->pad_left, drop,
                                  v + (size_t)c * points);
                for (int k = 0; k < conv->K; k++) {
                    memset(sum, 0, sizeof sum);
                    for (int i = 0; i < conv->C * points; i++) {
                        const Complex a = u[(size_t)k * conv->C * points + i], b = v[i];
                        Complex *to = &sum[i % points];
                        to->re = fmaf(a.re, b.re, fmaf(a.im, b.im, to->re));
                        to->im = fmaf(a.im, b.re, fmaf(-a.re, b.im, to->im));
                    }
                    tile_store(bench, form, n, k, p, q, sum);
                }
            }
    free(u);
    free(v);
}

/* ---- judgement --------------------------------------------------------------------------- */

typedef struct Layer {
    const char *shape;
    Form form;
    int beyond; /* Boolean: there are windows in the padding */
} Layer;
static const Layer LAYERS[] = {
    {"N=2 C=1 H=64 W=64 K=8 R=3 S=3 pad=1 stride=1", {16, 16}, 0},
    {"N=2 C=1 H=64 W=64 K=8 R=3 S=3 pad=1 stride=1", {64, 64}, 0},
    {"N=1 C=3 H=60 W=58 K=8 R=1 S=1 pad=2,0,3,1 stride=1", {64, 64}, 1},
    {"N=1 C=3 H=60 W=58 K=8 R=7 S=5 pad=9,0,3,8 stride=1", {32, 32}, 1},
    {"N=1 C=512 H=14 W=14 K=8 R=3 S=3 pad=1 stride=1", {16, 16}, 0},
    {"N=1 C=64 H=40 W=40 K=4 R=11 S=11 pad=5 stride=1", {32, 32}, 0},
    {"N=1 C=1 H=80 W=80 K=4 R=31 S=31 pad=15 stride=1", {64, 64}, 0},
    {"N=1 C=64 H=34 W=34 K=2 R=31 S=31 pad=15 stride=1", {64, 64}, 0},
    {"N=2 C=1 H=1 W=3000 K=8 R=1 S=31 pad=same stride=1", {1, 64}, 0},
    {"N=1 C=256 H=3 W=300 K=4 R=1 S=31 pad=0,40,0,5 stride=1", {1, 64}, 1},
};
enum { LAYER_COUNT = sizeof LAYERS / sizeof *LAYERS };

static int is_right(const Layer *layer, Dropped drop, Algorithm algorithm)
{
    Bench bench = bench_make(layer->shape, 20);
    char way[16];
    by_tiles(&bench, &layer->form, drop);
    snprintf(way, sizeof way, "%dx%d", layer->form.rows, layer->form.columns);
    return judged_right(&bench, layer->shape, way, drop, algorithm);
}

static void it_passes_in_fp32(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++)
        assert_true(is_right(&LAYERS[i], NOTHING, ALGORITHM_FFT_64X64));
}

static void fewer_bits_fail(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++) {
        assert_false(is_right(&LAYERS[i], TF32_FACTORS, ALGORITHM_FFT_64X64));
        assert_false(is_right(&LAYERS[i], TF32_INPUTS, ALGORITHM_FFT_64X64));
    }
}

/* A window in the padding has no terms and sums to 0; its tile has rounding errors. */
static void the_lab_has_to_allow_it(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_COUNT; i++)
        assert_int_equal(is_right(&LAYERS[i], NOTHING, ALGORITHM_SUMS), !LAYERS[i].beyond);
}

static void a_missing_tap_fails(void **state)
{
    (void)state;
    assert_a_dropped_tap_fails(LAYERS[0].shape, ALGORITHM_FFT_64X64);
}

/* ---- derivation of the bound ------------------------------------------------------------- */

/* One line of the tile in fp64, by definition. */
static void line_expect(double (*z)[2], int count, int step)
{
    double made[MOST][2] = {{0}};
    for (int k = 0; k < count; k++)
        for (int j = 0; j < count; j++) {
            const double angle = -2 * 3.14159265358979323846 * (k * j % count) / count;
            made[k][0] += z[j * step][0] * cos(angle) - z[j * step][1] * sin(angle);
            made[k][1] += z[j * step][0] * sin(angle) + z[j * step][1] * cos(angle);
        }
    for (int k = 0; k < count; k++)
        memcpy(z[k * step], made[k], sizeof made[k]);
}

/* The error of a transform relative to its numbers, both in the 2-norm, is at most that of Higham's
 * theorem 24.2; three transforms of the largest tile give the bound. */
static void transforms_round_within_the_theorem(void **state)
{
    (void)state;
    static Complex z[MOST * MOST];
    static double exact[MOST * MOST][2];
    double bound = 0;
    for (int side = 16; side <= MOST; side *= 2) {
        const Form form = {side, side};
        const int points = side * side;
        Random random;
        float x[MOST * MOST];
        random_seed(&random, 22);
        random_wide_fill(&random, x, (size_t)points);
        for (int i = 0; i < points; i++) {
            z[i] = (Complex){x[i], 0};
            exact[i][0] = x[i], exact[i][1] = 0;
        }
        tile_transform(&form, z);
        for (int i = 0; i < side; i++)
            line_expect(exact + i * side, side, 1);
        for (int j = 0; j < side; j++)
            line_expect(exact + j, side, side);
        double error = 0, norm = 0;
        for (int i = 0; i < points; i++) {
            error += pow(z[i].re - exact[i][0], 2) + pow(z[i].im - exact[i][1], 2);
            norm += pow(exact[i][0], 2) + pow(exact[i][1], 2);
        }
        /* The twiddle factors have an error of u; a complex multiplication and an addition
         * contribute the rest. */
        bound = log2(points) * (1 + 4 * sqrt(2));
        print_message("%dx%d: off by %.2f u of %.0f u\n", side, side,
                      sqrt(error / norm) / UNIT_FP32, bound);
        assert_true(sqrt(error / norm) < bound * UNIT_FP32);
    }
    assert_float_equal(verdict_least_terms(ALGORITHM_FFT_64X64), 3 * bound, 1e-4);
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_in_fp32),
        cmocka_unit_test(fewer_bits_fail),
        cmocka_unit_test(the_lab_has_to_allow_it),
        cmocka_unit_test(a_missing_tap_fails),
        cmocka_unit_test(transforms_round_within_the_theorem),
    };
    return cmocka_run_group_tests_name("operations/fft", tests, NULL, NULL);
}
