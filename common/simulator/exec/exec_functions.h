/* exec_functions.h - the functions that a GPU only approximates: 2^x, log2, sine, cosine, tanh.
 *
 * They are computed in double precision from additions and multiplications alone, in a fixed order.
 * The host's mathematics library is not used, because its last bits differ between versions and
 * processors. Rounded to float, the results are within 0.501 ulp. There are no branches, so that
 * loops over lanes are vectorised. */
#ifndef CONVLAB_SIMT_EXEC_FUNCTIONS_H
#define CONVLAB_SIMT_EXEC_FUNCTIONS_H

#include "common/simulator/exec/exec_math.h"

/* A loop with a call in it is no vector code. */
#define INLINED static inline __attribute__((always_inline))

/* Adding this leaves the nearest whole number in the lowest bits (for |x| < 2^51). */
#define WHOLE 0x1.8p52

/* 2^r is the sum of (r ln 2)^k / k!; |r| <= 1/2. */
INLINED double exp2_of(double x)
{
    uint64_t sign = bits_of_double(x) & 0x8000000000000000u, m = bits_of_double(x) ^ sign;
    uint64_t most = 0x408f400000000000u; /* 1000 */
    double at = double_of((m < most || m > 0x7ff0000000000000u ? m : most) | sign);
    double shifted = at + WHOLE, t = (at - (shifted - WHOLE)) * 0.69314718055994530942, sum = 1;
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
    double t = x * 0.15915494309189533577, whole = (t + WHOLE) - WHOLE, f = t - whole;
    f = fabs(t) < 0x1p24 ? f : copysign(0, x);
    double g = f * 4, shifted = g + WHOLE, y = (g - (shifted - WHOLE)) * 1.57079632679489661923;
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
