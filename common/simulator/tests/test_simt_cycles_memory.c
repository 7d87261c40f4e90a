/* test_simt_cycles_memory.c - cycles of small kernels: caches, DRAM, fences, inter-block waits and
 * timers. */
#include "common/simulator/tests/simt_cycles_fixture.h"

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

/* Bytes to and from DRAM. 32 blocks of 256 threads access `kilobytes` KB twice, with `apart` bytes
 * from one thread's word to the next one's; the second time each accesses another block's part. */
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
static void latency_depends_on_the_address(void **state)
{
    enum { PIECE = 1024, PIECES = 128 };
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    static uint64_t alone[PIECES];
    (void)state;
    for (uint32_t i = 0; i < PIECES; i++) {
        alone[i] = two_loads_cycles(i * PIECE, 64); /* another fetch in the same 64 bytes */
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
static void fences_and_releases_wait_for_stores(void **state)
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
static void atomics_on_one_address_serialise(void **state)
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
static void a_match_costs_its_distinct_values(void **state)
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

/* 200 atomics of one warp on a word, in a loop that adds zero to the address and that all lanes
 * leave at once. The reason for that is either that the count depends on the block alone, or that
 * each lane's count happens to be the same. */
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

/* Cycles per step of a chain in which each load's address depends on the previous load; lanes are
 * `apart` bytes apart, and all their lines hit. */
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

/* One cycle for each further line of a tag bank, two for each further word of a data bank: with 8
 * bytes per lane, a bank has at least two words. */
static void tag_lookups_use_banks(void **state)
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

/* Each further word of a bank is available two cycles after the previous one. */
static void conflicts_delay_the_data(void **state)
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

static void two_kilobytes_of_constants_hit_the_l1(void **state)
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

/* A token is passed from block to block: each polls its word, and writes the next one's. */
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

/* A hand-over takes 405 or 566 cycles for a fence after polls, 50 until the store is visible, and
 * one poll, which takes 191 to 279 and starts up to that time before. */
static void a_token_has_its_latency(void **state)
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

/* One block works for long, the other polls the word that it writes. The number of polls
 * corresponds to the time, although the host skips iterations, and is the same on one host thread
 * and on four. */
static void long_polling_is_skipped(void **state)
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
static uint64_t sync_cycles(uint32_t blocks)
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
static void blocks_contend_for_a_word(void **state)
{
    enum { FEW = 8, MANY = 128, TURNS = (MANY - FEW) * 145 / 100 };
    (void)state;
    assert_in_range(sync_cycles(MANY) - sync_cycles(FEW), TURNS - 86, 2 * TURNS + 279);
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

/* Volatile polls of many blocks on one word take 0.59 cycles each; polls that share replies take no
 * longer than those of one block. */
static void polls_contend_for_a_word(void **state)
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
static void acquiring_polls_take_longer(void **state)
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

/* Dependent atomics on one of 16 lines: some lines are in the L2 partition next to the SM and take
 * 223 to 309 cycles, others take 200 more. */
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

/* One lane polls and succeeds at once; the others need not wait for it, so the following code is
 * executed for them and for it. If all lanes poll together, the code is executed once. */
static void lanes_continue_without_a_polling_lane(void **state)
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

/* The first access to data comes from DRAM, even if blocks poll for it. */
static void the_first_poll_waits_for_dram(void **state)
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
static void a_deadlock_is_reported(void **state)
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

/* A wait while another block works is not endless, however often atomics poll without success. */
static void a_long_wait_is_no_deadlock(void **state)
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

/* A wait that ends by the clock is not endless, either: no block writes, and all continue after a
 * while. */
static void a_wait_with_an_end_is_no_deadlock(void **state)
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

/* A warp wakes at a multiple of the first power of two beyond what it asked for: of nanoseconds,
 * which are cycles here. */
static void nanosleep_ends_by_the_timer(void **state)
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
    assert_in_range(apart, 64 * 32 * SMALL.costs.sleep_cycles,
                    64 * 32 * (SMALL.costs.sleep_cycles + 1));
    /* So are a scheduler's warps, here eight: they do not come back in time. */
    uint64_t many = slope("nanosleep.u32 40;\n", 64, (Setup){.blocks = 4, .threads = 1024});
    assert_in_range(many, 64 * 8 * SMALL.costs.sleep_cycles, 64 * 4 * 64);
}

/* A warp that waits for a clock continues at the right time, at most one iteration later, on any
 * number of SMs; but if many warps poll the clock, they share the schedulers. */
static void waits_for_a_clock_value_end(void **state)
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

/* The blocks acquire a lock one after the other. They wake together, finally every 1,024 cycles,
 * and because the lock is held for longer than that, each acquires it two periods after the
 * previous one. */
static void blocks_serialise_at_a_lock(void **state)
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

/* On each described machine, 64 blocks copy; no GPU copies faster than its memory allows. */
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
        cmocka_unit_test(warps_wait_for_one_fetch),
        cmocka_unit_test(the_l2_keeps_what_fits),
        cmocka_unit_test(a_launch_waits_for_its_last_store),
        cmocka_unit_test(latency_depends_on_the_address),
        cmocka_unit_test(fences_and_releases_wait_for_stores),
        cmocka_unit_test(atomics_on_one_address_serialise),
        cmocka_unit_test(a_match_costs_its_distinct_values),
        cmocka_unit_test(a_loop_that_lanes_may_leave_has_no_uniform_address),
        cmocka_unit_test(tag_lookups_use_banks),
        cmocka_unit_test(conflicts_delay_the_data),
        cmocka_unit_test(two_kilobytes_of_constants_hit_the_l1),
        cmocka_unit_test(a_token_has_its_latency),
        cmocka_unit_test(long_polling_is_skipped),
        cmocka_unit_test(blocks_contend_for_a_word),
        cmocka_unit_test(polls_contend_for_a_word),
        cmocka_unit_test(acquiring_polls_take_longer),
        cmocka_unit_test(atomics_go_to_one_half_of_the_l2),
        cmocka_unit_test(lanes_continue_without_a_polling_lane),
        cmocka_unit_test(the_first_poll_waits_for_dram),
        cmocka_unit_test(a_deadlock_is_reported),
        cmocka_unit_test(a_long_wait_is_no_deadlock),
        cmocka_unit_test(a_wait_with_an_end_is_no_deadlock),
        cmocka_unit_test(nanosleep_ends_by_the_timer),
        cmocka_unit_test(waits_for_a_clock_value_end),
        cmocka_unit_test(blocks_serialise_at_a_lock),
        cmocka_unit_test(a_kernel_runs_on_every_machine),
    };
    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
