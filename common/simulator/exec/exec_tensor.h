/* exec_tensor.h - matrix products of a warp; included by exec_body.h. */

ALWAYS float eighth_of(uint32_t bits, TensorType type)
{
    if (type == TYPE_E5M2) return float_of(f16_to_f32(bits << 8));
    return e4m3_value(bits);
}

/* That of the least normal number. */
ALWAYS int least_exponent(TensorType type)
{
    return type == TYPE_E4M3 ? -6 : type == TYPE_F16 || type == TYPE_E5M2 ? -14 : -126;
}

/* Element e of a register. */
ALWAYS float element_of(uint32_t bits, uint32_t e, TensorType type)
{
    switch (type) {
    case TYPE_F16:
        return float_of(f16_to_f32(bits >> 16 * e & 0xffff));
    case TYPE_BF16:
        return float_of((bits >> 16 * e & 0xffff) << 16);
    case TYPE_TF32: /* the hardware does not look at the low bits */
        return float_of(bits & 0xffffe000u);
    case TYPE_S8:
        return (float)(int8_t)(bits >> 8 * e);
    case TYPE_U8:
        return (float)(uint8_t)(bits >> 8 * e);
    case TYPE_S4:
        return (float)((int32_t)(bits << (28 - 4 * e)) >> 28);
    case TYPE_U4:
        return (float)(bits >> 4 * e & 15);
    case TYPE_E4M3:
    case TYPE_E5M2:
        return eighth_of(bits >> 8 * e & 0xff, type);
    default:
        return float_of(bits);
    }
}

/* Converts a register of each lane from halves; a NaN stays an unspecified NaN. */
ALWAYS void halves_widen(const uint32_t *bits, float *value)
{
#ifdef __F16C__
    for (uint32_t i = 0; i < LANES; i += 4) {
        __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)(bits + i));
        _mm256_storeu_ps(value + i * 2, _mm256_cvtph_ps(halves));
    }
#else
    for (uint32_t i = 0; i < LANES * 2; i++)
        value[i] = element_of(bits[i / 2], i % 2, TYPE_F16);
#endif
}

/* The elements of one register, lane by lane. */
ALWAYS void elements_of(const uint32_t *bits, TensorType type, float *value)
{
#define ELEMENTS(T, each)                                                                          \
    case T:                                                                                        \
        for (uint32_t i = 0; i < LANES * (each); i++)                                              \
            value[i] = element_of(bits[i / (each)], i % (each), T);                                \
        break
    switch (type) {
    case TYPE_F16:
        halves_widen(bits, value);
        break;
        ELEMENTS(TYPE_BF16, 2);
        ELEMENTS(TYPE_TF32, 1);
        ELEMENTS(TYPE_S8, 4);
        ELEMENTS(TYPE_U8, 4);
        ELEMENTS(TYPE_S4, 8);
        ELEMENTS(TYPE_U4, 8);
        ELEMENTS(TYPE_E4M3, 4);
        ELEMENTS(TYPE_E5M2, 4);
    case TYPE_F64: /* these have ways of their own */
    case TYPE_B1:
    case TYPE_F32:
    case TYPE_S32:
        memcpy(value, bits, LANES * sizeof *value);
    }
#undef ELEMENTS
}

enum { TENSOR_MOST = 32 * 32, EACH_MOST = 8, GROUPS = 8, MMA_COLUMNS = 8 };

/* An input matrix, row by row; tensor.h defines the fragments. In mma, each group of four lanes has
 * `own` neighbouring elements: in a row of a, in a column of b. */
ALWAYS void factor_place(const Warp *warp, const TensorPlan *plan, int is_b, uint32_t own,
                         float *matrix)
{
    const Fragment *f = is_b ? &plan->b : &plan->a;
    uint32_t k = plan->k, size = k * (is_b ? plan->n : plan->m);
    for (uint32_t r = 0; r < f->count; r++) {
        float value[LANES * EACH_MOST];
        elements_of(REG(const uint32_t, f->slot[r]), f->type, value);
        if (plan->kind != TENSOR_MMA && type_elements(f->type) <= 4) {
            memcpy(matrix + r * GROUPS * own % size, value, GROUPS * own * sizeof *value);
            continue;
        }
        for (uint32_t g = 0; g < GROUPS; g++)
            for (uint32_t i = 0; i < own; i++)
                if (is_b)
                    matrix[(r * own + i) * MMA_COLUMNS + g] = value[g * own + i];
                else
                    matrix[(g + 8 * (r & 1)) * k + (r >> 1) * own + i] = value[g * own + i];
    }
}

static void factor_gather(const Warp *warp, const TensorPlan *plan, int is_b, float *matrix)
{
    switch (type_elements(is_b ? plan->b.type : plan->a.type)) {
    case 1:
        factor_place(warp, plan, is_b, 4, matrix);
        break;
    case 2:
        factor_place(warp, plan, is_b, 8, matrix);
        break;
    case 4:
        factor_place(warp, plan, is_b, 16, matrix);
        break;
    default:
        factor_place(warp, plan, is_b, 32, matrix);
    }
}

/* ---- sums of floats ------------------------------------------------------------------------- */

/* Registers whose lanes have four neighbours of a row, alternately of rows 0 to 7 and of rows 8 to
 * 15: gives sixteen rows of each neighbour. */
enum { PAIR_ROWS = 8 };

ALWAYS void quads_transpose(const uint32_t *upper, const uint32_t *lower, Wholes *to)
{
#ifdef __AVX512F__
    const __m512i EVEN =
                      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29),
                  LOW = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                  two = _mm512_set1_epi32(2), eight = _mm512_set1_epi32(8);
    for (uint32_t h = 0; h < 2; h++) {
        __m512i at = h ? _mm512_add_epi32(EVEN, two) : EVEN,
                u = _mm512_permutex2var_epi32(_mm512_loadu_si512(upper), at,
                                              _mm512_loadu_si512(upper + ACROSS)),
                l = _mm512_permutex2var_epi32(_mm512_loadu_si512(lower), at,
                                              _mm512_loadu_si512(lower + ACROSS));
        to[h * 2] = (Wholes)_mm512_permutex2var_epi32(u, LOW, l);
        to[h * 2 + 1] = (Wholes)_mm512_permutex2var_epi32(u, _mm512_add_epi32(LOW, eight), l);
    }
#else
    for (uint32_t q = 0; q < QUAD; q++)
        for (uint32_t g = 0; g < PAIR_ROWS; g++) {
            to[q][g] = (int32_t)upper[g * QUAD + q];
            to[q][PAIR_ROWS + g] = (int32_t)lower[g * QUAD + q];
        }
#endif
}

/* The other way. */
ALWAYS void quads_transpose_back(const Wholes *from, uint32_t *upper, uint32_t *lower)
{
#ifdef __AVX512F__
    const __m512i LOW = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                  FOURS =
                      _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t *to = h ? lower : upper;
        __m512i at = _mm512_add_epi32(LOW, _mm512_set1_epi32(h ? 8 : 0)),
                x = _mm512_permutex2var_epi32((__m512i)from[0], at, (__m512i)from[1]),
                y = _mm512_permutex2var_epi32((__m512i)from[2], at, (__m512i)from[3]);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi32(x, FOURS, y));
        _mm512_storeu_si512(to + ACROSS, _mm512_permutex2var_epi32(
                                             x, _mm512_add_epi32(FOURS, _mm512_set1_epi32(4)), y));
    }
#else
    for (uint32_t q = 0; q < QUAD; q++)
        for (uint32_t g = 0; g < PAIR_ROWS; g++) {
            upper[g * QUAD + q] = (uint32_t)from[q][g];
            lower[g * QUAD + q] = (uint32_t)from[q][PAIR_ROWS + g];
        }
#endif
}

/* Element e of each register, as a float. */
ALWAYS Floats elements_across(Wholes bits, uint32_t e, TensorType type)
{
    Floats value;
#ifdef __AVX512F__
    if (type == TYPE_F16)
        return (Floats)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)(bits >> 16 * (int)e)));
#endif
    for (uint32_t c = 0; c < ACROSS; c++)
        value[c] = element_of((uint32_t)bits[c], e, type);
    return value;
}

ALWAYS Wholes halves_pack(Wholes low, Wholes high)
{
#ifdef __AVX512F__
    __m512i l = _mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)low, _MM_FROUND_TO_NEAREST_INT)),
            h = _mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)high, _MM_FROUND_TO_NEAREST_INT));
    return (Wholes)_mm512_or_si512(l, _mm512_slli_epi32(h, 16));
#else
    Wholes packed;
    for (uint32_t c = 0; c < ACROSS; c++)
        packed[c] = (int32_t)(f32_to_f16((uint32_t)low[c], ROUND_N) |
                              f32_to_f16((uint32_t)high[c], ROUND_N) << 16);
    return packed;
#endif
}

/* Accumulators of mma and wgmma: eight columns of sixteen rows are four registers, or two registers
 * of halves. */
ALWAYS void addends_gather(const Warp *warp, const uint32_t *slot, uint32_t columns, int halves,
                           Sums *s)
{
    for (uint32_t j = 0; j < columns; j += MMA_COLUMNS, slot += halves ? 2 : 4) {
        Wholes quad[2][QUAD], *to = (Wholes *)(void *)(s->sum + j * ACROSS);
        quads_transpose(REG(const uint32_t, slot[0]), REG(const uint32_t, slot[halves ? 1 : 2]),
                        quad[0]);
        if (!halves)
            quads_transpose(REG(const uint32_t, slot[1]), REG(const uint32_t, slot[3]), quad[1]);
        for (uint32_t q = 0; q < QUAD; q++)
            for (uint32_t e = 0; e < 2; e++)
                to[q * 2 + e] =
                    halves ? (Wholes)elements_across(quad[0][q], e, TYPE_F16) : quad[e][q];
    }
}

ALWAYS void results_scatter(Warp *warp, const uint32_t *slot, uint32_t columns, int halves,
                            const Sums *s)
{
    for (uint32_t j = 0; j < columns; j += MMA_COLUMNS, slot += halves ? 2 : 4) {
        const Wholes *from = (const Wholes *)(const void *)(s->sum + j * ACROSS);
        Wholes quad[2][QUAD];
        for (uint32_t q = 0; q < QUAD; q++) {
            quad[0][q] = halves ? halves_pack(from[q * 2], from[q * 2 + 1]) : from[q * 2];
            quad[1][q] = from[q * 2 + 1];
        }
        quads_transpose_back(quad[0], REG(uint32_t, slot[0]), REG(uint32_t, slot[halves ? 1 : 2]));
        if (!halves) quads_transpose_back(quad[1], REG(uint32_t, slot[1]), REG(uint32_t, slot[3]));
    }
}

/* Sixteen rows of an input matrix of mma: `each` elements from `first` on, of each register of a
 * pair with neighbours of four rows. Returns the end of the result. */
ALWAYS Floats *rows_gather(const Warp *warp, const Fragment *f, TensorType type, uint32_t first,
                           uint32_t each, Floats *to)
{
    for (uint32_t r = 0; r < f->count; r += 2) {
        Wholes quad[QUAD];
        quads_transpose(REG(const uint32_t, f->slot[r]), REG(const uint32_t, f->slot[r + 1]), quad);
        for (uint32_t q = 0; q < QUAD; q++)
            for (uint32_t e = 0; e < each; e++)
                *to++ = elements_across(quad[q], first + e, type);
    }
    return to;
}

/* Declares an array as initialised, without an instruction: gcc 14 does not see that elements_of
 * writes all elements that are read, and warns. */
#define MARK_INITIALISED(array) __asm__("" : "=m"(array))

/* The other factor's columns. */
ALWAYS void columns_gather(const Warp *warp, const Fragment *f, uint32_t each, Sums *s)
{
    uint32_t own = QUAD * each;
    for (uint32_t r = 0; r < f->count; r++) {
        float value[LANES * EACH_MOST];
        MARK_INITIALISED(value);
        elements_of(REG(const uint32_t, f->slot[r]), f->type, value);
        for (uint32_t g = 0; g < GROUPS; g++)
            memcpy(s->along + g * s->deep + r * own, value + g * own, own * sizeof *value);
    }
}

static void mma_gather(const Warp *warp, const TensorPlan *plan, Sums *s)
{
    Floats *across = (Floats *)(void *)s->across;
    s->wide = plan->m, s->narrow = plan->n;
    if (plan->a.type == TYPE_F16)
        rows_gather(warp, &plan->a, TYPE_F16, 0, 2, across);
    else if (plan->a.type == TYPE_BF16)
        rows_gather(warp, &plan->a, TYPE_BF16, 0, 2, across);
    else
        rows_gather(warp, &plan->a, TYPE_TF32, 0, 1, across);
    if (plan->a.type == TYPE_TF32)
        columns_gather(warp, &plan->b, 1, s);
    else
        columns_gather(warp, &plan->b, 2, s);
    addends_gather(warp, plan->c.slot, plan->n, plan->c.type == TYPE_F16, s);
}

ALWAYS void matrix_transpose(const uint32_t *from, uint32_t rows, uint32_t columns, uint32_t *to)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

/* wmma's matrices have their rows one after the other (tensor.h). Columns are stored across if
 * there are sixteen. */
static void wmma_gather(const Warp *warp, const TensorPlan *plan, Sums *s)
{
    uint32_t m = plan->m, n = plan->n, k = plan->k;
    float a[TENSOR_MOST], b[TENSOR_MOST], c[TENSOR_MOST];
    int turned = n < ACROSS;
    s->wide = turned ? m : n, s->narrow = turned ? n : m;
    factor_gather(warp, plan, 0, turned ? a : s->along);
    factor_gather(warp, plan, 1, turned ? b : s->across);
    float *addend = turned ? c : (float *)(void *)s->sum;
    uint32_t each = type_elements(plan->c.type);
    for (uint32_t r = 0; r < plan->c.count; r++)
        elements_of(REG(const uint32_t, plan->c.slot[r]), plan->c.type, addend + r * LANES * each);
    if (!turned) return;
    matrix_transpose((const uint32_t *)(const void *)a, m, k, (uint32_t *)(void *)s->across);
    matrix_transpose((const uint32_t *)(const void *)b, k, n, (uint32_t *)(void *)s->along);
    matrix_transpose((const uint32_t *)(const void *)c, m, n, s->sum);
}

static void wmma_scatter(Warp *warp, const TensorPlan *plan, const Sums *s)
{
    uint32_t turned[TENSOR_MOST];
    const uint32_t *sum = s->sum;
    if (plan->n < ACROSS) matrix_transpose(sum, plan->n, plan->m, turned), sum = turned;
    for (uint32_t r = 0; r < plan->d.count; r++) {
        uint32_t *d = REG(uint32_t, plan->d.slot[r]);
        if (plan->d.type == TYPE_F32)
            memcpy(d, sum + r * LANES, LANES * sizeof *d);
        else
            for (uint32_t lane = 0; lane < LANES; lane++) {
                const uint32_t *pair = sum + (r * LANES + lane) * 2;
                d[lane] = f32_to_f16(pair[0], ROUND_N) | f32_to_f16(pair[1], ROUND_N) << 16;
            }
    }
}

/* SASS for compute capability 9.0 executes these forms as one MMA over all of k, except for wmma's
 * TF32, which takes two over four each. Sums are halves only if both c and d are. */
enum { WMMA_TF32_STEP = 4 };

static void product_floats(Warp *warp, const TensorPlan *plan)
{
    Sums s;
    int mma = plan->kind == TENSOR_MMA,
        halves = plan->c.type == TYPE_F16 && plan->d.type == TYPE_F16;
    s.deep = plan->k, s.bits = SUM_BITS, s.result = halves ? SUM_HALVES : SUM_FLOATS;
    s.least_across = s.least_along = least_exponent(plan->a.type);
    s.least_addend = least_exponent(plan->c.type);
    s.step = !mma && plan->a.type == TYPE_TF32 ? WMMA_TF32_STEP : plan->k;
    if (mma)
        mma_gather(warp, plan, &s);
    else
        wmma_gather(warp, plan, &s);
    sums_add(&s);
    if (mma)
        results_scatter(warp, plan->d.slot, plan->n, plan->d.type == TYPE_F16, &s);
    else
        wmma_scatter(warp, plan, &s);
}

/* Adds c as add.f32 does. */
static void addends_join(const float *c, Sums *s)
{
    for (uint32_t i = 0; i < s->wide * s->narrow; i++) {
        float sum = c[i] + float_of(s->sum[i]);
        s->sum[i] = sum != sum ? 0x7fffffff : bits_of(sum);
    }
}

/* SASS for compute capability 9.0 has no FP8 MMA for mma. It converts the lower two values of each
 * register to halves and multiplies, then the upper two, and adds c at the end. */
static void product_eighths(Warp *warp, const TensorPlan *plan)
{
    enum { HALF = 2, ROW = 2 * HALF * QUAD };
    Sums s;
    float c[16 * MMA_COLUMNS];
    Floats *across = (Floats *)(void *)s.across;
    s.wide = plan->m, s.narrow = plan->n, s.deep = plan->k, s.step = plan->k / 2;
    s.bits = SUM_BITS, s.result = SUM_FLOATS;
    s.least_across = s.least_along = least_exponent(TYPE_F16);
    s.least_addend = least_exponent(TYPE_F32);
    for (uint32_t first = 0; first < 2 * HALF; first += HALF)
        across = rows_gather(warp, &plan->a, plan->a.type, first, HALF, across);
    for (uint32_t r = 0; r < plan->b.count; r++) {
        float value[LANES * EACH_MOST];
        elements_of(REG(const uint32_t, plan->b.slot[r]), plan->b.type, value);
        for (uint32_t i = 0; i < LANES * 2 * HALF; i++) {
            uint32_t e = i % (2 * HALF), quad = i / (2 * HALF) % QUAD, column = i / ROW;
            s.along[column * s.deep + e / HALF * s.step + (r * QUAD + quad) * HALF + e % HALF] =
                value[i];
        }
    }
    addends_gather(warp, plan->c.slot, plan->n, 0, &s);
    memcpy(c, s.sum, sizeof c);
    memset(s.sum, 0, sizeof c);
    sums_add(&s);
    addends_join(c, &s);
    results_scatter(warp, plan->d.slot, plan->n, 0, &s);
}

/* ---- other accumulations -------------------------------------------------------------------- */

/* Position of the first element of register r in c or d of integers, and the distance to the next
 * one. In mma, the registers of a pair have neighbours of a row. */
typedef struct Places {
    uint32_t first, step;
} Places;

ALWAYS Places places_of(int mma, uint32_t r)
{
    if (mma) return (Places){(r >> 1) * 8 * MMA_COLUMNS + (r & 1), 2};
    return (Places){r * LANES, 1};
}

/* With bits, the term is the number of bits set in both inputs (and), or in one of them (xor). */
static void bits_add(const Warp *warp, const TensorPlan *plan, int64_t *sum)
{
    for (uint32_t r = 0; r < plan->a.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t a = REG(const uint32_t, plan->a.slot[r])[lane],
                     row = lane / QUAD + PAIR_ROWS * (r & 1);
            for (uint32_t j = 0; j < MMA_COLUMNS; j++) {
                uint32_t b = REG(const uint32_t, plan->b.slot[r >> 1])[j * QUAD + lane % QUAD];
                sum[row * MMA_COLUMNS + j] += __builtin_popcount(plan->differ ? a ^ b : a & b);
            }
        }
}

static void wholes_add(const Warp *warp, const TensorPlan *plan, int64_t *sum)
{
    float a[TENSOR_MOST], b[TENSOR_MOST];
    uint32_t m = plan->m, n = plan->n, k = plan->k;
    factor_gather(warp, plan, 0, a);
    factor_gather(warp, plan, 1, b);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t l = 0; l < k; l++)
            for (uint32_t j = 0; j < n; j++)
                sum[i * n + j] += (int64_t)(a[i * k + l] * b[l * n + j]);
}

static void integers_gather(const Warp *warp, const TensorPlan *plan, int64_t *sum)
{
    for (uint32_t r = 0; r < plan->c.count; r++) {
        Places at = places_of(plan->kind == TENSOR_MMA, r);
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum[at.first + lane * at.step] = REG(const int32_t, plan->c.slot[r])[lane];
    }
}

static void integers_scatter(Warp *warp, const TensorPlan *plan, const int64_t *sum)
{
    for (uint32_t r = 0; r < plan->d.count; r++) {
        Places at = places_of(plan->kind == TENSOR_MMA, r);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            int64_t s = sum[at.first + lane * at.step];
            if (plan->saturate) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
            REG(uint32_t, plan->d.slot[r])[lane] = (uint32_t)s;
        }
    }
}

static void product_integers(Warp *warp, const TensorPlan *plan)
{
    int64_t sum[TENSOR_MOST];
    integers_gather(warp, plan, sum);
    if (plan->a.type == TYPE_B1)
        bits_add(warp, plan, sum);
    else
        wholes_add(warp, plan, sum);
    integers_scatter(warp, plan, sum);
}

/* Are all 32 lanes active? Otherwise the result is undefined. */
static int lanes_whole(Warp *warp, const Ins *ins)
{
    if (warp->mask == FULL_MASK) return 1;
    fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(~warp->mask), 0, 0,
             "Divergent threads in a warp: a tensor instruction is executed by lanes 0x%08x only, "
             "but it "
             "needs all 32",
             warp->mask);
    return 0;
}

enum { DOUBLE_M = 16, DOUBLE_N = 8, DOUBLE_K = 16 };

/* Position of a lane's register r in c or d of doubles, row by row. */
ALWAYS uint32_t double_place(int mma, uint32_t r, uint32_t lane)
{
    return mma ? (r >> 1) * 2 * LANES + lane * 2 + (r & 1) : r * LANES + lane;
}

/* As fma.f64: of NaNs the second factor's, then the sum's. */
ALWAYS double double_product(double a, double b, double sum)
{
    return b != b ? b + b : sum != sum ? sum + sum : __builtin_fma(a, b, sum);
}

/* mma's b has its columns in the lanes' order, wmma's its rows (tensor.h). */
static void doubles_gather(const Warp *warp, const TensorPlan *plan, double (*a)[DOUBLE_K],
                           double (*b)[DOUBLE_N])
{
    for (uint32_t r = 0; r < plan->a.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            a[lane / QUAD + PAIR_ROWS * (r & 1)][(r >> 1) * QUAD + lane % QUAD] =
                REG(const double, plan->a.slot[r])[lane];
    for (uint32_t r = 0; r < plan->b.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            double value = REG(const double, plan->b.slot[r])[lane];
            if (plan->kind == TENSOR_MMA)
                b[r * QUAD + lane % QUAD][lane / QUAD] = value;
            else
                b[lane / DOUBLE_N][lane % DOUBLE_N] = value;
        }
}

static void product_doubles(Warp *warp, const TensorPlan *plan)
{
    double sum[DOUBLE_M * DOUBLE_N], a[DOUBLE_M][DOUBLE_K], b[DOUBLE_K][DOUBLE_N];
    int mma = plan->kind == TENSOR_MMA;
    doubles_gather(warp, plan, a, b);
    for (uint32_t r = 0; r < plan->c.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum[double_place(mma, r, lane)] = REG(const double, plan->c.slot[r])[lane];
    for (uint32_t i = 0; i < plan->m * DOUBLE_N; i++)
        for (uint32_t k = 0; k < plan->k; k++)
            sum[i] = double_product(a[i / DOUBLE_N][k], b[k][i % DOUBLE_N], sum[i]);
    for (uint32_t r = 0; r < plan->d.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            REG(double, plan->d.slot[r])[lane] = sum[double_place(mma, r, lane)];
}

HANDLER(TENSOR_PRODUCT)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    if (!lanes_whole(warp, ins)) return NULL;
    warp_charge(warp, plan->m * plan->n * plan->k / PRODUCTS_CHARGED);
    if (plan->d.type == TYPE_F64)
        product_doubles(warp, plan);
    else if (plan->d.type == TYPE_S32)
        product_integers(warp, plan);
    else if (is_eighth(plan->a.type))
        product_eighths(warp, plan);
    else
        product_floats(warp, plan);
    return ins + 1;
}
