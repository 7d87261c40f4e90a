// `products.h` - MMAs of warpgroups (wgmma): types, A in registers, every layout in shared memory.
#ifndef CONVLAB_CONFORMANCE_HOPPER_PRODUCTS_H
#define CONVLAB_CONFORMANCE_HOPPER_PRODUCTS_H

#include "share.h"

// Layout of an operand in shared memory.
struct Factor {
    uint32_t start, leading, stride;
    uint64_t swizzle, base;
};

// One MMA. Accumulators have class C ("f" or "r"); SS has both operands in shared memory, RS the
// first in registers; the number is that of accumulator registers per thread.
#define WGMMA(ADDS, FORM)                                                                          \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " ADDS ", 0;\nwgmma.mma_async.sync.aligned." FORM " {"
#define SS_2(C, FORM, TAIL)                                                                        \
    asm volatile(WGMMA("%4", FORM) "%0, %1}, %2, %3, p" TAIL ";\n}"                                \
                 : "+" C(d[0]), "+" C(d[1])                                                        \
                 : "l"(a), "l"(b), "r"(adds))
#define SS_4(C, FORM, TAIL)                                                                        \
    asm volatile(WGMMA("%6", FORM) "%0, %1, %2, %3}, %4, %5, p" TAIL ";\n}"                        \
                 : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                              \
                 : "l"(a), "l"(b), "r"(adds))
#define RS_4(C, FORM, TAIL)                                                                        \
    asm volatile(WGMMA("%9", FORM) "%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p" TAIL ";\n}"          \
                 : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                              \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds))
#define SS_64(C, FORM, TAIL)                                                                       \
    asm volatile(                                                                                  \
        WGMMA(                                                                                     \
            "%66",                                                                                 \
            FORM) "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "         \
                  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "    \
                  "%31, "                                                                          \
                  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "    \
                  "%47, "                                                                          \
                  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63" \
                  "}, %64, %65, p" TAIL ";\n}"                                                     \
        : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3]), "+" C(d[4]), "+" C(d[5]),            \
          "+" C(d[6]), "+" C(d[7]), "+" C(d[8]), "+" C(d[9]), "+" C(d[10]), "+" C(d[11]),          \
          "+" C(d[12]), "+" C(d[13]), "+" C(d[14]), "+" C(d[15]), "+" C(d[16]), "+" C(d[17]),      \
          "+" C(d[18]), "+" C(d[19]), "+" C(d[20]), "+" C(d[21]), "+" C(d[22]), "+" C(d[23]),      \
          "+" C(d[24]), "+" C(d[25]), "+" C(d[26]), "+" C(d[27]), "+" C(d[28]), "+" C(d[29]),      \
          "+" C(d[30]), "+" C(d[31]), "+" C(d[32]), "+" C(d[33]), "+" C(d[34]), "+" C(d[35]),      \
          "+" C(d[36]), "+" C(d[37]), "+" C(d[38]), "+" C(d[39]), "+" C(d[40]), "+" C(d[41]),      \
          "+" C(d[42]), "+" C(d[43]), "+" C(d[44]), "+" C(d[45]), "+" C(d[46]), "+" C(d[47]),      \
          "+" C(d[48]), "+" C(d[49]), "+" C(d[50]), "+" C(d[51]), "+" C(d[52]), "+" C(d[53]),      \
          "+" C(d[54]), "+" C(d[55]), "+" C(d[56]), "+" C(d[57]), "+" C(d[58]), "+" C(d[59]),      \
          "+" C(d[60]), "+" C(d[61]), "+" C(d[62]), "+" C(d[63])                                   \
        : "l"(a), "l"(b), "r"(adds))

// A kernel of one MMA: D is random, too, and accumulated if `adds`.
#define PRODUCT(NAME, COUNT, TYPE, KIND, SUMS, CALL)                                               \
    __global__ void NAME(uint32_t *y, Factor fa, Factor fb, int adds)                              \
    {                                                                                              \
        extern __shared__ __align__(1024) unsigned char memory[];                                  \
        for (uint32_t i = threadIdx.x; i < 65536 / 4; i += 128)                                    \
            ((uint32_t *)memory)[i] = drawn(KIND, i);                                              \
        asm volatile("fence.proxy.async.shared::cta;");                                            \
        __syncthreads();                                                                           \
        uint64_t a = descriptor(memory, fa.start, fa.leading, fa.stride, fa.swizzle, fa.base),     \
                 b = descriptor(memory, fb.start, fb.leading, fb.stride, fb.swizzle, fb.base);     \
        uint32_t r[4];                                                                             \
        TYPE d[COUNT];                                                                             \
        for (int i = 0; i < COUNT; i++) {                                                          \
            uint32_t bits = drawn(SUMS, i * 128 + threadIdx.x + 999999);                           \
            memcpy(&d[i], &bits, 4);                                                               \
        }                                                                                          \
        for (int i = 0; i < 4; i++)                                                                \
            r[i] = drawn(KIND, i * 128 + threadIdx.x + 555555);                                    \
        (void)a, (void)r;                                                                          \
        FENCE;                                                                                     \
        CALL;                                                                                      \
        COMMIT;                                                                                    \
        WAIT;                                                                                      \
        for (int i = 0; i < COUNT; i++)                                                            \
            memcpy(&y[i * 128 + threadIdx.x], &d[i], 4);                                           \
    }

PRODUCT(half_single, 4, float, HALVES, SINGLES, SS_4("f", "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_single_tiny, 4, float, TINY_HALVES, SINGLES,
        SS_4("f", "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_half_tiny, 2, uint32_t, TINY_HALVES, TINY_HALVES,
        SS_2("r", "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_single_less, 4, float, HALVES, SINGLES,
        SS_4("f", "m64n8k16.f32.f16.f16", ", -1, 1, 0, 0"))
PRODUCT(half_single_minus, 4, float, HALVES, SINGLES,
        SS_4("f", "m64n8k16.f32.f16.f16", ", 1, -1, 0, 0"))
PRODUCT(half_half, 2, uint32_t, HALVES, HALVES, SS_2("r", "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(brain_single, 4, float, BRAINS, SINGLES,
        SS_4("f", "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0"))
PRODUCT(tf32_single, 4, float, SINGLES, SINGLES, SS_4("f", "m64n8k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(e4m3_single, 4, float, EIGHTHS, SINGLES, SS_4("f", "m64n8k32.f32.e4m3.e4m3", ", 1, 1"))
PRODUCT(e4m3_e5m2, 4, float, EIGHTHS, SINGLES, SS_4("f", "m64n8k32.f32.e4m3.e5m2", ", 1, 1"))
PRODUCT(e5m2_single, 4, float, FIFTHS, SINGLES, SS_4("f", "m64n8k32.f32.e5m2.e5m2", ", 1, 1"))
PRODUCT(e4m3_half, 2, uint32_t, EIGHTHS, HALVES, SS_2("r", "m64n8k32.f16.e4m3.e4m3", ", 1, 1"))
PRODUCT(bytes, 4, uint32_t, BYTES, BYTES, SS_4("r", "m64n8k32.s32.s8.s8", ""))
PRODUCT(bytes_unsigned, 4, uint32_t, BYTES, BYTES, SS_4("r", "m64n8k32.s32.u8.u8", ""))
PRODUCT(bytes_mixed, 4, uint32_t, BYTES, BYTES, SS_4("r", "m64n8k32.s32.s8.u8", ""))
PRODUCT(bytes_saturate, 4, uint32_t, BYTES, BYTES, SS_4("r", "m64n8k32.s32.s8.s8.satfinite", ""))
PRODUCT(half_registers, 4, float, HALVES, SINGLES, RS_4("f", "m64n8k16.f32.f16.f16", ", 1, 1, 0"))
PRODUCT(brain_registers, 4, float, BRAINS, SINGLES,
        RS_4("f", "m64n8k16.f32.bf16.bf16", ", 1, 1, 0"))
PRODUCT(tf32_registers, 4, float, SINGLES, SINGLES, RS_4("f", "m64n8k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(e4m3_registers, 4, float, EIGHTHS, SINGLES, RS_4("f", "m64n8k32.f32.e4m3.e4m3", ", 1, 1"))
PRODUCT(bytes_registers, 4, uint32_t, BYTES, BYTES, RS_4("r", "m64n8k32.s32.s8.s8", ""))
PRODUCT(wide_rows, 64, float, HALVES, SINGLES, SS_64("f", "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(wide_columns, 64, float, HALVES, SINGLES,
        SS_64("f", "m64n128k16.f32.f16.f16", ", 1, 1, 1, 1"))
PRODUCT(wide_tf32, 64, float, SINGLES, SINGLES, SS_64("f", "m64n128k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(wide_eighths, 64, float, EIGHTHS, SINGLES, SS_64("f", "m64n128k32.f32.e4m3.e4m3", ", 1, 1"))

typedef void Product(uint32_t *, Factor, Factor, int);

static void product(const char *name, Product *kernel, int count, Factor a, Factor b, int adds)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536), name);
    kernel<<<1, 128, 65536>>>(y, a, b, adds);
    tell(name, y, count * 128);
}

static void products()
{
    const Factor PLAIN = {0, 128, 256, 0}, OTHER = {32768, 128, 256, 0};
    static const struct {
        const char *name;
        Product *kernel;
        int count;
    } TYPES[] = {
        {"half_single", half_single, 4},
        {"half_single_tiny", half_single_tiny, 4},
        {"half_half_tiny", half_half_tiny, 2},
        {"half_single_less", half_single_less, 4},
        {"half_single_minus", half_single_minus, 4},
        {"half_half", half_half, 2},
        {"brain_single", brain_single, 4},
        {"tf32_single", tf32_single, 4},
        {"e4m3_single", e4m3_single, 4},
        {"e4m3_e5m2", e4m3_e5m2, 4},
        {"e5m2_single", e5m2_single, 4},
        {"e4m3_half", e4m3_half, 2},
        {"bytes", bytes, 4},
        {"bytes_unsigned", bytes_unsigned, 4},
        {"bytes_mixed", bytes_mixed, 4},
        {"bytes_saturate", bytes_saturate, 4},
        {"half_registers", half_registers, 4},
        {"brain_registers", brain_registers, 4},
        {"tf32_registers", tf32_registers, 4},
        {"e4m3_registers", e4m3_registers, 4},
        {"bytes_registers", bytes_registers, 4},
    };
    for (const auto &t : TYPES)
        for (int adds = 0; adds < 2; adds++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", t.name, adds ? "-added" : "");
            product(name, t.kernel, t.count, PLAIN, OTHER, adds);
        }
    // K-major: eight rows are a block of 16 bytes times the swizzle; a step in k moves the start.
    for (uint64_t swizzle = 0; swizzle < 4; swizzle++)
        for (int step = 0; step < 2; step++) {
            static const uint32_t WIDTH[] = {16, 128, 64, 32};
            uint32_t w = WIDTH[swizzle], at = step ? (w >= 64 ? 32 : 1024) : 0;
            Factor a = {at, swizzle ? 16 : 1024u, swizzle ? 8 * w : 128, swizzle},
                   b = {16384 + at, swizzle ? 16 : 2048u, swizzle ? 8 * w + 1024 : 128, swizzle};
            char name[64];
            snprintf(name, sizeof name, "rows-%u-step%d", w, step);
            product(name, wide_rows, 64, a, b, 0);
            snprintf(name, sizeof name, "rows-tf32-%u-step%d", w, step);
            product(name, wide_tf32, 64, a, b, 1);
            snprintf(name, sizeof name, "rows-e4m3-%u-step%d", w, step);
            product(name, wide_eighths, 64, a, b, 1);
        }
    // The swizzle's pattern does not start at a multiple of 1024.
    for (uint64_t swizzle = 1; swizzle < 4; swizzle++)
        for (uint32_t base : {1, 3, 6}) {
            static const uint32_t WIDTH[] = {16, 128, 64, 32};
            uint32_t w = WIDTH[swizzle];
            Factor a = {base * 128, 16, 8 * w, swizzle, base},
                   b = {16384 + base * 128, 16, 8 * w, swizzle, base};
            char name[64];
            snprintf(name, sizeof name, "rows-%u-base%u", w, base);
            product(name, wide_rows, 64, a, b, 0);
        }
    // MN-major: both offsets are used.
    for (uint64_t swizzle = 0; swizzle < 4; swizzle++)
        for (int which = 0; which < 2; which++) {
            static const uint32_t WIDTH[] = {16, 128, 64, 32};
            uint32_t w = WIDTH[swizzle];
            Factor a = {which * 8 * w, which ? 2048u : 3072u, which ? 4096u : 1024u, swizzle},
                   b = {16384, which ? 4096u : 2048u, which ? 2048u : 1024u, swizzle};
            char name[64];
            snprintf(name, sizeof name, "columns-%u-%d", w, which);
            product(name, wide_columns, 64, a, b, 0);
        }
}

#endif
