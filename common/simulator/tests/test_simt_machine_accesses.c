/* test_simt_machine_accesses.c - SASS: nested loops, constants, copies, local arrays, and
 * code that is not understood. */
#include "common/simulator/tests/simt_machine_fixture.h"

/* A loop without unrolling in SASS, with 8 lines between a load and a store, each of which has two
 * instructions, the second of them an `op`. All of them take 60 cycles. */
static uint64_t pairs_cycles(const char *between, uint16_t op, uint32_t *instructions)
{
    enum { PAIRS = 8 };
    SassIns ins[40] = {{0}};
    uint32_t at = 0;
    char *text = malloc(sizeof BEGIN + 1200), *to = text;
    assert_non_null(text);
    to += sprintf(to,
                  "%smov.u32 %%r1, 0;\nLOOP:\n.pragma \"nounroll\";\n"
                  "ld.global.u64 %%rd2, [%%rd1];\n",
                  BEGIN);
    for (int i = 0; i < PAIRS; i++)
        to += sprintf(to, "%s\n", between);
    sprintf(to,
            "st.global.u64 [%%rd1], %%rd2;\nadd.s32 %%r1, %%r1, 1;\nsetp.lt.s32 %%p1, %%r1, %d;\n"
            "@%%p1 bra LOOP;\nret;\n}\n",
            TURNS);
    uint32_t load = line_at(text, strstr(text, "ld.global")), store = load + PAIRS + 1,
             bra = store + 3;
    ins[at++] = (SassIns){.op = LOAD, .line = load};
    for (uint32_t i = 0; i < 2 * PAIRS; i++)
        ins[at++] = (SassIns){.op = i % 2 ? op : SUM, .line = load + 1 + i / 2};
    ins[at++] = (SassIns){.op = STORE, .line = store};
    ins[at++] = (SassIns){.op = SUM, .line = store + 1};
    ins[at++] = (SassIns){.op = BRANCH, .line = bra};
    for (uint32_t i = 0; i < at; i++)
        ins[i].loop = 1, ins[i].stall = 60, ins[i].reached = 1;
    *instructions = at;
    ins[at++] = (SassIns){.op = EXIT, .line = bra + 1, .piece = 1, .reached = 1};
    SassCode code = {.ins = ins, .count = at, .sm = 90, .loop_line = &bra, .loops = 1};
    uint64_t cycles = cycles_with(text, &code);
    free(text);
    return cycles;
}

/* 64-bit values are computed by words, and a constant that is loaded for an instruction has its
 * line: two SASS instructions per line are not two iterations. */
static void two_instructions_of_a_line_are_no_two_iterations(void **state)
{
    enum { NAMED_CONSTANT = SASS_WITH_FORM(SASS_ULDC, 5) };
    uint32_t n;
    (void)state;
    uint64_t logic = pairs_cycles("xor.b64 %rd2, %rd2, %rd1;", SUM, &n),
             constants = pairs_cycles("fma.rn.f32 %f1, %f1, %f2, %f3;", NAMED_CONSTANT, &n);
    assert_in_range(logic, TURNS * n * 60, TURNS * (n + 2) * 60);
    assert_in_range(constants, TURNS * n * 60, TURNS * (n + 2) * 60);
}

/* Nested loops that ptxas fully unrolls: all iterations follow one another, and each is replayed
 * once. */
static void a_loop_in_a_loop_may_be_written_out(void **state)
{
    enum { OUTER = 2, INNER = 3, SPARE = 100 };
    SassIns ins[OUTER * INNER + 2] = {{0}};
    char text[sizeof BEGIN + 500];
    uint32_t at = 0, all = 0;
    (void)state;
    int length = snprintf(text, sizeof text,
                          "%s.reg .b32 %%o;\nmov.u32 %%o, 0;\nOUT:\n.pragma \"nounroll\";\n"
                          "mov.u32 %%r1, 0;\nIN:\n.pragma \"nounroll\";\n"
                          "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\nadd.s32 %%r1, %%r1, 1;\n"
                          "setp.lt.s32 %%p1, %%r1, %d;\n@%%p1 bra IN;\nadd.s32 %%o, %%o, 1;\n"
                          "setp.lt.s32 %%p1, %%o, %d;\n@%%p1 bra OUT;\nret;\n}\n",
                          BEGIN, INNER, OUTER);
    assert_in_range(length, 1, sizeof text - 1);
    uint32_t line = line_at(text, strstr(text, "fma.rn"));
    for (; at < OUTER * INNER; at++) {
        ins[at] = (SassIns){.op = FFMA, .line = line, .stall = (uint8_t)(40 * (at + 1))};
        all += ins[at].stall;
    }
    ins[at++] = (SassIns){.op = EXIT, .line = line + 7, .stall = 4, .piece = 1};
    for (uint32_t i = 0; i < at; i++)
        ins[i].reached = 1;
    uint64_t cycles = cycles_with(text, &(SassCode){.ins = ins, .count = at, .sm = 90});
    assert_in_range(cycles, all, all + SPARE);
}

/* Constants at places that the code names are operands: who has them so takes no pass for them. */
static void named_constants_are_operands(void **state)
{
    enum { MANY = 100, WARPS = 16 };
    static SassIns ins[MANY + 1];
    char *text = malloc(sizeof BEGIN + 100 + MANY * 80), *at = text;
    assert_non_null(text);
    (void)state;
    const char *head = strstr(BEGIN, ".visible");
    at +=
        sprintf(at, "%.*s.const .align 256 .b8 table[256];\n%s", (int)(head - BEGIN), BEGIN, head);
    for (uint32_t i = 0; i < MANY; i++)
        at += sprintf(at, "ld.const.f32 %%f2, [table+%u];\nadd.f32 %%f1, %%f1, %%f2;\n",
                      4 * (i % 64));
    sprintf(at, "ret;\n}\n");
    for (uint32_t i = 0; i <= MANY; i++)
        ins[i] = (SassIns){.op = i < MANY ? FADD : EXIT,
                           .line = line_at(text, strstr(text, "add.f32")) + 2 * i,
                           .stall = 4,
                           .reached = 1};
    ins[MANY].line--;
    /* Passes were two a constant and warp; three fifths of what these take are believed. */
    uint64_t cycles =
        warps_cycles(text, &(SassCode){.ins = ins, .count = MANY + 1, .sm = 90}, WARPS);
    free(text);
    assert_in_range(cycles, MANY * 4, MANY * 2 * WARPS * 3 / 4);
}

/* ... and so it is where PTX has the place in a register, but machine code fetches what it needs
 * for all lanes at once. */
static void uniform_constants_take_no_pass(void **state)
{
    enum { MANY = 100, WARPS = 16 };
    static SassIns ins[MANY + 1];
    char *text = malloc(sizeof BEGIN + 300 + MANY * 80), *at = text;
    assert_non_null(text);
    (void)state;
    const char *head = strstr(BEGIN, ".visible");
    at += sprintf(at,
                  "%.*s.const .align 256 .b8 table[256];\n%smov.u32 %%r1, %%tid.y;\n"
                  "cvt.u64.u32 %%rd2, %%r1;\nmov.u64 %%rd1, table;\n"
                  "add.s64 %%rd2, %%rd1, %%rd2;\n",
                  (int)(head - BEGIN), BEGIN, head);
    for (uint32_t i = 0; i < MANY; i++)
        at += sprintf(at, "ld.const.f32 %%f2, [%%rd2+%u];\nadd.f32 %%f1, %%f1, %%f2;\n",
                      4 * (i % 64));
    sprintf(at, "ret;\n}\n");
    for (uint32_t i = 0; i <= MANY; i++)
        ins[i] = (SassIns){.op = i < MANY ? UNIFORM_CONSTANT : EXIT,
                           .line = line_at(text, strstr(text, "ld.const")) + 2 * i,
                           .stall = 6,
                           .reached = 1};
    uint64_t cycles =
        warps_cycles(text, &(SassCode){.ins = ins, .count = MANY + 1, .sm = 90}, WARPS);
    free(text);
    assert_in_range(cycles, MANY * 4, MANY * 2 * WARPS * 3 / 4);
}

/* SASS may load two and one of four words: this takes two cycles twice. */
static void a_vector_of_constants_may_be_loaded_twice(void **state)
{
    enum { MANY = 30, WARPS = 16, STALL = 8, ENDS = 300 };
    static SassIns ins[2 * MANY + 1];
    uint64_t cycles[2];
    (void)state;
    for (uint32_t each = 1; each <= 2; each++) {
        char *text = malloc(sizeof BEGIN + 300 + MANY * 80), *at = text;
        uint32_t n = 0;
        assert_non_null(text);
        const char *head = strstr(BEGIN, ".visible");
        at += sprintf(at, "%.*s.const .align 256 .b8 table[1024];\n%s.reg .f32 %%v<4>;\n",
                      (int)(head - BEGIN), BEGIN, head);
        for (uint32_t i = 0; i < MANY; i++)
            at += sprintf(at, "ld.const.v4.f32 {%%v0, %%v1, %%v2, %%v3}, [table+%u];\n", 16 * i);
        sprintf(at, "ret;\n}\n");
        uint32_t line = line_at(text, strstr(text, "ld.const"));
        for (uint32_t i = 0; i < each * MANY; i++)
            ins[n++] = (SassIns){
                .op = LOADED_CONSTANT, .line = line + i / each, .stall = STALL, .made = 1};
        ins[n++] = (SassIns){.op = EXIT, .line = line + MANY, .stall = STALL};
        for (uint32_t i = 0; i < n; i++)
            ins[i].reached = 1;
        cycles[each - 1] = warps_cycles(text, &(SassCode){.ins = ins, .count = n, .sm = 90}, WARPS);
        free(text);
    }
    assert_in_range(cycles[1] - cycles[0], MANY * 2 * WARPS - ENDS, MANY * 2 * WARPS + ENDS);
}

/* On an H200 a sum of two integers (VIADD), a comparison and a selection take a scheduler 4.1
 * cycles, as the last two alone do. */
static void additions_issue_beside_comparisons(void **state)
{
    enum { WARPS = 16, ENDS = 100 };
    static SassIns ins[PRODUCTS + 1];
    uint64_t cycles[2];
    (void)state;
    for (uint32_t beside = 0; beside < 2; beside++) {
        char *text = products_text();
        uint32_t line = line_at(text, strstr(text, "fma.rn"));
        for (uint32_t i = 0; i <= PRODUCTS; i++)
            ins[i] = (SassIns){.op = i == PRODUCTS     ? EXIT
                                     : beside && i % 2 ? SUM_OF_TWO
                                                       : LEAST,
                               .line = line + i,
                               .stall = 4,
                               .reached = 1};
        cycles[beside] =
            warps_cycles(text, &(SassCode){.ins = ins, .count = PRODUCTS + 1, .sm = 90}, WARPS);
        free(text);
    }
    assert_in_range(cycles[0], 2 * PRODUCTS * WARPS / 4, 2 * PRODUCTS * WARPS / 4 + ENDS);
    assert_in_range(cycles[1], PRODUCTS * WARPS / 4, PRODUCTS * WARPS / 4 * 5 / 4 + ENDS);
}

/* Copies by threads are played as machine code has them, too, and waited for. */
static void copies_are_traced_to_their_source(void **state)
{
    enum { STALL = 100, ENDS = 400 };
    uint16_t op[STEPS + 3] = {0};
    char *text = malloc(sizeof BEGIN + 2000), *at = text;
    (void)state;
    assert_non_null(text);
    at += sprintf(at, "%s.shared .align 16 .b8 tile[4096];\nmov.u32 %%r1, tile;\n", BEGIN);
    for (uint32_t i = 0; i < STEPS; i++) {
        at += sprintf(at, "cp.async.cg.shared.global [%%r1+%u], [%%rd1], 16;\n", 16 * i);
        op[i] = COPY;
    }
    sprintf(at, "cp.async.commit_group;\ncp.async.wait_group 0;\nret;\n}\n");
    op[STEPS] = COMMIT, op[STEPS + 1] = COPIES_WAIT, op[STEPS + 2] = EXIT;
    uint64_t quick = lines_cycles(text, "cp.async", op, STEPS + 3, 1),
             slow = lines_cycles(text, "cp.async", op, STEPS + 3, STALL);
    free(text);
    assert_in_range(quick, SMALL.dram_latency, SMALL.dram_latency + ENDS);
    /* The first result is available before the last load is issued. */
    assert_in_range(slow, (STEPS + 2) * STALL, (STEPS + 2) * STALL + ENDS);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void invalid_sass_is_rejected(void **state)
{
    enum { ROUNDS = 200, MOST = 60, LOOPS = 3 };
    static const uint16_t OPS[] = {FFMA,
                                   LOAD,
                                   STORE,
                                   BRANCH,
                                   EXIT,
                                   SASS_WITH_FORM(SASS_LDS, 4),
                                   SASS_WITH_FORM(SASS_BAR, 5),
                                   SASS_WITH_FORM(SASS_CALL_REL, 4),
                                   SASS_WITH_FORM(SASS_MUFU, 1)};
    char *text = loop_text();
    uint64_t alone = loop_cycles(0, 0);
    uint32_t seed = 1, load = line_at(text, strstr(text, "ld.global"));
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        SassIns ins[MOST];
        uint32_t loop_line[LOOPS], count = 1 + next_random(&seed) % MOST, piece = 0;
        for (uint32_t i = 0; i < count; i++) {
            piece += i && next_random(&seed) % 4 == 0;
            ins[i] = (SassIns){.op = OPS[next_random(&seed) % (sizeof OPS / sizeof *OPS)],
                               .line = load - 4 + next_random(&seed) % 14,
                               .loop = next_random(&seed) % (LOOPS + 1),
                               .piece = piece,
                               .reached = next_random(&seed) % 8 != 0,
                               .stall = next_random(&seed) % 16,
                               .waits = next_random(&seed) % 64,
                               .made = (uint8_t)(next_random(&seed) % 7),
                               .read = (uint8_t)(next_random(&seed) % 7)};
            if (next_random(&seed) % 16 == 0) ins[i].line = UINT32_MAX - next_random(&seed) % 2;
        }
        for (int k = 0; k < LOOPS; k++)
            loop_line[k] = load + next_random(&seed) % 8;
        SassCode code = {
            .ins = ins, .count = count, .sm = 90, .loop_line = loop_line, .loops = LOOPS};
        assert_true(cycles_with(text, &code) >= alone * 3 / 5 - 400);
    }
    free(text);
}

/* A loop of two iterations inside another one: its SASS claims an unroll factor of a thousand, and
 * nearly all of it belongs to iterations that never occur. The replay must not search it a hundred
 * thousand times. */
static void copies_that_never_complete(void **state)
{
    enum {
        OUTER = 50000,
        COPIES = 1024,
        REST = 2 << 20,
        COUNT = 1 + 2 * COPIES + REST,
        MOST_SECONDS = 30
    };
    (void)state;
    char *text = malloc(sizeof BEGIN + 600);
    SassIns *ins = calloc(COUNT, sizeof *ins);
    assert_non_null(text);
    assert_non_null(ins);
    sprintf(text,
            "%smov.f32 %%f1, 0f00000000;\nmov.u32 %%r2, 0;\nOUTER:\nmov.u32 %%r1, 0;\nINNER:\n"
            "add.f32 %%f1, %%f1, %%f1;\nbar.sync 0;\nadd.s32 %%r1, %%r1, 1;\n"
            "setp.lt.s32 %%p1, %%r1, 2;\n@%%p1 bra INNER;\nadd.s32 %%r2, %%r2, 1;\n"
            "setp.lt.s32 %%p1, %%r2, %d;\n@%%p1 bra OUTER;\nret;\n}\n",
            BEGIN, OUTER);
    uint32_t line = line_at(text, strstr(text, "add.f32")), bra = line + 4;
    for (uint32_t i = 0; i < COUNT; i++)
        ins[i] = (SassIns){.op = SUM,
                           .line = i <= 2 * COPIES ? line + 2 + i % 2 : 0,
                           .loop = 1,
                           .stall = 1,
                           .reached = 1};
    ins[0].op = SASS_WITH_FORM(SASS_BAR, 5), ins[0].line = line + 1;
    SassCode code = {.ins = ins, .count = COUNT, .sm = 90, .loop_line = &bra, .loops = 1};
    clock_t begin = clock();
    cycles_with(text, &code);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > MOST_SECONDS) fail_msg("it took %.1f s", seconds);
    free(ins), free(text);
}

/* Counters of an array in local memory, with SASS that has a frame of `frame` bytes and such an
 * instruction. */
static uint64_t local_sectors_with(uint16_t op, uint32_t sm, uint32_t frame, int machine_code)
{
    static const char TEXT[] =
        HEAD ".visible .entry k(.param .u64 data)\n{\n.local .align 16 .b8 a[64];\n"
             ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 15;\n"
             "mul.wide.u32 %rd2, %r2, 4;\nmov.u64 %rd3, a;\nadd.s64 %rd3, %rd3, %rd2;\n"
             "st.local.u32 [a], %r1;\nst.local.u32 [%rd3], %r1;\nld.local.u32 %r3, [%rd3];\n"
             "st.global.u32 [%rd1], %r3;\nret;\n}\n";
    SassIns ins[] = {{.op = op, .reached = 1, .stall = 1}, {.op = EXIT, .reached = 1}};
    SassCode code = {.ins = ins, .count = 2, .sm = sm};
    Error error = {""};
    SimtMachine machine = *small_machine(9);
    SimtOptions options = {.threads = 1, .count = 1, .machine_code = machine_code};
    SimtResult result;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    uint64_t data = device_data(gpu, NULL, 64);
    SimtModule *module = simt_module_load(gpu, TEXT, strlen(TEXT), 0, &error);
    assert_non_null(module);
    module->kernel[0].cubin.sass = &code, module->kernel[0].cubin.local_bytes = frame;
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    SimtLaunch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &data, .params_bytes = sizeof data};
    assert_int_equal(simt_launch(gpu, kernel, &launch, &result), 0);
    simt_close(gpu);
    return result.counters.local_sectors;
}

/* ptxas keeps small arrays in registers.  That is believed of the machine's own code, where it is
 * believed at all, and where nothing in it is local. */
static void arrays_in_registers_are_no_local_memory(void **state)
{
    enum { LOAD_LOCAL = SASS_WITH_FORM(SASS_LDL, 4), STORE_LOCAL = SASS_WITH_FORM(SASS_STL, 1) };
    (void)state;
    uint64_t all = local_sectors_with(SUM, 90, 0, 0);
    assert_true(all > 0);
    assert_int_equal(local_sectors_with(SUM, 90, 0, 1), 0);
    assert_int_equal(local_sectors_with(SUM, 90, 64, 1), all);
    assert_int_equal(local_sectors_with(SUM, 80, 0, 1), all);
    assert_int_equal(local_sectors_with(LOAD_LOCAL, 90, 0, 1), all);
    assert_int_equal(local_sectors_with(STORE_LOCAL, 90, 0, 1), all);
}

/* Multiply-adds, each in its own block of code: the cache has the first 64 KB, the others come from
 * DRAM, one after the other. */
static void sass_may_be_split_into_sections(void **state)
{
    enum {
        PIECE_INS = 48,
        READY = 64 * 1024 / 16 / PIECE_INS,
        READY_CYCLES = 125,
        FILLER = SASS_WITH_FORM(SASS_NOP, 4)
    };
    (void)state;
    static SassIns ins[PRODUCTS * PIECE_INS + 1];
    char *text = products_text();
    uint32_t line = line_at(text, strstr(text, "fma.rn"));
    for (uint32_t i = 0; i <= PRODUCTS * PIECE_INS; i++)
        ins[i] = (SassIns){.op = FILLER, .stall = 1, .reached = 1};
    for (uint32_t i = 0; i <= PRODUCTS; i++)
        ins[i * PIECE_INS].op = i < PRODUCTS ? FFMA : EXIT, ins[i * PIECE_INS].line = line + i;
    SassCode code = {.ins = ins, .count = PRODUCTS * PIECE_INS + 1, .sm = 90};
    uint64_t cycles = cycles_with(text, &code),
             expected = READY * READY_CYCLES + (PRODUCTS - READY) * (uint64_t)SMALL.dram_latency;
    free(text);
    assert_in_range(cycles, expected, expected + expected / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_instructions_of_a_line_are_no_two_iterations),
        cmocka_unit_test(a_loop_in_a_loop_may_be_written_out),
        cmocka_unit_test(uniform_constants_take_no_pass),
        cmocka_unit_test(a_vector_of_constants_may_be_loaded_twice),
        cmocka_unit_test(additions_issue_beside_comparisons),
        cmocka_unit_test(named_constants_are_operands),
        cmocka_unit_test(copies_are_traced_to_their_source),
        cmocka_unit_test(invalid_sass_is_rejected),
        cmocka_unit_test(copies_that_never_complete),
        cmocka_unit_test(arrays_in_registers_are_no_local_memory),
        cmocka_unit_test(sass_may_be_split_into_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
