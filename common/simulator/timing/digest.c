/* digest.c - digests of control flow and addresses. */
#include "common/simulator/timing/digest.h"

#include <stdlib.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

/* ---- rules -------------------------------------------------------------------------------- */

/* The number of passes of these atomics in shared memory depends on the words' values. */
static int depends_on_values(const Ins *ins)
{
    const uint32_t op = ins->aux & 15;
    return ins->space != PTX_GLOBAL && (op == ATOM_MIN || op == ATOM_MAX || op == ATOM_CAS);
}

static uint8_t address_rule(const Ins *ins)
{
    const int is_generic = ins->op == OP_LD_GENERIC || ins->op == OP_ST_GENERIC;
    return DIGEST_MASK | (is_generic || ins->base64 ? DIGEST_WIDE : DIGEST_NARROW);
}

/* -1: its cost depends on more. */
static int rule_of(const Ins *ins)
{
    if (ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V) return DIGEST_MASK | DIGEST_WIDE;
    if (ins->op >= OP_LD_SHARED_8 && ins->op <= OP_ST_GENERIC && ins->op != OP_SPILL)
        return address_rule(ins);
    switch (ins->op) {
    case OP_ATOM:
        return depends_on_values(ins) ? -1 : address_rule(ins);
    case OP_LDMATRIX:
    case OP_STMATRIX:
        return address_rule(ins);
    case OP_CP_ASYNC:
        return DIGEST_SOURCE | address_rule(ins);
    case OP_DIV_F32:
    case OP_DIV_F64:
    case OP_MATCH:
        return DIGEST_MASK | DIGEST_COST;
    case OP_BRA_P:
    case OP_BRX:
    case OP_JOIN:
    case OP_EXIT:
    case OP_BAR:
    case OP_WARPSYNC:
    case OP_SHFL:
    case OP_VOTE:
    case OP_REDUX:
    case OP_ELECT:
        return DIGEST_MASK | DIGEST_FLOW;
    case OP_TEXTURE:
    case OP_TENSOR_MATRIX:
    case OP_MBARRIER:
    case OP_PHASE_LOOK:
    case OP_BULK_COPY:
    case OP_VALUES_SEND:
    case OP_BULK_GROUP:
    case OP_WGMMA:
    case OP_CLUSTER_BARRIER:
    case OP_MAP_REPLACE:
    case OP_MAP_PUBLISH:
    case OP_DEPENDENTS:
    case OP_CALL:
    case OP_RETURN:
    case OP_YIELD:
    case OP_CLOCK:
    case OP_NANOSLEEP:
    case OP_ACCELERATOR:
    case OP_PRINTF:
    case OP_ALLOCA:
    case OP_MALLOC:
    case OP_FREE:
        return -1;
    default:
        return ins->guard == NO_SLOT ? 0 : DIGEST_MASK;
    }
}

int digest_prepare(SimtKernel *kernel)
{
    const KernelTraits *traits = &kernel->traits;
    if (kernel->digest_rule) return 1;
    if (traits->allocates || traits->reads_clock || traits->polls_clock || traits->has_polling ||
        traits->awaits_launch || traits->reads_grid_barrier || traits->reads_cluster_rank ||
        traits->has_system_atomics || kernel->calls.routines || kernel->info.tells)
        return 0;
    uint8_t *rule = malloc(kernel->count + 1);
    if (!rule) return 0;
    for (uint32_t i = 0; i < kernel->count; i++) {
        const int how = kernel->code[i].yields ? -1 : rule_of(&kernel->code[i]);
        if (how < 0) {
            free(rule);
            return 0;
        }
        rule[i] = (uint8_t)how;
    }
    kernel->digest_rule = rule;
    return 1;
}

/* ---- digests ------------------------------------------------------------------------------ */

/* Odd, one per lane: a sum of products with them changes with each address.  Drawn at random. */
static const uint32_t FACTOR[LANES] = {
    0xc599a085u, 0xeaedcf4bu, 0xfcef6aa3u, 0xc1f60be1u, 0x94f60b7bu, 0xcd9dff97u, 0xd6b73cffu,
    0x8587212bu, 0x92847495u, 0xfbf8322bu, 0x82d34789u, 0x9d6608f7u, 0xc8aa69a3u, 0xcec2d5efu,
    0x9e22010bu, 0xf4d26f49u, 0xcfa0336du, 0xdafccd9fu, 0xbe541a11u, 0xa638caa5u, 0x89274947u,
    0xe62d3f4du, 0x9ffbe863u, 0x910edc17u, 0xa290176fu, 0xc5869e99u, 0xcb89c9f7u, 0xe565da21u,
    0xbca9e905u, 0xa7749d9fu, 0xb604c543u, 0xfe19dbb5u,
};

/* Both halves of an address have a factor of 32 bits, so that the loop becomes vector code. */
static inline uint64_t wide_term(uint64_t value, uint32_t lane)
{
    return (uint64_t)(uint32_t)value * FACTOR[lane] +
           ((value >> 32) * FACTOR[LANES - 1 - lane] << 16);
}

static uint64_t wide_sum(const Warp *warp, uint32_t slot, uint32_t mask)
{
    const uint64_t *value = (const uint64_t *)(const void *)(warp->file + slot);
    uint64_t sum = 0;
    if (mask == FULL_MASK)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum += wide_term(value[lane], lane);
    else
        for (uint32_t m = mask; m; m &= m - 1)
            sum += wide_term(value[__builtin_ctz(m)], (uint32_t)__builtin_ctz(m));
    return sum;
}

static uint64_t narrow_sum(const Warp *warp, uint32_t slot, uint32_t mask)
{
    const uint32_t *value = (const uint32_t *)(const void *)(warp->file + slot);
    uint64_t sum = 0;
    if (mask == FULL_MASK)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum += (uint64_t)value[lane] * FACTOR[lane];
    else
        for (uint32_t m = mask; m; m &= m - 1)
            sum += (uint64_t)value[__builtin_ctz(m)] * FACTOR[__builtin_ctz(m)];
    return sum;
}

void digest_before(Warp *warp, const Ins *ins, uint8_t how)
{
    uint32_t mask = warp->mask;
    if (how & DIGEST_COST) warp->step.is_slow_path = 0, warp->step.values = 0;
    if (ins->guard != NO_SLOT) {
        uint32_t p;
        __builtin_memcpy(&p, warp->file + ins->guard, sizeof p);
        mask &= ins->guard_negated ? ~p : p;
    }
    digest_add(warp, (uint64_t)(ins - warp->code) << 32 | mask);
    if (how & DIGEST_WIDE) digest_add(warp, wide_sum(warp, ins->a, mask));
    if (how & DIGEST_NARROW) digest_add(warp, narrow_sum(warp, ins->a, mask));
    if (!(how & DIGEST_SOURCE)) return;
    digest_add(warp, wide_sum(warp, ins->b, mask));
    if (ins->c != NO_SLOT) digest_add(warp, narrow_sum(warp, ins->c, mask));
}

void digest_after(Warp *warp, const Ins *ins, const Ins *next, uint8_t how)
{
    const uint64_t place = next ? (uint64_t)(next - warp->code) : UINT32_MAX;
    if (how & DIGEST_FLOW) digest_add(warp, place << 32 | warp->mask);
    if (how & DIGEST_COST)
        digest_add(warp, (uint64_t)warp->step.is_slow_path << 32 | warp->step.values);
    if (ins->op == OP_BAR)
        digest_add(warp, (uint64_t)warp->barrier.threads << 32 | warp->barrier.id);
}

void digest_block(Worker *worker)
{
    const Block *block = &worker->block;
    uint64_t digest = block->number;
    for (uint32_t w = 0; w < block->warps; w++)
        digest = digest_mix(digest, worker->warp[w].digest);
    __atomic_fetch_add(&worker->launch->digest, digest, __ATOMIC_RELAXED);
}
