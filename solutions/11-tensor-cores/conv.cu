/* Lab 11: implicit GEMM on tensor cores, first with WMMA, then with mma.sync.  Inputs are rounded
 * to fp16 (or tf32); accumulators are fp32.  Edit only the TODO regions. */
#include <convlab/conv.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

/* Input type and its MMA instruction.  Both types have 11 significant bits.  fp16 takes half the
 * bytes, but its largest value is 65504. */
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

/* Values are copied 16 bytes at a time: a chunk is CHUNK channels of one pixel. */
enum { WARP = 32, CHUNK = 16 / sizeof(Value) };

__host__ __device__ constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

__device__ Value value_round(float x)
{
#if FP16
    return __float2half_rn(x);
#else
    return wmma::__float_to_tf32(x);
#endif
}

/* ---- conversion to channels innermost -------------------------------------------------------- */

/* x has N images of H*W pixels; w has K "images" of R*S pixels. */
struct Tensor {
    int images, pixels;
    const float *source; /* [image][channel][pixel] */
    Value *target;       /* [image][pixel][channel] */
};

/* Converts x and w: rounds the values, makes the channels innermost, and pads them with zeros to
 * complete chunks.  Blocks below first_w_block convert x, the others w.  Thread i of a tensor
 * converts chunk i/16 % chunks of pixel i/16/chunks*16 + i%16: 16 adjacent threads read 64
 * contiguous bytes, and a warp writes complete 32-byte sectors. */
__global__ void convert_kernel(int channels, int first_w_block, Tensor x, Tensor w)
{
    const bool is_x = blockIdx.x < first_w_block;
    const Tensor tensor = is_x ? x : w;
    const int i = (is_x ? blockIdx.x : blockIdx.x - first_w_block) * blockDim.x + threadIdx.x;
    const int chunks = ceil_div(channels, CHUNK), chunk = i / 16 % chunks, pixels = tensor.pixels;
    const int pixel = i / 16 / chunks * 16 + i % 16;
    if (pixel >= tensor.images * pixels) return;

    const size_t image = pixel / pixels;
    const float *source =
        tensor.source + (image * channels + chunk * CHUNK) * pixels + pixel % pixels;
    __align__(16) Value value[CHUNK];
    // TODO(1): Round CHUNK channels of this pixel; use 0 for channels that do not exist.
    for (int c = 0; c < CHUNK; c++)
        value[c] = value_round(chunk * CHUNK + c < channels ? source[(size_t)c * pixels] : 0.0f);
    // END TODO(1)
    *(uint4 *)&tensor.target[((size_t)pixel * chunks + chunk) * CHUNK] = *(uint4 *)value;
}

/* ---- source address of a chunk --------------------------------------------------------------- */

/* Position in the rows of X_unroll, in chunks.  The rows are in the order r, s, c, as in w. */
struct Row {
    int r, s, c; /* c in chunks */
    int offset;  /* values after the input for tap (0, 0), channel 0 */
};

__device__ void row_advance(const ConvProblem &p, Row &row, int chunks)
{
    const int channels = ceil_div(p.C, CHUNK);
    for (row.c += chunks; row.c >= channels; row.c -= channels)
        if (++row.s == p.S) {
            row.s = 0;
            row.r++;
        }
    row.offset = ((row.r * p.W + row.s) * channels + row.c) * CHUNK;
}

/* A column of X_unroll: its pixel for tap (0, 0), which may be in the padding. */
struct Column {
    const Value *pixel;
    int position; /* h*65536 + w */
};

/* A position so far above the image that every tap is in the padding. */
enum { OUTSIDE = -(1 << 30) };

__device__ Column column_of(const ConvProblem &p, const Value *x, int column)
{
    const int n = column / (p.P * p.Q), op = column / p.Q % p.P, oq = column % p.Q;
    const int h = op * p.stride_h - p.pad_top, w = oq * p.stride_w - p.pad_left;
    if (n >= p.N) return {x, OUTSIDE}; /* past the last column */
    return {x + ((n * p.H + h) * p.W + w) * ceil_div(p.C, CHUNK) * CHUNK, h * 65536 + w};
}

/* True if the column's pixel for this row is inside the image.  Limit: height and width including
 * padding must be below 32768. */
__device__ bool is_inside(const ConvProblem &p, const Column &column, const Row &row)
{
    const int last = (p.H - 1) * 65536 + p.W - 1;
    bool is_valid = false;
    // TODO(2): Check 0 <= h + row.r < H and 0 <= w + row.s < W, as is_inside of lab 10 does.
    const int position = column.position + row.r * 65536 + row.s;
    is_valid = ((position | (last - position)) & 0x80008000) == 0;
    // END TODO(2)
    return is_valid;
}

/* ---- split-K, as in lab 10 ------------------------------------------------------------------- */

/* A slice of the rows of a tile.  With few tiles, several blocks compute one tile. */
struct Slice {
    int chunk;       /* first chunk of the slice's rows */
    float *partials; /* results of the slice: a copy of y's shape per slice */
};

/* Block (bx, by, bz) computes slice bz: `slice_chunks` chunks of rows.  The copies start at
 * `partials`. */
__device__ Slice slice_of(const ConvProblem &p, int slice_chunks, float *partials)
{
    Slice slice = {0, partials};
    // TODO(3): Set the first chunk of this block's slice and the start of its results.
    slice.chunk = blockIdx.z * slice_chunks;
    slice.partials = partials + (size_t)blockIdx.z * p.N * p.K * p.P * p.Q;
    // END TODO(3)
    return slice;
}

/* y[i] = the sum of `slices` partial results, for i = blockIdx.x*blockDim.x + threadIdx.x. */
__global__ void reduce_kernel(int outputs, int slices, const float *__restrict__ partials,
                              float *__restrict__ y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float acc = 0.0f;
    for (int slice = 0; slice < slices; slice++)
        acc += partials[(size_t)slice * outputs + i];
    y[i] = acc;
}

/* ---- WMMA ------------------------------------------------------------------------------------ */

/* A tile is [filter or column][WMMA_CHUNKS chunks].  Its rows are PITCH values (5 chunks) apart, so
 * that the same chunk of 8 rows starts in 8 different banks. */
enum { WMMA_TILE = 64, WMMA_THREADS = 128, WMMA_CHUNKS = 4, PITCH = (WMMA_CHUNKS + 1) * CHUNK };
enum { ACC_PITCH = WMMA_TILE + 4 };

/* A block computes 64 columns from bx*64 and 64 filters from by*64, for slice bz of the rows.  Warp
 * i of its four warps has 32 x 32 accumulators from filter i/2*32 and column i%2*32, as 2 x 2
 * fragments of 16 x 16.  WMMA does not specify which lane holds which element. */
__global__ void __launch_bounds__(WMMA_THREADS)
    wmma_kernel(const ConvProblem p, int slice_chunks, const Value *__restrict__ w,
                const Value *__restrict__ x, float *__restrict__ partials)
{
    __shared__ __align__(128) Value weights[WMMA_TILE][PITCH], inputs[WMMA_TILE][PITCH];
    __shared__ __align__(128) float acc_tile[WMMA_TILE][ACC_PITCH]; /* [filter][column] */

    const int t = threadIdx.x, warp_k = t / WARP / 2 * 32, warp_column = t / WARP % 2 * 32;
    const int k0 = blockIdx.y * WMMA_TILE, column0 = blockIdx.x * WMMA_TILE, pixels = p.P * p.Q;
    const int filter_chunks = p.R * p.S * ceil_div(p.C, CHUNK); /* chunks per filter */
    const Slice slice = slice_of(p, slice_chunks, partials);

    /* A thread loads chunk t % 4 of filters and columns t/4 and t/4 + 32. */
    const int tile_row = t / WMMA_CHUNKS, chunk = t % WMMA_CHUNKS;
    const Value *w_source =
        w + ((size_t)(k0 + tile_row) * filter_chunks + slice.chunk + chunk) * CHUNK;
    const Column column[2] = {column_of(p, x, column0 + tile_row),
                              column_of(p, x, column0 + tile_row + 32)};
    Row row = {0, 0, 0};
    row_advance(p, row, slice.chunk + chunk);

    wmma::fragment<wmma::accumulator, 16, 16, CHUNK * 2, float> acc[2][2];
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::fill_fragment(acc[f][g], 0.0f);

    for (int chunk0 = 0; chunk0 < slice_chunks;
         chunk0 += WMMA_CHUNKS, w_source += WMMA_CHUNKS * CHUNK) {
        const uint4 zero = {};
        uint4 next[4];
        for (int i = 0; i < 2; i++) {
            bool is_valid = row.r < p.R && k0 + tile_row + 32 * i < p.K;
            next[i] =
                is_valid ? *(const uint4 *)&w_source[(size_t)32 * i * filter_chunks * CHUNK] : zero;
            is_valid = is_inside(p, column[i], row);
            next[2 + i] = is_valid ? *(const uint4 *)&column[i].pixel[row.offset] : zero;
        }
        row_advance(p, row, WMMA_CHUNKS);
        __syncthreads(); /* all warps have finished reading the tiles */
        for (int i = 0; i < 2; i++) {
            *(uint4 *)&weights[tile_row + 32 * i][chunk * CHUNK] = next[i];
            *(uint4 *)&inputs[tile_row + 32 * i][chunk * CHUNK] = next[2 + i];
        }
        __syncthreads();
        for (int i = 0; i < WMMA_CHUNKS * CHUNK; i += CHUNK * 2) {
            wmma::fragment<wmma::matrix_a, 16, 16, CHUNK * 2, WmmaValue, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, CHUNK * 2, WmmaValue, wmma::col_major> b[2];
            // TODO(4): Load two fragments of weights and two of inputs, starting at value i of each
            // filter and column; multiply all four pairs and add to acc.
            for (int f = 0; f < 2; f++) {
                wmma::load_matrix_sync(a[f], &weights[warp_k + f * 16][i], PITCH);
                wmma::load_matrix_sync(b[f], &inputs[warp_column + f * 16][i], PITCH);
            }
            for (int f = 0; f < 2; f++)
                for (int g = 0; g < 2; g++)
                    wmma::mma_sync(acc[f][g], a[f], b[g], acc[f][g]);
            // END TODO(4)
        }
    }

    // TODO(5): Store the accumulator fragments to acc_tile; synchronize.
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::store_matrix_sync(&acc_tile[warp_k + f * 16][warp_column + g * 16], acc[f][g],
                                    ACC_PITCH, wmma::mem_row_major);
    __syncthreads();
    // END TODO(5)
    const int j = column0 + t % WMMA_TILE;
    float *out = slice.partials + (j / pixels * p.K + k0) * pixels + j % pixels;
    for (int k = t / WMMA_TILE; k < WMMA_TILE; k += WMMA_THREADS / WMMA_TILE)
        if (k0 + k < p.K && j < p.N * pixels) out[k * pixels] = acc_tile[k][t % WMMA_TILE];
}

/* ---- mma.sync -------------------------------------------------------------------------------- */

/* Starts an asynchronous copy of a chunk to shared memory; writes zeros if !is_valid. */
__device__ void copy_chunk(Value *target, const Value *source, bool is_valid)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(address), "l"(source), "r"(is_valid ? 16 : 0));
}

/* copies_commit closes a group of copies; copies_wait waits until at most `groups` groups are in
 * flight. */
__device__ void copies_commit()
{
    asm volatile("cp.async.commit_group;");
}

template <int groups> __device__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(groups));
}

/* ldmatrix: loads four matrices of 8 rows with one chunk each.  Lanes 8*i .. 8*i+7 pass the
 * addresses of the rows of matrix i.  Lane l receives word l%4 of row l/4 of each matrix. */
__device__ void load_matrices(unsigned word[4], const Value *row)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
}

/* acc += a * b for 16 filters, 8 columns and two chunks of rows.  With group = lane/4 and
 * i = lane%4 a lane holds
 *
 *     a[0..3]    word i of chunk 0, 0, 1, 1 of filters group, group+8, group, group+8
 *     b[0..1]    word i of chunk 0, 1 of column group
 *     acc[0..3]  filters group, group, group+8, group+8 in columns 2*i, 2*i+1, 2*i, 2*i+1
 *
 * (PTX ISA, "Matrix Fragments for mma.m16n8k16" and "... mma.m16n8k8".) */
__device__ void mma(float acc[4], const unsigned a[4], const unsigned b[2])
{
    asm(MMA_SYNC " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

enum { WARP_SIDE = 64, CHUNKS = 8, STAGES = 3 };

/* A tile is [filter or column][CHUNKS chunks] without gaps: a row is 128 bytes, all 32 banks.  The
 * order of the chunks differs from row to row (swizzle), so that the same chunk of 8 rows also
 * covers all banks. */
typedef Value TileRow[CHUNKS * CHUNK];

__device__ Value *chunk_at(TileRow *tile, int row, int chunk)
{
    return &tile[row][(chunk ^ row % CHUNKS) * CHUNK];
}

/* A block computes COLUMNS columns from bx*COLUMNS and FILTERS filters from by*FILTERS, for slice
 * bz of the rows.  Each warp has 64 x 64 accumulators, as 4 x 8 fragments of 16 x 8.  Copies run
 * STAGES-1 tiles ahead. */
template <int FILTERS, int COLUMNS, int RESIDENT>
__global__ void __launch_bounds__(FILTERS *COLUMNS / 128, RESIDENT)
    mma_kernel(const ConvProblem p, int slice_chunks, const Value *__restrict__ w,
               const Value *__restrict__ x, float *__restrict__ partials)
{
    constexpr int WARPS_J = COLUMNS / WARP_SIDE, THREADS = FILTERS * COLUMNS / 128;
    constexpr int ROW_STEP = THREADS / CHUNKS; /* rows between the chunks that a thread copies */
    extern __shared__ __align__(128) unsigned char shared[];
    TileRow(*weights)[FILTERS] = (TileRow(*)[FILTERS])shared;         /* [STAGES] */
    TileRow(*inputs)[COLUMNS] = (TileRow(*)[COLUMNS])weights[STAGES]; /* [STAGES] */

    const int t = threadIdx.x, lane = t % WARP, tile_row = t / CHUNKS, chunk = t % CHUNKS;
    const int warp_k = t / WARP / WARPS_J * WARP_SIDE, warp_column = t / WARP % WARPS_J * WARP_SIDE;
    const int k0 = blockIdx.y * FILTERS, column0 = blockIdx.x * COLUMNS;
    const int pixels = p.P * p.Q, columns = p.N * pixels, tiles = slice_chunks / CHUNKS;
    const int filter_chunks = p.R * p.S * ceil_div(p.C, CHUNK); /* chunks per filter */
    const Slice slice = slice_of(p, slice_chunks, partials);

    const Value *w_source =
        w + ((size_t)(k0 + tile_row) * filter_chunks + slice.chunk + chunk) * CHUNK;
    const size_t w_stride = (size_t)ROW_STEP * filter_chunks * CHUNK;
    Column column[COLUMNS / ROW_STEP];
#pragma unroll
    for (int i = 0; i < COLUMNS / ROW_STEP; i++)
        column[i] = column_of(p, x, column0 + tile_row + i * ROW_STEP);
    Row row = {0, 0, 0};
    row_advance(p, row, slice.chunk + chunk);

    float acc[4][8][4] = {};
    for (int tile = 1 - STAGES; tile < tiles; tile++) {
        copies_wait<STAGES - 2>(); /* this thread's copies of this tile are complete */
        __syncthreads(); /* all threads' copies are complete, and no warp reads the previous tile */
        if (tile >= 0) {
            const int stage = tile % STAGES;
#pragma unroll
            for (int i = 0; i < CHUNKS; i += 2) {
                unsigned a[4][4], b[8][2];
                // TODO(6): Load chunks i and i+1 of 64 filters and 64 columns; load b[g] and
                // b[g + 1] with one load_matrices.
#pragma unroll
                for (int f = 0; f < 4; f++) {
                    load_matrices(
                        a[f], chunk_at(&weights[stage][warp_k + f * 16], lane % 16, i + lane / 16));
                }
#pragma unroll
                for (int g = 0; g < 8; g += 2) {
                    load_matrices(b[g], chunk_at(&inputs[stage][warp_column + g * 8],
                                                 lane / 16 * 8 + lane % 8, i + lane / 8 % 2));
                }
                // END TODO(6)
#pragma unroll
                for (int f = 0; f < 4; f++)
#pragma unroll
                    for (int g = 0; g < 8; g++)
                        mma(acc[f][g], a[f], b[g]);
            }
        }
        if (tile + STAGES - 1 < tiles) {
            const int stage = (tile + STAGES - 1) % STAGES;
#pragma unroll
            for (int i = 0; i < FILTERS / ROW_STEP; i++)
                copy_chunk(chunk_at(&weights[stage][i * ROW_STEP], tile_row, chunk),
                           w_source + i * w_stride,
                           row.r < p.R && k0 + tile_row + i * ROW_STEP < p.K);
            w_source += CHUNKS * CHUNK;
#pragma unroll
            for (int i = 0; i < COLUMNS / ROW_STEP; i++)
                copy_chunk(chunk_at(&inputs[stage][i * ROW_STEP], tile_row, chunk),
                           column[i].pixel + row.offset, is_inside(p, column[i], row));
            row_advance(p, row, CHUNKS);
        }
        copies_commit();
    }

    const bool is_aligned = pixels % 2 == 0; /* 2 columns: one image, 8-byte aligned */
#pragma unroll
    for (int g = 0; g < 8; g++) {
        const int j = column0 + warp_column + g * 8 + lane % 4 * 2;
        float *const y0 = slice.partials + j / pixels * p.K * pixels + j % pixels; /* filter 0 */
        float *const y1 = slice.partials + (j + 1) / pixels * p.K * pixels + (j + 1) % pixels;
#pragma unroll
        for (int f = 0; f < 4; f++)
#pragma unroll
            for (int r = 0; r < 4; r += 2) {
                // TODO(7): Store acc[f][g][r], and acc[f][g][r+1] to the next column, if they
                // exist; as a float2 if is_aligned.
                int k = k0 + warp_k + f * 16 + lane / 4 + r / 2 * 8;
                if (k >= p.K) continue;
                if (is_aligned && j < columns) {
                    *(float2 *)&y0[k * pixels] = make_float2(acc[f][g][r], acc[f][g][r + 1]);
                } else {
                    if (j < columns) y0[k * pixels] = acc[f][g][r];
                    if (j + 1 < columns) y1[k * pixels] = acc[f][g][r + 1];
                }
                // END TODO(7)
            }
    }
}

/* ---- choice of the tile and the number of slices --------------------------------------------- */

/* The available block shapes. */
struct Tile {
    int filters, columns, chunks, threads, shared, resident;
    float speed; /* relative to the fastest tile with all SMs busy, measured on an H200 */
    void (*kernel)(ConvProblem, int, const Value *, const Value *, float *);
};
#define TILE(f, c, resident, speed)                                                                \
    {                                                                                              \
        f, c, CHUNKS, (f) * (c) / 128, STAGES *((f) + (c)) * (int)sizeof(TileRow), resident,       \
            speed, mma_kernel<f, c, resident>                                                      \
    }
static const Tile tiles[] = {
    {WMMA_TILE, WMMA_TILE, WMMA_CHUNKS, WMMA_THREADS, 0, 6, 0.48f, wmma_kernel},
    TILE(64, 128, 3, 0.54f),
    TILE(128, 128, 2, 1.00f),
};
enum { TILES = sizeof tiles / sizeof *tiles, MAX_SLICES = 32 };

/* Estimated time of the SM with the most blocks, in multiply-adds (MACs): lab 10's cost model
 * without the start time of a block.  (Fitted to the times of all tiles and numbers of slices for
 * 41 layers on an H200.  The choice is within 3 % of the best on average and within 22 % always.)
 * */
static float estimate_cost(const ConvProblem *p, const Tile *tile, int slices, int sms)
{
    const int MIN_THREADS = 128;
    const float ADD = 1.2e6f, SUM = 370.0f;
    const int columns = p->N * p->P * p->Q, filter_chunks = p->R * p->S * ceil_div(p->C, CHUNK);
    int blocks = ceil_div(columns, tile->columns) * ceil_div(p->K, tile->filters) * slices;
    int blocks_per_sm = ceil_div(blocks, sms), last = (blocks_per_sm - 1) % tile->resident + 1;
    if (last * tile->threads < MIN_THREADS) blocks_per_sm += MIN_THREADS / tile->threads - last;
    int rows = ceil_div(ceil_div(filter_chunks, slices), tile->chunks) * tile->chunks * CHUNK;
    float macs = (float)tile->filters * tile->columns * rows * blocks_per_sm / tile->speed;
    return slices == 1 ? macs : macs + ADD + SUM * columns * p->K * slices / sms;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int columns = p->N * p->P * p->Q, outputs = columns * p->K;
    const int chunks = ceil_div(p->C, CHUNK), filter_chunks = p->R * p->S * chunks;
    const int x_pixels = p->N * p->H * p->W, w_pixels = p->K * p->R * p->S;
    Value *converted_x = nullptr, *converted_w = nullptr;
    cudaMalloc(&converted_x, sizeof(Value) * x_pixels * chunks * CHUNK);
    cudaMalloc(&converted_w, sizeof(Value) * w_pixels * chunks * CHUNK);
    const Tensor x_tensor = {p->N, p->H * p->W, x, converted_x};
    const Tensor w_tensor = {p->K, p->R * p->S, w, converted_w};
    const int x_blocks = ceil_div(ceil_div(x_pixels, 16) * 16 * chunks, 256);
    const int w_blocks = ceil_div(ceil_div(w_pixels, 16) * 16 * chunks, 256);
    convert_kernel<<<x_blocks + w_blocks, 256, 0, stream>>>(p->C, x_blocks, x_tensor, w_tensor);

    const Tile *tile = &tiles[0];
    int slices = 1, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    float min_cost = estimate_cost(p, tile, slices, sms);
    for (int i = 0; i < TILES; i++)
        for (int n = 1; n == 1 || (n <= MAX_SLICES && n * tiles[i].chunks <= filter_chunks); n++)
            if (estimate_cost(p, &tiles[i], n, sms) < min_cost) {
                min_cost = estimate_cost(p, &tiles[i], n, sms);
                tile = &tiles[i];
                slices = n;
            }

    const int slice_chunks = ceil_div(ceil_div(filter_chunks, slices), tile->chunks) * tile->chunks;
    slices = ceil_div(filter_chunks, slice_chunks);
    const dim3 grid(ceil_div(columns, tile->columns), ceil_div(p->K, tile->filters), slices);
    float *partials = y;
    if (slices > 1) cudaMalloc(&partials, sizeof(float) * outputs * slices);
    cudaFuncSetAttribute(tile->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile->shared);
    tile->kernel<<<grid, tile->threads, tile->shared, stream>>>(*p, slice_chunks, converted_w,
                                                                converted_x, partials);
    if (slices > 1) {
        reduce_kernel<<<ceil_div(outputs, 256), 256, 0, stream>>>(outputs, slices, partials, y);
        cudaFree(partials); /* waits until the kernels finish */
    }
    cudaFree(converted_x);
    cudaFree(converted_w);
}
