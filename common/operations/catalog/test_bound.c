/* test_bound.c - error bound in fp32, from 1 term to 40,000.  Sums in any order, Winograd's
 * F(2x2,3x3), and 6x6 tiles for the gradients are accepted.  Inputs of fewer bits are rejected. */
#include "common/operations/conv/planted_fixture.h"
#include "common/operations/catalog/operations.h"

/* ---- different orders of summation ------------------------------------------------------- */

typedef float (*SumOf)(const float *x, const float *w, int terms);

static float in_order(const float *x, const float *w, int terms)
{
    float sum = 0;
    for (int i = 0; i < terms; i++)
        sum += x[i] * w[i];
    return sum;
}

static float fused(const float *x, const float *w, int terms)
{
    float sum = 0;
    for (int i = 0; i < terms; i++)
        sum = fmaf(x[i], w[i], sum);
    return sum;
}

static float from_the_end(const float *x, const float *w, int terms)
{
    float sum = 0;
    for (int i = terms - 1; i >= 0; i--)
        sum += x[i] * w[i];
    return sum;
}

static float in_pairs(const float *x, const float *w, int terms)
{
    if (terms == 1) return x[0] * w[0];
    int half = terms / 2;
    return in_pairs(x, w, half) + in_pairs(x + half, w + half, terms - half);
}

static float in_tiles(const float *x, const float *w, int terms)
{
    float sum = 0;
    for (int i = 0; i < terms; i += 16)
        sum += fused(x + i, w + i, terms - i < 16 ? terms - i : 16);
    return sum;
}

/* Divided among 32 blocks that add to y atomically, in unspecified order. */
static float by_atomics(const float *x, const float *w, int terms)
{
    int piece = (terms + 31) / 32;
    float sum = 0;
    for (int i = 0; i < 32; i++) {
        int first = i * 13 % 32 * piece, left = terms - first;
        if (left > 0) sum += fused(x + first, w + first, left < piece ? left : piece);
    }
    return sum;
}

/* Rounded to nearest, with `dropped` bits fewer than fp32. */
static float few_bits(const float *x, const float *w, int terms, uint32_t dropped)
{
    double sum = 0; /* the sum itself is exact */
    for (int i = 0; i < terms; i++)
        sum += (double)keep_bits(x[i], dropped) * keep_bits(w[i], dropped);
    return (float)sum;
}

static float of_tf32(const float *x, const float *w, int terms)
{
    return few_bits(x, w, terms, 13);
}

static float of_bf16(const float *x, const float *w, int terms)
{
    return few_bits(x, w, terms, 16);
}

/* Only x loses bits: half of the error. */
static float of_one_tf32(const float *x, const float *w, int terms)
{
    double sum = 0;
    for (int i = 0; i < terms; i++)
        sum += (double)keep_bits(x[i], 13) * w[i];
    return (float)sum;
}

/* Whether a pointwise convolution over C channels with this order of summation is judged
 * correct. */
static int is_right(int terms, SumOf sum_of_products)
{
    char text[128];
    snprintf(text, sizeof text, "N=1 C=%d H=4 W=4 K=5 R=1 S=1 pad=0 stride=1", terms);
    Bench bench = bench_make(text, (uint64_t)terms);
    float *column = malloc((size_t)terms * sizeof *column);
    for (int k = 0; k < 5; k++)
        for (int pixel = 0; pixel < 16; pixel++) {
            for (int c = 0; c < terms; c++)
                column[c] = bench.tensor[0][c * 16 + pixel];
            const float *filter = bench.tensor[1] + (size_t)k * terms;
            bench.tensor[2][k * 16 + pixel] = sum_of_products(column, filter, terms);
        }
    Judgement judgement;
    bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
    int right = judgement.verdict.correct;
    judgement_free(&judgement);
    free(column);
    bench_free(&bench);
    return right;
}

static const int LENGTHS[] = {1, 3, 27, 144, 576, 1152, 2304, 4096, 4608, 9216, 25088, 40000};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS };

static void sums_in_any_order_pass(void **state)
{
    (void)state;
    static const SumOf honest[] = {in_order, fused, from_the_end, in_pairs, in_tiles, by_atomics};
    for (int i = 0; i < LENGTH_COUNT; i++)
        for (size_t way = 0; way < sizeof honest / sizeof *honest; way++)
            if (!is_right(LENGTHS[i], honest[way]))
                fail_msg("%d products, way %zu: refused", LENGTHS[i], way);
}

static void fewer_bits_fail_at_any_depth(void **state)
{
    (void)state;
    static const SumOf poor[] = {of_tf32, of_bf16, of_one_tf32};
    for (int i = 0; i < LENGTH_COUNT; i++)
        for (size_t way = 0; way < sizeof poor / sizeof *poor; way++)
            if (is_right(LENGTHS[i], poor[way]))
                fail_msg("%d products, way %zu: passes", LENGTHS[i], way);
}

/* If a few outputs are small relative to their terms, rounded inputs are accepted. */
static void rounded_inputs_pass_on_small_maps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        Bench bench = bench_make("N=1 C=3 H=3 W=3 K=2 R=2 S=2 pad=valid stride=1", seed);
        Judgement judgement;
        bench_judge(&bench, &(Submission){.plant = PLANT_TF32}, PRECISION_TF32, &judgement);
        if (!judgement.verdict.correct) fail_msg("refused with seed %d", (int)seed);
        judgement_free(&judgement);
        bench_free(&bench);
    }
}

/* ---- Winograd's F(2x2,3x3) --------------------------------------------------------------- */

/* V = B' d B (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, section 4.1), rows
 * first, then columns; all in fp32. */
static void input_line(const float *d, int step, float *v)
{
    v[0] = d[0] - d[2 * step];
    v[step] = d[step] + d[2 * step];
    v[2 * step] = d[2 * step] - d[step];
    v[3 * step] = d[step] - d[3 * step];
}

static void input_transform(const float d[16], float v[16])
{
    float rows[16];
    for (int i = 0; i < 4; i++)
        input_line(d + i, 4, rows + i);
    for (int i = 0; i < 4; i++)
        input_line(rows + 4 * i, 1, v + 4 * i);
}

/* U = G g G' */
static void filter_transform(const float *g, float u[16])
{
    float rows[12];
    for (int i = 0; i < 3; i++) {
        rows[i] = g[i];
        rows[3 + i] = 0.5f * (g[i] + g[3 + i] + g[6 + i]);
        rows[6 + i] = 0.5f * (g[i] - g[3 + i] + g[6 + i]);
        rows[9 + i] = g[6 + i];
    }
    for (int i = 0; i < 4; i++) {
        const float *row = rows + 3 * i;
        u[4 * i] = row[0];
        u[4 * i + 1] = 0.5f * (row[0] + row[1] + row[2]);
        u[4 * i + 2] = 0.5f * (row[0] - row[1] + row[2]);
        u[4 * i + 3] = row[2];
    }
}

/* A' m A: four outputs. */
static void output_transform(const float m[16], float y[4])
{
    float rows[8];
    for (int i = 0; i < 4; i++) {
        rows[i] = m[i] + m[4 + i] + m[8 + i];
        rows[4 + i] = m[4 + i] - m[8 + i] - m[12 + i];
    }
    for (int i = 0; i < 2; i++) {
        y[2 * i] = rows[4 * i] + rows[4 * i + 1] + rows[4 * i + 2];
        y[2 * i + 1] = rows[4 * i + 1] - rows[4 * i + 2] - rows[4 * i + 3];
    }
}

/* The 4x4 input tile of outputs (p, q) to (p+1, q+1), in the Winograd domain. */
static void patch_read(const Bench *bench, int n, int c, int p, int q, float v[16])
{
    const ConvProblem *conv = &bench->conv;
    float d[16];
    for (int i = 0; i < 16; i++) {
        int h = p + i / 4 - conv->pad_top, w = q + i % 4 - conv->pad_left;
        int inside = h >= 0 && h < conv->H && w >= 0 && w < conv->W;
        size_t row = ((size_t)n * conv->C + c) * conv->H + h;
        d[i] = inside ? bench->tensor[0][row * conv->W + w] : 0;
    }
    input_transform(d, v);
}

static void patch_store(const Bench *bench, int n, int k, int p, int q, const float y[4])
{
    const ConvProblem *conv = &bench->conv;
    for (int i = 0; i < 4; i++)
        if (p + i / 2 < conv->P && q + i % 2 < conv->Q)
            bench->tensor[2][(((size_t)n * conv->K + k) * conv->P + p + i / 2) * conv->Q + q +
                             i % 2] = y[i];
}

static void winograd(const Bench *bench)
{
    const ConvProblem *conv = &bench->conv;
    float *u = malloc((size_t)conv->K * conv->C * 16 * sizeof *u);
    float *v = malloc((size_t)conv->C * 16 * sizeof *v);
    for (int i = 0; i < conv->K * conv->C; i++)
        filter_transform(bench->tensor[1] + 9 * i, u + 16 * i);
    for (int n = 0; n < conv->N; n++)
        for (int p = 0; p < conv->P; p += 2)
            for (int q = 0; q < conv->Q; q += 2) {
                for (int c = 0; c < conv->C; c++)
                    patch_read(bench, n, c, p, q, v + 16 * c);
                for (int k = 0; k < conv->K; k++) {
                    float m[16] = {0}, y[4];
                    for (int i = 0; i < 16 * conv->C; i++)
                        m[i % 16] = fmaf(u[(size_t)k * conv->C * 16 + i], v[i], m[i % 16]);
                    output_transform(m, y);
                    patch_store(bench, n, k, p, q, y);
                }
            }
    free(u);
    free(v);
}

/* Few channels, whose magnitudes differ most, and many outputs are the most difficult case. */
static void winograd_passes(void **state)
{
    (void)state;
    static const char *const shape[] = {
        "N=1 C=3 H=224 W=224 K=64 R=3 S=3 pad=1 stride=1",
        "N=8 C=1 H=64 W=64 K=32 R=3 S=3 pad=1 stride=1",
        "N=1 C=2 H=113 W=120 K=16 R=3 S=3 pad=valid stride=1",
        "N=1 C=64 H=56 W=56 K=64 R=3 S=3 pad=1 stride=1",
        "N=1 C=512 H=14 W=14 K=32 R=3 S=3 pad=1 stride=1",
    };
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        Bench bench = bench_make(shape[i], 20 + i);
        Judgement judgement;
        winograd(&bench);
        bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
        print_message("%s: the worst error is %.2f of its bound\n", shape[i],
                      judgement.verdict.worst);
        assert_true(judgement.verdict.correct);
        judgement_free(&judgement);
        bench_free(&bench);
    }
}

/* The bound for Winograd hides no mistake: a missing tap of small outputs is detected, and so is
 * the smallest output if it is 0. */
static void mistakes_fail_where_winograd_passes(void **state)
{
    (void)state;
    const char *shape = "N=2 C=1 H=64 W=64 K=32 R=3 S=3 pad=1 stride=1";
    Bench bench = bench_make(shape, 21);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = PLANT_TAP_LOST}, PRECISION_FP32, &judgement);
    assert_true(judgement.verdict.wrong > bench.outputs * 9 / 10);
    judgement_free(&judgement);
    bench_judge(&bench, &(Submission){.plant = PLANT_NOTHING}, PRECISION_FP32, &judgement);
    assert_true(judgement.verdict.correct);
    size_t smallest = 0;
    for (size_t i = 0; i < bench.outputs; i++)
        if (judgement.magnitude[i] < judgement.magnitude[smallest]) smallest = i;
    judgement_free(&judgement);
    bench.tensor[2][smallest] = 0;
    bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
    assert_int_equal(judgement.verdict.wrong, 1);
    judgement_free(&judgement);
    bench_free(&bench);
}

/* ---- gradients with 6x6 tiles -------------------------------------------------------------- */

/* F(4x4,3x3) for dx and F(3x3,4x4) for dw, at the points 0, 1, -1, 2, -2 and infinity (Lavin and
 * Gray, section 4.3).  One row per point; in the output transform one row per output. */
enum { SIDE = 6, POINTS = SIDE * SIDE };
static const float POINT[] = {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                              0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
static const float THREE[] = {1 / 4.f,  0,         0,        -1 / 6.f, -1 / 6.f, -1 / 6.f,
                              -1 / 6.f, 1 / 6.f,   -1 / 6.f, 1 / 24.f, 1 / 12.f, 1 / 6.f,
                              1 / 24.f, -1 / 12.f, 1 / 6.f,  0,        0,        1};
static const float FOUR[] = {1 / 4.f,  0,        0,        0,       -1 / 6.f, -1 / 6.f,
                             -1 / 6.f, -1 / 6.f, -1 / 6.f, 1 / 6.f, -1 / 6.f, 1 / 6.f,
                             1 / 24.f, 1 / 12.f, 1 / 6.f,  1 / 3.f, 1 / 24.f, -1 / 12.f,
                             1 / 6.f,  -1 / 3.f, 0,        0,       0,        1};
static const float BACK_FOUR[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
                                  0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
static const float BACK_THREE[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 1};

/* to[high][high] = matrix[high][wide] * from[wide][wide] * its transpose, in fp32. */
static void both_ways(const float *matrix, int high, int wide, const float *from, float *to)
{
    float half[POINTS];
    for (int i = 0; i < high; i++)
        for (int j = 0; j < wide; j++) {
            half[i * wide + j] = 0;
            for (int m = 0; m < wide; m++)
                half[i * wide + j] += matrix[i * wide + m] * from[m * wide + j];
        }
    for (int i = 0; i < high; i++)
        for (int j = 0; j < high; j++) {
            to[i * high + j] = 0;
            for (int m = 0; m < wide; m++)
                to[i * high + j] += half[i * wide + m] * matrix[j * wide + m];
        }
}

/* The side x side tile of a map from (h0, w0) on; zeros outside. */
static void tile_read(const float *map, int high, int wide, int h0, int w0, int side, float *to)
{
    for (int i = 0; i < side * side; i++) {
        int h = h0 + i / side, w = w0 + i % side;
        to[i] = h >= 0 && h < high && w >= 0 && w < wide ? map[h * wide + w] : 0;
    }
}

static void add_terms(const float *u, const float *v, float *sum)
{
    for (int i = 0; i < POINTS; i++)
        sum[i] = fmaf(u[i], v[i], sum[i]);
}

static void data_by_tiles(const Bench *bench)
{
    const ConvProblem *p = &bench->conv;
    const float *dy = bench->tensor[0], *w = bench->tensor[1];
    int down = (p->H + 3) / 4, across = (p->W + 3) / 4;
    for (int i = 0; i < p->N * p->C * down * across; i++) {
        int c = i / across / down % p->C, n = i / across / down / p->C;
        int h0 = i / across % down * 4, w0 = i % across * 4;
        float sum[POINTS] = {0}, dx[16], from[POINTS], u[POINTS], v[POINTS];
        for (int k = 0; k < p->K; k++) {
            float turned[9];
            for (int tap = 0; tap < 9; tap++)
                turned[tap] = w[(k * p->C + c) * 9 + 8 - tap];
            tile_read(dy + (size_t)(n * p->K + k) * p->P * p->Q, p->P, p->Q, h0 + p->pad_top - 2,
                      w0 + p->pad_left - 2, SIDE, from);
            both_ways(POINT, SIDE, SIDE, from, v);
            both_ways(THREE, SIDE, 3, turned, u);
            add_terms(u, v, sum);
        }
        both_ways(BACK_FOUR, 4, SIDE, sum, dx);
        for (int j = 0; j < 16; j++)
            if (h0 + j / 4 < p->H && w0 + j % 4 < p->W)
                bench->tensor[2][((n * p->C + c) * p->H + h0 + j / 4) * p->W + w0 + j % 4] = dx[j];
    }
}

static void filter_by_tiles(const Bench *bench)
{
    const ConvProblem *p = &bench->conv;
    int down = (p->P + 3) / 4, across = (p->Q + 3) / 4;
    for (int i = 0; i < p->K * p->C; i++) {
        const float *x = bench->tensor[0] + (size_t)(i % p->C) * p->H * p->W;
        const float *dy = bench->tensor[1] + (size_t)(i / p->C) * p->P * p->Q;
        float sum[POINTS] = {0}, from[POINTS], taps[16], u[POINTS], v[POINTS];
        for (int square = 0; square < p->N * down * across; square++) {
            int p0 = square / across % down * 4, q0 = square % across * 4;
            size_t n = (size_t)(square / across / down);
            tile_read(x + n * p->C * p->H * p->W, p->H, p->W, p0 - p->pad_top, q0 - p->pad_left,
                      SIDE, from);
            tile_read(dy + n * p->K * p->P * p->Q, p->P, p->Q, p0, q0, 4, taps);
            both_ways(POINT, SIDE, SIDE, from, v);
            both_ways(FOUR, SIDE, 4, taps, u);
            add_terms(u, v, sum);
        }
        both_ways(BACK_THREE, 3, SIDE, sum, bench->tensor[2] + 9 * i);
    }
}

/* Many channels; and dw with many rows, whose sums are the longest. */
static void gradients_by_winograd_tiles_pass(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *shape;
        void (*by_squares)(const Bench *);
    } way[] = {
        {"conv_backward_data", "N=1 C=6 H=30 W=29 K=32 R=3 S=3 pad=1 stride=1", data_by_tiles},
        {"conv_backward_data", "N=1 C=4 H=17 W=20 K=256 R=3 S=3 pad=0 stride=1", data_by_tiles},
        {"conv_backward_filter", "N=1 C=8 H=18 W=15 K=8 R=3 S=3 pad=1 stride=1", filter_by_tiles},
        {"conv_backward_filter", "N=4 C=3 H=90 W=91 K=4 R=3 S=3 pad=1 stride=1", filter_by_tiles},
    };
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        operation = operation_find(way[i].operation);
        Bench bench = bench_make(way[i].shape, 30 + i);
        Judgement judgement;
        way[i].by_squares(&bench);
        bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
        print_message("%s %s: the worst error is %.2f of its bound\n", way[i].operation,
                      way[i].shape, judgement.verdict.worst);
        assert_true(judgement.verdict.correct);
        judgement_free(&judgement);
        bench_free(&bench);
    }
    operation = operation_find("conv_forward");
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_in_any_order_pass),
        cmocka_unit_test(fewer_bits_fail_at_any_depth),
        cmocka_unit_test(rounded_inputs_pass_on_small_maps),
        cmocka_unit_test(winograd_passes),
        cmocka_unit_test(mistakes_fail_where_winograd_passes),
        cmocka_unit_test(gradients_by_winograd_tiles_pass),
    };
    return cmocka_run_group_tests_name("operations/bound", tests, NULL, NULL);
}
