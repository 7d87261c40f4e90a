/* The cost of the calls since it was last taken, and the limit of their instructions. */
#include "common/cuda/sim/sim_state.h"

#include <string.h>

uint64_t sim_instructions_left(const SimDevice *sim, uint64_t bytes)
{
    const SimUnsettled *unsettled = &sim->unsettled;
    uint64_t used = sim->cost.counters.warp_instructions + sim->moved / BYTES_AN_INSTRUCTION +
                    sim->checked / BYTES_AN_INSTRUCTION + bytes / BYTES_AN_INSTRUCTION;
    if (unsettled->waits) used += unsettled->result->counters.warp_instructions;
    return !sim->instruction_limit         ? UINT64_MAX
           : sim->instruction_limit > used ? sim->instruction_limit - used
                                           : 0;
}

void sim_cost_take(SimDevice *sim, uint64_t cycles, DeviceCost *cost)
{
    *cost = sim->cost;
    cost->cycles = cycles;
    cost->seconds = sim_seconds(sim, cycles);
    memset(&sim->cost, 0, sizeof sim->cost);
    sim->costliest = sim->moved = sim->checked = 0;
}
