/* decode_routine.c - recursive functions: their code is emitted once, and a call jumps to it with a
 * new frame in the thread's local memory.
 *
 * Recursive functions are not known beforehand. If a function that is being expanded is called
 * again, decoding of the kernel starts again, and all functions of that call cycle become
 * routines. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"

enum { FRAME_LIMIT = 512 << 10 };

uint32_t routine_of(const Decoder *d, const PtxFunction *function)
{
    for (uint32_t i = 0; i < d->recursives; i++)
        if (d->recursive[i] == function) return i;
    return NO_ROUTINE;
}

int routine_note(Decoder *d, const PtxFunction *function)
{
    const Instance *running = d->instance;
    do {
        if (d->recursives == MOST_ROUTINES)
            return refuse(d, "more than %d functions of one kernel that call themselves",
                          MOST_ROUTINES);
        d->recursive[d->recursives++] = running->function;
        running = running->caller;
    } while (d->recursive[d->recursives - 1] != function);
    d->again = d->failed = 1;
    return -1;
}

int routines_open(Decoder *d)
{
    SimtKernel *kernel = d->kernel;
    if (!d->recursives) return 0;
    kernel->calls.routine = calloc(d->recursives, sizeof *kernel->calls.routine);
    if (!kernel->calls.routine) return refuse(d, "out of host memory");
    kernel->calls.routines = d->recursives;
    for (uint32_t i = 0; i < d->recursives; i++)
        kernel->calls.routine[i].function = d->recursive[i];
    kernel->calls.frame_slot = slot_new(d, WIDTH_64);
    stack_slot(d); /* outside every routine's registers, which are saved */
    if (d->failed) return -1;
    d->score[kernel->calls.frame_slot / 4] = 0; /* always there */
    return 0;
}

uint32_t routine_return(const SimtKernel *kernel, uint32_t ins)
{
    for (uint32_t i = 0; i < kernel->calls.routines; i++)
        if (ins >= kernel->calls.routine[i].entry && ins <= kernel->calls.routine[i].leave)
            return kernel->calls.routine[i].leave;
    return UINT32_MAX;
}

/* ---- frames --------------------------------------------------------------------------------- */

/* Parameters precede results, so that the layout of a call is known before the body is decoded. */
static uint32_t frame_place(uint64_t *end, const PtxVariable *v)
{
    uint64_t align = v->align > 8 ? v->align : 8, offset = (*end + align - 1) / align * align;
    *end = offset + v->bytes;
    return (uint32_t)offset;
}

static int variables_place(Decoder *d, Instance *body, const PtxVariable *variable, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (local_bind(d, body, &variable[i], frame_place(&d->local_bytes, &variable[i]),
                       PTX_LOCAL) != 0)
            return -1;
    return 0;
}

/* Adds the copies of the call's arguments or results; *end: size of the callee's frame so far. */
static int copies_add(Decoder *d, const PtxVariable *variable, uint32_t count,
                      const PtxOperand *values, uint64_t *end, int result)
{
    SimtKernel *kernel = d->kernel;
    if ((values ? values->count : 0) != count)
        return refuse(d, "another number of arguments than the function has");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t caller;
        if (argument_offset(d, &values->element[i], &caller) != 0) return -1;
        if (!values->element[i].variable || values->element[i].variable->bytes != variable[i].bytes)
            return refuse(d, "an argument of another size than the function's");
        kernel->calls.copy = grow(d, kernel->calls.copy, kernel->calls.copies, &d->copy_room,
                                  sizeof *kernel->calls.copy);
        if (d->failed) return -1;
        kernel->calls.copy[kernel->calls.copies++] =
            (CallCopy){.caller = (uint32_t)caller,
                       .callee = frame_place(end, &variable[i]),
                       .bytes = (uint32_t)variable[i].bytes,
                       .result = result};
    }
    return 0;
}

int routine_call(Decoder *d, uint32_t routine, const PtxOperand *arguments,
                 const PtxOperand *results)
{
    SimtKernel *kernel = d->kernel;
    CallSite site = {.routine = routine, .caller = d->routine};
    const PtxFunction *f = kernel->calls.routine[routine].function;
    uint64_t end = 0;
    site.copy = kernel->calls.copies;
    if (copies_add(d, f->param, f->params, arguments, &end, 0) != 0 ||
        copies_add(d, f->result, f->results, results, &end, 1) != 0)
        return -1;
    site.copies = kernel->calls.copies - site.copy;
    kernel->calls.call =
        grow(d, kernel->calls.call, kernel->calls.calls, &d->call_room, sizeof *kernel->calls.call);
    if (d->failed) return -1;
    kernel->calls.call[kernel->calls.calls] = site;
    Ins *call = emit(d, OP_CALL, CLASS_BRANCH);
    call->aux = kernel->calls.calls++, call->v[0] = routine;
    emit(d, OP_NOP, CLASS_FREE)->pseudo = 1; /* return point, which no other instruction targets */
    return d->failed ? -1 : 0;
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* Which of its registers are predicates, whose lanes are bits, and which are 64 bits wide. */
static int widths_note(Decoder *d, Routine *routine)
{
    uint32_t first = routine->first_slot / ROW_BYTES, rows = routine->end_slot / ROW_BYTES - first;
    routine->width = malloc(rows + 1);
    if (!routine->width) return refuse(d, "out of host memory");
    memcpy(routine->width, d->row_width + first, rows);
    return 0;
}

static int routine_decode(Decoder *d, uint32_t number)
{
    Routine *routine = &d->kernel->calls.routine[number];
    const PtxFunction *f = routine->function;
    Instance body = {.function = f, .first_fix = d->fixes};
    /* Separate registers, including temporaries, because all of them are saved together. */
    memset(d->temp32, 0, sizeof d->temp32), memset(d->temp64, 0, sizeof d->temp64);
    memset(d->tempp, 0, sizeof d->tempp);
    d->predicate_next = d->predicate_end;
    d->routine = number, d->local_bytes = 0, d->depth = 0;
    d->instance = &body;
    routine->entry = d->count, routine->first_slot = d->file_bytes;
    if (variables_place(d, &body, f->param, f->params) != 0 ||
        variables_place(d, &body, f->result, f->results) != 0) {
        free(body.symbol);
        return -1;
    }
    uint32_t stack = stack_keep(d, f);
    if (decode_function(d, f, NULL) != 0) return -1;
    stack_give_back(d, stack);
    routine->leave = d->count;
    emit_pseudo(d, OP_RETURN, NO_SLOT, 0, 0);
    for (uint32_t i = routine->entry; i < routine->leave; i++)
        if (d->code[i].op == OP_EXIT) d->code[i].target = routine->leave;
    routine->end_slot = d->file_bytes;
    routine->frame_bytes = (uint32_t)((d->local_bytes + 15) / 16 * 16);
    if (d->local_bytes > FRAME_LIMIT)
        return refuse(d, "more than %d bytes of variables in a recursive function", FRAME_LIMIT);
    d->predicate_next = d->predicate_end;
    return d->failed ? -1 : widths_note(d, routine);
}

int routines_decode(Decoder *d)
{
    for (uint32_t i = 0; i < d->kernel->calls.routines; i++)
        if (routine_decode(d, i) != 0) return -1;
    return 0;
}
