/* test_session_device.c - small submissions to device labs, valid and malicious, through all three
 * processes. */
#include "common/operations/catalog/operations.h"

#include "autograder/session/test_runs.h"

#define NAIVE_DEVICE                                                                               \
    "#include <convlab/conv.h>\n#include <stdlib.h>\n#include <unistd.h>\n"                        \
    "__global__ void naive(ConvProblem p, const float *x, const float *w, float *y, int shift) "   \
    "{\n"                                                                                          \
    " int at = blockIdx.x * blockDim.x + threadIdx.x, j = at % p.Q, i = at / p.Q % p.P;\n"         \
    " int k = at / p.Q / p.P % p.K, n = at / p.Q / p.P / p.K; float sum = 0;\n"                    \
    " if (n >= p.N) return;\n"                                                                     \
    " for (int c = 0; c < p.C; c++) for (int r = 0; r < p.R; r++) for (int s = 0; s < p.S; s++) "  \
    "{\n"                                                                                          \
    "  int h = i * p.stride_h + r - p.pad_top, v = j * p.stride_w + s - p.pad_left;\n"             \
    "  if (h >= 0 && h < p.H && v >= 0 && v < p.W)\n"                                              \
    "   sum += x[((n * p.C + c) * p.H + h) * p.W + v] * w[((k * p.C + c) * p.R + r) * p.S + s]; "  \
    "}\n"                                                                                          \
    " y[at + shift] = sum; }\n"                                                                    \
    "__global__ void forever(volatile float *y) {\n"                                               \
    " for (unsigned i = 1; i; i = 2 * i + 1) y[i % 64] = i; }\n"                                   \
    "static int blocks(const ConvProblem *p) { return (p->N * p->K * p->P * p->Q + 127) / 128; "   \
    "}\n"

#define DEVICE_ENTRY                                                                               \
    "void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y, "           \
    "cudaStream_t stream) {\n"

static void run_replay(Run *run, int slot, int repeats)
{
    session_replay(run->session, slot, repeats, (const float *const *)run->tensor, run->output,
                   &run->observed, &run->outcome);
    run_judge(run);
}

static const char honest_device[] =
    NAIVE_DEVICE DEVICE_ENTRY " naive<<<blocks(p), 128, 0, stream>>>(*p, x, w, y, 0); }\n";

/* Ways in which a call can end.  One source contains all of them, because nvcc takes a second; the
 * problem's number of images selects one. */
typedef struct Ending {
    const char *body;
    RunStatus status;
    const char *words;
} Ending;

static const Ending ends_early[] = {
    {"exit(0);", RUN_EXITED, "exit(0)"},
    {"*y = x[0];", RUN_CRASHED, "SIGSEGV"},
    {"for (;;) usleep(1000);", RUN_LIMIT, "without computing anything"},
    /* The first failure explains a later loop. */
    {"naive<<<1, 4096>>>(*p, x, w, y, 0); for (;;) { }", RUN_DEVICE_ERROR, "4096"},
};
static const Ending faults[] = {
    {"naive<<<blocks(p), 128, 0, stream>>>(*p, x, w, y, 1 << 20);", RUN_DEVICE_ERROR, "naive"},
    {"naive<<<blocks(p), 4096, 0, stream>>>(*p, x, w, y, 0);", RUN_DEVICE_ERROR, "4096"},
    {"float *m; cudaMalloc(&m, 1ull << 40); naive<<<blocks(p), 128>>>(*p, x, w, y, 0);",
     RUN_DEVICE_ERROR, "MiB"},
    {"cudaFree((void *)x); naive<<<blocks(p), 128>>>(*p, x, w, y, 0);", RUN_DEVICE_ERROR,
     "cudaMalloc"},
};
static const Ending without_end[] = {
    {"forever<<<1, 1, 0, stream>>>(y);", RUN_LIMIT, "warp instructions"},
    /* Many launches, each below the limit of all together. */
    {"for (;;) naive<<<blocks(p), 128, 0, stream>>>(*p, x, w, y, 0);", RUN_LIMIT,
     "a loop around the launch never ends"},
};

enum {
    COUNT_EARLY = sizeof ends_early / sizeof *ends_early,
    COUNT_FAULTS = sizeof faults / sizeof *faults,
    COUNT_ENDLESS = sizeof without_end / sizeof *without_end
};

/* Adds "if (p->N == first) { body }" and so on; returns the N after the last one. */
static int endings_add(char *source, size_t bytes, const Ending *ending, int count, int first)
{
    for (int i = 0; i < count; i++) {
        size_t used = strlen(source);
        snprintf(source + used, bytes - used, "if (p->N == %d) { %s }\n", first + i,
                 ending[i].body);
    }
    return first + count;
}

/* Tries several of them; `first`: the N of the first one. */
static void expect_endings(const Ending *ending, int count, int first)
{
    char source[8192] = NAIVE_DEVICE DEVICE_ENTRY, usual[sizeof shape_text];
    int next = endings_add(source, sizeof source, ends_early, COUNT_EARLY, 1);
    next = endings_add(source, sizeof source, faults, COUNT_FAULTS, next);
    endings_add(source, sizeof source, without_end, COUNT_ENDLESS, next);
    strcat(source, "}\n");
    strcpy(usual, shape_text);
    for (int i = 0; i < count; i++) {
        snprintf(shape_text, sizeof shape_text, "N=%d%s", first + i, strchr(usual, ' '));
        expect("conv_forward", source, honest_device, ending[i].status, ending[i].words);
    }
    strcpy(shape_text, usual);
}

static void test_device_ends_early(void **state)
{
    (void)state;
    expect_endings(ends_early, COUNT_EARLY, 1);
}

static void test_device_kernel_faults(void **state)
{
    (void)state;
    expect_endings(faults, COUNT_FAULTS, 1 + COUNT_EARLY);
}

static void test_device_kernel_without_end(void **state)
{
    (void)state;
    expect_endings(without_end, COUNT_ENDLESS, 1 + COUNT_EARLY + COUNT_FAULTS);
}

static void test_device_correct(void **state)
{
    Run run;
    (void)state;
    run_open(&run, "conv_forward", 30);
    for (int slot = 0; slot < 2; slot++) {
        run_load(&run, slot, honest_device);
        run_call(&run, slot);
        expect_correct(&run);
        assert_int_equal(run.outcome.cost.launches, 1);
        assert_true(run.outcome.cost.cycles > 0);
    }
    uint64_t cycles = run.outcome.cost.cycles;
    for (int slot = 0; slot < 2; slot++) {
        inputs_fresh(&run);
        run_replay(&run, slot, 2);
        expect_correct(&run);
        assert_int_equal(run.outcome.cost.cycles, cycles);
    }
    run_close(&run);
}

static void test_device_streams_are_synchronised(void **state)
{
    Run run;
    (void)state;
    run_open(&run, "conv_forward", 30);
    run_load(&run, 0,
             NAIVE_DEVICE DEVICE_ENTRY
             " cudaStream_t own; cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);\n"
             " naive<<<blocks(p), 128, 0, own>>>(*p, x, w, y, 0); }\n");
    run_call(&run, 0);
    expect_correct(&run);
    assert_int_equal(run.outcome.cost.launches, 1);
    inputs_fresh(&run);
    run_replay(&run, 0, 1);
    expect_correct(&run);
    assert_int_equal(run.outcome.cost.launches, 1);
    run_close(&run);
}

/* A module's variables are reset before each replay; a process keeps them while it lives, also for
 * the next problem. */
static void test_device_variables_do_not_survive(void **state)
{
    static const char source[] = NAIVE_DEVICE
        "__device__ int runs; __constant__ float first = 1;\n"
        "__global__ void note() { runs++; }\n"
        "__global__ void spoil(float *y) { if (runs > 1 || first != 1) y[0] = 1e9f; "
        "}\n" DEVICE_ENTRY " note<<<1, 1, 0, stream>>>();\n"
        " naive<<<blocks(p), 128, 0, stream>>>(*p, x, w, y, 0);\n"
        " spoil<<<1, 1, 0, stream>>>(y); float two = 2;\n"
        " cudaMemcpyToSymbolAsync(first, &two, sizeof two, 0, cudaMemcpyHostToDevice, stream); }\n";
    Run run;
    Error error;
    (void)state;
    run_open(&run, "conv_forward", 30);
    run_load(&run, 0, source);
    run_call(&run, 0);
    expect_correct(&run);
    for (int repeats = 0; repeats < 3; repeats++) {
        inputs_fresh(&run);
        run_replay(&run, 0, repeats);
        expect_correct(&run);
        assert_int_equal(run.outcome.cost.launches, repeats ? 3 : 0); /* 0: not counted */
    }
    assert_int_equal(session_next_problem(run.session, &run.problem, &error), 0);
    run_call(&run, 0);
    assert_int_equal(run.verdict.correct, 0);
    assert_int_equal(session_set_problem(run.session, run.operation, &run.problem, 0, &error), 0);
    run_call(&run, 0);
    expect_correct(&run);
    run_close(&run);
}

/* The kernel finds its earlier result in y or in its own memory and returns early. */
static void test_device_outputs_do_not_survive(void **state)
{
    static const char source[] = NAIVE_DEVICE
        "__global__ void lazy(ConvProblem p, const float *x, const float *w, float *y, float "
        "*kept, int n)\n"
        "{ int at = blockIdx.x * blockDim.x + threadIdx.x; if (at < n) y[at] = kept[at]; "
        "}\n" DEVICE_ENTRY " static float *kept; int n = p->N * p->K * p->P * p->Q;\n"
        " if (!kept) { cudaMalloc(&kept, n * 4); naive<<<blocks(p), 128>>>(*p, x, w, kept, 0); }\n"
        " lazy<<<(n + 127) / 128, 128>>>(*p, x, w, y, kept, n); }\n";
    Run run;
    (void)state;
    run_open(&run, "conv_forward", 30);
    run_load(&run, 0, source);
    run_call(&run, 0);
    expect_correct(&run);
    run_call(&run,
             0); /* the same inputs: the kept result would be right, and the recording is a copy */
    run_replay(&run, 0, 1);
    assert_int_equal(run.verdict.correct, 0);
    run_close(&run);
}

static void test_device_inputs_are_checked(void **state)
{
    static const char source[] =
        NAIVE_DEVICE "__global__ void spoil(float *x) { x[1] = 0; }\n" DEVICE_ENTRY
                     " naive<<<blocks(p), 128>>>(*p, x, w, y, 0); spoil<<<1, 1>>>((float *)w); }\n";
    Run run;
    (void)state;
    run_open(&run, "conv_forward", 30);
    run_load(&run, 0, source);
    run_call(&run, 0);
    assert_int_equal(run.outcome.status, RUN_OK);
    assert_string_equal(run.observed.input_changed, "w");
    run_close(&run);
}

/* The L1's sets depend on the address, so cycles depend on allocations.  They must not depend on
 * programs that ran for an earlier problem. */
static void test_device_starts_every_problem_fresh(void **state)
{
    /* Reads 1,536 scattered lines of a megabyte twice: about as many as the L1 has. */
    static const char scattered[] = NAIVE_DEVICE
        "__global__ void walk(float *m) { float sum = 0;\n"
        " for (unsigned i = 0; i < 96; i++)\n"
        "  sum += m[(i % 48 * 32 + threadIdx.x) * 2654435761u >> 19 << 5];\n"
        " m[threadIdx.x + 1] = sum; }\n" DEVICE_ENTRY " float *m; cudaMalloc(&m, 1 << 20);\n"
        " cudaMemset(m, 0, 1 << 20); walk<<<1, 32>>>(m);\n"
        " naive<<<blocks(p), 128>>>(*p, x, w, y, 0); cudaFree(m); }\n";
    static const char hoarder[] = NAIVE_DEVICE "__device__ float variable[1000];\n" DEVICE_ENTRY
                                               " float *m; cudaMalloc(&m, 300000);\n"
                                               " naive<<<blocks(p), 128>>>(*p, x, w, y, 0); }\n";
    Run run;
    Error error;
    (void)state;
    run_open(&run, "conv_forward", 30);
    run_load(&run, 0, scattered);
    run_call(&run, 0);
    expect_correct(&run);
    uint64_t alone = run.outcome.cost.cycles;
    assert_int_equal(session_set_problem(run.session, run.operation, &run.problem, 0, &error), 0);
    run_load(&run, 1, hoarder);
    run_call(&run, 1);
    expect_correct(&run);
    run_call(&run, 0);
    assert_int_not_equal(run.outcome.cost.cycles, alone); /* cycles do depend on the address of its
                                                           * memory */
    assert_int_equal(session_set_problem(run.session, run.operation, &run.problem, 0, &error), 0);
    run_call(&run, 0);
    expect_correct(&run);
    assert_int_equal(run.outcome.cost.cycles, alone);
    run_close(&run);
}

int main(void)
{
    int cannot = runs_open();
    if (cannot) return cannot > 0;
    if (access(toolchain.nvcc, X_OK)) {
        printf("skipped: no nvcc at %s\n", toolchain.nvcc);
        return runs_close(0);
    }
    const struct CMUnitTest device[] = {
        cmocka_unit_test(test_device_correct),
        cmocka_unit_test(test_device_streams_are_synchronised),
        cmocka_unit_test(test_device_ends_early),
        cmocka_unit_test(test_device_kernel_faults),
        cmocka_unit_test(test_device_kernel_without_end),
        cmocka_unit_test(test_device_variables_do_not_survive),
        cmocka_unit_test(test_device_outputs_do_not_survive),
        cmocka_unit_test(test_device_inputs_are_checked),
        cmocka_unit_test(test_device_starts_every_problem_fresh),
    };
    const struct CMUnitTest lowered[] = {
        cmocka_unit_test(test_device_correct),
    };
    int failed = cmocka_run_group_tests(device, NULL, NULL);
    return runs_close(failed + runs_lowered(lowered));
}
