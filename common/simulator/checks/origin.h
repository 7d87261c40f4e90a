/* origin.h - which array a wrong address was meant for. */
#ifndef CONVLAB_SIMT_CHECKS_ORIGIN_H
#define CONVLAB_SIMT_CHECKS_ORIGIN_H

#include "common/simulator/core/core.h"

/* Describes `address`, which instruction `ins` computed, relative to the allocation of its pointer.
 * This is the only kernel parameter to which all registers of the address lead back, whatever
 * offsets were added. If there is no or more than one such parameter, describes it relative to the
 * nearest allocation. */
void origin_describe(const Warp *warp, const Ins *ins, uint64_t address, char *text, size_t bytes);

#endif
