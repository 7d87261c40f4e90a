/* decode_float.c - floating point arithmetic. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

static const char *const ROUNDINGS[] = {"rn", "rz", "rm", "rp", NULL};

typedef struct FloatOp {
    const char *name;
    int operands;
    int f32, f64; /* Op, or -1 */
    int rounded;  /* RoundedOp for directed rounding, or -1 */
    OpClass class;
} FloatOp;

static const FloatOp TABLE[] = {
    {"add", 2, OP_ADD_F32, OP_ADD_F64, ROUNDED_ADD, CLASS_FP32},
    {"sub", 2, OP_SUB_F32, OP_SUB_F64, ROUNDED_SUB, CLASS_FP32},
    {"mul", 2, OP_MUL_F32, OP_MUL_F64, ROUNDED_MUL, CLASS_FP32},
    {"div", 2, OP_DIV_F32, OP_DIV_F64, ROUNDED_DIV, CLASS_DIV},
    {"fma", 3, OP_FMA_F32, OP_FMA_F64, ROUNDED_FMA, CLASS_FP32},
    {"mad", 3, OP_FMA_F32, OP_FMA_F64, ROUNDED_FMA, CLASS_FP32},
    {"min", 2, OP_MIN_F32, OP_MIN_F64, -1, CLASS_FP32},
    {"max", 2, OP_MAX_F32, OP_MAX_F64, -1, CLASS_FP32},
    {"neg", 1, OP_NEG_F32, OP_NEG_F64, -1, CLASS_FREE},
    {"abs", 1, OP_ABS_F32, OP_ABS_F64, -1, CLASS_FREE},
    {"sqrt", 1, OP_SQRT_F32, OP_SQRT_F64, ROUNDED_SQRT, CLASS_SFU},
    {"rcp", 1, OP_RCP_F32, OP_RCP_F64, ROUNDED_RCP, CLASS_SFU},
    {"rsqrt", 1, OP_RSQRT_F32, OP_RSQRT_F64, -1, CLASS_SFU},
    {"ex2", 1, OP_EX2_F32, -1, -1, CLASS_SFU},
    {"lg2", 1, OP_LG2_F32, -1, -1, CLASS_SFU},
    {"sin", 1, OP_SIN_F32, -1, -1, CLASS_SFU},
    {"cos", 1, OP_COS_F32, -1, -1, CLASS_SFU},
    {"tanh", 1, OP_TANH_F32, -1, -1, CLASS_SFU},
    {"copysign", 2, OP_COPYSIGN_F32, OP_COPYSIGN_F64, -1, CLASS_FREE},
};

static const FloatOp *float_op(const char *name)
{
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (strcmp(TABLE[i].name, name) == 0) return &TABLE[i];
    return NULL;
}

/* The flushing twin follows its operation, where it has one. */
static int has_flushing_twin(int op)
{
    return op != OP_NEG_F32 && op != OP_ABS_F32 && op != OP_COPYSIGN_F32;
}

typedef struct Modifiers {
    int rounding, ftz, sat, nan, xorsign, approx;
} Modifiers;

static Modifiers modifiers_take(Decoder *d)
{
    Modifiers m = {.rounding = word_choose(d, ROUNDINGS)};
    m.ftz = word_take(d, "ftz");
    m.sat = word_take(d, "sat");
    m.nan = word_take(d, "NaN");
    m.xorsign = word_take(d, "xorsign") && word_take(d, "abs");
    m.approx = word_take(d, "approx"); /* an IEEE result is within what .approx and .full allow */
    word_take(d, "full");
    return m;
}

/* min.xorsign.abs: the minimum of the magnitudes, with the XOR of the operands' signs. */
static int emit_xorsign(Decoder *d, Op op, int ftz, const uint32_t *s, uint32_t dst)
{
    uint32_t sign = temp_slot(d, WIDTH_32), a = temp_slot(d, WIDTH_32), b = temp_slot(d, WIDTH_32);
    if (d->failed) return -1;
    emit_pseudo(d, OP_XOR_32, sign, s[0], s[1]);
    emit_pseudo(d, OP_ABS_F32, a, s[0], s[0]);
    emit_pseudo(d, OP_ABS_F32, b, s[1], s[1]);
    Ins *ins = emit(d, (Op)((int)op + ftz), CLASS_FP32);
    ins->d = dst, ins->a = a, ins->b = b;
    emit_pseudo(d, OP_COPYSIGN_F32, dst, sign, dst);
    emit_pseudo(d, OP_CANON_F32, dst, dst, dst);
    return words_finished(d);
}

/* The operations whose .approx form uses a different algorithm on a GPU with different results. */
static int approx_op(int op, int ftz)
{
    if (op == OP_DIV_F32) return OP_DIVAPPROX_F32;
    if (op == OP_RCP_F64 && ftz) return OP_RCPGROSS_F64;
    if (op == OP_RSQRT_F64 && ftz) return OP_RSQRTGROSS_F64;
    return op;
}

static int emit_float(Decoder *d, const FloatOp *entry, PtxType type, Modifiers m,
                      const uint32_t *s, uint32_t dst)
{
    int is_double = type == PTX_F64, op = is_double ? entry->f64 : entry->f32;
    OpClass class = is_double && entry->class == CLASS_FP32 ? CLASS_FP64 : entry->class;
    if (op < 0) return refuse(d, "there is no such operation on f64");
    /* A root or reciprocal that is rounded is expanded as a quotient is. */
    if (!m.approx && (op == OP_SQRT_F32 || op == OP_RCP_F32)) class = CLASS_DIV;
    if (is_double && entry->class == CLASS_SFU && !(m.approx && m.ftz)) class = CLASS_DIV;
    if (m.rounding > 0) {
        if (entry->rounded < 0)
            return refuse(d, "rounding .%s is not supported here", ROUNDINGS[m.rounding]);
        Ins *ins = emit(d, OP_ROUNDED, class);
        ins->d = dst, ins->a = s[0], ins->b = s[1], ins->c = s[2];
        ins->aux = (uint32_t)entry->rounded | (uint32_t)m.rounding << 4 | (uint32_t)is_double << 8 |
                   (uint32_t)m.ftz << 9;
    } else {
        if (m.approx) op = approx_op(op, m.ftz);
        if (m.nan) {
            if (is_double || (op != OP_MIN_F32 && op != OP_MAX_F32))
                return refuse(d, ".NaN is not supported here");
            op = op == OP_MIN_F32 ? OP_MINNAN_F32 : OP_MAXNAN_F32;
        }
        if (m.xorsign) {
            if (is_double || entry->rounded >= 0 || entry->operands != 2)
                return refuse(d, ".xorsign.abs is not supported here");
            return emit_xorsign(d, (Op)op, m.ftz, s, dst);
        }
        if (m.ftz && !is_double && !has_flushing_twin(op)) {
            uint32_t flushed = temp_slot(d, WIDTH_32);
            emit_pseudo(d, OP_FTZ_F32, flushed, s[0], s[0]);
            Ins *ins = emit(d, (Op)op, class);
            ins->d = dst, ins->a = flushed, ins->b = s[1], ins->c = s[2];
        } else {
            Ins *ins = emit(d, (Op)(op + (m.ftz && !is_double)), class);
            ins->d = dst, ins->a = s[0], ins->b = s[1], ins->c = s[2];
        }
    }
    if (m.sat) emit_pseudo(d, is_double ? OP_SAT_F64 : OP_SAT_F32, dst, dst, dst);
    return words_finished(d);
}

static int decode_testp(Decoder *d)
{
    static const char *const TESTS[] = {"finite", "infinite",  "number", "notanumber",
                                        "normal", "subnormal", NULL};
    static const Op F32[] = {OP_FINITE_F32, OP_INF_F32,    OP_NOTNAN_F32,
                             OP_ISNAN_F32,  OP_NORMAL_F32, OP_SUBNORMAL_F32};
    static const Op F64[] = {OP_FINITE_F64, OP_INF_F64,    OP_NUM_F64,
                             OP_NAN_F64,    OP_NORMAL_F64, OP_SUBNORMAL_F64};
    int test = word_choose(d, TESTS);
    PtxType type = type_take(d);
    if (test < 0) return refuse(d, "that test is not supported");
    uint32_t a = source(d, 1, type), dst = destination(d, 0, PTX_PRED);
    if (d->failed) return -1;
    Ins *ins = emit(d, type == PTX_F64 ? F64[test] : F32[test], CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = a;
    return words_finished(d);
}

static int decode_half(Decoder *d, const char *name, PtxType type)
{
    static const char *const NAMES[] = {"add", "sub", "mul", "fma",  "min", "max",
                                        "neg", "abs", "ex2", "tanh", NULL};
    static const int OPERANDS[] = {2, 2, 2, 3, 2, 2, 1, 1, 1, 1};
    int op = 0, packed = type == PTX_F16X2 || type == PTX_BF16X2,
        bf16 = type == PTX_BF16 || type == PTX_BF16X2;
    while (NAMES[op] && strcmp(NAMES[op], name) != 0)
        op++;
    if (!NAMES[op]) return refuse(d, "it is not supported on half precision");
    type_take(d);
    word_take(d, "rn");
    word_take(d, "approx");
    uint32_t relu = (uint32_t)word_take(d, "relu"), sat = (uint32_t)word_take(d, "sat"),
             ftz = (uint32_t)word_take(d, "ftz"), nan = 0, xorsign = 0, oob = 0;
    if (op == HALF_FMA) oob = (uint32_t)word_take(d, "oob");
    if (op == HALF_MIN || op == HALF_MAX) {
        nan = (uint32_t)word_take(d, "NaN");
        xorsign = (uint32_t)(word_take(d, "xorsign") && word_take(d, "abs"));
    }
    PtxType as = packed ? PTX_B32 : PTX_B16;
    uint32_t s[3] = {0}, dst = destination(d, 0, as);
    for (int i = 0; i < OPERANDS[op]; i++)
        s[i] = source(d, (uint32_t)i + 1, as);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_HALF, op >= HALF_EX2 ? CLASS_SFU : CLASS_FP32);
    ins->d = dst, ins->a = s[0], ins->b = s[1], ins->c = s[2];
    ins->aux = (uint32_t)op | (uint32_t)bf16 << 4 | (uint32_t)packed << 5 | relu << 6 | sat << 7 |
               ftz << 8 | nan << 9 | xorsign << 10 | oob << 11;
    return words_finished(d);
}

int decode_float(Decoder *d)
{
    const char *name = d->in->word[0];
    if (strcmp(name, "testp") == 0) return decode_testp(d);
    const FloatOp *entry = float_op(name);
    if (!entry) return 1;
    uint32_t used = d->used;
    Modifiers m = modifiers_take(d);
    int relu = word_take(d, "relu");
    PtxType type = type_take(d);
    if (type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2) {
        d->used = used;
        return decode_half(d, name, type);
    }
    if (relu || (type != PTX_F32 && type != PTX_F64))
        return refuse(d, "it is not supported on that type");
    uint32_t s[3] = {0}, dst = destination(d, 0, type);
    for (int i = 0; i < entry->operands; i++)
        s[i] = source(d, (uint32_t)i + 1, type);
    if (d->failed) return -1;
    return emit_float(d, entry, type, m, s, dst);
}
