/* test_simt_code.c - latency of instructions for code that exceeds an SM's instruction caches,
 * compared with measurements on an H200 (docs/data/h200/code.tsv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

enum { EACH = 64 /* instructions a KB */ };

/* `kb` KB of FMAs in eight chains, executed `times`; out of each `go` + `skip` in a row, a branch
 * skips the last `skip`. */
static char *straight_text(uint32_t kb, uint32_t go, uint32_t skip)
{
    enum { ROOM = 48, CHAINS = 8 };
    char *text = malloc((size_t)kb * EACH * ROOM + 2048), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s",
                  HEAD ".visible .entry k(.param .u64 out, .param .u64 times)\n{\n"
                       ".reg .f32 %f<8>, %c, %d; .reg .b64 %rd<5>; .reg .b32 %r<5>;\n"
                       ".reg .pred %p, %q;\n"
                       "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [times];\n"
                       "cvt.u32.u64 %r1, %rd2; mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %c, %r1;\n"
                       "setp.ne.u32 %q, %r1, 0; mul.f32 %d, %c, 0f3A83126F;\n");
    for (int i = 0; i < CHAINS; i++)
        at += sprintf(at, "add.u32 %%r2, %%r2, 1; cvt.rn.f32.u32 %%f%d, %%r2;\n", i);
    at += sprintf(at, "L:\n");
    for (uint32_t i = 0; i < kb * EACH - 3; i++) {
        uint32_t place = skip ? i % (go + skip) : 0;
        if (skip && !place && i) at += sprintf(at, "L%u:\n", i / (go + skip));
        if (skip && place == go - 1)
            at += sprintf(at, "@%%q bra L%u;\n", i / (go + skip) + 1);
        else
            at += sprintf(at, "fma.rn.f32 %%f%u, %%f%u, %%c, %%d;\n", i % CHAINS, i % CHAINS);
    }
    if (skip) at += sprintf(at, "L%u:\n", (kb * EACH - 4) / (go + skip) + 1);
    at += sprintf(at, "sub.u32 %%r1, %%r1, 1; setp.ne.u32 %%p, %%r1, 0; @%%p bra L;\n");
    for (int i = 1; i < CHAINS; i++)
        at += sprintf(at, "add.f32 %%f0, %%f0, %%f%d;\n", i);
    sprintf(at, "mov.u32 %%r2, %%tid.x; mul.wide.u32 %%rd3, %%r2, 4;\n"
                "add.u64 %%rd1, %%rd1, %%rd3; st.global.f32 [%%rd1], %%f0; ret;\n}\n");
    return text;
}

/* Cycles of a launch on an H200 with one block. */
static double straight_cycles(const char *text, uint64_t times, uint32_t threads)
{
    Error error = {""};
    SimtMachine machine;
    SimtOptions options = {.threads = 1, .count = 1};
    SimtResult result;
    if (machine_load("common/simulator/gpus", "h200", &machine, &error) != 0)
        fail_msg("%s", error.text);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    static float zeros[1024];
    uint64_t params[] = {device_data(gpu, zeros, sizeof zeros), times};
    if (run(gpu, text, 1, threads, 0, params, sizeof params, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    return (double)result.cycles;
}

/* Times on an H200 with one block per SM. The columns are the us of a launch that executes the code
 * once, and the cycles of each further execution, per instruction or per block of code that is
 * branched to. */
static const struct {
    uint32_t kb, go, skip, threads;
    double us, cycles;
} MEASURED[] = {
    {32, 0, 0, 32, 4.58, 1.18},    {64, 0, 0, 32, 8.90, 2.79},    {112, 0, 0, 32, 13.22, 2.77},
    {192, 0, 0, 32, 61.34, 5.89},  {64, 0, 0, 256, 8.38, 2.59},   {192, 0, 0, 256, 62.21, 6.12},
    {256, 0, 0, 256, 89.18, 6.12}, {192, 0, 0, 512, 65.66, 6.18}, {512, 64, 448, 256, 42.66, 646},
};

static void long_code_misses_the_instruction_cache(void **state)
{
    enum { CLOCK = 1980 };
    (void)state;
    for (size_t i = 0; i < sizeof MEASURED / sizeof *MEASURED; i++) {
        uint32_t kb = MEASURED[i].kb, stride = MEASURED[i].go + MEASURED[i].skip;
        char *text = straight_text(kb, MEASURED[i].go, MEASURED[i].skip);
        double once = straight_cycles(text, 1, MEASURED[i].threads),
               more = straight_cycles(text, 3, MEASURED[i].threads) - once,
               us = once / CLOCK / MEASURED[i].us,
               cycles = more / 2 / (kb * EACH / (stride ? stride : 1)) / MEASURED[i].cycles;
        free(text);
        if (us < 0.8 || us > 1.2 || cycles < 0.8 || cycles > 1.2)
            fail_msg("%u KB, %u threads, %u skipped: once %.2f, again %.2f of an H200's", kb,
                     MEASURED[i].threads, MEASURED[i].skip, us, cycles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_code_misses_the_instruction_cache)};
    return cmocka_run_group_tests_name("simt code", tests, NULL, NULL);
}
