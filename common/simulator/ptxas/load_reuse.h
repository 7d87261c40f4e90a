/* load_reuse.h - loads that ptxas omits from an unrolled loop because an earlier iteration has
 * loaded the same value. */
#ifndef CONVLAB_SIMT_PTXAS_LOAD_REUSE_H
#define CONVLAB_SIMT_PTXAS_LOAD_REUSE_H

#include "common/simulator/core/code_map.h"
#include "common/simulator/core/core.h"

/* A loop of the PTX and its unroll factor in SASS. */
typedef struct UnrolledLoop {
    uint32_t head, end; /* first and last instruction */
    uint32_t copies;    /* iterations of the PTX in one iteration of the SASS */
} UnrolledLoop;

/* Fills kernel->carried, if there are such loads in the map's loops.  `made`: the number of SASS
 * instructions in the unrolled loop for each line of the PTX, from map->first on. */
void load_reuse_find(SimtKernel *kernel, const CodeMap *map, const UnrolledLoop *loop,
                     const uint32_t *made);
/* Is this load omitted?  `address`: of the first lane of the mask.  Call it once for each executed
 * load, because it advances the iteration counter. */
int load_is_reused(Warp *warp, const Ins *ins, uint64_t address, uint32_t mask);

#endif
