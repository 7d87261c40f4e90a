// clusters.h - clusters: distributed shared memory, multicast copies, remote arrivals.
#ifndef CONVLAB_CONFORMANCE_HOPPER_CLUSTERS_H
#define CONVLAB_CONFORMANCE_HOPPER_CLUSTERS_H

#include "tiles.h"

#define CLUSTER_SYNC                                                                               \
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");                          \
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")

static __device__ uint32_t peer_address(const void *p, uint32_t rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_of(p)), "r"(rank));
    return there;
}

// Each block writes a word to the next block's memory, adds to the first one's, and stores its
// rank.
__global__ void __cluster_dims__(4, 2, 1) neighbours(uint32_t *y)
{
    __shared__ uint32_t word[32], sum;
    uint32_t rank, ranks, x, row, id;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(row));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    if (threadIdx.x == 0) sum = 0;
    CLUSTER_SYNC;
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
                     peer_address(&word[threadIdx.x], (rank + 1) % ranks)),
                 "r"(rank * 100 + threadIdx.x)
                 : "memory");
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(peer_address(&sum, 0)),
                 "r"(threadIdx.x)
                 : "memory");
    CLUSTER_SYNC;
    uint32_t block = blockIdx.y * gridDim.x + blockIdx.x, theirs;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(theirs)
                 : "r"(peer_address(&word[threadIdx.x], 3))
                 : "memory");
    uint32_t *to = y + (block * 32 + threadIdx.x) * 8;
    to[0] = word[threadIdx.x], to[1] = rank, to[2] = ranks, to[3] = x, to[4] = row, to[5] = id;
    to[6] = rank == 0 ? sum : 0, to[7] = theirs;
    CLUSTER_SYNC;
}

// One block loads a tile for all; each waits at its own barrier, and arrives at the first one's.
__global__ void __cluster_dims__(2, 1, 1)
    shared_tile(const __grid_constant__ CUtensorMap map, uint32_t *y)
{
    __shared__ __align__(1024) unsigned char memory[4096];
    __shared__ __align__(8) uint64_t full, done;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared_of(&done)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(shared_of(&full))
            : "memory");
    }
    CLUSTER_SYNC;
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
                     "multicast::cluster"
                     " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_of(memory) + rank * 2048),
                     "l"(&map), "r"(shared_of(&full)), "r"(0),
                     "r"((int)(rank * 16 + blockIdx.x / 2 * 32)), "h"((unsigned short)3)
                     : "memory");
    }
    phase_wait(&full, 0);
    for (uint32_t i = threadIdx.x; i < 1024; i += blockDim.x)
        y[blockIdx.x * 1024 + i] = ((uint32_t *)memory)[i];
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         peer_address(&done, 0))
                     : "memory");
    if (rank == 0) phase_wait(&done, 0);
    CLUSTER_SYNC;
}

static void clusters()
{
    neighbours<<<dim3(8, 4, 1), 32>>>(y);
    tell("neighbours", y, 32 * 32 * 8);
    Tile t = {"shared-tile", F32, {32, 200}, {32, 16}, SW128};
    uint32_t bytes;
    CUtensorMap map = tile_map(t, tensor, &bytes);
    shared_tile<<<8, 64>>>(map, y);
    tell(t.name, y, 8 * 1024);
}

#endif
