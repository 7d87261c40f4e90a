/* faults.cu - small kernels with one fault each, and some that come close and have none.
 *
 * test_simt_faults.c launches every kernel of this file on 2 blocks of 64 threads, or as a comment
 * `// <<<blocks, threads, shared bytes>>>` on its first line says, with
 *
 *     x      256 floats, 0 to 255            empty   256 floats that nothing wrote
 *     gone   the address of an allocation that was freed          n = 256
 *
 * The line of the fault ends in `// FAULT check: words of the report`; the other line of a race in
 * `// AND`.  A kernel without such a line must run without a finding. */

#include <cassert>

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <mma.h>

#define KERNEL(name) extern "C" __global__ void name(float *x, float *empty, float *gone, int n)

__device__ static int self()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- memcheck ----------------------------------------------------------------------------- */

KERNEL(read_one_past_the_end)
{
    int i = self();
    x[i] = x[i + n - 127]; // FAULT memcheck: 0 bytes past the end of a 1024-byte allocation
}

KERNEL(write_one_past_the_end)
{
    x[self() + n - 127] = 1.0f; // FAULT memcheck: Invalid __global__ write of 4 bytes
}

KERNEL(read_before_the_start)
{
    int i = self();
    x[i] = x[i - 1] + 1.0f; // FAULT memcheck: 4 bytes before
}

KERNEL(far_away)
{
    x[self()] = x[n << 20]; // FAULT memcheck: Invalid __global__ read
}

KERNEL(null_pointer)
{
    float *nothing = x - (size_t)x / 4;
    nothing[threadIdx.x] = 1.0f; // FAULT memcheck: Invalid __global__ write
}

KERNEL(read_after_free)
{
    x[self()] = gone[threadIdx.x]; // FAULT memcheck: Use after free
}

KERNEL(write_after_free)
{
    gone[threadIdx.x] = x[self()]; // FAULT memcheck: Use after free
}

KERNEL(misaligned_float2)
{
    float2 *pair = (float2 *)(x + 1);
    float2 v = pair[threadIdx.x]; // FAULT memcheck: Misaligned
    if (v.x == v.y) x[self()] = v.x;
}

KERNEL(misaligned_float4)
{
    float4 *four = (float4 *)(x + 2);
    four[threadIdx.x & 15] = make_float4(1, 2, 3, 4); // FAULT memcheck: Misaligned
}

KERNEL(misaligned_in_shared)
{
    __shared__ float tile[66];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    char *bytes = (char *)tile + threadIdx.x * 4 + n % 256;
    x[self()] = *(float *)(bytes + 2); // FAULT memcheck: Misaligned __shared__ read of 4 bytes
}

KERNEL(misaligned_bytes)
{
    char *bytes = (char *)x;
    *(int *)(bytes + 2) = n; // FAULT memcheck: no multiple of 4
}

KERNEL(float4_half_past_the_end)
{
    float4 *four = (float4 *)x;
    float4 v = four[threadIdx.x + n / 4 - 63]; // FAULT memcheck: past the end
    x[0] = v.x + v.y + v.z + v.w;
}

KERNEL(shared_one_past_the_end)
{
    __shared__ float tile[64];
    tile[threadIdx.x + n - 255] = x[threadIdx.x]; // FAULT memcheck: __shared__ write
    __syncthreads();
    x[self()] = tile[threadIdx.x];
}

KERNEL(shared_read_past_the_end)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[self()] = tile[threadIdx.x * n / 128]; // FAULT memcheck: __shared__ read
}

KERNEL(dynamic_shared_too_small) // <<<1, 64, 128>>>
{
    extern __shared__ float space[];
    space[threadIdx.x] = x[threadIdx.x]; // FAULT memcheck: __shared__ write
    __syncthreads();
    x[self()] = space[63 - threadIdx.x];
}

KERNEL(local_past_the_end)
{
    float mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = x[i];
    mine[(n + threadIdx.x) * 4096] = 1.0f; // FAULT memcheck: Invalid __local__ write
    x[self()] = mine[n & 7];
}

__constant__ float table[16];

__device__ static float *hidden(const float *pointer)
{
    float *same;
    asm("mov.u64 %0, %1;" : "=l"(same) : "l"(pointer));
    return same;
}

KERNEL(write_to_constant)
{
    float *writable = hidden(table);
    writable[threadIdx.x & 15] = 1.0f; // FAULT memcheck: __constant__
}

KERNEL(constant_past_the_end)
{
    x[self()] =
        table[threadIdx.x + n / 256]; // FAULT memcheck: past the end of a 64-byte variable table
}

KERNEL(atomic_past_the_end)
{
    atomicAdd(&x[n + threadIdx.x], 1.0f); // FAULT memcheck: past the end
}

KERNEL(copy_past_the_end) // <<<2, 64, 128>>>
{
    extern __shared__ float part[];
    unsigned to = (unsigned)__cvta_generic_to_shared(part + threadIdx.x);
    const float *from = x + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to),
                 "l"(from)); // FAULT memcheck: __shared__ write
    asm volatile("cp.async.wait_all;");
}

/* ---- initcheck ---------------------------------------------------------------------------- */

KERNEL(unwritten_global)
{
    x[self()] = empty[threadIdx.x]; // FAULT initcheck: __global__
}

KERNEL(unwritten_shared)
{
    __shared__ float tile[64];
    if (threadIdx.x < 63) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[self()] = tile[63 - threadIdx.x]; // FAULT initcheck: __shared__
}

KERNEL(unwritten_halo)
{
    __shared__ float tile[66];
    tile[threadIdx.x + 1] = x[threadIdx.x];
    __syncthreads();
    x[self()] = tile[threadIdx.x] + tile[threadIdx.x + 1]; // FAULT initcheck: __shared__
}

KERNEL(unwritten_float4)
{
    float4 v = ((float4 *)empty)[threadIdx.x]; // FAULT initcheck: 16 bytes
    x[self()] = v.x + v.y + v.z + v.w;
}

KERNEL(sum_begins_unwritten)
{
    empty[self()] += x[threadIdx.x]; // FAULT initcheck: __global__
}

/* ---- uses of undefined values ------------------------------------------------------------ */

KERNEL(unassigned_sum)
{
    float sum;
    for (int i = threadIdx.x; i < n; i += 64)
        sum += x[i]; // FAULT initcheck: Uninitialized register read
    x[self()] = sum;
}

KERNEL(clean_assigned_sum)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 64)
        sum += x[i];
    empty[self()] = sum;
}

/* Its elements are in local memory, because their index is a variable. */
KERNEL(counts_of_an_unassigned_array)
{
    int count[16];
    for (int i = 0; i < n; i++)
        count[(int)x[i] & 15]++;
    const int mine = count[threadIdx.x & 15]; // FAULT initcheck: Uninitialized __local__
    empty[self()] = (float)mine;
}

KERNEL(clean_counts_of_an_array)
{
    int count[16];
    for (int i = 0; i < 16; i++)
        count[i] = 0;
    for (int i = 0; i < n; i++)
        count[(int)x[i] & 15]++;
    empty[self()] = (float)count[threadIdx.x & 15];
}

KERNEL(undefined_value_through_an_array)
{
    float kept[8];
    for (int i = 0; i < 8; i++)
        kept[(int)x[i] & 7] = empty[i];
    x[n / 2 + self()] = kept[threadIdx.x & 7]; // FAULT initcheck: Uninitialized __local__
}

/* Only the written half is used. */
KERNEL(clean_half_of_an_array)
{
    float kept[8];
    for (int i = 0; i < 4; i++)
        kept[(int)x[i] & 3] = x[i + n / 2];
    float4 low = *(float4 *)&kept[0], high = *(float4 *)&kept[((int)x[0] & 1) + 4];
    empty[self()] = x[0] < 1.0f ? low.x : high.x;
}

KERNEL(unassigned_on_one_path)
{
    float value;
    if (x[threadIdx.x] > 10.0f) value = x[threadIdx.x + n / 2];
    if (n > 1) empty[self()] = value; // FAULT initcheck: Uninitialized register read
}

KERNEL(clean_assigned_on_the_path_taken)
{
    float value;
    if (x[threadIdx.x] > 10.0f) value = x[threadIdx.x + n / 2];
    if (threadIdx.x > 10) empty[self()] = value;
}

KERNEL(unwritten_decides_a_branch)
{
    __shared__ int seen[64];
    if (threadIdx.x < 40) seen[threadIdx.x] = n;
    __syncthreads();
    if (seen[threadIdx.x] > 0) x[self()] = 1.0f; // FAULT initcheck: Uninitialized __shared__
}

KERNEL(clean_unwritten_after_false)
{
    __shared__ int seen[64];
    if (threadIdx.x < 40) seen[threadIdx.x] = n;
    __syncthreads();
    if ((threadIdx.x < 40) & (seen[threadIdx.x] > 0)) x[self()] = 1.0f;
}

KERNEL(unwritten_is_an_index)
{
    __shared__ int place[64];
    if (threadIdx.x < 40) place[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int i = place[threadIdx.x] & 63; // FAULT initcheck: its value is used as an address
    float value = x[i];
    asm volatile("" ::"f"(value));
}

KERNEL(unwritten_copied_and_used)
{
    __shared__ volatile float from[64], to[64];
    if (threadIdx.x < 40) from[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    empty[self()] = to[63 - threadIdx.x]; // FAULT initcheck: Uninitialized __shared__
}

KERNEL(clean_unwritten_copied)
{
    __shared__ volatile float from[64], to[64];
    if (threadIdx.x < 40) from[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    float value = to[63 - threadIdx.x];
    if (threadIdx.x > 23) empty[self()] = value;
}

KERNEL(unwritten_in_a_sum_of_lanes)
{
    __shared__ volatile float part[32];
    if (threadIdx.x < 20) part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = part[threadIdx.x % 32]; // FAULT initcheck: its value is stored to global memory
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    empty[self()] = sum;
}

KERNEL(clean_lanes_beyond_the_sum)
{
    __shared__ volatile float part[32];
    if (threadIdx.x < 16) part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = part[threadIdx.x % 32];
    for (int step = 8; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 < 16) empty[self()] = sum;
}

KERNEL(unwritten_vote)
{
    __shared__ int seen[32];
    if (threadIdx.x < 20) seen[threadIdx.x] = 1;
    __syncthreads();
    int some = seen[threadIdx.x % 32] > n; // FAULT initcheck: Uninitialized __shared__
    if (__any_sync(~0u, some)) x[self()] = 1.0f;
}

KERNEL(clean_half_of_a_vector)
{
    __shared__ float2 pair[64];
    pair[threadIdx.x].x = x[threadIdx.x];
    __syncthreads();
    float first, second;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(first), "=f"(second)
                 : "r"((unsigned)__cvta_generic_to_shared(&pair[threadIdx.x])));
    empty[self()] = first;
}

/* d = a b of one warp; the factors are whatever the registers hold. */
#define WARP_PRODUCT(d, a)                                                                         \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "   \
                 "{%6}, {%0, %1, %2, %3};"                                                         \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]))

KERNEL(fragment_never_filled)
{
    float d[4];
    const int a[3] = {n, n, n};
    WARP_PRODUCT(d, a); // FAULT initcheck: Uninitialized register read
    empty[self()] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(row_of_a_fragment_not_filled)
{
    __shared__ volatile int row[64];
    float d[4] = {0, 0, 0, 0};
    if (threadIdx.x < 32) row[threadIdx.x] = n;
    __syncthreads();
    const int a[3] = {row[threadIdx.x % 32], row[threadIdx.x % 32 + 32], n}; // FAULT initcheck: 4
    WARP_PRODUCT(d, a);
    empty[self()] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(clean_rows_of_a_fragment_not_used)
{
    __shared__ volatile int row[64];
    float d[4] = {0, 0, 0, 0};
    if (threadIdx.x < 32) row[threadIdx.x] = n;
    __syncthreads();
    const int a[3] = {row[threadIdx.x % 32], row[threadIdx.x % 32 + 32], n};
    WARP_PRODUCT(d, a);
    empty[self()] = d[0] + d[1];
}

/* Lane 16 names lane 0, which names only the lower half. */
KERNEL(shuffle_masks_disagree)
{
    float v = (float)threadIdx.x;
    unsigned mask = threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffffffffu;
    x[self()] = __shfl_xor_sync(mask, v, 3); // FAULT synccheck: whose own mask is 0x0000ffff
}

KERNEL(waits_for_nobody)
{
    volatile float *flag = x;
    while (flag[0] == 0.0f) // FAULT synccheck: polls memory
        ;
}

/* ---- racecheck: within a block ------------------------------------------------------------ */

KERNEL(no_barrier_after_load)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x]; // AND
    x[self()] = tile[63 - threadIdx.x]; // FAULT racecheck: hazard
}

KERNEL(no_barrier_before_next_load)
{
    __shared__ float tile[64];
    float sum = 0;
    for (int i = 0; i < n / 64; i++) {
        tile[threadIdx.x] = x[i * 64 + threadIdx.x]; // AND
        __syncthreads();
        sum += tile[63 - threadIdx.x]; // FAULT racecheck: hazard
    }
    if (sum == -1.0f) x[self()] = sum;
}

KERNEL(two_warps_one_cell)
{
    __shared__ float cell;
    if (threadIdx.x % 32 == 0) cell = (float)threadIdx.x; // FAULT racecheck: WAW
    __syncthreads();
    x[self()] = cell;
}

KERNEL(two_lanes_one_cell) // <<<1, 32>>>
{
    __shared__ float tile[16];
    tile[threadIdx.x / 2] = (float)threadIdx.x; // FAULT racecheck: WAW
    __syncthreads();
    x[self()] = tile[threadIdx.x / 2];
}

KERNEL(barrier_in_the_wrong_place)
{
    __shared__ float tile[64];
    __syncthreads();
    tile[threadIdx.x] = x[threadIdx.x];          // AND
    float other = tile[(threadIdx.x + 32) % 64]; // FAULT racecheck: hazard
    x[self()] = other;
}

KERNEL(reduction_without_barriers)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 32; step; step /= 2) {
        if (threadIdx.x < step || n == 0) part[threadIdx.x] += part[threadIdx.x + step];
        __syncwarp();
    }
    /* Right up to here: the first warp alone works below 32. */
    if (threadIdx.x == 33) x[self()] = part[0]; // FAULT racecheck: hazard
}

KERNEL(atomic_and_plain)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    x[self()] = (float)count; // AND
    atomicAdd(&count, 1);     // FAULT racecheck: Atomic
}

KERNEL(double_buffer_too_short)
{
    __shared__ float tile[2][64];
    float sum = 0;
    tile[0][threadIdx.x] = x[threadIdx.x]; // AND
    for (int i = 1; i < n / 64; i++) {
        tile[i % 2][threadIdx.x] = x[i * 64 + threadIdx.x];
        sum += tile[(i - 1) % 2][63 - threadIdx.x]; // FAULT racecheck: hazard
        __syncthreads();
    }
    if (sum == -1.0f) x[self()] = sum;
}

KERNEL(vector_store_overlaps)
{
    __shared__ float4 tile[65];
    float *word = (float *)tile;
    tile[threadIdx.x] = make_float4(1, 2, 3, (float)threadIdx.x); // AND
    x[self()] = word[255 - threadIdx.x];                          // FAULT racecheck: hazard
}

KERNEL(stored_through_any_pointer)
{
    __shared__ float cell;
    float *pointer = hidden(&cell);
    if (threadIdx.x % 32 == 0) *pointer = (float)threadIdx.x; // FAULT racecheck: WAW
    __syncthreads();
    x[self()] = cell;
}

KERNEL(two_lanes_one_pair) // <<<1, 32>>>
{
    __shared__ float2 tile[16];
    tile[threadIdx.x / 2] = make_float2((float)threadIdx.x, 0.0f); // FAULT racecheck: WAW
    __syncthreads();
    x[self()] = tile[threadIdx.x / 2].x;
}

KERNEL(global_within_a_block) // <<<1, 64>>>
{
    x[threadIdx.x] = x[128 + threadIdx.x];          // AND
    x[192 + threadIdx.x] = x[63 - threadIdx.x] * 2; // FAULT racecheck: __global__
}

KERNEL(global_written_twice) // <<<1, 64>>>
{
    x[threadIdx.x / 33] = (float)threadIdx.x; // FAULT racecheck: WAW
}

KERNEL(two_lanes_one_word) // <<<1, 32>>>
{
    x[threadIdx.x * 7 % 31] = (float)threadIdx.x; // FAULT racecheck: lanes of one store
}

KERNEL(two_lanes_one_byte) // <<<1, 16>>>
{
    unsigned char *byte = (unsigned char *)(x + blockDim.x);
    byte[15 - threadIdx.x / 2] = (unsigned char)threadIdx.x; // FAULT racecheck: lanes of one store
}

KERNEL(two_lanes_one_word_by_any_pointer) // <<<1, 32>>>
{
    float *pointer = hidden(x + threadIdx.x / 2);
    *pointer = (float)threadIdx.x; // FAULT racecheck: lanes of one store
}

/* The second lane stores what is there already; the first one's value may stay all the same. */
KERNEL(two_lanes_and_what_is_there) // <<<1, 32>>>
{
    __shared__ float tile[32];
    tile[threadIdx.x] = 0.0f;
    __syncthreads();
    tile[threadIdx.x / 2] = threadIdx.x % 2 ? 0.0f : 1.0f; // FAULT racecheck: lanes of one store
    __syncthreads();
    x[self()] = tile[threadIdx.x];
}

KERNEL(clean_lanes_of_one_store) // <<<1, 64>>>
{
    __shared__ float tile[64], same;
    tile[(threadIdx.x * 5 + 3) % 64] = (float)threadIdx.x;
    same = 2.0f;
    __syncthreads();
    x[threadIdx.x ^ 37] = tile[63 - threadIdx.x] + same;
    x[64 + threadIdx.x / 40] = 7.0f;
    if (threadIdx.x % 3 == 0) x[127 - threadIdx.x * 5 % 61] = (float)threadIdx.x;
}

#define COPY_4(to, from)                                                                           \
    asm volatile(                                                                                  \
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),  \
        "l"(from)                                                                                  \
        : "memory")

KERNEL(copies_that_overtake_each_other)
{
    __shared__ float s[64];
    float *to = s + threadIdx.x, *from = x + self();
    COPY_4(to, from);     // AND
    COPY_4(to, from + 1); // FAULT racecheck: copies of one group arrive in any order
    asm volatile("cp.async.wait_all;");
    *from = *to;
}

KERNEL(copies_of_two_lanes_to_one_place)
{
    __shared__ float s[64];
    float *to = s + threadIdx.x / 2, *from = x + self();
    COPY_4(to, from); // FAULT racecheck: copies of one group arrive in any order
    asm volatile("cp.async.wait_all;");
    if (threadIdx.x % 32 < 16) *from = *to;
}

KERNEL(clean_copies_in_turn)
{
    __shared__ float s[64];
    COPY_4(s + threadIdx.x, x + self());
    COPY_4(s + threadIdx.x, x + self()); // copies the same
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    COPY_4(s + threadIdx.x, x + (self() ^ 1));
    asm volatile("cp.async.wait_all;");
    x[self()] = s[threadIdx.x];
}

/* ---- racecheck: between blocks ------------------------------------------------------------ */

KERNEL(atomics_of_block_scope)
{
    atomicAdd_block(&x[threadIdx.x % 16], 1.0f); // FAULT racecheck: the scope of the atomic
}

KERNEL(clean_atomics_of_block_scope)
{
    atomicAdd_block(&x[blockIdx.x * 16 + threadIdx.x % 16], 1.0f);
}

/* The store of block 0 is the lowest write. */
KERNEL(store_among_atomics_of_block_scope)
{
    if (blockIdx.x == 0)
        x[threadIdx.x] = 1.0f; // FAULT racecheck: atomics of block scope are not atomic
    else
        atomicAdd_block(&x[threadIdx.x], 1.0f);
}

KERNEL(atomics_of_block_scope_and_a_fence)
{
    __threadfence();
    atomicAdd_block(&x[threadIdx.x % 16], 1.0f); // FAULT racecheck: the scope of the atomic
}

__device__ unsigned drawn;
__device__ volatile int flags[8];

/* The second block overwrites what the first wrote: a counter of both orders nothing. */
KERNEL(atomic_that_orders_nothing)
{
    if (threadIdx.x == 0) atomicAdd(&drawn, 1u);
    x[threadIdx.x] = (float)blockIdx.x; // FAULT racecheck: nothing orders the blocks
}

KERNEL(fence_that_orders_nothing)
{
    __threadfence();
    if (threadIdx.x == 0) atomicAdd(&drawn, 1u);
    x[threadIdx.x] = (float)blockIdx.x; // FAULT racecheck: no fence with an atomic or a flag
}

KERNEL(last_block_without_fence)
{
    __shared__ bool last;
    x[self()] = 1.0f; // AND
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&drawn, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; last && i < gridDim.x; i++)
        sum += x[i * blockDim.x + threadIdx.x]; // FAULT racecheck: nothing orders the blocks
    if (last) empty[threadIdx.x] = sum;
}

/* The fence comes too late: what it follows is published, what comes after it is not. */
KERNEL(fence_before_the_write)
{
    __shared__ bool last;
    __threadfence();
    x[self()] = 1.0f; // AND
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&drawn, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; last && i < gridDim.x; i++)
        sum += x[i * blockDim.x + threadIdx.x]; // FAULT racecheck: no fence with an atomic
    if (last) empty[threadIdx.x] = sum;
}

KERNEL(blocks_write_one_cell)
{
    if (threadIdx.x == 0) x[0] = (float)blockIdx.x; // FAULT racecheck: nothing orders the blocks
}

KERNEL(blocks_read_neighbours)
{
    float left = x[(self() + 64) % 128]; // AND
    __syncthreads();
    x[self()] = left + 1.0f; // FAULT racecheck: nothing orders the blocks
}

KERNEL(blocks_overlap_by_one)
{
    if (threadIdx.x < 33)
        x[blockIdx.x * 32 + threadIdx.x] = (float)blockIdx.x; // FAULT racecheck: nothing orders
}

/* ---- synccheck ---------------------------------------------------------------------------- */

KERNEL(barrier_in_a_branch)
{
    if (threadIdx.x < 32)
        __syncthreads(); // FAULT synccheck: arrier
    else
        asm volatile("bar.sync 1;");
    x[self()] = 1.0f;
}

KERNEL(barrier_for_half_a_warp)
{
    if (threadIdx.x % 2 == 0) __syncthreads(); // FAULT synccheck: arrier
    x[self()] = 1.0f;
}

KERNEL(barrier_in_unequal_loop)
{
    for (int i = 0; i < 1 + (int)threadIdx.x / 32; i++)
        asm volatile("bar.sync 0, 64;"); // FAULT synccheck: Barrier error
    x[self()] = 1.0f;
}

KERNEL(barrier_of_two_counts) // <<<2, 96, 0>>>
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // FAULT synccheck: but another warp counts 96
    else
        asm volatile("bar.arrive 1, 96;" ::: "memory");
    x[self()] = 1.0f;
}

KERNEL(shuffle_without_oneself)
{
    float v = x[threadIdx.x];
    x[self()] = __shfl_sync(0x0000ffffu, v, 0); // FAULT synccheck: Invalid arguments
}

KERNEL(shuffle_with_the_absent)
{
    float v = x[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v = __shfl_down_sync(0xffffffffu, v, 1); // FAULT synccheck: Divergent threads in a warp
    x[self()] = v;
}

KERNEL(vote_without_oneself)
{
    x[self()] = (float)__ballot_sync(0x1u, threadIdx.x > 3); // FAULT synccheck: mask
}

KERNEL(shuffle_from_nobody)
{
    int lane = threadIdx.x % 32;
    float v = x[self()];
    if (lane < 16) v = __shfl_xor_sync(0x0000ffffu, v, 16); // FAULT initcheck: Undefined value
    x[self()] = v;
}

KERNEL(sum_that_begins_with_nobody)
{
    int lane = threadIdx.x % 32;
    float v = x[self()];
    if (lane < 16)
        v += __shfl_down_sync(0x0000ffffu, v, 16); // FAULT initcheck: does not execute it
    x[self()] = v;
}

KERNEL(syncwarp_that_half_never_reaches)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(); // FAULT synccheck: which does not execute this instruction
    else
        x[self()] = 1.0f;
    __syncthreads();
}

KERNEL(bytes_of_another_warp)
{
    __shared__ unsigned char s[64];
    s[threadIdx.x] = 1;              // AND
    x[self()] = s[threadIdx.x ^ 33]; // FAULT racecheck: Race reported between
}

KERNEL(threads_that_are_no_warps)
{
    asm volatile("bar.sync 1, 33;"); // FAULT synccheck: a count of 33 threads is no multiple
    x[self()] = 1.0f;
}

KERNEL(product_of_half_a_warp)
{
    float d[4] = {0, 0, 0, 0};
    const int a[3] = {n, n, n};
    if (threadIdx.x % 32 < 16) WARP_PRODUCT(d, a); // FAULT synccheck: but it needs all 32
    x[self()] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(clean_product_of_some_warps)
{
    float d[4] = {0, 0, 0, 0};
    const int a[3] = {n, n, n};
    if (threadIdx.x < 32) WARP_PRODUCT(d, a);
    asm volatile("bar.sync 1, 64;");
    x[self()] = d[0] + d[1] + d[2] + d[3];
}

KERNEL(syncwarp_without_oneself)
{
    __syncwarp(0xff); // FAULT synccheck: mask
    x[self()] = 1.0f;
}

/* ---- and some that end ------------------------------------------------------------------- */

KERNEL(trapped)
{
    if (threadIdx.x == 5) __trap(); // FAULT trap: trap
}

KERNEL(assertion_that_fails)
{
    assert(threadIdx.x < (unsigned)n / 8); // FAULT trap: assertion `threadIdx.x < (unsigned)n / 8'
}

KERNEL(clean_assertion)
{
    assert(threadIdx.x < (unsigned)n / 4);
    x[self()] = 1.0f;
}

/* ---- clean -------------------------------------------------------------------------------- */

KERNEL(clean_copy)
{
    x[self()] = x[self()] + 1.0f;
}

KERNEL(clean_tile)
{
    __shared__ float tile[64];
    float sum = 0;
    for (int i = 0; i < n / 64; i++) {
        tile[threadIdx.x] = x[i * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    if (sum == -1.0f) x[self()] = sum;
}

KERNEL(clean_double_buffer)
{
    __shared__ float tile[2][64];
    float sum = 0;
    tile[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = 1; i < n / 64; i++) {
        tile[i % 2][threadIdx.x] = x[i * 64 + threadIdx.x];
        sum += tile[(i - 1) % 2][63 - threadIdx.x];
        __syncthreads();
    }
    if (sum == -1.0f) x[self()] = sum;
}

KERNEL(clean_reduction)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    for (int step = 32; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) empty[blockIdx.x] = part[0];
}

/* Lanes 8 to 15 get what nobody uses. */
KERNEL(clean_tree_of_half_a_warp)
{
    float v = x[self()];
    if (threadIdx.x % 32 < 16) {
        for (int far = 8; far > 0; far /= 2)
            v += __shfl_down_sync(0x0000ffffu, v, far);
        if (threadIdx.x % 32 == 0) x[self()] = v;
    }
}

KERNEL(clean_warp_reduction)
{
    float v = (float)threadIdx.x;
    for (int step = 16; step; step /= 2)
        v += __shfl_down_sync(0xffffffffu, v, step);
    x[self()] = v;
}

KERNEL(clean_warp_exchange)
{
    __shared__ float tile[64];
    int warp = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    tile[threadIdx.x] = (float)threadIdx.x;
    __syncwarp();
    x[self()] = tile[warp + 31 - lane];
}

KERNEL(clean_histogram)
{
    __shared__ int count[16];
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count[threadIdx.x % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) x[blockIdx.x * 16 + threadIdx.x] = (float)count[threadIdx.x];
}

KERNEL(clean_global_histogram)
{
    atomicAdd(&x[threadIdx.x % 16], 1.0f);
}

__device__ int tickets;

KERNEL(clean_last_block)
{
    __shared__ int last;
    if (threadIdx.x == 0) {
        x[blockIdx.x] = 1.0f;
        __threadfence();
        last = atomicAdd(&tickets, 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        x[100] = ((volatile float *)x)[0] + ((volatile float *)x)[1];
        tickets = 0;
    }
}

KERNEL(clean_early_exit)
{
    if (threadIdx.x >= 32) return;
    __syncthreads();
    x[self()] = 1.0f;
}

KERNEL(clean_same_flag)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] >= 0.0f) found = 1;
    __syncthreads();
    if (found) empty[self()] = 2.0f;
}

KERNEL(clean_same_flag_in_global)
{
    if (x[threadIdx.x] >= 0.0f) empty[0] = 1.0f;
}

KERNEL(clean_same_vector)
{
    __shared__ float4 cell;
    cell = make_float4(1, 2, 3, (float)n);
    __syncthreads();
    x[self()] = cell.x + cell.w;
}

KERNEL(clean_bytes_of_blocks)
{
    if (threadIdx.x == 0) ((unsigned char *)x)[blockIdx.x] = (unsigned char)blockIdx.x;
}

KERNEL(clean_bytes)
{
    __shared__ unsigned char byte[64];
    byte[threadIdx.x] = (unsigned char)threadIdx.x;
    __syncthreads();
    x[self()] = (float)byte[63 - threadIdx.x];
}

KERNEL(clean_named_barriers)
{
    __shared__ float tile[64];
    int warp = threadIdx.x / 32;
    tile[threadIdx.x] = (float)threadIdx.x;
    asm volatile("bar.sync %0, 32;" ::"r"(warp + 1) : "memory");
    x[self()] = tile[warp * 32 + 31 - threadIdx.x % 32];
}

/* The barrier is used for 64 and then for 96 threads; arrivals count in the same way. */
KERNEL(clean_barrier_counted_anew) // <<<2, 96, 0>>>
{
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 96;" ::: "memory");
    else
        asm volatile("bar.arrive 1, 96;" ::: "memory");
    x[self()] = 1.0f;
}

KERNEL(clean_divergent_shuffle)
{
    float v = (float)threadIdx.x;
    if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(0x0000ffffu, v, 3);
    x[self()] = v;
}

KERNEL(clean_local_array)
{
    float mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = (float)i;
    x[self()] = mine[n & 7] + mine[threadIdx.x & 7];
}

KERNEL(clean_initialised_first)
{
    empty[self()] = 1.0f;
    __syncthreads();
    x[self()] = empty[self()];
}

/* Each block adds to what the one before has left, and says so with a flag. */
KERNEL(clean_chain_of_blocks) // <<<4, 64, 0>>>
{
    if (blockIdx.x > 0 && threadIdx.x == 0) {
        while (!flags[blockIdx.x])
            ;
        __threadfence();
    }
    __syncthreads();
    x[threadIdx.x] = x[threadIdx.x] + 1.0f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x + 1] = 1;
}

KERNEL(clean_sums_of_blocks)
{
    atomicAdd(&x[threadIdx.x], 1.0f);
    empty[self()] = (float)n;
}

KERNEL(clean_half_warps)
{
    float v = (float)threadIdx.x;
    unsigned mask = threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
    for (int step = 8; step; step /= 2)
        v += __shfl_xor_sync(mask, v, step);
    __syncwarp(mask);
    x[self()] = v + (float)__popc(__ballot_sync(mask, threadIdx.x % 2));
}

KERNEL(clean_tiles_of_a_warp)
{
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    float v = tile.shfl_down((float)threadIdx.x, 8);
    tile.sync();
    x[self()] = v + (float)tile.any(threadIdx.x == 3);
}

KERNEL(clean_groups_that_match)
{
    unsigned mask = __match_any_sync(0xffffffffu, threadIdx.x % 5);
    int first = __ffs(mask) - 1, rank = __popc(mask & ((1u << threadIdx.x % 32) - 1));
    __syncwarp(mask);
    x[self()] = (float)__shfl_sync(mask, rank + (int)threadIdx.x, first);
}

/* The first warp waits for the second. */
KERNEL(clean_shared_flag)
{
    __shared__ float word;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        word = (float)n;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 0) {
        while (!flag)
            ;
        __threadfence_block();
        x[blockIdx.x] = word;
    }
}

__device__ volatile int turn;

/* The first block waits for the last. */
KERNEL(clean_blocks_in_reverse) // <<<4, 64, 0>>>
{
    if (threadIdx.x == 0) {
        while (turn != (int)(gridDim.x - 1 - blockIdx.x))
            ;
        __threadfence();
        x[0] = x[0] + 1.0f;
        __threadfence();
        turn = turn + 1;
    }
}

__device__ int arrivals;

KERNEL(clean_barrier_of_the_grid) // <<<4, 64, 0>>>
{
    x[self()] = (float)blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrivals, 1);
        while (*(volatile int *)&arrivals < (int)gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
    empty[self()] = x[(self() + blockDim.x) % (gridDim.x * blockDim.x)];
}

/* All lanes but one of the first warp come to the barrier before the next block has run. */
KERNEL(clean_lanes_at_a_barrier) // <<<4, 64, 0>>>
{
    if (threadIdx.x == 0)
        while (turn != (int)(gridDim.x - 1 - blockIdx.x))
            ;
    __threadfence();
    __syncthreads();
    x[threadIdx.x] = x[threadIdx.x] + 1.0f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) turn = turn + 1;
}

__device__ int lock;

/* A lane that has the lock must be let on while the others of its warp try. */
KERNEL(clean_lock_of_each_thread)
{
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    x[0] = x[0] + 1.0f;
    __threadfence();
    atomicExch(&lock, 0);
}

KERNEL(clean_producer_and_consumer)
{
    __shared__ float tile[32];
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            tile[threadIdx.x] = (float)(i + threadIdx.x);
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            x[self()] = tile[63 - threadIdx.x];
        }
    }
}

KERNEL(clean_barrier_of_the_library)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
    __shared__ float tile[64];
    if (threadIdx.x == 0) init(&meeting, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = (float)threadIdx.x;
    meeting.arrive_and_wait();
    x[self()] = tile[63 - threadIdx.x];
}

/* Since Volta the lanes of a .sync instruction may say it in different places. */
KERNEL(clean_shuffle_in_both_branches)
{
    int lane = threadIdx.x % 32, got;
    if (lane & 1) {
        got = __shfl_sync(0xffffffffu, lane * 3, lane - 1);
        x[self()] = 1.0f;
    } else {
        got = __shfl_sync(0xffffffffu, lane * 5, lane + 1);
        x[self()] = 2.0f;
    }
    if (got != (lane & 1 ? (lane - 1) * 5 : (lane + 1) * 3)) __trap();
}

KERNEL(clean_votes_in_three_branches)
{
    unsigned lane = threadIdx.x % 32, got, odd = 0xaaaaaaaau;
    if (lane < 16) {
        if (lane < 8) {
            got = __ballot_sync(0xffffffffu, lane & 1);
            x[self()] = 1.0f;
        } else {
            x[self()] = 2.0f;
            got = __ballot_sync(0xffffffffu, lane & 1);
        }
    } else {
        got = __ballot_sync(0xffffffffu, lane & 1);
        x[self()] = 3.0f;
    }
    if (got != odd) __trap();
    __syncthreads();
    if (__match_any_sync(0xffffffffu, lane / 8) != 0xffu << lane / 8 * 8) __trap();
}

/* One branch reaches its first warp synchronisation while the other is already at the next line. */
KERNEL(clean_meeting_beyond_the_join)
{
    __shared__ volatile int box[64];
    int lane = threadIdx.x % 32;
    if (lane == 0) {
        box[threadIdx.x / 32] = 7;
        __syncwarp();
    }
    if (lane != 0) {
        __syncwarp();
        if (box[threadIdx.x / 32] != 7) __trap();
    }
    __syncthreads();
    x[self()] = (float)__shfl_sync(0xffffffffu, lane, 31 - lane);
}

KERNEL(clean_shuffle_by_halves_in_branches)
{
    int lane = threadIdx.x % 32, got;
    if (lane < 16)
        got = __shfl_sync(0x0000ffffu, lane * 2, (lane + 1) % 16);
    else
        got = __shfl_sync(0xffff0000u, lane * 3, 16 + (lane + 1) % 16);
    if (got != (lane < 16 ? (lane + 1) % 16 * 2 : (16 + (lane + 1) % 16) * 3)) __trap();
}

/* Two warps, and then two blocks, use different bytes of each word. */
KERNEL(clean_bytes_of_one_word)
{
    __shared__ unsigned char s[64];
    unsigned mine = threadIdx.x % 32 * 2 + threadIdx.x / 32;
    unsigned char *bytes = (unsigned char *)x;
    s[mine] = (unsigned char)threadIdx.x;
    bytes[threadIdx.x * 2 + blockIdx.x] = s[mine];
    if (bytes[threadIdx.x * 2 + blockIdx.x] != threadIdx.x) __trap();
}

__device__ int ready[8];

/* The loop that waits is long, and does something each time. */
KERNEL(clean_wait_that_counts) // <<<4, 64, 0>>>
{
    unsigned later = gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0) {
        while (later != 0 && atomicAdd(&ready[later - 1], 0) == 0)
            x[self()] = x[self()] + 1.0f;
        __threadfence();
        atomicExch(&ready[later], 1);
    }
}

__device__ int nobody;

/* Nobody ever writes it: said at once. */
KERNEL(wait_for_nobody_in_a_long_loop)
{
    float v = x[self()];
    while (*(volatile int *)&nobody == 0) {
#pragma unroll
        for (int i = 0; i < 300; i++)
            v = v * 1.5f + (float)i; // FAULT synccheck: polls memory
    }
    x[self()] = v;
}

typedef float (*OfOne)(float);
typedef float (*OfTwo)(float, float);
__device__ float one(float v)
{
    return v + 1.0f;
}
__device__ OfOne ones[1] = {one};

/* It is called as what it is not. */
KERNEL(call_as_another_type)
{
    OfTwo two = (OfTwo)ones[n - 256];
    x[self()] = two(1.0f, 2.0f); // FAULT memcheck: Invalid program counter
}

__device__ float sum_down(const float *x, int at);

/* A thread's stack ends. */
KERNEL(recursion_without_end)
{
    x[self()] = sum_down(x, n - 1);
}

__device__ float sum_down(const float *x, int at)
{
    return at < 0 ? 0.0f : x[at] + sum_down(x, at - 1); // FAULT memcheck: Stack overflow: 65 calls
}

/* Each lane its own depth; some end there. */
KERNEL(clean_recursion)
{
    float v = sum_down(x + n / 2, (int)threadIdx.x % 9);
    if (threadIdx.x % 9 == 8 && v != 36.0f + 9.0f * n / 2) __trap();
}

/* No other thread can see it. */
KERNEL(atomic_on_an_array_of_its_own)
{
    volatile int own[64];
    for (int i = 0; i < 64; i++)
        own[i] = i;
    int *to = n > 256 ? (int *)empty : (int *)own; /* or nvcc sees it, too */
    atomicAdd(to + threadIdx.x, 1);                // FAULT memcheck: Invalid atomic operation
    x[self()] = (float)own[threadIdx.x];
}

/* An array in a parameter is read beyond its end. */
#define LOAD_BEYOND(value, parameter)                                                              \
    asm volatile("{\n.reg .u64 at;\nmov.u64 at, " #parameter ";\nld.param.f32 %0, [at+4096];\n}"   \
                 : "=f"(value))

KERNEL(parameter_past_the_end)
{
    float beyond;
    LOAD_BEYOND(beyond, parameter_past_the_end_param_0); // FAULT memcheck: Invalid parameter read
    x[self()] = beyond;
}

#define JUMP(index)                                                                                \
    asm volatile("{\nto: .branchtargets one, two;\nbrx.idx %0, to;\none:\ntwo:\n}" ::"r"(index))

KERNEL(jump_past_the_table)
{
    JUMP(n); // FAULT trap: brx.idx: index 256
    x[self()] = 1.0f;
}

#define TEXEL(v, object, at)                                                                       \
    asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"                                 \
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)                                      \
                 : "l"(object), "r"(at))

KERNEL(texture_that_nobody_made)
{
    const cudaTextureObject_t none = 12345;
    float4 v;
    TEXEL(v, none, threadIdx.x); // FAULT memcheck: Invalid texture or surface object
    x[self()] = v.x + v.y + v.z + v.w;
}

KERNEL(heap_freed_twice)
{
    float *block = (float *)malloc(64);
    free(block);
    free(block); // FAULT memcheck: Malloc/Free error encountered: Device-side double
}

KERNEL(heap_frees_what_it_did_not_give)
{
    float *block = (float *)malloc(64);
    free(block + n / 64); // FAULT memcheck: Invalid pointer to device-side free
}

KERNEL(heap_past_the_end)
{
    float *block = new float[n];
    block[threadIdx.x + n] = 1.0f; // FAULT memcheck: past the end of a 1024-byte allocation of the
    delete[] block;
}

KERNEL(heap_used_after_free)
{
    volatile float *block = (float *)malloc(64);
    block[threadIdx.x % 16] = 1.0f;
    free((void *)block);
    x[self()] = block[threadIdx.x % 16]; // FAULT memcheck: Use after free: invalid __global__ read
}

KERNEL(heap_added_to_unwritten)
{
    float *block = (float *)malloc(128);
    float *volatile kept = block;
    block = kept;
    block[threadIdx.x % 32] += x[self()]; // FAULT initcheck: this line adds to it
    x[self()] = block[threadIdx.x % 32];
}

KERNEL(heap_read_unwritten)
{
    float *block = (float *)malloc(64);
    x[self()] = block[threadIdx.x % 16]; // FAULT initcheck: Uninitialized __global__ memory read
    free(block);
}

/* All of the heap is given out and given back, eight times: so places are used again, by other
 * blocks and with barriers or without. */
KERNEL(clean_heap) // <<<16, 64, 0>>>
{
    for (int round = 0; round < 64; round++) {
        float *block = (float *)malloc(16 << 10);
        if (!block) __trap();
        block[threadIdx.x] = (float)round;
        if (block[threadIdx.x] != round) __trap();
        free(block);
    }
}

/* Null when the heap is full. */
KERNEL(clean_heap_is_full) // <<<1, 1, 0>>>
{
    if (malloc(9 << 20)) __trap();
    float *half = (float *)malloc(5 << 20), *more = (float *)malloc(5 << 20);
    if (!half || more) __trap();
    free(half);
    free(more);
    more = (float *)malloc(5 << 20);
    if (!more) __trap();
    free(more);
}

/* CUDA's guide makes atomics of floats and doubles so: the first load is a guess. */
KERNEL(clean_atomic_by_cas)
{
    unsigned long long *word = (unsigned long long *)x, seen = *word, guess;
    do {
        guess = seen;
        seen = atomicCAS(word, guess, __double_as_longlong(1.0 + __longlong_as_double(guess)));
    } while (seen != guess);
}

/* The load names the variable, the CAS has its address in a register. */
__device__ float sum_of_all[2];

KERNEL(clean_atomic_by_cas_of_variables) // <<<8, 256, 0>>>
{
    __shared__ float sum[2];
    if (threadIdx.x < 2) sum[threadIdx.x] = 0;
    __syncthreads();
    unsigned *word = (unsigned *)&sum[1], seen = *word, guess;
    do {
        guess = seen;
        seen = atomicCAS(word, guess, __float_as_uint(1 + __uint_as_float(guess)));
    } while (seen != guess);
    word = (unsigned *)&sum_of_all[1], seen = *word;
    do {
        guess = seen;
        seen = atomicCAS(word, guess, __float_as_uint(1 + __uint_as_float(guess)));
    } while (seen != guess);
}

__device__ int looked_at;

KERNEL(reads_a_variable_behind_a_cas)
{
    if (threadIdx.x >= 32) atomicCAS(&looked_at, 0, 1); // AND
    empty[self()] = looked_at; // FAULT racecheck: hazard on __global__ memory
}

KERNEL(reads_beside_a_cas)
{
    if (threadIdx.x >= 32) atomicCAS((int *)&x[n / 64], 0x40800000, 1); // AND
    empty[self()] = x[4]; // FAULT racecheck: hazard on __global__ memory
}

/* Groups of more than a warp work in shared memory that CUDA keeps for itself. */
KERNEL(clean_large_tiles) // <<<2, 256, 0>>>
{
    namespace cg = cooperative_groups;
    __shared__ cg::block_tile_memory<256> room;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(room));
    if (tile.shfl(threadIdx.x, 5) != threadIdx.x / 64 * 64 + 5 || !tile.any(threadIdx.x % 64 == 7))
        __trap();
    tile.sync();
}

/* The last warp detects that it is the last by an atomic on shared memory that acquires and
 * releases. */
KERNEL(clean_scan_of_large_tiles) // <<<2, 256, 0>>>
{
    namespace cg = cooperative_groups;
    __shared__ cg::block_tile_memory<256> room;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(room));
    if (cg::exclusive_scan(tile, 2) != (int)threadIdx.x % 64 * 2) __trap();
}

/* Lanes of one warp wait for others of it, which arrive for the last time. */
KERNEL(clean_barrier_dropped)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x % 4 == round)
            barrier.arrive_and_drop();
        else if (threadIdx.x % 4 > round)
            barrier.arrive_and_wait();
    }
}

/* Every element of a matrix is read, also the second of two that are loaded together. */
KERNEL(matrix_loaded_while_it_is_written)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half tile[256];
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        tile[i] = __float2half(0.0f);
    __syncthreads();
    if (threadIdx.x == 0) tile[77] = __float2half(x[n - 1]); // AND
    if (threadIdx.x < 32) return;
    load_matrix_sync(a, tile, 16); // FAULT racecheck: hazard on __shared__ memory
    empty[self()] = __half2float(a.x[0]) + __half2float(a.x[a.num_elements - 1]);
}

KERNEL(clean_matrix_loaded_beside_a_writer)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half tile[16][32];
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        tile[i / 32][i % 32] = __float2half(0.0f);
    __syncthreads();
    if (threadIdx.x < 16) tile[threadIdx.x][16] = __float2half(x[n - 1]);
    if (threadIdx.x < 32) return;
    load_matrix_sync(a, &tile[0][0], 32);
    empty[self()] = __half2float(a.x[0]) + __half2float(a.x[a.num_elements - 1]);
}

/* ---- lanes of one warp that exchange data in shared memory ----------------------------------- */

KERNEL(lanes_that_reduce_in_lockstep)
{
    __shared__ float part[64];
    float *own = part + threadIdx.x / 32 * 32;
    int lane = threadIdx.x % 32;
    own[lane] = x[self()];
    __syncwarp();
    if (lane < 16) own[lane] += own[lane + 16]; // AND
    if (lane < 8) own[lane] += own[lane + 8];   // FAULT racecheck: __syncwarp() is missing
    __syncwarp();
    if (lane == 0) empty[self()] = own[0];
}

KERNEL(clean_lanes_that_reduce)
{
    __shared__ float part[64];
    float *own = part + threadIdx.x / 32 * 32;
    int lane = threadIdx.x % 32;
    own[lane] = x[self()];
    for (int step = 16; step; step /= 2) {
        __syncwarp();
        if (lane < step) own[lane] += own[lane + step];
    }
    if (lane == 0) empty[self()] = own[0];
}

KERNEL(list_read_before_the_lanes_meet)
{
    __shared__ float list[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned mask = __ballot_sync(~0u, lane % 3 == 0);
    if (lane % 3 == 0) list[warp][__popc(mask & ((1u << lane) - 1))] = x[self()]; // AND
    float sum = 0.0f;
    for (int i = 0; i < __popc(mask); i++)
        sum += list[warp][i]; // FAULT racecheck: __syncwarp() is missing
    empty[self()] = sum;
}

/* The votes of the next round separate its stores from the reads of this round. */
KERNEL(clean_list_of_rounds)
{
    __shared__ float list[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int round = 1; round < 4; round++) {
        unsigned mask = __ballot_sync(~0u, lane % round == 0);
        if (lane % round == 0) list[warp][__popc(mask & ((1u << lane) - 1))] = x[self()];
        __syncwarp();
        for (int i = 0; i < __popc(mask); i++)
            sum += list[warp][i];
    }
    empty[self()] = sum;
}

/* Each lane reads the value that it stored itself, as all the others did. */
KERNEL(clean_lanes_that_set_one_flag)
{
    __shared__ volatile int found[2];
    found[threadIdx.x / 32] = n;
    empty[self()] = (float)found[threadIdx.x / 32];
}

/* A lane passes a value to another one by a flag. */
KERNEL(clean_lane_that_waits_for_a_lane) // <<<1, 32>>>
{
    __shared__ float word;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncwarp();
    if (threadIdx.x == 7) {
        word = (float)n;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 3) {
        while (!flag)
            ;
        __threadfence_block();
        empty[0] = word;
    }
}

KERNEL(clean_tile_of_lanes)
{
    namespace cg = cooperative_groups;
    __shared__ float part[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float *own = part + threadIdx.x / 8 * 8;
    own[tile.thread_rank()] = x[self()];
    for (int step = 4; step; step /= 2) {
        tile.sync();
        if (tile.thread_rank() < step) own[tile.thread_rank()] += own[tile.thread_rank() + step];
    }
    tile.sync();
    empty[self()] = own[0];
}

KERNEL(clean_words_of_each_lane)
{
    __shared__ float4 own[64];
    own[threadIdx.x] = make_float4(x[self()], 1, 2, 3);
    float *four = (float *)&own[threadIdx.x], sum = 0.0f;
    for (int i = 0; i < 4; i++)
        sum += four[(i + n) % 4];
    empty[self()] = sum;
}

/* The lanes arrive at a matrix load before it loads. */
KERNEL(clean_matrix_stored_by_lanes) // <<<1, 32>>>
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half tile[256];
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i] = __float2half(x[i % n]);
    __syncwarp();
    load_matrix_sync(a, tile, 16);
    empty[self()] = __half2float(a.x[0]);
}

/* ---- copies in flight (cp.async) ------------------------------------------------------------- */

#define COPY_FLOAT(to, from)                                                                       \
    asm volatile(                                                                                  \
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),  \
        "l"(from)                                                                                  \
        : "memory")
#define COPIES_COMMIT     asm volatile("cp.async.commit_group;" ::: "memory")
#define COPIES_WAIT(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

KERNEL(copy_that_nobody_waits_for)
{
    __shared__ float stage[64];
    COPY_FLOAT(&stage[threadIdx.x], x + threadIdx.x); // AND
    COPIES_COMMIT;
    __syncthreads();
    empty[self()] = stage[63 - threadIdx.x]; // FAULT racecheck: the copy is still in flight
}

KERNEL(copy_read_at_once)
{
    __shared__ float stage[64];
    COPY_FLOAT(&stage[threadIdx.x], x + threadIdx.x); // AND
    COPIES_COMMIT;
    empty[self()] = stage[threadIdx.x]; // FAULT initcheck: that writes it is still in flight
    COPIES_WAIT(0);
}

KERNEL(last_stage_still_in_flight)
{
    __shared__ float stage[2][64];
    float sum = 0;
    COPY_FLOAT(&stage[0][threadIdx.x], x + threadIdx.x);
    COPIES_COMMIT;
    for (int i = 0; i < 4; i++) {
        const float *from = x + (i + 1) * 64 + threadIdx.x;
        if (i < 3) COPY_FLOAT(&stage[(i + 1) % 2][threadIdx.x], from); // AND
        if (i < 3) COPIES_COMMIT;
        COPIES_WAIT(1);
        __syncthreads();
        sum += stage[i % 2][63 - threadIdx.x]; // FAULT racecheck: is still in flight
        __syncthreads();
    }
    empty[self()] = sum;
}

KERNEL(clean_stages_in_flight)
{
    __shared__ float stage[2][64];
    float sum = 0;
    COPY_FLOAT(&stage[0][threadIdx.x], x + threadIdx.x);
    COPIES_COMMIT;
    for (int i = 0; i < 4; i++) {
        if (i < 3) COPY_FLOAT(&stage[(i + 1) % 2][threadIdx.x], x + (i + 1) * 64 + threadIdx.x);
        COPIES_COMMIT;
        COPIES_WAIT(1);
        __syncthreads();
        sum += stage[i % 2][63 - threadIdx.x];
        __syncthreads();
    }
    empty[self()] = sum;
}

/* Each thread reads only what it copied itself, before it copies the next value. */
KERNEL(clean_copies_of_each_thread)
{
    __shared__ float own[64];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        COPY_FLOAT(&own[threadIdx.x], x + i * 64 + threadIdx.x);
        COPIES_COMMIT;
        COPIES_WAIT(0);
        sum += own[threadIdx.x];
    }
    __syncthreads();
    empty[self()] = sum;
}
