/* exec_sparse.h - sparse MMAs: the first matrix stores two of four elements (of TF32, one of two),
 * and metadata give their positions; included by exec_body.h.
 *
 * A tensor core sums only the terms of stored elements. With finite values, this equals a dense MMA
 * with zeros for the missing elements; an infinity that is multiplied by a missing element has no
 * effect. */

enum { SPARSE_ROWS = 16, SPARSE_STORED = 64, SPARSE_DEEP = 128 };

typedef struct Sparse {
    uint32_t stored; /* stored elements of a row */
    float a[SPARSE_ROWS * SPARSE_STORED], b[SPARSE_DEEP * MMA_COLUMNS];
    uint8_t at[SPARSE_ROWS][SPARSE_STORED]; /* which row of b goes with each */
} Sparse;

/* Sixteen bits of a row's metadata, starting with part 0. With halves and TF32, a lane has the
 * metadata of rows i and i + 8; with bytes, it has 32 bits of one of the rows. */
static uint32_t metadata_piece(const Warp *warp, const TensorPlan *plan, uint32_t row,
                               uint32_t piece)
{
    uint32_t first = row % PAIR_ROWS * QUAD + plan->selector * metadata_lanes(plan),
             lower = row / PAIR_ROWS, lane = first + piece, part = lower;
    if (type_elements(plan->a.type) > 2) lane = first + piece / 2 * 2 + lower, part = piece % 2;
    return REG(const uint32_t, plan->metadata)[lane] >> 16 * part & 0xffff;
}

/* The row of b for stored element i, according to its 16 bits of the metadata. */
static uint32_t sparse_place(TensorType type, uint32_t i, uint32_t piece)
{
    if (type == TYPE_TF32) return i * 2 + (piece >> (4 * i % 16 + 1) & 1);
    if (type == TYPE_S4 || type == TYPE_U4)
        return (i / 4 * 4 + (piece >> i / 2 * 2 % 16 & 3)) * 2 + i % 2;
    return i / 2 * 4 + (piece >> 2 * i % 16 & 3);
}

static void sparse_gather(const Warp *warp, const TensorPlan *plan, Sparse *f)
{
    TensorPlan half = *plan;
    uint32_t bits = plan->a.type == TYPE_TF32 ? 4 : type_elements(plan->a.type) == 8 ? 1 : 2;
    half.k /= 2;
    f->stored = half.k;
    factor_gather(warp, &half, 0, f->a);
    factor_gather(warp, plan, 1, f->b);
    for (uint32_t row = 0; row < SPARSE_ROWS; row++)
        for (uint32_t i = 0; i < f->stored; i++)
            f->at[row][i] = (uint8_t)sparse_place(plan->a.type, i,
                                                  metadata_piece(warp, plan, row, i * bits / 16));
}

/* ---- sums of floats ------------------------------------------------------------------------- */

/* The elements that an instruction uses, out of four elements of k (of TF32, two): all, or for FP8
 * every second pair, starting with the first or the second. */
typedef struct Share {
    uint32_t block, first, each;
} Share;

/* Is element i of what a row has in the share? */
ALWAYS int share_has(const Share *share, uint32_t i)
{
    return i / 2 % share->each == share->first;
}

/* Expands to a dense MMA. */
static void sparse_spread(const Sparse *f, const Share *share, Sums *s)
{
    uint32_t rows = f->stored * 2;
    memset(s->across, 0, s->deep * SPARSE_ROWS * sizeof *s->across);
    for (uint32_t row = 0; row < SPARSE_ROWS; row++)
        for (uint32_t i = 0; i < f->stored; i++)
            if (share_has(share, i))
                s->across[(f->at[row][i] / share->block / share->each * share->block +
                           f->at[row][i] % share->block) *
                              SPARSE_ROWS +
                          row] = f->a[row * f->stored + i];
    for (uint32_t k = 0; k < rows; k++)
        if (k / share->block % share->each == share->first)
            for (uint32_t j = 0; j < MMA_COLUMNS; j++)
                s->along[j * s->deep + k / share->block / share->each * share->block +
                         k % share->block] = f->b[k * MMA_COLUMNS + j];
}

/* Row by row over the stored elements, for any values. */
static void sparse_slowly(const Sparse *f, const Share *share, Sums *s)
{
    for (uint32_t row = 0; row < SPARSE_ROWS; row++) {
        uint32_t deep = 0;
        for (uint32_t i = 0; i < f->stored; i++) {
            if (!share_has(share, i)) continue;
            s->across[deep * SPARSE_ROWS + row] = f->a[row * f->stored + i];
            for (uint32_t j = 0; j < MMA_COLUMNS; j++)
                s->along[j * s->deep + deep] = f->b[f->at[row][i] * MMA_COLUMNS + j];
            deep++;
        }
        s->step = deep;
        for (uint32_t j = 0; j < MMA_COLUMNS; j++)
            sum_slowly(s, 0, row, j);
    }
}

/* Do any two elements of one block have different positions? */
static int sparse_parts(const Sparse *f)
{
    for (uint32_t row = 0; row < SPARSE_ROWS; row++)
        for (uint32_t i = 0; i + 1 < f->stored; i++)
            if (f->at[row][i] == f->at[row][i + 1]) return 0;
    return 1;
}

static void sparse_add(const Sparse *f, const Share *share, Sums *s)
{
    s->step = s->deep;
    sparse_spread(f, share, s);
    if (!sparse_parts(f) || exponents_find(s))
        sparse_slowly(f, share, s);
    else
        sums_add(s);
}

static void sums_open(const TensorPlan *plan, TensorType factor, uint32_t deep, Sums *s)
{
    int halves = plan->c.type == TYPE_F16 && plan->d.type == TYPE_F16;
    s->wide = SPARSE_ROWS, s->narrow = MMA_COLUMNS, s->deep = deep;
    s->bits = SUM_BITS, s->result = halves ? SUM_HALVES : SUM_FLOATS;
    s->least_across = s->least_along = least_exponent(factor);
    s->least_addend = least_exponent(plan->c.type);
}

static void sparse_floats(Warp *warp, const TensorPlan *plan, const Sparse *f)
{
    Share all = {.block = plan->a.type == TYPE_TF32 ? 2 : 4, .each = 1};
    Sums s;
    sums_open(plan, plan->a.type, plan->k, &s);
    addends_gather(warp, plan->c.slot, plan->n, plan->c.type == TYPE_F16, &s);
    sparse_add(f, &all, &s);
    results_scatter(warp, plan->d.slot, plan->n, plan->d.type == TYPE_F16, &s);
}

/* The same as dense FP8 MMAs (product_eighths): MMAs of halves, in two parts, and c is added at the
 * end. */
static void sparse_eighths(Warp *warp, const TensorPlan *plan, const Sparse *f)
{
    Sums s;
    float c[SPARSE_ROWS * MMA_COLUMNS];
    sums_open(plan, TYPE_F16, plan->k / 2, &s);
    addends_gather(warp, plan->c.slot, plan->n, 0, &s);
    memcpy(c, s.sum, sizeof c);
    memset(s.sum, 0, sizeof c);
    for (uint32_t first = 0; first < 2; first++) {
        Share share = {.block = 4, .first = first, .each = 2};
        sparse_add(f, &share, &s);
    }
    addends_join(c, &s);
    results_scatter(warp, plan->d.slot, plan->n, 0, &s);
}

/* ---- sums of integers ------------------------------------------------------------------------ */
static void sparse_integers(Warp *warp, const TensorPlan *plan, const Sparse *f)
{
    int64_t sum[SPARSE_ROWS * MMA_COLUMNS];
    integers_gather(warp, plan, sum);
    for (uint32_t row = 0; row < SPARSE_ROWS; row++)
        for (uint32_t i = 0; i < f->stored; i++)
            for (uint32_t j = 0; j < MMA_COLUMNS; j++)
                sum[row * MMA_COLUMNS + j] +=
                    (int64_t)(f->a[row * f->stored + i] * f->b[f->at[row][i] * MMA_COLUMNS + j]);
    integers_scatter(warp, plan, sum);
}

HANDLER(TENSOR_SPARSE)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    Sparse f;
    if (!lanes_whole(warp, ins)) return NULL;
    warp_charge(warp, plan->m * plan->n * plan->k / PRODUCTS_CHARGED);
    sparse_gather(warp, plan, &f);
    if (plan->d.type == TYPE_S32)
        sparse_integers(warp, plan, &f);
    else if (is_eighth(plan->a.type))
        sparse_eighths(warp, plan, &f);
    else
        sparse_floats(warp, plan, &f);
    return ins + 1;
}
