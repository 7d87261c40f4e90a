/* test_simt_tensor.c - tensor cores, asynchronous copies and barriers as CUDA's own headers use
 * them (kernels/tensor.cu), for compute_80 and compute_90, against the host's arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"
#include "common/simulator/ptx/test_nvcc.h"

enum { BYTES = 4096, THREADS = 64 };

typedef union Data {
    float f[BYTES / 4];
    int i[BYTES / 4];
    _Float16 h[BYTES / 2];
    signed char b[BYTES];
} Data;

static char *ptx[2];

static int ptx_make(void **state)
{
    char root[1024];
    const char *nvcc = nvcc_find();
    if (nvcc_open(state) || !getcwd(root, sizeof root)) return -1;
    for (int i = 0; i < 2 && nvcc; i++) {
        size_t bytes;
        if (nvcc_run("%s -O3 -std=c++17 -arch=compute_%d -w -ptx "
                     "%s/common/simulator/tests/kernels/tensor.cu -o "
                     "%d.ptx",
                     nvcc, i ? 90 : 80, root, i))
            nvcc_explain("tensor.cu");
        ptx[i] = nvcc_read(i ? "1.ptx" : "0.ptx", &bytes);
    }
    return 0;
}

static int ptx_free_all(void **state)
{
    free(ptx[0]), free(ptx[1]);
    return nvcc_close(state);
}

/* Runs the kernel on 64 threads (32 for GEMMs) and fetches y. */
static void kernel_run(int which, const char *name, uint32_t threads, const Data *x, Data *y)
{
    Error error = {""};
    SimtOptions options = {.threads = 1, .initcheck = 1, .racecheck = 1, .count = 1};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    assert_non_null(gpu);
    SimtModule *module = simt_module_load(gpu, ptx[which], strlen(ptx[which]), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, name, &error) : NULL;
    if (!kernel) fail_msg("%s: %s", name, error.text);
    uint64_t params[2] = {device_data(gpu, x, sizeof *x), device_data(gpu, y, sizeof *y)};
    SimtLaunch launch = {.grid = {1, 1, 1},
                         .block = {threads, 1, 1},
                         .params = params,
                         .params_bytes = sizeof params};
    SimtResult result;
    if (simt_launch(gpu, kernel, &launch, &result) != 0 || result.report.check != SIMT_OK)
        fail_msg("%s: %s", name, result.report.text);
    device_fetch(gpu, params[1], y, sizeof *y);
    simt_close(gpu);
}

#define FOR_BOTH for (int which = 0; which < 2; which++)

static void products(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    FOR_BOTH
    {
        for (int i = 0; i < 512; i++)
            x.h[i] = (_Float16)((i * 37 % 23 - 11) * 0.25f);
        kernel_run(which, "halves", 32, &x, &y);
        for (int i = 0; i < 256; i++) {
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += 2 * (float)x.h[i / 16 * 16 + k] * (float)x.h[256 + i % 16 * 16 + k];
            assert_true(y.f[i] == sum);
        }
        for (int i = 0; i < 256; i++)
            x.f[i] = (float)(i * 29 % 31 - 15) * 0.5f;
        kernel_run(which, "tf32", 32, &x, &y);
        for (int row = 0; row < 16; row++)
            for (int column = 0; column < 16; column++) {
                float sum = 1;
                for (int k = 0; k < 8; k++)
                    sum += x.f[row * 8 + k] * x.f[128 + k * 16 + column];
                assert_true(y.f[column * 16 + row] == sum);
            }
        for (int i = 0; i < 640; i++)
            x.b[i] = (signed char)(i * 71 % 255 - 127);
        kernel_run(which, "bytes", 32, &x, &y);
        for (int i = 0; i < 256; i++) {
            int sum = 0;
            for (int k = 0; k < 16; k++)
                sum += x.b[i / 8 * 16 + k] * x.b[512 + i % 8 * 16 + k];
            assert_int_equal(y.i[i], sum);
        }
    }
}

static void oblong_products(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    for (int i = 0; i < 1024; i++)
        x.h[i] = (_Float16)((i * 37 % 23 - 11) * 0.25f);
    FOR_BOTH
    {
        kernel_run(which, "oblongs", 32, &x, &y);
        for (int i = 0; i < 512; i++) {
            int n = i < 256 ? 32 : 8, at = i % 256;
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += (float)x.h[at / n * 16 + k] * (float)x.h[512 + k * n + at % n];
            assert_true((float)y.h[i] == sum);
        }
    }
}

static void small_matrices(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    for (int i = 0; i < 256; i++)
        x.b[i] = (signed char)(i * 71 % 255 - 127);
    FOR_BOTH
    {
        kernel_run(which, "transpose", 32, &x, &y);
        for (int i = 0; i < 64; i++)
            assert_memory_equal(&y.h[i], &x.h[i % 8 * 8 + i / 8], 2);
        kernel_run(which, "few_bytes", 32, &x, &y);
        for (int i = 0; i < 64; i++) {
            int sum = 0;
            for (int k = 0; k < 16; k++)
                sum += x.b[i / 8 * 16 + k] * x.b[128 + i % 8 * 16 + k];
            assert_int_equal(y.i[i], sum);
        }
    }
}

static void copies_and_barriers(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    for (int i = 0; i < 256; i++)
        x.f[i] = (float)(i * i % 97);
    FOR_BOTH
    {
        kernel_run(which, "pipeline", THREADS, &x, &y);
        for (int t = 0; t < THREADS; t++)
            assert_true(y.f[t] == x.f[63 - t] + x.f[127 - t] + x.f[191 - t] + x.f[255 - t]);
        kernel_run(which, "pipeline_without_wait", THREADS, &x, &y);
        for (int t = 0; t < THREADS; t++)
            assert_true(y.f[t] == -1);
        kernel_run(which, "barriers", THREADS, &x, &y);
        for (int i = 0; i < 3 * THREADS; i++)
            assert_true(y.f[i] == x.f[i / 64 * 64 + 63 - i % 64]);
    }
}

static void groups(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    for (int i = 0; i < THREADS; i++)
        x.i[i] = i * 3 - 40;
    FOR_BOTH
    {
        kernel_run(which, "groups", THREADS, &x, &y);
        assert_int_equal(y.i[0], 3 * 31 * 16 - 40 * 32);
        assert_int_equal(y.i[1], 3 * (31 * 16 + 32 * 32) - 40 * 32);
    }
}

static void half_atomics(void **state)
{
    (void)state;
    static Data x, y;
    if (!ptx[0]) skip();
    FOR_BOTH
    {
        memset(&y, 0, sizeof y);
        kernel_run(which, "half_atomics", THREADS, &x, &y);
        for (int i = 0; i < 4; i++)
            assert_true((float)y.h[i] == (i % 2 ? 16 : 32));
        assert_true((float)y.h[8] == 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),       cmocka_unit_test(oblong_products),
        cmocka_unit_test(small_matrices), cmocka_unit_test(copies_and_barriers),
        cmocka_unit_test(groups),         cmocka_unit_test(half_atomics)};
    return cmocka_run_group_tests_name("tensor cores and copies", tests, ptx_make, ptx_free_all);
}
