/* decode_wgmma.c - MMA of a warpgroup (wgmma). */
#include <stdio.h>
#include <string.h>

#include "common/simulator/core/async.h"
#include "common/simulator/decode/decoder.h"

static const struct {
    const char *name;
    TensorType type;
} TYPES[] = {{"f16", TYPE_F16}, {"bf16", TYPE_BF16}, {"tf32", TYPE_TF32},
             {"s8", TYPE_S8},   {"u8", TYPE_U8},     {"f32", TYPE_F32},
             {"s32", TYPE_S32}, {"e4m3", TYPE_E4M3}, {"e5m2", TYPE_E5M2}};

static int type_find(const char *word)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, word)) return (int)TYPES[i].type;
    return -1;
}

static uint32_t bytes_of(TensorType type)
{
    return type == TYPE_F16 || type == TYPE_BF16 ? 2 : type == TYPE_TF32 ? 4 : 1;
}

static int is_halves(TensorType type)
{
    return type == TYPE_F16 || type == TYPE_BF16;
}

static int is_whole(TensorType type)
{
    return type == TYPE_S8 || type == TYPE_U8;
}

/* .m64nNkK.d.a.b */
static int shape_read(Decoder *d, WgmmaPlan *plan)
{
    TensorType type[3];
    uint32_t types = 0, m = 0;
    for (uint32_t i = 1; i < d->in->words; i++) {
        unsigned rows, n, k;
        char end;
        int found = type_find(d->in->word[i]);
        if (found >= 0 && types < 3)
            type[types++] = (TensorType)found;
        else if (sscanf(d->in->word[i], "m%un%uk%u%c", &rows, &n, &k, &end) == 3)
            m = rows, plan->n = n, plan->k = k;
        else if (!strcmp(d->in->word[i], "satfinite"))
            plan->saturate = 1;
        else if (strcmp(d->in->word[i], "mma_async") && strcmp(d->in->word[i], "sync") &&
                 strcmp(d->in->word[i], "aligned"))
            return refuse(d, "its .%s", d->in->word[i]);
        d->used |= 1u << i;
    }
    if (types != 3) return refuse(d, "that list of types");
    plan->d_type = type[0], plan->a_type = type[1], plan->b_type = type[2];
    int fits = is_whole(type[1]) ? is_whole(type[2]) && type[0] == TYPE_S32
               : is_eighth(type[1])
                   ? is_eighth(type[2])
                   : type[1] == type[2] && (is_halves(type[1]) || type[1] == TYPE_TF32);
    if (!is_whole(type[1]))
        fits = fits && (type[0] == TYPE_F32 ||
                        (type[0] == TYPE_F16 && (type[1] == TYPE_F16 || is_eighth(type[1]))));
    if (!fits) return refuse(d, "that combination of types");
    if (m != WGMMA_ROWS || !plan->n || plan->n % 8 || plan->n > 256 ||
        plan->k * bytes_of(type[1]) != WGMMA_K_BYTES)
        return refuse(d, "that shape");
    return 0;
}

/* An immediate that may be one of two. */
static int flag_read(Decoder *d, uint32_t operand, int64_t no, int64_t yes, int *is)
{
    const PtxOperand *o = operand_at(d, operand);
    if (d->failed) return -1;
    if (o->kind != PTX_OPERAND_INTEGER || (o->integer != no && o->integer != yes))
        return refuse(d, "operand %u is neither %lld nor %lld", operand + 1, (long long)no,
                      (long long)yes);
    *is = o->integer == yes;
    return 0;
}

static int results_read(Decoder *d, WgmmaPlan *plan)
{
    const PtxOperand *o = operand_at(d, 0);
    uint32_t wanted = plan->n / (plan->d_type == TYPE_F16 ? 4 : 2);
    if (d->failed) return -1;
    if (o->kind != PTX_OPERAND_VECTOR || o->count != wanted || wanted > WGMMA_RESULTS)
        return refuse(d, "its result needs %u registers", wanted);
    plan->results = wanted;
    for (uint32_t i = 0; i < wanted; i++)
        plan->d[i] = destination_of(d, &o->element[i], PTX_B32);
    return d->failed ? -1 : 0;
}

static int factors_read(Decoder *d, WgmmaPlan *plan)
{
    const PtxOperand *a = operand_at(d, 1);
    if (d->failed) return -1;
    if (a->kind == PTX_OPERAND_VECTOR) {
        if (a->count != WGMMA_FACTORS) return refuse(d, "a factor in %u registers", a->count);
        plan->factors = WGMMA_FACTORS;
        for (uint32_t i = 0; i < WGMMA_FACTORS; i++)
            plan->a[i] = source_of(d, &a->element[i], PTX_B32);
    } else {
        plan->a[0] = source_of(d, a, PTX_B64);
    }
    plan->b = source(d, 2, PTX_B64);
    plan->scale_d = source(d, 3, PTX_PRED);
    return d->failed ? -1 : 0;
}

/* scale-a, scale-b; for halves also whether a (not in registers) and b are stored by columns. */
static int modes_read(Decoder *d, WgmmaPlan *plan)
{
    uint32_t next = 4;
    if (!is_whole(plan->a_type) && (flag_read(d, next, 1, -1, &plan->negate_a) != 0 ||
                                    flag_read(d, next + 1, 1, -1, &plan->negate_b) != 0))
        return -1;
    if (!is_whole(plan->a_type)) next += 2;
    if (is_halves(plan->a_type)) {
        if (!plan->factors && flag_read(d, next++, 0, 1, &plan->transposed_a) != 0) return -1;
        if (flag_read(d, next++, 0, 1, &plan->transposed_b) != 0) return -1;
    }
    return next == d->in->operands ? 0 : refuse(d, "that number of operands");
}

static int decode_mma(Decoder *d)
{
    WgmmaPlan plan = {0};
    SimtKernel *kernel = d->kernel;
    if (shape_read(d, &plan) != 0 || results_read(d, &plan) != 0 || factors_read(d, &plan) != 0 ||
        modes_read(d, &plan) != 0)
        return -1;
    kernel->plans.wgmma = grow(d, kernel->plans.wgmma, kernel->plans.wgmmas, &d->wgmma_room,
                               sizeof *kernel->plans.wgmma);
    if (d->failed) return -1;
    kernel->plans.wgmma[kernel->plans.wgmmas] = plan;
    Ins *ins = emit(d, OP_WGMMA, CLASS_TENSOR);
    ins->aux = kernel->plans.wgmmas++;
    ins->a = plan.a[0], ins->b = plan.b, ins->c = plan.scale_d;
    return words_finished(d);
}

int decode_wgmma(Decoder *d)
{
    const char *what = d->in->words > 1 ? d->in->word[1] : "";
    if (strcmp(d->in->word[0], "wgmma")) return 1;
    if (FEATURE_NEED(d, wgmma) != 0) return -1;
    if (!strcmp(what, "mma_async")) return decode_mma(d);
    word_take(d, what), word_take(d, "sync"), word_take(d, "aligned");
    if (!strcmp(what, "fence"))
        emit(d, OP_WGMMA_FENCE, CLASS_BARRIER);
    else if (!strcmp(what, "commit_group"))
        emit(d, OP_WGMMA_COMMIT, CLASS_BARRIER);
    else if (!strcmp(what, "wait_group") && d->in->operands == 1 &&
             d->in->operand[0].kind == PTX_OPERAND_INTEGER)
        emit(d, OP_WGMMA_WAIT, CLASS_BARRIER)->aux = (uint32_t)d->in->operand[0].integer;
    else
        return refuse(d, "that wgmma instruction");
    return words_finished(d);
}
