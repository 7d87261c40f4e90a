/* test_simt_nvcc.c - what nvcc makes of small C functions must compute what the host's compiler
 * makes of them.
 *
 * Skipped where there is no nvcc.  The functions are integer and IEEE arithmetic, so results must
 * agree to the bit; each is compiled with and without optimisation (-G is full of calls and local
 * memory). */
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

enum { N = 1000, THREADS = 96 };

/* One text for both compilers: as code, and as a string for nvcc. */
#define FUNCTIONS(F)                                                                               \
    F(int sieve(int n) {                                                                           \
        int count = 0;                                                                             \
        for (int i = 2; i < n; i++) {                                                              \
            int prime = 1;                                                                         \
            for (int k = 2; k * k <= i; k++)                                                       \
                if (i % k == 0) {                                                                  \
                    prime = 0;                                                                     \
                    break;                                                                         \
                }                                                                                  \
            count += prime;                                                                        \
        }                                                                                          \
        return count;                                                                              \
    })                                                                                             \
    F(int mix(int n) {                                                                             \
        unsigned h = (unsigned)n * 2654435761u;                                                    \
        long long wide = (long long)n * -7919 + 3;                                                 \
        for (int i = 0; i < n % 17; i++)                                                           \
            h = (h << 5 | h >> 27) ^ (unsigned)(wide >> (i % 40));                                 \
        switch (n % 9) {                                                                           \
        case 0:                                                                                    \
            h += 3;                                                                                \
            break;                                                                                 \
        case 1:                                                                                    \
            h ^= 0x55;                                                                             \
            break;                                                                                 \
        case 2:                                                                                    \
            h -= (unsigned)(wide / 13);                                                            \
            break;                                                                                 \
        case 3:                                                                                    \
            h *= 7;                                                                                \
            break;                                                                                 \
        case 4:                                                                                    \
            h = h % 1009;                                                                          \
            break;                                                                                 \
        case 5:                                                                                    \
            h = (unsigned)(wide % 101);                                                            \
            break;                                                                                 \
        case 6:                                                                                    \
            h = ~h;                                                                                \
            break;                                                                                 \
        default:                                                                                   \
            h >>= n % 31;                                                                          \
        }                                                                                          \
        return (int)h;                                                                             \
    })                                                                                             \
    F(int local(int n) {                                                                           \
        int table[16];                                                                             \
        for (int i = 0; i < 16; i++)                                                               \
            table[i] = i * n;                                                                      \
        for (int i = 0; i < 40; i++)                                                               \
            table[(i * 7 + n) & 15] += table[(i * 3 + 1) & 15] ^ i;                                \
        return table[n & 15];                                                                      \
    })                                                                                             \
    F(int bytes(int n) {                                                                           \
        unsigned char b = (unsigned char)(n * 37);                                                 \
        signed char s = (signed char)(n * 91);                                                     \
        short h = (short)(n * 12345);                                                              \
        unsigned short u = (unsigned short)(h * 3);                                                \
        return b * 3 + s * 5 - h + u / 7 + (h >> 3) + (s >> 1);                                    \
    })                                                                                             \
    F(int real(int n) {                                                                            \
        float x = (float)n * 0.37f + 1.0f;                                                         \
        float y = x / 3.0f - 2.5f;                                                                 \
        double d = (double)x * y + 1.0 / (n + 1);                                                  \
        if (y < 0) x = -y;                                                                         \
        return (int)(x * 1000.0f) + (int)(d * 10.0) + (y > x ? 7 : 3) + (int)(unsigned)(x + 0.5f); \
    })

#define AS_CODE(...) static __VA_ARGS__
#define AS_TEXT(...) "__device__ __noinline__ " #__VA_ARGS__ "\n"
FUNCTIONS(AS_CODE)

static const char SOURCE[] =
    FUNCTIONS(AS_TEXT) "extern \"C\" __global__ void k(int *out, int n)\n{\n int i = blockIdx.x * "
                       "blockDim.x + threadIdx.x;\n if (i >= n) return;\n"
                       " out[i * 5] = sieve(i % 200); out[i * 5 + 1] = mix(i); out[i * 5 + 2] = "
                       "local(i); out[i * 5 + 3] = bytes(i);\n"
                       " out[i * 5 + 4] = real(i);\n}\n";

static char *file_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file && text && fread(text, 1, (1 << 20) - 1, file) == 0) text[0] = 0;
    if (file) fclose(file);
    return text;
}

static char *compile(const char *flags)
{
    char folder[] = "/tmp/simt_nvcc_XXXXXX", command[1024], path[256];
    if (!mkdtemp(folder)) return NULL;
    snprintf(path, sizeof path, "%s/k.cu", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(SOURCE, file);
    fclose(file);
    snprintf(command, sizeof command,
             "nvcc -fmad=false -ptx -arch=compute_80 %s -o %s/k.ptx %s/k.cu", flags, folder,
             folder);
    int status = system(command);
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    char *text = status == 0 ? file_load(path) : NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) print_message("could not remove %s\n", folder);
    return text;
}

static void compare(const char *flags)
{
    if (system("nvcc --version > /dev/null 2>&1") != 0) skip();
    static int got[N * 5];
    char *text = compile(flags);
    assert_non_null(text);
    SimtGpu *gpu = gpu_open(2, 1, 1);
    struct {
        uint64_t out;
        int32_t n, pad;
    } params = {device_data(gpu, NULL, sizeof got), N, 0};
    SimtResult result;
    if (run(gpu, text, (N + THREADS - 1) / THREADS, THREADS, 0, &params, sizeof params, &result) !=
        0)
        fail_msg("%s", result.report.text);
    if (result.findings) fail_msg("%s", result.report.text);
    device_fetch(gpu, params.out, got, sizeof got);
    for (int i = 0; i < N; i++) {
        int want[5] = {sieve(i % 200), mix(i), local(i), bytes(i), real(i)};
        for (int k = 0; k < 5; k++)
            if (got[i * 5 + k] != want[k])
                fail_msg("function %d of %d: %d, not %d (%s)", k, i, got[i * 5 + k], want[k],
                         flags);
    }
    simt_close(gpu);
    free(text);
}

static void optimised(void **state)
{
    (void)state;
    compare("-O3");
}

static void with_line_numbers(void **state)
{
    (void)state;
    compare("-lineinfo -Xcicc -O1");
}

static void for_debugging(void **state)
{
    (void)state;
    compare("-G");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimised),
                                       cmocka_unit_test(with_line_numbers),
                                       cmocka_unit_test(for_debugging)};
    return cmocka_run_group_tests_name("simt against the host's compiler", tests, NULL, NULL);
}
