/* Lab 09: convolution as a matrix product (GEMM): the filters, one per row, times the input
 * unrolled into columns (im2col).  Edit only the TODO regions. */
#include <convlab/conv.h>

/* A block of gemm_kernel computes an output tile of FILTERS x COLUMNS elements and loads DEPTH rows
 * per iteration.  A thread computes THREAD_TILE x THREAD_TILE elements. */
enum { FILTERS = 64, COLUMNS = 64, DEPTH = 16, THREAD_TILE = 4, THREADS = 256 };
/* Floats between rows of the weight tile: a multiple of 4, for float4. */
enum { PITCH = FILTERS + 4 };

/* Upper limit of the unrolled input of a batch, in bytes. */
static const size_t WORKSPACE = 64 << 20;

/* Split-K: if the matrix product has fewer blocks than TARGET_BLOCKS (four for each of an H200's
 * 132 SMs), its rows are split into slices of at least MIN_SLICE_ROWS rows. */
enum { TARGET_BLOCKS = 528, MIN_SLICE_ROWS = 128 };

/* X_unroll of `images` images has C*R*S rows and images*P*Q columns.  Thread t of block (bx, c)
 * writes column bx*THREADS + t in the R*S rows of channel c:
 *
 *     unrolled[(c*R + r)*S + s][(n*P + p)*Q + q] = x[n][c][p*stride_h - pad_top + r][...]
 *
 * or 0 in the padding. */
__global__ void unroll_kernel(const ConvProblem p, int images, const float *__restrict__ x,
                              float *__restrict__ unrolled)
{
    const int columns = images * p.P * p.Q;
    const int column = blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
    if (column >= columns) return;
    const int oq = column % p.Q, op = column / p.Q % p.P, n = column / p.Q / p.P;
    const float *channel = x + (n * p.C + c) * p.H * p.W;
    for (int r = 0; r < p.R; r++)
        for (int s = 0; s < p.S; s++) {
            // TODO(1): Write the element in row (c, r, s) of this column.
            // END TODO(1)
        }
}

/* partials[n][k][pq] = sum over a slice's rows of w[k][row] * unrolled[row][column], for
 * column = n*P*Q + pq.  Block (bx, by, bz) computes the columns from column0 = bx*COLUMNS and the
 * filters from k0 = by*FILTERS, with rows bz*slice_rows .. (bz+1)*slice_rows-1.  The results of
 * slice bz start at partials + bz*images*K*P*Q.  Thread t computes
 *
 *     k = k0 + t/16*THREAD_TILE + f      column = column0 + t%16*THREAD_TILE + g
 *
 * for f, g = 0 .. THREAD_TILE-1.  Threads past K or past the last column compute no output but take
 * part in the loads; a warp past K does no multiplications.  The launch bounds (4 blocks of THREADS
 * per SM) limit a thread to 64 registers. */
__global__ void __launch_bounds__(THREADS, 4)
    gemm_kernel(const ConvProblem p, int images, int slice_rows, const float *__restrict__ w,
                const float *__restrict__ unrolled, float *__restrict__ partials)
{
    __shared__ alignas(16) float weights[DEPTH][PITCH], inputs[DEPTH][COLUMNS]; /* for float4 */

    const int t = threadIdx.x;
    const int thread_k = t / 16 * THREAD_TILE, thread_column = t % 16 * THREAD_TILE;
    const int k0 = blockIdx.y * FILTERS, column0 = blockIdx.x * COLUMNS;
    const int rows = p.C * p.R * p.S, pixels = p.P * p.Q, columns = images * pixels;
    const int begin = blockIdx.z * slice_rows;
    const int end = begin + slice_rows < rows ? begin + slice_rows : rows;

    float acc[THREAD_TILE][THREAD_TILE] = {};
    for (int row0 = begin; row0 < end; row0 += DEPTH) {
        // TODO(2): Load DEPTH rows of both tiles, 0 for missing elements; then synchronize.
        // END TODO(2)
        if (k0 + thread_k < p.K) {
#pragma unroll
            for (int i = 0; i < DEPTH; i++) {
                float4 a = *(float4 *)&weights[i][thread_k];
                float4 b = *(float4 *)&inputs[i][thread_column];
                const float weight[THREAD_TILE] = {a.x, a.y, a.z, a.w};
                const float input[THREAD_TILE] = {b.x, b.y, b.z, b.w};
                // TODO(3): Multiply THREAD_TILE weights by THREAD_TILE inputs; add to acc.
                // END TODO(3)
            }
        }
        __syncthreads();
    }

    partials += (size_t)blockIdx.z * images * p.K * pixels;
    const bool is_aligned = pixels % 4 == 0; /* 4 columns: one image, 16-byte aligned */
    // TODO(4): Store this thread's accumulators for filters and columns that exist, one float4 per
    // filter if is_aligned.
    // END TODO(4)
}

/* y[i] = the sum of `slices` partial results, for i = blockIdx.x*blockDim.x + threadIdx.x. */
__global__ void reduce_kernel(int outputs, int slices, const float *__restrict__ partials,
                              float *__restrict__ y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float acc = 0.0f;
    for (int z = 0; z < slices; z++)
        acc += partials[(size_t)z * outputs + i];
    y[i] = acc;
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, pixels = p->P * p->Q;
    const size_t image_bytes = sizeof(float) * rows * pixels; /* one image, unrolled */
    int images = 1, slices = 1;
    // TODO(5): Choose the number of images per batch, as many as fit in WORKSPACE, and the number
    // of slices of their matrix product.
    // END TODO(5)
    const int slice_rows = ceil_div(ceil_div(rows, slices), DEPTH) * DEPTH;
    slices = ceil_div(rows, slice_rows);

    float *unrolled = nullptr, *partials = nullptr;
    cudaMalloc(&unrolled, image_bytes * images);
    if (slices > 1) cudaMalloc(&partials, sizeof(float) * slices * images * p->K * pixels);
    for (int n = 0; n < p->N; n += images) {
        const int batch = p->N - n < images ? p->N - n : images, outputs = batch * p->K * pixels;
        const float *batch_x = x + n * p->C * p->H * p->W;
        float *batch_y = y + n * p->K * pixels;
        // TODO(6): Launch the kernels for images n .. n+batch-1; reduce_kernel only if slices > 1.
        // END TODO(6)
    }
    cudaFree(partials); /* waits until the kernels finish */
    cudaFree(unrolled);
}
