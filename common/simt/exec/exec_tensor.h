/* exec_tensor.h - matrix products of a warp; included by exec_body.h. */

ALWAYS uint32_t type_elements(TensorType type)
{
    return type == TYPE_F16 || type == TYPE_BF16 ? 2 : type == TYPE_S8 || type == TYPE_U8 ? 4 : 1;
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
    default:
        return float_of(bits);
    }
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
        ELEMENTS(TYPE_F16, 2);
        ELEMENTS(TYPE_BF16, 2);
        ELEMENTS(TYPE_TF32, 1);
        ELEMENTS(TYPE_S8, 4);
        ELEMENTS(TYPE_U8, 4);
    case TYPE_F64: /* these have ways of their own */
    case TYPE_E4M3:
    case TYPE_E5M2:
    case TYPE_F32:
    case TYPE_S32:
        memcpy(value, bits, LANES * sizeof *value);
    }
#undef ELEMENTS
}

enum { TENSOR_MOST = 32 * 32, EACH_MOST = 4, GROUPS = 8, MMA_COLUMNS = 8 };

/* A factor, row by row; the fragments are tensor.h's.  Of mma's, each group of four lanes has
 * neighbours, `own` of them: in a row of a, in a column of b. */
ALWAYS void factor_place(const Warp *warp, const TensorPlan *plan, int is_b, uint32_t own,
                         float *matrix)
{
    const Fragment *f = is_b ? &plan->b : &plan->a;
    uint32_t k = plan->k, size = k * (is_b ? plan->n : plan->m);
    for (uint32_t r = 0; r < f->count; r++) {
        float value[LANES * EACH_MOST];
        elements_of(REG(const uint32_t, f->slot[r]), f->type, value);
        if (plan->kind != TENSOR_MMA) {
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
    default:
        factor_place(warp, plan, is_b, 16, matrix);
    }
}

/* Where element e of register r of a lane lies in c or d.  Of mma's: two neighbours in a row, then
 * the row 8 further; halves are pairs. */
ALWAYS uint32_t place_of(int mma, uint32_t r, uint32_t lane, uint32_t e, uint32_t each)
{
    uint32_t pair = r * each + e;
    if (!mma) return (r * LANES + lane) * each + e;
    return (pair >> 1) * 8 * MMA_COLUMNS + lane * 2 + (pair & 1);
}

/* Eight columns at once: every n is a multiple. */
typedef double Columns __attribute__((vector_size(8 * sizeof(double)), aligned(8)));
enum { COLUMNS = sizeof(Columns) / sizeof(double) };

/* sum += a b, one product after the other. */
static void products_add(const TensorPlan *plan, const float *a, const float *b, double *sum)
{
    double factor[TENSOR_MOST];
    uint32_t n = plan->n, k = plan->k;
    for (uint32_t i = 0; i < k * n; i++)
        factor[i] = b[i];
    for (uint32_t i = 0; i < plan->m; i++)
        for (uint32_t j = 0; j < n; j += COLUMNS) {
            Columns *to = (Columns *)(void *)(sum + i * n + j), total = *to;
            for (uint32_t l = 0; l < k; l++)
                total +=
                    (double)a[i * k + l] * *(const Columns *)(const void *)(factor + l * n + j);
            *to = total;
        }
}

ALWAYS void addend_gather(const Warp *warp, const TensorPlan *plan, uint32_t each, double *sum)
{
    const Fragment *c = &plan->c;
    int mma = plan->kind == TENSOR_MMA;
    for (uint32_t r = 0; r < c->count; r++) {
        float value[LANES * EACH_MOST];
        elements_of(REG(const uint32_t, c->slot[r]), c->type, value);
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t e = 0; e < each; e++)
                sum[place_of(mma, r, lane, e, each)] = value[lane * each + e];
    }
}

static void product_floats(Warp *warp, const TensorPlan *plan, const float *a, const float *b)
{
    double sum[TENSOR_MOST];
    int mma = plan->kind == TENSOR_MMA;
    if (type_elements(plan->c.type) == 1)
        addend_gather(warp, plan, 1, sum);
    else
        addend_gather(warp, plan, 2, sum);
    products_add(plan, a, b, sum);
    for (uint32_t r = 0; r < plan->d.count; r++) {
        uint32_t *d = REG(uint32_t, plan->d.slot[r]);
        if (plan->d.type == TYPE_F32)
            for (uint32_t lane = 0; lane < LANES; lane++)
                d[lane] = bits_of(canonical((float)sum[place_of(mma, r, lane, 0, 1)]));
        else
            for (uint32_t lane = 0; lane < LANES; lane++) {
                float low = canonical((float)sum[place_of(mma, r, lane, 0, 2)]);
                float high = canonical((float)sum[place_of(mma, r, lane, 1, 2)]);
                d[lane] = f32_to_f16(bits_of(low), ROUND_N) | f32_to_f16(bits_of(high), ROUND_N)
                                                                  << 16;
            }
    }
}

static void product_integers(Warp *warp, const TensorPlan *plan, const float *a, const float *b)
{
    int64_t sum[TENSOR_MOST];
    int mma = plan->kind == TENSOR_MMA;
    uint32_t m = plan->m, n = plan->n, k = plan->k;
    for (uint32_t r = 0; r < plan->c.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum[place_of(mma, r, lane, 0, 1)] = REG(const int32_t, plan->c.slot[r])[lane];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t l = 0; l < k; l++)
                sum[i * n + j] += (int64_t)(a[i * k + l] * b[l * n + j]);
    for (uint32_t r = 0; r < plan->d.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            int64_t s = sum[place_of(mma, r, lane, 0, 1)];
            if (plan->saturate) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
            REG(uint32_t, plan->d.slot[r])[lane] = (uint32_t)s;
        }
}

/* All 32 lanes take part, or what comes out means nothing. */
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

enum { DOUBLE_M = 8, DOUBLE_N = 8, DOUBLE_K = 4 };

/* Where register r of a lane lies in c or d of doubles, row by row. */
ALWAYS uint32_t double_place(int mma, uint32_t r, uint32_t lane)
{
    return mma ? lane * 2 + r : r * LANES + lane;
}

/* m8n8k4.  mma's b has its columns in the lanes' order, wmma's its rows (tensor.h). */
static void product_doubles(Warp *warp, const TensorPlan *plan)
{
    double sum[DOUBLE_M * DOUBLE_N], b[DOUBLE_K][DOUBLE_N];
    const double *a = REG(const double, plan->a.slot[0]);
    int mma = plan->kind == TENSOR_MMA;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        double value = REG(const double, plan->b.slot[0])[lane];
        if (mma)
            b[lane % DOUBLE_K][lane / DOUBLE_K] = value;
        else
            b[lane / DOUBLE_N][lane % DOUBLE_N] = value;
        for (uint32_t r = 0; r < plan->c.count; r++)
            sum[double_place(mma, r, lane)] = REG(const double, plan->c.slot[r])[lane];
    }
    for (uint32_t i = 0; i < DOUBLE_M * DOUBLE_N; i++)
        for (uint32_t k = 0; k < DOUBLE_K; k++)
            sum[i] = __builtin_fma(a[i / DOUBLE_N * DOUBLE_K + k], b[k][i % DOUBLE_N], sum[i]);
    for (uint32_t r = 0; r < plan->d.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            REG(double, plan->d.slot[r])[lane] = sum[double_place(mma, r, lane)];
}

HANDLER(TENSOR_PRODUCT)
{
    const TensorPlan *plan = &warp->worker->kernel->tensor[ins->aux];
    float a[TENSOR_MOST], b[TENSOR_MOST];
    if (!lanes_whole(warp, ins)) return NULL;
    if (plan->d.type == TYPE_F64) {
        product_doubles(warp, plan);
        return ins + 1;
    }
    factor_gather(warp, plan, 0, a);
    factor_gather(warp, plan, 1, b);
    if (plan->d.type == TYPE_S32)
        product_integers(warp, plan, a, b);
    else
        product_floats(warp, plan, a, b);
    return ins + 1;
}

/* Where the matrix begins: the first lane's address is everybody's. */
ALWAYS uint64_t matrix_base(const Warp *warp, const Ins *ins)
{
    return lane_address(warp, ins, first_lane(warp->mask));
}

/* A matrix of doubles, from or to memory: an element a register. */
static const Ins *matrix_doubles(Warp *warp, const Ins *ins, const TensorPlan *plan)
{
    int store = plan->kind == TENSOR_STORE;
    const Fragment *f = store ? &plan->c : &plan->d;
    uint32_t dense = plan->by_column ? plan->rows : plan->columns;
    uint64_t base = matrix_base(warp, ins), address[LANES],
             stride = plan->stride == NO_SLOT ? dense : REG(const uint32_t, plan->stride)[0];
    for (uint32_t r = 0; r < f->count; r++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t *value = &REG(uint64_t, f->slot[r])[lane];
            uint32_t i = (r * LANES + lane) % (plan->rows * plan->columns);
            uint64_t row = i / plan->columns, column = i % plan->columns;
            Spot spot;
            address[lane] =
                base + 8 * (plan->by_column ? column * stride + row : row * stride + column);
            if (spot_find(warp, ins, lane, address[lane], 8, store, !store, &spot) != 0)
                return NULL;
            if (store)
                memcpy(spot.host, value, sizeof *value);
            else
                memcpy(value, spot.host, sizeof *value);
        }
        if (warp->count || warp->worker->racecheck) lanes_counted(warp, ins, address, store);
    }
    return ins + 1;
}

HANDLER(TENSOR_MATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->tensor[ins->aux];
    int store = plan->kind == TENSOR_STORE;
    const Fragment *f = store ? &plan->c : &plan->d;
    uint32_t each = type_elements(f->type), bytes = 4 / each;
    uint32_t dense = plan->by_column ? plan->rows : plan->columns;
    if (!lanes_whole(warp, ins)) return NULL;
    if (f->type == TYPE_F64) return matrix_doubles(warp, ins, plan);
    uint64_t base = matrix_base(warp, ins),
             stride = plan->stride == NO_SLOT ? dense : REG(const uint32_t, plan->stride)[0];
    for (uint32_t r = 0; r < f->count; r++) {
        uint64_t address[LANES];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t *reg = &REG(uint32_t, f->slot[r])[lane], bits = store ? *reg : 0;
            for (uint32_t e = 0; e < each; e++) {
                uint32_t i = ((r * LANES + lane) * each + e) % (plan->rows * plan->columns);
                uint64_t row = i / plan->columns, column = i % plan->columns;
                uint64_t at = base + bytes * (plan->by_column ? column * stride + row
                                                              : row * stride + column);
                Spot spot;
                if (spot_find(warp, ins, lane, at, bytes, store, !store, &spot) != 0) return NULL;
                if (!e) address[lane] = at;
                uint32_t part = bits >> 8 * bytes * e % 32;
                if (store)
                    memcpy(spot.host, &part, bytes);
                else
                    bits |= (bytes == 4 ? read_32(spot.host) : narrow_read(spot.host, bytes, 0))
                            << 8 * bytes * e % 32;
            }
            if (!store) *reg = bits;
        }
        if (warp->count || warp->worker->racecheck) lanes_counted(warp, ins, address, store);
    }
    return ins + 1;
}

/* Row i of matrix j is 16 bytes at lane 8*j + i's address. */
HANDLER(LDMATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->tensor[ins->aux];
    uint16_t half[4][8][8];
    uint64_t address[LANES] = {0};
    uint32_t taking = plan->d.count * 8;
    if (!lanes_whole(warp, ins)) return NULL;
    for (uint32_t lane = 0; lane < taking; lane++) {
        Spot spot;
        address[lane] = lane_address(warp, ins, lane);
        if (spot_find(warp, ins, lane, address[lane], 16, 0, 1, &spot) != 0) return NULL;
        memcpy(half[lane / 8][lane % 8], spot.host, 16);
    }
    for (uint32_t j = 0; j < plan->d.count; j++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t row = lane / 4, column = lane % 4 * 2;
            uint32_t low = plan->transposed ? half[j][column][row] : half[j][row][column];
            uint32_t high = plan->transposed ? half[j][column + 1][row] : half[j][row][column + 1];
            REG(uint32_t, plan->d.slot[j])[lane] = low | high << 16;
        }
    if (warp->count || warp->worker->racecheck) {
        uint32_t mask = warp->mask;
        warp->mask = taking == 32 ? FULL_MASK : (1u << taking) - 1;
        lanes_counted(warp, ins, address, 0);
        warp->mask = mask;
    }
    return ins + 1;
}
