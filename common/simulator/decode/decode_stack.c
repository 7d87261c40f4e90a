/* decode_stack.c - alloca, stacksave and stackrestore: stack memory that a thread allocates at run
 * time, until its function returns.
 *
 * The stack pointer is a register of 64 bits like others, and goes downwards from the end of the
 * thread's local memory.  A function that takes some of the stack gives it back where it ends. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

enum { LEAST_ALIGN = 8, MOST_ALIGN = 1 << 15 };

static int is_of_stack(const PtxInstruction *in)
{
    return strcmp(in->word[0], "alloca") == 0 || strcmp(in->word[0], "stacksave") == 0 ||
           strcmp(in->word[0], "stackrestore") == 0;
}

static int function_takes_stack(const PtxFunction *function)
{
    for (uint32_t i = 0; i < function->instructions; i++)
        if (is_of_stack(&function->instruction[i])) return 1;
    return 0;
}

uint32_t stack_slot(Decoder *d)
{
    if (!d->kernel->calls.stack_slot) d->kernel->calls.stack_slot = slot_new(d, WIDTH_64);
    return d->kernel->calls.stack_slot;
}

uint32_t stack_keep(Decoder *d, const PtxFunction *function)
{
    if (!function_takes_stack(function)) return NO_SLOT;
    uint32_t stack = stack_slot(d), kept = slot_new(d, WIDTH_64);
    emit_pseudo(d, OP_MOV_64, kept, stack, stack);
    return kept;
}

void stack_give_back(Decoder *d, uint32_t kept)
{
    if (kept != NO_SLOT) emit_pseudo(d, OP_MOV_64, stack_slot(d), kept, kept);
}

/* A stack pointer of 64 or 32 bits, which an address in local memory may have, in one of 64. */
static void pointer_move(Decoder *d, uint32_t to, uint32_t from, PtxType type, int narrows)
{
    int wide = width_of(type) == WIDTH_64;
    emit_pseudo(d, wide ? OP_MOV_64 : narrows ? OP_TRUNC_32 : OP_ZEXT_64, to, from, from);
}

static int decode_alloca(Decoder *d, PtxType type)
{
    uint64_t align = LEAST_ALIGN;
    uint32_t operands = d->in->operands;
    if (operands != 2 && operands != 3) return refuse(d, "that number of operands");
    if (operands == 3) {
        const PtxOperand *at = operand_at(d, 2);
        align = at->kind == PTX_OPERAND_INTEGER ? (uint64_t)at->integer : 0;
        if (!align || align > MOST_ALIGN || (align & (align - 1)))
            return refuse(d, "an alignment of the stack that is no power of two up to %d",
                          MOST_ALIGN);
        if (align < LEAST_ALIGN) align = LEAST_ALIGN;
    }
    uint32_t size = source(d, 1, type), to = destination(d, 0, type), stack = stack_slot(d);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_ALLOCA, CLASS_INT);
    ins->d = stack, ins->a = stack, ins->b = size, ins->aux = (uint32_t)align;
    ins->bytes = (uint8_t)ptx_type_bytes(type);
    pointer_move(d, to, stack, type, 1);
    return words_finished(d);
}

int decode_stack(Decoder *d)
{
    const char *name = d->in->word[0];
    if (!is_of_stack(d->in)) return 1;
    PtxType type = type_take(d);
    if (type != PTX_U64 && type != PTX_U32) return refuse(d, "a stack pointer of that type");
    if (strcmp(name, "alloca") == 0) return decode_alloca(d, type);
    int saves = strcmp(name, "stacksave") == 0;
    if (d->in->operands != 1) return refuse(d, "that number of operands");
    uint32_t other = saves ? destination(d, 0, type) : source(d, 0, type), stack = stack_slot(d);
    if (d->failed) return -1;
    pointer_move(d, saves ? other : stack, saves ? stack : other, type, saves);
    return words_finished(d);
}
