/* Lab 09: convolution as a matrix product: the input unrolled into columns, times the filters as
 * rows.  Edit only the TODO regions. */
#include <convlab/conv.h>

/* A block of the product computes FILTERS x COLUMNS elements of y, DEPTH products at a time; a
 * thread MINE x MINE of them. */
enum { FILTERS = 64, COLUMNS = 64, DEPTH = 16, MINE = 4, THREADS = 256 };
/* Rows of the tile of weights are this far apart, a multiple of 4 for float4. */
enum { PITCH = FILTERS + 4 };

/* Bytes of device memory that the unrolled input of some images may take. */
static const size_t WORKSPACE = 64 << 20;

/* The rows are cut into pieces where there would be fewer blocks than ENOUGH, four for each of an
 * H200's 132 multiprocessors; but a piece has SHORTEST rows or more. */
enum { ENOUGH = 528, SHORTEST = 128 };

/* X_unroll of `images` images has C*R*S rows and images*P*Q columns.  Thread t of block (bx, c)
 * owns column bx*THREADS + t in the R*S rows of channel c:
 *
 *     unrolled[(c*R + r)*S + s][(n*P + p)*Q + q] = x[n][c][p*stride_h - pad_top + r][...]
 *
 * and zero for the padding. */
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
            // TODO(1): Write the element of row (c, r, s) and this column.
            // END TODO(1)
        }
}

/* sums[n][k][pq] = sum over some rows of w[k][row] * unrolled[row][column], column = n*P*Q + pq.
 * Block (bx, by, bz) owns columns j0 = bx*COLUMNS .., filters k0 = by*FILTERS .. and rows bz*slice
 * .. (bz+1)*slice-1; piece bz of the sums begins at sums + bz*images*K*P*Q.  Thread t of it owns
 *
 *     k = k0 + t/16*MINE + f      column = j0 + t%16*MINE + g      f, g = 0 .. MINE-1
 *
 * Threads beyond K or the last column own nothing, but help to load; a warp beyond K multiplies
 * nothing.  (4 blocks of THREADS on a multiprocessor: the compiler is told to make do with 64
 * registers.) */
__global__ void __launch_bounds__(THREADS, 4)
    product_kernel(const ConvProblem p, int images, int slice, const float *__restrict__ w,
                   const float *__restrict__ unrolled, float *__restrict__ sums)
{
    __shared__ alignas(16) float weights[DEPTH][PITCH], inputs[DEPTH][COLUMNS]; /* for float4 */

    const int t = threadIdx.x, my_k = t / 16 * MINE, my_column = t % 16 * MINE;
    const int k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * COLUMNS;
    const int rows = p.C * p.R * p.S, pixels = p.P * p.Q, columns = images * pixels;
    const int begin = blockIdx.z * slice, end = begin + slice < rows ? begin + slice : rows;

    float sum[MINE][MINE] = {};
    for (int first = begin; first < end; first += DEPTH) {
        // TODO(2): Load DEPTH rows of both tiles, zeros for what does not exist; wait.
        // END TODO(2)
        if (k0 + my_k < p.K) {
#pragma unroll
            for (int i = 0; i < DEPTH; i++) {
                float4 a = *(float4 *)&weights[i][my_k], b = *(float4 *)&inputs[i][my_column];
                const float weight[MINE] = {a.x, a.y, a.z, a.w}, input[MINE] = {b.x, b.y, b.z, b.w};
                // TODO(3): Add the products of MINE weights and MINE inputs to the sums.
                // END TODO(3)
            }
        }
        __syncthreads();
    }

    sums += (size_t)blockIdx.z * images * p.K * pixels;
    const bool whole = pixels % 4 == 0; /* then four neighbours lie in one image, aligned */
    // TODO(4): Store what this thread has summed where its filters and columns exist: the sums of
    // a filter as a float4 if whole.
    // END TODO(4)
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

static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    const int rows = p->C * p->R * p->S, pixels = p->P * p->Q;
    const size_t one = sizeof(float) * rows * pixels; /* bytes of an image, unrolled */
    int images = 1, pieces = 1;
    // TODO(5): Choose how many images are unrolled at a time, as many as WORKSPACE holds, and how
    // many pieces of rows their product has.
    // END TODO(5)
    const int slice = ceiling(ceiling(rows, pieces), DEPTH) * DEPTH;
    pieces = ceiling(rows, slice);

    float *unrolled = nullptr, *sums = nullptr;
    cudaMalloc(&unrolled, one * images);
    if (pieces > 1) cudaMalloc(&sums, sizeof(float) * pieces * images * p->K * pixels);
    for (int n = 0; n < p->N; n += images) {
        const int some = p->N - n < images ? p->N - n : images, outputs = some * p->K * pixels;
        const float *my_x = x + n * p->C * p->H * p->W;
        float *my_y = y + n * p->K * pixels;
        // TODO(6): Launch the kernels for images n .. n+some-1: the third only if there are pieces.
        // END TODO(6)
    }
    cudaFree(sums); /* waits until nobody needs it */
    cudaFree(unrolled);
}
