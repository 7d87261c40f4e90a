/* test_diagnose.c - the diagnosis of convolutions with one planted fault each. */
#include "common/operations/conv/planted_fixture.h"

#include <time.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/catalog/operations.h"

static int probe_run(void *context, const Problem *problem, const float *const *tensor,
                     float *output)
{
    ConvProblem conv;
    memcpy(&conv, problem->data, sizeof conv);
    submission_run(context, &conv, tensor[0], tensor[1], output);
    return 0;
}

/* Rounding errors like a transform's: small values instead of 0, except for zero inputs. */
static int probe_rounds(void *context, const Problem *problem, const float *const *tensor,
                        float *output)
{
    ConvProblem conv;
    memcpy(&conv, problem->data, sizeof conv);
    probe_run(context, problem, tensor, output);
    float most = 0;
    for (long long i = 0; i < (long long)conv.N * conv.K * conv.P * conv.Q; i++)
        most = fmaxf(most, fabsf(output[i]));
    for (long long i = 0; i < (long long)conv.N * conv.K * conv.P * conv.Q; i++)
        if (output[i] == 0) output[i] = -3e-7f * most;
    return 0;
}

static int probe_fails(void *context, const Problem *problem, const float *const *tensor,
                       float *output)
{
    (void)context, (void)problem, (void)tensor, (void)output;
    return -1;
}

/* A verdict and its diagnosis. */
typedef struct Told {
    Verdict verdict;
    Finding found;
} Told;

static Told tell(Judgement *judgement, ProbeRun run, void *context)
{
    Told told = {.verdict = judgement->verdict};
    diagnose(judgement, run, context, &told.found);
    judgement_free(judgement);
    assert_true(strlen(told.found.text) < sizeof told.found.text - 1);
    return told;
}

static Told judge(const char *text, Plant plant, Precision precision, ProbeRun run)
{
    Bench bench = bench_make(text, 11);
    Submission submission = {.plant = plant};
    Judgement judgement;
    bench_judge(&bench, &submission, precision, &judgement);
    Told told = tell(&judgement, run, &submission);
    bench_free(&bench);
    return told;
}

/* The diagnosis must be `fault`, and its text must contain `words`. */
static void expect_run(const char *text, Plant plant, Fault fault, const char *words, ProbeRun run)
{
    Told told = judge(text, plant, PRECISION_FP32, run);
    if (getenv("SHOW"))
        print_message("%s\n  %s: %s\n", text, fault_name(told.found.fault), told.found.text);
    if (told.verdict.correct) fail_msg("%s, plant %d passes", text, plant);
    if (told.found.fault != fault || !strstr(told.found.text, words))
        fail_msg("%s, plant %d: expected %s (%s), got %s: %s", text, plant, fault_name(fault),
                 words, fault_name(told.found.fault), told.found.text);
}

static void expect(const char *text, Plant plant, Fault fault, const char *words)
{
    expect_run(text, plant, fault, words, probe_run);
}

static void lower_precision_is_named_at_any_depth(void **state)
{
    (void)state;
    static const Plant plant[] = {PLANT_TF32, PLANT_FP16, PLANT_BF16, PLANT_FP16_SUM};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < SHAPES; i++)
            expect(every_shape[i], plant[j], FAULT_PRECISION, "");
        expect("N=1 C=64 H=10 W=10 K=4 R=3 S=3 pad=1 stride=1", plant[j], FAULT_PRECISION, "");
        expect(DEEP, plant[j], FAULT_PRECISION, "");
    }
    expect(SQUARE, PLANT_BF16, FAULT_PRECISION, "bfloat16");
    expect(SQUARE, PLANT_TF32, FAULT_PRECISION, "tf32");
}

static void less_than_eleven_bits_is_named(void **state)
{
    (void)state;
    for (Precision precision = PRECISION_TF32; precision <= PRECISION_FP16; precision++) {
        assert_int_equal(judge(DEEP, PLANT_BF16, precision, NULL).found.fault, FAULT_PRECISION);
        assert_int_equal(judge(DEEP, PLANT_FP16_SUM, precision, NULL).found.fault, FAULT_PRECISION);
        assert_int_equal(judge(SQUARE, PLANT_BF16, precision, NULL).found.fault, FAULT_PRECISION);
        Told moved = judge(SQUARE, PLANT_COLUMNS_TWICE, precision, NULL);
        if (!strstr(moved.found.text, "they differ in q.")) fail_msg("%s", moved.found.text);
    }
}

static Told tell_observed(const Bench *bench, Observed observed)
{
    Judgement judgement;
    bench_verify(bench, PRECISION_FP32, &observed, &judgement);
    return tell(&judgement, NULL, NULL);
}

static void a_right_output_has_no_diagnosis(void **state)
{
    (void)state;
    Told told = judge(SQUARE, PLANT_NOTHING, PRECISION_FP32, probe_run);
    assert_true(told.verdict.correct);
    assert_int_equal(told.found.fault, FAULT_NONE);
    assert_string_equal(told.found.text, "");
}

static void memory_faults_are_named(void **state)
{
    (void)state;
    Bench bench = bench_make(SQUARE, 4);
    Submission submission = {.plant = PLANT_NOTHING};
    submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
    const float *y = bench.tensor[2];
    Told past =
        tell_observed(&bench, (Observed){.output = y, .band_broken = "y", .band_offset = 7});
    assert_int_equal(past.found.fault, FAULT_GUARD_BAND);
    assert_non_null(strstr(past.found.text, "7 floats past the end of y"));
    Told before =
        tell_observed(&bench, (Observed){.output = y, .band_broken = "y", .band_offset = -2});
    assert_non_null(strstr(before.found.text, "2 floats before the start of y"));
    Told changed = tell_observed(&bench, (Observed){.output = y, .input_changed = "w"});
    assert_int_equal(changed.found.fault, FAULT_INPUT_CHANGED);
    assert_non_null(strstr(changed.found.text, "its input w"));
    bench_free(&bench);
}

static void unwritten_and_nan(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_EMPTY, FAULT_UNWRITTEN, "No output was written");
        expect(every_shape[i], PLANT_NAN, FAULT_NAN, "Every output is NaN");
        expect_run(every_shape[i], PLANT_EMPTY, FAULT_UNWRITTEN, "No output", probe_fails);
        expect_run(every_shape[i], PLANT_NAN, FAULT_NAN, "Every output", NULL);
    }
    expect(SQUARE, PLANT_GRID_DOWN, FAULT_UNWRITTEN, "q >= 16");
    expect(VALID, PLANT_GRID_DOWN, FAULT_UNWRITTEN, "q >= 16");
    expect(VALID, PLANT_NAN_ONE_MAP, FAULT_NAN, "k = 0");
}

/* Outputs with the word of the tensors' surroundings, quiet or not, and holes. */
static void positions_of_nan_and_unwritten_outputs(void **state)
{
    (void)state;
    for (uint32_t quiet = 0; quiet < 2; quiet++) {
        Bench bench = bench_make(SQUARE, 4);
        Submission submission = {.plant = PLANT_NOTHING};
        const uint32_t word = GUARD_BAND_WORD | quiet << 22;
        submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
        memcpy(&bench.tensor[2][25], &word, sizeof word);
        Told told = tell_observed(&bench, (Observed){.output = bench.tensor[2]});
        assert_int_equal(told.found.fault, FAULT_NAN);
        if (!strstr(told.found.text, "1 of them, the first at (n,k,p,q) = (0,0,1,5), have the "
                                     "value of the memory before and after each tensor"))
            fail_msg("%s", told.found.text);
        bench_free(&bench);
    }
    expect(SQUARE, PLANT_HOLES, FAULT_UNWRITTEN,
           "960 of 4800 outputs were never written, the first at (n,k,p,q) = (0,0,0,2), the last "
           "at (n,k,p,q) = (1,5,19,17).");
    expect(SQUARE, PLANT_NAN, FAULT_NAN, "Possibly it is instead the result of 0 / 0");
}

static void filters_rotated(void **state)
{
    (void)state;
    static const char *const shape[] = {SQUARE, OBLONG, EVEN,     TWO,  STRIDED,
                                        UNEVEN, VALID,  LOPSIDED, LENET};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        expect(shape[i], PLANT_FLIPPED, FAULT_FLIPPED_FILTER, "flipped:");
        expect(shape[i], PLANT_FLIPPED_ROWS, FAULT_FLIPPED_FILTER, "along r");
        expect(shape[i], PLANT_TRANSPOSED, FAULT_TRANSPOSED_FILTER, "s*R + r");
        expect_run(shape[i], PLANT_FLIPPED, FAULT_FLIPPED_FILTER, "flipped:", NULL);
    }
}

static void windows_shifted(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        expect(every_shape[i], PLANT_SHIFT_ONE, FAULT_HALO, "+1 column");
    static const char *const padded[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN, LOPSIDED};
    for (int i = 0; i < 6; i++)
        expect(padded[i], PLANT_PAD_IGNORED, FAULT_HALO, "not subtracted");
    expect(EVEN, PLANT_PAD_AFTER, FAULT_HALO, "even filter");
    expect(TWO, PLANT_PAD_AFTER, FAULT_HALO, "even filter");
    expect(EVEN, PLANT_HALF_FILTER_PAD, FAULT_HALO, "shifted");
    expect("N=1 C=2 H=30 W=31 K=3 R=11 S=11 pad=same stride=1", PLANT_PAD_IGNORED, FAULT_HALO,
           "not subtracted");
}

static void edges_and_padding(void **state)
{
    (void)state;
    static const char *const padded[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN, WIDE};
    for (int i = 0; i < 6; i++) {
        expect(padded[i], PLANT_NO_BOUNDS, FAULT_PADDING_EDGE, "over the edge");
        expect(padded[i], PLANT_NO_COLUMN_BOUNDS, FAULT_PADDING_EDGE, "columns are not tested");
        expect(padded[i], PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated");
        expect_run(padded[i], PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated", probe_fails);
    }
    /* Padding on one side alone: the bounds test of the other side has no effect. */
    expect(TWO, PLANT_NO_BOUNDS, FAULT_PADDING_EDGE, "h <= H");
    expect(TWO, PLANT_NO_COLUMN_BOUNDS, FAULT_PADDING_EDGE, "w < W is not tested");
    expect(TWO, PLANT_CLAMPED, FAULT_PADDING_EDGE, "repeated");
    expect(SQUARE, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
    expect(VALID, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
    expect(STRIDED, PLANT_ROW_ZERO_LOST, FAULT_PADDING_EDGE, "h > 0");
}

static void tiles(void **state)
{
    (void)state;
    expect(WIDE, PLANT_TILE_HALO, FAULT_TILE_EDGE, "16 columns");
    expect(SQUARE, PLANT_TILE_HALO, FAULT_TILE_EDGE, "16 columns");
    expect(WIDE, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    expect(LENET, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    expect(SQUARE, PLANT_TILE_ROWS, FAULT_TILE_EDGE, "8 rows");
    static const char *const shape[] = {SQUARE, OBLONG, EVEN, STRIDED, UNEVEN,
                                        VALID,  LENET,  WIDE, LOPSIDED};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        Bench bench = bench_make(shape[i], 1);
        int rows = bench.conv.P % 8 && bench.conv.P > 8,
            columns = bench.conv.Q % 8 && bench.conv.Q > 8;
        bench_free(&bench);
        if (columns) expect(shape[i], PLANT_LAST_COLUMNS, FAULT_LAST_BLOCK, "q ");
        if (rows && columns) expect(shape[i], PLANT_LAST_TILES, FAULT_LAST_BLOCK, " or q ");
    }
}

static void channels_and_taps(void **state)
{
    (void)state;
    static const char *const shape[] = {SQUARE, OBLONG, EVEN,     TWO,      STRIDED,
                                        UNEVEN, VALID,  LOPSIDED, POINTWISE};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        expect(shape[i], PLANT_LAST_CHANNEL_LOST, FAULT_ONE_CHANNEL, "left out");
        expect(shape[i], PLANT_MIDDLE_CHANNEL_LOST, FAULT_ONE_CHANNEL, "left out");
        expect(shape[i], PLANT_CHANNEL_ZERO_ONLY, FAULT_ONE_CHANNEL, "Only input channel");
        expect(shape[i], PLANT_CHANNEL_ZERO_READ, FAULT_ONE_CHANNEL, "input channel 0");
        if (strcmp(shape[i], POINTWISE)) {
            expect(shape[i], PLANT_TAP_LOST, FAULT_TAP_DROPPED, ",0)");
            expect(shape[i], PLANT_LAST_TAP_COLUMN_LOST, FAULT_TAP_DROPPED, "s = ");
        }
    }
    expect(VALID, PLANT_CHANNELS_BY_FOUR, FAULT_ONE_CHANNEL, "c = 4..5");
    expect(POINTWISE, PLANT_CHANNELS_BY_FOUR, FAULT_ONE_CHANNEL, "c = 12");
    expect(LENET, PLANT_REDUCTION_BY_FOUR, FAULT_TAP_DROPPED, "(4,4)");
    expect(VALID, PLANT_REDUCTION_BY_FOUR, FAULT_TAP_DROPPED, "last 2 of C*R*S = 90");
    expect(POINTWISE, PLANT_CHANNEL_DECAY, FAULT_ONE_CHANNEL, "right for c = 0");
    /* So deep that even this is within the error bound: that is no lower precision. */
    expect("N=1 C=32001 H=3 W=5 K=7 R=1 S=1 pad=0 stride=1", PLANT_CHANNEL_SIGN, FAULT_EVERYWHERE,
           "follow no pattern");
    expect(SQUARE, PLANT_CHANNEL_DECAY, FAULT_ONE_CHANNEL,
           "right for c = 0, 1 and wrong for c = 2, 3, 4");
}

static void maps_and_images(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        expect(every_shape[i], PLANT_ONE_FILTER, FAULT_ONE_FILTER, "k = 1 ");
    expect(SQUARE, PLANT_FILTER_LAST_GROUP, FAULT_ONE_FILTER, "k >= 4");
    expect(SQUARE, PLANT_FILTER_ZERO, FAULT_ONE_FILTER, "filter k = 0");
    expect(STRIDED, PLANT_FILTER_ZERO, FAULT_ONE_FILTER, "filter k = 0");
    expect(SQUARE, PLANT_IMAGE_ZERO, FAULT_ONE_IMAGE, "image n = 0");
    expect(LENET, PLANT_IMAGE_ZERO, FAULT_ONE_IMAGE, "image n = 0");
    expect(VALID, PLANT_LATER_IMAGES, FAULT_ONE_IMAGE, "n >= 1");
    expect(STRIDED, PLANT_LATER_IMAGES, FAULT_ONE_IMAGE, "n = 1");
}

static void strides(void **state)
{
    (void)state;
    expect(STRIDED, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
    expect(UNEVEN, PLANT_STRIDE_IGNORED, FAULT_STRIDE, "left out");
    expect(UNEVEN, PLANT_STRIDES_SWAPPED, FAULT_STRIDE, "exchanged");
    expect(STRIDED, PLANT_STRIDED_TILE, FAULT_STRIDE, "With stride 1");
    expect(UNEVEN, PLANT_STRIDED_TILE, FAULT_STRIDE, "With stride 1");
}

static void accumulation(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_ADDS, FAULT_ACCUMULATED, "+=");
        expect(every_shape[i], PLANT_TWICE, FAULT_ACCUMULATED, "twice");
        expect(every_shape[i], PLANT_NEVER_RESET, FAULT_ACCUMULATED, "reset to 0");
    }
    /* A run that poisons y, or cannot run again, keeps the fault "unwritten", whose text also
     * mentions +=. */
    expect_run(SQUARE, PLANT_ADDS, FAULT_UNWRITTEN, "+=", probe_fails);
}

static void races_and_the_rest(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_RACE, FAULT_DIFFER, "Two runs");
        expect(every_shape[i], PLANT_NOISE, FAULT_EVERYWHERE, "With x all zero output");
        expect_run(every_shape[i], PLANT_NOISE, FAULT_EVERYWHERE, "no pattern", probe_fails);
        expect(every_shape[i], PLANT_ZERO, FAULT_EVERYWHERE, "Every output is 0");
    }
    expect(OBLONG, PLANT_Y_TRANSPOSED, FAULT_EVERYWHERE, "transposed");
    expect(VALID, PLANT_ROW_PITCH, FAULT_EVERYWHERE, "Q pixels long");
    expect(STRIDED, PLANT_ROW_PITCH, FAULT_EVERYWHERE, "Q pixels long");
    expect(OBLONG, PLANT_ROWS_OF_H, FAULT_AXES, "H pixels long");
}

/* Any fault derived from the positions of the wrong outputs is accepted. */
static void expect_words(const char *text, Plant plant, const char *words)
{
    Told told = judge(text, plant, PRECISION_FP32, probe_run);
    if (told.verdict.correct || !strstr(told.found.text, words))
        fail_msg("%s, plant %d: expected '%s', got: %s", text, plant, words, told.found.text);
}

static void single_values(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_TRUNCATED, FAULT_PRECISION, "The wrong outputs are integers");
        expect_words(every_shape[i], PLANT_HALVED, "half of the expected value");
        expect(every_shape[i], PLANT_OFFSET, FAULT_EVERYWHERE, "off by the same +64");
        if (!strstr(every_shape[i], "C=1 ")) {
            expect(every_shape[i], PLANT_CHANNEL_TWICE, FAULT_ONE_CHANNEL, "c = 1");
            expect(every_shape[i], PLANT_CHANNEL_TWICE, FAULT_ONE_CHANNEL, "counted twice");
        }
        if (!strstr(every_shape[i], "R=1 S=1")) /* there the fault is in a channel */
            expect_words(every_shape[i], PLANT_LAST_PRODUCT, "a single term");
        expect_words(every_shape[i], PLANT_FIRST_TILE, "they differ in q.");
    }
    expect(SQUARE, PLANT_CLIPPED, FAULT_EVERYWHERE, "Outputs below zero are 0");
    expect("N=2 C=2 H=21 W=13 K=3 R=3 S=4 pad=1 stride=2,1", PLANT_ROWS_BY_W, FAULT_AXES,
           "h is compared with W.");
    static const char *const oblong[] = {OBLONG, UNEVEN, LOPSIDED, STRIDED};
    for (int i = 0; i < 4; i++) {
        expect(oblong[i], PLANT_SIDES_EXCHANGED, FAULT_AXES, "H and W are exchanged");
        expect(oblong[i], PLANT_WINDOW_CROSSED, FAULT_AXES, "row and column are exchanged");
    }
    expect_words(SQUARE, PLANT_ONE_MOVED, "in the index of the store");
    expect(SQUARE, PLANT_MAPS_EXCHANGED, FAULT_ONE_FILTER, "they differ in k.");
}

/* Constant factors, conversions to int, and sums of which only the last part remains. */
static void values_of_another_scale(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect_words(every_shape[i], PLANT_SCALED, "0.7 times the expected value");
        expect_words(every_shape[i], PLANT_NINTH, "1/9 of the expected value");
        expect_words(every_shape[i], PLANT_DOUBLED, "twice the expected value");
        expect(every_shape[i], PLANT_INTEGER_TERMS, FAULT_PRECISION,
               "The wrong outputs are all integers");
    }
    static const char *const deep[] = {SQUARE, OBLONG, VALID, UNEVEN, POINTWISE};
    for (int i = 0; i < 5; i++) {
        expect(deep[i], PLANT_LAST_CHANNEL_ONLY, FAULT_ONE_CHANNEL, "Only the last input channel");
        expect_words(deep[i], PLANT_LAST_TILE_ONLY, "in every tile of the reduction");
    }
}

/* The values of other outputs in the same tile, also where rounded inputs leave a large bound. */
static void tiles_permuted(void **state)
{
    (void)state;
    static const char *const shape[] = {SQUARE, OBLONG, VALID, WIDE, LOPSIDED};
    for (int i = 0; i < 5; i++) {
        expect_words(shape[i], PLANT_FRAGMENT_COLUMNS, "in the same tile of 8 along q");
        expect_words(shape[i], PLANT_FRAGMENT_COLUMNS, "index 0 has that of 4, 1 has that of 5");
    }
    expect_words(SQUARE, PLANT_TILE_TRANSPOSED,
                 "Each tile of 4x4 outputs along p and q is transposed: its rows are its columns.");
    Told told = judge("N=2 C=5 H=12 W=12 K=16 R=3 S=3 pad=1 stride=1", PLANT_FRAGMENT_ROWS,
                      PRECISION_TF32, probe_run);
    if (!strstr(told.found.text, "tile of 4 along k: index 1 has that of 2, 2 has that of 1."))
        fail_msg("%s", told.found.text);
    assert_int_equal(told.found.fault, FAULT_ONE_FILTER);
}

/* If no pattern is found, the message says which weight and pixel are multiplied. */
static void values_of_a_probe(void **state)
{
    (void)state;
    expect(SQUARE, PLANT_PADDED_WITH_TWO, FAULT_PADDING_EDGE, "The padding is taken for 2 ");
    expect(UNEVEN, PLANT_PADDED_WITH_TWO, FAULT_PADDING_EDGE, "The padding is taken for 2 ");
    expect(OBLONG, PLANT_ROWS_MIRRORED, FAULT_EVERYWHERE,
           "That weight is multiplied by x[0][0][9][1]");
    expect(OBLONG, PLANT_ROWS_MIRRORED, FAULT_EVERYWHERE, "check h in the index of x");
    expect(VALID, PLANT_ROWS_MIRRORED, FAULT_EVERYWHERE, "check h in the index of x");
    expect_words(VALID, PLANT_CHANNEL_HALVED, "2 multiplications of that output use the pixel");
    expect(SQUARE, PLANT_ADDED_ONCE, FAULT_ONE_FILTER, "terms without a factor of x");
    expect_words(SQUARE, PLANT_SQUARED, "With w all zero output");
    expect(POINTWISE, PLANT_WEIGHTS_MOVED, FAULT_EVERYWHERE, "A weight of another channel");
}

static void tiny_values_are_printed_as_0(void **state)
{
    (void)state;
    Bench bench = bench_make(OBLONG, 11);
    Submission submission = {.plant = PLANT_ROWS_MIRRORED};
    Judgement judgement;
    bench_judge(&bench, &submission, PRECISION_FP32, &judgement);
    judgement.observed.algorithm = ALGORITHM_FFT_64X64;
    Told told = tell(&judgement, probe_rounds, &submission);
    assert_non_null(strstr(told.found.text, "yours is 0."));
    bench_free(&bench);
}

/* If x is nearly all zero, the positions of wrong outputs only show its non-zero values. */
static void positions_of_zeros_prove_nothing(void **state)
{
    (void)state;
    Told told = judge("N=1 C=2 H=7 W=7 K=5 R=3 S=3 pad=1 stride=1 zeros=99", PLANT_FIRST_WEIGHT,
                      PRECISION_FP32, probe_run);
    assert_false(told.verdict.correct);
    assert_null(strstr(told.found.text, "Only the outputs"));
    assert_non_null(strstr(told.found.text, "yours is w[0][0][0][0]"));
}

/* Outputs that were never written have arbitrary positions: the padding is not blamed. */
static void unwritten_outputs_prove_nothing(void **state)
{
    (void)state;
    Told told = judge("N=1 C=2 H=6 W=9 K=3 R=3 S=3 pad=1 stride=1", PLANT_GRID_DOWN, PRECISION_FP32,
                      probe_run);
    assert_int_equal(told.found.fault, FAULT_UNWRITTEN);
    assert_non_null(strstr(told.found.text, "All of these have q = 8."));
    assert_null(strstr(told.found.text, "padding"));
}

/* A race is reported only if two runs differ for no other reason. */
static void no_race_is_reported_without_evidence(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        expect(every_shape[i], PLANT_UNSET, FAULT_NAN, "this is not a race");
        expect(every_shape[i], PLANT_INFINITE, FAULT_OVERFLOW, "outputs are infinite.");
        expect(every_shape[i], PLANT_INFINITE_OR_NAN, FAULT_OVERFLOW, "inf / inf");
    }
}

/* The finding of an engine's checker takes precedence over patterns. */
static void errors_in_checkerboards_are_found_first(void **state)
{
    (void)state;
    static const struct {
        const char *checked;
        Fault fault;
    } told[] = {
        {"Race reported between Write access at conv.cu:1 by thread (0,0,0) and Read access "
         "at conv.cu:2: Write-Read hazard on buffer __shared__ memory, offset 0x40, with "
         "no barrier between them",
         FAULT_RACE},
        {"Race reported between Write access at conv.cu:1 by thread (0,0,0) and Write access "
         "at conv.cu:1: Write-Write hazard on global __global__ memory, with no barrier "
         "between them",
         FAULT_TWO_WRITERS},
        {"Race reported between Write access at conv.cu:1 by block (0,0,0) and Read access "
         "at conv.cu:1 by block (1,0,0) on __global__ memory: nothing orders the blocks of "
         "a launch",
         FAULT_RACE_GLOBAL},
        {"Race reported between Write access at conv.cu:1 by block (0,0,0) and Read access "
         "at conv.cu:1 on __global__ memory: no fence with an atomic or a flag after it "
         "orders the two blocks",
         FAULT_RACE_GLOBAL},
        {"Race reported between k on the default stream and k on stream 1. Both use 4 "
         "bytes from address 0x40 on, one of them writes, and nothing orders the two: the "
         "second waits for no event after the first, and the host for neither",
         FAULT_STREAMS},
        {"Uninitialized __shared__ memory read of 4 bytes", FAULT_NAN},
        {"Uninitialized __global__ memory read of 4 bytes: y at (n,k,p,q) = (0,0,0,0)",
         FAULT_ACCUMULATED},
        {"", FAULT_EVERYWHERE}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        Bench bench = bench_make(SQUARE, 11);
        Submission submission = {.plant = PLANT_NOISE};
        Judgement judgement;
        bench_judge(&bench, &submission, PRECISION_FP32, &judgement);
        judgement.observed.checked = told[i].checked;
        Told said = tell(&judgement, probe_run, &submission);
        assert_int_equal(said.found.fault, told[i].fault);
        assert_int_equal(said.found.text[0] == 0, !strncmp(told[i].checked, "Race", 4));
        bench_free(&bench);
    }
}

/* VGG-16's first layer has 3.2 million outputs; the diagnosis looks at a sample. */
static void diagnosis_is_quick_on_large_outputs(void **state)
{
    (void)state;
    Bench bench = bench_make("N=1 C=3 H=224 W=224 K=16 R=3 S=3 pad=1 stride=1", 9);
    struct timespec start, end;
    Plant plant[] = {PLANT_NOTHING, PLANT_NOISE};
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        Submission submission = {.plant = plant[i]};
        submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
        Observed observed = {.output = bench.tensor[2]};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        Told told = tell_observed(&bench, observed);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        assert_int_equal(told.verdict.correct, i == 0);
        seconds[i] =
            (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    }
    print_message("800 k outputs: judged in %.3f s, diagnosed in %.3f s of CPU\n", seconds[0],
                  seconds[1]);
    assert_true(seconds[1] < 3);
    bench_free(&bench);
}

/* Every planted fault on hidden shapes: each must be detected if it changes the result, without
 * crashes and out-of-bounds accesses. */
static void every_planted_fault_is_found_on_hidden_shapes(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 77);
    for (int index = 0; index < 9; index++)
        for (Plant plant = PLANT_NOTHING; plant <= PLANT_Y_TRANSPOSED; plant++) {
            Problem problem;
            char text[256];
            operation->draw(&random, index, 1e5, &problem);
            operation->print(&problem, text, sizeof text);
            Told told = judge(text, plant, PRECISION_FP32, probe_run);
            if (plant <= PLANT_SPLIT_SUM) assert_true(told.verdict.correct);
            assert_int_equal(told.verdict.correct, told.found.fault == FAULT_NONE);
            assert_int_equal(told.verdict.correct, told.found.text[0] == '\0');
        }
}

/* The judgement ends with a verdict for arbitrary bits; ASan and UBSan check it. */
static void garbage_gets_a_verdict(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 8);
    for (int round = 0; round < 60; round++) {
        Bench bench = bench_make(every_shape[round % SHAPES], 5);
        Submission submission = {.plant = PLANT_NOTHING};
        Judgement judgement;
        submission_run(&submission, &bench.conv, bench.tensor[0], bench.tensor[1], bench.tensor[2]);
        for (size_t i = 0; i < bench.outputs; i++) {
            uint32_t word = (uint32_t)random_next(&random);
            if (round % 3 == 0 || random_range(&random, 0, 9) == 0)
                memcpy(&bench.tensor[2][i], &word, sizeof word);
        }
        bench_verify(&bench, PRECISION_FP32, &(Observed){.output = bench.tensor[2]}, &judgement);
        Told told = tell(&judgement, round % 2 ? probe_fails : NULL, NULL);
        assert_false(told.verdict.correct);
        assert_true(told.found.fault != FAULT_NONE && told.found.text[0]);
        bench_free(&bench);
    }
    /* Extreme but valid shapes: the suspected formulas must not overflow either. */
    assert_false(judge("N=1 C=1 H=9 W=9 K=2 R=3 S=3 pad=1 stride=1,2147483647", PLANT_NOISE,
                       PRECISION_FP32, probe_fails)
                     .verdict.correct);
    expect("N=1 C=1 H=3 W=3 K=9 R=3 S=3 pad=500 stride=500", PLANT_ZERO, FAULT_EVERYWHERE, "0");
}

int main(void)
{
    operation = operation_find("conv_forward");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_output_has_no_diagnosis),
        cmocka_unit_test(lower_precision_is_named_at_any_depth),
        cmocka_unit_test(less_than_eleven_bits_is_named),
        cmocka_unit_test(memory_faults_are_named),
        cmocka_unit_test(unwritten_and_nan),
        cmocka_unit_test(positions_of_nan_and_unwritten_outputs),
        cmocka_unit_test(filters_rotated),
        cmocka_unit_test(windows_shifted),
        cmocka_unit_test(edges_and_padding),
        cmocka_unit_test(tiles),
        cmocka_unit_test(channels_and_taps),
        cmocka_unit_test(maps_and_images),
        cmocka_unit_test(strides),
        cmocka_unit_test(accumulation),
        cmocka_unit_test(races_and_the_rest),
        cmocka_unit_test(single_values),
        cmocka_unit_test(values_of_another_scale),
        cmocka_unit_test(tiles_permuted),
        cmocka_unit_test(values_of_a_probe),
        cmocka_unit_test(tiny_values_are_printed_as_0),
        cmocka_unit_test(positions_of_zeros_prove_nothing),
        cmocka_unit_test(unwritten_outputs_prove_nothing),
        cmocka_unit_test(no_race_is_reported_without_evidence),
        cmocka_unit_test(errors_in_checkerboards_are_found_first),
        cmocka_unit_test(diagnosis_is_quick_on_large_outputs),
        cmocka_unit_test(every_planted_fault_is_found_on_hidden_shapes),
        cmocka_unit_test(garbage_gets_a_verdict),
    };
    return cmocka_run_group_tests_name("conv/diagnosis", tests, NULL, NULL);
}
