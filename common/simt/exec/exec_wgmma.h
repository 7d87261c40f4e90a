/* exec_wgmma.h - products of a warpgroup; included by exec_body.h.
 *
 * Each warp works out its own sixteen rows, at once.  On a card the product is under way until
 * wgmma.wait_group: until then nobody may read or write its registers.  Instructions that have to
 * do with such registers are found when the kernel is decoded (wgmma_touch.c), and look here
 * whether they come too early.  Moves do not count: ptxas makes none of those that nvcc writes
 * around an asm statement.
 *
 * Descriptors are those of the PTX ISA, "Matrix Descriptor Format"; all is counted in pieces of 16
 * bytes.  By rows (K-major) eight rows are a block as wide as the swizzle, and the stride offset
 * leads to the next eight.  By columns (MN-major) eight values of k are one. */

enum { WARP_ROWS = 16, WGMMA_COLUMNS = 256, WGMMA_DEEP = 32 };

typedef struct Descriptor {
    uint32_t start, leading, stride, swizzle;
    uint32_t base; /* where the swizzle's pattern begins, behind a multiple of 1024 */
} Descriptor;

static Descriptor descriptor_read(const Warp *warp, uint32_t slot)
{
    static const uint32_t SWIZZLE[] = {0, 3, 2, 1}; /* none, 128, 64, 32 bytes */
    uint64_t bits = REG(const uint64_t, slot)[first_lane(warp->mask)];
    return (Descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                        .swizzle = SWIZZLE[bits >> 62],
                        .base = (uint32_t)(bits >> 49 & 7) << 7};
}

/* Piece `j` of two (by rows), or of eight rows or columns (by columns), of row `i`: of the matrix,
 * or of k. */
ALWAYS uint32_t piece_at(const Descriptor *d, int by_column, uint32_t i, uint32_t j)
{
    uint32_t wide = 1u << d->swizzle, at;
    if (!by_column)
        at = i % 8 * PIECE_BYTES * wide + i / 8 * d->stride +
             (d->swizzle ? j * PIECE_BYTES : j * d->leading);
    else if (d->swizzle)
        at = j % wide * PIECE_BYTES + j / wide * d->leading + i % 8 * PIECE_BYTES * wide +
             i / 8 * d->stride;
    else
        at = j * d->stride + i % 8 * PIECE_BYTES + i / 8 * d->leading;
    at = (d->start + at) & 0x3ffff;
    return at ^ swizzled(at - d->base, d->swizzle) ^ (at - d->base);
}

/* `rows` rows of a factor from row `first` on, 32 bytes each. */
static int factor_load(Warp *warp, const Ins *ins, const Descriptor *d, int by_column,
                       uint32_t first, uint32_t rows, unsigned char (*to)[WGMMA_K_BYTES])
{
    uint32_t piece[WGMMA_COLUMNS * 2], count = 0;
    uint32_t outer = by_column ? WGMMA_K_BYTES / 2 : rows, inner = by_column ? rows / 8 : 2,
             size = warp->block->shared_bytes;
    for (uint32_t i = 0; i < outer; i++)
        for (uint32_t j = 0; j < inner; j++) {
            uint32_t at =
                by_column ? piece_at(d, 1, i, j + first / 8) : piece_at(d, 0, i + first, j);
            if (at + PIECE_BYTES > size) {
                fault_at(warp, ins, SIMT_MEMCHECK, 0, at, PIECE_BYTES,
                         "wgmma reads shared memory at offset 0x%x, outside the block's %u bytes: "
                         "its matrix descriptor starts at 0x%x with a leading offset of %u and a "
                         "stride offset of %u bytes",
                         at, size, d->start, d->leading, d->stride);
                return -1;
            }
            piece[count++] = at;
        }
    if ((warp->worker->initcheck || warp->worker->racecheck) &&
        pieces_check(warp, ins, 0, piece, count, 0) != 0)
        return -1;
    for (uint32_t p = 0; p < count; p++) {
        const unsigned char *from = warp->block->shared + piece[p];
        uint32_t i = p / inner, j = p % inner;
        if (!by_column)
            memcpy(to[i] + j * PIECE_BYTES, from, PIECE_BYTES);
        else
            for (uint32_t e = 0; e < 8; e++)
                memcpy(to[j * 8 + e] + i * 2, from + e * 2, 2);
    }
    return 0;
}

static void factor_registers(const Warp *warp, const WgmmaPlan *plan,
                             unsigned char (*to)[WGMMA_K_BYTES])
{
    for (uint32_t r = 0; r < WGMMA_FACTORS; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy(to[lane / 4 + 8 * (r & 1)] + lane % 4 * 4 + (r >> 1) * PIECE_BYTES,
                   &REG(const uint32_t, plan->a[r])[lane], 4);
}

/* ---- numbers -------------------------------------------------------------------------------- */

ALWAYS float eighth_of(uint32_t bits, TensorType type)
{
    if (type == TYPE_E5M2) return float_of(f16_to_f32(bits << 8));
    return e4m3_value(bits);
}

/* 32 bytes of one row as numbers. */
ALWAYS void row_numbers_of(const unsigned char *row, TensorType type, float *value)
{
    uint32_t each = type == TYPE_TF32 ? 1 : type == TYPE_F16 || type == TYPE_BF16 ? 2 : 4;
    for (uint32_t w = 0; w < WGMMA_K_BYTES / 4; w++) {
        uint32_t bits = read_32(row + 4 * w);
        for (uint32_t e = 0; e < each; e++)
            value[w * each + e] = type >= TYPE_E4M3 ? eighth_of(bits >> 8 * e & 0xff, type)
                                                    : element_of(bits, e, type);
    }
}

static void row_numbers(const unsigned char *row, TensorType type, int negate, float *value)
{
    switch (type) {
#define NUMBERS(T)                                                                                 \
    case T:                                                                                        \
        row_numbers_of(row, T, value);                                                             \
        break
        NUMBERS(TYPE_F16);
        NUMBERS(TYPE_BF16);
        NUMBERS(TYPE_TF32);
        NUMBERS(TYPE_S8);
        NUMBERS(TYPE_U8);
        NUMBERS(TYPE_E4M3);
        NUMBERS(TYPE_E5M2);
#undef NUMBERS
    case TYPE_F64: /* no factors of wgmma */
    case TYPE_F32:
    case TYPE_S32:
        return;
    }
    for (uint32_t i = 0; negate && i < WGMMA_DEEP; i++)
        value[i] = -value[i];
}

/* Of each two registers, `pair` of them, a lane has neighbours of a row: four lanes have eight
 * columns of one, then comes the next row, with the next pair the row 8 further. */
enum { PAIR_ROWS = 8, QUAD = 4 };

ALWAYS uint32_t pair_row(uint32_t pair)
{
    return pair % 2 * PAIR_ROWS;
}

ALWAYS uint32_t pair_column(uint32_t pair)
{
    return pair / 2 * 2 * QUAD;
}

/* A product as the hardware sums it (measured on an H200, bit for bit).  The exponents of the two
 * factors are added; the largest of all sums over k, and the addend's, say where the last bit of
 * all terms stands: 25 bits below, of eighths of a word 13.  Each term is cut off there, the sum is
 * exact, and what is more than the result's bits is cut off again; halves are rounded. */
enum { SUM_BITS = 25, EIGHTHS_BITS = 13 };

/* Exponents: what doubles add to them; of zero, less than of any other sum; the least that is
 * looked at. */
enum { EXPONENT_BIAS = 1023, EXPONENT_OF_ZERO = -8192, EXPONENT_LEAST = -400 };

/* The terms of a warp; b has k outside. */
typedef struct WarpProduct {
    double sum[WARP_ROWS][WGMMA_COLUMNS];
    double a[WARP_ROWS][WGMMA_DEEP], b[WGMMA_DEEP][WGMMA_COLUMNS];
    int16_t a_exponent[WARP_ROWS][WGMMA_DEEP], b_exponent[WGMMA_DEEP][WGMMA_COLUMNS];
    int special; /* there are infinities or NaNs among the factors */
} WarpProduct;

/* 1 where there are infinities or NaNs. */
ALWAYS int exponents_of(const double *x, uint32_t count, int16_t *exponent)
{
    int16_t most = EXPONENT_OF_ZERO;
    for (uint32_t c = 0; c < count; c++) {
        int16_t bits = (int16_t)(bits_of_double(x[c]) >> 52 & 0x7ff);
        exponent[c] = (int16_t)(bits ? bits - EXPONENT_BIAS : EXPONENT_OF_ZERO);
        most = most > exponent[c] ? most : exponent[c];
    }
    return most > EXPONENT_BIAS;
}

/* Two to the power of `exponent`. */
ALWAYS double power_of_two(int exponent)
{
    return double_of((uint64_t)(int64_t)(EXPONENT_BIAS + exponent) << 52);
}

ALWAYS double addend_of(uint32_t bits, uint32_t e, TensorType type)
{
    return type == TYPE_S32 ? (double)(int32_t)bits : element_of(bits, e, type);
}

ALWAYS void addends_gather(const Warp *warp, const WgmmaPlan *plan, TensorType type, WarpProduct *p)
{
    int halves = type == TYPE_F16;
    for (uint32_t r = 0; r < plan->n / 4; r++) {
        const uint32_t *low = REG(const uint32_t, plan->d[halves ? r : r * 2]),
                       *high = halves ? low : REG(const uint32_t, plan->d[r * 2 + 1]);
        for (uint32_t row = 0; row < PAIR_ROWS; row++, low += QUAD, high += QUAD) {
            double *to = &p->sum[pair_row(r) + row][pair_column(r)];
            for (uint32_t i = 0; i < QUAD; i++) {
                to[i * 2] = addend_of(low[i], 0, type);
                to[i * 2 + 1] = addend_of(high[i], halves, type);
            }
        }
    }
}

static void product_begin(const Warp *warp, const WgmmaPlan *plan, int adds, WarpProduct *p)
{
    for (uint32_t row = 0; row < WARP_ROWS && !adds; row++)
        memset(p->sum[row], 0, plan->n * sizeof p->sum[row][0]);
    if (!adds) return;
    if (plan->d_type == TYPE_F16)
        addends_gather(warp, plan, TYPE_F16, p);
    else if (plan->d_type == TYPE_S32)
        addends_gather(warp, plan, TYPE_S32, p);
    else
        addends_gather(warp, plan, TYPE_F32, p);
}

/* The largest exponent of each sum's terms, from the addend's on. */
static void row_heights(const WarpProduct *p, uint32_t i, const WgmmaPlan *plan, int16_t *height)
{
    for (uint32_t j = 0; j < plan->n; j++)
        height[j] = height[j] > EXPONENT_LEAST ? height[j] : EXPONENT_LEAST;
    for (uint32_t k = 0; k < plan->k; k++)
        for (uint32_t j = 0; j < plan->n; j++) {
            int16_t term = (int16_t)(p->a_exponent[i][k] + p->b_exponent[k][j]);
            height[j] = height[j] > term ? height[j] : term;
        }
}

/* Cuts off what is behind the point. */
ALWAYS void columns_cut(Columns *x)
{
#ifdef __AVX512F__
    *x = (Columns)_mm512_roundscale_pd((__m512d)*x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    const double most = INT32_MAX; /* what is beyond, or no number, gets its sum later */
    for (uint32_t c = 0; c < COLUMNS; c++) {
        double within = (*x)[c] < most ? (*x)[c] : most;
        within = within > -most ? within : -most;
        (*x)[c] = (double)(int32_t)within;
    }
#endif
}

/* Adds to eight columns of a row. */
ALWAYS void columns_add(WarpProduct *p, uint32_t i, uint32_t j, uint32_t deep, int bits,
                        const int16_t *height)
{
    Columns *to = (Columns *)(void *)&p->sum[i][j], scale, back;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        scale[c] = power_of_two(bits - height[j + c]);
        back[c] = power_of_two(height[j + c] - bits);
    }
    Columns sum = *to * scale;
    columns_cut(&sum);
    for (uint32_t k = 0; k < deep; k++) {
        Columns term = p->a[i][k] * *(const Columns *)(const void *)&p->b[k][j] * scale;
        columns_cut(&term);
        sum += term;
    }
    *to = sum * back;
}

/* Infinities and NaNs have no place where the last bit stands. */
static double special_sum(const WarpProduct *p, uint32_t i, uint32_t j, uint32_t deep)
{
    double sum = p->sum[i][j];
    for (uint32_t k = 0; k < deep; k++)
        sum += p->a[i][k] * p->b[k][j];
    return sum;
}

static void product_floats_add(const WgmmaPlan *plan, WarpProduct *p)
{
    int bits = plan->a_type >= TYPE_E4M3 ? EIGHTHS_BITS : SUM_BITS;
    for (uint32_t i = 0; i < WARP_ROWS; i++) {
        double special[WGMMA_COLUMNS];
        int16_t height[WGMMA_COLUMNS];
        int any = exponents_of(p->sum[i], plan->n, height) | p->special;
        row_heights(p, i, plan, height);
        for (uint32_t j = 0; any && j < plan->n; j++)
            special[j] = special_sum(p, i, j, plan->k);
        for (uint32_t j = 0; j < plan->n; j += COLUMNS)
            columns_add(p, i, j, plan->k, bits, height);
        for (uint32_t j = 0; any && j < plan->n; j++)
            if (special[j] - special[j] != 0) p->sum[i][j] = special[j];
    }
}

static void product_wholes_add(const WgmmaPlan *plan, WarpProduct *p)
{
    for (uint32_t i = 0; i < WARP_ROWS; i++)
        for (uint32_t j = 0; j < plan->n; j += COLUMNS) {
            Columns *to = (Columns *)(void *)&p->sum[i][j], total = *to;
            for (uint32_t k = 0; k < plan->k; k++)
                total += p->a[i][k] * *(const Columns *)(const void *)&p->b[k][j];
            *to = total;
        }
}

ALWAYS uint32_t whole_result(double sum, int saturate)
{
    int64_t s = (int64_t)sum;
    if (saturate) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
    return (uint32_t)s;
}

/* Cut off, not rounded. */
ALWAYS uint32_t float_result(double sum, int eighths)
{
    if (eighths && sum == sum)
        sum = double_of(bits_of_double(sum) & ~((1ull << (52 - EIGHTHS_BITS)) - 1));
    float f = canonical((float)sum);
    return bits_of(f) - (uint32_t)(fabs((double)f) > fabs(sum));
}

/* A row's sums as the registers' words: two neighbours of halves are one. */
static void row_results(const WgmmaPlan *plan, const double *sum, uint32_t *word)
{
    uint32_t n = plan->n;
    if (plan->d_type == TYPE_S32)
        for (uint32_t j = 0; j < n; j++)
            word[j] = whole_result(sum[j], plan->saturate);
    else if (plan->d_type == TYPE_F16)
        for (uint32_t j = 0; j < n; j++)
            word[j] = f32_to_f16(bits_of(canonical((float)sum[j])), ROUND_N);
    else if (plan->a_type >= TYPE_E4M3)
        for (uint32_t j = 0; j < n; j++)
            word[j] = float_result(sum[j], 1);
    else
        for (uint32_t j = 0; j < n; j++)
            word[j] = float_result(sum[j], 0);
}

static void product_end(Warp *warp, const WgmmaPlan *plan, const WarpProduct *p)
{
    uint32_t word[WARP_ROWS][WGMMA_COLUMNS];
    int halves = plan->d_type == TYPE_F16;
    for (uint32_t i = 0; i < WARP_ROWS; i++)
        row_results(plan, p->sum[i], word[i]);
    for (uint32_t r = 0; r < plan->n / 4; r++) {
        uint32_t *low = REG(uint32_t, plan->d[halves ? r : r * 2]),
                 *high = halves ? low : REG(uint32_t, plan->d[r * 2 + 1]);
        for (uint32_t row = 0; row < PAIR_ROWS; row++, low += QUAD, high += QUAD) {
            const uint32_t *from = &word[pair_row(r) + row][pair_column(r)];
            for (uint32_t i = 0; i < QUAD && halves; i++)
                low[i] = from[i * 2] | from[i * 2 + 1] << 16;
            for (uint32_t i = 0; i < QUAD && !halves; i++)
                low[i] = from[i * 2], high[i] = from[i * 2 + 1];
        }
    }
}

static void factors_place(const WgmmaPlan *plan, unsigned char (*a)[WGMMA_K_BYTES],
                          unsigned char (*b)[WGMMA_K_BYTES], WarpProduct *p)
{
    float row[WGMMA_DEEP] = {0};
    p->special = 0;
    for (uint32_t i = 0; i < WARP_ROWS; i++) {
        row_numbers(a[i], plan->a_type, plan->negate_a, row);
        for (uint32_t k = 0; k < plan->k; k++)
            p->a[i][k] = row[k];
        p->special |= exponents_of(p->a[i], plan->k, p->a_exponent[i]);
    }
    for (uint32_t j = 0; j < plan->n; j++) {
        row_numbers(b[j], plan->b_type, plan->negate_b, row);
        for (uint32_t k = 0; k < plan->k; k++)
            p->b[k][j] = row[k];
    }
    for (uint32_t k = 0; k < plan->k; k++)
        p->special |= exponents_of(p->b[k], plan->n, p->b_exponent[k]);
}

/* ---- the warpgroup -------------------------------------------------------------------------- */

/* All lanes, of four warps that there are. */
static int warpgroup_whole(Warp *warp, const Ins *ins)
{
    if (!lanes_whole(warp, ins)) return 0;
    if (warp->index / 4 * 4 + 4 <= warp->block->warps) return 1;
    fault_at(warp, ins, SIMT_SYNCCHECK, 0, 0, 0,
             "A warpgroup is four warps, from warp %u on, but the block has %u",
             warp->index / 4 * 4, warp->block->warps);
    return 0;
}

/* For registers of a product that were written and not fenced. */
static void fence_check(Warp *warp, const Ins *ins, const WgmmaPlan *plan, int adds)
{
    const uint16_t *number = warp->worker->kernel->wgmma_register;
    uint32_t now = warp->wgmma_fences + 1, missing = 0;
    for (uint32_t r = 0; r < plan->factors; r++)
        missing |= warp->wgmma_written[number[plan->a[r] / (LANES * 4)]] == now;
    for (uint32_t r = 0; adds && r < plan->results; r++)
        missing |= warp->wgmma_written[number[plan->d[r] / (LANES * 4)]] == now;
    if (!missing) return;
    finding_add(warp, ins, SIMT_SYNCCHECK, 0, 0, 0,
                "Barrier error: wgmma.fence is missing: this product's registers were written "
                "after the last one, or there was none");
}

static void group_note(Warp *warp, const WgmmaPlan *plan)
{
    const uint16_t *number = warp->worker->kernel->wgmma_register;
    uint32_t group = (warp->wgmma_group + 1) * 2;
    for (uint32_t r = 0; r < plan->results; r++) {
        warp->wgmma_register[number[plan->d[r] / (LANES * 4)]] = group;
        warp->wgmma_written[number[plan->d[r] / (LANES * 4)]] = 0;
    }
    for (uint32_t r = 0; r < plan->factors; r++)
        warp->wgmma_register[number[plan->a[r] / (LANES * 4)]] = group + 1;
}

HANDLER(WGMMA)
{
    const WgmmaPlan *plan = &warp->worker->kernel->wgmma[ins->aux];
    unsigned char a[WARP_ROWS][WGMMA_K_BYTES], b[WGMMA_COLUMNS][WGMMA_K_BYTES];
    WarpProduct product;
    if (!warpgroup_whole(warp, ins)) return NULL;
    warp_charge(warp, WARP_ROWS * plan->n * plan->k / PRODUCTS_CHARGED);
    int adds = (PREDICATE(plan->scale_d) & 1) != 0;
    Descriptor of_b = descriptor_read(warp, plan->b);
    if (plan->factors) {
        factor_registers(warp, plan, a);
    } else {
        Descriptor of_a = descriptor_read(warp, plan->a[0]);
        if (factor_load(warp, ins, &of_a, plan->transposed_a, warp->index % 4 * WARP_ROWS,
                        WARP_ROWS, a) != 0)
            return NULL;
    }
    if (factor_load(warp, ins, &of_b, plan->transposed_b, 0, plan->n, b) != 0) return NULL;
    fence_check(warp, ins, plan, adds);
    factors_place(plan, a, b, &product);
    product_begin(warp, plan, adds, &product);
    if (plan->d_type == TYPE_S32)
        product_wholes_add(plan, &product);
    else
        product_floats_add(plan, &product);
    product_end(warp, plan, &product);
    group_note(warp, plan);
    warp->wgmmas++, warp->wgmma_ins = ins;
    return ins + 1;
}

HANDLER(WGMMA_FENCE)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    warp->wgmma_fences++;
    return ins + 1;
}

HANDLER(WGMMA_COMMIT)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    warp->wgmma_group++;
    return ins + 1;
}

HANDLER(WGMMA_WAIT)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    uint32_t left = ins->aux < warp->wgmma_group ? ins->aux : warp->wgmma_group;
    uint32_t landed = warp->wgmma_group - left;
    if (landed > warp->wgmma_landed) warp->wgmma_landed = landed;
    return ins + 1;
}

/* ---- instructions that have to do with a product's registers -------------------------------- */

ALWAYS uint32_t register_number(const Warp *warp, uint32_t slot)
{
    const SimtKernel *kernel = warp->worker->kernel;
    return slot < kernel->file_bytes ? kernel->wgmma_register[slot / (LANES * 4)] : 0;
}

/* What a factor is made of may be read meanwhile. */
static int is_in_flight(const Warp *warp, uint32_t number, int writes)
{
    uint32_t group = warp->wgmma_register[number];
    return group / 2 > warp->wgmma_landed && (writes || group % 2 == 0);
}

/* A move hands on what its source is. */
static int touch_move(Warp *warp, const Ins *ins)
{
    if (ins->op != OP_MOV_32) return 0;
    uint32_t to = register_number(warp, ins->d), from = register_number(warp, ins->a);
    warp->wgmma_register[to] = from ? warp->wgmma_register[from] : 0;
    warp->wgmma_written[to] = from ? warp->wgmma_written[from] : 0;
    return 1;
}

HANDLER(WGMMA_TOUCH)
{
    const uint32_t slot[] = {ins->a,    ins->b,    ins->c,    ins->d,
                             ins->v[0], ins->v[1], ins->v[2], ins->v[3]};
    Handler inner = ins->guard == NO_SLOT ? ins->inner : h_GUARDED;
    if (touch_move(warp, ins)) return inner(warp, ins);
    for (uint32_t i = 0; i < sizeof slot / sizeof *slot; i++) {
        uint32_t number = register_number(warp, slot[i]);
        int stores = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE,
            writes = i >= 3 && !stores;
        if (!number) continue;
        if (is_in_flight(warp, number, writes)) {
            warp->wgmma_register[number] = 0;
            finding_add(warp, ins, SIMT_SYNCCHECK, 0, 0, 0,
                        "Barrier error: this instruction uses a register of a wgmma that is still "
                        "under way: wgmma.wait_group is missing before it");
        }
        if (writes) warp->wgmma_written[number] = warp->wgmma_fences + 1;
    }
    return inner(warp, ins);
}
