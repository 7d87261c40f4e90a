// units.cu - what Hopper's units do, as digests: products of warpgroups, tensor copies, clusters.
//
// Shared and global memory are filled by a hash, so that every descriptor, swizzle and coordinate
// shows in what comes out.  Each line is a form's name and a digest of its result; the same program
// runs on a card, where the lines were recorded, and on the simulator (docs/conformance.md).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>

// ---- what all kernels share -------------------------------------------------------------------

__host__ __device__ inline uint32_t hash(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

enum Numbers { HALVES, BRAINS, SINGLES, EIGHTHS, FIFTHS, BYTES, TINY_HALVES };

// Word `i` of a matrix: numbers whose exponents differ by some powers of two.
__host__ __device__ inline uint32_t drawn(Numbers kind, uint32_t i)
{
    uint32_t bits = hash(i), e = hash(i + 77777);
    switch (kind) {
    case HALVES:
        return (bits & 0x83ff83ff) | (10 + e % 10) << 10 | (10 + e / 16 % 10) << 26;
    case TINY_HALVES: // with subnormals and zeros
        return (bits & 0x83ff83ff) | (e % 3) << 10 | (e / 16 % 12) << 26;
    case BRAINS:
        return (bits & 0x807f807f) | (122 + e % 10) << 7 | (122 + e / 16 % 10) << 23;
    case SINGLES:
        return (bits & 0x807fffff) | (120 + e % 14) << 23;
    case EIGHTHS:
        return (bits & 0x87878787) | (e % 15) << 3 | (e / 16 % 15) << 11 | (e / 256 % 15) << 19 |
               (e / 4096 % 15) << 27;
    case FIFTHS:
        return (bits & 0x83838383) | (8 + e % 12) << 2 | (8 + e / 16 % 12) << 10 |
               (8 + e / 256 % 12) << 18 | (8 + e / 4096 % 12) << 26;
    default:
        return bits;
    }
}

static __device__ __forceinline__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ uint64_t descriptor(const unsigned char *memory, uint32_t start,
                                                      uint32_t leading, uint32_t stride,
                                                      uint64_t swizzle)
{
    return (uint64_t)((shared_of(memory) + start & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | swizzle << 62;
}

#define FENCE  asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT   asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")

static int failures;
static const char *only = ""; // the one form that is asked for

static int wanted(const char *name)
{
    return !*only || !strcmp(only, name);
}

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(status));
    failures = 1;
    exit(1);
}

// One line: the digest of what the card left in `y`; with WORDS=1 its first words, too.
static void tell(const char *name, const uint32_t *y, size_t words)
{
    check(cudaDeviceSynchronize(), name);
    uint64_t digest = 14695981039346656037ull;
    for (size_t i = 0; i < words; i++)
        digest = (digest ^ y[i]) * 1099511628211ull;
    printf("%s %016llx\n", name, (unsigned long long)digest);
    for (size_t i = 0; getenv("WORDS") && i < words && i < 1024; i++)
        printf("%08x%s", y[i], i % 16 == 15 ? "\n" : " ");
}

static uint32_t *y; // what kernels write, and the host reads

// ---- products of warpgroups -------------------------------------------------------------------

// How a factor lies in shared memory.
struct Factor {
    uint32_t start, leading, stride;
    uint64_t swizzle;
};

#define SS_4f(FORM, TAIL)                                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned." FORM     \
                 " {"                                                                              \
                 "%0, %1, %2, %3"                                                                  \
                 "}, %4, %5, p" TAIL ";\n}"                                                        \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "l"(a), "l"(b), "r"(adds))
#define RS_4f(FORM, TAIL)                                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned." FORM     \
                 " {"                                                                              \
                 "%0, %1, %2, %3"                                                                  \
                 "}, {%4, %5, %6, %7}, %8, p" TAIL ";\n}"                                          \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds))
#define SS_4r(FORM, TAIL)                                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned." FORM     \
                 " {"                                                                              \
                 "%0, %1, %2, %3"                                                                  \
                 "}, %4, %5, p" TAIL ";\n}"                                                        \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : "l"(a), "l"(b), "r"(adds))
#define RS_4r(FORM, TAIL)                                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned." FORM     \
                 " {"                                                                              \
                 "%0, %1, %2, %3"                                                                  \
                 "}, {%4, %5, %6, %7}, %8, p" TAIL ";\n}"                                          \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds))
#define SS_2r(FORM, TAIL)                                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\nwgmma.mma_async.sync.aligned." FORM     \
                 " {"                                                                              \
                 "%0, %1"                                                                          \
                 "}, %2, %3, p" TAIL ";\n}"                                                        \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : "l"(a), "l"(b), "r"(adds))
#define SS_64f(FORM, TAIL)                                                                         \
    asm volatile(                                                                                  \
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned." FORM " {"        \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"           \
        "}, %64, %65, p" TAIL ";\n}"                                                               \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),      \
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),  \
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),            \
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),            \
          "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),            \
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]),            \
          "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),            \
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),            \
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),            \
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]),            \
          "+f"(d[62]), "+f"(d[63])                                                                 \
        : "l"(a), "l"(b), "r"(adds))

// A kernel of one product: D is drawn, too, and added to where `adds`.
#define PRODUCT(NAME, COUNT, TYPE, KIND, SUMS, CALL)                                               \
    __global__ void NAME(uint32_t *y, Factor fa, Factor fb, int adds)                              \
    {                                                                                              \
        extern __shared__ __align__(1024) unsigned char memory[];                                  \
        for (uint32_t i = threadIdx.x; i < 65536 / 4; i += 128)                                    \
            ((uint32_t *)memory)[i] = drawn(KIND, i);                                              \
        asm volatile("fence.proxy.async.shared::cta;");                                            \
        __syncthreads();                                                                           \
        uint64_t a = descriptor(memory, fa.start, fa.leading, fa.stride, fa.swizzle),              \
                 b = descriptor(memory, fb.start, fb.leading, fb.stride, fb.swizzle);              \
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

PRODUCT(half_single, 4, float, HALVES, SINGLES, SS_4f("m64n8k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_single_tiny, 4, float, TINY_HALVES, SINGLES,
        SS_4f("m64n8k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_half_tiny, 2, uint32_t, TINY_HALVES, TINY_HALVES,
        SS_2r("m64n8k16.f16.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(half_single_less, 4, float, HALVES, SINGLES, SS_4f("m64n8k16.f32.f16.f16", ", -1, 1, 0, 0"))
PRODUCT(half_single_minus, 4, float, HALVES, SINGLES,
        SS_4f("m64n8k16.f32.f16.f16", ", 1, -1, 0, 0"))
PRODUCT(half_half, 2, uint32_t, HALVES, HALVES, SS_2r("m64n8k16.f16.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(brain_single, 4, float, BRAINS, SINGLES, SS_4f("m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0"))
PRODUCT(tf32_single, 4, float, SINGLES, SINGLES, SS_4f("m64n8k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(e4m3_single, 4, float, EIGHTHS, SINGLES, SS_4f("m64n8k32.f32.e4m3.e4m3", ", 1, 1"))
PRODUCT(e4m3_e5m2, 4, float, EIGHTHS, SINGLES, SS_4f("m64n8k32.f32.e4m3.e5m2", ", 1, 1"))
PRODUCT(e5m2_single, 4, float, FIFTHS, SINGLES, SS_4f("m64n8k32.f32.e5m2.e5m2", ", 1, 1"))
PRODUCT(e4m3_half, 2, uint32_t, EIGHTHS, HALVES, SS_2r("m64n8k32.f16.e4m3.e4m3", ", 1, 1"))
PRODUCT(bytes, 4, uint32_t, BYTES, BYTES, SS_4r("m64n8k32.s32.s8.s8", ""))
PRODUCT(bytes_unsigned, 4, uint32_t, BYTES, BYTES, SS_4r("m64n8k32.s32.u8.u8", ""))
PRODUCT(bytes_mixed, 4, uint32_t, BYTES, BYTES, SS_4r("m64n8k32.s32.s8.u8", ""))
PRODUCT(bytes_saturate, 4, uint32_t, BYTES, BYTES, SS_4r("m64n8k32.s32.s8.s8.satfinite", ""))
PRODUCT(half_registers, 4, float, HALVES, SINGLES, RS_4f("m64n8k16.f32.f16.f16", ", 1, 1, 0"))
PRODUCT(brain_registers, 4, float, BRAINS, SINGLES, RS_4f("m64n8k16.f32.bf16.bf16", ", 1, 1, 0"))
PRODUCT(tf32_registers, 4, float, SINGLES, SINGLES, RS_4f("m64n8k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(e4m3_registers, 4, float, EIGHTHS, SINGLES, RS_4f("m64n8k32.f32.e4m3.e4m3", ", 1, 1"))
PRODUCT(bytes_registers, 4, uint32_t, BYTES, BYTES, RS_4r("m64n8k32.s32.s8.s8", ""))
PRODUCT(wide_rows, 64, float, HALVES, SINGLES, SS_64f("m64n128k16.f32.f16.f16", ", 1, 1, 0, 0"))
PRODUCT(wide_columns, 64, float, HALVES, SINGLES, SS_64f("m64n128k16.f32.f16.f16", ", 1, 1, 1, 1"))
PRODUCT(wide_tf32, 64, float, SINGLES, SINGLES, SS_64f("m64n128k8.f32.tf32.tf32", ", 1, 1"))
PRODUCT(wide_eighths, 64, float, EIGHTHS, SINGLES, SS_64f("m64n128k32.f32.e4m3.e4m3", ", 1, 1"))

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
    // By rows: eight rows are a block of 16 bytes times the swizzle; a step in k moves the start.
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
    // By columns: both offsets lead somewhere.
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

// ---- tensor copies ----------------------------------------------------------------------------

typedef CUresult Tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                       const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill);
typedef CUresult Im2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                        const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t,
                        const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                        CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static void *driver(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found),
          name);
    return function;
}

struct Where {
    int at[5];
    unsigned short offset[3];
};

enum { IMAGE = 32768 };

static __device__ void phase_wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(shared_of(barrier)),
        "r"(parity)
        : "memory");
}

// The image of a box in shared memory, over a pattern that shows what was not written.
#define LOAD(NAME, FORM, COORDINATES, ...)                                                         \
    __global__ void NAME(const __grid_constant__ CUtensorMap map, Where w, uint32_t bytes,         \
                         uint32_t *y)                                                              \
    {                                                                                              \
        extern __shared__ __align__(1024) unsigned char memory[];                                  \
        __shared__ __align__(8) uint64_t barrier;                                                  \
        for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)                             \
            ((uint32_t *)memory)[i] = 0xa5a5a5a5;                                                  \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&barrier)));     \
            asm volatile("fence.mbarrier_init.release.cluster;");                                  \
        }                                                                                          \
        asm volatile("fence.proxy.async;");                                                        \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(           \
                             shared_of(&barrier)),                                                 \
                         "r"(bytes)                                                                \
                         : "memory");                                                              \
            asm volatile("cp.async.bulk.tensor." FORM                                              \
                         ".mbarrier::complete_tx::bytes [%0], [%1, " COORDINATES                   \
                         ";" ::"r"(shared_of(memory)),                                             \
                         "l"(&map), "r"(shared_of(&barrier)), __VA_ARGS__                          \
                         : "memory");                                                              \
        }                                                                                          \
        phase_wait(&barrier, 0);                                                                   \
        for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)                             \
            y[i] = ((uint32_t *)memory)[i];                                                        \
    }

LOAD(tile_1d, "1d.shared::cluster.global.tile", "{%3}], [%2]", "r"(w.at[0]))
LOAD(tile_2d, "2d.shared::cluster.global.tile", "{%3, %4}], [%2]", "r"(w.at[0]), "r"(w.at[1]))
LOAD(tile_3d, "3d.shared::cluster.global.tile", "{%3, %4, %5}], [%2]", "r"(w.at[0]), "r"(w.at[1]),
     "r"(w.at[2]))
LOAD(tile_4d, "4d.shared::cluster.global.tile", "{%3, %4, %5, %6}], [%2]", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]))
LOAD(tile_5d, "5d.shared::cluster.global.tile", "{%3, %4, %5, %6, %7}], [%2]", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "r"(w.at[4]))
LOAD(pixels_3d, "3d.shared::cluster.global.im2col", "{%3, %4, %5}], [%2], {%6}", "r"(w.at[0]),
     "r"(w.at[1]), "r"(w.at[2]), "h"(w.offset[0]))
LOAD(pixels_4d, "4d.shared::cluster.global.im2col", "{%3, %4, %5, %6}], [%2], {%7, %8}",
     "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "h"(w.offset[0]), "h"(w.offset[1]))
LOAD(pixels_5d, "5d.shared::cluster.global.im2col", "{%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}",
     "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2]), "r"(w.at[3]), "r"(w.at[4]), "h"(w.offset[0]),
     "h"(w.offset[1]), "h"(w.offset[2]))

// The other way: a box of shared memory into the tensor.
__global__ void store_3d(const __grid_constant__ CUtensorMap map, Where w)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)
        ((uint32_t *)memory)[i] = hash(i + 31337);
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::
            "l"(&map),
        "r"(shared_of(memory)), "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2])
        : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

typedef void Load(CUtensorMap, Where, uint32_t, uint32_t *);

static Tiled *tiled;
static Im2col *im2col;
static uint32_t *tensor; // 1 MiB of hashed words

static const cuuint32_t SIZE[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

struct Tile {
    const char *name;
    Load *kernel;
    CUtensorMapDataType type;
    cuuint32_t rank;
    cuuint64_t dims[5];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    Where where;
};

static CUtensorMap tile_map(const Tile &t, void *memory)
{
    CUtensorMap map;
    cuuint64_t strides[4], bytes = t.dims[0] * SIZE[t.type];
    for (cuuint32_t i = 0; i + 1 < t.rank; i++) {
        bytes = (bytes + 15) / 16 * 16;
        strides[i] = bytes;
        bytes *= t.dims[i + 1];
    }
    if (tiled(&map, t.type, t.rank, memory, t.dims, strides, t.box, t.step,
              CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, t.fill)) {
        printf("%s: no map\n", t.name);
        exit(1);
    }
    return map;
}

#define PLAIN   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define SW(n)   CU_TENSOR_MAP_SWIZZLE_##n##B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define NANS    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
#define TYPE(t) CU_TENSOR_MAP_DATA_TYPE_##t

static void tiles()
{
    static const Tile TILES[] = {
        {"tile-1d", tile_1d, TYPE(FLOAT32), 1, {1000}, {256}, {1}, PLAIN, {{900}}},
        {"tile-2d", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {64, 40}, {1, 1}, PLAIN, {{-8, 70}}},
        {"tile-2d-32", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {16, 40}, {1, 1}, SW(32), {{16, -3}}},
        {"tile-2d-64", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {32, 40}, {1, 1}, SW(64), {{184, 5}}},
        {"tile-2d-128",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {64, 40},
         {1, 1},
         SW(128),
         {{64, 64}}},
        {"tile-2d-narrow-128",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {16, 40},
         {1, 1},
         SW(128),
         {{32, 8}}},
        {"tile-2d-narrow-64",
         tile_2d,
         TYPE(FLOAT16),
         2,
         {200, 100},
         {8, 40},
         {1, 1},
         SW(64),
         {{32, 8}}},
        {"tile-3d",
         tile_3d,
         TYPE(UINT8),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         PLAIN,
         {{48, 15, -4}}},
        {"tile-3d-steps",
         tile_3d,
         TYPE(FLOAT32),
         3,
         {64, 20, 30},
         {16, 8, 9},
         {1, 2, 3},
         PLAIN,
         {{8, 15, 3}}},
        {"tile-4d",
         tile_4d,
         TYPE(BFLOAT16),
         4,
         {32, 10, 12, 5},
         {32, 6, 4, 2},
         {1, 1, 1, 1},
         SW(64),
         {{0, -2, 10, 4}}},
        {"tile-5d",
         tile_5d,
         TYPE(INT32),
         5,
         {16, 6, 5, 4, 3},
         {8, 3, 3, 3, 2},
         {1, 1, 1, 1, 1},
         PLAIN,
         {{12, -1, 3, 2, 2}}},
        {"tile-nan-f16", tile_2d, TYPE(FLOAT16), 2, {200, 100}, {64, 40}, {1, 1}, NANS, {{-8, 70}}},
        {"tile-nan-bf16",
         tile_2d,
         TYPE(BFLOAT16),
         2,
         {200, 100},
         {64, 40},
         {1, 1},
         NANS,
         {{-8, 70}}},
        {"tile-nan-f32", tile_2d, TYPE(FLOAT32), 2, {200, 100}, {32, 40}, {1, 1}, NANS, {{-8, 70}}},
        {"tile-tf32", tile_2d, TYPE(TFLOAT32), 2, {200, 100}, {32, 40}, {1, 1}, SW(128), {{8, 7}}},
        {"tile-f32-ftz",
         tile_2d,
         TYPE(FLOAT32_FTZ),
         2,
         {200, 100},
         {32, 40},
         {1, 1},
         SW(128),
         {{8, 7}}},
        {"tile-tf32-ftz",
         tile_2d,
         TYPE(TFLOAT32_FTZ),
         2,
         {200, 100},
         {32, 40},
         {1, 1},
         SW(128),
         {{8, 7}}},
        {"tile-f64", tile_2d, TYPE(FLOAT64), 2, {100, 100}, {16, 40}, {1, 1}, SW(128), {{8, 7}}},
    };
    for (const Tile &t : TILES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, tensor);
        uint32_t bytes = SIZE[t.type] * t.box[0];
        for (cuuint32_t i = 1; i < t.rank; i++)
            bytes *= (t.box[i] + t.step[i] - 1) / t.step[i];
        check(cudaFuncSetAttribute(t.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              t.name);
        t.kernel<<<1, 128, IMAGE>>>(map, t.where, bytes, y);
        tell(t.name, y, IMAGE / 4);
    }
    static const Tile STORES[] = {
        {"store-3d",
         nullptr,
         TYPE(FLOAT16),
         3,
         {64, 20, 30},
         {32, 7, 9},
         {1, 1, 1},
         SW(64),
         {{40, 15, -4}}},
        {"store-3d-plain",
         nullptr,
         TYPE(FLOAT32),
         3,
         {60, 20, 10},
         {24, 5, 3},
         {1, 1, 1},
         PLAIN,
         {{-4, 2, 8}}},
    };
    for (const Tile &t : STORES) {
        if (!wanted(t.name)) continue;
        CUtensorMap map = tile_map(t, y);
        cudaMemset(y, 0x33, 131072);
        check(cudaFuncSetAttribute(store_3d, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              t.name);
        store_3d<<<1, 128, IMAGE>>>(map, t.where);
        tell(t.name, y, 131072 / 4);
    }
}

struct Pixels {
    const char *name;
    Load *kernel;
    cuuint32_t rank;
    cuuint64_t dims[5];
    int lower[3], upper[3];
    cuuint32_t channels, pixels, step[5];
    CUtensorMapSwizzle swizzle;
    Where where;
};

static void columns()
{
    static const Pixels PIXELS[] = {
        {"pixels-3d",
         pixels_3d,
         3,
         {64, 20, 6},
         {-1},
         {-1},
         32,
         40,
         {1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{32, -1, 1}, {2}}},
        {"pixels-4d",
         pixels_4d,
         4,
         {64, 14, 12, 5},
         {-1, -1},
         {-1, -1},
         64,
         100,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, 5, 9, 1}, {0, 0}}},
        {"pixels-4d-tap",
         pixels_4d,
         4,
         {64, 14, 12, 5},
         {-1, -1},
         {-1, -1},
         64,
         100,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, 5, 9, 1}, {2, 1}}},
        {"pixels-4d-stride",
         pixels_4d,
         4,
         {64, 15, 13, 5},
         {-1, -1},
         {-1, -1},
         32,
         64,
         {1, 2, 2, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{32, 3, -1, 0}, {1, 2}}},
        {"pixels-4d-end",
         pixels_4d,
         4,
         {64, 14, 12, 3},
         {-2, -2},
         {-2, -2},
         16,
         128,
         {1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_NONE,
         {{56, 9, 8, 2}, {4, 3}}},
        {"pixels-4d-steps3",
         pixels_4d,
         4,
         {64, 16, 14, 4},
         {-1, 0},
         {0, -2},
         64,
         64,
         {1, 3, 2, 1},
         CU_TENSOR_MAP_SWIZZLE_128B,
         {{0, -1, 2, 1}, {1, 1}}},
        {"pixels-5d",
         pixels_5d,
         5,
         {32, 8, 7, 6, 3},
         {-1, -1, -1},
         {-1, -1, -1},
         32,
         90,
         {1, 1, 1, 1, 1},
         CU_TENSOR_MAP_SWIZZLE_64B,
         {{0, 2, 3, 4, 0}, {1, 0, 2}}},
    };
    for (const Pixels &p : PIXELS) {
        if (!wanted(p.name)) continue;
        CUtensorMap map;
        cuuint64_t strides[4], bytes = p.dims[0] * 2;
        for (cuuint32_t i = 0; i + 1 < p.rank; i++)
            strides[i] = bytes, bytes *= p.dims[i + 1];
        CUresult status =
            im2col(&map, TYPE(FLOAT16), p.rank, tensor, p.dims, strides, p.lower, p.upper,
                   p.channels, p.pixels, p.step, CU_TENSOR_MAP_INTERLEAVE_NONE, p.swizzle,
                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (status) {
            printf("%s: no map, %d\n", p.name, (int)status);
            continue;
        }
        check(cudaFuncSetAttribute(p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
              p.name);
        p.kernel<<<1, 128, IMAGE>>>(map, p.where, p.channels * 2 * p.pixels, y);
        tell(p.name, y, IMAGE / 4);
    }
}

// ---- clusters ---------------------------------------------------------------------------------

#define CLUSTER_SYNC                                                                               \
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");                          \
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")

static __device__ uint32_t peer_address(const void *p, uint32_t rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_of(p)), "r"(rank));
    return there;
}

// Each block writes a word into the next one's memory, adds to the first one's, says who it is.
__global__ void __cluster_dims__(4, 2, 1) neighbours(uint32_t *y)
{
    __shared__ uint32_t word[32], sum;
    uint32_t rank, ranks, x, row, id;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(row));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    if (threadIdx.x == 0) sum = 0;
    CLUSTER_SYNC;
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
                     peer_address(&word[threadIdx.x], (rank + 1) % ranks)),
                 "r"(rank * 100 + threadIdx.x)
                 : "memory");
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(peer_address(&sum, 0)),
                 "r"(threadIdx.x)
                 : "memory");
    CLUSTER_SYNC;
    uint32_t block = blockIdx.y * gridDim.x + blockIdx.x, theirs;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(theirs)
                 : "r"(peer_address(&word[threadIdx.x], 3))
                 : "memory");
    uint32_t *to = y + (block * 32 + threadIdx.x) * 8;
    to[0] = word[threadIdx.x], to[1] = rank, to[2] = ranks, to[3] = x, to[4] = row, to[5] = id;
    to[6] = rank == 0 ? sum : 0, to[7] = theirs;
    CLUSTER_SYNC;
}

// One block fetches a tile for all; each waits at its own barrier, and arrives at the first one's.
__global__ void __cluster_dims__(2, 1, 1)
    shared_tile(const __grid_constant__ CUtensorMap map, uint32_t *y)
{
    __shared__ __align__(1024) unsigned char memory[4096];
    __shared__ __align__(8) uint64_t full, done;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared_of(&done)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(shared_of(&full))
            : "memory");
    }
    CLUSTER_SYNC;
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
                     "multicast::cluster"
                     " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_of(memory) + rank * 2048),
                     "l"(&map), "r"(shared_of(&full)), "r"(0),
                     "r"((int)(rank * 16 + blockIdx.x / 2 * 32)), "h"((unsigned short)3)
                     : "memory");
    }
    phase_wait(&full, 0);
    for (uint32_t i = threadIdx.x; i < 1024; i += blockDim.x)
        y[blockIdx.x * 1024 + i] = ((uint32_t *)memory)[i];
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         peer_address(&done, 0))
                     : "memory");
    if (rank == 0) phase_wait(&done, 0);
    CLUSTER_SYNC;
}

static void clusters()
{
    neighbours<<<dim3(8, 4, 1), 32>>>(y);
    tell("neighbours", y, 32 * 32 * 8);
    Tile t = {"shared-tile", nullptr, TYPE(FLOAT32), 2, {32, 200}, {32, 16}, {1, 1}, SW(128), {}};
    CUtensorMap map = tile_map(t, tensor);
    shared_tile<<<8, 64>>>(map, y);
    tell(t.name, y, 8 * 1024);
}

int main(int argc, char **argv)
{
    const char *group = argc > 1 ? argv[1] : "";
    only = argc > 2 ? argv[2] : "";
    check(cudaMallocManaged(&y, 1 << 20), "memory");
    check(cudaMallocManaged(&tensor, 1 << 20), "memory");
    for (uint32_t i = 0; i < (1 << 20) / 4; i++)
        tensor[i] = hash(i);
    tiled = (Tiled *)driver("cuTensorMapEncodeTiled");
    im2col = (Im2col *)driver("cuTensorMapEncodeIm2col");
    if (!*group || !strcmp(group, "products")) products();
    if (!*group || !strcmp(group, "tiles")) tiles(), columns();
    if (!*group || !strcmp(group, "clusters")) clusters();
    return failures;
}
