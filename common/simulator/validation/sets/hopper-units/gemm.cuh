/* gemm.cuh - matrix products of tiles that tensor copies load (part of hopper-units.cu). */

enum { STAGES = 4, GEMM_ROWS = 128, CONSUMERS = 2 * GROUP };

/* A block's part of A * transposed B: tiles of 128 rows and COLUMNS columns, blockIdx.x,
 * blockIdx.x + blocks, ...; `chunks` times 128 bytes of k each. */
struct Gemm {
    int across, tiles, chunks, columns;
};

struct Turn {
    int stage, parity;
    __device__ void advance()
    {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
};

template <class Product>
__device__ static void produce(const Gemm &g, const CUtensorMap *a, const CUtensorMap *b,
                               unsigned char *stages, uint64_t *full, uint64_t *empty, int deep)
{
    enum { BYTES = (GEMM_ROWS + Product::COLUMNS) * ROW };
    Turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x)
        for (int i = 0; i < g.chunks; i++, turn.advance()) {
            unsigned char *stage = stages + turn.stage * BYTES;
            const int at_a[] = {i * deep, tile / g.across * GEMM_ROWS, 0, 0},
                      at_b[] = {i * deep, tile % g.across * Product::COLUMNS, 0, 0};
            barrier_wait(&empty[turn.stage], turn.parity ^ 1);
            barrier_expect(&full[turn.stage], BYTES);
            box_load<TILE_2D>(stage, a, at_a, &full[turn.stage]);
            box_load<TILE_2D>(stage + GEMM_ROWS * ROW, b, at_b, &full[turn.stage]);
        }
}

template <class Product>
__device__ static void consume(const Gemm &g, const unsigned char *stages, uint64_t *full,
                               uint64_t *empty, float *__restrict__ y)
{
    enum { BYTES = (GEMM_ROWS + Product::COLUMNS) * ROW };
    const int group = threadIdx.x / GROUP, warp = threadIdx.x % GROUP / WARP,
              lane = threadIdx.x % WARP;
    Turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x) {
        typename Product::Sum d[Product::COLUMNS / 2] = {};
        int before = 0;
        for (int i = 0; i < g.chunks; i++, turn.advance()) {
            const unsigned char *rows = stages + turn.stage * BYTES + group * 64 * ROW,
                                *columns = stages + turn.stage * BYTES + GEMM_ROWS * ROW;
            barrier_wait(&full[turn.stage], turn.parity);
            products_begin();
#pragma unroll
            for (int slice = 0; slice < ROW; slice += 32)
                Product::of_shared(d, descriptor(rows + slice), descriptor(columns + slice));
            products_end();
            products_wait<1>();
            if (lane == 0 && i) barrier_arrive(&empty[before]);
            before = turn.stage;
        }
        products_wait<0>();
#pragma unroll
        for (int i = 0; i < Product::COLUMNS / 2; i++)
            sum_settles(d[i]);
        if (lane == 0) barrier_arrive(&empty[before]);
        const int row = tile / g.across * GEMM_ROWS + group * 64 + warp * 16 + lane / 4,
                  column = tile % g.across * Product::COLUMNS + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < Product::COLUMNS / 2; i += 2)
            *(float2 *)&y[(row + i / 2 % 2 * 8) * g.columns + column + i / 4 * 8] =
                make_float2(d[i], d[i + 1]);
    }
}

/* Two warpgroups multiply what one thread of the third asks for; where REGISTERS, that one hands
 * its registers on. */
template <class Product, bool REGISTERS>
__global__ void __launch_bounds__(CONSUMERS + GROUP, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                float *__restrict__ y, const Gemm g, int deep)
{
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *stages = aligned_shared();
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            barrier_init(&full[s], 1), barrier_init(&empty[s], CONSUMERS / WARP);
    barriers_show();
    __syncthreads();
    if (threadIdx.x >= CONSUMERS) {
        if (REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == CONSUMERS) produce<Product>(g, &a, &b, stages, full, empty, deep);
    } else {
        if (REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume<Product>(g, stages, full, empty, y);
    }
}

/* A product of matrices that lie in `source`: rows x columns sums, `depth` bytes of k. */
struct Matrices {
    CUtensorMap a, b;
    Gemm gemm;
    int deep;
};

template <class Product>
static void matrices_make(Matrices *m, CUtensorMapDataType type, int size, int rows, int columns,
                          int depth)
{
    const CUtensorMapSwizzle SW = CU_TENSOR_MAP_SWIZZLE_128B;
    const int wide = Product::COLUMNS;
    matrix_map(&m->a, type, size, source, depth, rows, ROW, GEMM_ROWS, SW);
    matrix_map(&m->b, type, size, source + 4 * MB, depth, columns, ROW, wide, SW);
    m->gemm = {columns / wide, columns / wide * (rows / GEMM_ROWS), depth / ROW, columns};
    m->deep = ROW / size;
}

template <class Product, bool REGISTERS> static void gemm(const Matrices &m, int blocks)
{
    const int bytes = 1024 + STAGES * (GEMM_ROWS + Product::COLUMNS) * ROW;
    roomy(gemm_kernel<Product, REGISTERS>)<<<blocks, CONSUMERS + GROUP, bytes>>>(m.a, m.b, target,
                                                                                 m.gemm, m.deep);
}

static Matrices halves, singles, eighths, brains, many_halves, many_bytes;

static void gemms()
{
    matrices_make<Half_128>(&halves, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 1024, 1536, 4096);
    matrices_make<Tf32_128>(&singles, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, 1024, 1024, 4096);
    matrices_make<Brain_256>(&brains, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 1024, 2048, 2048);
    matrices_make<E4m3_256>(&eighths, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 1024, 4096, 1024);
    matrices_make<Half_128>(&many_halves, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2048, 2048, 1024);
    matrices_make<Bytes_256>(&many_bytes, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 2048, 2560, 1024);
    ENTER(FIT, "gemm", "gemm-half", gemm<Half_128, false>(halves, 96));
    ENTER(REGRESSION, "gemm", "gemm-tf32", gemm<Tf32_128, false>(singles, 64));
    ENTER(REGRESSION, "gemm", "gemm-e4m3", gemm<E4m3_256, false>(eighths, 128));
    ENTER(FIT, "wgmma-registers", "registers-brain", gemm<Brain_256, true>(brains, 64));
    ENTER(REGRESSION, "wgmma-registers", "registers-half", gemm<Half_256, true>(brains, 64));
    ENTER(FIT, "persistent-gemm", "persistent-half", gemm<Half_128, true>(many_halves, SMS));
    ENTER(REGRESSION, "persistent-gemm", "persistent-bytes",
          gemm<Bytes_256, true>(many_bytes, SMS));
}
