/* exec_special.h - register-to-register operations that are no plain expression. */
#include "common/simulator/core/kinds.h"

#define FINISH_32(t)                                                                               \
    blend_32(REG(uint32_t, ins->d), (t), warp->mask);                                              \
    return ins + 1
#define FINISH_64(t)                                                                               \
    blend_64(REG(uint64_t, ins->d), (t), warp->mask);                                              \
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
    warp->passes = (mask_of(rare) & warp->mask) != 0;
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
    warp->passes = (mask_of(rare) & warp->mask) != 0;
    FINISH_64(t);
}

/* Position and length beyond 255: a card takes all their bits in the 64-bit forms, the lowest byte
 * in the 32-bit ones. */
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

/* Both saturated to 2, 4, 8 or 16 bits, a above b; above those, if there is room, c. */
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

/* One step of extended precision: x + y or x - y, with the carry of the step before, and what it
 * carries on.  A subtraction is the sum with the complement, as on a card: it carries where it
 * does not borrow.  CUDA's own division of 128 bits reads that by an addc. */
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

/* Of several NaNs the one that counts where the result is rounded to nearest: b, then c. */
ALWAYS uint64_t rounded_bits(int op, double a, double b, double c)
{
    int operands = op == ROUNDED_FMA ? 3 : op >= ROUNDED_SQRT ? 1 : 2;
    double r = operands >= 2 && b != b && op != ROUNDED_DIV ? b + b
               : operands == 3 && c != c                    ? c + c
                                                            : rounded_double(op, a, b, c);
    return bits_of_double(r);
}

/* What .ftz asks: the result before it is rounded. */
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
    default: /* what is tiny here is exact */
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

/* ---- conversions ----------------------------------------------------------------------------- */
ALWAYS double float_read(const Warp *warp, uint32_t slot, int format, int i)
{
    switch (format) {
    case FORMAT_F16:
        return float_of(f16_to_f32(REG(const uint32_t, slot)[i]));
    case FORMAT_BF16:
        return float_of(REG(const uint32_t, slot)[i] << 16);
    case FORMAT_F32:
        return REG(const float, slot)[i];
    default:
        return REG(const double, slot)[i];
    }
}

ALWAYS double round_integral(double x, int mode)
{
    return mode == ROUND_N   ? rint(x)
           : mode == ROUND_Z ? trunc(x)
           : mode == ROUND_M ? floor(x)
                             : ceil(x);
}

/* Float to integer: out of range gives the nearest end; NaN gives 0, or 2^(n-1) where a 64-bit type
 * takes part. */
ALWAYS uint64_t integer_of(double x, int to, int wide)
{
    int bits = FORMAT_BITS[to], is_signed = to >= FORMAT_S8;
    if (x != x) return !wide ? 0 : is_signed ? ~low_bits((uint32_t)bits - 1) : 1ull << (bits - 1);
    if (is_signed) {
        double end = ldexp(1.0, bits - 1);
        if (x >= end) return low_bits((uint32_t)bits - 1);
        if (x < -end) return ~low_bits((uint32_t)bits - 1);
        return (uint64_t)(int64_t)x;
    }
    if (x <= 0) return 0;
    if (x >= ldexp(1.0, bits)) return low_bits((uint32_t)bits);
    return (uint64_t)x;
}

/* A result of `to` as the register keeps it: extended to the register's width, which is 16, 32 or
 * 64 bits. */
ALWAYS const Ins *integer_finish(Warp *warp, const Ins *ins, const uint64_t *value)
{
    if (ins->bytes == 8) {
        FINISH_64(value);
    }
    uint32_t t[LANES], keep = ins->bytes == 2 ? 0xffffu : FULL_MASK;
    FOR_LANES t[i] = (uint32_t)value[i] & keep;
    FINISH_32(t);
}

/* aux = from | to << 4 | rounding << 8 | ftz << 10. */
HANDLER(CVT_TO_INT)
{
    int from = (int)(ins->aux & 15), to = (int)(ins->aux >> 4 & 15),
        mode = (int)(ins->aux >> 8 & 3);
    int wide = from == FORMAT_F64 || to == FORMAT_U64 || to == FORMAT_S64;
    uint64_t value[LANES];
    for (int i = 0; i < LANES; i++) {
        double x = float_read(warp, ins->a, from, i);
        if (ins->aux >> 10 & 1) x = flushed((float)x);
        value[i] = integer_of(round_integral(x, mode), to, wide);
    }
    return integer_finish(warp, ins, value);
}

ALWAYS int64_t integer_read(const Warp *warp, uint32_t slot, int format, int i)
{
    switch (format) {
    case FORMAT_U8:
        return (uint8_t)REG(const uint32_t, slot)[i];
    case FORMAT_U16:
        return (uint16_t)REG(const uint32_t, slot)[i];
    case FORMAT_U32:
        return REG(const uint32_t, slot)[i];
    case FORMAT_S8:
        return (int8_t)REG(const uint32_t, slot)[i];
    case FORMAT_S16:
        return (int16_t)REG(const uint32_t, slot)[i];
    case FORMAT_S32:
        return REG(const int32_t, slot)[i];
    default:
        return REG(const int64_t, slot)[i];
    }
}

/* aux = from | to << 4 | saturate << 8. */
HANDLER(CVT_SAT_INT)
{
    int from = (int)(ins->aux & 15), to = (int)(ins->aux >> 4 & 15);
    uint64_t value[LANES];
    for (int i = 0; i < LANES; i++) {
        int64_t x = integer_read(warp, ins->a, from, i);
        uint64_t r = ins->aux >> 8 & 1 ? saturate(x, from, to) : (uint64_t)x;
        int shift = 64 - FORMAT_BITS[to];
        value[i] =
            to >= FORMAT_S8 ? (uint64_t)((int64_t)(r << shift) >> shift) : r << shift >> shift;
    }
    return integer_finish(warp, ins, value);
}

__attribute__((noinline)) static float float_from(int from, int64_t integer, double real)
{
    volatile int64_t n = integer;
    volatile double x = real;
    volatile float r = from >= FORMAT_F16   ? (float)x
                       : from == FORMAT_U64 ? (float)(uint64_t)n
                                            : (float)n;
    return r;
}

__attribute__((noinline)) static double double_from(int from, int64_t integer)
{
    volatile int64_t n = integer;
    volatile double r = from == FORMAT_U64 ? (double)(uint64_t)n : (double)n;
    return r;
}

/* An integer as a double that rounds to a narrower format as the integer itself would: to odd. */
ALWAYS double sticky_double(int from, int64_t n)
{
    uint64_t magnitude = from != FORMAT_U64 && n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    if (magnitude >> 53) magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0)) << 11;
    return from != FORMAT_U64 && n < 0 ? -(double)magnitude : (double)magnitude;
}

static const double F16_MOST = 65504, BF16_MOST = 0x1.fep127;

/* To f16 or bf16; a double's NaN keeps its sign and upper bits.  A card does not heed .ftz here. */
ALWAYS uint32_t half_from(const Warp *warp, const Ins *ins, int i)
{
    int from = (int)(ins->aux & 15), bf16 = (ins->aux >> 4 & 15) == FORMAT_BF16,
        mode = (int)(ins->aux >> 8 & 3);
    double x = from >= FORMAT_F16 ? float_read(warp, ins->a, from, i)
                                  : sticky_double(from, integer_read(warp, ins->a, from, i));
    if (ins->aux >> 11 & 1 && x <= 0) x = 0;
    if (ins->aux >> 12 & 1) x = x > 0 ? (x < 1 ? x : 1) : 0;
    if (ins->aux >> 13 & 1 && fabs(x) > (bf16 ? BF16_MOST : F16_MOST))
        x = copysign(bf16 ? BF16_MOST : F16_MOST, x);
    if (x != x && from == FORMAT_F64) {
        uint64_t u = bits_of_double(x);
        uint32_t payload = (uint32_t)(u >> (bf16 ? 45 : 42)) & (bf16 ? 0x7f : 0x3ff);
        return (uint32_t)(u >> 48 & 0x8000) | (bf16 ? 0x7fc0 : 0x7e00) | payload;
    }
    return bf16 ? narrow_16(x, 7, -126, 127, mode) : narrow_16(x, 10, -14, 15, mode);
}

/* aux = from | to << 4 | rounding << 8 | ftz << 10 | relu << 11 | sat << 12 | finite << 13; to
 * f32, f64, f16 or bf16. */
HANDLER(CVT_TO_FLOAT)
{
    int from = (int)(ins->aux & 15), to = (int)(ins->aux >> 4 & 15),
        mode = (int)(ins->aux >> 8 & 3), ftz = (int)(ins->aux >> 10 & 1);
    uint32_t t[LANES];
    uint64_t t64[LANES];
    if (to == FORMAT_F16 || to == FORMAT_BF16) {
        for (int i = 0; i < LANES; i++)
            t[i] = half_from(warp, ins, i);
        FINISH_32(t);
    }
    if (mode != ROUND_N) fesetround(fenv_mode(mode));
    for (int i = 0; i < LANES; i++) {
        double x = from >= FORMAT_F16 ? float_read(warp, ins->a, from, i) : 0;
        int64_t n = from >= FORMAT_F16 ? 0 : integer_read(warp, ins->a, from, i);
        if (to == FORMAT_F64) {
            if (ftz) x = canonical(flushed((float)x));
            t64[i] = bits_of_double(from >= FORMAT_F16 ? x : double_from(from, n));
            uint64_t h = REG(uint32_t, ins->a)[i];
            if (from == FORMAT_F16 && x != x) /* its payload stays */
                t64[i] = (h & 0x8000) << 48 | 0x7ff8000000000000u | (h & 0x3ff) << 42;
        } else {
            float r = float_from(from, n, x);
            if (from != FORMAT_F64) r = canonical(r);
            if (ftz && from == FORMAT_F64 && fabs(x) < 0x1p-126) r = copysignf(0, r);
            t[i] = bits_of(ftz ? flushed(r) : r);
        }
    }
    if (mode != ROUND_N) fesetround(FE_TONEAREST);
    if (to == FORMAT_F64) {
        FINISH_64(t64);
    }
    FINISH_32(t);
}

HANDLER(CVT_TF32_F32)
{
    uint32_t t[LANES];
    FOR_LANES t[i] = f32_to_tf32(REG(uint32_t, ins->a)[i], ins->aux);
    FINISH_32(t);
}

/* ---- f16 and bf16 ------------------------------------------------------------------------- */
ALWAYS double half_widen(uint32_t h, int bf16)
{
    return float_of(bf16 ? h << 16 : f16_to_f32(h));
}

ALWAYS double half_arithmetic(int op, double a, double b, double c)
{
    switch (op) {
    case HALF_ADD:
        return add_to_odd(a, b);
    case HALF_SUB:
        return add_to_odd(a, -b);
    case HALF_MUL:
        return a * b;
    case HALF_FMA:
        return add_to_odd(a * b, c);
    case HALF_MIN:
        return min_f64(a, b);
    case HALF_MAX:
        return max_f64(a, b);
    case HALF_EX2:
        return exp2_of(a);
    default:
        return tanh_of(a);
    }
}

/* The NaN that a tensor copy writes for what is out of bounds. */
enum { OUT_OF_BOUNDS = 0x7ff7 };

static uint32_t half_compute(uint32_t aux, uint32_t ha, uint32_t hb, uint32_t hc)
{
    int op = (int)(aux & 15), bf16 = (int)(aux >> 4 & 1), ftz = (int)(aux >> 8 & 1);
    uint32_t sign = aux >> 10 & 1 ? (ha ^ hb) & 0x8000u : 0;
    if (aux >> 11 & 1 && ((ha & 0x7fff) == OUT_OF_BOUNDS || (hb & 0x7fff) == OUT_OF_BOUNDS))
        return 0;
    if (aux >> 10 & 1) ha &= 0x7fff, hb &= 0x7fff;
    double a = half_widen(ha, bf16), b = half_widen(hb, bf16), c = half_widen(hc, bf16);
    double least = bf16 ? 0x1p-126 : 0x1p-14;
    if (ftz) {
        a = fabs(a) < least ? copysign(0, a) : a;
        b = fabs(b) < least ? copysign(0, b) : b;
        c = fabs(c) < least ? copysign(0, c) : c;
    }
    if (op == HALF_NEG || op == HALF_ABS) {
        a = op == HALF_NEG ? -a : fabs(a);
        return narrow_16(a, bf16 ? 7 : 10, bf16 ? -126 : -14, bf16 ? 127 : 15, ROUND_N);
    }
    double r = aux >> 9 & 1 && (a != a || b != b) ? a + b : half_arithmetic(op, a, b, c);
    if (ftz && fabs(r) < least) r = copysign(0, r);
    if (aux >> 7 & 1) r = r > 0 ? (r < 1 ? r : 1) : 0;
    if ((aux >> 6 & 1) && !(r > 0) && r == r) r = 0;
    return narrow_16(r, bf16 ? 7 : 10, bf16 ? -126 : -14, bf16 ? 127 : 15, ROUND_N) |
           (r == r ? sign : 0);
}

/* The plain operations, without modifiers: loops that become vector code. */
ALWAYS void half_lanes(const Warp *warp, const Ins *ins, uint32_t *t, int op, int bf16, int upper)
{
    int fraction = bf16 ? 7 : 10, least = bf16 ? -126 : -14, most = bf16 ? 127 : 15;
    const uint32_t *a = REG(const uint32_t, ins->a), *b = REG(const uint32_t, ins->b),
                   *c = REG(const uint32_t, ins->c);
    FOR_LANES
    {
        double r = half_arithmetic(op, half_widen(a[i] >> upper & 0xffff, bf16),
                                   half_widen(b[i] >> upper & 0xffff, bf16),
                                   half_widen(c[i] >> upper & 0xffff, bf16));
        t[i] |= narrow_16(r, fraction, least, most, ROUND_N) << upper;
    }
}

#define HALF_PLAIN(op)                                                                             \
    case op:                                                                                       \
        half_lanes(warp, ins, t, op, 0, 0);                                                        \
        if (packed) half_lanes(warp, ins, t, op, 0, 16);                                           \
        break;                                                                                     \
    case op | 1 << 4:                                                                              \
        half_lanes(warp, ins, t, op, 1, 0);                                                        \
        if (packed) half_lanes(warp, ins, t, op, 1, 16);                                           \
        break;

HANDLER(HALF)
{
    uint32_t t[LANES] = {0}, packed = ins->aux >> 5 & 1;
    switch (ins->aux & ~(1u << 5)) {
        HALF_PLAIN(HALF_ADD)
        HALF_PLAIN(HALF_SUB)
        HALF_PLAIN(HALF_MUL)
        HALF_PLAIN(HALF_FMA)
        HALF_PLAIN(HALF_MIN)
        HALF_PLAIN(HALF_MAX)
    default:
        for (int i = 0; i < LANES; i++) {
            uint32_t a = REG(uint32_t, ins->a)[i], b = REG(uint32_t, ins->b)[i],
                     c = REG(uint32_t, ins->c)[i];
            t[i] = half_compute(ins->aux, a & 0xffff, b & 0xffff, c & 0xffff);
            if (packed) t[i] |= half_compute(ins->aux, a >> 16, b >> 16, c >> 16) << 16;
        }
    }
    FINISH_32(t);
}
#undef HALF_PLAIN

/* A predicate as 0 or 1 in every lane. */
/* Constants lie in device memory here. */
static int is_constant(const Warp *warp, uint64_t address)
{
    const Allocation *a =
        address >= DEVICE_BASE ? memory_find(&warp->worker->gpu->memory, address) : NULL;
    return a && a->read_only && address - a->address < a->bytes;
}

HANDLER(ISSPACE)
{
    uint32_t result = 0, *d = &PREDICATE(ins->d);
    for (int i = 0; i < LANES; i++) {
        uint64_t a = REG(uint64_t, ins->a)[i];
        int in_shared = a - SHARED_WINDOW < WINDOW_BYTES,
            in_local = a - LOCAL_WINDOW < WINDOW_BYTES;
        int yes = ins->aux == PTX_SHARED  ? in_shared
                  : ins->aux == PTX_LOCAL ? in_local
                  : ins->aux == PTX_PARAM ? a - PARAM_WINDOW < WINDOW_BYTES
                  : ins->aux == PTX_CONST ? is_constant(warp, a)
                                          : !in_shared && !in_local && !is_constant(warp, a);
        result |= (uint32_t)yes << i;
    }
    *d = (*d & ~warp->mask) | (result & warp->mask);
    return ins + 1;
}
