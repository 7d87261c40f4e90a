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

/* Where element e of register r of a lane lies in its matrix: what is 'a', 'b' or 'c'. */
ALWAYS uint32_t place_of(const TensorPlan *plan, char what, uint32_t r, uint32_t lane, uint32_t e,
                         uint32_t each)
{
    uint32_t group = lane / 4, own = lane % 4;
    uint32_t size = what == 'a'   ? plan->m * plan->k
                    : what == 'b' ? plan->k * plan->n
                                  : plan->m * plan->n;
    if (plan->kind != TENSOR_MMA) return ((r * LANES + lane) * each + e) % size;
    if (what == 'a') return (group + 8 * (r & 1)) * plan->k + own * each + e + (r >> 1) * 4 * each;
    if (what == 'b') return (own * each + e + r * 4 * each) * plan->n + group;
    /* c and d: two neighbours in a row, then the row 8 further; halves are pairs. */
    uint32_t i = r * each + e;
    return (group + 8 * (i >> 1)) * plan->n + own * 2 + (i & 1);
}

ALWAYS void fragment_gather(const Warp *warp, const TensorPlan *plan, const Fragment *f, char what,
                            float *matrix)
{
    uint32_t each = type_elements(f->type);
    for (uint32_t r = 0; r < f->count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t bits = REG(const uint32_t, f->slot[r])[lane];
            for (uint32_t e = 0; e < each; e++)
                matrix[place_of(plan, what, r, lane, e, each)] = element_of(bits, e, f->type);
        }
}

enum { TENSOR_MOST = 32 * 32 };

static void product_floats(Warp *warp, const TensorPlan *plan, const float *a, const float *b)
{
    float c[TENSOR_MOST];
    double sum[TENSOR_MOST];
    uint32_t m = plan->m, n = plan->n, k = plan->k, each = type_elements(plan->d.type);
    fragment_gather(warp, plan, &plan->c, 'c', c);
    for (uint32_t i = 0; i < m * n; i++)
        sum[i] = c[i];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t l = 0; l < k; l++) {
            double x = a[i * k + l];
            for (uint32_t j = 0; j < n; j++)
                sum[i * n + j] += x * (double)b[l * n + j];
        }
    for (uint32_t r = 0; r < plan->d.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t bits = 0;
            for (uint32_t e = 0; e < each; e++) {
                float f = canonical((float)sum[place_of(plan, 'c', r, lane, e, each)]);
                bits |= each == 2 ? f32_to_f16(bits_of(f), ROUND_N) << 16 * e : bits_of(f);
            }
            REG(uint32_t, plan->d.slot[r])[lane] = bits;
        }
}

static void product_integers(Warp *warp, const TensorPlan *plan, const float *a, const float *b)
{
    int64_t sum[TENSOR_MOST];
    uint32_t m = plan->m, n = plan->n, k = plan->k;
    for (uint32_t r = 0; r < plan->c.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum[place_of(plan, 'c', r, lane, 0, 1)] = REG(const int32_t, plan->c.slot[r])[lane];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t l = 0; l < k; l++)
                sum[i * n + j] += (int64_t)(a[i * k + l] * b[l * n + j]);
    for (uint32_t r = 0; r < plan->d.count; r++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            int64_t s = sum[place_of(plan, 'c', r, lane, 0, 1)];
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

HANDLER(TENSOR_PRODUCT)
{
    const TensorPlan *plan = &warp->worker->kernel->tensor[ins->aux];
    float a[TENSOR_MOST], b[TENSOR_MOST];
    if (!lanes_whole(warp, ins)) return NULL;
    fragment_gather(warp, plan, &plan->a, 'a', a);
    fragment_gather(warp, plan, &plan->b, 'b', b);
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

HANDLER(TENSOR_MATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->tensor[ins->aux];
    int store = plan->kind == TENSOR_STORE;
    const Fragment *f = store ? &plan->c : &plan->d;
    uint32_t each = type_elements(f->type), bytes = 4 / each;
    uint32_t dense = plan->by_column ? plan->rows : plan->columns;
    if (!lanes_whole(warp, ins)) return NULL;
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
