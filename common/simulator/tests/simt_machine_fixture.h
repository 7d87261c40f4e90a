/* simt_machine_fixture.h - a kernel with SASS on a small machine. */
#ifndef CONVLAB_SIMT_MACHINE_FIXTURE_H
#define CONVLAB_SIMT_MACHINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/simulator/core/core.h"
#include "common/simulator/tests/simt_fixture.h"

enum {
    PRODUCTS = 400,
    FFMA = SASS_WITH_FORM(SASS_FFMA, 1),
    FADD = SASS_WITH_FORM(SASS_FADD, 1),
    SUM = SASS_WITH_FORM(SASS_IADD3, 4),
    LOAD = SASS_WITH_FORM(SASS_LDG, 4),
    STORE = SASS_WITH_FORM(SASS_STG, 4),
    BRANCH = SASS_WITH_FORM(SASS_BRA, 4),
    EXIT = SASS_WITH_FORM(SASS_EXIT, 4),
    SPECIAL = SASS_WITH_FORM(SASS_MUFU, 1),
    MEET = SASS_WITH_FORM(SASS_BSYNC, 4),
    UNIFORM_CONSTANT = SASS_WITH_FORM(SASS_ULDC_R, 5),
    LOADED_CONSTANT = SASS_WITH_FORM(SASS_LDC, 5),
    OF_BITS = SASS_WITH_FORM(SASS_BMMA, 1),    /* BMMA */
    OF_DOUBLES = SASS_WITH_FORM(SASS_DMMA, 1), /* DMMA */
    CALL = SASS_WITH_FORM(SASS_CALL_REL, 4),
    SUM_OF_TWO = SASS_WITH_FORM(SASS_VIADD, 4), /* VIADD */
    LEAST = SASS_WITH_FORM(SASS_VIMNMX, 4),     /* VIMNMX */
    MOVE = SASS_WITH_FORM(SASS_MOV, 1)
};

static const char BEGIN[] = HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 %rd<3>;\n"
                                 ".reg .f32 %f<4>;\n.reg .b32 %r<3>;\n.reg .pred %p<2>;\n"
                                 "ld.param.u64 %rd1, [data];\n";

/* The line, from 1, that `at` is in. */
static inline uint32_t line_at(const char *text, const char *at)
{
    uint32_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* Runs a block of it on a small machine of compute capability 9.0, whose machine code this is, if
 * that is believed. */
static inline SimtResult result_with(const char *text, const SassCode *code, int machine_code,
                                     uint32_t warps)
{
    Error error = {""};
    SimtMachine machine = *small_machine(9);
    SimtOptions options = {.threads = 1, .count = 1, .machine_code = machine_code};
    SimtResult result;
    machine.tensor_fma = 2048;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    static float zeros[1 << 12];
    uint64_t data = device_data(gpu, zeros, sizeof zeros);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    assert_non_null(module);
    module->kernel[0].cubin.sass = code;
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    SimtLaunch launch = {.grid = {1, 1, 1},
                         .block = {32 * warps, 1, 1},
                         .params = &data,
                         .params_bytes = sizeof data};
    assert_int_equal(simt_launch(gpu, kernel, &launch, &result), 0);
    simt_close(gpu);
    return result;
}

static inline uint64_t warps_cycles(const char *text, const SassCode *code, uint32_t warps)
{
    return result_with(text, code, 1, warps).cycles -
           (uint64_t)(SMALL.launch_cycles + SMALL.dram_latency);
}

static inline uint64_t cycles_with(const char *text, const SassCode *code)
{
    return warps_cycles(text, code, 1);
}

/* ---- multiply-adds, one after the other -------------------------------------------- */

static inline char *products_text(void)
{
    char *text = malloc(sizeof BEGIN + PRODUCTS * 40 + 100), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", BEGIN);
    for (int i = 0; i < PRODUCTS; i++)
        at += sprintf(at, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
    sprintf(at, "ret;\n}\n");
    return text;
}

/* ---- a load in a loop ------------------------------------------------- */

enum { TURNS = 64 };

static inline char *loop_text(void)
{
    char *text = malloc(sizeof BEGIN + 600);
    assert_non_null(text);
    sprintf(text,
            "%smov.f32 %%f1, 0f00000000;\nmov.u32 %%r1, 0;\nmov.u64 %%rd2, %%rd1;\nLOOP:\n"
            ".pragma \"nounroll\";\n"
            "ld.global.f32 %%f2, [%%rd2];\nadd.f32 %%f1, %%f1, %%f2;\nadd.s64 %%rd2, %%rd2, 128;\n"
            "add.s32 %%r1, %%r1, 1;\nsetp.lt.s32 %%p1, %%r1, %d;\n@%%p1 bra LOOP;\n"
            "st.global.f32 [%%rd1], %%f1;\nret;\n}\n",
            BEGIN, TURNS);
    return text;
}

/* Machine code of it that makes `copies` turns in one, all of whose loads go first; sums wait for
 * them if `waits`. */
static inline uint64_t loop_cycles(uint32_t copies, int waits)
{
    SassIns ins[40] = {{0}};
    uint32_t at = 0, closing;
    char *text = loop_text();
    uint32_t load = line_at(text, strstr(text, "ld.global")), bra = load + 5;
    for (uint32_t i = 0; i < copies; i++)
        ins[at++] = (SassIns){.op = LOAD, .line = load, .loop = 1, .stall = 1, .made = 1};
    for (uint32_t i = 0; i < copies; i++)
        ins[at++] = (SassIns){.op = FADD, .line = load + 1, .loop = 1, .stall = 4};
    ins[copies].waits = waits ? 1 : 0;
    for (uint32_t i = 0; i < copies; i++)
        ins[at++] = (SassIns){.op = SUM, .line = load + 2, .loop = 1, .stall = 2};
    ins[at++] = (SassIns){.op = BRANCH, .line = bra, .loop = 1, .stall = 5};
    ins[at++] = (SassIns){.op = STORE, .line = bra + 1, .stall = 1, .piece = 1};
    ins[at++] = (SassIns){.op = EXIT, .line = bra + 2, .stall = 5, .piece = 1};
    for (uint32_t i = 0; i < at; i++)
        ins[i].reached = 1;
    closing = bra;
    SassCode code = {.ins = ins, .count = at, .sm = 90, .loop_line = &closing, .loops = 1};
    uint64_t cycles = cycles_with(text, copies ? &code : NULL);
    free(text);
    return cycles;
}

/* ---- loads that an earlier iteration has made -------------------------------------------- */

/* ---- loads that are one ------------------------------------------------- */

enum { MOST_LOADS = 4, LOAD_SHARED = SASS_WITH_FORM(SASS_LDS, 4) };

/* Loads from shared memory, and how wide the machine's of each are: 0, there is none. */
static const struct {
    const char *name, *loads[MOST_LOADS];
    uint8_t width[MOST_LOADS];
    int not_believed;
    uint32_t requests;
} JOINED[] = {
    {"two", {"f1, [%r1]", "f2, [%r1+4]"}, {8, 0}, 0, 1},
    {"two, of which the first is the upper one", {"f1, [%r1]", "f2, [%r1-4]"}, {8, 0}, 0, 1},
    {"each by itself", {"f1, [%r1]", "f2, [%r1+4]"}, {4, 4}, 0, 2},
    {"machine code that is not believed", {"f1, [%r1]", "f2, [%r1+4]"}, {8, 0}, 1, 2},
    {"two of two words each", {"f1, [%r1]", "f2, [%r1+4]"}, {8, 8}, 0, 2},
    {"no neighbours", {"f1, [%r1]", "f2, [%r1+8]"}, {8, 0}, 0, 2},
    {"four", {"f1, [%r1]", "f2, [%r1+4]", "f3, [%r1-4]", "f1, [%r1-8]"}, {16, 0, 0, 0}, 0, 1},
    {"three of four", {"f1, [%r1]", "f2, [%r1+4]", "f3, [%r1+12]"}, {16, 0, 0}, 0, 1},
    {"two of four", {"f1, [%r1]", "f2, [%r1+4]"}, {16, 0}, 0, 2},
    {"two and two",
     {"f1, [%r1]", "f2, [%r1+4]", "f3, [%r1+8]", "f1, [%r1+12]"},
     {8, 0, 8, 0},
     0,
     2},
};

/* ---- two ways ------------------------------------------------- */

/* ---- constants and copies ------------------------------------------------- */

enum {
    STEPS = 8,
    CONSTANT = SASS_WITH_FORM(SASS_ULDC_R, 5),
    COPY = SASS_WITH_FORM(SASS_LDGSTS, 7),
    COMMIT = SASS_WITH_FORM(SASS_LDGDEPBAR, 4),
    COPIES_WAIT = SASS_WITH_FORM(SASS_DEPBAR, 4)
};

/* SASS with one of these instructions for each line, from the first line that starts with `begin`
 * on. */
static inline uint64_t lines_cycles(const char *text, const char *begin, const uint16_t *op,
                                    uint32_t count, uint8_t stall)
{
    SassIns ins[64] = {{0}};
    uint32_t line = line_at(text, strstr(text, begin));
    for (uint32_t i = 0; i < count; i++)
        ins[i] = (SassIns){.op = op[i], .line = line + i, .stall = stall, .reached = 1};
    return cycles_with(text, &(SassCode){.ins = ins, .count = count, .sm = 90});
}

/* ---- loops that are hard to know again ------------------------------------------------- */

/* ---- divergent lanes ------------------------------------------------- */

/* ---- nonsense ------------------------------------------------- */

/* ---- local memory ------------------------------------------------- */

/* ---- code that lies apart ------------------------------------------------- */

#endif
