/* exec_sums.h - dot products with the rounding of a tensor core; included by exec_body.h.
 *
 * Measured on an H200, bit for bit: the exponents of the two factors are added. The maximum of
 * these sums over k and of the addend's exponent gives the position of the last bit of all terms,
 * `bits` below it. A subnormal factor or addend has the exponent of the smallest normal number.
 * Each term is truncated there, the sum is exact, and the sum is truncated to the result's
 * precision; results in half precision are rounded once.
 *
 * One matrix is stored across, with sixteen of its rows (or columns) per vector; the elements of
 * the other one are used one after the other, along k. Each truncated term, in units of the last
 * bit, is below 2^27: eight of them and the addend fit in a 32-bit integer. */

enum { ACROSS = 16, TERMS_EXACT = 8, SUM_DEEP = 32, SUM_FACTORS = 256 * SUM_DEEP, SUMS = 256 * 16 };

/* Bits below the largest exponent. FP8 has fewer, and its results have the same number of bits
 * after the first one. */
enum { SUM_BITS = 25, EIGHTHS_BITS = 13 };

/* Bits of the fractions of float and double; their exponent biases; exponent of zero, below that of
 * any sum; the smallest exponent considered. Within the limits, no term and no sum leaves the range
 * of normal floats. */
enum {
    FLOAT_FRACTION = 23,
    DOUBLE_FRACTION = 52,
    FLOAT_BIAS = 127,
    DOUBLE_BIAS = 1023,
    EXPONENT_OF_ZERO = -4096,
    EXPONENT_LEAST = -400,
    FACTOR_LIMIT = 50,
    ADDEND_LIMIT = 100,
    HALF_NOTHING = 0x33000000 /* 2^-25, a float's bits */
};

typedef float Floats __attribute__((vector_size(ACROSS * 4), aligned(4)));
typedef int32_t Wholes __attribute__((vector_size(ACROSS * 4), aligned(4)));
typedef uint32_t Words __attribute__((vector_size(ACROSS * 4), aligned(4)));
typedef int16_t Shorts __attribute__((vector_size(ACROSS * 4), aligned(4)));

/* Format of a result. */
typedef enum SumResult { SUM_FLOATS, SUM_HALVES, SUM_EIGHTHS } SumResult;

/* across[k][wide], along[narrow][k], sum[narrow][wide]; `sum` has floats' bits, or integers. */
typedef struct Sums {
    uint32_t wide, narrow, deep; /* wide: a multiple of 16; deep: even */
    uint32_t step;               /* values of k that are summed at once; the next add to the sum */
    int bits;
    int least_across, least_along, least_addend; /* the least exponents: of subnormals, too */
    SumResult result;
    float across[SUM_DEEP * 32], along[SUM_FACTORS];
    int16_t across_exponent[SUM_DEEP * 32], along_exponent[SUM_FACTORS]; /* across: k in pairs */
    uint32_t sum[SUMS];
} Sums;

ALWAYS Wholes wholes_at(const void *from)
{
    return *(const Wholes *)from;
}

ALWAYS Shorts shorts_max(Shorts a, Shorts b)
{
#ifdef __AVX512BW__
    return (Shorts)_mm512_max_epi16((__m512i)a, (__m512i)b);
#else
    Shorts more = a > b;
    return (a & more) | (b & ~more);
#endif
}

ALWAYS Wholes wholes_max(Wholes a, Wholes b)
{
#ifdef __AVX512F__
    return (Wholes)_mm512_max_epi32((__m512i)a, (__m512i)b);
#else
    Wholes more = a > b;
    return (a & more) | (b & ~more);
#endif
}

/* Is one of them negative? */
ALWAYS int wholes_negative(Wholes x)
{
#ifdef __AVX512DQ__
    return _mm512_movepi32_mask((__m512i)x) != 0;
#else
    int32_t any = 0;
    for (uint32_t c = 0; c < ACROSS; c++)
        any |= x[c];
    return any < 0;
#endif
}

/* Exponents of floats' bits, with subnormals treated like normal numbers; `beyond` becomes negative
 * if a number exceeds the limit. */
ALWAYS Wholes exponents_of(Wholes x, int limit, int least, Wholes *beyond)
{
    Wholes exponent = (x >> FLOAT_FRACTION & 255) - FLOAT_BIAS, is_zero = (x & INT32_MAX) == 0;
    *beyond |= ((limit - exponent) | (limit + exponent)) & ~is_zero;
    exponent = wholes_max(exponent, (Wholes){0} + least);
    return (exponent & ~is_zero) | (is_zero & EXPONENT_OF_ZERO);
}

/* 1 where only doubles do. */
static int exponents_find(Sums *s)
{
    Wholes beyond = {0};
    for (uint32_t k = 0; k < s->deep; k += 2)
        for (uint32_t i = 0; i < s->wide; i += ACROSS) {
            const float *x = s->across + k * s->wide + i;
            Wholes even = exponents_of(wholes_at(x), FACTOR_LIMIT, s->least_across, &beyond),
                   odd =
                       exponents_of(wholes_at(x + s->wide), FACTOR_LIMIT, s->least_across, &beyond);
            *(Wholes *)(void *)(s->across_exponent + k * s->wide + i * 2) =
                (even & 0xffff) | odd << 16;
        }
    for (uint32_t i = 0; i < s->narrow * s->deep; i += ACROSS) {
        Wholes exponent =
            exponents_of(wholes_at(s->along + i), FACTOR_LIMIT, s->least_along, &beyond);
        int32_t wide[ACROSS];
        memcpy(wide, &exponent, sizeof wide);
        for (uint32_t c = 0; c < ACROSS; c++)
            s->along_exponent[i + c] = (int16_t)wide[c];
    }
    for (uint32_t i = 0; i < s->narrow * s->wide; i += ACROSS)
        exponents_of(wholes_at(s->sum + i), ADDEND_LIMIT, s->least_addend, &beyond);
    return wholes_negative(beyond);
}

/* The largest exponent of each sum's terms. */
ALWAYS Wholes heights_of(const Sums *s, uint32_t step, const int16_t *across, const int16_t *along,
                         Wholes addend)
{
    Wholes unused = {0}, height = exponents_of(addend, ADDEND_LIMIT, s->least_addend, &unused);
    Shorts most = (Shorts)((Wholes){0} + (int32_t)0x80008000u);
    for (uint32_t k = 0; k < step; k += 2) {
        int32_t pair;
        memcpy(&pair, along + k, sizeof pair);
        Shorts terms = *(const Shorts *)(const void *)(across + k * s->wide);
        most = shorts_max(most, terms + (Shorts)((Wholes){0} + pair));
    }
    height = wholes_max(height, wholes_max((Wholes)most << 16 >> 16, (Wholes)most >> 16));
    return wholes_max(height, (Wholes){0} - ADDEND_LIMIT);
}

/* Two to the power of each. */
ALWAYS Floats powers_of_two(Wholes exponent)
{
    return (Floats)((exponent + FLOAT_BIAS) << FLOAT_FRACTION);
}

ALWAYS Wholes terms_cut(Floats x)
{
    return __builtin_convertvector(x, Wholes);
}

/* As floats, truncated. A future half keeps a sticky last bit for the truncated bits, so that it is
 * rounded correctly. */
ALWAYS Floats wholes_floats(Wholes x, SumResult result)
{
    Wholes sign = x & INT32_MIN, size = (x ^ x >> 31) - (x >> 31);
    Wholes bits = (Wholes) __builtin_convertvector(size, Floats);
    bits += (Wholes)((Words)terms_cut((Floats)bits) > (Words)size); /* was rounded up */
    if (result == SUM_EIGHTHS) bits &= (int32_t)(UINT32_MAX << (FLOAT_FRACTION - EIGHTHS_BITS));
    if (result == SUM_HALVES) bits |= (terms_cut((Floats)bits) != size) & 1;
    return (Floats)(bits | sign);
}

/* Values that round to no half become zero without a sign. */
ALWAYS Floats halves_least(Floats x)
{
    return (Floats)((Wholes)x & (((Wholes)x & INT32_MAX) > HALF_NOTHING));
}

ALWAYS int exponent_of(double x, int least)
{
    int bits = (int)(bits_of_double(x) >> DOUBLE_FRACTION & 0x7ff), exponent = bits - DOUBLE_BIAS;
    return !bits ? EXPONENT_OF_ZERO : exponent > least ? exponent : least;
}

ALWAYS double power_of_two(int exponent)
{
    return double_of((uint64_t)(int64_t)(DOUBLE_BIAS + exponent) << DOUBLE_FRACTION);
}

static float double_result(double sum, SumResult result)
{
    if (result == SUM_EIGHTHS)
        sum = double_of(bits_of_double(sum) & UINT64_MAX << (DOUBLE_FRACTION - EIGHTHS_BITS));
    float f = (float)sum;
    if (result == SUM_HALVES && fabs(sum) <= 0x1p-25) return 0;
    if (f - f != 0) return f;
    if (fabs((double)f) > fabs(sum)) f = float_of(bits_of(f) - 1);
    return result == SUM_HALVES && f != sum ? float_of(bits_of(f) | 1) : f;
}

/* One sum, from value `first` of k on, of any numbers. */
static void sum_slowly(Sums *s, uint32_t first, uint32_t i, uint32_t j)
{
    const float *across = s->across + first * s->wide + i, *along = s->along + j * s->deep + first;
    uint32_t *to = &s->sum[j * s->wide + i];
    double addend = float_of(*to), plain = addend;
    int height = exponent_of(addend, s->least_addend);
    for (uint32_t k = 0; k < s->step; k++) {
        double a = across[k * s->wide], b = along[k];
        int term = exponent_of(a, s->least_across) + exponent_of(b, s->least_along);
        plain += a * b;
        height = height > term ? height : term;
    }
    if (plain - plain != 0) { /* infinities and NaNs have no last bit */
        *to = bits_of(canonical((float)plain));
        return;
    }
    if (height < EXPONENT_LEAST) height = EXPONENT_LEAST;
    double scale = power_of_two(s->bits - height), back = power_of_two(height - s->bits);
    int64_t sum = (int64_t)(addend * scale);
    for (uint32_t k = 0; k < s->step; k++)
        sum += (int64_t)((double)across[k * s->wide] * along[k] * scale);
    *to = bits_of(double_result((double)sum * back, s->result));
}

ALWAYS void sums_write(const Sums *s, uint32_t *to, Floats sum)
{
    *(Floats *)(void *)to = s->result == SUM_HALVES ? halves_least(sum) : sum;
}

/* Sixteen sums, of row `j` of the matrix along k and of the columns from `i` on of the matrix
 * across. */
ALWAYS void sums_quickly(Sums *s, uint32_t step, int bits, uint32_t first, uint32_t i, uint32_t j)
{
    uint32_t from = first * s->wide;
    const float *across = s->across + from + i, *along = s->along + j * s->deep + first;
    uint32_t *to = s->sum + j * s->wide + i;
    Wholes addend = wholes_at(to),
           height = heights_of(s, step, s->across_exponent + from + i * 2,
                               s->along_exponent + j * s->deep + first, addend);
    Floats scale = powers_of_two(bits - height), back = powers_of_two(height - bits);
    Wholes sum = terms_cut((Floats)addend * scale), rest = {0};
    for (uint32_t k = 0; k < step; k++) {
        Wholes term =
            terms_cut(*(const Floats *)(const void *)(across + k * s->wide) * along[k] * scale);
        if (k % (2 * TERMS_EXACT) < TERMS_EXACT)
            sum += term;
        else
            rest += term;
    }
    Wholes all = (Wholes)((Words)sum + (Words)rest);
    if (step > TERMS_EXACT && __builtin_expect(wholes_negative((sum ^ all) & (rest ^ all)), 0))
        for (uint32_t c = 0; c < ACROSS; c++) /* more than 32 bits: hardly ever */
            sum_slowly(s, first, i + c, j);
    else
        sums_write(s, to, wholes_floats(all, s->result) * back);
}

ALWAYS void sums_all(Sums *s, uint32_t step, int bits)
{
    for (uint32_t first = 0; first < s->deep; first += step)
        for (uint32_t j = 0; j < s->narrow; j++)
            for (uint32_t i = 0; i < s->wide; i += ACROSS)
                sums_quickly(s, step, bits, first, i, j);
}

static void sums_all_slowly(Sums *s)
{
    for (uint32_t first = 0; first < s->deep; first += s->step)
        for (uint32_t j = 0; j < s->narrow; j++)
            for (uint32_t i = 0; i < s->wide; i++)
                sum_slowly(s, first, i, j);
}

/* sum += across along, of floats. */
static void sums_add(Sums *s)
{
    if (exponents_find(s))
        sums_all_slowly(s);
    else if (s->bits == EIGHTHS_BITS)
        sums_all(s, SUM_DEEP, EIGHTHS_BITS);
    else if (s->step == 32) /* half of them are zeros */
        sums_all(s, 32, SUM_BITS);
    else if (s->step == 16)
        sums_all(s, 16, SUM_BITS);
    else if (s->step == 8)
        sums_all(s, 8, SUM_BITS);
    else
        sums_all(s, 4, SUM_BITS);
}

/* Integers are exact as floats, and so are the results of their multiplication. */
static void sums_add_wholes(Sums *s, int saturate)
{
    for (uint32_t j = 0; j < s->narrow; j++)
        for (uint32_t i = 0; i < s->wide; i += ACROSS) {
            uint32_t *to = s->sum + j * s->wide + i;
            Wholes products = {0};
            for (uint32_t k = 0; k < s->deep; k++)
                products += terms_cut(*(const Floats *)(const void *)(s->across + k * s->wide + i) *
                                      s->along[j * s->deep + k]);
            for (uint32_t c = 0; c < ACROSS; c++) {
                int64_t sum = (int64_t)(int32_t)to[c] + products[c];
                if (saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
                to[c] = (uint32_t)sum;
            }
        }
}
