/* kernel_costs.c - the costs of a kernel's instructions: its PTX as ptxas schedules it, then its
 * SASS where that is believed. */
#include "common/simulator/timing/kernel_costs.h"

#include <stdlib.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/sass_map/sass_map.h"
#include "common/simulator/timing/critical_path.h"

/* Does replay.c need to check only its operands and its pipe, or its access? */
static int is_simple(const SimtKernel *kernel, const MachineCosts *costs, const Ins *ins)
{
    switch (ins->op) {
    case OP_ACCELERATOR:
    case OP_BAR:
    case OP_BULK_COPY:
    case OP_BULK_GROUP:
    case OP_CLOCK:
    case OP_CLUSTER_BARRIER:
    case OP_CP_ASYNC:
    case OP_CP_COMMIT:
    case OP_CP_WAIT:
    case OP_DEPENDENTS:
    case OP_DIV_F32:
    case OP_DIV_F64:
    case OP_FENCE:
    case OP_MATCH:
    case OP_MBARRIER:
    case OP_NANOSLEEP:
    case OP_TEXTURE:
    case OP_VALUES_SEND:
    case OP_WGMMA:
    case OP_WGMMA_COMMIT:
    case OP_WGMMA_WAIT:
        return 0;
    default:
        return !(kernel->traits.has_fences && delays_fence(costs, ins)) && !ins->merge &&
               !(ins->order & (ORDER_FENCES | ORDER_INVALIDATES_L1)) &&
               ins->shared_atomic != SHARED_RETRIES && ins->space != PTX_CONST;
    }
}

/* Called when all costs are known. SASS instructions, which follow, are not simple. */
static void plain_mark(const SimtKernel *kernel, const MachineCosts *costs, InsCost *price,
                       uint32_t prices)
{
    for (uint32_t i = 0; i < prices; i++) {
        price[i].plain =
            (uint8_t)critical_is_plain(kernel, costs, &kernel->costs.code[i], &price[i]);
        price[i].simple = (uint8_t)is_simple(kernel, costs, &kernel->costs.code[i]);
    }
}

int kernel_costs_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code)
{
    uint32_t prices = 0;
    if (kernel->costs.price) return 0;
    InsCost *price = schedule_build(kernel, machine, machine_code, &prices);
    if (price) plain_mark(kernel, &machine->costs, price, prices);
    if (price && machine_code) price = sass_map_build(kernel, price, prices, machine);
    if (price && code_pieces_find(kernel, price, prices, machine) != 0) free(price), price = NULL;
    kernel->costs.price = price;
    return price ? 0 : -1;
}
