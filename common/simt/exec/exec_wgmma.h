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

enum { WARP_ROWS = 16, WGMMA_COLUMNS = 256, WGMMA_DEEP = 32, PIECE = 16 };

typedef struct Descriptor {
    uint32_t start, leading, stride, swizzle;
} Descriptor;

static int descriptor_read(Warp *warp, const Ins *ins, uint32_t slot, Descriptor *descriptor)
{
    static const uint32_t SWIZZLE[] = {0, 3, 2, 1}; /* none, 128, 64, 32 bytes */
    uint64_t bits = REG(const uint64_t, slot)[first_lane(warp->mask)];
    *descriptor = (Descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                               .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                               .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                               .swizzle = SWIZZLE[bits >> 62]};
    if ((bits >> 49 & 7) == 0) return 0;
    fault_at(warp, ins, SIMT_UNSUPPORTED, 0, 0, 0,
             "a matrix descriptor with a base offset, of a swizzle that does not begin at a "
             "multiple of its own size, is not supported");
    return -1;
}

/* Piece `j` of two (by rows), or of eight rows or columns (by columns), of row `i`: of the matrix,
 * or of k. */
ALWAYS uint32_t piece_at(const Descriptor *d, int by_column, uint32_t i, uint32_t j)
{
    uint32_t wide = 1u << d->swizzle, at;
    if (!by_column)
        at = i % 8 * PIECE * wide + i / 8 * d->stride + (d->swizzle ? j * PIECE : j * d->leading);
    else if (d->swizzle)
        at = j % wide * PIECE + j / wide * d->leading + i % 8 * PIECE * wide + i / 8 * d->stride;
    else
        at = j * d->stride + i % 8 * PIECE + i / 8 * d->leading;
    return swizzled((d->start + at) & 0x3ffff, d->swizzle);
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
            if (at + PIECE > size) {
                fault_at(warp, ins, SIMT_MEMCHECK, 0, at, PIECE,
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
            memcpy(to[i] + j * PIECE, from, PIECE);
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
            memcpy(to[lane / 4 + 8 * (r & 1)] + lane % 4 * 4 + (r >> 1) * PIECE,
                   &REG(const uint32_t, plan->a[r])[lane], 4);
}

/* ---- numbers -------------------------------------------------------------------------------- */

ALWAYS float eighth_of(uint32_t bits, TensorType type)
{
    if (type == TYPE_E5M2) return float_of(f16_to_f32(bits << 8));
    uint32_t sign = (bits & 0x80) << 24, exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f) return float_of(0x7fffffff);
    float value = exponent ? (float)(8 + fraction) * float_of((exponent + 127 - 10) << 23)
                           : (float)fraction * 0x1p-9f;
    return float_of(bits_of(value) | sign);
}

/* 32 bytes of one row as numbers. */
ALWAYS void row_numbers(const unsigned char *row, TensorType type, int negate, float *value)
{
    uint32_t each = type == TYPE_TF32 ? 1 : type == TYPE_F16 || type == TYPE_BF16 ? 2 : 4;
    for (uint32_t w = 0; w < WGMMA_K_BYTES / 4; w++) {
        uint32_t bits = read_32(row + 4 * w);
        for (uint32_t e = 0; e < each; e++) {
            float x = type >= TYPE_E4M3 ? eighth_of(bits >> 8 * e & 0xff, type)
                                        : element_of(bits, e, type);
            value[w * each + e] = negate ? -x : x;
        }
    }
}

/* Where register r of a lane lies among the warp's rows: two neighbours, then the row 8 further,
 * then the next eight columns. */
ALWAYS uint32_t result_row(uint32_t r, uint32_t lane)
{
    return lane / 4 + 8 * (r & 1);
}

ALWAYS uint32_t result_column(uint32_t r, uint32_t lane)
{
    return (r >> 1) * 8 + lane % 4 * 2;
}

/* A product as the hardware sums it (measured on an H200, bit for bit).  The exponents of the two
 * factors are added; the largest of all sums over k, and the addend's, say where the last bit of
 * all terms stands: 25 bits below, of eighths of a word 13.  Each term is cut off there, the sum is
 * exact, and what is more than the result's bits is cut off again; halves are rounded. */
enum { SUM_BITS = 25, EIGHTHS_BITS = 13 };

/* The terms of a warp.  `high` is a number's power of two; b has k outside. */
typedef struct WarpProduct {
    double sum[WARP_ROWS][WGMMA_COLUMNS];
    double b[WGMMA_DEEP][WGMMA_COLUMNS], b_high[WGMMA_DEEP][WGMMA_COLUMNS];
    double a[WARP_ROWS][WGMMA_DEEP], a_high[WARP_ROWS][WGMMA_DEEP];
    int special; /* there are infinities or NaNs */
} WarpProduct;

ALWAYS double high_of(double x)
{
    return double_of(bits_of_double(x) & 0x7ff0000000000000u);
}

static void product_begin(const Warp *warp, const WgmmaPlan *plan, int adds, WarpProduct *p)
{
    int halves = plan->d_type == TYPE_F16;
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        memset(p->sum[row], 0, plan->n * sizeof p->sum[row][0]);
    for (uint32_t r = 0; adds && r < plan->results; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t bits = REG(const uint32_t, plan->d[r])[lane], pair = halves ? r : r >> 1;
            double *to = &p->sum[result_row(pair, lane)][result_column(pair, lane)];
            if (halves)
                to[0] = element_of(bits, 0, TYPE_F16), to[1] = element_of(bits, 1, TYPE_F16);
            else
                to[r & 1] = plan->d_type == TYPE_S32 ? (double)(int32_t)bits : float_of(bits);
            p->special |= !(to[0] - to[0] == 0) | !(to[1] - to[1] == 0);
        }
}

typedef int32_t Whole __attribute__((vector_size(8 * sizeof(int32_t))));
typedef int64_t Wide __attribute__((vector_size(8 * sizeof(int64_t))));

ALWAYS void columns_raise(Columns *to, const Columns *by)
{
    Wide more = *by > *to;
    *to = (Columns)(((Wide)*by & more) | ((Wide)*to & ~more));
}

/* Adds to eight columns of a row. */
ALWAYS void columns_add(WarpProduct *p, uint32_t i, uint32_t j, uint32_t deep, double unit)
{
    const Columns *b = (const Columns *)(const void *)&p->b[0][j],
                  *b_high = (const Columns *)(const void *)&p->b_high[0][j];
    const uint32_t next = WGMMA_COLUMNS / COLUMNS;
    Columns *to = (Columns *)(void *)&p->sum[i][j], high, sum;
    for (uint32_t c = 0; c < COLUMNS; c++)
        high[c] = high_of((*to)[c]) + 0x1p-400;
    for (uint32_t k = 0; k < deep; k++) {
        Columns term = p->a_high[i][k] * b_high[k * next];
        columns_raise(&high, &term);
    }
    Columns scale = unit / high;
    sum = __builtin_convertvector(__builtin_convertvector(*to * scale, Whole), Columns);
    for (uint32_t k = 0; k < deep; k++)
        sum += __builtin_convertvector(
            __builtin_convertvector(p->a[i][k] * b[k * next] * scale, Whole), Columns);
    *to = sum / scale;
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
    double unit = plan->a_type >= TYPE_E4M3 ? (double)(1 << EIGHTHS_BITS) : (double)(1 << SUM_BITS);
    for (uint32_t i = 0; i < WARP_ROWS; i++)
        for (uint32_t j = 0; j < plan->n; j += COLUMNS) {
            double special[COLUMNS];
            for (uint32_t c = 0; p->special && c < COLUMNS; c++)
                special[c] = special_sum(p, i, j + c, plan->k);
            columns_add(p, i, j, plan->k, unit);
            for (uint32_t c = 0; p->special && c < COLUMNS; c++)
                if (special[c] - special[c] != 0) p->sum[i][j + c] = special[c];
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

static void product_end(Warp *warp, const WgmmaPlan *plan, const WarpProduct *p)
{
    int halves = plan->d_type == TYPE_F16;
    for (uint32_t r = 0; r < plan->results; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t *d = &REG(uint32_t, plan->d[r])[lane], pair = halves ? r : r >> 1;
            const double *from = &p->sum[result_row(pair, lane)][result_column(pair, lane)];
            if (plan->d_type == TYPE_S32)
                *d = whole_result(from[r & 1], plan->saturate);
            else if (!halves)
                *d = float_result(from[r & 1], plan->a_type >= TYPE_E4M3);
            else
                *d = f32_to_f16(bits_of(canonical((float)from[0])), ROUND_N) |
                     f32_to_f16(bits_of(canonical((float)from[1])), ROUND_N) << 16;
        }
}

static void factors_place(const WgmmaPlan *plan, unsigned char (*a)[WGMMA_K_BYTES],
                          unsigned char (*b)[WGMMA_K_BYTES], WarpProduct *p)
{
    float row[WGMMA_DEEP];
    double most = 0;
    for (uint32_t i = 0; i < WARP_ROWS; i++) {
        row_numbers(a[i], plan->a_type, plan->negate_a, row);
        for (uint32_t k = 0; k < plan->k; k++)
            p->a[i][k] = row[k], p->a_high[i][k] = high_of(row[k]), most += p->a_high[i][k];
    }
    for (uint32_t j = 0; j < plan->n; j++) {
        row_numbers(b[j], plan->b_type, plan->negate_b, row);
        for (uint32_t k = 0; k < plan->k; k++)
            p->b[k][j] = row[k], p->b_high[k][j] = high_of(row[k]), most += p->b_high[k][j];
    }
    p->special = !(most < 0x1p1000);
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
    Descriptor descriptor;
    if (!warpgroup_whole(warp, ins)) return NULL;
    int adds = (PREDICATE(plan->scale_d) & 1) != 0;
    if (plan->factors)
        factor_registers(warp, plan, a);
    else if (descriptor_read(warp, ins, plan->a[0], &descriptor) != 0 ||
             factor_load(warp, ins, &descriptor, plan->transposed_a, warp->index % 4 * WARP_ROWS,
                         WARP_ROWS, a) != 0)
        return NULL;
    if (descriptor_read(warp, ins, plan->b, &descriptor) != 0 ||
        factor_load(warp, ins, &descriptor, plan->transposed_b, 0, plan->n, b) != 0)
        return NULL;
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
