/* test_simt_checks.c - divergence, barriers, shuffles and findings. */
#include "common/simulator/tests/simt_checks_fixture.h"

static void expect_words(SimtGpu *gpu, const char *text, uint32_t threads,
                         uint32_t (*want)(uint32_t))
{
    uint32_t got[256] = {0};
    uint64_t out = device_data(gpu, got, sizeof got);
    SimtResult result;
    if (run(gpu, text, 1, threads, 0, &out, 8, &result) != 0) fail_msg("%s", result.report.text);
    device_fetch(gpu, out, got, sizeof got);
    for (uint32_t i = 0; i < threads; i++)
        if (got[i] != want(i)) fail_msg("thread %u: %u, not %u", i, got[i], want(i));
}

/* ---- divergence --------------------------------------------------------------------------- */
static uint32_t collatz(uint32_t n)
{
    uint32_t steps = 0;
    for (n += 1; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void lanes_diverge_and_reconverge(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu, COLLATZ, 200, collatz);
    simt_close(gpu);
}

static uint32_t met(uint32_t i)
{
    return i < 32 ? 0xffffffffu : 0xffu;
}

/* After an if all lanes are back together, else the ballot would be of some. */
static void lanes_reconverge_immediately(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(
        gpu,
        KERNEL("", "setp.lt.u32 %p1, %r1, 5; @!%p1 bra ELSE; mov.u32 %r5, 1; bra END;\n"
                   "ELSE: mov.u32 %r5, 2;\nEND: activemask.b32 %r6; st.global.u32 [%rd2], %r6;"),
        40, met);
    simt_close(gpu);
}

static uint32_t early(uint32_t i)
{
    return i % 3 == 0 ? 0 : i % 2 ? 7 : 9;
}

static void lanes_may_end_early(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu,
                 KERNEL("", "rem.u32 %r5, %r1, 3; setp.eq.u32 %p1, %r5, 0; @%p1 exit;\n"
                            "and.b32 %r5, %r1, 1; setp.eq.u32 %p2, %r5, 1; @%p2 bra ODD;\n"
                            "mov.u32 %r6, 9; st.global.u32 [%rd2], %r6; ret;\nODD: mov.u32 %r6, 7; "
                            "st.global.u32 [%rd2], %r6;"),
                 64, early);
    simt_close(gpu);
}

static uint32_t by_table(uint32_t i)
{
    static const uint32_t VALUE[] = {10, 20, 10, 30};
    return VALUE[i % 4];
}

static void jumps_by_table(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(
        gpu,
        KERNEL("",
               "and.b32 %r5, %r1, 3;\nT: .branchtargets A, B, A, C;\nbrx.idx %r5, T;\n"
               "A: mov.u32 %r6, 10; bra END;\nB: mov.u32 %r6, 20; bra END;\nC: mov.u32 %r6, 30;\n"
               "END: st.global.u32 [%rd2], %r6;"),
        64, by_table);
    simt_close(gpu);
}

static uint32_t twice_plus_three(uint32_t i)
{
    return 2 * (i + 1) + 3 + i;
}

static void calls_are_expanded(void **state)
{
    static const char TEXT[] =
        HEAD ".func (.param .b32 ret) twice(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .pred "
             "%p;\nld.param.u32 %r1, [x];\n"
             "shl.b32 %r2, %r1, 1; st.param.b32 [ret], %r2;\nsetp.gt.u32 %p, %r1, 1000; @%p ret;\n"
             "add.s32 %r2, %r2, 3; st.param.b32 [ret], %r2; ret;\n}\n"
             ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 "
             "%rd2, %rd1, %rd2;\n"
             "add.s32 %r2, %r1, 1;\n{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r2;\n"
             "call.uni (r0), twice, (p0);\nld.param.b32 %r3, [r0]; }\nadd.s32 %r3, %r3, %r1; "
             "st.global.u32 [%rd2], %r3; ret;\n}\n";
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu, TEXT, 100, twice_plus_three);
    simt_close(gpu);
}

/* ---- barriers ----------------------------------------------------------------------------- */
static uint32_t reversed(uint32_t i)
{
    return 255 - i;
}

static void warps_wait_for_each_other(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu,
                 KERNEL(".shared .align 4 .b8 s[1024];\n",
                        "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.s32 %r7, %r5, %r6; st.shared.u32 "
                        "[%r7], %r1;\n"
                        "bar.sync 0; sub.s32 %r8, %r5, %r6; ld.shared.u32 %r9, [%r8+1020]; "
                        "st.global.u32 [%rd2], %r9;"),
                 256, reversed);
    simt_close(gpu);
}

static uint32_t hundred(uint32_t i)
{
    (void)i;
    return 100;
}

static void barrier_counts(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(
        gpu,
        KERNEL(
            "",
            "setp.lt.u32 %p1, %r1, 100; bar.red.popc.u32 %r5, 0, %p1; st.global.u32 [%rd2], %r5;"),
        160, hundred);
    simt_close(gpu);
}

static uint32_t seven(uint32_t i)
{
    (void)i;
    return 7;
}

/* Block 0 of a cluster's shared memory begins at 1 << 24: of a block alone that is its own. */
static void copies_stay_in_the_block(void **state)
{
    static const char TEXT[] =
        KERNEL(".shared .align 16 .b8 s[1024];\n",
               "st.global.u32 [%rd2], 7; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.s32 %r5, %r5, "
               "%r6; add.s32 %r7, %r5, 16777216;\n"
               "cp.async.ca.shared.global [%r7], [%rd2], 4; cp.async.wait_all;\n"
               "ld.shared.u32 %r9, [%r5]; st.global.u32 [%rd2], %r9;");
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu, TEXT, 64, seven);
    simt_close(gpu);
}

/* ---- data exchange between lanes ---------------------------------------------------------- */
static uint32_t warp_sum(uint32_t i)
{
    uint32_t first = i / 32 * 32;
    return 32 * first + 31 * 16;
}

static void shuffles(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(gpu,
                 KERNEL("", "mov.u32 %r5, %r1; shfl.sync.bfly.b32 %r6|%p1, %r5, 16, 31, -1; "
                            "add.s32 %r5, %r5, %r6;\n"
                            "shfl.sync.bfly.b32 %r6, %r5, 8, 31, -1; add.s32 %r5, %r5, %r6;\n"
                            "shfl.sync.bfly.b32 %r6, %r5, 4, 31, -1; add.s32 %r5, %r5, %r6;\n"
                            "shfl.sync.bfly.b32 %r6, %r5, 2, 31, -1; add.s32 %r5, %r5, %r6;\n"
                            "shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; add.s32 %r5, %r5, %r6; "
                            "st.global.u32 [%rd2], %r5;"),
                 64, warp_sum);
    simt_close(gpu);
}

static uint32_t down_in_eights(uint32_t i)
{
    uint32_t in_range = i % 8 + 3 < 8;
    return (in_range ? i + 3 : i) + (in_range ? 1000 : 0);
}

static void shuffles_in_parts(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(
        gpu,
        KERNEL("", "shfl.sync.down.b32 %r5|%p1, %r1, 3, 0x1807, -1; @%p1 add.s32 %r5, %r5, 1000;\n"
                   "st.global.u32 [%rd2], %r5;"),
        32, down_in_eights);
    simt_close(gpu);
}

static uint32_t ballot_of_odd(uint32_t i)
{
    (void)i;
    return 0xaaaaaaaau;
}

static void votes(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    expect_words(
        gpu,
        KERNEL("",
               "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 1; vote.sync.ballot.b32 %r6, %p1, -1;\n"
               "vote.sync.any.pred %p2, %p1, -1; @!%p2 mov.u32 %r6, 0; vote.sync.all.pred %p2, "
               "%p1, -1;\n"
               "@%p2 mov.u32 %r6, 1; st.global.u32 [%rd2], %r6;"),
        32, ballot_of_odd);
    simt_close(gpu);
}

/* ---- atomics ------------------------------------------------------------------------------ */
static void atomics_add_up(void **state)
{
    (void)state;
    static const char TEXT[] =
        KERNEL("", "red.global.add.u32 [%rd1], 1; atom.global.max.u32 %r5, [%rd1+4], %r4;\n"
                   "mov.f32 %f1, 0f3F000000; red.global.add.f32 [%rd1+8], %f1;");
    uint32_t word[3] = {0};
    SimtGpu *gpu = gpu_open(3, 1, 0);
    uint64_t out = device_data(gpu, word, sizeof word);
    SimtResult result;
    assert_int_equal(run(gpu, TEXT, 10, 96, 0, &out, 8, &result), 0);
    device_fetch(gpu, out, word, sizeof word);
    assert_int_equal(word[0], 960);
    assert_int_equal(word[1], 959);
    assert_int_equal(word[2], 0x43f00000); /* 480.0f */
    simt_close(gpu);
}

/* ---- findings ----------------------------------------------------------------------------- */
typedef struct Fault {
    const char *text;
    SimtCheck check;
    uint32_t blocks, threads, block, thread;
    const char *words[3];
} Fault;

#define LOC "\n.loc 1 42 0\n"

static const Fault FAULTS[] = {
    /* The allocation has 1024 bytes: thread 0 of block 4 of 64 is directly after it. */
    {KERNEL("", LOC "st.global.u32 [%rd2], %r1;"),
     SIMT_MEMCHECK,
     8,
     64,
     4,
     0,
     {"Invalid __global__ write of 4 bytes", "0 bytes past the end of a 1024-byte allocation",
      "conv.cu:42"}},
    {KERNEL("", LOC "ld.global.u32 %r5, [%rd2+-4]; st.global.u32 [%rd2], %r5;"),
     SIMT_MEMCHECK,
     1,
     64,
     0,
     0,
     {"Invalid __global__ read of 4 bytes", "4 bytes before a 1024-byte allocation", "conv.cu:42"}},
    {KERNEL("", LOC "st.global.u64 [%rd2], %rd1;"),
     SIMT_MEMCHECK,
     1,
     64,
     0,
     1,
     {"Misaligned __global__ write of 8 bytes", "no multiple of 8", "conv.cu:42"}},
    {KERNEL("", "mov.u64 %rd3, 0;" LOC "ld.global.u32 %r5, [%rd3];"),
     SIMT_MEMCHECK,
     1,
     1,
     0,
     0,
     {"Invalid __global__ read", "null pointer", "conv.cu:42"}},
    {KERNEL(".shared .align 4 .b8 s[64];\n",
            "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.s32 %r5, %r5, %r6;" LOC
            "st.shared.u32 [%r5], %r1;"),
     SIMT_MEMCHECK,
     1,
     32,
     0,
     16,
     {"Invalid __shared__ write of 4 bytes", "64 bytes", "conv.cu:42"}},
    {KERNEL(".const .align 4 .b8 c[64];\n",
            "mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3;" LOC "st.global.u32 [%rd3], %r1;"),
     SIMT_MEMCHECK,
     1,
     32,
     0,
     0,
     {"Invalid __global__ write", "__constant__", "conv.cu:42"}},
    {KERNEL("", "setp.lt.u32 %p1, %r1, 5; @%p1 bra SKIP;" LOC "bar.sync 0;\nSKIP:"),
     SIMT_SYNCCHECK,
     1,
     64,
     0,
     5,
     {"Barrier error", "divergent", "conv.cu:42"}},
    {KERNEL("", "setp.lt.u32 %p1, %r1, 32; @%p1 bra SKIP;" LOC
                "bar.sync 1; bra END;\nSKIP: bar.sync 0;\nEND:"),
     SIMT_SYNCCHECK,
     1,
     64,
     0,
     0,
     {"Barrier error", "never completed", "conv.cu"}},
    {KERNEL("", "setp.lt.u32 %p1, %r1, 5; @%p1 bra SKIP;" LOC
                "shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;\nSKIP:"),
     SIMT_SYNCCHECK,
     1,
     32,
     0,
     5,
     {"Divergent threads in a warp", "lane 0", "conv.cu:42"}},
    {KERNEL("", "setp.ne.u32 %p1, %r1, 7; @%p1 bra SKIP;" LOC "trap;\nSKIP:"),
     SIMT_TRAP,
     1,
     32,
     0,
     7,
     {"trap", "thread (7,0,0)", "conv.cu:42"}},
};

static void faults_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const Fault *fault = &FAULTS[i];
            SimtGpu *gpu = gpu_open(threads, 0, 1);
            uint64_t out = device_data(gpu, NULL, 1024);
            SimtResult result;
            assert_int_equal(
                run(gpu, fault->text, fault->blocks, fault->threads, 0, &out, 8, &result), -1);
            const SimtReport *r = &result.report;
            if (r->check != fault->check || r->block[0] != fault->block ||
                r->thread[0] != fault->thread)
                fail_msg("fault %zu: check %d, block %u, thread %u: %s", i, r->check, r->block[0],
                         r->thread[0], r->text);
            for (int k = 0; k < 3; k++)
                if (!strstr(r->text, fault->words[k]))
                    fail_msg("fault %zu lacks '%s': %s", i, fault->words[k], r->text);
            assert_string_equal(r->kernel, "k");
            simt_close(gpu);
        }
}

static void freed_memory_is_named(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    uint64_t out = device_data(gpu, NULL, 1024);
    Error error;
    SimtResult result;
    assert_int_equal(simt_free(gpu, out, &error), 0);
    assert_int_equal(run(gpu, KERNEL("", "st.global.u32 [%rd2], %r1;"), 1, 32, 0, &out, 8, &result),
                     -1);
    assert_int_equal(result.report.check, SIMT_MEMCHECK);
    assert_non_null(strstr(result.report.text, "Use after free"));
    assert_int_equal(simt_free(gpu, out, &error), -1);
    assert_non_null(strstr(error.text, "double free"));
    simt_close(gpu);
}

static void unwritten_memory_is_reported(void **state)
{
    (void)state;
    static const char GLOBAL[] =
        KERNEL("", LOC "ld.global.u32 %r5, [%rd2+512]; st.global.u32 [%rd2], %r5;");
    static const char SHARED[] = KERNEL(
        ".shared .align 4 .b8 s[512];\n",
        "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.s32 %r5, %r5, %r6;\n"
        "st.shared.u32 [%r5], %r1;" LOC "ld.shared.u32 %r7, [%r5+4]; st.global.u32 [%rd2], %r7;");
    SimtGpu *gpu = gpu_open(1, 1, 0);
    uint64_t out = device_data(gpu, NULL, 1024);
    uint32_t some[40] = {0};
    Error error;
    SimtResult result;
    assert_int_equal(simt_write(gpu, out + 512, some, sizeof some, &error), 0);
    assert_int_equal(run(gpu, GLOBAL, 1, 32, 0, &out, 8, &result), 0);
    assert_int_equal(result.report.check, SIMT_OK);
    assert_int_equal(run(gpu, GLOBAL, 1, 64, 0, &out, 8, &result), 0);
    assert_int_equal(result.report.check, SIMT_INITCHECK);
    assert_int_equal(result.report.thread[0], 40);
    assert_non_null(strstr(result.report.text, "conv.cu:42"));
    assert_int_equal(result.findings, 1);
    assert_int_equal(run(gpu, SHARED, 2, 64, 0, &out, 8, &result), 0);
    assert_int_equal(result.report.check, SIMT_INITCHECK);
    assert_int_equal(result.report.thread[0], 31);
    simt_close(gpu);
}

/* A bulk copy reads more than any lane's load: all of it is looked at.  With `gaps` every 16 bytes
 * need something that was written. */
static void a_bulk_copy_of_unwritten_memory(void **state)
{
    (void)state;
    static const char COPY[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 x)\n{\n"
        ".shared .align 128 .b8 s[256]; .shared .align 8 .b8 b[8];\n"
        ".reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p;\n"
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, s; mov.u32 %r2, b;\n"
        "mbarrier.init.shared.b64 [%r2], 1;\n"
        "mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 80;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1], 80, [%r2];\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0; @!%p bra WAIT;\nret;\n}\n";
    static const struct {
        uint32_t each, from, bytes; /* written: the first 4 of each 16 bytes, and a range */
        SimtCheck plain, gaps;
    } CASE[] = {{0, 0, 80, SIMT_OK, SIMT_OK},
                {5, 0, 64, SIMT_INITCHECK, SIMT_OK},
                {5, 16, 64, SIMT_INITCHECK, SIMT_OK},
                {5, 0, 0, SIMT_INITCHECK, SIMT_OK},
                {4, 0, 0, SIMT_INITCHECK, SIMT_INITCHECK}};
    SimtMachine machine = *small_machine(9);
    for (size_t i = 0; i < 2 * sizeof CASE / sizeof *CASE; i++) {
        SimtOptions options = {.threads = 1, .initcheck = 1, .gaps = i & 1};
        SimtCheck wanted = i & 1 ? CASE[i / 2].gaps : CASE[i / 2].plain;
        uint32_t some[20] = {0};
        Error error;
        SimtResult result;
        SimtGpu *gpu = simt_open(&machine, &options, &error);
        uint64_t x = device_data(gpu, NULL, sizeof some);
        for (uint32_t k = 0; k < CASE[i / 2].each; k++)
            assert_int_equal(simt_write(gpu, x + k * 16, some, 4, &error), 0);
        assert_int_equal(simt_write(gpu, x + CASE[i / 2].from, some, CASE[i / 2].bytes, &error), 0);
        assert_int_equal(run(gpu, COPY, 1, 1, 0, &x, sizeof x, &result), 0);
        assert_int_equal(result.report.check, wanted);
        if (wanted != SIMT_OK)
            assert_non_null(strstr(result.report.text, "memory read of 80 bytes"));
        simt_close(gpu);
    }
}

static void endless_loops_end(void **state)
{
    (void)state;
    Error error;
    SimtOptions options = {.threads = 2, .instruction_limit = 5000000};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    uint64_t out = device_data(gpu, NULL, 64);
    SimtResult result;
    assert_int_equal(run(gpu, KERNEL("", "LOOP: bra LOOP;"), 100, 64, 0, &out, 8, &result), -1);
    assert_int_equal(result.report.check, SIMT_TIMEOUT);
    /* A barrier in the loop, a warp that waits for nobody, and a great many blocks. */
    assert_int_equal(
        run(gpu, KERNEL("", "LOOP: bar.sync 0; bra LOOP;"), 2, 64, 0, &out, 8, &result), -1);
    assert_int_equal(result.report.check, SIMT_TIMEOUT);
    assert_int_equal(
        run(gpu, KERNEL("", "LOOP: bar.arrive 1, 1024; bra LOOP;"), 1, 32, 0, &out, 8, &result),
        -1);
    assert_int_equal(result.report.check, SIMT_TIMEOUT);
    assert_int_equal(run(gpu, KERNEL("", ""), 2000000, 64, 0, &out, 8, &result), -1);
    assert_int_equal(result.report.check, SIMT_TIMEOUT);
    simt_close(gpu);
}

/* A kernel that ends at once and has `values` registers. */
static char *registers_text(int values)
{
    char *text = malloc(2048 + (size_t)values * 96), *at = text;
    assert_non_null(text);
    at += sprintf(at,
                  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%q; .reg .f32 %%f<%d>;\n"
                       ".reg .b32 %%r; .reg .b64 %%rd;\nld.param.u64 %%rd, [p];\n"
                       "mov.u32 %%r, %%ctaid.x; setp.ne.u32 %%q, %%r, 4000000; @%%q bra END;\n",
                  values);
    for (int i = 0; i < values; i++)
        at += sprintf(at, "ld.global.f32 %%f%d, [%%rd + %d];\n", i, 4 * i);
    for (int i = 0; i < values; i++)
        at += sprintf(at, "st.global.f32 [%%rd + %d], %%f%d;\n", 4 * i, i);
    sprintf(at, "END: ret;\n}\n");
    return text;
}

/* Each warp starts with cleared registers, which takes longer than to execute nothing. */
static void registers_of_empty_blocks_count(void **state)
{
    (void)state;
    enum { BLOCKS = 1000 };
    for (int values = 8; values <= 2008; values += 2000) {
        Error error;
        SimtOptions options = {.threads = 1, .instruction_limit = 100 * BLOCKS};
        SimtGpu *gpu = simt_open(&SMALL, &options, &error);
        uint64_t out = device_data(gpu, NULL, 64);
        SimtResult result;
        char *text = registers_text(values);
        assert_int_equal(run(gpu, text, BLOCKS, 32, 0, &out, 8, &result), values > 8 ? -1 : 0);
        if (values > 8) assert_int_equal(result.report.check, SIMT_TIMEOUT);
        free(text);
        simt_close(gpu);
    }
}

/* Each of many variables is found by its name, in initialisers and by the program. */
static void each_of_many_names_is_found(void **state)
{
    (void)state;
    enum { NAMES = 2000, EACH = 64 };
    char *text = malloc((size_t)NAMES * EACH + 1024), *at = text, name[16];
    uint64_t table[NAMES], address, bytes, first;
    Error error = {""};
    assert_non_null(text);
    at += sprintf(at, HEAD);
    for (int i = 0; i < NAMES; i++) /* not in the order of their names */
        at += sprintf(at, ".global .u32 v%d;\n", i * 7 % NAMES);
    at += sprintf(at, ".global .u64 table[%d] = {v0", NAMES);
    for (int i = 1; i < NAMES; i++)
        at += sprintf(at, ", v%d", i);
    sprintf(at, "};\n.visible .entry k() { ret; }\n.visible .entry j() { ret; }\n");
    SimtGpu *gpu = gpu_open(1, 0, 0);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    if (!module) fail_msg("%s", error.text);
    assert_int_equal(simt_variable_find(module, "table", &first, &bytes, &error), 0);
    device_fetch(gpu, first, table, sizeof table);
    for (int i = 0; i < NAMES; i++) {
        sprintf(name, "v%d", i);
        assert_int_equal(simt_variable_find(module, name, &address, &bytes, &error), 0);
        assert_int_equal(address, table[i]);
    }
    assert_int_equal(simt_variable_find(module, "v", &address, &bytes, &error), -1);
    assert_int_equal(simt_variable_find(module, "v2000", &address, &bytes, &error), -1);
    assert_non_null(simt_kernel_find(module, "j", &error));
    assert_non_null(simt_kernel_find(module, "k", &error));
    assert_null(simt_kernel_find(module, "i", &error));
    assert_null(simt_kernel_find(module, "v0", &error));
    simt_module_unload(gpu, module);
    simt_close(gpu);
    free(text);
}

/* cp.async may have a predicate in place of a size: where it holds, zeros are written. */
static void copies_that_are_ignored(void **state)
{
    (void)state;
    static const char TEXT[] =
        KERNEL(".shared .align 16 .b8 s[512];\n",
               "mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.s32 %r5, %r5, %r6;\n"
               "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd3, %rd1, %rd3;\n"
               "setp.lt.u32 %p1, %r1, 8; st.global.u32 [%rd3], %r1; bar.sync 0;\n"
               "cp.async.cg.shared.global [%r5], [%rd3], 16, %p1; cp.async.wait_all;\n"
               "ld.shared.u32 %r8, [%r5]; bar.sync 0; st.global.u32 [%rd2], %r8;");
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 512);
    uint32_t words[32];
    SimtResult result;
    assert_int_equal(run(gpu, TEXT, 1, 32, 0, &out, 8, &result), 0);
    assert_int_equal(result.counters.copied_sectors, 12);
    device_fetch(gpu, out, words, sizeof words);
    for (uint32_t k = 0; k < 32; k++)
        assert_int_equal(words[k], k < 8 ? 0 : k);
    simt_close(gpu);
}

/* A lane that copies nothing reads nothing, wherever its source is; its zeros need a place. */
static void copies_of_nothing(void **state)
{
    (void)state;
    static const char TEXT[] =
        KERNEL(".shared .align 16 .b8 s[512];\n",
               "mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.s32 %r5, %r5, %r6; mov.u32 %r7, 0;\n"
               "st.shared.u32 [%r5], %r1;\n"
               "cp.async.cg.shared.global [%r5], [%rd3], 16, %r7; cp.async.wait_all;\n"
               "ld.shared.u32 %r8, [%r5]; st.global.u32 [%rd2], %r8;");
    static const char OUTSIDE[] =
        KERNEL(".shared .align 16 .b8 s[512];\n",
               "mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.s32 %r5, %r5, %r6; mov.u32 %r7, 0;\n" LOC
               "cp.async.cg.shared.global [%r5+16], [%rd1], 16, %r7; cp.async.wait_all;");
    static const char *const SOURCE[] = {"add.s64 %rd3, %rd1, -16;", "mov.u64 %rd3, 0;",
                                         "mov.u64 %rd3, 0xfffffffffffffff0;",
                                         "mov.u64 %rd3, 0x7fffffffff00;"};
    SimtOptions options = {.threads = 1, .initcheck = 1, .racecheck = 1, .count = 1, .profile = 1};
    Error error = {""};
    SimtResult result;
    for (size_t i = 0; i < sizeof SOURCE / sizeof *SOURCE; i++) {
        char text[4096], *at;
        SimtGpu *gpu = simt_open(&SMALL, &options, &error);
        uint64_t out = device_data(gpu, NULL, 128);
        uint32_t words[32];
        at = strstr(TEXT, "st.shared");
        snprintf(text, sizeof text, "%.*s%s\n%s", (int)(at - TEXT), TEXT, SOURCE[i], at);
        assert_int_equal(run(gpu, text, 1, 32, 0, &out, 8, &result), 0);
        assert_int_equal(result.report.check, SIMT_OK);
        assert_int_equal(result.counters.global_load_requests, 0);
        device_fetch(gpu, out, words, sizeof words);
        for (int k = 0; k < 32; k++)
            assert_int_equal(words[k], 0);
        assert_int_equal(run(gpu, OUTSIDE, 1, 32, 0, &out, 8, &result), -1);
        assert_int_equal(result.report.check, SIMT_MEMCHECK);
        assert_int_equal(result.report.thread[0], 31);
        simt_close(gpu);
    }
}

static void refused_judge(size_t i)
{
    Error error = {""};
    SimtOptions options = {.threads = 1};
    SimtMachine machine = SMALL;
    SimtResult result;
    if (REFUSED[i].hopper) machine = *small_machine(9);
    if (REFUSED[i].no_tensor_cores) machine.tensor_fma = 0;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    uint64_t out = device_data(gpu, NULL, 64);
    SimtModule *module = simt_module_load(gpu, REFUSED[i].text, strlen(REFUSED[i].text), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, "k", &error) : NULL;
    if (!kernel) fail_msg("%s", error.text);
    SimtLaunch launch = {.dynamic_shared = REFUSED[i].shared,
                         .params = &out,
                         .params_bytes = sizeof out,
                         .cooperative = REFUSED[i].cooperative};
    memcpy(launch.grid, REFUSED[i].grid, sizeof launch.grid);
    memcpy(launch.block, REFUSED[i].block, sizeof launch.block);
    memcpy(launch.cluster, REFUSED[i].cluster, sizeof launch.cluster);
    if (REFUSED[i].params_bytes) launch.params_bytes = REFUSED[i].params_bytes;
    assert_int_equal(simt_launch(gpu, kernel, &launch, &result), -1);
    if (result.report.check != REFUSED[i].check || !strstr(result.report.text, REFUSED[i].words))
        fail_msg("wanted '%s', got check %d: %s", REFUSED[i].words, (int)result.report.check,
                 result.report.text);
    simt_close(gpu);
}

static void bad_launches(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
        refused_judge(i);
}

/* ---- counters ----------------------------------------------------------------------------- */
typedef struct Pattern {
    uint32_t stride, offset; /* bytes */
    uint64_t want;
} Pattern;

static void global_sectors(void **state)
{
    static const Pattern PATTERNS[] = {{0, 0, 1}, {4, 0, 4},   {8, 0, 8},  {128, 0, 32},
                                       {4, 4, 5}, {32, 0, 32}, {16, 0, 16}};
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char text[2048];
        uint64_t out = device_data(gpu, NULL, 8192);
        SimtResult result;
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<9>; .reg .b64 %%rd<9>; "
                 ".reg .f32 %%f<3>;\n"
                 "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mul.lo.s32 %%r5, %%r1, %u;\n"
                 "cvt.u64.u32 %%rd3, %%r5; add.s64 %%rd3, %%rd1, %%rd3; ld.global.f32 %%f1, "
                 "[%%rd3+%u]; ret;\n}\n",
                 HEAD, PATTERNS[i].stride, PATTERNS[i].offset);
        assert_int_equal(run(gpu, text, 1, 32, 0, &out, 8, &result), 0);
        if (result.counters.global_load_sectors != PATTERNS[i].want)
            fail_msg("stride %u offset %u: %llu sectors", PATTERNS[i].stride, PATTERNS[i].offset,
                     (unsigned long long)result.counters.global_load_sectors);
        assert_int_equal(result.counters.global_load_requests, 1);
        assert_int_equal(result.counters.global_load_bytes, 128);
        assert_int_equal(result.counters.warp_instructions, 7);
        assert_int_equal(result.counters.instructions, 7 * 32);
    }
    simt_close(gpu);
}

/* Findings of `threads` threads of one block, each reported once per access. */
static uint64_t findings_of(const char *text, uint32_t threads)
{
    SimtOptions options = {
        .threads = 1, .initcheck = 1, .init_at_read = 1, .racecheck = 1, .count = 1};
    Error error = {""};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    uint64_t out = device_data(gpu, NULL, 1024);
    SimtResult result;
    assert_int_equal(run(gpu, text, 1, threads, 0, &out, 8, &result), 0);
    simt_close(gpu);
    return result.findings;
}

#define READ "ld.shared.u32 %r5, [s];\n"

/* A word that was read before need not be checked again, unless it has been written since or was
 * never written.
 */
static void words_read_earlier_are_checked_again(void **state)
{
    (void)state;
    assert_int_equal(findings_of(KERNEL(".shared .b32 s;\n", READ READ READ), 64), 6);
    assert_int_equal(
        findings_of(
            KERNEL(".shared .b32 s;\n",
                   "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 5; bar.sync 0;\n" READ READ
                   "setp.eq.u32 %p1, %r1, 32; @%p1 st.shared.u32 [s], 7;\n" READ),
            96),
        4); /* warp 1 writes what warp 0 read, and warp 2 reads that three times */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_read_earlier_are_checked_again),
        cmocka_unit_test(lanes_diverge_and_reconverge),
        cmocka_unit_test(lanes_reconverge_immediately),
        cmocka_unit_test(lanes_may_end_early),
        cmocka_unit_test(jumps_by_table),
        cmocka_unit_test(calls_are_expanded),
        cmocka_unit_test(warps_wait_for_each_other),
        cmocka_unit_test(barrier_counts),
        cmocka_unit_test(copies_stay_in_the_block),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(shuffles_in_parts),
        cmocka_unit_test(votes),
        cmocka_unit_test(atomics_add_up),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(freed_memory_is_named),
        cmocka_unit_test(unwritten_memory_is_reported),
        cmocka_unit_test(a_bulk_copy_of_unwritten_memory),
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(registers_of_empty_blocks_count),
        cmocka_unit_test(each_of_many_names_is_found),
        cmocka_unit_test(bad_launches),
        cmocka_unit_test(copies_of_nothing),
        cmocka_unit_test(copies_that_are_ignored),
        cmocka_unit_test(global_sectors),
    };
    return cmocka_run_group_tests_name("simt checks", tests, NULL, NULL);
}
