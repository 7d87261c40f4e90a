/* simt_cycles_fixture.h - cycles of small kernels. */
#ifndef CONVLAB_SIMT_CYCLES_FIXTURE_H
#define CONVLAB_SIMT_CYCLES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/core/core.h"
#include "common/simulator/exec/exec.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/tests/simt_fixture.h"

#define REGISTERS                                                                                  \
    ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .pred %p<4>;\n"                   \
    "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"

/* A kernel k(data): `first`, then `body` repeated, then `last`.  To be freed. */
static inline char *kernel_text(const char *first, const char *body, int times, const char *last)
{
    char *text = malloc(strlen(first) + strlen(body) * (size_t)times + strlen(last) + 2000);
    assert_non_null(text);
    strcpy(text, HEAD ".visible .entry k(.param .u64 data)\n{\n" REGISTERS);
    strcat(text, first);
    char *at = text + strlen(text);
    for (int i = 0; i < times; i++, at += strlen(body))
        strcpy(at, body);
    strcpy(at, last);
    strcat(at, "\nret;\n}\n");
    return text;
}

typedef struct Setup {
    uint32_t blocks, threads, shared;
    int host_threads, profile;
} Setup;

static inline uint64_t cycles_of(const char *text, Setup setup, SimtResult *result, SimtGpu **kept)
{
    Error error = {""};
    SimtOptions options = {.threads = setup.host_threads ? setup.host_threads : 1,
                           .count = 1,
                           .profile = setup.profile};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    static float zeros[1 << 16];
    uint64_t data = device_data(gpu, zeros, sizeof zeros);
    if (run(gpu, text, setup.blocks, setup.threads, setup.shared, &data, sizeof data, result) != 0)
        fail_msg("%s", result->report.text);
    /* All kernels here wait for a parameter first. */
    uint64_t cycles = result->cycles - (uint64_t)(SMALL.launch_cycles + SMALL.dram_latency);
    if (kept)
        *kept = gpu;
    else
        simt_close(gpu);
    return cycles;
}

/* One warp goes through the text once. */
static inline uint64_t once_cycles(const char *text)
{
    SimtResult result;
    char *whole = kernel_text(text, "", 0, "");
    uint64_t cycles = cycles_of(whole, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(whole);
    return cycles;
}

/* The difference that `more` repetitions make, so that start and end drop out. */
static inline uint64_t slope_after(const char *first, const char *body, int more, Setup setup)
{
    SimtResult result;
    char *less = kernel_text(first, body, 40, ""), *all = kernel_text(first, body, 40 + more, "");
    uint64_t a = cycles_of(less, setup, &result, NULL), b = cycles_of(all, setup, &result, NULL);
    free(less), free(all);
    assert_true(b > a);
    return b - a;
}

static inline uint64_t slope(const char *body, int more, Setup setup)
{
    return slope_after("", body, more, setup);
}

/* ---- waves that are not replayed ------------------------------------------------------------ */

#define CHAIN "fma.rn.f32 %f1, %f1, %f2, %f3;\n"
#define APART                                                                                      \
    "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n"                             \
    "fma.rn.f32 %f5, %f5, %f2, %f3;\nfma.rn.f32 %f6, %f6, %f2, %f3;\n"
#define EIGHT(TEXT) TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT
#define MOVES       EIGHT("mov.f32 %f1, %f2;\nmov.f32 %f2, %f1;\n")

/* Blocks for which `chosen` sets %p1 run `rounds` of `light`, all others 400 dependent sums. */
static inline uint64_t mixed_cycles(const char *chosen, const char *light, int rounds, Setup setup)
{
    SimtResult result;
    char first[600], last[2000];
    snprintf(first, sizeof first, "%s@%%p1 bra LIGHT;\n", chosen);
    snprintf(last, sizeof last,
             "bra.uni END;\nLIGHT:\nmov.u32 %%r4, 0;\nAGAIN:\n%s"
             "add.s32 %%r4, %%r4, 1;\nsetp.lt.s32 %%p2, %%r4, %d;\n@%%p2 bra AGAIN;\nEND:\n",
             light, rounds);
    char *text = kernel_text(first, CHAIN, 400, last);
    uint64_t cycles = cycles_of(text, setup, &result, NULL);
    free(text);
    return cycles;
}

/* ---- look-ups in caches ---------------------------------------------------------------------- */

/* ---- waits for other blocks ---------------------------------------------------------------- */

/* ---- sleeps, clocks and locks -------------------------------------------------------------- */

#endif
