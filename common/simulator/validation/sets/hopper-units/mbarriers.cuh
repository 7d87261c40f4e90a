/* mbarriers.cuh - mbarriers, copies and clusters as device functions; producers and consumers
 * at mbarriers (part of hopper-units.cu). */

/* ---- mbarriers, copies, clusters ------------------------------------------------------------- */

__device__ static uint32_t place(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__device__ static void barrier_init(uint64_t *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count));
}

__device__ static void barriers_show()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ static void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
}

__device__ static void barrier_arrive_at(uint64_t *barrier, int rank)
{
    asm volatile("{.reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(place(barrier)),
                 "r"(rank)
                 : "memory");
}

__device__ static void barrier_expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void barrier_wait(uint64_t *barrier, int parity)
{
    int over;
    do
        asm volatile("{.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;}"
                     : "=r"(over)
                     : "r"(place(barrier)), "r"(parity)
                     : "memory");
    while (!over);
}

__device__ static void bulk_load(void *to, const void *from, int bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(barrier))
                 : "memory");
}

__device__ static void bulk_store(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(place(from)), "r"(bytes)
                 : "memory");
}

__device__ static void bulk_add(float *to, const void *from, int bytes)
{
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
        "r"(place(from)), "r"(bytes)
        : "memory");
}

/* Ends a group of stores; waits until at most `LEFT` groups have yet to read shared memory. */
template <int LEFT> __device__ static void stores_wait()
{
    asm volatile("cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read %0;" ::"n"(LEFT)
                 : "memory");
}

__device__ static void async_sees_writes()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ static int cluster_rank()
{
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ static void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

__device__ static uint32_t place_at(const void *shared, int rank)
{
    uint32_t remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(place(shared)), "r"(rank));
    return remote;
}

/* Dynamic shared memory from a multiple of 1024 on, where the order of a swizzled row repeats. */
extern __shared__ unsigned char dynamic[];
__device__ static unsigned char *aligned_shared()
{
    return dynamic + (1024 - place(dynamic) % 1024) % 1024;
}

/* Values computed in registers, neither zeros nor NaNs of any type. */
__device__ static void shared_fill(unsigned char *shared, int bytes)
{
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        ((uint32_t *)shared)[i] = (i * 2654435761u & 0x3f3f3f3f) | 0x20202020;
    async_sees_writes();
    __syncthreads();
}

/* A kernel that may have more dynamic shared memory than 48 KB. */
template <class Kernel> static Kernel *roomy(Kernel *kernel)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
    return kernel;
}

/* ---- producers and consumers at mbarriers ---------------------------------------------------- */

/* Warp 0 stores one word per lane, the others read it; STAGES words are in flight. */
template <int STAGES> __global__ void ping_pong_kernel(const float *x, float *y, int rounds)
{
    __shared__ float word[STAGES][WARP];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, readers = blockDim.x / WARP - 1;
    float sum = x[blockIdx.x * WARP + lane];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            barrier_init(&full[s], WARP), barrier_init(&empty[s], readers);
    __syncthreads();
    for (int i = 0, stage = 0, parity = 0; i < rounds; i++) {
        if (warp == 0) {
            barrier_wait(&empty[stage], parity ^ 1);
            word[stage][lane] = sum + i;
            barrier_arrive(&full[stage]);
        } else {
            barrier_wait(&full[stage], parity);
            sum += word[stage][lane];
            __syncwarp();
            if (lane == 0) barrier_arrive(&empty[stage]);
        }
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void ping_pong()
{
    ENTER(FIT, "ping-pong", "ping-pong-1", ping_pong_kernel<1><<<SMS, 64>>>(source, target, 128));
    ENTER(FIT, "ping-pong", "ping-pong-4", ping_pong_kernel<4><<<SMS, 64>>>(source, target, 128));
    ENTER(REGRESSION, "ping-pong", "ping-pong-2-crowd",
          ping_pong_kernel<2><<<SMS, 288>>>(source, target, 128));
    ENTER(REGRESSION, "ping-pong", "ping-pong-3-blocks",
          ping_pong_kernel<3><<<SMS * 4, 64>>>(source, target, 128));
}
