/* test_transforms.h - code shared by the tests of Winograd's and Fourier's bounds: reduced
 * precision, and the verdict of an output. */
#ifndef CONVLAB_OPERATIONS_TEST_TRANSFORMS_H
#define CONVLAB_OPERATIONS_TEST_TRANSFORMS_H

#include "common/operations/conv/planted_fixture.h"
#include "common/operations/catalog/operations.h"

/* Number of bits dropped of each input and tap, and of each factor of a multiplication. */
typedef struct Dropped {
    uint32_t of_inputs, of_factors;
} Dropped;
static const Dropped NOTHING = {0, 0}, TF32_INPUTS = {13, 0}, TF32_FACTORS = {0, 13};

static float dropped(float value, uint32_t bits)
{
    return bits ? keep_bits(value, bits) : value;
}

/* Judges the bench's output, computed by `way` from a layer; prints its errors; frees the bench. */
static int judged_right(Bench *bench, const char *shape, const char *way, Dropped drop,
                        Algorithm algorithm)
{
    Judgement judgement;
    bench_verify(bench, PRECISION_FP32,
                 &(Observed){.output = bench->tensor[2], .algorithm = algorithm}, &judgement);
    int right = judgement.verdict.correct;
    double squares = 0, counted = 0;
    for (size_t i = 0; i < bench->outputs; i++) {
        double reach = fmax(judgement.magnitude[i], judgement.typical);
        double allowed = verdict_rms_bound(algorithm, reach, judgement.terms[i]);
        double part = (bench->tensor[2][i] - judgement.expected[i]) / allowed;
        if (allowed > 0) squares += part * part, counted++;
    }
    print_message("%s, %s, %s: worst %.3g of its bound, root mean square %.3g of its\n", shape, way,
                  drop.of_inputs    ? "tf32 inputs"
                  : drop.of_factors ? "tf32 products"
                                    : "fp32",
                  judgement.verdict.worst, sqrt(squares / counted));
    judgement_free(&judgement);
    bench_free(bench);
    return right;
}

/* With the bound of an algorithm, a missing tap is still detected, in most outputs. */
static void assert_a_dropped_tap_fails(const char *shape, Algorithm algorithm)
{
    Bench bench = bench_make(shape, 21);
    Judgement judgement;
    bench_judge(&bench, &(Submission){.plant = PLANT_TAP_LOST}, PRECISION_FP32, &judgement);
    judgement_free(&judgement);
    bench_verify(&bench, PRECISION_FP32,
                 &(Observed){.output = bench.tensor[2], .algorithm = algorithm}, &judgement);
    print_message("%zu of %zu outputs are wrong\n", judgement.verdict.wrong, bench.outputs);
    assert_true(judgement.verdict.wrong > bench.outputs / 2);
    judgement_free(&judgement);
    bench_free(&bench);
}

#endif
