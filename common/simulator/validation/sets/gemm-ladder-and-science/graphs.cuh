/* graphs.cuh - graphs and sparse matrices (part of gemm-ladder-and-science.cu). */

/* Parts that hang together, the first round: each edge hangs the larger end under the smaller. */
__global__ void roots_joined(const int *row, const int *column, int *root, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    for (int k = row[i]; k < row[i + 1]; k++) {
        int other = column[k];
        if (i < other) atomicMin(&root[other], i);
        if (other < i) atomicMin(&root[i], other);
    }
}

/* Everyone goes up until its root is its own. */
__global__ void roots_followed(const uint32_t *up, int *root, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int at = i;
    while (at > 15)
        at = up[at] % at;
    root[i] = at;
}

/* Page rank along edges, one warp per vertex. */
__global__ void ranks_pushed(const int *row, const int *column, const float *rank, float *next,
                             int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    int from = row[i], to = row[i + 1];
    float share = 0.85f * rank[i] / (to - from);
    for (int k = from + lane; k < to; k += 32)
        atomicAdd(&next[column[k]], share);
}

/* Breadth first from below: who has not been seen looks for a neighbour in a map of bits. */
__global__ void from_below(const int *row, const int *column, const uint32_t *front, uint32_t *seen,
                           const int *level, int *next, int n)
{
    GLOBAL_I;
    if (i >= n || level[i] > 0) return;
    for (int k = row[i]; k < row[i + 1]; k++) {
        int u = column[k];
        if (front[u / 32] & front[u / 32 + 700] & 1u << u % 32) {
            seen[i / 32] = 1;
            next[i] = 2;
            return;
        }
    }
}

/* Few elements times 64 columns: one warp per row, two columns per lane. */
__global__ void sparse_times_dense(const int *row, const int *column, const float *v,
                                   const float2 *x, float2 *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float2 sum = make_float2(0, 0);
    for (int k = row[i]; k < row[i + 1]; k++) {
        float w = v[k];
        float2 e = x[column[k] * 32 + lane];
        sum.x += w * e.x, sum.y += w * e.y;
    }
    y[i * 32 + lane] = sum;
}

/* Sampled dot products of dense rows (SDDMM): eight lanes per edge. */
__global__ void pattern_products(const int *from, const int *to, const float4 *x, const float4 *z,
                                 float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (i >= n) return;
    float sum = 0;
    for (int k = lane; k < 16; k += 8) {
        float4 p = x[from[i] * 16 + k], q = z[to[i] * 16 + k];
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    for (int o = 4; o > 0; o /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, o, 8);
    if (lane == 0) y[i] = sum;
}

/* Blocks of 4 x 4, four of them side by side in a warp's half row. */
__global__ void spmv_blocks(const int *row, const int *column, const float *v, const float *x,
                            float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float sum = 0;
    for (int k = row[i] + lane / 16; k < row[i + 1]; k += 2)
        sum += v[k * 16 + lane % 16] * x[column[k] * 4 + lane % 4];
    sum += __shfl_xor_sync(0xffffffff, sum, 16);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    if (lane < 16 && lane % 4 == 0) y[i * 4 + lane / 4] = sum;
}

/* Attention on a graph: a softmax over each vertex' edges, one thread per vertex and head. */
__global__ void edges_softmax(const int *row, const int *column, const float *left,
                              const float *right, float *y, int n)
{
    GLOBAL_I;
    int vertex = i / 4, head = i % 4;
    if (vertex >= n) return;
    float own = left[i], most = -1e30f, sum = 0;
    for (int k = row[vertex]; k < row[vertex + 1]; k++) {
        float s = own + right[column[k] * 4 + head];
        s = s > 0 ? s : 0.2f * s;
        y[k * 4 + head] = s, most = fmaxf(most, s);
    }
    for (int k = row[vertex]; k < row[vertex + 1]; k++) {
        float p = expf(y[k * 4 + head] - most);
        y[k * 4 + head] = p, sum += p;
    }
    for (int k = row[vertex]; k < row[vertex + 1]; k++)
        y[k * 4 + head] /= sum;
}

/* Maximal independent set: a vertex that is first among its neighbours joins. */
__global__ void set_chosen(const int *row, const int *column, const uint32_t *chance, int *state,
                           int n)
{
    GLOBAL_I;
    if (i >= n) return;
    uint32_t own = chance[i];
    bool first = true;
    for (int k = row[i]; k < row[i + 1] && first; k++)
        first = chance[column[k]] >= own;
    state[i] = first;
}

/* Number of distinct columns in a row of a sparse matrix product: a table in shared memory for each
 * warp. */
__global__ void product_counted(const int *row, const int *column, int *y, int n)
{
    __shared__ int table[4][256];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 4 + warp, count = 0;
    for (int k = lane; k < 256; k += 32)
        table[warp][k] = -1;
    __syncwarp();
    if (i >= n) return;
    for (int k = row[i]; k < row[i + 1]; k++) {
        int other = column[k];
        for (int j = row[other] + lane; j < row[other + 1]; j += 32) {
            int key = column[j], at = key * 107 & 255;
            for (;;) {
                int old = atomicCAS(&table[warp][at], -1, key);
                if (old == -1) count++;
                if (old == -1 || old == key) break;
                at = (at + 1) & 255;
            }
        }
    }
    for (int o = 16; o > 0; o /= 2)
        count += __shfl_xor_sync(0xffffffff, count, o);
    if (lane == 0) y[i] = count;
}

static void graphs()
{
    E("graphs", "roots-joined", roots_joined<<<79, 256>>>(rows, columns, (int *)c, 20000));
    E("graphs", "roots-followed", roots_followed<<<800, 256>>>(keys, (int *)c, 200000));
    E("graphs", "ranks-pushed", ranks_pushed<<<2500, 256>>>(rows, columns, a, d + MB, 20000));
    E("graphs", "from-below",
      from_below<<<79, 256>>>(rows, columns, keys, (uint32_t *)c, (int *)a, (int *)c + MB, 20000));
    E("graphs", "edges-softmax", edges_softmax<<<313, 256>>>(rows, columns, a, b, c, 20000));
    E("graphs", "set-chosen", set_chosen<<<157, 128>>>(rows, columns, keys, (int *)c, 20000));
    E("sparse", "sparse-times-dense",
      sparse_times_dense<<<2500, 256>>>(rows, columns, a, (float2 *)b, (float2 *)c, 20000));
    E("sparse", "pattern-products",
      pattern_products<<<4000, 256>>>(columns, columns + 30000, (float4 *)a, (float4 *)b, c,
                                      128000));
    E("sparse", "spmv-blocks", spmv_blocks<<<2500, 256>>>(rows, columns, a, b, c, 20000));
    E("sparse", "spmv-jagged",
      spmv_jagged<<<96, 192>>>(jagged_begin, jagged_length, columns, a, jagged_order, b, c, 18432));
    E("sparse", "product-counted", product_counted<<<1000, 128>>>(rows, columns, (int *)c, 4000));
}
