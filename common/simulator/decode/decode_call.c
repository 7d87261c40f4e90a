/* decode_call.c - calls: a function is expanded where it is called, and where it is called by
 * address, all that it may be, one after the other.  Only one that calls itself is called
 * (decode_routine.c). */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/accelerator.h"
#include "common/simulator/decode/decoder.h"

enum { CALL_DEPTH = 32 };

static const PtxFunction *function_find(const PtxModule *ptx, const char *name)
{
    const PtxFunction *found = NULL;
    for (uint32_t i = 0; name && i < ptx->functions; i++)
        if (strcmp(ptx->function[i].name, name) == 0 && (!found || found->is_extern))
            found = &ptx->function[i];
    return found;
}

int argument_offset(Decoder *d, const PtxOperand *operand, uint64_t *offset)
{
    PtxSpace space;
    int dynamic;
    if (operand->kind != PTX_OPERAND_SYMBOL && operand->kind != PTX_OPERAND_ADDRESS)
        return refuse(d, "an argument that is no .param variable");
    if (symbol_address(d, operand, &space, offset, &dynamic) != 0) return -1;
    return space == PTX_LOCAL ? 0 : refuse(d, "an argument that is no local .param variable");
}

/* vprintf(format, arguments) and __assertfail(message, file, line, function, size): v holds the
 * places of their arguments. */
static int call_system(Decoder *d, Op op, const PtxOperand *arguments, const PtxOperand *results)
{
    Ins call = {0};
    uint64_t offset;
    uint32_t count = arguments ? arguments->count : 0;
    if (count != (op == OP_PRINTF ? 2u : 5u)) return refuse(d, "that number of arguments");
    for (uint32_t i = 0; i < count && i < 4; i++) {
        if (argument_offset(d, &arguments->element[i], &offset) != 0) return -1;
        call.v[i] = (uint32_t)offset;
    }
    call.imm = -1;
    if (results && results->count == 1) {
        if (argument_offset(d, &results->element[0], &offset) != 0) return -1;
        call.imm = (int64_t)offset;
    }
    Ins *ins = emit(d, op, CLASS_BARRIER);
    ins->a = d->routine == NO_ROUTINE ? NO_SLOT : d->kernel->calls.frame_slot;
    memcpy(ins->v, call.v, sizeof call.v);
    ins->imm = call.imm;
    d->kernel->traits.is_ordered = 1;
    return words_finished(d);
}

/* malloc(bytes) and free(address) of device code. */
static int call_heap(Decoder *d, Op op, const PtxOperand *arguments, const PtxOperand *results)
{
    uint64_t argument, result = 0;
    uint32_t given = op == OP_MALLOC;
    if (!arguments || arguments->count != 1 || (results ? results->count : 0) != given)
        return refuse(d, "that number of arguments");
    if (argument_offset(d, &arguments->element[0], &argument) != 0 ||
        (given && argument_offset(d, &results->element[0], &result) != 0))
        return -1;
    Ins *ins = emit(d, op, CLASS_BARRIER);
    ins->a = d->routine == NO_ROUTINE ? NO_SLOT : d->kernel->calls.frame_slot;
    ins->v[0] = (uint32_t)argument, ins->imm = (int64_t)result;
    d->kernel->traits.allocates = d->kernel->traits.is_ordered = 1;
    return words_finished(d);
}

static int arguments_bind(Decoder *d, Instance *callee, const PtxVariable *variables,
                          uint32_t count, const PtxOperand *values)
{
    if ((values ? values->count : 0) != count)
        return refuse(d, "another number of arguments than the function has");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset;
        if (argument_offset(d, &values->element[i], &offset) != 0) return -1;
        if (local_bind(d, callee, &variables[i], offset, PTX_LOCAL) != 0) return -1;
    }
    return 0;
}

/* Emitted instead of a call of this accelerator: the place of its last argument determines the
 * amount of work. */
static int accelerator_emit(Decoder *d, int accelerator, const PtxOperand *arguments)
{
    uint64_t offset;
    if (d->routine != NO_ROUTINE) return refuse(d, "an accelerator in a recursive function");
    if (argument_offset(d, &arguments->element[arguments->count - 1], &offset) != 0) return -1;
    Ins *ins = emit(d, OP_ACCELERATOR, CLASS_INT);
    ins->aux = (uint32_t)accelerator, ins->imm = (int64_t)offset;
    return 0;
}

/* Is it a function of the kernel's accelerator? Its work is executed, but neither counted nor
 * priced. */
static int is_accelerator(const Decoder *d, const PtxFunction *function)
{
    return d->module->gpu->accelerators && accelerator_find(function->name) >= 0;
}

/* Expands the body at the call; its results are stored where the caller expects them. */
static int body_expand(Decoder *d, const PtxFunction *function, const PtxOperand *arguments,
                       const PtxOperand *results)
{
    Instance callee = {.function = function, .caller = d->instance, .first_fix = d->fixes};
    const PtxInstruction *in = d->in;
    uint32_t from = d->from, used = d->used, body = d->count;
    if (d->depth >= CALL_DEPTH) return refuse(d, "calls nested more than %d deep", CALL_DEPTH);
    if (arguments_bind(d, &callee, function->param, function->params, arguments) != 0 ||
        arguments_bind(d, &callee, function->result, function->results, results) != 0) {
        free(callee.symbol);
        return -1;
    }
    Instance *caller = d->instance;
    uint32_t stack = stack_keep(d, function);
    d->depth++;
    d->instance = &callee;
    int result = decode_function(d, function, caller);
    d->instance = caller;
    d->depth--;
    d->in = in;
    d->from = from;
    d->used = used;
    if (result != 0) return -1;
    stack_give_back(d, stack);
    for (uint32_t i = body; is_accelerator(d, function) && i < d->count; i++)
        d->code[i].pseudo = 1, d->code[i].class = CLASS_FREE, d->code[i].from = from;
    emit(d, OP_NOP, CLASS_FREE)->pseudo = 1; /* target of the returns */
    return d->failed ? -1 : 0;
}

static int is_running(const Decoder *d, const PtxFunction *function)
{
    for (const Instance *i = d->instance; i; i = i->caller)
        if (i->function == function) return 1;
    return 0;
}

/* The function's body, or a call of it where it is a routine. */
static int callee_emit(Decoder *d, const PtxFunction *function, const PtxOperand *arguments,
                       const PtxOperand *results)
{
    uint32_t routine = routine_of(d, function);
    if (routine != NO_ROUTINE) return routine_call(d, routine, arguments, results);
    if (is_running(d, function)) return routine_note(d, function);
    return body_expand(d, function, arguments, results);
}

static int call_expand(Decoder *d, const PtxFunction *function, const PtxOperand *arguments,
                       const PtxOperand *results)
{
    uint32_t skip = NO_SLOT;
    if (is_accelerator(d, function) &&
        accelerator_emit(d, accelerator_find(function->name), arguments) != 0)
        return -1;
    if (d->in->guard != PTX_NO_REGISTER) {
        /* Lanes that do not call jump over the body: patched below, when its end is known. */
        if (branch_emit(d, 0, 1, 1) != 0) return -1;
        d->fixes--;
        skip = d->count - 1;
    }
    if (callee_emit(d, function, arguments, results) != 0) return -1;
    if (skip != NO_SLOT) d->code[skip].target = d->count - 1;
    return words_finished(d);
}

/* ---- calls by address --------------------------------------------------------------------- */

static int shapes_agree(const PtxVariable *variable, uint32_t count, const PtxOperand *values)
{
    if ((values ? values->count : 0) != count) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const PtxVariable *value = values->element[i].variable;
        if (!value || value->bytes != variable[i].bytes) return 0;
    }
    return 1;
}

static uint32_t branch_free(Decoder *d, Op op, uint32_t guard)
{
    Ins *ins = emit_pseudo(d, op, NO_SLOT, 0, 0);
    ins->guard = guard, ins->guard_negated = guard != NO_SLOT;
    return d->count - 1;
}

/* The lanes whose pointer is this function's run its body. */
static int candidate_expand(Decoder *d, uint32_t function, uint32_t target, uint32_t chosen,
                            const PtxOperand *arguments, const PtxOperand *results)
{
    const PtxFunction *body = &d->module->ptx->function[function];
    uint32_t address = constant_slot(d, WIDTH_64, function_address_at(function), 0);
    emit_pseudo(d, OP_EQ_64, chosen, target, address);
    uint32_t skip = branch_free(d, OP_BRA_P, chosen);
    if (callee_emit(d, body, arguments, results) != 0) return -1;
    uint32_t leave = branch_free(d, OP_BRA, NO_SLOT);
    d->code[skip].target = leave + 1;
    return 0;
}

/* One after the other, all functions whose address is taken somewhere and that take and give as
 * much as this call does. */
static int call_by_address(Decoder *d, const PtxOperand *pointer, const PtxOperand *arguments,
                           const PtxOperand *results)
{
    if (d->in->guard != PTX_NO_REGISTER) return refuse(d, "a guarded call by address");
    const PtxModule *ptx = d->module->ptx;
    uint32_t target = source_of(d, pointer, PTX_B64), chosen = slot_new(d, WIDTH_PRED);
    uint32_t first = d->count;
    if (d->failed) return -1;
    for (uint32_t i = 0; i < ptx->functions; i++) {
        const PtxFunction *f = &ptx->function[i];
        if (!function_is_taken(d->module, i) || !shapes_agree(f->param, f->params, arguments) ||
            !shapes_agree(f->result, f->results, results))
            continue;
        if (candidate_expand(d, i, target, chosen, arguments, results) != 0) return -1;
    }
    emit(d, OP_TRAP, CLASS_BRANCH)->aux = TRAP_NO_FUNCTION;
    emit(d, OP_NOP, CLASS_FREE)->pseudo = 1; /* common target of the calls */
    if (d->failed) return -1;
    for (uint32_t i = first; i + 1 < d->count; i++)
        if (d->code[i].op == OP_BRA && d->code[i].pseudo && d->code[i].target == 0)
            d->code[i].target = d->count - 1;
    return words_finished(d);
}

int decode_call(Decoder *d)
{
    const PtxOperand *results = NULL, *target = NULL, *arguments = NULL;
    word_take(d, "uni");
    for (uint32_t i = 0; i < d->in->operands; i++) {
        const PtxOperand *o = &d->in->operand[i];
        if (o->kind == PTX_OPERAND_VECTOR)
            *(target ? &arguments : &results) = o;
        else if (!target)
            target = o;
    }
    arguments = arguments && arguments->count ? arguments : NULL;
    results = results && results->count ? results : NULL;
    if (target && target->kind == PTX_OPERAND_REGISTER)
        return call_by_address(d, target, arguments, results);
    if (!target || !target->name) return refuse(d, "a call of nothing");
    const PtxModule *accelerators = d->module->gpu->accelerators;
    const PtxFunction *function = accelerators ? function_find(accelerators, target->name) : NULL;
    if (!function) function = function_find(d->module->ptx, target->name);
    if (strcmp(target->name, "vprintf") == 0) return call_system(d, OP_PRINTF, arguments, results);
    if (strcmp(target->name, "__assertfail") == 0)
        return call_system(d, OP_ASSERTFAIL, arguments, results);
    if (function && function->is_extern && strcmp(target->name, "malloc") == 0)
        return call_heap(d, OP_MALLOC, arguments, results);
    if (function && function->is_extern && strcmp(target->name, "free") == 0)
        return call_heap(d, OP_FREE, arguments, results);
    if (!function || function->is_extern || function->is_entry)
        return refuse(d, "the function %s has no body here", target->name);
    return call_expand(d, function, arguments, results);
}
