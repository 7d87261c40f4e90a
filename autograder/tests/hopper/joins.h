// joins.h - reducing copies (cp.reduce.async.bulk), and remote stores (st.async).
#ifndef CONVLAB_CONFORMANCE_HOPPER_JOINS_H
#define CONVLAB_CONFORMANCE_HOPPER_JOINS_H

#include "clusters.h"

enum { JOINED = 256 }; // words

// Words of type `kind`, to the block's memory and from there to y.
#define JOIN(NAME, FORM, KIND)                                                                     \
    __global__ void NAME(uint32_t *y)                                                              \
    {                                                                                              \
        __shared__ __align__(128) uint32_t word[JOINED];                                           \
        for (uint32_t i = threadIdx.x; i < JOINED; i += blockDim.x)                                \
            word[i] = drawn(KIND, i + 4711), y[i] = drawn(KIND, i + 1147);                         \
        asm volatile("fence.proxy.async;" ::: "memory");                                           \
        __syncthreads();                                                                           \
        if (threadIdx.x) return;                                                                   \
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." FORM                    \
                     " [%0], [%1], %2;" ::"l"(y),                                                  \
                     "r"(shared_of(word)), "r"(JOINED * 4)                                         \
                     : "memory");                                                                  \
        asm volatile("cp.async.bulk.commit_group;");                                               \
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");                                  \
    }

JOIN(join_add_f32, "add.f32", SINGLES)
JOIN(join_add_f32_tiny, "add.f32", TINY_HALVES)
JOIN(join_add_f32_any, "add.f32", BYTES)
JOIN(join_add_f64, "add.f64", SINGLES)
JOIN(join_add_f64_any, "add.f64", BYTES)
JOIN(join_add_f16_any, "add.noftz.f16", BYTES)
JOIN(join_add_bf16_any, "add.noftz.bf16", BYTES)
JOIN(join_add_f16, "add.noftz.f16", HALVES)
JOIN(join_add_f16_tiny, "add.noftz.f16", TINY_HALVES)
JOIN(join_add_bf16, "add.noftz.bf16", BRAINS)
JOIN(join_min_f16, "min.f16", HALVES)
JOIN(join_max_bf16, "max.bf16", BRAINS)
JOIN(join_max_f16_any, "max.f16", BYTES)
JOIN(join_min_bf16_any, "min.bf16", BYTES)
JOIN(join_add_u32, "add.u32", BYTES)
JOIN(join_add_u64, "add.u64", BYTES)
JOIN(join_min_s32, "min.s32", BYTES)
JOIN(join_max_u32, "max.u32", BYTES)
JOIN(join_min_u64, "min.u64", BYTES)
JOIN(join_max_s64, "max.s64", BYTES)
JOIN(join_inc_u32, "inc.u32", BYTES)
JOIN(join_dec_u32, "dec.u32", BYTES)
JOIN(join_and_b32, "and.b32", BYTES)
JOIN(join_or_b64, "or.b64", BYTES)
JOIN(join_xor_b32, "xor.b32", BYTES)

// Adds shared memory to a box of a tensor.
__global__ void join_tile(const __grid_constant__ CUtensorMap map, Where w)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    for (uint32_t i = threadIdx.x; i < IMAGE / 4; i += blockDim.x)
        ((uint32_t *)memory)[i] = drawn(SINGLES, i + 31337);
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                 "r"(shared_of(memory)), "r"(w.at[0]), "r"(w.at[1]), "r"(w.at[2])
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

static const Tile SUMS[] = {
    {"join-tile", F32, {32, 20, 30}, {16, 7, 9}, SW64, {16, 3, 4}},
    {"join-tile-end", F32, {32, 20, 30}, {16, 7, 9}, PLAIN_ROWS, {20, 15, 28}},
    {"join-tile-halves", F16, {64, 20, 30}, {32, 7, 9}, SW64, {40, 15, 2}},
    {"join-tile-ints", I32, {32, 20, 30}, {16, 7, 9}, SW64, {16, 3, 4}},
};

// Each block of a pair stores words, pairs and quadruples to the other, adds to others, and copies
// to and reduces with others in rows.
__global__ void __cluster_dims__(2, 1, 1) sent(uint32_t *y)
{
    __shared__ __align__(128) uint32_t own[64], copied[64], joined[64], fours[256], sum[8];
    __shared__ __align__(8) uint64_t barrier;
    uint32_t rank, i = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    own[i] = hash(i + 64 * rank), joined[i] = i, copied[i] = 0;
    for (uint32_t k = 0; k < 4; k++)
        fours[i * 4 + k] = 0;
    if (i < 8) sum[i] = 7 * i;
    if (i == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(&barrier)),
            "r"(64 * 16 + 64 * 4 + 256 + 256)
            : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    CLUSTER_SYNC;
    const uint32_t there = peer_address(&barrier, rank ^ 1);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 "
                 "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(peer_address(&fours[i * 4], rank ^ 1)),
                 "r"(i), "r"(rank), "r"(i * i), "r"(own[i]), "r"(there)
                 : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
                 "[%0], %1, [%2];" ::"r"(peer_address(&sum[i % 8], rank ^ 1)),
                 "r"(i + rank), "r"(there)
                 : "memory");
    if (i == 0) {
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 256, [%2];" ::"r"(peer_address(copied, rank ^ 1)),
                     "r"(shared_of(own)), "r"(there)
                     : "memory");
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                     ".add.u32 [%0], [%1], 256, [%2];" ::"r"(peer_address(joined, rank ^ 1)),
                     "r"(shared_of(own)), "r"(there)
                     : "memory");
    }
    phase_wait(&barrier, 0);
    uint32_t *to = y + (blockIdx.x * 64 + i) * 8;
    for (uint32_t k = 0; k < 4; k++)
        to[k] = fours[i * 4 + k];
    to[4] = copied[i], to[5] = joined[i], to[6] = sum[i % 8], to[7] = rank;
    CLUSTER_SYNC;
}

typedef void Join(uint32_t *);

static void joins()
{
#define NAMED(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    static const struct {
        const char *name;
        Join *kernel;
    } FORMS[] = {
        NAMED(join_add_f32_any),  NAMED(join_add_f64_any),  NAMED(join_add_f16_any),
        NAMED(join_add_bf16_any), NAMED(join_add_f32),      NAMED(join_add_f32_tiny),
        NAMED(join_add_f64),      NAMED(join_add_f16),      NAMED(join_add_f16_tiny),
        NAMED(join_add_bf16),     NAMED(join_min_f16),      NAMED(join_max_bf16),
        NAMED(join_max_f16_any),  NAMED(join_min_bf16_any), NAMED(join_add_u32),
        NAMED(join_add_u64),      NAMED(join_min_s32),      NAMED(join_max_u32),
        NAMED(join_min_u64),      NAMED(join_max_s64),      NAMED(join_inc_u32),
        NAMED(join_dec_u32),      NAMED(join_and_b32),      NAMED(join_or_b64),
        NAMED(join_xor_b32),
    };
    for (const auto &form : FORMS) {
        if (!wanted(form.name)) continue;
        form.kernel<<<1, 64>>>(y);
        tell(form.name, y, JOINED);
    }
    check(cudaFuncSetAttribute(join_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE),
          "join-tile");
    for (const Tile &t : SUMS) {
        if (!wanted(t.name)) continue;
        uint32_t bytes;
        for (uint32_t i = 0; i < 20000; i++)
            y[i] = drawn(t.type == F16 ? HALVES : SINGLES, i);
        CUtensorMap map = tile_map(t, y, &bytes);
        join_tile<<<1, 128, IMAGE>>>(map, corner(t));
        tell(t.name, y, 20000);
    }
    if (!wanted("sent")) return;
    sent<<<4, 64>>>(y);
    tell("sent", y, 4 * 64 * 8);
}

#endif
