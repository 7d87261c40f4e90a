/* test_ptx_nvcc.c - PTX as the compilers that are here write it: parsed, sound, and with every
 * kernel in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/simulator/ptx/fuzz_ptx.c"
#include "common/simulator/ptx/test_nvcc.h"

/* One source for all of it: starting nvcc takes longer than compiling. */
static const char SOURCE[] =
    "#include <cassert>\n"
    "#include <cstdio>\n"
    "#include <cooperative_groups.h>\n"
    "#include <cuda_fp16.h>\n"
    "#include <cuda_pipeline.h>\n"
    "#include <mma.h>\n"
    "using namespace nvcuda;\n"
    "namespace cg = cooperative_groups;\n"
    "__constant__ float table[8] = {1, 2.5f, 3};\n"
    "__constant__ double doubles[2][2] = {{1.0}, {2.0, -3}};\n"
    "__device__ int counter = 7;\n"
    "__device__ int *where = &counter;\n"
    "__device__ const char *words[2] = {\"ab\", \"cd\"};\n"
    "struct Mixed { char c; int *p; double d; };\n"
    "__device__ Mixed mixed = {'x', &counter, 2.5};\n"
    "struct __attribute__((packed)) Packed { char c; int *p; short s; };\n"
    "__device__ Packed packed = {1, &counter, 3};\n"
    "__managed__ int managed = 3;\n"
    "extern __shared__ float dynamic[];\n"
    "template <int N> __global__ void __launch_bounds__(N * 8, 2) templated(float *x) {\n"
    "    __shared__ float s[N][N];\n"
    "    s[threadIdx.x][threadIdx.y] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[blockIdx.x] = s[threadIdx.y][threadIdx.x] * table[threadIdx.x & 7] + dynamic[3];\n"
    "}\n"
    "template __global__ void templated<16>(float *);\n"
    "template __global__ void templated<32>(float *);\n"
    "extern \"C\" {\n"
    "__global__ void tensor(half *a, half *b, float *c) {\n"
    "    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;\n"
    "    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;\n"
    "    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;\n"
    "    wmma::fill_fragment(fc, 0.f);\n"
    "    wmma::load_matrix_sync(fa, a, 16);\n"
    "    wmma::load_matrix_sync(fb, b, 16);\n"
    "    wmma::mma_sync(fc, fa, fb, fc);\n"
    "    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);\n"
    "}\n"
    "__global__ void printing(int n, double d) {\n"
    "    printf(\"%d %f %s\\n\", n, d, words[n]);\n"
    "    assert(n > 3);\n"
    "    *where += mixed.c + packed.c + managed++;\n"
    "}\n"
    "__global__ void mathematics(double *x, int n) {\n"
    "    x[0] = sin(x[1]) + exp(x[2]) * pow(x[3], x[4]) + x[5] / x[6] + sqrt(x[7]);\n"
    "    x[8] = fmod(x[9], 3.0) + doubles[n][1];\n"
    "    x[10] = (double)(n % 7) / n;\n"
    "}\n"
    "__global__ void switching(int *x, int n) {\n"
    "    switch (n) {\n"
    "    case 0: x[0] = __clz(x[7]); break;\n"
    "    case 1: x[1] *= 3; break;\n"
    "    case 2: x[2] = atomicAdd(x, 3); break;\n"
    "    case 3: x[3] = __shfl_sync(~0u, x[3], 2); break;\n"
    "    case 4: x[4] = x[8] / x[9]; break;\n"
    "    case 5: x[5] = clock64(); break;\n"
    "    }\n"
    "}\n"
    "__device__ __noinline__ float twice(float x) { return x * 2; }\n"
    "__device__ __noinline__ float wave(float x) { return x * 3 + __sinf(x); }\n"
    "__device__ float (*maps[2])(float) = {twice, wave};\n"
    "__global__ void pointers(float *x, int i) { x[0] = maps[i](x[1]); }\n"
    "struct Big { int a[20]; float b; };\n"
    "__device__ __noinline__ Big change(Big b, int k) { b.a[k] = 3; return b; }\n"
    "__global__ void structures(const __grid_constant__ Big b, Big *o, int k) {\n"
    "    const int *p = b.a;\n"
    "    *o = change(b, p[k]);\n"
    "}\n"
    "__global__ void assembly(int *x) {\n"
    "    int y;\n"
    "    asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.s32 p, %1, 0;\\n\\t\"\n"
    "                 \"selp.s32 %0, 4+8, (2)*3, p;\\n\\t}\" : \"=r\"(y) : \"r\"(x[0]));\n"
    "    asm volatile(\"{ .reg .u32 t; mov.u32 t, %%laneid; add.u32 %0, t, 0x10U; }\"\n"
    "                 : \"=r\"(x[2]));\n"
    "    asm volatile(\"{ .reg .pred q; setp.eq.u32 q, 1, 0; L: @!q bra M; bra L; M: }\");\n"
    "    x[1] = y;\n"
    "}\n"
    "__global__ void asynchronous(float4 *x) {\n"
    "    __shared__ float4 s[64];\n"
    "    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16);\n"
    "    __pipeline_commit();\n"
    "    __pipeline_wait_prior(0);\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = s[63 - threadIdx.x];\n"
    "}\n"
    "__global__ void halves(half2 *x) {\n"
    "    x[0] = __hfma2(x[1], x[2], x[3]);\n"
    "    x[4] = h2exp(x[5]);\n"
    "    x[6] = __hmax2(x[7], x[8]);\n"
    "}\n"
    "__global__ void groups(int *x) {\n"
    "    auto t = cg::tiled_partition<16>(cg::this_thread_block());\n"
    "    int v = t.shfl_down(x[0], 2);\n"
    "    t.sync();\n"
    "    x[1] = v + t.ballot(v);\n"
    "    cg::coalesced_group c = cg::coalesced_threads();\n"
    "    x[c.thread_rank()] = c.size();\n"
    "}\n"
    "__global__ void locals(int *x, int n) {\n"
    "    int a[100];\n"
    "    for (int i = 0; i < n; i++) a[(i * 7) % 100] = x[i];\n"
    "    char *p = (char *)alloca(n);\n"
    "    p[n / 2] = 3;\n"
    "    x[0] = a[n] + p[1];\n"
    "}\n"
    "}\n";

static const char *const KERNELS[] = {"_Z9templatedILi16EEvPf",
                                      "_Z9templatedILi32EEvPf",
                                      "tensor",
                                      "printing",
                                      "mathematics",
                                      "switching",
                                      "pointers",
                                      "structures",
                                      "assembly",
                                      "asynchronous",
                                      "halves",
                                      "groups",
                                      "locals"};

static const PtxFunction *function_find(const PtxModule *module, const char *name)
{
    for (uint32_t i = 0; i < module->functions; i++) {
        if (strcmp(module->function[i].name, name) == 0) return &module->function[i];
    }
    fail_msg("no function %s", name);
    return NULL;
}

/* Number of lines with the opcode that ends every kernel of a compiler. */
static unsigned returns_in(const char *text)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, "\tret;")); at++)
        count++;
    return count;
}

static PtxModule *parse_file(const char *name)
{
    size_t bytes;
    Error error = {""};
    char *text = nvcc_read(name, &bytes);
    PtxModule *module = ptx_parse(text, bytes, &error);
    if (!module) fail_msg("%s", error.text);
    LLVMFuzzerTestOneInput((const uint8_t *)text, bytes);
    unsigned returns = 0;
    for (uint32_t i = 0; i < module->functions; i++) {
        const PtxFunction *function = &module->function[i];
        for (uint32_t j = 0; j < function->instructions; j++)
            returns += strcmp(function->instruction[j].word[0], "ret") == 0;
    }
    assert_int_equal(returns, returns_in(text));
    free(text);
    return module;
}

static void compile_and_parse(const char *options, uint32_t target, int has_lines)
{
    const char *nvcc = nvcc_find();
    if (!nvcc) skip();
    nvcc_write("t.cu", SOURCE);
    if (nvcc_run("'%s' -std=c++17 %s -ptx t.cu -o t.ptx", nvcc, options)) nvcc_explain(options);
    PtxModule *module = parse_file("t.ptx");
    assert_int_equal(module->target, target);
    for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++) {
        const PtxFunction *kernel = function_find(module, KERNELS[i]);
        assert_true(kernel->is_entry && !kernel->is_extern);
        assert_true(kernel->instructions > 2);
        int known = 0;
        for (uint32_t j = 0; j < kernel->instructions; j++)
            known |= kernel->instruction[j].source.file != UINT32_MAX;
        assert_int_equal(known, has_lines);
    }
    assert_int_equal(function_find(module, KERNELS[1])->max_threads[0], 256);
    assert_int_equal(function_find(module, KERNELS[1])->min_blocks, 2);
    assert_int_equal(function_find(module, "structures")->params, 3);
    assert_int_equal(function_find(module, "structures")->param[0].bytes, 84);
    ptx_free(module);
}

static void ptx_of_nvcc(void **state)
{
    (void)state;
    compile_and_parse("-arch=compute_80", 80, 0);
}

static void ptx_of_nvcc_with_lines(void **state)
{
    (void)state;
    compile_and_parse("-arch=compute_90a -lineinfo", 90, 1);
}

static void ptx_of_nvcc_for_debugging(void **state)
{
    (void)state;
    compile_and_parse("-arch=compute_80 -G", 80, 1);
}

static const char CLANG_SOURCE[] =
    "#define __global__ __attribute__((global))\n"
    "#define __device__ __attribute__((device))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __constant__ __attribute__((constant))\n"
    "#include <__clang_cuda_builtin_vars.h>\n"
    "__constant__ float tab[4] = {1, 2, 3, 4};\n"
    "__device__ int cnt = 5;\n"
    "__device__ int *pc = &cnt;\n"
    "__device__ __attribute__((noinline)) float g(float x, int n) { return x * n; }\n"
    "extern \"C\" __global__ void k(float *x, int n) {\n"
    "    __shared__ float s[16][17];\n"
    "    extern __shared__ int dyn[];\n"
    "    s[threadIdx.x][threadIdx.y] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    switch (n) {\n"
    "    case 0: x[0] = g(x[1], 3); break;\n"
    "    case 1: x[1] /= 3; break;\n"
    "    case 2: *x = tab[n]; break;\n"
    "    case 3: x[4] = *pc; break;\n"
    "    case 4: x[9] = dyn[3]; break;\n"
    "    }\n"
    "    x[blockIdx.x] = s[threadIdx.y][threadIdx.x];\n"
    "    asm volatile(\"{ .reg .pred p; setp.ne.s32 p, %0, 1; @p trap; }\" ::\"r\"(n));\n"
    "}\n";

static void ptx_of_clang(void **state)
{
    (void)state;
    static const char *const clang[] = {"clang", "clang-14", "clang-16", "clang-18", "clang-19"};
    unsigned found = 0;
    nvcc_write("c.cu", CLANG_SOURCE);
    for (size_t i = 0; i < sizeof clang / sizeof *clang; i++) {
        if (nvcc_run("command -v %s", clang[i])) continue;
        if (nvcc_run("%s -x cuda --cuda-path=/nonexistent --cuda-device-only -nocudainc "
                     "-nocudalib --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx70 "
                     "-O3 -g1 -S c.cu -o c.ptx",
                     clang[i]))
            nvcc_explain(clang[i]);
        PtxModule *module = parse_file("c.ptx");
        const PtxFunction *k = function_find(module, "k");
        assert_true(k->is_entry);
        assert_int_equal(k->params, 2);
        assert_int_equal(module->target, 80);
        ptx_free(module);
        found++;
    }
    if (!found) {
        printf("no clang here: skipped\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_of_nvcc),
        cmocka_unit_test(ptx_of_nvcc_with_lines),
        cmocka_unit_test(ptx_of_nvcc_for_debugging),
        cmocka_unit_test(ptx_of_clang),
    };
    return cmocka_run_group_tests(tests, nvcc_open, nvcc_close);
}
