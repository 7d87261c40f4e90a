/* mma_m8n8k4.h - Volta's MMA of halves, m8n8k4. A warp computes four of them; each uses eight
 * lanes, four of the first sixteen and four of the others. Included by exec_body.h.
 *
 * On GPUs without such a unit, ptxas replaces it by FMAs of floats, and this file implements
 * that. */

enum { OCTET = 8, OCTET_DEEP = 4 };

typedef struct Octet {
    float a[OCTET][OCTET_DEEP], b[OCTET][OCTET_DEEP]; /* b: column by column */
    float sum[OCTET][OCTET];
} Octet;

/* Lane number in the warp of lane l of the octet that begins at `first`. */
static uint32_t octet_lane(uint32_t first, uint32_t l)
{
    return first + l % QUAD + l / QUAD * (LANES / 2);
}

/* A lane's four elements of an input matrix are along k in a row of a, or a column of b; or across
 * them, at one k. */
static void octet_factor(const Warp *warp, const Fragment *f, uint32_t first, int across,
                         float (*to)[OCTET_DEEP])
{
    for (uint32_t l = 0; l < OCTET; l++) {
        uint32_t lane = octet_lane(first, l);
        for (uint32_t i = 0; i < OCTET_DEEP; i++) {
            float value = element_of(REG(const uint32_t, f->slot[i / 2])[lane], i % 2, TYPE_F16);
            if (across)
                to[l / QUAD * QUAD + i][l % QUAD] = value;
            else
                to[l][i] = value;
        }
    }
}

/* Position of accumulator element i of lane l of the octet. */
static float *octet_place(Octet *o, TensorType type, uint32_t l, uint32_t i)
{
    uint32_t upper = l / QUAD * QUAD;
    if (type == TYPE_F16) return &o->sum[l][i];
    return &o->sum[upper + (l & 1) + (i & 2)][(i & 4) + (l & 2) + (i & 1)];
}

static void octet_addends(const Warp *warp, const Fragment *c, uint32_t first, Octet *o)
{
    uint32_t each = type_elements(c->type);
    for (uint32_t l = 0; l < OCTET; l++)
        for (uint32_t i = 0; i < OCTET; i++) {
            uint32_t lane = octet_lane(first, l);
            *octet_place(o, c->type, l, i) =
                element_of(REG(const uint32_t, c->slot[i / each])[lane], i % each, c->type);
        }
}

static void octet_results(Warp *warp, const Fragment *d, uint32_t first, Octet *o)
{
    for (uint32_t l = 0; l < OCTET; l++)
        for (uint32_t i = 0; i < OCTET; i++) {
            uint32_t lane = octet_lane(first, l),
                     bits = bits_of(canonical(*octet_place(o, d->type, l, i)));
            if (d->type == TYPE_F32) {
                REG(uint32_t, d->slot[i])[lane] = bits;
                continue;
            }
            uint32_t *to = &REG(uint32_t, d->slot[i / 2])[lane], half = f32_to_f16(bits, ROUND_N);
            *to = i % 2 ? (*to & 0xffff) | half << 16 : half;
        }
}

/* Accumulation in halves: c plus the terms of two pairs. Accumulation in floats: one term after the
 * other, then c. */
static float octet_sum(const float *a, const float *b, float c, int halves)
{
    if (halves)
        return c + __builtin_fmaf(a[1], b[1], a[0] * b[0]) +
               __builtin_fmaf(a[3], b[3], a[2] * b[2]);
    float sum = 0;
    for (uint32_t k = 0; k < OCTET_DEEP; k++)
        sum = __builtin_fmaf(a[k], b[k], sum);
    return c + sum;
}

HANDLER(TENSOR_OCTETS)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    if (!lanes_whole(warp, ins)) return NULL;
    warp_charge(warp, OCTETS * plan->m * plan->n * plan->k / PRODUCTS_CHARGED);
    Octet o[OCTETS];
    for (uint32_t i = 0; i < OCTETS; i++) {
        octet_factor(warp, &plan->a, i * QUAD, plan->by_column, o[i].a);
        octet_factor(warp, &plan->b, i * QUAD, plan->transposed, o[i].b);
        octet_addends(warp, &plan->c, i * QUAD, &o[i]);
        for (uint32_t j = 0; j < OCTET * OCTET; j++) {
            float *sum = &o[i].sum[j / OCTET][j % OCTET];
            *sum = octet_sum(o[i].a[j / OCTET], o[i].b[j % OCTET], *sum, plan->d.type == TYPE_F16);
        }
    }
    for (uint32_t i = 0; i < OCTETS; i++)
        octet_results(warp, &plan->d, i * QUAD, &o[i]);
    return ins + 1;
}
