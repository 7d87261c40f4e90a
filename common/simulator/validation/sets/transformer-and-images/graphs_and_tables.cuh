/* graphs_and_tables.cuh - graphs, trees and tables (part of transformer-and-images.cu). */

/* Rank of a page: a warp's quarter pulls over one vertex's neighbours. */
__global__ void page_rank(const int *row, const int *column, const float *rank, float *y, int n)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (v >= n) return;
    float sum = 0;
    for (int k = row[v] + lane; k < row[v + 1]; k += 8) {
        int u = column[k];
        sum += rank[u] / (float)(row[u + 1] - row[u]);
    }
    for (int o = 4; o > 0; o >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, o, 8);
    if (lane == 0) y[v] = 0.15f / (float)n + 0.85f * sum;
}

/* Triangles: common neighbours of the two ends of an edge, by merging. */
__global__ void triangles(const int *row, const int *column, const int *from, uint32_t *count,
                          int edges)
{
    GLOBAL_I;
    uint32_t found = 0;
    if (i < edges) {
        int u = from[i] & 16383, v = column[i], p = row[u], q = row[v], pe = row[u + 1],
            qe = row[v + 1];
        while (p < pe && q < qe) {
            int x = column[p], z = column[q];
            found += x == z, p += x <= z, q += z <= x;
        }
    }
    found = __reduce_add_sync(0xffffffff, found);
    if (threadIdx.x % 32 == 0 && found) atomicAdd(count, found);
}

/* Colours: who is greater than all its neighbours takes this one. */
__global__ void colour(const int *row, const int *column, const uint32_t *weight, int *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = weight[i];
    for (int k = row[i]; k < row[i + 1]; k++)
        if (weight[column[k]] > own) return;
    y[i] = 1;
}

/* A forest of 16 trees of depth 10, a thread a sample of 32 features. */
__global__ void forest(const float *x, const float2 *node, float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int tree = 0; tree < 16; tree++) {
        int at = 0;
        for (int level = 0; level < 10; level++) {
            float2 one = node[tree * 1024 + at];
            int feature = __float_as_int(one.y) & 31;
            at = 2 * at + 1 + (x[i * 32 + feature] > one.x * 0.1f);
        }
        sum += node[tree * 1024 + (at & 1023)].x;
    }
    y[i] = sum;
}

/* Four questions to a filter of bits. */
__global__ void bloom(const uint32_t *x, const uint32_t *bits, unsigned char *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t h = x[i] * 2654435761u, step = x[i] * 2246822519u | 1;
    bool in = true;
    for (int k = 0; k < 4 && in; k++, h += step)
        in = bits[h >> 12] >> (h & 31) & 1;
    y[i] = in;
}

/* The lower bound of each key among a million. */
__global__ void lower_bound(const uint32_t *x, const uint32_t *from, int *y, int n, int count)
{
    GLOBAL_I;
    if (i >= count) return;
    uint32_t key = x[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (from[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    y[i] = low;
}

/* Seven diagonals of a matrix. */
__global__ void diagonals(const float *v, const float *x, float *y, int n, int width)
{
    const int offset[7] = {-width * width, -width, -1, 0, 1, width, width * width};
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 7; k++) {
        int column = i + offset[k];
        if (column >= 0 && column < n) sum += v[k * n + i] * x[column];
    }
    y[i] = sum;
}

static void tables()
{
    E("page-rank", "page-rank", page_rank<<<512, 256>>>(rows, columns, a, c, 16384));
    E("triangles", "triangles",
      triangles<<<384, 256>>>(rows, columns, (int *)keys, zeros + 4096, 98304));
    E("colour", "colour", colour<<<128, 128>>>(rows, columns, keys, (int *)c, 16384));
    E("forest", "forest", forest<<<250, 128>>>(a, (float2 *)b, c, 32000));
    E("bloom", "bloom", bloom<<<4096, 256>>>(keys, keys + MB, (unsigned char *)c, MB));
    E("lower-bound", "lower-bound", lower_bound<<<782, 256>>>(keys, rising, (int *)c, MB, 200000));
    E("diagonals", "diagonals", diagonals<<<1563, 160>>>(a, b, c, 250000, 63));
}
