/* test_simt_checks.c - divergence, barriers, findings, counters, and that host threads do not
 * show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

/* A kernel of one pointer; %rd1 is it, %r1 the thread, %r2 the block, %rd2 the thread's own word of
 * the output. */
#define KERNEL(shared, body)                                                                       \
    HEAD ".file 1 \"dir/conv.cu\"\n" shared ".visible .entry k(.param .u64 out)\n{\n"              \
         ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>;\n"             \
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, "     \
         "%ntid.x;\n"                                                                              \
         "mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd1, "          \
         "%rd2;\n" body "\nret;\n}\n"

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

static const char COLLATZ[] =
    KERNEL("", "add.s32 %r5, %r1, 1; mov.u32 %r6, 0;\n"
               "LOOP: setp.eq.s32 %p1, %r5, 1; @%p1 bra DONE;\n"
               "and.b32 %r7, %r5, 1; setp.eq.s32 %p2, %r7, 0; @%p2 bra EVEN;\n"
               "mad.lo.s32 %r5, %r5, 3, 1; bra NEXT;\n"
               "EVEN: shr.u32 %r5, %r5, 1;\n"
               "NEXT: add.s32 %r6, %r6, 1; bra LOOP;\n"
               "DONE: st.global.u32 [%rd2], %r6;");

static void lanes_part_and_meet(void **state)
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
static void lanes_meet_at_once(void **state)
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

/* ---- what lanes tell each other ----------------------------------------------------------- */
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
    /* The allocation is 1024 bytes: thread 0 of block 4 of 64 is just behind it. */
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

static void unwritten_memory_is_told(void **state)
{
    (void)state;
    static const char GLOBAL[] =
        KERNEL("", LOC "ld.global.u32 %r5, [%rd2+512]; st.global.u32 [%rd2], %r5;");
    static const char SHARED[] =
        KERNEL(".shared .align 4 .b8 s[512];\n",
               "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.s32 %r5, %r5, %r6;\n"
               "st.shared.u32 [%r5], %r1;" LOC "ld.shared.u32 %r7, [%r5+4];");
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
static void a_bulk_copy_of_what_nobody_wrote(void **state)
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
        uint32_t each, from, bytes; /* written: the first 4 of so many 16 bytes, and a stretch */
        SimtCheck plain, gaps;
    } CASE[] = {{0, 0, 80, SIMT_OK, SIMT_OK},
                {5, 0, 64, SIMT_INITCHECK, SIMT_OK},
                {5, 16, 64, SIMT_INITCHECK, SIMT_OK},
                {5, 0, 0, SIMT_INITCHECK, SIMT_OK},
                {4, 0, 0, SIMT_INITCHECK, SIMT_INITCHECK}};
    SimtMachine machine = SMALL;
    machine.cc_major = 9;
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

/* PTX ISA, cp.async.mbarrier.arrive: without .noinc the pending count is raised by one before the
 * arrival, so that a barrier of two still waits for two; with it, for one. */
#define ARRIVING(form)                                                                             \
    KERNEL(".shared .align 8 .b64 s;\n",                                                           \
           "mov.u32 %r5, s; mov.u32 %r6, 2; mbarrier.init.shared.b64 [%r5], %r6;\n"                \
           "cp.async.mbarrier.arrive" form ".shared.b64 [%r5];\n"                                  \
           "mbarrier.arrive.shared.b64 %rd4, [%r5];\n"                                             \
           "mbarrier.pending_count.b64 %r7, %rd4; st.global.u32 [%rd2], %r7;")

static void copies_that_arrive(void **state)
{
    static const char *const TEXT[] = {ARRIVING(""), ARRIVING(".noinc")};
    (void)state;
    for (uint32_t counted = 0; counted < 2; counted++) {
        SimtGpu *gpu = gpu_open(1, 0, 0);
        uint64_t out = device_data(gpu, NULL, 4);
        uint32_t pending;
        SimtResult result;
        assert_int_equal(run(gpu, TEXT[counted], 1, 1, 0, &out, 8, &result), 0);
        device_fetch(gpu, out, &pending, sizeof pending);
        assert_int_equal(pending, 2 - counted);
        simt_close(gpu);
    }
}

/* A kernel that multiplies on tensor cores, and one that is compiled for small blocks. */
#define PRODUCT                                                                                    \
    KERNEL("", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, "     \
               "%r1}, {%r1}, {%f1, %f2, %f3, %f4};")
#define SMALL_BLOCKS HEAD ".visible .entry k(.param .u64 out)\n.maxntid 64\n{\nret;\n}\n"
#define PAIRS                                                                                      \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n"
#define LARGE_TILE                                                                                 \
    HEAD ".visible .entry k(.param .u64 out)\n{\n.shared .align 4 .b8 tile[70000];\n"              \
         ".reg .b32 %r<2>;\nst.shared.u32 [tile], %r1;\nret;\n}\n"

/* Launches that CUDA refuses before a kernel starts; of each the words. */
static const struct {
    const char *text;
    uint32_t grid[3], block[3], shared, params_bytes, cluster[3];
    int cooperative, hopper, no_tensor_cores;
    SimtCheck check;
    const char *words;
} REFUSED[] = {
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {1025, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "a block of 1025 x 1 x 1 = 1025 threads: a small GPU takes at most 1024"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {1, 1, 65},
     .check = SIMT_BAD_LAUNCH,
     .words = "(z: 64)"},
    {.text = KERNEL("", ""),
     .grid = {0, 1, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "k with a grid of 0 x 1 x 1 blocks of 32 x 1 x 1 threads: no dimension may be 0"},
    {.text = KERNEL("", ""),
     .grid = {1, 65536, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "grid 1 x 65536 x 1: a small GPU takes at most 2147483647 x 65535 x 65535 blocks"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .params_bytes = 4,
     .check = SIMT_BAD_LAUNCH,
     .words = "the kernel takes 8 bytes of parameters, the launch gives 4"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .shared = 70000,
     .check = SIMT_BAD_SHARED,
     .words = "70000 bytes of dynamic shared memory: k may use at most 65536 beside its 0 static"},
    {.text = LARGE_TILE,
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_RESOURCES,
     .words = "k has 70000 static bytes of shared memory: a small GPU allows 65536 a block"},
    {.text = SMALL_BLOCKS,
     .grid = {1, 1, 1},
     .block = {65, 1, 1},
     .check = SIMT_BAD_RESOURCES,
     .words = "a block of 65 threads: k is compiled for at most 64 (__launch_bounds__)"},
    {.text = PRODUCT,
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .no_tensor_cores = 1,
     .check = SIMT_UNSUPPORTED,
     .words = "the kernel uses tensor cores (mma, wmma or ldmatrix), which a small GPU does not"},
    {.text = KERNEL("", ""),
     .grid = {1000, 1, 1},
     .block = {1024, 1, 1},
     .cooperative = 1,
     .check = SIMT_BAD_COOPERATIVE,
     .words = "a cooperative grid of 1000 blocks: a small GPU holds 8 of them at once, 2 on each"},
    {.text = KERNEL("", ""),
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cluster = {2, 1, 1},
     .check = SIMT_UNSUPPORTED,
     .words = "has no clusters of blocks: it needs 9.0"},
    {.text = KERNEL("", ""),
     .grid = {32, 1, 1},
     .block = {32, 1, 1},
     .cluster = {32, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a cluster of 32 blocks: at most 16 are possible"},
    {.text = KERNEL("", ""),
     .grid = {5, 1, 1},
     .block = {32, 1, 1},
     .cluster = {2, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a grid of 5 x 1 x 1 blocks is no whole number of clusters of 2 x 1 x 1"},
    {.text = PAIRS,
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cluster = {4, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a cluster of 4 x 1 x 1 blocks: the kernel is compiled for 2 x 1 x 1"},
    {.text = PAIRS,
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cooperative = 1,
     .hopper = 1,
     .check = SIMT_UNSUPPORTED,
     .words = "a cooperative grid of clusters is not supported"},
};

static void refused_judge(size_t i)
{
    Error error = {""};
    SimtOptions options = {.threads = 1};
    SimtMachine machine = SMALL;
    SimtResult result;
    if (REFUSED[i].hopper) machine.cc_major = 9;
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

/* Runs these accesses by one warp.  %r1: the thread, %r2: an array of 8 KB in shared memory. */
static Counters shared_counters(const char *access)
{
    char text[2048];
    SimtResult result;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    snprintf(text, sizeof text,
             "%s.visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 s[8192];\n"
             ".reg .b32 %%r<14>; .reg .b64 %%rd<9>; .reg .pred %%p<2>; .reg .b16 %%h<7>;\n"
             "ld.param.u64 %%rd1, [out];\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s; mov.u32 %%r5, 0; mov.u32 %%r6, 0; "
             "mov.u32 %%r7, 0; mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u64 %%rd6, 0;\n"
             "%s ret;\n}\n",
             HEAD, access);
    uint64_t out = device_data(gpu, NULL, 8192);
    if (run(gpu, text, 1, 32, 0, &out, sizeof out, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    return result.counters;
}

static void assert_wavefronts(const char *access, uint64_t want)
{
    uint64_t wavefronts = shared_counters(access).shared_wavefronts;
    if (wavefronts != want) fail_msg("%s %llu wavefronts", access, (unsigned long long)wavefronts);
}

static void shared_conflicts(void **state)
{
    /* Words between lanes, and type: 32 banks of a word each. */
    static const struct {
        uint32_t stride;
        const char *type, *reg;
        uint64_t want;
    } PATTERNS[] = {
        {0, "u32", "%r6", 1},  {4, "u32", "%r6", 1},    {8, "u32", "%r6", 2},
        {16, "u32", "%r6", 4}, {128, "u32", "%r6", 32}, {132, "u32", "%r6", 1},
        {8, "u64", "%rd6", 2}, {16, "u64", "%rd6", 4},  {16, "v4.u32", "{%r6,%r7,%r8,%r9}", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[200];
        snprintf(access, sizeof access, "mad.lo.s32 %%r3, %%r1, %u, %%r2; ld.shared.%s %s, [%%r3];",
                 PATTERNS[i].stride, PATTERNS[i].type, PATTERNS[i].reg);
        assert_wavefronts(access, PATTERNS[i].want);
    }
}

/* As ncu counts them on an H200. */
static void wide_accesses_go_by_parts_of_a_warp(void **state)
{
    static const struct {
        const char *place, *access; /* %r4: which of the units each lane wants */
        uint32_t stride;
        uint64_t want;
    } PATTERNS[] = {
        /* Half-warps apart, but where neighbours want the same. */
        {"and.b32 %r4, %r1, 15;", "ld.shared.u64 %rd6, [%r3];", 8, 2},
        {"shr.u32 %r4, %r1, 1;", "ld.shared.u64 %rd6, [%r3];", 8, 1},
        {"and.b32 %r4, %r1, 13;", "ld.shared.u64 %rd6, [%r3];", 8, 1}, /* next but one */
        {"shr.u32 %r4, %r1, 1;", "st.shared.u64 [%r3], %rd6;", 8, 2},
        /* Quarters. */
        {"and.b32 %r4, %r1, 7;", "ld.shared.v4.u32 {%r6,%r7,%r8,%r9}, [%r3];", 16, 4},
        {"shr.u32 %r4, %r1, 1;", "ld.shared.v4.u32 {%r6,%r7,%r8,%r9}, [%r3];", 16, 2},
        {"mov.u32 %r4, 0;", "st.shared.v4.u32 [%r3], {%r6,%r7,%r8,%r9};", 16, 4},
        /* Of a vector what is read: one word, a pair, two words, or all of it. */
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r5, %r12;", 16, 4},
        {"mov.u32 %r4, %r1;", "ld.shared.v2.u32 {%r10,%r11}, [%r3]; add.u32 %r5, %r5, %r11;", 8, 2},
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r12, %r13;", 16, 4},
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r10, %r13;", 16, 8},
        {"mov.u32 %r4, %r1;",
         "ld.volatile.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r10, %r13;", 16, 4},
        /* Neighbours are joined, if nothing between them may touch them. */
        {"mov.u32 %r4, %r1;", "st.shared.u32 [%r3], %r6; st.shared.u32 [%r3+4], %r7;", 8, 2},
        {"mov.u32 %r4, %r1;",
         "st.shared.u32 [%r3], %r6; ld.shared.u32 %r8, [%r3]; st.shared.u32 [%r3+4], %r7;", 8, 6},
        {"mov.u32 %r4, %r1;",
         "st.shared.v2.u32 [%r3+8], {%r6,%r7}; st.shared.v2.u32 [%r3], {%r8,%r9};", 16, 4},
        {"mov.u32 %r4, %r1;", "st.shared.u32 [%r3], %r6; st.shared.u32 [%r3+4], %r7;", 12, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400];
        snprintf(access, sizeof access, "%s mad.lo.s32 %%r3, %%r4, %u, %%r2;\n%s",
                 PATTERNS[i].place, PATTERNS[i].stride, PATTERNS[i].access);
        assert_wavefronts(access, PATTERNS[i].want);
    }
}

#define HALVES                                                                                     \
    ".reg .f32 %f<2>; ld.shared.b16 %h1, [%r3]; ld.shared.b16 %h2, [%r3+2]; "                      \
    "ld.shared.b16 %h3, [%r3+4]; ld.shared.b16 %h4, [%r3+6]; "

/* What machine code has of these loads and stores, for sm_75, sm_80 and sm_90. */
static void accesses_are_joined_and_left_out(void **state)
{
    static const struct {
        const char *access;
        uint64_t want; /* %r3: a multiple of 16 */
    } PATTERNS[] = {
        /* Of three words all four are loaded. */
        {"ld.shared.u32 %r6, [%r3+4]; ld.shared.u32 %r7, [%r3]; ld.shared.u32 %r8, [%r3+12];", 1},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+4]; ld.shared.u32 %r8, [%r3+8]; "
         "ld.shared.u32 %r9, [%r3+12]; ld.shared.u32 %r5, [%r3+16];",
         2},
        {"ld.shared.u32 %r6, [%r3+4]; ld.shared.u32 %r7, [%r3+8];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+12];", 2},
        {"st.shared.u32 [%r3+4], %r6; st.shared.u32 [%r3+8], %r7; st.shared.u32 [%r3+12], %r8;", 2},
        /* Up to four halves, which nothing makes integers. */
        {HALVES "fma.rn.f16 %h5, %h1, %h2, %h3; cvt.f32.f16 %f1, %h4;", 1},
        {HALVES "ld.shared.b16 %h6, [%r3+8]; mov.b32 %r6, {%h6,%h6}; mov.b32 %r7, {%h1,%h2};", 2},
        {HALVES "mov.b32 %r5, {%h1,%h2}; cvt.u32.u16 %r6, %h3; cvt.u32.u16 %r7, %h4;", 3},
        {HALVES "add.u16 %h5, %h1, %h2; add.u16 %h5, %h3, %h4;", 4},
        {"ld.shared.b16 %h1, [%r3+6]; ld.shared.b16 %h2, [%r3+4]; add.f16 %h3, %h1, %h2;", 1},
        {"ld.shared.b16 %h1, [%r3+2]; ld.shared.b16 %h2, [%r3+4]; add.f16 %h3, %h1, %h2;", 2},
        {"st.shared.b16 [%r3], %h1; st.shared.b16 [%r3+2], %h2; st.shared.b16 [%r3+4], %h3; "
         "st.shared.b16 [%r3+6], %h4;",
         1},
        {"st.shared.b16 [%r3], %h1; st.shared.b16 [%r3+2], %h2; st.shared.b16 [%r3+4], %h3;", 2},
        /* Of variables what is declared first lies first. */
        {".shared .align 4 .b8 w[16]; .shared .align 4 .u32 n; st.shared.u32 [n], %r6; "
         "ld.shared.u32 %r6, [w]; ld.shared.u32 %r7, [w+4]; ld.shared.u32 %r8, [w+8]; "
         "ld.shared.u32 %r9, [w+12];",
         2},
        {".shared .align 4 .u32 n; .shared .align 4 .b8 w[16]; ld.shared.u32 %r6, [w]; "
         "ld.shared.u32 %r7, [w+4]; st.shared.u32 [n], %r6;",
         3},
        /* What has been loaded is not loaded again ... */
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3];", 1},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r6, [%r3];", 1},
        {"ld.shared.v2.u32 {%r6,%r7}, [%r3]; dp4a.s32.s32 %r5, %r6, %r7, %r5;"
         "ld.shared.v2.u32 {%r8,%r9}, [%r3]; dp4a.s32.s32 %r5, %r8, %r9, %r5;",
         1},
        {"ld.shared.u32 %r6, [%r3]; st.global.u32 [%rd1], %r6; ld.shared.u32 %r7, [%r3];", 1},
        /* ... but where something may be written or heard between the two. */
        {"ld.shared.u32 %r6, [%r3]; st.shared.u32 [%r3+4], %r5; ld.shared.u32 %r7, [%r3];", 3},
        {"ld.shared.u32 %r6, [%r3]; st.u32 [%rd1], %r5; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; bar.sync 0; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; bar.warp.sync -1; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; fence.acq_rel.cta; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.volatile.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.volatile.shared.u32 %r7, [%r3];", 2},
        /* Not the same. */
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+32];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u8 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; add.u32 %r3, %r3, 16; ld.shared.u32 %r7, [%r3];", 2},
        {"st.shared.u32 [%r3], %r3; ld.shared.u32 %r3, [%r3]; ld.shared.u32 %r7, [%r3];", 3},
        {"ld.shared.u32 %r6, [%r3]; setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.u32 %r7, [%r3];", 2},
        {"mov.u32 %r6, 0; LOOP: add.u32 %r6, %r6, 1; ld.shared.u32 %r7, [%r3];"
         "setp.lt.u32 %p1, %r6, 3; @%p1 bra LOOP; ld.shared.u32 %r8, [%r3];",
         4}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[500];
        snprintf(access, sizeof access, "mad.lo.s32 %%r3, %%r1, 64, %%r2;\n%s", PATTERNS[i].access);
        Counters counters = shared_counters(access);
        uint64_t all = counters.shared_load_requests + counters.shared_store_requests;
        if (all != PATTERNS[i].want) fail_msg("%s %llu requests", access, (unsigned long long)all);
    }
}

/* As ncu counts them on an H200, with what is more than the bytes need: a bank serves one lane
 * after the other, comparing takes twice as long, and each turn of a loop serves a lane of each
 * bank. */
static void atomics_pass_by_banks(void **state)
{
    static const struct {
        const char *place, *access;
        uint32_t stride;
        uint64_t want, conflicts;
    } PATTERNS[] = {
        {"mov.u32 %r4, %r1;", "red.shared.add.u32 [%r3], %r1;", 4, 1, 0},
        {"mov.u32 %r4, %r1;", "red.shared.add.u32 [%r3], %r1;", 8, 2, 1},
        {"shr.u32 %r4, %r1, 2;", "red.shared.or.b32 [%r3], %r1;", 4, 4, 3},
        {"shr.u32 %r4, %r1, 3;", "red.shared.max.s32 [%r3], %r1;", 128, 32, 31},
        {"mov.u32 %r4, %r1;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 4, 2, 0},
        {"shr.u32 %r4, %r1, 2;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 4, 8, 6},
        {"mov.u32 %r4, %r1;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 128, 64, 62},
        {"mov.u32 %r4, %r1;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 1 + 2, 0},
        {"shr.u32 %r4, %r1, 1;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 2 * 3, 0},
        {"shr.u32 %r4, %r1, 5;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 32 * 3, 0},
        {"shr.u32 %r4, %r1, 2;", "red.shared.add.f32 [%r3], 0f3f800000;", 128, 144 + 64, 112},
        {"mov.u32 %r4, %r1;", "red.shared.add.f64 [%r3], 0d3ff0000000000000;", 8, 2 + 4, 0},
        {"shr.u32 %r4, %r1, 3;", "red.shared.add.u64 [%r3], 12345;", 8, 8 + 32, 8},
        {"and.b32 %r4, %r1, 3;", "red.shared.add.f64 [%r3], 0d3ff0000000000000;", 8, 12 + 24, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400];
        snprintf(access, sizeof access, "%s mad.lo.s32 %%r3, %%r4, %u, %%r2;\n%s",
                 PATTERNS[i].place, PATTERNS[i].stride, PATTERNS[i].access);
        Counters counters = shared_counters(access);
        uint64_t all = counters.shared_wavefronts + counters.shared_atomic_wavefronts;
        if (all != PATTERNS[i].want || counters.bank_conflicts != PATTERNS[i].conflicts)
            fail_msg("%s %llu wavefronts, %llu too many", access, (unsigned long long)all,
                     (unsigned long long)counters.bank_conflicts);
    }
}

/* wmma's loads and stores are what ptxas makes of them: factors of halves and bytes come as
 * ldmatrix takes them, bytes that lie the other way one by one, and sums in pairs of a row. */
static void matrices_are_accessed_as_by_machine_code(void **state)
{
    static const struct {
        const char *access;
        uint32_t pitch; /* elements */
        uint64_t requests, want;
    } PATTERNS[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {H}, [%r2], P;", 40, 1, 4},
        {"wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {H}, [%r2], P;", 72, 1, 4},
        {"wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {H}, [%r2], P;", 64, 1, 32},
        {"wmma.load.b.sync.aligned.col.m8n32k16.shared.f16 {H}, [%r2], P;", 24, 2, 8},
        {"wmma.load.a.sync.aligned.row.m8n32k16.shared.f16 {H}, [%r2], P;", 16, 1, 4},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r5,%r6}, [%r2], P;", 16, 1, 2},
        {"wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 {%r5,%r6}, [%r2], P;", 16, 8, 16},
        {"wmma.load.b.sync.aligned.col.m32n8k16.shared.u8 {%r5}, [%r2], P;", 16, 1, 1},
        {"wmma.load.b.sync.aligned.row.m32n8k16.shared.u8 {%r5}, [%r2], P;", 64, 4, 16},
        {"wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {Q}, [%r2], P;", 8, 4, 8},
        {"wmma.load.a.sync.aligned.col.m16n16k8.shared.tf32 {Q}, [%r2], P;", 16, 4, 8},
        {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {H}, [%r2], P;", 16, 4, 16},
        {"wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {H}, [%r2], P;", 20, 8, 8},
        {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {Q}, [%r2], P;", 24, 4, 4},
        {"wmma.load.b.sync.aligned.row.m8n32k16.shared.s8 {Q}, [%r2], P;", 32, 16, 64},
        {"wmma.store.d.sync.aligned.col.m8n32k16.shared.s32 [%r2], {H}, P;", 8, 4, 8},
        {"wmma.store.d.sync.aligned.row.m8n32k16.shared.s32 [%r2], {H}, P;", 36, 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400] = "";
        for (const char *c = PATTERNS[i].access; *c; c++) {
            char part[60] = {*c, '\0'};
            if (*c == 'H') strcpy(part, "%r5,%r6,%r7,%r8,%r9,%r10,%r11,%r12");
            if (*c == 'Q') strcpy(part, "%r5,%r6,%r7,%r8");
            if (*c == 'P') snprintf(part, sizeof part, "%u", PATTERNS[i].pitch);
            strcat(access, part);
        }
        Counters c = shared_counters(access);
        uint64_t requests = c.shared_load_requests + c.shared_store_requests;
        if (requests != PATTERNS[i].requests || c.shared_wavefronts != PATTERNS[i].want)
            fail_msg("%s %llu accesses, %llu wavefronts", access, (unsigned long long)requests,
                     (unsigned long long)c.shared_wavefronts);
    }
}

/* As ncu counts them on an H200: halves of sectors go together that come from one line, go to one
 * row and stay halves of the same kind, and a sector goes to one place at a time.  The hardware
 * counts sectors of shared memory, once for each line that something of them comes from; ncu's
 * source page once for each sector. */
static void copies_past_the_l1_go_by_sectors(void **state)
{
    static const struct {
        uint32_t pitch, begin, stride, lanes;
        uint64_t want, loaded, copied;
    } PATTERNS[] = {
        {16, 0, 16, 32, 4, 16, 16},   {16, 16, 16, 32, 12, 20, 32}, {16, 32, 16, 32, 8, 16, 16},
        {16, 48, 16, 32, 16, 20, 32}, {64, 0, 16, 32, 32, 32, 32},  {144, 0, 16, 32, 32, 32, 32},
        {32, 0, 16, 32, 32, 32, 32},  {48, 0, 16, 32, 24, 32, 32},  {48, 48, 16, 32, 28, 32, 32},
        {16, 0, 32, 32, 32, 16, 32},  {64, 0, 64, 32, 16, 32, 32},  {128, 0, 48, 32, 32, 32, 32},
        {16, 16, 16, 2, 2, 2, 2},     {16, 0, 16, 2, 1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[8192];\n"
                 ".reg .b32 %%r<5>; .reg .b64 %%rd<4>; .reg .pred %%p;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, %u, %%r2; mul.wide.u32 %%rd2, %%r1, %u;\n"
                 "add.s64 %%rd3, %%rd1, %%rd2; setp.lt.u32 %%p, %%r1, %u;\n"
                 "@%%p cp.async.cg.shared.global [%%r2+%u], [%%rd3], 16;\n"
                 "cp.async.wait_all; ret;\n}\n",
                 HEAD, PATTERNS[i].pitch, PATTERNS[i].stride, PATTERNS[i].lanes, PATTERNS[i].begin);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        if (result.counters.shared_wavefronts != PATTERNS[i].want)
            fail_msg("pitch %u from %u, stride %u: %llu wavefronts", PATTERNS[i].pitch,
                     PATTERNS[i].begin, PATTERNS[i].stride,
                     (unsigned long long)result.counters.shared_wavefronts);
        assert_int_equal(result.counters.global_load_sectors, PATTERNS[i].loaded);
        assert_int_equal(result.counters.copied_sectors, PATTERNS[i].copied);
        simt_close(gpu);
    }
}

/* What is said of how many bytes are there: zeros go everywhere first, as a store's words would,
 * and then what is there.  As ncu counts it of the waiting copies of accesses.cu. */
static void copies_that_may_be_short_write_zeros_first(void **state)
{
    static const struct {
        const char *there; /* r3 is 16, r4 0, r5 0 where p holds, of half the lanes; q: of all */
        uint32_t pitch, stride;
        uint64_t want, conflicts;
    } SIZES[] = {{"16", 16, 16, 4, 0},    {"%r3", 16, 16, 8, 0}, {"%r3", 64, 64, 32, 24},
                 {"%r3", 80, 16, 36, 28}, {"%r4", 16, 16, 4, 0}, {"0", 16, 16, 4, 0},
                 {"8", 16, 16, 8, 0},     {"%p", 16, 16, 8, 2},  {"%q", 16, 16, 4, 0},
                 {"%r5", 16, 16, 8, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[8192];\n"
                 ".reg .b32 %%r<7>; .reg .b64 %%rd<4>; .reg .pred %%p, %%q;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, %u, %%r2; mad.wide.u32 %%rd3, %%r1, %u, %%rd1;\n"
                 "mov.u32 %%r3, 16; mov.u32 %%r4, 0; shr.u32 %%r6, 0xf00ff0f0, %%r1;\n"
                 "and.b32 %%r6, %%r6, 1; setp.ne.u32 %%p, %%r6, 0; setp.ne.u32 %%q, %%r3, 0;\n"
                 "selp.u32 %%r5, 0, 16, %%p;\n"
                 "cp.async.cg.shared.global [%%r2], [%%rd3], 16, %s;\n"
                 "cp.async.wait_all; ret;\n}\n",
                 HEAD, SIZES[i].pitch, SIZES[i].stride, SIZES[i].there);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        if (result.counters.shared_wavefronts != SIZES[i].want ||
            result.counters.bank_conflicts != SIZES[i].conflicts)
            fail_msg("%s, pitch %u: %llu wavefronts, %llu conflicts", SIZES[i].there,
                     SIZES[i].pitch, (unsigned long long)result.counters.shared_wavefronts,
                     (unsigned long long)result.counters.bank_conflicts);
        simt_close(gpu);
    }
}

/* What is copied again comes from the L1, unless the copy goes past it. */
static void copies_past_the_l1_find_nothing_there(void **state)
{
    static const char *const WAY[] = {"ca", "cg"};
    (void)state;
    for (uint32_t past = 0; past < 2; past++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[1024];\n"
                 ".reg .b32 %%r<3>; .reg .b64 %%rd<4>;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, 16, %%r2; mad.wide.u32 %%rd3, %%r1, 16, %%rd1;\n"
                 "cp.async.%s.shared.global [%%r2], [%%rd3], 16;\n"
                 "cp.async.%s.shared.global [%%r2+512], [%%rd3], 16; cp.async.wait_all; ret;\n}\n",
                 HEAD, WAY[past], WAY[past]);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        assert_int_equal(result.counters.global_load_sectors, 2 * 16);
        assert_int_equal(result.counters.l1_hit_sectors, past ? 0 : 16);
        assert_int_equal(result.counters.copied_sectors, past ? 2 * 16 : 0);
        simt_close(gpu);
    }
}

/* ptxas joins neighbouring stores of two bytes and more, where another access by the same register
 * shows that they are aligned and nothing between them may read them or write them. */
static void neighbouring_stores_are_joined(void **state)
{
#define PAIR "st.global.u16 [%rd2+12], %h1; st.global.v2.u8 [%rd2+14], {%h1,%h1};"
    static const struct {
        const char *text;
        uint64_t requests, sectors; /* 16 bytes a lane */
    } STORES[] = {
        {PAIR, 2, 32},
        {"st.global.u32 [%rd2], %r1; " PAIR, 2, 32},
        {PAIR "st.global.u32 [%rd2+8], %r1;", 2, 32},
        {"st.global.f64 [%rd2], %d1; st.global.u32 [%rd2+8], %r1; " PAIR, 3, 48},
        {"st.global.f64 [%rd2], %d1; st.global.u32 [%rd2+8], %r1; st.global.u32 [%rd2+12], %r1;", 2,
         32},
        {"st.global.u32 [%rd2+8], %r1; st.global.u32 [%rd2+12], %r1;", 2, 32},
        {"st.global.f64 [%rd2+8], %d1; st.global.u16 [%rd2], %h1; st.global.u16 [%rd2+2], %h1; "
         "st.global.u16 [%rd2+4], %h1; st.global.u16 [%rd2+6], %h1;",
         2, 32},
        {"st.global.u32 [%rd2], %r1; st.global.u8 [%rd2+4], %h1; st.global.u8 [%rd2+5], %h1;", 3,
         48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+6], %h1; st.global.u16 [%rd2+8], %h1;", 3,
         48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+12], %h1; ld.global.u32 %r1, [%rd1]; "
         "st.global.u16 [%rd2+14], %h1;",
         3, 48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+12], %h1; st.global.u32 [%rd1], %r1; "
         "st.global.u16 [%rd2+14], %h1;",
         4, 49},
        {"st.volatile.global.u32 [%rd2+8], %r1; st.volatile.global.u32 [%rd2+12], %r1; "
         "st.global.f64 [%rd2], %d1;",
         3, 48},
    };
#undef PAIR
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 8192);
    for (size_t i = 0; i < sizeof STORES / sizeof *STORES; i++) {
        char text[2048];
        SimtResult result;
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 out)\n{\n.reg .b64 %%rd<4>; .reg .b32 %%r<4>; "
                 ".reg .b16 %%h<4>; .reg .f64 %%d<4>;\n"
                 "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 16;\n"
                 "add.s64 %%rd2, %%rd1, %%rd2; mov.u16 %%h1, 3; mov.f64 %%d1, "
                 "0d0000000000000000;\n%s\nret;\n}\n",
                 HEAD, STORES[i].text);
        assert_int_equal(run(gpu, text, 1, 32, 0, &out, 8, &result), 0);
        if (result.counters.global_store_requests != STORES[i].requests ||
            result.counters.global_store_sectors != STORES[i].sectors)
            fail_msg("%s %llu stores, %llu sectors", STORES[i].text,
                     (unsigned long long)result.counters.global_store_requests,
                     (unsigned long long)result.counters.global_store_sectors);
    }
    simt_close(gpu);
}

/* Two words of each vector of four are two loads, each of which touches every sector. */
static void words_that_nobody_reads_are_not_loaded(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 8192);
    static const char TEXT[] =
        HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16;\n"
             "add.s64 %rd3, %rd1, %rd2; ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd3];\n"
             "add.u32 %r2, %r2, %r5; st.global.u32 [%rd3], %r2; ret;\n}\n";
    SimtResult result;
    assert_int_equal(run(gpu, TEXT, 1, 32, 0, &out, 8, &result), 0);
    assert_int_equal(result.counters.global_load_requests, 2);
    assert_int_equal(result.counters.global_load_sectors, 2 * 16);
    assert_int_equal(result.counters.global_load_bytes, 2 * 128);
    assert_int_equal(result.counters.l1_hit_sectors, 16);
    simt_close(gpu);
}

static void branches_are_counted(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 64);
    SimtResult result;
    static const char TEXT[] = KERNEL(
        "",
        "setp.lt.u32 %p1, %r1, 40; @%p1 bra A; bar.sync 0; bra B;\nA: mov.u32 %r5, 1; bra B;\nB:");
    static const char CLEAN[] = KERNEL("", "setp.lt.u32 %p1, %r1, 40; @%p1 bra A; mov.u32 %r5, 2; "
                                           "bra B;\nA: mov.u32 %r5, 1;\nB: bar.sync 0;");
    assert_int_equal(run(gpu, CLEAN, 1, 96, 0, &out, 8, &result), 0);
    assert_int_equal(result.counters.divergent_branches, 1);
    assert_int_equal(result.counters.branches,
                     3 + 2); /* three warps at the first, two with lanes at the second */
    assert_int_equal(result.counters.barriers, 3);
    assert_int_equal(run(gpu, TEXT, 1, 96, 0, &out, 8, &result), -1);
    assert_int_equal(result.report.check, SIMT_SYNCCHECK);
    simt_close(gpu);
}

/* ---- host threads ------------------------------------------------------------------------- */
static void host_threads_do_not_show(void **state)
{
    static const int THREADS[] = {1, 2, 3, 7};
    (void)state;
    SimtResult first;
    static uint32_t words[4][6400];
    for (int i = 0; i < 4; i++) {
        SimtGpu *gpu = gpu_open(THREADS[i], 1, 1);
        uint64_t out = device_data(gpu, NULL, sizeof words[i]);
        SimtResult result;
        assert_int_equal(run(gpu, COLLATZ, 64, 100, 0, &out, 8, &result), 0);
        device_fetch(gpu, out, words[i], sizeof words[i]);
        if (i == 0) first = result;
        assert_memory_equal(&result, &first, sizeof result);
        assert_memory_equal(words[i], words[0], sizeof words[0]);
        assert_true(result.cycles > 1000);
        simt_close(gpu);
    }
}

/* 64 blocks load 256 bytes each, eight blocks the same ones, a megabyte from the next ones; each
 * stores 256 bytes that no other does. */
static void traffic_of_all_workers_is_one(void **state)
{
    (void)state;
    enum { SECTOR = 32, LOADED = 8 * 256 / SECTOR, STORED = 64 * 256 / SECTOR };
    static const char TEXT[] =
        KERNEL("", "and.b32 %r5, %r2, 7; mul.wide.u32 %rd3, %r5, 1048576; add.s64 %rd3, %rd1, "
                   "%rd3;\n"
                   "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4;\n"
                   "ld.global.u32 %r6, [%rd3]; shr.u32 %r7, %r2, 3; mul.wide.u32 %rd5, %r7, 256;\n"
                   "add.s64 %rd5, %rd3, %rd5; st.global.u32 [%rd5+524288], %r6;");
    for (int threads = 1; threads <= 9; threads += 4) {
        SimtGpu *gpu = gpu_open(threads, 0, 1);
        uint64_t data = device_data(gpu, NULL, 8 << 20);
        SimtResult result;
        assert_int_equal(run(gpu, TEXT, 64, 64, 0, &data, 8, &result), 0);
        assert_int_equal(result.counters.dram_bytes, (LOADED + STORED) * SECTOR);
        simt_close(gpu);
    }
}

/* Races between blocks, too, where they are looked for beside the replay: in a megabyte. */
static void races_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { BLOCKS = 2048, THREADS = 128 };
    static const char TEXT[] = KERNEL(
        "",
        "st.global.u32 [%rd2], %r4; setp.eq.u32 %p1, %r1, 5; @%p1 st.global.u32 [%rd1+8], %r2;");
    SimtResult first;
    for (int threads = 1; threads <= 9; threads += 4) {
        SimtOptions options = {.threads = threads, .initcheck = 1, .racecheck = 1, .count = 1};
        Error error;
        SimtGpu *gpu = simt_open(&SMALL, &options, &error);
        uint64_t out = device_data(gpu, NULL, BLOCKS * THREADS * 4);
        SimtResult result;
        assert_int_equal(run(gpu, TEXT, BLOCKS, THREADS, 0, &out, 8, &result), 0);
        if (threads == 1) first = result;
        assert_memory_equal(&result, &first, sizeof result);
        assert_int_equal(result.report.check, SIMT_RACECHECK);
        assert_int_equal(result.findings, 1); /* word 2 */
        simt_close(gpu);
    }
}

/* The launch's verdict with so many host threads and such a limit (0: none to speak of). */
static SimtCheck check_with(const char *text, int threads, uint64_t limit, uint64_t *executed)
{
    SimtOptions options = {.threads = threads, .instruction_limit = limit};
    Error error;
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    uint64_t out = device_data(gpu, NULL, 64 * 100 * 4);
    SimtResult result;
    run(gpu, text, 64, 100, 0, &out, 8, &result);
    *executed = result.counters.warp_instructions;
    simt_close(gpu);
    return result.report.check;
}

/* It is that of all host threads together, to the last instruction: of short warps, and of one that
 * makes 20000 turns before others begin. */
static void a_limit_is_exact(void **state)
{
    (void)state;
    static const char TURNS[] =
        KERNEL("", "mov.u32 %r5, 20000;\nLOOP: sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                   "@%p1 bra LOOP;");
    for (int i = 0; i < 2; i++) {
        const char *text = i ? TURNS : COLLATZ;
        uint64_t first, executed;
        assert_int_equal(check_with(text, 1, 0, &first), SIMT_OK);
        assert_true(first > 64 * 4 * 100);
        for (int threads = 1; threads <= 9; threads += 4) {
            assert_int_equal(check_with(text, threads, first, &executed), SIMT_OK);
            assert_int_equal(executed, first);
            assert_int_equal(check_with(text, threads, first - 1, &executed), SIMT_TIMEOUT);
        }
    }
}

/* Two runs of one launch are alike in every number, and the count of host threads is no input of
 * the fault either. */
static void first_fault_wins(void **state)
{
    (void)state;
    static const char TEXT[] = KERNEL(
        "", "setp.lt.u32 %p1, %r2, 37; @%p1 bra FINE; st.global.u32 [%rd1+4096], %r1;\nFINE:");
    for (int threads = 1; threads <= 7; threads += 3)
        for (int again = 0; again < 5; again++) {
            SimtGpu *gpu = gpu_open(threads, 0, 0);
            uint64_t out = device_data(gpu, NULL, 64);
            SimtResult result;
            assert_int_equal(run(gpu, TEXT, 400, 64, 0, &out, 8, &result), -1);
            assert_int_equal(result.report.block[0], 37);
            simt_close(gpu);
        }
}

/* Findings of so many warps of one block, each told once an access. */
static uint64_t findings_of(const char *text, uint32_t threads)
{
    SimtOptions options = {.threads = 1, .initcheck = 1, .racecheck = 1, .count = 1};
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

/* What was read before need not be looked at again, but for a write since, and what nobody wrote.
 */
static void a_word_read_before_is_looked_at_again(void **state)
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

/* ---- large kernels ------------------------------------------------------------------------ */
enum { LARGE = 5000 };

/* A kernel that adds 4 to its pointer `adds` times, in LARGE registers after each other. */
static char *long_way(uint32_t adds, const char *rest)
{
    size_t room = 1000 + (size_t)adds * 40, used;
    char *text = malloc(room);
    assert_non_null(text);
    used =
        (size_t)snprintf(text, room,
                         HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %%rd<%u>;\n"
                              ".reg .b32 %%r<9>; .reg .pred %%p<9>; ld.param.u64 %%rd0, [out];\n",
                         LARGE + 1);
    for (uint32_t i = 0; i < adds; i++)
        used += (size_t)snprintf(text + used, room - used, "add.s64 %%rd%u, %%rd%u, 4;\n",
                                 i % LARGE + 1, i % LARGE);
    snprintf(text + used, room - used, "%s\nret;\n}\n", rest);
    return text;
}

static void large_run(SimtGpu *gpu, uint32_t adds, const char *rest, SimtResult *result)
{
    enum { SECONDS = 3, BYTES = 4 * LARGE + 64 };
    char *text = long_way(adds, rest);
    uint64_t out = device_data(gpu, NULL, BYTES);
    device_data(gpu, NULL, BYTES); /* nearer to what lies behind both */
    clock_t begin = clock();
    run(gpu, text, 1, 1, 0, &out, 8, result);
    if (clock() - begin > SECONDS * CLOCKS_PER_SEC)
        fail_msg("%.1f s", (double)(clock() - begin) / CLOCKS_PER_SEC);
    free(text);
}

/* Where a finding's address comes from is found in a kernel of any length, and is not looked for
 * where nobody is told. */
static void findings_of_large_kernels(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    SimtResult result;
    large_run(gpu, 40 * LARGE, "ld.global.u32 %r1, [%rd5000+100000];", &result);
    if (!strstr(result.report.text, "the address is 99936 bytes past the end of a 20064-byte"))
        fail_msg("%s", result.report.text);
    large_run(gpu, LARGE,
              "mov.u32 %r1, 0;\nMORE: ld.global.u32 %r2, [%rd5000]; add.u32 %r1, %r1, 1;\n"
              "setp.lt.u32 %p1, %r1, 5000; @%p1 bra MORE;",
              &result);
    assert_int_equal(result.findings, 5000);
    if (!strstr(result.report.text, "20000 bytes into a 20064-byte"))
        fail_msg("%s", result.report.text);
    simt_close(gpu);
}

/* Within seconds, or refused. */
static const char *large_decode(const char *text)
{
    enum { SECONDS = 5 };
    static Error error;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    clock_t begin = clock();
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    if (!module) fail_msg("%s", error.text);
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    if (clock() - begin > SECONDS * CLOCKS_PER_SEC)
        fail_msg("%.1f s", (double)(clock() - begin) / CLOCKS_PER_SEC);
    simt_close(gpu);
    return kernel ? "" : error.text;
}

static void loops_in_loops_are_decoded(void **state)
{
    enum { LOOPS = 100000, LINE = 12 };
    (void)state;
    static char text[1000 + LOOPS * LINE];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEAD ".visible .entry k()\n{\n.reg .pred %%p<2>;\n"
                                        "setp.eq.u32 %%p1, 1, 2;\nL:\n");
    for (int i = 0; i < LOOPS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "@%%p1 bra L;");
    snprintf(text + used, sizeof text - used, "ret;\n}\n");
    assert_string_equal(large_decode(text), "");
}

static void tables_of_jumps_have_an_end(void **state)
{
    enum { TARGETS = 2100, LINE = 40 };
    (void)state;
    static char text[1000 + TARGETS * LINE];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEAD ".visible .entry k()\n{\n.reg .u32 %%r<2>;\n"
                                        "mov.u32 %%r1, %%tid.x;\nT: .branchtargets END");
    for (int i = 0; i < TARGETS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", L%d", i);
    used += (size_t)snprintf(text + used, sizeof text - used, ";\n");
    for (int i = 0; i < TARGETS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "L%d: brx.idx %%r1, T;\n", i);
    snprintf(text + used, sizeof text - used, "END: ret;\n}\n");
    const char *refused = large_decode(text);
    if (!strstr(refused, "more than 4194304 targets of jumps by table")) fail_msg("%s", refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_word_read_before_is_looked_at_again),
                                       cmocka_unit_test(loops_in_loops_are_decoded),
                                       cmocka_unit_test(tables_of_jumps_have_an_end),
                                       cmocka_unit_test(findings_of_large_kernels),
                                       cmocka_unit_test(lanes_part_and_meet),
                                       cmocka_unit_test(lanes_meet_at_once),
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
                                       cmocka_unit_test(unwritten_memory_is_told),
                                       cmocka_unit_test(a_bulk_copy_of_what_nobody_wrote),
                                       cmocka_unit_test(endless_loops_end),
                                       cmocka_unit_test(bad_launches),
                                       cmocka_unit_test(copies_of_nothing),
                                       cmocka_unit_test(copies_that_are_ignored),
                                       cmocka_unit_test(global_sectors),
                                       cmocka_unit_test(copies_that_arrive),
                                       cmocka_unit_test(shared_conflicts),
                                       cmocka_unit_test(wide_accesses_go_by_parts_of_a_warp),
                                       cmocka_unit_test(accesses_are_joined_and_left_out),
                                       cmocka_unit_test(atomics_pass_by_banks),
                                       cmocka_unit_test(matrices_are_accessed_as_by_machine_code),
                                       cmocka_unit_test(copies_past_the_l1_go_by_sectors),
                                       cmocka_unit_test(copies_that_may_be_short_write_zeros_first),
                                       cmocka_unit_test(copies_past_the_l1_find_nothing_there),
                                       cmocka_unit_test(neighbouring_stores_are_joined),
                                       cmocka_unit_test(words_that_nobody_reads_are_not_loaded),
                                       cmocka_unit_test(branches_are_counted),
                                       cmocka_unit_test(host_threads_do_not_show),
                                       cmocka_unit_test(traffic_of_all_workers_is_one),
                                       cmocka_unit_test(races_do_not_depend_on_threads),
                                       cmocka_unit_test(a_limit_is_exact),
                                       cmocka_unit_test(first_fault_wins)};
    return cmocka_run_group_tests_name("simt checks", tests, NULL, NULL);
}
