/* graphs.cuh - graphs and sparse matrices (part of sorting-and-graphs.cu). */

/* Rows of any length, a thread each. */
__global__ void spmv_rows(const int *row, const int *column, const float *v, const float *x,
                          float *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i], end = row[i + 1]; k < end; k++)
        sum += v[k] * x[column[k]];
    y[i] = sum;
}

/* All rows as long as the longest, by columns. */
__global__ void spmv_ell(const int *column, const float *v, const float *x, float *y, int n,
                         int width)
{
    GLOBAL_I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int at = column[k * n + i];
        if (at >= 0) sum += v[k * n + i] * x[at];
    }
    y[i] = sum;
}

/* One thread per element, sums by atomics. */
__global__ void spmv_triples(const uint32_t *where, const int *column, const float *v,
                             const float *x, float *y, int n)
{
    GLOBAL_I;
    if (i < n) atomicAdd(&y[where[i] & 0xffff], v[i] * x[column[i]]);
}

/* Neighbours of a queue's vertices that no one saw before enter the next one. */
__global__ void bfs_queue(const int *row, const int *column, uint32_t *seen,
                          const uint32_t *frontier, uint32_t *next, uint32_t *count, int n,
                          uint32_t turn)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t v = frontier[i] & 0xffff;
    for (int k = row[v]; k < row[v + 1]; k++) {
        uint32_t w = column[k];
        if (seen[w] != turn && atomicExch(&seen[w], turn) != turn)
            next[atomicAdd(count, 1u) & 0xffff] = w;
    }
}

/* Shortest paths: all edges of a vertex try to shorten what they lead to. */
__global__ void relax(const int *row, const int *column, const uint32_t *weight,
                      const uint32_t *now, uint32_t *next, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = now[i] >> 16;
    for (int k = row[i]; k < row[i + 1]; k++)
        atomicMin(&next[column[k]], own + (weight[k] & 255));
}

/* Which tree is mine: up to the root. */
__global__ void find_roots(const uint32_t *parent, uint32_t *y, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t at = i, up = hash_of(at) % (at + 1);
    while (up != at)
        at = up, up = parent[at] % (at + 1);
    y[i] = at;
}

/* One warp per vertex: mean of its neighbours' features, 64 each. */
__global__ void gather_mean(const int *row, const int *column, const float2 *x, float2 *y, int n)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= n) return;
    int from = row[v], to = row[v + 1];
    float2 sum = make_float2(0, 0);
    for (int k = from; k < to; k++) {
        float2 one = x[column[k] * 32 + lane];
        sum.x += one.x, sum.y += one.y;
    }
    float scale = 1.0f / (float)max(to - from, 1);
    y[v * 32 + lane] = make_float2(sum.x * scale, sum.y * scale);
}

static void graphs()
{
    static uint32_t turn = 1;
    E("spmv-rows", "spmv-rows", spmv_rows<<<256, 256>>>(rows, columns, a, b, c, 65536));
    E("spmv-ell", "spmv-ell", spmv_ell<<<512, 128>>>(columns, a, b, c, 65536, 10));
    E("spmv-triples", "spmv-triples",
      spmv_triples<<<2048, 256>>>(keys, columns, a, b, d, 512 << 10));
    E("bfs-queue", "bfs-queue",
      bfs_queue<<<64, 256>>>(rows, columns, zeros, keys, (uint32_t *)c, zeros + MB + 64, 16384,
                             turn++));
    E("relax", "relax", relax<<<256, 256>>>(rows, columns, keys, keys + MB, (uint32_t *)c, 65536));
    E("roots", "find-roots", find_roots<<<1024, 256>>>(keys, (uint32_t *)c, 256 << 10));
    E("gather-mean", "gather-mean",
      gather_mean<<<2048, 256>>>(rows, columns, (const float2 *)a, (float2 *)c, 16384));
}
