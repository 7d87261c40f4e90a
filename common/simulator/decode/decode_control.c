/* decode_control.c - branches, barriers and warp collectives. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"

static int fix_later(Decoder *d, uint32_t ins, uint32_t table, uint32_t target)
{
    d->fix = grow(d, d->fix, d->fixes, &d->fix_room, sizeof *d->fix);
    if (d->failed) return -1;
    d->fix[d->fixes++] = (Fix){.ins = ins, .table = table, .target = target};
    return 0;
}

static int guard_slot(Decoder *d, uint32_t *slot)
{
    *slot = NO_SLOT;
    if (d->in->guard == PTX_NO_REGISTER) return 0;
    *slot = register_slot(d, d->in->guard);
    if (!d->failed && d->instance->function->reg[d->in->guard].type != PTX_PRED)
        return refuse(d, "its guard is no predicate");
    return d->failed ? -1 : 0;
}

int branch_emit(Decoder *d, uint32_t target, int inverted, int pseudo)
{
    uint32_t guard;
    if (guard_slot(d, &guard) != 0) return -1;
    Ins *ins = emit(d, guard == NO_SLOT ? OP_BRA : OP_BRA_P, CLASS_BRANCH);
    ins->guard = guard;
    ins->guard_negated = (uint8_t)((d->in->guard_negated != 0) ^ inverted);
    if (pseudo) ins->pseudo = 1, ins->class = CLASS_FREE;
    return fix_later(d, d->count - 1, 0, target);
}

static int decode_bra(Decoder *d)
{
    word_take(d, "uni");
    if (d->in->target > d->instance->function->instructions)
        return refuse(d, "its target is outside the function");
    if (branch_emit(d, d->in->target, 0, 0) != 0) return -1;
    return words_finished(d);
}

static int decode_brx(Decoder *d)
{
    enum { TABLES_LIMIT = 1 << 22 }; /* each such jump has a table of its own */
    word_take(d, "idx");
    word_take(d, "uni");
    if (d->in->guard != PTX_NO_REGISTER) return refuse(d, "a guarded jump by table");
    if (!d->in->targets || !d->in->target_count) return refuse(d, "no table of targets");
    uint32_t index = source(d, 0, PTX_U32), first = d->kernel->tables;
    if (d->failed) return -1;
    if (d->in->target_count > TABLES_LIMIT - first)
        return refuse(d, "more than %d targets of jumps by table", TABLES_LIMIT);
    for (uint32_t i = 0; i < d->in->target_count; i++) {
        d->kernel->table =
            grow(d, d->kernel->table, d->kernel->tables, &d->table_room, sizeof *d->kernel->table);
        if (d->failed || fix_later(d, NO_SLOT, d->kernel->tables, d->in->targets[i]) != 0)
            return -1;
        d->kernel->table[d->kernel->tables++] = 0;
    }
    Ins *ins = emit(d, OP_BRX, CLASS_BRANCH);
    ins->a = index, ins->aux = first, ins->imm = d->in->target_count;
    return words_finished(d);
}

/* ret of a function goes to its end, that of the kernel ends the thread. */
static int decode_return(Decoder *d)
{
    uint32_t guard;
    word_take(d, "uni");
    int in_function = d->instance->caller || d->routine != NO_ROUTINE;
    if (strcmp(d->in->word[0], "ret") == 0 && in_function) {
        if (branch_emit(d, d->instance->function->instructions, 0, 0) != 0) return -1;
        return words_finished(d);
    }
    if (guard_slot(d, &guard) != 0) return -1;
    Ins *ins = emit(d, OP_EXIT, CLASS_BRANCH);
    ins->guard = guard, ins->guard_negated = (uint8_t)(d->in->guard_negated != 0);
    return words_finished(d);
}

/* ---- barriers ----------------------------------------------------------------------------- */
static int decode_barrier(Decoder *d)
{
    static const char *const KINDS[] = {"sync", "arrive", "red", NULL};
    word_take(d, "cta");
    int kind = word_take(d, "warp") ? 3 : word_choose(d, KINDS); /* bar.warp.sync has two of them */
    if (kind == 3) {
        if (!word_take(d, "sync")) return refuse(d, "that kind of barrier");
        uint32_t members = source(d, 0, PTX_U32);
        if (d->failed) return -1;
        Ins *ins = emit(d, OP_WARPSYNC, CLASS_BARRIER);
        ins->a = members;
        return words_finished(d);
    }
    static const char *const REDUCTIONS[] = {"popc", "and", "or", NULL};
    int reduction = kind == 2 ? word_choose(d, REDUCTIONS) : -1;
    word_take(d, "aligned");
    if (kind < 0 || (kind == 2 && reduction < 0)) return refuse(d, "that kind of barrier");
    PtxType result = kind == 2 ? type_take(d) : PTX_NONE;
    if (kind == 2 && (result == PTX_PRED) != (reduction > 0))
        return refuse(d, "that type of a reduction");
    uint32_t first = kind == 2, operands = d->in->operands, last = operands - (kind == 2);
    if (operands < first + 1u || (kind == 2 && operands < 3)) return refuse(d, "too few operands");
    uint32_t id = source(d, first, PTX_U32),
             count = last > first + 1 ? source(d, first + 1, PTX_U32) : NO_SLOT;
    uint32_t p = kind == 2 ? source(d, operands - 1, PTX_PRED) : NO_SLOT;
    uint32_t dst = kind == 2 ? destination(d, 0, result == PTX_PRED ? PTX_PRED : PTX_U32) : NO_SLOT;
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_BAR, CLASS_BARRIER);
    ins->a = id, ins->b = count, ins->c = p, ins->d = dst;
    ins->aux = kind == 0 ? BAR_SYNC : kind == 1 ? BAR_ARRIVE : (uint32_t)(BAR_POPC + reduction);
    return words_finished(d);
}

/* ---- warp collectives --------------------------------------------------------------------- */
static int decode_shuffle(Decoder *d)
{
    static const char *const MODES[] = {"up", "down", "bfly", "idx", NULL};
    word_take(d, "sync");
    int mode = word_choose(d, MODES);
    type_take(d);
    if (mode < 0 || d->in->operands != 5) return refuse(d, "only shfl.sync with five operands");
    const PtxOperand *to = &d->in->operand[0];
    int pair = to->kind == PTX_OPERAND_PAIR && to->count == 2;
    uint32_t dst = destination_of(d, pair ? &to->element[0] : to, PTX_B32);
    uint32_t p = pair ? destination_of(d, &to->element[1], PTX_PRED) : NO_SLOT;
    uint32_t a = source(d, 1, PTX_B32), b = source(d, 2, PTX_B32), c = source(d, 3, PTX_B32);
    uint32_t members = source(d, 4, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_SHFL, CLASS_SHARED_LOAD);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c, ins->v[0] = members, ins->v[1] = p,
    ins->aux = (uint32_t)mode;
    return words_finished(d);
}

static int decode_vote(Decoder *d)
{
    static const char *const MODES[] = {"all", "any", "uni", "ballot", NULL};
    word_take(d, "sync");
    int mode = word_choose(d, MODES);
    type_take(d);
    if (mode < 0 || d->in->operands != 3) return refuse(d, "only vote.sync");
    PtxOperand plain = d->in->operand[1];
    int negated = plain.negated;
    plain.negated = 0;
    uint32_t p = source_of(d, &plain, PTX_PRED), members = source(d, 2, PTX_B32);
    uint32_t dst = destination(d, 0, mode == VOTE_BALLOT ? PTX_B32 : PTX_PRED);
    if (d->failed) return -1;
    /* A constant predicate holds in every lane or in none. */
    if (plain.kind == PTX_OPERAND_INTEGER) negated = 0;
    Ins *ins = emit(d, OP_VOTE, CLASS_INT);
    ins->d = dst, ins->a = p, ins->v[0] = members, ins->aux = (uint32_t)mode, ins->imm = negated;
    return words_finished(d);
}

static int decode_match(Decoder *d)
{
    int all = word_take(d, "all");
    if (!all) word_take(d, "any");
    word_take(d, "sync");
    PtxType type = type_take(d);
    if (d->in->operands != 3) return refuse(d, "it needs three operands");
    const PtxOperand *to = &d->in->operand[0];
    int pair = to->kind == PTX_OPERAND_PAIR && to->count == 2;
    uint32_t dst = destination_of(d, pair ? &to->element[0] : to, PTX_B32);
    uint32_t p = pair ? destination_of(d, &to->element[1], PTX_PRED) : NO_SLOT;
    uint32_t a = source(d, 1, type), members = source(d, 2, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_MATCH, CLASS_SFU);
    ins->d = dst, ins->a = a, ins->v[0] = members, ins->v[1] = p, ins->aux = (uint32_t)all;
    ins->bytes = (uint8_t)ptx_type_bytes(type);
    return words_finished(d);
}

static int decode_redux(Decoder *d)
{
    static const char *const NAMES[] = {"add", "min", "max", "and", "or", "xor", NULL};
    static const uint32_t UNSIGNED[] = {REDUX_ADD, REDUX_MIN_U, REDUX_MAX_U,
                                        REDUX_AND, REDUX_OR,    REDUX_XOR};
    static const uint32_t SIGNED[] = {REDUX_ADD, REDUX_MIN_S, REDUX_MAX_S,
                                      REDUX_AND, REDUX_OR,    REDUX_XOR};
    word_take(d, "sync");
    int op = word_choose(d, NAMES);
    PtxType type = type_take(d);
    if (op < 0 || ptx_type_bytes(type) != 4 || type_is_float(type))
        return refuse(d, "that reduction");
    uint32_t a = source(d, 1, type), members = source(d, 2, PTX_B32), dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_REDUX, CLASS_SFU);
    ins->d = dst, ins->a = a, ins->v[0] = members,
    ins->aux = type_is_signed(type) ? SIGNED[op] : UNSIGNED[op];
    return words_finished(d);
}

static int decode_plain(Decoder *d, Op op, uint32_t aux)
{
    for (uint32_t i = 1; i < d->in->words; i++)
        d->used |= 1u << i;
    Ins *ins = emit(d, op, CLASS_FREE);
    ins->aux = aux;
    return words_finished(d);
}

/* aux: the fence's scope includes other SMs, which costs a latency that grows with their
 * distance. */
static int decode_fence(Decoder *d)
{
    int far = word_take(d, "gl") | word_take(d, "gpu") | word_take(d, "sys");
    d->kernel->traits.has_fences = d->kernel->traits.is_ordered = 1;
    if (decode_plain(d, OP_FENCE, (uint32_t)far) != 0) return -1;
    if (far) d->code[d->count - 1].class = CLASS_BARRIER;
    return 0;
}

static int decode_sleep(Decoder *d)
{
    type_take(d);
    uint32_t time = source(d, 0, PTX_U32);
    if (d->failed) return -1;
    emit(d, OP_NANOSLEEP, CLASS_INT)->a = time;
    return words_finished(d);
}

int decode_control(Decoder *d)
{
    const char *name = d->in->word[0];
    if (strcmp(name, "bra") == 0) return decode_bra(d);
    if (strcmp(name, "brx") == 0) return decode_brx(d);
    if (strcmp(name, "ret") == 0 || strcmp(name, "exit") == 0) return decode_return(d);
    if (strcmp(name, "call") == 0) return decode_call(d);
    if (strcmp(name, "bar") == 0 || strcmp(name, "barrier") == 0) return decode_barrier(d);
    if (strcmp(name, "shfl") == 0) return decode_shuffle(d);
    if (strcmp(name, "vote") == 0) return decode_vote(d);
    if (strcmp(name, "match") == 0) return FEATURE_NEED(d, match) != 0 ? -1 : decode_match(d);
    if (strcmp(name, "redux") == 0) return FEATURE_NEED(d, redux) != 0 ? -1 : decode_redux(d);
    if (strcmp(name, "membar") == 0 || strcmp(name, "fence") == 0) return decode_fence(d);
    if (strcmp(name, "nanosleep") == 0)
        return FEATURE_NEED(d, nanosleep) != 0 ? -1 : decode_sleep(d);
    if (strcmp(name, "pmevent") == 0) return decode_plain(d, OP_NOP, 0);
    if (strcmp(name, "trap") == 0) return decode_plain(d, OP_TRAP, 0);
    if (strcmp(name, "brkpt") == 0) return decode_plain(d, OP_TRAP, 1);
    if (strcmp(name, "activemask") == 0) {
        type_take(d);
        uint32_t dst = destination(d, 0, PTX_B32);
        if (d->failed) return -1;
        emit(d, OP_ACTIVEMASK, CLASS_INT)->d = dst;
        return words_finished(d);
    }
    return 1;
}
