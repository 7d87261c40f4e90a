/* uniform.c - atomics on an address that ptxas knows to be the same for all lanes of a warp.
 *
 * The warp reduces the values of its lanes first, and one lane accesses memory. The analysis uses
 * only static knowledge: a value is uniform if it is computed from parameters, constants and the
 * block's coordinates, or loaded from a uniform address. A value varies if it depends on the
 * thread, or comes from another lane or from an atomic. It also varies if it is written in several
 * places that not all lanes reach. */
#include <stdlib.h>

#include "common/simulator/decode/decoder.h"

typedef struct Uniform {
    const SimtKernel *kernel;
    /* Per scoreboard number; written: 2 means more than once. */
    uint8_t *varies, *written, *read;
    int32_t *region; /* per instruction: number of enclosing divergent branches */
} Uniform;

/* A special register comes into the others by a mov. */
static int special_varies(const Ins *ins)
{
    uint32_t special = ins->a / (LANES * 4);
    if (ins->op != OP_MOV_32 || special >= SR_COUNT) return 0;
    return special <= SR_TID_Z || special == SR_LANEID || special == SR_WARPID ||
           (special >= SR_MASK_EQ && special <= SR_MASK_GT);
}

/* Does one of the lanes see something else than another? */
static int sources_vary(const Uniform *u, const Ins *ins)
{
    for (int k = 0; k < 6; k++)
        if (u->varies[ins->t_s[k]]) return 1;
    return special_varies(ins);
}

static int result_varies(const Uniform *u, const Ins *ins)
{
    /* Several lanes' calls may be active there, each with its own values. */
    int in_routine =
        u->kernel->calls.routines && ins >= u->kernel->code + u->kernel->calls.routine[0].entry;
    if (ins->class == CLASS_ATOMIC || ins->op == OP_SHFL || ins->space == PTX_LOCAL) return 1;
    return in_routine || sources_vary(u, ins);
}

/* Between a branch on a varying value and its reconvergence point, and in a loop that it closes. */
static void regions_find(const Uniform *u)
{
    uint32_t count = u->kernel->count;
    for (uint32_t i = 0; i <= count; i++)
        u->region[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Ins *ins = &u->kernel->code[i];
        if (ins->op != OP_BRA_P || !sources_vary(u, ins)) continue;
        uint32_t from = ins->target <= i ? ins->target : i + 1,
                 to = ins->reconv < count && ins->reconv > i ? ins->reconv : i + 1;
        u->region[from]++, u->region[to]--;
    }
    for (uint32_t i = 1; i <= count; i++)
        u->region[i] += u->region[i - 1];
}

/* One more pass over all instructions; 1: another value varies. */
static int vary_spread(const Uniform *u)
{
    int changed = 0;
    regions_find(u);
    for (uint32_t i = 0; i < u->kernel->count; i++) {
        const Ins *ins = &u->kernel->code[i];
        int varies = result_varies(u, ins);
        for (int k = 0; k < 4 && ins->t_d[k]; k++) {
            uint8_t *result = &u->varies[ins->t_d[k]];
            if (*result || !(varies || (u->written[ins->t_d[k]] > 1 && u->region[i]))) continue;
            *result = 1, changed = 1;
        }
    }
    return changed;
}

static WarpAggregate join_of(const Uniform *u, const Ins *ins)
{
    AtomOp op = (AtomOp)(ins->aux & 15);
    uint32_t format = ins->aux >> 8;
    int same_value = !u->varies[ins->t_s[1]], result = u->read[ins->t_d[0]];
    if (u->varies[ins->t_s[0]]) return WARP_AGGREGATE_NEVER;
    if (format >= FORMAT_F16 && format <= FORMAT_F64) return WARP_AGGREGATE_NEVER;
    if (op == ATOM_ADD && same_value) return WARP_AGGREGATE_COUNT;
    if (ins->bytes != 4) return WARP_AGGREGATE_NEVER;
    if (op == ATOM_ADD && result) return WARP_AGGREGATE_SCAN;
    int joins = op == ATOM_ADD || op == ATOM_MIN || op == ATOM_MAX || op == ATOM_AND ||
                op == ATOM_OR || op == ATOM_XOR;
    return joins && !result ? WARP_AGGREGATE_REDUCE : WARP_AGGREGATE_NEVER;
}

static int atomics_are_there(const SimtKernel *kernel)
{
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->code[i].op == OP_ATOM) return 1;
    return 0;
}

static void mentions_count(const Uniform *u)
{
    for (uint32_t i = 0; i < u->kernel->count; i++) {
        const Ins *ins = &u->kernel->code[i];
        for (int k = 0; k < 4 && ins->t_d[k]; k++)
            u->written[ins->t_d[k]] += u->written[ins->t_d[k]] < 2;
        for (int k = 0; k < 6; k++)
            u->read[ins->t_s[k]] = ins->t_s[k] != 0;
    }
}

void uniform_atomics_find(SimtKernel *kernel)
{
    Uniform u = {.kernel = kernel};
    if (!atomics_are_there(kernel) || kernel->scoreboard > UINT16_MAX) return;
    u.varies = calloc(3 * (size_t)kernel->scoreboard, 1);
    u.region = calloc((size_t)kernel->count + 2, sizeof *u.region);
    if (u.varies && u.region) {
        u.written = u.varies + kernel->scoreboard, u.read = u.written + kernel->scoreboard;
        mentions_count(&u);
        while (vary_spread(&u))
            continue;
        for (uint32_t i = 0; i < kernel->count; i++)
            if (kernel->code[i].op == OP_ATOM)
                kernel->code[i].joins = (uint8_t)join_of(&u, &kernel->code[i]);
    }
    free(u.varies), free(u.region);
}
