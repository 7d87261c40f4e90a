/* decode_memory.c - loads, stores, address casts and atomics. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

enum { WEAK, STRONG, RELEASING };

/* Hints about caches and ordering: lanes and blocks already see each other's stores in order here.
 * Returns whether the access may order other accesses. */
static int hints_take(Decoder *d)
{
    static const char *const ORDERS[] = {"volatile", "relaxed", "acquire", "release", "acq_rel"};
    int strength = WEAK;
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++)
        if (word_take(d, ORDERS[i])) strength = i < 3 ? STRONG : RELEASING;
    static const char *const HINTS[] = {"ca",      "cg",    "cs",   "lu",      "cv",  "wb",
                                        "wt",      "nc",    "weak", "gpu",     "cta", "sys",
                                        "cluster", "noftz", "sc",   "unified", "mmio"};
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        word_take(d, HINTS[i]);
    for (uint32_t i = 1; i < d->in->words; i++) {
        const char *w = d->in->word[i];
        if (strncmp(w, "L1::", 4) == 0 || strncmp(w, "L2::", 4) == 0) d->used |= 1u << i;
    }
    return strength;
}

static int word_is(const Decoder *d, const char *word)
{
    for (uint32_t i = 1; i < d->in->words; i++)
        if (strcmp(d->in->word[i], word) == 0) return 1;
    return 0;
}

/* Is it for the whole chip, not for the block or the cluster alone? */
static int is_chip_wide(const Decoder *d)
{
    return !word_is(d, "cta") && !word_is(d, "cluster");
}

/* Sets the memory ordering of an access that may write; `reads`: the thread uses the previous
 * value. */
static void order_set(Decoder *d, Ins *ins, int strength, int reads, int writes)
{
    int releases = writes && strength == RELEASING,
        is_wide = ins->space != PTX_SHARED && is_chip_wide(d), fences = releases && is_wide,
        forgets = reads && is_wide && (word_is(d, "acquire") || word_is(d, "acq_rel")),
        alone = reads && !writes && (word_is(d, "volatile") || word_is(d, "sys"));
    ins->order = (uint8_t)((reads ? ORDER_READS : 0) | (writes ? ORDER_WRITES : 0) |
                           (releases ? ORDER_RELEASES : 0) | (fences ? ORDER_FENCES : 0) |
                           (alone ? ORDER_ALONE : 0) | (forgets ? ORDER_INVALIDATES_L1 : 0));
    if (strength != WEAK && ins->space != PTX_SHARED && ins->space != PTX_LOCAL)
        d->kernel->traits.has_fences = d->kernel->traits.is_ordered = 1;
}

uint32_t policy_operands(const Decoder *d)
{
    return (uint32_t)word_is(d, "L2::cache_hint");
}

static int space_take(Decoder *d, PtxSpace *space)
{
    static const char *const SPACES[] = {"global",      "shared", "shared::cta", "shared::cluster",
                                         "local",       "const",  "param",       "param::entry",
                                         "param::func", NULL};
    static const PtxSpace VALUES[] = {PTX_GLOBAL, PTX_SHARED, PTX_SHARED, PTX_SHARED, PTX_LOCAL,
                                      PTX_CONST,  PTX_PARAM,  PTX_PARAM,  PTX_PARAM};
    int which = word_choose(d, SPACES);
    *space = which < 0 ? PTX_SPACE_NONE : VALUES[which];
    return which;
}

typedef struct Access {
    int store;
    PtxType type;
    uint32_t vector;
    PtxSpace space;
    int strength, in_cluster; /* shared memory, perhaps of another block */
    int whole;                /* 128 bits of one register */
} Access;

static Op access_op(const Access *access, uint32_t bytes)
{
    static const Op GLOBAL[2][5] = {
        {OP_LD_GLOBAL_8, OP_LD_GLOBAL_16, OP_LD_GLOBAL_32, OP_LD_GLOBAL_64, OP_LD_GLOBAL_V},
        {OP_ST_GLOBAL_8, OP_ST_GLOBAL_16, OP_ST_GLOBAL_32, OP_ST_GLOBAL_64, OP_ST_GLOBAL_V}};
    static const Op SHARED[2][5] = {
        {OP_LD_SHARED_8, OP_LD_SHARED_16, OP_LD_SHARED_32, OP_LD_SHARED_64, OP_LD_SHARED_V},
        {OP_ST_SHARED_8, OP_ST_SHARED_16, OP_ST_SHARED_32, OP_ST_SHARED_64, OP_ST_SHARED_V}};
    int size = access->vector > 1 ? 4 : bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    switch (access->space) {
    case PTX_GLOBAL:
    case PTX_CONST:
        return GLOBAL[access->store][size];
    case PTX_SHARED:
        if (access->in_cluster) return access->store ? OP_ST_LOCAL : OP_LD_LOCAL;
        return SHARED[access->store][size];
    case PTX_LOCAL:
        return access->store ? OP_ST_LOCAL : OP_LD_LOCAL;
    case PTX_PARAM:
        return OP_LD_PARAM;
    default:
        return access->store ? OP_ST_GENERIC : OP_LD_GENERIC;
    }
}

static OpClass access_class(const Access *access, int calling)
{
    if (calling || access->space == PTX_PARAM) return CLASS_FREE;
    if (access->space == PTX_SHARED) return access->store ? CLASS_SHARED_STORE : CLASS_SHARED_LOAD;
    return access->store ? CLASS_STORE : CLASS_LOAD;
}

/* Registers on the other side of the access: for a load whose register is wider than the type, what
 * it is loaded into first. */
static int value_slots(Decoder *d, const Access *access, const PtxOperand *operand, uint32_t *slot,
                       uint32_t *count)
{
    const PtxOperand *elements = operand->kind == PTX_OPERAND_VECTOR ? operand->element : operand;
    if (access->whole) { /* two words of 64 bits */
        *count = 2;
        slot[0] = wide_slot(d, operand), slot[1] = upper_half(slot[0]);
        return d->failed ? -1 : 0;
    }
    *count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (*count != (access->vector ? access->vector : 1) || *count > 4)
        return refuse(d, "the vector has another length than the instruction says");
    for (uint32_t i = 0; i < *count; i++) {
        PtxType reg = register_type(d, &elements[i]);
        int wide = ptx_type_bytes(reg) == 8 && ptx_type_bytes(access->type) < 8;
        if (elements[i].kind == PTX_OPERAND_SINK)
            slot[i] = temp_slot(d, width_of(access->type));
        else if (access->store && wide) {
            uint32_t from = source_of(d, &elements[i], PTX_B64);
            slot[i] = temp_slot(d, WIDTH_32);
            if (!d->failed) emit_pseudo(d, OP_TRUNC_32, slot[i], from, from);
        } else if (access->store)
            slot[i] = source_of(d, &elements[i], access->type);
        else
            slot[i] = wide ? temp_slot(d, WIDTH_32) : destination_of(d, &elements[i], access->type);
    }
    return d->failed ? -1 : 0;
}

/* After a load: extends what was loaded into a 64-bit register, and cuts what went into a 16-bit
 * one. */
static void load_finish(Decoder *d, const Access *access, const PtxOperand *operand,
                        const uint32_t *slot, uint32_t count)
{
    const PtxOperand *elements = operand->kind == PTX_OPERAND_VECTOR ? operand->element : operand;
    for (uint32_t i = 0; i < count; i++) {
        PtxType reg = register_type(d, &elements[i]);
        if (ptx_type_bytes(reg) == 8 && ptx_type_bytes(access->type) < 8)
            emit_pseudo(d, type_is_signed(access->type) ? OP_SEXT_64 : OP_ZEXT_64,
                        register_slot(d, elements[i].reg), slot[i], slot[i]);
        else if (ptx_type_bytes(reg) == 2 && type_is_signed(access->type))
            emit_pseudo(d, OP_MASK_16, slot[i], slot[i], slot[i]);
    }
}

/* ptxas does not load elements that no instruction reads, unless the load is volatile. From a
 * vector it loads one element, an aligned pair of elements or two words; if more are read, it loads
 * all of the vector. SASS for sm_75, sm_80 and sm_90 agrees. Bytes within a word are not
 * distinguished. */
static void parts_find(const Decoder *d, const PtxOperand *operand, Ins *ins)
{
    enum { PAIR = 3 };
    uint32_t used = 0, bytes = ins->bytes;
    if (operand->kind != PTX_OPERAND_VECTOR || bytes < 2 || word_is(d, "volatile")) return;
    for (uint32_t i = 0; i < ins->vector; i++)
        used |= (uint32_t)result_is_used(d, &operand->element[i]) << i;
    if (!used) return;
    uint32_t first = (uint32_t)__builtin_ctz(used), others = used & (used - 1),
             is_pair = ins->vector == 4 && first % 2 == 0 && used == (uint32_t)PAIR << first;
    if (!others || is_pair) {
        ins->part_bytes = (uint8_t)(is_pair ? 2 * bytes : bytes);
        ins->part[0] = (uint8_t)(first * bytes);
    } else if (ins->vector == 4 && bytes == 4 && !(others & (others - 1))) {
        ins->part_bytes = 4;
        ins->part[0] = (uint8_t)(first * 4), ins->part[1] = (uint8_t)(__builtin_ctz(others) * 4);
    }
}

static int access_emit(Decoder *d, Access *access)
{
    const PtxOperand *value = &d->in->operand[access->store ? 1 : 0],
                     *at = &d->in->operand[access->store ? 0 : 1];
    uint32_t slot[4] = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT}, count,
             bytes = ptx_type_bytes(access->type);
    Ins address = {0};
    if (value_slots(d, access, value, slot, &count) != 0 ||
        address_of(d, at, access->space, &address) != 0)
        return -1;
    /* Call parameters are in local memory; the kernel's own parameters are read-only and
     * elsewhere. */
    int calling = access->space == PTX_PARAM && address.space == PTX_LOCAL;
    if (access->space == PTX_CONST && access->store) return refuse(d, "a store to constant memory");
    access->space = (PtxSpace)address.space;
    if (access->space == PTX_PARAM && access->store)
        return refuse(d, "a store to a parameter of the kernel");
    if (access->space == PTX_PARAM && !address.base64)
        return refuse(d, "a 32-bit parameter address");
    Ins *ins = emit(d, access_op(access, bytes), access_class(access, calling));
    int is_global = access->space == PTX_GLOBAL || access->space == PTX_SPACE_NONE;
    if (access->store && bytes < 4 && is_global) d->kernel->traits.stores_partial_words = 1;
    ins->d = slot[0];
    memcpy(ins->v, slot, sizeof slot);
    ins->a = address.a, ins->imm = address.imm, ins->base64 = address.base64,
    ins->space = (uint8_t)access->space;
    ins->bytes = (uint8_t)bytes, ins->vector = (uint8_t)count,
    ins->is_signed = (uint8_t)type_is_signed(access->type);
    ins->mem = d->kernel->mems++;
    ins->read_only = word_is(d, "nc") || access->space == PTX_CONST;
    if (access->strength != WEAK)
        order_set(d, ins, access->strength, !access->store, access->store);
    if (access->store || access->whole) return words_finished(d);
    if (ins->class != CLASS_FREE) parts_find(d, value, ins);
    load_finish(d, access, value, slot, count);
    return words_finished(d);
}

static int decode_access(Decoder *d, int store)
{
    static const char *const VECTORS[] = {"v2", "v4", NULL};
    Access access = {.store = store, .strength = hints_take(d)};
    access.in_cluster = word_is(d, "shared::cluster");
    space_take(d, &access.space);
    int vector = word_choose(d, VECTORS);
    access.whole = word_take(d, "b128");
    access.vector = access.whole || vector == 0 ? 2 : vector < 0 ? 0 : 4;
    access.type = access.whole ? PTX_B64 : type_take(d);
    if (access.whole && vector >= 0) return refuse(d, "more than 16 bytes at once");
    uint32_t bytes = ptx_type_bytes(access.type);
    if (access.type == PTX_PRED || bytes == 0 || bytes > 8) return refuse(d, "that type");
    if (bytes * (access.vector ? access.vector : 1) > 16)
        return refuse(d, "more than 16 bytes at once");
    if (d->in->operands != 2u + policy_operands(d)) return refuse(d, "that number of operands");
    return access_emit(d, &access);
}

/* A generic address of a window is its base plus the offset; device memory needs no change. */
static int decode_cvta(Decoder *d)
{
    PtxSpace space;
    int to = word_take(d, "to");
    if (space_take(d, &space) < 0) return refuse(d, "no state space");
    PtxType type = type_take(d);
    if (ptx_type_bytes(type) != 8) return refuse(d, "32-bit generic addresses");
    uint64_t window = space == PTX_SHARED  ? SHARED_WINDOW
                      : space == PTX_LOCAL ? LOCAL_WINDOW
                      : space == PTX_PARAM ? PARAM_WINDOW
                                           : 0;
    uint32_t a = source(d, 1, type), dst = destination(d, 0, type);
    uint32_t base = window ? constant_slot(d, WIDTH_64, window, 0) : 0;
    if (d->failed) return -1;
    Ins *ins = emit(d, !window ? OP_MOV_64 : to ? OP_SUB_64 : OP_ADD_64, CLASS_FREE);
    ins->d = dst, ins->a = a, ins->b = base;
    return words_finished(d);
}

static int decode_isspacep(Decoder *d)
{
    PtxSpace space;
    if (space_take(d, &space) < 0) return refuse(d, "that state space");
    uint32_t a = source(d, 1, PTX_B64), dst = destination(d, 0, PTX_PRED);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_ISSPACE, CLASS_INT);
    ins->d = dst, ins->a = a, ins->aux = (uint32_t)space;
    return words_finished(d);
}

static int atom_format(Decoder *d, int op, PtxType type, uint32_t count)
{
    int wide = ptx_type_bytes(type) == 8;
    if (type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2) {
        /* Minimum and maximum exist for vectors only. */
        if (op != ATOM_ADD && (count == 1 || (op != ATOM_MIN && op != ATOM_MAX)))
            return refuse(d, "that atomic on halves");
        return type == PTX_F16 || type == PTX_F16X2 ? FORMAT_F16 : FORMAT_BF16;
    }
    if (type == PTX_B16 && op == ATOM_CAS) return FORMAT_U16;
    if (type == PTX_F32 || type == PTX_F64) {
        if (op != ATOM_ADD) return refuse(d, "that atomic on floats");
        return type == PTX_F32 ? FORMAT_F32 : FORMAT_F64;
    }
    if (ptx_type_bytes(type) != 4 && !wide) return refuse(d, "atomics of that width");
    if (type_is_float(type)) return refuse(d, "atomics on that type");
    return type_is_signed(type) ? (wide ? FORMAT_S64 : FORMAT_S32) : wide ? FORMAT_U64 : FORMAT_U32;
}

/* ptxas counts lanes if ones are added and the result is unused. Operations on floats, halves and
 * 64-bit words are a compare-and-swap loop, except exchange and compare-and-swap of 64 bits. */
static SharedAtomic shared_atomic_of(const Decoder *d, int op, PtxType type, int has_result)
{
    const PtxOperand *value = &d->in->operand[has_result + 1];
    int moves = op == ATOM_EXCH || op == ATOM_CAS, bytes = (int)ptx_type_bytes(type);
    if (bytes < 4 || type_is_float(type) || (bytes == 8 && !moves)) return SHARED_RETRIES;
    if (op != ATOM_ADD) return SHARED_TURNS;
    int is_one = value->kind == PTX_OPERAND_INTEGER && value->integer == 1,
        is_used = has_result && result_is_used(d, &d->in->operand[0]);
    return is_one && !is_used ? SHARED_COUNTS : SHARED_TURNS;
}

/* The operation of an atomic on one value; a vector atomic performs `count` of them, one after
 * another. */
typedef struct Atomic {
    int op, format;
    PtxType type;
    Ins address;
    uint32_t at, count; /* the operand with the address; values */
} Atomic;

/* Value i of an operand that may be a vector. */
static const PtxOperand *value_of(const Decoder *d, uint32_t operand, uint32_t i)
{
    const PtxOperand *whole = &d->in->operand[operand];
    return whole->kind == PTX_OPERAND_VECTOR ? &whole->element[i] : whole;
}

static uint32_t values_of(const Decoder *d, uint32_t operand)
{
    const PtxOperand *whole = &d->in->operand[operand];
    return whole->kind == PTX_OPERAND_VECTOR ? whole->count : 1;
}

static void block_scope_set(Decoder *d, Ins *ins)
{
    if (!word_is(d, "cta")) return;
    ins->aux |= ATOM_BLOCK_SCOPE;
    if (ins->space != PTX_SHARED) d->kernel->traits.has_block_atomics = 1;
}

/* The first value's instruction stands for the access, of whose bytes it counts all. */
static Ins *atomic_emit(Decoder *d, const Atomic *a, uint32_t i, uint32_t dst)
{
    uint32_t b = source_of(d, value_of(d, a->at + 1, i), a->type), bytes = ptx_type_bytes(a->type),
             c = a->op == ATOM_CAS ? source(d, a->at + 2, a->type) : b;
    Ins *ins = emit(d, OP_ATOM, i ? CLASS_FREE : CLASS_ATOMIC);
    ins->d = dst, ins->a = a->address.a, ins->b = b, ins->c = c;
    ins->imm = a->address.imm + i * bytes;
    ins->base64 = a->address.base64, ins->space = a->address.space, ins->bytes = (uint8_t)bytes;
    ins->aux = (uint32_t)a->op | (uint32_t)a->format << 8, ins->vector = 1;
    block_scope_set(d, ins);
    ins->pseudo = i > 0;
    ins->part_bytes = (uint8_t)(a->count > 1 && !i ? a->count * bytes : 0);
    ins->mem = d->kernel->mems++;
    return ins;
}

/* A vector atomic reads all its values before it writes any of them. */
static void atomics_emit(Decoder *d, const Atomic *a, int strength)
{
    enum { VALUES = 8 };
    uint32_t to[VALUES];
    int is_used = 0;
    for (uint32_t i = 0; i < a->count && !d->failed; i++) {
        const PtxOperand *result = a->at ? value_of(d, 0, i) : NULL;
        int kept = result && result->kind != PTX_OPERAND_SINK;
        to[i] = !kept          ? NO_SLOT
                : a->count > 1 ? temp_slot(d, width_of(a->type))
                               : destination_of(d, result, a->type);
        is_used |= kept && result_is_used(d, result);
    }
    for (uint32_t i = 0; i < a->count && !d->failed; i++) {
        Ins *ins = atomic_emit(d, a, i, to[i]);
        /* Floats of global memory are added without a loop. */
        ins->shared_atomic = a->address.space == PTX_GLOBAL
                                 ? SHARED_TURNS
                                 : (uint8_t)shared_atomic_of(d, a->op, a->type, a->at != 0);
        /* Every atomic is relaxed at least; only one that releases makes an order without a
         * fence. */
        order_set(d, ins, strength == RELEASING ? RELEASING : WEAK, is_used, 1);
    }
    for (uint32_t i = 0; i < a->count && a->count > 1 && !d->failed; i++)
        if (to[i] != NO_SLOT)
            emit_pseudo(d, OP_MOV_32, destination_of(d, value_of(d, 0, i), a->type), to[i], to[i]);
}

/* atom.exch.b128, atom.cas.b128: registers of 128 bits. */
static int decode_wide_atomic(Decoder *d, Atomic *a, PtxSpace space, int strength)
{
    const PtxOperand *operand = d->in->operand;
    uint32_t need = 3 + (a->op == ATOM_CAS) + policy_operands(d);
    if (FEATURE_NEED(d, wide_atomics) != 0) return -1;
    if (!a->at || a->count != 1 || (a->op != ATOM_EXCH && a->op != ATOM_CAS))
        return refuse(d, "that atomic");
    if (d->in->operands != need) return refuse(d, "that number of operands");
    if (address_of(d, &operand[1], space, &a->address) != 0) return -1;
    int kept = operand[0].kind != PTX_OPERAND_SINK;
    uint32_t dst = kept ? wide_slot(d, &operand[0]) : NO_SLOT, b = wide_slot(d, &operand[2]),
             c = a->op == ATOM_CAS ? wide_slot(d, &operand[3]) : b;
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_ATOM, CLASS_ATOMIC);
    ins->d = dst, ins->a = a->address.a, ins->b = b, ins->c = c, ins->imm = a->address.imm;
    ins->base64 = a->address.base64, ins->space = a->address.space, ins->bytes = 16;
    ins->aux = (uint32_t)a->op | (uint32_t)FORMAT_U64 << 8, ins->vector = 1;
    block_scope_set(d, ins);
    ins->mem = d->kernel->mems++;
    order_set(d, ins, strength == RELEASING ? RELEASING : WEAK,
              kept && result_is_used(d, &operand[0]), 1);
    if (a->address.space != PTX_SHARED) d->kernel->traits.is_ordered = 1;
    return words_finished(d);
}

static int decode_atomic(Decoder *d, int has_result)
{
    static const char *const NAMES[] = {"add", "min", "max",  "inc", "dec", "and",
                                        "or",  "xor", "exch", "cas", NULL},
                             *const VECTORS[] = {"v2", "v4", "v8", NULL};
    PtxSpace space;
    int strength = hints_take(d);
    space_take(d, &space);
    Atomic a = {.op = word_choose(d, NAMES), .at = (uint32_t)has_result};
    int vector = word_choose(d, VECTORS);
    a.count = vector < 0 ? 1 : 2u << vector;
    int wide = word_take(d, "b128");
    a.type = type_take(d);
    if (a.op < 0 || space == PTX_LOCAL || space == PTX_CONST || space == PTX_PARAM ||
        (a.count > 1 && (space == PTX_SHARED || ptx_type_bytes(a.type) * a.count > 16)))
        return refuse(d, "that atomic");
    if (wide) return decode_wide_atomic(d, &a, space, strength);
    a.format = atom_format(d, a.op, a.type, a.count);
    uint32_t need = a.at + 2 + (a.op == ATOM_CAS) + policy_operands(d);
    if (a.format < 0 || d->in->operands != need)
        return d->failed ? -1 : refuse(d, "that number of operands");
    if (values_of(d, a.at + 1) != a.count ||
        (a.at && values_of(d, 0) != a.count && d->in->operand[0].kind != PTX_OPERAND_SINK))
        return refuse(d, "the vector has another length than the instruction says");
    if (address_of(d, &d->in->operand[a.at], space, &a.address) != 0) return -1;
    atomics_emit(d, &a, strength);
    if (a.address.space != PTX_SHARED) d->kernel->traits.is_ordered = 1;
    if (word_is(d, "sys")) d->kernel->traits.has_system_atomics = 1;
    return d->failed ? -1 : words_finished(d);
}

static void words_skip(Decoder *d)
{
    for (uint32_t i = 1; i < d->in->words; i++)
        d->used |= 1u << i;
}

/* A cache policy affects only the accesses that name it, so its value has no other meaning. */
static int decode_policy(Decoder *d)
{
    uint32_t dst = destination(d, 0, PTX_B64), nothing = constant_slot(d, WIDTH_64, 0, 0);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_MOV_64, CLASS_INT);
    ins->d = dst, ins->a = nothing;
    words_skip(d);
    return words_finished(d);
}

/* Instructions without a visible effect on data: a prefetch, a line's eviction priority
 * (applypriority), a line whose data may be dropped (discard). */
static int decode_prefetch(Decoder *d)
{
    words_skip(d);
    emit(d, OP_NOP, CLASS_FREE);
    return words_finished(d);
}

int decode_memory(Decoder *d)
{
    const char *name = d->in->word[0];
    int async = d->in->words > 1 && strcmp(d->in->word[1], "async") == 0;
    if (async && (strcmp(name, "st") == 0 || strcmp(name, "red") == 0))
        return decode_values_send(d);
    if (strcmp(name, "ld") == 0 || strcmp(name, "ldu") == 0) return decode_access(d, 0);
    if (strcmp(name, "st") == 0) return decode_access(d, 1);
    if (strcmp(name, "cvta") == 0) return decode_cvta(d);
    if (strcmp(name, "isspacep") == 0) return decode_isspacep(d);
    if (strcmp(name, "atom") == 0) return decode_atomic(d, 1);
    if (strcmp(name, "red") == 0) return decode_atomic(d, 0);
    if (strcmp(name, "createpolicy") == 0) return decode_policy(d);
    if (strcmp(name, "prefetch") == 0 || strcmp(name, "prefetchu") == 0 ||
        strcmp(name, "applypriority") == 0 || strcmp(name, "discard") == 0)
        return decode_prefetch(d);
    if (strcmp(name, "multimem") == 0)
        return refuse(
            d, "memory of several GPUs: there is one here; use ld, red and st of global memory");
    return 1;
}
