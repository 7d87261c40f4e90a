/* test_operation.c - an operation that is not a convolution, a matrix-vector product, is judged and
 * diagnosed with its own Operation alone: this module depends on no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"

/* ---- y[i] = sum over j of a[i][j] * x[j] -------------------------------------------------- */

enum { ROWS = 96, COLUMNS = 40 };
enum { A, X, Y, TENSORS };

static int product_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    (void)problem;
    shape[A] = (TensorShape){"a", TENSOR_INPUT, 2, {ROWS, COLUMNS}, {"i", "j"}};
    shape[X] = (TensorShape){"x", TENSOR_INPUT, 1, {COLUMNS}, {"j"}};
    shape[Y] = (TensorShape){"y", TENSOR_OUTPUT, 1, {ROWS}, {"i"}};
    return TENSORS;
}

static void product_generate(const Problem *problem, Random *random, float *const *tensor)
{
    (void)problem;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        tensor[A][i] = random_wide(random);
    for (int j = 0; j < COLUMNS; j++)
        tensor[X][j] = random_wide(random);
}

static void product_oracle(const Problem *problem, const float *const *tensor, double *expected,
                           double *magnitude, double *terms)
{
    (void)problem;
    for (int i = 0; i < ROWS; i++) {
        expected[i] = magnitude[i] = 0;
        terms[i] = COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            double product = (double)tensor[A][i * COLUMNS + j] * tensor[X][j];
            expected[i] += product;
            magnitude[i] += fabs(product);
        }
    }
}

static const Operation product = {.name = "product",
                                  .tensors = product_tensors,
                                  .generate = product_generate,
                                  .oracle = product_oracle};

/* ---- submissions ------------------------------------------------------------------------- */

typedef enum Plant {
    HONEST,
    ROW_LOST,
    LAST_UNWRITTEN,
    ADDS,
    RACES,
    HALF,
    NOT_A_NUMBER,
    MOVED, /* every sum is stored three rows later */
    ZEROS, /* three out of four outputs are not stored and stay 0 */
} Plant;

typedef struct Submission {
    Plant plant;
    int runs;
} Submission;

static float rounded(float value)
{
    return (float)(ldexp(round(ldexp(frexp(value, &(int){0}), 8)), -8) *
                   ldexp(1, ilogb(value) + 1));
}

static int submission_run(void *context, const Problem *problem, const float *const *tensor,
                          float *y)
{
    Submission *submission = context;
    Plant plant = submission->plant;
    (void)problem;
    submission->runs++;
    for (int i = 0; i < ROWS; i++) {
        float sum = plant == ADDS ? y[i] : 0;
        for (int j = 0; j < COLUMNS; j++) {
            float a = tensor[A][i * COLUMNS + j];
            sum += (plant == HALF ? rounded(a) : a) * tensor[X][j];
        }
        if (plant == ROW_LOST && i == 7) sum = 1e6f;
        if (plant == RACES && i == 11) sum *= (float)submission->runs + 1;
        if (plant == NOT_A_NUMBER && i == 3) sum = NAN;
        if (plant == ZEROS && i % 4) sum = 0;
        if (plant != LAST_UNWRITTEN || i < ROWS - 4) y[plant == MOVED ? (i + 3) % ROWS : i] = sum;
    }
    return 0;
}

static void judge(Plant plant, const char *band, Verdict *verdict, Finding *finding)
{
    Problem problem = {.bytes = 0};
    float a[ROWS * COLUMNS], x[COLUMNS], y[ROWS], *tensor[] = {a, x, y};
    const float *const given[] = {a, x, y};
    const uint32_t poison = OUTPUT_POISON;
    Submission submission = {.plant = plant};
    Judgement judgement;
    Error error = {""};
    Random random;
    random_seed(&random, 5);
    product_generate(&problem, &random, tensor);
    for (int i = 0; i < ROWS; i++)
        memcpy(&y[i], &poison, sizeof poison);
    submission_run(&submission, &problem, given, y);
    Observed observed = {.output = y, .band_broken = band, .band_offset = 2};
    assert_int_equal(
        verify_output(&product, &problem, PRECISION_FP32, given, &observed, &judgement, &error), 0);
    *verdict = judgement.verdict;
    diagnose(&judgement, submission_run, &submission, finding);
    judgement_free(&judgement);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void a_correct_product_passes(void **state)
{
    (void)state;
    Verdict verdict;
    Finding finding;
    judge(HONEST, NULL, &verdict, &finding);
    assert_true(verdict.correct);
    assert_int_equal(verdict.total, ROWS);
    assert_int_equal(finding.fault, FAULT_NONE);
    assert_string_equal(finding.text, "");
}

static void each_fault_is_named_in_terms_of_the_operation(void **state)
{
    static const struct {
        Plant plant;
        const char *band;
        Fault fault;
        const char *words;
    } CASE[] = {
        {ROW_LOST, NULL, FAULT_EVERYWHERE, "Calculate the first one by hand"},
        {MOVED, NULL, FAULT_EVERYWHERE, "other outputs: (i) = (0) has that of (i) = (93)"},
        {ZEROS, NULL, FAULT_EVERYWHERE, "72 of the wrong outputs are 0"},
        {LAST_UNWRITTEN, NULL, FAULT_UNWRITTEN, "4 of 96 outputs were never written"},
        {ADDS, NULL, FAULT_ACCUMULATED, "with y set to zero beforehand"},
        {RACES, NULL, FAULT_DIFFER, "first at (i) = (11)"},
        {HALF, NULL, FAULT_PRECISION, "lower precision"},
        {NOT_A_NUMBER, NULL, FAULT_NAN, "an index outside of a or x"},
        {HONEST, "y", FAULT_GUARD_BAND, "2 floats past the end of y"},
        {HONEST, "y", FAULT_GUARD_BAND, "own sizes (i < I)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Verdict verdict;
        Finding finding;
        judge(CASE[i].plant, CASE[i].band, &verdict, &finding);
        assert_false(verdict.correct);
        if (finding.fault != CASE[i].fault || !strstr(finding.text, CASE[i].words))
            fail_msg("plant %d: %s: %s", CASE[i].plant, fault_name(finding.fault), finding.text);
    }
}

/* Messages of the engines; the corpus of mutants tests that they are still the same. */
static void reasons_that_stop_a_run_are_faults(void **state)
{
    (void)state;
    static const struct {
        const char *message;
        Fault fault;
    } known[] = {
        {"cudaErrorIllegalAddress: Invalid __global__ write of 4 bytes: the address is right past "
         "the end of y[2][3], at (n,k) = (2,0)",
         FAULT_GUARD_BAND},
        {"Invalid __global__ write of 4 bytes: the address is 0 bytes past the end of a 96-byte "
         "allocation of your own at 0x700000000000",
         FAULT_WORKSPACE},
        {"Invalid __global__ read of 4 bytes: the address is 3 floats before the start of x[2][3]",
         FAULT_READ_OUTSIDE},
        {"Use after free: invalid __global__ read of 4 bytes", FAULT_READ_OUTSIDE},
        {"Invalid __shared__ read of 4 bytes: offset 64", FAULT_SHARED_MEMORY},
        {"Misaligned __shared__ read of 16 bytes", FAULT_MISALIGNED},
        {"Barrier error: divergent threads in a warp", FAULT_BARRIER},
        {"cudaErrorInvalidConfiguration: a block of 2304 threads", FAULT_LAUNCH},
        {"cudaErrorInvalidValue: 57696 bytes of dynamic shared memory: conv_kernel may use at most "
         "49152",
         FAULT_LAUNCH},
        {"asked for more than 2048 MiB of host memory", FAULT_NONE},
        {"", FAULT_NONE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(fault_stopped(known[i].message), known[i].fault);
}

/* Causes from the numbers of an engine's message. */
static void faults_have_a_cause(void **state)
{
    (void)state;
    static const struct {
        const char *message, *words; /* "": no cause */
    } known[] = {
        {"Invalid __global__ write of 4 bytes: the address is 16 bytes past the end of a 96-byte "
         "allocation of your own at 0x700000000000",
         "needs at least 116 bytes, and the allocation has 96. Either the index is too large, or "
         "the size lacks sizeof(float): 96 elements would need 384 bytes."},
        {"Invalid __global__ read of 2 bytes: the address is 0 bytes past the end of a 96-byte "
         "allocation of your own at 0x700000000000",
         "Possibly the index is too large or negative: the writes before this read were inside of "
         "the allocation."},
        {"cudaErrorIllegalAddress: Invalid __shared__ write of 4 bytes: offset 6248 is 3008 bytes "
         "past the end of the block's 3240 bytes",
         "lacks sizeof(float): 3240 elements need 12960 bytes."},
        {"Barrier error: this wait never ends: phase 1 of the mbarrier at offset 0x0 of shared "
         "memory is never completed. It still waits for 0 of 1 arrivals, and 8192 of the bytes "
         "that it expects have not come\nwaiting: thread 0 of block (1,0,0) at conv.cu:237 for "
         "phase 1 of the mbarrier at 0x0, with 1 of 1 arrivals and -8192 bytes pending",
         "more bytes have come than its phase announces"},
        {"Barrier error: this wait never ends: phase 0 of the mbarrier at offset 0x0 of shared "
         "memory is never completed. It still waits for 0 of 1 arrivals, and 8192 of the bytes "
         "that it expects have not come\nwaiting: thread 0 of block (1,0,0) at conv.cu:237 for "
         "phase 0 of the mbarrier at 0x0, with 0 of 1 arrivals and 8192 bytes pending",
         "check the mask of the multicast"},
        {"Invalid __global__ write of 4 bytes: the address is 285 bytes past the end of a 96-byte "
         "allocation of your own at 0x700000000000",
         ""},
        {"Invalid __global__ write of 4 bytes: the address is 16 bytes before a 96-byte "
         "allocation of your own at 0x700000000000",
         ""},
        {"Invalid __global__ write of 4 bytes: the address is right past the end of y[2][3]", ""},
        {"Barrier error: this wait never ends: the phase of the mbarrier at offset 0x40 of shared "
         "memory is never completed. It still waits for 1 of 128 arrivals; all other threads wait "
         "as well, or have ended",
         "127 of the 128 arrivals that mbarrier.init announced have come."},
        {"Barrier error: this wait never ends: the phase of the mbarrier at offset 0x40 of shared "
         "memory is never completed. It still waits for 0 of 1 arrivals, and 512 of the bytes that "
         "it expects have not come",
         ""},
        {"Barrier error: this wait never ends. It still waits for 128 of 128 arrivals", ""},
        {"Barrier error: 32 arrivals at once at the mbarrier at offset 0x40, whose phase waits "
         "for 0 of 1",
         "More threads arrive than mbarrier.init announced. Possibly that count is too small"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[400];
        assert_int_equal(stopped_cause(known[i].message, text, sizeof text), *known[i].words != 0);
        assert_int_equal(*text != 0, *known[i].words != 0);
        if (!strstr(text, known[i].words)) fail_msg("%zu: %s", i, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_that_stop_a_run_are_faults),
        cmocka_unit_test(faults_have_a_cause),
        cmocka_unit_test(a_correct_product_passes),
        cmocka_unit_test(each_fault_is_named_in_terms_of_the_operation),
    };
    return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
