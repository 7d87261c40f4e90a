/* Lab 11: the product on tensor cores, first through WMMA, then with mma.sync.  Inputs are rounded
 * to fp16 (or tf32), sums stay in fp32.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

/* What an input is rounded to, and the product that goes with it.  Both keep 11 bits; fp16 ends at
 * 65504 and is half as long. */
#ifndef FP16
#define FP16 1
#endif
#if FP16
typedef __half Value;
typedef __half WmmaValue;
#define MMA_SYNC "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
typedef float Value;
typedef wmma::precision::tf32 WmmaValue;
#define MMA_SYNC "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#endif

/* Values move 16 bytes at a time: CHUNK channels of one pixel. */
enum { WARP = 32, CHUNK = 16 / sizeof(Value) };

__host__ __device__ constexpr int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ Value value_of(float x)
{
#if FP16
    return __float2half_rn(x);
#else
    return wmma::__float_to_tf32(x);
#endif
}

/* ---- channels innermost ---------------------------------------------------------------------- */

/* x is N images of H*W pixels, w is K of R*S. */
struct Tensor {
    int images, pixels;
    const float *from; /* [image][channel][pixel] */
    Value *to;         /* [image][pixel][channel] */
};

/* Converts x and w: rounded, channels innermost and filled up with zeros to whole chunks.  Blocks
 * before `first_of_w` are x's, the others w's.  Thread i of a tensor owns chunk i/16 % chunks of
 * pixel i/16/chunks*16 + i%16: 16 neighbours read 64 bytes side by side, and what a warp writes
 * fills whole sectors of 32. */
__global__ void convert_kernel(int channels, int first_of_w, Tensor x, Tensor w)
{
    const bool of_x = blockIdx.x < first_of_w;
    const Tensor mine = of_x ? x : w;
    const int i = (of_x ? blockIdx.x : blockIdx.x - first_of_w) * blockDim.x + threadIdx.x;
    const int chunks = ceiling(channels, CHUNK), chunk = i / 16 % chunks, pixels = mine.pixels;
    const int pixel = i / 16 / chunks * 16 + i % 16;
    if (pixel >= mine.images * pixels) return;

    const size_t image = pixel / pixels;
    const float *from = mine.from + (image * channels + chunk * CHUNK) * pixels + pixel % pixels;
    __align__(16) Value value[CHUNK];
    // TODO(1): Round the CHUNK channels of this pixel; zeros for those that do not exist.
    for (int c = 0; c < CHUNK; c++)
        value[c] = value_of(chunk * CHUNK + c < channels ? from[(size_t)c * pixels] : 0.0f);
    // END TODO(1)
    *(uint4 *)&mine.to[((size_t)pixel * chunks + chunk) * CHUNK] = *(uint4 *)value;
}

/* ---- where a chunk comes from ---------------------------------------------------------------- */

/* The rows of X_unroll in the order r, s, c, as w has them now: a place among their chunks. */
struct Row {
    int r, s, c; /* c in chunks */
    int offset;  /* values from the input under tap (0, 0), channel 0 */
};

__device__ void row_advance(const ConvProblem &p, Row &row, int chunks)
{
    const int channels = ceiling(p.C, CHUNK);
    for (row.c += chunks; row.c >= channels; row.c -= channels)
        if (++row.s == p.S) {
            row.s = 0;
            row.r++;
        }
    row.offset = ((row.r * p.W + row.s) * channels + row.c) * CHUNK;
}

/* A column: its pixel under tap (0, 0), which may lie in the padding. */
struct Column {
    const Value *pixel;
    int at; /* h*65536 + w */
};

/* So far above the image that no filter reaches it: there only zeros are. */
enum { NOWHERE = -(1 << 30) };

__device__ Column column_of(const ConvProblem &p, const Value *x, int column)
{
    const int n = column / (p.P * p.Q), op = column / p.Q % p.P, oq = column % p.Q;
    const int h = op * p.stride_h - p.pad_top, w = oq * p.stride_w - p.pad_left;
    if (n >= p.N) return {x, NOWHERE}; /* beyond the last column */
    return {x + ((n * p.H + h) * p.W + w) * ceiling(p.C, CHUNK) * CHUNK, h * 65536 + w};
}

/* Does the image have a pixel in this column and row?  (Sides below 32768, padding included.) */
__device__ bool inside(const ConvProblem &p, const Column &column, const Row &row)
{
    const int last = (p.H - 1) * 65536 + p.W - 1;
    bool exists = false;
    // TODO(2): Are h + row.r and w + row.s in 0 .. H-1 and 0 .. W-1?  Lab 10's two subtractions.
    const int at = column.at + row.r * 65536 + row.s;
    exists = ((at | (last - at)) & 0x80008000) == 0;
    // END TODO(2)
    return exists;
}

/* ---- pieces of rows, as in lab 10 ------------------------------------------------------------ */

/* Where there are few tiles, several blocks share the rows of one. */
struct Piece {
    int chunk;   /* the first chunk of its rows */
    float *sums; /* where its sums go: each piece has a copy of y's shape */
};

/* Block (bx, by, bz) owns piece bz: `slice` chunks of rows.  The copies begin at `sums`. */
__device__ Piece piece_of(const ConvProblem &p, int slice, float *sums)
{
    Piece piece = {0, sums};
    // TODO(3): Which chunk is the first of this block's, and where do its sums begin?
    piece.chunk = blockIdx.z * slice;
    piece.sums = sums + (size_t)blockIdx.z * p.N * p.K * p.P * p.Q;
    // END TODO(3)
    return piece;
}

/* y[i] = the sum of `pieces` sums.  Thread t of block b owns i = b*blockDim.x + t. */
__global__ void add_kernel(int outputs, int pieces, const float *__restrict__ sums,
                           float *__restrict__ y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float sum = 0.0f;
    for (int piece = 0; piece < pieces; piece++)
        sum += sums[(size_t)piece * outputs + i];
    y[i] = sum;
}

/* ---- first: WMMA ----------------------------------------------------------------------------- */

/* A tile is [filter or column][FEW_CHUNKS chunks], PITCH values apart: 5 chunks, so that 8 of them
 * begin in 8 different banks. */
enum { SIDE = 64, FEW_THREADS = 128, FEW_CHUNKS = 4, PITCH = (FEW_CHUNKS + 1) * CHUNK };
enum { SUMS_PITCH = SIDE + 4 };

/* A block owns 64 columns from bx*64, 64 filters from by*64 and piece bz of the rows; warp i of its
 * four the 32 x 32 sums from filter i/2*32 and column i%2*32, as 2 x 2 products of 16 x 16.  Which
 * lane owns what within these is WMMA's secret. */
__global__ void __launch_bounds__(FEW_THREADS)
    wmma_kernel(const ConvProblem p, int slice, const Value *__restrict__ w,
                const Value *__restrict__ x, float *__restrict__ all_sums)
{
    __shared__ __align__(128) Value weights[SIDE][PITCH], inputs[SIDE][PITCH];
    __shared__ __align__(128) float sums[SIDE][SUMS_PITCH]; /* [filter][column] */

    const int t = threadIdx.x, my_k = t / WARP / 2 * 32, my_column = t / WARP % 2 * 32;
    const int k0 = blockIdx.y * SIDE, j0 = blockIdx.x * SIDE, pixels = p.P * p.Q;
    const int length = p.R * p.S * ceiling(p.C, CHUNK); /* of a filter, in chunks */
    const Piece piece = piece_of(p, slice, all_sums);

    /* A thread loads chunk t % 4 of filters and columns t/4 and t/4 + 32. */
    const int side = t / FEW_CHUNKS, chunk = t % FEW_CHUNKS;
    const Value *my_w = w + ((size_t)(k0 + side) * length + piece.chunk + chunk) * CHUNK;
    const Column column[2] = {column_of(p, x, j0 + side), column_of(p, x, j0 + side + 32)};
    Row row = {0, 0, 0};
    row_advance(p, row, piece.chunk + chunk);

    wmma::fragment<wmma::accumulator, 16, 16, CHUNK * 2, float> sum[2][2];
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::fill_fragment(sum[f][g], 0.0f);

    for (int done = 0; done < slice; done += FEW_CHUNKS, my_w += FEW_CHUNKS * CHUNK) {
        const uint4 zero = {};
        uint4 next[4];
        for (int i = 0; i < 2; i++) {
            bool exists = row.r < p.R && k0 + side + 32 * i < p.K;
            next[i] = exists ? *(const uint4 *)&my_w[(size_t)32 * i * length * CHUNK] : zero;
            exists = inside(p, column[i], row);
            next[2 + i] = exists ? *(const uint4 *)&column[i].pixel[row.offset] : zero;
        }
        row_advance(p, row, FEW_CHUNKS);
        __syncthreads(); /* nobody reads the tiles any more */
        for (int i = 0; i < 2; i++) {
            *(uint4 *)&weights[side + 32 * i][chunk * CHUNK] = next[i];
            *(uint4 *)&inputs[side + 32 * i][chunk * CHUNK] = next[2 + i];
        }
        __syncthreads();
        for (int i = 0; i < FEW_CHUNKS * CHUNK; i += CHUNK * 2) {
            wmma::fragment<wmma::matrix_a, 16, 16, CHUNK * 2, WmmaValue, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, CHUNK * 2, WmmaValue, wmma::col_major> b[2];
            // TODO(4): Load two fragments of weights and two of inputs, from value i of each filter
            // and column on; add their four products to the sums.
            for (int f = 0; f < 2; f++) {
                wmma::load_matrix_sync(a[f], &weights[my_k + f * 16][i], PITCH);
                wmma::load_matrix_sync(b[f], &inputs[my_column + f * 16][i], PITCH);
            }
            for (int f = 0; f < 2; f++)
                for (int g = 0; g < 2; g++)
                    wmma::mma_sync(sum[f][g], a[f], b[g], sum[f][g]);
            // END TODO(4)
        }
    }

    // TODO(5): Store the fragments of sums into `sums`; wait.
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::store_matrix_sync(&sums[my_k + f * 16][my_column + g * 16], sum[f][g], SUMS_PITCH,
                                    wmma::mem_row_major);
    __syncthreads();
    // END TODO(5)
    const int j = j0 + t % SIDE;
    float *my_sums = piece.sums + (j / pixels * p.K + k0) * pixels + j % pixels;
    for (int k = t / SIDE; k < SIDE; k += FEW_THREADS / SIDE)
        if (k0 + k < p.K && j < p.N * pixels) my_sums[k * pixels] = sums[k][t % SIDE];
}

/* ---- then: mma.sync -------------------------------------------------------------------------- */

/* Copies a chunk to shared memory while the program goes on; zeros if there is none. */
__device__ void copy_chunk(Value *to, const Value *from, bool exists)
{
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(place), "l"(from), "r"(exists ? 16 : 0));
}

/* Ends a group of copies; waits until at most `groups` of them are under way. */
__device__ void copies_end()
{
    asm volatile("cp.async.commit_group;");
}

template <int groups> __device__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(groups));
}

/* Four matrices of 8 rows of a chunk: lanes 8*i .. 8*i+7 say where the rows of the i-th lie, and
 * lane l gets the word l%4 of row l/4 of each. */
__device__ void load_matrices(unsigned word[4], const Value *row)
{
    unsigned place = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(place)
                 : "memory");
}

/* sum += a * b for 16 filters, 8 columns, two chunks of rows.  With group = lane/4 and own = lane%4
 * a lane holds
 *
 *     a[0..3]    word own of chunk 0, 0, 1, 1 of filters group, group+8, group, group+8
 *     b[0..1]    word own of chunk 0, 1 of column group
 *     sum[0..3]  filters group, group, group+8, group+8 in columns 2*own, 2*own+1, 2*own, 2*own+1
 *
 * (PTX ISA, "Matrix Fragments for mma.m16n8k16" and "... mma.m16n8k8".) */
__device__ void multiply(float sum[4], const unsigned a[4], const unsigned b[2])
{
    asm(MMA_SYNC " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

enum { WARP_SIDE = 64, CHUNKS = 8, STAGES = 3 };

/* A tile is [filter or column][CHUNKS chunks], with nothing between: 128 bytes, all 32 banks.  So
 * that one chunk of 8 rows lies in all banks, too, each row has its chunks in another order. */
typedef Value TileRow[CHUNKS * CHUNK];

__device__ Value *chunk_at(TileRow *tile, int row, int chunk)
{
    return &tile[row][(chunk ^ row % CHUNKS) * CHUNK];
}

/* A block owns COLUMNS columns from bx*COLUMNS, FILTERS filters from by*FILTERS and piece bz of the
 * rows, each of its warps 64 x 64 of the sums, as 4 x 8 products of 16 x 8.  Copies run STAGES-1
 * tiles ahead. */
template <int FILTERS, int COLUMNS, int RESIDENT>
__global__ void __launch_bounds__(FILTERS *COLUMNS / 128, RESIDENT)
    mma_kernel(const ConvProblem p, int slice, const Value *__restrict__ w,
               const Value *__restrict__ x, float *__restrict__ sums)
{
    constexpr int ACROSS = COLUMNS / WARP_SIDE, THREADS = FILTERS * COLUMNS / 128;
    constexpr int EVERY = THREADS / CHUNKS; /* a thread copies chunk t%8 of every EVERY-th row */
    extern __shared__ __align__(128) unsigned char shared[];
    TileRow(*weights)[FILTERS] = (TileRow(*)[FILTERS])shared;         /* [STAGES] */
    TileRow(*inputs)[COLUMNS] = (TileRow(*)[COLUMNS])weights[STAGES]; /* [STAGES] */

    const int t = threadIdx.x, lane = t % WARP, side = t / CHUNKS, chunk = t % CHUNKS;
    const int my_k = t / WARP / ACROSS * WARP_SIDE, my_column = t / WARP % ACROSS * WARP_SIDE;
    const int k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * COLUMNS;
    const int pixels = p.P * p.Q, columns = p.N * pixels, tiles = slice / CHUNKS;
    const int length = p.R * p.S * ceiling(p.C, CHUNK); /* of a filter, in chunks */
    const Piece piece = piece_of(p, slice, sums);

    const Value *my_w = w + ((size_t)(k0 + side) * length + piece.chunk + chunk) * CHUNK;
    const size_t w_step = (size_t)EVERY * length * CHUNK;
    Column column[COLUMNS / EVERY];
#pragma unroll
    for (int i = 0; i < COLUMNS / EVERY; i++)
        column[i] = column_of(p, x, j0 + side + i * EVERY);
    Row row = {0, 0, 0};
    row_advance(p, row, piece.chunk + chunk);

    float sum[4][8][4] = {};
    for (int tile = 1 - STAGES; tile < tiles; tile++) {
        copies_wait<STAGES - 2>(); /* this tile has arrived, */
        __syncthreads();           /* for all, and nobody reads the one before it any more */
        if (tile >= 0) {
            const int stage = tile % STAGES;
#pragma unroll
            for (int i = 0; i < CHUNKS; i += 2) {
                unsigned a[4][4], b[8][2];
                // TODO(6): Load the words of 64 filters and of 64 columns of chunks i and i+1;
                // b[g] and b[g + 1] with one load_matrices.
#pragma unroll
                for (int f = 0; f < 4; f++) {
                    load_matrices(
                        a[f], chunk_at(&weights[stage][my_k + f * 16], lane % 16, i + lane / 16));
                }
#pragma unroll
                for (int g = 0; g < 8; g += 2) {
                    load_matrices(b[g], chunk_at(&inputs[stage][my_column + g * 8],
                                                 lane / 16 * 8 + lane % 8, i + lane / 8 % 2));
                }
                // END TODO(6)
#pragma unroll
                for (int f = 0; f < 4; f++)
#pragma unroll
                    for (int g = 0; g < 8; g++)
                        multiply(sum[f][g], a[f], b[g]);
            }
        }
        if (tile + STAGES - 1 < tiles) {
            const int stage = (tile + STAGES - 1) % STAGES;
#pragma unroll
            for (int i = 0; i < FILTERS / EVERY; i++)
                copy_chunk(chunk_at(&weights[stage][i * EVERY], side, chunk), my_w + i * w_step,
                           row.r < p.R && k0 + side + i * EVERY < p.K);
            my_w += CHUNKS * CHUNK;
#pragma unroll
            for (int i = 0; i < COLUMNS / EVERY; i++)
                copy_chunk(chunk_at(&inputs[stage][i * EVERY], side, chunk),
                           column[i].pixel + row.offset, inside(p, column[i], row));
            row_advance(p, row, CHUNKS);
        }
        copies_end();
    }

    const bool even = pixels % 2 == 0; /* then two neighbours lie in one image, aligned */
#pragma unroll
    for (int g = 0; g < 8; g++) {
        const int j = j0 + my_column + g * 8 + lane % 4 * 2;
        float *const y0 = piece.sums + j / pixels * p.K * pixels + j % pixels; /* filter 0 of j */
        float *const y1 = piece.sums + (j + 1) / pixels * p.K * pixels + (j + 1) % pixels;
#pragma unroll
        for (int f = 0; f < 4; f++)
#pragma unroll
            for (int r = 0; r < 4; r += 2) {
                // TODO(7): Store sum[f][g][r], and sum[f][g][r+1] beside it in the next column, if
                // they exist; as a float2 if even.
                int k = k0 + my_k + f * 16 + lane / 4 + r / 2 * 8;
                if (k >= p.K) continue;
                if (even && j < columns) {
                    *(float2 *)&y0[k * pixels] = make_float2(sum[f][g][r], sum[f][g][r + 1]);
                } else {
                    if (j < columns) y0[k * pixels] = sum[f][g][r];
                    if (j + 1 < columns) y1[k * pixels] = sum[f][g][r + 1];
                }
                // END TODO(7)
            }
    }
}

/* ---- which tile, how many pieces ------------------------------------------------------------- */

/* The shapes that a block can have. */
struct Tile {
    int filters, columns, chunks, threads, shared, resident;
    float speed; /* beside the fastest where all are busy, measured on an H200 */
    void (*kernel)(ConvProblem, int, const Value *, const Value *, float *);
};
#define TILE(f, c, resident, speed)                                                                \
    {                                                                                              \
        f, c, CHUNKS, (f) * (c) / 128, STAGES *((f) + (c)) * (int)sizeof(TileRow), resident,       \
            speed, mma_kernel<f, c, resident>                                                      \
    }
static const Tile tiles[] = {
    {SIDE, SIDE, FEW_CHUNKS, FEW_THREADS, 0, 6, 0.48f, wmma_kernel},
    TILE(64, 128, 3, 0.54f),
    TILE(128, 128, 2, 1.00f),
};
enum { TILES = sizeof tiles / sizeof *tiles, MOST_PIECES = 32 };

/* How long the busiest of `sms` multiprocessors is at it, in products: lab 10's cost, but that a
 * block needs no time to get going.  (Fitted to what every tile and number of pieces took on 41
 * layers on an H200: the choice is within 3 % of the best on average, within 22 % always.) */
static float cost(const ConvProblem *p, const Tile *tile, int pieces, int sms)
{
    const int BUSY = 128;
    const float ADD = 1.2e6f, SUM = 370.0f;
    const int columns = p->N * p->P * p->Q, length = p->R * p->S * ceiling(p->C, CHUNK);
    int blocks = ceiling(columns, tile->columns) * ceiling(p->K, tile->filters) * pieces;
    int busiest = ceiling(blocks, sms), last = (busiest - 1) % tile->resident + 1;
    if (last * tile->threads < BUSY) busiest += BUSY / tile->threads - last;
    int rows = ceiling(ceiling(length, pieces), tile->chunks) * tile->chunks * CHUNK;
    float products = (float)tile->filters * tile->columns * rows * busiest / tile->speed;
    return pieces == 1 ? products : products + ADD + SUM * columns * p->K * pieces / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int columns = p->N * p->P * p->Q, outputs = columns * p->K;
    const int chunks = ceiling(p->C, CHUNK), length = p->R * p->S * chunks;
    const int x_pixels = p->N * p->H * p->W, w_pixels = p->K * p->R * p->S;
    Value *converted_x = nullptr, *converted_w = nullptr;
    cudaMalloc(&converted_x, sizeof(Value) * x_pixels * chunks * CHUNK);
    cudaMalloc(&converted_w, sizeof(Value) * w_pixels * chunks * CHUNK);
    const Tensor of_x = {p->N, p->H * p->W, x, converted_x};
    const Tensor of_w = {p->K, p->R * p->S, w, converted_w};
    const int x_blocks = ceiling(ceiling(x_pixels, 16) * 16 * chunks, 256);
    const int w_blocks = ceiling(ceiling(w_pixels, 16) * 16 * chunks, 256);
    convert_kernel<<<x_blocks + w_blocks, 256, 0, stream>>>(p->C, x_blocks, of_x, of_w);

    const Tile *tile = &tiles[0];
    int pieces = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    float least = cost(p, tile, pieces, sms);
    for (int i = 0; i < TILES; i++)
        for (int n = 1; n == 1 || (n <= MOST_PIECES && n * tiles[i].chunks <= length); n++)
            if (cost(p, &tiles[i], n, sms) < least) {
                least = cost(p, &tiles[i], n, sms);
                tile = &tiles[i];
                pieces = n;
            }

    const int slice = ceiling(ceiling(length, pieces), tile->chunks) * tile->chunks;
    pieces = ceiling(length, slice);
    const dim3 grid(ceiling(columns, tile->columns), ceiling(p->K, tile->filters), pieces);
    float *sums = y;
    if (pieces > 1) cudaMalloc(&sums, sizeof(float) * outputs * pieces);
    cudaFuncSetAttribute(tile->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile->shared);
    tile->kernel<<<grid, tile->threads, tile->shared, stream>>>(*p, slice, converted_w, converted_x,
                                                                sums);
    if (pieces > 1) {
        add_kernel<<<ceiling(outputs, 256), 256, 0, stream>>>(outputs, pieces, sums, y);
        cudaFree(sums); /* waits until nobody needs it */
    }
    cudaFree(converted_x);
    cudaFree(converted_w);
}
