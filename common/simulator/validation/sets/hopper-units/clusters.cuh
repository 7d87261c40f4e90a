/* clusters.cuh - clusters: distributed shared memory and barriers (part of hopper-units.cu). */

enum Act { READS, CHASES, ADDS, WRITES };

/* Each thread does something to its neighbours' shared memory: reads, reads where the word before
 * says, adds to, writes. */
template <int BLOCKS, int ACT>
__global__ void __cluster_dims__(BLOCKS, 1, 1) neighbours_kernel(float *y, int rounds)
{
    __shared__ uint32_t word[1024];
    const int rank = cluster_rank();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        word[i] = (i * 5 + 1) % 1024;
    cluster_sync();
    uint32_t sum = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        uint32_t at = ACT == CHASES ? sum : (i * blockDim.x + threadIdx.x) % 1024, value;
        if (ACT == WRITES) at = rank * blockDim.x + threadIdx.x; /* nobody else writes there */
        uint32_t there = place_at(word, (rank + 1 + i % (BLOCKS - 1)) % BLOCKS) + at * 4;
        if (ACT == READS || ACT == CHASES) {
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
            sum = ACT == READS ? sum + value : value;
        }
        if (ACT == ADDS)
            asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(there),
                         "r"(sum)
                         : "memory");
        if (ACT == WRITES)
            asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(sum + i) : "memory");
    }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum + word[threadIdx.x];
}

/* A histogram whose bins lie in all blocks of the cluster. */
template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1)
    histogram_kernel(const float *x, float *y, int rounds)
{
    __shared__ uint32_t bin[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        bin[i] = 0;
    cluster_sync();
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = 0; i < rounds; i++) {
        uint32_t which = __float_as_uint(x[first + i * step]) * 2654435761u >> 12;
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(
                         place_at(bin, which / 1024 % BLOCKS) + which % 1024 * 4)
                     : "memory");
    }
    cluster_sync();
    y[first] = bin[threadIdx.x];
}

/* Each thread adds up what lies at its own place in all blocks, four words at a time. */
template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) reduction_kernel(float *y, int rounds)
{
    __shared__ float4 part[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        part[i] = make_float4(i, 1, 2, 3);
    cluster_sync();
    float sum = 0;
    for (int i = 0; i < rounds; i++)
        for (int rank = 0; rank < BLOCKS; rank++) {
            uint32_t at = place_at(part, rank) + (i * blockDim.x + threadIdx.x) % 1024 * 16;
            float4 v;
            asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "r"(at)
                         : "memory");
            sum += v.x + v.y + v.z + v.w;
        }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Blocks in a ring hand words on: from one to the next, while the others wait (AROUND), or each to
 * both neighbours at once, as the edges of tiles.  Each waits at mbarriers of its own, two in
 * iterations: a neighbour may be a round ahead. */
template <int BLOCKS, bool AROUND>
__global__ void __cluster_dims__(BLOCKS, 1, 1) ring_kernel(float *y, int rounds)
{
    __shared__ float word[2][2][64];
    __shared__ uint64_t full[2];
    const int rank = cluster_rank(), warps = blockDim.x / WARP, lane = threadIdx.x % WARP,
              next = (rank + 1) % BLOCKS, before = (rank + BLOCKS - 1) % BLOCKS;
    if (threadIdx.x < 2) barrier_init(&full[threadIdx.x], AROUND ? warps : 2 * warps);
    barriers_show();
    cluster_sync();
    float sum = threadIdx.x;
    auto hand = [&](int to, int side, int i) {
        asm volatile(
            "st.shared::cluster.f32 [%0], %1;" ::"r"(place_at(&word[i % 2][side][threadIdx.x], to)),
            "f"(sum)
            : "memory");
        __syncwarp();
        if (lane == 0) barrier_arrive_at(&full[i % 2], to);
    };
    for (int i = 0; i < rounds; i++) {
        if (AROUND) {
            const int waits = rank ? i : i - 1;
            if (waits >= 0)
                barrier_wait(&full[waits % 2], waits / 2 % 2),
                    sum += word[waits % 2][0][threadIdx.x];
            hand(next, 0, i);
        } else {
            hand(next, 0, i), hand(before, 1, i);
            barrier_wait(&full[i % 2], i / 2 % 2);
            sum = 0.5f * (word[i % 2][0][threadIdx.x] + word[i % 2][1][threadIdx.x]);
        }
    }
    cluster_sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) meetings_kernel(float *y, int rounds)
{
    float sum = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        sum = sum * 0.5f + i;
        cluster_sync();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void clusters()
{
#define C(BLOCKS, ACT, rounds) neighbours_kernel<BLOCKS, ACT><<<128, 256>>>(target, rounds)
    ENTER(FIT, "distributed-shared", "neighbours-read-2", C(2, READS, 256));
    ENTER(FIT, "distributed-shared", "neighbours-chase-2", C(2, CHASES, 64));
    ENTER(FIT, "distributed-shared", "neighbours-add-2", C(2, ADDS, 128));
    ENTER(FIT, "distributed-shared", "neighbours-write-2", C(2, WRITES, 256));
    ENTER(REGRESSION, "distributed-shared", "neighbours-write-4", C(4, WRITES, 256));
    ENTER(REGRESSION, "distributed-shared", "neighbours-read-8", C(8, READS, 256));
    ENTER(REGRESSION, "distributed-shared", "neighbours-chase-4", C(4, CHASES, 64));
    ENTER(REGRESSION, "distributed-shared", "neighbours-add-4", C(4, ADDS, 128));
    ENTER(FIT, "distributed-shared", "neighbours-read-4", C(4, READS, 192));
    ENTER(FIT, "distributed-shared", "neighbours-chase-8", C(8, CHASES, 48));
    ENTER(FIT, "distributed-shared", "neighbours-add-8", C(8, ADDS, 96));
    ENTER(FIT, "distributed-shared", "neighbours-write-8",
          neighbours_kernel<8, WRITES><<<128, 128>>>(target, 256));
    ENTER(REGRESSION, "cluster-reduction", "histogram-2",
          histogram_kernel<2><<<128, 256>>>(source, target, 64));
    ENTER(REGRESSION, "cluster-reduction", "histogram-8",
          histogram_kernel<8><<<128, 256>>>(source, target, 64));
    ENTER(REGRESSION, "cluster-reduction", "reduction-4",
          reduction_kernel<4><<<128, 256>>>(target, 32));
    ENTER(FIT, "ring", "ring-exchange-2", ring_kernel<2, false><<<128, 64>>>(target, 64));
    ENTER(FIT, "ring", "ring-token-4", ring_kernel<4, true><<<128, 64>>>(target, 16));
    ENTER(REGRESSION, "ring", "ring-exchange-8", ring_kernel<8, false><<<128, 64>>>(target, 64));
    ENTER(REGRESSION, "ring", "ring-token-2", ring_kernel<2, true><<<128, 64>>>(target, 32));
    ENTER(FIT, "cluster-barrier", "cluster-barrier-2",
          meetings_kernel<2><<<128, 256>>>(target, 64));
    ENTER(REGRESSION, "cluster-barrier", "cluster-barrier-8",
          meetings_kernel<8><<<128, 128>>>(target, 64));
#undef C
}
