/* test_simt_accelerators.c - the accelerators of Cheng et al. (2018): what a call takes, that the
 * hardware's own work is checked as any other, and that nobody counts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

enum { FLOATS = 128 };

/* An accelerator's name, and one that the simulator does not know. */
static const char INNER[] = "convlab_accelerator_inner_product",
                  OTHER[] = "convlab_accelerator_product";

/* Kernel k(data) of 64 threads. Each thread writes a one to shared memory, and after `barrier`
 * calls `function` on `count` pairs at `array` (%rd1 is data, %rd2 the shared ones). It stores the
 * result in data's last float. The function's own body returns count, negative. */
static void text_write(char *text, size_t bytes, const char *function, const char *barrier,
                       const char *array, unsigned count)
{
    snprintf(text, bytes,
             HEAD ".func (.param .b32 r) %s(.param .b64 a, .param .b32 b, .param .b64 c, "
                  ".param .b32 d, .param .b32 n)\n{\n"
                  ".reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .pred %%p<2>;\n"
                  "ld.param.u32 %%r1, [n];\nmov.f32 %%f1, 0f00000000;\n"
                  "L:\nadd.f32 %%f1, %%f1, 0fbf800000;\nadd.u32 %%r1, %%r1, -1;\n"
                  "setp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra L;\nst.param.f32 [r], %%f1;\nret;\n}\n"
                  ".visible .entry k(.param .u64 data)\n{\n"
                  ".reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .f32 %%f<4>;\n"
                  ".shared .align 4 .b8 ones[512];\n"
                  ".param .b64 pa; .param .b32 pb; .param .b64 pc; .param .b32 pd; "
                  ".param .b32 pn; .param .b32 pr;\n"
                  "ld.param.u64 %%rd1, [data];\nmov.u32 %%r1, %%tid.x;\nshl.b32 %%r1, %%r1, 2;\n"
                  "mov.u32 %%r2, ones;\nadd.u32 %%r1, %%r1, %%r2;\n"
                  "st.shared.f32 [%%r1], 0f3F800000;\n%s\n"
                  "mov.u64 %%rd2, ones;\ncvta.shared.u64 %%rd2, %%rd2;\n"
                  "st.param.b64 [pa], %s;\nst.param.b64 [pc], %s;\nst.param.b32 [pb], 1;\n"
                  "st.param.b32 [pd], 1;\nst.param.b32 [pn], %u;\n"
                  "call.uni (pr), %s, (pa, pb, pc, pd, pn);\n"
                  "ld.param.f32 %%f1, [pr];\nst.global.f32 [%%rd1+508], %%f1;\nret;\n}\n",
             function, barrier, array, array, count, function);
}

typedef struct Outcome {
    SimtResult result;
    float sum; /* data's last */
} Outcome;

static Outcome outcome_of(const char *text, uint32_t accelerators)
{
    Outcome outcome = {.sum = 0};
    SimtMachine machine = SMALL;
    machine.accelerators = accelerators;
    Error error = {""};
    SimtOptions options = {.threads = 1, .initcheck = 1, .racecheck = 1, .count = 1};
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    float ones[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        ones[i] = 1;
    uint64_t data = device_data(gpu, ones, sizeof ones);
    run(gpu, text, 1, 64, 0, &data, sizeof data, &outcome.result);
    device_fetch(gpu, data + (FLOATS - 1) * sizeof(float), &outcome.sum, sizeof outcome.sum);
    simt_close(gpu);
    return outcome;
}

/* `count` ones in global memory: no barrier is needed for those. */
static Outcome called(const char *function, unsigned count, uint32_t accelerators)
{
    char text[4000];
    text_write(text, sizeof text, function, "", "%rd1", count);
    return outcome_of(text, accelerators);
}

/* The accelerator takes 2 cycles per element and gives the hardware's result, whatever the body
 * says. Without accelerators, and for another function, the body runs and takes its time. */
static void a_call_takes_the_cycles_of_the_paper(void **state)
{
    (void)state;
    Outcome few = called(INNER, 10, 1), many = called(INNER, 110, 1);
    assert_int_equal(many.result.cycles - few.result.cycles, 200);
    assert_true(few.sum == 10 && many.sum == 110);
    few = called(INNER, 10, 0), many = called(INNER, 110, 0);
    assert_true(many.result.cycles - few.result.cycles > 100 * (uint64_t)SMALL.alu_latency);
    assert_true(few.sum == -10 && many.sum == -110);
    few = called(OTHER, 10, 1), many = called(OTHER, 110, 1);
    assert_true(many.result.cycles - few.result.cycles > 100 * (uint64_t)SMALL.alu_latency);
    assert_true(few.sum == -10 && many.sum == -110);
}

/* A call is one instruction however much it does; the body of a function is counted. */
static void its_own_work_is_not_counted(void **state)
{
    (void)state;
    Counters few = called(INNER, 10, 1).result.counters,
             many = called(INNER, 110, 1).result.counters;
    assert_int_equal(few.warp_instructions, many.warp_instructions);
    assert_int_equal(many.accelerator_calls, 2); /* one a warp */
    assert_int_equal(many.accelerator_cycles, 2 * (2 * 110));
    assert_int_equal(many.branches, 0);
    assert_int_equal(many.divergent_branches, 0);
    assert_int_equal(many.global_load_requests, 0);
    assert_int_equal(many.global_store_requests, 2); /* the kernel's own: one a warp */
    Counters body = called(INNER, 110, 0).result.counters;
    assert_int_equal(body.accelerator_calls, 0);
    assert_int_equal(body.branches, 2 * (110 + 1)); /* a loop's, and the return */
    assert_int_equal(body.warp_instructions - many.warp_instructions, 2 * (4 * 110 + 4 - 1));
}

/* The call reads the other warp's data: correct after a barrier, a race without one. */
static void its_accesses_are_checked(void **state)
{
    (void)state;
    char text[4000];
    text_write(text, sizeof text, INNER, "bar.sync 0;", "%rd2", 64);
    Outcome outcome = outcome_of(text, 1);
    assert_int_equal(outcome.result.report.check, SIMT_OK);
    assert_true(outcome.sum == 64);
    text_write(text, sizeof text, INNER, "", "%rd2", 32);
    assert_int_equal(outcome_of(text, 1).result.report.check, SIMT_RACECHECK);
    text_write(text, sizeof text, INNER, "bar.sync 0;", "%rd2", 65);
    assert_int_equal(outcome_of(text, 1).result.report.check, SIMT_INITCHECK);
    text_write(text, sizeof text, INNER, "bar.sync 0;", "%rd2", 129);
    assert_int_equal(outcome_of(text, 1).result.report.check, SIMT_MEMCHECK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_takes_the_cycles_of_the_paper),
        cmocka_unit_test(its_own_work_is_not_counted),
        cmocka_unit_test(its_accesses_are_checked),
    };
    return cmocka_run_group_tests_name("accelerators", tests, NULL, NULL);
}
