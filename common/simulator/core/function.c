/* function.c - addresses of functions: made up, each its own, in a window where nothing can be
 * read. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/kernel.h"

enum { FUNCTION_BYTES = 16 };

uint64_t function_address_at(uint32_t function)
{
    return CODE_WINDOW + (uint64_t)FUNCTION_BYTES * (function + 1);
}

static int has_body(const PtxFunction *function)
{
    return !function->is_extern && !function->is_entry;
}

uint64_t function_address(const SimtModule *module, const char *name)
{
    uint32_t first, count = name ? functions_find(module, name, &first) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t function = module->function_by_name[first + i];
        if (has_body(&module->ptx->function[function])) return function_address_at(function);
    }
    return 0;
}

static void name_take(SimtModule *module, const char *name)
{
    uint64_t address = function_address(module, name);
    if (address) module->taken[(address - CODE_WINDOW) / FUNCTION_BYTES - 1] = 1;
}

static void variable_take(SimtModule *module, const PtxVariable *variable)
{
    for (uint32_t i = 0; i < variable->relocation_count; i++)
        name_take(module, variable->relocation[i].symbol);
}

/* In code an address is an operand that names no variable; a call's own target is none. */
static void instruction_take(SimtModule *module, const PtxInstruction *in)
{
    if (!in->words || strcmp(in->word[0], "mov") != 0) return;
    for (uint32_t i = 0; i < in->operands; i++)
        if (in->operand[i].kind == PTX_OPERAND_SYMBOL && !in->operand[i].variable)
            name_take(module, in->operand[i].name);
}

static int taken_find(SimtModule *module)
{
    const PtxModule *ptx = module->ptx;
    module->taken = calloc(ptx->functions + 1, 1);
    if (!module->taken) return -1;
    for (uint32_t i = 0; i < ptx->variables; i++)
        variable_take(module, &ptx->variable[i]);
    for (uint32_t i = 0; i < ptx->functions; i++) {
        const PtxFunction *f = &ptx->function[i];
        for (uint32_t k = 0; k < f->variables; k++)
            variable_take(module, &f->variable[k]);
        for (uint32_t k = 0; k < f->instructions; k++)
            instruction_take(module, &f->instruction[k]);
    }
    return 0;
}

int function_is_taken(SimtModule *module, uint32_t function)
{
    if (!module->taken && taken_find(module) != 0) return 0;
    return module->taken[function];
}
