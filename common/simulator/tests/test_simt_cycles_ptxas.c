/* test_simt_cycles_ptxas.c - cycles of small kernels: what ptxas does to instructions, loops and
 * loads. */
#include "common/simulator/tests/simt_cycles_fixture.h"

/* Cycles of an iteration in which lanes take one path or another, depending on %r7. */
static uint64_t divergent_cycles(const char *chooses, const char *branches)
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

static void divergent_paths_execute_one_after_another(void **state)
{
    (void)state;
    const char *BRANCH = "@!%p2 bra ONE;\n";
    uint64_t all = divergent_cycles("and.b32 %r7, %r2, 1;\n", BRANCH),
             parted = divergent_cycles("and.b32 %r7, %r1, 1;\n", BRANCH);
    /* Both ways: one more sum. */
    assert_in_range(parted, all + SMALL.costs.divergence_cycles,
                    all + SMALL.costs.divergence_cycles + 2);
}

static void a_branch_around_a_branch_is_one_branch(void **state)
{
    (void)state;
    const char *ONE = "or.b32 %r7, %r2, 1;\n";
    assert_int_equal(divergent_cycles(ONE, "@%p2 bra OTHER;\nbra ONE;\n"),
                     divergent_cycles(ONE, "@!%p2 bra ONE;\n"));
}

static void a_predicate_is_late(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency;
    /* A comparison and a sum, which has its predicate or selects by it. */
    assert_int_equal(slope("setp.lt.u32 %p1, %r3, %r1;\n@%p1 add.u32 %r3, %r3, %r1;\n", 100, one),
                     100 * (2 * alu + SMALL.costs.predicate_cycles));
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

static void two_additions_become_one_iadd3(void **state)
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
static void a_logical_operation_is_free(void **state)
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

static void a_comparison_absorbs_a_predicate(void **state)
{
    (void)state;
    /* One comparison, one that joins it, and a selection. */
    assert_int_equal(latencies_of("setp.lt.u32 %p, %r3, %r1;\nsetp.lt.u32 %q, %r3, %r2;\n"
                                  "or.pred %p3, %p, %q;\nselp.b32 %r3, %r3, %r4, %p3;\n"),
                     3);
    /* A predicate that existed before is combined for free; one with other readers is not. */
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
                     100 * (unit + 3 * alu + SMALL.costs.predicate_cycles));
    assert_int_equal(slope("sin.approx.f32 %f1, %f1;\n", 100, one), 100 * (unit + alu));
    assert_int_equal(slope("div.approx.f32 %f1, %f1, %f2;\n", 100, one),
                     100 * (unit + 4 * alu + SMALL.costs.predicate_cycles));
}

/* A variable's first value takes an instruction, an operand none. */
static void a_variable_starts_with_an_instruction(void **state)
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

/* A kernel whose lanes load from a parameter's address after a branch. */
static uint64_t parameter_cycles(uint32_t cc_major)
{
    static const float zeros[32];
    Error error = {""};
    SimtMachine machine = *small_machine(cc_major);
    SimtOptions options = {.threads = 1, .count = 1};
    SimtResult result;
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

static void hopper_loads_parameters_under_predicates(void **state)
{
    (void)state;
    assert_in_range(parameter_cycles(9) - parameter_cycles(8), 30, 32);
}

#define ZERO "mov.b64 %rd3, 0d0000000000000000;\nmov.f32 %f2, 0f00000000;\n"

/* An estimate, dependent FMAs, and a check. */
static void square_roots_of_doubles_use_fp64_fmas(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    uint64_t alu = (uint64_t)SMALL.alu_latency;
    assert_int_equal(slope_after(ZERO, "sqrt.rn.f64 %rd3, %rd3;\n", 12, one),
                     12 * (6 + 8 * 2 + 2) * alu);
    assert_int_equal(slope_after(ZERO, "rcp.rn.f64 %rd3, %rd3;\n", 12, one),
                     12 * (6 + 5 * 2 + 2) * alu);
    assert_int_equal(slope_after(ZERO,
                                 "mov.b64 %rd4, 0d3FF0000000000000;\nadd.rn.f64 %rd3, %rd3, %rd4;\n"
                                 "div.rn.f64 %rd3, %rd3, %rd4;\n",
                                 12, one),
                     12 * (2 + 6 + 8 * 2 + 2 + 8) * alu);
}

/* A division of zero takes the rare path, whose 35 instructions (float), or 64 instructions and 11
 * FMAs (double), depend on one another; the lanes diverge there. One lane with a zero is enough. A
 * division of 64-bit integers has no rare path. */
static void a_division_of_zero_calls_a_routine(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
#define ONE_F    "mov.f32 %f3, 0f3F800000;\n"
#define ONE_D    "mov.b64 %rd4, 0d3FF0000000000000;\n"
#define DIVIDE_F "div.rn.f32 %f2, %f2, %f3;\n"
#define DIVIDE_D "div.rn.f64 %rd3, %rd3, %rd4;\n"
    uint64_t usual = slope_after(ZERO, ONE_F "add.rn.f32 %f2, %f2, %f3;\n" DIVIDE_F, 12, one),
             rare = slope_after(ZERO, ONE_F "mul.rn.f32 %f2, %f2, 0f00000000;\n" DIVIDE_F, 12, one);
    assert_int_equal(rare - usual, 12 * (35 * 5 + SMALL.costs.divergence_cycles));
    usual = slope_after(ZERO, ONE_D "add.rn.f64 %rd3, %rd3, %rd4;\n" DIVIDE_D, 12, one);
    rare =
        slope_after(ZERO, ONE_D "mul.rn.f64 %rd3, %rd3, 0d0000000000000000;\n" DIVIDE_D, 12, one);
    assert_int_equal(rare - usual, 12 * ((64 + 11) * 5 + SMALL.costs.divergence_cycles));
    assert_int_equal(slope_after(ZERO, "rem.u64 %rd3, %rd3, %rd4;\n", 12, one),
                     12 * 68 * (uint64_t)(SMALL.alu_latency + 1));
}

static void multiplications_issue_beside_additions(void **state)
{
    (void)state;
    Setup four = {.blocks = 1, .threads = 512};
    /* Four warps a scheduler, two cycles each of a pipe. */
    assert_int_equal(slope("mul.lo.u32 %r3, %r3, %r1;\nmul.lo.u32 %r4, %r4, %r1;\n", 100, four),
                     1600);
    assert_int_equal(slope("mul.lo.u32 %r3, %r3, %r1;\nadd.u32 %r4, %r4, %r1;\n", 100, four), 800);
}

/* A loop that reads what others may write waits for them only if it looks at it. */
static void loads_without_a_use_do_not_stall(void **state)
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
        assert_int_equal(simt_kernel_find(module, "k", &error)->traits.has_polling, looks);
        simt_close(gpu);
        free(text);
    }
}

/* Blocks that are there at once take as long as the longest of them, also where SM 0 has one of the
 * long ones less than others. */
static void one_light_block_of_two_does_not_represent_all(void **state)
{
    Setup pairs = {.blocks = 8, .threads = 32};
    (void)state;
    uint64_t whole = mixed_cycles("setp.gt.u32 %p1, %r2, 99999;\n", "", 1, pairs);
    assert_in_range(mixed_cycles("setp.eq.u32 %p1, %r2, 0;\n", "", 1, pairs), whole * 9 / 10,
                    whole * 11 / 10);
}

/* With one block per SM, the longest one is replayed. More PTX instructions do not make a block
 * longer if they are folded into others. */
static void the_longest_single_block_is_replayed(void **state)
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

/* Runs k(data) as if SASS had stated this number of registers, and bytes of local memory. */
static void launch_with(const char *text, uint32_t blocks, uint32_t threads, uint32_t registers,
                        uint32_t local, SimtResult *result)
{
    Error error = {""};
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t data = device_data(gpu, NULL, 65536);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    assert_non_null(module);
    module->kernel[0].info.registers = registers, module->kernel[0].cubin.local_bytes = local;
    module->kernel[0].cubin.has_registers = 1;
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

static void live_registers_limit_occupancy(void **state)
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

/* Each iteration's load comes from DRAM: alone, or with those of three more iterations. */
static void a_short_loop_is_unrolled_by_four(void **state)
{
    enum { TURNS = 64, ADDED = 40 }; /* overhead in cycles */
    uint64_t far = (uint64_t)SMALL.dram_latency,
             near = far * 9 / 10, /* on average, of the eight places that it walks through */
        alone = turns_cycles(".pragma \"nounroll\";\n", 64), four = turns_cycles("", 64),
             few = turns_cycles("", 8);
    (void)state;
    assert_in_range(alone - four, (TURNS - TURNS / 4) * near, (TURNS - TURNS / 4) * (far + ADDED));
    /* Registers for one float4 at a time. */
    assert_in_range(few, (uint64_t)TURNS * near, alone);
}

/* Cycles of one warp that adds up `loads` float4, in separate lines and without a branch. */
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

/* Loads are moved ahead as far as there are registers for their results. */
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

/* Cycles of one warp that adds each of twelve loads to eight accumulators, which are renamed after
 * each load; the twelfth load uses their first names again. */
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
static void accumulators_keep_their_registers(void **state)
{
    enum { ADDRESS = 2, KEPT = 3, SUMS = 8 };
    uint64_t far = (uint64_t)SMALL.dram_latency, all = sums_cycles(64),
             half = sums_cycles(ADDRESS + KEPT + SUMS + 6);
    (void)state;
    /* Six of the twelve loads are in flight together. */
    assert_in_range(half - all, far * 7 / 10, far * 4 / 3);
}

/* Cycles of one warp that adds up eight earlier values and twelve loads; `wanted`: the eight values
 * are read once more after all that. */
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
static void no_load_moves_before_a_division(void **state)
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

/* Its reciprocal is computed before the loop, unless the divisor changes or a branch precedes the
 * division. */
static void loop_invariant_divisors_need_no_reciprocal(void **state)
{
    uint64_t alu = (uint64_t)SMALL.alu_latency, whole = 35 * alu, rest = 13 * alu, around = 8 * alu;
    const char *DIVIDES = "rem.u32 %r6, %r6, %r7;\n";
    (void)state;
    assert_in_range(division_cycles("", DIVIDES), rest, rest + around);
    assert_in_range(division_cycles("", "div.s32 %r6, %r6, %r7;\n"), rest, rest + around);
    assert_in_range(division_cycles("", "rem.u32 %r6, %r6, %r8;\n"), rest, rest + around);
    assert_in_range(division_cycles("add.u32 %r7, %r7, 1;\n", DIVIDES), whole, whole + around);
    /* Two predicates per iteration for which branches wait. */
    assert_in_range(division_cycles("setp.eq.u32 %p2, %r5, 1000;\n@%p2 bra OUT;\n", DIVIDES), whole,
                    whole + around + 2 * SMALL.costs.predicate_cycles);
}

/* One warp reads 64 lines 4 KB apart, and again: the L1 has them. */
static void lines_a_power_of_two_apart_do_not_conflict(void **state)
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

/* One warp per block, one block per SM; each reads the same fetches, one after another: 64 that fit
 * the L1, or a number of lines that does not. */
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
    /* All blocks wait for DRAM, whichever accesses first. */
    assert_in_range(alone, FAR_FETCHES * far, FAR_FETCHES * (far + 40));
    assert_in_range(wave, alone * 99 / 100, alone * 101 / 100);
    /* The next wave hits in the L2, except for an eighth, which is the share loaded first. */
    assert_in_range(two - wave, FAR_FETCHES * near, FAR_FETCHES * (near + 40 + far / 8));
    assert_int_equal(walk_cycles(FAR_FETCHES, 2 * SMS, 3), two);
    /* And so do waves that are not played. */
    uint64_t more = walk_cycles(FAR_FETCHES, 12 * SMS, 1) - walk_cycles(FAR_FETCHES, 4 * SMS, 1);
    assert_in_range(more, 8 * FAR_FETCHES * near, 8 * (two - wave) * 101 / 100);
}

/* Data loaded by one block hits in the L1 for the next block on its SM. */
static void blocks_hit_lines_that_others_loaded(void **state)
{
    enum { SMS = 4 };
    uint64_t near = (uint64_t)SMALL.l1_latency, wave = walk_cycles(NEAR_FETCHES, SMS, 1),
             two = walk_cycles(NEAR_FETCHES, 2 * SMS, 1);
    (void)state;
    assert_in_range(two - wave, NEAR_FETCHES * near, NEAR_FETCHES * (near + 40));
    assert_int_equal(walk_cycles(NEAR_FETCHES, 2 * SMS, 3), two);
}

/* `steps` steps on one SM, each of two loads a megabyte apart, cyclically through 128 KB, of which
 * its L1 holds half. */
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

/* Data fetched by an SM hits in the L2, even if the model's table entry has since been replaced by
 * another address. */
static void fetched_lines_hit_the_l2(void **state)
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
static void the_l1_is_invalidated_by_acquires(void **state)
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

/* Dependent loads, `apart` bytes apart, repeated `rounds` times. */
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

/* An SM loads constant memory in units of 256 bytes, and caches them. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_light_block_of_two_does_not_represent_all),
        cmocka_unit_test(the_longest_single_block_is_replayed),
        cmocka_unit_test(constants_come_from_dram_once),
        cmocka_unit_test(live_registers_limit_occupancy),
        cmocka_unit_test(a_short_loop_is_unrolled_by_four),
        cmocka_unit_test(loads_wait_for_registers),
        cmocka_unit_test(loads_pass_atomics),
        cmocka_unit_test(accumulators_keep_their_registers),
        cmocka_unit_test(values_end_with_their_last_reader),
        cmocka_unit_test(no_load_moves_before_a_division),
        cmocka_unit_test(divergent_paths_execute_one_after_another),
        cmocka_unit_test(a_branch_around_a_branch_is_one_branch),
        cmocka_unit_test(a_predicate_is_late),
        cmocka_unit_test(two_additions_become_one_iadd3),
        cmocka_unit_test(a_logical_operation_is_free),
        cmocka_unit_test(a_comparison_absorbs_a_predicate),
        cmocka_unit_test(special_functions_are_scaled),
        cmocka_unit_test(a_variable_starts_with_an_instruction),
        cmocka_unit_test(hopper_loads_parameters_under_predicates),
        cmocka_unit_test(square_roots_of_doubles_use_fp64_fmas),
        cmocka_unit_test(a_division_of_zero_calls_a_routine),
        cmocka_unit_test(multiplications_issue_beside_additions),
        cmocka_unit_test(loads_without_a_use_do_not_stall),
        cmocka_unit_test(loop_invariant_divisors_need_no_reciprocal),
        cmocka_unit_test(lines_a_power_of_two_apart_do_not_conflict),
        cmocka_unit_test(blocks_in_step_wait_together),
        cmocka_unit_test(blocks_hit_lines_that_others_loaded),
        cmocka_unit_test(fetched_lines_hit_the_l2),
        cmocka_unit_test(the_l1_is_invalidated_by_acquires),
    };
    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
