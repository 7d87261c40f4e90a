/* Lab 04: an input tile with halo in shared memory, used for several filters.  Edit only the TODO
 * regions. */
#include <convlab/conv.h>

enum { TILE = 16 }; /* a block computes TILE x TILE outputs of one image, for FILTERS filters */

// TODO(1): Leave FILTERS at 1, the book's kernel, until the rest is right; then raise it.
enum { FILTERS = 8 };
// END TODO(1)

/* Input tile: the part of one channel that TILE x TILE outputs read, halo included. */
struct Tile {
    int height, width; /* in pixels */
    int pitch;         /* floats from one row to the next in shared memory */
};

__host__ __device__ static inline Tile tile_shape(const ConvProblem &p)
{
    Tile tile = {};
    // TODO(2): Set height, width, and a pitch that puts a warp's two rows into different banks.
    tile.height = (TILE - 1) * p.stride_h + p.R;
    tile.width = (TILE - 1) * p.stride_w + p.S;
    tile.pitch = (tile.width + 15) / 32 * 32 + 16; /* 16, 48, 80 ...: rows use different banks */
    // END TODO(2)
    return tile;
}

/* Thread (tx, ty) of block (bx, by, bz) computes one output of each of FILTERS filters:
 *
 *     n = bx / groups    k = k0 .. k0 + FILTERS-1    op = by*TILE + ty    oq = bz*TILE + tx
 *
 * with groups = ceil(K / FILTERS) and k0 = (bx % groups) * FILTERS.  Shared memory holds one
 * channel at a time: first its weights as [tap][filter], so that the weights of one tap are
 * contiguous, then the tile, whose first pixel is input (h0, w0).  Threads beyond P or Q have no
 * output, but help to load. */
__global__ void conv_kernel(const ConvProblem p, const float *__restrict__ x,
                            const float *__restrict__ w, float *__restrict__ y)
{
    extern __shared__ float4 shared[]; /* float4 for 16-byte alignment */
    const int taps = p.R * p.S;
    float *const weights = (float *)shared;
    float *const pixels = weights + FILTERS * taps;

    const Tile tile = tile_shape(p);
    const int groups = (p.K + FILTERS - 1) / FILTERS;
    const int n = blockIdx.x / groups;
    const int k0 = blockIdx.x % groups * FILTERS;
    const int op = blockIdx.y * TILE + threadIdx.y;
    const int oq = blockIdx.z * TILE + threadIdx.x;
    const int h0 = blockIdx.y * TILE * p.stride_h - p.pad_top;
    const int w0 = blockIdx.z * TILE * p.stride_w - p.pad_left;

    float acc[FILTERS] = {};
    for (int c = 0; c < p.C; c++) {
        // TODO(3): Load the tile of channel c with all threads; store zeros outside the input.
        const float *channel = x + (n * p.C + c) * p.H * p.W;
        for (int i = threadIdx.y; i < tile.height; i += TILE)
            for (int j = threadIdx.x; j < tile.width; j += TILE) {
                int ih = h0 + i, iw = w0 + j;
                bool inside = ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
                pixels[i * tile.pitch + j] = inside ? channel[ih * p.W + iw] : 0.0f;
            }
        // END TODO(3)

        // TODO(4): Load the weights of channel c, with zeros for filters beyond K; wait.
        for (int i = threadIdx.y * TILE + threadIdx.x; i < FILTERS * taps; i += TILE * TILE) {
            int tap = i / FILTERS, k = k0 + i % FILTERS;
            weights[i] = k < p.K ? w[(k * p.C + c) * taps + tap] : 0.0f;
        }
        __syncthreads();
        // END TODO(4)

        // TODO(5): Accumulate each tap for all filters; wait.
        const float4 *weights4 = shared;
        for (int r = 0; r < p.R; r++) {
            const float *row = pixels + (threadIdx.y * p.stride_h + r) * tile.pitch;
#pragma unroll 1 /* nvcc's unrolling by four is mostly slower */
            for (int s = 0; s < p.S; s++) {
                float pixel = row[threadIdx.x * p.stride_w + s];
                for (int f = 0; f < FILTERS; f += 4) {
                    float4 weight = *weights4++;
                    acc[f + 0] += pixel * weight.x;
                    acc[f + 1] += pixel * weight.y;
                    acc[f + 2] += pixel * weight.z;
                    acc[f + 3] += pixel * weight.w;
                }
            }
        }
        __syncthreads();
        // END TODO(5)
    }

    if (op >= p.P || oq >= p.Q) return;
    for (int f = 0; f < FILTERS && k0 + f < p.K; f++)
        y[((n * p.K + k0 + f) * p.P + op) * p.Q + oq] = acc[f];
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    // TODO(6): Launch one block per image, group of filters and tile, with dynamic shared memory.
    dim3 block(TILE, TILE);
    int groups = (p->K + FILTERS - 1) / FILTERS;
    dim3 grid(p->N * groups, (p->P + TILE - 1) / TILE, (p->Q + TILE - 1) / TILE);
    Tile tile = tile_shape(*p);
    size_t bytes = sizeof(float) * (FILTERS * p->R * p->S + tile.height * tile.pitch);
    if (bytes > 48 * 1024) /* the default limit of dynamic shared memory */
        cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    conv_kernel<<<grid, block, bytes, stream>>>(*p, x, w, y);
    // END TODO(6)
}
