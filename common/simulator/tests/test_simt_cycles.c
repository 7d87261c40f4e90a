/* test_simt_cycles.c - cycles, stalls and counts of small kernels against what can be worked out by
 * hand from the small machine's numbers. */
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
static char *kernel_text(const char *first, const char *body, int times, const char *last)
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

static uint64_t cycles_of(const char *text, Setup setup, SimtResult *result, SimtGpu **kept)
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
static uint64_t once_cycles(const char *text)
{
    SimtResult result;
    char *whole = kernel_text(text, "", 0, "");
    uint64_t cycles = cycles_of(whole, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(whole);
    return cycles;
}

/* The difference that `more` repetitions make, so that start and end drop out. */
static uint64_t slope(const char *body, int more, Setup setup)
{
    SimtResult result;
    char *less = kernel_text("", body, 40, ""), *all = kernel_text("", body, 40 + more, "");
    uint64_t a = cycles_of(less, setup, &result, NULL), b = cycles_of(all, setup, &result, NULL);
    free(less), free(all);
    assert_true(b > a);
    return b - a;
}

static void a_chain_takes_its_latencies(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    /* alu_latency 4 */
    assert_int_equal(slope("fma.rn.f32 %f1, %f1, %f2, %f3;\n", 100, one), 400);
    /* Four chains interleaved: one instruction a cycle. */
    assert_int_equal(slope("fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n"
                           "fma.rn.f32 %f5, %f5, %f2, %f3;\nfma.rn.f32 %f6, %f6, %f2, %f3;\n",
                           100, one),
                     400);
    /* Moves cost nothing. */
    assert_int_equal(
        slope("fma.rn.f32 %f1, %f1, %f2, %f3;\nmov.f32 %f7, %f1;\nmov.f32 %f1, %f7;\n", 100, one),
        400);
}

/* 100 copies past the L1 from places so many bytes apart, of which all that is there is `there`. */
static uint64_t copies_slope(uint32_t apart, uint32_t there)
{
    char body[600];
    snprintf(body, sizeof body,
             "{ .reg .u32 t, s, n; .reg .u64 d;\n"
             "mov.u32 t, %%tid.x; mul.lo.u32 s, t, 16;\n"
             "ld.param.u64 d, [data]; mad.wide.u32 d, t, %u, d; mov.u32 n, %u;\n"
             "cp.async.cg.shared.global [s], [d], 16, n; }\n",
             apart, there);
    return slope(body, 100, (Setup){.blocks = 1, .threads = 32, .shared = 512});
}

/* Only where something is read are lines looked up, two a cycle. */
static void copies_of_nothing_look_no_lines_up(void **state)
{
    (void)state;
    assert_int_equal(copies_slope(128, 0), copies_slope(16, 0));
    assert_true(copies_slope(128, 16) > copies_slope(16, 16));
}

/* 100 copies to places so many bytes apart, and behind each a chain of loads from shared memory. */
static uint64_t loads_behind_slope(uint32_t apart)
{
    char body[900];
    int at = snprintf(body, sizeof body,
                      "{ .reg .u32 t, s; .reg .u64 d;\n"
                      "mov.u32 t, %%tid.x; mul.lo.u32 s, t, %u;\n"
                      "ld.param.u64 d, [data]; mad.wide.u32 d, t, 16, d;\n"
                      "cp.async.cg.shared.global [s], [d], 16; bar.warp.sync 0xffffffff; }\n"
                      "and.b32 %%r1, %%r1, 0;\n",
                      apart);
    for (int i = 0; i < 8; i++)
        at += snprintf(body + at, sizeof body - (size_t)at,
                       "ld.shared.u32 %%r1, [%%r1 + 4096]; and.b32 %%r1, %%r1, 0;\n");
    return slope(body, 100, (Setup){.blocks = 1, .threads = 32, .shared = 8192});
}

/* In which turns an H200's copies are written does not matter to who loads meanwhile: of products
 * with copies to rows that part their lines, four or fifteen wavefronts each, warps wait 8 % of an
 * instruction's time for the load/store unit (tile-one-2 of tiles.cu, ncu's lg_throttle). */
static void copies_that_are_on_their_way_hold_nobody_up(void **state)
{
    (void)state;
    assert_int_equal(loads_behind_slope(128), loads_behind_slope(16));
}

static void schedulers_share_warps(void **state)
{
    (void)state;
    /* 16 warps on 4 schedulers: 4 each, whose chains of latency 4 fill every cycle: no longer. */
    assert_int_equal(
        slope("fma.rn.f32 %f1, %f1, %f2, %f3;\n", 100, (Setup){.blocks = 1, .threads = 512}), 400);
    /* 32 warps: 8 each, twice as long. */
    assert_int_equal(
        slope("fma.rn.f32 %f1, %f1, %f2, %f3;\n", 100, (Setup){.blocks = 1, .threads = 1024}), 800);
    /* Integers: 64 lanes an SM, 16 a scheduler, 2 cycles each. */
    assert_int_equal(slope("add.s32 %r3, %r3, %r1;\nadd.s32 %r4, %r4, %r1;\n", 100,
                           (Setup){.blocks = 1, .threads = 512}),
                     1600);
}

/* Cycles of a turn in which lanes go one way or another, as %r7 says. */
static uint64_t ways_cycles(const char *chooses, const char *branches)
{
    enum { TURNS = 200 };
    uint64_t cycles[2];
    SimtResult result;
    for (int i = 0; i < 2; i++) {
        char loop[1000];
        snprintf(loop, sizeof loop,
                 "mov.u32 %%r5, 0;\n%ssetp.eq.u32 %%p2, %%r7, 0;\nLOOP:\n"
                 ".pragma \"nounroll\";\n%sOTHER:\nadd.u32 %%r4, %%r4, %%r5;\nbra BOTH;\n"
                 "ONE:\nadd.u32 %%r3, %%r3, %%r5;\nBOTH:\nadd.s32 %%r5, %%r5, 1;\n"
                 "setp.lt.s32 %%p1, %%r5, %d;\n@%%p1 bra LOOP;\n",
                 chooses, branches, TURNS << i);
        char *text = kernel_text(loop, "", 0, "st.global.u32 [%rd1], %r3;\n");
        cycles[i] = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
        free(text);
    }
    return (cycles[1] - cycles[0]) / TURNS;
}

static void a_way_waits_for_the_other(void **state)
{
    (void)state;
    const char *BRANCH = "@!%p2 bra ONE;\n";
    uint64_t all = ways_cycles("and.b32 %r7, %r2, 1;\n", BRANCH),
             parted = ways_cycles("and.b32 %r7, %r1, 1;\n", BRANCH);
    /* Both ways: one more sum. */
    assert_in_range(parted, all + DIVERGENCE_CYCLES, all + DIVERGENCE_CYCLES + 2);
}

static void a_branch_around_a_branch_is_one(void **state)
{
    (void)state;
    const char *ONE = "or.b32 %r7, %r2, 1;\n";
    assert_int_equal(ways_cycles(ONE, "@%p2 bra OTHER;\nbra ONE;\n"),
                     ways_cycles(ONE, "@!%p2 bra ONE;\n"));
}

static void a_predicate_is_late(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency;
    /* A comparison and a sum, which has its predicate or selects by it. */
    assert_int_equal(slope("setp.lt.u32 %p1, %r3, %r1;\n@%p1 add.u32 %r3, %r3, %r1;\n", 100, one),
                     100 * (2 * alu + GUARD_CYCLES));
    assert_int_equal(slope("setp.lt.u32 %p1, %r3, %r1;\nselp.b32 %r3, %r3, %r4, %p1;\n", 100, one),
                     100 * 2 * alu);
}

/* A body whose %t, %q and %rdt are its own, 100 times by one warp: latencies that it takes. */
static uint64_t latencies_of(const char *body)
{
    char own[500];
    snprintf(own, sizeof own, "{\n.reg .b32 %%t; .reg .b64 %%rdt; .reg .pred %%p, %%q;\n%s}\n",
             body);
    uint64_t cycles = slope(own, 100, (Setup){.blocks = 1, .threads = 32});
    assert_int_equal(cycles % (100 * (uint64_t)SMALL.alu_latency), 0);
    return cycles / (100 * (uint64_t)SMALL.alu_latency);
}

static void two_sums_are_one(void **state)
{
    (void)state;
    assert_int_equal(latencies_of("add.u32 %t, %r3, %r1;\nadd.u32 %r3, %t, %r2;\n"), 1);
    assert_int_equal(latencies_of("shr.u32 %t, %r3, 3;\nadd.u32 %r3, %t, %r2;\n"), 1);
    assert_int_equal(latencies_of("mul.lo.u32 %t, %r3, %r1;\nsub.u32 %r3, %r2, %t;\n"), 1);
    assert_int_equal(latencies_of("and.b32 %t, %r3, %r1;\nxor.b32 %r3, %t, %r2;\n"), 1);
    /* Three operands, and no more; and somebody else may want the first sum. */
    assert_int_equal(latencies_of("add.u32 %t, %r3, %r1;\nadd.u32 %t, %t, %r1;\n"
                                  "add.u32 %r3, %t, %r2;\n"),
                     3);
    assert_int_equal(latencies_of("add.u32 %t, %r3, %r1;\nadd.u32 %r3, %t, %r2;\n"
                                  "xor.b32 %r4, %r4, %t;\n"),
                     2);
    assert_int_equal(latencies_of("and.b32 %t, %r3, %r1;\nadd.u32 %r3, %t, %r2;\n"), 2);
}

/* A half of a wide sum has a register of its own; other bits are shifted. */
static void a_word_is_free(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency;
#define UPPER(BITS)                                                                                \
    "cvt.u64.u32 %rd2, %r3;\nadd.u64 %rd3, %rd2, %rd4;\nshr.u64 %rd5, %rd3, " BITS                 \
    ";\ncvt.u32.u64 %r3, %rd5;\n"
    assert_int_equal(slope(UPPER("32"), 100, one), 100 * 2 * alu);
    assert_int_equal(slope(UPPER("31"), 100, one), 100 * (3 * alu + 1));
}

static void a_comparison_joins_a_predicate(void **state)
{
    (void)state;
    /* One comparison, one that joins it, and a selection. */
    assert_int_equal(latencies_of("setp.lt.u32 %p, %r3, %r1;\nsetp.lt.u32 %q, %r3, %r2;\n"
                                  "or.pred %p3, %p, %q;\nselp.b32 %r3, %r3, %r4, %p3;\n"),
                     3);
    /* What was there before is joined for nothing, what others read, too, is not. */
    assert_int_equal(latencies_of("setp.lt.u32 %p, %r3, %r1;\nand.pred %q, %p, %p2;\n"
                                  "selp.b32 %r3, %r3, %r4, %q;\n"),
                     2);
    assert_int_equal(latencies_of("setp.lt.u32 %p, %r3, %r1;\nand.pred %q, %p, %p2;\n"
                                  "selp.b32 %r3, %r3, %r4, %q;\nselp.b32 %r5, %r5, %r4, %p;\n"),
                     3);
}

static void special_functions_are_scaled(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency, unit = alu * 9 / 2;
    assert_int_equal(slope("ex2.approx.ftz.f32 %f1, %f1;\n", 100, one), 100 * unit);
    assert_int_equal(slope("ex2.approx.f32 %f1, %f1;\n", 100, one),
                     100 * (unit + 3 * alu + GUARD_CYCLES));
    assert_int_equal(slope("sin.approx.f32 %f1, %f1;\n", 100, one), 100 * (unit + alu));
    assert_int_equal(slope("div.approx.f32 %f1, %f1, %f2;\n", 100, one),
                     100 * (unit + 4 * alu + GUARD_CYCLES));
}

/* A variable's first value takes an instruction, an operand none. */
static void a_variable_begins_with_an_instruction(void **state)
{
    (void)state;
    Setup four = {.blocks = 1, .threads = 512};
    assert_int_equal(slope("mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f1, %f1, %f2, %f3;\n", 100, four),
                     800);
    assert_int_equal(slope("{\n.reg .f32 %one;\nmov.f32 %one, 0f3F800000;\n"
                           "fma.rn.f32 %f1, %one, %f2, %f1;\n}\n",
                           100, four),
                     400);
}

/* Of a kernel whose lanes load, behind a branch, off a parameter. */
static uint64_t parameter_cycles(uint32_t cc_major)
{
    static const float zeros[32];
    Error error = {""};
    SimtMachine machine = SMALL;
    SimtOptions options = {.threads = 1, .count = 1};
    SimtResult result;
    machine.cc_major = cc_major;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    uint64_t data = device_data(gpu, zeros, sizeof zeros);
    char *text = kernel_text("setp.gt.u32 %p1, %r1, 99;\n@%p1 bra END;\n"
                             "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                             "ld.global.f32 %f1, [%rd3];\nEND:\n",
                             "", 0, "st.shared.f32 [%r1], %f1;\n");
    assert_int_equal(run(gpu, text, 1, 1, 128, &data, sizeof data, &result), 0);
    simt_close(gpu);
    free(text);
    return result.cycles;
}

static void hopper_loads_parameters_behind_predicates(void **state)
{
    (void)state;
    assert_in_range(parameter_cycles(9) - parameter_cycles(8), 30, 32);
}

/* A guess, products one after the other, a check. */
static void roots_of_doubles_are_products_of_doubles(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency;
    assert_int_equal(slope("sqrt.rn.f64 %rd3, %rd3;\n", 12, one), 12 * (6 + 8 * 2 + 2) * alu);
    assert_int_equal(slope("rcp.rn.f64 %rd3, %rd3;\n", 12, one), 12 * (6 + 5 * 2 + 2) * alu);
    assert_int_equal(slope("mov.b64 %rd4, 0d3FF0000000000000;\nadd.rn.f64 %rd3, %rd3, %rd4;\n"
                           "div.rn.f64 %rd3, %rd3, %rd4;\n",
                           12, one),
                     12 * (2 + 6 + 8 * 2 + 2 + 8) * alu);
}

/* Of nothing a division takes another way, whose 35 instructions, or 64 and 11 products of doubles,
 * need one another; two ways part there.  One lane's is enough.  Of 64-bit integers there is no
 * other way. */
static void a_division_of_nothing_is_a_routine(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
#define ONE_F    "mov.f32 %f3, 0f3F800000;\n"
#define ONE_D    "mov.b64 %rd4, 0d3FF0000000000000;\n"
#define DIVIDE_F "div.rn.f32 %f2, %f2, %f3;\n"
#define DIVIDE_D "div.rn.f64 %rd3, %rd3, %rd4;\n"
    uint64_t usual = slope(ONE_F "add.rn.f32 %f2, %f2, %f3;\n" DIVIDE_F, 12, one),
             rare = slope(ONE_F "mul.rn.f32 %f2, %f2, 0f00000000;\n" DIVIDE_F, 12, one);
    assert_int_equal(rare - usual, 12 * (35 * 5 + DIVERGENCE_CYCLES));
    usual = slope(ONE_D "add.rn.f64 %rd3, %rd3, %rd4;\n" DIVIDE_D, 12, one);
    rare = slope(ONE_D "mul.rn.f64 %rd3, %rd3, 0d0000000000000000;\n" DIVIDE_D, 12, one);
    assert_int_equal(rare - usual, 12 * ((64 + 11) * 5 + DIVERGENCE_CYCLES));
    assert_int_equal(slope("rem.u64 %rd3, %rd3, %rd4;\n", 12, one),
                     12 * 68 * (uint64_t)(SMALL.alu_latency + 1));
}

static void products_go_beside_sums(void **state)
{
    (void)state;
    Setup four = {.blocks = 1, .threads = 512};
    /* Four warps a scheduler, two cycles each of a pipe. */
    assert_int_equal(slope("mul.lo.u32 %r3, %r3, %r1;\nmul.lo.u32 %r4, %r4, %r1;\n", 100, four),
                     1600);
    assert_int_equal(slope("mul.lo.u32 %r3, %r3, %r1;\nadd.u32 %r4, %r4, %r1;\n", 100, four), 800);
}

/* A loop that reads what others may write waits for them only if it looks at it. */
static void who_does_not_look_does_not_wait(void **state)
{
    (void)state;
    for (int looks = 0; looks < 2; looks++) {
        Error error = {""};
        SimtGpu *gpu = gpu_open(1, 0, 1);
        char *text =
            kernel_text("LOOP:\nld.volatile.global.u32 %r5, [%rd1];\n"
                        "add.u32 %r6, %r6, 1;\n",
                        looks ? "setp.lt.u32 %p1, %r5, 8;\n" : "setp.lt.u32 %p1, %r6, 8;\n", 1,
                        "@%p1 bra LOOP;\n");
        SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
        assert_non_null(module);
        assert_int_equal(simt_kernel_find(module, "k", &error)->spins, looks);
        simt_close(gpu);
        free(text);
    }
}

static void conflicts_add_passes(void **state)
{
    (void)state;
    /* Lanes 4 or 128 bytes apart: 1 pass or 32; 32 warps, so that only passes count. */
    static const char *const HOME[] = {
        ".shared .align 16 .b8 tile[16384];\nmov.u32 %r5, tile;\nand.b32 %r7, %r1, 31;\n"
        "mad.lo.s32 %r6, %r7, 4, %r5;\n",
        ".shared .align 16 .b8 tile[16384];\nmov.u32 %r5, tile;\nand.b32 %r7, %r1, 31;\n"
        "mad.lo.s32 %r6, %r7, 128, %r5;\n"};
    uint64_t time[2];
    for (int wide = 0; wide < 2; wide++) {
        char *text = kernel_text(HOME[wide], "ld.volatile.shared.f32 %f1, [%r6];\n", 100, "");
        SimtResult result;
        time[wide] = cycles_of(text, (Setup){.blocks = 1, .threads = 1024}, &result, NULL);
        assert_int_equal(result.counters.shared_wavefronts, 32u * 100 * (wide ? 32 : 1));
        free(text);
    }
    /* 32 warps * 100 loads * 31 more passes */
    assert_in_range(time[1] - time[0], 32 * 100 * 30, 32 * 100 * 32);
}

/* A load of what is there already costs nothing, wherever its result goes. */
static void a_repeated_load_is_free(void **state)
{
    static const char first[] = ".shared .align 16 .b8 tile[64];\nmov.u32 %r6, tile;\n";
    const struct {
        const char *load, *again;
    } PAIRS[] = {{"ld.shared.f32 %f1, [%r6];\n", "ld.shared.f32 %f2, [%r6];\n"},
                 {"ld.global.f32 %f1, [%rd1];\n", "ld.global.f32 %f2, [%rd1];\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        SimtResult result;
        char body[200];
        uint64_t cycles[2];
        for (int repeats = 0; repeats < 2; repeats++) {
            snprintf(body, sizeof body,
                     "%sfma.rn.f32 %%f3, %%f1, %%f1, %%f3;\n%sfma.rn.f32 %%f3, "
                     "%%f%d, %%f3, %%f1;\n",
                     PAIRS[i].load, repeats ? PAIRS[i].again : "", repeats + 1);
            char *text = kernel_text(first, body, 1, "");
            cycles[repeats] = cycles_of(text, (Setup){.blocks = 1, .threads = 1024}, &result, NULL);
            assert_int_equal(result.counters.free_instructions, 32 * (4 + repeats));
            free(text);
        }
        assert_int_equal(cycles[0], cycles[1]);
    }
}

/* What was loaded in front of a loop its turns load again only where something may have changed it,
 * where the address or the first result did not stay, or where another way leads into the loop. */
static void a_turn_loads_no_more_than_was_there(void **state)
{
    enum { TURNS = 10 };
    static const struct {
        const char *name, *before, *between, *turn;
        uint64_t loads;
    } LOOPS[] = {
        {"the same", "", "", "", 1},
        {"a branch beyond the loop", "", "@%p2 bra E;\n", "", 1},
        {"a store", "", "", "st.global.u32 [%rd1+64], %r3;\n", 1 + TURNS},
        {"a store to shared memory", "", "", "st.shared.u32 [%r9], %r3;\n", 1},
        {"an atomic", "", "", "red.global.add.u32 [%rd1+64], 1;\n", 1 + TURNS},
        {"an address that goes on", "", "", "add.u64 %rd1, %rd1, 4;\n", 1 + TURNS},
        {"a first result that is lost", "", "", "mov.u32 %r3, 7;\n", 1 + TURNS},
        {"a store in front of it", "", "st.global.u32 [%rd1+64], %r3;\n", "", 1 + TURNS},
        {"a way around the first", "@%p2 bra F;\n", "F: add.u32 %r8, %r8, 1;\n", "", 1 + TURNS},
        {"a way into the loop", "@%p2 bra L;\n", "", "", 1 + TURNS}};
    (void)state;
    for (size_t i = 0; i < sizeof LOOPS / sizeof *LOOPS; i++) {
        SimtResult result;
        char body[800];
        snprintf(body, sizeof body,
                 ".shared .align 16 .b8 tile[64];\nmov.u32 %%r9, tile;\nmov.u32 %%r5, 0;\n"
                 "setp.eq.u32 %%p2, %%r2, 5;\n%s"
                 "ld.global.u32 %%r3, [%%rd1];\n%s"
                 "L: add.u32 %%r5, %%r5, 1; ld.global.u32 %%r4, [%%rd1];\n"
                 "add.u32 %%r6, %%r6, %%r4;\n%s"
                 "setp.lt.u32 %%p1, %%r5, %d; @%%p1 bra L;\nE: add.u32 %%r6, %%r6, %%r3;\n",
                 LOOPS[i].before, LOOPS[i].between, LOOPS[i].turn, TURNS);
        char *text = kernel_text("", body, 1, "st.global.u32 [%rd1+128], %r6;\n");
        cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
        if (result.counters.global_load_requests != LOOPS[i].loads)
            fail_msg("%s: %llu loads, not %llu", LOOPS[i].name,
                     (unsigned long long)result.counters.global_load_requests,
                     (unsigned long long)LOOPS[i].loads);
        free(text);
    }
}

/* 32 warps of a block load 100 times what lies in the L1, their two halves so many bytes apart. */
static uint64_t halves_cycles(uint32_t apart)
{
    enum { LOADS = 100, WARPS = 32 };
    SimtResult result;
    char first[300];
    snprintf(first, sizeof first,
             "mov.u32 %%r5, %%tid.x;\nshr.u32 %%r6, %%r5, 4;\nand.b32 %%r6, %%r6, 1;\n"
             "mul.lo.u32 %%r6, %%r6, %u;\ncvt.u64.u32 %%rd3, %%r6;\nadd.u64 %%rd2, %%rd1, %%rd3;\n",
             apart);
    char *text =
        kernel_text(first, "ld.global.f32 %f1, [%rd2];\nadd.u64 %rd2, %rd2, 4;\n", LOADS, "");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = 1, .threads = 32 * WARPS}, &result, NULL);
    free(text);
    return cycles;
}

/* The L1's data lie in banks: words of two lines, in one of them or in two. */
static void two_rows_in_one_bank_take_turns(void **state)
{
    enum { ACCESSES = 100 * 32 };
    (void)state;
    assert_in_range(halves_cycles(2048) - halves_cycles(2048 + 4), ACCESSES * 95 / 100,
                    ACCESSES * 105 / 100);
}

static void blocks_come_in_waves(void **state)
{
    enum { TURNOVER = 400 }; /* until another block takes the place of one that ended */
    (void)state;
    char *text = kernel_text("", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 2000, "");
    SimtResult one, two, three;
    /* 65,536 bytes of shared memory a block: one block an SM, 4 SMs. */
    uint64_t a = cycles_of(text, (Setup){.blocks = 4, .threads = 32, .shared = 65536}, &one, NULL);
    uint64_t b = cycles_of(text, (Setup){.blocks = 5, .threads = 32, .shared = 65536}, &two, NULL);
    uint64_t c =
        cycles_of(text, (Setup){.blocks = 12, .threads = 32, .shared = 65536}, &three, NULL);
    free(text);
    assert_int_equal(one.waves, 1);
    assert_int_equal(two.waves, 2);
    assert_int_equal(three.waves, 3);
    assert_in_range(a, 8000, 8100);
    assert_in_range(b, 2 * a + TURNOVER - 20, 2 * a + TURNOVER + 20);
    assert_in_range(c, 3 * a + 2 * TURNOVER - 40, 3 * a + 2 * TURNOVER + 40);
}

/* Blocks of four warps whose first has all the work: each block's is another scheduler's. */
static void first_warps_share_no_scheduler(void **state)
{
    (void)state;
    char *text = kernel_text("mov.u32 %r5, %tid.x;\nsetp.ge.u32 %p1, %r5, 32;\n@%p1 ret;\n",
                             "add.f32 %f1, %f2, %f3;\n", 2000, "");
    SimtResult result;
    uint64_t one = cycles_of(text, (Setup){.blocks = 4, .threads = 128}, &result, NULL),
             four = cycles_of(text, (Setup){.blocks = 16, .threads = 128}, &result, NULL);
    free(text);
    assert_in_range(four, one, one + one / 10);
}

/* Blocks of eight warps of which seven end at once.  When one block has ended, which those of the
 * first round do early, all that fit begin: places of ended warps are free, shared memory is not.
 */
static void places_of_ended_warps_go_to_other_blocks(void **state)
{
    enum { FIRST = 2000, REST = 8000, TURNOVER = 400, SMS = 4 };
    (void)state;
    char *first = kernel_text("", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", FIRST / 4, ""),
         *begin = malloc(strlen(first) + 200);
    assert_non_null(begin);
    *strstr(first, "\nret;\n}") = '\0';
    sprintf(
        begin,
        "setp.ge.u32 %%p1, %%r1, 32;\n@%%p1 ret;\n%s\nsetp.lt.u32 %%p2, %%r2, %d;\n@%%p2 ret;\n",
        strstr(first, "fma"), SMS);
    char *text = kernel_text(begin, "fma.rn.f32 %f1, %f1, %f2, %f3;\n", REST / 4, "");
    uint32_t fit = SMALL.max_warps_per_sm / 8;
    SimtResult result;
    Setup setup = {.blocks = SMS * (2 * fit - 1), .threads = 256};
    uint64_t free_places = cycles_of(text, setup, &result, NULL);
    assert_int_equal(result.resident_blocks, fit);
    setup.shared = SMALL.shared_per_sm / fit - 2048;
    uint64_t taken = cycles_of(text, setup, &result, NULL);
    assert_int_equal(result.resident_blocks, fit);
    free(first), free(begin), free(text);
    assert_in_range(free_places, FIRST + TURNOVER + FIRST + REST, (FIRST + REST) * 3 / 2);
    assert_in_range(taken, 2 * (FIRST + REST) + TURNOVER, (FIRST + REST) * 9 / 4);
}

static void a_barrier_waits_for_the_slowest(void **state)
{
    (void)state;
    /* Warp 0 alone runs the chain; the others wait for it. */
    char *text = kernel_text("setp.gt.u32 %p1, %r1, 31;\n@%p1 bra done;\n",
                             "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 500, "done:\nbar.sync 0;\n");
    SimtResult result;
    SimtGpu *gpu;
    uint64_t cycles =
        cycles_of(text, (Setup){.blocks = 1, .threads = 128, .profile = 1}, &result, &gpu);
    assert_in_range(cycles, 2000, 2200);
    const SimtProfile *profile = simt_profile(gpu);
    assert_non_null(profile);
    uint64_t barrier = 0;
    for (uint32_t i = 0; i < profile->instructions; i++)
        barrier += profile->instruction[i].stall[STALL_BARRIER];
    /* Three warps for some 2000 cycles each. */
    assert_in_range(barrier, 5400, 6600);
    simt_close(gpu);
    free(text);
}

/* Loads and sums far apart, which meet in the L2. */
static char *apart_text(void)
{
    return kernel_text("",
                       "mad.lo.s32 %r3, %r2, 64, %r1;\nand.b32 %r3, %r3, 16383;\n"
                       "mul.wide.s32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                       "ld.global.f32 %f1, [%rd4];\nfma.rn.f32 %f2, %f1, %f1, %f2;\n",
                       20, "st.global.f32 [%rd4], %f2;\n");
}

static void host_threads_do_not_show(void **state)
{
    (void)state;
    char *text = apart_text();
    SimtResult one, four;
    for (int level = 0; level < 3; level++) {
        exec_level = level;
        cycles_of(text, (Setup){.blocks = 300, .threads = 96}, &one, NULL);
        cycles_of(text, (Setup){.blocks = 300, .threads = 96, .host_threads = 4}, &four, NULL);
        assert_int_equal(one.cycles, four.cycles);
        assert_memory_equal(&one.counters, &four.counters, sizeof one.counters);
    }
    exec_level = 2;
    free(text);
}

/* Each block says which of those before it had ended when it began, and goes through many
 * barriers. */
static const char ENDED_BEFORE[] =
    HEAD ".visible .entry k(.param .u64 p) {\n"
         ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %q<2>;\n"
         "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;\n"
         "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
         "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];\n"
         "add.u32 %r2, %r2, %r3; add.u32 %r4, %r4, %r5; add.u32 %r2, %r2, %r4;\n"
         "st.global.u32 [%rd3+64], %r2; mov.u32 %r6, 30000;\n"
         "L: bar.sync 0; sub.u32 %r6, %r6, 1; setp.ne.u32 %q1, %r6, 0; @%q1 bra L;\n"
         "mov.u32 %r7, 1; st.global.u32 [%rd3], %r7; ret; }\n";

/* Five blocks on four host threads: dealt whole, the last would begin when another one has ended.
 * What they count and take is the same as one after the other. */
static void the_last_blocks_run_side_by_side(void **state)
{
    enum { BLOCKS = 5, WORDS = 32, BEFORE = 16 };
    (void)state;
    SimtResult one, four;
    for (int threads = 1; threads <= 4; threads += 3) {
        uint32_t word[WORDS] = {0};
        SimtGpu *gpu = gpu_open(threads, 0, 1);
        uint64_t data = device_data(gpu, word, sizeof word);
        SimtResult *result = threads == 1 ? &one : &four;
        assert_int_equal(run(gpu, ENDED_BEFORE, BLOCKS, 64, 0, &data, sizeof data, result), 0);
        device_fetch(gpu, data, word, sizeof word);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            assert_int_equal(word[i], 1);
            assert_int_equal(word[BEFORE + i], threads == 1 ? i : 0);
        }
        simt_close(gpu);
    }
    assert_memory_equal(&one, &four, sizeof one);
}

static SimtLaunch launch_of(uint32_t blocks, const uint64_t *data)
{
    return (SimtLaunch){
        .grid = {blocks, 1, 1}, .block = {96, 1, 1}, .params = data, .params_bytes = sizeof *data};
}

/* Launches that are settled while the next one runs tell what they tell alone: some with a few
 * blocks a thread, some with many, and one that a fault in the next one does not reach. */
static void settled_later_is_settled_the_same(void **state)
{
    enum { LAUNCHES = 4 };
    static const uint32_t BLOCKS[LAUNCHES] = {300, 5, 24, 300};
    static float zeros[1 << 16];
    (void)state;
    char *text = apart_text();
    Error error = {""};
    for (int threads = 1; threads <= 4; threads += 3) {
        SimtGpu *gpu = gpu_open(threads, 0, 1);
        uint64_t data = device_data(gpu, zeros, sizeof zeros), nowhere = 16;
        SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
        assert_non_null(module);
        SimtKernel *kernel = simt_kernel_find(module, "k", &error);
        SimtResult later[LAUNCHES], alone[LAUNCHES], fault;
        for (int i = 0; i < LAUNCHES; i++) {
            SimtLaunch launch = launch_of(BLOCKS[i], &data);
            assert_int_equal(simt_launch_begin(gpu, kernel, &launch, &later[i]), 0);
            assert_int_equal(later[i].cycles == 0, threads > 1);
            assert_true(!i || later[i - 1].cycles > 0);
        }
        SimtLaunch wrong = launch_of(2, &nowhere);
        assert_int_equal(simt_launch_begin(gpu, kernel, &wrong, &fault), -1);
        assert_int_equal(simt_settle(gpu, &later[LAUNCHES - 1]), 0);
        for (int i = 0; i < LAUNCHES; i++) {
            SimtLaunch launch = launch_of(BLOCKS[i], &data);
            assert_int_equal(simt_launch(gpu, kernel, &launch, &alone[i]), 0);
            assert_memory_equal(&later[i], &alone[i], sizeof later[i]);
        }
        SimtLaunch last = launch_of(BLOCKS[0], &data);
        assert_int_equal(simt_launch_begin(gpu, kernel, &last, &later[0]), 0);
        simt_module_unload(gpu, module);
        assert_int_equal(later[0].cycles, alone[0].cycles);
        simt_close(gpu);
    }
    free(text);
}

/* A load with a stride of 8 floats: a sector a lane; counts are by instruction. */
static void counts_are_by_instruction(void **state)
{
    (void)state;
    char *text = kernel_text("",
                             "mul.wide.s32 %rd3, %r1, 32;\nadd.s64 %rd4, %rd1, %rd3;\n"
                             "ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd4], %f1;\n",
                             1, "");
    SimtResult result;
    SimtGpu *gpu;
    cycles_of(text, (Setup){.blocks = 3, .threads = 64, .profile = 1}, &result, &gpu);
    const SimtProfile *profile = simt_profile(gpu);
    int seen = 0;
    for (uint32_t i = 0; i < profile->instructions; i++) {
        const SimtInstruction *in = &profile->instruction[i];
        if (!in->opcode || strcmp(in->opcode, "ld.global.f32")) continue;
        seen++;
        assert_int_equal(in->warp_instructions, 6);
        assert_int_equal(in->thread_instructions, 192);
        assert_int_equal(in->requests, 6);
        assert_int_equal(in->sectors, 192);
        assert_int_equal(in->l1_hits, 0);
    }
    assert_int_equal(seen, 1);
    assert_string_equal(profile->kernel, "k");
    assert_int_equal(profile->cycles, result.cycles);
    assert_true(profile->spans == 1 && profile->span[0].end > profile->span[0].begin);
    simt_close(gpu);
    free(text);
}

/* What a short branch skips is predicated: loads behind several of them go out together, as they do
 * behind predicates written by hand. */
static void a_short_branch_is_a_predicate(void **state)
{
    (void)state;
#define FOUR(STEP)     STEP("1", "0") STEP("2", "128") STEP("3", "256") STEP("4", "384")
#define LOAD(N, AT)    "ld.global.f32 %f" N ", [%rd1+" AT "];\n"
#define JUMPED(N, AT)  "@%p1 bra L" N ";\n" LOAD(N, AT) "L" N ":\n" STORED(N)
#define GUARDED(N, AT) "@!%p1 " LOAD(N, AT) STORED(N)
#define STORED(N)      "st.shared.f32 [%r3+" N "*128], %f" N ";\n"
    static const char first[] = "shl.b32 %r3, %r1, 2;\nsetp.gt.u32 %p1, %r1, 999;\n";
    Setup setup = {.blocks = 1, .threads = 32, .shared = 1024};
    char *jumped = kernel_text(first, FOUR(JUMPED), 1, ""),
         *guarded = kernel_text(first, FOUR(GUARDED), 1, "");
    SimtResult result;
    uint64_t jumps = cycles_of(jumped, setup, &result, NULL),
             guards = cycles_of(guarded, setup, &result, NULL);
    free(jumped), free(guarded);
    assert_in_range(jumps, guards - 8, guards + 8); /* who waits for the predicate differs */
    /* Four loads one after the other would take four times the latency. */
    assert_true(guards < 2 * (uint64_t)(SMALL.l2_latency + SMALL.dram_latency));
}

/* Each round of blocks gives every SM one, beginning at another SM. */
static void rounds_begin_at_different_sms(void **state)
{
    (void)state;
    enum { SMS = 132, ROUNDS = 20 };
    SimtGpu gpu = {.machine = {.sms = SMS}};
    Launch launch = {.gpu = &gpu, .blocks = SMS * ROUNDS + 50};
    uint32_t starts = 0, last = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned char seen[SMS] = {0};
        for (uint64_t i = 0; i < SMS; i++)
            seen[sm_of(&launch, round * SMS + i)]++;
        for (uint32_t i = 0; i < SMS; i++)
            assert_int_equal(seen[i], 1);
        starts += sm_of(&launch, round * SMS) != last;
        last = sm_of(&launch, round * SMS);
    }
    assert_true(starts >= ROUNDS - 3);
    assert_int_equal(sm_of(&launch, 7), 7);
    assert_int_equal(sm_of(&launch, (uint64_t)SMS * ROUNDS + 7), 7);
}

/* ---- what nobody plays ---------------------------------------------------------------------- */

#define CHAIN "fma.rn.f32 %f1, %f1, %f2, %f3;\n"
#define APART                                                                                      \
    "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n"                             \
    "fma.rn.f32 %f5, %f5, %f2, %f3;\nfma.rn.f32 %f6, %f6, %f2, %f3;\n"
#define EIGHT(TEXT) TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT
#define MOVES       EIGHT("mov.f32 %f1, %f2;\nmov.f32 %f2, %f1;\n")

/* Blocks for which `chosen` sets %p1 run `rounds` of `light`, all others 400 dependent sums. */
static uint64_t mixed_cycles(const char *chosen, const char *light, int rounds, Setup setup)
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

/* Whichever blocks have little to do, the launch costs what the others need. */
static void work_that_is_not_played_is_paid_for(void **state)
{
    static const char nobody[] = "setp.gt.u32 %p1, %r2, 99999;\n",
                      first_sm[] = "mov.u32 %r3, %smid;\nsetp.eq.u32 %p1, %r3, 0;\n",
                      but_the_last[] = "setp.ne.u32 %p1, %r2, 31;\n",
                      first_waves[] = "setp.lt.u32 %p1, %r2, 1200;\n";
    Setup few = {.blocks = 32, .threads = 32}, many = {.blocks = 2400, .threads = 32};
    (void)state;
    uint64_t whole = mixed_cycles(nobody, "", 1, few);
    assert_true(whole > 1600);
    assert_in_range(mixed_cycles(first_sm, "", 1, few), whole * 9 / 10, whole * 11 / 10);
    assert_in_range(mixed_cycles(first_sm, MOVES, 25, few), whole * 9 / 10, whole * 11 / 10);
    assert_in_range(mixed_cycles(first_sm, EIGHT(APART), 12, few), whole * 9 / 10, whole * 11 / 10);
    assert_in_range(mixed_cycles(but_the_last, MOVES, 25, few), whole * 9 / 10, whole * 11 / 10);
    /* Half of the work, in waves behind those that are played. */
    whole = mixed_cycles(nobody, "", 1, many);
    assert_in_range(mixed_cycles(first_waves, MOVES, 25, many), whole * 45 / 100, whole);
    few.host_threads = 4;
    assert_int_equal(mixed_cycles(first_sm, MOVES, 25, few),
                     mixed_cycles(first_sm, MOVES, 25, (Setup){.blocks = 32, .threads = 32}));
}

/* Blocks that are there at once take as long as the longest of them, also where SM 0 has one of the
 * long ones less than others. */
static void one_light_block_of_two_does_not_stand_for_all(void **state)
{
    Setup pairs = {.blocks = 8, .threads = 32};
    (void)state;
    uint64_t whole = mixed_cycles("setp.gt.u32 %p1, %r2, 99999;\n", "", 1, pairs);
    assert_in_range(mixed_cycles("setp.eq.u32 %p1, %r2, 0;\n", "", 1, pairs), whole * 9 / 10,
                    whole * 11 / 10);
}

/* With a block an SM the longest one is played, and not taken to need more time for more
 * instructions of the PTX, if those are folded into others. */
static void of_single_blocks_the_longest_is_played(void **state)
{
    enum { SUMS = 400 };
    uint64_t cycles[2];
    (void)state;
    for (uint32_t chosen = 0; chosen < 2; chosen++) {
        char first[4000];
        SimtResult result;
        snprintf(first, sizeof first, "setp.eq.u32 %%p1, %%r2, %u;\n@!%%p1 bra BOTH;\n%sBOTH:\n",
                 chosen ? 1u : 9999u, MOVES MOVES MOVES MOVES MOVES MOVES);
        char *text = kernel_text(first, CHAIN, SUMS, "");
        cycles[chosen] = cycles_of(text, (Setup){.blocks = 4, .threads = 32}, &result, NULL);
        free(text);
    }
    assert_in_range(cycles[1], cycles[0], cycles[0] * 105 / 100);
}

/* Runs k(data) as if machine code had said so many registers, and bytes of local memory. */
static void launch_with(const char *text, uint32_t blocks, uint32_t threads, uint32_t registers,
                        uint32_t local, SimtResult *result)
{
    Error error = {""};
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t data = device_data(gpu, NULL, 65536);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    assert_non_null(module);
    module->kernel[0].info.registers = registers, module->kernel[0].machine_local = local;
    module->kernel[0].registers_known = 1;
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    SimtLaunch launch = {.grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .params = &data,
                         .params_bytes = sizeof data};
    assert_int_equal(simt_launch(gpu, kernel, &launch, result), 0);
    assert_int_equal(kernel->info.registers, registers);
    simt_close(gpu);
}

/* Blocks of 256 threads at once, when machine code says `registers` and `local` bytes for a kernel
 * that has 100 values alive at once. */
static uint32_t resident_with(uint32_t registers, uint32_t local)
{
    enum { VALUES = 100 };
    char *text = malloc(20000), *at = text;
    SimtResult result;
    assert_non_null(text);
    at += sprintf(at, HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .f32 %%f<101>;\n"
                           ".reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [data];\n");
    for (int i = 0; i < VALUES; i++)
        at += sprintf(at, "ld.global.f32 %%f%d, [%%rd1+%d];\n", i, 4 * i);
    for (int i = 1; i < VALUES; i++)
        at += sprintf(at, "add.f32 %%f0, %%f0, %%f%d;\n", i);
    sprintf(at, "st.global.f32 [%%rd1+2000], %%f0;\nret;\n}\n");
    launch_with(text, 8, 256, registers, local, &result);
    free(text);
    return result.resident_blocks;
}

static void registers_that_are_needed_take_room(void **state)
{
    (void)state;
    /* A scheduler's 16384 registers by 2048 for each warp: 8 warps, 32 in all, 4 blocks. */
    assert_int_equal(resident_with(64, 0), 4);
    /* Three fifths of 100 are 60, whatever machine code says. */
    assert_int_equal(resident_with(16, 0), 4);
    assert_int_equal(resident_with(128, 0), 2);
    /* 64 and 64 that were put into local memory; four of 64 are too few to matter, five are not. */
    assert_int_equal(resident_with(64, 256), 2);
    assert_int_equal(resident_with(64, 16), 4);
    assert_int_equal(resident_with(64, 20), 3);
}

/* Cycles of one warp that adds up 64 float4 in lines of their own. */
static uint64_t turns_cycles(const char *pragma, uint32_t registers)
{
    char loop[1000];
    SimtResult result;
    snprintf(loop, sizeof loop,
             "mov.f32 %%f9, 0f00000000;\nmov.u32 %%r5, 0;\nmov.u64 %%rd2, %%rd1;\nLOOP:\n%s"
             "ld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%rd2];\n"
             "add.f32 %%f5, %%f1, %%f2;\nadd.f32 %%f6, %%f3, %%f4;\n"
             "add.f32 %%f7, %%f5, %%f6;\nadd.f32 %%f9, %%f9, %%f7;\n"
             "add.s64 %%rd2, %%rd2, 128;\nadd.s32 %%r5, %%r5, 1;\n"
             "setp.lt.s32 %%p1, %%r5, 64;\n@%%p1 bra LOOP;\n",
             pragma);
    char *text = kernel_text(loop, "", 0, "st.global.f32 [%rd1], %f9;\n");
    launch_with(text, 1, 32, registers, 0, &result);
    free(text);
    return result.cycles;
}

/* Every turn's load comes from DRAM: alone, or with those of three more turns. */
static void a_short_loop_is_four_turns_at_once(void **state)
{
    enum { TURNS = 64, ADDED = 40 }; /* to the latency: sums, the branch, and bytes on their way */
    uint64_t far = (uint64_t)SMALL.dram_latency,
             near = far * 9 / 10, /* on average, of the eight places that it walks through */
        alone = turns_cycles(".pragma \"nounroll\";\n", 64), four = turns_cycles("", 64),
             few = turns_cycles("", 8);
    (void)state;
    assert_in_range(alone - four, (TURNS - TURNS / 4) * near, (TURNS - TURNS / 4) * (far + ADDED));
    /* Registers for one float4 at a time. */
    assert_in_range(few, (uint64_t)TURNS * near, alone);
}

/* Cycles of one warp that adds up so many float4, in lines of their own and without a branch. */
static uint64_t straight_cycles(int loads, uint32_t registers)
{
    SimtResult result;
    char *first = malloc(200 * (size_t)loads), *at = first;
    assert_non_null(first);
    at += sprintf(at, "mov.f32 %%f9, 0f00000000;\n");
    for (int i = 0; i < loads; i++)
        at += sprintf(at,
                      "ld.global.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd1+%d];\n"
                      "add.f32 %%f%d, %%f%d, %%f%d;\nadd.f32 %%f9, %%f9, %%f%d;\n",
                      10 + 4 * i, 11 + 4 * i, 12 + 4 * i, 13 + 4 * i, 128 * i, 10 + 4 * i,
                      10 + 4 * i, 13 + 4 * i, 10 + 4 * i);
    char *text = kernel_text(first, "", 0, "st.global.f32 [%rd1], %f9;\n");
    launch_with(text, 1, 32, registers, 0, &result);
    free(text), free(first);
    return result.cycles;
}

/* Loads go ahead of what needs them as far as there are registers for what they bring. */
static void loads_wait_for_registers(void **state)
{
    enum { LOADS = 6 };
    uint64_t far = (uint64_t)SMALL.dram_latency, all = straight_cycles(LOADS, 64),
             few = straight_cycles(LOADS, 14), one = straight_cycles(LOADS, 8);
    (void)state;
    /* Two at a time, or each alone; all lie in one place, which answers in its time. */
    assert_in_range(few - all, (LOADS / 2 - 1) * far * 7 / 10, (LOADS / 2 - 1) * far * 4 / 3);
    assert_in_range(one - all, (LOADS - 1) * far * 7 / 10, (LOADS - 1) * far * 4 / 3);
}

/* Loads go ahead of atomics to other memory: those need what is loaded, but not each other. */
static void loads_pass_atomics(void **state)
{
    enum { LOADS = 4, DISTANCE = 4096, ENDS = 300 };
    SimtResult result;
    char first[2000], *at = first;
    uint64_t far = (uint64_t)SMALL.dram_latency;
    (void)state;
    at += sprintf(at, ".shared .align 4 .b8 s[1024];\n.reg .b32 %%a<20>;\nmov.u32 %%a0, s;\n");
    for (int i = 1; i <= LOADS; i++)
        at += sprintf(at,
                      "ld.global.u8 %%a%d, [%%rd1+%d];\nand.b32 %%a%d, %%a%d, 124;\n"
                      "add.u32 %%a%d, %%a0, %%a%d;\natom.shared.add.u32 %%a%d, [%%a%d], 1;\n",
                      i, DISTANCE * i, i, i, i, i, 10 + i, i);
    char *text = kernel_text(first, "", 0, "");
    launch_with(text, 1, 32, 32, 0, &result);
    free(text);
    uint64_t ends = (uint64_t)(SMALL.launch_cycles + SMALL.dram_latency);
    assert_in_range(result.cycles - ends, far * 2 / 3, far * 3 / 2 + ENDS);
}

/* Cycles of one warp that adds each of twelve loads to eight sums, which have other names after
 * each; the twelfth time their first ones again. */
static uint64_t sums_cycles(uint32_t registers)
{
    enum { LOADS = 12, SUMS = 8 };
    SimtResult result;
    char first[8000], *at = first;
    for (int i = 0; i < LOADS; i++) {
        at += sprintf(at, "ld.global.f32 %%f%d, [%%rd1+%d];\n", i, 128 * i);
        for (int s = 0; s < SUMS; s++)
            at += sprintf(at, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n",
                          20 + s + (i + 1 < LOADS && i % 2 == 0 ? SUMS : 0), i, i,
                          20 + s + (i % 2 ? SUMS : 0));
    }
    char *text = kernel_text("bra BEGIN;\nBEGIN:\n", first, 1,
                             "add.f32 %f20, %f20, %f21;\nst.global.f32 [%rd1], %f20;\n");
    launch_with(text, 1, 32, registers, 0, &result);
    free(text);
    return result.cycles;
}

/* A sum that is added to has one place, whatever its names are. */
static void sums_keep_their_places(void **state)
{
    enum { ADDRESS = 2, KEPT = 3, SUMS = 8 };
    uint64_t far = (uint64_t)SMALL.dram_latency, all = sums_cycles(64),
             half = sums_cycles(ADDRESS + KEPT + SUMS + 6);
    (void)state;
    /* Six of the twelve loads are on their way together. */
    assert_in_range(half - all, far * 7 / 10, far * 4 / 3);
}

/* Cycles of one warp that adds up eight values from before, twelve loads; `wanted`: the eight are
 * read once more behind all that. */
static uint64_t values_cycles(int wanted, uint32_t registers)
{
    enum { VALUES = 8, LOADS = 12 };
    SimtResult result;
    char before[1000], first[2000], behind[1000], *at = before;
    at += sprintf(at, "cvt.rn.f32.u32 %%f20, %%r1;\n");
    for (int v = 1; v < VALUES; v++)
        at += sprintf(at, "add.f32 %%f%d, %%f%d, %%f%d;\n", 20 + v, 19 + v, 19 + v);
    sprintf(at, "bra BEGIN;\nBEGIN:\nmov.f32 %%f9, 0f00000000;\n");
    at = first;
    for (int v = 0; v < VALUES; v++)
        at += sprintf(at, "add.f32 %%f9, %%f9, %%f%d;\n", 20 + v);
    for (int i = 0; i < LOADS; i++)
        at += sprintf(at, "ld.global.f32 %%f%d, [%%rd1+%d];\nadd.f32 %%f9, %%f9, %%f%d;\n", 28 + i,
                      128 * i, 28 + i);
    at = behind + sprintf(behind, "bra END;\nEND:\n");
    for (int v = 0; wanted && v < VALUES; v++)
        at += sprintf(at, "add.f32 %%f9, %%f9, %%f%d;\n", 20 + v);
    sprintf(at, "st.global.f32 [%%rd1], %%f9;\n");
    char *text = kernel_text(before, first, 1, behind);
    launch_with(text, 1, 32, registers, 0, &result);
    free(text);
    return result.cycles;
}

/* A value that nobody reads any more leaves its register to a load. */
static void values_end_with_their_last_reader(void **state)
{
    enum { KEPT = 3, VALUES = 8, SUM = 1, FREE = 1 };
    uint32_t registers = KEPT + VALUES + SUM + FREE;
    uint64_t far = (uint64_t)SMALL.dram_latency, ended = values_cycles(0, registers),
             wanted = values_cycles(1, registers);
    (void)state;
    /* Eight or more at once, or each load alone. */
    assert_in_range(wanted - ended, 9 * far * 7 / 10, 11 * far);
}

#define LOADS_1   "ld.global.f32 %f1, [%rd1];\n"
#define LOADS_3   "ld.global.f32 %f3, [%rd1+128];\n"
#define DIVIDES_1 "div.rn.f32 %f2, %f9, %f1;\n"
#define DIVIDES_3 "div.rn.f32 %f4, %f2, %f3;\n"
#define STORES    "st.global.f32 [%rd1], %f4;\n"

/* A division has a routine for rare cases, to which code branches: no load goes ahead of it. */
static void no_load_goes_ahead_of_a_division(void **state)
{
    (void)state;
    uint64_t far = (uint64_t)SMALL.dram_latency, together, apart;
    together = once_cycles(LOADS_1 LOADS_3 DIVIDES_1 DIVIDES_3 STORES);
    apart = once_cycles(LOADS_1 DIVIDES_1 LOADS_3 DIVIDES_3 STORES);
    /* As that place takes, less what is left of the first division. */
    assert_in_range(apart - together, far * 6 / 10, far * 8 / 10);
}

/* Cycles that a turn of one warp takes, of 200; each divides what the one before left. */
static uint64_t division_cycles(const char *before, const char *divides)
{
    SimtResult result;
    uint64_t cycles[2];
    for (uint64_t turns = 200, i = 0; i < 2; i++, turns *= 2) {
        char loop[1000];
        snprintf(loop, sizeof loop,
                 "mov.u32 %%r5, 0;\nadd.u32 %%r7, %%r2, 3;\nmov.u32 %%r6, %%r1;\n"
                 "ld.param.u32 %%r8, [data];\nLOOP:\n"
                 ".pragma \"nounroll\";\n%s%sadd.u32 %%r6, %%r6, %%r5;\nadd.s32 %%r5, %%r5, 1;\n"
                 "setp.lt.s32 %%p1, %%r5, %d;\n@%%p1 bra LOOP;\n",
                 before, divides, (int)turns);
        char *text = kernel_text(loop, "", 0, "OUT: st.global.u32 [%rd1], %r6;\n");
        cycles[i] = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
        free(text);
    }
    return (cycles[1] - cycles[0]) / 200;
}

/* Its reciprocal is made in front of the loop, unless the divisor changes or a branch stands before
 * the division. */
static void a_loop_divides_by_what_stays_without_a_reciprocal(void **state)
{
    uint64_t alu = (uint64_t)SMALL.alu_latency, whole = 35 * alu, rest = 13 * alu, around = 8 * alu;
    const char *DIVIDES = "rem.u32 %r6, %r6, %r7;\n";
    (void)state;
    assert_in_range(division_cycles("", DIVIDES), rest, rest + around);
    assert_in_range(division_cycles("", "div.s32 %r6, %r6, %r7;\n"), rest, rest + around);
    assert_in_range(division_cycles("", "rem.u32 %r6, %r6, %r8;\n"), rest, rest + around);
    assert_in_range(division_cycles("add.u32 %r7, %r7, 1;\n", DIVIDES), whole, whole + around);
    /* Two predicates a turn that branches wait for. */
    assert_in_range(division_cycles("setp.eq.u32 %p2, %r5, 1000;\n@%p2 bra OUT;\n", DIVIDES), whole,
                    whole + around + 2 * GUARD_CYCLES);
}

/* One warp reads 64 lines 4 KB apart, and again: the L1 has them. */
static void lines_a_power_of_two_apart_do_not_meet(void **state)
{
    enum { LINES = 64 };
    char text[LINES * 80], *at = text;
    SimtResult result;
    SimtGpu *gpu;
    *at = 0;
    for (int i = 0; i < 2 * LINES; i++)
        at += sprintf(at, "ld.global.f32 %%f1, [%%rd1+%d];\n", i % LINES * 4096);
    char *all = kernel_text(text, "", 0, "");
    cycles_of(all, (Setup){.blocks = 1, .threads = 32}, &result, &gpu);
    assert_int_equal(result.counters.global_load_sectors, 2 * LINES);
    assert_int_equal(result.counters.l1_hit_sectors, LINES);
    simt_close(gpu);
    free(all);
    (void)state;
}

/* One warp a block, one block an SM; each goes through the same fetches, one after another: 64 that
 * the L1 keeps, or as many lines as it has no room for. */
enum { NEAR_FETCHES = 64, FAR_FETCHES = 512 };

static uint64_t walk_cycles(uint32_t fetches, uint32_t blocks, int host_threads)
{
    SimtResult result;
    char body[256];
    snprintf(body, sizeof body,
             "ld.global.u32 %%r5, [%%rd2];\ncvt.u64.u32 %%rd3, %%r5;\n"
             "add.u64 %%rd4, %%rd2, %%rd3;\nadd.u64 %%rd2, %%rd4, %d;\n",
             fetches == FAR_FETCHES ? 128 : 64);
    char *text =
        kernel_text("mov.u64 %rd2, %rd1;\n", body, fetches, "st.global.u64 [%rd1+65536], %rd2;\n");
    Setup setup = {.blocks = blocks, .threads = 32, .shared = 65536, .host_threads = host_threads};
    uint64_t cycles = cycles_of(text, setup, &result, NULL);
    free(text);
    return cycles;
}

static void blocks_in_step_wait_together(void **state)
{
    enum { SMS = 4 };
    uint64_t alone = walk_cycles(FAR_FETCHES, 1, 1), wave = walk_cycles(FAR_FETCHES, SMS, 1),
             two = walk_cycles(FAR_FETCHES, 2 * SMS, 1);
    uint64_t far = (uint64_t)SMALL.dram_latency, near = (uint64_t)SMALL.l2_latency;
    (void)state;
    /* Whoever asks first, all of them wait for DRAM. */
    assert_in_range(alone, FAR_FETCHES * far, FAR_FETCHES * (far + 40));
    assert_in_range(wave, alone * 99 / 100, alone * 101 / 100);
    /* The next wave finds all of it in the L2: but for an eighth, as much as is loaded first. */
    assert_in_range(two - wave, FAR_FETCHES * near, FAR_FETCHES * (near + 40 + far / 8));
    assert_int_equal(walk_cycles(FAR_FETCHES, 2 * SMS, 3), two);
    /* And so do waves that are not played. */
    uint64_t more = walk_cycles(FAR_FETCHES, 12 * SMS, 1) - walk_cycles(FAR_FETCHES, 4 * SMS, 1);
    assert_in_range(more, 8 * FAR_FETCHES * near, 8 * (two - wave) * 101 / 100);
}

/* What a block has loaded, the next one on its SM finds in the L1. */
static void blocks_find_what_others_loaded(void **state)
{
    enum { SMS = 4 };
    uint64_t near = (uint64_t)SMALL.l1_latency, wave = walk_cycles(NEAR_FETCHES, SMS, 1),
             two = walk_cycles(NEAR_FETCHES, 2 * SMS, 1);
    (void)state;
    assert_in_range(two - wave, NEAR_FETCHES * near, NEAR_FETCHES * (near + 40));
    assert_int_equal(walk_cycles(NEAR_FETCHES, 2 * SMS, 3), two);
}

/* A walk of so many steps on one multiprocessor, each of two loads a megabyte apart: round and
 * round 128 KB, of which its L1 has half. */
static uint64_t far_walk_cycles(int steps)
{
    static float data[(1 << 18) + (1 << 14)];
    SimtResult result;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t address = device_data(gpu, data, sizeof data);
    char *text = kernel_text(
        "mov.u64 %rd2, %rd1;\nmov.u64 %rd5, 0;\n",
        "ld.global.u32 %r5, [%rd2];\ncvt.u64.u32 %rd3, %r5;\nadd.u64 %rd4, %rd2, %rd3;\n"
        "ld.global.u32 %r6, [%rd4+1048576];\ncvt.u64.u32 %rd6, %r6;\n"
        "add.u64 %rd5, %rd5, 128;\nand.b64 %rd5, %rd5, 65535;\n"
        "add.u64 %rd7, %rd1, %rd5;\nadd.u64 %rd2, %rd7, %rd6;\n",
        steps, "st.global.u64 [%rd1], %rd2;\n");
    if (run(gpu, text, 1, 32, 65536, &address, sizeof address, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    free(text);
    return result.cycles;
}

/* What a multiprocessor has fetched it finds in the L2, though the model remembers another address
 * in the same place of a table since. */
static void what_was_fetched_is_in_the_l2(void **state)
{
    enum { STEPS = 512 };
    uint64_t near = (uint64_t)SMALL.l2_latency, far = (uint64_t)SMALL.dram_latency,
             once = far_walk_cycles(STEPS), again = far_walk_cycles(2 * STEPS) - once;
    (void)state;
    assert_in_range(once, 2 * STEPS * far * 9 / 10, 2 * STEPS * (far * 11 / 10 + 40));
    assert_in_range(again, 2 * STEPS * near * 95 / 100, 2 * STEPS * (near + 40));
}

/* As they are counted when the instructions are executed. */
static uint64_t profiled_hits(SimtGpu *gpu)
{
    const SimtProfile *profile = simt_profile(gpu);
    uint64_t hits = 0;
    for (uint32_t i = 0; i < profile->instructions; i++)
        hits += profile->instruction[i].l1_hits;
    return hits;
}

/* Each step orders, and loads the same word again: what the L1 had counts no more where the order
 * is the whole chip's. */
static void the_l1_forgets_what_others_may_have_written(void **state)
{
    enum { FEW = 40, MORE = 100 };
    static const struct {
        const char *orders;
        int forgets;
    } STEPS[] = {{"ld.acquire.cta.global.u32 %r5, [%rd2+256];\n", 0},
                 {"ld.acquire.gpu.global.u32 %r5, [%rd2+256];\n", 1},
                 {"membar.cta;\n", 0},
                 {"membar.gl;\n", 1}};
    uint64_t cycles[4], later = (uint64_t)(SMALL.l2_latency - SMALL.l1_latency);
    (void)state;
    for (int i = 0; i < 4; i++) {
        char body[300];
        SimtResult few, all;
        SimtGpu *gpu;
        snprintf(body, sizeof body,
                 "%scvt.u64.u32 %%rd3, %%r5;\nadd.u64 %%rd2, %%rd2, %%rd3;\n"
                 "ld.global.u32 %%r5, [%%rd2];\ncvt.u64.u32 %%rd4, %%r5;\n"
                 "add.u64 %%rd2, %%rd2, %%rd4;\n",
                 STEPS[i].orders);
        const char *first = "mov.u64 %rd2, %rd1;\nmov.u32 %r5, 0;\n",
                   *last = "st.global.u64 [%rd1+512], %rd2;\n";
        char *less = kernel_text(first, body, FEW, last),
             *more = kernel_text(first, body, FEW + MORE, last);
        Setup one = {.blocks = 1, .threads = 32, .profile = 1};
        cycles[i] = cycles_of(more, one, &all, &gpu) - cycles_of(less, one, &few, NULL);
        assert_int_equal(profiled_hits(gpu), STEPS[i].forgets ? 0 : FEW + MORE - 1);
        simt_close(gpu);
        free(less), free(more);
        assert_int_equal(all.counters.l1_hit_sectors - few.counters.l1_hit_sectors,
                         STEPS[i].forgets ? 0 : MORE);
    }
    assert_in_range(cycles[1] - cycles[0], MORE * later * 9 / 10, MORE * later * 11 / 10);
}

/* Warps that want one line at about the same time: one asks for it, and all wait. */
static void warps_wait_for_one_fetch(void **state)
{
    enum { WARPS = 4 };
    SimtResult result;
    char *text = kernel_text("ld.global.f32 %f1, [%rd1];\n", "", 0, "st.global.f32 [%rd1], %f1;\n");
    (void)state;
    uint64_t one = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL),
             all = cycles_of(text, (Setup){.blocks = 1, .threads = 32 * WARPS}, &result, NULL);
    assert_int_equal(result.counters.global_load_sectors, WARPS);
    assert_int_equal(result.counters.l1_hit_sectors, WARPS - 1);
    assert_in_range(all, one, one + 20);
    free(text);
}

/* Bytes to and from DRAM.  32 blocks of 256 threads go twice through so many KB, `apart` bytes from
 * one thread's word to the next one's; the second time each through another block's part. */
static uint64_t dram_bytes_of(uint32_t kilobytes, uint32_t apart, const char *access, int threads)
{
    enum { AT_ONCE = 32 * 256 };
    static float data[1 << 19];
    char turns[1024];
    Error error = {""};
    SimtResult result;
    SimtOptions options = {.threads = threads, .count = 1};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    uint64_t address = device_data(gpu, data, sizeof data);
    snprintf(turns, sizeof turns,
             "mov.u32 %%r10, 0;\nTURN: add.u32 %%r11, %%r2, %%r10;\nand.b32 %%r11, %%r11, 31;\n"
             "mad.lo.u32 %%r11, %%r11, 256, %%r1;\nmul.wide.u32 %%rd2, %%r11, %u;\n"
             "add.u64 %%rd2, %%rd1, %%rd2;\nmov.u32 %%r12, 0;\n"
             "NEXT: %s;\nadd.u64 %%rd2, %%rd2, %u;\nadd.u32 %%r12, %%r12, 1;\n"
             "setp.lt.u32 %%p1, %%r12, %u;\n@%%p1 bra NEXT;\nadd.u32 %%r10, %%r10, 1;\n"
             "setp.lt.u32 %%p1, %%r10, 2;\n@%%p1 bra TURN;\n",
             apart, access, AT_ONCE * apart, kilobytes * 1024 / (AT_ONCE * apart));
    char *text = kernel_text(turns, "", 0, "");
    if (run(gpu, text, 32, 256, 0, &address, sizeof address, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    free(text);
    return result.counters.dram_bytes;
}

/* The small machine's has 1 MB. */
static void the_l2_keeps_what_fits(void **state)
{
    enum { KB = 1024, MB = 1024 * KB };
    const char *load = "ld.global.f32 %f1, [%rd2]", *store = "st.global.f32 [%rd2], %f1";
    uint64_t loaded = dram_bytes_of(2048, 4, load, 1), written = dram_bytes_of(2048, 32, store, 1);
    (void)state;
    assert_int_equal(dram_bytes_of(256, 4, load, 1), 256 * KB);
    assert_in_range(loaded, 2 * 2 * MB * 97 / 100, 2 * 2 * MB);
    /* In the order of moments, however many host threads there are. */
    assert_int_equal(dram_bytes_of(2048, 4, load, 3), loaded);
    /* Whole sectors are only written; what is not written of one comes from DRAM first. */
    assert_in_range(dram_bytes_of(2048, 4, store, 1), 3 * MB, 2 * 2 * MB);
    assert_in_range(written, 6 * MB, 4 * 2 * MB);
    assert_int_equal(dram_bytes_of(2048, 32, store, 3), written);
    assert_int_equal(dram_bytes_of(256, 4, store, 1), 256 * KB);
    /* A line that nearly all accesses go to leaves no sample of others: what is touched counts. */
    const char *hot = "st.global.f32 [%rd2], %f1;\nst.global.f32 [%rd1], %f1;\n"
                      "st.global.f32 [%rd1], %f1;\nst.global.f32 [%rd1], %f1;\n"
                      "st.global.f32 [%rd1], %f1;\nst.global.f32 [%rd1], %f1";
    assert_int_equal(dram_bytes_of(2048, 4, hot, 1), 2 * MB);
    assert_int_equal(dram_bytes_of(2048, 4, hot, 3), 2 * MB);
}

/* Each waits for the one before it; so many bytes apart, and so often. */
static uint64_t constants_cycles(int apart, int rounds)
{
    enum { LOADS = 16 };
    SimtResult result;
    char *text = malloc(8192), *at = text;
    assert_non_null(text);
    at +=
        sprintf(at, "%s",
                HEAD ".const .align 256 .b8 table[4096];\n"
                     ".visible .entry k(.param .u64 data)\n{\n" REGISTERS "mov.u64 %rd4, table;\n");
    for (int i = 0; i < LOADS * rounds; i++)
        at += sprintf(at,
                      "ld.const.u32 %%r5, [%%rd4+%d];\ncvt.u64.u32 %%rd5, %%r5;\n"
                      "add.s64 %%rd4, %%rd4, %%rd5;\n",
                      i % LOADS * apart);
    sprintf(at, "st.global.u64 [%%rd1], %%rd4;\nret;\n}\n");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(text);
    return cycles;
}

/* A multiprocessor asks for constant memory by pieces of 256 bytes, and keeps them. */
static void constants_come_from_dram_once(void **state)
{
    enum { PIECES = 16, HIT = 60 };
    uint64_t far = (uint64_t)SMALL.dram_latency, near = constants_cycles(4, 1),
             spread = constants_cycles(256, 1);
    (void)state;
    assert_in_range(near, far, far + PIECES * HIT);
    assert_in_range(spread - near, (PIECES - 1) * (far - HIT), (PIECES - 1) * far);
    assert_in_range(constants_cycles(256, 2) - spread, 0, PIECES * HIT);
}

static void a_launch_waits_for_its_last_store(void **state)
{
    (void)state;
    uint64_t without = once_cycles(""), cycles = once_cycles("st.global.f32 [%rd1], %f1;\n");
    assert_in_range(cycles - without, SMALL.l2_latency, SMALL.l2_latency + 40);
}

/* One warp loads what lies `first` bytes into the array, and `more` bytes further. */
static uint64_t two_loads_cycles(uint32_t first, uint32_t more)
{
    char text[300];
    snprintf(text, sizeof text,
             "ld.global.f32 %%f1, [%%rd1+%u];\nld.global.f32 %%f2, [%%rd1+%u];\n"
             "add.f32 %%f3, %%f1, %%f2;\n",
             first, first + more);
    return once_cycles(text);
}

/* DRAM answers after three quarters to four thirds of dram_latency, by the place: who waits for two
 * places waits for the farther one. */
static void places_in_memory_lie_nearer_or_farther(void **state)
{
    enum { PIECE = 1024, PIECES = 128 };
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    static uint64_t alone[PIECES];
    (void)state;
    for (uint32_t i = 0; i < PIECES; i++) {
        alone[i] = two_loads_cycles(i * PIECE, 64); /* another fetch of the same piece */
        least = alone[i] < least ? alone[i] : least, most = alone[i] > most ? alone[i] : most;
        sum += alone[i];
    }
    double wait = SMALL.dram_latency;
    assert_in_range(most - least, (uint64_t)(wait * 0.55), (uint64_t)(wait * 0.6));
    assert_in_range(sum / PIECES - least, (uint64_t)(wait * 0.15), (uint64_t)(wait * 0.27));
    for (uint32_t i = 0; i + 1 < PIECES; i++) {
        uint64_t farther = alone[i] > alone[i + 1] ? alone[i] : alone[i + 1];
        assert_in_range(two_loads_cycles(i * PIECE, PIECE), farther - 1, farther + 1);
    }
}

/* A fence of the whole chip waits until what its warp wrote is seen, and less long for what it
 * loaded; so does what releases. */
static void fences_and_releases_wait_for_what_is_written(void **state)
{
    enum {
        FENCE = 260,
        LOADED = 440,
        WRITTEN = 550
    }; /* as measured on an H200: timing/critical_path.h */
    (void)state;
    static const struct {
        const char *body;
        uint64_t cycles;
    } KNOWN[] = {
        {"fence.acq_rel.gpu;\n", FENCE},
        {"st.global.f32 [%rd1], %f1;\nfence.acq_rel.gpu;\n", WRITTEN},
        {"ld.global.f32 %f1, [%rd1];\nfence.acq_rel.gpu;\n", LOADED},
        {"st.global.f32 [%rd1], %f1;\nld.global.f32 %f2, [%rd1+4096];\nfence.acq_rel.gpu;\n",
         WRITTEN},
        {"red.global.add.u32 [%rd1], 1;\nfence.acq_rel.gpu;\n", LOADED},
        {"atom.global.add.u32 %r3, [%rd1], 1;\nfence.acq_rel.gpu;\n", WRITTEN},
        {"fma.rn.f32 %f2, %f2, %f3, %f4;\nfence.acq_rel.cta;\n", 0},
        {"st.release.gpu.global.f32 [%rd1], %f1;\n", WRITTEN},
        {"st.release.cta.global.f32 [%rd1], %f1;\n", 0},
        {"red.release.gpu.global.add.u32 [%rd1], 1;\n", LOADED},
        {"red.relaxed.gpu.global.add.u32 [%rd1], 1;\n", 0},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        uint64_t cycles = slope(KNOWN[i].body, 100, (Setup){.blocks = 1, .threads = 32}) / 100;
        if (cycles < KNOWN[i].cycles || cycles > KNOWN[i].cycles + 40)
            fail_msg("%s: %llu cycles, not %llu to %llu", KNOWN[i].body, (unsigned long long)cycles,
                     (unsigned long long)KNOWN[i].cycles, (unsigned long long)KNOWN[i].cycles + 40);
    }
}

/* One warp, all lanes on one word: %r6 and %rd3 say so in the text, %r7 and %rd2 only when they
 * are known. */
static void atomics_take_turns(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    const char *word = ".shared .align 4 .b8 word[4];\nand.b32 %r8, %r1, 32;\n"
                       "mov.u32 %r6, word;\nadd.u32 %r7, %r6, %r8;\n"
                       "mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd3, %rd1, %rd4;\n"
                       "mul.wide.u32 %rd5, %r8, 4;\nadd.u64 %rd2, %rd1, %rd5;\n"
                       "mul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd6, %rd1, %rd5;\n"
                       "mul.wide.u32 %rd5, %r1, 32;\nadd.u64 %rd7, %rd1, %rd5;\n";
    const struct {
        const char *body;
        uint64_t cycles;
    } KNOWN[] = {
        {"red.shared.add.u32 [%r7], 1;\n", 1},         /* the lanes are counted */
        {"atom.shared.add.u32 %r5, [%r7], 1;\n", 32},  /* somebody looks at the sum */
        {"red.shared.add.u32 [%r7], %r1;\n", 32},      /* a pass each */
        {"red.shared.add.f32 [%r7], %f1;\n", 32 * 95}, /* a round of the loop each */
        {"red.global.add.u32 [%rd2], %r1;\n", 32 * 145 / 100},
        {"red.global.add.f32 [%rd2], %f1;\n", 32 * 350 / 100},
        /* Passes over all of four sectors of one slice; over a word of 32 of two slices. */
        {"red.global.add.u32 [%rd6], %r1;\n", 5}, /* 4.8 */
        {"red.global.add.u32 [%rd7], %r1;\n", 16 * 145 / 100},
        /* One lane for all, once seven more instructions have added them up; but not floats. */
        {"red.shared.add.u32 [%r6], %r1;\n", 8},
        {"red.global.max.u32 [%rd3], %r1;\n", 8},
        {"red.global.add.u64 [%rd3], 1;\n", 6},
        {"red.global.inc.u32 [%rd3], %r1;\n", 32 * 145 / 100},
        {"red.shared.add.f32 [%r6], %f1;\n", 32 * 95},
        {"red.global.add.f32 [%rd3], %f1;\n", 32 * 350 / 100},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        SimtResult result;
        char *less = kernel_text(word, KNOWN[i].body, 100, ""),
             *all = kernel_text(word, KNOWN[i].body, 200, "");
        uint64_t cycles = cycles_of(all, one, &result, NULL) - cycles_of(less, one, &result, NULL);
        free(less), free(all);
        assert_in_range(cycles, 100 * KNOWN[i].cycles * 95 / 100,
                        100 * KNOWN[i].cycles * 105 / 100);
    }
}

/* Each different value of a match is a pass of 8 cycles of the special function unit, 32 lanes over
 * four; to a warp alone each comes 11 cycles after the one before it. */
static void a_match_takes_its_different_values(void **state)
{
    (void)state;
    static const char *const LANES_OF[] = {"mov.u32 %r5, 7;\n", "and.b32 %r5, %r1, 7;\n",
                                           "and.b32 %r5, %r1, 31;\n"};
    static const uint32_t VALUES[] = {1, 8, 32};
    for (int i = 0; i < 3; i++) {
        char body[200];
        /* Nobody waits for the last one: four warps of a scheduler keep its unit busy. */
        snprintf(body, sizeof body, "%smatch.any.sync.b32 %%r6, %%r5, 0xffffffff;\n", LANES_OF[i]);
        uint64_t full = slope(body, 100, (Setup){.blocks = 1, .threads = 512});
        assert_in_range(full, 100 * 4 * 8 * VALUES[i], 100 * 4 * 8 * VALUES[i] + 100);
        /* A chain: the sum keeps all lanes' values as they are. */
        snprintf(body, sizeof body,
                 "%smatch.any.sync.b32 %%r6, %%r5, 0xffffffff;\nand.b32 %%r6, %%r6, 0;\n"
                 "add.u32 %%r1, %%r1, %%r6;\n",
                 i ? LANES_OF[i] : "and.b32 %r5, %r1, 0;\n");
        assert_int_equal(slope(body, 100, (Setup){.blocks = 1, .threads = 32}),
                         100 * (4 + 24 + 11 * (VALUES[i] - 1) + 4 + 4));
    }
}

/* 200 atomics of one warp on a word, whose address is stepped on (by nothing) in a loop that all
 * lanes leave at once: because the count depends on the block alone, or because each lane's happens
 * to be the same. */
static uint64_t loop_cycles(const char *count)
{
    SimtResult result;
    char *text = kernel_text(count, "", 0,
                             "mov.u64 %rd2, %rd1;\nmov.u32 %r5, 0;\n"
                             "again: red.global.add.u32 [%rd2], %r1;\nadd.u64 %rd2, %rd2, 0;\n"
                             "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r4;\n"
                             "@%p1 bra again;\n");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(text);
    return cycles;
}

static void a_loop_that_lanes_may_leave_has_no_uniform_address(void **state)
{
    (void)state;
    uint64_t turns = 200 * 32 * 145 / 100;
    assert_in_range(loop_cycles("and.b32 %r3, %r1, 32;\nadd.u32 %r4, %r3, 200;\n"), turns,
                    turns * 11 / 10);
    assert_in_range(loop_cycles("and.b32 %r3, %r2, 32;\nadd.u32 %r4, %r3, 200;\n"), turns / 20,
                    turns * 7 / 10);
}

/* ---- what is looked up ----------------------------------------------------------------------- */

/* How many cycles a step of a chain takes in which each load's address needs the one before: lanes
 * so many bytes apart, all of whose lines are there. */
static double step_cycles(const char *space, uint32_t apart)
{
    enum { FEW = 40, MORE = 100 };
    uint64_t cycles[2];
    char first[300], step[200];
    int shared = !strcmp(space, "shared");
    snprintf(first, sizeof first, "%sand.b32 %%r6, %%r1, 31;\nmul.wide.u32 %%rd2, %%r6, %u;\n%s",
             shared ? ".shared .align 16 .b8 tile[16384];\n" : "", apart,
             shared ? "cvt.u32.u64 %r5, %rd2;\nmov.u32 %r7, tile;\nadd.u32 %r5, %r5, %r7;\n"
                      "st.shared.u32 [%r5], 0;\n"
                    : "add.s64 %rd3, %rd1, %rd2;\n");
    snprintf(step, sizeof step, "%s",
             shared ? "ld.shared.u32 %r6, [%r5];\nadd.u32 %r5, %r5, %r6;\n"
                    : "ld.global.u64 %rd2, [%rd3];\nadd.s64 %rd3, %rd3, %rd2;\n");
    for (int more = 0; more < 2; more++) {
        SimtResult result;
        char *text = kernel_text(first, step, more ? FEW + MORE : FEW, "");
        cycles[more] = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
        free(text);
    }
    return (double)(cycles[1] - cycles[0]) / MORE;
}

/* A cycle for each further line of a bank of tags, two for each further word of a bank of data: of
 * 8 bytes a lane a bank has two words at the least. */
static void lines_are_looked_up_by_banks_of_tags(void **state)
{
    static const struct {
        uint32_t apart, tags, words;
    } LANES_AT[] = {{8, 1, 2}, {136, 9, 2}, {128, 8, 32}, {640, 10, 32}, {800, 13, 8}};
    (void)state;
    double one = step_cycles("global", 0);
    for (size_t i = 0; i < sizeof LANES_AT / sizeof *LANES_AT; i++)
        assert_true(step_cycles("global", LANES_AT[i].apart) - one ==
                    LANES_AT[i].tags - 1 + 2 * (LANES_AT[i].words - 1));
}

/* Each further word of a bank is there two cycles behind the one before. */
static void conflicts_come_late(void **state)
{
    (void)state;
    double one = step_cycles("shared", 4);
    assert_true(step_cycles("shared", 8) - one == 2);
    assert_true(step_cycles("shared", 128) - one == 62);
    assert_true(step_cycles("shared", 132) - one == 0);
}

/* A walk through constants, a line of 64 bytes after the other, again and again. */
static uint64_t constants_walk(uint32_t bytes, int steps)
{
    SimtResult result;
    char step[300];
    snprintf(step, sizeof step,
             "ld.const.u64 %%rd5, [%%rd4];\nadd.s64 %%rd6, %%rd6, %%rd5;\n"
             "add.s64 %%rd6, %%rd6, 64;\nsetp.ge.u64 %%p1, %%rd6, %u;\n"
             "selp.b64 %%rd6, 0, %%rd6, %%p1;\nadd.s64 %%rd4, %%rd7, %%rd6;\n",
             bytes);
    char *body = kernel_text("mov.u64 %rd7, table;\nmov.u64 %rd4, %rd7;\nmov.u64 %rd6, 0;\n", step,
                             steps, "st.global.u64 [%rd1], %rd4;"),
         *head = strstr(body, ".visible"), *text = malloc(strlen(body) + 100);
    assert_non_null(text);
    sprintf(text, "%.*s.const .align 256 .b8 table[4096];\n%s", (int)(head - body), body, head);
    uint64_t cycles = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(body), free(text);
    return cycles;
}

static void two_kilobytes_of_constants_are_near(void **state)
{
    enum { AROUND = 80, MORE = 100, FURTHER = 70 };
    uint64_t taken[2];
    (void)state;
    for (uint32_t large = 0; large < 2; large++) {
        uint32_t bytes = large ? 2560 : 2048;
        taken[large] = constants_walk(bytes, AROUND + MORE) - constants_walk(bytes, AROUND);
    }
    assert_in_range(taken[1] - taken[0], MORE * (FURTHER - 2), MORE * FURTHER);
}

/* ---- waits for other blocks ---------------------------------------------------------------- */

/* A token goes from block to block: each looks for its word, and writes the next one's. */
static uint64_t token_cycles(uint32_t blocks, SimtResult *result)
{
    char *text = kernel_text("mul.wide.u32 %rd2, %r2, 128;\nadd.u64 %rd3, %rd1, %rd2;\n"
                             "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra go;\n"
                             "look: ld.volatile.global.u32 %r3, [%rd3];\n"
                             "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra look;\n"
                             "go: membar.gl;\nmov.u32 %r4, 1;\n",
                             "", 0, "st.volatile.global.u32 [%rd3+128], %r4;\n");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = blocks, .threads = 32}, result, NULL);
    free(text);
    return cycles;
}

/* From one to the next it takes a fence behind looks, 405 or 566, 50 until the store is seen, and a
 * look, which takes 191 to 279 and begins so long before. */
static void a_token_takes_its_time(void **state)
{
    enum { LEAST = 405 + 50 + 191, MOST = 566 + 50 + 2 * 279, FEW = 32, MANY = 96 };
    SimtResult few, many;
    (void)state;
    uint64_t hop = (token_cycles(MANY, &many) - token_cycles(FEW, &few)) / (MANY - FEW);
    assert_in_range(hop, LEAST, MOST);
    uint64_t looks = many.counters.global_load_requests, turns = MANY * (MANY - 1) / 2;
    assert_in_range(looks, turns * hop / 279, turns * hop / 191);
    assert_true(many.counters.global_load_sectors == looks);
}

/* One block works for long, the other looks for what it writes: as often as there is time, though
 * it does not take the host as many turns; and the same on one host thread and on four. */
static void a_long_wait_is_looked_through(void **state)
{
    enum { STEPS = 5000, WORK = 4 * STEPS };
    (void)state;
    char *text = kernel_text("setp.eq.u32 %p1, %r2, 0;\n@%p1 bra work;\n"
                             "look: ld.volatile.global.u32 %r3, [%rd1];\n"
                             "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra look;\nret;\nwork:\n",
                             "fma.rn.f32 %f1, %f1, %f2, %f3;\n", STEPS,
                             "cvt.rzi.u32.f32 %r4, %f1;\nor.b32 %r4, %r4, 1;\n"
                             "st.volatile.global.u32 [%rd1], %r4;\n");
    SimtResult one, four;
    Setup setup = {.blocks = 2, .threads = 32, .host_threads = 1};
    uint64_t cycles = cycles_of(text, setup, &one, NULL);
    setup.host_threads = 4;
    assert_true(cycles_of(text, setup, &four, NULL) == cycles);
    assert_in_range(cycles, WORK + 20 + 212, WORK + 20 + 2 * 279 + 500);
    assert_in_range(one.counters.global_load_requests, WORK / 279, (WORK + 400) / 212 + 1);
    assert_true(one.counters.warp_instructions == four.counters.warp_instructions);
    assert_in_range(one.counters.warp_instructions, 3 * one.counters.global_load_requests + STEPS,
                    3 * one.counters.global_load_requests + STEPS + 20);
    free(text);
}

/* All blocks count themselves, and wait until all have come. */
static uint64_t meeting_cycles(uint32_t blocks)
{
    SimtResult result;
    char all[100], *text;
    snprintf(all, sizeof all, "setp.lt.u32 %%p2, %%r3, %u;\n@%%p2 bra look;\n", blocks);
    text = kernel_text("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra over;\n"
                       "atom.global.add.u32 %r3, [%rd1], 1;\n"
                       "look: ld.volatile.global.u32 %r3, [%rd1];\n",
                       all, 1, "over:\n");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = blocks, .threads = 32}, &result, NULL);
    free(text);
    assert_true(result.counters.global_load_requests >= blocks);
    return cycles;
}

/* On one word one block comes after the other, each for 1.45 cycles, to count; one lies up to 86
 * cycles farther away than another, and to look again takes up to 279. */
static void blocks_queue_at_a_word(void **state)
{
    enum { FEW = 8, MANY = 128, TURNS = (MANY - FEW) * 145 / 100 };
    (void)state;
    assert_in_range(meeting_cycles(MANY) - meeting_cycles(FEW), TURNS - 86, 2 * TURNS + 279);
}

/* Blocks at a word of zeros: what came of them. */
static int wait_run(const char *body, uint32_t blocks, SimtResult *result)
{
    static const float ZERO[8];
    char *text = kernel_text(body, "", 0, "");
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t data = device_data(gpu, ZERO, sizeof ZERO);
    int status = run(gpu, text, blocks, 64, 0, &data, sizeof data, result);
    simt_close(gpu);
    free(text);
    return status;
}

/* Looks of many blocks at one word, volatile ones, take 0.59 cycles each; those that share answers
 * take as long as those of one block. */
static void looks_queue_at_a_word(void **state)
{
    enum { BLOCKS = 128, LOOKS = 100 };
    static const char *const LOOK[] = {"ld.volatile.global.u32 %r3, [%rd1];\n",
                                       "ld.acquire.gpu.global.u32 %r3, [%rd1];\n"};
    uint64_t cycles[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        SimtResult result;
        char *text = kernel_text("", LOOK[i], LOOKS, "");
        cycles[i] = cycles_of(text, (Setup){.blocks = BLOCKS, .threads = 32}, &result, NULL);
        free(text);
        assert_true(result.counters.global_load_sectors == BLOCKS * LOOKS);
    }
    assert_in_range(cycles[0], BLOCKS * LOOKS * 59 / 100, BLOCKS * LOOKS * 59 / 100 + 279);
    assert_true(cycles[1] < cycles[0]);
}

/* A loop that looks, for which blocks run in the order of time, and finds zeros at once. */
#define LOOKS_FIRST                                                                                \
    "first: ld.volatile.global.u32 %r3, [%rd1+4];\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra first;\n"

/* One block works for long, the other looks: where it acquires, 53 cycles more each time, 191 to
 * 277 without (looks.tsv: 299 and 352 on average, where the L2 is farther away). */
static void looks_that_acquire_take_longer(void **state)
{
    static const char *const LOOK[] = {"volatile", "acquire.gpu"};
    uint64_t looks[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        SimtResult result;
        char first[300];
        snprintf(first, sizeof first,
                 "setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra work;\n"
                 "look: ld.%s.global.u32 %%r3, [%%rd1];\n"
                 "setp.eq.u32 %%p2, %%r3, 0;\n@%%p2 bra look;\nret;\nwork:\n",
                 LOOK[i]);
        char *text = kernel_text(first, "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 5000,
                                 "cvt.rzi.u32.f32 %r4, %f1;\nor.b32 %r4, %r4, 1;\n"
                                 "st.volatile.global.u32 [%rd1], %r4;\n");
        cycles_of(text, (Setup){.blocks = 2, .threads = 32}, &result, NULL);
        free(text);
        looks[i] = result.counters.global_load_requests;
    }
    assert_in_range(100 * looks[0] / looks[1], 100 + 100 * 53 / 277, 100 + 100 * 53 / 191 + 2);
}

/* Atomics that wait for each other on one line, of 16 lines one after the other: some lie in the
 * half of the L2 that the SM lies beside, and take 223 to 309 cycles, and others 200 more. */
static void atomics_go_to_one_half_of_the_l2(void **state)
{
    enum { LINES = 16, TIMES = 40, NEAR = 200 - 29 + 52, AWAY = 86, ACROSS = 200, BEGIN = 1500 };
    int near = 0, across = 0;
    (void)state;
    for (uint32_t i = 0; i < LINES; i++) {
        SimtResult result;
        char atomic[100];
        snprintf(atomic, sizeof atomic, "atom.global.add.u32 %%r4, [%%rd1+%u], %%r4;\n", i * 128);
        char *text =
            kernel_text("setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nmov.u32 %r4, 0;\n" LOOKS_FIRST,
                        atomic, TIMES, "");
        uint64_t each = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL) / TIMES;
        free(text);
        near += each >= NEAR && each <= NEAR + AWAY + BEGIN / TIMES;
        across += each >= NEAR + ACROSS && each <= NEAR + AWAY + ACROSS + BEGIN / TIMES;
    }
    assert_int_equal(near + across, LINES);
    assert_true(near > 0 && across > 0);
}

/* One lane looks, and finds at once; the others need not wait for it, so what comes behind is done
 * for them and for it.  Where all lanes look together it is done once. */
static void lanes_go_on_without_one_that_looks(void **state)
{
    static const char *const WHO[] = {"setp.ne.u32 %p1, %r1, 0;\n@%p1 bra over;\n", ""};
    (void)state;
    for (int i = 0; i < 2; i++) {
        SimtResult result;
        char first[300];
        snprintf(first, sizeof first,
                 "%slook: ld.volatile.global.u32 %%r3, [%%rd1];\n"
                 "setp.ne.u32 %%p2, %%r3, 0;\n@%%p2 bra look;\n",
                 WHO[i]);
        char *text = kernel_text(first, "", 0,
                                 "over: mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
                                 "st.global.u32 [%rd3+1024], %r1;\n");
        cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
        free(text);
        assert_true(result.counters.global_store_requests == (i ? 1 : 2));
    }
}

/* What nobody has asked for yet comes from DRAM, however blocks wait for it. */
static void the_first_look_waits_for_dram(void **state)
{
    (void)state;
    SimtResult result;
    char *text = kernel_text("look: ld.volatile.global.u32 %r3, [%rd1];\n"
                             "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra look;\n",
                             "", 0, "");
    uint64_t cycles = cycles_of(text, (Setup){.blocks = 1, .threads = 32}, &result, NULL);
    free(text);
    assert_in_range(cycles, SMALL.dram_latency * 76 / 100, SMALL.dram_latency * 135 / 100 + 150);
    assert_true(cycles > 279);
}

/* Nobody writes what they look for, whether all of them look or half of them end before. */
static void an_endless_wait_is_named(void **state)
{
    static const char *const BEFORE[] = {
        "", "and.b32 %r3, %r2, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 ret;\n",
        "setp.lt.u32 %p1, %r2, 6;\n@%p1 ret;\n"};
    (void)state;
    for (size_t i = 0; i < sizeof BEFORE / sizeof *BEFORE; i++) {
        char body[512];
        SimtResult result;
        snprintf(body, sizeof body,
                 "%slook: ld.volatile.global.u32 %%r3, [%%rd1];\n"
                 "setp.eq.u32 %%p2, %%r3, 0;\n@%%p2 bra look;\n",
                 BEFORE[i]);
        assert_int_equal(wait_run(body, 8, &result), -1);
        assert_int_equal(result.report.check, SIMT_SYNCCHECK);
        assert_non_null(strstr(result.report.text, "polls memory that no thread will write"));
    }
}

/* However often others ask in vain, by atomics, while one is at work: it is no endless wait. */
static void a_long_wait_is_no_endless_one(void **state)
{
    (void)state;
    SimtResult result;
    if (wait_run("setp.eq.u32 %p1, %r2, 0;\n@%p1 bra work;\n"
                 "ask: atom.global.add.u32 %r3, [%rd1], 0;\n"
                 "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra ask;\nret;\n"
                 "work: mov.u32 %r4, 0;\nagain: add.u32 %r4, %r4, 1;\n"
                 "setp.lt.u32 %p2, %r4, 100000;\n@%p2 bra again;\n"
                 "st.volatile.global.u32 [%rd1], %r4;\n",
                 512, &result))
        fail_msg("%s", result.report.text);
}

/* Nor is one that ends by the clock: no block writes, and all go on after a while. */
static void a_wait_with_an_end_is_no_endless_one(void **state)
{
    (void)state;
    SimtResult result;
    for (uint32_t blocks = 1; blocks <= 64; blocks += 63)
        if (wait_run("mov.u32 %r3, %clock;\n"
                     "look: ld.volatile.global.u32 %r4, [%rd1];\n"
                     "mov.u32 %r2, %clock;\nsub.u32 %r2, %r2, %r3;\n"
                     "setp.lt.u32 %p1, %r2, 2000000;\n"
                     "setp.eq.and.u32 %p2, %r4, 0, %p1;\n@%p2 bra look;\n",
                     blocks, &result))
            fail_msg("%s", result.report.text);
    assert_true(result.cycles > 2000000 && result.cycles < 4000000);
}

/* ---- sleeps, clocks and locks -------------------------------------------------------------- */

/* A warp wakes at a multiple of the first power of two beyond what it asked for: of nanoseconds,
 * which are cycles here. */
static void who_sleeps_wakes_by_the_timer(void **state)
{
    static const struct {
        uint32_t asked, period;
    } KNOWN[] = {{0, 32},      {31, 32},     {32, 64},           {100, 128},        {128, 256},
                 {1000, 1024}, {1024, 2048}, {1048575, 1048576}, {2000000, 1048576}};
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        char body[64];
        snprintf(body, sizeof body, "nanosleep.u32 %u;\n", KNOWN[i].asked);
        uint64_t cycles = slope(body, 64, (Setup){.blocks = 1, .threads = 32});
        assert_in_range(cycles, 64ull * KNOWN[i].period - 8, 64ull * KNOWN[i].period + 8);
    }
    /* Lanes that ask for different times are served one after the other, and do not sleep. */
    uint64_t apart = slope("nanosleep.u32 %r1;\n", 64, (Setup){.blocks = 1, .threads = 32});
    assert_in_range(apart, 64 * 32 * SLEEP_CYCLES, 64 * 32 * (SLEEP_CYCLES + 1));
    /* So are a scheduler's warps, here eight: they do not come back in time. */
    uint64_t many = slope("nanosleep.u32 40;\n", 64, (Setup){.blocks = 4, .threads = 1024});
    assert_in_range(many, 64 * 8 * SLEEP_CYCLES, 64 * 4 * 64);
}

/* Who waits for a clock goes on when it says so, a turn later at the most, on however many
 * multiprocessors; but where many warps look at it, they have to share the schedulers. */
static void who_waits_for_a_clock_goes_on_in_time(void **state)
{
    enum { WAIT = 20000, LATE = 400 };
    static const char *const CLOCK[] = {"%clock64", "%globaltimer"}; /* a cycle is a nanosecond */
    uint64_t cycles[2][2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        SimtResult result;
        char body[300];
        snprintf(body, sizeof body,
                 "mov.u64 %%rd2, %s;\nagain: mov.u64 %%rd3, %s;\nsub.u64 %%rd3, %%rd3, %%rd2;\n"
                 "setp.lt.u64 %%p1, %%rd3, %d;\n@%%p1 bra again;\n",
                 CLOCK[i], CLOCK[i], WAIT);
        char *text = kernel_text(body, "", 0, "");
        for (uint32_t full = 0; full < 2; full++)
            cycles[i][full] = cycles_of(
                text, (Setup){.blocks = 4 << full, .threads = full ? 1024 : 32}, &result, NULL);
        free(text);
        assert_in_range(cycles[i][0], WAIT, WAIT + LATE);
        assert_true(cycles[i][1] > 3 * WAIT / 2);
    }
}

/* Blocks that try for a lock at the first word of data and sleep between two tries, for longer each
 * time; who has it adds to the second word. */
#define LOCKED                                                                                     \
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra done;\nmov.u32 %r4, 8;\nbra try;\n"                        \
    "pause: nanosleep.u32 %r4;\nshl.b32 %r5, %r4, 1;\nmin.u32 %r4, %r5, 512;\n"                    \
    "try: atom.global.cas.b32 %r3, [%rd1], 0, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra pause;\n"     \
    "membar.gl;\nld.volatile.global.u32 %r6, [%rd1+4];\nadd.u32 %r6, %r6, 1;\n"                    \
    "st.volatile.global.u32 [%rd1+4], %r6;\nmembar.gl;\natom.global.exch.b32 %r7, [%rd1], 0;\n"    \
    "done:\n"

/* One block after the other has the lock; they wake together, every 1,024 cycles in the end, and so
 * each has it twice that after the one before, for it is held for longer than once. */
static void blocks_take_turns_at_a_lock(void **state)
{
    enum { BLOCKS = 32, HELD = 2 * 1024 };
    static const uint32_t ZERO[8];
    uint64_t cycles[2];
    char *text = kernel_text(LOCKED, "", 0, "");
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t word[2];
        SimtResult result;
        SimtGpu *gpu = gpu_open(i ? 4 : 1, 0, 1);
        uint64_t data = device_data(gpu, ZERO, sizeof ZERO);
        if (run(gpu, text, BLOCKS, 32, 0, &data, sizeof data, &result))
            fail_msg("%s", result.report.text);
        device_fetch(gpu, data, word, sizeof word);
        assert_int_equal(word[0], 0);
        assert_int_equal(word[1], BLOCKS);
        cycles[i] = result.cycles;
        simt_close(gpu);
    }
    free(text);
    assert_int_equal(cycles[0], cycles[1]);
    assert_in_range(cycles[0], (BLOCKS - 3) * HELD, (BLOCKS + 2) * HELD);
}

/* On each machine that is described, 64 blocks copy; no card copies faster than its memory can. */
static void a_kernel_runs_on_every_machine(void **state)
{
    enum { BLOCKS = 64, FLOATS = BLOCKS * 256 };
    static float data[2 * FLOATS];
    char *text = kernel_text("mad.lo.u32 %r3, %r2, 256, %r1;\nmul.wide.u32 %rd2, %r3, 4;\n"
                             "add.u64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n",
                             "", 0, "st.global.f32 [%rd3+65536], %f1;"),
         names[512], *rest = names, *name;
    (void)state;
    for (int i = 0; i < FLOATS; i++)
        data[i] = (float)i + 0.5f;
    assert_int_equal(machine_names("common/simulator/gpus", names, sizeof names), 0);
    int machines = 0;
    while ((name = strtok_r(rest, ", ", &rest))) {
        SimtMachine machine;
        Error error = {""};
        SimtResult result;
        SimtOptions options = {.threads = 1, .count = 1};
        if (machine_load("common/simulator/gpus", name, &machine, &error) != 0)
            fail_msg("%s", error.text);
        SimtGpu *gpu = simt_open(&machine, &options, &error);
        assert_non_null(gpu);
        memset(data + FLOATS, 0, FLOATS * sizeof *data);
        uint64_t at = device_data(gpu, data, sizeof data);
        assert_int_equal(run(gpu, text, BLOCKS, 256, 0, &at, sizeof at, &result), 0);
        device_fetch(gpu, at, data, sizeof data);
        assert_memory_equal(data, data + FLOATS, FLOATS * sizeof *data);
        double bytes_a_cycle = machine.dram_gb_s * 1e3 / machine.clock_mhz,
               cycles = (double)result.cycles - machine.launch_cycles;
        assert_true(cycles >= machine.dram_latency);
        assert_true(cycles >= (double)sizeof data / bytes_a_cycle);
        simt_close(gpu);
        machines++;
    }
    assert_true(machines >= 12);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_takes_its_latencies),
        cmocka_unit_test(copies_of_nothing_look_no_lines_up),
        cmocka_unit_test(copies_that_are_on_their_way_hold_nobody_up),
        cmocka_unit_test(schedulers_share_warps),
        cmocka_unit_test(conflicts_add_passes),
        cmocka_unit_test(a_repeated_load_is_free),
        cmocka_unit_test(a_turn_loads_no_more_than_was_there),
        cmocka_unit_test(two_rows_in_one_bank_take_turns),
        cmocka_unit_test(blocks_come_in_waves),
        cmocka_unit_test(first_warps_share_no_scheduler),
        cmocka_unit_test(places_of_ended_warps_go_to_other_blocks),
        cmocka_unit_test(a_barrier_waits_for_the_slowest),
        cmocka_unit_test(host_threads_do_not_show),
        cmocka_unit_test(the_last_blocks_run_side_by_side),
        cmocka_unit_test(settled_later_is_settled_the_same),
        cmocka_unit_test(counts_are_by_instruction),
        cmocka_unit_test(a_short_branch_is_a_predicate),
        cmocka_unit_test(rounds_begin_at_different_sms),
        cmocka_unit_test(work_that_is_not_played_is_paid_for),
        cmocka_unit_test(one_light_block_of_two_does_not_stand_for_all),
        cmocka_unit_test(of_single_blocks_the_longest_is_played),
        cmocka_unit_test(constants_come_from_dram_once),
        cmocka_unit_test(registers_that_are_needed_take_room),
        cmocka_unit_test(a_short_loop_is_four_turns_at_once),
        cmocka_unit_test(loads_wait_for_registers),
        cmocka_unit_test(loads_pass_atomics),
        cmocka_unit_test(sums_keep_their_places),
        cmocka_unit_test(values_end_with_their_last_reader),
        cmocka_unit_test(no_load_goes_ahead_of_a_division),
        cmocka_unit_test(a_way_waits_for_the_other),
        cmocka_unit_test(a_branch_around_a_branch_is_one),
        cmocka_unit_test(a_predicate_is_late),
        cmocka_unit_test(two_sums_are_one),
        cmocka_unit_test(a_word_is_free),
        cmocka_unit_test(a_comparison_joins_a_predicate),
        cmocka_unit_test(special_functions_are_scaled),
        cmocka_unit_test(a_variable_begins_with_an_instruction),
        cmocka_unit_test(hopper_loads_parameters_behind_predicates),
        cmocka_unit_test(roots_of_doubles_are_products_of_doubles),
        cmocka_unit_test(a_division_of_nothing_is_a_routine),
        cmocka_unit_test(products_go_beside_sums),
        cmocka_unit_test(who_does_not_look_does_not_wait),
        cmocka_unit_test(a_loop_divides_by_what_stays_without_a_reciprocal),
        cmocka_unit_test(lines_a_power_of_two_apart_do_not_meet),
        cmocka_unit_test(blocks_in_step_wait_together),
        cmocka_unit_test(blocks_find_what_others_loaded),
        cmocka_unit_test(what_was_fetched_is_in_the_l2),
        cmocka_unit_test(the_l1_forgets_what_others_may_have_written),
        cmocka_unit_test(warps_wait_for_one_fetch),
        cmocka_unit_test(the_l2_keeps_what_fits),
        cmocka_unit_test(a_launch_waits_for_its_last_store),
        cmocka_unit_test(places_in_memory_lie_nearer_or_farther),
        cmocka_unit_test(fences_and_releases_wait_for_what_is_written),
        cmocka_unit_test(atomics_take_turns),
        cmocka_unit_test(a_match_takes_its_different_values),
        cmocka_unit_test(a_loop_that_lanes_may_leave_has_no_uniform_address),
        cmocka_unit_test(lines_are_looked_up_by_banks_of_tags),
        cmocka_unit_test(conflicts_come_late),
        cmocka_unit_test(two_kilobytes_of_constants_are_near),
        cmocka_unit_test(a_token_takes_its_time),
        cmocka_unit_test(a_long_wait_is_looked_through),
        cmocka_unit_test(blocks_queue_at_a_word),
        cmocka_unit_test(looks_queue_at_a_word),
        cmocka_unit_test(looks_that_acquire_take_longer),
        cmocka_unit_test(atomics_go_to_one_half_of_the_l2),
        cmocka_unit_test(lanes_go_on_without_one_that_looks),
        cmocka_unit_test(the_first_look_waits_for_dram),
        cmocka_unit_test(an_endless_wait_is_named),
        cmocka_unit_test(a_long_wait_is_no_endless_one),
        cmocka_unit_test(a_wait_with_an_end_is_no_endless_one),
        cmocka_unit_test(who_sleeps_wakes_by_the_timer),
        cmocka_unit_test(who_waits_for_a_clock_goes_on_in_time),
        cmocka_unit_test(blocks_take_turns_at_a_lock),
        cmocka_unit_test(a_kernel_runs_on_every_machine),
    };
    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
