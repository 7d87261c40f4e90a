/* test_simt_stack.c - alloca, stacksave and stackrestore: what is taken is a thread's own, lies
 * where it was asked to, comes back where a function ends, and ends where the stack does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

#define REGISTERS                                                                                  \
    ".reg .b32 %r<12>;\n.reg .b64 %x<12>;\n.reg .pred %p<4>;\nld.param.u64 %x1, [out];\n"          \
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %x2, %r1, 8;\nadd.s64 %x1, %x1, %x2;\n"

/* Sum of the words 0, 1 ... n of memory that it takes itself: they are written upwards and read
 * downwards. */
#define SUM                                                                                        \
    ".func (.param .b32 s) sum(.param .b32 n)\n{\n"                                                \
    ".reg .b32 %r<9>;\n.reg .b64 %x<9>;\n.reg .pred %p<3>;\n"                                      \
    "ld.param.u32 %r1, [n];\nadd.u32 %r2, %r1, 1;\nmul.wide.u32 %x1, %r2, 4;\n"                    \
    "alloca.u64 %x2, %x1, 16;\ncvta.local.u64 %x3, %x2;\ncvta.to.local.u64 %x4, %x3;\n"            \
    "mov.u32 %r3, 0;\nUP:\nst.local.u32 [%x4], %r3;\nadd.u64 %x4, %x4, 4;\n"                       \
    "add.u32 %r3, %r3, 1;\nsetp.le.u32 %p1, %r3, %r1;\n@%p1 bra UP;\nmov.u32 %r4, 0;\n"            \
    "DOWN:\nadd.u64 %x4, %x4, -4;\nld.local.u32 %r5, [%x4];\nadd.u32 %r4, %r4, %r5;\n"             \
    "setp.gt.u64 %p1, %x4, %x2;\n@%p1 bra DOWN;\nst.param.b32 [s], %r4;\nret;\n}\n"

#define CALL(result, n)                                                                            \
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], " n ";\ncall.uni (b), sum, (a);\n"       \
    "ld.param.b32 " result ", [b];\n}\n"

#define KERNEL(body) ".visible .entry k(.param .u64 out)\n{\n" REGISTERS body "ret;\n}\n"

static int run_on(SimtGpu *gpu, const char *text, uint32_t threads, uint64_t *out,
                  SimtResult *result)
{
    static const uint64_t ZEROS[64];
    uint64_t address = device_data(gpu, ZEROS, sizeof ZEROS);
    int status = run(gpu, text, 1, threads, 0, &address, sizeof address, result);
    if (status == 0) device_fetch(gpu, address, out, threads * sizeof *out);
    return status;
}

/* More than the stack in all, had the calls not given back what they took. */
static void a_function_releases_its_stack(void **state)
{
    enum { THREADS = 40, TURNS = 30 };
    static const char TEXT[] = HEAD SUM KERNEL("mov.u32 %r2, 0;\nmov.u64 %x3, 0;\nNEXT:\n" CALL(
        "%r3", "%r1") "cvt.u64.u32 %x4, %r3;\nadd.u64 %x3, %x3, %x4;\nadd.u32 %r2, %r2, 1;\n"
                      "setp.lt.u32 %p1, %r2, 30;\n@%p1 bra NEXT;\nst.global.u64 [%x1], %x3;\n");
    uint64_t out[64];
    SimtResult result;
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    int status = run_on(gpu, TEXT, THREADS, out, &result);
    if (status != 0) fail_msg("%s", result.report.text);
    for (uint64_t n = 0; n < THREADS; n++)
        assert_int_equal(out[n], TURNS * n * (n + 1) / 2);
    simt_close(gpu);
}

/* The function calls itself: each call has its own allocation, and the caller's is unchanged after
 * the return. */
static void each_call_has_its_own(void **state)
{
    enum { THREADS = 7 };
    static const char TEXT[] =
        HEAD ".func (.param .b32 s) sum(.param .b32 n)\n{\n"
             ".reg .b32 %r<9>;\n.reg .b64 %x<9>;\n.reg .pred %p<3>;\nld.param.u32 %r1, [n];\n"
             "alloca.u64 %x1, 8;\nst.local.u32 [%x1], %r1;\nmov.u32 %r4, 0;\n"
             "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nsub.u32 %r2, %r1, 1;\n" CALL("%r3", "%r2")
                 CALL("%r5", "%r2") "ld.local.u32 %r4, [%x1];\nadd.u32 %r4, %r4, %r3;\n"
                                    "add.u32 %r4, %r4, %r5;\nEND:\nst.param.b32 [s], %r4;\nret;\n}"
                                    "\n" KERNEL(CALL("%r3", "%r1") "st.global.u32 [%x1], %r3;\n");
    /* s(n) = n + 2 s(n - 1). */
    static const uint64_t WANTED[THREADS] = {0, 1, 4, 11, 26, 57, 120};
    uint64_t out[64];
    SimtResult result;
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    int status = run_on(gpu, TEXT, THREADS, out, &result);
    if (status != 0) fail_msg("%s", result.report.text);
    for (uint32_t n = 0; n < THREADS; n++)
        assert_int_equal(out[n], WANTED[n]);
    simt_close(gpu);
}

static void a_stack_is_saved_and_restored(void **state)
{
    static const char TEXT[] =
        HEAD KERNEL("mov.u32 %r2, 0;\nalloca.u64 %x7, 8;\nst.local.u32 [%x7], %r1;\nNEXT:\n"
                    "stacksave.u64 %x3;\nalloca.u64 %x4, 600, 64;\nst.local.u32 [%x4], %r2;\n"
                    "alloca.u64 %x5, 7;\nst.local.u32 [%x5], %r2;\nstackrestore.u64 %x3;\n"
                    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra NEXT;\n"
                    "ld.local.u32 %r3, [%x7];\nand.b64 %x6, %x4, 63;\nand.b64 %x8, %x5, 7;\n"
                    "sub.u64 %x9, %x4, %x5;\nshl.b64 %x6, %x6, 8;\nor.b64 %x6, %x6, %x8;\n"
                    "shl.b64 %x6, %x6, 8;\nor.b64 %x6, %x6, %x9;\nshl.b64 %x6, %x6, 32;\n"
                    "cvt.u64.u32 %x8, %r3;\nor.b64 %x6, %x6, %x8;\nst.global.u64 [%x1], %x6;\n");
    uint64_t out[64];
    SimtResult result;
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    int status = run_on(gpu, TEXT, 33, out, &result);
    if (status != 0) fail_msg("%s", result.report.text);
    for (uint32_t n = 0; n < 33; n++)
        assert_int_equal(out[n], 8ull << 32 | n); /* aligned, 8 bytes apart; its own is untouched */
    simt_close(gpu);
}

/* Results of an H200, driver 580.159, as distances downwards from the pointer that stacksave
 * returned first. The columns are the stack after alloca of BYTES bytes with alignments 8, 16 and
 * 128 (the last one freed), and with the default alignment. */
static void a_stack_grows_down_as_on_a_gpu(void **state)
{
    static const uint64_t BYTES[] = {4, 16, 20, 100};
    static const uint64_t WANTED[][4] = {{0x8, 0x10, 0x40, 0x18},
                                         {0x10, 0x20, 0x40, 0x30},
                                         {0x18, 0x30, 0xc0, 0x48},
                                         {0x68, 0xd0, 0x140, 0x138}};
    static const char TEXT[] =
        HEAD KERNEL("ld.global.u64 %x3, [%x1];\nstacksave.u64 %x4;\nalloca.u64 %x5, %x3, 8;\n"
                    "alloca.u64 %x6, %x3, 16;\nstacksave.u64 %x9;\nalloca.u64 %x7, %x3, 128;\n"
                    "stackrestore.u64 %x9;\nalloca.u64 %x8, %x3;\nsub.u64 %x5, %x4, %x5;\n"
                    "sub.u64 %x6, %x4, %x6;\nsub.u64 %x7, %x4, %x7;\nsub.u64 %x8, %x4, %x8;\n"
                    "st.global.u64 [%x1], %x5;\nst.global.u64 [%x1+8], %x6;\n"
                    "st.global.u64 [%x1+16], %x7;\nst.global.u64 [%x1+24], %x8;\n");
    SimtResult result;
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    for (uint32_t i = 0; i < sizeof BYTES / sizeof *BYTES; i++) {
        uint64_t out[4] = {BYTES[i]}, address = device_data(gpu, out, sizeof out);
        if (run(gpu, TEXT, 1, 1, 0, &address, sizeof address, &result) != 0)
            fail_msg("%s", result.report.text);
        device_fetch(gpu, address, out, sizeof out);
        assert_memory_equal(out, WANTED[i], sizeof out);
    }
    simt_close(gpu);
}

static void faults(const char *body, const char *words)
{
    char text[4096];
    uint64_t out[64];
    SimtResult result;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    snprintf(text, sizeof text, "%s%s%s%s", HEAD,
             ".visible .entry k(.param .u64 out)\n{\n" REGISTERS, body, "ret;\n}\n");
    assert_int_not_equal(run_on(gpu, text, 3, out, &result), 0);
    if (!strstr(result.report.text, words)) fail_msg("%s: %s", body, result.report.text);
    simt_close(gpu);
}

static void a_stack_has_an_end(void **state)
{
    (void)state;
    faults("alloca.u64 %x2, 1025;\n", "Stack overflow: alloca of 1025 bytes");
    faults("NEXT:\nalloca.u64 %x2, 1000;\nbra NEXT;\n", "Stack overflow: alloca of 1000 bytes");
    faults("alloca.u64 %x2, -1;\n", "Stack overflow: alloca");
    faults("mov.u64 %x3, 5000;\nstackrestore.u64 %x3;\nalloca.u64 %x2, 8;\n",
           "Invalid stack pointer");
    faults("alloca.u64 %x2, 8;\nst.local.u32 [%x2+8], %r1;\n", "__local__ write of 4 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_releases_its_stack),
        cmocka_unit_test(each_call_has_its_own),
        cmocka_unit_test(a_stack_is_saved_and_restored),
        cmocka_unit_test(a_stack_grows_down_as_on_a_gpu),
        cmocka_unit_test(a_stack_has_an_end),
    };
    return cmocka_run_group_tests_name("simt stack", tests, NULL, NULL);
}
