/* exec_wgmma.h - MMA of a warpgroup (wgmma); included by exec_body.h.
 *
 * Each warp computes its own sixteen rows immediately. On a GPU, the MMA is in flight until
 * wgmma.wait_group, and no instruction may read or write its registers until then. Instructions
 * that access such registers are found when the kernel is decoded (wgmma_touch.c), and check here
 * whether they execute too early. Moves do not count, because ptxas removes the moves that nvcc
 * writes around an asm statement.
 *
 * Descriptors are those of the PTX ISA, "Matrix Descriptor Format"; all sizes are in units of 16
 * bytes. In K-major layout, eight rows form a block as wide as the swizzle, and the stride offset
 * leads to the next eight. In MN-major layout, eight values of k form a block. */

enum { WARP_ROWS = 16, WGMMA_COLUMNS = 256 };

typedef struct Descriptor {
    uint32_t start, leading, stride, swizzle;
    uint32_t base; /* start of the swizzle's pattern, modulo 1024 */
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

/* Position of 16-byte chunk `j` of row `i`: the row belongs to the matrix (K-major) or to k
 * (MN-major). */
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
    if ((warp->worker->initcheck || warp->worker->race.is_on) &&
        pieces_check(warp, ins, 0, piece, count, 0) != 0)
        return -1;
    if (warp->worker->race.is_on) race_product_reads(warp, ins, piece, count);
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

/* 32 bytes of one row as numbers. */
ALWAYS void row_numbers_of(const unsigned char *row, TensorType type, float *value)
{
    uint32_t each = type_elements(type);
    for (uint32_t w = 0; w < WGMMA_K_BYTES / 4; w++) {
        uint32_t bits = read_32(row + 4 * w);
        for (uint32_t e = 0; e < each; e++)
            value[w * each + e] = element_of(bits, e, type);
    }
}

static void row_numbers(const unsigned char *row, TensorType type, uint32_t deep, int negate,
                        float *value)
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
    case TYPE_S4:
    case TYPE_U4:
    case TYPE_B1:
    case TYPE_F32:
    case TYPE_S32:
        return;
    }
    for (uint32_t i = 0; negate && i < deep; i++)
        value[i] = -value[i];
}

/* Rows of a are stored across, columns of b along. */
static void factors_place(const WgmmaPlan *plan, unsigned char (*a)[WGMMA_K_BYTES],
                          unsigned char (*b)[WGMMA_K_BYTES], Sums *s)
{
    for (uint32_t i = 0; i < WARP_ROWS; i++) {
        float row[SUM_DEEP];
        row_numbers(a[i], plan->a_type, plan->k, plan->negate_a, row);
        for (uint32_t k = 0; k < plan->k; k++)
            s->across[k * WARP_ROWS + i] = row[k];
    }
    for (uint32_t j = 0; j < plan->n; j++)
        row_numbers(b[j], plan->b_type, plan->k, plan->negate_b, s->along + j * plan->k);
}

static void warp_product(Warp *warp, const WgmmaPlan *plan, int adds, Sums *s)
{
    int halves = plan->d_type == TYPE_F16, eighths = is_eighth(plan->a_type);
    s->wide = WARP_ROWS, s->narrow = plan->n, s->deep = s->step = plan->k;
    s->bits = eighths ? EIGHTHS_BITS : SUM_BITS;
    s->least_across = least_exponent(plan->a_type), s->least_along = least_exponent(plan->b_type);
    s->least_addend = least_exponent(plan->d_type);
    s->result = halves ? SUM_HALVES : eighths ? SUM_EIGHTHS : SUM_FLOATS;
    if (!adds)
        memset(s->sum, 0, plan->n * WARP_ROWS * sizeof *s->sum);
    else
        addends_gather(warp, plan->d, plan->n, halves, s);
    if (plan->d_type == TYPE_S32)
        sums_add_wholes(s, plan->saturate);
    else
        sums_add(s);
    results_scatter(warp, plan->d, plan->n, halves, s);
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

/* Checks for accumulator registers that were written without a fence.  The first wgmma of a warp
 * needs one, whatever it uses. */
static void fence_check(Warp *warp, const Ins *ins, const WgmmaPlan *plan, int adds)
{
    const uint16_t *number = warp->worker->kernel->plans.wgmma_register;
    uint32_t now = warp->wgmma.fences + 1, missing = !warp->wgmma.fences;
    for (uint32_t r = 0; r < plan->factors; r++)
        missing |= warp->wgmma.written[number[plan->a[r] / (LANES * 4)]] == now;
    for (uint32_t r = 0; adds && r < plan->results; r++)
        missing |= warp->wgmma.written[number[plan->d[r] / (LANES * 4)]] == now;
    if (!missing) return;
    finding_add(warp, ins, SIMT_SYNCCHECK, 0, 0, 0,
                "Barrier error: wgmma.fence is missing: the registers of this wgmma were written "
                "after the last fence, or there was none");
}

static void group_note(Warp *warp, const WgmmaPlan *plan)
{
    const uint16_t *number = warp->worker->kernel->plans.wgmma_register;
    uint32_t group = (warp->wgmma.group + 1) * 2;
    for (uint32_t r = 0; r < plan->results; r++) {
        warp->wgmma.in_flight[number[plan->d[r] / (LANES * 4)]] = group;
        warp->wgmma.written[number[plan->d[r] / (LANES * 4)]] = 0;
        warp->wgmma.added[number[plan->d[r] / (LANES * 4)]] = warp->wgmma.fences + 1;
    }
    for (uint32_t r = 0; r < plan->factors; r++)
        warp->wgmma.in_flight[number[plan->a[r] / (LANES * 4)]] = group + 1;
}

HANDLER(WGMMA)
{
    const WgmmaPlan *plan = &warp->worker->kernel->plans.wgmma[ins->aux];
    unsigned char a[WARP_ROWS][WGMMA_K_BYTES], b[WGMMA_COLUMNS][WGMMA_K_BYTES];
    Sums sums;
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
    factors_place(plan, a, b, &sums);
    warp_product(warp, plan, adds, &sums);
    group_note(warp, plan);
    warp->wgmma.count++, warp->wgmma.ins = ins;
    return ins + 1;
}

HANDLER(WGMMA_FENCE)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    warp->wgmma.fences++;
    return ins + 1;
}

HANDLER(WGMMA_COMMIT)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    warp->wgmma.group++;
    return ins + 1;
}

HANDLER(WGMMA_WAIT)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    uint32_t left = ins->aux < warp->wgmma.group ? ins->aux : warp->wgmma.group;
    uint32_t landed = warp->wgmma.group - left;
    if (landed > warp->wgmma.landed) warp->wgmma.landed = landed;
    return ins + 1;
}

/* ---- instructions that access the registers of an MMA --------------------------------------- */

ALWAYS uint32_t register_number(const Warp *warp, uint32_t slot)
{
    const SimtKernel *kernel = warp->worker->kernel;
    return slot < kernel->file_bytes ? kernel->plans.wgmma_register[slot / (LANES * 4)] : 0;
}

/* Input fragments in registers may be read while the MMA is in flight. */
static int is_in_flight(const Warp *warp, uint32_t number, int writes)
{
    uint32_t group = warp->wgmma.in_flight[number];
    return group / 2 > warp->wgmma.landed && (writes || group % 2 == 0);
}

/* A move copies the state of its source register.  A constant, such as the zeros of the next tile,
 * is a write since the last wgmma that added to the register.  It is no write since the last fence,
 * because nvcc may place the constants of correct code after the fence. */
static int touch_move(Warp *warp, const Ins *ins)
{
    if (ins->op != OP_MOV_32) return 0;
    uint32_t to = register_number(warp, ins->d), from = register_number(warp, ins->a);
    warp->wgmma.in_flight[to] = from ? warp->wgmma.in_flight[from] : 0;
    warp->wgmma.written[to] = from ? warp->wgmma.written[from] : warp->wgmma.added[to];
    if (from) warp->wgmma.added[to] = warp->wgmma.added[from];
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
            warp->wgmma.in_flight[number] = 0;
            finding_add(warp, ins, SIMT_SYNCCHECK, 0, 0, 0,
                        "Barrier error: this instruction uses a register of a wgmma that is still "
                        "in flight: wgmma.wait_group is missing before it");
        }
        if (writes) warp->wgmma.written[number] = warp->wgmma.fences + 1;
    }
    return inner(warp, ins);
}
