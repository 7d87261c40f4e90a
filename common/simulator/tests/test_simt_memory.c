/* test_simt_memory.c - a host without memory: whichever allocation of a launch fails, the launch
 * says so, or comes to the same cycles as ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

/* The allocation that fails, counted from the next one; 0: none. */
static uint64_t failing, allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static int fails(void)
{
    return ++allocations == failing;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

/* Each thread adds a word of a large array to a later one: enough sectors for the notes of the L2.
 * L2. */
static const char ADD[] =
    HEAD ".visible .entry k(.param .u64 x)\n"
         "{\n"
         ".reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [x];\n"
         "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
         "mad.lo.u32 %r1, %r2, %r3, %r1;\n"
         "mul.wide.u32 %rd2, %r1, 32; add.u64 %rd2, %rd1, %rd2;\n"
         "ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, 1; st.global.u32 [%rd2+4], %r4;\n"
         "ret;\n"
         "}\n";

enum { BLOCKS = 512, THREADS = 256, BYTES = BLOCKS * THREADS * 32 };

/* Runs the kernel on a GPU of its own; the allocation number `which` of its launch fails. */
static int launch_with(uint64_t which, SimtResult *result)
{
    Error error = {""};
    SimtOptions options = {.threads = 1, .initcheck = 0, .racecheck = 1, .count = 1};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    uint64_t x = device_data(gpu, NULL, BYTES);
    SimtModule *module = simt_module_load(gpu, ADD, strlen(ADD), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, "k", &error) : NULL;
    assert_non_null(kernel);
    SimtLaunch launch = {
        .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .params = &x, .params_bytes = sizeof x};
    allocations = 0, failing = which;
    int status = simt_launch(gpu, kernel, &launch, result);
    failing = 0;
    simt_close(gpu);
    return status;
}

static void no_allocation_fails_silently(void **state)
{
    (void)state;
    SimtResult whole, result;
    assert_int_equal(launch_with(0, &whole), 0);
    assert_true(whole.cycles > 0);
    uint64_t all = allocations, told = 0;
    assert_true(all > 10);
    for (uint64_t which = 1; which <= all; which++) {
        if (launch_with(which, &result) != 0) {
            assert_non_null(strstr(result.report.text, "out of host memory"));
            told++;
        } else if (result.cycles != whole.cycles) {
            fail_msg("allocation %llu of %llu: %llu cycles, not %llu, and no word of it",
                     (unsigned long long)which, (unsigned long long)all,
                     (unsigned long long)result.cycles, (unsigned long long)whole.cycles);
        }
    }
    assert_true(told > all / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_allocation_fails_silently)};
    return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
