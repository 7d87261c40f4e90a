/* test_simt_products.c - cost of MMAs on the simulated h200, compared with an H200: cycles of an
 * MMA in a chain of one warp, and of one among sixteen warps with four chains each. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

enum { CHAINS = 4, WARPS = 16, FEW = 2, MORE = 5, TEXT_BYTES = 1 << 18 };

/* Registers of d (c has the same number), a and b; `type`: of d, and of a and b if these are
 * doubles. */
typedef struct Product {
    const char *name, *type;
    int d, a, b;
    double chain, many; /* measured; many 0: not */
} Product;

#define MMA  "mma.sync.aligned."
#define SP   "mma.sp::ordered_metadata.sync.aligned."
#define WMMA "wmma.mma.sync.aligned.row.col."

static const Product PRODUCTS[] = {
    {MMA "m16n8k8.row.col.f32.f16.f16.f32", "f32", 4, 2, 1, 18.5, 4.36},
    {MMA "m16n8k16.row.col.f32.f16.f16.f32", "f32", 4, 4, 2, 26.3, 6.35},
    {MMA "m16n8k16.row.col.f16.f16.f16.f16", "b32", 2, 4, 2, 26.3, 6.12},
    {MMA "m16n8k4.row.col.f32.tf32.tf32.f32", "f32", 4, 2, 1, 18.5, 4.35},
    {MMA "m16n8k8.row.col.f32.tf32.tf32.f32", "f32", 4, 4, 2, 26.3, 6.35},
    {MMA "m8n8k16.row.col.s32.s8.s8.s32", "b32", 2, 1, 1, 14.0, 4.04},
    {MMA "m16n8k16.row.col.s32.s8.s8.s32", "b32", 4, 2, 1, 18.8, 4.24},
    {MMA "m16n8k32.row.col.s32.s8.u8.s32", "b32", 4, 4, 2, 26.5, 6.16},
    {MMA "m8n8k128.row.col.s32.b1.b1.s32.and.popc", "b32", 2, 1, 1, 14.0, 4.04},
    {MMA "m16n8k128.row.col.s32.b1.b1.s32.and.popc", "b32", 4, 2, 1, 18.8, 4.30},
    {MMA "m16n8k256.row.col.s32.b1.b1.s32.and.popc", "b32", 4, 4, 2, 26.5, 6.19},
    {MMA "m8n8k4.row.col.f64.f64.f64.f64", "f64", 2, 1, 1, 26.0, 16.2},
    {MMA "m16n8k4.row.col.f64.f64.f64.f64", "f64", 4, 2, 1, 34.0, 16.5},
    {MMA "m16n8k8.row.col.f64.f64.f64.f64", "f64", 4, 4, 2, 50.0, 32.4},
    {MMA "m16n8k16.row.col.f64.f64.f64.f64", "f64", 4, 8, 4, 90.7, 65.6},
    {MMA "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f32", 4, 4, 2, 65.3, 12.5},
    {MMA "m16n8k16.row.col.f32.e4m3.e4m3.f32", "f32", 4, 2, 1, 39.0, 10.1},
    {MMA "m8n8k32.row.col.s32.u4.u4.s32", "b32", 2, 1, 1, 101.0, 32.8},
    {MMA "m16n8k64.row.col.s32.u4.u4.s32", "b32", 4, 4, 2, 144.1, 60.2},
    {MMA "m8n8k32.row.col.s32.s4.s4.s32", "b32", 2, 1, 1, 178.0, 104.4},
    {MMA "m16n8k64.row.col.s32.s4.s4.s32", "b32", 4, 4, 2, 354.6, 220.2},
    {MMA "m16n8k32.row.col.s32.s4.u4.s32", "b32", 4, 2, 1, 196.3, 120.6},
    {MMA "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", "b32", 2, 1, 1, 94.7, 27.2},
    {MMA "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "b32", 4, 4, 2, 116.4, 45.6},
    {MMA "m8n8k4.row.col.f32.f16.f16.f32", "f32", 8, 2, 2, 228.9, 125.6},
    {MMA "m8n8k4.row.col.f16.f16.f16.f16", "b32", 4, 2, 2, 234.9, 176.0},
    {MMA "m8n8k4.col.row.f32.f16.f16.f32", "f32", 8, 2, 2, 714.1, 250.9},
    {SP "m16n8k16.row.col.f32.f16.f16.f32", "f32", 4, 2, 2, 18.6, 6.30},
    {SP "m16n8k32.row.col.f32.bf16.bf16.f32", "f32", 4, 4, 4, 26.8, 8.70},
    {SP "m16n8k16.row.col.f32.tf32.tf32.f32", "f32", 4, 4, 4, 26.8, 8.73},
    {SP "m16n8k32.row.col.s32.s8.s8.s32", "b32", 4, 2, 2, 18.6, 6.19},
    {SP "m16n8k64.row.col.s32.s8.u8.s32", "b32", 4, 4, 4, 27.6, 8.19},
    {SP "m16n8k64.row.col.s32.u4.u4.s32", "b32", 4, 2, 2, 122.7, 50.0},
    {SP "m16n8k128.row.col.s32.s4.s4.s32", "b32", 4, 4, 4, 450.7, 305.4},
    {SP "m16n8k64.row.col.f32.e4m3.e4m3.f32", "f32", 4, 4, 4, 120.7, 67.0},
    {WMMA "m16n16k16.f32.f32", "f32", 8, 8, 8, 28.5, 12.3},
    {WMMA "m16n16k16.s32.s8.s8.s32", "b32", 8, 2, 2, 19.3, 8.5},
    {WMMA "m16n16k8.f32.tf32.tf32.f32", "f32", 8, 4, 4, 35.3, 16.2},
    {WMMA "m8n8k4.f64.f64.f64.f64", "f64", 2, 1, 1, 26.0, 16.2},
    {WMMA "m8n8k32.s32.u4.u4.s32", "b32", 2, 1, 1, 101.0, 32.8},
};

static SimtMachine h200;

static int sass_decode(void **state)
{
    Error error = {""};
    (void)state;
    int failed = machine_load("common/simulator/gpus", "h200", &h200, &error);
    h200.tensor_mhz = 0; /* cycles of the SM's own clock, as in the measurement */
    return failed;
}

/* "{%d0, %d1}" */
static void registers_write(FILE *out, char kind, int first, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%%%c%d", i ? ", " : "{", kind, first + i);
    fputs("}", out);
}

static char *text_of(const Product *p, int chains, int times)
{
    static char text[TEXT_BYTES];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    const char *factor = strcmp(p->type, "f64") ? "b32" : "f64";
    fprintf(out,
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data)\n"
            "{\n.reg .%s %%d<32>; .reg .%s %%a<8>, %%b<8>; .reg .b32 %%m; .reg .b64 %%rd1;\n"
            "ld.param.u64 %%rd1, [data];\nmov.b32 %%m, 0x44444444;\n",
            p->type, factor);
    for (int i = 0; i < times; i++)
        for (int j = 0; j < chains; j++) {
            fprintf(out, "%s ", p->name);
            registers_write(out, 'd', j * 8, p->d), fputs(", ", out);
            registers_write(out, 'a', 0, p->a), fputs(", ", out);
            registers_write(out, 'b', 0, p->b), fputs(", ", out);
            registers_write(out, 'd', j * 8, p->d);
            fputs(strstr(p->name, ".sp") ? ", %m, 0;\n" : ";\n", out);
        }
    fputs("ret;\n}\n", out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static uint64_t cycles_of(const Product *p, int chains, int times, uint32_t warps)
{
    Error error = {""};
    SimtOptions options = {.threads = 1, .count = 1};
    SimtResult result;
    SimtGpu *gpu = simt_open(&h200, &options, &error);
    assert_non_null(gpu);
    uint64_t zero = 0, data = device_data(gpu, &zero, sizeof zero);
    if (run(gpu, text_of(p, chains, times), 1, warps * 32, 0, &data, sizeof data, &result) != 0)
        fail_msg("%s: %s", p->name, result.report.text);
    simt_close(gpu);
    return result.cycles;
}

/* Cycles of a scheduler per MMA. */
static double cycles_each(const Product *p, int chains, uint32_t warps)
{
    double more = (double)(cycles_of(p, chains, MORE, warps) - cycles_of(p, chains, FEW, warps));
    return more / ((MORE - FEW) * chains * (warps > 4 ? warps / 4 : 1));
}

/* Within 30 %: what ptxas makes of one instruction has more to it than three numbers. */
static int is_near(const char *what, const Product *p, double simulated, double measured)
{
    if (simulated < measured * 1.3 && simulated * 1.3 > measured) return 1;
    print_error("%s, %s: %.2f cycles, on an H200 %.2f\n", p->name, what, simulated, measured);
    return 0;
}

static void mmas_take_the_cycles_of_an_h200(void **state)
{
    int far = 0;
    (void)state;
    for (size_t i = 0; i < sizeof PRODUCTS / sizeof *PRODUCTS; i++) {
        const Product *p = &PRODUCTS[i];
        far += !is_near("in a chain", p, cycles_each(p, 1, 1), p->chain);
        far += !is_near("among sixteen warps", p, cycles_each(p, CHAINS, WARPS), p->many);
    }
    assert_int_equal(far, 0);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static uint64_t cycles_at(double tensor_mhz, const Product *p)
{
    h200.tensor_mhz = tensor_mhz;
    uint64_t cycles = cycles_of(p, CHAINS, MORE, WARPS) - cycles_of(p, CHAINS, FEW, WARPS);
    h200.tensor_mhz = 0;
    return cycles;
}

/* An H200 runs MMAs at 1,800 MHz, but MMAs of doubles, and forms that are expanded without the
 * tensor core, at 1,980: docs/data/h200/clocks-kinds.tsv. */
static void mmas_lower_the_clock(void **state)
{
    static const struct {
        const char *start;
        int slows;
    } KINDS[] = {
        {MMA "m16n8k16.row.col.f32.f16", 1},  {MMA "m16n8k32.row.col.s32.s8", 1},
        {MMA "m16n8k32.row.col.f32.e4m3", 1}, {MMA "m16n8k256.row.col.s32.b1.b1.s32.and", 1},
        {SP "m16n8k16.row.col.f32.f16", 1},   {MMA "m8n8k4.row.col.f64", 0},
        {MMA "m8n8k4.row.col.f16", 0}};
    (void)state;
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
        const Product *p = PRODUCTS;
        while (strncmp(p->name, KINDS[k].start, strlen(KINDS[k].start)))
            p++;
        double ratio = (double)cycles_at(1800, p) / (double)cycles_at(0, p);
        if (fabs(ratio - (KINDS[k].slows ? 1.1 : 1)) > 0.01)
            fail_msg("%s: %.3f times as long", p->name, ratio);
    }
}

/* `body` in a kernel that has a pointer in %rd1 and in %rd2 its own 16 bytes after that; the areas
 * of blocks are 128 KB apart. */
static uint64_t cycles_with(double tensor_mhz, const char *body, uint32_t blocks)
{
    static char text[TEXT_BYTES];
    enum { BLOCK = 131072, THREADS = 256 };
    snprintf(text, sizeof text,
             ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data)\n"
             "{\n.reg .f32 %%f<8>; .reg .f32 %%d<4>; .reg .b32 %%a<8>; .reg .b64 %%rd<4>;\n"
             "ld.param.u64 %%rd1, [data];\nmov.u32 %%a4, %%ctaid.x; mov.u32 %%a5, %%tid.x;\n"
             "mad.wide.u32 %%rd2, %%a4, 131072, %%rd1; mad.wide.u32 %%rd2, %%a5, 16, %%rd2;\n"
             "%s\nst.global.f32 [%%rd1], %%f0;\nst.global.f32 [%%rd1+4], %%d0;\nret;\n}\n",
             body);
    Error error = {""};
    SimtOptions options = {.threads = 1, .count = 1};
    SimtResult result;
    h200.tensor_mhz = tensor_mhz;
    SimtGpu *gpu = simt_open(&h200, &options, &error);
    h200.tensor_mhz = 0;
    assert_non_null(gpu);
    size_t bytes = (size_t)BLOCK * blocks;
    void *zeros = calloc(bytes, 1);
    uint64_t data = device_data(gpu, zeros, bytes);
    free(zeros);
    if (run(gpu, text, blocks, blocks == 1 ? 32 : THREADS, 0, &data, sizeof data, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    return result.cycles;
}

#define ONE                                                                                        \
    MMA "m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%a6,%a7}, "       \
        "{%d0,%d1,%d2,%d3};\n"

/* A few MMAs before 4 us of floats: an H200 needs 245 to 270 ns more, including the change of the
 * clock; the expected value is 80 + 1,600 / 11 + the MMA's own time. */
static void the_clock_recovers(void **state)
{
    static char body[TEXT_BYTES];
    size_t used = (size_t)snprintf(body, sizeof body, "%s", ONE ONE ONE ONE);
    (void)state;
    for (int i = 0; i < 2000; i++)
        used += (size_t)snprintf(body + used, sizeof body - used,
                                 "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n");
    int64_t later = (int64_t)(cycles_with(1800, body, 1) - cycles_with(0, body, 1));
    assert_in_range(later, 225 * 1980 / 1000, 270 * 1980 / 1000);
}

/* Dependent loads from DRAM, each followed by an MMA, take an H200 1.022 times as long as with
 * floats instead (docs/data/h200/clocks-memory.tsv). */
static void memory_keeps_its_clock(void **state)
{
    static char body[TEXT_BYTES];
    size_t used = 0;
    (void)state;
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(body + used, sizeof body - used,
                                 "ld.global.cg.u64 %%rd3, [%%rd2+%d];\n"
                                 "add.s64 %%rd2, %%rd2, %%rd3; cvt.u32.u64 %%a0, %%rd3;\n%s",
                                 i * 1024, ONE);
    double ratio = (double)cycles_with(1800, body, 1) / (double)cycles_with(0, body, 1);
    if (ratio < 1.01 || ratio > 1.04) fail_msg("%.3f times as long", ratio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mmas_take_the_cycles_of_an_h200), cmocka_unit_test(mmas_lower_the_clock),
        cmocka_unit_test(the_clock_recovers), cmocka_unit_test(memory_keeps_its_clock)};
    return cmocka_run_group_tests_name("products", tests, sass_decode, NULL);
}
