/* test_simt_cycles.c - cycles, stalls and counts of small kernels against what can be worked out by
 * hand from the small machine's numbers. */
#include "common/simulator/tests/simt_cycles_fixture.h"

static void a_chain_takes_its_latencies(void **state)
{
    (void)state;
    Setup one = {.blocks = 1, .threads = 32};
    /* alu_latency 4 */
    assert_int_equal(slope("fma.rn.f32 %f1, %f1, %f2, %f3;\n", 100, one), 400);
    /* Four chains interleaved: one instruction per cycle. */
    assert_int_equal(slope("fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n"
                           "fma.rn.f32 %f5, %f5, %f2, %f3;\nfma.rn.f32 %f6, %f6, %f2, %f3;\n",
                           100, one),
                     400);
    /* Moves cost nothing. */
    assert_int_equal(
        slope("fma.rn.f32 %f1, %f1, %f2, %f3;\nmov.f32 %f7, %f1;\nmov.f32 %f1, %f7;\n", 100, one),
        400);
}

/* 100 copies that bypass the L1 from addresses `apart` bytes apart, each with `there` bytes of
 * data. */
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
static void empty_copies_need_no_tag_lookups(void **state)
{
    (void)state;
    assert_int_equal(copies_slope(128, 0), copies_slope(16, 0));
    assert_true(copies_slope(128, 16) > copies_slope(16, 16));
}

/* 100 copies to addresses `apart` bytes apart, each followed by a chain of loads from shared
 * memory. */
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

/* The order in which an H200's copies are written does not delay concurrent loads. In GEMMs with
 * copies to rows that split their lines, with four or fifteen wavefronts each, warps wait 8 % of an
 * instruction's time for the load/store unit (tile-one-2 of mma-tiles.cu, ncu's lg_throttle). */
static void copies_in_flight_stall_no_warp(void **state)
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
    /* Integers: 64 lanes per SM, 16 per scheduler, 2 cycles each. */
    assert_int_equal(slope("add.s32 %r3, %r3, %r1;\nadd.s32 %r4, %r4, %r1;\n", 100,
                           (Setup){.blocks = 1, .threads = 512}),
                     1600);
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

/* The iterations of a loop repeat a load from before the loop only in three cases. Something may
 * have changed the value; the address or the first result has changed; or another path leads into
 * the loop. */
static void an_iteration_loads_no_more_than_the_array(void **state)
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

/* 32 warps of a block load cached data from the L1 100 times, with `apart` bytes between their two
 * halves. */
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
static void two_rows_in_one_bank_conflict(void **state)
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
    /* 65,536 bytes of shared memory per block: one block per SM, 4 SMs. */
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
static void slots_of_ended_warps_are_reused_by_other_blocks(void **state)
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

/* Distant loads and reductions, which conflict in the L2. */
static char *strided_text(void)
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
    char *text = strided_text();
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

/* Five blocks on four host threads: without time slices, the last block would start when another
 * one has ended. Counters and cycles are the same as for sequential execution. */
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

/* Launches that are settled while the next one runs give the same results as alone. Some have a few
 * blocks per thread, some have many, and one is not affected by a fault in the next one. */
static void later_decisions_give_the_same_result(void **state)
{
    enum { LAUNCHES = 4 };
    static const uint32_t BLOCKS[LAUNCHES] = {300, 5, 24, 300};
    static float zeros[1 << 16];
    (void)state;
    char *text = strided_text();
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
            later[i].number = alone[i].number; /* the only difference */
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

/* A load with a stride of 8 floats: one sector per lane; counts are by instruction. */
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

/* Instructions that a short branch skips are predicated: loads after several such branches are
 * issued together, as they are after predicates written by hand. */
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
    assert_in_range(jumps, guards - 8, guards + 8); /* the waiting instruction for the predicate
                                                     * differs */
    /* Four loads one after the other would take four times the latency. */
    assert_true(guards < 2 * (uint64_t)(SMALL.l2_latency + SMALL.dram_latency));
}

/* Each round of blocks gives every SM one, beginning at another SM. */
static void waves_start_at_different_sms(void **state)
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

/* Whichever blocks have little to do, the launch costs what the others need. */
static void unreplayed_work_is_priced(void **state)
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
    /* Half of the work, in waves after those that are replayed. */
    whole = mixed_cycles(nobody, "", 1, many);
    assert_in_range(mixed_cycles(first_waves, MOVES, 25, many), whole * 45 / 100, whole);
    few.host_threads = 4;
    assert_int_equal(mixed_cycles(first_sm, MOVES, 25, few),
                     mixed_cycles(first_sm, MOVES, 25, (Setup){.blocks = 32, .threads = 32}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_takes_its_latencies),
        cmocka_unit_test(empty_copies_need_no_tag_lookups),
        cmocka_unit_test(copies_in_flight_stall_no_warp),
        cmocka_unit_test(schedulers_share_warps),
        cmocka_unit_test(conflicts_add_passes),
        cmocka_unit_test(a_repeated_load_is_free),
        cmocka_unit_test(an_iteration_loads_no_more_than_the_array),
        cmocka_unit_test(two_rows_in_one_bank_conflict),
        cmocka_unit_test(blocks_come_in_waves),
        cmocka_unit_test(first_warps_share_no_scheduler),
        cmocka_unit_test(slots_of_ended_warps_are_reused_by_other_blocks),
        cmocka_unit_test(a_barrier_waits_for_the_slowest),
        cmocka_unit_test(host_threads_do_not_show),
        cmocka_unit_test(the_last_blocks_run_side_by_side),
        cmocka_unit_test(later_decisions_give_the_same_result),
        cmocka_unit_test(counts_are_by_instruction),
        cmocka_unit_test(a_short_branch_is_a_predicate),
        cmocka_unit_test(waves_start_at_different_sms),
        cmocka_unit_test(unreplayed_work_is_priced),
    };
    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
