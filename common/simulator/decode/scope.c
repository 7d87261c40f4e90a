/* scope.c - for a debugger: which function body each instruction belongs to, and where the decoder
 * put the body's registers and variables. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"

static int is_wanted(const Decoder *d)
{
    return d->module->gpu->debug != NULL;
}

int scope_begin(Decoder *d, Instance *instance)
{
    SimtKernel *kernel = d->kernel;
    if (!is_wanted(d)) return 0;
    kernel->scopes.scope = grow(d, kernel->scopes.scope, kernel->scopes.scopes, &d->scope_room,
                                sizeof *kernel->scopes.scope);
    if (d->failed) return -1;
    instance->scope = kernel->scopes.scopes++;
    kernel->scopes.scope[instance->scope] =
        (CodeScope){.function = instance->function,
                    .caller = instance->caller ? instance->caller->scope : UINT32_MAX,
                    .call = instance->caller ? d->from : UINT32_MAX,
                    .routine = d->routine};
    return 0;
}

int scope_note(Decoder *d, const Instance *instance)
{
    SimtKernel *kernel = d->kernel;
    if (!is_wanted(d)) return 0;
    kernel->scopes.scope_of = grow(d, kernel->scopes.scope_of, d->from, &d->scope_of_room,
                                   sizeof *kernel->scopes.scope_of);
    if (d->failed) return -1;
    kernel->scopes.scope_of[d->from] = instance->scope;
    return 0;
}

/* -1 after refusing. */
static int variables_copy(Decoder *d, const LocalSymbol *symbol, uint32_t count,
                          ScopeVariable **copy)
{
    *copy = malloc((count + 1) * sizeof **copy);
    if (!*copy) return refuse(d, "out of host memory");
    for (uint32_t i = 0; i < count; i++)
        (*copy)[i] = (ScopeVariable){symbol[i].variable, symbol[i].offset, symbol[i].space};
    return 0;
}

int scope_keep(Decoder *d, const Instance *instance)
{
    if (!is_wanted(d)) return 0;
    CodeScope *scope = &d->kernel->scopes.scope[instance->scope];
    size_t bytes = (instance->function->regs + 1) * sizeof *scope->slot;
    scope->slot = malloc(bytes);
    if (!scope->slot) return refuse(d, "out of host memory");
    memcpy(scope->slot, instance->slot, bytes);
    scope->variables = instance->symbols;
    return variables_copy(d, instance->symbol, instance->symbols, &scope->variable);
}

int scopes_keep_shared(Decoder *d)
{
    if (!is_wanted(d)) return 0;
    d->kernel->scopes.shared_variables = d->shareds;
    return variables_copy(d, d->shared, d->shareds, &d->kernel->scopes.shared_variable);
}

void scopes_free(SimtKernel *kernel)
{
    for (uint32_t i = 0; i < kernel->scopes.scopes; i++)
        free(kernel->scopes.scope[i].slot), free(kernel->scopes.scope[i].variable);
    free(kernel->scopes.scope), free(kernel->scopes.scope_of), free(kernel->scopes.shared_variable);
}
