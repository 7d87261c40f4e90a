/* decode_async.c - cp.async, a warp's own asynchronous copies. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

/* Number of bytes that a copy really reads: a number, or a predicate that disables the read. A size
 * equal to the full size has no effect, and ptxas leaves it out, too. */
static uint32_t copy_size(Decoder *d, const PtxOperand *operand, uint32_t bytes)
{
    uint32_t negated, p, size;
    if (operand->kind == PTX_OPERAND_INTEGER && operand->integer == (int64_t)bytes) return NO_SLOT;
    if (operand->kind != PTX_OPERAND_REGISTER || operand->reg == PTX_NO_REGISTER ||
        d->instance->function->reg[operand->reg].type != PTX_PRED)
        return source(d, 3, PTX_U32);
    p = predicate_of(d, operand, &negated), size = temp_slot(d, WIDTH_32);
    Ins *ins = emit_pseudo(d, OP_SELP_32, size, constant_slot(d, WIDTH_32, 0, 0),
                           constant_slot(d, WIDTH_32, bytes, 0));
    ins->c = p, ins->aux = negated;
    return size;
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes that are really there}{, policy}; or
 * [to], [from], bytes{, what says that none are}{, policy}; */
static int decode_copy(Decoder *d)
{
    Ins to = {0}, from = {0};
    uint32_t operands = d->in->operands - policy_operands(d);
    if (FEATURE_NEED(d, cp_async) != 0) return -1;
    if (operands < 3 || operands > 4 || d->in->operand[2].kind != PTX_OPERAND_INTEGER)
        return refuse(d, "that form of cp.async");
    uint64_t bytes = d->in->operand[2].integer;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return refuse(d, "a copy of %llu bytes", (unsigned long long)bytes);
    async_hints(d);
    if (address_of(d, &d->in->operand[0], PTX_SHARED, &to) != 0 ||
        address_of(d, &d->in->operand[1], PTX_GLOBAL, &from) != 0)
        return -1;
    if (from.imm != (int32_t)from.imm) return refuse(d, "an offset of more than 31 bits");
    uint32_t size = operands > 3 && d->in->operand[3].kind != PTX_OPERAND_SINK
                        ? copy_size(d, &d->in->operand[3], (uint32_t)bytes)
                        : NO_SLOT;
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_CP_ASYNC, CLASS_LOAD);
    ins->a = to.a, ins->imm = to.imm, ins->base64 = to.base64, ins->space = PTX_SHARED;
    ins->b = from.a, ins->c = size;
    ins->target = (uint32_t)(int32_t)from.imm;
    ins->bytes = (uint8_t)bytes;
    ins->aux = d->in->words > 2 && !strcmp(d->in->word[2], "cg"); /* past the L1 */
    ins->mem = d->kernel->mems++;
    return words_finished(d);
}

static int decode_wait(Decoder *d, int all)
{
    uint32_t left = 0;
    if (!all && (d->in->operands != 1 || d->in->operand[0].kind != PTX_OPERAND_INTEGER))
        return refuse(d, "that form of cp.async.wait_group");
    if (!all) left = (uint32_t)d->in->operand[0].integer;
    word_take(d, "async"), word_take(d, all ? "wait_all" : "wait_group");
    Ins *ins = emit(d, OP_CP_WAIT, CLASS_BARRIER);
    ins->aux = left, ins->imm = all;
    return words_finished(d);
}

/* The thread's earlier copies arrive at the barrier when they are complete, which is immediately
 * here. With .noinc that is one of the arrivals that the phase expects. Without .noinc, the phase
 * first expects one more arrival: the two cancel, and the thread still has to arrive by itself. */
static int decode_copies_arrive(Decoder *d)
{
    Ins at = {0};
    word_take(d, "mbarrier"), word_take(d, "arrive");
    int counted = word_take(d, "noinc");
    async_hints(d);
    if (address_of(d, operand_at(d, 0), PTX_SHARED, &at) != 0) return -1;
    Ins *wait = emit(d, OP_CP_WAIT, CLASS_BARRIER);
    wait->imm = 1;
    if (counted) {
        Ins *ins = emit(d, OP_MBARRIER, CLASS_SHARED_STORE);
        ins->a = at.a, ins->imm = at.imm, ins->base64 = at.base64, ins->space = PTX_SHARED,
        ins->bytes = 8;
        ins->d = ins->b = NO_SLOT; /* no state is requested, and one arrival is made */
        ins->aux = MBARRIER_ARRIVE;
    }
    return words_finished(d);
}

static int decode_cp(Decoder *d)
{
    const char *what = d->in->words > 2 ? d->in->word[2] : "";
    if (d->in->words > 3 && !strcmp(d->in->word[1], "reduce") && !strcmp(what, "async"))
        return decode_bulk_reduction(d);
    if (d->in->words < 2 || strcmp(d->in->word[1], "async")) return refuse(d, "that form of cp");
    if (!strcmp(what, "bulk")) return decode_bulk(d);
    if (!strcmp(what, "wait_group")) return decode_wait(d, 0);
    if (!strcmp(what, "wait_all")) return decode_wait(d, 1);
    if (!strcmp(what, "commit_group")) {
        word_take(d, "async"), word_take(d, "commit_group");
        emit(d, OP_CP_COMMIT, CLASS_INT);
        return words_finished(d);
    }
    if (strcmp(what, "mbarrier")) return decode_copy(d);
    return decode_copies_arrive(d);
}

int decode_async(Decoder *d)
{
    if (!strcmp(d->in->word[0], "cp")) return decode_cp(d);
    if (!strcmp(d->in->word[0], "mbarrier")) return decode_mbarrier(d);
    return 1;
}
