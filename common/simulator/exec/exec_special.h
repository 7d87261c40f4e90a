/* exec_special.h - register-to-register operations that are no plain expression. */
#include "common/simulator/core/kinds.h"

#define FINISH_32(t)                                                                               \
    lanes_write(REG(uint32_t, ins->d), (t), sizeof *(t), warp->mask);                              \
    return ins + 1
#define FINISH_64(t)                                                                               \
    lanes_write(REG(uint64_t, ins->d), (t), sizeof *(t), warp->mask);                              \
    return ins + 1

/* A division; the replay hears whether any lane leaves the usual way. */
HANDLER(DIV_F32)
{
    int32_t rare[LANES];
    uint32_t t[LANES];
    FOR_LANES
    {
        A_(float);
        B_(float);
        t[i] = bits_of(canonical(a / b));
        rare[i] = -divides_rarely(a, b);
    }
    warp->step.kind = STEP_DIVIDE, warp->step.is_slow_path = (mask_of(rare) & warp->mask) != 0;
    FINISH_32(t);
}

HANDLER(DIV_F64)
{
    int32_t rare[LANES];
    uint64_t t[LANES];
    FOR_LANES
    {
        A_(double);
        B_(double);
        t[i] = bits_of_double(a / b);
        rare[i] = -divides_doubles_rarely(a, a / b);
    }
    warp->step.kind = STEP_DIVIDE, warp->step.is_slow_path = (mask_of(rare) & warp->mask) != 0;
    FINISH_64(t);
}

/* Position and length beyond 255: a GPU uses all their bits in the 64-bit forms, and the lowest
 * byte in the 32-bit forms. */
HANDLER(BFE_64)
{
    uint64_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = bit_field(REG(uint64_t, ins->a)[i], REG(uint32_t, ins->b)[i],
                         REG(uint32_t, ins->c)[i], 64, ins->is_signed);
    FINISH_64(t);
}

/* bfi d, a, b, c, len: a into b at position c. */
ALWAYS uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t width)
{
    if (width == 32) position &= 255, length &= 255;
    if (position >= width) return b;
    uint64_t field = low_bits(length) << position;
    return (b & ~field) | (a << position & field);
}

HANDLER(BFI_32)
{
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = (uint32_t)insert(REG(uint32_t, ins->a)[i], REG(uint32_t, ins->b)[i],
                                REG(uint32_t, ins->c)[i], REG(uint32_t, ins->v[0])[i], 32);
    FINISH_32(t);
}

HANDLER(BFI_64)
{
    uint64_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = insert(REG(uint64_t, ins->a)[i], REG(uint64_t, ins->b)[i], REG(uint32_t, ins->c)[i],
                      REG(uint32_t, ins->v[0])[i], 64);
    FINISH_64(t);
}

/* The table's bit k is the result where the bits of a, b, c spell k. */
HANDLER(LOP3)
{
    uint32_t t[LANES], table = (uint32_t)ins->imm, term[8];
    for (int k = 0; k < 8; k++)
        term[k] = table >> k & 1 ? FULL_MASK : 0;
    FOR_LANES
    {
        uint32_t a = REG(uint32_t, ins->a)[i], b = REG(uint32_t, ins->b)[i],
                 c = REG(uint32_t, ins->c)[i];
        uint32_t c0 = (~c & term[0]) | (c & term[1]), c1 = (~c & term[2]) | (c & term[3]);
        uint32_t c2 = (~c & term[4]) | (c & term[5]), c3 = (~c & term[6]) | (c & term[7]);
        t[i] = (~a & ((~b & c0) | (b & c1))) | (a & ((~b & c2) | (b & c3)));
    }
    FINISH_32(t);
}

static const int FORMAT_BITS[] = {8, 16, 32, 64, 8, 16, 32, 64};

ALWAYS uint64_t saturate(int64_t x, int from, int to)
{
    int bits = FORMAT_BITS[to], to_signed = to >= FORMAT_S8;
    if (from == FORMAT_U64 && x < 0) /* above every signed value */
        return low_bits((uint32_t)bits - (uint32_t)to_signed);
    if (to_signed) {
        int64_t most = (int64_t)low_bits((uint32_t)bits - 1), least = -most - 1;
        return (uint64_t)(x > most ? most : x < least ? least : x);
    }
    uint64_t most = low_bits((uint32_t)bits);
    return x < 0 ? 0 : (uint64_t)x > most ? most : (uint64_t)x;
}

ALWAYS uint32_t clamped_s32(int64_t x)
{
    return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

ALWAYS int64_t product_24(uint32_t a, uint32_t b, int is_signed)
{
    int64_t x = is_signed ? (int32_t)(a << 8) >> 8 : (int32_t)(a & 0xffffffu),
            y = is_signed ? (int32_t)(b << 8) >> 8 : (int32_t)(b & 0xffffffu);
    return x * y;
}

ALWAYS uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t variant)
{
    if (variant & 4) b >>= 16;
    for (int k = 0; k < 2; k++, a >>= 16, b >>= 8) {
        int64_t x = variant & 1 ? (int16_t)a : (uint16_t)a;
        int64_t y = variant & 2 ? (int8_t)b : (uint8_t)b;
        c += (uint32_t)(x * y);
    }
    return c;
}

ALWAYS uint32_t extend_from(uint32_t a, uint32_t bits, uint32_t variant)
{
    if (variant & 2) bits &= 31;
    if (bits >= 32) return a;
    uint32_t mask = (uint32_t)low_bits(bits);
    int negative = (variant & 1) && bits && (a >> (bits - 1) & 1);
    return negative ? a | ~mask : a & mask;
}

/* The bit of `mask` that is the |nth|-th one from `base` on, up or down. */
ALWAYS uint32_t find_nth(uint32_t mask, uint32_t base, int32_t nth)
{
    int64_t left = nth < 0 ? -(int64_t)nth : nth, at = base;
    if (nth == 0) return base < 32 && mask >> base & 1 ? base : FULL_MASK;
    for (; at >= 0 && at<32; at += nth> 0 ? 1 : -1)
        if (mask >> at & 1 && --left == 0) return (uint32_t)at;
    return FULL_MASK;
}

/* Two halves at once: sum, least or greatest; variant: signed, none below zero << 1. */
ALWAYS uint32_t halves_x2(uint32_t op, uint32_t variant, uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; k += 16) {
        int32_t x = variant & 1 ? (int16_t)(a >> k) : (uint16_t)(a >> k);
        int32_t y = variant & 1 ? (int16_t)(b >> k) : (uint16_t)(b >> k);
        int32_t z = op == RARE_ADD_X2 ? x + y : (op == RARE_MIN_X2) == (x < y) ? x : y;
        if (variant & 2 && z < 0) z = 0;
        r |= ((uint32_t)z & 0xffffu) << k;
    }
    return r;
}

/* Both saturated to 2, 4, 8 or 16 bits, a above b; the bits above those come from c, if any are
 * left. */
ALWAYS uint32_t packed_pair(uint32_t a, uint32_t b, uint32_t c, uint32_t variant)
{
    uint32_t bits = 2u << (variant >> 1), mask = (uint32_t)low_bits(bits),
             high = (uint32_t)clamped_to((int32_t)a, bits, variant & 1),
             low = (uint32_t)clamped_to((int32_t)b, bits, variant & 1);
    return (bits < 16 ? c << 2 * bits : 0) | (high & mask) << bits | (low & mask);
}

/* a above b, as 8 bits each; with halves << 2 the two halves of a. */
ALWAYS uint32_t f32x2_to_fp8x2(uint32_t a, uint32_t b, uint32_t variant)
{
    int e5m2 = (int)(variant & 1), relu = (int)(variant >> 1 & 1);
    if (variant >> 2 & 1) b = f16_to_f32(a & 0xffff), a = f16_to_f32(a >> 16);
    return f32_to_eighth(a, e5m2, relu) << 8 | f32_to_eighth(b, e5m2, relu);
}

ALWAYS uint32_t half_of_eighth(uint32_t bits, uint32_t e5m2)
{
    uint32_t half = bits << 8;
    if (!e5m2) return f32_to_f16(bits_of(e4m3_value(bits)), ROUND_N);
    return (half & 0x7fff) > 0x7c00 ? 0x7fff : half;
}

/* Two of them as halves; with relu << 1 what is negative becomes nothing. */
static uint32_t fp8x2_to_f16x2(uint32_t a, uint32_t variant)
{
    uint32_t halves = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t half = half_of_eighth(a >> 8 * i & 0xff, variant & 1);
        if (variant >> 1 & 1 && half >> 15) half = 0;
        halves |= half << 16 * i;
    }
    return halves;
}

static uint32_t rare_32(uint32_t aux, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t op = aux & 255, variant = aux >> 8;
    switch (op) {
    case RARE_ADD_SAT:
        return clamped_s32((int64_t)(int32_t)a + (int32_t)b);
    case RARE_SUB_SAT:
        return clamped_s32((int64_t)(int32_t)a - (int32_t)b);
    case RARE_MADHI_SAT:
        return clamped_s32(((int64_t)(int32_t)a * (int32_t)b >> 32) + (int32_t)c);
    case RARE_MUL24HI:
        return (uint32_t)(product_24(a, b, variant & 1) >> 16);
    case RARE_MAD24HI_SAT:
        return clamped_s32((int64_t)(int32_t)(product_24(a, b, 1) >> 16) + (int32_t)c);
    case RARE_DP2A:
        return dp2a(a, b, c, variant);
    case RARE_BMSK:
        if (variant & 1) a &= 31, b &= 31;
        return a > 31 ? 0 : (uint32_t)(low_bits(b > 32 ? 32 : b) << a);
    case RARE_SZEXT:
        return extend_from(a, b, variant);
    case RARE_FNS:
        return find_nth(a, b, (int32_t)c);
    case RARE_PACK:
        return packed_pair(a, b, c, variant);
    case RARE_F32X2_TO_FP8X2:
        return f32x2_to_fp8x2(a, b, variant);
    case RARE_FP8X2_TO_F16X2:
        return fp8x2_to_f16x2(a, variant);
    default:
        return halves_x2(op, variant, a, b);
    }
}

HANDLER(RARE)
{
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++)
        t[i] = rare_32(ins->aux, REG(uint32_t, ins->a)[i], REG(uint32_t, ins->b)[i],
                       REG(uint32_t, ins->c)[i]);
    FINISH_32(t);
}

/* One step of extended precision: x + y or x - y with the previous step's carry; returns the carry
 * for the next step. As on a GPU, a subtraction adds the complement: the carry is set if there is
 * no borrow. CUDA's own 128-bit division reads the carry with addc. */
ALWAYS uint64_t carry_step(uint32_t aux, uint64_t a, uint64_t b, uint64_t c, int *carry)
{
    int wide = (int)(aux >> 2 & 1), is_signed = (int)(aux >> 5 & 1), in = aux >> 3 & 1 ? *carry : 0;
    uint64_t x = a, y = b, mask = wide ? UINT64_MAX : UINT32_MAX, r;
    if ((aux & 3) == CARRY_MAD_LO) x = a * b & mask, y = c;
    if ((aux & 3) == CARRY_MAD_HI && wide) x = is_signed ? mulhi_s64(a, b) : mulhi_u64(a, b), y = c;
    if ((aux & 3) == CARRY_MAD_HI && !wide)
        x = is_signed ? (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32) : a * b >> 32, y = c;
    if ((aux & 3) == CARRY_SUB) {
        in = aux >> 3 & 1 ? !*carry : 0;
        *carry = !(x < y || (in && x == y));
        return (x - y - (uint64_t)in) & mask;
    }
    r = (x + y + (uint64_t)in) & mask;
    *carry = r < x || (in && r == x);
    return r;
}

/* v[0]: the predicate that keeps the carry. */
HANDLER(CARRY)
{
    uint32_t t[LANES], flags = PREDICATE(ins->v[0]), out = 0;
    uint64_t t64[LANES];
    for (int i = 0; i < LANES; i++) {
        int carry = (int)(flags >> i & 1);
        if (ins->aux >> 2 & 1)
            t64[i] = carry_step(ins->aux, REG(uint64_t, ins->a)[i], REG(uint64_t, ins->b)[i],
                                REG(uint64_t, ins->c)[i], &carry);
        else
            t[i] = (uint32_t)carry_step(ins->aux, REG(uint32_t, ins->a)[i],
                                        REG(uint32_t, ins->b)[i], REG(uint32_t, ins->c)[i], &carry);
        out |= (uint32_t)carry << i;
    }
    if (ins->aux >> 4 & 1) PREDICATE(ins->v[0]) = (flags & ~warp->mask) | (out & warp->mask);
    if (ins->aux >> 2 & 1) {
        FINISH_64(t64);
    }
    FINISH_32(t);
}

ALWAYS uint32_t permute_selector(uint32_t c, uint32_t mode)
{
    static const uint16_t FORM[7][4] = {{0, 0, 0, 0},
                                        {0x3210, 0x4321, 0x5432, 0x6543},  /* f4e */
                                        {0x5670, 0x6701, 0x7012, 0x0123},  /* b4e */
                                        {0x0000, 0x1111, 0x2222, 0x3333},  /* rc8 */
                                        {0x3210, 0x3211, 0x3222, 0x3333},  /* ecl */
                                        {0x0000, 0x1110, 0x2210, 0x3210},  /* ecr */
                                        {0x1010, 0x3232, 0x1010, 0x3232}}; /* rc16 */
    return mode ? FORM[mode][c & 3] : c;
}

HANDLER(PRMT)
{
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t bytes = (uint64_t)REG(uint32_t, ins->b)[i] << 32 | REG(uint32_t, ins->a)[i];
        uint32_t selector = permute_selector(REG(uint32_t, ins->c)[i], ins->aux), r = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t s = selector >> 4 * k & 15, byte = (uint32_t)(bytes >> 8 * (s & 7)) & 255;
            if (s & 8) byte = byte & 128 ? 255 : 0;
            r |= byte << 8 * k;
        }
        t[i] = r;
    }
    FINISH_32(t);
}

HANDLER(SELP_32)
{
    uint32_t t[LANES], p = PREDICATE(ins->c) ^ (ins->aux ? FULL_MASK : 0);
    FOR_LANES t[i] = p & BIT32[i] ? REG(uint32_t, ins->a)[i] : REG(uint32_t, ins->b)[i];
    FINISH_32(t);
}

HANDLER(SELP_64)
{
    uint64_t t[LANES];
    uint32_t p = PREDICATE(ins->c) ^ (ins->aux ? FULL_MASK : 0);
    FOR_LANES t[i] = p & BIT64[i] ? REG(uint64_t, ins->a)[i] : REG(uint64_t, ins->b)[i];
    FINISH_64(t);
}

/* slct d, a, b, c: a where c >= 0; aux 1: c is a float; bytes: of a, b and d. */
HANDLER(SLCT)
{
    uint32_t take = 0;
    for (int i = 0; i < LANES; i++) {
        uint32_t c = REG(uint32_t, ins->c)[i];
        int yes = ins->aux ? float_of(c) >= 0.0f : (int32_t)c >= 0;
        take |= (uint32_t)yes << i;
    }
    if (ins->bytes == 4) {
        uint32_t t[LANES];
        FOR_LANES t[i] = take & BIT32[i] ? REG(uint32_t, ins->a)[i] : REG(uint32_t, ins->b)[i];
        FINISH_32(t);
    }
    uint64_t t[LANES];
    FOR_LANES t[i] = take & BIT64[i] ? REG(uint64_t, ins->a)[i] : REG(uint64_t, ins->b)[i];
    FINISH_64(t);
}

/* Approximate functions: three loops, for the compiler makes branches of one. */
#define FUNCTION(name, ftz, e)                                                                     \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        double x[LANES], y[LANES];                                                                 \
        uint32_t t[LANES];                                                                         \
        const float *a = REG(const float, ins->a);                                                 \
        FOR_LANES x[i] = ftz ? flushed(a[i]) : a[i];                                               \
        FOR_LANES y[i] = e;                                                                        \
        FOR_LANES                                                                                  \
        {                                                                                          \
            float r = canonical((float)y[i]);                                                      \
            t[i] = bits_of(ftz ? flushed(r) : r);                                                  \
        }                                                                                          \
        FINISH_32(t);                                                                              \
    }
#define FUNCTIONS(name, e) FUNCTION(name, 0, e) FUNCTION(name##_FTZ, 1, e)
FUNCTIONS(EX2_F32, exp2_of(x[i]))
FUNCTIONS(LG2_F32, log2_of(x[i]))
FUNCTIONS(SIN_F32, sine_of(x[i], 0))
FUNCTIONS(COS_F32, sine_of(x[i], 1))
FUNCTIONS(TANH_F32, tanh_roughly(x[i]))
#undef FUNCTIONS
#undef FUNCTION

/* Arithmetic that rounds otherwise than to nearest: the host's rounding mode is switched, and the
 * values are kept from being moved across the switch. */
__attribute__((noinline)) static double rounded_double(int op, double a_, double b_, double c_)
{
    volatile double a = a_, b = b_, c = c_, r = 0;
    switch (op) {
    case ROUNDED_ADD:
        r = a + b;
        break;
    case ROUNDED_SUB:
        r = a - b;
        break;
    case ROUNDED_MUL:
        r = a * b;
        break;
    case ROUNDED_DIV:
        r = a / b;
        break;
    case ROUNDED_FMA:
        r = __builtin_fma(a, b, c);
        break;
    case ROUNDED_SQRT:
        r = sqrt(a);
        break;
    default:
        r = 1.0 / a;
    }
    return r;
}

/* The NaN that is propagated when rounding to nearest: b, then c. */
ALWAYS uint64_t rounded_bits(int op, double a, double b, double c)
{
    int operands = op == ROUNDED_FMA ? 3 : op >= ROUNDED_SQRT ? 1 : 2;
    double r = operands >= 2 && b != b && op != ROUNDED_DIV ? b + b
               : operands == 3 && c != c                    ? c + c
                                                            : rounded_double(op, a, b, c);
    return bits_of_double(r);
}

/* The result before rounding, which .ftz examines. */
ALWAYS double unrounded(int op, float a, float b, float c)
{
    switch (op) {
    case ROUNDED_MUL:
        return (double)a * b;
    case ROUNDED_DIV:
        return (double)a / b;
    case ROUNDED_FMA:
        return add_to_odd((double)a * b, c);
    case ROUNDED_RCP:
        return 1.0 / a;
    default: /* subnormal results are exact here */
        return 1;
    }
}

__attribute__((noinline)) static float rounded_float(int op, float a_, float b_, float c_)
{
    volatile float a = a_, b = b_, c = c_, r = 0;
    switch (op) {
    case ROUNDED_ADD:
        r = a + b;
        break;
    case ROUNDED_SUB:
        r = a - b;
        break;
    case ROUNDED_MUL:
        r = a * b;
        break;
    case ROUNDED_DIV:
        r = a / b;
        break;
    case ROUNDED_FMA:
        r = __builtin_fmaf(a, b, c);
        break;
    case ROUNDED_SQRT:
        r = sqrtf(a);
        break;
    default:
        r = 1.0f / a;
    }
    return r;
}

HANDLER(ROUNDED)
{
    int op = (int)(ins->aux & 15), mode = (int)(ins->aux >> 4 & 3), ftz = (int)(ins->aux >> 9 & 1);
    float x[3][LANES];
    double exact[LANES];
    uint32_t t[LANES];
    uint64_t t64[LANES];
    if (ins->aux >> 8 & 1) {
        fesetround(fenv_mode(mode));
        for (int i = 0; i < LANES; i++)
            t64[i] = rounded_bits(op, REG(double, ins->a)[i], REG(double, ins->b)[i],
                                  REG(double, ins->c)[i]);
        fesetround(FE_TONEAREST);
        FINISH_64(t64);
    }
    for (int i = 0; i < LANES; i++) {
        x[0][i] = REG(float, ins->a)[i];
        x[1][i] = REG(float, ins->b)[i];
        x[2][i] = REG(float, ins->c)[i];
        for (int k = 0; ftz && k < 3; k++)
            x[k][i] = flushed(x[k][i]);
        exact[i] = ftz ? unrounded(op, x[0][i], x[1][i], x[2][i]) : 1;
    }
    fesetround(fenv_mode(mode));
    for (int i = 0; i < LANES; i++) {
        float r = flushed_if_tiny(rounded_float(op, x[0][i], x[1][i], x[2][i]), exact[i]);
        t[i] = bits_of(ftz ? flushed(r) : r);
    }
    fesetround(FE_TONEAREST);
    FINISH_32(t);
}
