/* Lab 12: the product on Hopper's own units.  Copies that know the convolution bring the tiles,
 * four warps together multiply them, and neither waits for the other.  NHWC.  Edit only the TODO
 * regions. */
#include <convlab/conv.h>
#include <cuda.h>
#include <stdint.h>

/* What is multiplied: both keep 11 bits of each input, fp16 ends at 65504 and is half as long. */
#ifndef FP16
#define FP16 0
#endif
#if FP16
typedef __half Value;
#define WGMMA(pixels) "wgmma.mma_async.sync.aligned.m64n" #pixels "k16.f32.f16.f16 "
#define AS_STORED     ", 0, 0"
#define MAP_TYPE      CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#else
typedef float Value;
#define WGMMA(pixels) "wgmma.mma_async.sync.aligned.m64n" #pixels "k8.f32.tf32.tf32 "
#define AS_STORED     ""
#define MAP_TYPE      CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 /* rounded to nearest on its way */
#endif

/* What x, w and y are in memory: floats, but where somebody has and wants halves. */
#ifndef STORED
#define STORED float
#endif
typedef STORED Stored;

enum {
    ROW = 128, /* bytes of a row of a tile: DEPTH channels of a filter or of a pixel */
    DEPTH = ROW / sizeof(Value),
    SLICE = 32,                 /* bytes of each row that one product takes */
    PIECE = 16 / sizeof(Value), /* a copy moves no less than 16 bytes, */
    SECTOR = 2 * PIECE,         /* and whole sectors of 32 bytes faster */
    ALIGNED = 8 * ROW,          /* eight rows, after which the order of their pieces repeats */
    WARP = 32,
    GROUP = 4 * WARP,      /* a warpgroup: the four warps that multiply together */
    CONSUMERS = 2 * GROUP, /* two of them, and one warp that brings the operands */
    THREADS = CONSUMERS + WARP,
    MOST_SHARED = 227 * 1024
};

__host__ __device__ constexpr int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- the operands and their maps ------------------------------------------------------------- */

struct alignas(16) Piece {
    Value value[PIECE];
};

/* to[n][h][w][c] = from[n][h - top][w - left][c], 0 where there is none; c in PIECEs. */
struct Packing {
    int top, left, H, W, C;
    int rows, to_H, to_W, pieces; /* rows of all images; pieces of a pixel */
    const Stored *from;
    Piece *to;
};

/* Packs x and w.  Block (bx, by) writes pieces from by*blockDim.x on of row bx; the rows of x come
 * first, then those of w. */
__global__ void pack_kernel(const __grid_constant__ Packing of_x,
                            const __grid_constant__ Packing of_w)
{
    const Packing &o = blockIdx.x < of_x.rows ? of_x : of_w;
    const int row = blockIdx.x < of_x.rows ? blockIdx.x : blockIdx.x - of_x.rows;
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    const int c = i % o.pieces * PIECE, w = i / o.pieces - o.left;
    const int n = row / o.to_H, h = row % o.to_H - o.top;
    if (i >= o.to_W * o.pieces) return;
    const bool inside = w >= 0 && w < o.W && h >= 0 && h < o.H;
    const Stored *from = o.from + (((size_t)n * o.H + h) * o.W + w) * o.C + c;
    Piece piece;
    for (int e = 0; e < PIECE; e++)
        piece.value[e] = (Value)(inside && c + e < o.C ? (float)from[e] : 0.0f);
    o.to[(size_t)row * o.to_W * o.pieces + i] = piece;
}

/* x and w as copies can take them: values, channels in whole PIECEs, or SECTORs.  Where all
 * channels of a row of taps fit into one chunk, that row becomes one tap: S taps side by side are
 * S*C values side by side, if x has its padding around it. */
struct Operands {
    ConvProblem p;
    const Value *x, *w;
    int pixel, row; /* values from one pixel, one row of x to the next */
    Piece *x_copy, *w_copy;
};

static Packing packing(int images, const int pad[4], int H, int W, int C, int to_C,
                       const Stored *from)
{
    const int to_H = H + pad[0] + pad[2], to_W = W + pad[1] + pad[3];
    Packing o = {pad[0], pad[1], H, W, C, images * to_H, to_H, to_W, to_C / PIECE, from};
    cudaMalloc(&o.to, sizeof(Piece) * o.rows * o.to_W * o.pieces);
    return o;
}

static Operands operands_of(const ConvProblem *p, const Stored *x, const Stored *w,
                            cudaStream_t stream)
{
    const int none[4] = {};
    int channels = ceiling(p->C, SECTOR) * SECTOR;
    if (p->S == 1 || p->S * channels > DEPTH) channels = ceiling(p->C, PIECE) * PIECE;
    const bool folded = p->S > 1 && p->S * channels <= DEPTH;
    Operands o = {*p, (const Value *)x, (const Value *)w, channels, p->W * channels};
    o.p.C = channels;
    if (sizeof(Stored) == sizeof(Value) && channels == p->C && !folded) return o;
    const int around[] = {p->pad_top, p->pad_left, p->pad_bottom, p->pad_right};
    const Packing of_x = packing(p->N, folded ? around : none, p->H, p->W, p->C, channels, x);
    const Packing of_w = packing(p->K, none, p->R, p->S, p->C, channels, w);
    const int longest = of_x.to_W > of_w.to_W ? of_x.to_W : of_w.to_W;
    const dim3 grid(of_x.rows + of_w.rows, ceiling(longest * of_x.pieces, 256));
    pack_kernel<<<grid, 256, 0, stream>>>(of_x, of_w);
    o.x_copy = of_x.to, o.w_copy = of_w.to;
    o.x = o.x_copy->value, o.w = o.w_copy->value;
    if (!folded) return o;
    o.p.H += p->pad_top + p->pad_bottom, o.p.W += p->pad_left + p->pad_right;
    o.row = o.p.W * channels;
    o.p.W -= p->S - 1; /* where a row of taps can begin */
    o.p.pad_top = o.p.pad_left = o.p.pad_bottom = o.p.pad_right = 0;
    o.p.C *= p->S, o.p.S = 1;
    return o;
}

/* The driver's function of that name, for a program that is not linked with the driver. */
template <typename Function> static Function *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return (Function *)function;
}

/* w as C x taps x K; a box is DEPTH channels of one tap of `filters` filters. */
static bool map_filters(const Operands *o, int filters, CUtensorMap *map)
{
    const ConvProblem *p = &o->p;
    const cuuint64_t tap = p->C * sizeof(Value), taps = (cuuint64_t)p->R * p->S;
    const cuuint64_t size[] = {(cuuint64_t)p->C, taps, (cuuint64_t)p->K};
    const cuuint64_t stride[] = {tap, taps * tap};
    const cuuint32_t box[] = {DEPTH, 1, (cuuint32_t)filters}, every[] = {1, 1, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    return encode && !encode(map, MAP_TYPE, 3, (void *)o->w, size, stride, box, every,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* x as C x W x H x N; a column is DEPTH channels of `pixels` output pixels, which run along q, then
 * p, then n. */
static bool map_pixels(const Operands *o, int pixels, CUtensorMap *map)
{
    const ConvProblem *p = &o->p;
    const cuuint64_t pixel = o->pixel * sizeof(Value), row = o->row * sizeof(Value);
    const cuuint64_t size[] = {(cuuint64_t)p->C, (cuuint64_t)p->W, (cuuint64_t)p->H,
                               (cuuint64_t)p->N};
    const cuuint64_t stride[] = {pixel, row, p->H * row};
    int lower[2] = {}, upper[2] = {};
    cuuint32_t every[] = {1, 1, 1, 1};
    bool ready = false;
    // TODO(1): Where may tap (0, 0) lie?  lower: its least w and h; upper: its largest, counted
    // from the last pixel; every: its steps along C, W, H, N.  Then there is a map: `ready`.
    // END TODO(1)
    auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    return ready && encode &&
           !encode(map, MAP_TYPE, 4, (void *)o->x, size, stride, lower, upper, DEPTH, pixels, every,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* ---- Hopper's instructions ------------------------------------------------------------------- */

__device__ unsigned place(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* A phase of an mbarrier ends when `count` have arrived and all announced bytes are there. */
__device__ void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count));
}

/* Arrives, and announces `bytes` that copies will bring. */
__device__ void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(barrier)),
                 "r"(bytes)
                 : "memory");
}

/* Arrives at this barrier of block `rank` of the cluster. */
__device__ void barrier_arrive(uint64_t *barrier, int rank)
{
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(place(barrier)),
                 "r"(rank)
                 : "memory");
}

/* Waits for the end of a phase; phases are told apart by their parity, 0 for the first. */
__device__ void barrier_wait(uint64_t *barrier, int parity)
{
    int over;
    do
        asm volatile("{.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;}"
                     : "=r"(over)
                     : "r"(place(barrier)), "r"(parity)
                     : "memory");
    while (!over);
}

__device__ int cluster_rank()
{
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* __syncthreads() of a cluster. */
__device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

/* A box of the map, from channel c of tap rs of filter k on. */
__device__ void copy_filters(void *to, const CUtensorMap *map, int c, int rs, int k,
                             uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(place(to)),
                 "l"(map), "r"(c), "r"(rs), "r"(k), "r"(place(barrier))
                 : "memory");
}

/* A column of the map: tap (r, s) of as many pixels as the map says, the first of them with its
 * tap (0, 0) at (h, w) of image n; DEPTH channels from c on.  Where there are sharers, the same
 * place in the shared memory of each gets it. */
template <int SHARERS>
__device__ void copy_pixels(void *to, const CUtensorMap *map, int c, int w, int h, int n, int s,
                            int r, uint64_t *barrier, int sharers)
{
    if (SHARERS == 1)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                     ".mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(place(to)),
                     "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(place(barrier)), "h"((short)s),
                     "h"((short)r)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                     ".mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(place(to)),
                     "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(place(barrier)), "h"((short)s),
                     "h"((short)r), "h"((short)sharers)
                     : "memory");
}

/* What wgmma is told of a tile: where it begins, that eight of its rows take 1024 bytes, and that
 * the 16-byte pieces of a row are swizzled over 128 bytes. */
__device__ uint64_t descriptor(const void *tile)
{
    uint64_t word = 0;
    // TODO(2): Put three numbers into the word (PTX ISA, "Matrix Descriptor Format"): from bit 0 on
    // the address in units of 16 bytes, from bit 32 on the stride of eight rows in the same units,
    // from bit 62 on a 1 for the swizzle of 128 bytes.
    // END TODO(2)
    return word;
}

/* Operands %0 to %127, and sum[0] to sum[127]. */
#define TEN(tens)                                                                                  \
    "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens        \
    "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define FOUR(i)    "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

/* sum += filters * pixels, for 64 filters and 256, 192 or 128 pixels, over SLICE bytes of each row.
 * The four warps of a warpgroup do it together, and go on before it is done.  Warp v of them holds
 *
 *     sum[4*j + 0 .. 1]  filter v*16 + lane/4,     pixels j*8 + lane%4*2 and the next
 *     sum[4*j + 2 .. 3]  filter v*16 + lane/4 + 8, the same pixels
 *
 * (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".) */
__device__ void multiply(float (&sum)[128], uint64_t filters, uint64_t pixels)
{
    asm volatile(WGMMA(256) "{" TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
                     TEN(10) TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, "
                                     "%128, %129, 1, 1, 1" AS_STORED ";"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80),
                   SIXTEEN(96), SIXTEEN(112)
                 : "l"(filters), "l"(pixels));
}

__device__ void multiply(float (&sum)[96], uint64_t filters, uint64_t pixels)
{
    asm volatile(WGMMA(192) "{" TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7)
                     TEN(8) "%90, %91, %92, %93, %94, %95}, %96, %97, 1, 1, 1" AS_STORED ";"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80)
                 : "l"(filters), "l"(pixels));
}

__device__ void multiply(float (&sum)[64], uint64_t filters, uint64_t pixels)
{
    asm volatile(WGMMA(128) "{" TEN() TEN(1) TEN(2) TEN(3) TEN(4)
                     TEN(5) "%60, %61, %62, %63}, "
                            "%64, %65, 1, 1, 1" AS_STORED ";"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "l"(filters), "l"(pixels));
}

/* Before products: registers that were written are there for them. */
__device__ void products_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Ends a group of products; waits until at most `groups` of them are under way. */
__device__ void products_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int groups> __device__ void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/* ---- who does what --------------------------------------------------------------------------- */

/* A block owns FILTERS x PIXELS sums, each warpgroup 64 filters and PER_GROUP pixels of them.  Its
 * operands pass through a ring of stages.  SHARERS blocks of a cluster have the same pixels and
 * neighbouring filters, PIECES of them the same sums, and of their products a piece each. */
template <int FILTERS_, int PIXELS_, int SHARERS_, int PIECES_> struct Tile {
    enum {
        FILTERS = FILTERS_,
        PIXELS = PIXELS_,
        SHARERS = SHARERS_,
        PIECES = PIECES_,
        CLUSTER = SHARERS * PIECES,
        SUMS = FILTERS * PIXELS / CONSUMERS, /* a thread's */
        PER_GROUP = 2 * SUMS,
        PART = PIXELS / SHARERS,          /* pixels that a block asks for; */
        COLUMN = PART < 256 ? PART : 256, /* so many a copy, */
        COLUMNS = PART / COLUMN,          /* in so many copies */
        FILTER_BYTES = FILTERS * ROW,
        STAGE_BYTES = (FILTERS + PIXELS) * ROW,
        STAGES = (MOST_SHARED - 2 * ALIGNED) / STAGE_BYTES < 6
                     ? (MOST_SHARED - 2 * ALIGNED) / STAGE_BYTES
                     : 6,
        PITCH = FILTERS + 4, /* of sums in shared memory: lanes come to different banks */
        BYTES = STAGES * STAGE_BYTES + ALIGNED
    };
};

/* A place in the ring, and how many rounds were made: full[stage] and empty[stage] have ended as
 * many phases. */
struct Turn {
    int stage, round;
};

template <class T> __device__ void turn_advance(Turn &turn)
{
    if (++turn.stage < T::STAGES) return;
    turn.stage = 0;
    turn.round++;
}

/* DEPTH channels of a tap: what a stage holds of each filter and pixel.  Channels come before
 * columns, columns before rows. */
struct Chunk {
    int c, s, r;
};

__device__ Chunk chunk_at(const ConvProblem &p, int chunk)
{
    const int depths = ceiling(p.C, DEPTH), tap = chunk / depths;
    return {chunk % depths * DEPTH, tap % p.S, tap / p.S};
}

__device__ void chunk_advance(const ConvProblem &p, Chunk &chunk)
{
    if ((chunk.c += DEPTH) < p.C) return;
    chunk.c = 0;
    if (++chunk.s < p.S) return;
    chunk.s = 0;
    chunk.r++;
}

/* What a block does: tiles first, first + every ..., filters before pixels; of each sum chunks
 * begin to end. */
struct Work {
    int first, every, tiles, across;
    int begin, end;
    int sharer, piece, sharers; /* its place in the cluster; all its sharers' places, as bits */
};

template <class T> __device__ Work work_of(const ConvProblem &p)
{
    const int across = ceiling(p.K, T::FILTERS * T::SHARERS);
    const int chunks = p.R * p.S * ceiling(p.C, DEPTH);
    const int rank = T::CLUSTER > 1 ? cluster_rank() : 0;
    const int sharer = rank % T::SHARERS, piece = rank / T::SHARERS;
    return {(int)blockIdx.x / T::CLUSTER,
            (int)gridDim.x / T::CLUSTER,
            across * ceiling(p.N * p.P * p.Q, T::PIXELS),
            across,
            chunks * piece / T::PIECES,
            chunks * (piece + 1) / T::PIECES,
            sharer,
            piece,
            ((1 << T::SHARERS) - 1) << (rank - sharer)};
}

template <class T> __device__ int filter_of(const Work &work, int tile)
{
    return (tile % work.across * T::SHARERS + work.sharer) * T::FILTERS;
}

template <class T> __device__ int pixel_of(const Work &work, int tile)
{
    return tile / work.across * T::PIXELS;
}

/* Where a column of pixels begins: tap (0, 0) of output pixel j. */
struct Pixel {
    int n, h, w;
};

__device__ Pixel pixel_at(const ConvProblem &p, int j)
{
    return {j / p.Q / p.P, j / p.Q % p.P * p.stride_h - p.pad_top,
            j % p.Q * p.stride_w - p.pad_left};
}

/* One thread asks for all copies, and must keep ahead of 256 that multiply: what does not change
 * from chunk to chunk is worked out before.  Sharers bring a part of the pixels each, for all. */
template <class T>
__device__ void produce(const ConvProblem &p, const Work &work, const CUtensorMap *w_map,
                        const CUtensorMap *x_map, unsigned char *stages, uint64_t *full,
                        uint64_t *empty)
{
    Turn turn = {0, 0};
    for (int tile = work.first; tile < work.tiles; tile += work.every) {
        const int k = filter_of<T>(work, tile), j = pixel_of<T>(work, tile) + work.sharer * T::PART;
        Pixel pixel[T::COLUMNS];
        for (int i = 0; i < T::COLUMNS; i++)
            pixel[i] = pixel_at(p, j + i * T::COLUMN);
        Chunk chunk = chunk_at(p, work.begin);
        for (int i = work.begin; i < work.end; i++) {
            unsigned char *filters = stages + turn.stage * T::STAGE_BYTES;
            unsigned char *pixels = filters + T::FILTER_BYTES + work.sharer * T::PART * ROW;
            uint64_t *arrived = &full[turn.stage];
            // TODO(3): Wait until the stage is empty (no wait in the first round), announce
            // STAGE_BYTES, and ask for the filters and for the columns of pixels.
            // END TODO(3)
            chunk_advance(p, chunk);
            turn_advance<T>(turn);
        }
    }
}

/* Both warpgroups multiply what has arrived, and store their sums: to y, or for other blocks of the
 * cluster to add up, where they have a piece of the products only. */
template <class T>
__device__ void consume(const ConvProblem &p, const Work &work, unsigned char *stages,
                        uint64_t *full, uint64_t *empty, Stored *__restrict__ y)
{
    const int group = threadIdx.x / GROUP, warp = threadIdx.x % GROUP / WARP;
    const int lane = threadIdx.x % WARP;
    const int group_k = group * 64 % T::FILTERS, group_j = group * 64 / T::FILTERS * T::PER_GROUP;
    const bool frees = work.sharers >> lane & 1; /* lane i tells block i that a stage is empty */
    Turn turn = {0, 0};
    for (int tile = work.first; tile < work.tiles; tile += work.every) {
        float sum[T::SUMS] = {};
        int before = 0; /* the stage of the products before */
        for (int i = work.begin; i < work.end; i++) {
            const unsigned char *stage = stages + turn.stage * T::STAGE_BYTES;
            const unsigned char *filters = stage + group_k * ROW;
            const unsigned char *pixels = stage + T::FILTER_BYTES + group_j * ROW;
            // TODO(4): Wait until the stage is full, multiply its slices, and wait for the products
            // before these: then lanes that free stages arrive at that one's `empty`.
            // END TODO(4)
            before = turn.stage;
            turn_advance<T>(turn);
        }
        products_wait<0>();
#pragma unroll
        for (int i = 0; i < T::SUMS; i++)
            asm volatile("" : "+f"(sum[i])::"memory"); /* no register is read before */
        if (frees && work.begin < work.end) barrier_arrive(&empty[before], lane);

        const int k0 = filter_of<T>(work, tile), j0 = pixel_of<T>(work, tile);
        if (T::PIECES > 1) asm volatile("bar.sync 1, %0;" ::"r"((int)CONSUMERS) : "memory");
#pragma unroll
        for (int i = 0; i < T::SUMS; i++) {
            int k = group_k, j = group_j;
            // TODO(5): Which filter and pixel of the block's is sum[i]? `multiply` says it.
            // END TODO(5)
            if (T::PIECES > 1)
                ((float *)stages)[j * T::PITCH + k] = sum[i];
            else if (k0 + k < p.K && j0 + j < p.N * p.P * p.Q)
                y[(size_t)(j0 + j) * p.K + k0 + k] = (Stored)sum[i];
        }
    }
}

/* Four floats at this place of block `rank`'s shared memory. */
__device__ float4 load_of(const float *shared, int rank)
{
    float4 word;
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];}"
                 : "=f"(word.x), "=f"(word.y), "=f"(word.z), "=f"(word.w)
                 : "r"(place(shared)), "r"(rank)
                 : "memory");
    return word;
}

/* Blocks that have a piece of the products each add their sums up, four at a time, each block a
 * part of the tile. */
template <class T>
__device__ void add_pieces(const ConvProblem &p, const Work &work, const float *sums,
                           Stored *__restrict__ y)
{
    const int k0 = filter_of<T>(work, work.first), j0 = pixel_of<T>(work, work.first);
    for (int i = work.piece * THREADS + threadIdx.x; i < T::FILTERS * T::PIXELS / 4;
         i += T::PIECES * THREADS) {
        const int k = i % (T::FILTERS / 4) * 4, j = i / (T::FILTERS / 4);
        float total[4] = {};
#pragma unroll
        for (int piece = 0; piece < T::PIECES; piece++) {
            const float4 word = load_of(&sums[j * T::PITCH + k], piece * T::SHARERS + work.sharer);
            total[0] += word.x, total[1] += word.y, total[2] += word.z, total[3] += word.w;
        }
        for (int e = 0; e < 4; e++)
            if (k0 + k + e < p.K && j0 + j < p.N * p.P * p.Q)
                y[(size_t)(j0 + j) * p.K + k0 + k + e] = (Stored)total[e];
    }
}

template <class T>
__global__ void __cluster_dims__(T::CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    product_kernel(const ConvProblem p, const __grid_constant__ CUtensorMap w_map,
                   const __grid_constant__ CUtensorMap x_map, Stored *__restrict__ y)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    unsigned char *stages = shared + (ALIGNED - place(shared) % ALIGNED) % ALIGNED;
    const Work work = work_of<T>(p);
    if (threadIdx.x == 0) {
        for (int i = 0; i < T::STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], CONSUMERS / WARP * T::SHARERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (T::CLUSTER > 1) cluster_sync(); /* nobody sends to barriers that are not there yet */

    if (threadIdx.x < CONSUMERS)
        consume<T>(p, work, stages, full, empty, y);
    else if (threadIdx.x == CONSUMERS)
        produce<T>(p, work, &w_map, &x_map, stages, full, empty);
    __syncwarp();

    if (T::PIECES > 1) {
        cluster_sync();
        add_pieces<T>(p, work, (const float *)stages, y);
    }
    if (T::CLUSTER > 1) cluster_sync(); /* nor to a block that has ended */
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* As many clusters as there is room for, or as there are tiles. */
template <class T> static void launch(const Operands *o, Stored *y, int sms, cudaStream_t stream)
{
    const ConvProblem *p = &o->p;
    CUtensorMap w_map, x_map;
    if (!map_filters(o, T::FILTERS, &w_map) || !map_pixels(o, T::COLUMN, &x_map)) return;
    const int tiles =
        ceiling(p->N * p->P * p->Q, T::PIXELS) * ceiling(p->K, T::FILTERS * T::SHARERS);
    int clusters = sms / T::CLUSTER;
    if (clusters > tiles || T::PIECES > 1) clusters = tiles;
    cudaFuncSetAttribute(product_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::BYTES);
    product_kernel<T><<<clusters * T::CLUSTER, THREADS, T::BYTES, stream>>>(*p, w_map, x_map, y);
}

/* The shapes that a block can have; in microseconds on an H200 what a chunk takes, and the store of
 * a tile with all that goes before it. */
struct Shape {
    int filters, pixels, sharers, pieces;
    float chunk, store;
    void (*launch)(const Operands *, Stored *, int, cudaStream_t);
};
#define TILE(f, j, sharers, pieces, chunk, store)                                                  \
    {                                                                                              \
        f, j, sharers, pieces, chunk, store, launch<Tile<f, j, sharers, pieces>>                   \
    }
static const Shape shapes[] = {
    TILE(128, 256, 1, 1, 0.63f, 3.0f), TILE(128, 192, 1, 1, 0.50f, 2.4f),
    TILE(64, 512, 1, 1, 0.98f, 3.4f),  TILE(128, 128, 1, 1, 0.36f, 1.5f),
    TILE(128, 128, 1, 2, 0.36f, 2.5f), TILE(128, 128, 1, 4, 0.36f, 2.5f),
    TILE(128, 128, 1, 8, 0.36f, 2.5f), TILE(128, 128, 2, 4, 0.35f, 2.5f),
};

/* How long the busiest multiprocessor is at it. */
static float cost(const ConvProblem *p, const Shape *shape, int sms)
{
    const int tiles =
        ceiling(p->N * p->P * p->Q, shape->pixels) * ceiling(p->K, shape->filters * shape->sharers);
    const int chunks = ceiling(p->R * p->S * ceiling(p->C, DEPTH), shape->pieces);
    const int rounds = ceiling(tiles, sms / (shape->sharers * shape->pieces));
    return rounds * (chunks * shape->chunk + shape->store);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const Operands o = operands_of(p, (const Stored *)x, (const Stored *)w, stream);
    int sms = 1, clusters = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0);
    const Shape *best = nullptr;
    for (const Shape &shape : shapes) {
        const bool possible = clusters || shape.sharers * shape.pieces == 1;
        if (possible && (!best || cost(&o.p, &shape, sms) < cost(&o.p, best, sms))) best = &shape;
    }
    best->launch(&o, (Stored *)y, sms, stream);
    if (o.x_copy) cudaFree(o.x_copy); /* waits until nobody needs it */
    if (o.w_copy) cudaFree(o.w_copy);
}
