/* test_fatbin_nvcc.c - fat binaries of nvcc's own, against what nvcc says of them itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/simulator/ptx/fatbin.h"
#include "common/simulator/ptx/test_nvcc.h"

static const char SOURCE[] =
    "__device__ __noinline__ float deep(float *p, int n) {\n"
    "    float a[64], s = 0;\n"
    "    for (int i = 0; i < 64; i++) a[(i * n) & 63] = p[i];\n"
    "    for (int i = 0; i < n; i++) s += a[(i * 7) & 63];\n"
    "    return s;\n"
    "}\n"
    "extern \"C\" __global__ void shared(float *x, int n) {\n"
    "    __shared__ float s[300];\n"
    "    s[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = s[299 - threadIdx.x] * n;\n"
    "}\n"
    "extern \"C\" __global__ void local(float *x, int n) {\n"
    "    float a[50];\n"
    "    for (int i = 0; i < n; i++) a[(i * 3) % 50] = x[i];\n"
    "    x[0] = a[n % 50];\n"
    "}\n"
    "extern \"C\" __global__ void calling(float *x, int n) { x[0] = deep(x, n); }\n"
    "extern \"C\" __global__ void empty() {}\n";

/* 48 live values in 32 registers, mixed in each iteration of a loop. */
static const char TIGHT[] =
    "extern \"C\" __global__ void __launch_bounds__(1024, 2) tight(float *x, int turns) {\n"
    "    float v[48];\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 48; k++) v[k] = x[threadIdx.x + k * 32];\n"
    "    for (int turn = 0; turn < turns; turn++)\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < 48; k++) v[k] = v[k] * v[(k + 24) % 48] + v[(k * 7 + 1) % 48];\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 48; k++) x[threadIdx.x + k * 32] = v[k];\n"
    "}\n";

static char *open_source(const char *source, const char *options, Fatbin *fatbin, Error *error,
                         int *result)
{
    size_t bytes;
    const char *nvcc = nvcc_find();
    if (!nvcc) skip();
    nvcc_write("t.cu", source);
    nvcc_write("empty.cu", "int unused;\n");
    if (nvcc_run("'%s' %s -fatbin t.cu -o t.fatbin", nvcc, options)) nvcc_explain(options);
    char *image = nvcc_read("t.fatbin", &bytes);
    assert_int_equal(fatbin_image_bytes(image), bytes);
    *result = fatbin_open(image, bytes, fatbin, error);
    return image;
}

static char *open_of(const char *options, Fatbin *fatbin, Error *error, int *result)
{
    return open_source(SOURCE, options, fatbin, error, result);
}

/* From ".version" on, without comments and white space, which nvcc leaves out of fat binaries. */
static char *squeeze(char *text)
{
    char *from = strstr(text, ".version"), *to = text;
    assert_non_null(from);
    while (*from) {
        if (from[0] == '/' && from[1] == '/')
            from += strcspn(from, "\n");
        else if (strchr(" \t\r\n", *from))
            from++;
        else
            *to++ = *from++;
    }
    *to = 0;
    return text;
}

/* The text inside is what nvcc writes when asked for PTX. */
static void assert_text(const char *options, uint32_t target)
{
    Fatbin fatbin;
    Error error = {""};
    int result;
    size_t bytes;
    char *image = open_of(options, &fatbin, &error, &result);
    if (result) fail_msg("%s: %s", options, error.text);
    if (nvcc_run("'%s' -arch=compute_%u -ptx t.cu -o t.ptx", nvcc_find(), target))
        nvcc_explain("-ptx");
    char *text = nvcc_read("t.ptx", &bytes);
    assert_int_equal(fatbin.ptx_target, target);
    assert_string_equal(squeeze(fatbin.ptx), squeeze(text));
    free(text);
    free(image);
    fatbin_close(&fatbin);
}

static void packings(void **state)
{
    (void)state;
    assert_text("-arch=compute_80 --no-compress", 80);
    assert_text("-arch=compute_80", 80);
}

static void highest_target(void **state)
{
    (void)state;
    assert_text("-gencode arch=compute_80,code=compute_80 "
                "-gencode arch=compute_90,code=compute_90",
                90);
}

/* nvcc 12.0 has no such option, and packs with LZ4 by itself. */
static void fast_packing(void **state)
{
    (void)state;
    const char *nvcc = nvcc_find();
    if (!nvcc) skip();
    if (nvcc_run("'%s' --help | grep -q compress-mode", nvcc)) {
        printf("this nvcc has no --compress-mode: skipped\n");
        skip();
    }
    assert_text("-arch=compute_80 --compress-mode=speed", 80);
}

/* Finds "ptxas info : Used 10 registers, ..., 1200 bytes smem" after "Function properties for
 * <name>" and its stack frame. */
static void ptxas_says(const char *log, const char *name, unsigned *registers, unsigned *shared,
                       unsigned *stack)
{
    char start[128];
    snprintf(start, sizeof start, "Function properties for %s\n", name);
    const char *at = strstr(log, start);
    if (!at) fail_msg("ptxas -v says nothing of %s", name);
    at += strlen(start);
    assert_int_equal(sscanf(at, " %u bytes stack frame", stack), 1);
    const char *used = strstr(at, "Used ");
    assert_non_null(used);
    assert_int_equal(sscanf(used, "Used %u registers", registers), 1);
    const char *end = strchr(used, '\n'), *smem = strstr(used, " bytes smem");
    *shared = 0;
    if (smem && smem < end) {
        while (smem[-1] >= '0' && smem[-1] <= '9')
            smem--;
        *shared = (unsigned)atoi(smem);
    }
}

static void assert_resources(const char *arch)
{
    static const char *const name[] = {"shared", "local", "calling", "empty"};
    char options[256];
    Fatbin fatbin;
    Error error = {""};
    int result;
    size_t bytes;
    snprintf(options, sizeof options,
             "-gencode arch=compute_80,code=compute_80 -gencode arch=compute_%s,code=sm_%s "
             "-Xptxas -v",
             arch, arch);
    char *image = open_of(options, &fatbin, &error, &result);
    if (result) fail_msg("%s", error.text);
    char *log = nvcc_read("log", &bytes);
    assert_int_equal(fatbin.kernels, 4);
    for (size_t i = 0; i < 4; i++) {
        unsigned registers, shared, stack;
        const CubinKernel *kernel = fatbin.kernel;
        ptxas_says(log, name[i], &registers, &shared, &stack);
        while (kernel < fatbin.kernel + 4 && strcmp(kernel->name, name[i]) != 0)
            kernel++;
        assert_true(kernel < fatbin.kernel + 4);
        assert_int_equal(kernel->sm, atoi(arch));
        assert_int_equal(kernel->registers, registers);
        assert_int_equal(kernel->shared_bytes, shared);
        assert_int_equal(kernel->local_bytes, stack);
    }
    free(log);
    free(image);
    fatbin_close(&fatbin);
}

static void resources(void **state)
{
    (void)state;
    assert_resources("80");
    assert_resources("90a");
}

/* The line of the PTX without the blanks at its start. */
static const char *ptx_line(const Fatbin *fatbin, uint32_t number)
{
    const char *at = fatbin->ptx;
    for (; number > 1 && at; number--)
        at = strchr(at, '\n') + 1;
    return at + strspn(at, " \t");
}

/* The spills equal the number that ptxas -v reports. Most are in the loop, which the PTX's branch
 * closes. Most reloaded values are next read by a multiplication. */
static void assert_spills(const char *arch)
{
    Fatbin fatbin;
    Error error = {""};
    int result;
    size_t bytes;
    char options[200];
    unsigned stack, stored, loaded, said[2], inside = 0, products = 0, named = 0;
    snprintf(options, sizeof options,
             "-O3 -lineinfo -Wno-deprecated-gpu-targets -gencode arch=compute_75,code=compute_75 "
             "-gencode arch=compute_75,code=sm_%s -Xptxas -v",
             arch);
    char *image = open_source(TIGHT, options, &fatbin, &error, &result);
    if (result) fail_msg("%s", error.text);
    char *log = nvcc_read("log", &bytes), *at = strstr(log, "Function properties for tight\n");
    assert_non_null(at);
    assert_int_equal(sscanf(strchr(at, '\n'),
                            " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                            &stack, &said[0], &said[1]),
                     3);
    const SassCode *code = &fatbin.kernel[0].machine;
    assert_true(code->count > 48 && said[0] && said[1]);
    stored = loaded = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        const SassIns *ins = &code->ins[i];
        if (!ins->kind) continue;
        *(ins->kind == SASS_KIND_LOCAL_STORE ? &stored : &loaded) += ins->bytes;
        assert_in_range(ins->offset, 0, stack - ins->bytes);
        inside += ins->loop == 1;
        if (ins->kind != SASS_KIND_LOCAL_LOAD || ins->loop != 1 || ins->other == i) continue;
        named++;
        products += !strncmp(ptx_line(&fatbin, code->ins[ins->other].line), "fma.rn.f32", 10);
    }
    assert_int_equal(stored, said[0]);
    assert_int_equal(loaded, said[1]);
    assert_int_equal(code->loops, 1);
    assert_non_null(strstr(ptx_line(&fatbin, code->loop_line[0]), "bra"));
    assert_true(inside > (stored + loaded) / 16 && named > 8 && products * 2 > named);
    free(log), free(image);
    fatbin_close(&fatbin);
}

static void spills(void **state)
{
    (void)state;
    assert_spills("80");
    assert_spills("90");
}

/* Without lines, or with other PTX, SASS gives no information. */
static void spills_without_lines(void **state)
{
    (void)state;
    static const char *const options[] = {
        "-O3 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_80,code=sm_90",
        "-O3 -lineinfo -gencode arch=compute_80,code=compute_80 "
        "-gencode arch=compute_90,code=sm_90"};
    for (int i = 0; i < 2; i++) {
        Fatbin fatbin;
        Error error = {""};
        int result;
        free(open_source(TIGHT, options[i], &fatbin, &error, &result));
        assert_int_equal(result, 0);
        assert_true(fatbin.kernel[0].local_bytes > 0);
        assert_int_equal(fatbin.kernel[0].machine.count, 0);
        fatbin_close(&fatbin);
    }
}

static void relocatable_code(void **state)
{
    (void)state;
    static const char *const options[] = {
        "-rdc=true -arch=compute_80",
        "-rdc=true -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90"};
    for (int i = 0; i < 2; i++) {
        Fatbin fatbin;
        Error error = {""};
        int result;
        free(open_of(options[i], &fatbin, &error, &result));
        assert_int_equal(result, -1);
        assert_non_null(
            strstr(error.text, "relocatable device code (-rdc=true) that was not linked"));
    }
}

static void sass_without_ptx(void **state)
{
    (void)state;
    Fatbin fatbin;
    Error error = {""};
    int result;
    free(open_of("-gencode arch=compute_90a,code=sm_90a", &fatbin, &error, &result));
    assert_int_equal(result, -1);
    assert_non_null(strstr(error.text, "no PTX inside"));
}

static void no_device_code(void **state)
{
    (void)state;
    const char *nvcc = nvcc_find();
    size_t bytes;
    Fatbin fatbin;
    Error error = {""};
    if (!nvcc) skip();
    nvcc_write("empty.cu", "int unused;\n");
    if (nvcc_run("'%s' -arch=compute_80 -fatbin empty.cu -o empty.fatbin", nvcc))
        nvcc_explain("-fatbin");
    char *image = nvcc_read("empty.fatbin", &bytes);
    if (fatbin_open(image, bytes, &fatbin, &error)) fail_msg("%s", error.text);
    assert_non_null(strstr(fatbin.ptx, ".version"));
    assert_int_equal(fatbin.kernels, 0);
    fatbin_close(&fatbin);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packings),
        cmocka_unit_test(highest_target),
        cmocka_unit_test(fast_packing),
        cmocka_unit_test(resources),
        cmocka_unit_test(relocatable_code),
        cmocka_unit_test(spills),
        cmocka_unit_test(spills_without_lines),
        cmocka_unit_test(sass_without_ptx),
        cmocka_unit_test(no_device_code),
    };
    return cmocka_run_group_tests(tests, nvcc_open, nvcc_close);
}
