/* origin.c - the parameter from which an address is derived: a search through all definitions of
 * its registers, and of their sources. The body is read once, whatever the number of registers in
 * the search. */
#include "common/simulator/checks/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Search {
    const SimtKernel *kernel;
    const Worker *worker;
    unsigned char *seen; /* per register */
    int32_t *todo;
    uint32_t waiting;
    uint32_t *begin, *by; /* per register, the index in `by` of the instructions that define it; one
                           * more entry for the end */
    const Allocation *found;
    int several;
} Search;

static void found_add(Search *search, const PtxOperand *operand)
{
    const PtxFunction *function = search->kernel->function;
    ptrdiff_t param = operand->variable - function->param;
    uint64_t pointer, at;
    if (!operand->variable || param < 0 || param >= (ptrdiff_t)function->params) return;
    at = search->kernel->info.param_offset[param] + (uint64_t)operand->integer;
    if (at + sizeof pointer > search->worker->params_bytes) return;
    memcpy(&pointer, search->worker->params + at, sizeof pointer);
    const Allocation *allocation = memory_find(&search->worker->gpu->memory, pointer);
    if (!allocation) return; /* a number of 64 bits */
    search->several |= search->found && search->found != allocation;
    search->found = allocation;
}

/* A register of 64 bits may hold an address. */
static void todo_add(Search *search, const PtxOperand *operand)
{
    const PtxFunction *function = search->kernel->function;
    int32_t reg = operand->reg;
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_ADDRESS) return;
    if (reg < 0 || (uint32_t)reg >= function->regs || search->seen[reg]) return;
    if (ptx_type_bytes(function->reg[reg].type) != 8) return;
    search->seen[reg] = 1;
    search->todo[search->waiting++] = reg;
}

/* Counts that `to` defines these registers, or notes by which instruction. */
static void definition_note(Search *search, const PtxOperand *to, uint32_t instruction)
{
    const PtxOperand *element = to->kind == PTX_OPERAND_VECTOR ? to->element : to;
    uint32_t count = to->kind == PTX_OPERAND_VECTOR     ? to->count
                     : to->kind == PTX_OPERAND_REGISTER ? 1
                                                        : 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t reg = element[i].reg;
        if (reg < 0 || (uint32_t)reg >= search->kernel->function->regs) continue;
        if (search->by)
            search->by[search->begin[reg + 1]++] = instruction;
        else
            search->begin[reg + 2]++;
    }
}

/* A counting sort: `begin` holds first the counts, then the next free index, and finally the start
 * of each register's list. -1: out of memory. */
static int definitions_find(Search *search)
{
    const PtxFunction *function = search->kernel->function;
    search->begin = calloc(function->regs + 3, sizeof *search->begin);
    if (!search->begin) return -1;
    for (uint32_t i = 0; i < function->instructions; i++)
        if (function->instruction[i].operands)
            definition_note(search, function->instruction[i].operand, i);
    for (uint32_t reg = 0; reg <= function->regs; reg++)
        search->begin[reg + 2] += search->begin[reg + 1];
    search->by = malloc((search->begin[function->regs + 1] + 1) * sizeof *search->by);
    for (uint32_t i = 0; i < function->instructions && search->by; i++)
        if (function->instruction[i].operands)
            definition_note(search, function->instruction[i].operand, i);
    return search->by ? 0 : -1;
}

static void definition_follow(Search *search, const PtxInstruction *instruction)
{
    int loads = !strcmp(instruction->word[0], "ld");
    int parameter = loads && instruction->words > 1 && !strcmp(instruction->word[1], "param");
    if (parameter) found_add(search, &instruction->operand[1]);
    for (uint32_t i = 1; !loads && i < instruction->operands; i++)
        todo_add(search, &instruction->operand[i]);
}

/* The operand that `ins` took its address from; NULL for an instruction of no PTX of the
 * kernel's. */
static const PtxOperand *address_of(const SimtKernel *kernel, const Ins *ins)
{
    const PtxFunction *function = kernel->function;
    if (ins->from >= kernel->origins) return NULL;
    const PtxInstruction *instruction = kernel->origin[ins->from];
    ptrdiff_t index = instruction - function->instruction;
    if (index < 0 || index >= (ptrdiff_t)function->instructions) return NULL;
    for (uint32_t i = 0; i < instruction->operands; i++)
        if (instruction->operand[i].kind == PTX_OPERAND_ADDRESS) return &instruction->operand[i];
    return NULL;
}

static const Allocation *origin_find(const Warp *warp, const Ins *ins)
{
    Search search = {.kernel = warp->worker->kernel, .worker = warp->worker};
    const PtxFunction *function = search.kernel->function;
    const PtxOperand *address = address_of(search.kernel, ins);
    search.seen = calloc(function->regs + 1, 1);
    search.todo = calloc(function->regs + 1, sizeof *search.todo);
    if (address && search.seen && search.todo && definitions_find(&search) == 0)
        todo_add(&search, address);
    while (search.waiting) {
        int32_t reg = search.todo[--search.waiting];
        for (uint32_t i = search.begin[reg]; i < search.begin[reg + 1]; i++)
            definition_follow(&search, &function->instruction[search.by[i]]);
    }
    free(search.begin), free(search.by);
    free(search.seen);
    free(search.todo);
    return search.several ? NULL : search.found;
}

void origin_describe(const Warp *warp, const Ins *ins, uint64_t address, char *text, size_t bytes)
{
    const Memory *memory = &warp->worker->gpu->memory;
    const Allocation *at = memory_find(memory, address), *meant = origin_find(warp, ins);
    if (meant)
        memory_describe_from(memory, meant, address, text, bytes);
    else
        memory_describe(memory, address, text, bytes);
    if (!meant || !at || at == meant) return;
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, ", which is ");
    used = strlen(text);
    memory_describe_from(memory, at, address, text + used, bytes - used);
}
