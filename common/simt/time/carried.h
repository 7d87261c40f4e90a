/* carried.h - loads that ptxas leaves out of a loop, for an earlier turn has loaded the same. */
#ifndef CONVLAB_SIMT_CARRIED_H
#define CONVLAB_SIMT_CARRIED_H

#include "common/simt/core/code_map.h"
#include "common/simt/time/follow.h"

/* Fills kernel->carried, if there are any.  `loop` says how many turns machine code makes in one of
 * its own, `made` how many machine instructions in there each line of the PTX has, from map->first
 * on. */
void carried_find(SimtKernel *kernel, const CodeMap *map, const FollowLoop *loop,
                  const uint32_t *made);

/* Is this load left out?  `address`: of the first lane of the mask.  To be asked once, each time. */
int is_carried(Warp *warp, const Ins *ins, uint64_t address, uint32_t mask);

#endif
