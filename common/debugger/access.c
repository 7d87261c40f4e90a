/* access.c - which memory an instruction reads or writes, before it executes. */
#include <stdlib.h>
#include <string.h>

#include "common/debugger/debugger_state.h"
#include "common/simulator/core/ops.h"

static int is_load(uint32_t op)
{
    return (op >= OP_LD_GLOBAL_8 && op <= OP_LD_GLOBAL_V) ||
           (op >= OP_LD_SHARED_8 && op <= OP_LD_SHARED_V) || op == OP_LD_LOCAL ||
           op == OP_LD_GENERIC;
}

static int is_store(uint32_t op)
{
    return (op >= OP_ST_GLOBAL_8 && op <= OP_ST_GLOBAL_V) ||
           (op >= OP_ST_SHARED_8 && op <= OP_ST_SHARED_V) || op == OP_ST_LOCAL ||
           op == OP_ST_GENERIC;
}

static uint64_t window_of(const Ins *ins)
{
    return ins->space == PTX_SHARED || ins->op == OP_CP_ASYNC ? SHARED_WINDOW
           : ins->space == PTX_LOCAL                          ? LOCAL_WINDOW
           : ins->space == PTX_PARAM                          ? PARAM_WINDOW
                                                              : 0;
}

static int is_64(const Ins *ins)
{
    if (ins->op >= OP_LD_SHARED_8 && ins->op <= OP_ST_SHARED_V) return ins->base64;
    return ins->base64 || ins->op == OP_LD_GENERIC || ins->op == OP_ST_GENERIC ||
           (ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V);
}

/* Matrix stores, bulk copies and similar instructions write bytes that are not known before.
 * Asynchronous copies arrive at a wait. */
static int is_inexact_store(const Ins *ins)
{
    return ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE ||
           ins->class == CLASS_ATOMIC || ins->op == OP_BULK_COPY || ins->op == OP_BULK_GROUP ||
           ins->op == OP_VALUES_SEND || ins->op == OP_CP_WAIT || ins->op == OP_MAP_REPLACE ||
           ins->op == OP_MAP_PUBLISH;
}

/* WRITES_* of an instruction; frame: slots that hold the address of a function's local memory. */
static uint8_t writes_of(const Ins *ins, const uint32_t *frame, uint32_t frames)
{
    int is_exact = is_store(ins->op) || ins->op == OP_ATOM || ins->op == OP_CP_ASYNC;
    if (!is_exact && !is_inexact_store(ins)) return 0;
    if (!is_exact && ins->class == CLASS_SHARED_STORE) return WRITES_SHARED;
    if (!is_exact && ins->op == OP_CP_WAIT) return WRITES_SHARED;
    if (!is_exact) return WRITES_GLOBAL | WRITES_SHARED;
    if (window_of(ins) == SHARED_WINDOW) return WRITES_SHARED;
    if (window_of(ins) == LOCAL_WINDOW) return WRITES_LOCAL;
    if (ins->op >= OP_ST_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V) return WRITES_GLOBAL;
    for (uint32_t i = 0; i < frames; i++)
        if (ins->a == frame[i]) return WRITES_LOCAL;
    return WRITES_GLOBAL | WRITES_SHARED | WRITES_LOCAL;
}

uint8_t *writes_find(const SimtKernel *kernel)
{
    uint8_t *writes = calloc(kernel->count + 1, 1);
    uint32_t *frame = calloc(kernel->scopes.scopes + 1, sizeof *frame), frames = 0;
    for (uint32_t k = 0; frame && k < kernel->scopes.scopes; k++) {
        const CodeScope *scope = &kernel->scopes.scope[k];
        for (uint32_t i = 0; i < scope->function->regs; i++)
            if (!strcmp(scope->function->reg[i].name, "%SP") && scope->slot[i])
                frame[frames++] = scope->slot[i];
    }
    for (uint32_t i = 0; writes && i < kernel->count; i++)
        writes[i] = writes_of(&kernel->code[i], frame, frames);
    free(frame);
    return writes;
}

uint8_t writes_space(uint64_t address)
{
    if (address - SHARED_WINDOW < WINDOW_BYTES) return WRITES_SHARED;
    return address - LOCAL_WINDOW < WINDOW_BYTES ? WRITES_LOCAL : WRITES_GLOBAL;
}

int access_of(const Warp *warp, const Ins *ins, Access *access)
{
    int loads = is_load(ins->op), is_atomic = ins->op == OP_ATOM;
    int stores = is_store(ins->op) || ins->op == OP_CP_ASYNC;
    *access = (Access){.reads = loads || is_atomic, .writes = stores || is_atomic};
    if (!loads && !stores && !is_atomic) return access->writes = is_inexact_store(ins);
    access->is_exact = 1;
    access->bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
    if (!warp) return 1;
    access->mask = warp->mask;
    if (ins->guard != NO_SLOT) {
        uint32_t p = *(const uint32_t *)(const void *)(warp->file + ins->guard);
        access->mask &= ins->guard_negated ? ~p : p;
    }
    const char *slot = warp->file + ins->a;
    uint64_t window = window_of(ins);
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t base;
        uint32_t narrow;
        memcpy(&base, slot + (is_64(ins) ? i * 8 : 0), 8), memcpy(&narrow, slot + i * 4, 4);
        access->address[i] =
            is_64(ins) ? base + (uint64_t)ins->imm : (uint32_t)(narrow + (uint32_t)ins->imm);
        if (access->address[i] < WINDOW_BYTES) access->address[i] += window;
    }
    return 1;
}
