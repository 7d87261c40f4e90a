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
enum { WARP = 32, WORD = 4 / sizeof(Value), CHUNK = 4 * WORD, CHUNKS = 4, DEPTH = CHUNKS * CHUNK };
/* A tile is [filter or column][DEPTH values], PITCH apart: 5 chunks, so that 8 of them side by side
 * lie in all 32 banks. */
enum { PITCH = DEPTH + CHUNK };

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

/* to[image][pixel][channel] = from[image][channel][pixel], rounded; channels filled up with zeros
 * to whole chunks.  x is N images of H*W pixels, w is K of R*S.  Block (bx, by, bz) moves 32 pixels
 * from bx*32 and 32 words of channels from by*32*WORD of image bz: thread (tx, ty) reads pixel tx
 * of channels ty, ty+8 ..., and writes word tx of pixels ty, ty+8 ... */
__global__ void convert_kernel(int channels, int pixels, const float *__restrict__ from,
                               Value *__restrict__ to)
{
    __shared__ float tile[32 * WORD][32 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, padded = ceiling(channels, CHUNK) * CHUNK;
    const int pixel0 = blockIdx.x * 32, channel0 = blockIdx.y * 32 * WORD;
    const size_t image = blockIdx.z;
    // TODO(1): Read the channels of 32 pixels into the tile, zeros for what does not exist; wait.
    for (int c = ty; c < 32 * WORD; c += 8) {
        int channel = channel0 + c, pixel = pixel0 + tx;
        bool exists = channel < channels && pixel < pixels;
        tile[c][tx] = exists ? from[(image * channels + channel) * pixels + pixel] : 0.0f;
    }
    __syncthreads();
    // END TODO(1)
    for (int i = ty; i < 32; i += 8) {
        const int channel = channel0 + tx * WORD;
        Value word[WORD];
        for (int v = 0; v < WORD; v++)
            word[v] = value_of(tile[tx * WORD + v][i]);
        if (channel < padded && pixel0 + i < pixels)
            *(unsigned *)&to[(image * pixels + pixel0 + i) * padded + channel] = *(unsigned *)word;
    }
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
    int h, w;
};

__device__ Column column_of(const ConvProblem &p, const Value *x, int column)
{
    const int n = column / (p.P * p.Q), op = column / p.Q % p.P, oq = column % p.Q;
    const int h = op * p.stride_h - p.pad_top, w = oq * p.stride_w - p.pad_left;
    if (n >= p.N) return {x, -p.H - p.R, 0}; /* beyond the last column there are only zeros */
    return {x + ((n * p.H + h) * p.W + w) * ceiling(p.C, CHUNK) * CHUNK, h, w};
}

/* The chunk of converted x in this column and row, or NULL where there are only zeros. */
__device__ const Value *input_at(const ConvProblem &p, const Column &column, const Row &row)
{
    bool exists = false;
    // TODO(2): Is there such a row (r < R), and is its pixel inside of the image?
    const int h = column.h + row.r, w = column.w + row.s;
    exists = row.r < p.R && h >= 0 && h < p.H && w >= 0 && w < p.W;
    // END TODO(2)
    return exists ? column.pixel + row.offset : nullptr;
}

/* ---- first: WMMA ----------------------------------------------------------------------------- */

enum { SIDE = 64, FEW_THREADS = 128, SUMS_PITCH = SIDE + 4 };

/* Block (bx, by) owns 64 columns from bx*64 and 64 filters from by*64; warp i of its four the 32 x
 * 32 of them from filter i/2*32 and column i%2*32, as 2 x 2 products of 16 x 16.  Which lane owns
 * what within these is WMMA's secret. */
__global__ void __launch_bounds__(FEW_THREADS)
    wmma_kernel(const ConvProblem p, const Value *__restrict__ w, const Value *__restrict__ x,
                float *__restrict__ y)
{
    __shared__ __align__(128) Value weights[SIDE][PITCH], inputs[SIDE][PITCH];
    __shared__ __align__(128) float sums[SIDE][SUMS_PITCH]; /* [filter][column] */

    const int t = threadIdx.x, my_k = t / WARP / 2 * 32, my_column = t / WARP % 2 * 32;
    const int k0 = blockIdx.y * SIDE, j0 = blockIdx.x * SIDE, pixels = p.P * p.Q;

    /* A thread loads chunk t % 4 of filters and columns t/4 and t/4 + 32. */
    const int side = t / CHUNKS, chunk = t % CHUNKS;
    const Column column[2] = {column_of(p, x, j0 + side), column_of(p, x, j0 + side + 32)};
    Row row = {0, 0, 0};
    row_advance(p, row, chunk);

    wmma::fragment<wmma::accumulator, 16, 16, CHUNK * 2, float> sum[2][2];
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::fill_fragment(sum[f][g], 0.0f);

    const int length = p.R * p.S * ceiling(p.C, CHUNK), tiles = ceiling(length, CHUNKS);
    const Value *my_w = w + ((size_t)(k0 + side) * length + chunk) * CHUNK;
    for (int tile = 0; tile < tiles; tile++, my_w += DEPTH) {
        const uint4 zero = {};
        uint4 next[4];
        for (int i = 0; i < 2; i++) {
            bool exists = row.r < p.R && k0 + side + 32 * i < p.K;
            const Value *input = input_at(p, column[i], row);
            next[i] = exists ? *(const uint4 *)&my_w[(size_t)32 * i * length * CHUNK] : zero;
            next[2 + i] = input ? *(const uint4 *)input : zero;
        }
        row_advance(p, row, CHUNKS);
        __syncthreads(); /* nobody reads the tiles any more */
        for (int i = 0; i < 2; i++) {
            *(uint4 *)&weights[side + 32 * i][chunk * CHUNK] = next[i];
            *(uint4 *)&inputs[side + 32 * i][chunk * CHUNK] = next[2 + i];
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i += CHUNK * 2) {
            wmma::fragment<wmma::matrix_a, 16, 16, CHUNK * 2, WmmaValue, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, CHUNK * 2, WmmaValue, wmma::col_major> b[2];
            // TODO(3): Load two fragments of weights and two of inputs, from row i of the tiles;
            // add their four products to the sums.
            for (int f = 0; f < 2; f++) {
                wmma::load_matrix_sync(a[f], &weights[my_k + f * 16][i], PITCH);
                wmma::load_matrix_sync(b[f], &inputs[my_column + f * 16][i], PITCH);
            }
            for (int f = 0; f < 2; f++)
                for (int g = 0; g < 2; g++)
                    wmma::mma_sync(sum[f][g], a[f], b[g], sum[f][g]);
            // END TODO(3)
        }
    }

    // TODO(4): Store the fragments of sums into `sums`; wait.
    for (int f = 0; f < 2; f++)
        for (int g = 0; g < 2; g++)
            wmma::store_matrix_sync(&sums[my_k + f * 16][my_column + g * 16], sum[f][g], SUMS_PITCH,
                                    wmma::mem_row_major);
    __syncthreads();
    // END TODO(4)
    const int j = j0 + t % SIDE;
    float *my_y = y + (j / pixels * p.K + k0) * pixels + j % pixels;
    for (int k = t / SIDE; k < SIDE; k += FEW_THREADS / SIDE)
        if (k0 + k < p.K && j < p.N * pixels) my_y[k * pixels] = sums[k][t % SIDE];
}

/* ---- then: mma.sync -------------------------------------------------------------------------- */

/* Copies a chunk to shared memory while the program goes on; zeros for NULL. */
__device__ void copy_chunk(Value *to, const Value *from, const Value *anywhere)
{
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(place), "l"(from ? from : anywhere), "r"(from ? 16 : 0));
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

enum { WARP_SIDE = 64, STAGES = 4 };

/* Block (bx, by) owns COLUMNS columns from bx*COLUMNS and FILTERS filters from by*FILTERS, each of
 * its warps 64 x 64 of them, as 4 x 8 products of 16 x 8.  Copies run STAGES-1 tiles ahead. */
template <int FILTERS, int COLUMNS>
__global__ void __launch_bounds__(FILTERS *COLUMNS / 128, 2)
    mma_kernel(const ConvProblem p, const Value *__restrict__ w, const Value *__restrict__ x,
               float *__restrict__ y)
{
    constexpr int ACROSS = COLUMNS / WARP_SIDE, THREADS = FILTERS * COLUMNS / 128;
    constexpr int EVERY = THREADS / CHUNKS; /* a thread copies chunk t%4 of every so manieth row */
    extern __shared__ __align__(128) unsigned char shared[];
    Value(*weights)[FILTERS][PITCH] = (Value(*)[FILTERS][PITCH])shared;         /* [STAGES] */
    Value(*inputs)[COLUMNS][PITCH] = (Value(*)[COLUMNS][PITCH])weights[STAGES]; /* [STAGES] */

    const int t = threadIdx.x, lane = t % WARP, side = t / CHUNKS, chunk = t % CHUNKS;
    const int my_k = t / WARP / ACROSS * WARP_SIDE, my_column = t / WARP % ACROSS * WARP_SIDE;
    const int k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * COLUMNS;
    const int pixels = p.P * p.Q, columns = p.N * pixels;
    const int length = p.R * p.S * ceiling(p.C, CHUNK), tiles = ceiling(length, CHUNKS);

    const Value *my_w = w + ((size_t)(k0 + side) * length + chunk) * CHUNK;
    Column column[COLUMNS / EVERY];
#pragma unroll
    for (int i = 0; i < COLUMNS / EVERY; i++)
        column[i] = column_of(p, x, j0 + side + i * EVERY);
    Row row = {0, 0, 0};
    row_advance(p, row, chunk);

    float sum[4][8][4] = {};
    for (int tile = 1 - STAGES; tile < tiles; tile++) {
        copies_wait<STAGES - 2>(); /* this tile has arrived, */
        __syncthreads();           /* for all, and nobody reads the one before it any more */
        if (tile + STAGES - 1 < tiles) {
            const int stage = (tile + STAGES - 1) % STAGES;
#pragma unroll
            for (int i = 0; i < FILTERS / EVERY; i++) {
                bool exists = row.r < p.R && k0 + side + i * EVERY < p.K;
                copy_chunk(&weights[stage][side + i * EVERY][chunk * CHUNK],
                           exists ? my_w + (size_t)i * EVERY * length * CHUNK : nullptr, w);
            }
            my_w += DEPTH;
#pragma unroll
            for (int i = 0; i < COLUMNS / EVERY; i++)
                copy_chunk(&inputs[stage][side + i * EVERY][chunk * CHUNK],
                           input_at(p, column[i], row), x);
            row_advance(p, row, CHUNKS);
        }
        copies_end();
        if (tile < 0) continue;

        const int stage = tile % STAGES;
#pragma unroll
        for (int i = 0; i < DEPTH; i += CHUNK * 2) {
            unsigned a[4][4], b[8][2];
            // TODO(5): Load the words of 64 filters and of 64 columns of two chunks, from row i of
            // the tiles; b[g] and b[g + 1] with one load_matrices.
#pragma unroll
            for (int f = 0; f < 4; f++)
                load_matrices(a[f],
                              &weights[stage][my_k + f * 16 + lane % 16][i + lane / 16 * CHUNK]);
#pragma unroll
            for (int g = 0; g < 8; g += 2) {
                load_matrices(b[g], &inputs[stage][my_column + g * 8 + lane / 16 * 8 + lane % 8]
                                           [i + lane / 8 % 2 * CHUNK]);
            }
            // END TODO(5)
#pragma unroll
            for (int f = 0; f < 4; f++)
#pragma unroll
                for (int g = 0; g < 8; g++)
                    multiply(sum[f][g], a[f], b[g]);
        }
    }

    const bool even = pixels % 2 == 0; /* then two neighbours lie in one image, aligned */
#pragma unroll
    for (int g = 0; g < 8; g++) {
        const int j = j0 + my_column + g * 8 + lane % 4 * 2;
        float *const y0 = y + j / pixels * p.K * pixels + j % pixels; /* filter 0 of column j ... */
        float *const y1 = y + (j + 1) / pixels * p.K * pixels + (j + 1) % pixels; /* ... and j+1 */
#pragma unroll
        for (int f = 0; f < 4; f++)
#pragma unroll
            for (int r = 0; r < 4; r += 2) {
                // TODO(6): Store sum[f][g][r], and sum[f][g][r+1] beside it in the next column, if
                // they exist; as a float2 if even.
                int k = k0 + my_k + f * 16 + lane / 4 + r / 2 * 8;
                if (k >= p.K) continue;
                if (even && j < columns) {
                    *(float2 *)&y0[k * pixels] = make_float2(sum[f][g][r], sum[f][g][r + 1]);
                } else {
                    if (j < columns) y0[k * pixels] = sum[f][g][r];
                    if (j + 1 < columns) y1[k * pixels] = sum[f][g][r + 1];
                }
                // END TODO(6)
            }
    }
}

template <int FILTERS, int COLUMNS>
static void mma_launch(const ConvProblem *p, const Value *w, const Value *x, float *y,
                       cudaStream_t stream)
{
    const int bytes = STAGES * (FILTERS + COLUMNS) * PITCH * sizeof(Value);
    dim3 grid(ceiling(p->N * p->P * p->Q, COLUMNS), ceiling(p->K, FILTERS));
    cudaFuncSetAttribute(mma_kernel<FILTERS, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         bytes);
    mma_kernel<FILTERS, COLUMNS><<<grid, FILTERS * COLUMNS / 128, bytes, stream>>>(*p, w, x, y);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int columns = p->N * p->P * p->Q, channels = ceiling(p->C, CHUNK) * CHUNK;
    const dim3 threads(32, 8), x_grid(ceiling(p->H * p->W, 32), ceiling(channels, 32 * WORD), p->N);
    const dim3 w_grid(ceiling(p->R * p->S, 32), ceiling(channels, 32 * WORD), p->K);
    Value *converted_x = nullptr, *converted_w = nullptr;
    cudaMalloc(&converted_x, sizeof(Value) * p->N * p->H * p->W * channels);
    cudaMalloc(&converted_w, sizeof(Value) * p->K * p->R * p->S * channels);
    convert_kernel<<<x_grid, threads, 0, stream>>>(p->C, p->H * p->W, x, converted_x);
    convert_kernel<<<w_grid, threads, 0, stream>>>(p->C, p->R * p->S, w, converted_w);

    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    if (p->K <= 64 && columns / 256 >= sms) {
        mma_launch<64, 256>(p, converted_w, converted_x, y, stream);
    } else if (p->K > 64 && columns / 128 * ceiling(p->K, 128) >= sms) {
        mma_launch<128, 128>(p, converted_w, converted_x, y, stream);
    } else { /* too small for large tiles to keep every multiprocessor busy */
        dim3 grid(ceiling(columns, SIDE), ceiling(p->K, SIDE));
        wmma_kernel<<<grid, FEW_THREADS, 0, stream>>>(*p, converted_w, converted_x, y);
    }
    cudaFree(converted_x); /* waits until nobody needs it */
    cudaFree(converted_w);
}
