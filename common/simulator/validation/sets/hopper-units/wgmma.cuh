/* wgmma.cuh - warpgroup MMAs (part of hopper-units.cu). */

#define EIGHT(C, i)                                                                                \
    "+" C(d[i]), "+" C(d[i + 1]), "+" C(d[i + 2]), "+" C(d[i + 3]), "+" C(d[i + 4]),               \
        "+" C(d[i + 5]), "+" C(d[i + 6]), "+" C(d[i + 7])
#define SUMS_64(C)  EIGHT(C, 0), EIGHT(C, 8), EIGHT(C, 16), EIGHT(C, 24)
#define SUMS_128(C) SUMS_64(C), EIGHT(C, 32), EIGHT(C, 40), EIGHT(C, 48), EIGHT(C, 56)
#define SUMS_256(C)                                                                                \
    SUMS_128(C), EIGHT(C, 64), EIGHT(C, 72), EIGHT(C, 80), EIGHT(C, 88), EIGHT(C, 96),             \
        EIGHT(C, 104), EIGHT(C, 112), EIGHT(C, 120)
#define LIST_64                                                                                    \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LIST_128                                                                                   \
    LIST_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "   \
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LIST_256                                                                                   \
    LIST_128 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
             "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "    \
             "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "    \
             "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "      \
             "%123, %124, %125, %126, %127"
#define SHARED_64     "%32, %33, 1"
#define SHARED_128    "%64, %65, 1"
#define SHARED_256    "%128, %129, 1"
#define REGISTERS_64  "{%32, %33, %34, %35}, %36, 1"
#define REGISTERS_128 "{%64, %65, %66, %67}, %68, 1"
#define REGISTERS_256 "{%128, %129, %130, %131}, %132, 1"

/* An MMA of 64 rows, 32 bytes deep, and N columns: accumulators `SUM` of constraint C. */
#define PRODUCT_OF(NAME, SUM, C, N, DEEP, TYPES, SCALES, SHARED_TAIL, REGISTERS_TAIL)              \
    struct NAME##_##N {                                                                            \
        typedef SUM Sum;                                                                           \
        enum { COLUMNS = N };                                                                      \
        __device__ static void of_shared(Sum (&d)[N / 2], uint64_t a, uint64_t b)                  \
        {                                                                                          \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N DEEP TYPES " {" LIST_##N           \
                         "}, " SHARED_##N SCALES SHARED_TAIL ";"                                   \
                         : SUMS_##N(C)                                                             \
                         : "l"(a), "l"(b));                                                        \
        }                                                                                          \
        __device__ static void of_registers(Sum (&d)[N / 2], const uint32_t (&a)[4], uint64_t b)   \
        {                                                                                          \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N DEEP TYPES " {" LIST_##N           \
                         "}, " REGISTERS_##N SCALES REGISTERS_TAIL ";"                             \
                         : SUMS_##N(C)                                                             \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                    \
        }                                                                                          \
    };
#define HALF(N) PRODUCT_OF(Half, float, "f", N, "k16", ".f32.f16.f16", ", 1, 1", ", 0, 0", ", 0")
#define BRAIN(N)                                                                                   \
    PRODUCT_OF(Brain, float, "f", N, "k16", ".f32.bf16.bf16", ", 1, 1", ", 0, 0", ", 0")
#define TF32(N)  PRODUCT_OF(Tf32, float, "f", N, "k8", ".f32.tf32.tf32", ", 1, 1", "", "")
#define E4M3(N)  PRODUCT_OF(E4m3, float, "f", N, "k32", ".f32.e4m3.e4m3", ", 1, 1", "", "")
#define E5M2(N)  PRODUCT_OF(E5m2, float, "f", N, "k32", ".f32.e5m2.e5m2", ", 1, 1", "", "")
#define BYTES(N) PRODUCT_OF(Bytes, int, "r", N, "k32", ".s32.s8.s8", "", "", "")
HALF(64)
HALF(128)
HALF(256)
BRAIN(64)
BRAIN(128)
BRAIN(256)
TF32(64)
TF32(128)
TF32(256)
E4M3(64)
E4M3(128)
E4M3(256)
E5M2(128)
BYTES(64)
BYTES(128)
BYTES(256)

/* Rows of 128 swizzled bytes, eight of them a block. */
__device__ static uint64_t descriptor(const void *rows)
{
    return (uint64_t)(place(rows) >> 4) | (uint64_t)1 << 16 | (uint64_t)(8 * ROW >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ static void products_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ static void products_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int LEFT> __device__ static void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* No register is read before. */
__device__ static void sum_settles(float &sum)
{
    asm volatile("" : "+f"(sum)::"memory");
}

__device__ static void sum_settles(int &sum)
{
    asm volatile("" : "+r"(sum)::"memory");
}

template <class Sum, int COUNT> __device__ static Sum sum_of(const Sum (&d)[COUNT])
{
    Sum sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += d[i];
    return sum;
}

/* Each warpgroup multiplies 64 rows of its own by the same columns, `rounds` times four slices;
 * LEFT groups of four may be in flight. */
template <class Product, bool REGISTERS, int LEFT>
__global__ void products_kernel(float *y, int rounds)
{
    unsigned char *factors = aligned_shared();
    shared_fill(factors, (blockDim.x / 2 + Product::COLUMNS) * ROW);
    const unsigned char *columns = factors,
                        *rows = factors + Product::COLUMNS * ROW + threadIdx.x / GROUP * 64 * ROW;
    typename Product::Sum d[Product::COLUMNS / 2] = {};
    const uint32_t a[4] = {threadIdx.x, threadIdx.x * 3, threadIdx.x * 5, threadIdx.x * 7};
    for (int i = 0; i < rounds; i++) {
        products_begin();
#pragma unroll
        for (int slice = 0; slice < ROW; slice += 32)
            if (REGISTERS)
                Product::of_registers(d, a, descriptor(columns + slice));
            else
                Product::of_shared(d, descriptor(rows + slice), descriptor(columns + slice));
        products_end();
        products_wait<LEFT>();
    }
    products_wait<0>();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(d);
}

static void products()
{
#define MULTIPLY(PRODUCT, REGISTERS, LEFT, blocks, groups, rounds)                                 \
    roomy(products_kernel<PRODUCT, REGISTERS, LEFT>)<<<blocks, (groups)*GROUP, 66 * 1024>>>(       \
        target, rounds)
    ENTER(FIT, "wgmma", "half-128", MULTIPLY(Half_128, false, 1, 8, 2, 64));
    ENTER(FIT, "wgmma", "tf32-256", MULTIPLY(Tf32_256, false, 1, 8, 2, 32));
    ENTER(FIT, "wgmma", "bytes-registers-128", MULTIPLY(Bytes_128, true, 1, 8, 2, 64));
    ENTER(FIT, "wgmma", "brain-64-alone", MULTIPLY(Brain_64, false, 0, 8, 1, 64));
    ENTER(FIT, "wgmma", "half-registers-64", MULTIPLY(Half_64, true, 1, 8, 2, 64));
    ENTER(FIT, "wgmma", "e4m3-128-alone", MULTIPLY(E4m3_128, false, 0, 8, 1, 64));
    ENTER(REGRESSION, "wgmma", "half-registers-256", MULTIPLY(Half_256, true, 1, 8, 2, 32));
    ENTER(REGRESSION, "wgmma", "brain-256-all", MULTIPLY(Brain_256, false, 1, SMS, 2, 16));
    ENTER(REGRESSION, "wgmma", "tf32-64", MULTIPLY(Tf32_64, false, 1, 8, 2, 64));
    ENTER(REGRESSION, "wgmma", "tf32-registers-128", MULTIPLY(Tf32_128, true, 0, 8, 2, 64));
    ENTER(REGRESSION, "wgmma", "e4m3-256", MULTIPLY(E4m3_256, false, 1, 8, 2, 32));
    ENTER(REGRESSION, "wgmma", "e5m2-registers-128", MULTIPLY(E5m2_128, true, 1, 8, 1, 64));
    ENTER(REGRESSION, "wgmma", "bytes-64", MULTIPLY(Bytes_64, false, 1, 8, 2, 64));
    ENTER(REGRESSION, "wgmma", "half-64-crowd", MULTIPLY(Half_64, false, 1, 8, 4, 48));
#undef MULTIPLY
}
