/* decode_mbarrier.c - barriers in shared memory that count threads and bytes. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

int feature_refuse(Decoder *d, const char *feature)
{
    const SimtMachine *m = &d->module->gpu->machine;
    return refuse(d, "the machine %s, of compute capability %u.%u, has no %s (%s = 0)", m->name,
                  m->cc_major, m->cc_minor, machine_feature(feature), feature);
}

void async_hints(Decoder *d)
{
    static const char *const HINTS[] = {
        "async", "ca",      "cg",      "shared",  "shared::cta", "global",         "b64",
        "cta",   "release", "relaxed", "acquire", "cluster",     "shared::cluster"};
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        word_take(d, HINTS[i]);
    for (uint32_t i = 1; i < d->in->words; i++)
        if (strncmp(d->in->word[i], "L2::", 4) == 0) d->used |= 1u << i;
}

static Ins *mbarrier_emit(Decoder *d, const Ins *at, uint32_t aux)
{
    int kind = (int)aux & MBARRIER_KIND, waits = kind == MBARRIER_TEST || kind == MBARRIER_TRY;
    Ins *ins = emit(d, OP_MBARRIER, waits ? CLASS_BARRIER : CLASS_SHARED_STORE);
    ins->a = at->a, ins->imm = at->imm, ins->base64 = at->base64, ins->space = PTX_SHARED;
    ins->bytes = 8, ins->aux = aux;
    return ins;
}

/* The operands are a result (of arrivals and waits), the address, and a value: how many arrive,
 * how many bytes, which phase; a time to wait for is the implementation's own business. */
int decode_mbarrier(Decoder *d)
{
    static const char *const KINDS[] = {"init",        "inval",    "arrive",        "arrive_drop",
                                        "test_wait",   "try_wait", "pending_count", "expect_tx",
                                        "complete_tx", NULL};
    int kind = word_choose(d, KINDS);
    int parity = word_take(d, "parity"), waits = kind == MBARRIER_TEST || kind == MBARRIER_TRY;
    int arrives = kind == MBARRIER_ARRIVE || kind == MBARRIER_DROP;
    int expects = arrives && word_take(d, "expect_tx");
    if (kind < 0) return refuse(d, "that mbarrier instruction");
    if (FEATURE_NEED(d, mbarrier) != 0) return -1;
    if ((expects || kind >= MBARRIER_EXPECT) && FEATURE_NEED(d, transaction_barriers) != 0)
        return -1;
    word_take(d, "noComplete");
    async_hints(d);
    if (kind == MBARRIER_PENDING) {
        uint32_t dst = destination(d, 0, PTX_U32), state = source(d, 1, PTX_B64);
        if (d->failed) return -1;
        Ins *ins = emit(d, OP_MBARRIER, CLASS_INT);
        ins->d = dst, ins->b = state, ins->aux = MBARRIER_PENDING;
        return words_finished(d);
    }
    uint32_t result = arrives || waits, dst = NO_SLOT, value = NO_SLOT;
    /* An arrival at another block's barrier has no result and need not say so. */
    if (arrives && d->in->operands && d->in->operand[0].kind == PTX_OPERAND_ADDRESS) result = 0;
    const PtxOperand *to = operand_at(d, 0);
    Ins at = {0};
    if (result && to->kind != PTX_OPERAND_SINK)
        dst = waits ? destination(d, 0, PTX_PRED) : destination(d, 0, PTX_B64);
    if (address_of(d, operand_at(d, result), PTX_SHARED, &at) != 0) return -1;
    if (waits)
        value = source(d, 2, parity ? PTX_U32 : PTX_B64);
    else if (d->in->operands > 1u + result)
        value = source(d, 1u + result, PTX_U32);
    else if (expects || kind == MBARRIER_INIT || kind >= MBARRIER_EXPECT)
        return refuse(d, "too few operands");
    if (d->failed) return -1;
    Ins *ins = mbarrier_emit(d, &at, (uint32_t)kind | (expects ? MBARRIER_EXPECTS : 0));
    ins->d = dst, ins->b = value, ins->carries = (uint8_t)parity;
    return words_finished(d);
}
