/* access_log.h - the accesses of a launch's first blocks, lane by lane, kept to be looked at.
 *
 * A block's first warps are logged: the first times that each of their instructions accesses memory
 * or diverges. A count per element covers all warps of the block and all named arrays: it shows the
 * block's tile and halo. */
#ifndef CONVLAB_SIMT_TIME_WATCH_H
#define CONVLAB_SIMT_TIME_WATCH_H

#include "common/simulator/core/core.h"

/* Opens the logs if the GPU profiles its launches. -1: out of memory. */
int access_log_open(Launch *launch);
/* Gives what was seen to the profile, which owns it from now on. */
void access_log_give(Launch *launch, SimtProfile *profile);
void access_log_close(Launch *launch);

/* The log of the block that the worker starts; NULL: the block is not logged. */
AccessLog *access_log_of(Launch *launch, uint64_t block);

void access_log_add(Warp *warp, const Ins *ins, SimtSightKind kind, const uint64_t *address,
                    uint32_t mask, int store);
void access_log_add_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                           int store);
void access_log_add_branch(Warp *warp, const Ins *ins, uint32_t taken);

#endif
