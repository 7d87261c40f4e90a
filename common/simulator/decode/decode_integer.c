/* decode_integer.c - integer arithmetic, logic, bit fields and moves. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

static int is16(PtxType type)
{
    return ptx_type_bytes(type) == 2;
}

/* 16-bit arithmetic is done in 32 bits: sources are extended as their type says, results are
 * cut. */
static uint32_t source_extended(Decoder *d, uint32_t operand, PtxType type)
{
    uint32_t slot = source(d, operand, type);
    if (!is16(type) || !type_is_signed(type) || d->failed) return slot;
    uint32_t extended = temp_slot(d, WIDTH_32);
    emit_pseudo(d, OP_SEXT_16, extended, slot, slot);
    return extended;
}

static void result_cut(Decoder *d, uint32_t slot, PtxType type)
{
    if (is16(type)) emit_pseudo(d, OP_MASK_16, slot, slot, slot);
}

typedef struct Arithmetic {
    const char *name;
    Op u32, s32, u64, s64;
    OpClass class;
} Arithmetic;

#define SAME(op) OP_##op##_32, OP_##op##_32, OP_##op##_64, OP_##op##_64
#define BOTH(op) OP_##op##_U32, OP_##op##_S32, OP_##op##_U64, OP_##op##_S64

static const Arithmetic TWO[] = {
    {"add", SAME(ADD), CLASS_INT}, {"sub", SAME(SUB), CLASS_INT}, {"min", BOTH(MIN), CLASS_INT},
    {"max", BOTH(MAX), CLASS_INT}, {"div", BOTH(DIV), CLASS_DIV}, {"rem", BOTH(REM), CLASS_DIV},
    {"and", SAME(AND), CLASS_INT}, {"or", SAME(OR), CLASS_INT},   {"xor", SAME(XOR), CLASS_INT},
};
static const Arithmetic ONE[] = {
    {"neg", SAME(NEG), CLASS_INT},   {"abs", SAME(ABS), CLASS_INT},   {"not", SAME(NOT), CLASS_INT},
    {"cnot", SAME(CNOT), CLASS_INT}, {"brev", SAME(BREV), CLASS_INT},
};
/* Results are 32 bits whatever the operand. */
static const Arithmetic COUNTING[] = {
    {"popc", SAME(POPC), CLASS_INT},
    {"clz", SAME(CLZ), CLASS_INT},
    {"bfind", BOTH(BFIND), CLASS_INT},
};

static Op op_for(const Arithmetic *a, PtxType type)
{
    int wide = ptx_type_bytes(type) == 8, is_signed = type_is_signed(type);
    return wide ? (is_signed ? a->s64 : a->u64) : is_signed ? a->s32 : a->u32;
}

static const Arithmetic *find(const Arithmetic *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}
#define FIND(table, name) find(table, sizeof table / sizeof *table, name)

static int decode_predicate_logic(Decoder *d, const char *name)
{
    Op op = strcmp(name, "and") == 0   ? OP_AND_P
            : strcmp(name, "or") == 0  ? OP_OR_P
            : strcmp(name, "not") == 0 ? OP_NOT_P
            : strcmp(name, "mov") == 0 ? OP_MOV_P
                                       : OP_XOR_P;
    int one = op == OP_NOT_P || op == OP_MOV_P;
    uint32_t a = source(d, 1, PTX_PRED), b = one ? a : source(d, 2, PTX_PRED),
             dst = destination(d, 0, PTX_PRED);
    if (d->failed) return -1;
    Ins *ins = emit(d, op, CLASS_FREE);
    ins->d = dst, ins->a = a, ins->b = b;
    return words_finished(d);
}

/* Decodes to OP_RARE with `operands` sources of 32 bits. */
static int decode_rare(Decoder *d, RareOp op, uint32_t variant, uint32_t operands)
{
    uint32_t a = source(d, 1, PTX_B32), b = source(d, 2, PTX_B32),
             c = operands > 2 ? source(d, 3, PTX_B32) : 0, dst = destination(d, 0, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_RARE, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c, ins->aux = (uint32_t)op | variant << 8;
    return words_finished(d);
}

/* add, min, max of two halves: .u16x2 and .s16x2 are no types elsewhere. */
static int decode_halves(Decoder *d, const char *name, uint32_t is_signed)
{
    uint32_t relu = (uint32_t)word_take(d, "relu");
    int op = strcmp(name, "add") == 0   ? RARE_ADD_X2
             : strcmp(name, "min") == 0 ? RARE_MIN_X2
             : strcmp(name, "max") == 0 ? RARE_MAX_X2
                                        : -1;
    if (op < 0 || (relu && (op == RARE_ADD_X2 || !is_signed)))
        return refuse(d, "it is not supported on pairs of 16-bit integers");
    return decode_rare(d, (RareOp)op, is_signed | relu << 1, 2);
}

/* min.relu and max.relu: not below zero. */
static int decode_relu(Decoder *d, const Arithmetic *entry, PtxType type)
{
    uint32_t a = source(d, 1, type), b = source(d, 2, type), dst = destination(d, 0, type),
             zero = constant_slot(d, WIDTH_32, 0, 0);
    if (d->failed) return -1;
    if (type != PTX_S32 || (entry->s32 != OP_MIN_S32 && entry->s32 != OP_MAX_S32))
        return refuse(d, ".relu is supported for min and max of .s32 only");
    Ins *ins = emit(d, entry->s32, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b;
    emit_pseudo(d, OP_MAX_S32, dst, dst, zero);
    return words_finished(d);
}

static int decode_two(Decoder *d, const Arithmetic *entry)
{
    if (word_take(d, "u16x2")) return decode_halves(d, entry->name, 0);
    if (word_take(d, "s16x2")) return decode_halves(d, entry->name, 1);
    PtxType type = type_take(d);
    if (word_take(d, "relu")) return decode_relu(d, entry, type);
    if (type == PTX_PRED) return decode_predicate_logic(d, entry->name);
    int sum = strcmp(entry->name, "add") == 0 || strcmp(entry->name, "sub") == 0;
    if (sum && type == PTX_S32 && word_take(d, "sat"))
        return decode_rare(d, entry->name[0] == 'a' ? RARE_ADD_SAT : RARE_SUB_SAT, 0, 2);
    uint32_t a = source_extended(d, 1, type), b = source_extended(d, 2, type),
             dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins =
        emit(d, op_for(entry, type), ptx_type_bytes(type) == 8 ? CLASS_INT_WIDE : entry->class);
    if (entry->class == CLASS_DIV) ins->class = CLASS_DIV;
    ins->d = dst, ins->a = a, ins->b = b;
    result_cut(d, dst, type);
    return words_finished(d);
}

static int decode_one(Decoder *d, const Arithmetic *entry)
{
    PtxType type = type_take(d);
    if (type == PTX_PRED) return decode_predicate_logic(d, entry->name);
    uint32_t a = source_extended(d, 1, type), dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, op_for(entry, type), entry->class);
    ins->d = dst, ins->a = a;
    result_cut(d, dst, type);
    return words_finished(d);
}

static int decode_counting(Decoder *d, const Arithmetic *entry)
{
    int shift = word_take(d, "shiftamt");
    PtxType type = type_take(d);
    uint32_t a = source(d, 1, type), dst = destination(d, 0, PTX_U32);
    if (d->failed) return -1;
    Ins *ins = emit(d, op_for(entry, type), CLASS_SFU);
    ins->d = dst, ins->a = a;
    if (shift)
        emit_pseudo(d, OP_BFINDSHIFT, dst, dst,
                    constant_slot(d, WIDTH_32, ptx_type_bytes(type) == 8 ? 63 : 31, 0));
    return words_finished(d);
}

/* mul, mad with the requested half of the result; 16-bit operands are extended to 32 bits. */
static int decode_multiply(Decoder *d, int add)
{
    static const char *const HALVES[] = {"lo", "hi", "wide", NULL};
    int half = word_choose(d, HALVES);
    PtxType type = type_take(d);
    int s = type_is_signed(type), narrow = is16(type), wide = ptx_type_bytes(type) == 8;
    PtxType result = half != 2 ? type : narrow ? (s ? PTX_S32 : PTX_U32) : (s ? PTX_S64 : PTX_U64);
    if (half < 0 || (half == 2 && wide)) return refuse(d, "a multiplication of that kind");
    if (add && word_take(d, "sat")) {
        if (half != 1 || type != PTX_S32) return refuse(d, ".sat is for .hi.s32 only");
        return decode_rare(d, RARE_MADHI_SAT, 0, 3);
    }
    uint32_t a = source_extended(d, 1, type), b = source_extended(d, 2, type);
    uint32_t c = add ? source(d, 3, result) : 0, dst = destination(d, 0, result);
    if (d->failed) return -1;
    Op op;
    if (narrow && half == 1) {
        uint32_t product = temp_slot(d, WIDTH_32);
        emit_pseudo(d, OP_MUL_32, product, a, b);
        Ins *high = emit(d, OP_HIGH_16, CLASS_INT);
        high->d = dst, high->a = product;
        if (add) emit_pseudo(d, OP_ADD_32, dst, dst, c);
        result_cut(d, dst, type);
        return words_finished(d);
    }
    if (half == 2 && !narrow)
        op = add ? (s ? OP_MADWIDE_S32 : OP_MADWIDE_U32) : s ? OP_MULWIDE_S32 : OP_MULWIDE_U32;
    else if (half != 1)
        op = add ? (wide ? OP_MAD_64 : OP_MAD_32) : wide ? OP_MUL_64 : OP_MUL_32;
    else if (wide)
        op = s ? OP_MULHI_S64 : OP_MULHI_U64;
    else
        op = add ? (s ? OP_MADHI_S32 : OP_MADHI_U32) : s ? OP_MULHI_S32 : OP_MULHI_U32;
    int apart = add && half == 1 && wide; /* no handler of its own: multiplication (high half), then
                                           * addition */
    uint32_t product = apart ? temp_slot(d, WIDTH_64) : dst;
    Ins *ins = emit(d, op, wide ? CLASS_INT_WIDE : CLASS_INT);
    ins->d = product, ins->a = a, ins->b = b, ins->c = add && !apart ? c : 0;
    if (apart) emit_pseudo(d, OP_ADD_64, dst, product, c);
    if (half == 0) result_cut(d, dst, type);
    return words_finished(d);
}

static int decode_multiply_24(Decoder *d, int add)
{
    int high = word_take(d, "hi"), sat = word_take(d, "sat");
    if (!high && !word_take(d, "lo")) return refuse(d, "neither .lo nor .hi");
    PtxType type = type_take(d);
    uint32_t is_signed = (uint32_t)type_is_signed(type);
    if (sat && (!add || !high || !is_signed)) return refuse(d, ".sat is for mad24.hi.s32 only");
    if (sat) return decode_rare(d, RARE_MAD24HI_SAT, 0, 3);
    uint32_t a = source(d, 1, type), b = source(d, 2, type), c = add ? source(d, 3, type) : 0;
    uint32_t dst = destination(d, 0, type), product = add ? temp_slot(d, WIDTH_32) : dst;
    if (d->failed || ptx_type_bytes(type) != 4) return refuse(d, "a type other than 32 bits");
    Ins *ins = emit(d, high ? OP_RARE : is_signed ? OP_MUL24_S32 : OP_MUL24_U32, CLASS_INT);
    ins->d = product, ins->a = a, ins->b = b;
    if (high) ins->aux = RARE_MUL24HI | is_signed << 8;
    if (add) emit_pseudo(d, OP_ADD_32, dst, product, c);
    return words_finished(d);
}

static int decode_shift(Decoder *d, int left)
{
    PtxType type = type_take(d);
    uint32_t a = source_extended(d, 1, type), b = source(d, 2, PTX_U32),
             dst = destination(d, 0, type);
    int wide = ptx_type_bytes(type) == 8, s = type_is_signed(type);
    if (d->failed) return -1;
    Op op = left   ? (wide ? OP_SHL_64 : OP_SHL_32)
            : s    ? (wide ? OP_SHR_S64 : OP_SHR_S32)
            : wide ? OP_SHR_U64
                   : OP_SHR_U32;
    Ins *ins = emit(d, op, wide ? CLASS_INT_WIDE : CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b;
    result_cut(d, dst, type);
    return words_finished(d);
}

static int three_operands(Decoder *d, Op op, PtxType type)
{
    uint32_t a = source(d, 1, type), b = source(d, 2, type), c = source(d, 3, type),
             dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, op, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c;
    return words_finished(d);
}

static int decode_funnel(Decoder *d)
{
    int left = word_take(d, "l");
    if (!left && !word_take(d, "r")) return refuse(d, "no direction");
    int clamp = word_take(d, "clamp");
    if (!clamp && !word_take(d, "wrap")) return refuse(d, "neither clamp nor wrap");
    type_take(d);
    return three_operands(d,
                          left    ? (clamp ? OP_SHF_L_CLAMP : OP_SHF_L_WRAP)
                          : clamp ? OP_SHF_R_CLAMP
                                  : OP_SHF_R_WRAP,
                          PTX_B32);
}

static int decode_field(Decoder *d, int insert)
{
    PtxType type = type_take(d);
    int wide = ptx_type_bytes(type) == 8, s = type_is_signed(type);
    uint32_t a = source(d, 1, type), b = source(d, 2, insert ? type : PTX_U32),
             c = source(d, 3, PTX_U32);
    uint32_t length = insert ? source(d, 4, PTX_U32) : 0, dst = destination(d, 0, type);
    if (d->failed) return -1;
    Op op = insert ? (wide ? OP_BFI_64 : OP_BFI_32)
            : wide ? OP_BFE_64
            : s    ? OP_BFE_S32
                   : OP_BFE_U32;
    Ins *ins = emit(d, op, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c, ins->is_signed = (uint8_t)s;
    if (insert) ins->v[0] = length;
    return words_finished(d);
}

/* "lop3.or.b32 d|p, a, b, c, table, q": p says whether d is not 0, or q is set (and: both). */
static int lop3_predicate(Decoder *d, uint32_t value, int logic)
{
    uint32_t negated, q = predicate_of(d, operand_at(d, 5), &negated);
    uint32_t none = constant_slot(d, WIDTH_32, 0, 0);
    uint32_t p = destination_of(d, &d->in->operand[0].element[1], PTX_PRED);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_NE_32, CLASS_FREE); /* one instruction of the machine with the first */
    ins->d = p, ins->a = value, ins->b = none, ins->c = q, ins->v[0] = NO_SLOT;
    ins->aux = combination_of(logic, negated);
    return 0;
}

static int decode_lop3(Decoder *d)
{
    static const char *const LOGIC[] = {"and", "or", NULL};
    int logic = word_choose(d, LOGIC), pair = logic >= 0;
    type_take(d);
    const PtxOperand *to = operand_at(d, 0), *table = operand_at(d, 4);
    if (d->failed || d->in->operands != 5u + (uint32_t)pair || table->kind != PTX_OPERAND_INTEGER ||
        (to->kind == PTX_OPERAND_PAIR) != pair || (pair && to->count != 2))
        return refuse(d, "those operands of lop3");
    if (pair) to = &to->element[0];
    uint32_t a = source(d, 1, PTX_B32), b = source(d, 2, PTX_B32), c = source(d, 3, PTX_B32);
    uint32_t dst =
        to->kind == PTX_OPERAND_SINK ? temp_slot(d, WIDTH_32) : destination_of(d, to, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_LOP3, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c, ins->imm = table->integer & 255;
    if (pair && lop3_predicate(d, dst, logic) != 0) return -1;
    return words_finished(d);
}

static int decode_permute(Decoder *d)
{
    static const char *const MODES[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
    int mode = word_choose(d, MODES);
    type_take(d);
    uint32_t before = d->count;
    if (three_operands(d, OP_PRMT, PTX_B32) != 0) return -1;
    d->code[before].aux = (uint32_t)(mode + 1);
    return 0;
}

static int decode_dot(Decoder *d)
{
    PtxType a = type_take(d), b = type_take(d);
    Op op = type_is_signed(a)   ? (type_is_signed(b) ? OP_DP4A_SS : OP_DP4A_SU)
            : type_is_signed(b) ? OP_DP4A_US
                                : OP_DP4A_UU;
    return three_operands(d, op, PTX_B32);
}

static int decode_dot_2(Decoder *d)
{
    uint32_t high = (uint32_t)word_take(d, "hi");
    if (!high && !word_take(d, "lo")) return refuse(d, "neither .lo nor .hi");
    uint32_t a = (uint32_t)type_is_signed(type_take(d)), b = (uint32_t)type_is_signed(type_take(d));
    return decode_rare(d, RARE_DP2A, a | b << 1 | high << 2, 3);
}

static int decode_mask(Decoder *d, RareOp op)
{
    uint32_t wrap = (uint32_t)word_take(d, "wrap");
    if (!wrap && !word_take(d, "clamp")) return refuse(d, "neither clamp nor wrap");
    uint32_t is_signed = (uint32_t)type_is_signed(type_take(d));
    return decode_rare(d, op, op == RARE_SZEXT ? is_signed | wrap << 1 : wrap, 2);
}

static int decode_sad(Decoder *d)
{
    PtxType type = type_take(d);
    int s = type_is_signed(type);
    if (ptx_type_bytes(type) == 8) {
        uint32_t a = source(d, 1, type), b = source(d, 2, type), c = source(d, 3, type),
                 dst = destination(d, 0, type);
        if (d->failed) return -1;
        Ins *ins = emit(d, s ? OP_SAD_S64 : OP_SAD_U64, CLASS_INT_WIDE);
        ins->d = dst, ins->a = a, ins->b = b, ins->c = c;
        return words_finished(d);
    }
    uint32_t a = source_extended(d, 1, type), b = source_extended(d, 2, type),
             c = source(d, 3, type), dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, s ? OP_SAD_S32 : OP_SAD_U32, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c;
    result_cut(d, dst, type);
    return words_finished(d);
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: CC.CF is a predicate of the kernel's. */
static int decode_carry(Decoder *d, const char *name)
{
    static const char *const HALVES[] = {"lo", "hi", NULL};
    uint32_t in = name[3] == 'c', out = (uint32_t)word_take(d, "cc");
    int mad = name[0] == 'm', half = mad ? word_choose(d, HALVES) : 0;
    PtxType type = type_take(d);
    uint32_t wide = ptx_type_bytes(type) == 8, s = (uint32_t)type_is_signed(type);
    if (half < 0 || ptx_type_bytes(type) < 4 || type_is_float(type))
        return refuse(d, "a carry of that kind");
    if (!d->carry) d->carry = slot_new(d, WIDTH_PRED);
    uint32_t a = source(d, 1, type), b = source(d, 2, type), c = mad ? source(d, 3, type) : 0,
             dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_CARRY, wide ? CLASS_INT_WIDE : CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c, ins->v[0] = d->carry;
    uint32_t op = mad              ? (half ? CARRY_MAD_HI : CARRY_MAD_LO)
                  : name[0] == 's' ? CARRY_SUB
                                   : CARRY_ADD;
    ins->aux = op | wide << 2 | in << 3 | out << 4 | s << 5;
    return words_finished(d);
}

static int wants_carry(const Decoder *d)
{
    static const char *const NAMES[] = {"add", "sub", "mad", "addc", "subc", "madc"};
    int known = 0, cc = strlen(d->in->word[0]) == 4;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        known |= strcmp(d->in->word[0], NAMES[i]) == 0;
    for (uint32_t i = 1; i < d->in->words; i++)
        cc |= strcmp(d->in->word[i], "cc") == 0;
    return known && cc;
}

/* A register of 8 bits may hold more, which belongs to none of the parts. */
static uint32_t bytes_joined(Decoder *d, const PtxOperand *low, const PtxOperand *high)
{
    enum { FIRST_OF_BOTH = 0x40 };
    uint32_t both = temp_slot(d, WIDTH_32), a = source_of(d, low, PTX_B8),
             b = source_of(d, high, PTX_B8);
    uint32_t selector = constant_slot(d, WIDTH_32, FIRST_OF_BOTH, 0);
    if (d->failed) return 0;
    Ins *ins = emit(d, OP_PRMT, CLASS_INT);
    ins->d = both, ins->a = a, ins->b = b, ins->c = selector;
    return both;
}

/* mov.b16 d, {a, b} and mov.b32 d, {a, b, c, e} of bytes. */
static int bytes_pack(Decoder *d, PtxType type)
{
    const PtxOperand *parts = &d->in->operand[1];
    uint32_t low = bytes_joined(d, &parts->element[0], &parts->element[1]), high = low;
    if (parts->count == 4) high = bytes_joined(d, &parts->element[2], &parts->element[3]);
    uint32_t dst = destination(d, 0, type);
    if (d->failed) return -1;
    emit_pseudo(d, parts->count == 4 ? OP_PACK_32 : OP_MASK_16, dst, low, high);
    return words_finished(d);
}

static int bytes_unpack(Decoder *d, uint32_t a)
{
    const PtxOperand *parts = &d->in->operand[0];
    uint32_t copy = temp_slot(d, WIDTH_32), eight = constant_slot(d, WIDTH_32, 8, 0);
    if (!d->failed) emit_pseudo(d, OP_MOV_32, copy, a, a);
    for (uint32_t i = 0; i < parts->count && !d->failed; i++) {
        uint32_t part = destination_of(d, &parts->element[i], PTX_B8),
                 from = constant_slot(d, WIDTH_32, 8 * i, 0);
        if (d->failed) break;
        Ins *ins = emit(d, OP_BFE_U32, CLASS_INT);
        ins->d = part, ins->a = copy, ins->b = from, ins->c = eight;
    }
    return d->failed ? -1 : words_finished(d);
}

/* mov d, {a, b}: parts are put together, the first one lowest. */
static int move_pack(Decoder *d, PtxType type)
{
    const PtxOperand *parts = &d->in->operand[1];
    int wide = ptx_type_bytes(type) == 8;
    if (parts->count == 4 && wide) {
        uint32_t low = temp_slot(d, WIDTH_32), high = temp_slot(d, WIDTH_32), p[4];
        for (int i = 0; i < 4; i++)
            p[i] = source_of(d, &parts->element[i], PTX_B16);
        uint32_t dst = destination(d, 0, type);
        if (d->failed) return -1;
        emit_pseudo(d, OP_PACK_32, low, p[0], p[1]);
        emit_pseudo(d, OP_PACK_32, high, p[2], p[3]);
        Ins *ins = emit(d, OP_PACK_64, CLASS_INT);
        ins->d = dst, ins->a = low, ins->b = high;
        return words_finished(d);
    }
    if (parts->count == ptx_type_bytes(type)) return bytes_pack(d, type);
    if (parts->count != 2 || ptx_type_bytes(type) < 4) return refuse(d, "a vector of that shape");
    PtxType half = wide ? PTX_B32 : PTX_B16;
    uint32_t a = source_of(d, &parts->element[0], half), b = source_of(d, &parts->element[1], half);
    uint32_t dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, wide ? OP_PACK_64 : OP_PACK_32, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b;
    return words_finished(d);
}

/* mov {d, e}, a: the source goes to a temporary first, for a part may be written before the other
 * is read. */
static int move_unpack(Decoder *d, PtxType type)
{
    const PtxOperand *parts = &d->in->operand[0];
    int wide = ptx_type_bytes(type) == 8;
    uint32_t a = source(d, 1, type);
    if (d->failed) return -1;
    if (parts->count == ptx_type_bytes(type)) return bytes_unpack(d, a);
    if (parts->count == 2) {
        PtxType half = wide ? PTX_B32 : PTX_B16;
        uint32_t low = destination_of(d, &parts->element[0], half),
                 high = destination_of(d, &parts->element[1], half);
        uint32_t copy = temp_slot(d, wide ? WIDTH_64 : WIDTH_32);
        if (d->failed || ptx_type_bytes(type) < 4) return refuse(d, "a vector of that shape");
        emit_pseudo(d, wide ? OP_MOV_64 : OP_MOV_32, copy, a, a);
        emit_pseudo(d, wide ? OP_TRUNC_32 : OP_MASK_16, low, copy, copy);
        Ins *ins = emit(d, wide ? OP_HIGH_32 : OP_HIGH_16, CLASS_INT);
        ins->d = high, ins->a = copy;
        return words_finished(d);
    }
    if (parts->count != 4 || !wide) return refuse(d, "a vector of that shape");
    uint32_t low = temp_slot(d, WIDTH_32), high = temp_slot(d, WIDTH_32), p[4];
    for (int i = 0; i < 4; i++)
        p[i] = destination_of(d, &parts->element[i], PTX_B16);
    if (d->failed) return -1;
    emit_pseudo(d, OP_TRUNC_32, low, a, a);
    emit_pseudo(d, OP_HIGH_32, high, a, a);
    emit_pseudo(d, OP_MASK_16, p[0], low, low);
    emit_pseudo(d, OP_HIGH_16, p[1], low, low);
    emit_pseudo(d, OP_MASK_16, p[2], high, high);
    Ins *ins = emit(d, OP_HIGH_16, CLASS_INT);
    ins->d = p[3], ins->a = high;
    return words_finished(d);
}

static int move_special(Decoder *d, const char *name)
{
    int nanoseconds = strncmp(name, "%globaltimer", 12) == 0, upper = strstr(name, "_hi") != NULL,
        wide = strcmp(name, "%clock64") == 0 || strcmp(name, "%globaltimer") == 0;
    uint32_t dst = destination(d, 0, wide ? PTX_B64 : PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_CLOCK, CLASS_INT);
    d->kernel->traits.reads_clock = 1;
    ins->d = dst, ins->bytes = wide ? 8 : 4;
    ins->aux = (nanoseconds ? CLOCK_NANOSECONDS : 0) | (upper ? CLOCK_UPPER : 0);
    return words_finished(d);
}

/* The halves of an operand of mov.b128, the lower first: of one register, or two of 64 bits. */
static void halves_of(Decoder *d, uint32_t operand, uint32_t *half)
{
    const PtxOperand *from = &d->in->operand[operand];
    if (from->kind != PTX_OPERAND_VECTOR) {
        half[0] = wide_slot(d, from);
        half[1] = upper_half(half[0]);
        return;
    }
    if (from->count != 2) refuse(d, "a vector of that shape");
    for (uint32_t i = 0; i < 2 && !d->failed; i++)
        half[i] = operand ? source_of(d, &from->element[i], PTX_B64)
                          : destination_of(d, &from->element[i], PTX_B64);
}

static int move_wide(Decoder *d)
{
    uint32_t from[2] = {0}, to[2] = {0};
    halves_of(d, 1, from), halves_of(d, 0, to);
    if (d->failed) return -1;
    emit_pseudo(d, OP_MOV_64, to[0], from[0], from[0]);
    Ins *ins = emit(d, OP_MOV_64, CLASS_FREE);
    ins->d = to[1], ins->a = from[1];
    return words_finished(d);
}

static int decode_move(Decoder *d)
{
    int wide = word_take(d, "b128");
    PtxType type = type_take(d);
    if (d->in->operands != 2) return refuse(d, "it needs two operands");
    if (wide) return move_wide(d);
    const PtxOperand *from = &d->in->operand[1];
    if (type == PTX_PRED) return decode_predicate_logic(d, "mov");
    if (from->kind == PTX_OPERAND_VECTOR) return move_pack(d, type);
    if (d->in->operand[0].kind == PTX_OPERAND_VECTOR) return move_unpack(d, type);
    if (from->kind == PTX_OPERAND_SPECIAL &&
        (strncmp(from->name, "%clock", 6) == 0 || strncmp(from->name, "%globaltimer", 12) == 0))
        return move_special(d, from->name);
    uint32_t a = source(d, 1, type), dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, width_of(type) == WIDTH_64 ? OP_MOV_64 : OP_MOV_32, CLASS_FREE);
    ins->d = dst, ins->a = a;
    result_cut(d, dst, type);
    return words_finished(d);
}

int decode_integer(Decoder *d)
{
    const char *name = d->in->word[0];
    const Arithmetic *entry;
    PtxType last = PTX_NONE;
    for (uint32_t i = d->in->words; i-- > 1 && last == PTX_NONE;) {
        uint32_t used = d->used;
        d->used = ~(1u << i);
        last = type_take(d);
        d->used = used;
    }
    int number = !type_is_float(last);
    if (strcmp(name, "mov") == 0) return decode_move(d);
    if (wants_carry(d)) return decode_carry(d, name);
    if (number && (entry = FIND(TWO, name))) return decode_two(d, entry);
    if (number && (entry = FIND(ONE, name))) return decode_one(d, entry);
    if ((entry = FIND(COUNTING, name))) return decode_counting(d, entry);
    if (number && strcmp(name, "mul") == 0) return decode_multiply(d, 0);
    if (number && strcmp(name, "mad") == 0) return decode_multiply(d, 1);
    if (strcmp(name, "mul24") == 0) return decode_multiply_24(d, 0);
    if (strcmp(name, "mad24") == 0) return decode_multiply_24(d, 1);
    if (strcmp(name, "shl") == 0) return decode_shift(d, 1);
    if (strcmp(name, "shr") == 0) return decode_shift(d, 0);
    if (strcmp(name, "shf") == 0) return decode_funnel(d);
    if (strcmp(name, "bfe") == 0) return decode_field(d, 0);
    if (strcmp(name, "bfi") == 0) return decode_field(d, 1);
    if (strcmp(name, "lop3") == 0) return decode_lop3(d);
    if (strcmp(name, "prmt") == 0) return decode_permute(d);
    if (strcmp(name, "dp4a") == 0) return FEATURE_NEED(d, dp4a) != 0 ? -1 : decode_dot(d);
    if (strcmp(name, "dp2a") == 0) return FEATURE_NEED(d, dp4a) != 0 ? -1 : decode_dot_2(d);
    if (strcmp(name, "sad") == 0) return decode_sad(d);
    if (strcmp(name, "bmsk") == 0) return decode_mask(d, RARE_BMSK);
    if (strcmp(name, "szext") == 0) return decode_mask(d, RARE_SZEXT);
    if (strcmp(name, "fns") == 0) {
        type_take(d);
        return decode_rare(d, RARE_FNS, 0, 3);
    }
    return decode_video(d);
}
