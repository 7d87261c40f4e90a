/* test_simt_repeats.c - launches that repeat an earlier one have the counters, cycles and memory of
 * launches that are all priced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

enum { WORDS = 4096, LAUNCHES = 40 };

#define FIRST                                                                                      \
    HEAD ".visible .entry k(.param .u64 data)\n{\n"                                                \
         ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .pred %p<4>;\n"              \
         ".shared .b32 s[64];\n"                                                                   \
         "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"              \
         "mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd2, %rd1, %rd2;\n"

/* Adds 1 to each word. */
static const char SAME[] =
    FIRST "ld.global.u32 %r4, [%rd2];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], %r4;\nret;\n}\n";

/* Word 0 of each block is the number of iterations, which grows. */
static const char CONTROL_FLOW[] =
    FIRST "ld.global.u32 %r4, [%rd2];\nmov.u32 %r5, 0;\n"
          "L: add.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, %r4;\n@%p1 bra L;\n"
          "st.global.u32 [%rd2], %r5;\nret;\n}\n";

/* The address depends on the word that the launch changes, the control flow does not. */
static const char ADDRESSES[] =
    FIRST "ld.global.u32 %r4, [%rd2];\nand.b32 %r5, %r4, 31;\nmul.lo.u32 %r5, %r5, %r1;\n"
          "and.b32 %r5, %r5, 1023;\nmul.wide.u32 %rd3, %r5, 4;\nadd.u64 %rd3, %rd1, %rd3;\n"
          "ld.global.u32 %r6, [%rd3+8192];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], %r4;\n"
          "ret;\n}\n";

/* Only the lanes that store depend on the word: its lowest bits. */
static const char GUARDS[] =
    FIRST "ld.global.u32 %r4, [%rd2];\nadd.u32 %r5, %r4, %r1;\nand.b32 %r5, %r5, 7;\n"
          "setp.eq.u32 %p1, %r5, 0;\n@%p1 st.global.u32 [%rd2+4096], %r5;\nadd.u32 %r4, %r4, 1;\n"
          "st.global.u32 [%rd2], %r4;\nret;\n}\n";

/* The banks that shared memory uses depend on the word. */
static const char BANKS[] =
    FIRST "ld.global.u32 %r4, [%rd2];\nmul.lo.u32 %r5, %r4, %r1;\nand.b32 %r5, %r5, 63;\n"
          "mov.u32 %r6, s;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r6, %r6, %r5;\n"
          "st.shared.u32 [%r6], %r1;\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], %r4;\nret;\n}\n";

/* Divisions take a longer way for some operands, which come closer with each launch. */
static const char DIVISIONS[] =
    FIRST "ld.global.f32 %f1, [%rd2];\nmov.f32 %f2, 0f3F800000;\ndiv.rn.f32 %f3, %f2, %f1;\n"
          "mul.f32 %f1, %f1, 0f3a800000;\nst.global.f32 [%rd2], %f1;\nst.global.f32 [%rd2+8192], "
          "%f3;\nret;\n}\n";

typedef struct Runs {
    SimtResult result[LAUNCHES];
    uint32_t memory[WORDS];
    uint64_t repeats;
} Runs;

static void runs_make(const char *text, int repeats, int untrusted, uint32_t first, Runs *runs)
{
    Error error = {""};
    uint32_t data[WORDS];
    SimtOptions options = {.threads = 2,
                           .count = 1,
                           .initcheck = 1,
                           .racecheck = 1,
                           .repeats = repeats,
                           .untrusted = untrusted};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = first;
    uint64_t address = device_data(gpu, data, sizeof data);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    if (!module) fail_msg("%s", error.text);
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    if (!kernel) fail_msg("%s", error.text);
    SimtLaunch launch = {.grid = {16, 1, 1},
                         .block = {64, 1, 1},
                         .params = &address,
                         .params_bytes = sizeof address};
    for (uint32_t i = 0; i < LAUNCHES; i++)
        if (simt_launch_begin(gpu, kernel, &launch, &runs->result[i]) != 0)
            fail_msg("%s", runs->result[i].report.text);
    simt_settle(gpu, NULL);
    runs->repeats = simt_repeats(kernel);
    device_fetch(gpu, address, runs->memory, sizeof runs->memory);
    simt_close(gpu);
}

/* Returns the number of launches that were not priced again. */
static uint64_t expect_equal(const char *text, uint32_t first)
{
    static Runs priced, repeated;
    runs_make(text, 0, 0, first, &priced);
    runs_make(text, 1, 0, first, &repeated);
    assert_int_equal(priced.repeats, 0);
    assert_memory_equal(priced.memory, repeated.memory, sizeof priced.memory);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const SimtResult *a = &priced.result[i], *b = &repeated.result[i];
        if (a->cycles != b->cycles || memcmp(&a->counters, &b->counters, sizeof a->counters))
            fail_msg("launch %u: %llu cycles, %llu as a repeat", i, (unsigned long long)a->cycles,
                     (unsigned long long)b->cycles);
        assert_int_equal(a->findings, b->findings);
        assert_int_equal(a->busy_cycles, b->busy_cycles);
        assert_int_equal(a->occupancy_percent, b->occupancy_percent);
    }
    return repeated.repeats;
}

static void a_repeat_is_executed_and_not_priced(void **state)
{
    (void)state;
    assert_int_equal(expect_equal(SAME, 7), LAUNCHES - 2);
}

static void launches_that_differ_are_priced(void **state)
{
    (void)state;
    assert_int_equal(expect_equal(CONTROL_FLOW, 3), 0);
    assert_true(expect_equal(ADDRESSES, 1) < LAUNCHES / 2);
    assert_true(expect_equal(GUARDS, 0) < LAUNCHES / 2);
    assert_true(expect_equal(BANKS, 0) < LAUNCHES / 2);
    assert_true(expect_equal(DIVISIONS, 0x3f800000) < LAUNCHES - 2);
}

/* A submission could learn from the time of a launch whether it is priced. */
static void untrusted_launches_are_all_priced(void **state)
{
    static Runs runs;
    (void)state;
    runs_make(SAME, 1, 1, 7, &runs);
    assert_int_equal(runs.repeats, 0);
}

/* Another kernel may get the memory of an unloaded one. */
static void an_unloaded_kernel_is_evicted(void **state)
{
    Error error = {""};
    SimtOptions options = {.threads = 1, .count = 1, .repeats = 1};
    uint64_t cycles[2] = {0};
    (void)state;
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    uint64_t address = device_data(gpu, NULL, WORDS * 4);
    for (uint32_t i = 0; i < 8; i++) {
        SimtResult result;
        assert_int_equal(
            run(gpu, i % 2 ? SAME : BANKS, 16, 64, 0, &address, sizeof address, &result), 0);
        if (cycles[i % 2]) assert_int_equal(result.cycles, cycles[i % 2]);
        cycles[i % 2] = result.cycles;
    }
    assert_int_not_equal(cycles[0], cycles[1]);
    simt_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_repeat_is_executed_and_not_priced),
                                       cmocka_unit_test(launches_that_differ_are_priced),
                                       cmocka_unit_test(untrusted_launches_are_all_priced),
                                       cmocka_unit_test(an_unloaded_kernel_is_evicted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
