/* origin.h - which array a wrong address was meant for. */
#ifndef CONVLAB_SIMT_CHECKS_ORIGIN_H
#define CONVLAB_SIMT_CHECKS_ORIGIN_H

#include "common/simulator/core/core.h"

/* Tells `address`, which instruction `ins` made, beside the allocation that its pointer came from:
 * the kernel's parameter that all registers of the address go back to, whatever was added on the
 * way.  Where there are several, or none, beside the nearest allocation. */
void origin_describe(const Warp *warp, const Ins *ins, uint64_t address, char *text, size_t bytes);

#endif
