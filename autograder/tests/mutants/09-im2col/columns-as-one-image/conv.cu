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
            int ih = op * p.stride_h - p.pad_top + r, iw = oq * p.stride_w - p.pad_left + s;
            bool inside = ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
            size_t row = (c * p.R + r) * p.S + s;
            unrolled[row * columns + column] = inside ? channel[ih * p.W + iw] : 0.0f;
            // END TODO(1)
        }
}

/* y[n][k][pq] = sum over rows of w[k][row] * unrolled[row][column], column = n*P*Q + pq.  Block
 * (bx, by) owns columns j0 = bx*COLUMNS .. and filters k0 = by*FILTERS ..; thread t of it
 *
 *     k = k0 + t/16*MINE + f      column = j0 + t%16*MINE + g      f, g = 0 .. MINE-1
 *
 * Threads beyond K or the last column own nothing, but help to load. */
__global__ void product_kernel(const ConvProblem p, int images, const float *__restrict__ w,
                               const float *__restrict__ unrolled, float *__restrict__ y)
{
    __shared__ float4 four_weights[DEPTH * PITCH / 4], four_inputs[DEPTH * COLUMNS / 4];
    float(*weights)[PITCH] = (float(*)[PITCH])four_weights;   /* [row][filter] */
    float(*inputs)[COLUMNS] = (float(*)[COLUMNS])four_inputs; /* [row][column] */

    const int t = threadIdx.x, my_k = t / 16 * MINE, my_column = t % 16 * MINE;
    const int k0 = blockIdx.y * FILTERS, j0 = blockIdx.x * COLUMNS;
    const int rows = p.C * p.R * p.S, columns = images * p.P * p.Q;

    float sum[MINE][MINE] = {};
    for (int first = 0; first < rows; first += DEPTH) {
        // TODO(2): Load DEPTH rows of both tiles, zeros for what does not exist; wait.
        for (int i = t; i < FILTERS * DEPTH; i += THREADS) {
            int k = k0 + i / DEPTH, row = first + i % DEPTH;
            weights[i % DEPTH][i / DEPTH] = k < p.K && row < rows ? w[k * rows + row] : 0.0f;
        }
        for (int i = t; i < DEPTH * COLUMNS; i += THREADS) {
            int row = first + i / COLUMNS, column = j0 + i % COLUMNS;
            inputs[i / COLUMNS][i % COLUMNS] =
                row < rows && column < columns ? unrolled[(size_t)row * columns + column] : 0.0f;
        }
        __syncthreads();
        // END TODO(2)
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            float4 a = *(float4 *)&weights[i][my_k], b = *(float4 *)&inputs[i][my_column];
            const float weight[MINE] = {a.x, a.y, a.z, a.w}, input[MINE] = {b.x, b.y, b.z, b.w};
            // TODO(3): Add the products of MINE weights and MINE inputs to the sums.
            for (int f = 0; f < MINE; f++)
                for (int g = 0; g < MINE; g++)
                    sum[f][g] += weight[f] * input[g];
            // END TODO(3)
        }
        __syncthreads();
    }

    for (int f = 0; f < MINE; f++)
        for (int g = 0; g < MINE; g++) {
            int k = k0 + my_k + f, column = j0 + my_column + g;
            // TODO(4): Store sum[f][g] where this filter and this column lie in y.
            int pixels = columns, n = 0, pixel = column;
            if (k < p.K && column < columns) y[(n * p.K + k) * pixels + pixel] = sum[f][g];
            // END TODO(4)
        }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    size_t one = sizeof(float) * p->C * p->R * p->S * p->P * p->Q; /* bytes of an image, unrolled */
    int images = 1;
    // TODO(5): Choose how many images are unrolled at a time: as many as WORKSPACE holds.
    if (WORKSPACE / one > 1) images = (int)(WORKSPACE / one);
    if (images > p->N) images = p->N;
    // END TODO(5)
    float *unrolled = nullptr;
    cudaMalloc(&unrolled, one * images);
    for (int n = 0; n < p->N; n += images) {
        int some = p->N - n < images ? p->N - n : images, columns = some * p->P * p->Q;
        // TODO(6): Launch both kernels for images n .. n+some-1.
        dim3 unroll_grid((columns + THREADS - 1) / THREADS, p->C);
        dim3 product_grid((columns + COLUMNS - 1) / COLUMNS, (p->K + FILTERS - 1) / FILTERS);
        unroll_kernel<<<unroll_grid, THREADS, 0, stream>>>(*p, some, x + n * p->C * p->H * p->W,
                                                           unrolled);
        product_kernel<<<product_grid, THREADS, 0, stream>>>(*p, some, w, unrolled,
                                                             y + n * p->K * p->P * p->Q);
        // END TODO(6)
    }
    cudaFree(unrolled); /* waits until nobody needs it */
}
