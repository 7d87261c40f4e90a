/* exec_convert.h - conversions, and arithmetic of f16 and bf16; included by exec_body.h. */

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

/* Float to integer: a value out of range gives the nearest limit; NaN gives 0, or 2^(n-1) if a
 * 64-bit type is involved. */
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

/* To f16 or bf16; a double's NaN keeps its sign and upper bits. A GPU ignores .ftz here. */
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
/* Constants are in device memory here. */
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
