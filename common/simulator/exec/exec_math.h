/* exec_math.h - scalar functions of the handlers, inlined into loops over the lanes; included once
 * per instruction set. */
#ifndef CONVLAB_SIMT_EXEC_MATH_H
#define CONVLAB_SIMT_EXEC_MATH_H

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/simulator/core/kinds.h"

#define QUIET_NAN __builtin_nanf("0x3fffff") /* 0x7fffffff: what the GPU's fp32 units return */

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static inline uint64_t bits_of_double(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* Does SASS for sm_90 call the routine for rare cases of a division? FCHK checks the exponents:
 * with zero and the smallest numbers, the common path would lose the sign or bits. */
static inline int divides_rarely(float a, float b)
{
    enum { INFINITE = 255, LEAST = 24, FARTHEST = 125 };
    int of_a = bits_of(a) >> 23 & INFINITE, of_b = bits_of(b) >> 23 & INFINITE;
    return of_a < LEAST || of_a == INFINITE || !of_b || of_b == INFINITE ||
           of_a - of_b > FARTHEST || of_b - of_a > FARTHEST;
}

/* The same of doubles: what is divided, or the quotient, is nothing or tiny, or no number. */
static inline int divides_doubles_rarely(double a, double quotient)
{
    uint32_t upper = bits_of_double(a) >> 32 & 0x7fffffff,
             result = bits_of_double(quotient) >> 32 & 0x7fffffff;
    return upper < 0x03600000 || result <= 0x00100000 || result > 0x7f800000;
}

static inline float canonical(float x)
{
    return x == x ? x : QUIET_NAN;
}

static inline float flushed(float x)
{
    uint32_t u = bits_of(x);
    return float_of(u & 0x7f800000u ? u : u & 0x80000000u);
}

/* .ftz flushes what is below the least normal number before it is rounded. */
static inline float flushed_if_tiny(float r, double exact)
{
    return fabs(exact) < 0x1p-126 ? float_of(bits_of(r) & 0x80000000u) : canonical(r);
}

static inline float mul_flushed(float a, float b)
{
    return flushed_if_tiny(a * b, (double)a * b);
}

static inline float div_flushed(float a, float b)
{
    return flushed_if_tiny(a / b, (double)a / b);
}

/* div.approx multiplies by an approximate reciprocal, which is 0 for a divisor beyond 2^126. */
static inline float div_approx(float a, float b)
{
    uint32_t divisor = bits_of(b) & 0x7fffffffu;
    float zero = a * float_of(bits_of(b) & 0x80000000u);
    return divisor > 0x7e800000u && divisor < 0x7f800000u ? zero : a / b;
}

static inline int is_nan_64(uint64_t a)
{
    return (a & INT64_MAX) > 0x7ff0000000000000u;
}

static inline uint64_t quiet_64(uint64_t a)
{
    return a | 0x0008000000000000u;
}

static inline double flushed_64(double x)
{
    uint64_t u = bits_of_double(x);
    return double_of(u & 0x7ff0000000000000u ? u : u & 0x8000000000000000u);
}

/* The gross approximations read and write only the upper half of a double: a NaN with its payload
 * in the lower half is an infinity to them. */
static inline double gross_source(double x)
{
    uint64_t u = bits_of_double(x), upper = u & 0xffffffff00000000u;
    return (upper & INT64_MAX) == 0x7ff0000000000000u ? double_of(upper) : flushed_64(x);
}

static inline uint64_t gross_64(double x)
{
    return x == x ? bits_of_double(flushed_64(x)) & 0xffffffff00000000u : 0x7fffffff00000000u;
}

/* A NaN loses against a number, and -0 is below +0. */
static inline float min_f32(float a, float b)
{
    float r = a < b ? a : b;
    r = b != b ? a : r;
    return a == b ? float_of(bits_of(a) | bits_of(b)) : r;
}

static inline float max_f32(float a, float b)
{
    float r = a > b ? a : b;
    r = b != b ? a : r;
    return a == b ? float_of(bits_of(a) & bits_of(b)) : r;
}

/* If both are NaN, the second one, made quiet. */
static inline double min_f64(double a, double b)
{
    double r = a < b ? a : b;
    r = b != b ? a != a ? b + b : a : r;
    return a == b ? double_of(bits_of_double(a) | bits_of_double(b)) : r;
}

static inline double max_f64(double a, double b)
{
    double r = a > b ? a : b;
    r = b != b ? a != a ? b + b : a : r;
    return a == b ? double_of(bits_of_double(a) & bits_of_double(b)) : r;
}

static inline uint64_t mulhi_u64(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), cross = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (cross >> 32);
}

static inline uint64_t mulhi_s64(uint64_t a, uint64_t b)
{
    return mulhi_u64(a, b) - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0);
}

static inline uint32_t div_s32(int32_t a, int32_t b)
{
    if (b == 0) return UINT32_MAX;
    return b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}

static inline uint32_t rem_s32(int32_t a, int32_t b)
{
    if (b == 0) return UINT32_MAX;
    return b == -1 ? 0 : (uint32_t)(a % b);
}

static inline uint64_t div_s64(int64_t a, int64_t b)
{
    if (b == 0) return UINT64_MAX;
    return b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}

static inline uint64_t rem_s64(int64_t a, int64_t b)
{
    if (b == 0) return UINT64_MAX;
    return b == -1 ? 0 : (uint64_t)(a % b);
}

static inline uint32_t reverse_32(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}

static inline uint32_t bfind_u64(uint64_t a)
{
    return a ? 63u - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}

static inline uint64_t low_bits(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (1ull << count) - 1;
}

static inline int64_t clamped_to(int64_t value, uint32_t bits, int is_signed)
{
    int64_t most = (int64_t)low_bits(is_signed ? bits - 1 : bits),
            least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

/* Bit field extract; position and length are bytes.  A signed field is filled with its top bit, or
 * with the value's sign where it reaches beyond the register. */
static inline uint64_t bit_field(uint64_t a, uint32_t position, uint32_t length, uint32_t width,
                                 int is_signed)
{
    uint64_t top = (uint64_t)position + length;
    if (length == 0) return 0;
    uint32_t sign_at = (uint32_t)(top < width ? top : width) - 1;
    uint64_t sign = is_signed && (a >> sign_at & 1) ? UINT64_MAX : 0;
    uint64_t field = position >= width ? 0 : (a & low_bits(width)) >> position;
    uint32_t have = position >= width ? 0 : width - position;
    uint32_t keep = length < have ? length : have;
    return (field & low_bits(keep)) | (sign & ~low_bits(keep));
}

static inline uint32_t bfe_u32(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)bit_field(a, b & 255, c & 255, 32, 0);
}

static inline uint32_t bfe_s32(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)bit_field(a, b & 255, c & 255, 32, 1);
}

static inline uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed)
{
    for (int i = 0; i < 32; i += 8) {
        int32_t x = a_signed ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = b_signed ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        c += (uint32_t)(x * y);
    }
    return c;
}

/* Absolute difference of each byte of a and b. */
static inline uint32_t bytes_apart(uint32_t a, uint32_t b, int are_signed)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i += 8) {
        int32_t x = are_signed ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = are_signed ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        result |= (uint32_t)(x > y ? x - y : y - x) << i;
    }
    return result;
}

static inline uint32_t bytes_sum(uint32_t a)
{
    return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}

static inline uint32_t f32_to_s32(float a)
{
    if (a != a) return 0;
    if (a >= 2147483648.0f) return INT32_MAX;
    if (a < -2147483648.0f) return 0x80000000u;
    return (uint32_t)(int32_t)a;
}

/* ---- half precision -------------------------------------------------------------------------- */
static inline uint32_t f16_to_f32(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
    if (exponent == 31) return fraction ? 0x7fffffffu : sign | 0x7f800000u;
    if (exponent == 0) return bits_of((float)fraction * 0x1p-24f) | sign;
    return sign | (exponent + 112) << 23 | fraction << 13;
}

/* Rounds a double to a 16-bit format of `fraction` bits and exponents from `least` to `most`; mode
 * is one of ROUND_*.  No branches, so that loops over lanes become vector code: adding and taking
 * away 2^52 units of the last place rounds to them. */
static inline uint32_t narrow_16(double x, int fraction, int least, int most, int mode)
{
    uint64_t sign = bits_of_double(x) >> 63, magnitude = bits_of_double(x) & INT64_MAX;
    uint64_t floor_at = (uint64_t)(least + 1023) << 52, exponent = magnitude & 0x7ff0000000000000u;
    uint32_t infinity = (uint32_t)(most - least + 2) << fraction;
    int away = mode == ROUND_P ? !sign : mode == ROUND_M ? sign != 0 : 0;
    uint32_t over = mode == ROUND_N || away ? infinity : infinity - 1;
    /* beyond the format by far, infinities and NaNs: taken out, put back in the end */
    uint64_t limit = (uint64_t)(most + 2 + 1023) << 52, kept = magnitude < limit ? magnitude : 0;
    exponent = exponent > floor_at ? (exponent < limit ? exponent : floor_at) : floor_at;
    double units = double_of(exponent + ((uint64_t)(52 - fraction) << 52));
    double unit = double_of(exponent - ((uint64_t)fraction << 52)), m = double_of(kept);
    double r = (m + units) - units; /* to nearest, ties to even */
    r = mode != ROUND_N && !away && r > m ? r - unit : r;
    r = away && r < m ? r + unit : r;
    /* As a number of least units: the exponent's bits follow from the encoding. */
    uint64_t u = bits_of_double(r);
    uint32_t normal = (uint32_t)((u - floor_at + (1ull << 52)) >> (52 - fraction));
    double tiny = r * double_of((uint64_t)(fraction - least + 1023) << 52);
    uint32_t value = u >= floor_at ? normal : (uint32_t)(int32_t)tiny;
    value = value >= infinity || magnitude >= limit ? over : value;
    value = magnitude == 0x7ff0000000000000u ? infinity : value;
    value |= (uint32_t)sign << 15;
    return magnitude > 0x7ff0000000000000u ? 0x7fff : value;
}

static inline uint32_t f32_to_f16(uint32_t bits, int mode)
{
    return narrow_16((double)float_of(bits), 10, -14, 15, mode);
}

/* To 8 bits, e4m3 or e5m2, nothing beyond the largest: nan is 0x7f. */
static inline uint32_t f32_to_eighth(uint32_t bits, int e5m2, int relu)
{
    enum { NOT_A_NUMBER = 0x7f, MOST_E4M3 = 0x7e, MOST_E5M2 = 0x7b };
    float value = float_of(bits);
    if (value != value) return NOT_A_NUMBER;
    if (relu && bits >> 31) return 0;
    /* e4m3 has no infinity: the exponent that other formats reserve encodes further numbers. */
    uint32_t most = e5m2 ? MOST_E5M2 : MOST_E4M3,
             part = e5m2 ? narrow_16((double)value, 2, -14, 15, ROUND_N)
                         : narrow_16((double)value, 3, -6, 9, ROUND_N),
             magnitude = part & 0x7fff;
    return (part >> 8 & 0x80) | (magnitude < most ? magnitude : most);
}

static inline float e4m3_value(uint32_t bits)
{
    uint32_t sign = (bits & 0x80) << 24, exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f) return float_of(0x7fffffff);
    float value = exponent ? (float)(8 + fraction) * float_of((exponent + 127 - 10) << 23)
                           : (float)fraction * 0x1p-9f;
    return float_of(bits_of(value) | sign);
}

static inline uint32_t f32_to_bf16(uint32_t bits, int zero)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    if (!zero) bits += 0x7fffu + (bits >> 16 & 1);
    return bits >> 16;
}

/* aux: 0 half away from zero, 1 half to even, 2 toward zero; +4: nothing below zero. */
static inline uint32_t f32_to_tf32(uint32_t bits, uint32_t aux)
{
    uint32_t mode = aux & 3, magnitude = bits & 0x7fffffffu;
    if (aux & 4) {
        if (magnitude <= 0x7f800000u && bits >> 31) return 0;
    }
    if (mode && magnitude > 0x7f800000u) return 0x7fffe000u;
    if (magnitude < 0x7f800000u)
        bits += mode == 0 ? 0x1000u : mode == 1 ? 0xfffu + (bits >> 13 & 1) : 0;
    bits &= 0xffffe000u;
    /* SASS clears the last bit of values that are not less than infinity, and therefore of NaNs,
     * too. */
    return aux & 8 && (bits & 0x7fffffffu) >= 0x7f800000u ? bits - 0x2000u : bits;
}

/* p + c rounded to odd: rounding that again to 11 or 8 bits gives what rounding once would. */
static inline double add_to_odd(double p, double c)
{
    double s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t u = bits_of_double(s);
    if (error == error && error != 0 && !(u & 1)) {
        int up = (error > 0) == (s > 0);
        u = up ? u + 1 : u - 1;
    }
    return error == 0 || s != s ? s : double_of(u);
}

static inline float fma_flushed(float a, float b, float c)
{
    return flushed_if_tiny(__builtin_fmaf(a, b, c), add_to_odd((double)a * b, c));
}

/* ---- directed rounding -------------------------------------------------------------------- */
static inline int fenv_mode(int mode)
{
    static const int MODES[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return MODES[mode & 3];
}

/* ---- approximated functions -------------------------------------------------------------- */
/* The functions that a GPU only approximates: 2^x, log2, sine, cosine, tanh. They are computed
 * in double precision from additions and multiplications alone, in a fixed order. The host's
 * mathematics library is not used, because its last bits differ between versions and processors.
 * Rounded to float, the results are within 0.501 ulp. There are no branches, so that loops over
 * lanes are vectorised. */
/* A loop with a call in it is no vector code. */
#define INLINED static inline __attribute__((always_inline))

/* Adding this leaves the nearest whole number in the lowest bits (for |x| < 2^51). */
#define NEAREST_WHOLE 0x1.8p52

/* 2^r is the sum of (r ln 2)^k / k!; |r| <= 1/2. */
INLINED double exp2_of(double x)
{
    uint64_t sign = bits_of_double(x) & 0x8000000000000000u, m = bits_of_double(x) ^ sign;
    uint64_t most = 0x408f400000000000u; /* 1000 */
    double at = double_of((m < most || m > 0x7ff0000000000000u ? m : most) | sign);
    double shifted = at + NEAREST_WHOLE,
           t = (at - (shifted - NEAREST_WHOLE)) * 0.69314718055994530942, sum = 1;
    double scale = double_of((bits_of_double(shifted) + 1023) << 52);
    sum = 1 + t * (1.0 / 13) * sum;
    sum = 1 + t * (1.0 / 12) * sum;
    sum = 1 + t * (1.0 / 11) * sum;
    sum = 1 + t * (1.0 / 10) * sum;
    sum = 1 + t * (1.0 / 9) * sum;
    sum = 1 + t * (1.0 / 8) * sum;
    sum = 1 + t * (1.0 / 7) * sum;
    sum = 1 + t * (1.0 / 6) * sum;
    sum = 1 + t * (1.0 / 5) * sum;
    sum = 1 + t * (1.0 / 4) * sum;
    sum = 1 + t * (1.0 / 3) * sum;
    sum = 1 + t * (1.0 / 2) * sum;
    sum = 1 + t * sum;
    return sum * scale;
}

/* x = m 2^e with m near 1; ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 ...), s = (m - 1) / (m + 1). */
INLINED double log2_of(double x)
{
    uint64_t u = bits_of_double(x);
    double m = double_of((u & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    double e = double_of((u >> 52) | 0x4330000000000000u) - 0x1p52 - 1023;
    double half = m > 1.41421356237309504880 ? 0.5 : 1, above = half < 1 ? 1 : 0;
    m *= half;
    double s = (m - 1) / (m + 1), q = s * s, sum = 1.0 / 21;
    sum = 1.0 / 19 + q * sum;
    sum = 1.0 / 17 + q * sum;
    sum = 1.0 / 15 + q * sum;
    sum = 1.0 / 13 + q * sum;
    sum = 1.0 / 11 + q * sum;
    sum = 1.0 / 9 + q * sum;
    sum = 1.0 / 7 + q * sum;
    sum = 1.0 / 5 + q * sum;
    sum = 1.0 / 3 + q * sum;
    sum = 1 + q * sum;
    double r = e + above + s * sum * (2 / 0.69314718055994530942);
    /* 0, infinity and negative values are replaced as bits, without a branch. */
    uint64_t zero = 0 - (uint64_t)(x == 0), top = 0 - (uint64_t)(u == 0x7ff0000000000000u);
    uint64_t none = 0 - (uint64_t) !(x >= 0), special = (zero << 63) | 0x7ff0000000000000u | none;
    uint64_t chosen = zero | top | none;
    return double_of((bits_of_double(r) & ~chosen) | (special & chosen));
}

/* The sine of x plus `turns` quarter rotations. As on a GPU, the angle is first reduced to a
 * fraction of a full rotation, which is zero beyond 2^24 rotations. */
INLINED double sine_of(double x, uint64_t turns)
{
    double t = x * 0.15915494309189533577, whole = (t + NEAREST_WHOLE) - NEAREST_WHOLE,
           f = t - whole;
    f = fabs(t) < 0x1p24 ? f : copysign(0, x);
    double g = f * 4, shifted = g + NEAREST_WHOLE,
           y = (g - (shifted - NEAREST_WHOLE)) * 1.57079632679489661923;
    uint64_t quarter = bits_of_double(shifted) + turns;
    double q = y * y, s = 1, c = 1;
    s = 1 - q * (1.0 / (14 * 15)) * s;
    s = 1 - q * (1.0 / (12 * 13)) * s;
    s = 1 - q * (1.0 / (10 * 11)) * s;
    s = 1 - q * (1.0 / (8 * 9)) * s;
    s = 1 - q * (1.0 / (6 * 7)) * s;
    s = 1 - q * (1.0 / (4 * 5)) * s;
    s = y * (1 - q * (1.0 / (2 * 3)) * s);
    c = 1 - q * (1.0 / (13 * 14)) * c;
    c = 1 - q * (1.0 / (11 * 12)) * c;
    c = 1 - q * (1.0 / (9 * 10)) * c;
    c = 1 - q * (1.0 / (7 * 8)) * c;
    c = 1 - q * (1.0 / (5 * 6)) * c;
    c = 1 - q * (1.0 / (3 * 4)) * c;
    c = 1 - q * 0.5 * c;
    double r = quarter & 1 ? c : s;
    r = double_of(bits_of_double(r) ^ (quarter & 2) << 62);
    return r - (x - x); /* NaN for infinities; -0 stays */
}

/* Near 0 the [7/6] Pade approximant, elsewhere 1 - 2 / (e^2x + 1). */
INLINED double tanh_of(double x)
{
    double a = fabs(x), q = x * x;
    double small =
        a * (135135 + q * (17325 + q * (378 + q))) / (135135 + q * (62370 + q * (3150 + q * 28)));
    double large = 1 - 2 / (exp2_of(a * (2 / 0.69314718055994530942)) + 1);
    return copysign(a < 0.5 ? small : large, x);
}

/* Has the accuracy of tanh.approx.f32 on a GPU, whose error on an H200 is up to 9.2e-6 of the
 * result, and less for small results: 17 bits. Students who use it to save time should observe the
 * loss of accuracy. */
INLINED double tanh_roughly(double x)
{
    enum { LOST = 36, SMALL = 1023 - 10 };
    double y = tanh_of(x);
    uint64_t u = bits_of_double(y), exponent = u >> 52 & 2047,
             rounded = (u + (1ull << (LOST - 1))) & ~((1ull << LOST) - 1);
    return double_of(exponent < SMALL || exponent == 2047 ? u : rounded);
}

#endif
