/* decode_compare.c - setp, set, selp, slct and cvt. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

/* ---- comparisons -------------------------------------------------------------------------- */
static const char *const COMPARISONS[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",
                                          "ls",  "hi",  "hs",  "equ", "neu", "ltu", "leu",
                                          "gtu", "geu", "num", "nan", NULL};

typedef struct Compare {
    Op op;
    int swap; /* a > b is b < a */
} Compare;

static int compare_integer(int how, PtxType type, Compare *out)
{
    int wide = ptx_type_bytes(type) == 8, s = type_is_signed(type);
    if (how >= 6 && how <= 9) { /* lo, ls, hi, hs: unsigned names of lt, le, gt, ge */
        if (s) return -1;
        how -= 4;
    }
    if (how > 5) return -1;
    out->swap = how == 4 || how == 5;
    switch (how) {
    case 0:
        out->op = wide ? OP_EQ_64 : OP_EQ_32;
        break;
    case 1:
        out->op = wide ? OP_NE_64 : OP_NE_32;
        break;
    case 2:
    case 4:
        out->op = wide ? (s ? OP_LT_S64 : OP_LT_U64) : s ? OP_LT_S32 : OP_LT_U32;
        break;
    default:
        out->op = wide ? (s ? OP_LE_S64 : OP_LE_U64) : s ? OP_LE_S32 : OP_LE_U32;
    }
    return 0;
}

static int compare_float(int how, PtxType type, Compare *out)
{
    static const Op F32[] = {OP_EQ_F32,  OP_NE_F32,  OP_LT_F32,  OP_LE_F32,  OP_LT_F32,
                             OP_LE_F32,  0,          0,          0,          0,
                             OP_EQU_F32, OP_NEU_F32, OP_LTU_F32, OP_LEU_F32, OP_LTU_F32,
                             OP_LEU_F32, OP_NUM_F32, OP_NAN_F32};
    static const Op F64[] = {OP_EQ_F64,  OP_NE_F64,  OP_LT_F64,  OP_LE_F64,  OP_LT_F64,
                             OP_LE_F64,  0,          0,          0,          0,
                             OP_EQU_F64, OP_NEU_F64, OP_LTU_F64, OP_LEU_F64, OP_LTU_F64,
                             OP_LEU_F64, OP_NUM_F64, OP_NAN_F64};
    if (how >= 6 && how <= 9) return -1;
    out->op = type == PTX_F64 ? F64[how] : F32[how];
    out->swap = how == 4 || how == 5 || how == 14 || how == 15;
    return 0;
}

/* A half as a float, its subnormals flushed where asked. */
static uint32_t half_source(Decoder *d, uint32_t slot, int bf16, int ftz)
{
    uint32_t temp = temp_slot(d, WIDTH_32);
    if (d->failed) return 0;
    if (ftz && !bf16) emit_pseudo(d, OP_FTZ_F16, temp, slot, slot), slot = temp;
    emit_pseudo(d, bf16 ? OP_CVT_F32_BF16 : OP_CVT_F32_F16, temp, slot, slot);
    return temp;
}

/* A source as the comparison wants it: small integers extended, halves widened, subnormals
 * flushed. */
static uint32_t compare_source(Decoder *d, uint32_t operand, PtxType type, int ftz)
{
    int half = type == PTX_F16 || type == PTX_BF16;
    uint32_t slot = source(d, operand, half ? PTX_B16 : type);
    if (half && !d->failed) return half_source(d, slot, type == PTX_BF16, ftz);
    Op op = type == PTX_S16 ? OP_SEXT_16 : ftz && type == PTX_F32 ? OP_FTZ_F32 : OP_NOP;
    if (op == OP_NOP || d->failed) return slot;
    uint32_t temp = temp_slot(d, WIDTH_32);
    emit_pseudo(d, op, temp, slot, slot);
    return temp;
}

/* One of the two halves of a source, as a float. */
static uint32_t packed_source(Decoder *d, uint32_t operand, int bf16, int ftz, int upper)
{
    uint32_t slot = source(d, operand, PTX_B32), part = temp_slot(d, WIDTH_32);
    if (d->failed) return 0;
    emit_pseudo(d, upper ? OP_HIGH_16 : OP_MASK_16, part, slot, slot);
    d->temps32--; /* the part is widened in place */
    return half_source(d, part, bf16, ftz);
}

typedef struct Comparison {
    int how, logic, ftz;
    uint32_t c, negated; /* the predicate that it is combined with */
} Comparison;

/* Leaves the comparison in predicate `p` and its complement in `q`. */
static int comparison_emit(Decoder *d, const Comparison *k, PtxType type, int half, uint32_t p,
                           uint32_t q)
{
    Compare compare = {0};
    int packed = type == PTX_F16X2 || type == PTX_BF16X2, bf16 = type == PTX_BF16X2;
    if (k->how < 0 || (type_is_float(type) ? compare_float(k->how, type, &compare)
                                           : compare_integer(k->how, type, &compare)) != 0)
        return refuse(d, "that comparison is not supported on that type");
    uint32_t a =
        packed ? packed_source(d, 1, bf16, k->ftz, half) : compare_source(d, 1, type, k->ftz);
    uint32_t b =
        packed ? packed_source(d, 2, bf16, k->ftz, half) : compare_source(d, 2, type, k->ftz);
    if (d->failed) return -1;
    Ins *ins = emit(d, compare.op,
                    type == PTX_F32   ? CLASS_FP32
                    : type == PTX_F64 ? CLASS_FP64
                                      : CLASS_INT);
    ins->d = p, ins->a = compare.swap ? b : a, ins->b = compare.swap ? a : b, ins->c = k->c;
    ins->v[0] = q;
    ins->aux = k->logic < 0 ? 0 : combination_of(k->logic, k->negated);
    return 0;
}

/* Leaves the comparison in predicate `p` (and its complement in `q`), combined with operand 3 if
 * there is a BOOL word. With packed halves, `p` has the result of the lower half and `q` that of
 * the upper half. */
static int compare_emit(Decoder *d, uint32_t p, uint32_t q, PtxType *result, int is_set)
{
    static const char *const BOOLS[] = {"and", "or", "xor", NULL};
    Comparison k = {.how = word_choose(d, COMPARISONS), .logic = word_choose(d, BOOLS)};
    k.ftz = word_take(d, "ftz");
    if (is_set) *result = type_take(d);
    PtxType type = type_take(d);
    if (k.logic >= 0) {
        if (d->in->operands < 4) return refuse(d, "too few operands");
        k.c = predicate_of(d, &d->in->operand[3], &k.negated);
    }
    if (type != PTX_F16X2 && type != PTX_BF16X2) return comparison_emit(d, &k, type, 0, p, q);
    if (q == NO_SLOT) return refuse(d, "one predicate for two halves");
    uint32_t first = temp_slot(d, WIDTH_PRED); /* p may be what q is combined with */
    if (d->failed || comparison_emit(d, &k, type, 0, first, NO_SLOT) != 0) return -1;
    d->temps32 = 0;
    if (comparison_emit(d, &k, type, 1, q, NO_SLOT) != 0) return -1;
    emit_pseudo(d, OP_MOV_P, p, first, first);
    return d->failed ? -1 : 0;
}

static int decode_setp(Decoder *d)
{
    const PtxOperand *to = d->in->operands ? &d->in->operand[0] : NULL;
    uint32_t p, q = NO_SLOT;
    if (!to) return refuse(d, "too few operands");
    if (to->kind == PTX_OPERAND_PAIR && to->count == 2) {
        p = destination_of(d, &to->element[0], PTX_PRED);
        q = destination_of(d, &to->element[1], PTX_PRED);
    } else {
        p = destination_of(d, to, PTX_PRED);
    }
    if (d->failed || compare_emit(d, p, q, NULL, 0) != 0) return -1;
    return words_finished(d);
}

/* The value of set for true: all ones, or 1 in the result's format; for packed halves, 16 bits of
 * it per half. */
static uint32_t set_true(PtxType result, int packed)
{
    if (result == PTX_F32) return 0x3f800000u;
    if (result == PTX_F16 || result == PTX_F16X2) return 0x3c00u;
    if (result == PTX_BF16 || result == PTX_BF16X2) return 0x3f80u;
    return packed || ptx_type_bytes(result) == 2 ? 0xffffu : FULL_MASK;
}

static int decode_set(Decoder *d)
{
    PtxType result = PTX_NONE;
    uint32_t p = temp_slot(d, WIDTH_PRED), q = temp_slot(d, WIDTH_PRED);
    int packed = strcmp(d->in->word[d->in->words - 1], "f16x2") == 0 ||
                 strcmp(d->in->word[d->in->words - 1], "bf16x2") == 0;
    if (compare_emit(d, p, packed ? q : NO_SLOT, &result, 1) != 0) return -1;
    if (ptx_type_bytes(result) > 4 || (packed && ptx_type_bytes(result) != 4))
        return refuse(d, "a result of that type");
    uint32_t yes = constant_slot(d, WIDTH_32, set_true(result, packed), 0),
             no = constant_slot(d, WIDTH_32, 0, 0), dst = destination(d, 0, result);
    d->temps32 = 0;
    uint32_t upper = packed ? temp_slot(d, WIDTH_32) : 0;
    if (d->failed) return -1;
    emit_pseudo(d, OP_SELP_32, dst, yes, no)->c = p;
    if (packed) {
        emit_pseudo(d, OP_SELP_32, upper, yes, no)->c = q;
        emit_pseudo(d, OP_PACK_32, dst, dst, upper);
    }
    return words_finished(d);
}

static int decode_selp(Decoder *d)
{
    PtxType type = type_take(d);
    if (d->in->operands != 4) return refuse(d, "it needs four operands");
    PtxOperand plain = d->in->operand[3];
    uint32_t negated = (uint32_t)plain.negated;
    plain.negated = 0;
    uint32_t a = source(d, 1, type), b = source(d, 2, type), p = source_of(d, &plain, PTX_PRED);
    uint32_t dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, width_of(type) == WIDTH_64 ? OP_SELP_64 : OP_SELP_32, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = p, ins->aux = negated;
    return words_finished(d);
}

static int decode_slct(Decoder *d)
{
    int ftz = word_take(d, "ftz");
    PtxType type = type_take(d), by = type_take(d);
    uint32_t a = source(d, 1, type), b = source(d, 2, type), c = compare_source(d, 3, by, ftz);
    uint32_t dst = destination(d, 0, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_SLCT, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c;
    ins->aux = by == PTX_F32, ins->bytes = width_of(type) == WIDTH_64 ? 8 : 4;
    return words_finished(d);
}

/* ---- conversions -------------------------------------------------------------------------- */
static int format_of(PtxType type)
{
    switch (type) {
    case PTX_U8:
    case PTX_B8:
        return FORMAT_U8;
    case PTX_U16:
    case PTX_B16:
        return FORMAT_U16;
    case PTX_U32:
    case PTX_B32:
        return FORMAT_U32;
    case PTX_U64:
    case PTX_B64:
        return FORMAT_U64;
    case PTX_S8:
        return FORMAT_S8;
    case PTX_S16:
        return FORMAT_S16;
    case PTX_S32:
        return FORMAT_S32;
    case PTX_S64:
        return FORMAT_S64;
    case PTX_F16:
        return FORMAT_F16;
    case PTX_BF16:
        return FORMAT_BF16;
    case PTX_F32:
        return FORMAT_F32;
    case PTX_F64:
        return FORMAT_F64;
    default:
        return -1;
    }
}

typedef struct Conversion {
    int from, to, rounding, integral, sat, ftz, relu, finite;
    PtxType to_type, from_type;
} Conversion;

/* Conversions that have a handler of their own. */
static int direct_op(const Conversion *c)
{
    static const struct {
        int from, to, op;
    } TABLE[] = {
        {FORMAT_S32, FORMAT_F32, OP_CVT_F32_S32}, {FORMAT_U32, FORMAT_F32, OP_CVT_F32_U32},
        {FORMAT_S64, FORMAT_F32, OP_CVT_F32_S64}, {FORMAT_U64, FORMAT_F32, OP_CVT_F32_U64},
        {FORMAT_S32, FORMAT_F64, OP_CVT_F64_S32}, {FORMAT_U32, FORMAT_F64, OP_CVT_F64_U32},
        {FORMAT_S64, FORMAT_F64, OP_CVT_F64_S64}, {FORMAT_U64, FORMAT_F64, OP_CVT_F64_U64},
        {FORMAT_F32, FORMAT_F64, OP_CVT_F64_F32}, {FORMAT_F64, FORMAT_F32, OP_CVT_F32_F64},
        {FORMAT_F16, FORMAT_F32, OP_CVT_F32_F16}, {FORMAT_BF16, FORMAT_F32, OP_CVT_F32_BF16}};
    if (c->ftz || c->rounding > ROUND_N) return -1;
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].from == c->from && TABLE[i].to == c->to) return TABLE[i].op;
    return -1;
}

/* A register may be wider than the type that is converted from: only its low part counts. */
static uint32_t convert_source(Decoder *d, PtxType type)
{
    PtxType reg = d->in->operands > 1 ? register_type(d, &d->in->operand[1]) : PTX_NONE;
    if (ptx_type_bytes(reg) == 8 && ptx_type_bytes(type) < 8) {
        uint32_t slot = source(d, 1, PTX_B64), low = temp_slot(d, WIDTH_32);
        if (!d->failed) emit_pseudo(d, OP_TRUNC_32, low, slot, slot);
        return low;
    }
    return source(d, 1, type);
}

static int convert_integers(Decoder *d, const Conversion *c, uint32_t a, uint32_t dst,
                            uint32_t reg_bytes)
{
    Op op = OP_CVT_SAT_INT;
    int from_bytes = (int)ptx_type_bytes(c->from_type), to_bytes = (int)ptx_type_bytes(c->to_type);
    if (!c->sat) {
        if (from_bytes == 4 && to_bytes == 8 && reg_bytes == 8)
            op = c->from >= FORMAT_S8 ? OP_SEXT_64 : OP_ZEXT_64;
        else if (from_bytes == 8 && to_bytes == 4 && reg_bytes == 4)
            op = OP_TRUNC_32;
        else if (from_bytes == 2 && to_bytes == 4 && reg_bytes == 4)
            op = c->from >= FORMAT_S8 ? OP_SEXT_16 : OP_MASK_16;
        else if (from_bytes == 4 && to_bytes == 2 && reg_bytes == 2)
            op = OP_MASK_16;
        else if (from_bytes == to_bytes && from_bytes == 4 && reg_bytes == 4)
            op = OP_MOV_32;
    }
    Ins *ins = emit(d, op, to_bytes == 8 ? CLASS_FREE : CLASS_INT);
    ins->d = dst, ins->a = a, ins->bytes = (uint8_t)reg_bytes;
    ins->aux = (uint32_t)c->from | (uint32_t)c->to << 4 | (uint32_t)c->sat << 8;
    return words_finished(d);
}

static uint32_t half_aux(const Conversion *c, int to)
{
    return (uint32_t)c->from | (uint32_t)to << 4 |
           (uint32_t)(c->rounding < 0 ? ROUND_N : c->rounding) << 8 | (uint32_t)c->ftz << 10 |
           (uint32_t)c->relu << 11 | (uint32_t)c->sat << 12 | (uint32_t)c->finite << 13;
}

/* The plainest conversions have a handler of their own. */
static Op half_op(const Conversion *c, int to)
{
    int plain = c->from == FORMAT_F32 && !c->ftz && !c->relu && !c->sat && !c->finite,
        bf16 = to == FORMAT_BF16;
    if (!plain || c->rounding > ROUND_Z) return OP_CVT_TO_FLOAT;
    if (c->rounding == ROUND_Z) return bf16 ? OP_CVT_BF16_F32_Z : OP_CVT_F16_F32_Z;
    return bf16 ? OP_CVT_BF16_F32 : OP_CVT_F16_F32;
}

static int convert_to_half(Decoder *d, const Conversion *c, uint32_t a, uint32_t dst)
{
    Ins *ins = emit(d, half_op(c, c->to), CLASS_SFU);
    ins->d = dst, ins->a = a, ins->aux = half_aux(c, c->to);
    return words_finished(d);
}

/* cvt.rni.f16.f16: by way of f32, in which every half has its place. */
static int convert_half_integral(Decoder *d, const Conversion *c, uint32_t a, uint32_t dst)
{
    static const Op F32[] = {OP_RINT_F32, OP_TRUNC_F32, OP_FLOOR_F32, OP_CEIL_F32};
    uint32_t wide = temp_slot(d, WIDTH_32);
    int bf16 = c->from == FORMAT_BF16;
    if (d->failed) return -1;
    emit_pseudo(d, bf16 ? OP_CVT_F32_BF16 : OP_CVT_F32_F16, wide, a, a);
    if (c->integral >= 0) emit_pseudo(d, F32[c->integral], wide, wide, wide);
    if (c->sat) emit_pseudo(d, OP_SAT_F32, wide, wide, wide);
    Ins *ins = emit(d, bf16 ? OP_CVT_BF16_F32 : OP_CVT_F16_F32, CLASS_SFU);
    ins->d = dst, ins->a = wide;
    return words_finished(d);
}

/* cvt.rni.f32.f32 and its like round to an integral value. */
static int convert_integral(Decoder *d, const Conversion *c, uint32_t a, uint32_t dst)
{
    static const Op F32[] = {OP_RINT_F32, OP_TRUNC_F32, OP_FLOOR_F32, OP_CEIL_F32};
    static const Op F64[] = {OP_RINT_F64, OP_TRUNC_F64, OP_FLOOR_F64, OP_CEIL_F64};
    int is_double = c->from == FORMAT_F64;
    Op op = c->integral < 0 ? (is_double ? OP_MOV_64
                               : c->ftz  ? OP_CANON_F32_FTZ
                                         : OP_MOV_32)
            : is_double     ? F64[c->integral]
                            : (Op)((int)F32[c->integral] + c->ftz);
    Ins *ins = emit(d, op, CLASS_SFU);
    ins->d = dst, ins->a = a;
    if (c->sat) emit_pseudo(d, is_double ? OP_SAT_F64 : OP_SAT_F32, dst, dst, dst);
    return words_finished(d);
}

static int convert_emit(Decoder *d, const Conversion *c, uint32_t a, uint32_t dst,
                        uint32_t reg_bytes)
{
    int from_float = c->from >= FORMAT_F16, to_float = c->to >= FORMAT_F16;
    if (!from_float && !to_float) return convert_integers(d, c, a, dst, reg_bytes);
    if (!to_float) {
        int mode = c->integral < 0 ? ROUND_Z : c->integral;
        int plain = c->from == FORMAT_F32 && c->to == FORMAT_S32 && mode == ROUND_Z && !c->ftz &&
                    reg_bytes == 4;
        Ins *ins = emit(d, plain ? OP_CVT_S32_F32_Z : OP_CVT_TO_INT, CLASS_SFU);
        ins->d = dst, ins->a = a, ins->bytes = (uint8_t)reg_bytes;
        ins->aux =
            (uint32_t)c->from | (uint32_t)c->to << 4 | (uint32_t)mode << 8 | (uint32_t)c->ftz << 10;
        return words_finished(d);
    }
    if (c->to == c->from && c->to < FORMAT_F32) return convert_half_integral(d, c, a, dst);
    if (c->to == c->from) return convert_integral(d, c, a, dst);
    if (c->integral >= 0) return refuse(d, "rounding to an integral value between two formats");
    if (c->to == FORMAT_F16 || c->to == FORMAT_BF16) return convert_to_half(d, c, a, dst);
    int op = direct_op(c);
    Ins *ins = emit(d, op >= 0 ? (Op)op : OP_CVT_TO_FLOAT, CLASS_SFU);
    ins->d = dst, ins->a = a;
    ins->aux = (uint32_t)c->from | (uint32_t)c->to << 4 |
               (uint32_t)(c->rounding < 0 ? 0 : c->rounding) << 8 | (uint32_t)c->ftz << 10;
    if (c->sat) emit_pseudo(d, c->to == FORMAT_F64 ? OP_SAT_F64 : OP_SAT_F32, dst, dst, dst);
    return words_finished(d);
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static int convert_packed(Decoder *d, Conversion *c, PtxType to)
{
    if (c->from_type != PTX_F32 || c->rounding > ROUND_Z || c->sat)
        return refuse(d, "that conversion to packed halves");
    int format = to == PTX_BF16X2 ? FORMAT_BF16 : FORMAT_F16;
    uint32_t a = source(d, 1, PTX_F32), b = source(d, 2, PTX_F32), dst = destination(d, 0, PTX_B32);
    uint32_t high = temp_slot(d, WIDTH_32), low = temp_slot(d, WIDTH_32);
    c->from = FORMAT_F32;
    if (d->failed) return -1;
    emit_pseudo(d, half_op(c, format), high, a, a)->aux = half_aux(c, format);
    emit_pseudo(d, half_op(c, format), low, b, b)->aux = half_aux(c, format);
    Ins *ins = emit(d, OP_PACK_32, CLASS_SFU);
    ins->d = dst, ins->a = low, ins->b = high;
    return words_finished(d);
}

static int convert_tf32(Decoder *d, const Conversion *c, int away)
{
    uint32_t a = source(d, 1, PTX_F32), dst = destination(d, 0, PTX_B32);
    if (c->from_type != PTX_F32 || c->rounding > ROUND_Z || away == (c->rounding >= 0) || c->sat)
        return refuse(d, "that conversion to tf32");
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_CVT_TF32_F32, CLASS_FP32);
    ins->d = dst, ins->a = a;
    ins->aux =
        (uint32_t)(away ? 0 : 1 + c->rounding) | (uint32_t)c->relu << 2 | (uint32_t)c->finite << 3;
    return words_finished(d);
}

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: bytes, or what is smaller, above which c moves up; or
 * .u16.s32 d, a, b. */
static int convert_pack(Decoder *d)
{
    static const char *const KINDS[] = {"u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16", NULL};
    int sat = word_take(d, "sat"), kind = word_choose(d, KINDS), has_third = kind < 6;
    PtxType from = type_take(d), third = type_take(d);
    if (!sat || kind < 0 || from != PTX_S32 || has_third != (third == PTX_B32))
        return refuse(d, "a packing of that kind");
    uint32_t a = source(d, 1, PTX_S32), b = source(d, 2, PTX_S32),
             c = has_third ? source(d, 3, PTX_B32) : 0, dst = destination(d, 0, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_RARE, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->c = c;
    ins->aux = RARE_PACK | (uint32_t)kind << 8;
    return words_finished(d);
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper byte; ....f16x2 d, a: both halves. The
 * reverse conversion, cvt.rn.f16x2.e4m3x2 d, a, is not .satfinite. */
static int convert_eighths(Decoder *d, const Conversion *c, uint32_t e5m2)
{
    int finite = c->finite;
    PtxType other = type_take(d);
    uint32_t pair = other == PTX_F32, b = NO_SLOT;
    if (c->rounding != ROUND_N || c->sat || c->ftz || (other != PTX_F16X2 && !(pair && finite)))
        return refuse(d, "that conversion of numbers of 8 bits");
    if (d->in->operands != 2 + pair) return refuse(d, "that number of operands");
    uint32_t a = source(d, 1, finite ? PTX_B32 : PTX_B16);
    if (pair) b = source(d, 2, PTX_F32);
    uint32_t dst = destination(d, 0, finite ? PTX_B16 : PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_RARE, CLASS_SFU);
    ins->d = dst, ins->a = a, ins->b = pair ? b : a, ins->c = a;
    ins->aux = finite ? RARE_F32X2_TO_FP8X2 | (e5m2 | (uint32_t)c->relu << 1 | !pair << 2) << 8
                      : RARE_FP8X2_TO_F16X2 | (e5m2 | (uint32_t)c->relu << 1) << 8;
    return words_finished(d);
}

static int is_halves(PtxType type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

static int decode_cvt(Decoder *d)
{
    static const char *const EIGHTHS[] = {"e4m3x2", "e5m2x2", NULL};
    static const char *const ROUNDINGS[] = {"rn", "rz", "rm", "rp", NULL};
    static const char *const INTEGRAL[] = {"rni", "rzi", "rmi", "rpi", NULL};
    if (word_take(d, "pack")) return convert_pack(d);
    Conversion c = {.rounding = word_choose(d, ROUNDINGS), .integral = word_choose(d, INTEGRAL)};
    c.sat = word_take(d, "sat"), c.ftz = word_take(d, "ftz");
    c.finite = word_take(d, "satfinite"), c.relu = word_take(d, "relu");
    int away = word_take(d, "rna");
    int eighths = word_choose(d, EIGHTHS);
    if (eighths >= 0) return convert_eighths(d, &c, (uint32_t)eighths);
    c.to_type = type_take(d), c.from_type = type_take(d);
    if (c.finite && c.from_type != PTX_F32)
        return refuse(d, ".satfinite is for conversions from f32, and to numbers of 8 bits");
    if (c.to_type == PTX_TF32) return convert_tf32(d, &c, away);
    if ((c.relu || c.finite) && !is_halves(c.to_type))
        return refuse(d, ".relu and .satfinite are for conversions to halves and tf32");
    if (away) return refuse(d, ".rna is supported for tf32 only");
    if (c.to_type == PTX_F16X2 || c.to_type == PTX_BF16X2) return convert_packed(d, &c, c.to_type);
    c.from = format_of(c.from_type), c.to = format_of(c.to_type);
    if (c.from < 0 || c.to < 0) return refuse(d, "a conversion between those types");
    uint32_t a = convert_source(d, c.from_type);
    PtxType reg = d->in->operands ? register_type(d, &d->in->operand[0]) : PTX_NONE;
    uint32_t reg_bytes = ptx_type_bytes(reg) ? ptx_type_bytes(reg) : ptx_type_bytes(c.to_type);
    if (reg_bytes == 1) reg_bytes = 2;
    if (reg_bytes < ptx_type_bytes(c.to_type))
        return refuse(d, "the register is narrower than the result");
    uint32_t dst = destination(d, 0, reg_bytes == 8 ? PTX_B64 : PTX_B32);
    if (d->failed) return -1;
    return convert_emit(d, &c, a, dst, reg_bytes);
}

int decode_compare(Decoder *d)
{
    const char *name = d->in->word[0];
    if (strcmp(name, "setp") == 0) return decode_setp(d);
    if (strcmp(name, "set") == 0) return decode_set(d);
    if (strcmp(name, "selp") == 0) return decode_selp(d);
    if (strcmp(name, "slct") == 0) return decode_slct(d);
    return 1;
}

int decode_convert(Decoder *d)
{
    return strcmp(d->in->word[0], "cvt") == 0 ? decode_cvt(d) : 1;
}
