/* lookups-and-loops.cu - load on an SM's own memory other than bytes: lanes that look up lines
 * at strides, atomics that retry, and loops that are dependency chains of few warps.
 *
 * Each family isolates one feature of a program whose prediction was far off, so that the
 * measurement shows which part was wrong. */
#include "common/simulator/validation/sets/entries.cuh"

enum { ROW_WORDS = 32, ATOMS = 512, BINS = 256, TREE = 512, TRIANGLE = 16 };

static float *source, *target;
static unsigned char *bytes;
static uint32_t *table;
__constant__ float4 atoms[ATOMS];

/* ---- lanes at strides ------------------------------------------------------------------------ */

/* A thread walks through its own row again and again, each time from the next word on.  The L1 has
 * it from the second time on. */
__global__ void own_row(const float *__restrict__ x, float *y, int stride, int times)
{
    GLOBAL_I;
    float sum = 0;
#pragma unroll 1
    for (int time = 0; time < times; time++)
        for (int k = 0; k < ROW_WORDS; k++)
            sum = sum * 0.5f + x[(size_t)i * stride + time + k];
    y[i] = sum;
}

/* The same, four words at a time. */
__global__ void own_pieces(const float4 *__restrict__ x, float *y, int stride, int times)
{
    GLOBAL_I;
    float sum = 0;
#pragma unroll 1
    for (int time = 0; time < times; time++)
        for (int k = 0; k < ROW_WORDS / 4; k++) {
            float4 v = x[(size_t)i * stride + time + k];
            sum = sum * 0.5f + v.x + v.y + v.z + v.w;
        }
    y[i] = sum;
}

/* A matrix by its own rows: a lane's row times the warp's, the sum in a register or in memory. */
template <bool STORES> __global__ void rank_kernel(const float *A, float *C, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = C[i * n + j];
    for (int k = 0; k < n; k++) {
        sum += 0.1f * A[i * n + k] * A[j * n + k];
        if (STORES) C[i * n + j] = sum;
    }
    C[i * n + j] = sum;
}

/* ---- one byte per lane, with arithmetic ------------------------------------------------------ */

enum Fate { SUMMED, ONE_MORE, OF_LANES, ADDED };

template <int FATE>
__global__ void each_byte(const unsigned char *__restrict__ x, uint32_t *y, int n)
{
    __shared__ uint32_t s[BINS];
    uint32_t sum = 0;
    s[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (GLOBAL_I; i < n; i += blockDim.x * gridDim.x) {
        uint32_t v = x[i];
        if (FATE == SUMMED) sum = sum * 3 + v;
        if (FATE == ONE_MORE) atomicAdd(&s[v], 1u);
        if (FATE == OF_LANES) atomicAdd(&s[threadIdx.x % 32 + (v & 1)], 1u);
        if (FATE == ADDED) atomicAdd(&s[v], v);
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x] + sum;
}

/* ---- atomics that try again ------------------------------------------------------------------ */

/* Floats that are added to one word of the block, or each warp to its own. */
template <bool APART> __global__ void add_floats(const float *x, float *y, int times)
{
    __shared__ float total[32];
    int warp = threadIdx.x / 32;
    if (threadIdx.x < 32) total[threadIdx.x] = 0;
    __syncthreads();
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 0; k < times; k++)
        atomicAdd(&total[APART ? warp : 0], v);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = total[0];
}

/* Places in a table that are taken one after the other: by the first who comes. */
__global__ void take_places(const uint32_t *x, uint32_t *places, uint32_t mask, bool once)
{
    GLOBAL_I;
    uint32_t key = (uint32_t)i * 2654435761u | 1, at = (key >> 8 ^ x[i] & 1) & mask;
    while (true) {
        uint32_t old = atomicCAS(&places[at], 0u, key);
        if (once || old == 0 || old == key) return;
        at = (at + 1) & mask;
    }
}

/* ---- loops that are chains ------------------------------------------------------------------- */

/* A sum over all atoms within a distance; lanes are `apart`, warps `between`. */
template <bool DIVIDES>
__global__ void within(float *y, float apart, float between, float cut, int count)
{
    float px = apart * (threadIdx.x % 32), py = between * (threadIdx.x / 32), sum = 0;
    for (int k = 0; k < count; k++) {
        float4 atom = atoms[k];
        float dx = px - atom.x, dy = py - atom.y, r2 = dx * dx + dy * dy + 0.01f;
        if (r2 < cut) {
            float s = 1.0f - (DIVIDES ? r2 / cut : r2);
            sum += atom.w * rsqrtf(r2) * s * s;
        }
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* The largest of a row and the sum of exponentials, and what is made of them: parts of a softmax
 * for which each warp has a row. */
enum Part { LARGEST = 1, SCALED = 2 };

template <int PARTS> __global__ void exponentials(const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float most = -1e30f, sum = 1;
    if (PARTS & LARGEST)
        for (int i = lane; i < n; i += 32) {
            float v = x[(size_t)row * n + i], next = fmaxf(most, v);
            sum = sum * __expf(most - next) + __expf(v - next), most = next;
        }
    if (PARTS & SCALED)
        for (int i = lane; i < n; i += 32)
            y[(size_t)row * n + i] = __expf(x[(size_t)row * n + i] - most) / sum;
    else
        y[row * 32 + lane] = sum + most;
}

/* Half of a tree of sums in shared memory, up or down, several times. */
template <bool DOWN> __global__ void half_tree(const float *x, float *y, int times)
{
    __shared__ float s[TREE];
    int t = threadIdx.x;
    s[2 * t] = x[blockIdx.x * TREE + 2 * t], s[2 * t + 1] = x[blockIdx.x * TREE + 2 * t + 1];
    for (int time = 0; time < times; time++) {
        int offset = DOWN ? TREE / 2 : 1;
        for (int k = DOWN ? 1 : TREE / 2; DOWN ? k < TREE : k > 0; k = DOWN ? k * 2 : k / 2) {
            __syncthreads();
            if (t < k) {
                int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
                float v = s[i];
                if (DOWN) s[i] = s[j];
                s[j] += v;
            }
            offset = DOWN ? offset / 2 : offset * 2;
        }
    }
    __syncthreads();
    y[blockIdx.x * TREE + 2 * t] = s[2 * t] + s[2 * t + 1];
}

/* The lower half of a small matrix, row by row: each lane stops at the iteration's number. */
template <bool DIVIDES> __global__ void triangle(const float *x, float *y)
{
    __shared__ float s[TRIANGLE][TRIANGLE];
    int t = threadIdx.x;
    for (int k = 0; k < TRIANGLE; k++)
        s[k][t] = x[(blockIdx.x * TRIANGLE + k) * TRIANGLE + t] + (k == t ? 20.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < TRIANGLE - 1; k++) {
        if (t > k) {
            for (int j = 0; j < k; j++)
                s[t][k] -= s[t][j] * s[j][k];
            if (DIVIDES) s[t][k] /= s[k][k];
        }
        __syncthreads();
    }
    for (int k = 0; k < TRIANGLE; k++)
        y[(blockIdx.x * TRIANGLE + k) * TRIANGLE + t] = s[k][t];
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define F(family, name, ...) ENTER(FIT, family, name, __VA_ARGS__)
#define H(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

static void strides()
{
    F("lane-stride", "stride-33", own_row<<<SMS, 256>>>(source, target, 33, 6));
    F("lane-stride", "stride-200", own_row<<<SMS, 256>>>(source, target, 200, 6));
    F("lane-stride", "stride-1000", own_row<<<SMS, 256>>>(source, target, 1000, 6));
    F("lane-stride", "stride-1024", own_row<<<SMS, 256>>>(source, target, 1024, 6));
    F("lane-stride", "stride-72", own_row<<<SMS, 512>>>(source, target, 72, 6));
    F("lane-stride", "stride-few-1000", own_row<<<SMS, 32>>>(source, target, 1000, 12));
    F("lane-stride", "stride-pieces-50",
      own_pieces<<<SMS, 256>>>((float4 *)source, target, 50, 12));
    H("lane-stride", "stride-40", own_row<<<SMS, 512>>>(source, target, 40, 6));
    H("lane-stride", "stride-232", own_row<<<SMS, 256>>>(source, target, 232, 6));
    H("lane-stride", "stride-300", own_row<<<SMS, 256>>>(source, target, 300, 6));
    H("lane-stride", "stride-1001", own_row<<<SMS, 256>>>(source, target, 1001, 6));
    H("lane-stride", "stride-520", own_row<<<SMS, 256>>>(source, target, 520, 6));
    H("lane-stride", "stride-few-200", own_row<<<SMS, 64>>>(source, target, 200, 12));
    H("lane-stride", "stride-pieces-33",
      own_pieces<<<SMS, 256>>>((float4 *)source, target, 33, 12));
    F("rank", "rank-200", rank_kernel<true><<<dim3(7, 25), dim3(32, 8)>>>(source, target, 200));
    F("rank", "rank-sum-200",
      rank_kernel<false><<<dim3(7, 25), dim3(32, 8)>>>(source, target, 200));
    F("rank", "rank-256", rank_kernel<true><<<dim3(8, 32), dim3(32, 8)>>>(source, target, 256));
    H("rank", "rank-168", rank_kernel<true><<<dim3(6, 21), dim3(32, 8)>>>(source, target, 168));
    H("rank", "rank-202", rank_kernel<true><<<dim3(7, 26), dim3(32, 8)>>>(source, target, 202));
    H("rank", "rank-sum-168",
      rank_kernel<false><<<dim3(6, 21), dim3(32, 8)>>>(source, target, 168));
}

static void each_of_bytes()
{
    F("byte-loads", "byte-kept", each_byte<SUMMED><<<528, 256>>>(bytes, table, 4 * MB));
    F("byte-loads", "byte-counted", each_byte<ONE_MORE><<<528, 256>>>(bytes, table, 4 * MB));
    F("byte-loads", "byte-added-few", each_byte<ADDED><<<132, 256>>>(bytes, table, MB));
    F("byte-loads", "byte-counted-lane", each_byte<OF_LANES><<<528, 256>>>(bytes, table, 4 * MB));
    H("byte-loads", "byte-counted-lane-8",
      each_byte<OF_LANES><<<1056, 256>>>(bytes, table, 8 * MB));
    H("byte-loads", "byte-added", each_byte<ADDED><<<528, 256>>>(bytes, table, 4 * MB));
    H("byte-loads", "byte-kept-few", each_byte<SUMMED><<<132, 256>>>(bytes, table, MB));
    H("byte-loads", "byte-counted-8", each_byte<ONE_MORE><<<1056, 256>>>(bytes, table, 8 * MB));
}

static void again()
{
    F("float-atomic-retry", "again-add-1", add_floats<false><<<SMS, 256>>>(source, target, 4));
    F("float-atomic-retry", "again-add-4", add_floats<false><<<SMS * 4, 256>>>(source, target, 4));
    F("float-atomic-retry", "again-add-8", add_floats<false><<<SMS * 8, 256>>>(source, target, 2));
    F("float-atomic-retry", "again-add-apart-8",
      add_floats<true><<<SMS * 8, 256>>>(source, target, 4));
    F("float-atomic-retry", "again-add-64-8",
      add_floats<false><<<SMS * 8, 64>>>(source, target, 8));
    H("float-atomic-retry", "again-add-2", add_floats<false><<<SMS * 2, 256>>>(source, target, 4));
    H("float-atomic-retry", "again-add-6", add_floats<false><<<SMS * 6, 256>>>(source, target, 2));
    H("float-atomic-retry", "again-add-apart-4",
      add_floats<true><<<SMS * 4, 256>>>(source, target, 4));
    H("float-atomic-retry", "again-add-128-16",
      add_floats<false><<<SMS * 16, 128>>>(source, target, 4));
    F("compare-and-swap", "take-once",
      take_places<<<1024, 256>>>(table, table + 8 * MB, MB - 1, true));
    F("compare-and-swap", "take",
      take_places<<<1024, 256>>>(table, table + 9 * MB, MB / 2 - 1, false));
    H("compare-and-swap", "take-full",
      take_places<<<768, 256>>>(table, table + 10 * MB, MB / 4 - 1, false));
    H("compare-and-swap", "take-once-2048",
      take_places<<<2048, 256>>>(table, table + 8 * MB, MB - 1, true));
}

static void chains()
{
    F("divergent-lanes", "within-all", within<true><<<SMS, 32>>>(target, 1e-3f, 0, 9.0f, ATOMS));
    F("divergent-lanes", "within-none", within<true><<<SMS, 32>>>(target, 1e-3f, 0, 1e-3f, ATOMS));
    F("divergent-lanes", "within-half", within<true><<<SMS, 32>>>(target, 0.1f, 0, 2.5f, ATOMS));
    F("divergent-lanes", "within-all-16",
      within<true><<<SMS, 512>>>(target, 1e-3f, 0, 9.0f, ATOMS));
    F("divergent-lanes", "within-plain", within<false><<<SMS, 32>>>(target, 1e-3f, 0, 9.0f, ATOMS));
    H("divergent-lanes", "within-half-16",
      within<true><<<SMS, 512>>>(target, 0.1f, 0, 2.5f, ATOMS));
    H("divergent-lanes", "within-some-16",
      within<true><<<SMS, 512>>>(target, 1e-3f, 0.2f, 2.5f, ATOMS));
    H("divergent-lanes", "within-none-16",
      within<true><<<SMS, 512>>>(target, 1e-3f, 0, 1e-3f, ATOMS));
    H("divergent-lanes", "within-plain-16",
      within<false><<<SMS, 512>>>(target, 1e-3f, 0, 9.0f, ATOMS));
    F("softmax-parts", "largest-1024", exponentials<LARGEST><<<512, 256>>>(source, target, 1024));
    F("softmax-parts", "scaled-1024", exponentials<SCALED><<<512, 256>>>(source, target, 1024));
    H("softmax-parts", "exponentials-768",
      exponentials<LARGEST | SCALED><<<512, 256>>>(source, target, 768));
    H("softmax-parts", "largest-2048", exponentials<LARGEST><<<264, 256>>>(source, target, 2048));
    F("tree-reduction", "half-tree-up", half_tree<false><<<SMS, 256>>>(source, target, 8));
    F("tree-reduction", "half-tree-down-8", half_tree<true><<<SMS * 8, 256>>>(source, target, 4));
    H("tree-reduction", "half-tree-down", half_tree<true><<<SMS, 256>>>(source, target, 8));
    H("tree-reduction", "half-tree-up-8", half_tree<false><<<SMS * 8, 256>>>(source, target, 4));
    F("triangle", "triangle", triangle<false><<<1, TRIANGLE>>>(source, target));
    H("triangle", "triangle-divides", triangle<true><<<1, TRIANGLE>>>(source, target));
    H("triangle", "triangle-1024", triangle<true><<<1024, TRIANGLE>>>(source, target));
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    std::vector<float4> places(ATOMS);
    for (int i = 0; i < ATOMS; i++)
        places[i] = make_float4(0.002f * (i % 16), 0.002f * (i / 16), 0, 1.0f);
    cudaMemcpyToSymbol(atoms, places.data(), ATOMS * sizeof(float4));
    source = array_make(40 * MB);
    target = array_make(8 * MB);
    bytes = (unsigned char *)(source + 32 * MB);
    cudaMalloc(&table, 44 * MB);
    cudaMemset(table, 0, 44 * MB);
    strides();
    each_of_bytes();
    again();
    chains();
    return measure_close();
}
