/* test_simt_machine.c - replay of SASS that accompanies PTX, and the limits for forged SASS. */
#include "common/simulator/tests/simt_machine_fixture.h"

/* One SASS instruction per multiply-add, with a stall count until the next one, and operands from
 * each bank of registers. */
static uint64_t products_cycles(uint8_t stall, uint8_t even, uint8_t odd, uint32_t sm)
{
    static SassIns ins[PRODUCTS + 1];
    char *text = products_text();
    SassCode code = {.ins = ins, .count = PRODUCTS + 1, .sm = sm};
    for (uint32_t i = 0; i <= PRODUCTS; i++)
        ins[i] = (SassIns){.op = i < PRODUCTS ? FFMA : EXIT,
                           .line = line_at(text, strstr(text, "fma.rn")) + i,
                           .stall = stall,
                           .fetches = {even, odd},
                           .reached = 1};
    uint64_t cycles = cycles_with(text, sm ? &code : NULL);
    free(text);
    return cycles;
}

/* The same with another operation instead of each multiply-add, which waits for the previous
 * one. */
static uint64_t chain_of(uint16_t op, uint8_t stall)
{
    static SassIns ins[PRODUCTS + 1];
    char *text = products_text();
    for (uint32_t i = 0; i <= PRODUCTS; i++)
        ins[i] = (SassIns){.op = i < PRODUCTS ? op : EXIT,
                           .line = line_at(text, strstr(text, "fma.rn")) + i,
                           .stall = stall,
                           .made = op == SPECIAL,
                           .waits = op == SPECIAL,
                           .reached = 1};
    uint64_t cycles = cycles_with(text, &(SassCode){.ins = ins, .count = PRODUCTS + 1, .sm = 90});
    free(text);
    return cycles;
}

static void some_take_more_than_their_stall_counts(void **state)
{
    enum { ENDS = 60 };
    (void)state;
    assert_in_range(chain_of(SPECIAL, 1), 18 * PRODUCTS, 18 * PRODUCTS + ENDS);
    assert_in_range(chain_of(MEET, 5), 9 * PRODUCTS, 9 * PRODUCTS + ENDS);
    assert_in_range(chain_of(UNIFORM_CONSTANT, 1), 6 * PRODUCTS, 6 * PRODUCTS + ENDS);
}

static void stall_counts_are_obeyed(void **state)
{
    enum { ENDS = 60 };
    (void)state;
    uint64_t alone = products_cycles(0, 0, 0, 0);
    assert_in_range(alone, 4 * PRODUCTS, 4 * PRODUCTS + ENDS);
    assert_in_range(products_cycles(4, 0, 0, 90), 4 * PRODUCTS, 4 * PRODUCTS + ENDS);
    assert_in_range(products_cycles(9, 0, 0, 90), 9 * PRODUCTS, 9 * PRODUCTS + ENDS);
    /* Another machine's says nothing about this one. */
    assert_int_equal(products_cycles(9, 0, 0, 80), alone);
}

/* Each bank delivers one register per cycle, concurrently. */
static void a_register_bank_with_more_reads_stalls(void **state)
{
    enum { ENDS = 60 };
    (void)state;
    assert_in_range(products_cycles(4, 6, 0, 90), 6 * PRODUCTS, 6 * PRODUCTS + ENDS);
    assert_in_range(products_cycles(4, 5, 6, 90), 6 * PRODUCTS, 6 * PRODUCTS + ENDS);
    assert_in_range(products_cycles(4, 4, 4, 90), 4 * PRODUCTS, 4 * PRODUCTS + ENDS);
}

/* Cycles per MMA of a few MMAs that are independent in the PTX: in SASS, each warp has `moves`
 * moves before an instruction that waits for the counter of the previous one. */
static uint64_t matrices_each(const char *product, uint16_t op, uint32_t moves, uint32_t warps)
{
    enum { MATRICES = 64, MOVES = 11 };
    static SassIns ins[MATRICES * (1 + MOVES) + 1];
    uint32_t each = 1 + moves, count = MATRICES * each + 1;
    char text[sizeof BEGIN + (MATRICES + 2) * 160], *at = text;
    at += sprintf(at, "%s.reg .b32 %%x<32>;\n.reg .f64 %%d<32>;\n", BEGIN);
    uint32_t line = line_at(text, at);
    for (int i = 0; i < MATRICES; i++)
        at += sprintf(at, "%s\n", product);
    strcpy(at, "ret;\n}\n");
    for (uint32_t i = 0; i < count; i++)
        ins[i] = (SassIns){.op = i + 1 == count     ? EXIT
                                 : i % each < moves ? MOVE
                                                    : op,
                           .line = line + i / each,
                           .stall = 1,
                           .made = op == OF_DOUBLES,
                           .waits = op == OF_DOUBLES,
                           .reached = 1};
    SassCode code = {.ins = ins, .count = count, .sm = 90};
    return warps_cycles(text, &code, warps) / MATRICES;
}

/* On an H200, MMAs of bits take 6 cycles of a scheduler, like those of bytes; a dependent MMA of
 * doubles follows 26 cycles after the previous one. 4-bit integers are a routine of 220 cycles,
 * which is called, and XORs of bits are one of 45.6 with the eleven moves before its call. */
static void imad_takes_the_cycles_of_its_pipe(void **state)
{
    static const char
        BITS[] = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%x0, %x1, %x2, %x3}, "
                 "{%x4, %x5, %x6, %x7}, {%x8, %x9}, {%x10, %x11, %x12, %x13};",
        DOUBLES[] = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, "
                    "{%d4, %d5};",
        HALVES[] = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%x0, %x1, %x2, %x3}, "
                   "{%x4, %x5, %x6, %x7}, {%x8, %x9}, {%x10, %x11, %x12, %x13};",
        DIFFER[] = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%x0, %x1, %x2, "
                   "%x3}, {%x4, %x5, %x6, %x7}, {%x8, %x9}, {%x10, %x11, %x12, %x13};";
    (void)state;
    assert_in_range(matrices_each(BITS, OF_BITS, 0, 16), 4 * 6, 4 * 6 + 2);
    assert_in_range(matrices_each(DOUBLES, OF_DOUBLES, 0, 1), 26, 27);
    assert_in_range(matrices_each(HALVES, CALL, 0, 16), 800, 1100);
    assert_in_range(matrices_each(DIFFER, CALL, 11, 16), 165, 200);
}

/* No chain of FMAs is faster than its latencies, whatever SASS says. */
static void forged_sass_does_not_shorten_a_chain(void **state)
{
    (void)state;
    assert_in_range(products_cycles(1, 0, 0, 90), 4 * PRODUCTS, products_cycles(0, 0, 0, 0));
}

static void loads_in_flight_follow_the_sass(void **state)
{
    enum { ADDED = 80 }; /* in addition to the latency of an iteration of SASS */
    uint64_t far = (uint64_t)SMALL.dram_latency;
    (void)state;
    /* On average, for DRAM answers sooner or later by the place. */
    assert_in_range(loop_cycles(0, 0), TURNS * far * 9 / 10, TURNS * (far + ADDED));
    assert_in_range(loop_cycles(1, 1), TURNS * far * 9 / 10, TURNS * (far + ADDED));
    assert_in_range(loop_cycles(2, 1), TURNS / 2 * far, TURNS * 3 / 5 * (far + ADDED));
}

/* The time of SASS is clamped to at least three fifths of the PTX estimate. */
static void forged_sass_gains_two_fifths_at_most(void **state)
{
    (void)state;
    uint64_t alone = loop_cycles(0, 0);
    assert_in_range(loop_cycles(1, 0), alone * 3 / 5 - 400, alone * 3 / 5 + 400);
    assert_in_range(loop_cycles(8, 0), alone * 3 / 5 - 400, alone * 3 / 5 + 400);
}

enum { WINDOW = 3, WINDOW_TURNS = 8, AT_ONCE = 4 };

typedef struct Window {
    const char *name, *step, *more; /* advance of the address, and further code in the loop */
    uint8_t made[WINDOW];           /* SASS instructions of each load in AT_ONCE iterations */
    int not_believed;
    uint32_t requests;
} Window;

static const char NEXT[] = "add.s64 %rd1, %rd1, 4;", OTHER[] = "add.s64 %rd2, %rd1, 4;";

static const Window WINDOWS[] = {
    {"the last of three", NEXT, NULL, {1, 1, 4}, 0, 2 * (1 + 1 + 4)},
    {"as machine code has it", NEXT, NULL, {2, 3, 4}, 0, 2 * (2 + 3 + 4)},
    {"all, in machine code", NEXT, NULL, {4, 4, 4}, 0, 24},
    {"machine code that is not believed", NEXT, NULL, {1, 1, 4}, 1, 24},
    {"a load of what nobody had", NEXT, NULL, {1, 2, 2}, 0, 2 * (1 + 2 + 4)},
    {"two turns ahead", "add.s64 %rd1, %rd1, 8;", NULL, {1, 4, 4}, 0, 2 * (1 + 4 + 4)},
    {"a step that none makes up", "add.s64 %rd1, %rd1, 12;", NULL, {1, 2, 2}, 0, 24},
    {"back", "add.s64 %rd1, %rd1, -4;", NULL, {4, 1, 1}, 0, 2 * (4 + 1 + 1)},
    {"no step", "add.s64 %rd1, %rd1, 0;", NULL, {1, 2, 2}, 0, 24},
    {"a step that is not known",
     "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;",
     NULL,
     {1, 1, 4},
     0,
     24},
    {"by another register", OTHER, "mov.b64 %rd1, %rd2;", {1, 1, 4}, 0, 2 * (1 + 1 + 4)},
    {"a store", NEXT, "st.global.f32 [%rd1+256], %f1;", {1, 1, 4}, 0, 24},
    {"a store to other memory", NEXT, "st.shared.f32 [s], %f1;", {1, 1, 4}, 0, 12},
    {"a fence", NEXT, "membar.cta;", {1, 1, 4}, 0, 24},
};

static uint32_t window_requests(const Window *w)
{
    char text[1200];
    SassIns ins[40] = {{0}};
    uint32_t at = 0;
    int length = snprintf(text, sizeof text,
                          "%s.shared .f32 s;\nmov.u32 %%r1, 0;\nmov.f32 %%f1, 0f00000000;\nLOOP:\n"
                          "ld.global.f32 %%f2, [%%rd1+64];\nld.global.f32 %%f3, [%%rd1+68];\n"
                          "ld.global.f32 %%f1, [%%rd1+72];\n%s\n%s\nadd.s32 %%r1, %%r1, 1;\n"
                          "setp.lt.s32 %%p1, %%r1, %d;\n@%%p1 bra LOOP;\nret;\n}\n",
                          BEGIN, w->step, w->more ? w->more : "", WINDOW_TURNS);
    assert_in_range(length, 1, sizeof text - 1);
    uint32_t line = line_at(text, strstr(text, "ld.global")), bra = line + WINDOW + 4;
    for (uint32_t k = 0; k < WINDOW; k++)
        for (uint32_t i = 0; i < w->made[k]; i++)
            ins[at++] = (SassIns){.op = LOAD, .line = line + k};
    for (uint32_t k = WINDOW; k < WINDOW + 4; k++)
        for (uint32_t i = 0; i < AT_ONCE; i++)
            ins[at++] = (SassIns){.op = k == WINDOW + 1 ? STORE : SUM, .line = line + k};
    ins[at++] = (SassIns){.op = BRANCH, .line = bra};
    for (uint32_t i = 0; i < at; i++)
        ins[i].loop = 1, ins[i].stall = 1, ins[i].reached = 1;
    ins[at++] = (SassIns){.op = EXIT, .line = bra + 1, .stall = 5, .piece = 1, .reached = 1};
    SassCode code = {.ins = ins, .count = at, .sm = 90, .loop_line = &bra, .loops = 1};
    return (uint32_t)result_with(text, &code, !w->not_believed, 1).counters.global_load_requests;
}

/* Values that an iteration loads at one end of a window are not loaded again by the next ones. */
static void loads_of_earlier_iterations_are_reused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof WINDOWS / sizeof *WINDOWS; i++) {
        uint32_t requests = window_requests(&WINDOWS[i]);
        if (requests != WINDOWS[i].requests)
            fail_msg("%s: %u, not %u", WINDOWS[i].name, requests, WINDOWS[i].requests);
    }
}

/* The way from one load's place to the other's is as far as there are addresses, and the step is
 * one back: no quotient of those is a number. */
static void loads_may_have_any_distance(void **state)
{
    (void)state;
    char text[1200];
    SassIns ins[20] = {{0}};
    uint32_t at = 0;
    snprintf(text, sizeof text,
             "%smov.u32 %%r1, 0;\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra END;\nLOOP:\n"
             "ld.global.u8 %%r2, [%%rd1+4611686018427387904];\n"
             "ld.global.u8 %%r2, [%%rd1-4611686018427387904];\nadd.s64 %%rd1, %%rd1, -1;\n"
             "add.f32 %%f1, %%f1, %%f1;\nadd.f32 %%f2, %%f2, %%f2;\nadd.f32 %%f3, %%f3, %%f3;\n"
             "@%%p1 bra LOOP;\nEND:\nret;\n}\n",
             BEGIN);
    uint32_t line = line_at(text, strstr(text, "ld.global")), bra = line + 6;
    for (uint32_t k = 0; k < 6; k++)
        for (uint32_t i = 0; i < (k < 2 ? 1 : AT_ONCE); i++)
            ins[at++] = (SassIns){.op = k < 2 ? LOAD : SUM, .line = line + k};
    ins[at++] = (SassIns){.op = BRANCH, .line = bra};
    for (uint32_t i = 0; i < at; i++)
        ins[i].loop = 1, ins[i].stall = 1, ins[i].reached = 1;
    ins[at++] = (SassIns){.op = EXIT, .line = bra + 2, .stall = 5, .piece = 1, .reached = 1};
    SassCode code = {.ins = ins, .count = at, .sm = 90, .loop_line = &bra, .loops = 1};
    assert_int_equal(result_with(text, &code, 1, 1).counters.global_load_requests, 0);
}

/* A wider load in SASS is one access, although the PTX does not show that its address is aligned to
 * the width. */
static void loads_vectorised_in_sass_are_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof JOINED / sizeof *JOINED; i++) {
        char text[1200];
        SassIns ins[MOST_LOADS + 1] = {{0}};
        uint32_t at = 0, count = 0;
        int length = snprintf(text, sizeof text,
                              "%s.shared .align 16 .b8 s[64];\nmov.u32 %%r1, s;\n"
                              "add.u32 %%r1, %%r1, 8;\nmin.u32 %%r1, %%r1, 8;\n",
                              BEGIN);
        uint32_t line = line_at(text, text + length);
        for (; count < MOST_LOADS && JOINED[i].loads[count]; count++) {
            length += sprintf(text + length, "ld.shared.f32 %%%s;\n", JOINED[i].loads[count]);
            if (JOINED[i].width[count])
                ins[at++] = (SassIns){
                    .op = LOAD_SHARED, .line = line + count, .bytes = JOINED[i].width[count]};
        }
        sprintf(text + length, "ret;\n}\n");
        ins[at++] = (SassIns){.op = EXIT, .line = line + count};
        for (uint32_t k = 0; k < at; k++)
            ins[k].stall = 1, ins[k].reached = 1;
        SassCode code = {.ins = ins, .count = at, .sm = 90};
        Counters counters = result_with(text, &code, !JOINED[i].not_believed, 1).counters;
        if (counters.shared_load_requests != JOINED[i].requests)
            fail_msg("%s: %u, not %u", JOINED[i].name, (unsigned)counters.shared_load_requests,
                     JOINED[i].requests);
    }
}

enum { TIMES = 20, ONE_WAY = 6, OTHER_WAY = 10 };

/* Repeatedly one of two paths of multiply-adds; SASS has both without a branch, or with
 * branches. */
static uint64_t divergent_cycles(int branches)
{
    enum { LINES = 4 + ONE_WAY + OTHER_WAY };
    static SassIns ins[TIMES * LINES + 1];
    char *text = malloc(sizeof BEGIN + TIMES * LINES * 50), *at = text;
    uint32_t n = 0, line = line_at(BEGIN, BEGIN + strlen(BEGIN));
    assert_non_null(text);
    at += sprintf(at, "%s", BEGIN);
    for (int time = 0; time < TIMES; time++) {
        at += sprintf(at, "setp.equ.f32 %%p1, %%f1, %%f2;\n@!%%p1 bra E%d;\n", time);
        ins[n++] = (SassIns){.op = FADD, .line = line++, .stall = 4};
        ins[n++] = (SassIns){.op = branches ? BRANCH : FADD, .line = line++, .stall = 4};
        for (int i = 0; i < ONE_WAY + OTHER_WAY; i++) {
            at += sprintf(at, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
            ins[n++] = (SassIns){.op = FFMA, .line = line++, .stall = 4, .guarded = 1};
            if (i != ONE_WAY - 1) continue;
            at += sprintf(at, "bra.uni M%d;\nE%d:\n", time, time);
            if (branches) ins[n++] = (SassIns){.op = BRANCH, .line = line, .stall = 4};
            line += 2;
        }
        at += sprintf(at, "M%d:\n", time);
        line++;
    }
    sprintf(at, "ret;\n}\n");
    ins[n++] = (SassIns){.op = EXIT, .line = line, .stall = 4};
    for (uint32_t i = 0; i < n; i++)
        ins[i].reached = 1;
    uint64_t cycles = cycles_with(text, &(SassCode){.ins = ins, .count = n, .sm = 90});
    free(text);
    return cycles;
}

/* All of it is issued where predicates say what is done; else one way, and two branches. */
static void predicated_paths_are_both_issued(void **state)
{
    enum { ENDS = 60, BOTH = 4 * (2 + ONE_WAY + OTHER_WAY), ONE = 4 * (1 + ONE_WAY) };
    (void)state;
    assert_in_range(divergent_cycles(0), TIMES * BOTH, TIMES * BOTH + ENDS);
    assert_in_range(divergent_cycles(1), TIMES * ONE, TIMES * (BOTH - 4 * OTHER_WAY + 12));
}

/* A uniform load of a constant has no counter: its warp waits for what has to come. */
static void a_warp_waits_for_constants(void **state)
{
    uint16_t op[2 * STEPS + 1] = {0};
    uint64_t cycles[2], far = (uint64_t)SMALL.dram_latency;
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        char *text = malloc(sizeof BEGIN + 2000), *at = text;
        assert_non_null(text);
        const char *head = strstr(BEGIN, ".visible");
        at += sprintf(at, "%.*s.const .align 256 .b8 table[4096];\n%s", (int)(head - BEGIN), BEGIN,
                      head);
        for (uint32_t i = 0; i < STEPS; i++) {
            at += sprintf(at, "ld.const.f32 %%f2, [table+%u];\nadd.f32 %%f1, %%f1, %%f2;\n",
                          apart ? 256 * i : 4 * i);
            op[2 * i] = CONSTANT, op[2 * i + 1] = FADD;
        }
        sprintf(at, "ret;\n}\n");
        op[2 * STEPS] = EXIT;
        cycles[apart] = lines_cycles(text, "ld.const", op, 2 * STEPS + 1, 4);
        free(text);
    }
    /* DRAM answers sooner or later by the place. */
    assert_in_range(cycles[1] - cycles[0], (STEPS - 1) * far * 2 / 3, (STEPS - 1) * far * 4 / 3);
}

/* A block whose warps each load `count` constants, eight cycles apart. */
static uint64_t constants_cycles(uint32_t count, uint32_t warps)
{
    enum { STALL = 8 };
    SassIns ins[64] = {{0}};
    char *text = malloc(sizeof BEGIN + 4000), *at = text;
    assert_non_null(text);
    const char *head = strstr(BEGIN, ".visible");
    at +=
        sprintf(at, "%.*s.const .align 256 .b8 table[256];\n%s", (int)(head - BEGIN), BEGIN, head);
    for (uint32_t i = 0; i < count; i++)
        at += sprintf(at, "ld.const.f32 %%f2, [table+%u];\n", 4 * i);
    sprintf(at, "ret;\n}\n");
    for (uint32_t i = 0; i <= count; i++)
        ins[i] = (SassIns){.op = i < count ? LOADED_CONSTANT : EXIT,
                           .line = line_at(text, strstr(text, "ld.const")) + i,
                           .stall = STALL,
                           .made = 1,
                           .reached = 1};
    uint64_t cycles =
        warps_cycles(text, &(SassCode){.ins = ins, .count = count + 1, .sm = 90}, warps);
    free(text);
    return cycles;
}

/* Two cycles each, for whichever scheduler they are; one warp's are farther apart anyway. */
static void warps_share_fetched_constants(void **state)
{
    enum { FEW = 20, MANY = 60, WARPS = 16 };
    (void)state;
    assert_int_equal(constants_cycles(MANY, 1) - constants_cycles(FEW, 1), (MANY - FEW) * 8);
    assert_in_range(constants_cycles(MANY, WARPS) - constants_cycles(FEW, WARPS),
                    (MANY - FEW) * 2 * WARPS - 20, (MANY - FEW) * 2 * WARPS + 20);
}

/* The end of an iteration precedes its start in PTX, which falls through: ptxas generates the
 * backward branch itself, with the line of the last addition. */
static void a_loop_may_end_without_a_branch(void **state)
{
    char text[1200];
    (void)state;
    int length =
        snprintf(text, sizeof text,
                 "%smov.f32 %%f1, 0f00000000;\nmov.u32 %%r1, 0;\nmov.u64 %%rd2, %%rd1;\n"
                 "bra.uni BEGIN;\nEND:\n.pragma \"nounroll\";\nadd.s64 %%rd2, %%rd2, 128;\n"
                 "add.s32 %%r1, %%r1, 1;\nBEGIN:\nld.global.f32 %%f2, [%%rd2];\n"
                 "add.f32 %%f1, %%f1, %%f2;\nsetp.ge.s32 %%p1, %%r1, %d;\n@%%p1 bra OUT;\n"
                 "bra.uni END;\nOUT:\nst.global.f32 [%%rd1], %%f1;\nret;\n}\n",
                 BEGIN, TURNS - 1);
    assert_in_range(length, 1, sizeof text - 1);
    uint32_t load = line_at(text, strstr(text, "ld.global")), closing = load - 2,
             store = line_at(text, strstr(text, "st.global"));
    SassIns ins[] = {{.op = LOAD, .line = load, .loop = 1, .made = 1},
                     {.op = FADD, .line = load + 1, .loop = 1},
                     {.op = SUM, .line = closing - 1, .loop = 1},
                     {.op = BRANCH, .line = closing, .loop = 1},
                     {.op = STORE, .line = store, .piece = 1},
                     {.op = EXIT, .line = store + 1, .piece = 1}};
    for (size_t i = 0; i < sizeof ins / sizeof *ins; i++)
        ins[i].reached = 1, ins[i].stall = 4;
    SassCode code = {
        .ins = ins, .count = sizeof ins / sizeof *ins, .sm = 90, .loop_line = &closing, .loops = 1};
    /* Nobody waits for the loads: machine code is played, so it takes as little as is believed. */
    uint64_t alone = cycles_with(text, NULL);
    assert_in_range(cycles_with(text, &code), alone * 3 / 5 - 400, alone * 3 / 5 + 400);
}

/* `lanes` lanes skip a few multiply-adds, and reconverge with the others before many more. */
static uint64_t sync_cycles(int lanes)
{
    enum { APART = 20 };
    SassIns ins[APART + PRODUCTS + 4] = {{0}};
    char *text = malloc(sizeof BEGIN + (APART + PRODUCTS) * 40 + 200), *to = text;
    uint32_t at = 0;
    assert_non_null(text);
    to += sprintf(to, "%smov.u32 %%r1, %%tid.x;\nsetp.lt.s32 %%p1, %%r1, %d;\n@%%p1 bra MEET;\n",
                  BEGIN, lanes);
    for (int i = 0; i < APART; i++)
        to += sprintf(to, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
    to += sprintf(to, "MEET:\n");
    for (int i = 0; i < PRODUCTS; i++)
        to += sprintf(to, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
    sprintf(to, "ret;\n}\n");
    uint32_t bra = line_at(text, strstr(text, "@%p1"));
    ins[at++] = (SassIns){.op = BRANCH, .line = bra, .stall = 5};
    for (uint32_t i = 1; i <= APART; i++)
        ins[at++] = (SassIns){.op = FFMA, .line = bra + i, .stall = 4, .piece = 1};
    for (uint32_t i = 2; i <= PRODUCTS + 1; i++)
        ins[at++] = (SassIns){.op = FFMA, .line = bra + APART + i, .stall = 4, .piece = 2};
    ins[at++] = (SassIns){.op = EXIT, .line = bra + APART + PRODUCTS + 2, .piece = 2};
    for (uint32_t i = 0; i < at; i++)
        ins[i].reached = 1;
    SassCode code = {.ins = ins, .count = at, .sm = 90};
    uint64_t cycles = cycles_with(text, &code);
    free(text);
    return cycles;
}

/* Each of the two groups reaches the reconvergence point, and all continue from there once. */
static void code_after_reconvergence_is_replayed_once(void **state)
{
    enum { ENDS = 60 };
    uint64_t together = sync_cycles(0);
    (void)state;
    assert_in_range(together, 4 * PRODUCTS, 4 * PRODUCTS + 3 * ENDS);
    assert_in_range(sync_cycles(16), together, together + ENDS);
}

/* All lanes skip a few multiply-adds. At the reconvergence point there is an `op` with stall count
 * `stall`. Among the skipped instructions there is one with stall count `moved` whose line is
 * before the branch. */
static uint64_t skip_cycles(uint16_t op, uint8_t stall, uint8_t moved)
{
    enum { SKIPPED = 20, AFTER = 50 };
    SassIns ins[SKIPPED + AFTER + 5] = {{0}};
    char text[sizeof BEGIN + (SKIPPED + AFTER) * 40 + 200], *to = text;
    uint32_t n = 0;
    to += sprintf(to,
                  "%smov.u32 %%r1, %%tid.x;\nadd.f32 %%f2, %%f3, %%f3;\n"
                  "setp.lt.s32 %%p1, %%r1, 32;\n@%%p1 bra OVER;\n",
                  BEGIN);
    uint32_t bra = line_at(text, strstr(text, "@%p1"));
    ins[n++] = (SassIns){.op = BRANCH, .line = bra, .stall = 5};
    for (uint32_t i = 1; i <= SKIPPED; i++) {
        to += sprintf(to, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
        ins[n++] = (SassIns){.op = FFMA, .line = bra + i, .stall = 4, .piece = 1};
    }
    if (moved) ins[n - 2] = (SassIns){.op = FADD, .line = bra - 2, .stall = moved, .piece = 1};
    if (op) ins[n++] = (SassIns){.op = op, .line = bra + SKIPPED, .stall = stall, .piece = 2};
    to += sprintf(to, "OVER:\n");
    for (uint32_t i = 0; i < AFTER; i++) {
        to += sprintf(to, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
        ins[n++] = (SassIns){.op = FFMA, .line = bra + SKIPPED + 2 + i, .stall = 4, .piece = 2};
    }
    sprintf(to, "ret;\n}\n");
    ins[n++] = (SassIns){.op = EXIT, .line = bra + SKIPPED + AFTER + 2, .stall = 4, .piece = 2};
    for (uint32_t i = 0; i < n; i++)
        ins[i].reached = 1;
    return cycles_with(text, &(SassCode){.ins = ins, .count = n, .sm = 90});
}

/* All lanes skip the code before the reconvergence point, whose instruction has the line of the
 * skipped code: the lanes execute it. */
static void skipping_lanes_pass_the_reconvergence_point(void **state)
{
    (void)state;
    assert_in_range(skip_cycles(MEET, 100, 0) - skip_cycles(0, 0, 0), 100, 104);
}

/* An instruction among code that all lanes skip is skipped, too, even if its line is before the
 * branch. */
static void instructions_sunk_into_a_branch_are_skipped_with_it(void **state)
{
    (void)state;
    assert_int_equal(skip_cycles(0, 0, 200), skip_cycles(0, 0, 1));
}

/* A branch that SASS keeps, followed by one that became predicates, at which lanes diverge: the
 * SASS of the second one is one basic block, and is executed once. */
static void lanes_that_diverge_at_predicates_execute_once(void **state)
{
    enum { LINES = 12, STALL = 60 };
    static SassIns ins[2 * LINES + 3];
    char *text = malloc(sizeof BEGIN + 2 * LINES * 50 + 400), *at = text;
    uint32_t n = 0;
    assert_non_null(text);
    (void)state;
    at += sprintf(at,
                  "%smov.u32 %%r1, %%tid.x;\nsetp.gt.s32 %%p1, %%r1, 32;\n@%%p1 bra MEET;\n"
                  "setp.lt.s32 %%p1, %%r1, 16;\n@%%p1 bra ELSE;\n",
                  BEGIN);
    uint32_t kept = line_at(text, strstr(text, "@%p1")), line = kept + 3;
    ins[n++] = (SassIns){.op = BRANCH, .line = kept, .stall = 5};
    for (uint32_t way = 0; way < 2; way++) {
        for (uint32_t i = 0; i < LINES; i++) {
            at += sprintf(at, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n");
            ins[n++] =
                (SassIns){.op = FFMA, .line = line++, .stall = STALL, .guarded = 1, .piece = 1};
        }
        at += sprintf(at, "%s", way ? "MEET:\n" : "bra.uni MEET;\nELSE:\n");
        line += way ? 1 : 2;
    }
    sprintf(at, "fma.rn.f32 %%f1, %%f1, %%f2, %%f3;\nret;\n}\n");
    ins[n++] = (SassIns){.op = FFMA, .line = line, .stall = 4, .piece = 2};
    ins[n++] = (SassIns){.op = EXIT, .line = line + 1, .stall = 4, .piece = 2};
    for (uint32_t i = 0; i < n; i++)
        ins[i].reached = 1;
    uint64_t cycles = cycles_with(text, &(SassCode){.ins = ins, .count = n, .sm = 90});
    free(text);
    assert_in_range(cycles, 2 * LINES * STALL, 2 * LINES * STALL + 2 * STALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stall_counts_are_obeyed),
        cmocka_unit_test(some_take_more_than_their_stall_counts),
        cmocka_unit_test(predicated_paths_are_both_issued),
        cmocka_unit_test(a_register_bank_with_more_reads_stalls),
        cmocka_unit_test(imad_takes_the_cycles_of_its_pipe),
        cmocka_unit_test(forged_sass_does_not_shorten_a_chain),
        cmocka_unit_test(loads_in_flight_follow_the_sass),
        cmocka_unit_test(forged_sass_gains_two_fifths_at_most),
        cmocka_unit_test(loads_of_earlier_iterations_are_reused),
        cmocka_unit_test(loads_may_have_any_distance),
        cmocka_unit_test(loads_vectorised_in_sass_are_one),
        cmocka_unit_test(code_after_reconvergence_is_replayed_once),
        cmocka_unit_test(skipping_lanes_pass_the_reconvergence_point),
        cmocka_unit_test(instructions_sunk_into_a_branch_are_skipped_with_it),
        cmocka_unit_test(lanes_that_diverge_at_predicates_execute_once),
        cmocka_unit_test(a_warp_waits_for_constants),
        cmocka_unit_test(warps_share_fetched_constants),
        cmocka_unit_test(a_loop_may_end_without_a_branch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
