/* merge.c - vectorisation by ptxas of loads from shared memory, and of stores. Four neighbouring
 * words or two pairs of words become one LDS.128 or STS.128, and two words one access of 64 bits.
 * The address must provably be a multiple of the width. If three of four words are read, ptxas
 * loads all four. The same holds for up to four halves that no instruction reads as integers,
 * because a load of its own extends each of those to 32 bits. Stores to global memory are merged in
 * the same way.
 *
 * The proof uses known zeros: the number of low bits of a register that are always zero, computed
 * from every instruction that writes it. The alignment of a pointer to global memory follows from
 * another access with the same register. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

enum { ALL_ZERO = 63, PASSES = 12, WINDOW = 256 };

typedef struct Zeros {
    SimtKernel *kernel;
    uint8_t *known;   /* per scoreboard number */
    uint8_t *integer; /* ... is it read as what no half is? */
} Zeros;

static uint32_t trailing(uint64_t bits)
{
    return bits ? (uint32_t)__builtin_ctzll(bits) : ALL_ZERO;
}

static uint32_t zeros_of(const Zeros *z, uint16_t score, uint32_t slot)
{
    uint64_t bits;
    if (score) return z->known[score];
    return constant_of(z->kernel, slot, &bits) ? trailing(bits) : 0;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Known zeros of what the instruction writes. */
static uint32_t result_zeros(const Zeros *z, const Ins *ins)
{
    uint32_t a = zeros_of(z, ins->t_s[0], ins->a), b = zeros_of(z, ins->t_s[1], ins->b),
             c = zeros_of(z, ins->t_s[2], ins->c);
    uint64_t bits;
    switch (ins->op) {
    case OP_MOV_32:
    case OP_MOV_64:
    case OP_SEXT_64:
    case OP_ZEXT_64:
        return a;
    case OP_ADD_32:
    case OP_ADD_64:
    case OP_SUB_32:
    case OP_SUB_64:
    case OP_OR_32:
    case OP_OR_64:
        return smaller(a, b);
    case OP_MUL_32:
    case OP_MUL_64:
    case OP_MULWIDE_U32:
    case OP_MULWIDE_S32:
        return smaller(a + b, ALL_ZERO);
    case OP_MAD_32:
    case OP_MAD_64:
    case OP_MADWIDE_U32:
    case OP_MADWIDE_S32:
        return smaller(smaller(a + b, ALL_ZERO), c);
    case OP_AND_32:
    case OP_AND_64:
        return a > b ? a : b;
    case OP_SHL_32:
    case OP_SHL_64:
        return constant_of(z->kernel, ins->b, &bits) && bits < 64
                   ? smaller(a + (uint32_t)bits, ALL_ZERO)
                   : a;
    default:
        return 0;
    }
}

static int zeros_find(Zeros *z)
{
    z->known = malloc(z->kernel->scoreboard);
    if (!z->known) return -1;
    memset(z->known, ALL_ZERO, z->kernel->scoreboard);
    int changed = 1;
    for (int pass = 0; pass < PASSES && changed; pass++) {
        changed = 0;
        for (uint32_t i = 0; i < z->kernel->count; i++) {
            const Ins *ins = &z->kernel->code[i];
            uint32_t zeros = ins->t_d[0] ? result_zeros(z, ins) : 0;
            for (int k = 0; k < 4 && ins->t_d[k]; k++) {
                uint8_t least = (uint8_t)smaller(z->known[ins->t_d[k]], k ? 0 : zeros);
                changed |= least != z->known[ins->t_d[k]];
                z->known[ins->t_d[k]] = least;
            }
        }
    }
    /* Without a fixpoint nothing is known. */
    if (changed) memset(z->known, 0, z->kernel->scoreboard);
    return 0;
}

/* Does it use 16 bits of a register without conversion? */
static int takes_half(const Ins *ins)
{
    return ins->op == OP_HALF || ins->op == OP_PACK_32 || ins->op == OP_CVT_F32_F16 ||
           ins->op == OP_CVT_F32_BF16 || ins->class == CLASS_STORE ||
           ins->class == CLASS_SHARED_STORE;
}

static int integers_find(Zeros *z)
{
    z->integer = calloc(z->kernel->scoreboard, 1);
    for (uint32_t i = 0; z->integer && i < z->kernel->count; i++)
        for (int k = 0; k < 6 && !takes_half(&z->kernel->code[i]); k++)
            z->integer[z->kernel->code[i].t_s[k]] = 1;
    return z->integer ? 0 : -1;
}

static int is_global_store(const Ins *ins)
{
    return ins->class == CLASS_STORE && ins->space == PTX_GLOBAL && !ins->order && !ins->pseudo;
}

/* Bytes of an access that may be a part of a wider one; 0: it may not. */
static uint32_t part_of(const Zeros *z, const Ins *ins)
{
    uint32_t bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
    if (ins->class == CLASS_FREE) return 0; /* a load that is left out */
    if (is_global_store(ins)) return ins->guard != NO_SLOT || bytes < 2 || bytes > 8 ? 0 : bytes;
    switch (ins->op) {
    case OP_LD_SHARED_16:
        if (z->integer[ins->t_d[0]]) return 0;
        /* fallthrough */
    case OP_LD_SHARED_32:
    case OP_LD_SHARED_64:
    case OP_LD_SHARED_V:
    case OP_ST_SHARED_16:
    case OP_ST_SHARED_32:
    case OP_ST_SHARED_64:
    case OP_ST_SHARED_V:
        return ins->guard != NO_SLOT || ins->part_bytes || bytes < 2 || bytes > 8 ? 0 : bytes;
    default:
        return 0;
    }
}

/* May the instruction conflict with an access that moves across it? Stores with the same base
 * register do not overlap. */
static int is_between(const Ins *first, const Ins *ins)
{
    if (ins->class == CLASS_BRANCH || ins->class == CLASS_BARRIER || ins->class == CLASS_ATOMIC ||
        ins->op == OP_JOIN)
        return 1;
    if (is_global_store(first))
        return (ins->class == CLASS_LOAD && !ins->read_only) ||
               (ins->class == CLASS_STORE && (!is_global_store(ins) || ins->a != first->a));
    if (first->class == CLASS_SHARED_LOAD) return ins->class == CLASS_SHARED_STORE;
    return ins->class == CLASS_SHARED_LOAD ||
           (ins->class == CLASS_SHARED_STORE && ins->a != first->a);
}

/* The access of the same size at `imm` with the same base register as code[at]. */
static Ins *partner(const Zeros *z, uint32_t at, int64_t imm)
{
    SimtKernel *kernel = z->kernel;
    const Ins *first = &kernel->code[at];
    for (uint32_t k = at + 1; k < kernel->count && k < at + WINDOW; k++) {
        Ins *ins = &kernel->code[k];
        if (is_between(first, ins)) return NULL;
        if (ins->class == first->class && part_of(z, ins) == part_of(z, first) &&
            ins->a == first->a && ins->imm == imm && ins->merge == MERGE_NONE)
            return ins;
        for (int d = 0; d < 4 && first->t_s[0] && ins->t_d[d]; d++)
            if (ins->t_d[d] == first->t_s[0]) return NULL;
    }
    return NULL;
}

/* Loads are merged at the position of the first of them, stores at that of the last. */
static int merge_try(const Zeros *z, uint32_t at, int64_t bytes)
{
    Ins *part[4] = {&z->kernel->code[at]}, *joined = part[0];
    int64_t each = part_of(z, joined), base = joined->imm & ~(bytes - 1);
    uint32_t parts = 1;
    uint32_t spare = joined->class == CLASS_SHARED_LOAD && bytes == 4 * each;
    for (int64_t imm = base; imm < base + bytes; imm += each) {
        if (imm == part[0]->imm) continue;
        part[parts] = partner(z, at, imm);
        if (!part[parts]) {
            if (!spare--) return 0;
            continue;
        }
        if (joined->class != CLASS_SHARED_LOAD && part[parts] > joined) joined = part[parts];
        parts++;
    }
    for (uint32_t i = 0; i < parts; i++)
        part[i]->merge = MERGE_FOLLOWER;
    joined->merge = bytes == 16 ? MERGE_16 : bytes == 8 ? MERGE_8 : MERGE_4;
    return 1;
}

/* Does another access of at least this size in the same basic block show that the register is a
 * multiple of the size? */
static int is_shown(const SimtKernel *kernel, uint32_t at, int64_t bytes)
{
    const Ins *first = &kernel->code[at];
    for (int step = -1; step <= 1; step += 2)
        for (uint32_t k = at + (uint32_t)step, n = 0; k < kernel->count && n < WINDOW;
             k += (uint32_t)step, n++) {
            const Ins *ins = &kernel->code[k];
            if (ins->class == CLASS_BRANCH || ins->op == OP_JOIN) break;
            int64_t wide = ins->bytes * (ins->vector > 1 ? ins->vector : 1);
            if ((ins->class == CLASS_LOAD || ins->class == CLASS_STORE) &&
                ins->space == PTX_GLOBAL && ins->guard == NO_SLOT && ins->a == first->a &&
                wide >= bytes && ins->imm % bytes == 0)
                return 1;
            for (int d = 0; d < 4 && ins->t_d[d]; d++)
                if (ins->t_d[d] == first->t_s[0]) n = WINDOW;
        }
    return 0;
}

/* Up to four parts become the widest access that is possible. */
static void parts_merge(const Zeros *z, uint32_t at)
{
    const Ins *ins = &z->kernel->code[at];
    uint32_t zeros = zeros_of(z, ins->t_s[0], ins->a);
    for (int64_t each = part_of(z, ins), bytes = each * 4; bytes > each; bytes /= 2)
        if (bytes <= 16 &&
            (bytes <= (int64_t)1 << smaller(zeros, 4) ||
             (is_global_store(ins) && is_shown(z->kernel, at, bytes))) &&
            merge_try(z, at, bytes))
            return;
}

void accesses_merge(SimtKernel *kernel)
{
    Zeros z = {.kernel = kernel};
    if (zeros_find(&z) == 0 && integers_find(&z) == 0)
        for (uint32_t i = 0; i < kernel->count; i++)
            if (part_of(&z, &kernel->code[i]) && kernel->code[i].merge == MERGE_NONE)
                parts_merge(&z, i);
    free(z.known), free(z.integer);
}
