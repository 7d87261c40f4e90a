/* bench_tensor.cu - the GEMMs on tensor cores that bench_simt.c runs: y[n x n] = x * w, with n a
 * multiple of 128, by wmma, by mma.sync and by wgmma. Each block stages its inputs in shared
 * memory, as production kernels do.
 *
 * bench_tensor.ptx is what nvcc 13 -arch=compute_90a -ptx makes of it, so that the benchmark needs
 * no toolkit. */
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

struct Shape {
    int n, unused[7];
};

enum { SIDE = 64, DEEP = 32 };

/* 32 columns of 64 rows of x, and 64 columns of 32 rows of w, by all threads of the block. */
static __device__ void stage(int n, int k, const float *__restrict__ x, const float *__restrict__ w,
                             __half left[SIDE][DEEP], __half right[DEEP][SIDE])
{
    for (int i = threadIdx.x; i < SIDE * DEEP; i += blockDim.x) {
        left[i / DEEP][i % DEEP] =
            __float2half(x[(blockIdx.y * SIDE + i / DEEP) * n + k + i % DEEP]);
        right[i / SIDE][i % SIDE] =
            __float2half(w[(k + i / SIDE) * n + blockIdx.x * SIDE + i % SIDE]);
    }
    __syncthreads();
}

/* Four warps with 16 rows of 64 accumulators each. */
extern "C" __global__ void bench_wmma(Shape s, const float *__restrict__ x,
                                      const float *__restrict__ w, float *y)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half left[SIDE][DEEP], right[DEEP][SIDE];
    int n = s.n, row = threadIdx.x / 32 * 16;
    fragment<accumulator, 16, 16, 16, float> sum[4];
    for (int j = 0; j < 4; j++)
        fill_fragment(sum[j], 0.0f);
    for (int k = 0; k < n; k += DEEP) {
        stage(n, k, x, w, left, right);
        for (int i = 0; i < DEEP; i += 16) {
            fragment<matrix_a, 16, 16, 16, __half, row_major> a;
            load_matrix_sync(a, &left[row][i], DEEP);
            for (int j = 0; j < 4; j++) {
                fragment<matrix_b, 16, 16, 16, __half, row_major> b;
                load_matrix_sync(b, &right[i][j * 16], SIDE);
                mma_sync(sum[j], a, b, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        store_matrix_sync(&y[(blockIdx.y * SIDE + row) * n + blockIdx.x * SIDE + j * 16], sum[j], n,
                          mem_row_major);
}

/* The same warps; the fragments are the PTX ISA's, for mma.m16n8k16. */
extern "C" __global__ void bench_mma(Shape s, const float *__restrict__ x,
                                     const float *__restrict__ w, float *y)
{
    __shared__ __align__(16) __half left[SIDE][DEEP], right[DEEP][SIDE];
    int n = s.n, lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
    float sum[8][4] = {};
    for (int k = 0; k < n; k += DEEP) {
        stage(n, k, x, w, left, right);
        for (int i = 0; i < DEEP; i += 16) {
            uint32_t a[4], b[2];
            uint32_t from = __cvta_generic_to_shared(&left[row + lane % 16][i + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                         : "r"(from));
            for (int j = 0; j < 8; j++) {
                from = __cvta_generic_to_shared(&right[i + lane % 16][j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(b[0]), "=r"(b[1])
                             : "r"(from));
                asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            y[(blockIdx.y * SIDE + row + lane / 4 + i / 2 * 8) * n + blockIdx.x * SIDE + j * 8 +
              lane % 4 * 2 + i % 2] = sum[j][i];
}

/* A matrix descriptor of the PTX ISA, without swizzle: 8 rows of 16 bytes lie together, 128 bytes
 * further the next 16 bytes of k, and `stride` bytes further the next eight rows. */
static __device__ uint64_t descriptor(const void *at, int stride)
{
    uint64_t start = __cvta_generic_to_shared(at);
    return start >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

/* A warpgroup with 64 x 64 accumulators, inputs rounded to TF32; w comes transposed. */
extern "C" __global__ void bench_wgmma(Shape s, const float *__restrict__ x,
                                       const float *__restrict__ w, float *y)
{
    enum { ROWS = 8 * 4, STRIDE = DEEP * ROWS }; /* strides of eight rows: in floats, in bytes */
    __shared__ __align__(128) float left[SIDE * DEEP], right[SIDE * DEEP];
    int n = s.n, t = threadIdx.x;
    float sum[32] = {};
    for (int k = 0; k < n; k += DEEP) {
        for (int i = t; i < SIDE * DEEP; i += 128) {
            int row = i / DEEP, deep = i % DEEP,
                at = row / 8 * 8 * DEEP + deep / 4 * ROWS + row % 8 * 4 + deep % 4;
            left[at] = x[(blockIdx.y * SIDE + row) * n + k + deep];
            right[at] = w[(blockIdx.x * SIDE + row) * n + k + deep];
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < DEEP; i += 8)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                "%32, %33, 1, 1, 1;"
                : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]),
                  "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]),
                  "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
                  "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
                  "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]),
                  "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]),
                  "+f"(sum[30]), "+f"(sum[31])
                : "l"(descriptor(&left[i * 8], STRIDE)), "l"(descriptor(&right[i * 8], STRIDE)));
        asm volatile("wgmma.commit_group.sync.aligned;\n"
                     "wgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
#pragma unroll
        for (int i = 0; i < 32; i++)
            asm volatile("" : "+f"(sum[i])::"memory");
        __syncthreads();
    }
    int row = blockIdx.y * SIDE + t / 32 * 16 + t % 32 / 4, column = blockIdx.x * SIDE + t % 4 * 2;
    for (int i = 0; i < 32; i++)
        y[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = sum[i];
}
