/* Lab 12: implicit GEMM with Hopper's TMA, mbarriers and wgmma.  In part 1 one warpgroup copies and
 * multiplies.  From part 2 on, one producer warp copies tiles with im2col tensor maps and two
 * consumer warpgroups multiply them.  conv_forward, at the end, uses the last part that is written.
 * Tensors are NHWC.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <cuda.h>
#include <stdint.h>

/* Input type of the MMA.  Both types have 11 significant bits.  fp16 takes half the bytes, but its
 * largest value is 65504. */
#ifndef FP16
#define FP16 0
#endif
#if FP16
typedef __half Value;
#define WGMMA(pixels)  "wgmma.mma_async.sync.aligned.m64n" #pixels "k16.f32.f16.f16 "
#define NOT_TRANSPOSED ", 0, 0"
#define MAP_TYPE       CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#else
typedef float Value;
#define WGMMA(pixels)  "wgmma.mma_async.sync.aligned.m64n" #pixels "k8.f32.tf32.tf32 "
#define NOT_TRANSPOSED ""
#define MAP_TYPE       CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 /* TMA rounds to nearest */
#endif

/* Type of x, w and y in memory: float, or half if STORED is defined before this file. */
#ifndef STORED
#define STORED float
#endif
typedef STORED Stored;

enum {
    ROW = 128, /* bytes per row of a tile: DEPTH channels of a filter or of a pixel */
    DEPTH = ROW / sizeof(Value),
    K_STEP = 32,                 /* bytes of each row that one wgmma multiplies */
    VECTOR = 16 / sizeof(Value), /* values per 16 bytes, the unit of a TMA copy */
    SECTOR = 2 * VECTOR,         /* values per 32-byte sector */
    ALIGNMENT = 8 * ROW,         /* eight rows: the period of the swizzle */
    MAX_STRIDE = 8,              /* largest stride in a tensor map */
    GROUPS = 4,                  /* groups of 1, 2, 4 and 8 pixels */
    PACK_X = 64,                 /* threads of a block of pack_kernel */
    PACK_Y = 4,
    PACK_ROWS = 2, /* rows per thread */
    WARP = 32,
    WARPGROUP = 4 * WARP,      /* the four warps of one wgmma */
    CONSUMERS = 2 * WARPGROUP, /* two warpgroups; the producer is one more warp */
    THREADS = CONSUMERS + WARP,
    MAX_SHARED = 227 * 1024
};

__host__ __device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* ---- operands and tensor maps ---------------------------------------------------------------- */

struct alignas(16) Vector {
    Value value[VECTOR];
};

/* target[n][h][w][i] = value i of output (h, w)'s window in image n, or 0 outside of the image.
 * The window has `rows` rows of `values` adjacent values; the first row starts at pixel
 * (h*step_h - top, w*step_w - left).  Pixels of a row are adjacent in NHWC, so more than C values
 * are several pixels.  Copy i of the images, of `copies`, has its windows i rows earlier. */
struct Packing {
    int top, left, step_h, step_w, H, W, C, rows, values, target_H, target_W;
    const Stored *source;
    int images, copies, vectors; /* vectors per pixel of the target */
    Vector *target;
};

/* Rows of the target, and rows of zeros: a chunk of the last pixel can exceed it. */
__host__ __device__ int packing_rows(const Packing &o)
{
    return o.copies * o.images * o.target_H + ceil_div(ROW / 16, o.target_W * o.vectors);
}

/* Packs x and w.  The first x_blocks blocks pack x, the others w.  A thread packs the same vector
 * of PACK_ROWS rows of the target. */
__global__ void pack_kernel(int x_blocks, const __grid_constant__ Packing pack_x,
                            const __grid_constant__ Packing pack_w)
{
    const bool is_x = blockIdx.x < x_blocks;
    const Packing &o = is_x ? pack_x : pack_w;
    const unsigned block = is_x ? blockIdx.x : blockIdx.x - x_blocks;
    const unsigned row_vectors = o.target_W * o.vectors, rows = packing_rows(o);
    const unsigned row_blocks = ceil_div(row_vectors, PACK_X);
    const unsigned t = block % row_blocks * PACK_X + threadIdx.x; /* vector of the row */
    const unsigned row0 = (block / row_blocks * PACK_Y + threadIdx.y) * PACK_ROWS;
    if (t >= row_vectors) return;
    const int i = t % o.vectors * VECTOR, row_values = o.W * o.C;
    const int column = ((int)(t / o.vectors) * o.step_w - o.left) * o.C, last = column + o.values;
    const int first_r = i / (unsigned)o.values, first_j = column + i % (unsigned)o.values;
    int h = row0 % o.target_H, n = row0 / o.target_H % o.images,
        copy = row0 / o.target_H / o.images;
    for (unsigned row = row0; row < row0 + PACK_ROWS; row++) {
        const int top = h * o.step_h - o.top - copy;
        int r = copy < o.copies ? first_r : o.rows, j = first_j; /* in the window; in its row */
        const Stored *source = o.source + ((size_t)n * o.H + top + r) * row_values;
        bool is_row = r < o.rows && (unsigned)(top + r) < o.H;
        Vector vector = {};
        if (sizeof(Stored) == sizeof(Value) && o.C % VECTOR == 0) { /* all inside or all outside */
            if (is_row && (unsigned)j < row_values) vector = *(const Vector *)&source[j];
        } else {
#pragma unroll
            for (int e = 0; e < VECTOR; e++) {
                if (is_row && (unsigned)j < row_values) vector.value[e] = (Value)source[j];
                if (++j < last) continue;
                j = column, r++, source += row_values;
                is_row = r < o.rows && (unsigned)(top + r) < o.H;
            }
        }
        if (row < rows) o.target[row * row_vectors + t] = vector;
        if (++h == o.target_H) h = 0, n++;
        if (n == o.images) n = 0, copy++;
    }
}

/* Forms of x and w that TMA can copy.  TMA is slow at values outside of a tensor.  Therefore a tap
 * of packed w has whole chunks, with zeros after its channels, and a chunk of packed x may include
 * values of the next pixel.
 *
 *     PLAIN    one tap per tap
 *     FOLDED   a row of taps is one tap: S adjacent taps are adjacent values, if x includes its
 *              padding
 *     ROWS     a row of taps is one tap, and x has a copy of it for each output column
 *     WINDOWS  all taps are one tap: X_unroll, as in lab 09 */
enum Form { PLAIN, FOLDED, ROWS, WINDOWS, FORMS };

/* x and w in one of the forms: an equivalent problem, and how to pack the operands. */
struct Operands {
    ConvProblem p;
    const Value *x, *w;
    int pixel, row; /* values between pixels and between rows of x */
    bool packs_x, packs_w;
    Packing pack_x, pack_w;
};

static int round_up(int value, int unit)
{
    return ceil_div(value, unit) * unit;
}

/* Channels between pixels of x: whole sectors, unless these need more chunks per tap. */
static int pitch_of(int channels, int pixels_per_tap)
{
    const int vectors = round_up(channels, VECTOR), sectors = round_up(channels, SECTOR);
    const int chunks = ceil_div(pixels_per_tap * vectors, DEPTH);
    return chunks < ceil_div(pixels_per_tap * sectors, DEPTH) ? vectors : sectors;
}

static Operands operands_plan(const ConvProblem *p, const Stored *x, const Stored *w, Form form)
{
    Operands o = {*p, (const Value *)x, (const Value *)w};
    o.pack_x = {0, 0, 1, 1, p->H, p->W, p->C, 1, p->C, p->H, p->W, x};
    const int pixels = form == FOLDED ? p->S : 1; /* pixels per tap, and channels of a pixel: */
    const int channels = p->C * (form >= ROWS ? p->S : 1) * (form == WINDOWS ? p->R : 1);
    const int taps = form == PLAIN ? p->R * p->S : form == WINDOWS ? 1 : p->R;
    o.pixel = form == PLAIN ? round_up(channels, VECTOR) : pitch_of(channels, pixels);
    o.packs_x = o.packs_w = form != PLAIN || o.pixel != p->C || sizeof(Stored) != sizeof(Value);
    if (form == FOLDED) {
        o.pack_x.top = p->pad_top, o.pack_x.left = p->pad_left;
        o.pack_x.target_H += p->pad_top + p->pad_bottom;
        o.pack_x.target_W += p->pad_left + p->pad_right;
        o.p.H = o.pack_x.target_H;
        o.p.W = o.pack_x.target_W - (p->S - 1); /* positions where a row of taps can start */
        o.p.pad_top = o.p.pad_left = o.p.pad_bottom = o.p.pad_right = 0;
    } else if (form != PLAIN) {
        o.pack_x.values = p->S * p->C;
        o.pack_x.left = p->pad_left, o.pack_x.step_w = p->stride_w;
        o.pack_x.target_W = o.p.W = p->Q;
        o.p.stride_w = 1, o.p.pad_left = o.p.pad_right = 0;
    }
    if (form == WINDOWS) {
        o.pack_x.top = p->pad_top, o.pack_x.step_h = p->stride_h, o.pack_x.rows = p->R;
        o.pack_x.target_H = o.p.H = p->P;
        o.p.stride_h = 1, o.p.pad_top = o.p.pad_bottom = 0;
    }
    if (form != PLAIN) o.p.S = 1;
    if (form == WINDOWS) o.p.R = 1;
    o.p.C = o.packs_x ? round_up(pixels * o.pixel, DEPTH) : p->C;
    o.row = o.pack_x.target_W * o.pixel;
    o.pack_x.images = p->N, o.pack_x.copies = 1, o.pack_x.vectors = o.pixel / VECTOR;
    o.pack_w = {0, 0, 1, 1, pixels, 1, channels, pixels, o.pixel, 1, 1, w};
    o.pack_w.images = p->K * taps, o.pack_w.copies = 1, o.pack_w.vectors = o.p.C / VECTOR;
    return o;
}

/* Makes one pixel of `group` adjacent pixels, if there is one tap.  The channels of the new pixel
 * are those of all its pixels.  It has one copy of all filters for each of its pixels, with zeros
 * for the others.  Its results are those of the pixels, one after the other, as in y. */
static bool operands_group(Operands *o, int group)
{
    ConvProblem *p = &o->p;
    const int pixels = p->N * p->P * p->Q;
    const bool has_one_tap = p->R * p->S * p->stride_h * p->stride_w == 1 && p->H == p->P &&
                             p->W == p->Q && o->row == p->W * o->pixel;
    if (!has_one_tap || pixels % group || group == 1) return group == 1;
    p->N = p->H = p->P = 1, p->W = p->Q = pixels / group;
    p->K *= group, o->pixel *= group, o->row = p->W * o->pixel;
    p->C = o->packs_x ? round_up(o->pixel, DEPTH) : o->pixel;
    o->pack_w.copies = o->pack_w.rows = group, o->pack_w.vectors = p->C / VECTOR;
    o->packs_w = true;
    return true;
}

static size_t packing_vectors(const Packing *o)
{
    return (size_t)packing_rows(*o) * o->target_W * o->vectors;
}

static int packing_blocks(const Packing *o)
{
    return ceil_div(o->target_W * o->vectors, PACK_X) *
           ceil_div(packing_rows(*o), PACK_Y * PACK_ROWS);
}

/* Allocates w in its form, and x unless it is in its form already, and packs them. */
static void operands_pack(Operands *o, cudaStream_t stream)
{
    const int x_blocks = o->packs_x ? packing_blocks(&o->pack_x) : 0;
    if (o->packs_x) cudaMalloc(&o->pack_x.target, sizeof(Vector) * packing_vectors(&o->pack_x));
    cudaMalloc(&o->pack_w.target, sizeof(Vector) * packing_vectors(&o->pack_w));
    pack_kernel<<<x_blocks + packing_blocks(&o->pack_w), dim3(PACK_X, PACK_Y), 0, stream>>>(
        x_blocks, o->pack_x, o->pack_w);
    if (o->packs_x) o->x = o->pack_x.target->value;
    o->w = o->pack_w.target->value;
}

/* Returns the driver function `name`; the program is not linked with the driver. */
template <typename Function> static Function *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return (Function *)function;
}

/* Tensor map of w, C x taps x K.  A box is DEPTH channels of one tap of `filters` filters. */
static bool map_filters(const Operands *o, int filters, CUtensorMap *map)
{
    const ConvProblem *p = &o->p;
    const cuuint64_t tap = p->C * sizeof(Value), taps = (cuuint64_t)p->R * p->S;
    const cuuint64_t size[] = {(cuuint64_t)p->C, taps, (cuuint64_t)p->K};
    const cuuint64_t stride[] = {tap, taps * tap};
    const cuuint32_t box[] = {DEPTH, 1, (cuuint32_t)filters}, element_strides[] = {1, 1, 1};
    auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    return encode && !encode(map, MAP_TYPE, 3, (void *)o->w, size, stride, box, element_strides,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* im2col tensor map of x, C x W x H x N.  A copy has DEPTH channels of one tap of `pixels` output
 * pixels, in the order q, p, n. */
static bool map_pixels(const Operands *o, int pixels, CUtensorMap *map)
{
    const ConvProblem *p = &o->p;
    const cuuint64_t pixel = o->pixel * sizeof(Value), row = o->row * sizeof(Value);
    const cuuint64_t size[] = {(cuuint64_t)p->C, (cuuint64_t)p->W, (cuuint64_t)p->H,
                               (cuuint64_t)p->N};
    const cuuint64_t stride[] = {pixel, row, p->H * row};
    int lower[2] = {}, upper[2] = {};
    cuuint32_t element_strides[] = {1, 1, 1, 1};
    bool is_ready = false;
    // TODO(1): Set the positions that tap (0, 0) can have: lower (smallest w, h), upper (largest
    // w, h, relative to the last pixel), and element_strides (along C, W, H, N). Then set is_ready.
    // END TODO(1)
    auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    return is_ready && encode &&
           !encode(map, MAP_TYPE, 4, (void *)o->x, size, stride, lower, upper, DEPTH, pixels,
                   element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* ---- Hopper's instructions ------------------------------------------------------------------- */

__device__ unsigned shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* An mbarrier's phase completes after `count` arrivals and all announced bytes. */
__device__ void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(count));
}

/* Arrives and announces `bytes` of asynchronous copies (expect_tx). */
__device__ void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

/* Arrives at the same barrier in block `rank` of the cluster. */
__device__ void barrier_arrive(uint64_t *barrier, int rank)
{
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(shared_address(barrier)),
                 "r"(rank)
                 : "memory");
}

/* Waits until the phase with this parity completes.  The first phase has parity 0. */
__device__ void barrier_wait(uint64_t *barrier, int parity)
{
    int done;
    do
        asm volatile("{.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    while (!done);
}

__device__ int cluster_rank()
{
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* Synchronizes all threads of the cluster. */
__device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

/* Starts the copy of a box, from channel c, tap rs and filter k on. */
__device__ void copy_filters(void *target, const CUtensorMap *map, int c, int rs, int k,
                             uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(target)),
                 "l"(map), "r"(c), "r"(rs), "r"(k), "r"(shared_address(barrier))
                 : "memory");
}

/* Starts an im2col copy: DEPTH channels from c on, of tap (r, s), for as many pixels as the map
 * defines.  The first pixel has its tap (0, 0) at (h, w) of image n.  With MULTICAST > 1, the copy
 * goes to the same address in every block of multicast_mask. */
template <int MULTICAST>
__device__ void copy_pixels(void *target, const CUtensorMap *map, int c, int w, int h, int n, int s,
                            int r, uint64_t *barrier, int multicast_mask)
{
    if (MULTICAST == 1)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                     ".mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(target)),
                     "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(shared_address(barrier)),
                     "h"((short)s), "h"((short)r)
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
            ".mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(shared_address(target)),
            "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(shared_address(barrier)), "h"((short)s),
            "h"((short)r), "h"((short)multicast_mask)
            : "memory");
}

/* Matrix descriptor of a tile in shared memory: its address, the distance of eight rows in bytes,
 * and the swizzle mode. */
__device__ uint64_t descriptor(const void *tile)
{
    uint64_t word = 0;
    // TODO(2): Encode three fields (PTX ISA, "Matrix Descriptor Format"). From bit 0: the address.
    // From bit 32: the distance of eight rows. Both are in units of 16 bytes. From bit 62: the
    // value 1, for the 128-byte swizzle.
    // END TODO(2)
    return word;
}

/* Operands of asm: %0 and on, for acc[0] and on. */
#define TEN(tens)                                                                                  \
    "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens        \
    "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define FORTY         TEN() TEN(1) TEN(2) TEN(3)
#define NINETY        FORTY TEN(4) TEN(5) TEN(6) TEN(7) TEN(8)
#define FOUR(i)       "+f"(acc[i]), "+f"(acc[i + 1]), "+f"(acc[i + 2]), "+f"(acc[i + 3])
#define SIXTEEN(i)    FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define SIXTY_FOUR(i) SIXTEEN(i), SIXTEEN(i + 16), SIXTEEN(i + 32), SIXTEEN(i + 48)

/* acc += filters * pixels, for 64 filters and 256 to 64 pixels, over K_STEP bytes of each
 * row.  The four warps of a warpgroup execute it together, and it completes asynchronously.
 * Warp v holds
 *
 *     acc[4*j + 0 .. 1]  filter v*16 + lane/4,     pixels j*8 + lane%4*2 and the next
 *     acc[4*j + 2 .. 3]  filter v*16 + lane/4 + 8, the same pixels
 *
 * (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".) */
#define WGMMA_FUNCTION(pixels, operands, ...)                                                      \
    __device__ void wgmma(float(&acc)[pixels / 2], uint64_t filter_rows, uint64_t pixel_rows)      \
    {                                                                                              \
        asm volatile(WGMMA(pixels) "{" operands ", 1, 1, 1" NOT_TRANSPOSED ";"                     \
                     : __VA_ARGS__                                                                 \
                     : "l"(filter_rows), "l"(pixel_rows));                                         \
    }
WGMMA_FUNCTION(64, TEN() TEN(1) TEN(2) "%30, %31}, %32, %33", SIXTEEN(0), SIXTEEN(16))
WGMMA_FUNCTION(96, FORTY "%40, %41, %42, %43, %44, %45, %46, %47}, %48, %49", SIXTEEN(0),
               SIXTEEN(16), SIXTEEN(32))
WGMMA_FUNCTION(128, FORTY TEN(4) TEN(5) "%60, %61, %62, %63}, %64, %65", SIXTY_FOUR(0))
WGMMA_FUNCTION(192, NINETY "%90, %91, %92, %93, %94, %95}, %96, %97", SIXTY_FOUR(0), SIXTEEN(64),
               SIXTEEN(80))
WGMMA_FUNCTION(256,
               NINETY TEN(9) TEN(10) TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, "
                                             "%128, %129",
               SIXTY_FOUR(0), SIXTY_FOUR(64))

/* Orders earlier writes of registers before the following wgmma. */
__device__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* wgmma_commit closes a group of wgmma; wgmma_wait waits until at most `groups` groups are in
 * flight. */
__device__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int groups> __device__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/* ---- chunks and pixels ----------------------------------------------------------------------- */

/* The part of a stage per filter and pixel: DEPTH channels of one tap.  The order is channels, then
 * s, then r. */
struct Chunk {
    int c, s, r;
};

__device__ Chunk chunk_at(const ConvProblem &p, int chunk)
{
    const int depths = ceil_div(p.C, DEPTH), tap = chunk / depths;
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

/* Position of tap (0, 0) of an output pixel. */
struct Pixel {
    int n, h, w;
};

__device__ Pixel pixel_position(const ConvProblem &p, int j)
{
    return {j / p.Q / p.P, j / p.Q % p.P * p.stride_h - p.pad_top,
            j % p.Q * p.stride_w - p.pad_left};
}

/* ---- part 1: one warpgroup, one stage -------------------------------------------------------- */

enum {
    SIMPLE_FILTERS = 64,
    SIMPLE_PIXELS = 256,
    SIMPLE_ACCUMULATORS = SIMPLE_FILTERS * SIMPLE_PIXELS / WARPGROUP, /* per thread */
    SIMPLE_STAGE_BYTES = (SIMPLE_FILTERS + SIMPLE_PIXELS) * ROW,
    SIMPLE_SHARED_BYTES = SIMPLE_STAGE_BYTES + ALIGNMENT
};

/* Filter and pixel of an accumulator, relative to the first ones of its warpgroup. */
struct Position {
    int k, j;
};

__device__ Position accumulator_position(int i)
{
    const int warp = threadIdx.x % WARPGROUP / WARP, lane = threadIdx.x % WARP;
    Position position = {0, 0};
    // TODO(3): Set the position of acc[i]; see the comment at wgmma.
    (void)i, (void)warp, (void)lane;
    // END TODO(3)
    return position;
}

/* Block (bx, by) computes pixels bx*SIMPLE_PIXELS .. and filters by*SIMPLE_FILTERS .. */
__global__ void __launch_bounds__(WARPGROUP)
    simple_kernel(const ConvProblem p, const __grid_constant__ CUtensorMap w_map,
                  const __grid_constant__ CUtensorMap x_map, Stored *__restrict__ y)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full;
    unsigned char *filters = shared + (ALIGNMENT - shared_address(shared) % ALIGNMENT) % ALIGNMENT;
    unsigned char *pixels = filters + SIMPLE_FILTERS * ROW;
    const int k0 = blockIdx.y * SIMPLE_FILTERS, pixel0 = blockIdx.x * SIMPLE_PIXELS;
    float acc[SIMPLE_ACCUMULATORS] = {};
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    // TODO(4): Write the main loop over all chunks.
    // One thread announces SIMPLE_STAGE_BYTES and starts the copies of the filters and the pixels.
    // All threads wait until they have arrived, and multiply them in steps of K_STEP bytes.  The
    // next copies may start once all warps have finished reading.
    (void)filters, (void)pixels, (void)w_map, (void)x_map;
    // END TODO(4)
#pragma unroll
    for (int i = 0; i < SIMPLE_ACCUMULATORS; i++) {
        asm volatile("" : "+f"(acc[i])::"memory"); /* forbids earlier reads of the register */
        const Position at = accumulator_position(i);
        if (k0 + at.k < p.K && pixel0 + at.j < p.N * p.P * p.Q)
            y[(size_t)(pixel0 + at.j) * p.K + k0 + at.k] = (Stored)acc[i];
    }
}

static void launch_simple(const Operands *o, Stored *y, cudaStream_t stream)
{
    const ConvProblem *p = &o->p;
    CUtensorMap w_map, x_map;
    if (!map_filters(o, SIMPLE_FILTERS, &w_map) || !map_pixels(o, SIMPLE_PIXELS, &x_map)) return;
    // TODO(5): Launch simple_kernel with SIMPLE_SHARED_BYTES of dynamic shared memory.
    (void)p, (void)y, (void)stream;
    // END TODO(5)
}

/* ---- part 2: tiles, pipeline and work distribution ------------------------------------------- */

/* A block computes FILTERS x PIXELS accumulators; each warpgroup has 64 filters and GROUP_PIXELS
 * pixels of them.  The operands pass through a ring buffer of stages.  In a cluster, MULTICAST
 * blocks have the same pixels and adjacent filters, and SLICES blocks compute the same
 * accumulators, each with one slice of the chunks (split-K). */
template <int FILTERS_, int PIXELS_, int MULTICAST_, int SLICES_> struct Tile {
    enum {
        FILTERS = FILTERS_,
        PIXELS = PIXELS_,
        MULTICAST = MULTICAST_,
        SLICES = SLICES_,
        CLUSTER = MULTICAST * SLICES,
        ACCUMULATORS = FILTERS * PIXELS / CONSUMERS, /* per thread */
        GROUP_PIXELS = 2 * ACCUMULATORS,
        PART_PIXELS = PIXELS / MULTICAST,                    /* pixels that one block copies */
        COPY_PIXELS = PART_PIXELS < 256 ? PART_PIXELS : 256, /* pixels per copy */
        COPIES = PART_PIXELS / COPY_PIXELS,                  /* copies per block */
        FILTER_BYTES = FILTERS * ROW,
        STAGE_BYTES = (FILTERS + PIXELS) * ROW,
        STORE_PIXELS = STAGE_BYTES > 64 * 1024 ? 16 : 32, /* stored at a time, as halves */
        STAGING_BYTES = sizeof(Stored) == 2 && SLICES == 1 ? 2 * 2 * STORE_PIXELS * ROW : 0,
        STAGES_SHARED = MAX_SHARED - 2 * ALIGNMENT - STAGING_BYTES,
        STAGES = STAGES_SHARED / STAGE_BYTES < 6 ? STAGES_SHARED / STAGE_BYTES : 6,
        PITCH = FILTERS + 4, /* pitch of accumulators in shared memory, against bank conflicts */
        SHARED_BYTES = STAGES * STAGE_BYTES + STAGING_BYTES + ALIGNMENT
    };
};

/* Position in the ring buffer.  `phase` is the number of completed rounds, and the number of the
 * current phase of full[stage]. */
struct PipelineState {
    int stage, phase;
};

template <class T> __device__ void state_advance(PipelineState &state)
{
    if (++state.stage < T::STAGES) return;
    state.stage = 0;
    state.phase++;
}

/* Work of a block: tiles first_tile, first_tile + tile_step ..., ordered by filters, then pixels;
 * and chunks begin to end-1 of each accumulator. */
struct Work {
    int first_tile, tile_step, tiles, filter_tiles;
    int begin, end;
    int multicast_rank, slice; /* position in the cluster */
    int multicast_mask;        /* cluster ranks with the same pixels, one bit each */
};

template <class T> __device__ Work work_assign(const ConvProblem &p)
{
    const int chunks = p.R * p.S * ceil_div(p.C, DEPTH), rank = T::CLUSTER > 1 ? cluster_rank() : 0;
    Work work = {(int)blockIdx.x / T::CLUSTER, (int)gridDim.x / T::CLUSTER};
    work.filter_tiles = ceil_div(p.K, T::FILTERS * T::MULTICAST);
    work.tiles = work.filter_tiles * ceil_div(p.N * p.P * p.Q, T::PIXELS);
    work.multicast_rank = rank % T::MULTICAST, work.slice = rank / T::MULTICAST;
    work.begin = chunks * work.slice / T::SLICES, work.end = chunks * (work.slice + 1) / T::SLICES;
    work.multicast_mask = ((1 << T::MULTICAST) - 1) << (rank - work.multicast_rank);
    return work;
}

/* The filters of a tile: `begin` and T::FILTERS - 1 more.  It stores `count` of them from `first`
 * on.  The last tile begins early enough to be whole, because TMA is slow at filters that do not
 * exist.  Only a layer with fewer filters than a tile has a tile that is not whole. */
struct Filters {
    int begin;
    int first; /* relative to `begin` */
    int count;
};

template <class T> __device__ Filters tile_filters(const ConvProblem &p, const Work &work, int tile)
{
    const int k = (tile % work.filter_tiles * T::MULTICAST + work.multicast_rank) * T::FILTERS;
    const int begin = max(0, min(k, p.K - T::FILTERS));
    return {begin, k - begin, max(0, min(T::FILTERS, p.K - k))};
}

/* Does this tile store filter begin + k? */
__device__ bool tile_has(const Filters &filters, int k)
{
    return (unsigned)(k - filters.first) < (unsigned)filters.count;
}

template <class T> __device__ int tile_pixel(const Work &work, int tile)
{
    return tile / work.filter_tiles * T::PIXELS;
}

/* Producer: one thread starts all copies.  It must stay ahead of 256 consumer threads, so values
 * that do not change from chunk to chunk are computed in advance.  With MULTICAST > 1, each block
 * copies a part of the pixels for all blocks that share them. */
template <class T>
__device__ void produce(const ConvProblem &p, const Work &work, const CUtensorMap *w_map,
                        const CUtensorMap *x_map, unsigned char *stages, uint64_t *full,
                        uint64_t *empty)
{
    const int stage_bytes = (min(T::FILTERS, p.K) + T::PIXELS) * ROW; /* bytes per chunk */
    // TODO(6): Start the copies of all chunks of all tiles of this block.
    // Loop over the tiles and over chunks work.begin .. work.end - 1.  Wait until the stage is
    // empty (without blocking in the first round), announce stage_bytes, and start the copies.
    // This block copies part PART_PIXELS*multicast_rank .. of the pixels, COPY_PIXELS at a time.
    (void)p, (void)work, (void)w_map, (void)x_map, (void)stages, (void)full, (void)empty;
    // END TODO(6)
}

/* Writes four 8x8 matrices of halves to shared memory.  Lane l has two values of row l/4 of each
 * matrix, and the address of column l%8 of matrix l/8: columns become rows of 16 bytes. */
__device__ void store_transposed(const void *column, const unsigned (&pair)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(column)),
                 "r"(pair[0]), "r"(pair[1]), "r"(pair[2]), "r"(pair[3])
                 : "memory");
}

/* Two floats as halves, the first in the low bits. */
__device__ unsigned to_halves(const float *value)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(value[1]), "f"(value[0]));
    return pair;
}

/* Stores the accumulators of a warpgroup as halves, from filter k of the tile's filters and pixel j
 * of y on.  Shared memory transposes the values, so that eight threads store 128 adjacent bytes. */
template <class T>
__device__ void store_halves(const ConvProblem &p, const float (&acc)[T::ACCUMULATORS],
                             const Filters &filters, int k, int j, unsigned char *staging,
                             Stored *__restrict__ y)
{
    const int t = threadIdx.x % WARPGROUP, warp = t / WARP, lane = t % WARP;
    uint4(*buffers)[T::STORE_PIXELS][ROW / 16] =
        (uint4(*)[T::STORE_PIXELS][ROW / 16]) staging + threadIdx.x / WARPGROUP * 2;
#pragma unroll
    for (int part = 0; part < T::GROUP_PIXELS; part += T::STORE_PIXELS) {
        uint4(*pixels)[ROW / 16] = buffers[part / T::STORE_PIXELS % 2];
#pragma unroll
        for (int i = 0; i < T::STORE_PIXELS; i += 16) { /* 16 pixels, 16 filters */
            unsigned pair[4];
#pragma unroll
            for (int matrix = 0; matrix < 4; matrix++)
                pair[matrix] = to_halves(&acc[(part + i) / 2 + matrix * 2]);
            const int column = i + lane / 16 * 8 + lane % 8, piece = warp * 2 + lane / 8 % 2;
            store_transposed(&pixels[column][piece ^ column % 8], pair);
        }
        asm volatile("bar.sync %0, %1;" ::"r"((int)threadIdx.x / WARPGROUP + 2), "r"((int)WARPGROUP)
                     : "memory");
#pragma unroll
        for (int i = t; i < T::STORE_PIXELS * ROW / 16; i += WARPGROUP) {
            const int pixel = i / (ROW / 16), piece = i % (ROW / 16);
            if (tile_has(filters, k + piece * 8) && j + part + pixel < p.N * p.P * p.Q)
                *(uint4 *)&y[(size_t)(j + part + pixel) * p.K + filters.begin + k + piece * 8] =
                    pixels[pixel][piece ^ pixel % 8];
        }
    }
}

/* Consumers: both warpgroups multiply full stages and store their accumulators to y.  With several
 * slices they store them to shared memory, and the blocks of the cluster add them. */
template <class T>
__device__ void consume(const ConvProblem &p, const Work &work, unsigned char *stages,
                        uint64_t *full, uint64_t *empty, Stored *__restrict__ y)
{
    const int warpgroup = threadIdx.x / WARPGROUP, lane = threadIdx.x % WARP;
    const int group_k = warpgroup * 64 % T::FILTERS,
              group_j = warpgroup * 64 / T::FILTERS * T::GROUP_PIXELS;
    const bool signals_empty = work.multicast_mask >> lane & 1; /* lane i signals block i */
    PipelineState state = {0, 0};
    for (int tile = work.first_tile; tile < work.tiles; tile += work.tile_step) {
        float acc[T::ACCUMULATORS] = {};
        // TODO(7): Multiply chunks work.begin .. work.end - 1 of this tile.
        // Wait until the stage is full, multiply it in steps of K_STEP bytes, and wait for the
        // previous wgmma group.  Then lanes with signals_empty arrive at the `empty` of its stage.
        // After the last chunk, if any, wait for all groups and release the last stage, too.
        (void)full, (void)empty, (void)signals_empty;
        // END TODO(7)

        const Filters filters = tile_filters<T>(p, work, tile);
        const int pixel0 = tile_pixel<T>(work, tile), pixels = p.N * p.P * p.Q - pixel0;
        Stored *const target = y + (size_t)pixel0 * p.K + filters.begin;
        if constexpr (sizeof(Stored) == 2 && T::SLICES == 1)
            if (p.K % 8 == 0) {
                store_halves<T>(p, acc, filters, group_k, pixel0 + group_j,
                                stages + T::STAGES * T::STAGE_BYTES, y);
                continue;
            }
        if (T::SLICES > 1) asm volatile("bar.sync 1, %0;" ::"r"((int)CONSUMERS) : "memory");
#pragma unroll
        for (int i = 0; i < T::ACCUMULATORS; i++) {
            const Position at = accumulator_position(i);
            const int k = group_k + at.k, j = group_j + at.j;
            if (T::SLICES > 1)
                ((float *)stages)[j * T::PITCH + k] = acc[i];
            else if (tile_has(filters, k) && j < pixels)
                target[j * p.K + k] = (Stored)acc[i];
        }
    }
}

/* Loads four floats from the same address in the shared memory of block `rank`. */
__device__ float4 load_remote(const float *shared, int rank)
{
    float4 word;
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];}"
                 : "=f"(word.x), "=f"(word.y), "=f"(word.z), "=f"(word.w)
                 : "r"(shared_address(shared)), "r"(rank)
                 : "memory");
    return word;
}

/* Adds the partial results of all slices, four at a time.  Each block of the cluster adds a part of
 * the tile. */
template <class T>
__device__ void reduce_slices(const ConvProblem &p, const Work &work, const float *partials,
                              Stored *__restrict__ y)
{
    const Filters filters = tile_filters<T>(p, work, work.first_tile);
    const int pixel0 = tile_pixel<T>(work, work.first_tile);
    for (int i = work.slice * THREADS + threadIdx.x; i < T::FILTERS * T::PIXELS / 4;
         i += T::SLICES * THREADS) {
        const int k = i % (T::FILTERS / 4) * 4, j = i / (T::FILTERS / 4);
        float total[4] = {};
#pragma unroll
        for (int slice = 0; slice < T::SLICES; slice++) {
            const float4 word = load_remote(&partials[j * T::PITCH + k],
                                            slice * T::MULTICAST + work.multicast_rank);
            total[0] += word.x, total[1] += word.y, total[2] += word.z, total[3] += word.w;
        }
        for (int e = 0; e < 4; e++)
            if (tile_has(filters, k + e) && pixel0 + j < p.N * p.P * p.Q)
                y[(size_t)(pixel0 + j) * p.K + filters.begin + k + e] = (Stored)total[e];
    }
}

template <class T>
__global__ void __cluster_dims__(T::CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    gemm_kernel(const ConvProblem p, const __grid_constant__ CUtensorMap w_map,
                const __grid_constant__ CUtensorMap x_map, Stored *__restrict__ y)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    unsigned char *stages = shared + (ALIGNMENT - shared_address(shared) % ALIGNMENT) % ALIGNMENT;
    const Work work = work_assign<T>(p);
    if (threadIdx.x == 0) {
        for (int i = 0; i < T::STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], CONSUMERS / WARP * T::MULTICAST);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (p.K < T::FILTERS) { /* the rows of filters that no copy writes */
        for (int i = threadIdx.x; i < T::STAGES * T::FILTER_BYTES / 16; i += THREADS)
            *(uint4 *)&stages[i / (T::FILTER_BYTES / 16) * T::STAGE_BYTES +
                              i % (T::FILTER_BYTES / 16) * 16] = {};
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (T::CLUSTER > 1) cluster_sync(); /* remote barriers are initialized before use */

    if (threadIdx.x < CONSUMERS)
        consume<T>(p, work, stages, full, empty, y);
    else if (threadIdx.x == CONSUMERS)
        produce<T>(p, work, &w_map, &x_map, stages, full, empty);
    __syncwarp();

    if (T::SLICES > 1) {
        cluster_sync();
        reduce_slices<T>(p, work, (const float *)stages, y);
    }
    if (T::CLUSTER > 1) cluster_sync(); /* no block exits while others access its memory */
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Launches as many clusters as fit on the GPU, but at most one per tile.  Returns false if part 2
 * is not written. */
template <class T> static bool launch(const Operands *o, Stored *y, int sms, cudaStream_t stream)
{
    const ConvProblem *p = &o->p;
    CUtensorMap w_map, x_map;
    const int filters = p->K < T::FILTERS ? p->K : T::FILTERS;
    if (!map_filters(o, filters, &w_map) || !map_pixels(o, T::COPY_PIXELS, &x_map)) return true;
    // TODO(8): Launch gemm_kernel<T> with persistent blocks of T::SHARED_BYTES, and return true.
    // Launch at most one cluster per tile, and at most one block per SM.  With SLICES > 1 a cluster
    // computes one tile only.
    (void)p, (void)y, (void)sms, (void)stream;
    return false;
    // END TODO(8)
}

/* ---- part 3: the choice of the tile ---------------------------------------------------------- */

/* The available block shapes.  An H200 executes `clusters` clusters at the same time.  It needs
 * `chunk` microseconds per chunk, and `store` for the rest of a tile (start and store).  These were
 * fitted to the times of all shapes and forms on 110 random layers and on the layers of
 * `make compare`, so that the choice is good. */
struct Shape {
    int filters, pixels, multicast, slices, clusters;
    float chunk, store;
    bool (*launch)(const Operands *, Stored *, int, cudaStream_t);
};
#define TILE(f, j, multicast, slices, clusters, chunk, store)                                      \
    {                                                                                              \
        f, j, multicast, slices, clusters, chunk, store, launch<Tile<f, j, multicast, slices>>     \
    }
static const Shape shapes[] = {
    TILE(128, 256, 1, 1, 132, 0.54f, 5.0f), TILE(128, 192, 1, 1, 132, 0.42f, 4.5f),
    TILE(64, 512, 1, 1, 132, 0.87f, 5.8f),  TILE(128, 128, 1, 1, 132, 0.27f, 3.2f),
    TILE(64, 256, 1, 1, 132, 0.32f, 3.6f),  TILE(64, 192, 1, 1, 132, 0.29f, 2.9f),
    TILE(128, 128, 1, 2, 66, 0.26f, 4.8f),  TILE(128, 128, 1, 3, 39, 0.23f, 5.1f),
    TILE(128, 128, 1, 8, 15, 0.37f, 5.6f),  TILE(128, 128, 2, 2, 30, 0.23f, 4.7f),
    TILE(64, 128, 1, 8, 15, 0.29f, 4.1f),
};

/* Estimated time of the SM with the most tiles, in microseconds.  The blocks of a cluster share a
 * group of 16 or 18 SMs, so that larger clusters leave some SMs idle.  A row of a chunk takes
 * PARTIAL longer if some of its channels are outside of the tensor.  Halves are stored faster. */
static float estimate_time(const ConvProblem *p, const Shape *shape, int sms)
{
    const int H200_SMS = 132;
    const float PARTIAL = 0.001f, HALVES = 0.65f;
    const int tiles = ceil_div(p->N * p->P * p->Q, shape->pixels) *
                      ceil_div(p->K, shape->filters * shape->multicast);
    const int taps = p->R * p->S, chunks = ceil_div(taps * ceil_div(p->C, DEPTH), shape->slices);
    const int partial = p->C % DEPTH ? ceil_div(taps, shape->slices) : 0;
    const int waves = ceil_div(tiles, shape->clusters * sms / H200_SMS);
    const float store =
        sizeof(Stored) == 2 && shape->slices == 1 ? HALVES * shape->store : shape->store;
    return waves *
           (chunks * shape->chunk + store + partial * (shape->filters + shape->pixels) * PARTIAL);
}

/* Estimated time of packing x, in microseconds. */
static float estimate_packing(const Operands *o)
{
    const float START = 3.3f, MEGABYTE = 0.5f; /* microseconds, and microseconds per megabyte */
    return (o->packs_w ? START : 0) +
           (o->packs_x ? MEGABYTE * 16e-6f * packing_vectors(&o->pack_x) : 0);
}

/* The fastest shape for operands in one of the forms. */
static const Shape *shape_choose(const Operands &o, int sms, bool clusters)
{
    const Shape *best = &shapes[0];
    // TODO(9): Choose the shape with the smallest estimated time.
    // Without support for clusters, only shapes with clusters of one block are possible.
    (void)estimate_time, (void)clusters;
    // END TODO(9)
    return best;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    int sms = 1, clusters = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0);
    const Shape *best = nullptr;
    Operands o;
    float min_time = 0;
    for (int i = 0; i < FORMS * GROUPS; i++) {
        Operands plan = operands_plan(p, (const Stored *)x, (const Stored *)w, (Form)(i / GROUPS));
        if (plan.p.stride_h > MAX_STRIDE || plan.p.stride_w > MAX_STRIDE) continue;
        if (!operands_group(&plan, 1 << i % GROUPS)) continue;
        const Shape *shape = shape_choose(plan, sms, clusters);
        const float time = estimate_packing(&plan) + estimate_time(&plan.p, shape, sms);
        if (!best || time < min_time) best = shape, o = plan, min_time = time;
    }
    if (o.packs_w) operands_pack(&o, stream);
    /* One chunk of one block: there is nothing to overlap. */
    const bool is_single = o.p.R * o.p.S == 1 && o.p.C <= DEPTH && o.p.K <= SIMPLE_FILTERS &&
                           o.p.N * o.p.P * o.p.Q <= SIMPLE_PIXELS;
    if (is_single || !best->launch(&o, (Stored *)y, sms, stream))
        launch_simple(&o, (Stored *)y, stream);
    if (o.packs_x) cudaFree(o.pack_x.target); /* waits until the kernel finishes */
    if (o.packs_w) cudaFree(o.pack_w.target);
}
