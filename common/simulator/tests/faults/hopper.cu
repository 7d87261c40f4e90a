/* hopper.cu - faults of what Hopper's units do, one a kernel, and kernels that have none.
 *
 * Like faults.cu, except that the machine has compute capability 9.0, on one block of 128 threads.
 * There are two more parameters: `map`, x as a matrix of 16 rows of 16 floats, boxes of 4 rows; and
 * `huge`, x as one such matrix, boxes of 256 rows of 256 matrices. Kernels whose name starts with
 * early_ overlap a previous launch that writes x. */

#include <cstdint>

#include <cuda.h>

#define KERNEL(name, ...)                                                                          \
    extern "C" __global__ void __VA_ARGS__ name(float *x, float *empty, float *gone, int n,        \
                                                const __grid_constant__ CUtensorMap map,           \
                                                const __grid_constant__ CUtensorMap huge)
#define PAIR __cluster_dims__(2, 1, 1)

static __device__ __forceinline__ uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Macros, so that a finding names the line of the kernel. */
#define MBARRIER(instruction, barrier)                                                             \
    asm volatile("mbarrier." instruction ";" ::"r"(at(barrier)) : "memory")
#define INIT(barrier, n)   MBARRIER("init.shared::cta.b64 [%0], " #n, barrier)
#define EXPECT(barrier, n) MBARRIER("arrive.expect_tx.shared::cta.b64 _, [%0], " #n, barrier)
#define ARRIVE(barrier)    MBARRIER("arrive.shared::cta.b64 _, [%0]", barrier)
#define WAIT(barrier, parity)                                                                      \
    asm volatile("{\n.reg .pred p;\nagain:\n"                                                      \
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"( \
                     at(barrier)),                                                                 \
                 "r"(parity)                                                                       \
                 : "memory")
#define FETCH(to, from, bytes, barrier)                                                            \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "              \
                 "[%0], [%1], %2, [%3];" ::"r"(at(to)),                                            \
                 "l"(from), "r"(bytes), "r"(at(barrier))                                           \
                 : "memory")
#define FETCH_FOR(to, from, bytes, barrier, blocks)                                                \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"               \
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(at(to)),                    \
                 "l"(from), "r"(bytes), "r"(at(barrier)), "h"((short)(blocks))                     \
                 : "memory")
#define FETCH_TILE(to, map, barrier, column, row)                                                  \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "    \
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(at(to)),                                      \
                 "l"(map), "r"(at(barrier)), "r"(column), "r"(row)                                 \
                 : "memory")
#define FETCH_CUBE(to, map, barrier, column, row, depth)                                           \
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "    \
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(at(to)),                                  \
                 "l"(map), "r"(at(barrier)), "r"(column), "r"(row), "r"(depth)                     \
                 : "memory")
#define STORE(to, from, bytes)                                                                     \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),          \
                 "r"(at(from)), "r"(bytes)                                                         \
                 : "memory")
#define STORE_TILE(map, from, column, row)                                                         \
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "                          \
                 "[%0, {%2, %3}], [%1];" ::"l"(map),                                               \
                 "r"(at(from)), "r"(column), "r"(row)                                              \
                 : "memory")
#define LEAST_OF_TILE(map, from, column, row)                                                      \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group "          \
                 "[%0, {%2, %3}], [%1];" ::"l"(map),                                               \
                 "r"(at(from)), "r"(column), "r"(row)                                              \
                 : "memory")
#define STORE_COMMIT       asm volatile("cp.async.bulk.commit_group;")
#define SOURCES_WAIT(left) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory")
#define ADD_TO(to, from, bytes)                                                                    \
    asm volatile(                                                                                  \
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),    \
        "r"(at(from)), "r"(bytes)                                                                  \
        : "memory")
#define SEND(to, value, barrier)                                                                   \
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 "                 \
                 "[%0], %1, [%2];" ::"r"(to),                                                      \
                 "f"(value), "r"(barrier)                                                          \
                 : "memory")
#define STORES_WAIT                                                                                \
    asm volatile("cp.async.bulk.commit_group;");                                                   \
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define PROXY_FENCE  asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define WGMMA_FENCE  asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT   asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define CLUSTER_SYNC                                                                               \
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")
#define CLUSTER_ARRIVE asm volatile("barrier.cluster.arrive.aligned;" ::: "memory")
#define CLUSTER_WAIT   asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define COPY(to, from)                                                                             \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;" ::"r"(to),         \
                 "l"(from)                                                                         \
                 : "memory")
#define PEER(there, p, rank)                                                                       \
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank))

#define TAKE(value, there)                                                                         \
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory")
#define PUT(there, value)                                                                          \
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(value) : "memory")

#define ARRIVE_THERE(there)                                                                        \
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)       \
                 : "memory")

static __device__ __forceinline__ uint64_t matrix(const void *memory, uint32_t stride)
{
    return (uint64_t)(at(memory) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

/* d += a b, or if `adds` is 0 d = a b; b is 2048 bytes after a, whose rows are blocks of eight,
 * `stride` bytes apart. */
#define MULTIPLY_ONTO(d, factors, stride, adds)                                                    \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0;"                                            \
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "                              \
                 "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;}"                                       \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "l"(matrix(factors, stride)), "l"(matrix(factors + 512, 256)), "r"(adds))
#define MULTIPLY(d, factors, stride) MULTIPLY_ONTO(d, factors, stride, 1)

/* Both of MULTIPLY's factors, by 128 threads, to be read by it. */
static __device__ __forceinline__ void factors_fill(float *factors, const float *x)
{
    for (int i = threadIdx.x; i < 640; i += 128)
        factors[i] = x[i % 256];
    PROXY_FENCE;
    __syncthreads();
}

/* ---- phases ------------------------------------------------------------------------------- */

KERNEL(bytes_that_never_come) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 256);
        FETCH(tile, x, 128, &barrier);
    }
    __syncthreads();
    WAIT(&barrier, 0); // FAULT synccheck: 128 of the bytes that it expects have not come
    empty[threadIdx.x] = tile[threadIdx.x % 32];
}

KERNEL(too_many_bytes) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 64);
        FETCH(tile, x, 128, &barrier);
    }
    __syncthreads();
    WAIT(&barrier, 0); // FAULT synccheck: 64 bytes more have come than it expects
    empty[threadIdx.x] = tile[threadIdx.x % 32];
}

KERNEL(thread_that_never_arrives) // <<<1, 128>>>
{
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 128);
    __syncthreads();
    if (threadIdx.x != 5) ARRIVE(&barrier);
    WAIT(&barrier, 0); // FAULT synccheck: still waits for 1 of 128 arrivals
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(one_arrival_too_many) // <<<1, 128>>>
{
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 64);
        ARRIVE(&barrier); // FAULT synccheck: whose phase waits for 0 of 1
    }
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(no_barrier_there) // <<<1, 128>>>
{
    __shared__ uint64_t barrier[2];
    if (threadIdx.x == 0) INIT(&barrier[0], 128);
    __syncthreads();
    ARRIVE(&barrier[1]); // FAULT synccheck: there is no mbarrier
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(barrier_for_nobody) // <<<1, 128>>>
{
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 0); // FAULT synccheck: an mbarrier for 0 threads
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(more_bytes_than_a_phase_counts) // <<<1, 128>>>
{
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 1048576); // FAULT synccheck: would count 1048576 bytes
    }
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(barrier_at_half_its_place) // <<<1, 128>>>
{
    __shared__ uint64_t barrier[2];
    if (threadIdx.x == 0) INIT((char *)barrier + 4, 1); // FAULT memcheck: Misaligned mbarrier
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(clean_most_bytes_of_a_phase) // <<<1, 128>>>
{
    __shared__ uint64_t barrier[2];
    if (threadIdx.x == 0) {
        INIT((char *)barrier + 8, 1);
        EXPECT((char *)barrier + 8, 1048575);
    }
    empty[threadIdx.x] = x[threadIdx.x];
}

/* ---- copies ------------------------------------------------------------------------------- */

KERNEL(reads_before_the_bytes_are_there) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    tile[threadIdx.x] = 0;
    if (threadIdx.x == 0) INIT(&barrier, 1);
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&barrier, 512);
        FETCH(tile, x, 512, &barrier); // AND
    }
    __syncthreads();
    empty[threadIdx.x] = tile[127 - threadIdx.x]; // FAULT racecheck: no thread has waited
    WAIT(&barrier, 0);
}

KERNEL(stores_what_is_not_fenced) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x]; // AND
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(empty, tile, 512); // FAULT racecheck: fence.proxy.async is missing
        STORES_WAIT;
    }
}

KERNEL(source_written_while_it_is_read) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(empty, tile, 512); // AND
        STORE_COMMIT;
    }
    __syncthreads();
    tile[threadIdx.x] = 0; // FAULT racecheck: that thread has not waited for the copy's group
}

KERNEL(one_group_too_few) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[2][128];
    tile[0][threadIdx.x] = tile[1][threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(empty, tile[0], 512);
        STORE_COMMIT;
        STORE(empty + 128, tile[1], 512); // AND
        STORE_COMMIT;
        SOURCES_WAIT(1);
    }
    __syncthreads();
    tile[0][threadIdx.x] = 0;
    tile[1][threadIdx.x] = 0; // FAULT racecheck: may still have to read its source
}

KERNEL(block_that_ends_before_its_bytes_come) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[2][64];
    __shared__ uint64_t barrier[2];
    if (threadIdx.x < 2) INIT(&barrier[threadIdx.x], 1);
    __syncthreads();
    for (int i = 0; threadIdx.x == 0 && i < 2; i++) { /* the second is one ahead of the last */
        EXPECT(&barrier[i], 256);
        FETCH(tile[i], x, 256, &barrier[i]); // FAULT racecheck: The block ends while a bulk copy
    }
    WAIT(&barrier[0], 0);
    empty[threadIdx.x] = tile[0][threadIdx.x % 64];
}

KERNEL(block_that_ends_before_its_source_is_read) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(empty, tile, 512); // FAULT racecheck: may still have to read its shared memory
        STORE_COMMIT;
    }
}

KERNEL(sum_past_the_end) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        ADD_TO(x + 200, tile, 512); // FAULT memcheck: Invalid __global__ write of 512 bytes
        STORES_WAIT;
    }
}

KERNEL(source_past_the_end) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[256];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 1024);
        FETCH(tile, x + 4, 1024, &barrier); // FAULT memcheck: Invalid __global__ read of 1024 bytes
        WAIT(&barrier, 0);
    }
    empty[threadIdx.x] = 0;
}

KERNEL(target_past_the_end) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 1024);
        FETCH(tile, x, 1024, &barrier); // FAULT memcheck: Invalid __shared__ write of 1024
        WAIT(&barrier, 0);
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(odd_size) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH(tile, x, 24, &barrier); // FAULT memcheck: A bulk copy of 24 bytes
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(odd_address) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH(tile, x + 1, 64, &barrier); // FAULT memcheck: Misaligned bulk copy
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(copy_from_an_odd_address) // <<<1, 128>>>
{
    __shared__ __align__(16) float tile[128];
    float *from = x + 1;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(tile)),
                 "l"(from)); // FAULT memcheck: its source is no multiple of 16
    asm volatile("cp.async.wait_all;");
    empty[threadIdx.x] = tile[0];
}

KERNEL(copy_to_an_odd_address) // <<<1, 128>>>
{
    __shared__ __align__(16) float tile[128];
    float *to = tile + 2;
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)),
        "l"(x)); // FAULT memcheck: its target's offset in shared memory is no multiple of 16
    asm volatile("cp.async.wait_all;");
    empty[threadIdx.x] = tile[2];
}

KERNEL(tile_at_an_odd_address) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH_TILE(tile + 4, &map, &barrier, 0, 0); // FAULT memcheck: is no multiple of 128
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(tile_at_an_odd_column) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH_TILE(tile, &map, &barrier, 3, 0); // FAULT memcheck: its first coordinate is 3
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(tile_stored_above_the_first_row) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE_TILE(&map, tile, 0, -1); // FAULT memcheck: Invalid bulk copy: a box is stored at
        STORES_WAIT;
    }
}

KERNEL(more_bytes_than_a_barrier_counts) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH_CUBE(tile, &huge, &barrier, 0, 0, 0); // FAULT memcheck: A box of 4194304 bytes
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(least_of_floats) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        LEAST_OF_TILE(&map, tile, 0, 0); // FAULT memcheck: Invalid bulk copy: it cannot reduce
        STORES_WAIT;
    }
}

KERNEL(no_map_there) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH_TILE(tile, x, &barrier, 0, 0); // FAULT memcheck: Invalid tensor map
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(map_in_local_memory) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    CUtensorMap copy;
    for (int i = 0; i < 16; i++)
        ((volatile uint64_t *)&copy)[i] = ((const uint64_t *)&map)[i];
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FETCH_TILE(tile, &copy, &barrier, 0, 0); // FAULT memcheck: The tensor map lies in
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

KERNEL(map_at_half_its_place) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        const char *half = (const char *)&map + 32;
        INIT(&barrier, 1);
        FETCH_TILE(tile, half, &barrier, 0, 0); // FAULT memcheck: Misaligned tensor map
    }
    empty[threadIdx.x] = tile[threadIdx.x];
}

/* ---- MMAs --------------------------------------------------------------------------------- */

KERNEL(factors_that_are_not_fenced) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < 640; i += 128)
        factors[i] = x[i % 256]; // AND
    __syncthreads();
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256); // FAULT racecheck: fence.proxy.async
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(descriptor_out_of_range) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 1024); // FAULT memcheck: wgmma reads shared memory
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(sums_before_they_are_there) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256);
    WGMMA_COMMIT;
    empty[threadIdx.x] = d[0] + d[1]; // FAULT synccheck: wgmma.wait_group is missing
    WGMMA_WAIT;
}

KERNEL(sums_never_assigned) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4];
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256); // FAULT initcheck: Uninitialized register read
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(clean_sums_begin_with_a_product) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4];
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY_ONTO(d, factors, 256, 0);
    MULTIPLY_ONTO(d, factors, 256, 1);
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(sums_that_are_not_fenced) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4];
    factors_fill(factors, x);
    WGMMA_FENCE;
    for (int i = 0; i < 4; i++)
        d[i] = x[threadIdx.x] * (float)i;
    MULTIPLY(d, factors, 256); // FAULT synccheck: wgmma.fence is missing
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(product_without_a_fence) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    MULTIPLY(d, factors, 256); // FAULT synccheck: wgmma.fence is missing
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(factors_written_while_they_are_read) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256); // AND
    WGMMA_COMMIT;
    __syncthreads();
    factors[threadIdx.x] = 0; // FAULT racecheck: that warp has not waited for the MMA's group
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(factors_copied_while_they_are_read) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256); // AND
    WGMMA_COMMIT;
    __syncthreads();
    COPY(at(factors + threadIdx.x), x); // FAULT racecheck: which may still read its operands
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(stage_fetched_while_it_is_read) // <<<1, 128>>>
{
    __shared__ __align__(1024) float stage[2][640];
    __shared__ uint64_t barrier;
    float d[4] = {0, 0, 0, 0};
    if (threadIdx.x == 0) INIT(&barrier, 1);
    factors_fill(stage[0], x);
    factors_fill(stage[1], x);
    WGMMA_FENCE;
    MULTIPLY(d, stage[0], 256);
    WGMMA_COMMIT;
    MULTIPLY(d, stage[1], 256); // AND
    WGMMA_COMMIT;
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&barrier, 1024);
        FETCH(stage[0], x, 512, &barrier);
        FETCH(stage[1], x, 512, &barrier); // FAULT racecheck: which may still read its operands
    }
    WAIT(&barrier, 0);
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(clean_stage_fetched_behind_its_products) // <<<1, 128>>>
{
    __shared__ __align__(1024) float stage[2][640];
    __shared__ uint64_t barrier;
    float d[4] = {0, 0, 0, 0};
    if (threadIdx.x == 0) INIT(&barrier, 1);
    factors_fill(stage[0], x);
    factors_fill(stage[1], x);
    WGMMA_FENCE;
    MULTIPLY(d, stage[0], 256);
    WGMMA_COMMIT;
    MULTIPLY(d, stage[1], 256);
    WGMMA_COMMIT;
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(&barrier, 512);
        FETCH(stage[0], x, 512, &barrier);
    }
    WAIT(&barrier, 0);
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
    __syncthreads();
    stage[1][threadIdx.x] = 0;
}

KERNEL(half_a_warpgroup) // <<<1, 64>>>
{
    WGMMA_FENCE; // FAULT synccheck: A warpgroup is four warps
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(warp_that_takes_no_part) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    if (threadIdx.x / 32 != 2) {
        WGMMA_FENCE;
        MULTIPLY(d, factors, 256); // FAULT synccheck: all four warps must
        WGMMA_COMMIT;
        WGMMA_WAIT;
    }
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

/* ---- clusters ----------------------------------------------------------------------------- */

KERNEL(no_such_neighbour, PAIR) // <<<2, 32>>>
{
    __shared__ float value;
    uint32_t there;
    if (threadIdx.x == 0) value = x[0];
    PEER(there, &value, 2); // FAULT memcheck: mapa: block 2
    empty[threadIdx.x] = (float)there;
}

KERNEL(neighbour_that_has_ended, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    float seen;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], blockIdx.x ^ 1);
    TAKE(seen, there); // FAULT memcheck: that block has ended
    empty[threadIdx.x] = seen;
}

/* Block 0 runs first, so its accesses come in time here. */
KERNEL(neighbour_that_may_have_ended, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    float seen = 0;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    if (blockIdx.x == 0) TAKE(seen, there); // FAULT racecheck: Read access at
    empty[blockIdx.x * 32 + threadIdx.x] = seen;
}

KERNEL(clean_neighbour_that_waits_for_all, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    float seen = 0;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    if (blockIdx.x == 0) TAKE(seen, there);
    CLUSTER_SYNC;
    empty[blockIdx.x * 32 + threadIdx.x] = seen;
}

KERNEL(store_to_a_neighbour_that_ends, PAIR) // <<<2, 64>>>
{
    __shared__ float value[64];
    uint32_t there;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    if (blockIdx.x == 0 && threadIdx.x >= 32)
        PUT(there, 1.0f); // FAULT racecheck: the end of that block
}

KERNEL(read_after_the_arrival, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    float seen = 0;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    CLUSTER_ARRIVE;
    if (blockIdx.x == 0) TAKE(seen, there); // FAULT racecheck: All blocks must synchronise
    CLUSTER_WAIT;
    empty[blockIdx.x * 32 + threadIdx.x] = seen;
}

KERNEL(clean_read_before_the_arrival, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    float seen = 0;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    if (blockIdx.x == 0) TAKE(seen, there);
    CLUSTER_ARRIVE;
    empty[blockIdx.x * 32 + threadIdx.x] = seen;
    CLUSTER_WAIT;
}

KERNEL(arrival_that_nobody_waits_for, PAIR) // <<<2, 32>>>
{
    __shared__ uint64_t barrier;
    uint32_t there;
    if (threadIdx.x == 0) INIT(&barrier, 1);
    CLUSTER_SYNC;
    PEER(there, &barrier, 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ARRIVE_THERE(there); // FAULT racecheck: an arrival at an mbarrier
    empty[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
}

KERNEL(clean_arrival_after_a_read, PAIR) // <<<2, 64>>>
{
    __shared__ float value[64];
    __shared__ uint64_t barrier;
    uint32_t there, counted;
    float seen = 0;
    value[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0) INIT(&barrier, 1);
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], 1);
    PEER(counted, &barrier, 1);
    if (blockIdx.x == 0) {
        TAKE(seen, there);
        __syncthreads();
        if (threadIdx.x == 0) ARRIVE_THERE(counted);
    } else {
        WAIT(&barrier, 0);
    }
    empty[blockIdx.x * 64 + threadIdx.x] = seen;
}

KERNEL(past_the_neighbours_end, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], blockIdx.x ^ 1);
    PUT(there + 4, 0.0f); // FAULT memcheck: outside the other block's 128
    CLUSTER_SYNC;
    empty[threadIdx.x] = value[threadIdx.x];
}

KERNEL(value_counted_elsewhere, PAIR) // <<<2, 32>>>
{
    __shared__ float value;
    __shared__ uint64_t barrier;
    uint32_t there;
    if (threadIdx.x == 0) INIT(&barrier, 1);
    CLUSTER_SYNC;
    PEER(there, &value, blockIdx.x ^ 1);
    if (threadIdx.x == 0)
        SEND(there, x[0], at(&barrier)); // FAULT synccheck: its mbarrier lies in another
    CLUSTER_SYNC;
    empty[threadIdx.x] = value;
}

KERNEL(value_sent_without_clusters) // <<<1, 32>>>
{
    __shared__ float value;
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 4);
        SEND(at(&value), x[0], at(&barrier)); // FAULT memcheck: Invalid instruction
    }
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(clean_value_sent_to_oneself, __cluster_dims__(1, 1, 1)) // <<<1, 32>>>
{
    __shared__ float value;
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 4);
        SEND(at(&value), x[0], at(&barrier));
        WAIT(&barrier, 0);
        empty[0] = value;
    }
}

KERNEL(barrier_that_half_a_block_reaches, PAIR) // <<<2, 64>>>
{
    if (threadIdx.x < 32) {
        CLUSTER_SYNC; // FAULT synccheck: cluster's barrier
    } else {
        __syncthreads();
    }
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(threads_that_miss_the_clusters_barrier, PAIR) // <<<2, 32>>>
{
    if (threadIdx.x < 20)
        CLUSTER_SYNC; // FAULT synccheck: 20 of its 32 threads are at the cluster's barrier
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(two_arrivals_at_the_clusters_barrier, PAIR) // <<<2, 32>>>
{
    CLUSTER_ARRIVE;
    CLUSTER_ARRIVE; // FAULT synccheck: a second barrier.cluster.arrive
    CLUSTER_WAIT;
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(wait_without_an_arrival, PAIR) // <<<2, 32>>>
{
    CLUSTER_WAIT; // FAULT synccheck: barrier.cluster.wait without
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(clean_arrivals_and_waits, PAIR) // <<<2, 32>>>
{
    CLUSTER_ARRIVE;
    CLUSTER_WAIT;
    CLUSTER_ARRIVE;
    if (threadIdx.x < 20) empty[threadIdx.x] = x[threadIdx.x];
    CLUSTER_WAIT;
}

KERNEL(warps_copy_into_the_neighbour, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    value[threadIdx.x] = 0;
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], blockIdx.x ^ 1);
    COPY(there, x + threadIdx.x); // FAULT memcheck: cp.async copies into the block's own
    CLUSTER_SYNC;
    empty[threadIdx.x] = value[threadIdx.x];
}

KERNEL(clean_copy_into_oneself, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    uint32_t there;
    PEER(there, &value[threadIdx.x], blockIdx.x);
    COPY(there, x + threadIdx.x);
    empty[threadIdx.x] = value[threadIdx.x];
}

KERNEL(phase_that_nobody_of_the_cluster_completes, PAIR) // <<<2, 32>>>
{
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 33);
    CLUSTER_SYNC;
    ARRIVE(&barrier);
    if (blockIdx.x == 1) WAIT(&barrier, 0); // FAULT synccheck: still waits for 1 of 33 arrivals
    empty[threadIdx.x] = x[threadIdx.x];
}

KERNEL(multicast_to_nobody, PAIR) // <<<2, 32>>>
{
    __shared__ __align__(128) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 1);
    CLUSTER_SYNC;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        EXPECT(&barrier, 256);
        FETCH_FOR(tile, x, 256, &barrier, 4); // FAULT synccheck: A multicast to the blocks 0x4
    }
    CLUSTER_SYNC;
    empty[threadIdx.x] = tile[threadIdx.x];
}

/* ---- clean -------------------------------------------------------------------------------- */

KERNEL(matrix_with_a_base_offset) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256 | 1 << 21);
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(two_stages) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[2][64];
    __shared__ uint64_t full[2], drained[2];
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            INIT(&full[s], 1);
            INIT(&drained[s], 96);
        }
    __syncthreads();
    if (threadIdx.x < 32) { /* one warp fetches, three read */
        for (int i = 0; threadIdx.x == 0 && i < 4; i++) {
            WAIT(&drained[i % 2], (i / 2 & 1) ^ 1);
            EXPECT(&full[i % 2], 256);
            FETCH_TILE(tile[i % 2], &map, &full[i % 2], 0, 4 * i);
        }
    } else {
        float sum = 0;
        for (int i = 0; i < 4; i++) {
            WAIT(&full[i % 2], i / 2 & 1);
            sum += tile[i % 2][threadIdx.x % 64];
            ARRIVE(&drained[i % 2]);
        }
        empty[threadIdx.x] = sum;
    }
}

KERNEL(stored_behind_a_fence) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(empty, tile, 512);
        STORES_WAIT;
    }
}

KERNEL(stored_from_two_places_in_turn) // <<<1, 128>>>
{
    __shared__ __align__(128) float tile[2][128];
    for (int i = 0; i < 5; i++) {
        if (threadIdx.x == 0) SOURCES_WAIT(1);
        __syncthreads();
        tile[i % 2][threadIdx.x] = x[threadIdx.x] + (float)i;
        PROXY_FENCE;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (i % 2) ADD_TO(x + 128, tile[1], 512);
            if (i % 2 == 0) STORE(empty, tile[0], 512);
            STORE_COMMIT;
        }
    }
    if (threadIdx.x == 0) STORES_WAIT;
}

KERNEL(sent_to_the_neighbour, PAIR) // <<<2, 32>>>
{
    __shared__ float value[32];
    __shared__ uint64_t barrier;
    uint32_t there, counted;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 128);
    }
    CLUSTER_SYNC;
    PEER(there, &value[threadIdx.x], blockIdx.x ^ 1);
    PEER(counted, &barrier, blockIdx.x ^ 1);
    SEND(there, x[threadIdx.x], counted);
    WAIT(&barrier, 0);
    empty[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
    CLUSTER_SYNC;
}

KERNEL(product_of_two) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    float d[4] = {0, 0, 0, 0};
    factors_fill(factors, x);
    WGMMA_FENCE;
    MULTIPLY(d, factors, 256);
    MULTIPLY(d, factors, 256);
    WGMMA_COMMIT;
    WGMMA_WAIT;
    empty[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(neighbours, PAIR) // <<<2, 64>>>
{
    __shared__ float value[64];
    uint32_t rank, there;
    float theirs;
    value[threadIdx.x] = x[threadIdx.x];
    CLUSTER_SYNC;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    PEER(there, &value[63 - threadIdx.x], rank ^ 1);
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(theirs) : "r"(there) : "memory");
    empty[blockIdx.x * 64 + threadIdx.x] = theirs;
    CLUSTER_SYNC;
}

/* ---- launches that overlap ---- */

#define BEFORE_IS_OVER asm volatile("griddepcontrol.wait;" ::: "memory")

KERNEL(early_read)
{
    float value = x[threadIdx.x]; // FAULT racecheck: Race between launches: Read access
    BEFORE_IS_OVER;
    empty[threadIdx.x] = value;
}

KERNEL(early_write)
{
    x[threadIdx.x] = 1; // FAULT racecheck: Race between launches: Write access
    BEFORE_IS_OVER;
}

KERNEL(early_fetch)
{
    __shared__ alignas(128) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 256);
        FETCH(tile, x, 256, &barrier); // FAULT racecheck: Race between launches: Read access
    }
    __syncthreads();
    WAIT(&barrier, 0);
    BEFORE_IS_OVER;
    empty[threadIdx.x] = tile[threadIdx.x % 64];
}

KERNEL(early_one_warp_waits)
{
    if (threadIdx.x == 0) BEFORE_IS_OVER;
    empty[threadIdx.x] = x[threadIdx.x]; // FAULT racecheck: Race between launches: Read access
}

KERNEL(early_waits)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    empty[i] = 1;
    BEFORE_IS_OVER;
    empty[i] += x[i];
}

KERNEL(early_one_warp_waits_for_all)
{
    if (threadIdx.x == 0) BEFORE_IS_OVER;
    __syncthreads();
    empty[threadIdx.x] = x[threadIdx.x];
}

/* Stores a matrix of halves to shared memory unchanged and transposed; creates and uses a cache
 * policy. */
KERNEL(clean_stored_matrix) // <<<1, 32>>>
{
    __shared__ __align__(16) uint16_t half[2][8][8];
    uint32_t lane = threadIdx.x, two = lane * 2 | (lane * 2 + 1) << 16, row = at(half[0][lane % 8]);
    uint64_t policy;
    float value;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(two));
    row = at(half[1][lane % 8]);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row), "r"(two));
    __syncwarp();
    for (uint32_t i = lane; i < 64; i += 32)
        if (half[0][i / 8][i % 8] != i || half[1][i % 8][i / 8] != i) __trap();
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(x + lane), "l"(policy));
    if (value != (float)lane) __trap();
}

/* A tile's zeros are written after the last fence, which was the one of the tile before. */
KERNEL(second_tile_without_a_fence) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    factors_fill(factors, x);
    WGMMA_FENCE;
#pragma unroll 1
    for (int tile = 0; tile < n / 128; tile++) {
        float d[4] = {0, 0, 0, 0};
#pragma unroll 1
        for (int i = 0; i < n / 128; i++)
            MULTIPLY(d, factors, 256); // FAULT synccheck: wgmma.fence is missing
        WGMMA_COMMIT;
        WGMMA_WAIT;
        empty[threadIdx.x + tile * 128] = d[0] + d[1] + d[2] + d[3];
    }
}

KERNEL(clean_tiles_with_a_fence) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    factors_fill(factors, x);
#pragma unroll 1
    for (int tile = 0; tile < n / 128; tile++) {
        float d[4] = {0, 0, 0, 0};
        WGMMA_FENCE;
#pragma unroll 1
        for (int i = 0; i < n / 128; i++)
            MULTIPLY(d, factors, 256);
        WGMMA_COMMIT;
        WGMMA_WAIT;
        empty[threadIdx.x + tile * 128] = d[0] + d[1] + d[2] + d[3];
    }
}

/* One fence covers both accumulators, whose zeros nvcc may write between the two. */
KERNEL(clean_two_accumulators) // <<<1, 128>>>
{
    __shared__ __align__(1024) float factors[640];
    factors_fill(factors, x);
    for (int tile = 0; tile < 2; tile++) {
        float d[4] = {0, 0, 0, 0}, e[4] = {0, 0, 0, 0};
        WGMMA_FENCE;
        MULTIPLY(d, factors, 256);
        MULTIPLY(e, factors, 256);
        WGMMA_COMMIT;
        WGMMA_WAIT;
        empty[threadIdx.x + tile * 128] = d[0] + e[1] + d[2] + e[3];
    }
}
