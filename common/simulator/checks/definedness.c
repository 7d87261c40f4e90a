/* definedness.c - undefined values in registers: how instructions pass them on, and which uses are
 * reported. */
#include "common/simulator/checks/definedness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/checks/origin.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/async.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

enum { BRANCH_USE, ADDRESS_USE, STORE_USE, CALL_USE, ATOMIC_USE, BARRIER_USE };

static const char *const USE[] = {[BRANCH_USE] = "decides a branch",
                                  [ADDRESS_USE] = "is used as an address",
                                  [STORE_USE] = "is stored to global memory",
                                  [CALL_USE] = "is passed to a function, or returned by it",
                                  [ATOMIC_USE] = "is an operand of an atomic",
                                  [BARRIER_USE] = "is an operand of a barrier"};

/* The source of undefined values: a load, or the first use of an unassigned register. */
struct UndefinedSource {
    const Ins *ins;
    uint32_t lanes, bytes; /* bytes 0: a register */
    PtxSpace space;
    uint64_t address[LANES];
    char copy[160]; /* words about a copy in flight to the address */
};

/* ---- the state of a warp --------------------------------------------------------------------- */
static uint32_t lanes_at(const Warp *warp, uint32_t slot)
{
    return slot < warp->worker->kernel->file_bytes ? warp->undefined.lanes[slot / 4] : 0;
}

static uint16_t source_at(const Warp *warp, uint32_t slot)
{
    return slot < warp->worker->kernel->file_bytes ? warp->undefined.source[slot / 4] : 0;
}

/* Sets the undefined lanes among those of `mask`. */
static void lanes_set(Warp *warp, uint32_t slot, uint32_t mask, uint32_t lanes, uint16_t source)
{
    if (slot == NO_SLOT || slot >= warp->worker->kernel->file_bytes) return;
    uint32_t *at = &warp->undefined.lanes[slot / 4], now = (*at & ~mask) | (lanes & mask);
    warp->undefined.count += (now != 0) - (*at != 0);
    *at = now;
    if (lanes & mask) warp->undefined.source[slot / 4] = source;
    if (!warp->undefined.count) warp->undefined.is_followed = 0;
}

static int undefined_open(Warp *warp)
{
    WarpUndefined *undefined = &warp->undefined;
    size_t places = warp->worker->kernel->file_bytes / 4 + 1;
    if (!undefined->lanes) undefined->lanes = calloc(places, sizeof *undefined->lanes);
    if (!undefined->source) undefined->source = calloc(places, sizeof *undefined->source);
    return undefined->lanes && undefined->source ? 0 : -1;
}

static void undefined_clear(Warp *warp)
{
    WarpUndefined *undefined = &warp->undefined;
    size_t places = warp->worker->kernel->file_bytes / 4 + 1;
    if (undefined->count) memset(undefined->lanes, 0, places * sizeof *undefined->lanes);
    undefined->count = 0, undefined->is_followed = 0, undefined->sources = 0;
}

void undefined_close(Warp *warp)
{
    free(warp->undefined.lanes), free(warp->undefined.source), free(warp->undefined.from);
    warp->undefined = (WarpUndefined){0};
}

void undefined_begin(Warp *warp)
{
    const SimtKernel *kernel = warp->worker->kernel;
    undefined_clear(warp);
    if (!kernel->unassigned.count || undefined_open(warp) != 0) return;
    for (uint32_t i = 0; i < kernel->unassigned.count; i++)
        lanes_set(warp, kernel->unassigned.slot[i], FULL_MASK, FULL_MASK, 0);
    warp->undefined.is_followed = warp->undefined.count != 0;
}

/* The number of the instruction's source, from 1; 0: there is no memory for it. */
static uint16_t source_make(Warp *warp, const Ins *ins)
{
    WarpUndefined *undefined = &warp->undefined;
    enum { SOURCES_MOST = 1024 };
    for (uint32_t i = 0; i < undefined->sources; i++)
        if (undefined->from[i].ins == ins) return (uint16_t)(i + 1);
    if (undefined->sources == SOURCES_MOST) return 0;
    if (undefined->sources == undefined->room) {
        uint32_t room = undefined->room ? 2 * undefined->room : 4;
        UndefinedSource *grown = realloc(undefined->from, room * sizeof *grown);
        if (!grown) return 0;
        undefined->from = grown, undefined->room = room;
    }
    UndefinedSource *source = &undefined->from[undefined->sources++];
    source->ins = ins, source->lanes = source->bytes = 0, source->copy[0] = '\0';
    return (uint16_t)undefined->sources;
}

/* ---- loads and stores ------------------------------------------------------------------------ */
int undefined_can_follow(const Warp *warp, const Ins *ins)
{
    return is_plain_load(ins) && !warp->worker->gpu->debug &&
           !warp->worker->gpu->options.init_at_read;
}

int undefined_read(Warp *warp, const Ins *ins, const UndefinedRead *read)
{
    uint32_t count = ins->vector > 1 ? ins->vector : 1, all = 0;
    uint16_t number = undefined_open(warp) == 0 ? source_make(warp, ins) : 0;
    if (!number) return -1;
    UndefinedSource *source = &warp->undefined.from[number - 1];
    for (uint32_t k = 0; k < count; k++)
        all |= read->lanes[k];
    source->lanes |= all, source->bytes = read->bytes, source->space = read->space;
    for (uint32_t left = all; left; left &= left - 1)
        source->address[__builtin_ctz(left)] = read->address[__builtin_ctz(left)];
    if (read->space == PTX_SHARED && warp->copies.count)
        race_copy_describe(warp, (uint32_t)read->address[__builtin_ctz(all)], source->copy,
                           sizeof source->copy);
    for (uint32_t k = 0; k < count; k++)
        if (read->lanes[k])
            lanes_set(warp, ins->vector > 1 ? ins->v[k] : ins->d, read->lanes[k], FULL_MASK,
                      number);
    if (!warp->undefined.count) return 0;
    warp->undefined.is_followed = 1, warp->chunk = 0;
    return 0;
}

void undefined_stored(Warp *warp, const Ins *ins, unsigned char *shadow, const uint32_t *offset,
                      uint32_t mask)
{
    uint32_t count = ins->vector > 1 ? ins->vector : 1;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t lanes = lanes_at(warp, ins->vector > 1 ? ins->v[k] : ins->d) & mask;
        for (; lanes; lanes &= lanes - 1) {
            uint32_t at = offset[__builtin_ctz(lanes)] + k * ins->bytes;
            for (uint32_t end = at + ins->bytes; at < end; at++)
                shadow[at / 8] = (unsigned char)(shadow[at / 8] & ~(1u << at % 8));
        }
    }
}

int adds_in_place(const SimtKernel *kernel, const Ins *ins)
{
    enum { SOON = 16 };
    const Ins *end = kernel->code + kernel->count;
    const uint32_t line = source_own_line(kernel, ins->from);
    if (ins->class == CLASS_ATOMIC) return 1;
    for (const Ins *next = ins + 1; line && next < end && next <= ins + SOON; next++)
        if (next->class == CLASS_STORE && next->a == ins->a && next->imm == ins->imm &&
            source_own_line(kernel, next->from) == line)
            return 1;
    return 0;
}

/* ---- reports --------------------------------------------------------------------------------- */
static void use_describe(const Warp *warp, const Ins *source, const Ins *use, int how, char *text,
                         size_t bytes)
{
    const SimtKernel *kernel = warp->worker->kernel;
    char where[320], from[320];
    source_name(kernel, use->from, where, sizeof where);
    source_name(kernel, source->from, from, sizeof from);
    *text = '\0';
    if (strcmp(where, from)) snprintf(text, bytes, "; its value %s at %.200s", USE[how], where);
}

/* Reports the use of the undefined `lanes` of a register; from then on the register counts as
 * defined. */
static void use_report(Warp *warp, const Ins *ins, uint32_t slot, uint32_t lanes, int how)
{
    uint16_t number = source_at(warp, slot);
    UndefinedSource *source = number ? &warp->undefined.from[number - 1] : NULL;
    const Ins *at = source ? source->ins : ins;
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    char near[400] = "", use[280];
    use_describe(warp, at, ins, how, use, sizeof use);
    lanes_set(warp, slot, FULL_MASK, 0, 0);
    if (!source || !source->bytes) {
        finding_add(warp, at, SIMT_INITCHECK, lane, 0, 0,
                    "Uninitialized register read: a variable that this thread has not assigned%s",
                    use);
        return;
    }
    if (!(source->lanes >> lane & 1)) lane = (uint32_t)__builtin_ctz(source->lanes);
    uint64_t address = source->address[lane];
    if (source->space == PTX_GLOBAL && finding_is_described(warp, at, SIMT_INITCHECK)) {
        memcpy(near, ": ", 3);
        origin_describe(warp, at, address, near + 2, sizeof near - 2);
        size_t n = strlen(near);
        if (adds_in_place(warp->worker->kernel, at))
            snprintf(near + n, sizeof near - n, "; this line adds to it");
    }
    finding_add(warp, at, SIMT_INITCHECK, lane, address, source->bytes,
                "Uninitialized %s memory read of %u bytes%s%s%s",
                source->space == PTX_SHARED  ? "__shared__"
                : source->space == PTX_LOCAL ? "__local__"
                                             : "__global__",
                source->bytes, near, source->copy, use);
}

static void use_check(Warp *warp, const Ins *ins, uint32_t slot, uint32_t mask, int how)
{
    uint32_t lanes = slot == NO_SLOT ? 0 : lanes_at(warp, slot) & mask;
    if (lanes) use_report(warp, ins, slot, lanes, how);
}

/* ---- passing on ------------------------------------------------------------------------------ */
/* Undefined lanes of some registers, and where the first of them comes from. */
typedef struct Undefined {
    uint32_t lanes;
    uint16_t source;
} Undefined;

static void undefined_add(const Warp *warp, Undefined *sum, uint32_t slot)
{
    uint32_t lanes = slot == NO_SLOT ? 0 : lanes_at(warp, slot);
    if (lanes && !sum->lanes) sum->source = source_at(warp, slot);
    sum->lanes |= lanes;
}

/* An unassigned register is named by the first instruction that does more than copy it. */
static void source_name_first(Warp *warp, const Ins *ins, Undefined *sum)
{
    int copies = ins->op == OP_MOV_32 || ins->op == OP_MOV_64 || ins->op == OP_MOV_P;
    if (sum->lanes && !sum->source && !copies) sum->source = source_make(warp, ins);
}

static void result_set(Warp *warp, uint32_t slot, uint32_t mask, const Undefined *sum)
{
    lanes_set(warp, slot, mask, sum->lanes, sum->source);
}

static uint32_t zeros_of(const Warp *warp, uint32_t slot, int wide)
{
    const char *at = warp->file + slot;
    uint32_t zeros = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t value = 0;
        memcpy(&value, at + i * (wide ? 8 : 4), wide ? 8 : 4);
        zeros |= (uint32_t)(value == 0) << i;
    }
    return zeros & ~lanes_at(warp, slot);
}

static uint32_t predicate_at(const Warp *warp, uint32_t slot)
{
    uint32_t bits = 0;
    if (slot >= warp->worker->kernel->file_bytes) return 0;
    memcpy(&bits, warp->file + slot, sizeof bits);
    return bits;
}

/* Lanes whose result is defined although an operand is not: 0 & x, true | x. */
static uint32_t decided_lanes(const Warp *warp, const Ins *ins)
{
    uint32_t a = predicate_at(warp, ins->a), b = predicate_at(warp, ins->b),
             defined_a = ~lanes_at(warp, ins->a), defined_b = ~lanes_at(warp, ins->b), c;
    switch (ins->op) {
    case OP_AND_P:
        return (~a & defined_a) | (~b & defined_b);
    case OP_OR_P:
        return (a & defined_a) | (b & defined_b);
    case OP_AND_32:
    case OP_AND_64:
    case OP_MUL_32:
        return zeros_of(warp, ins->a, ins->op == OP_AND_64) |
               zeros_of(warp, ins->b, ins->op == OP_AND_64);
    default:
        break;
    }
    if (ins->op < OP_EQ_32 || ins->op > OP_INF_F64 || !ins->aux) return 0;
    c = predicate_at(warp, ins->c) ^ (ins->aux & 4 ? FULL_MASK : 0);
    int how = ins->aux & 3;
    return how == 1 ? ~c & ~lanes_at(warp, ins->c) : how == 2 ? c & ~lanes_at(warp, ins->c) : 0;
}

static Undefined selection(const Warp *warp, const Ins *ins)
{
    uint32_t p = predicate_at(warp, ins->c) ^ (ins->aux ? FULL_MASK : 0),
             unknown = lanes_at(warp, ins->c), a = lanes_at(warp, ins->a) & p,
             b = lanes_at(warp, ins->b) & ~p;
    uint32_t slot = unknown ? ins->c : a ? ins->a : ins->b;
    return (Undefined){unknown | a | b, source_at(warp, slot)};
}

static uint32_t word_at(const Warp *warp, uint32_t slot, uint32_t lane)
{
    uint32_t word;
    memcpy(&word, warp->file + slot + lane * 4, sizeof word);
    return word;
}

/* The lane from which a shuffle takes its value. */
static uint32_t shuffle_from(const Warp *warp, const Ins *ins, uint32_t lane)
{
    uint32_t b = word_at(warp, ins->b, lane) & 31, c = word_at(warp, ins->c, lane), clamp = c & 31,
             segment = c >> 8 & 31, low = lane & segment, high = low | (clamp & ~segment);
    uint32_t from = ins->aux == SHFL_UP     ? lane - b
                    : ins->aux == SHFL_DOWN ? lane + b
                    : ins->aux == SHFL_BFLY ? lane ^ b
                                            : low | (b & ~segment);
    int valid = ins->aux == SHFL_UP ? (int32_t)from >= (int32_t)high : from <= high;
    return (valid ? from : lane) & 31;
}

static void shuffle_step(Warp *warp, const Ins *ins)
{
    uint32_t given = lanes_at(warp, ins->a), lanes = 0;
    for (uint32_t i = 0; i < LANES && given; i++)
        lanes |= (given >> shuffle_from(warp, ins, i) & 1) << i;
    Undefined sum = {lanes, source_at(warp, ins->a)};
    undefined_add(warp, &sum, ins->b);
    source_name_first(warp, ins, &sum);
    result_set(warp, ins->d, warp->mask, &sum);
    lanes_set(warp, ins->v[1], warp->mask, lanes_at(warp, ins->b), source_at(warp, ins->b));
}

/* Votes, match and redux: one undefined lane of the mask makes all results undefined. */
static void vote_step(Warp *warp, const Ins *ins)
{
    uint32_t some = lanes_at(warp, ins->a) & warp->mask;
    Undefined sum = {some ? FULL_MASK : 0, source_at(warp, ins->a)};
    source_name_first(warp, ins, &sum);
    result_set(warp, ins->d, warp->mask, &sum);
    if (ins->op == OP_MATCH) result_set(warp, ins->v[1], warp->mask, &sum);
}

/* ---- matrix products ------------------------------------------------------------------------- */
/* Lanes of the same group of four: they have the same row of a and of d. */
static uint32_t rows_spread(uint32_t lanes)
{
    uint32_t rows = (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & 0x11111111u;
    return rows * 15;
}

/* Lanes with the column of d that these lanes have in b: group g of b is column g of d, which the
 * lanes g / 2 of all groups have. */
static uint32_t columns_spread(uint32_t lanes)
{
    uint32_t result = 0;
    for (uint32_t g = 0; g < 8; g++)
        if (lanes >> 4 * g & 15) result |= 0x11111111u << g / 2;
    return result;
}

/* mma of 16 rows: registers of a alternate between rows 0 to 7 and 8 to 15, those of d in pairs. */
static void mma_step(Warp *warp, const TensorPlan *plan)
{
    Undefined half[2] = {{0, 0}, {0, 0}}, columns = {0, 0};
    for (uint32_t r = 0; r < plan->a.count; r++)
        undefined_add(warp, &half[r & 1], plan->a.slot[r]);
    for (uint32_t r = 0; r < plan->b.count; r++)
        undefined_add(warp, &columns, plan->b.slot[r]);
    uint32_t across = columns_spread(columns.lanes);
    for (uint32_t r = 0; r < plan->d.count; r++) {
        uint32_t below = plan->d.count > 2 ? r >> 1 & 1 : r & 1;
        Undefined sum = half[below];
        sum.lanes = rows_spread(sum.lanes) | across;
        if (!half[below].lanes) sum.source = columns.source;
        if (r < plan->c.count) {
            uint32_t lanes = lanes_at(warp, plan->c.slot[r]);
            if (!sum.lanes) sum.source = source_at(warp, plan->c.slot[r]);
            sum.lanes |= lanes;
        }
        warp->undefined.result[r] = sum.lanes, warp->undefined.result_source[r] = sum.source;
    }
}

/* The fragments of other MMAs are not defined by the PTX ISA: one undefined value makes all
 * results undefined. */
static void fragments_step(Warp *warp, const TensorPlan *plan)
{
    Undefined sum = {0, 0};
    const Fragment *f[] = {&plan->a, &plan->b, &plan->c};
    for (int i = 0; i < 3; i++)
        for (uint32_t r = 0; r < f[i]->count; r++)
            undefined_add(warp, &sum, f[i]->slot[r]);
    for (uint32_t r = 0; r < plan->d.count; r++)
        warp->undefined.result[r] = sum.lanes ? FULL_MASK : 0,
        warp->undefined.result_source[r] = sum.source;
}

static void product_step(Warp *warp, const Ins *ins)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    int is_plain = ins->op == OP_TENSOR_PRODUCT && plan->kind == TENSOR_MMA && plan->m == 16;
    if (is_plain)
        mma_step(warp, plan);
    else
        fragments_step(warp, plan);
    for (uint32_t r = 0; r < plan->d.count; r++) {
        Undefined sum = {warp->undefined.result[r], warp->undefined.result_source[r]};
        source_name_first(warp, ins, &sum);
        result_set(warp, plan->d.slot[r], FULL_MASK, &sum);
    }
}

static void matrix_step(Warp *warp, const Ins *ins)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    use_check(warp, ins, ins->a, warp->mask, ADDRESS_USE);
    use_check(warp, ins, plan->stride, warp->mask, ADDRESS_USE);
    for (uint32_t r = 0;
         ins->space == PTX_GLOBAL && plan->kind == TENSOR_STORE && r < plan->c.count; r++)
        use_check(warp, ins, plan->c.slot[r], warp->mask, STORE_USE);
    for (uint32_t r = 0; r < plan->d.count; r++)
        lanes_set(warp, plan->d.slot[r], FULL_MASK, 0, 0);
}

/* The MMA of a warpgroup has the same fragments as mma. */
static void wgmma_step(Warp *warp, const Ins *ins)
{
    const WgmmaPlan *plan = &warp->worker->kernel->plans.wgmma[ins->aux];
    Undefined rows = {0, 0};
    int adds = predicate_at(warp, plan->scale_d) & 1;
    use_check(warp, ins, plan->b, warp->mask, ADDRESS_USE);
    if (!plan->factors) use_check(warp, ins, plan->a[0], warp->mask, ADDRESS_USE);
    use_check(warp, ins, plan->scale_d, warp->mask, BRANCH_USE);
    for (uint32_t r = 0; r < plan->factors; r++)
        undefined_add(warp, &rows, plan->a[r]);
    rows.lanes = rows_spread(rows.lanes);
    for (uint32_t r = 0; r < plan->results; r++) {
        Undefined sum = rows;
        if (adds) undefined_add(warp, &sum, plan->d[r]);
        source_name_first(warp, ins, &sum);
        result_set(warp, plan->d[r], FULL_MASK, &sum);
    }
}

/* ---- one instruction ------------------------------------------------------------------------- */
static int changes_flow(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRA_P || ins->op == OP_BRX || ins->op == OP_EXIT;
}

/* Do effects of the instruction go beyond registers? Then an undefined guard is a fault. */
static int has_effects(const Ins *ins)
{
    return changes_flow(ins) || is_store(ins) || ins->op == OP_ATOM || ins->op == OP_BAR ||
           ins->op == OP_TRAP || ins->op == OP_MBARRIER;
}

/* The lanes for which a guarded instruction executes. Lanes with an undefined guard keep or change
 * their result: it is undefined, too. *unknown is set to these lanes. */
static uint32_t active_lanes(Warp *warp, const Ins *ins, uint32_t *unknown)
{
    *unknown = 0;
    if (ins->guard == NO_SLOT) return warp->mask;
    uint32_t p = predicate_at(warp, ins->guard);
    if (has_effects(ins))
        use_check(warp, ins, ins->guard, warp->mask, BRANCH_USE);
    else
        *unknown = lanes_at(warp, ins->guard) & warp->mask;
    return (warp->mask & (ins->guard_negated ? ~p : p)) | *unknown;
}

/* Lanes of a store whose address is in global memory. */
static uint32_t lanes_in_global(const Warp *warp, const Ins *ins, uint32_t mask)
{
    uint32_t lanes = 0;
    if (ins->op >= OP_ST_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V) return mask;
    if (ins->op != OP_ST_GENERIC) return 0;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint64_t address;
        memcpy(&address, warp->file + ins->a + lane * sizeof address, sizeof address);
        lanes |= (uint32_t)(address + (uint64_t)ins->imm >= DEVICE_BASE) << lane;
    }
    return lanes;
}

static void store_step(Warp *warp, const Ins *ins, uint32_t mask)
{
    uint32_t count = ins->vector > 1 ? ins->vector : 1;
    /* Arguments and results of functions that are not inlined go through local memory. */
    int is_argument = ins->op == OP_ST_LOCAL && ins->class == CLASS_FREE;
    use_check(warp, ins, ins->a, mask, ADDRESS_USE);
    if (!is_argument) mask = lanes_in_global(warp, ins, mask);
    for (uint32_t k = 0; k < count; k++)
        use_check(warp, ins, ins->vector > 1 ? ins->v[k] : ins->d, mask,
                  is_argument ? CALL_USE : STORE_USE);
}

static void operands_check(Warp *warp, const Ins *ins, uint32_t mask, int how)
{
    use_check(warp, ins, ins->a, mask, how), use_check(warp, ins, ins->b, mask, how);
    use_check(warp, ins, ins->c, mask, how);
}

static void results_clear(Warp *warp, const Ins *ins, uint32_t mask)
{
    Operands operands;
    operands_of(warp->worker->kernel, ins, &operands);
    for (uint32_t i = 0; i < operands.writes; i++)
        lanes_set(warp, operands.write[i], mask, 0, 0);
}

static void arithmetic_step(Warp *warp, const Ins *ins, uint32_t mask, uint32_t unknown)
{
    Operands operands;
    Undefined sum = {0, 0};
    operands_of(warp->worker->kernel, ins, &operands);
    if (ins->op == OP_SELP_32 || ins->op == OP_SELP_64) {
        sum = selection(warp, ins);
    } else {
        for (uint32_t i = 0; i < operands.reads; i++)
            if (operands.read[i] != ins->guard) undefined_add(warp, &sum, operands.read[i]);
        if (sum.lanes) sum.lanes &= ~decided_lanes(warp, ins);
    }
    if (unknown & ~sum.lanes) {
        if (!sum.lanes) sum.source = source_at(warp, ins->guard);
        sum.lanes |= unknown;
    }
    source_name_first(warp, ins, &sum);
    for (uint32_t i = 0; i < operands.writes; i++)
        result_set(warp, operands.write[i], mask, &sum);
}

/* Matrix products, and operations of the lanes of a warp. 0: it is neither. */
static int group_step(Warp *warp, const Ins *ins, uint32_t mask)
{
    switch (ins->op) {
    case OP_TENSOR_PRODUCT:
    case OP_TENSOR_SPARSE:
    case OP_TENSOR_OCTETS:
        product_step(warp, ins);
        return 1;
    case OP_WGMMA:
        wgmma_step(warp, ins);
        return 1;
    case OP_TENSOR_MATRIX:
    case OP_LDMATRIX:
    case OP_STMATRIX:
        matrix_step(warp, ins);
        return 1;
    case OP_MOVMATRIX:
        vote_step(warp, ins);
        return 1;
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
        use_check(warp, ins, ins->v[0], mask, BARRIER_USE);
        vote_step(warp, ins);
        return 1;
    case OP_SHFL:
        use_check(warp, ins, ins->v[0], mask, BARRIER_USE);
        shuffle_step(warp, ins);
        return 1;
    default:
        return 0;
    }
}

/* Instructions whose operands must be defined, and calls. 0: it is none of these. */
static int effect_step(Warp *warp, const Ins *ins, uint32_t mask)
{
    switch (ins->op) {
    case OP_ATOM:
        use_check(warp, ins, ins->a, mask, ADDRESS_USE);
        operands_check(warp, ins, mask, ATOMIC_USE);
        results_clear(warp, ins, mask);
        return 1;
    case OP_CP_ASYNC:
    case OP_BULK_COPY:
    case OP_VALUES_SEND:
    case OP_MAP_REPLACE:
    case OP_MAP_PUBLISH:
        operands_check(warp, ins, mask, ADDRESS_USE);
        return 1;
    case OP_BAR:
    case OP_WARPSYNC:
    case OP_MBARRIER:
    case OP_CLUSTER_BARRIER:
        operands_check(warp, ins, mask, BARRIER_USE);
        results_clear(warp, ins, mask);
        return 1;
    case OP_CALL:
    case OP_RETURN:
        undefined_clear(warp);
        return 1;
    default:
        return 0;
    }
}

void undefined_step(Warp *warp, const Ins *ins)
{
    uint32_t unknown, mask = active_lanes(warp, ins, &unknown);
    if (!mask || changes_flow(ins)) {
        if (ins->op == OP_BRX) use_check(warp, ins, ins->a, mask, BRANCH_USE);
        return;
    }
    if (group_step(warp, ins, mask) || effect_step(warp, ins, mask)) return;
    if (is_store(ins)) {
        store_step(warp, ins, mask);
        return;
    }
    if (!is_plain_load(ins)) {
        arithmetic_step(warp, ins, mask, unknown);
        return;
    }
    use_check(warp, ins, ins->a, mask, ADDRESS_USE);
    results_clear(warp, ins, mask);
    if (unknown) arithmetic_step(warp, ins, unknown, unknown);
}
