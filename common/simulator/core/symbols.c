/* symbols.c - binary search for the variables and functions of a module. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/kernel.h"

/* ---- functions ------------------------------------------------------------------------------- */

typedef struct NamedFunction {
    const char *name;
    uint32_t index;
} NamedFunction;

static int by_function_name(const void *left, const void *right)
{
    const NamedFunction *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

int functions_sort(SimtModule *module)
{
    const PtxModule *ptx = module->ptx;
    NamedFunction *all = calloc((size_t)ptx->functions + 1, sizeof *all);
    module->function_by_name = calloc((size_t)ptx->functions + 1, sizeof *module->function_by_name);
    if (all && module->function_by_name) {
        for (uint32_t i = 0; i < ptx->functions; i++)
            all[i] = (NamedFunction){ptx->function[i].name, i};
        qsort(all, ptx->functions, sizeof *all, by_function_name);
        for (uint32_t i = 0; i < ptx->functions; i++)
            module->function_by_name[i] = all[i].index;
    }
    const int is_sorted = all && module->function_by_name;
    free(all);
    return is_sorted ? 0 : -1;
}

uint32_t functions_find(const SimtModule *module, const char *name, uint32_t *first)
{
    const PtxModule *ptx = module->ptx;
    uint32_t from = 0, to = ptx->functions, count = 0;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (strcmp(ptx->function[module->function_by_name[middle]].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *first = from;
    while (from + count < ptx->functions &&
           strcmp(ptx->function[module->function_by_name[from + count]].name, name) == 0)
        count++;
    return count;
}

/* ---- variables ------------------------------------------------------------------------------- */

static int by_variable(const void *left, const void *right)
{
    const PtxVariable *a = ((const Symbol *)left)->variable, *b = ((const Symbol *)right)->variable;
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* If several functions have variables of the same name, the first that was placed comes first. */
static int by_symbol_name(const void *left, const void *right)
{
    const Symbol *a = *(const Symbol *const *)left, *b = *(const Symbol *const *)right;
    int order = strcmp(a->variable->name, b->variable->name);
    return order ? order : (a->address > b->address) - (a->address < b->address);
}

int symbols_sort(SimtModule *module)
{
    module->symbol_by_name = calloc((size_t)module->symbols + 1, sizeof *module->symbol_by_name);
    if (!module->symbol_by_name) return -1;
    qsort(module->symbol, module->symbols, sizeof *module->symbol, by_variable);
    for (uint32_t i = 0; i < module->symbols; i++)
        module->symbol_by_name[i] = &module->symbol[i];
    qsort(module->symbol_by_name, module->symbols, sizeof *module->symbol_by_name, by_symbol_name);
    return 0;
}

const Symbol *symbol_of(const SimtModule *module, const PtxVariable *variable)
{
    const Symbol wanted = {.variable = variable};
    return bsearch(&wanted, module->symbol, module->symbols, sizeof wanted, by_variable);
}

const Symbol *symbol_find(const SimtModule *module, const char *name)
{
    uint32_t from = 0, to = module->symbols;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (strcmp(module->symbol_by_name[middle]->variable->name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == module->symbols || strcmp(module->symbol_by_name[from]->variable->name, name) != 0)
        return NULL;
    return module->symbol_by_name[from];
}
