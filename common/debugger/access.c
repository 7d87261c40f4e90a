/* access.c - which memory an instruction reads or writes, before it executes. */
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
    return ins->space == PTX_SHARED  ? SHARED_WINDOW
           : ins->space == PTX_LOCAL ? LOCAL_WINDOW
           : ins->space == PTX_PARAM ? PARAM_WINDOW
                                     : 0;
}

static int is_64(const Ins *ins)
{
    if (ins->op >= OP_LD_SHARED_8 && ins->op <= OP_ST_SHARED_V) return ins->base64;
    return ins->base64 || ins->op == OP_LD_GENERIC || ins->op == OP_ST_GENERIC ||
           (ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V);
}

int access_of(const Warp *warp, const Ins *ins, Access *access)
{
    int loads = is_load(ins->op), stores = is_store(ins->op), is_atomic = ins->op == OP_ATOM;
    *access = (Access){.reads = loads || is_atomic, .writes = stores || is_atomic};
    if (!loads && !stores && !is_atomic) {
        /* Matrix stores, bulk copies and similar instructions: the caller compares values. */
        access->writes = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE ||
                         ins->class == CLASS_ATOMIC || ins->op == OP_BULK_COPY ||
                         ins->op == OP_CP_ASYNC;
        return access->writes;
    }
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
